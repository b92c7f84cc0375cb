#!/usr/bin/env bats
# Step recipes where a document does not say it all: signals, kills, answers at gates, terminals.

load common

setup_file() {
	# Python reads the documents; without it there is little to test.
	command -v python3 >/dev/null || skip "no python3"
}

# recipe NAME: a recipe file whose steps or stages are on standard input.
recipe() {
	{
		printf 'name: it\ndescription: d\nversion: 1.0.0\n'
		cat
	} >"$1"
}

# killed: the detached run `it` loses its supervisor at once.
killed() {
	local pid
	pid=$(supervisor it)
	kill -KILL "$pid"
	until_true ended "$pid"
}

# -- stopping -------------------------------------------------------------------------------------

@test "a signal ends every construct at once, and nothing is left or started" {
	local what
	recipe it.yaml <<-'END'
	context: {l: [1, 2, 3, 4]}
	steps:
	- {id: par, type: bash, foreach: "{{l}}", parallel: 2, command: "echo $$ >>pids; sleep 1000", condition: "{{what}} == par"}
	- {id: all, type: bash, foreach: "{{l}}", parallel: true, command: "echo $$ >>pids; sleep 1000", condition: "{{what}} == all"}
	- {id: seq, type: bash, foreach: "{{l}}", command: "echo $$ >>pids; sleep 1000", condition: "{{what}} == seq"}
	- {id: delay, type: bash, foreach: "{{l}}", delay_between: 1000000, command: "echo $$ >>pids", condition: "{{what}} == delay"}
	- {id: spaced, type: bash, foreach: "{{l}}", parallel: true, delay_between: 1000000, command: "echo $$ >>pids", condition: "{{what}} == spaced"}
	- {id: retry, type: bash, command: "echo $$ >>pids; false", retry: {max_attempts: 3, initial_delay: 1000, max_delay: 1000}, condition: "{{what}} == retry"}
	- {id: while, type: bash, while_condition: "true", command: "echo $$ >>pids; sleep 1000", condition: "{{what}} == while"}
	- {id: sub, type: recipe, recipe: sub.yaml, condition: "{{what}} == sub"}
	- {id: agent, agent: x, prompt: P, condition: "{{what}} == agent"}
	- {id: later, type: bash, command: "touch later"}
	END
	recipe sub.yaml <<-'END'
	steps: [{id: a, type: bash, command: "echo $$ >>pids; sleep 1000"}, {id: z, type: bash, command: "touch later"}]
	END
	for what in par all seq delay spaced retry while sub agent; do
		: >pids
		start run --foreground --as "$what" --agent "x=sh -c 'echo \$\$ >>pids; sleep 1000'" it.yaml "what=$what"
		until_true lines_at_least pids 1
		kill -TERM "$RUNNING"
		finish
		is "$what $status" "$what 143"
		[ ! -e later ]
		nobody_left
		is "$(roux status "$what" --json | of_json 'd["status"]')" cancelled
	done
}

@test "a float that is whole keeps its text" {
	printf '%s\n' 'name: f' 'description: d' 'version: 1.0.0' 'context: {f: 100.0, l: [2.0, 1.5, 3]}' \
		'steps: [{id: a, type: bash, command: "printf {{f}}", output: o}]' >f.yaml
	"$ROUX" run f.yaml --as f --json >out
	contains out '"f":100.0,"l":[2.0,1.5,3]'
	contains "$(state)/runs/f/state.json" '"f": 100.0'
	"$ROUX" wait f --json >out
	contains out '"f":100.0,"l":[2.0,1.5,3]'
	"$ROUX" show ./f.yaml --json >out
	contains out '"default":100.0'
	contains out '"default":[2.0,1.5,3]'
	"$ROUX" tool schema ./f.yaml --json >out
	contains out '"default":100.0'
}

@test "a wait is ended by a signal" {
	recipe it.yaml <<-'END'
	steps: [{id: a, type: bash, command: "touch begun"}, {id: w, type: wait, seconds: 1000}, {id: z, type: bash, command: "touch later"}]
	END
	start run --foreground it.yaml
	until_true test -e begun
	kill -INT "$RUNNING"
	finish
	is "$status" 130
	[ ! -e later ]
}

@test "cancel --graceful lets the round finish and starts no other" {
	recipe it.yaml <<-'END'
	context: {l: [1, 2, 3]}
	steps:
	- {id: a, type: bash, foreach: "{{l}}", checkpoint_iterations: true, collect: r, command: "echo {{item}} >>log; until test -e go; do sleep 0.02; done; printf {{item}}"}
	END
	roux run --detach --as it it.yaml >/dev/null
	until_true lines_at_least log 1
	"$ROUX" cancel --graceful it >/dev/null 2>&1 </dev/null 3>&- &
	until_true contains "$(state)/runs/it/events.jsonl" '"run.cancel"'
	touch go
	wait $!
	is "$(cat log)" 1
	# The round counts, the others are still to be run.
	is "$(roux resume it --json 2>/dev/null | of_json 'd["status"], d["context"]["r"]')" "('done', ['1', '2', '3'])"
	is "$(tr '\n' ' ' <log)" "1 2 3 "
}

