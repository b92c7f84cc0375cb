#!/usr/bin/env bats
# Messages to and from runs: roux message, roux messages, FIFOs, sockets, hostile boxes.
# shellcheck disable=SC2016  # expanded by others
# shellcheck disable=SC2154  # stderr is set by run --separate-stderr

load common

setup_file() {
	command -v python3 >/dev/null || skip "no python3"
}

dir_of() { # RUN
	echo "$HOME/.pi/agent/roux/runs/$1"
}

# says STATUS ARGUMENT...: roux message with its document in the file `answer`
says() {
	local want=$1 status=0
	shift
	roux message --json "$@" >answer 2>err || status=$?
	[ "$status" -eq "$want" ] && return 0
	echo "exit status $status, expected $want, of: roux message $*"
	head -c 2000 answer err
	return 1
}

answer() { # EXPRESSION
	of_json "$1" <answer
}

box() { # RUN EXPRESSION: of the messages document
	roux messages "$1" --json | of_json "$2"
}

has_reader() { # FIFO: a process reads it; nothing is written
	python3 -c 'import os, sys; os.close(os.open(sys.argv[1], os.O_WRONLY | os.O_NONBLOCK))' "$1" 2>/dev/null
}

is_fifo() {
	[ -p "$1" ]
}

FIFO_ONCE='sh -c "mkfifo {state_dir}/new; exec 3<>{state_dir}/new; mv {state_dir}/new {state_dir}/control.fifo; read -r x <&3; echo got:$x"'

# -- to a run -------------------------------------------------------------------------------------

@test "without an endpoint a message is queued, and told as an event" {
	detach r 'sleep 6000'
	says 0 r run.message '"pause"'
	is "$(answer '(d["ok"], d["sent"], d["queued"], d["transport"])')" "(True, False, True, None)"
	is "$(box r '[(m["type"], m["body"], m["status"], m["run"], m["to"], m["from"]) for m in d["inbox"]]')" \
		"[('run.message', 'pause', 'queued', 'r', 'run:r', 'coordinator')]"
	is "$(box r 'd["inbox"][0]["id"]')" "$(answer 'd["id"]')"
	until_true contains "$(dir_of r)/events.jsonl" run.message
	is "$(grep run.message "$(dir_of r)/events.jsonl" | of_json '(d["id"], d["bytes"])')" \
		"('$(answer 'd["id"]')', 5)"
	is "$(stat -c %a "$(dir_of r)/inbox.jsonl")" 600
	roux kill r
}

@test "a FIFO gives the program its line; a stop word is an end that was asked for" {
	local word
	for word in next stop; do
		detach "$word" "$FIFO_ONCE"
		until_true sent_to "$word" "$word"
		is "$(answer '(d["sent"], d["queued"], d["transport"])')" "(True, False, 'fifo')"
		roux wait "$word" >out
		is "$(cat out)" "got:$word"
		is "$(box "$word" 'd["inbox"][-1]["status"]')" sent
	done
	is "$(roux status next --json | of_json 'd["terminal_handled"]')" None
	is "$(roux status stop --json | of_json 'd["terminal_handled"]')" run.message
	# The message is reported before the end of the command that it led to.
	is "$(python3 -c 'import json, sys
names = [json.loads(l)["type"] for l in open(sys.argv[1])]
print(names.index("run.message") < names.index("command.done"))' "$(dir_of stop)/events.jsonl")" True
}

sent_to() { # RUN TEXT
	is_fifo "$(dir_of "$1")/control.fifo" && says 0 "$1" run.message "$2" &&
		[ "$(answer 'd["sent"]')" = True ]
}

