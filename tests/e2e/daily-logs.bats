#!/usr/bin/env bats
# What the commands of a run have printed, afterwards and while it runs (daily-use.md section 3).

load common

setup_file() {
	command -v python3 >/dev/null || skip "no python3"
}

# Two branches that take turns, then a command that reads their join.
BRANCHES='[{"parallel":true,"template":[
  {"label":"a","template":"sh -c \"echo a1; touch one; wait-for two; echo a2 >&2; touch three; wait-for four; printf a3\""},
  {"label":"b","template":"sh -c \"wait-for one; sleep 0.5; echo b1; touch two; wait-for three; sleep 0.5; echo b2; touch four; sleep 0.1; exit 2\""}
 ]},{"label":"c","template":"wc -l"}]'

branches() {
	cat >wait-for <<-'END'
		#!/bin/sh
		until [ -e "$1" ]; do sleep 0.02; done
	END
	chmod +x wait-for
	PATH=$PWD:$PATH roux run -q --as two "$BRANCHES" >/dev/null 2>&1 || true
}

@test "without a node: every line with its name, in the order they came" {
	branches
	roux logs two >out 2>err
	is "$(head -n 5 out | paste -sd,)" "[0.0 a] a1,[0.1 b] b1,[0.0 a] a2,[0.1 b] b2,[0.0 a] a3"
	has "$(tail -n 1 out)" "[1 c] "
	is "$(cat err)" ""
	is "$(roux logs two --result)" "$(cat "$(state)/runs/two/stdout.log")"
	is "$(roux logs two 0 | wc -l)" 5
	is "$(roux logs two --find b2)" "[0.1 b] b2"
}

@test "with a node: its own bytes, on the stream they came from" {
	branches
	roux logs two a >out 2>err
	is "$(od -c out)" "$(printf 'a1\na3' | od -c)"
	is "$(cat err)" a2
	roux logs two 0.0 --err >out 2>err
	is "$(cat out)" ""
	is "$(cat err)" a2
	roux logs two a --out >out 2>err
	is "$(cat err)" ""
	is "$(roux logs two b --offset 3)" b2
	is "$(roux logs two b --limit 2)" b1
	is "$(roux logs two b --find 1)" b1
	is "$(roux logs two b --json | of_json '(d["path"], d["label"], d["attempt"], d["stdout"], d["stderr"])')" \
		"('0.1', 'b', 1, 'b1\\nb2\\n', '')"
	head -c 300000 /dev/urandom >bytes
	roux run -q --as raw 'cat bytes' >/dev/null
	roux logs raw 0 >got
	cmp bytes got
	roux logs raw 0 --offset 100000 --limit 50000 >got
	tail -c +100001 bytes | head -c 50000 | cmp - got
}

@test "why a command could not be started is what it printed" {
	roux run -q --as nope '["echo x",{"failure":"continue","cwd":"nowhere","template":"ls"},
		{"label":"last","retry":2,"failure":"root","template":"no-such-program"}]' >/dev/null 2>&1 || true
	is "$(roux logs nope last 2>&1)" "no-such-program: not found in PATH"
	is "$(roux logs nope last --attempt 1 2>&1)" "no-such-program: not found in PATH"
	is "$(roux logs nope | paste -sd,)" "[0] x,[1] cwd nowhere: No such file or directory,[2 last] no-such-program: not found in PATH,[2 last] no-such-program: not found in PATH"
	# A resume takes it over with the rest of what the command has left.
	roux resume -q nope --json >doc 2>&1 || true
	has "$(of_json 'd["failures"][0]["stderr"]' <doc)" "cwd nowhere: No such file or directory"
}

@test "an attempt can be chosen; the last one is shown" {
	# shellcheck disable=SC2016
	roux run -q --as tries '{"retry":3,"label":"flaky","template":"sh -c \"echo x >>count; wc -l <count; wc -l <count >&2; test $(wc -l <count) = 3\""}' >/dev/null 2>&1
	is "$(roux logs tries flaky 2>/dev/null)" 3
	is "$(roux logs tries flaky --attempt 1 2>/dev/null)" 1
	is "$(roux logs tries flaky --attempt 2 --err 2>&1)" 2
	run -2 roux logs tries flaky --attempt 4
	has "$output" "no attempt 4: there were 3"
	is "$(roux logs tries | grep -c '^\[')" 6
}

GROUPS_OF='["echo 0",{"label":"fan","parallel":true,"repeat":3,"template":"echo c{index}"},{"label":"grp","template":["echo x","echo y"]}]'

@test "a path is a path: the item of a copy does not take its place" {
	roux run -q --as g "$GROUPS_OF" >/dev/null
	is "$(roux logs g 1 | sort | paste -sd,)" '[1.r0 fan 0] c0,[1.r1 fan 1] c1,[1.r2 fan 2] c2'
	is "$(roux logs g 2 | paste -sd,)" '[2.0] x,[2.1] y'
	is "$(roux logs g 2.1)" y
	run -2 roux logs g 3
	has "$output" "run 'g' has no node '3'"
}

