# A run with failures looks like one, at every door (daily-use.md section 1).

load common

# Two commands fail, one of them three times; one is tolerated, one succeeds in its second attempt.
mixed() {
	cat >mixed.json <<'X'
[
  {"label": "flaky", "retry": 2, "template": "sh -c 'test -e seen && exit; touch seen; exit 9'"},
  {"label": "meh", "failure": "continue", "template": "sh -c 'exit 4'"},
  {"label": "bad", "retry": 3, "template": "sh -c 'exit 5'"},
  "sh -c 'exit 6'",
  "echo end"
]
X
	asks 3 run --as mixed @mixed.json
}

document() { # COMMAND...: failed, tolerated and exit of its document
	roux "$@" --json | of_json '[d["failed"], d["tolerated"], d["exit"]]'
}

@test "commands are counted, not attempts, and every document has the same numbers" {
	mixed
	is "$(document status mixed)" '[2, 1, 3]'
	is "$(roux wait mixed --json | of_json '[d["failed"], d["tolerated"], d["exit"], d["code"]]')" '[2, 1, 3, 0]'
	is "$(roux runs --json | of_json '[[r["status"], r["failed"], r["tolerated"], r["exit"]] for r in d["runs"]]')" "[['done', 2, 1, 3]]"
	is "$(roux status mixed --json | of_json '[d["status"], d["failures_total"]]')" "['done', 6]"
	rm -f seen
	is "$(roux run @mixed.json --json | of_json '[d["failed"], d["tolerated"], d["exit"]]')" '[2, 1, 3]'
	is "$(document status "$(roux runs --json | of_json 'd["runs"][0]["run"]')")" '[2, 1, 3]'
}

@test "the last lines of run name the run, what became of it and what to type" {
	mixed
	is "$(tail -3 err)" "roux: mixed: done, 2 failed (4 attempts; exit status 3, --tolerate makes it 0)
  see    roux logs mixed 2
  again  roux rerun mixed"
	asks 3 wait mixed
	has "$(tail -3 err)" 'roux: mixed: done, 2 failed (4 attempts; exit status 3, --tolerate makes it 0)'
	asks 0 wait --tolerate mixed
	has "$(cat err)" 'roux: mixed: done, 2 failed (4 attempts; exit status 0 by --tolerate)'
	asks 1 run --as broken '["echo a",{"label":"deploy","failure":"root","template":"sh -c \"exit 7\""},"echo b"]'
	is "$(tail -3 err)" "roux: broken: failed at 1 'deploy' (exit 7)
  see    roux logs broken 1
  again  roux resume broken"
	asks 0 run --as fine 'echo x'
	is "$(grep -c again err)" 0
}

@test "status, list, report and picture say it in the same words" {
	mixed
	asks 0 status mixed
	is "$(head -1 out)" 'mixed: done, 2 failed (4 attempts; exit status 3, --tolerate makes it 0)'
	has "$(cat out)" '2 commands failed (4 attempts), 1 tolerated'
	has "$(cat out)" 'roux logs mixed 2'
	has "$(cat out)" 'roux rerun mixed'
	is "$(grep -c flaky out)" 0
	asks 0 runs
	has "$(cat out)" 'done, 2 failed '
	asks 0 report mixed
	page=$(cat "$(cat out)" 2>/dev/null || cat out)
	has "$page" 'is-tolerated">done, 2 failed</span></h1>'
	has "$page" '<title>mixed · done, 2 failed</title>'
	has "$page" '<dt>Exit status</dt><dd>3</dd>'
	has "$page" '<title id="graph-title">done, 2 failed</title>'
	asks 0 graph run:mixed --format dot
	has "$(cat out)" 'mixed: done, 2 failed'
}

@test "a run with tolerated failures only says so and ends well" {
	asks 0 run --as soft '[{"failure":"continue","template":"false"},"echo x"]'
	is "$(tail -1 err)" 'roux: soft: done, 1 tolerated'
	is "$(document status soft)" '[0, 1, 0]'
	asks 0 runs
	has "$(cat out)" 'done, 1 tolerated'
	asks 0 status soft
	is "$(head -1 out)" 'soft: done, 1 tolerated'
	asks 3 run --strict '[{"failure":"continue","template":"false"},"echo x"]'
	has "$(cat err)" 'done, 1 tolerated (exit status 3 by --strict)'
}