@test "a round that ends well after the order to stop begins no pause" {
	recipe it.yaml <<-'END'
	context: {l: [1, 2]}
	steps:
	- {id: a, type: bash, foreach: "{{l}}", delay_between: 1000000, command: "echo {{item}} >>log; until test -e go; do sleep 0.02; done"}
	END
	start run --foreground --as it it.yaml
	until_true lines_at_least log 1
	"$ROUX" cancel --graceful it >/dev/null 2>&1 </dev/null 3>&- &
	until_true contains "$(state)/runs/it/events.jsonl" '"run.cancel"'
	touch go
	finish
	is "$(cat log)" 1
	is "$(roux status it --json | of_json 'd["status"]')" cancelled
}

@test "the last round of a parallel loop that a signal ended is not a result" {
	recipe it.yaml <<-'END'
	context: {l: [1, 2]}
	steps:
	- {id: a, type: bash, foreach: "{{l}}", parallel: true, collect: r, command: "echo {{item}} >>log; test -e go || sleep 1000; printf {{item}}"}
	END
	start run --foreground --as it --json it.yaml
	until_true lines_at_least log 2
	kill -TERM "$RUNNING"
	finish
	is "$(of_json '"r" in d["context"], d["steps"]' <out)" "(False, [])"
	touch go
	is "$(roux resume it --json 2>/dev/null | of_json 'd["context"]["r"]')" "['1', '2']"
}

# -- going on -------------------------------------------------------------------------------------

@test "killed in a loop without checkpoints: it starts over; with them: it continues" {
	local kept lines
	for kept in true false; do
		rm -rf "$(state)" log go
		recipe it.yaml <<-END
		context: {l: [1, 2, 3]}
		steps:
		- {id: z, type: bash, command: "echo z >>log"}
		- {id: a, type: bash, foreach: "{{l}}", checkpoint_iterations: $kept, collect: r, command: "echo {{item}} >>log; test {{item}} != 2 || until test -e go; do sleep 0.02; done; printf {{item}}"}
		END
		roux run --detach --as it it.yaml >/dev/null
		until_true lines_at_least log 3
		killed
		touch go
		is "$(roux resume it --json 2>/dev/null | of_json 'd["status"], d["context"]["r"]')" "('done', ['1', '2', '3'])"
		lines=$(tr '\n' ' ' <log)
		if [ "$kept" = true ]; then is "$lines" "z 1 2 2 3 "; else is "$lines" "z 1 2 1 2 3 "; fi
	done
}

@test "killed in a while: it starts over with the variables that it began with" {
	recipe it.yaml <<-'END'
	context: {n: 0}
	steps:
	- {id: z, type: bash, command: "echo z >>log; printf 3", output: n}
	- {id: a, type: bash, while_condition: "{{n}} < 6", output: n, command: "echo {{n}} >>log; test {{n}} != 4 || until test -e go; do sleep 0.02; done; printf $(({{n}} + 1))"}
	END
	roux run --detach --as it it.yaml >/dev/null
	until_true lines_at_least log 3
	killed
	touch go
	is "$(roux resume it --json 2>/dev/null | of_json 'd["status"], d["context"]["n"]')" "('done', '6')"
	is "$(tr '\n' ' ' <log)" "z 3 4 3 4 5 "
}

@test "killed inside a sub-recipe and a stage: what is done stays done" {
	recipe it.yaml <<-'END'
	stages:
	- name: one
	  steps: [{id: a, type: bash, command: "echo a >>log"}, {id: s, type: recipe, recipe: sub.yaml, output: r}]
	- name: two
	  steps: [{id: z, type: bash, command: "echo z >>log; printf '{{r.o}}'", output: o}]
	END
	recipe sub.yaml <<-'END'
	steps:
	- {id: x, type: bash, command: "echo x >>log"}
	- {id: y, type: bash, command: "echo y >>log; until test -e go; do sleep 0.02; done; printf y", output: o}
	END
	roux run --detach --as it it.yaml >/dev/null
	until_true lines_at_least log 3
	killed
	touch go
	rm sub.yaml it.yaml # the run has its own copies
	is "$(roux resume it --json 2>/dev/null | of_json 'd["status"], d["context"]["o"]')" "('done', 'y')"
	is "$(tr '\n' ' ' <log)" "a x y y z "
}

