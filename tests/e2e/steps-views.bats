# Step recipes as they are looked at: pictures, plans, checks, lists, and while they run.

load common

tm() {
	tmux -L "e2e-steps-$$" -f /dev/null "$@"
}

on_screen() {
	command -v tmux >/dev/null || skip "no tmux here"
	tm new-session -d -x 80 -y 24 "env TERM=screen sh -c '$1; echo status=\$?; exec sleep 100'"
}

shows() {
	tm capture-pane -p | grep -qE -- "$1"
}

teardown() {
	tm kill-server 2>/dev/null || true
	clean_up
}

# recipe FILE: a recipe whose body is read from standard input.
recipe() {
	{
		printf 'name: %s\ndescription: what it is for\nversion: 1.0.0\n' "$(basename "$1" .yaml)"
		cat
	} >"$1"
}

all_kinds() {
	recipe all.yaml <<-'END'
		context: {xs: [1, 2], go: "yes", name: ""}
		stages:
		  - name: build
		    steps:
		      - {id: list, type: bash, command: 'echo "{{go}}"', output: listed}
		      - {id: each, type: bash, command: 'echo {{item}}', foreach: "{{xs}}"}
		      - {id: again, type: bash, command: 'echo {{listed}}', while_condition: "{{go}} == no"}
		      - {id: maybe, agent: 'team:ada', prompt: 'say {{listed}}', condition: "{{listed}} == x"}
		    approval: {required: true, prompt: 'go on with {{go}}?'}
		  - name: ship
		    steps:
		      - {id: other, type: recipe, recipe: sub.yaml, context: {v: "{{go}}"}}
		      - {id: rest, type: wait, seconds: 1}
	END
	recipe sub.yaml <<-'END'
		context: {v: none}
		steps:
		  - {id: inner, type: bash, command: 'echo {{v}}'}
	END
}

@test "pictures of a step recipe: valid in each format, with diamonds, stages and a legend" {
	all_kinds
	quick_picture() { "$ROUX" graph --format "$1" all.yaml; }
	quick_picture svg >p.svg
	python3 -c "import xml.dom.minidom as m; m.parse('p.svg')"
	has "$(cat p.svg)" '>approve</text>'
	has "$(cat p.svg)" 'class="skip-text"'
	quick_picture dot >p.dot
	has "$(cat p.dot)" 'source_hash="'
	has "$(cat p.dot)" 'subgraph cluster_legend'
	if command -v dot >/dev/null; then dot -Tsvg p.dot >/dev/null; fi
	has "$(quick_picture mermaid)" 'flowchart TD'
}

@test "show tells format, arguments, steps, stages and variables" {
	all_kinds
	"$ROUX" show --json all.yaml >doc
	is "$(of_json 'd["format"]' <doc)" yaml
	is "$(of_json '[(a["name"],a["type"],a["required"]) for a in d["args"]]' <doc)" \
		"[('xs', 'array', False), ('go', 'string', False), ('name', 'string', False)]"
	is "$(of_json '[s["id"] for s in d["steps"]]' <doc)" "['list', 'each', 'again', 'maybe', 'other', 'rest']"
	is "$(of_json '[(s["name"],s["approval"]) for s in d["stages"]]' <doc)" "[('build', True), ('ship', False)]"
	is "$(of_json 'd["graph"]["children"][0]["children"][1]["children"][0]["path"]' <doc)" 0.1.r0
	is "$(of_json 'd["graph"]["children"][0]["children"][2]["children"][0]["path"]' <doc)" 0.2.r0
	has "$("$ROUX" show all.yaml)" 'maybe (agent, if {{listed}} == x): team:ada: say {{listed}}'
	has "$("$ROUX" show all.yaml)" 'approval: go on with {{go}}?'
	has "$("$ROUX" help all.yaml)" 'name=…'
}

@test "a YAML recipe in the user's directory is a tool like any other" {
	all_kinds
	mkdir -p "$HOME/.pi/agent/recipes"
	mv all.yaml sub.yaml "$HOME/.pi/agent/recipes"
	echo 'name: x' >"$HOME/.pi/agent/recipes/broken.yml"
	has "$("$ROUX" list | tr -s ' ')" '[name=…] what it is for'
	has "$("$ROUX" list | tr -s ' ')" 'broken (invalid)'
	is "$("$ROUX" tool list --json | of_json '[t["id"] for t in d["tools"]]')" "['all', 'sub']"
	is "$("$ROUX" tool schema all --json | of_json 'd["properties"]["xs"], d["required"]')" \
		"({'type': 'array', 'items': {}, 'default': [1, 2]}, [])"
	has "$("$ROUX" complete recipes)" all
	has "$("$ROUX" complete args run all)" 'xs:='
	run "$ROUX" doctor
	is "$status" 1
	has "$output" 'error: broken'
	has "$output" "no agent 'team:ada' is configured"
	has "$output" '[agents.ada]'
	quick run sub >/dev/null
	is "$("$ROUX" list --json | of_json '[r["usage"]["calls"] for r in d["recipes"] if r["id"]=="sub"][0]')" 1
}