@test "a run without a record says how many commands failed" {
	asks 3 exec '["false","echo x"]'
	is "$(tail -1 err)" 'roux: finished, but 1 command failed (exit status 3; --tolerate makes it 0)'
	asks 3 exec '[{"retry":2,"template":"false"},"false","echo x"]'
	is "$(tail -1 err)" 'roux: finished, but 2 commands failed (3 attempts; exit status 3, --tolerate makes it 0)'
}

@test "a killed run and one under way are counted too" {
	detach slow '["false",{"failure":"continue","template":"false"},"echo x","sh -c \"touch up; sleep 100; true\""]'
	until_true test -e up
	counted() { [ "$(document status slow)" = '[1, 1, None]' ]; }
	until_true counted
	has "$(roux runs)" 'running, 1 failed'
	kill -KILL "$(supervisor slow)"
	gone() { [ "$(roux status slow --json | of_json 'd["status"]')" = exited ]; }
	until_true gone
	is "$(document status slow)" '[1, 1, 1]'
	is "$(roux runs --json | of_json '[d["runs"][0]["failed"], d["runs"][0]["exit"]]')" '[1, 1]'
	roux kill slow 2>/dev/null || true
}

@test "runs that ended before failures were counted are counted when they are listed" {
	command -v sqlite3 >/dev/null || python3 -c 'import sqlite3'
	mixed
	python3 - "$(state)/ledger.db" "$(state)/runs/mixed/result.json" <<'X'
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE run SET failed = NULL, tolerated = NULL, exit = NULL")
db.commit()
d = json.load(open(sys.argv[2]))
for name in ("failed", "tolerated", "exit"):
    del d[name]
json.dump(d, open(sys.argv[2], "w"))
X
	is "$(roux runs --json | of_json '[d["runs"][0]["failed"], d["runs"][0]["exit"]]')" '[2, 3]'
	is "$(python3 -c 'import sqlite3,sys; print(sqlite3.connect(sys.argv[1]).execute("SELECT failed, exit FROM run").fetchall())' "$(state)/ledger.db")" '[(2, 3)]'
	is "$(roux wait mixed --json | of_json 'd["failed"]')" 2
}

@test "resume of a complete run starts nothing and names the rerun" {
	mixed
	cp "$(state)/runs/mixed/leaves.jsonl" before
	asks 3 resume mixed
	is "$(cat out)" end
	is "$(cat err)" 'roux: mixed: done, 2 failed: nothing was started; `roux rerun mixed` runs what failed again'
	cmp before "$(state)/runs/mixed/leaves.jsonl"
	asks 0 run --as fine 'echo y'
	asks 0 resume fine
	is "$(cat out)" y
	is "$(cat err)" 'roux: fine: done: nothing was started; `roux rerun fine` runs it again'
}

# -- on a terminal --------------------------------------------------------------------------------

tm() {
	tmux -L "e2e-$$" -f /dev/null "$@"
}

screen() {
	tm capture-pane -p | sed -e 's/ *$//' -e '/./,$!d'
}

shows() {
	screen | grep -qE -- "$1"
}

@test "on a terminal a failed branch stays in the tree, and one line stays after it" {
	command -v tmux >/dev/null || skip "no tmux here"
	cat >t.json <<'X'
{"parallel":true,"template":[
  ["true",{"failure":"branch","label":"compile","template":"sh -c 'exit 5'"}],
  {"label":"wait","template":"sh -c 'until test -e go; do sleep 0.05; done'"}]}
X
	tm new-session -d -x 80 -y 24 "env TERM=screen LC_ALL=C.UTF-8 sh -c '$ROUX run --as live @t.json; echo status=\$?; exec sleep 100'"
	until_true shows 'compile.*exit 5'
	until_true shows 'wait'
	touch go
	until_true shows 'status=3'
	screen >after
	tm kill-server 2>/dev/null || true
	cat after
	is "$(grep -c 'running 1' after)" 0
	grep -E 'roux: live: done, 1 failed in .*, 3 commands' after
	grep -F 'roux: live: done, 1 failed (exit status 3; --tolerate makes it 0)' after
	grep -F 'again  roux rerun live' after
}

