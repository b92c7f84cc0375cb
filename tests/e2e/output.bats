# What scripts rely on: standard output, exit statuses, the result document, events.

load common

keys='["artifacts","branches","code","coverage","error","exit","failed","failures","failures_total","ms","ok","output","run","status","stdout","tolerated","warnings"]'

@test "standard output is the primary output and nothing else" {
	quick exec '["sh -c \"echo noise >&2; printf result\"","cat"]' >out 2>err
	is "$(cat out)" result
	printf 'no newline' >f
	is "$(quick exec 'cat f' | od -c)" "$(od -c <f)"
	timeout $WATCHDOG "$ROUX" exec --progress=plain 'echo x' >out 2>err </dev/null
	is "$(cat out)" x
	[ -s err ]
}

@test "failures go to standard error, with the command and what it said" {
	run --separate-stderr quick exec "sh -c 'echo why >&2; exit 9'"
	is "$status" 1
	is "$output" ''
	has "$stderr" why
	has "$stderr" 'code 9'
}

@test "a failed run prints no output" {
	run --separate-stderr quick exec '{"failure":"root","template":["echo a","sh -c \"echo b; exit 1\""]}'
	is "$status" 1
	is "$output" ''
}

@test "exit statuses: 0, 1, 2, 3, 124; --tolerate and --strict" {
	run quick exec true
	is "$status" 0
	run quick exec false
	is "$status" 1
	run quick exec '[["false"],"true"]'
	is "$status" 3
	run quick exec --tolerate '[["false"],"true"]'
	is "$status" 0
	run quick exec '["true",{"failure":"continue","template":"false"},"true"]'
	is "$status" 0
	run quick exec --strict '["true",{"failure":"continue","template":"false"},"true"]'
	is "$status" 3
	run quick exec '{"retry":2,"template":"sh -c \"test -e f || (touch f; exit 1)\""}'
	is "$status" 0
	rm f
	run quick exec --strict '{"retry":2,"template":"sh -c \"test -e f || (touch f; exit 1)\""}'
	is "$status" 3
	run quick exec --tolerate false
	is "$status" 1
	run quick exec --strict true
	is "$status" 0
	run quick exec '{"parallel":true,"template":["true","false"]}'
	is "$status" 3
	run quick exec '{"parallel":true,"template":["false","false"]}'
	is "$status" 1
	run quick exec 'echo {missing}'
	is "$status" 2
	run quick exec
	is "$status" 2
	run quick exec --no-such-option true
	is "$status" 2
	run quick exec '{"timeout":50,"template":"sleep 100"}'
	is "$status" 124
	run quick exec no-such-program
	is "$status" 1
}

@test "tolerated is what a later attempt has made up for, not what failed in that attempt" {
	cat >t.json <<-'END'
		{"retry": 2, "template": ["false", {"failure": "branch", "template": "mkdir d/e"}], "recover": "mkdir d"}
	END
	run --separate-stderr quick exec --json @t.json
	is "$status" 3
	is "$(jq -c '[.failures[] | [.path, .tolerated]]' <<<"$output")" '[["0",true],["1",true],["0",false]]'
	rm -r d
	run quick exec --tolerate @t.json
	is "$status" 0
}

@test "a plan that is cut says so" {
	"$ROUX" plan --json '{"repeat":100001,"template":"echo"}' >out
	is "$(jq -c '[(.argv | length), .truncated]' out)" '[100000,true]'
	"$ROUX" plan '{"repeat":100001,"template":"echo"}' >out
	has "$(tail -n 1 out)" 'and more'
	"$ROUX" plan --json '{"repeat":2,"template":"echo"}' >out
	is "$(jq -c 'keys' out)" '["argv","leaves"]'
}

@test "cannot start: 127 not found, 126 otherwise" {
	echo text >f
	mkdir d
	printf '#!/no/such/interpreter\n' >g
	chmod 755 g
	run --separate-stderr quick exec --json --tolerate '["no-such-program","./no-such-file","./f","./d","./g","./f/x"]'
	is "$status" 0
	is "$(jq -c '[.failures[].code]' <<<"$output")" '[127,127,126,126,127,126]'
	has "$(jq -r '.failures[0].stderr' <<<"$output")" no-such-program
}

