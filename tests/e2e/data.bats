# Bytes between commands, in and out of the run.

load common

random() {
	openssl enc -aes-128-ctr -nosalt -K "$(printf '%032d' 7)" -iv "$(printf '%032d' 0)" -in /dev/zero 2>/dev/null | head -c "$1"
}

sum() {
	sha256sum | cut -d' ' -f1
}

@test "binary data passes three stages byte for byte" {
	local size
	for size in 0 1 4095 65536 65537 262143 262144 262145 1048577 3000000; do
		random "$size" >data
		is "$(quick exec '["cat data","cat","cat"]' | sum)" "$(sum <data)"
		is "$(timeout $WATCHDOG "$ROUX" exec --progress=none '["cat","cat","cat"]' <data | sum)" "$(sum <data)"
		is "$(timeout $WATCHDOG "$ROUX" exec --progress=none '["cat","cat","cat"]' < <(cat data) | sum)" "$(sum <data)"
	done
}

@test "binary data of branches is joined byte for byte" {
	random 700000 >data
	{
		printf -- '--- branch: a status: done ---\n'
		cat data
		printf -- '\n--- branch: branch 2 status: done ---\nx\n'
	} >wanted
	is "$(quick exec '{"parallel":true,"template":[{"label":"a","template":"cat data"},"echo x"]}' | sum)" "$(sum <wanted)"
	is "$(quick exec '[{"parallel":true,"template":[{"label":"a","template":"cat data"},"echo x"]},"cat"]' | sum)" "$(sum <wanted)"
}

# peak_of ARGUMENT...: the largest memory of roux in KiB; the last command of the template waits for
# the file `go`, so that it can be read while roux is alive.
peak_of() {
	start exec --progress=none "$@"
	until_true test -e waiting
	awk '/VmHWM/{print $2}' "/proc/$RUNNING/status" >peak
	touch go
	finish
}

@test "300 MB through stages with little memory" {
	unsanitized
	peak_of '["head -c 300000000 /dev/zero","cat","sh -c \"wc -c; touch waiting; until test -e go; do sleep 0.01; done\""]'
	is "$status" 0
	is "$(cat out)" 300000000
	between "$(cat peak)" 1 12287
}

@test "100 MB of standard input to three branches with little memory" {
	unsanitized
	mkfifo in
	head -c 100000000 /dev/zero >in 3>&- &
	env "$ROUX" exec --progress=none --json '[{"parallel":true,"template":["wc -c","wc -c","wc -c"]},"sh -c \"cat; touch waiting; until test -e go; do sleep 0.01; done\""]' <in >out 2>err 3>&- &
	RUNNING=$!
	until_true test -e waiting
	between "$(awk '/VmHWM/{print $2}' "/proc/$RUNNING/status")" 1 12287
	touch go
	finish
	is "$(jq -r .stdout out | grep -c '^100000000$')" 3
}

@test "a failed step hands nothing on" {
	is "$(quick exec '["sh -c \"echo secret; exit 1\"","wc -c"]' 2>/dev/null)" 0
}

@test "standard input: piped, from a file, at an offset, /dev/null, closed" {
	is "$(printf piped | timeout $WATCHDOG "$ROUX" exec --progress=none cat)" piped
	printf file >f
	is "$(timeout $WATCHDOG "$ROUX" exec --progress=none cat <f)" file
	is "$(timeout $WATCHDOG "$ROUX" exec --progress=none cat </dev/null)" ''
	is "$(timeout $WATCHDOG "$ROUX" exec --progress=none cat <&-)" ''
	printf 'one\ntwo\n' >g
	is "$( (read -r _; timeout $WATCHDOG "$ROUX" exec --progress=none cat) <g)" two
	is "$( (read -r _; timeout $WATCHDOG "$ROUX" exec --progress=none '{"parallel":true,"template":["cat"]}') <g | tail -n 1)" two
}

@test "standard input is only read by the command that gets it" {
	printf 'a\nb\nc\n' >f
	is "$( (timeout $WATCHDOG "$ROUX" exec --progress=none 'true'; cat) <f)" $'a\nb\nc'
}

@test "standard input without a writer does not hang a command that does not read it" {
	mkfifo in
	exec 8<>in
	run timeout $WATCHDOG "$ROUX" exec --progress=none '{"parallel":true,"template":["echo a","echo b"]}' <&8 3>&-
	is "$status" 0
	run timeout $WATCHDOG "$ROUX" exec --progress=none '["echo a","cat"]' <&8 3>&-
	is "$output" a
	run timeout $WATCHDOG "$ROUX" exec --progress=none '{"retry":2,"template":"sh -c \"test -e f || (touch f; exit 1) && echo b\""}' <&8 3>&-
	is "$status" 0
	run timeout $WATCHDOG "$ROUX" exec --progress=none '[{"when":false,"template":"cat"},"echo c"]' <&8 3>&-
	is "$output" c
	exec 8>&-
}