@test "cancelled in the pause before a retry: the tries go on counting" {
	recipe it.yaml <<-'END'
	steps:
	- {id: a, type: bash, command: "echo $ROUX_ATTEMPT >>log; test -e go", retry: {max_attempts: 3, initial_delay: 1000, max_delay: 1000}}
	END
	roux run --detach --as it it.yaml >/dev/null
	until_true contains "$(state)/runs/it/events.jsonl" '"step:retry"'
	roux cancel it >/dev/null
	touch go
	start resume it --json
	# The first try stands; the pause before the second is not over, and a signal ends it too.
	until_true lines_at_least log 2
	finish
	is "$(of_json 'd["status"], d["steps"][0]["attempts"]' <out)" "('done', 2)"
	is "$(tr '\n' ' ' <log)" "1 2 "
}

# again NODE [OPTION]...: what `it` runs when it is run again from there, in no order.
again() {
	: >log
	roux rerun -q it --from "$@" >out || return
	sort log | tr '\n' ' '
}

@test "rerun begins in a called recipe, in a round of a loop, behind a gate that was passed" {
	recipe it.yaml <<-'END'
	context: {l: [1, 2, 3], n: 0}
	stages:
	- name: one
	  steps:
	  - {id: a, type: bash, command: "echo a >>log; echo A", output: a}
	  - {id: s, type: recipe, recipe: sub.yaml, context: {x: "{{a}}"}, output: r}
	  - {id: f, type: recipe, recipe: sub.yaml, foreach: "{{l}}", context: {x: "{{item}}"}, collect: rs}
	  approval: {required: true, prompt: "on?"}
	- name: two
	  steps:
	  - {id: w, type: bash, while_condition: "{{n}} < 3", command: "echo w{{n}} >>log; printf $(({{n}} + 1))", output: n}
	  - {id: p, type: bash, foreach: "{{l}}", parallel: true, command: "echo p{{item}} >>log; printf p{{item}}", collect: ps}
	  - {id: z, type: bash, command: "echo z >>log; echo '{{r.y}} {{rs}} {{n}} {{ps}} {{_approval_message}}'", output: final_output}
	END
	recipe sub.yaml <<-'END'
	context: {x: 0}
	steps:
	- {id: x, type: bash, command: "echo x >>log; echo X"}
	- {id: y, type: bash, command: "echo y >>log; test ! -e broken; printf '%s' $X", env: {X: "{{x}}"}, output: y}
	END
	roux run -q --as it it.yaml || true
	roux approve it --message aye >/dev/null
	roux resume -q it >first
	rm sub.yaml # the run has its own copy
	is "$(again z)" "z "
	cmp first out
	is "$(again 1.1.r1)" "p2 z "
	is "$(again 1.0.r1)" "p1 p2 p3 w1 w2 z "
	cmp first out
	is "$(again 0.1.0.1 --only)" "y "
	is "$(cat out)" A
	is "$(again 0.2.r1.0.1 --only)" "y "
	is "$(cat out)" 2
	is "$(again 1.1.r2 --only)" "p3 "
	is "$(cat out)" p3
	# What follows in the loop is run, and the gate behind it is no longer passed.
	: >log
	run -4 roux rerun -q it --from 0.2.r1.0.1
	is "$(tr '\n' ' ' <log)" "y x y "
	run -2 roux rerun -q it --from 0.2.r7
	run -2 roux rerun -q it --from 0.1.0.2
}

@test "rerun of a run that failed in a called recipe begins there" {
	recipe it.yaml <<-'END'
	steps:
	- {id: a, type: bash, command: "echo a >>log"}
	- {id: s, type: recipe, recipe: "{{name}}.yaml"}
	- {id: z, type: bash, command: "echo z >>log"}
	END
	recipe sub.yaml <<-'END'
	steps:
	- {id: x, type: bash, command: "echo x >>log"}
	- {id: y, type: bash, command: "echo y >>log; test ! -e broken"}
	END
	touch broken
	run -1 roux run -q --as it it.yaml name=sub
	rm broken log
	roux rerun -q it
	is "$(tr '\n' ' ' <log)" "y z "
}

@test "values are of the same type when a run is detached, resumed and run again" {
	recipe it.yaml <<-'END'
	steps: [{id: a, type: bash, command: "echo '{{v}}' >>log; test -e go"}]
	END
	roux run --detach --as it it.yaml 'v:=[2.0, 3, -0.0, 1e16]' >/dev/null
	roux wait it >/dev/null || true
	touch go
	roux resume -q it
	roux rerun -q it
	is "$(sort log | uniq -c | tr -s ' ')" " 3 [2.0, 3, -0.0, 1e+16]"
}