@test "other types are given whole, as one line of JSON, and the answer says so" {
	detach s 'sh -c "mkfifo {state_dir}/control.fifo; exec 3<>{state_dir}/control.fifo; head -n 2 <&3"'
	until_true is_fifo "$(dir_of s)/control.fifo"
	until_true eval 'roux message s run.message plain >out && contains out "sent through its fifo"'
	is "$(sed 's/.* sent/sent/' out)" "sent through its fifo"
	asks 0 message s task.assign '{"file": "a b"}'
	is "$(sed 's/.* sent/sent/' out)" "sent through its fifo as one line of JSON"
	roux kill s >/dev/null 2>&1 || true
	detach r 'sh -c "mkfifo {state_dir}/control.fifo; head -n 1 < {state_dir}/control.fifo"'
	until_true is_fifo "$(dir_of r)/control.fifo"
	until_true eval 'says 0 r task.assign "{\"file\": \"a b\"}" --envelope "{\"correlation_id\": \"c\"}" && [ "$(answer "d[\"sent\"]")" = True ]'
	roux wait r >out
	is "$(of_json '(d["type"], d["body"], d["correlation_id"], "status" in d)' <out)" \
		"('task.assign', {'file': 'a b'}, 'c', False)"
	is "$(of_json 'd["id"]' <out)" "$(answer 'd["id"]')"
}

@test "a FIFO without a reader, with one that died, or full: queued, at once" {
	detach r 'sleep 6000'
	mkfifo "$(dir_of r)/control.fifo"
	says 0 r run.message one
	is "$(answer '(d["sent"], d["queued"])')" "(False, True)"
	# Opens it and never reads: 64 KiB fit.
	exec 4<>"$(dir_of r)/control.fifo"
	sleep 6000 <&4 3>&- 4>&- &
	local holder=$! n=0 long
	exec 4>&-
	long=$(printf 'x%.0s' $(seq 4000))
	until says 0 r run.message "$long" && [ "$(answer 'd["sent"]')" = False ]; do
		[ $((n += 1)) -lt 40 ]
	done
	[ "$n" -gt 1 ]
	kill "$holder"
	wait "$holder" || true
	says 0 r run.message after
	is "$(answer 'd["sent"]')" False
	is "$(box r 'len(d["inbox"])')" $((n + 3))
	roux kill r
}

@test "what is not a FIFO is not written to" {
	detach r 'sleep 6000'
	echo precious >"$(dir_of r)/control.fifo"
	says 0 r run.message x
	is "$(answer '(d["sent"], d["queued"])')" "(False, True)"
	is "$(cat "$(dir_of r)/control.fifo")" precious
	roux kill r
}

@test "a body has at most 1 MiB; a long one is noted in the FIFO" {
	detach r 'sleep 6000'
	head -c 1048577 /dev/zero | tr '\0' x >big
	head -c 1048576 big >just
	local status=0
	timeout $WATCHDOG "$ROUX" message --json r run.message - <big >answer 2>err || status=$?
	is "$status" 2
	has "$(answer 'd["errors"][0]["message"]')" 1048577
	is "$(box r 'len(d["inbox"])')" 0
	mkfifo "$(dir_of r)/control.fifo"
	exec 4<>"$(dir_of r)/control.fifo"
	head -n 1 <&4 >note 3>&- 4>&- &
	exec 4>&-
	timeout $WATCHDOG "$ROUX" message --json r run.message - <just >answer
	is "$(answer '(d["sent"], d["queued"])')" "(False, True)"
	until_true [ -s note ]
	is "$(of_json '(d["type"], d["bytes"])' <note)" "('inbox.note', 1048576)"
	is "$(of_json 'd["id"]' <note)" "$(answer 'd["id"]')"
	is "$(box r 'len(d["inbox"][0]["body"])')" 1048576
	is "$(roux messages r | wc -c | awk '{ print ($1 < 700) }')" 1
	roux kill r
}

