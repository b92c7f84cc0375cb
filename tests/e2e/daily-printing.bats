#!/usr/bin/env bats
# What commands print can be seen (daily-use.md section 5).

load common

setup_file() {
	command -v python3 >/dev/null || skip "no python3"
}

@test "standard error is shown as it comes, whether the command succeeds or not" {
	mkfifo go
	start exec '{"label":"work","template":"sh -c \"echo careful >&2; cat go; echo done\""}'
	until_true contains err "[0 work] careful"
	lives "$RUNNING"
	echo on >go
	finish
	is "$status" 0
	is "$(cat out)" "$(printf 'on\ndone')"
	is "$(grep -c '\] careful' err)" 1
	asks 1 run --as bad 'sh -c "echo first >&2; printf last >&2; exit 3"'
	is "$(grep -c '^\[0\] first$' err)" 1
	is "$(grep -c '^\[0\] last$' err)" 1
	# … and not a second time when it has failed.
	is "$(grep -c '^    first' err || true)" 0
	contains err "(2 lines of standard error above)"
}

@test "at most 40 lines a second of one command, and one line says how many were left out" {
	asks 0 run --as flood 'sh -c "seq 1000 >&2"'
	is "$(grep -c '^\[0\] [0-9]*$' err)" 40
	is "$(grep 'left out' err)" "[0] … 960 lines left out: roux logs flood 0"
	is "$(roux logs flood 0 2>&1 | wc -l)" 1000
	asks 0 exec 'sh -c "seq 1000 >&2"'
	is "$(grep 'left out' err)" "[0] … 960 lines left out"
	asks 1 exec 'sh -c "seq 1000 >&2; exit 1"'
	contains err "(40 of 1000 lines of standard error above; the last:)"
	contains err "    1000"
	# Each command has its own lines.
	asks 0 exec '{"parallel":true,"template":["sh -c \"seq 30 >&2\"","sh -c \"seq 30 >&2\""]}'
	is "$(grep -c '^\[[01]\] [0-9]*$' err)" 60
}

@test "--stream shows standard output too, and what the run prints once" {
	asks 0 exec --stream '[{"label":"first","template":"sh -c \"echo one; echo two >&2\""}, "sed s/^/got-/"]'
	is "$(grep -c '^\[0 first\] one$' err)" 1
	is "$(grep -c '^\[0 first\] two$' err)" 1
	is "$(cat out)" got-one
	is "$(grep -c '\] got-one' err || true)" 0
	asks 0 exec '["echo one", "cat"]'
	is "$(grep -c '\] one' err || true)" 0
	asks 0 run --stream '["echo one", "cat"]'
	contains err "[0] one"
}

@test "-q hides progress and what commands print, never failures and warnings" {
	asks 0 exec -q 'sh -c "echo careful >&2; echo out"'
	is "$(cat out)" out
	is "$(cat err)" ""
	asks 1 exec -q 'sh -c "echo why >&2; exit 3"'
	contains err "failed with code 3"
	contains err "    why"
	asks 3 run -q '["false x", "echo y"]'
	contains err "failed with code 1: false x"
	asks 0 exec -q 'echo a | b'
	[ -s err ]
}

@test "--silent hides everything but the primary output" {
	asks 0 exec --silent 'sh -c "echo careful >&2; echo out"'
	is "$(cat out)" out
	is "$(cat err)" ""
	asks 1 exec --silent 'sh -c "echo why >&2; exit 3"'
	is "$(cat err)" ""
	asks 3 run --silent '["false x", "echo y"]'
	is "$(cat out)" y
	is "$(cat err)" ""
	asks 0 exec --silent 'echo a | b'
	is "$(cat err)" ""
	asks 2 run --silent nothing-of-that-name
	is "$(cat err)" ""
}

steps() { # STEPS...: a recipe in s.yaml
	{
		printf 'name: s\ndescription: d\nversion: 1.0.0\nsteps:\n'
		printf '%s\n' "$@"
	} >s.yaml
}

