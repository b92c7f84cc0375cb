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
	steps <<<'steps: [{ id: a, type: bash, command: "true" }]'
	echo '{"imports":{"s":"./s.yaml"},"template":{"name":"s"}}' >i.json
	one_error ./i.json "'./s.yaml' is a step recipe"
}
