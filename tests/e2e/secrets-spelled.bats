# Secrets inside other values, and in the spellings that steps give them.

load common

SECRET=swordfish-9

setup_secrets() {
	RUNS=$(state)/runs
}

@test "a secret of --secret-env inside another value is written nowhere, and a resume has it" {
	local record='sh -c "echo \$@ >>told; exit 3" sh {url} {o} {n} {tok}'
	local given=("url=http://$SECRET@h" "o:={\"$SECRET\":[1,\"x${SECRET}y\"],\"(text) \":{\"a\":1.5}}" n:=123456789)
	tok=$SECRET asks 1 run --as it --secret-env tok --template "$record" "${given[@]}"
	run ! grep -rqF $SECRET "$(state)" out err
	contains "$(state)/runs/it/run.json" '"***": ['
	tok=$SECRET asks 1 resume it
	is "$(tail -n 1 told)" "$(head -n 1 told)"
	contains told "http://$SECRET@h {\"$SECRET\":[1,\"x${SECRET}y\"],\"(text) \":{\"a\":1.5}} 123456789 $SECRET"
	# What the environment has now counts, as for the secret itself.
	tok=other-one asks 1 rerun it --as again
	is "$(tail -n 1 told)" "$(head -n 1 told | sed "s/$SECRET/other-one/g")"
	asks 2 resume it
	contains err "the secret 'tok' is not in the environment"
	# A value that is the secret, as a number, in a list and with bytes that are no text.
	tok=123456789 asks 1 run --as more --secret-env tok --template "$record" url=$'\xff123456789\xfe' 'o:=[[123456789]]' n:=123456789
	run ! grep -rqF 123456789 "$(state)/runs/more"
	tok=123456789 asks 1 resume more
	is "$(tail -n 1 told)" "$(tail -n 2 told | head -n 1)"
	contains told '[[123456789]] 123456789 123456789'
}

@test "a secret of --secret-env inside a value of steps is written nowhere, and a resume has it" {
	printf '%s\n' 'name: it' 'description: d' 'version: 1.0.0' 'context: {tok: "", url: "", list: []}' 'steps:' \
		'- {id: a, type: bash, foreach: "{{list}}", as: one, command: "echo {{one}} {{url}} >>told"}' \
		'- {id: b, type: bash, command: "echo {{tok}} >>told; test -e good"}' >r.yaml
	tok=$SECRET asks 1 run -q --as it r.yaml --secret-env tok url=http://$SECRET@h "list:=[\"a\",\"$SECRET-b\"]"
	run ! grep -rqF $SECRET "$(state)" out err
	touch good
	tok=$SECRET asks 0 resume -q it
	run ! grep -rqF $SECRET "$(state)" out err
	is "$(uniq -c told | tr -s ' ')" " 1 a http://$SECRET@h
 1 $SECRET-b http://$SECRET@h
 2 $SECRET"
}

