# Machines with little of everything: descriptors, processes, disk, /proc.

load common

@test "64 descriptors for 500 branches at once" {
	ulimit -n 64
	run quick exec --json '{"parallel":true,"repeat":500,"template":"echo {index}"}'
	is "$status" 0
	is "$(jq -c '.coverage.done' <<<"$output")" 500
}

@test "64 descriptors for 500 branches that spill" {
	ulimit -n 64
	run quick exec --json '{"parallel":true,"repeat":100,"template":"head -c 300000 /dev/zero"}'
	is "$status" 0
	is "$(jq -c '.coverage.done' <<<"$output")" 100
	rm -f "$(jq -r .stdout_path <<<"$output")"
}

@test "16 descriptors for 50 branches" {
	ulimit -n 16
	run quick exec --json '{"parallel":true,"repeat":50,"template":"echo {index}"}'
	is "$status" 0
	is "$(jq -c '.coverage.done' <<<"$output")" 50
}

@test "a run that cannot begin for want of descriptors leaves nothing" {
	local n what
	run quick run --as old '["echo a","sh -c \"cat; test -e good\""]'
	: >good
	for what in "rerun old" "rerun old --detach" "run 'echo hi'" "run --as old 'echo hi'"; do
		for n in {8..18}; do
			run bash -c "ulimit -n $n; exec timeout $WATCHDOG \"\$ROUX\" $what </dev/null 3>&-"
			[ "$status" -lt 124 ] || { echo "$what with $n: $status"; return 1; }
			run -0 roux runs # one that has begun may lack what its readers look for
			for dir in "$(state)"/runs/*/; do
				[ -e "$dir/run.json" ] || { echo "$what with $n: $(ls -A "$dir")"; return 1; }
				[ -s "$dir/leaves.jsonl" ] || { echo "$what with $n: never began: $(ls -A "$dir")"; return 1; }
			done
			[ "$what" != "run --as old 'echo hi'" ] || [ -e "$(state)/runs/old/generations/1/run.json" ] || [ ! -e "$(state)/runs/old/generations" ] ||
				{ echo "$what with $n: $(ls -AR "$(state)/runs/old/generations")"; return 1; }
		done
	done
	run -0 roux doctor
}

@test "too few descriptors for one command: a clear failure, no hang" {
	local n
	for n in 12 10 9 8 7 6; do
		run bash -c "ulimit -n $n; exec timeout $WATCHDOG \"\$ROUX\" exec --progress=none '[\"echo a\",\"cat\"]' </dev/null 3>&-"
		[ "$status" -ne 124 ]
		[ "$status" -lt 128 ]
		[ "$status" -eq 0 ] || has "$output" 'Too many open files'
	done
}

@test "commands get the limit of descriptors that roux was given" {
	ulimit -S -n 100
	is "$(quick exec -j 1000 'sh -c "ulimit -n"')" 100
}

# A user of our own, as whom nothing else runs.
as_somebody() {
	setpriv --reuid=64999 --regid=64999 --clear-groups "$@"
}

@test "few processes: what cannot start yet waits for its turn" {
	[ "$(id -u)" = 0 ] || skip "needs root to become a user without processes"
	as_somebody true || skip "cannot change the user here"
	chmod 755 "$BASE"
	chmod 777 "$BASE/work" "$BASE/tmp" "$BASE/home"
	cp "$ROUX" "$BASE/roux"
	run as_somebody bash -c 'ulimit -u 8; exec timeout $WATCHDOG "$0" exec --json --progress=none "{\"parallel\":true,\"repeat\":60,\"template\":\"sleep 0.02\"}" </dev/null 3>&-' "$BASE/roux"
	is "$status" 0
	is "$(jq -c .coverage.done <<<"$output")" 60
}

@test "no process at all: failure 126, no hang" {
	unsanitized
	[ "$(id -u)" = 0 ] || skip "needs root to become a user without processes"
	as_somebody true || skip "cannot change the user here"
	chmod 755 "$BASE"
	chmod 777 "$BASE/work" "$BASE/tmp" "$BASE/home"
	cp "$ROUX" "$BASE/roux"
	run --separate-stderr as_somebody bash -c 'ulimit -u 1; exec "$0" exec --json --progress=none "[\"echo a\",\"echo b\"]" </dev/null 3>&-' "$BASE/roux"
	is "$status" 3
	is "$(jq -c '[.failures[].code]' <<<"$output")" '[126,126]'
}

small_disk() {
	[ "$(id -u)" = 0 ] || skip "needs root to mount a small disk"
	mkdir "$BASE/small"
	mount -t tmpfs -o size=1m none "$BASE/small" || skip "cannot mount here"
	SMALL=$BASE/small
	export TMPDIR=$SMALL
}

no_small_disk() {
	umount "$SMALL"
	export TMPDIR=$BASE/tmp
}

@test "a full disk: the run fails, says so, leaves no process" {
	small_disk
	run --separate-stderr timeout $WATCHDOG "$ROUX" exec --progress=none '["yes","cat"]' </dev/null 3>&-
	local first=$status text=$stderr out=$output
	run --separate-stderr timeout $WATCHDOG "$ROUX" exec --json '{"parallel":true,"repeat":8,"template":"head -c 400000 /dev/zero"}' </dev/null 3>&-
	no_small_disk
	is "$first" 1
	is "$out" ''
	has "$text" 'No space left on device'
	is "$status" 1
	is "$(jq -r .status <<<"$output")" failed
	has "$(jq -r .error <<<"$output")" 'No space left on device'
	nobody_left
}

@test "a full disk under shared standard input: the run fails, nothing is cut off silently" {
	small_disk
	run --separate-stderr timeout $WATCHDOG "$ROUX" exec --progress=none '{"parallel":true,"template":["wc -c","wc -c"]}' < <(head -c 5000000 /dev/zero)
	no_small_disk
	is "$status" 1
	has "$stderr" 'No space left on device'
}

@test "a full disk for stdout_path: status failed, not a path to half of it" {
	small_disk
	head -c 900000 /dev/zero >"$SMALL/fill"
	# 2 MiB in a pipe of branches that each stay in memory; only the named file needs the disk.
	run --separate-stderr timeout $WATCHDOG "$ROUX" exec --json '{"parallel":true,"repeat":10,"template":"head -c 200000 /dev/zero"}' </dev/null 3>&-
	no_small_disk
	is "$status" 1
	is "$(jq -r .ok <<<"$output")" false
}

@test "a full disk for events: exit 1 and a word about it" {
	run --separate-stderr timeout $WATCHDOG "$ROUX" exec --progress=none --events /dev/full 'echo hi' </dev/null
	is "$status" 1
	has "$stderr" 'No space left on device'
	run --separate-stderr bash -c '"$ROUX" exec --progress=none --events - "echo hi" </dev/null >/dev/full'
	is "$status" 1
	has "$stderr" 'No space left on device'
}

@test "no temporary directory: small output works, large fails clearly or goes elsewhere" {
	TMPDIR=$BASE/nowhere run quick exec 'echo hi'
	is "$output" hi
	TMPDIR=$BASE/nowhere run --separate-stderr quick exec '["head -c 500000 /dev/zero","wc -c"]'
	[ "$status" -eq 0 ] && is "$output" 500000 || {
		is "$status" 1
		has "$stderr" 'No such file or directory'
		has "$stderr" TMPDIR
	}
}

@test "a read-only temporary directory" {
	[ "$(id -u)" = 0 ] || skip "needs root to mount one"
	mkdir "$BASE/ro"
	mount -t tmpfs -o ro none "$BASE/ro" || skip "cannot mount here"
	TMPDIR=$BASE/ro run --separate-stderr quick exec '["head -c 500000 /dev/zero","wc -c"]'
	umount "$BASE/ro"
	[ "$status" -eq 0 ] && is "$output" 500000 || {
		is "$status" 1
		has "$stderr" 'Read-only file system'
	}
}

# without_proc COMMAND...: with an empty directory in place of /proc.
without_proc() {
	[ "$(id -u)" = 0 ] || skip "needs root to hide /proc"
	unshare -m true || skip "cannot unshare here"
	unshare -m sh -c 'mount -t tmpfs none /proc && exec "$@"' _ "$@"
}

@test "without /proc: a command and a pipeline work" {
	unsanitized
	run without_proc timeout $WATCHDOG "$ROUX" exec --progress=none '["echo hi","cat"]' </dev/null
	is "$status" 0
	is "$output" hi
	run without_proc timeout $WATCHDOG "$ROUX" exec --progress=none '["head -c 500000 /dev/zero","wc -c"]' </dev/null
	is "$output" 500000
}

@test "without /proc: a cancel and a time limit work" {
	unsanitized
	without_proc true
	unshare -m sh -c 'mount -t tmpfs none /proc && exec "$@"' _ env --default-signal=INT "$ROUX" exec --json --grace 300 "sh -c 'echo x >>ready; sleep 100; true'" >out 2>err </dev/null 3>&- &
	RUNNING=$!
	until_true lines_at_least ready 1
	kill -INT "$RUNNING"
	finish
	is "$status" 130
	is "$(jq -r .status out)" cancelled
	nobody_left
	run without_proc timeout $WATCHDOG "$ROUX" exec --json --grace 300 '{"timeout":200,"template":"sleep 100"}' </dev/null 3>&-
	is "$status" 124
	nobody_left
}

@test "no descriptor of roux leaks into commands" {
	local expected
	fds() { grep '^[0-9]' | sort -n | uniq; }
	head -c 400000 /dev/zero >data
	expected=$(list-fds </dev/null | fds)
	is "$(timeout $WATCHDOG "$ROUX" exec --progress=none --events e list-fds </dev/null | fds)" "$expected"
	is "$(timeout $WATCHDOG "$ROUX" exec --progress=none --events e '["cat data",{"parallel":true,"repeat":70,"template":"list-fds"}]' </dev/null | fds)" "$expected"
	is "$(cat data 2>/dev/null | timeout $WATCHDOG "$ROUX" exec --progress=none '{"parallel":true,"template":["list-fds","list-fds"]}' | fds)" "$expected"
	is "$(timeout $WATCHDOG "$ROUX" exec --progress=none '{"parallel":true,"template":["list-fds","list-fds"]}' <data | fds)" "$expected"
	is "$(timeout $WATCHDOG "$ROUX" exec --progress=none '{"retry":2,"template":"list-fds"}' <data | fds)" "$expected"
}

@test "a descriptor that roux inherited is handed on" {
	echo inherited >f
	is "$(quick exec 'sh -c "cat <&7"' 7<f)" inherited
}
