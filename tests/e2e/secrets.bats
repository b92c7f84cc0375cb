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
	is "$(cat out)" "made: $(state)/preserved-artifacts/it/made-***.txt"
	asks 1 run --as it ./r.json tok=$SECRET
	asks 0 prune it --preserve-artifacts --json
	run ! grep -F $SECRET out
	asks 1 run --as it ./r.json tok=$SECRET
	rm made-*
	mkfifo made-$SECRET.txt
	asks 2 prune it --preserve-artifacts
	run ! grep -F $SECRET err
	contains err 'made-***.txt'
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

@test "a plan hides a secret in directories and conditions, as text, as JSON and of a run" {
	setup_secrets
	echo '{"secrets": ["tok"], "args": ["tok:string"], "template":
		[{"cwd": "/tmp/{tok}", "label": "l '$SECRET'", "when": "{tok}", "env": {"E": "{tok}"}, "template": "echo {tok}"}]}' >c.json
	printf '%s\n' 'name: it' 'description: d' 'version: 1.0.0' 'secrets: [tok]' 'context: {tok: ""}' 'steps:' \
		'- {id: a, type: bash, command: "echo {{tok}}; exit 3", cwd: "./{{tok}}", condition: "{{tok}} != 1", env: {E: "{{tok}}"}}' >c.yaml
	mkdir $SECRET
	for recipe in c.json c.yaml; do
		asks 0 plan ./$recipe tok=$SECRET
		run ! grep -F $SECRET out
		asks 0 plan --json ./$recipe tok=$SECRET
		run ! grep -F $SECRET out
		contains out '/***"'
		asks 1 run -q --as it ./$recipe tok=$SECRET
		asks 0 plan --json --resume run:it
		run ! grep -F $SECRET out
		asks 0 prune it
	done
}

@test "why a plan cannot be made is told without secrets" {
	setup_secrets
	for flag in timeout delay retry; do
		echo '{"secrets": ["tok"], "'$flag'": "{tok}", "template": "true"}' >w.json
		asks 2 plan ./w.json tok=$SECRET
		run ! grep -F $SECRET err
		contains err "\`$flag\` is '***'"
		asks 2 plan --json ./w.json tok=$SECRET
		run ! grep -F $SECRET out
	done
	echo '{"secrets": ["tok"], "args": ["tok", "list:array"], "template": "echo {list[tok]}"}' >w.json
	asks 2 plan ./w.json tok=$SECRET 'list:=["a"]'
	run ! grep -F $SECRET err
	asks 0 run -q --as it ./w.json tok=0 'list:=["a"]'
	asks 2 plan run:it --all tok=$SECRET
	run ! grep -F $SECRET err
}

@test "a warning about a line shows no secret that is given" {
	local how
	for how in exec run; do
		asks 1 $how --secret tok=$SECRET "/nope $SECRET {tok"
		contains err '1 | /nope *** {tok'
		is "$(grep -lF $SECRET out err)" ""
		tok=$SECRET asks 1 $how -q --secret-env tok "/nope \$$SECRET"
		contains err "'\$***' is an ordinary argument"
		is "$(grep -lF $SECRET out err)" ""
	done
}

@test "what a called step recipe declares is hidden in plans, and in a report without its files" {
	setup_secrets
	printf '%s\n' 'name: sub' 'description: d' 'version: 1.0.0' 'secrets: [inner]' 'context: {inner: ""}' 'steps:' \
		'- {id: z, type: bash, command: "echo sub {{inner}} >&2; exit 2"}' >sub.yaml
	printf '%s\n' 'name: par' 'description: d' 'version: 1.0.0' 'context: {p: ""}' 'steps:' \
		'- {id: y, type: bash, command: "echo first {{p}}"}' \
		'- {id: c, type: recipe, recipe: sub.yaml, context: {inner: "{{p}}"}}' >par.yaml
	asks 0 plan ./par.yaml p=$SECRET
	run ! grep -F $SECRET out
	contains out '***'
	asks 0 plan --json ./par.yaml p=$SECRET
	run ! grep -F $SECRET out
	asks 1 run -q --as it ./par.yaml p=$SECRET
	asks 0 plan --resume run:it
	run ! grep -F $SECRET out
	p=$SECRET asks 1 run -q --as env ./par.yaml --secret-env p
	run ! grep -F $SECRET "$RUNS/env/values.json"
	# The run has its own copy, and the secret is not in the text of the recipe.
	rm sub.yaml
	asks 0 report it
	run ! grep -F $SECRET out
	contains out 'sub ***'
	p=$SECRET asks 0 report env
	run ! grep -F $SECRET out
	asks 1 resume it
	run ! grep -F $SECRET err
	asks 0 report it
	run ! grep -F $SECRET out
}