@test "the documents of done, failed, timeout have all keys" {
	is "$(quick exec --json 'echo x' | jq -c keys)" "$keys"
	is "$(quick exec --json 'echo x' | jq -c '[.ok,.status,.run,.code,.stdout,.output,.error,.failures,.branches,.coverage,.artifacts,.warnings]')" \
		'[true,"done",null,0,"x\n",null,null,[],[],null,{},[]]'
	run --separate-stderr quick exec --json "sh -c 'exit 9'"
	is "$(jq -c keys <<<"$output")" "$keys"
	is "$(jq -c '[.ok,.status,.code,(.error|type)]' <<<"$output")" '[false,"failed",9,"string"]'
	is "$(jq -c '.failures[0]|keys' <<<"$output")" '["attempt","code","command","label","path","signal","stderr","stdout","timeout","tolerated"]'
	run --separate-stderr quick exec --json '{"timeout":50,"template":"sleep 9"}'
	is "$(jq -c keys <<<"$output")" "$keys"
	run quick exec --json '{"parallel":true,"template":[{"label":"a","template":"echo x"},"false"]}' --quiet
	is "$(jq -c '[.branches[]|[.path,.label,.status,.code,.stdout_bytes,(.ms|type)]]' <<<"$output")" \
		'[["0","a","done",0,2,"number"],["1","branch 2","failed",1,0,"number"]]'
	is "$(jq -c '.coverage' <<<"$output")" '{"expected":2,"done":1,"failed":1,"coverage":0.5,"degraded":true,"usable":true}'
}

@test "the documents of wrong requests" {
	local template
	for template in 'echo {x}' '["true",7]' '{"mode":"parallel","template":"x"}' '' '[]' '{"repeat":0,"template":"true"}'; do
		run --separate-stderr quick exec --json "$template"
		is "$status" 2
		is "$(jq -c '[.ok,.status,.run,(.error|type),(.errors|length>0)]' <<<"$output")" '[false,"invalid",null,"string",true]'
		is "$(jq -c '.errors[0]|keys-["field"]' <<<"$output")" '["column","file","hint","line","message"]'
	done
	# Where it is about a value, which one.
	is "$("$ROUX" exec --json 'echo {x}' | jq -c '[.errors[].field]')" '["x"]'
	is "$("$ROUX" exec --json '["true",7]' | jq -c '[.errors[].field]')" '[null]'
	run --separate-stderr quick exec --json
	is "$status" 2
	is "$(jq -r .status <<<"$output")" invalid
	run --separate-stderr quick exec --json --bogus true
	is "$(jq -r .status <<<"$output")" invalid
	run --separate-stderr quick exec --json --events - true
	is "$status" 2
	is "$(jq -r .status <<<"$output")" invalid
	run --separate-stderr quick exec --json @/no/such/file
	is "$status" 2
	is "$(jq -r .status <<<"$output")" invalid
}

@test "output that is not UTF-8 comes as base64" {
	head -c 300 /dev/urandom >f
	printf '\xff' >>f
	run --separate-stderr quick exec --json 'cat f'
	is "$(jq -r .stdout <<<"$output")" null
	is "$(jq -r .stdout_base64 <<<"$output" | base64 -d | sha256sum)" "$(sha256sum <f)"
	printf 'a\0b\xc3\xa9\x7f\x01' >f
	is "$(quick exec --json 'cat f' | jq -c '.stdout|explode')" '[97,0,98,233,127,1]'
}

@test "stdout up to 1 MiB is in the document, past that in a file of the caller's" {
	head -c 1048576 /dev/zero | tr '\0' a >f
	is "$(quick exec --json 'cat f' | jq '.stdout|length')" 1048576
	printf a >>f
	run --separate-stderr quick exec --json 'cat f'
	is "$(jq -c .stdout <<<"$output")" null
	local path
	path=$(jq -r .stdout_path <<<"$output")
	is "$(stat -c %a "$path")" 600
	cmp "$path" f
	is "$(dirname "$path")" "$TMPDIR"
	rm "$path"
	is "$(ls -A "$TMPDIR")" ''
}

@test "nothing is left in the temporary directory" {
	quick exec '["head -c 3000000 /dev/zero","cat",{"parallel":true,"template":["cat","cat"]}]' >out
	is "$(ls -A "$TMPDIR")" ''
}

@test "1500 failing branches: 1000 are listed, all are counted" {
	run --separate-stderr quick exec --json '{"parallel":true,"repeat":1500,"template":"false"}'
	is "$status" 1
	is "$(jq -c '[(.failures|length),.failures_total,(.branches|length),.coverage.failed]' <<<"$output")" '[1000,1500,1500,1500]'
	run --separate-stderr quick exec '{"parallel":true,"repeat":1500,"template":"false"}'
	has "$stderr" 'more'
}