@test "a cancel comes through while a run waits for standard input" {
	mkfifo in
	exec 8<>in
	env --default-signal=INT "$ROUX" exec --progress=none --events events '{"parallel":true,"template":["cat","cat"]}' <&8 >out 2>err 3>&- 8>&- &
	RUNNING=$!
	until_true eval '[ "$(grep -c command.start events 2>/dev/null)" = 2 ]'
	kill -INT "$RUNNING"
	finish
	is "$status" 130
	exec 8>&-
	nobody_left
}

@test "a cancel comes through when everything was skipped and the input is passed on" {
	mkfifo in
	exec 8<>in
	env --default-signal=INT "$ROUX" exec --json --events events '{"when":false,"template":"cat"}' <&8 >out 2>err 3>&- 8>&- &
	RUNNING=$!
	until_true contains events node.skipped
	kill -INT "$RUNNING"
	finish
	is "$status" 130
	exec 8>&-
	is "$(jq -r .status out)" cancelled
}

@test "branches and attempts all get the same standard input" {
	random 300000 >data
	is "$(timeout $WATCHDOG "$ROUX" exec --progress=none '{"parallel":true,"template":["sha256sum","sha256sum","sha256sum"]}' < <(cat data) | grep -c "$(sum <data)")" 3
	is "$(timeout $WATCHDOG "$ROUX" exec --progress=none '{"parallel":true,"repeat":100,"template":"sha256sum"}' < <(cat data) | grep -c "$(sum <data)")" 100
	is "$(timeout $WATCHDOG "$ROUX" exec --progress=none -j 1 '{"parallel":true,"repeat":10,"template":"sha256sum"}' <data | grep -c "$(sum <data)")" 10
	is "$(timeout $WATCHDOG "$ROUX" exec --progress=none '{"retry":3,"template":"sh -c \"sha256sum >>sums; test $(wc -l <sums) -eq 3\""}' < <(cat data) 2>/dev/null; sort -u sums | wc -l; wc -l <sums)" $'1\n3'
	is "$(sort -u sums | cut -d' ' -f1)" "$(sum <data)"
}

@test "the input of a skipped first step goes to the next one" {
	is "$(printf x | timeout $WATCHDOG "$ROUX" exec --progress=none '[{"when":false,"template":"cat"},"cat"]')" x
	is "$(printf x | timeout $WATCHDOG "$ROUX" exec --progress=none '{"when":false,"template":"cat"}')" x
}

@test "a template from standard input: the commands get none" {
	is "$(echo '["cat","wc -c"]' | timeout $WATCHDOG "$ROUX" exec --progress=none -)" 0
	is "$(printf '{"a":"1"}' | timeout $WATCHDOG "$ROUX" exec --progress=none '["cat","wc -c"]' --values -)" 0
}

@test "a command that does not read its input has not failed" {
	random 3000000 >data
	run quick exec --json '["cat data","true","cat data","head -c 1","echo end"]'
	is "$status" 0
	is "$(jq -r .stdout <<<"$output")" end
	is "$(timeout $WATCHDOG "$ROUX" exec --progress=none '{"parallel":true,"template":["true","wc -c"]}' < <(cat data) | tail -n 1)" 3000000
}

@test "branches that do not read shared input are no failure, 60 times" {
	local i
	head -c 400000 /dev/zero >data
	for i in $(seq 60); do
		timeout $WATCHDOG "$ROUX" exec --json '{"parallel":true,"template":["true","true"]}' < <(exec cat data 2>/dev/null) >out 2>err
		is "$(jq -r .status out)" "done"
	done
}

@test "each reader of a large input has its own offset" {
	random 400000 >data
	# A file handed on as standard input: the offset of one reader is not another's.
	is "$(quick exec '["cat data",{"parallel":true,"template":["head -c 10","sha256sum","sha256sum"]}]' | grep -c "$(sum <data)")" 2
}

@test "a script that opens /dev/stdout again loses nothing" {
	is "$(quick exec 'sh -c "echo a; echo b >/dev/stdout; echo c"')" $'a\nb\nc'
}

