#!/usr/bin/env bats
# Runs after they were started: listed, followed, ended, put away.

load common

setup_file() {
	# Python reads the documents; without it there is little to test.
	command -v python3 >/dev/null || skip "no python3"
}

# member RUN EXPRESSION: of the status document `d`.
member() {
	roux status "$1" --json | python3 -c "import json,sys; d=json.load(sys.stdin); print(($2))"
}

runs_ended() {
	[ "$(member "$1" 'd["status"]')" != running ]
}

# -- looking --------------------------------------------------------------------------------------

@test "no runs yet: a hint, an empty document, nothing made" {
	run -0 roux runs
	has "$output" "No runs yet"
	is "$(roux runs --json)" '{"runs":[]}'
	[ ! -e "$(state)" ]
}

@test "runs are listed newest first, in 80 columns" {
	quick run --as first 'echo 1' >/dev/null
	quick run --as second 'false x' >/dev/null || true
	detach third 'echo 3'
	roux wait third >/dev/null
	is "$(roux runs --json | of_json '[(r["run"],r["status"],r["detached"]) for r in d["runs"]]')" \
		"[('third', 'done', True), ('second', 'failed', False), ('first', 'done', False)]"
	roux runs >list
	is "$(awk 'NR > 1 { print $1 }' list | paste -sd' ')" "third second first"
	is "$(awk 'length($0) > 80' list)" ""
	is "$(roux complete runs | paste -sd' ')" "third second first latest"
}

@test "status has every member of the document" {
	detach a '{"template": ["echo x", {"label": "bad", "template": "sh -c \"echo oops >&2; exit 4\""}, "cat"]}'
	roux wait a >/dev/null 2>&1 || true
	is "$(member a 'd["status"], d["progress"]["phase"], d["progress"]["failed"], d["pid"]')" \
		"('done', 'done', 1, None)"
	is "$(member a '[(f["label"], f["code"], f["stderr"]) for f in d["failures"]]')" \
		"[('bad', 4, 'oops\\n')]"
	for name in recipe started ended ms owner detached artifacts manifest dir pending_approval \
		mailbox retire_when terminal_handled context_records; do
		is "$(member a "'$name' in d")" True
	done
	run -0 roux status a
	has "$output" "[1 bad] failed with code 4: "
}

@test "artifacts are in the manifest with size and sum" {
	roux run --as a --artifact r=none --artifact f=made.txt --template \
		'sh -c "printf hello > made.txt"' 2>/dev/null
	is "$(member a 'list(d["manifest"]), d["manifest"]["r"]["exists"]')" "(['r', 'f'], False)"
	is "$(member a 'd["manifest"]["f"]["size"], d["manifest"]["f"]["sha256"][:12]')" \
		"(5, '2cf24dba5fb0')"
	# Relative paths are the run's own, wherever one looks from.
	mkdir elsewhere
	is "$(roux status a --json -C elsewhere | of_json 'd["manifest"]["f"]["exists"]')" True
}

@test "an unknown run is refused with the nearest name, a wrong id too" {
	quick run --as review 'true x'
	run -2 roux status reviex
	has "$output" "did you mean 'review'?"
	is "$(roux status reviex --json | of_json 'd["ok"], d["status"], d["reason"]')" \
		"(False, 'refused', 'no such run')"
	for id in ../x . .. a/b 'a b' -- latest~1 ''; do
		for command in status logs wait cancel kill archive prune; do
			[ "$command$id" != prune ] || continue
			[ "$id" != -- ] || continue
			run -2 roux "$command" "$id"
		done
	done
	is "$(roux status run:review --json | of_json 'd["run"]')" review
}

# -- following ------------------------------------------------------------------------------------

@test "logs are the bytes of the run" {
	head -c 100000 /dev/urandom >bytes
	quick run --as a 'cat bytes' >/dev/null
	roux logs a --result >got 2>err
	cmp bytes got
	quick run --as b 'sh -c "echo out; echo err >&2"' >/dev/null 2>&1
	is "$(roux logs b --result 2>/dev/null)" out
	is "$(roux logs b 0 2>/dev/null)" out
	is "$(roux logs b 0 2>&1 >/dev/null)" err
}

@test "logs -f shows what comes and ends with the run, idle in between" {
	mkfifo go
	detach a 'sh -c "echo one; cat go; echo two"'
	start logs -f a --result
	until_true contains out one
	until_true idle "$RUNNING"
	echo middle >go
	finish
	is "$status" 0
	is "$(paste -sd' ' out)" "one middle two"
}