@test "on a small terminal failed branches that do not fit are folded, with their number" {
	command -v tmux >/dev/null || skip "no tmux here"
	echo '{"parallel":true,"template":[{"label":"wait","template":"sh -c '"'until test -e go; do sleep 0.05; done'"'"},
	  {"parallel":true,"repeat":30,"label":"part","template":"sh -c '"'exit 5'"'"}]}' >t.json
	tm new-session -d -x 80 -y 12 "env TERM=screen LC_ALL=C.UTF-8 sh -c '$ROUX run --as live @t.json; echo status=\$?; exec sleep 100'"
	all_are_told() {
		screen >during
		hidden=$(sed -n 's/.* \([0-9]*\) more failed.*/\1/p' during)
		[ "${hidden:-0}" -gt 0 ] && [ $((hidden + $(grep -c 'exit 5' during))) -eq 30 ]
	}
	until_true all_are_told
	touch go
	until_true shows 'status='
	tm kill-server 2>/dev/null || true
	cat during
	[ "$(wc -l <during)" -le 12 ]
	grep -q wait during
}

@test "on a terminal failures have the colour of a warning, and NO_COLOR is honoured" {
	mixed
	yellow=$(printf '\033[33m')
	on-terminal log '' '' env TERM=xterm "$ROUX" runs </dev/null
	has "$(cat log)" "${yellow}done, 2 failed"
	on-terminal log '' '' env TERM=xterm "$ROUX" status mixed </dev/null
	has "$(cat log)" "${yellow}done, 2 failed"
	on-terminal log '' '' env TERM=xterm "$ROUX" wait mixed </dev/null || true
	has "$(cat log)" "${yellow}done, 2 failed"
	on-terminal log '' '' env TERM=xterm NO_COLOR=1 "$ROUX" runs </dev/null
	is "$(grep -cF "$yellow" log)" 0
}

@test "a command that failed in several attempts is reported once" {
	asks 1 run --as one '{"retry":3,"template":"sh -c \"exit 4\""}' --template
	has "$(cat err)" "[0] failed with code 4 in 3 attempts: sh -c 'exit 4'"
	is "$(grep -c 'roux: \[' err)" 1
	asks 1 run --as two '{"retry":2,"failure":"branch","template":["true","false"]}' --template
	has "$(cat err)" "[1] failed with code 1 in 2 attempts: false"
}

@test "an item is named beside a label that only has its letters" {
	asks 0 exec --progress=plain '{"defaults":{"l":["a","each b"]},"parallel":true,"repeat":"{l.length}","label":"each","template":"true"}'
	has "$(cat err)" "[r0 each a] start"
	asks 0 exec --progress=plain '{"defaults":{"l":["a"]},"parallel":true,"repeat":"{l.length}","label":"do {l[index]}","template":"true"}'
	has "$(cat err)" "[r0 do a] start"
}

@test "a mistake in the recipe has its place, and the file to run once it is fixed" {
	printf '%s\n' 'name: bad' 'description: d' 'version: 1.0.0' 'context: {n: [1]}' 'steps:' \
		'  - {id: l, condition: "{{n}} == x", command: "echo hi", type: bash}' >bad.yaml
	asks 1 run bad.yaml --as it
	contains err '  see    bad.yaml:6:'
	contains err "  again  roux run $BASE/work/bad.yaml  # once it is fixed"
	if grep -q 'roux resume\|roux logs' err; then false; fi
	asks 0 status it
	grep -q '^  see  *bad.yaml:6:' out
	grep -q "^  again  *roux run $BASE/work/bad.yaml" out
	sed -i 's/ == x/ is fine/; s/condition: .*, command/command/' bad.yaml
	asks 1 rerun it --as second
	contains err "note: $BASE/work/bad.yaml has changed since; this repeats the run as it was"
	asks 0 run "$BASE/work/bad.yaml"
}