@test "stderr of a failure is its last 4 KiB" {
	run --separate-stderr quick exec --json 'sh -c "seq 100000 >&2; exit 1"'
	is "$(jq -r '.failures[0].stderr|length' <<<"$output")" 4096
	is "$(jq -r '.failures[0].stderr[-7:]|rtrimstr("\n")' <<<"$output")" 100000
	run --separate-stderr quick exec --json "sh -c 'printf \"\\377bad\" >&2; exit 1'"
	has "$(jq -r '.failures[0].stderr' <<<"$output")" bad
}

@test "events: all types, seq without gaps, into a fresh private file" {
	printf 'old\nold\nold\n%5000s' x >events
	quick exec --events events '[{"when":false,"template":"true"},{"label":"l","retry":2,"recover":"true","template":"sh -c \"test -e f || (touch f; exit 1)\""},"echo hi"]' >out
	is "$(cat out)" hi
	jq -s -e '[.[].seq]==[range(1;length+1)]' events
	is "$(jq -s -c '[.[].type]' events)" '["run.start","node.skipped","command.start","command.done","command.start","command.done","node.retry","command.start","command.done","command.start","command.done","node.done","run.done"]'
	jq -s -e 'all(.[];.ts|test("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\\.[0-9]{3}Z$"))' events
	is "$(jq -c 'select(.type=="command.start")|[.path,.label,.argv[0],.attempt]' events | head -n 1)" '["1","l","sh",1]'
	is "$(jq -c 'select(.type=="command.done")|keys' events | head -n 1)" '["attempt","code","ms","path","seq","signal","stdout_bytes","timeout","ts","type"]'
	is "$(jq -r 'select(.path|tostring|contains("recover")).path' events | head -n 1)" 1.recover
	rm events
	quick exec --events events true
	is "$(stat -c %a events)" 600
}

@test "events of a failed run end with run.failed; of 1000 branches none is missing" {
	run quick exec --events events '{"parallel":true,"repeat":1000,"template":"false"}'
	jq -s -e '[.[].seq]==[range(1;2004)]' events
	is "$(tail -n 1 events | jq -c '[.type,.status,.code,(.error|type)]')" '["run.failed","failed",1,"string"]'
}

groups_of() {
	jq -r 'select(.type=="node.done")|[.path,.attempt,.outcome,.code]|map(tostring)|join(" ")' "$1" | sort
}

@test "events tell how each group ended" {
	run quick exec --events events '{"parallel":true,"template":[
		["true","true"],
		{"failure":"continue","template":[{"failure":"branch","template":"ls --wrong"}]},
		{"retry":2,"template":[{"failure":"branch","template":"ls --wrong"}]},
		{"timeout":100,"template":["sleep 100"]},
		{"timeout":60000,"template":[{"timeout":100,"failure":"branch","template":"sleep 100"}]}]}'
	is "$(groups_of events)" ". 1 done 0
0 1 done 0
1 1 tolerated 2
2 2 failed 2
3 1 timeout 1
4 1 failed 1"
	is "$(jq -c 'select(.type=="node.done")|keys' events | sort -u)" '["attempt","code","ms","outcome","path","seq","ts","type"]'
	rm events
	run quick exec --events events '{"parallel":true,"template":[
		[{"retry":2,"template":["sh -c \"until grep -qs command[.]done events; do sleep 0.02; done\"","sleep 0.1"]}],
		[{"failure":"root","template":"ls --wrong"}]]}'
	is "$(groups_of events)" ". 1 failed 2
0 1 cancelled 1
0.0 1 cancelled 1
1 1 failed 2"
}

@test "an existing file for events becomes private too" {
	touch events
	chmod 644 events
	quick exec --events events true
	is "$(stat -c %a events)" 600
}

@test "events on standard output take the place of the output" {
	quick exec --events - 'echo hi' >out
	is "$(jq -s length out)" 4
}

@test "a wrong request does not touch the events file" {
	echo old >events
	run quick exec --events events 'echo {missing}'
	is "$status" 2
	is "$(cat events)" old
}

@test "a detached run has its events itself, and --events of it is refused" {
	for where in events -; do
		run --separate-stderr roux run --detach --as it --events "$where" 'touch started'
		is "$status" 2
		has "$stderr" 'events.jsonl'
	done
	echo '{"async": true, "template": "touch started"}' >a.json
	run roux run ./a.json --events events
	is "$status" 2
	[ ! -e events ] && [ ! -e started ]
	run -0 roux run ./a.json --foreground --events events
	[ -s events ]
}