@test "a secret number is masked as a step recipe writes it, also the one before a resume" {
	local run
	setup_secrets
	printf '%s\n' 'name: it' 'description: d' 'version: 1.0.0' 'secrets: [n]' 'context: {n: 0, m: {}}' 'steps:' \
		"- {id: a, type: bash, command: 'echo got {{n}}', output: a}" \
		"- {id: b, type: bash, command: \"false '{{n}} {{m}}' {{a}}\"}" >it.yaml
	asks 1 run -q --as it it.yaml n:=1234567e12 'm:={"k":[1234567e12]}'
	contains "$RUNS/it/events.jsonl" "false '*** {\\\"k\\\": [***]}' got ***"
	asks 1 resume it n:=-1.5e-7
	! grep -E '34567|\.5e' out err || return 1
	asks 1 rerun it --as again n:=123456.0
	for run in it again; do
		asks 0 report $run
		! grep -E '34567|\.5e|123456|\*\.0' --exclude values.json out err "$RUNS/$run"/*.* || return 1
	done
}

@test "a secret that is not ASCII is masked as a step recipe writes it in a list or a mapping" {
	setup_secrets
	printf '%s\n' 'name: it' 'description: d' 'version: 1.0.0' 'context: {m: {}}' 'steps:' \
		"- {id: a, type: bash, command: \"false '{{m}}'\"}" "- {id: b, type: bash, command: 'true'}" >it.yaml
	asks 1 run --as it --secret tok=pässw0rd it.yaml 'm:={"k":["pässw0rd"]}'
	contains err '{"k": ["***"]}'
	asks 0 report it
	! grep -r --exclude values.json ssw0rd out err "$RUNS/it" || return 1
}

@test "a secret object or array is masked as a whole, with its names and what is short in it" {
	local given json
	for given in '{"swordfish":{"no":1},"é":"ab"}' '["xy","zw",1,-0.0]'; do
		json='{"secrets": ["o"], "template": "sh -c \"echo $1 >&2; exit 3\" sh {o}"}'
		asks 1 run -q --json --as it "$json" "o:=$given"
		is "$(of_json 'd["failures"][0]["stderr"], d["failures"][0]["command"]' <out)" \
			"('***\\n', \"sh -c 'echo \$1 >&2; exit 3' sh '***'\")"
		is "$(grep -lE 'swordfish|zw' "$(state)/runs/it/"*.json* | sed 's/.*\///' | tr '\n' ' ')" 'values.json '
		printf '%s\n' 'name: it' 'description: d' 'version: 1.0.0' 'secrets: [o]' 'context: {o: "", w: {}}' 'steps:' \
			'- {id: a, type: bash, command: "echo \"$O\"; echo \"$O\" >&2; exit 3", env: {O: "{{o}}"}, on_error: continue, output: a}' \
			'- {id: b, type: recipe, recipe: sub.yaml, context: {p: "{{o}}"}, output: b}' >it.yaml
		printf '%s\n' 'name: sub' 'description: d' 'version: 1.0.0' 'context: {p: ""}' 'steps:' \
			'- {id: c, type: bash, command: "true {{p}}"}' >sub.yaml
		asks 0 run -q --json --as steps ./it.yaml "o:=$given" "w:={\"in\":[$given]}"
		is "$(of_json 'd["failures"][0]["stderr"], d["context"]["a"], d["context"]["o"]' <out)" "('***\\n', '***\\n', '***')"
		is "$(of_json 'd["context"]["w"]' <out)" "{'in': ['***']}"
		is "$(grep -lE 'swordfish|zw' "$(state)/runs/steps/"*.json* | sed 's/.*\///' | tr '\n' ' ')" 'values.json '
		asks 0 prune it
		asks 0 prune steps
	done
}

@test "the beginning of a long secret is not shown where a text is cut" {
	local long flag how
	long=$(printf 'begins%s' $(seq 100 140))
	echo '{"secrets": ["tok", "list"], "failure": "root", "args": ["tok", "list:array"],
		"template": [{"repeat": "{list.length}", "template": "true"}, "sh -c \"exit 3\" a-word-or-two-before-it {tok}"]}' >cut.json
	asks 1 run --as it ./cut.json "tok=$long" "list:=[\"$(printf '%s' "$long" "$long" "$long")\"]"
	is "$(grep -l begins1 out err)" ""
	asks 0 status it
	contains out 'a-word-or-two-before-it ***…'
	is "$(grep -l begins1 out err)" ""
	is "$(grep -l begins1 "$(state)/runs/it/"*.json* | sed 's/.*\///')" values.json
	asks 1 run --json --as two ./cut.json "tok=$long" "list:=[\"$(printf "$long%.0s" $(seq 20))\"]"
	is "$(grep -l begins1 out err)" ""
	is "$(grep -l begins1 "$(state)/runs/two/"*.json* | sed 's/.*\///')" values.json
	for flag in timeout retry delay; do
		for how in run plan; do
			asks 2 $how '{"secrets": ["tok"], "'$flag'": "{tok}", "template": "true"}' "tok=$long"
			contains err '***…'
			is "$(grep -l begins1 out err)" ""
		done
	done
	printf '%s\n' 'name: it' 'description: d' 'version: 1.0.0' 'secrets: [tok]' 'context: {tok: "'$long'"}' 'steps:' \
		'- {id: a, type: bash, command: "echo {{tok}}", parse_json: true}' \
		"- {id: b, type: bash, command: \"echo a long line that shows how short it is made $long\"}" >it.yaml
	asks 1 run --json --as three ./it.yaml
	contains out 'asks for JSON: not valid JSON'
	is "$(grep -l begins1 out err)" ""
	asks 0 show ./it.yaml
	contains out 'it is made ***'
	is "$(grep -l begins1 out err)" ""
}

@test "what steps take out of a secret that is JSON is masked" {
	local run
	printf '%s\n' 'name: it' 'description: d' 'version: 1.0.0' 'secrets: [login, list]' 'context: {login: "", list: "[]"}' 'steps:' \
		'- {id: a, type: bash, command: "echo {{login.password}} >&2; exit 3", on_error: continue}' \
		'- {id: b, type: bash, foreach: "{{list}}", command: "echo {{item}} >&2; exit 3", on_error: continue}' >it.yaml
	printf '{\n  "user": "alice",\n  "password": "swordfish-7"\n}\n' >login.json
	asks 0 run --as it ./it.yaml --secret-file login=login.json 'list=["swordfish-8"]'
	contains err "start /bin/bash -c 'echo ***"
	list='["swordfish-8"]' asks 0 run --json --as two ./it.yaml "login=$(cat login.json)" --secret-env list
	list='["swordfish-8"]' asks 0 rerun --json --all --as three two
	for run in it two three; do
		is "$(grep -l swordfish out err "$(state)/runs/$run/"*.json* | sed 's/.*\///')" values.json
		asks 0 report $run
	done
	is "$(grep -l swordfish out err)" ""
}

@test "a secret in the environment of a step is hidden inside JSON, and where it is cut" {
	local given long
	long=$(printf 'swordfish%s' $(seq 100 600))
	printf '%s\n' 'name: it' 'description: d' 'version: 1.0.0' 'secrets: [tok]' 'context: {tok: "", m: {}}' 'steps:' \
		'- {id: a, type: bash, command: "true", env: {A: "{{m}}", B: "some text and {{m}}"}}' >it.yaml
	# The last one would end the text of B if it were replaced in the line.
	for given in 'a "swordfish" b' 'a\swordfish"\' "$long" '":"swordfish'; do
		asks 0 run --as it --events events ./it.yaml "tok=$given" \
			"m:=$(python3 -c 'import json, sys; print(json.dumps({"in": [sys.argv[1]]}))' "$given")"
		is "$(grep -l swordfish out err events "$(state)/runs/it/"*.json* | sed 's/.*\///')" values.json
		is "$(grep step:bash:start events | of_json 'd["env"]["B"][:25]')" 'some text and {"in": ["**'
		asks 0 prune it
	done
}

@test "what is wrong with JSON that has a secret in it shows no piece of the secret" {
	printf '%s\n' 'name: it' 'description: d' 'version: 1.0.0' 'secrets: [tok]' 'context: {tok: ""}' 'steps:' \
		"- {id: a, type: bash, command: 'printf %s \"\$T\"', env: {T: '{\"k\": \"{{tok}}\"}'}, parse_json: true}" >it.yaml
	asks 1 run --as it ./it.yaml 'tok=a "swordfish" b'
	contains err 'asks for JSON: not valid JSON'
	asks 1 run --json --as two ./it.yaml --secret-file tok=<(printf 'a" swordfish')
	asks 0 report it
	is "$(grep -l swordfish out err "$(state)/runs/"{it,two}/*.json* | sed 's/.*\///' | uniq)" values.json
	# Of another text it says what stands there.
	sed -i 's/^secrets.*//' it.yaml
	asks 1 run --as plain ./it.yaml 'tok=a" b'
	contains err 'found b, expected a comma'
}