@test "wait blocks without using the processor, then answers as run would" {
	mkfifo go
	detach a 'cat go'
	start wait a
	until_true test -e "$(state)/runs/a/stdout.log"
	until_true idle "$RUNNING"
	printf hello >go
	finish
	is "$status" 0
	is "$(cat out)" hello
}

@test "wait ends with the status of the run" {
	detach good 'echo x'
	detach bad 'sh -c "echo no >&2; exit 9"'
	detach over '["false", "echo y"]'
	detach mild '{"failure": "continue", "template": ["false", "echo y"]}'
	detach late '{"timeout": 50, "template": "sleep 20"}'
	run -0 --separate-stderr roux wait good
	is "$output" x
	run -1 --separate-stderr roux wait bad
	is "$output" ""
	has "$stderr" "failed with code 9"
	run -3 roux wait over
	run -0 roux wait over --tolerate
	run -0 roux wait mild
	run -3 roux wait mild --strict
	run -124 roux wait late
	is "$(roux wait bad --json | of_json 'd["status"], d["code"], d["stdout"], len(d["failures"])')" \
		"('failed', 9, '', 1)"
	is "$(roux wait good --json | of_json 'd["ok"], d["stdout"]')" "(True, 'x\\n')"
	quick run --as fore --json 'printf abc' >one
	roux wait fore --json >two
	is "$(of_json '{k: v for k, v in d.items() if k not in ("ended",)}' <two)" "$(of_json d <one)"
}

@test "output that JSON cannot hold is coded, output too large is named" {
	quick run --as a "printf '\\377\\376'" >/dev/null
	is "$(roux wait a --json | of_json 'd["stdout"], d["stdout_base64"]')" "(None, '//4=')"
	quick run --as b 'head -c 2000000 /dev/zero' >/dev/null
	file=$(roux wait b --json | of_json 'd["stdout_path"]')
	is "$(wc -c <"$file")" 2000000
}

# -- ending ---------------------------------------------------------------------------------------

@test "cancel returns when everything is gone; again it is refused" {
	detach a '{"parallel": true, "template": ["fork-setsid pids stay ignore", "ignore-term pids", "sleep 6000"]}'
	until_true lines_at_least pids 2
	roux cancel a --grace 100 --json >answer
	is "$(of_json 'd["ok"], d["status"]' <answer)" "(True, 'cancelled')"
	nobody_left
	is "$(member a 'd["status"], d["terminal_handled"]')" "('cancelled', 'run.cancel')"
	run -2 roux cancel a
	has "$output" "not running"
	run -2 roux kill a
	is "$(roux cancel a --json | of_json 'd["reason"]')" "not running"
	run -130 roux wait a
}

@test "kill does not ask" {
	detach a 'ignore-term pids'
	until_true lines_at_least pids 1
	run -0 roux kill a
	nobody_left
	is "$(member a 'd["status"], d["terminal_handled"], d["failures"]')" "('killed', 'run.kill', [])"
	run -137 roux wait a
}

@test "a graceful cancel lets commands finish and starts no more" {
	mkfifo go
	detach a '["cat go", "touch never"]'
	until_true contains "$(state)/runs/a/events.jsonl" command.start
	start cancel --graceful a
	until_true contains "$(state)/runs/a/events.jsonl" run.cancel
	lives "$RUNNING"
	echo x >go
	finish
	is "$status" 0
	[ ! -e never ]
	is "$(member a 'd["status"]')" cancelled
}

@test "an order can be given again: harder, or with less time" {
	detach a '["sleep 6000", "touch never"]'
	until_true contains "$(state)/runs/a/events.jsonl" command.start
	start cancel --graceful a
	until_true contains "$(state)/runs/a/events.jsonl" run.cancel
	run -0 roux cancel a
	finish
	is "$status" 0
	detach a 'ignore-term pids'
	until_true lines_at_least pids 1
	start cancel a --grace 86400000
	until_true contains "$(state)/runs/a/events.jsonl" run.cancel
	run -0 roux cancel a --grace 0
	finish
	is "$(member a 'd["status"]')" cancelled
	detach a 'ignore-term pids'
	until_true lines_at_least pids 2
	start cancel a --grace 86400000
	until_true contains "$(state)/runs/a/events.jsonl" run.cancel
	is "$(roux kill a --json | of_json 'd["status"]')" killed
	finish
	has "$(cat err)" "killed"
	is "$(member a 'd["status"], d["terminal_handled"]')" "('killed', 'run.kill')"
	nobody_left
}

@test "a stopped supervisor hears of it too" {
	detach a 'sleep 6000'
	until_true contains "$(state)/runs/a/events.jsonl" command.start
	kill -STOP "$(supervisor a)"
	run -0 roux cancel a
	is "$(member a 'd["status"]')" cancelled
	nobody_left
}