@test "what a called recipe declares is hidden from the beginning of the run" {
	setup_secrets
	printf '%s\n' 'name: sub' 'description: d' 'version: 1.0.0' 'secrets: [inner]' 'context: {inner: ""}' 'steps:' \
		'- {id: z, type: bash, command: "true"}' >sub.yaml
	echo '{"secrets": ["inner"], "template": "true {inner}"}' >sub.json
	for sub in sub.yaml sub.json; do
		printf '%s\n' 'name: par' 'description: d' 'version: 1.0.0' 'context: {p: []}' 'steps:' \
			'- {id: y, type: bash, command: "true {{p}}"}' \
			"- {id: c, type: recipe, foreach: '{{p}}', as: one, recipe: ./$sub, context: {inner: '{{one}}'}}" >par.yaml
		asks 0 run --as ${sub#*.} ./par.yaml "p:=[\"$SECRET\", \"other-$SECRET\"]"
		nowhere_but "$RUNS/${sub#*.}/values.json" -- "$RUNS/${sub#*.}" out err
		contains err "start /bin/bash -c 'true "
		asks 0 rerun --all --as again-${sub#*.} ${sub#*.} 'p:=["another-secret"]'
		run ! grep -F another-secret err "$RUNS/again-${sub#*.}/run.json" "$RUNS/again-${sub#*.}/events.jsonl"
	done
}

@test "a value of --secret-env is not written in another spelling either, when a called recipe declares it" {
	setup_secrets
	printf '%s\n' 'name: sub' 'description: d' 'version: 1.0.0' 'secrets: [inner]' 'context: {inner: ""}' 'steps:' \
		'- {id: z, type: bash, command: "true"}' >sub.yaml
	printf '%s\n' 'name: par' 'description: d' 'version: 1.0.0' 'context: {p: ""}' 'steps:' \
		'- {id: c, type: recipe, recipe: ./sub.yaml, context: {inner: "Bearer {{p}}"}}' >par.yaml
	p=$'first line of a key\nsecond "line" of it' asks 0 run -q --as it ./par.yaml --secret-env p
	contains "$RUNS/it/values.json" 'Bearer '
	run ! grep -rE 'first line|second|of it' "$RUNS/it"
}

@test "a default that is nothing but the name of another value hides no text" {
	echo '{"secrets":["tok"],"args":["tok={user}","user"],"template":"echo {tok} and {user}"}' >args.json
	echo '{"secrets":["tok"],"args":["tok","user"],"defaults":{"tok":"{user}"},"template":"echo {tok} and {user}"}' >defaults.json
	for recipe in args defaults; do
		asks 0 show ./$recipe.json
		contains out 'echo {tok} and {user}'
	done
}

@test "a text in a secret object is masked in a command, with every quote in it" {
	setup_secrets
	asks 1 run -q --as it '{"secrets":["o"],"failure":"root","template":["false {o}"]}' "o:={\"k\":\"it's-a\\\"quote-77\"}"
	contains "$RUNS/it/events.jsonl" '***'
	SECRET=quote-77
	nowhere_but "$RUNS/it/values.json" -- "$RUNS/it" out err
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
	contains out 'not shown: the secret &#39;tok&#39; of the run &#39;it&#39; is not in the environment'
	tok=$SECRET asks 0 report it
	run ! grep -qF $SECRET out
	run ! grep -qF 'not shown' out
}

@test "a run whose secrets cannot be read shows no output, and says which file it is" {
	setup_secrets
	asks 1 run --as it --secret tok=$SECRET 'sh -c "echo {tok}; echo {tok} >&2; exit 3"'
	for file in start.json values.json; do
		for how in gone noise fifo; do
			mv "$RUNS/it/$file" kept
			case $how in
			noise) echo $SECRET >"$RUNS/it/$file" ;;
			fifo) mkfifo "$RUNS/it/$file" ;;
			esac
			asks 0 report it
			run ! grep -qF $SECRET out
			contains out "are not known: its $file cannot be read"
			asks 0 status it --json
			run ! grep -qF $SECRET out
			asks 1 wait it --json
			run ! grep -qF $SECRET out
			rm -f "$RUNS/it/$file"
			mv kept "$RUNS/it/$file"
		done
	done
}