@test "a secret with control characters is masked in the label of a branch" {
	echo '{"secrets": ["tok"], "args": ["tok", "word"], "parallel": true, "template": [
		{"label": "one {tok}", "template": "false"}, {"label": "two {word}", "template": "true"}]}' >it.json
	asks 3 run --json --as it ./it.json $'tok=a\tswordfish\e[1mb' $'word=c\td'
	is "$(of_json '[b["label"] for b in d["branches"]]' <out)" "['one ***', 'two c\\td']"
	is "$(grep -l swordfish err "$(state)/runs/it/"*.json* | sed 's/.*\///')" values.json
	# In the joined text it is a line.
	asks 0 logs --result it
	contains out '--- branch: two c\td status: done'
}

@test "a secret with control characters is masked in diagnostics" {
	local given=$'a\tswordfish\e[1m' flag
	for flag in timeout retry delay; do
		printf '{"%s": "a\\tswordfish\\u001b[1m", "template": "true {tok}"}' $flag >it.json
		asks 2 run --secret "tok=$given" ./it.json
		contains err "is '***', expected"
		is "$(grep -l swordfish err)" ""
	done
	tok=$given asks 1 exec -q --secret-env tok "/nope '$given' {tok"
	contains err "1 | /nope '***' {tok"
	is "$(grep -l swordfish err)" ""
}