@test "a whole number beyond 64 bits keeps its digits, however it is given and in every record" {
	recipe it.yaml <<-'END'
	context: {v: 0}
	steps: [{id: a, type: bash, command: "echo '{{v}}' >>log; test -e go"}]
	END
	echo '{"v": [12345678901234567890, {"w": -99999999999999999999}]}' >values.json
	roux run -q it.yaml v:=12345678901234567890 || true
	is "$(cat log)" 12345678901234567890
	rm log
	roux run --detach --as it --values values.json it.yaml >/dev/null
	roux wait it >/dev/null || true
	touch go
	roux resume -q it
	roux rerun -q it
	is "$(sort log | uniq -c | tr -s ' ')" " 3 [12345678901234567890, {\"w\": -99999999999999999999}]"
	contains <(roux wait it --json) '"v":[12345678901234567890,{"w":-99999999999999999999}]'
	contains <(roux report it) '[12345678901234567890,{&quot;w&quot;:-99999999999999999999}]'
}

@test "a secret that is a whole number beyond 64 bits is masked by its digits" {
	local dir found
	recipe it.yaml <<-'END'
	secrets: [v, w]
	context: {v: 0}
	steps:
	- {id: a, type: bash, command: "echo '{{v}}'"}
	- {id: b, type: bash, command: "cat made", parse_json: true, output: w}
	- {id: c, type: bash, command: "echo '{{w}}'"}
	END
	echo '[98765432109876543210]' >made
	roux run --foreground --as it --json --events ev it.yaml v:=12345678901234567890 >out 2>err
	dir=$(state)/runs/it
	found=$(grep -rlE '12345678901234567|98765432109876543' ev out err "$dir"/{events.jsonl,result.json,run.json} || true)
	is "$found" ""
}

@test "a value that nothing uses is reported before the run, with the nearest name" {
	recipe it.yaml <<-'END'
	context: {name: world}
	steps: [{id: a, type: bash, condition: "{{only_here}} == 1", command: "echo {{name}}", output: final_output}]
	END
	run -2 --separate-stderr roux run it.yaml nmae=x only_here=1
	has "$stderr" "did you mean 'name'?"
	run -2 --separate-stderr roux plan it.yaml nmae=x only_here=1
	has "$stderr" "did you mean 'name'?"
	# One that is like no other is only told.
	run -0 --separate-stderr roux run it.yaml zebra=x only_here=1
	is "$output" world
	has "$(head -n 1 <<<"$stderr")" "nothing in the recipe 'it' uses the value 'zebra'"
	is "$(roux run --json -q it.yaml zebra=x step=1 only_here=1 | of_json 'd["warnings"]')" \
		"[\"nothing in the recipe 'it' uses the value 'zebra'\", \"the value 'step' is ignored: roux itself sets it\"]"
	run -0 --separate-stderr roux run it.yaml name=x only_here=1 final_output=y
	is "${stderr//warning/}" "$stderr"
}

@test "two at once: the second is refused" {
	recipe it.yaml <<-'END'
	steps: [{id: a, type: bash, command: "touch begun; sleep 1000"}]
	END
	roux run --detach --as it it.yaml >/dev/null
	until_true test -e begun
	run -2 roux resume it
	run -2 roux approve it
	roux kill it >/dev/null
}

# -- gates ----------------------------------------------------------------------------------------

gated() {
	recipe it.yaml <<-'END'
	stages:
	- name: one
	  steps: [{id: a, type: bash, command: "echo a >>log"}]
	  approval: {required: true, prompt: "go on?"}
	- name: two
	  steps: [{id: b, type: bash, command: "echo b >>log; printf '%s' \"$M\"", env: {M: "{{_approval_message}}"}, output: m}]
	END
}

@test "a paused run says what it waits for and how to answer" {
	gated
	run -4 --separate-stderr roux run --foreground --as it it.yaml
	has "$stderr" "go on?"
	has "$stderr" "roux approve it"
	is "$output" ""
	is "$(roux status it --json | of_json 'd["status"], d["pending_approval"]["stage"], d["pid"]')" "('paused', 'one', None)"
	nobody_left
}

@test "a loop that waits at a gate of a called recipe, or is cancelled, is not told as failed" {
	local pid
	recipe it.yaml <<-'END'
	context: {l: [1, 2]}
	steps: [{id: f, type: recipe, recipe: sub.yaml, foreach: "{{l}}", as: x}]
	END
	recipe sub.yaml <<-'END'
	stages:
	- {name: st, approval: {required: true, prompt: "go?"}, steps: [{id: a, type: bash, command: "true"}]}
	END
	run -4 roux run --foreground --progress plain --as it it.yaml
	[[ $output == *"[0 f] paused: 0/2"$'\n'* ]]
	[[ $output != *failed* ]]
	run -4 roux approve --resume it
	[[ $output == *"[0 f] paused: 1/2"* ]]
	recipe long.yaml <<-'END'
	context: {l: [0, 86400]}
	steps: [{id: f, type: bash, command: "sleep {{x}}", foreach: "{{l}}", as: x}]
	END
	roux run --foreground --progress plain --as long long.yaml 2>err &
	pid=$!
	until_true contains err "[0.r1 f 1] start"
	roux cancel long >/dev/null
	wait "$pid" || true
	contains err "[0 f] cancelled: 1/2"
}