@test "each line of a secret is hidden where lines are told apart, as in the report" {
	setup_secrets
	printf '%s-one\n%s-two\n%s-three\n' $SECRET $SECRET $SECRET >word
	asks 1 run --progress=plain --as it --secret-file tok=word 'sh -c "echo \"$1\" >&2; exit 3" sh {tok}'
	run ! grep -F $SECRET err
	asks 0 report it
	run ! grep -F $SECRET out
	contains out '[0] ***'
	is "$(grep -c $SECRET "$RUNS/it/stderr.log")" 3
}

@test "what roux itself writes beside the output of a command is masked, the output is not" {
	local template n=0
	setup_secrets
	echo '{"secrets": ["tok"], "args": ["tok:string"], "template": {"failure": "continue", "label": "lab-{tok}",
		"template": "sh -c \"echo out {tok} >&2; printf end >&2; exit 3\""}}' >l.json
	roux run -q --as it ./l.json tok=$SECRET >out 2>err || true
	is "$(cat "$RUNS/it/stderr.log")" "[0 lab-***] out $SECRET
[0 lab-***] end"
	roux logs --json it >out
	run ! grep -F "lab-$SECRET" out
	for template in '"no-such-program-{tok}"' '{"cwd": "/nonexistent/{tok}", "template": "true"}'; do
		echo '{"secrets": ["tok"], "args": ["tok:string"], "template": ['"$template"']}' >l.json
		n=$((n + 1))
		roux run --as n$n ./l.json tok=$SECRET >out 2>err || true
		nowhere_but "$RUNS/n$n/values.json" -- "$RUNS/n$n" out err
		contains "$RUNS/n$n/stderr.log" '***'
		contains "$RUNS/n$n/out/0.err" '***'
		roux logs n$n 0 --err >out 2>err
		cat out err >shown
		contains shown '***'
	done
	printf '%s\n' 'name: it' 'description: d' 'version: 1.0.0' 'secrets: [tok]' 'context: {tok: ""}' 'steps:' \
		'- {id: a, type: bash, command: "true", cwd: "./no/{{tok}}"}' >l.yaml
	roux run --as steps ./l.yaml tok=$SECRET >out 2>err || true
	nowhere_but "$RUNS/steps/values.json" -- "$RUNS/steps" out err
	contains "$RUNS/steps/out/0.err" '***'
}

@test "a secret that stands in a recipe as a default is shown by nothing that shows the recipe" {
	local what
	setup_secrets
	echo '{"args": ["tok", "url=http://'$SECRET'@h"], "defaults": {"tok": "'$SECRET'"}, "secrets": ["tok"],
		"artifacts": {"a": "x-'$SECRET'"},
		"template": [{"label": "'$SECRET' l", "when": "'$SECRET'", "template": "echo {tok} {url} '$SECRET'"}]}' >d.json
	printf '%s\n' 'name: d' 'description: d' 'version: 1.0.0' 'secrets: [tok]' 'context: {tok: '$SECRET', url: "http://'$SECRET'@h"}' \
		'steps:' '- {id: a, type: bash, condition: "\"'$SECRET'\" == \"{{tok}}\"", command: "true '$SECRET' {{url}}"}' >d.yaml
	for what in d.json d.yaml; do
		for form in show 'show --json' help 'tool schema' 'plan --json' graph 'graph --format dot' 'graph --format mermaid'; do
			# shellcheck disable=SC2086  # words
			asks 0 $form ./$what
			if grep -F $SECRET out; then
				echo "$form ./$what"
				false
			fi
		done
		roux run -q --as it ./$what >out 2>err
		run ! grep -F $SECRET "$RUNS/it/run.json"
		for form in report 'graph --format svg' status 'status --json'; do
			# shellcheck disable=SC2086  # words
			roux $form "$([[ $form == graph* ]] && echo run:)it" >out
			if grep -F $SECRET out; then
				echo "$form it"
				false
			fi
		done
	done
	asks 2 run ./d.json tok:=$SECRET
	run ! grep -F $SECRET out err
	contains err "the value of 'tok', which is a secret, is not JSON"
	asks 2 run ./d.json "tok:=[\"$SECRET\", $SECRET]"
	run ! grep -F $SECRET out err
	asks 2 run ./d.json url:=plain
	contains err 'plain'
}

