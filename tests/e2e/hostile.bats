# Requests that are large, deep, or plainly wrong.

load common

@test "2000 levels deep" {
	python3 -c 'print("[" * 2000 + "\"echo x\"" + "]" * 2000)' >t.json 2>/dev/null || awk 'BEGIN{for(i=0;i<2000;i++)printf "[";printf "\"echo x\"";for(i=0;i<2000;i++)printf "]"}' >t.json
	is "$(quick exec @t.json)" x
	run timeout $WATCHDOG "$ROUX" plan @t.json
	is "$status" 0
}

@test "too deep is refused clearly, also 200000 levels" {
	awk 'BEGIN{for(i=0;i<200000;i++)printf "[";printf "\"echo x\"";for(i=0;i<200000;i++)printf "]"}' >t.json
	run quick exec @t.json
	is "$status" 2
	awk 'BEGIN{for(i=0;i<200000;i++)printf "{\"template\":";printf "\"echo x\"";for(i=0;i<200000;i++)printf "}"}' >t.json
	run quick exec @t.json
	is "$status" 2
}

@test "100000 branches, little memory" {
	unsanitized
	run --separate-stderr quick exec --json '{"parallel":true,"repeat":100000,"when":"{(index%100)/99}","template":"true"}'
	is "$(jq -c .coverage.done <<<"$output")" 100000
	env "$ROUX" exec --progress=none '[{"parallel":true,"repeat":20000,"template":"true"},"sh -c \"touch waiting; until test -e go; do sleep 0.01; done\""]' >out 2>err </dev/null 3>&- &
	RUNNING=$!
	until_true test -e waiting
	between "$(awk '/VmHWM/{print $2}' "/proc/$RUNNING/status")" 1 16384
	touch go
	finish
	is "$status" 0
}

@test "a thousand million copies that are skipped are skipped at once" {
	run quick exec '{"repeat":1000000000,"when":false,"template":"true"}'
	is "$status" 0
}

@test "a thousand million copies, each skipped by itself, can be cancelled" {
	unsanitized
	start exec --json --progress=none '{"repeat":1000000000,"when":"{index*0}","template":"true"}'
	until_true worked "$RUNNING" 30
	local most=20000
	[ -z "${SANITIZED:-}" ] || most=60000 # it has shadows of its own
	between "$(awk '/VmHWM/{print $2}' "/proc/$RUNNING/status")" 1 "$most"
	kill -INT "$RUNNING"
	finish
	is "$status" 130
}

@test "a thousand million parallel copies can be cancelled, with little memory" {
	start exec --json --progress=none '{"parallel":true,"repeat":1000000000,"template":"true"}'
	until_true worked "$RUNNING" 30
	local most=20000
	[ -z "${SANITIZED:-}" ] || most=60000 # it has shadows of its own
	between "$(awk '/VmHWM/{print $2}' "/proc/$RUNNING/status")" 1 "$most"
	kill -INT "$RUNNING"
	finish
	is "$status" 130
	nobody_left
}

@test "a template of 10 MB" {
	awk 'BEGIN{printf "[";for(i=0;i<100000;i++)printf "%s\"true %0100d\"",(i?",":""),i;printf "]"}' >t.json
	is "$(timeout $WATCHDOG "$ROUX" plan @t.json | wc -l)" 100000
	run timeout $WATCHDOG "$ROUX" check @t.json
	is "$status" 0
}

@test "one word of 10 MB is refused" {
	awk 'BEGIN{printf "\"true ";for(i=0;i<100000;i++)printf "%0100d",i;printf "\""}' >t.json
	run quick exec @t.json
	is "$status" 2
	[ "${#output}" -lt 5000 ]
}

@test "files that are none: loops, directories, devices" {
	ln -s loop loop
	mkdir dir
	local name
	for name in loop dir nothing loop/x /dev/zero /dev/null ''; do
		run timeout $WATCHDOG "$ROUX" exec "@$name" --json </dev/null
		is "$status" 2
		is "$(jq -r .status <<<"$output")" invalid
	done
	for name in loop dir nothing /dev/zero; do
		run timeout $WATCHDOG "$ROUX" exec true --values "$name" </dev/null
		is "$status" 2
	done
	run quick exec --events dir true
	[ "$status" -ne 0 ]
	run quick exec --events nowhere/x 'touch started'
	[ "$status" -ne 0 ]
	[ ! -e started ]
}

@test "a FIFO can bring a template and values" {
	mkfifo fifo
	echo '"echo from a fifo"' >fifo 3>&- &
	is "$(quick exec @fifo)" 'from a fifo'
	start exec --progress=none @fifo
	echo '"echo late"' | timeout $WATCHDOG tee fifo >/dev/null
	finish
	is "$(cat out)" late
	is "$(quick exec 'echo {x}' --values <(echo '{"x":"y"}'))" y
}

