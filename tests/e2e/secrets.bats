# What may be shown nowhere: values of secrets, in records, documents and pages.

load common

SECRET=swordfish-9

setup_secrets() {
	RUNS=$(state)/runs
	cat >r.json <<-'END'
		{"secrets": ["tok"], "args": ["tok:string"], "artifacts": {"made": "made-{tok}.txt"},
		 "template": {"retry": 1, "failure": "root", "template": [
		   "sh -c \"echo seen > made-{tok}.txt\"",
		   {"label": "try", "template": "sh -c \"echo failing {tok} >&2; exit 3\""}]}}
	END
}

# nowhere_but FILE... -- FILE...: the secret is in none of the second files but the first ones.
nowhere_but() {
	local may=() found
	while [ "$1" != -- ]; do
		may+=("$1")
		shift
	done
	shift
	found=$(grep -rlF -- "$SECRET" "$@" | sort | tr '\n' ' ' || true)
	is "$found" "$(printf '%s\n' "${may[@]}" | sort | tr '\n' ' ')"
}

@test "secrets that a template declares are shown nowhere" {
	local template='{"secrets": ["tok"], "template": "sh -c \"echo no {tok} >&2; exit 3\""}' way dir
	dir=$(state)/runs/it
	echo "$template" >t.json
	for way in "$template" @t.json; do
		asks 1 run --as it "$way" tok=$SECRET
		contains err 'no ***'
		nowhere_but "$dir/out/0.err" "$dir/stderr.log" "$dir/values.json" -- out err "$dir"
		asks 0 plan "$way" tok=$SECRET
		is "$(grep -lF $SECRET out err)" ""
		asks 1 exec "$way" tok=$SECRET
		is "$(grep -lF $SECRET out err)" ""
		asks 1 resume it
		nowhere_but "$dir/out/0.a2.err" "$dir/out/0.err" "$dir/stderr.log" "$dir/values.json" -- out err "$dir"
		asks 0 prune it
	done
	asks 0 check "$template"
	is "$(grep -l "unknown field" out err)" ""
	# What is not a list of names must not be taken for none.
	echo '{"secrets": "tok", "template": "echo {tok}"}' >t.json
	for way in @t.json ./t.json; do
		asks 2 run "$way" tok=$SECRET
		contains err '`secrets` is a string, expected an array of names'
		is "$(grep -lF $SECRET out err)" ""
	done
	asks 2 run '{"secrets": ["a", 3], "template": "echo {tok}"}' tok=$SECRET
	contains err 'a name in `secrets` is a number, expected a string'
	asks 2 run '{"secrets": ["n"], "template": "echo {n:int}"}' n=$SECRET
	is "$(grep -lF $SECRET out err)" ""
}

@test "a secret that a recipe declares is in values.json and in what commands printed" {
	setup_secrets
	asks 1 run --json --as it ./r.json tok=$SECRET
	cp out run.out
	cp err run.err
	asks 0 status --json it
	cp out status.out
	asks 0 status it
	cp out status.txt
	asks 1 wait --json it
	cp out wait.out
	asks 0 report it
	cp out report.out
	asks 0 graph run:it
	cp out graph.out
	nowhere_but "$RUNS/it/out/1.err" "$RUNS/it/stderr.log" "$RUNS/it/values.json" -- "$RUNS/it" \
		run.out run.err status.out status.txt wait.out report.out graph.out
	is "$(of_json 'd["failures"][0]["stderr"].strip(), d["artifacts"]' <run.out)" \
		"('failing ***', {'made': 'made-***.txt'})"
	is "$(of_json 'd["manifest"]["made"]["path"], d["manifest"]["made"]["size"]' <status.out)" \
		"('made-***.txt', 5)"
}

@test "the same while the run has no result, and of a run that is started detached" {
	setup_secrets
	sed -i 's/exit 3/sleep 1000/' r.json
	roux run --detach --as it ./r.json tok=$SECRET >out 2>err
	until_true contains "$RUNS/it/stderr.log" failing
	roux status --json it >status.out
	nowhere_but "$RUNS/it/out/1.err" "$RUNS/it/stderr.log" "$RUNS/it/values.json" -- "$RUNS/it" \
		out err status.out
	is "$(of_json 'd["manifest"]["made"]["exists"]' <status.out)" True
	asks 0 kill it
	roux status --json it >status.out
	roux report it >report.out
	nowhere_but "$RUNS/it/out/1.err" "$RUNS/it/stderr.log" "$RUNS/it/values.json" -- "$RUNS/it" \
		status.out report.out
}