@test "a run whose supervisor was killed is exited, everywhere" {
	detach a 'sleep 6000'
	until_true contains "$(state)/runs/a/events.jsonl" command.start
	until_true test -e "$(state)/runs/a/progress.json" # it is made when a run has lasted a moment
	start wait a
	kill -KILL "$(supervisor a)"
	finish
	is "$status" 1
	has "$(cat err)" "roux resume a"
	is "$(member a 'd["status"], d["progress"]["phase"], d["pid"]')" "('exited', 'exited', None)"
	has "$(cat "$(state)/runs/a/progress.json")" exited
	is "$(roux runs --json | of_json 'd["runs"][0]["status"]')" exited
	run -2 roux cancel a
	nobody_left
}

@test "a stranger that has the number of the supervisor is never signalled" {
	detach a 'sleep 6000'
	until_true contains "$(state)/runs/a/events.jsonl" command.start
	kill -KILL "$(supervisor a)"
	until_true runs_ended a
	sleep 6000 3>&- &
	stranger=$!
	rm "$(state)"/ledger.db* "$(state)/runs/a/.alive"
	sed -i "s/\"pid\": [0-9]*/\"pid\": $stranger/" "$(state)/runs/a/run.json"
	for order in cancel kill; do run -2 roux $order a; done
	is "$(member a 'd["status"]')" exited
	# Even while another process holds the lock: the identity is compared before any signal.
	flock --no-fork "$(state)/runs/a/.alive" sleep 6000 3>&- &
	holder=$!
	until_true sh -c "! flock -n '$(state)/runs/a/.alive' true"
	run -2 roux kill a
	has "$output" "pid owner mismatch"
	lives "$stranger"
	kill "$stranger" "$holder"
}

# -- who may --------------------------------------------------------------------------------------

@test "another session is refused, the operator is not" {
	ROUX_OWNER=one detach a 'sleep 6000'
	for command in status logs cancel kill archive prune; do
		ROUX_OWNER=two run -2 roux "$command" a
		has "$output" "session 'one'"
	done
	is "$(ROUX_OWNER=two roux status a --json | of_json 'd["reason"]')" session_mismatch
	is "$(member a 'd["status"], d["owner"]')" "('running', 'one')"
	ROUX_OWNER=one run -0 roux status a
	run -0 roux cancel a
}

# -- putting away ---------------------------------------------------------------------------------

@test "archive moves a run out of the list and frees its id" {
	quick run --as a 'echo x' >/dev/null
	path=$(roux archive a)
	is "$(cat "$path/stdout.log")" x
	has "$(cat "$(state)/runs/a/archive-tombstone.json")" "$path"
	run -2 roux status a
	has "$output" "$path"
	is "$(roux runs --json)" '{"runs":[]}'
	quick run --as a 'echo y' >/dev/null
	is "$(roux logs a --result 2>/dev/null)" y
}

@test "prune deletes a run and keeps its artifacts" {
	quick run --as a --artifact r=report.md --template 'sh -c "printf hello > report.md"' >/dev/null
	roux prune a --preserve-artifacts --json >answer
	file=$(of_json 'd["preserved"]["r"]' <answer)
	is "$(cat "$file")" hello
	[ ! -e "$(state)/runs/a" ]
	run -2 roux status a
}

@test "who has waited can delete the run or start it again at once" {
	for i in 1 2 3 4 5 6 7 8; do
		detach a 'echo x'
		roux wait a >/dev/null
		case $i in *[147]) roux prune a ;; *[258]) roux archive a >/dev/null ;; esac
	done
}

@test "a live run is neither archived nor pruned" {
	detach a 'sleep 6000'
	run -2 roux archive a
	run -2 roux prune a
	is "$(roux prune a --json | of_json 'd["status"], d["reason"]')" "('refused', 'running')"
	is "$(member a 'd["status"]')" running
	roux kill a
}

@test "a live run refuses with one document, whatever was asked for" {
	local command want="(False, 'refused', 'live', \"run 'live' is running\", 'running')"
	detach live 'sleep 6000'
	for command in "run --as live --template true" "resume live" "archive live" "prune live" "rerun live"; do
		# shellcheck disable=SC2086 # words
		run -2 roux $command --json
		is "$command: $(of_json 'd["ok"], d["status"], d["run"], d["error"], d["reason"]' <<<"$output")" "$command: $want"
		is "$command: $(of_json 'list(d)' <<<"$output")" "$command: ['ok', 'status', 'run', 'error', 'reason', 'hint']"
	done
	is "$(member live 'd["status"]')" running
	roux kill live
}