# hides FORM... -- OPERAND...: none of these commands shows the secret of one of the operands.
hides() {
	local forms=() form operand
	while [ "$1" != -- ]; do
		forms+=("$1")
		shift
	done
	shift
	for operand; do
		for form in "${forms[@]}"; do
			# shellcheck disable=SC2086  # words
			roux $form "$operand" >out 2>err || true
			if [ ! -s out ] && [ ! -s err ] || grep -F $SECRET out err; then
				echo "$form $operand"
				false
			fi
		done
	done
}

@test "a description that repeats a secret is shown without it, and so is one with control characters in a step" {
	local form
	mkdir -p .roux/recipes
	echo '{"secrets": ["tok"], "defaults": {"tok": "'$SECRET'"}, "description": "Uses '$SECRET' now",
		"template": "echo {tok}"}' >.roux/recipes/said.json
	for form in 'show said' 'show --json said' 'help said' 'list' 'list --json'; do
		# shellcheck disable=SC2086  # words
		asks 0 $form
		contains out 'Uses *** now'
		run ! grep -F $SECRET out
	done
	printf '%s\n' 'name: it' 'description: d' 'version: 1.0.0' 'secrets: [tok]' 'context: {tok: "a\t'$SECRET'\e[1m\nb"}' 'steps:' \
		'- {id: a, type: bash, command: "echo a\t'$SECRET'\e[1m\nb"}' '- {id: b, type: bash, command: "x\na\t'$SECRET'\e[1m\nb"}' >c.yaml
	asks 0 show ./c.yaml
	contains out 'a (bash): echo ***'
	run ! grep -F $SECRET out
}

@test "a secret that stands in a placeholder as its default is shown nowhere" {
	local what template
	setup_secrets
	template='{"secrets": ["tok"], "template": "false {tok='$SECRET'}"}'
	echo '{"args": ["tok"], "secrets": ["tok"], "template": "false {tok='$SECRET'}"}' >bare.json
	echo '{"args": ["tok"], "secrets": ["tok"], "template": "false {tok:string='$SECRET'} {tok??'$SECRET'}"}' >typed.json
	echo '{"imports": {"in": "./bare.json"}, "template": {"name": "in"}}' >outer.json
	printf '%s\n' --- 'secrets: [tok]' 'args: [tok]' --- '```json' '"false {tok='$SECRET'}"' '```' >doc.md
	for what in ./bare.json ./typed.json ./outer.json ./doc.md "$template"; do
		hides plan 'plan --json' graph 'graph --format dot' check 'check --portable' -- "$what"
		hides exec -- "${what/.\//@}"
		[ "$what" = "$template" ] || hides show 'show --json' help 'tool schema' -- "$what"
		asks 1 run --as it "$what"
		nowhere_but "$RUNS/it/graph.json" -- "$RUNS/it" out err
		contains err '***'
		hides status 'status --json' wait 'wait --json' report messages -- it
		hides graph plan -- run:it
		asks 1 resume it
		nowhere_but "$RUNS/it/graph.json" -- "$RUNS/it" out err
		asks 0 prune it
	done
	# Without its quotes it is the same secret.
	echo '{"args": ["tok"], "secrets": ["tok"], "template": "false {tok=\"'${SECRET:0:3}'\"'${SECRET:3}'}"}' >quoted.json
	hides show 'plan --json' plan -- ./quoted.json
	is "$(cat out)" "0  false '***'"
	hides exec -- @quoted.json
	asks 1 run --as it ./quoted.json
	is "$(grep -rlF $SECRET "$RUNS/it" out err)" ""
}

