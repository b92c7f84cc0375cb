# What a signal to roux, or the end of its terminal, leaves behind: nothing.

load common

# cancel_with SIGNAL EXIT TEMPLATE COUNT [OPTION]...: sends it once COUNT processes have reported.
cancel_with() {
	local signal=$1 exit=$2 template=$3 count=$4
	shift 4
	start exec --json "$template" "$@"
	until_true lines_at_least pids "$count"
	kill -s "$signal" "$RUNNING"
	finish
	is "$status" "$exit"
	is "$(jq -r .status out)" cancelled
	is "$(jq -r .ok out)" false
	is "$(jq -c .failures out)" '[]'
	nobody_left
}

sleeper='sh -c "echo \$\$ >>pids; sleep 100; true"'

@test "INT in a sequence: cancelled, 130, no process left" {
	cancel_with INT 130 "[\"true\",\"sh -c 'echo \$\$ >>pids; sleep 100; true'\",\"touch later\"]" 1
	[ ! -e later ]
}

@test "TERM in a sequence: 143" {
	cancel_with TERM 143 "$sleeper" 1
}

@test "HUP in a sequence: 129" {
	cancel_with HUP 129 "$sleeper" 1
}

@test "QUIT kills: everything is gone at once" {
	start exec --grace 86400000 --json "ignore-term pids"
	until_true lines_at_least pids 1
	kill -QUIT "$RUNNING"
	finish
	[ "$status" -ne 0 ]
	nobody_left
}

@test "INT with 64 in parallel" {
	cancel_with INT 130 "{\"parallel\":true,\"repeat\":64,\"template\":\"sh -c 'echo \$\$ >>pids; sleep 100; true'\"}" 64
}

@test "TERM with 64 of 1000 in parallel: no more are started" {
	start exec --json "{\"parallel\":true,\"repeat\":1000,\"template\":\"sh -c 'echo \$\$ >>pids; sleep 100; true'\"}"
	until_true lines_at_least pids 64
	kill -TERM "$RUNNING"
	finish
	is "$status" 143
	is "$(wc -l <pids)" 64
	nobody_left
}

@test "a second signal kills at once, whatever the grace time" {
	start exec --json --events events --grace 86400000 "ignore-term pids"
	until_true lines_at_least pids 1
	kill -TERM "$RUNNING"
	until_true contains events '"run.cancel"'
	lives "$RUNNING"
	kill -INT "$RUNNING"
	finish
	is "$(jq -r .status out)" cancelled
	is "$status" 143
	nobody_left
}

@test "a second signal also kills what was left behind on purpose" {
	start exec --json --grace 86400000 '["fork-setsid pids","fork-setsid pids stay ignore"]'
	until_true lines_at_least pids 3
	kill -TERM "$RUNNING"
	kill -INT "$RUNNING"
	finish
	nobody_left
}

@test "--grace: those who do not listen are killed after it, not before" {
	start exec --json --grace 400 "ignore-term pids"
	until_true lines_at_least pids 1
	local before=${EPOCHREALTIME/[.,]/}
	kill -TERM "$RUNNING"
	finish
	[ $((${EPOCHREALTIME/[.,]/} - before)) -ge 400000 ]
	is "$status" 143
	nobody_left
}

@test "orphans get TERM when the commands do, not after their grace time" {
	start exec --json --grace 86400000 '["sh -c \"setsid -f count-term terms >/dev/null 2>&1 </dev/null\"","count-term terms"]'
	until_true lines_at_least terms 6
	kill -TERM "$RUNNING"
	until_true eval '[ "$(grep -c "^term" terms)" = 6 ]'
	kill -TERM "$RUNNING"
	finish
	nobody_left
}

@test "a child in a session of its own is ended" {
	cancel_with TERM 143 "sh -c 'echo \$\$ >>pids; setsid -w sleep 100'" 1
}

@test "a double-forked daemon of a running command is ended" {
	cancel_with INT 130 "fork-setsid pids stay" 2
}

@test "a daemon without environment is ended by a cancel" {
	cancel_with INT 130 "env -i $SUPPORT/fork-setsid $BASE/work/pids stay" 2
}

@test "a daemon left by an ended command is ended by a cancel" {
	cancel_with INT 130 '["fork-setsid pids","fork-setsid pids stay"]' 3
}

@test "a daemon that ignores TERM is killed" {
	cancel_with TERM 143 "fork-setsid pids stay ignore" 2 --grace 200
}

@test "a stopped command is ended" {
	start exec --json --grace 86400000 "stop-self pids"
	until_true lines_at_least pids 1
	until_true grep -q '^State:.T' "/proc/$(cat pids)/status"
	kill -TERM "$RUNNING"
	finish
	is "$status" 143
	nobody_left
}

@test "a command that continues under new pids is ended" {
	cancel_with TERM 143 "refork pids 1000" 1 --grace 300
}

@test "eight commands that go on under new pids are ended" {
	cancel_with INT 130 '{"parallel":true,"repeat":8,"template":"refork pids 300"}' 8 --grace 300
}