@test "prune without a run deletes only by the limits, and only with --yes" {
	for i in 1 2 3; do quick run --as "r$i" 'true x'; done
	quick run --as bad 'false x' || true
	run -0 roux prune
	has "$output" "[retention]"
	mkdir -p "$HOME/.config/roux"
	printf '[retention]\nmax_runs = 1\n' >"$HOME/.config/roux/config.toml"
	run -0 roux prune
	has "$output" "2 runs are past the limits"
	is "$(roux runs --json | of_json 'len(d["runs"])')" 4
	run -0 roux prune --yes
	is "$(roux runs --json | of_json '[r["run"] for r in d["runs"]]')" "['bad', 'r3']"
	is "$(find "$(state)/runs" -mindepth 1 -maxdepth 1 -type d | wc -l)" 2
}

# -- when things are broken -----------------------------------------------------------------------

@test "the ledger made anew has the same list" {
	quick run --as a 'true x'
	sleep 0.01
	quick run --as b 'false x' || true
	sleep 0.01
	detach c 'sleep 6000'
	until_true contains "$(state)/runs/c/events.jsonl" command.start
	roux cancel c
	roux runs --json >before
	run -0 roux doctor --rebuild
	roux runs --json >after
	cmp before after
	is "$(member c 'd["terminal_handled"]')" run.cancel
}

@test "a damaged ledger: runs are found all the same, doctor says what to do" {
	quick run --as a 'echo x' >/dev/null
	head -c 20000 /dev/urandom >"$(state)/ledger.db"
	rm -f "$(state)"/ledger.db-*
	run -0 --separate-stderr roux runs
	has "$output" "a  "
	has "$stderr" "doctor --rebuild"
	is "$(roux logs a --result 2>/dev/null)" x
	run -1 roux doctor
	has "$output" "doctor --rebuild"
	run -0 roux doctor --rebuild
	run -0 --separate-stderr roux runs
	is "$stderr" ""
}

@test "a ledger that breaks off or has lost everything: the directories answer" {
	quick run --as a 'echo x' >/dev/null
	quick run --as b 'echo y' >/dev/null
	python3 - "$(state)/ledger.db" <<-'END'
		import sqlite3, sys
		db = sqlite3.connect(sys.argv[1])
		db.execute("ALTER TABLE run RENAME TO gone")
		db.commit()
	END
	run -0 --separate-stderr roux runs --json
	is "$(of_json '[r["run"] for r in d["runs"]]' <<<"$output")" "['b', 'a']"
	has "$stderr" "doctor --rebuild"
	run -0 --separate-stderr roux status a
	has "$output" "a: done"
	rm -f "$(state)"/ledger.db*
	: >"$(state)/ledger.db"
	run -0 --separate-stderr roux runs --json
	is "$(of_json '[r["run"] for r in d["runs"]]' <<<"$output")" "['b', 'a']"
	has "$stderr" "doctor --rebuild"
}

@test "a ledger that was lost hides no run when the next one has begun" {
	run -0 --separate-stderr roux runs
	is "$stderr" ""
	quick run --as a 'echo x' >/dev/null
	quick run --as b 'echo y' >/dev/null
	rm -f "$(state)"/ledger.db*
	run -0 --separate-stderr roux runs --json
	is "$(of_json '[r["run"] for r in d["runs"]]' <<<"$output")" "['b', 'a']"
	has "$stderr" "ledger.db is missing"
	has "$stderr" "doctor --rebuild"
	[ ! -e "$(state)/ledger.db" ]
	quick run --as c 'echo z' >/dev/null
	run -0 --separate-stderr roux runs --json
	is "$(of_json '[r["run"] for r in d["runs"]]' <<<"$output")" "['c', 'b', 'a']"
	has "$stderr" "lacks 2 runs"
	has "$stderr" "doctor --rebuild"
	run -0 roux doctor --rebuild
	run -0 --separate-stderr roux runs --json
	is "$(of_json '[r["run"] for r in d["runs"]]' <<<"$output")" "['c', 'b', 'a']"
	is "$stderr" ""
	# The same when an older copy was put back.
	cp "$(state)/ledger.db" old
	quick run --as d 'echo z' >/dev/null
	rm -f "$(state)"/ledger.db*
	cp old "$(state)/ledger.db"
	quick run --as e 'echo z' >/dev/null
	run -0 --separate-stderr roux runs --json
	is "$(of_json '[r["run"] for r in d["runs"]]' <<<"$output")" "['e', 'd', 'c', 'b', 'a']"
	has "$stderr" "lacks 1 run"
	# Once they are gone there is nothing to tell any more.
	rm -r "$(state)/runs/d"
	run -0 --separate-stderr roux runs
	is "$stderr" ""
}