@test "approve --resume does both; the stage may be left out" {
	gated
	run -4 roux run --foreground --as it it.yaml
	is "$(roux approve it --message "it's \$fine" --resume --json 2>/dev/null | of_json 'd["status"], d["context"]["m"]')" \
		"('done', \"it's \$fine\")"
	is "$(tr '\n' ' ' <log)" "a b "
}

@test "of two answers at once one counts" {
	local i yes no
	recipe it.yaml <<-'END'
	stages: [{name: one, steps: [{id: a, type: bash, command: "true"}], approval: {required: true, prompt: "on?"}}]
	END
	for i in {1..12}; do
		roux run -q --as "r$i" it.yaml || true
		roux approve "r$i" >/dev/null 2>&1 & yes=$!
		roux deny "r$i" >/dev/null 2>&1 & no=$!
		wait "$yes" && yes=0 || yes=$?
		wait "$no" && no=0 || no=$?
		is "$((yes + no))" 2
		run -$((yes ? 1 : 0)) roux resume -q "r$i"
	done
	roux run -q --as it it.yaml || true
	roux approve it >/dev/null
	run -2 --separate-stderr roux deny it
	is "${stderr%% at 2*}" "roux: error: the run 'it' has its answer already: approved by $(id -un)"
	has "$stderr" "hint: \`roux resume it\` continues it"
}

@test "the time since when it waits does not change with a resume" {
	local since
	gated
	run -4 roux run --foreground --as it it.yaml
	since=$(roux status it --json | of_json 'd["pending_approval"]["since"]')
	is "$(roux resume it --json 2>/dev/null | of_json 'd["pending_approval"]["since"]')" "$since"
}

# said RUN: what the documents of its status and of its result say about the gate.
said() {
	roux status "$1" --json | of_json 'd["status"], d.get("pending_approval")'
	roux wait "$1" --json 2>/dev/null | of_json 'd["status"], d.get("pending_approval")'
}

@test "an answered gate is open nowhere, and what comes next is resume" {
	local answer open="('paused', None)"
	gated
	for answer in approve deny; do
		rm -f log
		roux run --detach --as "$answer" it.yaml >/dev/null
		run -4 roux wait "$answer"
		has "$(roux status "$answer")" "roux approve $answer"
		roux "$answer" "$answer" >/dev/null
		[ "$answer" = approve ] || break # a denied one has ended
		is "$(said "$answer")" "$open
$open"
		run -0 roux status "$answer"
		is "$(grep 'next ' <<<"$output" | tr -s ' ')" " next roux resume $answer"
		is "${output//waits for/}" "$output"
		is "${output//roux approve/}" "$output"
		is "$(roux approve "$answer" --json | of_json 'd["status"], d["run"], d["error"].split(":")[0], d["reason"]')" \
			"('refused', '$answer', \"the run '$answer' has its answer already\", 'nothing to approve')"
		run -2 roux deny "$answer"
		is "$(cat log)" a
		run -0 roux resume approve
		is "$(cat log)" "a
b"
	done
	run -1 roux resume deny
	is "$(said approve)" "('done', None)
('done', None)"
	is "$(said deny)" "('denied', None)
('denied', None)"
	is "$(cat log)" a
}

@test "a detached run pauses; wait says so with its exit status" {
	gated
	roux run --detach --as it it.yaml >/dev/null
	run -4 roux wait it
	run -0 roux deny it --reason "no"
	run -1 roux resume it
	run -1 roux resume it
	is "$(cat log)" a
	is "$(roux status it --json | of_json 'd["status"], d["pending_approval"]')" "('denied', None)"
}