@test "at most 64 wait; what is taken makes room; kill works regardless" {
	detach r 'sleep 6000'
	local i
	for i in $(seq 64); do
		"$ROUX" message r run.message "$i" >>ids
	done
	says 2 r run.message more
	is "$(answer '(d["status"], d["reason"])')" "('refused', 'backpressure')"
	is "$(box r 'len(d["inbox"])')" 64
	printf '{"id":"%s","status":"claimed","ts":"t","claimed_by":"me"}\n' "$(head -n 1 ids | cut -d' ' -f1)" \
		>>"$(dir_of r)/inbox.jsonl"
	says 0 r run.message more
	says 2 r run.message 'too many'
	is "$(box r '(d["inbox"][0]["status"], d["inbox"][0]["claimed_by"], len(d["inbox"]))')" "('claimed', 'me', 65)"
	says 0 r control.kill
	is "$(roux status r --json | of_json '(d["status"], d["terminal_handled"])')" "('killed', 'run.kill')"
}

@test "senders and readers that come and go lose nothing" {
	detach r 'sleep 6000'
	mkfifo "$(dir_of r)/control.fifo"
	cat >reader.py <<'P'
# Opens the FIFO, reads a little or nothing, goes away, comes back; takes what is queued.
import json, os, select, sys, time
where, got = sys.argv[1], open("got", "ab", 0)
turn = 0
while not os.path.exists("enough"):
    turn += 1
    fd = os.open(where + "/control.fifo", os.O_RDONLY | os.O_NONBLOCK)
    if turn % 3:
        select.select([fd], [], [], 0.005)
        try:
            got.write(os.read(fd, 65536))
        except BlockingIOError:
            pass
    os.close(fd)
    state = {}
    for line in open(where + "/inbox.jsonl", "rb"):
        if not line.endswith(b"\n"):
            break  # it is just being written
        m = json.loads(line)
        state[m["id"]] = m["status"]
    with open(where + "/inbox.jsonl", "ab", 0) as box:
        for id, status in state.items():
            if status == "queued":
                box.write(json.dumps({"id": id, "status": "handled", "ts": "t"}).encode() + b"\n")
P
	python3 reader.py "$(dir_of r)" 3>&- &
	local reader=$! w pids=''
	for w in 1 2 3 4; do
		(
			for i in $(seq 100); do
				until "$ROUX" message r run.message "$w-$i" >>"sender-$w" 2>/dev/null; do
					sleep 0.01
				done
			done
		) 3>&- &
		pids="$pids $!"
	done
	# shellcheck disable=SC2086
	wait $pids
	: >enough
	wait "$reader"
	is "$(box r 'sorted(m["body"] for m in d["inbox"]) == sorted("%d-%d" % (w, i) for w in range(1, 5) for i in range(1, 101))')" True
	is "$(box r 'd["skipped"]["inbox"]')" 0
	# Whatever came through the FIFO came whole, and is marked.
	is "$(box r '[l for l in open("got").read().split("\n") if l and l not in [m["body"] for m in d["inbox"] if m["status"] in ("sent", "handled")]]')" '[]'
	is "$(cat sender-* | grep -c .)" 400
	# Each was told once.
	until_true eval '[ "$(grep -c run.message "$(dir_of r)/events.jsonl")" = 400 ]'
	roux kill r
}

@test "a socket: pushed to those that are connected, and kept for those that come" {
	mkdir -p "$HOME/.pi/agent/recipes"
	cat >program.py <<'P'
import os, socket, sys
s = socket.socket(socket.AF_UNIX)
os.chdir(sys.argv[1])
open("waiting", "w").close()
while not os.path.exists("go"):
    pass
s.connect("control.sock")
for line in s.makefile():
    print("got", line.strip()[:20], len(line), flush=True)
    if line.strip() == "quit":
        break
P
	cat >"$HOME/.pi/agent/recipes/s.json" <<P
{"async": true, "control": {"type": "socket"}, "template": "python3 $PWD/program.py {state_dir}"}
P
	roux run s >/dev/null
	until_true [ -e "$(dir_of s)/waiting" ]
	says 0 s run.message early
	is "$(answer '(d["sent"], d["transport"], d["waits_for"])')" "(False, None, 'no program is connected to its socket')"
	: >"$(dir_of s)/go"
	until_true contains "$(dir_of s)/stdout.log" 'got early'
	head -c 300000 /dev/zero | tr '\0' y >long
	timeout $WATCHDOG "$ROUX" message --json s run.message - <long >answer
	is "$(answer '(d["sent"], d["queued"], d["transport"])')" "(True, False, 'socket')"
	says 0 s run.message quit
	roux wait s >out
	is "$(cat out)" "$(printf 'got early 6\ngot yyyyyyyyyyyyyyyyyyyy 300001\ngot quit 5')"
	is "$(box s '[m["status"] for m in d["inbox"]]')" "['sent', 'sent', 'sent']"
	is "$(roux status s --json | of_json 'd["terminal_handled"]')" run.message
	[ ! -e "$(dir_of s)/control.sock" ]
}