@test "plan shows the argv that is known and leaves open what is not" {
	all_kinds
	"$ROUX" plan all.yaml >lines
	cat lines
	is "$(sed -n 1p lines)" "0.0  /bin/bash -c 'echo \"yes\"'"
	is "$(grep -c 'r[01]  /bin/bash -c .echo [12]' lines)" 2
	is "$(grep -c again lines)" 0
	has "$(cat lines)" "0.3  team:ada 'say {{listed}}'  # if {{listed}} == x; an agent"
	has "$(cat lines)" '0.4  # approval: go on with yes?'
	has "$(cat lines)" "1.0.0.0  /bin/bash -c 'echo yes'"
	"$ROUX" plan --json all.yaml go=no --agent 'ada=talk -p {prompt}' >doc
	is "$(of_json '[l["path"] for l in d["leaves"]]' <doc)" "['0.0', '0.1.r0', '0.1.r1', '0.2.r0', '0.3', '1.0.0.0']"
	is "$(of_json 'd["argv"][4]' <doc)" "['talk', '-p', 'say {{listed}}']"
	is "$(of_json 'd["leaves"][4]["when"], d["leaves"][0]["timeout"]' <doc)" "('{{listed}} == x', 60000)"
}

@test "check looks for agents and into recipes that are called" {
	all_kinds
	printf 'steps: []\n' | recipe sub.yaml
	run --separate-stderr "$ROUX" check all.yaml
	is "$status" 0
	has "$output" "all.yaml:11:28: warning: step 'maybe': no agent 'team:ada' is configured"
	has "$output" 'sub.yaml:4:8: warning: `steps` is empty'
	run "$ROUX" check all.yaml --agent '*=cat' --strict
	is "$status" 2
	rm sub.yaml
	run "$ROUX" check all.yaml
	has "$output" "step 'other': cannot read the recipe"
}

@test "check and doctor read the settings and the prompts configuration" {
	mkdir -p "$HOME/.config/roux" "$HOME/.config/start" .start
	printf 'jobs = 2\njosb = 3\n' >"$HOME/.config/roux/config.toml"
	printf '[agents.a]\nbin = "cat"\n' >"$HOME/.config/start/agents.toml"
	printf '[roles.r]\nprompt = "x"\n' >.start/roles.toml
	run "$ROUX" check
	is "$status" 2
	has "$output" "config.toml:2:1: warning: unknown setting 'josb'"
	has "$output" "agents.toml:1:9: error: agent 'a' has no 'command'"
	has "$output" 'it can run commands'
	run "$ROUX" check "$HOME/.config/start/agents.toml"
	is "$status" 2
	has "$output" "agents.toml:1:9: error"
	run "$ROUX" check other.toml
	is "$status" 2
	run "$ROUX" doctor
	is "$status" 1
	has "$output" "agent 'a' has no 'command'"
	has "$output" "unknown setting 'josb'"
	has "$output" 'info: .start'
}

@test "the settings count where no option does, and a mistake in them stops" {
	mkdir -p "$HOME/.config/roux" lib
	printf 'steps:\n  - {id: a, type: bash, command: echo from lib}\n' | recipe lib/x.yaml
	printf 'steps:\n  - {id: a, type: recipe, recipe: "@lib:x.yaml", output: o}\n' | recipe t.yaml
	printf 'jobs = 3\nmax_parallel = 2\ngrace_ms = 70\n[collections]\nlib = "%s"\n' "$PWD/lib" >"$HOME/.config/roux/config.toml"
	quick run t.yaml --as one -q >/dev/null
	quick run t.yaml --as two -q -j 9 >/dev/null
	settings() { of_json 'd["jobs"], d["max_parallel"], d["grace_ms"]' <"$HOME/.pi/agent/roux/runs/$1/start.json"; }
	is "$(settings one)" '(3, 2, 70)'
	is "$(settings two)" '(9, 2, 70)'
	printf 'jobs = "many"\n' >"$HOME/.config/roux/config.toml"
	run quick exec true
	is "$status" 2
	has "$output" "config.toml:1:8: error: 'jobs' is \"many\""
	run quick run t.yaml
	is "$status" 2
}

@test "usage is counted where the settings say" {
	mkdir -p "$HOME/.config/roux"
	"$ROUX" tool add greet 'echo hi' >/dev/null
	quick run greet -q
	is "$(of_json 'd["usage"]["calls"]' <"$HOME/.pi/agent/recipes/greet.json")" 1
	echo 'usage = "ledger"' >"$HOME/.config/roux/config.toml"
	quick run greet -q
	quick run greet -q
	is "$(of_json 'd["usage"]["calls"]' <"$HOME/.pi/agent/recipes/greet.json")" 1
	calls='[r["usage"]["calls"] for r in d["recipes"] if r["id"]=="greet"][0]'
	between "$("$ROUX" list --json | of_json "$calls")" 2 3
}