@test "a ledger that was lost hides no run whose name was used again" {
	for id in a b a; do quick run --as $id "echo $id" >/dev/null; done
	rm -f "$(state)"/ledger.db*
	quick run --as a 'echo z' >/dev/null
	run -0 --separate-stderr roux runs --generations --json
	is "$(of_json '[r["run"] for r in d["runs"]]' <<<"$output")" "['a', 'a~1', 'b', 'a~2']"
	has "$stderr" "lacks 3 runs"
	has "$stderr" "doctor --rebuild"
	run -1 roux doctor
	has "$output" "3 run directories are not in the ledger"
	# Also when there is nothing else that it lacks.
	rm -r "$(state)/runs/b" "$(state)/runs/a/generations/1"
	run -0 --separate-stderr roux runs
	has "$stderr" "lacks 1 run"
	run -0 roux doctor --rebuild
	run -0 --separate-stderr roux runs --generations --json
	is "$(of_json '[r["run"] for r in d["runs"]]' <<<"$output")" "['a', 'a~1']"
	is "$stderr" ""
	run -0 roux doctor
	# An older copy does not know the generation in between, …
	cp "$(state)/ledger.db" old
	quick run --as a 'false x' || true
	quick run --as c 'echo c' >/dev/null
	rm -f "$(state)"/ledger.db*
	cp old "$(state)/ledger.db"
	quick run --as a 'echo last' >/dev/null
	run -0 --separate-stderr roux runs --generations --json
	is "$(of_json '[(r["run"], r["status"]) for r in d["runs"]]' <<<"$output")" \
		"[('a', 'done'), ('c', 'done'), ('a~1', 'failed'), ('a~2', 'done'), ('a~3', 'done')]"
	has "$stderr" "lacks 2 runs"
	# … and no ledger one that was copied to its place before the name was used.
	mv "$(state)/runs/c" kept
	run -0 roux doctor --rebuild
	mv kept "$(state)/runs/c"
	quick run --as c 'echo new' >/dev/null
	run -0 --separate-stderr roux runs --generations --json
	is "$(of_json '[r["run"] for r in d["runs"]][:2]' <<<"$output")" "['c', 'a']"
	has "$(of_json '[r["run"] for r in d["runs"]]' <<<"$output")" "c~1"
	has "$stderr" "lacks 1 run"
}

@test "prune with a selection sees the runs that a lost or partial ledger lacks" {
	local lost
	quick run --as a 'echo x' >/dev/null
	quick run --as b 'false x' || true
	quick run --as put 'echo x' >/dev/null
	roux archive put >/dev/null
	for lost in missing empty; do
		rm -f "$(state)"/ledger.db*
		[ $lost = missing ] || : >"$(state)/ledger.db"
		run -0 --separate-stderr roux prune --older-than 1ms
		is "$(cut -d' ' -f1,3 <<<"$output")" "a done
1 --yes"
		has "$stderr" "ledger.db is $lost"
		has "$stderr" "doctor --rebuild"
		run -0 --separate-stderr roux prune --status failed --json
		is "$(of_json '[r["run"] for r in d["runs"]], d["deleted"]' <<<"$output")" "(['b'], 0)"
		has "$stderr" "ledger.db is $lost"
	done
	quick run --as c 'echo x' >/dev/null
	run -0 --separate-stderr roux prune --older-than 1ms --yes
	is "$(cut -d' ' -f1,3 <<<"$output")" "c done
a done
2 deleted."
	has "$stderr" "lacks 2 runs"
	has "$stderr" "doctor --rebuild"
	is "$(ls "$(state)/runs")" "b
put"
	# Without any ledger too, and then there is nothing to say any more.
	rm -f "$(state)"/ledger.db*
	run -0 --separate-stderr roux prune --status failed --yes
	is "$(tail -n 1 <<<"$output")" "1 run deleted."
	[ ! -e "$(state)/runs/b" ]
	run -0 --separate-stderr roux prune --status failed
	is "$output$stderr" "No matching run can be deleted."
}