@test "a run cannot answer its own gate, and what a step left behind is ended at it" {
	local way n=0
	export ROUX
	# Each tries to answer once the run waits, in another way of getting out of the run.
	cat >try <<-'END'
		#!/bin/bash
		until test "$("$ROUX" status "$1" --json | grep -c '"status":"paused"')" = 1; do sleep 0.05; done
		"$ROUX" approve "$1" >"answer.$1" 2>&1
	END
	chmod +x try
	for way in './try it0 &' 'setsid ./try it1 &' 'env -u ROUX_RUN ./try it2 &' \
		'env -i HOME=$HOME ROUX=$ROUX PATH=$PATH setsid ./try it3 </dev/null >/dev/null 2>&1 &' \
		'(setsid nohup ./try it4 </dev/null >/dev/null 2>&1 &);'; do
		recipe it.yaml <<-END
		stages:
		- name: one
		  steps: [{id: a, type: bash, command: '$way echo \$! >>pids', output: a}]
		  approval: {required: true, prompt: "ok?"}
		- name: two
		  steps: [{id: b, type: bash, command: 'echo b'}]
		END
		run -4 roux run -q --as it$n it.yaml
		nobody_left
		[ ! -e answer.it$n ]
		is "$(roux status it$n --json | of_json 'd["status"], d["pending_approval"]["stage"]')" "('paused', 'one')"
		n=$((n + 1))
	done
	ROUX_RUN=it0 run -2 --separate-stderr roux approve it0
	has "$stderr" "a process of the run 'it0' cannot answer for it"
	ROUX_RUN=it0 run -2 --separate-stderr roux deny it0 --json
	is "$(of_json 'd["reason"], d["run"]' <<<"$output")" "('own run', 'it0')"
	run -0 roux approve it0
}

@test "what a run started answers for it neither below a process that hides nor in its session" {
	recipe it.yaml <<-'END'
	stages:
	- name: one
	  steps: [{id: a, type: bash, command: 'true'}]
	  approval: {required: true, prompt: "ok?"}
	- name: two
	  steps: [{id: b, type: bash, command: 'echo b'}]
	END
	run -4 roux run -q --as it it.yaml
	ROUX_RUN=it run -2 bash -c 'env -u ROUX_RUN "$ROUX" approve it; exit $?'
	has "$output" "cannot answer for it"
	# Of another run: it may.
	run -0 bash -c 'ROUX_RUN=other "$ROUX" approve it'
}

@test "a run that a step has started by itself continues while the first one waits" {
	export ROUX
	recipe it.yaml <<-'END'
	stages:
	- name: one
	  steps: [{id: a, type: bash, command: '"$ROUX" run --detach --as apart --template "sleep 1000"'}]
	  approval: {required: true, prompt: "ok?"}
	- name: two
	  steps: [{id: b, type: bash, command: 'echo b'}]
	END
	run -4 roux run -q --as it it.yaml
	is "$(roux status apart --json | of_json 'd["status"]')" running
	asks 0 kill apart
}

# -- the rest -------------------------------------------------------------------------------------

@test "--secret is masked everywhere but in values.json, and reaches the command" {
	local dir found
	recipe it.yaml <<-'END'
	steps:
	- {id: a, type: bash, command: 'printf %s "$P" | wc -c', env: {P: "{{pw}}"}, output: n}
	- {id: b, type: bash, command: "true {{pw}}"}
	- {id: c, type: bash, condition: "{{pw}} == x", command: "true"}
	- {id: d, type: bash, command: "false {{pw}}", on_error: continue}
	END
	roux run --foreground --as it --secret pw=hunter22-hunter22 --json --events ev it.yaml >out 2>err
	is "$(of_json 'd["context"]["n"].strip(), d["context"]["pw"]' <out)" "('17', '***')"
	dir=$(state)/runs/it
	found=$(grep -rl hunter22 "$dir" ev out err || true)
	is "$found" "$dir/values.json"
}

@test "secrets that are known only while it runs, and those of a called recipe, are masked" {
	recipe it.yaml <<-'END'
	secrets: [made, all]
	context: {l: [1, 2]}
	steps:
	- {id: a, type: bash, command: "printf 'made-'; echo here", output: made}
	- {id: b, type: bash, command: "true '{{made}}'", env: {M: "{{made}}"}}
	- {id: c, type: bash, foreach: "{{l}}", command: "printf 'item-'; printf {{item}}", collect: all}
	- {id: d, type: bash, foreach: "{{all}}", command: "true {{item}}"}
	- {id: e, type: recipe, recipe: sub.yaml, context: {v: "{{l}}", w: "{{word}}"}}
	END
	recipe sub.yaml <<-'END'
	secrets: [w, own]
	context: {v: 1, w: 2}
	steps:
	- {id: x, type: bash, command: "true {{w}}", env: {W: "{{w}}"}}
	- {id: y, type: bash, command: "printf 'own-'; printf child", output: own}
	- {id: z, type: bash, command: "true {{own}}", env: {O: "{{own}}"}}
	END
	roux run --as it it.yaml word=passed-on 2>err
	run grep -E 'made-here|item-[12]|passed-on|own-child' err "$(state)/runs/it/events.jsonl"
	is "$output" ""
	has "$(cat err)" "true ***"
}