# at_once N TEMPLATE: runs it with -j N; its commands wait for a lock that is given up once N of them run.
at_once() {
	local jobs=$1
	: >events
	exec 8>lock
	flock 8
	start exec -j "$jobs" --progress=none --events events "$2" 8>&-
	until_true eval '[ "$(grep -c "\"command.start\"" events)" -ge "$jobs" ]'
	exec 8>&-
	finish
	is "$status" 0
}

@test "-j 1 runs one after the other, -j 2 two; -j 0 works" {
	local n
	for n in 1 2 5; do
		at_once $n '{"parallel":true,"template":[{"parallel":true,"repeat":6,"template":"flock -s lock true"},{"parallel":true,"repeat":6,"template":"flock -s lock true"}]}'
		is "$(jq -s 'reduce .[] as $e ([0,0]; if $e.type=="command.start" then [.[0]+1,([.[1],.[0]+1]|max)] elif $e.type=="command.done" then [.[0]-1,.[1]] else . end)|.[1]' events)" $n
	done
	run quick exec -j 0 '{"parallel":true,"repeat":9,"template":"true"}'
	is "$status" 0
	at_once 1000 '{"parallel":true,"repeat":1000,"template":"flock -s lock true"}'
}

@test "-C changes the directory of roux and of the commands" {
	mkdir d
	echo '"pwd"' >d/t.json
	is "$(quick exec -C d pwd)" "$PWD/d"
	is "$(quick exec -C d @t.json)" "$PWD/d"
	run quick exec -C nowhere true
	[ "$status" -ne 0 ]
	printf '#!/bin/sh\necho local\n' >d/p
	chmod 755 d/p
	is "$(quick exec -C d ./p)" local
}

@test "--quiet, --silent, --progress" {
	run --separate-stderr timeout $WATCHDOG "$ROUX" exec --silent 'sh -c "echo x >&2; exit 1"' </dev/null
	is "$stderr" ''
	is "$status" 1
	run --separate-stderr timeout $WATCHDOG "$ROUX" exec --quiet 'sh -c "echo x >&2"' </dev/null
	is "$stderr" ''
	run --separate-stderr timeout $WATCHDOG "$ROUX" exec --progress=none 'echo x' </dev/null
	is "$stderr" ''
	run --separate-stderr timeout $WATCHDOG "$ROUX" exec --progress=plain '["echo x","true"]' </dev/null
	is "$(wc -l <<<"$stderr")" 4
	run --separate-stderr timeout $WATCHDOG "$ROUX" exec '["echo x","true"]' </dev/null
	is "$(wc -l <<<"$stderr")" 4
	run --separate-stderr timeout $WATCHDOG "$ROUX" exec --progress=bogus true </dev/null
	is "$status" 2
}

@test "no escape sequence reaches standard error off a terminal, whatever commands print" {
	run --separate-stderr timeout $WATCHDOG "$ROUX" exec --tolerate '["printf \\\\033[31mred","sh -c \"printf \\\"\\\\033]0;title\\\\007\\\" >&2; exit 1\""]' </dev/null
	[[ $stderr != *$'\e'* ]]
	[[ $stderr != *$'\a'* ]]
}

@test "a reader that goes away early causes neither a message nor a hang" {
	is "$(timeout $WATCHDOG bash -c '"$ROUX" exec --progress=none "seq 1000000" </dev/null 2>err | head -n 1')" 1
	is "$(cat err)" ''
	is "$(timeout $WATCHDOG bash -c '"$ROUX" exec --progress=none --json "seq 100000" </dev/null 2>err | head -c 5')" '{"ok"'
	is "$(cat err)" ''
	timeout $WATCHDOG bash -c '"$ROUX" exec --progress=none --events - "{\"parallel\":true,\"repeat\":500,\"template\":\"true\"}" </dev/null 2>err | head -n 1' >out
	is "$(cat err)" ''
	timeout $WATCHDOG bash -c '"$ROUX" exec "{\"parallel\":true,\"repeat\":500,\"template\":\"true\"}" </dev/null 2>&1 >/dev/null | head -n 1' >out
}

@test "closed standard input and error: no hang, no mix-up of descriptors" {
	run timeout $WATCHDOG bash -c '"$ROUX" exec --events e "echo hi" </dev/null 2>&-'
	is "$output" hi
	jq -s -e 'length==4' e
	timeout $WATCHDOG bash -c '"$ROUX" exec --events e2 "echo hi" <&- 2>&-' >out
	jq -s -e 'length==4' e2
	is "$(cat out)" hi
}