@test "a ledger that is lost is told by what finds a run and by the next start, once" {
	local command
	run -0 --separate-stderr quick run --as a 'echo x'
	is "$stderr" ""
	run -0 --separate-stderr roux status a
	is "$stderr" ""
	for command in 'status a' 'status --json a' 'wait a' 'logs a' 'report a' 'resume -q a' 'rerun -q --all a' \
		'run -q --template true' 'run --json -q --template true' 'run -q --detach --as d --template true' 'prune d a'; do
		rm -f "$(state)"/ledger.*
		# shellcheck disable=SC2086  # words
		run -0 --separate-stderr roux $command
		is "$(grep -c 'ledger.db is missing' <<<"$stderr")" 1
		is "$(grep -c 'doctor --rebuild' <<<"$stderr")" 1
		case $command in *--json*) of_json 'd' <<<"$output" >/dev/null ;; esac
		[ ! -d "$(state)/runs/d" ] || roux wait d >/dev/null 2>&1
	done
	rm -f "$(state)"/ledger.*
	run -0 --separate-stderr roux run --silent --as s --template true
	is "$output$stderr" ""
	rm -f "$(state)"/ledger.*
	quick run --as e 'echo x' >/dev/null 2>&1
	for command in 'run -q --template true' 'status e'; do
		# shellcheck disable=SC2086  # words
		run -0 --separate-stderr roux $command
		is "$stderr" ""
	done
}

@test "a state root that cannot be read is an error, not an empty list" {
	mkdir -p "$(state)"
	: >"$(state)/runs"
	run ! --separate-stderr roux runs --json
	is "$(of_json 'd["ok"], "runs" in d' <<<"$output")" "(False, False)"
	run ! --separate-stderr roux runs
	has "$stderr" "cannot read"
}

@test "what a killed writer has left is cleaned up" {
	detach a 'sleep 6000'
	until_true contains "$(state)/runs/a/events.jsonl" command.start
	kill -KILL "$(supervisor a)"
	until_true runs_ended a
	touch -d '1 minute ago' "$(state)/runs/a/.roux-0123456789abcdef"
	touch "$(state)/runs/a/.roux-fedcba9876543210"
	roux status a >/dev/null
	[ ! -e "$(state)/runs/a/.roux-0123456789abcdef" ]
	# It may be that of a process that writes just now.
	[ -e "$(state)/runs/a/.roux-fedcba9876543210" ]
	roux resume -d a >/dev/null
	[ ! -e "$(state)/runs/a/.roux-fedcba9876543210" ]
	roux kill a
}

@test "a resume ends what a killed run has left, not what a command left on purpose" {
	# shellcheck disable=SC2016
	leave='{"failure": "branch", "template": "sh -c \"setsid sleep 300 >/dev/null 2>&1 </dev/null & echo $! >>pids; exit 3\""}'
	run -1 roux run --as a -q "$leave"
	until_true lines_at_least pids 1
	first=$(head -n 1 pids)
	run -1 roux resume a -q
	lives "$first"
	detach b '["sh -c \"setsid sleep 300 >/dev/null 2>&1 </dev/null & echo $! >late\"", "sleep 6000"]'
	until_true lines_at_least late 1
	until_true contains "$(state)/runs/b/leaves.jsonl" '"p":"1"'
	kill -KILL "$(supervisor b)"
	until_true runs_ended b
	run -0 roux resume b -d
	ended "$(cat late)"
	roux kill b
}

@test "latest never leads to a run that is gone" {
	for i in 1 2 3; do quick run --as "r$i" 'true x'; done
	is "$(readlink "$(state)/runs/latest")" r3
	roux prune r2
	is "$(readlink "$(state)/runs/latest")" r3
	roux archive r3 >/dev/null
	is "$(readlink "$(state)/runs/latest")" r1
	roux prune r1
	[ ! -L "$(state)/runs/latest" ]
}

@test "runs on another disk, behind a link, can be put away" {
	mkdir -p "$(state)" far
	ln -s "$PWD/far" "$(state)/runs"
	quick run --as a 'true x'
	quick run --as b 'true x'
	run -0 roux archive a
	run -0 roux prune b
	[ ! -e far/b ]
}

@test "a thousand failures after which the run continued do not hide the last one" {
	cat >many.json <<-'END'
		{"failure": "branch", "template": [
		  {"failure": "continue", "repeat": 1010, "template": "sh -c 'exit 3'"},
		  "cp wanted copy", "echo fine"]}
	END
	quick run --as a many.json >/dev/null 2>&1 || true
	is "$(of_json 'd["failed_node"], d["failures_total"]' <"$(state)/runs/a/result.json")" "('1', 1011)"
	has "$(member a 'd["error"]')" "node 1 failed"
	: >wanted
	run -0 --separate-stderr roux resume a --progress=plain
	is "$output" fine
	is "$(grep -c ' start ' <<<"$stderr")" 2
	quick run --as b '[{"failure": "continue", "repeat": 1010, "template": "sh -c \"exit 3\""}, "false x", "echo y"]' \
		>/dev/null 2>&1 || true
	run -3 --separate-stderr roux wait b
	has "$stderr" "and 991 more failures"
}