@test "a resume of a run that is done tells one line, and none when it is to be silent" {
	recipe it.yaml <<-'END'
	steps: [{id: a, type: bash, command: "echo a; false", on_error: continue, output: a}]
	END
	roux run -q --as it it.yaml
	run -0 --separate-stderr roux resume -q it
	is "$output" a
	is "${#stderr_lines[@]}" 1
	run -0 --separate-stderr roux resume --silent it
	is "$output/$stderr" "a/"
}

@test "--stream shows the lines of steps as they come" {
	recipe it.yaml <<-'END'
	steps:
	- {id: talks, type: bash, command: "echo one; echo two", output: o}
	- {id: silent, type: bash, command: "echo three", output: p}
	END
	run -0 --separate-stderr roux run --foreground --stream it.yaml
	has "$stderr" "talks"
	has "$stderr" "two"
	is "$output" "three"
}

@test "a collection is named on the command line" {
	mkdir -p lib/deep
	recipe lib/deep/c.yaml <<-'END'
	steps: [{id: x, type: recipe, recipe: d.yaml, output: o}]
	END
	recipe lib/deep/d.yaml <<-'END'
	steps: [{id: x, type: bash, command: "printf found", output: o}]
	END
	recipe it.yaml <<-'END'
	steps: [{id: a, type: recipe, recipe: "@my:deep/c.yaml", output: r}]
	END
	is "$(roux run --foreground --json --collection my=lib it.yaml 2>/dev/null | of_json 'd["context"]["r"]')" \
		"{'o': {'o': 'found'}}"
}

@test "--max-parallel is the width of parallel: true, -j bounds it" {
	local width
	recipe it.yaml <<-'END'
	context: {l: [1, 2, 3, 4, 5, 6]}
	steps:
	- {id: a, type: bash, foreach: "{{l}}", parallel: true, collect: r, parse_json: true, command: "mkdir live.{{item}}; sleep 0.2; ls -d live.* | wc -l; rmdir live.{{item}}"}
	END
	for width in "--max-parallel 2" "-j 1"; do
		# shellcheck disable=SC2086
		roux run --foreground --json $width it.yaml >out 2>err
		[ "$(of_json 'max(d["context"]["r"])' <out)" -le 2 ]
	done
	is "$(of_json 'max(d["context"]["r"])' <out)" 1
}

@test "agents of the registry, of --agent, and those that are unknown" {
	mkdir -p "$HOME/.config/start"
	cat >"$HOME/.config/start/agents.toml" <<-'END'
	[agents.known]
	bin = "cat"
	command = "{bin}"
	[agents."*"]
	bin = "echo"
	command = "{bin} any {agent} {step}"
	END
	recipe it.yaml <<-'END'
	steps:
	- {id: a, agent: "space:known", prompt: "hello", output: a}
	- {id: b, agent: other, prompt: "hello", output: b}
	END
	is "$(roux run --foreground --json it.yaml 2>err | of_json 'd["context"]["a"], d["context"]["b"]')" "('hello', 'any other b')"
	is "$(roux run --foreground --json --agent '*=echo given' it.yaml 2>err | of_json 'd["context"]["a"], d["context"]["b"]')" "('given', 'given')"
	rm "$HOME/.config/start/agents.toml"
	run -1 roux run --foreground it.yaml
	has "$output" "known"
}

@test "a resume uses the agents that the run was started with" {
	recipe it.yaml <<-'END'
	steps: [{id: z, type: bash, command: "test -e go"}, {id: a, agent: x, prompt: "hello", output: a}]
	END
	run -1 roux run --foreground --as it --agent x=cat it.yaml
	touch go
	is "$(roux resume it --json 2>/dev/null | of_json 'd["context"]["a"]')" hello
}

@test "an agent of a step gets every context that the step names" {
	mkdir -p "$HOME/.config/start"
	printf '[agents.show]\nbin = "printf"\ncommand = "{bin} %%s {prompt}"\n' >"$HOME/.config/start/agents.toml"
	seq -f "[contexts.c%g]
prompt = 'context'" 70 >"$HOME/.config/start/contexts.toml"
	recipe it.yaml <<-END
	steps: [{id: a, agent: show, prompt: "hello", agent_config: {contexts: [$(seq -s, -f c%g 70)]}, output: a}]
	END
	is "$(roux run --foreground --json it.yaml 2>/dev/null | of_json 'd["context"]["a"].count("context")')" 70
}

