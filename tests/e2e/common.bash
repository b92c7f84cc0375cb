# Loaded by every file here. Each test has a fresh home, working and temporary directory, and
# whatever it starts carries MARK in its environment, so that it can be found and ended by its id.

bats_require_minimum_version 1.5.0

setup() {
	BASE=$(mktemp -d "${TMPDIR:-/tmp}/roux-e2e.XXXXXX")
	mkdir "$BASE/home" "$BASE/work" "$BASE/tmp"
	export HOME=$BASE/home TMPDIR=$BASE/tmp PATH=$SUPPORT:$PATH
	export MARK=$BASE
	unset ROUX_DEBUG ROUX_TREE NO_COLOR XDG_CONFIG_HOME PI_CODING_AGENT_DIR ROUX_STATE_DIR
	cd "$BASE/work" && command -v leftovers >/dev/null || return 1
	: >pids
}

teardown() {
	clean_up
}

clean_up() {
	local pid left='' found=yes pass=0
	# Some continue under a new pid: until a look finds none.
	while [ -n "$found" ] && [ $((pass++)) -lt 20 ]; do
		found=
		for pid in $(leftovers "MARK=$MARK") $(tail -qn 50 pids kept 2>/dev/null); do
			lives "$pid" || continue
			[ "$(readlink "/proc/$pid/cwd")" = "$BASE/work" ] || continue
			found="$found $pid"
			kill -KILL "$pid" 2>/dev/null || true
		done
		left="$left$found"
		[ -z "$found" ] || sleep 0.1
	done
	cd / || return 1
	rm -rf "$BASE"
	[ -z "$left" ] || echo "# left running, now ended:$left"
}

# Seconds after which something has gone wrong. No test is about them: a machine that is busy with
# other things may be slow, and what a test waits for is a condition.
export WATCHDOG=300

# until_true COMMAND...: waits until it succeeds.
until_true() {
	local deadline=$((SECONDS + WATCHDOG))
	case $1 in *[!0-9]*) ;; *) shift ;; esac # seconds, which some callers still give
	until "$@"; do
		if [ "$SECONDS" -gt "$deadline" ]; then
			echo "never came true: $*"
			return 1
		fi
		sleep 0.02
	done
}

lines_at_least() { # FILE COUNT
	[ "$(wc -l <"$1" 2>/dev/null || echo 0)" -ge "$2" ]
}

contains() { # FILE TEXT
	grep -qF -- "$2" "$1" 2>/dev/null
}

lives() { # PID: neither gone nor a zombie
	local state
	state=$(sed 's/.*) //; s/ .*//' "/proc/$1/stat" 2>/dev/null) || return 1
	[ -n "$state" ] && [ "$state" != Z ] && [ "$state" != X ]
}

ended() {
	! lives "$1"
}

cpu_ticks() { # PID: of the processor, spent so far
	sed 's/.*) //' "/proc/$1/stat" | awk '{ print $12 + $13 }'
}

# idle PID: did nothing for a second. Who polls never is.
idle() {
	local before
	before=$(cpu_ticks "$1")
	sleep 1
	lives "$1" && [ "$(cpu_ticks "$1")" = "$before" ]
}

# worked PID TICKS: has spent that much of the processor, a hundredth of a second each.
worked() {
	[ "$(cpu_ticks "$1")" -ge "$2" ]
}

# Nothing that the test has started is there any more: neither by its mark nor in the list of pids.
nobody_left() {
	local pid left before=
	# One that continues under new pids can hide from any look at the list of processes: wait until
	# no new pid is reported.
	until [ "$before" = "$(wc -l 2>/dev/null <pids)" ]; do
		before=$(wc -l <pids)
		sleep 0.1
	done
	left=$(leftovers "MARK=$MARK")
	for pid in $(cat pids 2>/dev/null); do
		if lives "$pid"; then left="$left $pid"; fi
	done
	[ -z "$left" ] && return 0
	for pid in $left; do
		echo "still there: $pid $(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null)"
	done
	return 1
}

# start ARGUMENT...: roux in the background as $RUNNING, output in out and err. A shell without job
# control ignores SIGINT in what it starts so; a user's does not.
start() {
	env --default-signal=HUP,INT,QUIT "$ROUX" "$@" >out 2>err </dev/null 3>&- &
	RUNNING=$!
}

# finish: waits for $RUNNING; its exit status is in $status.
finish() {
	until_true ended "$RUNNING" || return 1
	status=0
	wait "$RUNNING" || status=$?
}

# roux with nothing to read.
roux() {
	timeout -k 5 $WATCHDOG "$ROUX" "$@" </dev/null 3>&-
}

# The same without progress.
quick() {
	roux "$@" --progress=none
}

# asks STATUS ARGUMENT...: roux with its output in the files out and err; the status is as given.
asks() {
	local want=$1 status=0
	shift
	roux "$@" >out 2>err || status=$?
	[ "$status" -eq "$want" ] && return 0
	echo "exit status $status, expected $want, of: roux $*"
	head -c 2000 out err
	return 1
}

# detach ID TEMPLATE...: a detached run that carries the mark of the test.
detach() {
	local id=$1
	shift
	roux run --detach --as "$id" --template "$@" >/dev/null 2>err
}

state() {
	echo "$HOME/.pi/agent/roux"
}

supervisor() { # RUN: its pid
	roux status "$1" --json | of_json 'd["pid"]'
}

of_json() { # EXPRESSION: of the document `d` on standard input, as Python sees it
	python3 -c "import json,sys; d=json.load(sys.stdin); print(($1))"
}

member() { # EXPRESSION: of the document `d` in the file out
	of_json "$1" <out
}

is() { # FOUND EXPECTED
	[ "$1" = "$2" ] && return 0
	printf 'expected: %s\nfound:    %s\n' "$2" "$1"
	return 1
}

has() { # TEXT PART
	case $1 in *"$2"*) return 0 ;; esac
	printf 'expected: %s\nin:       %s\n' "$2" "$1"
	return 1
}

between() { # NUMBER LOW HIGH
	[ "$1" -ge "$2" ] && [ "$1" -le "$3" ] && return 0
	echo "expected $2 to $3, found $1"
	return 1
}

as_nobody() {
	if [ "$(id -u)" -ne 0 ]; then
		"$@"
	else
		chmod 755 "$BASE"
		setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
	fi
}

# For tests of memory, limits and /proc, which sanitizers take for themselves.
unsanitized() {
	[ -z "${SANITIZED:-}" ] || skip "not with sanitizers"
}