# -- what is refused ------------------------------------------------------------------------------

@test "refused: unknown, ended, another owner's" {
	says 2 nobody run.message x
	is "$(answer '(d["ok"], d["status"], d["reason"])')" "(False, 'refused', 'no such run')"
	quick run --as ended --template true
	says 2 ended run.message x
	is "$(answer '(d["status"], d["reason"])')" "('refused', 'not running')"
	[ ! -s "$(dir_of ended)/inbox.jsonl" ]
	ROUX_OWNER=session-1 detach mine 'sleep 6000'
	ROUX_OWNER=session-2 says 2 mine run.message x
	is "$(answer 'd["reason"]')" session_mismatch
	has "$(answer 'd["error"]')" session-1
	has "$(answer 'd["error"]')" session-2
	ROUX_OWNER=session-2 run -2 roux messages mine --json
	has "$output" session_mismatch
	ROUX_OWNER=session-1 says 0 mine run.message x
	says 0 mine run.message y
	is "$(box mine '[m["from"] for m in d["inbox"]]')" "['session:session-1', 'coordinator']"
	run -2 roux message ended run.message x
	has "$output" 'not running'
	has "$output" 'hint:'
	roux kill mine
}

@test "wrong requests: types, addresses, envelopes, operands" {
	detach r 'sleep 6000'
	local words
	# shellcheck disable=SC2089,SC2090  # split at blanks, quotes and all
	for words in 'r 9x' 'r a/b' 'r' '' 'r t --to nowhere' 'r t --to coordinator' 'r t --to run:other' \
		'r t b more' 'r t --envelope {' 'r t --envelope []' 'r t 1 --envelope {"body":2}' \
		'r t --envelope {"summary":1}' '--from-run t'; do
		# shellcheck disable=SC2086,SC2090
		says 2 $words
		is "$words: $(answer '(d["ok"], d["status"], len(d["errors"]))')" "$words: (False, 'invalid', 1)"
	done
	printf 'a\377b' | timeout $WATCHDOG "$ROUX" message r t - 2>err && return 1
	has "$(cat err)" 'not valid UTF-8'
	is "$(box r 'd["inbox"]')" '[]'
	roux kill r
}

@test "a type that the recipe does not accept is delivered with a warning" {
	mkdir -p "$HOME/.pi/agent/recipes"
	echo '{"async": true, "mailbox": {"accepts": ["control.continue", {"type": "task.assign"}]}, "template": "sleep 6000"}' \
		>"$HOME/.pi/agent/recipes/m.json"
	roux run m >/dev/null
	says 0 m task.asign
	has "$(answer 'd["warnings"]')" task.asign
	says 0 m task.assign
	is "$(answer 'd["warnings"]')" '[]'
	run -0 --separate-stderr roux message m control.contine
	has "$stderr" "did you mean 'control.continue'?"
	is "$(box m 'len(d["inbox"])')" 3
	roux kill m
}

@test "control.archive and control.prune are orders to roux" {
	quick run --as a --template true
	quick run --as p --template true
	says 0 a control.archive
	says 0 p control.prune
	run -2 roux status a
	run -2 roux status p
	[ ! -e "$(dir_of p)" ]
}

# -- from a run -----------------------------------------------------------------------------------