@test "artifacts with a secret in their path are found when a run is resumed and pruned" {
	setup_secrets
	asks 1 run --as it ./r.json tok=$SECRET
	asks 1 resume it
	is "$(roux status --json it | of_json 'd["manifest"]["made"]["exists"]')" True
	asks 0 prune it --preserve-artifacts
	is "$(cat "$(state)"/preserved-artifacts/it/*)" seen
}

@test "the values of a rerun and a resume are masked in what was typed" {
	setup_secrets
	asks 1 run --as it ./r.json tok=other
	asks 1 resume it tok=$SECRET
	nowhere_but "$RUNS/it/out/1.a2.err" "$RUNS/it/stderr.log" "$RUNS/it/values.json" -- "$RUNS/it"
}

@test "what an imported recipe declares is masked too, whatever its importer calls it" {
	setup_secrets
	echo '{"secrets": ["tok"], "args": ["tok:string"], "template": "sh -c \"echo no {tok} >&2; exit 3\""}' >inner.json
	echo '{"imports": {"in": "./inner.json"}, "args": ["word:string"],
		"template": {"name": "in", "values": {"tok": "{word}"}}}' >outer.json
	asks 1 run --json --as it ./outer.json word=$SECRET
	is "$(member 'd["failures"][0]["stderr"].strip(), d["failures"][0]["command"]')" \
		"('no ***', \"sh -c 'echo no *** >&2; exit 3'\")"
	run ! grep -qF $SECRET "$RUNS/it/events.jsonl" "$RUNS/it/result.json" "$RUNS/it/run.json"
}

@test "plan and show hide what is secret" {
	setup_secrets
	asks 0 plan ./r.json tok=$SECRET
	is "$(cat out)" "0  sh -c 'echo seen > made-***.txt'
1  sh -c 'echo failing *** >&2; exit 3'"
	asks 0 plan --json ./r.json tok=$SECRET
	run ! grep -qF $SECRET out
	echo '{"secrets": ["tok"], "args": ["tok:string"], "defaults": {"tok": "'$SECRET'"},
		"artifacts": {"a": "x-'$SECRET'"}, "template": "echo {tok} '$SECRET'"}' >d.json
	asks 0 show ./d.json
	run ! grep -qF $SECRET out
	contains out "default \"***\""
	contains out 'echo {tok} ***'
	asks 0 show --json ./d.json
	run ! grep -qF $SECRET out
	asks 0 plan ./d.json
	is "$(cat out)" "0  echo '***' '***'"
}

@test "a variable of --env that is named like a secret is masked, and a resume still has it" {
	setup_secrets
	asks 1 run --json --as it --env API_TOKEN=$SECRET --env PLAIN=seen 'sh -c "echo $API_TOKEN $PLAIN >&2; exit 3"'
	nowhere_but "$RUNS/it/out/0.err" "$RUNS/it/stderr.log" "$RUNS/it/values.json" -- "$RUNS/it" out
	contains "$RUNS/it/start.json" '"API_TOKEN=***"'
	contains "$RUNS/it/start.json" '"PLAIN=seen"'
	rm -f "$RUNS/it/out/0.err"
	asks 1 resume it
	is "$(tail -n 1 "$RUNS/it/stderr.log" | sed 's/.*\] //')" "$SECRET seen"
	asks 1 rerun it --as again
	is "$(sed 's/.*\] //' "$RUNS/again/stderr.log")" "$SECRET seen"
	nowhere_but "$RUNS/again/out/0.err" "$RUNS/again/stderr.log" "$RUNS/again/values.json" -- "$RUNS/again" out err
}

@test "a secret in the text of a variable or an agent is masked there too, and a resume still has it" {
	setup_secrets
	printf '%s\n' 'name: it' 'description: d' 'version: 1.0.0' 'context: {tok: ""}' 'steps:' \
		'- {id: a, type: agent, prompt: hello, agent: mine, output: a}' \
		'- {id: b, type: bash, command: "echo $DSN $PLAIN {{a}} >>told; exit 3"}' >it.yaml
	asks 1 run --as it --secret tok=$SECRET --env DSN=pg://me:$SECRET@host/ --env PLAIN=seen \
		--agent "mine=echo $SECRET" it.yaml
	contains "$RUNS/it/start.json" '"DSN=pg://me:***@host/"'
	contains "$RUNS/it/start.json" '"mine": "echo ***"'
	run ! grep -qF $SECRET "$RUNS/it/start.json"
	asks 1 resume it
	is "$(tail -n 1 told)" "pg://me:$SECRET@host/ seen $SECRET"

	tok=$SECRET asks 1 run --as env --secret-env tok --env DSN=pg://me:$SECRET@host/ --env MY_TOKEN=$SECRET- \
		'sh -c "echo $DSN $MY_TOKEN >>told2; exit 3" sh {tok}'
	run ! grep -rqF $SECRET "$RUNS/env"
	tok=$SECRET asks 1 resume env
	is "$(tail -n 1 told2)" "pg://me:$SECRET@host/ $SECRET-"
	tok=$SECRET asks 1 rerun env --as again
	is "$(tail -n 1 told2)" "pg://me:$SECRET@host/ $SECRET-"
	run ! grep -rqF $SECRET "$RUNS/again"
	asks 2 resume env
	contains err "the secret 'tok' is not in the environment"
}