@test "damaged files of a run are told and do no harm" {
	quick run --as a 'echo x' >/dev/null
	quick run --as b 'echo y' >/dev/null
	echo '{"phase":' >"$(state)/runs/a/progress.json"
	echo '[1]' >"$(state)/runs/a/result.json"
	printf '\377\0\n{"type"' >"$(state)/runs/a/events.jsonl"
	run -0 --separate-stderr roux status a
	has "$stderr" "result.json is damaged"
	run -0 roux status b
	echo nonsense >"$(state)/runs/a/run.json"
	run -0 roux status a
	run -0 roux doctor --rebuild
	is "$(roux runs --json 2>/dev/null | of_json '[r["run"] for r in d["runs"]]')" "['b', 'a']"
}

@test "doctor tells of runs that died, of directories it does not know and of what is left" {
	detach a 'sleep 6000'
	until_true contains "$(state)/runs/a/events.jsonl" command.start
	kill -KILL "$(supervisor a)"
	until_true ended "$(sed -n 's/.*"pid": \([0-9]*\).*/\1/p' "$(state)/runs/a/run.json")"
	run -1 roux doctor
	has "$output" "its supervisor is gone"
	mkdir "$(state)/runs/.pruned-x"
	run -1 roux doctor
	has "$output" ".pruned-x"
	rmdir "$(state)/runs/.pruned-x"
	run -0 roux doctor
	has "$output" "info: a: it ended without a result"
}

@test "doctor tells when any user can write to the state root" {
	quick run --as a 'true x'
	run -0 roux doctor
	chmod 777 "$(state)/runs"
	run -1 roux doctor
	has "$output" "chmod go-w $(state)/runs"
}

@test "a document of a run names the run's own file when the output is long" {
	quick run --json --as a 'head -c 1048577 /dev/zero' >answer
	is "$(of_json 'd["stdout"], d["stdout_path"]' <answer)" "(None, '$(state)/runs/a/stdout.log')"
	is "$(roux wait a --json | of_json 'd["stdout_path"]')" "$(state)/runs/a/stdout.log"
	is "$(ls "$TMPDIR")" ""
}

@test "a node that the run has not is refused" {
	quick run --as a '["true x", "echo y"]' >/dev/null
	run -2 roux rerun a --from nope --json
	is "$(of_json 'd["status"], d["reason"]' <<<"$output")" "('refused', 'no such node')"
}

@test "a link in the place of a run is not a run and is not followed" {
	mkdir outside
	echo precious >outside/file
	quick run --as a 'true x'
	ln -s "$PWD/outside" "$(state)/runs/evil"
	ln -s "$PWD/outside" "$(state)/runs/a/inside"
	run -2 roux prune evil
	run -0 roux prune a
	is "$(cat outside/file)" precious
}

@test "events that have grown to 64 MiB go on in a new file, and their numbers too" {
	detach a '["sleep 6000"]'
	until_true contains "$(state)/runs/a/events.jsonl" command.start
	kill -KILL "$(supervisor a)"
	until_true ended "$(sed -n 's/.*"pid": \([0-9]*\).*/\1/p' "$(state)/runs/a/run.json")"
	local count
	count=$(wc -l <"$(state)/runs/a/events.jsonl")
	python3 -c 'import sys
for n in range(64): sys.stdout.write("{\"seq\":%d,\"ts\":\"\",\"type\":\"x\",\"pad\":\"%s\"}\n" % (int(sys.argv[1]) + n + 1, "x" * 1048600))' "$count" >>"$(state)/runs/a/events.jsonl"
	roux resume a --detach >/dev/null
	until_true contains "$(state)/runs/a/events.jsonl" command.start
	run -0 roux kill a
	run -0 head -n 2 "$(state)/runs/a/events.jsonl"
	has "${lines[0]}" '"type":"log.rotated"'
	has "${lines[1]}" "\"seq\":$((count + 65)),"
	is "$(stat -c %a "$(state)/runs/a/events.1.jsonl")" 600
}

@test "rerun --foreground stays attached, whatever else was asked for" {
	quick run -q --as first '["echo a","echo b"]'
	is "$(quick rerun -q --from 1 --detach --foreground first)" b
}

# -- failures while it runs -----------------------------------------------------------------------

@test "each attempt that failed has its own standard error, also while the run continues" {
	cat >s.sh <<-'END'
		#!/bin/sh
		echo x >>tries
		[ "$(wc -l <tries)" -gt 1 ] && echo two >&2 || echo one >&2
		exit 5
	END
	chmod +x s.sh
	mkfifo hold
	detach live '{"template":[{"failure":"continue","retry":2,"template":"./s.sh"},"cat hold"]}'
	until_true lines_at_least "$(state)/runs/live/leaves.jsonl" 5
	local both='[(f["attempt"], f["stderr"]) for f in d["failures"]]'
	until_true attempts_told live
	is "$(member live "$both")" "[(1, 'one\\n'), (2, 'two\\n')]"
	is "$(member live 'd["status"]')" running
	echo x >hold
	roux wait live >/dev/null || true
	is "$(member live "$both")" "[(1, 'one\\n'), (2, 'two\\n')]"
}

