#!/usr/bin/env bats
# Formats compose: a step that calls a recipe of commands.
# shellcheck disable=SC2016  # braces of recipes

load common

steps() { # a step recipe s.yaml with these steps, from standard input
	{
		printf 'name: s\ndescription: d\nversion: 1.0.0\n'
		cat
	} >s.yaml
}

@test "a step calls a recipe of commands by path; what it prints is the result" {
	mkdir lib
	echo '{"args":["who","n:int=1"],"template":["echo hello {who} {n}","tr a-z A-Z"]}' >lib/greet.json
	printf -- '---\nargs: x\n---\n```template\necho {"v": "{x}"}\n```\n' >doc.md
	echo '{"template":"printf %s [1,2]"}' >list.json
	steps <<'END'
context: { name: Ada }
steps:
  - { id: g, type: recipe, recipe: lib/greet.json, context: { who: "{{name}} B", n: 3 }, output: said }
  - { id: l, type: recipe, recipe: ./list.json, parse_json: true, output: items }
  - { id: e, type: bash, command: "echo '{{said}}' item {{i}}", foreach: "{{items}}", as: i, collect: all }
  - { id: f, type: bash, command: "printf %s '{{said}}'", output: last }
END
	asks 0 run ./s.yaml --as one
	is "$(cat out)" "HELLO ADA B 3"
	asks 0 plan --json ./s.yaml
	is "$(member '[(l["path"], l["argv"]) for l in d["leaves"]][0:2]')" \
		"[('0.0.0', ['echo', 'hello', 'Ada B', '3']), ('0.0.1', ['tr', 'a-z', 'A-Z'])]"
	asks 0 check ./s.yaml
	asks 0 status one
}

@test "a step calls a recipe by name: the user's, the project's, a packaged one" {
	export PI_CODING_AGENT_DIR=$BASE/agent ROUX_PACKAGED_DIR=$BASE/packaged
	mkdir -p "$BASE/agent/recipes" "$BASE/packaged" .roux/recipes
	chmod go-w .roux .roux/recipes
	for where in "$BASE/packaged" .roux/recipes; do
		echo "{\"template\":\"echo from $(basename "$(dirname "$where")")\"}" >"$where/one.json"
	done
	echo '{"template":"echo packaged"}' >"$BASE/packaged/two.json"
	printf 'name: three\ndescription: d\nversion: 1.0.0\nsteps: [{id: a, type: bash, command: "echo 3", output: o}]\n' \
		>"$BASE/agent/recipes/three.yaml"
	steps <<'END'
steps:
  - { id: a, type: recipe, recipe: one, output: a }
  - { id: b, type: recipe, recipe: two, output: b }
  - { id: c, type: recipe, recipe: three, output: c }
  - { id: d, type: bash, command: "printf '%s' '{{a}}{{b}}{{c.o}}'", output: all }
END
	asks 0 run ./s.yaml
	is "$(cat out)" "from .roux
packaged
3"
	steps <<<'steps: [{ id: a, type: recipe, recipe: nowhere }]'
	asks 1 run ./s.yaml
	has "$(cat err)" "there is no recipe 'nowhere'"
}