@test "a program of the run writes to its outbox" {
	ROUX_OWNER=me detach r "sh -c '\"$ROUX\" message --from-run a.b 5; \"$ROUX\" message --from-run a.c --to session:me; \"$ROUX\" message --from-run a.d --to session:you'"
	roux wait r >/dev/null 2>&1 || true
	is "$(box r '[(m["type"], m["delivery"], m.get("body")) for m in d["outbox"] if m["type"] != "command.done"]')" \
		"[('a.b', 'notify', 5), ('a.c', 'followup', None)]"
	is "$(box r 'len(set(m["id"] for m in d["outbox"])) == len(d["outbox"])')" True
	ROUX_RUN=r says 2 --from-run late
	is "$(answer 'd["reason"]')" 'not running'
	detach s 'sleep 6000'
	ROUX_RUN=s ROUX_GENERATION=other says 2 --from-run late
	is "$(answer 'd["reason"]')" 'another generation'
	ROUX_RUN=s says 0 --from-run now
	roux kill s
}

@test "many programs of a run write at once" {
	cat >t.json <<P
{"repeat": 16, "parallel": true, "template": "sh -c 'for i in 0 1 2 3 4 5 6 7 8 9; do \"$ROUX\" message --from-run t.x {index}\$i >/dev/null; done'"}
P
	quick run --as many @t.json >/dev/null
	is "$(box many 'len([m for m in d["outbox"] if m["type"] == "t.x"])')" 160
	is "$(box many 'len(set(m["id"] for m in d["outbox"]))')" 176
	is "$(box many 'd["skipped"]')" "{'inbox': 0, 'outbox': 0}"
}

@test "lines of others: read, or skipped and counted, never fatal" {
	detach r "$FIFO_ONCE"
	until_true is_fifo "$(dir_of r)/control.fifo"
	printf 'plain\n{"type":"foreign","level":"odd"}\n[]\n{"a":\n\377\n\n{"summary":"s"}' >>"$(dir_of r)/outbox.jsonl"
	printf 'plain\n{"type":"foreign"}\n{"id":"x","status":"sent"}\n\000\n{"type":"torn' >>"$(dir_of r)/inbox.jsonl"
	says 0 r run.message go
	roux wait r >out
	is "$(cat out)" got:go
	is "$(box r '[(m["type"], m["level"], m["delivery"], m["id"]) for m in d["outbox"]][:2]')" \
		"[('foreign', 'info', 'notify', 'r:1'), ('run.event', 'info', 'notify', 'r:5')]"
	is "$(box r '[m["type"] for m in d["outbox"]][2:]')" "['command.done']"
	is "$(box r '[(m["type"], m["status"]) for m in d["inbox"]]')" "[('foreign', 'queued'), ('run.message', 'sent')]"
	is "$(box r 'd["skipped"]')" "{'inbox': 4, 'outbox': 4}"
	run -0 --separate-stderr roux messages r
	has "$stderr" '4 lines of outbox.jsonl'
	# Two were messages: the foreign one and ours.
	is "$(grep -c run.message "$(dir_of r)/events.jsonl")" 2
}

@test "escape sequences of a message do not reach the terminal" {
	detach r 'sleep 6000'
	ROUX_RUN=r says 0 --from-run t '"\u001b[31mred\u0007\nnext"'
	run -0 roux messages r
	case $output in *$'\033'* | *$'\007'*) return 1 ;; esac
	has "$output" red
	is "${#lines[@]}" 2
	roux kill r
}

@test "a terminal shows a line a message and says where the rest is" {
	detach r 'sleep 6000'
	run -0 roux messages r
	is "$output" "No messages."
	says 0 r run.message "$(printf '%01000d' 0)"
	says 0 r run.message "short"
	run -0 --separate-stderr roux messages r
	has "$stderr" "--json has all of it"
	on-terminal shown '' '' "$ROUX" messages r </dev/null
	is "$(tr -d '\r' <shown | grep -c run.message)" 2
	is "$(tr -d '\r' <shown | grep run.message | awk '{ if (length($0) > 82) print }')" ""
	roux kill r
}