attempts_told() { # RUN: both failures have come to the document
	[ "$(member "$1" 'len(d["failures"])')" = 2 ]
}

@test "prune --preserve-artifacts deletes nothing when it cannot preserve them" {
	local dir damage
	dir=$(state)/runs/it
	echo '{"artifacts": {"a": "made", "b": "more"}, "template": "sh -c \"echo a >made; echo b >more\""}' >r.json
	# shellcheck disable=SC2016
	for damage in 'echo broken >$dir/run.json' 'rm $dir/run.json' ': >$dir/run.json' 'echo {} >$dir/run.json' \
		'sed -i "s/\"made\"/[1]/" $dir/run.json' 'rm more && mkfifo more' 'echo broken >$dir/result.json' \
		'rm $dir/result.json && mkdir $dir/result.json' 'echo "{}" >$dir/result.json'; do
		rm -rf made more
		asks 0 run -q --as it ./r.json
		eval "$damage"
		asks 2 prune it --preserve-artifacts
		contains err 'nothing was deleted'
		[ -d "$dir" ]
		[ ! -e "$(state)/preserved-artifacts/it" ]
	done
	rm -rf more
	asks 0 run -q --as it ./r.json
	asks 0 prune it --preserve-artifacts
	is "$(cat "$(state)"/preserved-artifacts/it/*)" "a
b"
}

@test "prune --preserve-artifacts says what it does not copy" {
	echo '{"artifacts": {"a": "made", "b": "dangling"}, "template": "sh -c \"mkdir made; mkfifo made/fifo; echo a >made/a; ln -s nowhere dangling\""}' >r.json
	asks 0 run -q --as it ./r.json
	asks 0 prune it --preserve-artifacts
	contains err "not preserved of the artifact 'a' ($PWD/made): 1 entry that is neither a file nor a directory"
	contains err "not preserved: the artifact 'b' ($PWD/dangling) is a link to nothing"
	is "$(cat "$(state)"/preserved-artifacts/it/made/*)" a
}

# The ledger refuses to forget a run.
stubborn_ledger() {
	python3 - "$(state)/ledger.db" <<-'PY'
		import sqlite3, sys
		db = sqlite3.connect(sys.argv[1])
		for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
		    for event in ("DELETE", "UPDATE"):
		        db.execute(f"CREATE TRIGGER no_{event}_{table} BEFORE {event} ON {table} BEGIN SELECT RAISE(ABORT, 'no'); END")
		db.commit()
	PY
}

@test "prune deletes nothing when the ledger cannot be written" {
	local id
	echo '{"artifacts": {"a": "made"}, "template": "sh -c \"echo a >made\""}' >r.json
	for id in one two; do
		asks 0 run -q --as "$id" ./r.json
	done
	stubborn_ledger
	asks 1 prune one
	contains err "'one' was not deleted"
	asks 1 prune one --preserve-artifacts
	contains err "'one' was not deleted"
	[ ! -e "$(state)/preserved-artifacts/one" ]
	asks 1 prune --status 'done' --yes
	is "$(grep -c 'error:' err)" 1
	head -c 20000 /dev/urandom >"$(state)/ledger.db"
	rm -f "$(state)"/ledger.db-*
	asks 1 prune one
	contains err "'one' was not deleted"
	for id in one two; do
		[ -f "$(state)/runs/$id/result.json" ]
	done
	asks 0 doctor --rebuild
	asks 0 prune one two
	[ ! -e "$(state)/runs/one" ]
}

@test "prune deletes the generations that were chosen, also when their times are in another order" {
	for n in 1 2 3; do asks 0 run -q --as it "echo $n"; done
	local dir
	dir=$(state)/runs/it
	find "$dir/generations/2" -name '*.json' -exec sed -i -E 's/[0-9]{4}-[0-9]{2}-[0-9]{2}T/2020-10-10T/g' {} +
	find "$dir" -maxdepth 1 -name '*.json' -exec sed -i -E 's/[0-9]{4}-[0-9]{2}-[0-9]{2}T/2020-10-01T/g' {} +
	rm "$(state)"/ledger.*
	asks 0 prune --older-than 10d --yes
	# The one of today is never among them.
	grep -rqx 1 "$(state)/runs" --include=stdout.log --include='*.out'
}