@test "each process gets TERM exactly once" {
	start exec --json --grace 86400000 '{"parallel":true,"repeat":4,"template":"count-term terms"}'
	until_true lines_at_least terms 12
	kill -TERM "$RUNNING"
	until_true eval '[ "$(grep -c "^term" terms)" -ge 12 ]'
	sleep 0.7 # in which a second one would come
	kill -TERM "$RUNNING"
	finish
	is "$(grep -c '^ready' terms)" 12
	is "$(grep '^term' terms | sort | uniq -c | awk '{print $1}' | sort -u)" 1
	is "$(grep -c '^term' terms)" 12
	nobody_left
}

@test "in a roux inside a roux each process gets TERM exactly once" {
	start exec --json --grace 1200 "$ROUX exec --progress=none --grace 600 'count-term terms'"
	until_true lines_at_least terms 3
	kill -TERM "$RUNNING"
	finish
	is "$(grep '^term' terms | sort | uniq -c | awk '{print $1}' | sort -u)" 1
	nobody_left
}

@test "a signal while nothing runs: during a delay" {
	start exec --json --events events '["true",{"delay":100000,"template":"true"}]'
	until_true contains events '"command.done"'
	kill -INT "$RUNNING"
	finish
	is "$status" 130
	is "$(jq -r .status out)" cancelled
}

@test "a cancelled run neither retries nor recovers" {
	start exec --json '[{"retry":5,"recover":"touch recovered","failure":"root","template":"sh -c \"echo $$ >>pids; sleep 100; true\""},"touch later"]'
	until_true lines_at_least pids 1
	kill -TERM "$RUNNING"
	finish
	is "$(wc -l <pids)" 1
	[ ! -e recovered ]
	[ ! -e later ]
	nobody_left
}

@test "the events of a cancelled run end with run.cancel and run.failed" {
	start exec --events events --progress=none "sh -c 'echo \$\$ >>pids; sleep 100; true'"
	until_true lines_at_least pids 1
	kill -TERM "$RUNNING"
	finish
	is "$(jq -r 'select(.type=="run.cancel").signal' events)" 15
	is "$(tail -n 1 events | jq -c '[.type,.status]')" '["run.failed","cancelled"]'
}

@test "a signal to a run of quick commands, wherever it hits" {
	local i
	for i in 1 2 3 4 5 6 7 8; do
		: >events
		start exec --json --events events '{"parallel":true,"repeat":20000,"template":"true"}'
		until_true lines_at_least events $((i * 40))
		kill -INT "$RUNNING"
		finish
		is "$status" 130
		is "$(jq -r .status out)" cancelled
		nobody_left
	done
}

@test "KILL of roux takes its commands along" {
	start exec --json '{"parallel":true,"repeat":5,"template":"ignore-term pids"}'
	until_true lines_at_least pids 5
	kill -KILL "$RUNNING"
	until_true nobody_left
}

@test "a signal that was ignored before stays ignored: nohup" {
	env --ignore-signal=HUP "$ROUX" exec --progress=none "sh -c 'echo \$\$ >>pids; until test -e go; do sleep 0.01; done; echo survived'" >out 2>err </dev/null 3>&- &
	RUNNING=$!
	until_true lines_at_least pids 1
	kill -HUP "$RUNNING"
	touch go
	finish
	is "$status" 0
	is "$(cat out)" survived
}

@test "commands have no signals blocked and none ignored that roux did not inherit" {
	quick exec 'cat /proc/self/status' >status
	is "$(awk '/^SigBlk/{print $2}' status)" 0000000000000000
	# As `roux` is started here: timeout ends what nohup has asked for.
	timeout "$WATCHDOG" cat /proc/self/status >inherited
	is "$(awk '/^SigIgn/{print $2}' status)" "$(awk '/^SigIgn/{print $2}' inherited)"
}

@test "a command that is ended by a signal of its own is a failure, not a cancel" {
	run --separate-stderr quick exec --json "sh -c 'kill -INT \$\$'"
	is "$status" 1
	is "$(jq -c '[.status,.code,.failures[0].signal]' <<<"$output")" '["failed",130,2]'
}

@test "a terminal that closes ends the run" {
	on-terminal log '[1] start' close "$ROUX" exec --progress=plain '["sh -c \"fork-setsid pids; until test -s pids; do sleep 0.01; done\"","fork-setsid pids stay"]' 3>&- &
	RUNNING=$!
	finish
	is "$status" 129
	lines_at_least pids 1
	nobody_left
}

@test "a SIGCHLD that a parent ignores does not matter" {
	run bash -c 'trap "" CHLD; exec "$0" exec -q "echo a"' "$ROUX"
	is "$status" 0
	is "$output" a
}

@test "a reader that is gone from the beginning ends the run before its first command" {
	local how
	for how in exec "run --template" "run --json --template"; do
		# shellcheck disable=SC2086 # words
		python3 - "$ROUX" $how '{"delay":"2h","template":"touch ran"}' <<-'END'
		import os, subprocess, sys
		r, w = os.pipe()
		os.close(r)
		sys.exit(subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=w, timeout=300).returncode != 141)
		END
	done
	[ ! -e ran ]
}