@test "the result of a step recipe is that of the last step that ran, or nothing" {
	steps '- {id: a, type: bash, command: echo one, output: x}' '- {id: b, type: bash, command: echo two}'
	is "$(roux run -q --as r s.yaml)" ""
	is "$(roux wait r 2>/dev/null)" ""
	is "$(roux logs r --result)" ""
	is "$(roux wait r --json | of_json 'd["stdout"]')" ""
	steps '- {id: a, type: bash, command: echo one}' '- {id: b, type: bash, command: echo two, output: x}'
	is "$(roux run -q s.yaml)" two
	steps '- {id: a, type: bash, command: echo one, output: x}' \
		'- {id: b, type: bash, command: echo two, condition: "{{x}} == '"'no'"'"}'
	is "$(roux run -q s.yaml)" one
	steps '- {id: a, type: bash, command: echo one, output: final_output}' '- {id: b, type: bash, command: echo two}'
	is "$(roux run -q s.yaml)" one
	steps '- {id: a, type: bash, command: echo one, output: x}' \
		'- {id: b, type: bash, command: "echo {{item}}", foreach: "{{l}}", collect: all}' \
		'context: {l: ["p", "q"]}'
	is "$(roux run -q s.yaml | tr -d ' \n')" '["p\n","q\n"]'
	steps '- {id: a, type: bash, command: echo one, output: x}' \
		'- {id: b, type: bash, command: "echo {{item}}", foreach: "{{l}}"}' 'context: {l: ["p", "q"]}'
	is "$(roux run -q s.yaml)" ""
}

@test "streaming steps are shown as before, others with their standard error" {
	steps '- {id: a, type: bash, command: "echo seen; echo err >&2", stream: true}' \
		'- {id: b, type: bash, command: "echo hidden; echo oops >&2"}'
	asks 0 run s.yaml
	contains err "[a] seen"
	contains err "[a] err"
	contains err "[1 b] oops"
	is "$(grep -c '\] hidden' err || true)" 0
	asks 0 run --stream s.yaml
	contains err "[b] hidden"
}

@test "on a terminal the primary output ends with a line end, elsewhere it is as it is" {
	on-terminal log '' '' "$ROUX" exec -q 'printf abc' </dev/null 3>&-
	is "$(od -c log)" "$(printf 'abc\r\n' | od -c)"
	on-terminal log '' '' "$ROUX" exec -q 'echo abc' </dev/null 3>&-
	is "$(od -c log)" "$(printf 'abc\r\n' | od -c)"
	is "$(roux exec -q 'printf abc' | od -c)" "$(printf 'abc' | od -c)"
	roux run -q --as p 'printf abc' >/dev/null
	on-terminal log '' '' "$ROUX" wait p </dev/null 3>&-
	is "$(od -c log)" "$(printf 'abc\r\n' | od -c)"
}

@test "on a terminal no text of a record is obeyed" {
	local result
	export TERM=xterm
	roux run -q --as u '["true", "false"]' || true
	result=$(state)/runs/u/result.json
	grep -q '"path":"1"' "$result"
	sed -i 's/"path":"1"/"path":"1\\u001b[35m\\u009b"/g; s/"failed_node":"1"/"failed_node":"1\\u001b[35m\\u009b"/' "$result"
	for word in wait status; do
		on-terminal log '' '' "$ROUX" "$word" u </dev/null 3>&- || true
		contains log "roux logs u 1"
		is "$(grep -c $'\e\[35m\|\xc2\x9b' log || true)" 0
	done
	# A run that continues has its name from there.
	printf '%s\n' 'name: it' 'description: d' 'version: 1.0.0' 'steps: [{id: a, type: bash, command: "false"}]' >it.yaml
	roux run -q --as it it.yaml || true
	sed -i 's/"run": "it"/"run": "it\\u001b[35m\\u009b"/' "$(state)/runs/it/start.json"
	on-terminal log '' '' "$ROUX" resume it </dev/null 3>&- || true
	contains log "failed at 0"
	is "$(grep -c $'\e\[35m\|\xc2\x9b' log || true)" 0
}

@test "on a terminal standard error stands above the tree" {
	export TERM=xterm
	on-terminal log '' '' "$ROUX" run --as t '["sh -c \"echo careful >&2; sleep 1\"", "echo end"]' </dev/null 3>&-
	contains log "[0] careful"
}