@test "many rounds need no more memory than few" {
	unsanitized
	local few many
	recipe it.yaml <<-'END'
	context: {n: 10}
	steps:
	- {id: l, type: bash, command: "seq {{n}} | paste -sd, | sed 's/.*/[&]/'", output: l}
	- {id: a, type: bash, foreach: "{{l}}", parallel: true, max_iterations: 100000, on_error: continue, shell: /bin/false, command: "x"}
	END
	peak() {
		python3 - "$ROUX" run --foreground --quiet it.yaml "n=$1" <<-'END'
		import os, subprocess, sys
		p = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
		print(os.wait4(p.pid, 0)[2].ru_maxrss)
		END
	}
	few=$(peak 2000)
	many=$(peak 8000)
	echo "$few KiB, $many KiB"
	[ $((many - few)) -lt 2048 ]
}

@test "output that parse_json cannot take is told as that, with the end of the command" {
	echo '{"template":"echo hi"}' >called.json
	cat >p.yaml <<'END'
name: p
version: 1.0.0
description: JSON that is not
steps:
  - {id: a, type: bash, command: "echo notjson", parse_json: true, output: x, on_error: continue}
  - {id: b, type: bash, command: "true", parse_json: true, output: x, on_error: continue}
  - {id: c, type: recipe, recipe: ./called.json, parse_json: true, output: x, on_error: continue}
END
	asks 0 run ./p.yaml
	has "$(cat err)" "[0 a] failed with code 1, tolerated: echo notjson
    the command ended with code 0, but \`parse_json\` asks for JSON: not valid JSON: found notjson"
	has "$(cat err)" "the command ended with code 0, but \`parse_json\` asks for JSON: the output of step 'b' is empty"
	has "$(cat err)" "the recipe ended with code 0, but \`parse_json\` asks for JSON: not valid JSON: found hi"
}

@test "the branches of a recipe that a step calls are in the result" {
	echo '{"parallel":true,"template":[{"label":"alpha","template":"printf a"},{"template":[{"parallel":true,"repeat":2,"label":"inner","template":"printf b"}]}]}' >called.json
	cat >steps.yaml <<'END'
name: steps
version: 1.0.0
description: Calls at once
context: {l: [1, 2]}
steps:
  - {id: c, type: recipe, recipe: ./called.json, foreach: "{{l}}", parallel: true, collect: o}
  - {id: d, type: recipe, recipe: ./called.json, output: p}
END
	echo '{"imports":{"s":"./steps.yaml"},"template":["true",{"name":"s"}]}' >imports.json
	asks 0 run --json ./steps.yaml
	is "$(member '[b["label"] for b in d["branches"]]')" "['inner', 'inner', 'alpha', 'branch 2']"
	is "$(member 'd["context"]["p"].splitlines()[0]')" "--- branch: alpha status: done ---"
	asks 0 run --json ./imports.json
	is "$(member 'len(d["branches"])')" 4
}

@test "the plan of a run expands the recipes that its steps call" {
	mkdir -p .roux/recipes
	echo '{"args":["z"],"template":["echo {z}","test -e good"]}' >called.json
	echo '{"template":"echo named"}' >.roux/recipes/named.json
	cat >wrap.yaml <<'END'
name: wrap
version: 1.0.0
description: Calls others
context: {q: ""}
steps:
  - {id: c, type: recipe, recipe: ./called.json, context: {z: "{{q}}"}, on_error: continue}
  - {id: n, type: recipe, recipe: named}
END
	asks 0 run -q --as wrap wrap.yaml q=x
	for how in "" --all --json; do
		asks 0 plan run:wrap $how
		has "$(cat out)" "named"
	done
	asks 0 plan run:wrap --all
	has "$(cat out)" "0.0.0  echo x"
	has "$(cat out)" "1.0  echo named"
	asks 0 plan run:wrap --resume
}

@test "what imports a step recipe is resumed although nothing has read its input" {
	recipe s.yaml <<-'END'
	steps: [{id: b, type: bash, command: "test -e ok && echo fine", output: o}]
	END
	echo '{"imports": {"s": "./s"}, "template": {"name": "s"}}' >one.json
	echo '{"imports": {"s": "./s"}, "failure": "branch", "template": [{"name": "s"}, "sed s/f/F/"]}' >first.json
	local m
	for m in one first; do
		rm -f ok
		yes 2>/dev/null | head -c 1000000 2>/dev/null | timeout $WATCHDOG "$ROUX" run -q --as "$m" "./$m.json" >out 2>err 3>&- || true
		contains err "roux resume $m"
		touch ok
		roux resume -q "$m" >out
		is "$(tr F f <out)" fine
	done
	# A command beside it reads the input, and needs it.
	echo '{"imports": {"s": "./s"}, "parallel": true, "failure": "branch", "template": [{"name": "s"}, {"timeout": 300, "template": "sh -c \"cat >/dev/null\""}]}' >beside.json
	yes 2>/dev/null | timeout $WATCHDOG "$ROUX" run -q --as beside ./beside.json >out 2>err 3>&- || true
	run -2 roux resume beside
}