@test "runs past the limits of retention go when a run has ended" {
	mkdir -p "$HOME/.config/roux"
	for i in 1 2 3 4; do quick run 'true' --template --as "r$i" -q; done
	is "$("$ROUX" runs --json | of_json 'len(d["runs"])')" 4
	printf '[retention]\nmax_runs = 2\n' >"$HOME/.config/roux/config.toml"
	quick run 'true' --template --as last -q
	is "$("$ROUX" runs --json | of_json '[r["run"] for r in d["runs"]]')" "['last', 'r4']"
}

@test "the schema of step recipes is printed" {
	is "$("$ROUX" schema steps | of_json 'd["type"]')" object
	run "$ROUX" schema step
	is "$status" 2
	has "$output" steps
}

two_hundred() {
	recipe many.yaml <<-'END'
		steps:
		  - {id: make, type: bash, command: 'echo "[$(seq -s, 200)]"', output: items}
		  - {id: work, type: bash, foreach: "{{items}}", parallel: 8, max_iterations: 200, command: "sleep 0.05"}
		  - {id: hold, type: bash, foreach: "{{items}}", parallel: 8, max_iterations: 200, command: "until test -e go; do sleep 0.05; done"}
	END
}

@test "two hundred items at once: progress on a terminal" {
	two_hundred
	on_screen '$ROUX run many.yaml >/dev/null'
	until_true shows 'work  [0-9]+/200 done'
	until_true shows 'work #[0-9]+ '
	until_true shows '[0-9]/s'
	until_true shows 'hold  [0-9]+/200 done'
	touch go
	until_true shows 'status=0'
	tm kill-server
	until_true nobody_left
}

@test "two hundred items at once: plain lines in a pipe" {
	two_hundred
	touch go
	"$ROUX" run many.yaml 2>err >/dev/null </dev/null
	is "$(grep -c '^\[1\.r[0-9]* work [^]]*\] done' err)" 200
	has "$(cat err)" '[1 work] 200 items'
	has "$(grep '^\[1 work\] done: ' err)" 'done: 200/200'
	has "$(grep 'work [^]]*\] done in' err | tail -1)" '(200/200'
	is "$(grep -c $'\033' err)" 0
}

@test "what streaming steps print is shown as it comes, behind their ids" {
	recipe s.yaml <<-'END'
		steps:
		  - {id: talk, type: bash, command: 'printf "one\ntwo"; echo \"three\" >&2', stream: true, output: said}
		  - {id: silent, type: bash, command: 'echo unseen', output: said}
	END
	"$ROUX" run s.yaml --progress=none 2>err >out </dev/null
	is "$(sort err)" $'[talk] "three"\n[talk] one\n[talk] two'
	is "$(cat out)" unseen
	"$ROUX" run s.yaml --progress=none --stream 2>err >/dev/null </dev/null
	has "$(cat err)" '[silent] unseen'
	"$ROUX" run s.yaml --quiet --stream 2>err >/dev/null </dev/null
	is "$(cat err)" ''
}

@test "retries, pauses, skips and gates have their lines, and endings are clear" {
	recipe e.yaml <<-'END'
		stages:
		  - name: first
		    steps:
		      - {id: rest, type: wait, seconds: 0.01}
		      - {id: flaky, type: bash, command: 'test -e flag || { touch flag; exit 3; }', retry: {initial_delay: 0.01}}
		      - {id: nay, type: bash, command: 'true', condition: "1 == 2"}
		    approval: {required: true, prompt: 'well?'}
		  - name: second
		    steps:
		      - {id: early, type: bash, command: 'exit 5', on_error: skip_remaining}
		      - {id: never, type: bash, command: 'true'}
	END
	run "$ROUX" run e.yaml --as e1 </dev/null
	is "$status" 4
	has "$output" '[0 first] stage'
	has "$output" '[0.0 rest] wait for 10 ms'
	has "$output" '[0.1 flaky] retry, attempt 2, in 10 ms'
	has "$output" '[0.2 nay] skipped'
	has "$output" '[0.3 first] waits for approval'
	has "$output" "paused at stage 'first': well?"
	has "$("$ROUX" graph run:e1 --format dot)" 'paused'
	"$ROUX" approve e1
	run "$ROUX" resume e1 </dev/null
	is "$status" 3
	has "$output" 'ended early'
	"$ROUX" graph run:e1 --format mermaid >picture
	has "$(grep 'wait · rest' picture)" 'done'
	has "$(grep 'approve · first' picture)" 'done'
	has "$(grep 'bash · never' picture)" 'unreached'
	"$ROUX" run e.yaml --as e2 -q </dev/null || true
	"$ROUX" deny e2
	run "$ROUX" wait e2 </dev/null
	is "$status" 1
	has "$output" "stage 'first' was denied"
}