@test "numbers beyond all limits" {
	local node
	for node in '"repeat":99999999999999999999999' '"repeat":1e400' '"repeat":-1' '"repeat":1.5' '"retry":0' \
		'"retry":-5' '"retry":1.5' '"delay":-1' '"timeout":-1' '"timeout":"x"' '"timeout":1e400' '"repeat":"0"'; do
		run timeout $WATCHDOG "$ROUX" exec --quiet "{$node,\"template\":\"true\"}" </dev/null
		is "$status $node" "2 $node"
	done
	for node in -1 100001 x 1.5 '' 99999999999999999999; do
		run quick exec -j "$node" true
		is "$status" 2
		run quick exec --grace "$node.0" true
		is "$status" 2
	done
}

@test "JSON that is wrong in many ways" {
	local text
	for text in '{' '{"template"' '{"template":"true"' '[,]' '["true",]' '{"template":"a","template":"b"}' \
		'[1]' '[null]' '{}' '{"template":null}' '[[]]' '"\ud800"' '{"a":1}' '[true]' 'nul' '"unclosed'; do
		run timeout $WATCHDOG "$ROUX" exec --json --quiet "$text" </dev/null
		[ "$status" -lt 128 ] && [ "$status" -ne 0 ] && [ "$status" -ne 124 ]
		jq -e .status <<<"$output"
	done
}

@test "a thousand retries of a quick failure" {
	run quick exec --json '{"retry":1000,"template":"false"}'
	is "$(jq -c .failures_total <<<"$output")" 1000
}

@test "a command that prints a million lines to standard error" {
	run --separate-stderr quick exec --json 'sh -c "seq 3000000 >&2; echo ok"'
	is "$(jq -r .stdout <<<"$output")" ok
}

@test "a program that vanishes or becomes a directory between steps" {
	printf '#!/bin/sh\necho once\n' >p
	chmod 755 p
	run --separate-stderr quick exec --json '["./p","rm p","mkdir p","./p","echo end"]'
	is "$(jq -c '[.stdout,.failures[0].code]' <<<"$output")" '["end\n",126]'
}

@test "PATH: empty, missing, with a directory that cannot be read" {
	run env PATH= "$ROUX" exec --progress=none /bin/true
	is "$status" 0
	run env -u PATH "$ROUX" exec --progress=none true
	is "$status" 0
	mkdir bin1 bin2
	mkdir bin1/prog
	printf '#!/bin/sh\necho second\n' >bin2/prog
	chmod 755 bin2/prog
	is "$(PATH=/nonexistent:$PWD/bin1:$PWD/bin2:$PATH quick exec prog)" second
}

@test "the working directory is gone" {
	mkdir gone
	run bash -c 'cd gone && rmdir ../gone && timeout $WATCHDOG "$ROUX" exec --progress=none "echo hi" </dev/null'
	is "$output" hi
	printf '{name: s, description: d, version: 1.0.0, steps: [{id: a, type: bash, command: "true"}]}\n' >s.yaml
	mkdir gone
	run bash -c 'cd gone && rmdir ../gone && timeout $WATCHDOG "$ROUX" run "$1" </dev/null' bash "$PWD/s.yaml"
	is "$status" 2
	has "$output" "cannot find out the directory to run in"
}

@test "a relative place for roux and a working directory that is gone: refused, nothing is made at the root" {
	local name
	for name in PI_CODING_AGENT_DIR ROUX_STATE_DIR; do
		mkdir gone
		run env "$name=roux-e2e-$$" bash -c 'cd gone && rmdir ../gone && timeout $WATCHDOG "$ROUX" run "echo hi" </dev/null'
		[ ! -e "/roux-e2e-$$" ] || { rm -r "/roux-e2e-$$"; false; }
		is "$status" 2
		has "$output" "cannot find out the working directory, which $name=roux-e2e-$$ is in: No such file or directory"
		has "$output" "set $name to an absolute path"
	done
	mkdir gone
	run env ROUX_STATE_DIR=roux-e2e-$$ bash -c 'cd gone && rmdir ../gone && timeout $WATCHDOG "$ROUX" runs --json </dev/null'
	is "$(jq .ok <<<"$output")" false
}

@test "a path from a working directory that is gone is not one from the root" {
	[ -w / ] || skip "needs to write to the root"
	mkdir gone
	echo '{"template": "echo of the root"}' >"/roux-e2e-$$.json"
	run bash -c 'cd gone && rmdir ../gone && timeout $WATCHDOG "$ROUX" run "./$1" </dev/null' bash "roux-e2e-$$.json"
	rm "/roux-e2e-$$.json"
	is "$status" 2
	case $output in *"of the root"*) false ;; esac
}

@test "escape sequences in the name of a file do not reach the terminal in a hint" {
	local name=$'evil\e[31m\xc2\x9b5m.json'
	echo '"true"' >"$name"
	asks 1 exec "$name"
	contains err 'reads a template from that file'
	run ! grep -P '\x1b|\xc2\x9b' err
}