@test "standard input is read as it is needed, and what is kept is what a reader took" {
	local dir
	dir=$(state)/runs
	# What nothing reads costs nothing: the pipe that a command has is filled once.
	yes 2>/dev/null | timeout $WATCHDOG "$ROUX" run -q --as unread 'sh -c "until test -e go; do sleep 0.01; done"' 2>err 3>&- &
	until_true test -s "$dir/unread/stdin.part"
	sleep 0.5
	between "$(stat -c %s "$dir/unread/stdin.part")" 1 1000000
	touch go
	wait $!
	is "$(cd "$dir/unread" && echo stdin*)/$(wc -c <"$dir/unread/stdin")" stdin/0
	seq 1000000 | timeout $WATCHDOG "$ROUX" run -q --as part 'dd bs=1000 count=3 iflag=fullblock status=none' >out 3>&-
	is "$(cd "$dir/part" && echo stdin*)/$(md5sum <"$dir/part/stdin")" "stdin/$(md5sum <out)"
	is "$(wc -c <out)" 3000
	seq 1000000 | timeout $WATCHDOG "$ROUX" run -q --as all '{"parallel": true, "template": ["md5sum", "head -1", "true"]}' >out 3>&-
	contains out "$(seq 1000000 | md5sum)"
	is "$(md5sum <"$dir/all/stdin")" "$(seq 1000000 | md5sum)"
	is "$(cat "$dir/all/out/1.out")" 1
}

@test "a reader that failed by itself reads again what it took; one that was cut short cannot" {
	yes 2>/dev/null | timeout $WATCHDOG "$ROUX" run -q --as it 'sh -c "head -c 10 | wc -c; test -e go"' >out 2>err 3>&- || true
	touch go
	is "$(roux resume -q it)" 10
	yes 2>/dev/null | timeout $WATCHDOG "$ROUX" run -q --as cut '{"timeout": 300, "template": "sh -c \"cat >/dev/null\""}' >out 2>err 3>&- || true
	is "$(cd "$(state)/runs/cut" && echo stdin*)" 'stdin*'
	is "$(grep -c 'roux resume' err)" 0
	asks 2 resume cut
	contains err 'the standard input was not read to its end before the run was cut short'
}

@test "resume is offered only where the standard input that it needs is kept" {
	mkfifo in
	exec 4<>in
	# What was cut short reads an input whose end has not come.
	timeout $WATCHDOG "$ROUX" run -q --as cut '["sleep 1000", "echo x"]' <&4 >out 2>err 3>&- 4>&- &
	until_true grep -qs start "$(state)/runs/cut/leaves.jsonl"
	roux cancel cut >cancelled 2>&1
	wait $! || true
	contains err 'cut: cancelled'
	contains err 'roux logs cut'
	is "$(grep -c 'roux resume' err)" 0
	is "$(roux status cut | grep -c 'roux resume')" 0
	is "$(roux status cut --json | jq .input_cut)" true
	asks 2 resume cut
	# What reads it has ended: nothing more is needed.
	timeout $WATCHDOG "$ROUX" run -q --as read '["true", "sh -c \"test -e go || sleep 1000\""]' <&4 >out 2>err 3>&- 4>&- &
	until_true grep -qs '"1".*start' "$(state)/runs/read/leaves.jsonl"
	roux cancel read >cancelled 2>&1
	wait $! || true
	contains err 'roux resume read'
	touch go
	quick resume -q read
	rm go
	# So in another attempt than the one that was cut short.
	timeout $WATCHDOG "$ROUX" run -q --as tried '[{"retry": 2, "timeout": 300, "failure": "root", "template": "sh -c \"test -e been && exit; touch been; cat\""}, {"failure": "root", "template": "test -e go"}]' <&4 >out 2>err 3>&- 4>&- || true
	is "$(cd "$(state)/runs/tried" && echo stdin*)" 'stdin*'
	contains err 'roux resume tried'
	touch go
	quick resume -q tried
	# Of one that was killed nothing stays that no resume can use.
	timeout $WATCHDOG "$ROUX" run -q --as killed '["sleep 1000", "echo x"]' <&4 >out 2>err 3>&- 4>&- &
	until_true grep -qs start "$(state)/runs/killed/leaves.jsonl"
	kill -9 "$(jq .pid "$(state)/runs/killed/run.json")"
	wait $! || true
	asks 2 resume killed
	is "$(cd "$(state)/runs/killed" && echo stdin*)" 'stdin*'
	exec 4>&-
}

@test "what was read of a standard input before it failed is not taken for all of it" {
	# At its beginning there is nothing to read: EIO. The command ends well all the same.
	run "$ROUX" run -q --as it '["sh -c \"trap : TERM; cat; echo all\"", "cat"]' </proc/self/mem
	is "$status" 1
	has "$output" 'cannot read the standard input: Input/output error'
	is "$(cd "$(state)/runs/it" && echo stdin*)" 'stdin*'
	asks 2 resume it
	contains err 'the standard input was not read to its end'
}

@test "a standard input that cannot be read is refused, or is none" {
	run "$ROUX" run --as d --template 'wc -c' </
	is "$status" 2
	has "$output" 'the standard input is a directory'
	is "$(ls "$(state)/runs" 2>/dev/null)" ''
	run "$ROUX" run -q --template 'wc -c' 0>only
	is "$status" 0
	has "$output" 0
	run "$ROUX" exec true </
	is "$status" 0
}