@test "a value that a called recipe lacks is asked of the step, by run and by check" {
	echo '{"args":["who","n=1"],"template":["echo {who}","echo {who} {n}"]}' >called.json
	printf 'name: c\ndescription: d\nversion: 1.0.0\nrequired: [who]\nsteps: [{id: a, type: bash, command: "echo {{who}}"}]\n' >called.yaml
	steps <<'END'
steps:
  - { id: fine, type: recipe, recipe: ./called.json, context: { who: x } }
  - { id: a, type: recipe, recipe: ./called.json, on_error: continue }
  - { id: b, type: recipe, recipe: ./called.json, context: { n: 2 }, on_error: continue }
  - { id: c, type: recipe, recipe: ./called.yaml, on_error: continue }
END
	asks 0 run ./s.yaml
	for place in 6:36:a 7:60:b 8:36:c; do
		has "$(cat err)" "s.yaml:${place%:*}: error: step '${place##*:}': no value for 'who', which the recipe needs"
	done
	is "$(grep -c "hint: add 'who' to \`context\` of the step" err)" 3
	asks 0 check ./s.yaml
	is "$(grep -c "warning: step '[abc]': no value for 'who'" out)" 3
	is "$(grep -c "warning:" out)" 3
}

@test "the path of a called recipe is shown without detours" {
	mkdir c
	printf 'name: k\ndescription: d\nversion: 1.0.0\nsteps: [{id: a, type: recipe, recipe: ./././miss.yaml}]\n' >c/k.yaml
	steps <<<'steps: [{id: a, type: recipe, recipe: ./c/./k.yaml}]'
	asks 1 run ./s.yaml
	has "$(cat err)" "cannot read the recipe $PWD/c/miss.yaml:"
	asks 0 check ./s.yaml
	has "$(cat out)" "looked for as ./c/miss.yaml"
	has "$(cat out)" "./c/k.yaml:4:"
}

@test "a missing argument fails the step before it starts; failures are the step's" {
	echo '{"args":["who"],"template":"touch ran-{who}"}' >need.json
	echo '{"failure":"root","template":["sh -c \"exit 5\"","touch never"]}' >fail.json
	steps <<'END'
steps:
  - { id: a, type: recipe, recipe: ./need.json, on_error: continue }
  - { id: b, type: recipe, recipe: ./fail.json, on_error: continue, output: b }
  - { id: c, type: bash, command: "echo after", output: last }
END
	asks 0 run ./s.yaml --as one
	is "$(cat out)" after
	has "$(cat err)" "no value for 'who'"
	[ ! -e never ]
	steps <<<'steps: [{ id: a, type: recipe, recipe: ./need.json }, { id: b, type: bash, command: "touch later" }]'
	asks 1 run ./s.yaml
	[ ! -e later ]
	steps <<<'steps: [{ id: a, type: recipe, recipe: ./need.json, context: { who: x, other: y } }]'
	asks 1 run ./s.yaml
	has "$(cat err)" "no argument 'other'"
}

@test "a resume runs the recipe that the run has begun" {
	echo '{"failure":"root","template":["echo first","sh -c \"cat; test -e go\""]}' >r.json
	steps <<'END'
steps:
  - { id: a, type: recipe, recipe: ./r.json, output: o }
  - { id: b, type: bash, command: "printf %s '{{o}}'", output: last }
END
	asks 1 run ./s.yaml --as one
	echo '{"template":"echo changed"}' >r.json
	touch go
	asks 0 resume one
	is "$(cat out)" first
	asks 0 rerun one --from 0.0.0 --as two
	is "$(cat out)" first
}

@test "what cannot work is one error with what to write" {
	one_error() { # FILE TEXT...
		local file=$1
		shift
		asks 2 check "$file"
		is "$(grep -c 'error:' out)" 1
		for text; do has "$(cat out)" "$text"; done
	}
	steps <<<'steps: [{ run: ls }]'
	one_error ./s.yaml "unknown key 'run'" 'a shell command is `type: bash` with `command: …`'
	printf 'name: CI\non: push\njobs: { build: { steps: [{ run: ls }] } }\n' >w.yml
	one_error ./w.yml 'a workflow of GitHub' '`type: bash`'
	printf 'template: echo hi\n' >t.yaml
	one_error ./t.yaml 'a template recipe, which is not written as YAML' '.json or .md'
	echo '{"name":"s","steps":[{"id":"a","type":"bash","command":"ls"}]}' >t.json
	one_error ./t.json 'a step recipe, which is written as YAML' 'save it as .yaml'
}

# -- a template that imports a step recipe ----------------------------------------------------------

@test "an imported step recipe is a call: its values, its output, nothing read" {
	mkdir sub
	steps <<'END'
context: { who: world, greeting: hello }
steps:
  - { id: a, type: bash, command: "echo {{greeting}} {{who}}; cat; pwd; echo $X", output: x }
  - { id: b, type: bash, command: "printf '%s' \"$V\" | head -n 1", env: { V: "{{x}}" }, output: final_output }
END
	echo '{"imports":{"s":{"from":"./s.yaml","values":{"greeting":"hi"}}},
		"template":["echo input",{"name":"s","values":{"who":"{name} B"}},"sed s/$/!/"]}' >t.json
	asks 0 run ./t.json name=Ada
	is "$(cat out)" "hi Ada B!"
	asks 0 check ./t.json
	asks 0 plan --json ./t.json name=Ada
	is "$(member '[(l["path"], l["label"]) for l in d["leaves"]]')" \
		"[('0', None), ('1.0.0', 'a'), ('1.0.1', 'b'), ('2', None)]"
	is "$(member 'd["argv"][1][2].split(";")[0]')" "echo hi Ada B"
	# Not given by node or import: the context, and over it what the run was given.
	echo '{"imports":{"s":"s"},"template":{"name":"s"}}' >t.json
	asks 0 run ./t.json </dev/null
	is "$(cat out)" "hello world"
	asks 0 run ./t.json who=Eve
	is "$(cat out)" "hello Eve"
	# cwd and env of the template hold for the steps.
	steps <<<'steps: [{ id: a, type: bash, command: "basename $PWD; echo $X", output: x }]'
	echo '{"imports":{"s":"./s"},"cwd":"sub","template":[{"name":"s","env":{"X":"{v}"}}]}' >t.json
	asks 0 run ./t.json v=1
	is "$(cat out)" "sub
1"
}

@test "a Markdown recipe and a project recipe import step recipes by name" {
	mkdir -p .roux/recipes
	chmod go-w .roux .roux/recipes
	steps <<<'steps: [{ id: a, type: bash, command: "echo from steps", output: x }]'
	mv s.yaml .roux/recipes/steps.yml
	printf -- '---\nimports:\n  s: steps\n---\n```template\n[{"name": "s"}, "tr a-z A-Z"]\n```\n' >.roux/recipes/m.md
	asks 0 run m
	is "$(cat out)" "FROM STEPS"
	echo '{"imports":{"s":"steps"},"template":"echo {s.name} {s.defaults.k=none}"}' >.roux/recipes/r.json
	asks 0 run r
	is "$(cat out)" "steps none"
	asks 0 show m
	has "$(cat out)" "steps.yml"
}

@test "a failure in an imported recipe is its node's; rerun does it again from there" {
	steps <<'END'
steps:
  - { id: first, type: bash, command: "echo first >>log" }
  - { id: last, type: bash, command: "echo last >>log; test -e go && echo good", output: o }
END
	echo '{"imports":{"s":"s"},"template":["echo a",{"name":"s","failure":"branch"},"sed s/^/-/"]}' >t.json
	asks 1 run ./t.json --as one
	has "$(cat err)" "one: failed at 1.0.1 'last' (exit 1)"
	asks 0 logs one 1.0.1
	touch go
	asks 0 plan --json run:one
	is "$(member '[l["path"] for l in d["leaves"]], [l["path"] for l in d["reused"]]')" \
		"(['1.0.1', '2'], ['0', '1.0.0'])"
	asks 0 rerun one
	is "$(cat out)" "-good"
	is "$(tr '\n' ' ' <log)" "first last last "
	# Passed over, as any failure in a template is, and tried again by `retry`.
	rm go log
	echo '{"imports":{"s":"s"},"template":["echo a",{"name":"s","retry":2},"echo after"]}' >t.json
	asks 3 run ./t.json
	is "$(cat out)" after
	is "$(tr '\n' ' ' <log)" "first last first last "
	asks 0 status --json latest
	is "$(member 'd["failed"]')" 1
}

@test "a gate in an imported recipe pauses the run; it continues after the answer" {
	steps <<'END'
required: [version]
stages:
  - name: build
    steps: [{ id: a, type: bash, command: "echo built {{version}} >>log" }]
    approval: { required: true, prompt: "Ship {{version}}?" }
  - name: ship
    steps: [{ id: b, type: bash, command: "echo shipped {{version}}: {{_approval_message}}", output: o }]
END
	echo '{"imports":{"s":"s"},"template":["echo a >>log",{"name":"s"},"cat"]}' >t.json
	asks 2 run ./t.json
	has "$(cat err)" "no value for 'version', which 's' requires"
	[ ! -e log ]
	asks 4 run ./t.json version=2 --as one
	asks 0 status one
	has "$(cat out)" "Ship 2?"
	asks 0 approve one --message fine
	asks 0 resume one
	is "$(cat out)" "shipped 2: fine"
	is "$(cat log)" "built 2"
	echo '{"imports":{"s":"s"},"template":[{"parallel":true,"template":["true",{"name":"s"}]}]}' >t.json
	asks 2 check ./t.json
	has "$(cat out)" "'s' has approvals and stands inside a parallel node"
}

@test "each copy of an imported recipe has a gate of its own" {
	steps <<'END'
stages:
  - name: plan
    steps: [{ id: a, type: bash, command: "echo planned >>log" }]
    approval: { required: true, prompt: "go" }
END
	echo '{"imports":{"s":"s"},"template":[{"repeat":2,"template":[{"name":"s"}]},"echo end"]}' >t.json
	asks 4 run ./t.json --as one
	asks 4 approve one --resume
	is "$(tr '\n' ' ' <log)" "planned planned "
	asks 0 approve one --resume
	is "$(tr '\n' ' ' <log)" "planned planned "
}

@test "another attempt asks again: what was approved was the work of the one before" {
	steps <<'END'
stages:
  - name: plan
    steps: [{ id: a, type: bash, command: "echo plan >>log" }]
    approval: { required: true, prompt: "go" }
  - name: do
    steps: [{ id: b, type: bash, command: "echo do >>log; test -e good" }]
END
	cat >m.yaml <<'END'
name: m
version: 1.0.0
description: d
steps: [{ id: a, type: recipe, recipe: s.yaml, retry: { max_attempts: 2, initial_delay: 0 } }]
END
	echo '{"imports":{"s":"s"},"template":[{"name":"s","retry":2}]}' >t.json
	for recipe in ./m.yaml ./t.json; do
		rm -f log
		asks 4 run "$recipe" --as it
		asks 4 approve it --resume
		is "$(tr '\n' ' ' <log)" "plan do plan "
		asks 0 status it
		has "$(cat out)" "it: paused"
		touch good
		asks 0 approve it --resume
		is "$(tr '\n' ' ' <log)" "plan do plan do "
		rm good
	done
}

@test "what stands for a step recipe can be imported in its turn" {
	steps <<<'context: { k: 1, w: x, l: [1, 2] }
steps: [{ id: a, type: bash, command: "echo {{k}} {{w}}", output: o }]'
	echo '{"imports":{"s":"./s.yaml"},"template":{"name":"s"}}' >one.json
	echo '{"imports":{"s":"./one.json"},"label":"flagged","template":{"name":"s"}}' >two.json
	for from in one two; do
		echo "{\"imports\":{\"s\":\"./$from.json\"},\"template\":[{\"name\":\"s\",\"values\":{\"w\":\"y\"}}]}" >t.json
		asks 0 check ./t.json
		asks 0 run ./t.json
		is "$(cat out)" "1 y"
		asks 0 run ./t.json k=5
		is "$(cat out)" "5 y"
		asks 0 tool schema ./t.json
		is "$(member '[(k, v["type"], v["default"]) for k, v in sorted(d["properties"].items())]')" \
			"[('k', 'integer', 1), ('l', 'array', [1, 2]), ('w', 'string', 'y')]"
	done
}

@test "copies and branches call it each with values of their own, and it calls others" {
	mkdir lib
	echo '{"args":["x"],"template":"echo called {x}"}' >lib/t.json
	steps <<'END'
context: { x: none }
steps:
  - { id: a, type: recipe, recipe: lib/t.json, context: { x: "{{x}}" }, output: o }
END
	echo '{"imports":{"s":"s"},"defaults":{"all":["p","q"]},
		"template":[{"parallel":true,"repeat":"{all.length}","name":"s","values":{"x":"{all[index]}"}},"grep called"]}' >t.json
	asks 0 run ./t.json --as one
	is "$(cat out)" "called p
called q"
	asks 0 rerun one --all
	is "$(cat out)" "called p
called q"
	# Two that call each other come to an end.
	echo '{"imports":{"s":"../s.yaml"},"args":["x"],"template":{"name":"s"}}' >lib/t.json
	asks 0 plan ./s.yaml
	asks 1 run ./s.yaml
	has "$(cat err)" "recipes call each other more than max_depth"
}

@test "check --portable notes recipes of one format that use the other" {
	echo '{"template":"true"}' >t.json
	steps <<<'steps: [{ id: a, type: recipe, recipe: ./t.json }, { id: b, type: recipe, recipe: ./other.yaml }]'
	cp s.yaml other.yaml
	asks 0 check --portable ./s.yaml
	has "$(cat out)" "s.yaml:4:40: note: step 'a': the call of a template recipe is an extension of roux"
	[[ $(cat out) != *"step 'b'"* ]]
	steps <<<'steps: [{ id: a, type: bash, command: "true" }]'
	echo '{"imports":{"s":"./s.yaml"},"template":{"name":"s"}}' >i.json
	asks 0 check --portable ./i.json
	has "$(cat out)" "note: the import of a step recipe is an extension of roux"
	asks 2 check --portable --strict ./i.json
}

@test "a mistake in an imported step recipe is shown in its file" {
	steps <<<'steps: [{ id: a, type: bash, command: "echo {{nope}}" }]'
	echo '{"imports":{"s":"./s.yaml"},"template":{"name":"s"}}' >i.json
	asks 2 check ./i.json
	has "$(cat out)" "s.yaml:4:"
	has "$(cat out)" nope
	echo '{"imports":{"s":"./s.yaml"},"template":"true"}' >i.json
	printf 'name: s\nsteps: 3\n' >s.yaml
	asks 2 check ./i.json
	has "$(cat out)" "s.yaml:"
}
