# What a command leaves running on purpose, and pipes that are held open by it.

load common

@test "what a command leaves behind stays after a normal end" {
	run quick exec --json '["fork-setsid kept","sh -c \"until test -s kept; do sleep 0.01; done\""]'
	is "$status" 0
	until_true test -s kept
	lives "$(cat kept)"
	kill "$(cat kept)"
	until_true ended "$(cat kept)"
}

@test "what a failed command leaves behind stays as well" {
	run quick exec --json 'sh -c "fork-setsid kept; until test -s kept; do sleep 0.01; done; exit 3"'
	is "$status" 1
	until_true test -s kept
	lives "$(cat kept)"
	kill "$(cat kept)"
	until_true ended "$(cat kept)"
}

@test "a background job in the group of a command stays too" {
	run quick exec 'sh -c "sleep 100 >/dev/null 2>&1 & echo $!"'
	is "$status" 0
	lives "$output"
	kill "$output"
	until_true ended "$output"
}

@test "a pipe held open silently is let go, with a warning" {
	run --separate-stderr quick exec --json 'hold-pipe kept silent'
	is "$status" 0
	is "$(jq -r .stdout <<<"$output")" parent
	has "$(jq -r '.warnings[]' <<<"$output")" 'output open'
	[ "$(jq .ms <<<"$output")" -ge 450 ]
	until_true test -s kept
	lives "$(cat kept)"
	kill "$(cat kept)"
	until_true ended "$(cat kept)"
}

@test "the warning about a held pipe is shown to people" {
	run --separate-stderr quick exec 'hold-pipe kept silent'
	is "$output" parent
	has "$stderr" 'warning:'
	until_true test -s kept
	kill "$(cat kept)"
	until_true ended "$(cat kept)"
}

@test "a pipe that is held and still brings data is read on" {
	run --separate-stderr quick exec --json 'hold-pipe pids 30 20'
	is "$status" 0
	has "$(jq -r .stdout <<<"$output")" 'child 29'
	is "$(jq -c .warnings <<<"$output")" '[]'
}

@test "held standard error does not hang either" {
	run --separate-stderr quick exec 'sh -c "sleep 600 >/dev/null & echo $!"'
	lives "$output"
	kill "$output"
	until_true ended "$output"
}

@test "twenty held pipes in parallel are let go together" {
	run --separate-stderr quick exec --json '{"parallel":true,"repeat":20,"template":"hold-pipe kept silent"}'
	is "$(jq '.warnings|length' <<<"$output")" 20
	is "$(jq -c .coverage.done <<<"$output")" 20
	until_true lines_at_least kept 20
	# shellcheck disable=SC2046 # one word a pid
	kill $(cat kept)
	until_true nobody_left
}

@test "what is held open does not reach the next step late" {
	run --separate-stderr quick exec '["hold-pipe pids 1 4000","cat"]'
	is "$output" parent
	until_true nobody_left
}

@test "after a cancel held pipes are not waited for" {
	start exec --json --grace 86400000 'sh -c "setsid -f sleep 600; echo $$ >>pids; sleep 600"'
	until_true lines_at_least pids 1
	kill -TERM "$RUNNING"
	finish
	nobody_left
}

@test "orphans that end during the run are reaped" {
	start exec --json 'sh -c "for i in 1 2 3 4 5; do setsid -f true; done; echo $$ >>pids; until test -e go; do sleep 0.01; done"'
	until_true lines_at_least pids 1
	no_zombies() { ! ps -o stat= --ppid "$RUNNING" | grep -q Z; }
	until_true no_zombies
	touch go
	finish
	is "$status" 0
}

@test "children that roux was started with are neither ended nor reaped" {
	# The background commands of a shell are children of the roux that takes its place.
	cat >leaves <<-'END'
		sleep 1001 & echo $! >>pids
		setsid sleep 1002 & echo $! >>pids
		exec sleep 1003
	END
	sh -c 'sleep 1000 & echo $! >>pids; (exit 3) & exec "$0" exec "sh leaves"' "$ROUX" 2>err &
	RUNNING=$!
	echo "$RUNNING" >>kept
	until_true lines_at_least pids 3
	kill -TERM "$RUNNING"
	wait "$RUNNING" || true
	lives "$(sed -n 1p pids)"
	until_true ended "$(sed -n 2p pids)"
	until_true ended "$(sed -n 3p pids)"
}
