#!/usr/bin/env bats
# Lines that name the thing (daily-use.md section 4).

load common

setup_file() {
	command -v python3 >/dev/null || skip "no python3"
}

steps() { # LINE...: the recipe s.yaml
	{
		printf 'name: s\ndescription: d\nversion: 1.0.0\n'
		printf '%s\n' "$@"
	} >s.yaml
}

@test "rounds are shown with their item: in lines, failures, status, report, logs, JSON" {
	steps 'context: {files: [f/1.sh, f/2.sh]}' 'steps:' \
		'- {id: lint, type: bash, foreach: "{{files}}", as: file, on_error: continue, command: "echo in {{file}} >&2; [ {{file}} != f/2.sh ]"}'
	asks 3 run --strict --as it s.yaml
	contains err "[0.r0 lint f/1.sh] start"
	contains err "[0.r1 lint f/2.sh] in f/2.sh"
	contains err "[0.r1 lint f/2.sh] failed with code 1"
	contains err "roux: [0.r1 lint f/2.sh] failed"
	roux status it >shown
	contains shown "[0.r1 lint f/2.sh]"
	roux logs it >shown
	contains shown "[0.r1 lint f/2.sh] in f/2.sh"
	roux report it >report.html
	contains report.html "lint f/2.sh"
	is "$(roux status it --json | of_json '[(f["label"], f["item"]) for f in d["failures"]]')" "[('lint', 'f/2.sh')]"
	is "$(roux wait it --json | of_json '[f["item"] for f in d["failures"]]')" "['f/2.sh']"
	is "$(grep '"command.start"' "$(state)/runs/it/events.jsonl" | python3 -c '
import json, sys
print([json.loads(l)["item"] for l in sys.stdin])')" "['f/1.sh', 'f/2.sh']"
	is "$(roux logs it f/2.sh 2>&1)" "in f/2.sh"
}

@test "an object is called by its name, id or title, else by its number" {
	steps 'context: {l: [{name: ann}, {id: no-7}, {title: Boss}, {k: v}, [1], 5]}' 'steps:' \
		'- {id: each, type: bash, foreach: "{{l}}", command: "true"}'
	asks 0 run s.yaml
	is "$(sed -n 's/^\[0\.r[0-9] each \(.*\)\] start.*/\1/p' err | paste -sd,)" "ann,no-7,Boss,3,4,5"
	# Also where the number is beyond 64 bits.
	steps 'context: {l: [123456789012345678901234567890, {id: 123456789012345678901234567890}]}' 'steps:' \
		'- {id: each, type: bash, foreach: "{{l}}", command: "true"}'
	asks 0 run --as it s.yaml
	is "$(sed -n 's/^\[0\.r[0-9] each \(.*\)\] start.*/\1/p' err | paste -sd,)" "0,123456789012345678901234567890"
	is "$(grep '"command.start"' "$(state)/runs/it/events.jsonl" | python3 -c '
import json, sys
print([json.loads(l)["item"] for l in sys.stdin])')" "['0', '123456789012345678901234567890']"
}

@test "copies of the length of an array have its items, others their number" {
	asks 0 exec '{"label":"lint","repeat":"{files.length}","template":"echo {files[index]}"}' 'files:=["a.sh","b.sh"]'
	contains err "[r1 lint b.sh] start"
	asks 0 exec '{"label":"lint","repeat":2,"template":"echo {index}"}'
	contains err "[r1 lint 1] start"
	# Nested: the innermost.
	asks 0 exec '{"repeat":2,"template":{"repeat":"{files.length}","template":"echo {index}"}}' 'files:=["a.sh","b.sh"]'
	contains err "[r1.0.r0 a.sh] start"
}

@test "an item is one short line, whatever it holds, and secrets are not shown" {
	long=$(printf 'x%.0s' $(seq 100))
	asks 0 exec '{"label":"l","repeat":"{i.length}","template":"true {index}"}' "i:=[\"a\\nb\", \"$long\", \"\\u001b[2Jred\"]"
	contains err '[r0 l a\nb] start'
	is "$(sed -n 's/^\[r1 l \(.*\)\] start.*/\1/p' err)" "$(printf 'x%.0s' $(seq 39))…"
	contains err '[r2 l \x1b[2Jred] start'
	asks 0 run --as s --secret token=hunter2 '{"label":"l {token}","repeat":"{i.length}","template":"true {index} {token}"}' 'i:=["hunter2"]'
	is "$(grep -c hunter2 err || true)" 0
	contains err '***'
	is "$(grep -rc hunter2 "$(state)/runs/s/events.jsonl")" 0
}

@test "placeholders in a label are resolved; one that cannot be stays as written" {
	asks 0 run --as l '{"parallel":true,"repeat":"{files.length}","label":"lint {files[index]}","template":"echo {files[index]}"}' 'files:=["a.sh","b.sh"]'
	contains err "[r1 lint b.sh] start"
	is "$(grep -c '^--- branch: lint [ab].sh status: done ---' out)" 2
	is "$(roux wait l --json | of_json '[b["label"] for b in d["branches"]]')" "['lint a.sh', 'lint b.sh']"
	is "$(roux logs l 'lint b.sh')" b.sh
	asks 0 exec '{"label":"on {host} of {nothing} {","template":"echo {host}"}' host=here
	contains err "[0 on here of {nothing} {] start"
	run -0 roux check '{"label":"on {host} of {nothing}","template":"echo {host}"}'
	has "$output" "'{nothing}' in the label stays as it is written"
	is "$(grep -c "'{host}' in the label" <<<"$output" || true)" 0
	asks 0 exec '{"label":"{x:int}","template":"echo {n=1}"}'
	contains err "[0 {x:int}] start"
}

@test "a group in which something failed is named, with how many" {
	asks 3 exec '[{"label":"lint","parallel":true,"repeat":6,"template":"sh -c \"test {index} != 4\""},"true"]'
	contains err "lint: 1 of 6 failed"
	asks 3 exec '[{"label":"all","parallel":true,"template":["true","false","false"]},"true"]'
	contains err "all: 2 of 3 failed"
	steps 'context: {l: [1, 2, 3, 4, 5, 6]}' 'steps:' \
		'- {id: lint, type: bash, foreach: "{{l}}", on_error: continue, command: "[ {{item}} != 3 ]"}'
	asks 0 run s.yaml
	contains err "lint: 1 of 6 failed"
	is "$(grep -c 'failed: 6/6' err || true)" 0
	# One that succeeded in a later attempt has not failed.
	asks 0 exec '{"label":"g","parallel":true,"template":[{"retry":2,"template":"sh -c \"test -e made || ! touch made\""},"true"]}'
	is "$(grep -c ' of 2 failed' err || true)" 0
}

@test "the live tree shows the item" {
	steps 'context: {files: [f/1.sh, f/2.sh]}' 'steps:' \
		'- {id: lint, type: bash, foreach: "{{files}}", command: "sleep 1"}'
	export TERM=xterm
	on-terminal log '' '' "$ROUX" run s.yaml </dev/null 3>&-
	contains log "f/2.sh"
}