@test "a group is named as its author named it, here and where it runs again" {
	roux run -q --as g "$GROUPS_OF" >/dev/null
	is "$(roux logs g grp | paste -sd,)" '[2.0] x,[2.1] y'
	is "$(roux logs g fan | wc -l)" 3
	is "$(roux logs g 'fan 2')" c2
	is "$(roux plan run:g --from 'fan 2' | grep -c 'run again')" 3
	is "$(roux plan run:g --from fan | grep -c 'run again')" 5
	is "$(roux plan run:g --from grp | grep -c 'run again')" 2
	cat >l.yaml <<-'END'
		name: l
		version: 1.0.0
		description: two loops with the same items
		context: { xs: ["1", "2"] }
		stages:
		  - name: build it
		    steps:
		      - { id: each, type: bash, foreach: "{{xs}}", command: "echo e{{item}}" }
		      - { id: both, foreach: "{{xs}}", steps: [{ id: inner, type: bash, command: "echo i{{item}}" }] }
	END
	roux run -q --as l l.yaml
	is "$(roux logs l 'build it' | wc -l)" 4
	is "$(roux logs l each | paste -sd,)" '[0.0.r0 each 1] e1,[0.0.r1 each 2] e2'
	is "$(roux logs l 'inner 2')" i2
	run -2 roux logs l inner
	has "$output" "2 nodes are called 'inner'"
	has "$output" 'name one by its path: 0.1.r0.0, 0.1.r1.0'
	run -2 roux logs l 2
	is "$(roux plan run:l --from 'inner 2' | grep -c 'run again')" 1
	run -2 roux rerun l --from inner
	has "$output" "2 nodes are called 'inner'"
}

@test "what cannot be shown is refused with what to type" {
	branches
	run -2 roux logs two nothing
	has "$output" "run 'two' has no node 'nothing'"
	has "$output" 'roux plan run:two'
	run -2 roux logs two --err
	has "$output" "roux logs RUN NODE --err"
	run -2 roux logs two a --out --err
	run -2 roux logs two a --result
	run -2 roux logs two 0 --attempt 1
}

@test "every kind of run has logs: failed, cancelled, detached, steps, an earlier generation" {
	roux run -q --as bad 'sh -c "echo out; echo err >&2; exit 3"' >/dev/null 2>&1 || true
	is "$(roux logs bad 0 2>/dev/null)" out
	is "$(roux logs bad 0 2>&1 >/dev/null)" err
	mkfifo go
	detach gone 'sh -c "echo begun; cat go"'
	until_true contains "$(state)/runs/gone/stdout.log" begun
	is "$(roux logs gone)" "[0] begun"
	roux cancel gone >/dev/null
	is "$(roux logs gone)" "[0] begun"
	cat >s.yaml <<-'END'
		name: s
		description: two steps
		version: 1.0.0
		steps:
		  - id: first
		    type: bash
		    command: echo one; echo two >&2
		  - id: each
		    type: bash
		    foreach: "{{xs}}"
		    command: echo {{item}}
		context:
		  xs: ["x", "y"]
	END
	roux run -q --as steps s.yaml >/dev/null 2>&1
	is "$(roux logs steps first 2>&1 | sort | paste -sd,)" "one,two"
	is "$(roux logs steps 1.r1)" y
	roux run -q --as bad 'echo good' >/dev/null
	is "$(roux logs bad~1 0 2>&1 >/dev/null)" err
	is "$(roux logs bad~1 | sort | paste -sd,)" "[0] err,[0] out"
}

@test "reused commands are part of the story of a rerun and of a resume" {
	cat >twice.json <<-'END'
		[{"label":"one","template":"echo first"},{"label":"two","failure":"root","template":"sh -c \"echo second; test -e ready\""}]
	END
	roux run -q --as r --template "$(cat twice.json)" >/dev/null 2>&1 || true
	touch ready
	roux rerun -q r --from two --as again >/dev/null
	is "$(roux logs again | paste -sd,)" "[0 one] first,[1 two] second"
	is "$(roux logs again one)" first
	roux resume -q r >/dev/null
	is "$(roux logs r one)" first
	is "$(roux logs r two)" second
}

@test "logs -f shows lines as they come, of one command too, and ends with the run" {
	mkfifo go rest
	detach a '[{"label":"one","template":"sh -c \"echo one; cat go; printf end\""},{"label":"two","template":"sh -c \"echo two; cat rest\""}]'
	start logs -f a
	until_true contains out "[0 one] one"
	until_true idle "$RUNNING"
	env --default-signal=INT,QUIT "$ROUX" logs -f a two >two.out 2>/dev/null </dev/null 3>&- &
	other=$!
	echo middle >go
	until_true contains out "[0 one] end"
	until_true contains two.out two
	echo last >rest
	finish
	is "$status" 0
	wait "$other"
	is "$(paste -sd, out)" "[0 one] one,[0 one] middle,[0 one] end,[1 two] two,[1 two] last"
	is "$(paste -sd, two.out)" "two,last"
}

@test "nothing in what a command printed can move the cursor in the story" {
	roux run -q --as esc 'printf \033[2Jx\ry\n' >/dev/null
	roux logs esc >out
	is "$(tr -d '[:print:]\n' <out | wc -c)" 0
}

@test "logs -f of a command that is tried again continues with its next attempt" {
	mkfifo go
	detach tries '{"retry":2,"label":"flaky","template":"sh -c \"echo begun; echo why >&2; cat go; test -e ready\""}'
	has_begun() { roux logs tries flaky 2>/dev/null | grep -q begun; }
	until_true has_begun
	roux logs -f tries flaky >followed 2>said &
	until_true contains followed begun
	echo first >go
	until_true contains said "[0 flaky] attempt 2"
	touch ready
	echo second >go
	wait $!
	is "$(paste -sd, followed)" "begun,first,begun,second"
	is "$(paste -sd, said)" "why,roux: [0 flaky] attempt 2,why"
	# One attempt that is named stays alone.
	is "$(roux logs -f tries flaky --attempt 1 2>/dev/null | paste -sd,)" "begun,first"
}