@test "a secret of --secret-env is in no page, whatever its commands have printed" {
	setup_secrets
	tok=$SECRET asks 1 run --json --as it --secret-env tok 'sh -c "echo {tok} >&2; exit 3"'
	run ! grep -qF $SECRET out "$RUNS/it/values.json"
	asks 0 report it
	run ! grep -qF $SECRET out
	contains out 'not shown: the run has a secret'
	tok=$SECRET asks 0 report it
	run ! grep -qF $SECRET out
	run ! grep -qF 'not shown' out
}

@test "--secret-file reads a secret without its last newline" {
	setup_secrets
	printf '%s\n' $SECRET >word
	asks 1 run --json --as it --secret-file tok=word 'sh -c "echo [{tok}] >&2; exit 3"'
	is "$(member 'd["failures"][0]["stderr"].strip()')" "[***]"
	is "$(cat "$RUNS/it/out/0.err")" "[$SECRET]"
	asks 1 run --json --as two --secret-file tok=<(printf '%s\n' $SECRET) 'sh -c "echo [{tok}] >&2; exit 3"'
	asks 2 run --secret-file tok=missing 'true {tok}'
	contains err 'cannot read missing: No such file or directory'
	asks 2 run --secret-file tok 'true {tok}'
	contains err "--secret-file takes NAME=FILE, found 'tok'"
}

@test "a value that is not UTF-8 is kept in values.json only" {
	setup_secrets
	local bytes
	bytes=$(printf 'sword\377fish-9')
	asks 1 run --as it --secret "tok=$bytes" 'sh -c "echo {tok} >&2; exit 3"'
	run ! grep -qF "$(printf %s "$bytes" | base64)" "$RUNS/it/start.json"
	asks 1 resume it
	is "$(tail -n 1 "$RUNS/it/stderr.log" | sed 's/.*\] //')" "$bytes"
}

@test "20,000 secrets do not slow a run down" {
	setup_secrets
	python3 - <<-'END'
		import json
		names = ["s%d" % i for i in range(20000)]
		json.dump({n: "a-long-common-beginning-" + n for n in names}, open("values", "w"))
		json.dump({"secrets": names, "template": "sh -c \"seq 20000 | sed s/^/a-long-common-beginning-s/ >&2; exit 3\""}, open("many.json", "w"))
	END
	asks 1 run --json --as it ./many.json --values values
	run ! grep -q 'a-long-common-beginning-s1[0-9]' out
	is "$(tail -n 1 "$RUNS/it/stderr.log" | sed 's/.*\] //')" a-long-common-beginning-s20000
}

@test "what a step has printed of a secret is in its output and in the result, not in the state" {
	setup_secrets
	printf '%s\n' 'name: it' 'description: d' 'version: 1.0.0' 'secrets: [tok]' 'context: {tok: ""}' 'steps:' \
		'- {id: a, type: bash, command: "echo {{tok}}", output: a}' \
		'- {id: b, type: bash, command: "echo no {{tok}} >&2; exit 3"}' >it.yaml
	asks 1 run --json --as it it.yaml tok=$SECRET
	is "$(member 'd["failures"][0]["stderr"].strip(), d["context"]["tok"], d["context"]["a"].strip()')" "('no ***', '***', '$SECRET')"
	nowhere_but "$RUNS/it/out/0.out" "$RUNS/it/out/1.err" "$RUNS/it/result.json" "$RUNS/it/stderr.log" \
		"$RUNS/it/values.json" -- "$RUNS/it"
}

@test "a secret that stands in a recipe is masked in the bundle that agents get" {
	mkdir bin
	printf '#!/bin/sh\nprintf "%%s\\n" "$@" >told\n' >bin/pi
	chmod +x bin/pi
	echo '{"secrets": ["pin"], "defaults": {"pin": "leek-and-potato"}, "template": ["true", "pi -p hello"]}' >r.json
	PATH=$PWD/bin:$PATH asks 0 run -q --as it ./r.json
	contains told '"pin":"***"'
	contains "$(state)/runs/it/context.jsonl" '"pin":"***"'
	! grep -rlq leek-and-potato told "$(state)/runs/it/context.jsonl" || false
	echo '{"secrets": ["pin"], "defaults": {"pin": 73315551}, "template": ["true", "pi -p hello"]}' >r.json
	PATH=$PWD/bin:$PATH asks 0 run -q --as it ./r.json
	contains told '"pin":"***"'
	! grep -rlq 73315551 told "$(state)/runs/it/context.jsonl" "$(state)/runs/it/run.json" || false
}