@test "a default in any text of a recipe is shown nowhere, nor where another text repeats it" {
	local what may
	setup_secrets
	cat >around.json <<-END
		{"args": ["tok", "url=http://{tok=$SECRET}@h"], "secrets": ["tok"],
		 "artifacts": {"a": "x-{tok=$SECRET}"}, "output": "o {tok=$SECRET}", "env": {"A": "{tok=$SECRET}"},
		 "template": [{"label": "l {tok=$SECRET}", "when": "{tok=$SECRET}", "cwd": "{tok?/nowhere:.}",
		   "template": "sh -c \"exit 1\" $SECRET"},
		  {"defaults": {"u": "x{tok=$SECRET}"}, "failure": "root", "template": "sh -c \"exit 1\" {u} {url}"}]}
	END
	echo '{"args": ["tok='$SECRET'", "url=http://'$SECRET'@h"], "secrets": ["tok"], "template": "false {tok} {url}"}' >short.json
	echo '{"args": ["tok", "url=http://'$SECRET'@h"], "secrets": ["tok"],
		"template": {"defaults": {"tok": "'$SECRET'"}, "template": "false {tok} {url}"}}' >inner.json
	for what in around short inner; do
		hides plan 'plan --json' show 'show --json' help 'tool schema' graph check -- ./$what.json
		roux run --as it ./$what.json >out 2>err || true
		may=("$RUNS/it/graph.json")
		[ $what != around ] || may+=("$RUNS/it/values.json") # the path of the artifact
		nowhere_but "${may[@]}" -- "$RUNS/it" out err
		hides status 'status --json' report messages -- it
		hides graph plan -- run:it
		asks 0 prune it
	done
	# A name that stands for another is not a text to hide.
	echo '{"args": ["word"], "secrets": ["tok"], "template": [{"defaults": {"tok": "{word}"}, "template": "echo {tok}"}, "echo {word}"]}' >pass.json
	asks 0 show ./pass.json
	contains out 'echo {word}'
}

@test "a mistake is shown in its line, without the secret that stands there" {
	echo '{"secrets": ["tok"], "defaults": {"tok": "'$SECRET'"}, "template": "sh -c \"echo {x}\""}' >w.json
	asks 0 check ./w.json
	is "$(sed -n 2,3p out)" '   1 | {"secrets": ["tok"], "defaults": {"tok": "***"}, "template": "sh -c \"echo {x}\""}
     |                                                                       ^^^^^^^^'
	# The window of a long line begins within the secret.
	printf '{"secrets": ["tok"], "defaults": {"tok": "%s"}, "template": "sh -c \\"echo {x}\\""}' "$SECRET-$SECRET-$SECRET$(printf '%080d' 7)" >w.json
	asks 0 check ./w.json
	run ! grep -E 'fish|0000' out
	# A slip is told before the command runs.
	asks 0 exec '{"secrets": ["tok"], "template": "echo {tok='$SECRET'$HOME}"}'
	contains err 'no shell reads this line'
	run ! grep -F $SECRET err
}