@test "/dev/full as standard output: a message and exit 1" {
	local option
	for option in --progress=none --json; do
		run timeout $WATCHDOG bash -c "\"\$ROUX\" exec $option 'echo hi' </dev/null 2>&1 >/dev/full"
		is "$status" 1
		has "$output" 'No space left on device'
	done
	run timeout $WATCHDOG bash -c '"$ROUX" version 2>&1 >/dev/full'
	is "$status" 1
}

@test "a slip of the author is reported when the template runs, and kept quiet with --silent and --json" {
	run --separate-stderr "$ROUX" exec 'echo a | wc -c'
	is "$status" 0
	is "$output" 'a | wc -c'
	has "$stderr" "warning: '|' is an ordinary argument"
	run --separate-stderr "$ROUX" run '{"paralel":true,"template":"echo a"}'
	is "$status" 0
	has "$stderr" "did you mean 'parallel'?"
	run --separate-stderr "$ROUX" exec --silent 'echo a | wc -c'
	is "$stderr" ''
	run --separate-stderr "$ROUX" exec --json --progress=none 'echo a | wc -c'
	is "$stderr" ''
	is "$(jq -r '.warnings | length' <<<"$output")" 1
	run --separate-stderr "$ROUX" exec "echo a '|' b"
	is "$(grep -c warning <<<"$stderr")" 0
	printf 'name: t\ndescription: d\nversion: 1.0.0\nstep:\n  - {id: a, type: bash, command: touch started}\n' >s.yaml
	run --separate-stderr "$ROUX" run s.yaml
	is "$status" 2
	has "$stderr" "did you mean 'steps'?"
	run "$ROUX" check 'expr 1 < 2'
	is "$output" 'no mistakes found'
}

@test "a file that was meant as a template: a hint after the failure" {
	echo '"echo a"' >t.json
	run --separate-stderr "$ROUX" exec t.json
	is "$status" 1
	has "$stderr" '@t.json reads a template'
	run --separate-stderr "$ROUX" exec --json t.json
	is "$(grep -c hint <<<"$stderr")" 0
}

# -- who reads it ---------------------------------------------------------------------------------

# piped READER ARGUMENT...: roux into the standard input of a reader; its status is in the file status.
piped() {
	local reader=$1
	shift
	{
		local found=0
		timeout -k 5 $WATCHDOG "$ROUX" "$@" </dev/null 2>err 3>&- || found=$?
		echo $found >status
	} | sh -c "$reader" 3>&- >out
}

@test "a reader that has gone ends the run, with its tree" {
	local command
	for command in exec 'run --as it'; do
		# shellcheck disable=SC2086
		piped true $command 'yes x'
		is "$(cat status)" 141
		# shellcheck disable=SC2086
		piped 'head -1' ${command/it/two} 'yes x'
		is "$(cat status)/$(cat out)" 141/x
	done
	piped true exec 'sh -c "setsid sh -c \"trap : TERM; echo \\$$ >>pids; while :; do sleep 1000; done\" & wait"'
	is "$(cat status)" 141
	nobody_left
	is "$(roux status --json it | of_json 'd["status"]')" cancelled
	piped true run --json --as three 'sleep 1000'
	is "$(cat status)" 141
}

@test "much output reaches a reader as it comes, and whole" {
	piped md5sum exec -q 'seq 1000000'
	is "$(cat status)/$(cat out)" "0/$(seq 1000000 | md5sum)"
	piped md5sum run -q '["echo a", "seq 1000000"]'
	is "$(cat status)/$(cat out)" "0/$(seq 1000000 | md5sum)"
	# The first million bytes wait for its end, and so does what a second attempt may replace.
	piped 'wc -c' exec -q 'sh -c "seq 1000; exit 3"'
	is "$(cat status)/$(cat out)" 1/0
	piped 'wc -c' exec -q '{"retry": 2, "template": "sh -c \"seq 1000000; exit 3\""}'
	is "$(cat status)/$(cat out)" 1/0
	mkfifo go
	piped 'head -c 1000000 >part; echo >go; cat' exec -q 'sh -c "seq 1000000; read x <go"'
	is "$(cat status)/$(cat part out | md5sum)" "0/$(seq 1000000 | md5sum)"
}

@test "standard output that is closed is an error, and nothing is run" {
	run timeout $WATCHDOG bash -c '"$ROUX" exec "touch here" >&- 3>&-'
	is "$status/$output" "1/roux: error: standard output is closed
     hint: >/dev/null if nothing reads it"
	[ ! -e here ]
}