# sends_and_hears ID OPTION...: a run whose program says the secret in two ways, and is sent it.
sends_and_hears() {
	local id=$1 dir
	shift
	dir=$RUNS/$id
	# shellcheck disable=SC2016  # expanded by the program
	roux run --detach --as "$id" "$@" --template 'sh -c "mkfifo fifo; exec 3<>fifo
		{roux} message --from-run told {tok}
		{roux} message --from-run note \"{tok}\" >/dev/null
		echo \"$2\" >>{state_dir}/outbox.jsonl
		mv fifo {state_dir}/control.fifo; read -r x <&3; echo $x >got" sh {tok} "{\"type\":\"own\",\"body\":[\"own {tok}\"]}"' \
		roux="$ROUX" >/dev/null 2>err
	until_true test -p "$dir/control.fifo"
	roux message "$id" run.message "hear $SECRET" >/dev/null
	roux wait "$id" >/dev/null
	is "$(cat got)" "hear $SECRET"
	is "$(grep -c "$SECRET" "$dir/outbox.jsonl")" 1 # what the program has written itself
}

@test "messages do not show the secrets of their run, and its program gets what it was sent" {
	setup_secrets
	sends_and_hears it --secret tok=$SECRET
	asks 0 messages it
	run ! grep -qF $SECRET out err
	contains out 'hear ***'
	asks 0 messages --follow it
	run ! grep -qF $SECRET out err
	asks 0 messages --json it
	run ! grep -qF $SECRET out err
	is "$(of_json '[m["body"] for m in d["inbox"]], [m["body"] for m in d["outbox"] if m["type"] != "command.done"]' <out)" \
		"(['hear ***'], ['***', '***', ['own ***']])"
	is "$(of_json 'd["outbox"][0]["type"], d["outbox"][0]["level"], d["outbox"][0]["delivery"]' <out)" \
		"('told', 'info', 'notify')"
}

@test "what messages say is left out where a secret of --secret-env is not known" {
	setup_secrets
	tok=$SECRET sends_and_hears it --secret-env tok
	asks 0 messages --json it
	run ! grep -qF $SECRET out err
	contains err 'what messages say is not shown: a secret of the run is not in the environment'
	is "$(of_json '[m["body"] for m in d["inbox"]], sorted(str(m["body"]) for m in d["outbox"])[:3]' <out)" \
		"(['***'], ['***', '***', '***'])"
	tok=$SECRET asks 0 messages --json it
	run ! grep -qF $SECRET out err
	is "$(cat err)" ''
	is "$(of_json 'd["inbox"][0]["body"]' <out)" 'hear ***'
}

@test "what is said with an answer is shown without the secrets of the run" {
	local what
	setup_secrets
	printf '%s\n' 'name: gated' 'description: d' 'version: 1.0.0' 'secrets: [tok]' 'context: {tok: ""}' \
		'stages:' '  - name: first' '    steps: [{id: one, type: bash, command: "true"}]' \
		'    approval: {required: true, prompt: "?"}' '  - name: second' \
		'    steps: [{id: two, type: bash, command: "echo \"$SAID\" >said", env: {SAID: "{{_approval_message}}"}}]' >gated.yaml
	for what in deny approve; do
		asks 4 run --as $what --progress=none gated.yaml tok=$SECRET
		if [ $what = deny ]; then
			asks 0 deny deny --reason "not with $SECRET"
		else
			asks 0 approve approve --message "take $SECRET"
		fi
		asks 0 status $what
		cp out $what.status
		asks 0 status --json $what
		cp out $what.json
		roux wait $what >$what.wait 2>&1 || true
		roux wait --json $what >$what.wait-json 2>&1 || true
	done
	run ! grep -lF $SECRET deny.* approve.* "$RUNS/deny/gates.json"
	contains deny.wait "was denied: not with ***"
	is "$(of_json 'd["error"], d["answered"]["message"]' <deny.json)" \
		"(\"stage 'first' was denied: not with ***\", 'not with ***')"
	is "$(of_json 'd["answered"]["message"]' <approve.json)" "take ***"
	# One that an earlier version has written.
	sed -i "s/not with \*\*\*/not with $SECRET/" "$RUNS/deny/gates.json"
	asks 0 status --json deny
	run ! grep -F $SECRET out
	# A later step reads what was said.
	asks 0 resume approve --progress=none
	is "$(cat said)" "take $SECRET"
}