@test "what is wrong with a recipe is shown without the secret that stands in it" {
	local form
	echo '{"secrets": ["tok"], "defaults": {"tok": "'$SECRET'"}, "template": {"retry": "x", "template": "true"}}' >w.json
	echo '{"secrets": ["tok"], "template": ["echo {tok='$SECRET'}", "echo {a:none}"]}' >p.json
	echo '{"imports": {"w": "./w.json"}, "template": {"name": "w"}}' >i.json
	printf -- '---\nsecrets: [tok]\n---\n```json\n{"defaults": {"tok": "%s"}, "template": {"retry": "x", "template": "true"}}\n```\n' $SECRET >m.md
	printf '%s\n' 'name: it' 'description: d' 'version: 1.0.0' 'secrets: [tok]' "context: {tok: $SECRET}" 'steps:' \
		"- {id: a, type: bash, command: 'echo $SECRET', timeout: x}" >s.yaml
	for form in check plan run show; do
		for recipe in w.json p.json i.json m.md s.yaml; do
			roux $form ./$recipe >out 2>err || true
			cat err >>out
			contains out '***'
			run ! grep -F $SECRET out
		done
	done
	for form in "$(cat w.json)" @w.json; do
		asks 2 exec "$form"
		contains err '"tok": "***"'
		run ! grep -F $SECRET err
	done
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

@test "what a step has printed of a secret is in its output, not in the result or the state" {
	setup_secrets
	printf '%s\n' 'name: it' 'description: d' 'version: 1.0.0' 'secrets: [tok]' 'context: {tok: ""}' 'steps:' \
		'- {id: a, type: bash, command: "echo {{tok}}", output: a}' \
		'- {id: b, type: bash, command: "echo no {{tok}} >&2; exit 3"}' >it.yaml
	asks 1 run --json --as it it.yaml tok=$SECRET
	is "$(member 'd["failures"][0]["stderr"].strip(), d["context"]["tok"], d["context"]["a"].strip()')" "('no ***', '***', '***')"
	nowhere_but "$RUNS/it/out/0.out" "$RUNS/it/out/1.err" "$RUNS/it/stderr.log" "$RUNS/it/values.json" -- "$RUNS/it" out
}

@test "a secret in the text of another variable is in no result, and a resume and a rerun still have it" {
	local way
	setup_secrets
	printf '%s\n' 'name: it' 'description: d' 'version: 1.0.0' 'secrets: [tok]' 'context: {tok: "", n: 0, u: none}' 'steps:' \
		'- {id: a, type: bash, command: "echo seen {{tok}}", output: a}' \
		'- {id: w, while_condition: "{{n}} < 1", update_context: {n: 1, u: "http://{{tok}}@h"}, while_steps: [{id: x, type: bash, command: "true"}]}' \
		'- {id: b, type: bash, command: "exec >>told; test -e ok || trap \"exit 3\" EXIT; echo {{u}} {{a}}"}' >it.yaml
	for way in tok=$SECRET --secret=tok=$SECRET --secret-env=tok; do
		rm -rf ok told
		tok=$SECRET asks 1 run --json --as it it.yaml "$way"
		is "$(member 'd["context"]["u"], d["context"]["a"].strip()')" "('http://***@h', 'seen ***')"
		run ! grep -qF $SECRET out "$RUNS/it/result.json" "$RUNS/it/state.json" "$RUNS/it/run.json"
		tok=$SECRET asks 1 wait --json it
		run ! grep -qF $SECRET out
		# What the plan shows as a variable is not what stands for it in the result.
		tok=$SECRET asks 0 plan run:it --resume
		contains out '{{a}}'
		touch ok
		tok=$SECRET asks 0 resume --json it
		run ! grep -qF $SECRET out
		tok=$SECRET asks 0 rerun --json --as again it
		run ! grep -qF $SECRET out
		tok=$SECRET asks 0 rerun --json --as again it --from 2
		run ! grep -qF $SECRET out
		is "$(sort told | uniq -c | tr -s ' ')" " 4 http://$SECRET@h seen $SECRET"
		tok=$SECRET asks 0 prune it again
	done
}

@test "a value of --secret-env in the path of an artifact is not written down, and the artifact is found" {
	setup_secrets
	sed -i 's/"secrets": \["tok"\], //' r.json
	tok=$SECRET asks 1 run --as it ./r.json --secret-env tok
	contains "$RUNS/it/values.json" '"secret": "tok"'
	nowhere_but "$RUNS/it/out/1.err" "$RUNS/it/stderr.log" -- "$RUNS/it"
	tok=$SECRET asks 1 resume it
	nowhere_but "$RUNS/it/out/1.a2.err" "$RUNS/it/out/1.err" "$RUNS/it/stderr.log" -- "$RUNS/it"
	is "$(roux status --json it | of_json 'd["manifest"]["made"]["exists"]')" True
	tok=$SECRET asks 1 rerun it --as again
	nowhere_but "$RUNS/again/out/1.err" "$RUNS/again/stderr.log" -- "$RUNS/again"
	asks 2 prune it --preserve-artifacts
	contains err 'a secret in a path is not in the environment'
	tok=$SECRET asks 0 prune it --preserve-artifacts
	run ! grep -F $SECRET out
	is "$(cat "$(state)"/preserved-artifacts/it/*)" seen
	# Under another name of its variable too.
	word=$SECRET asks 1 run --as other ./r.json --secret-env tok=word
	nowhere_but "$RUNS/other/out/1.err" "$RUNS/other/stderr.log" -- "$RUNS/other"
	word=$SECRET asks 0 prune other --preserve-artifacts
	is "$(cat "$(state)"/preserved-artifacts/other/*)" seen
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
	echo '{"secrets": ["pin"], "defaults": {"pin": "leek-soup", "m": {"leek-soup": 1}}, "template": ["true", "pi -p hello"]}' >r.json
	PATH=$PWD/bin:$PATH asks 0 run -q --as it2 ./r.json
	contains told '"m":{"***":1}'
	! grep -rlq leek-soup told "$(state)/runs/it2/context.jsonl" || false
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

@test "a secret that is a name in a message is shown nowhere" {
	setup_secrets
	echo '{"secrets": ["tok"], "args": ["tok", "body"], "template": "roux message --from-run note {body}"}' >m.json
	printf '%s\n' '#!/bin/sh' 'exec "$ROUX" "$@"' >roux
	chmod +x roux
	PATH=$PWD:$PATH asks 0 run --as it ./m.json tok=$SECRET "body={\"$SECRET\": {\"deep $SECRET\": 1}}"
	echo '{"type": "own", "metadata": {"'$SECRET'": 2}}' >>"$RUNS/it/outbox.jsonl"
	asks 0 messages --json it
	is "$(of_json '[m.get("body", m.get("metadata")) for m in d["outbox"] if m["type"] in ("note", "own")]' <out)" \
		"[{'***': {'deep ***': 1}}, {'***': 2}]"
	asks 0 messages it
	run ! grep -qF $SECRET out err
	asks 0 report it
	run ! grep -qF $SECRET out err
}

@test "what messages say is left out where a secret of --secret-env is not known" {
	setup_secrets
	tok=$SECRET sends_and_hears it --secret-env tok
	asks 0 messages --json it
	run ! grep -qF $SECRET out err
	contains err 'what messages say is not shown: the secrets of the run'
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

@test "what is said with an approval is without the secrets of the run in every file but gates.json" {
	local state
	setup_secrets
	printf '%s\n' 'name: gated' 'description: d' 'version: 1.0.0' 'secrets: [tok]' 'context: {tok: ""}' \
		'stages:' '  - name: first' '    steps: [{id: one, type: bash, command: "true"}]' \
		'    approval: {required: true, prompt: "?"}' '  - name: second' \
		'    steps: [{id: two, type: bash, command: "echo \"$SAID\" >said", env: {SAID: "{{_approval_message}}"}}]' \
		'    approval: {required: true, prompt: "again?"}' '  - name: third' \
		'    steps: [{id: three, type: bash, command: "true"}]' >gated.yaml
	export T=$SECRET
	asks 4 run --as it --progress=none gated.yaml --secret-env tok=T
	asks 4 approve it --message "take $SECRET" --resume
	is "$(cat said)" "take $SECRET"
	state=$RUNS/it/state.json
	is "$(of_json '[g["message"] for g in d["approval_history"]], d["context"]["tok"]' <"$state")" "(['take ***'], '***')"
	is "$(of_json '[g.get("message") for g in d["stage_approvals"].values()]' <"$state")" "['take ***', None]"
	asks 0 approve it --message "and $SECRET" --resume
	is "$(of_json '[g["message"] for g in d["approval_history"]]' <"$state")" "['take ***', 'and ***']"
	is "$(grep -rlF $SECRET "$RUNS/it")" "$RUNS/it/gates.json"
}

@test "a secret that is given anew at a resume or a rerun stays masked as it was before" {
	local run
	cat >r.yaml <<'END'
name: it
description: d
version: 1.0.0
secrets: [tok]
context: {tok: ""}
steps:
  - {id: a, type: bash, command: 'echo got {{tok}}', output: a}
  - {id: b, type: bash, command: 'true {{tok}} {{a}}; test -e good'}
END
	asks 1 run -q --as it r.yaml tok=first-pass-word
	asks 1 resume it tok=other-pass-word
	! grep -q pass-word out err || return 1
	asks 1 rerun it tok=third-pass-word --as again
	! grep -q pass-word out err || return 1
	for run in it again; do
		grep -l pass-word "$(roux status "$run" --json | of_json 'd["dir"]')"/*.* >found || true
		is "$(sed 's,.*/,,' found)" values.json
		asks 0 report "$run"
		! grep -q pass-word out || return 1
	done
	asks 1 run -q --as t --secret tok=first-pass-word --template "sh -c 'echo bad \$0 >&2; exit 3' {tok}"
	asks 1 resume t tok=other-pass-word
	asks 0 report t
	! grep -q pass-word out || return 1
}

@test "doctor shows no secret that a recipe has, in its warnings either" {
	mkdir -p "$HOME/.pi/agent/recipes"
	echo '{"secrets": ["tok"], "values": {"tok": "'$SECRET'"}, "template": "echo {tok} {'$SECRET'"}' >"$HOME/.pi/agent/recipes/odd.json"
	roux doctor >out 2>&1 || true
	contains out "'{***' is an ordinary argument"
	run ! grep -qF $SECRET out
}
