#!/usr/bin/env bats
# roux tool: registering, changing, removing and describing recipes of the user's directory.
# shellcheck disable=SC2016  # expanded by others

load common

setup_tools() {
	export PI_CODING_AGENT_DIR=$BASE/agent ROUX_PACKAGED_DIR=$BASE/packaged
	mkdir "$BASE/packaged"
	TOOLS=$BASE/agent/recipes
}

tool() { # STATUS ARGUMENT...: roux tool with its output in out and err; the status is as given
	local want=$1
	shift
	asks "$want" tool "$@"
}

stored() { # NAME: the file as Python sees it
	python3 -c 'import json, sys; print(json.load(open(sys.argv[1])))' "$TOOLS/$1.json"
}

files() {
	(cd "$TOOLS" 2>/dev/null && find . -mindepth 1 -printf '%P\n' | sort | tr '\n' ' ')
}

@test "a tool is a recipe file that only its owner can read" {
	setup_tools
	umask 0
	tool 0 add --json greet 'echo hello {name}'
	is "$(member 'd')" "{'ok': True, 'id': 'greet', 'path': '$TOOLS/greet.json'}"
	is "$(stat -c %a "$BASE/agent" "$TOOLS" "$TOOLS/greet.json" | tr '\n' ' ')" '700 700 600 '
	is "$(files)" 'greet.json '
	is "$(quick run greet name=Ada)" 'hello Ada'
	tool 0 list --json
	is "$(member '[(t["id"], t["tool"]) for t in d["tools"]]')" "[('greet', True)]"
}

@test "members are written in their order, defaults of --args move" {
	setup_tools
	tool 0 add full 'echo {f} {n} {m}' --args 'f:path, n:int=5,m:enum(a,b)=a, w:weird' \
		--description ' What it does ' --async
	is "$(stored full)" \
		"{'description': 'What it does', 'async': True, 'args': ['f:path', 'n:int', 'm:enum(a,b)', 'w'], 'defaults': {'n': '5', 'm': 'a'}, 'template': 'echo {f} {n} {m}'}"
	has "$(cat err)" "unknown type in 'w:weird': it is left out, and any text is taken"
	has "$(cat err)" 'hint: types are string, path, int'
	tool 0 add bare '["echo a", {"parallel": true, "template": ["true", "true"]}]'
	is "$(stored bare)" "{'template': ['echo a', {'parallel': True, 'template': ['true', 'true']}]}"
}

@test "names become lower case letters, digits and underscores" {
	setup_tools
	local long
	long=$(printf 'x%.0s' $(seq 100))
	tool 0 add 'My Tool!!v2' true
	tool 0 add 1st true
	tool 0 add ../up true
	tool 0 add "$long" true
	tool 0 add "1$long" true
	[ -e "$TOOLS/my_tool_v2.json" ]
	[ -e "$TOOLS/tool_1st.json" ]
	[ -e "$TOOLS/_up.json" ]
	[ -e "$TOOLS/$(printf 'x%.0s' $(seq 64)).json" ]
	is "$(files | wc -w)" 5
	[ "$(find "$TOOLS" -name '*.json' -printf '%f\n' | awk '{ if (length($0) > 69) print }' | wc -l)" -eq 0 ]
}

@test "reserved and empty names are refused" {
	setup_tools
	for name in roux Roux roux_x ROUX-y 'roux!' ''; do
		tool 2 add --json "$name" true
		is "$(member 'd["ok"], d["status"]')" "(False, 'invalid')"
	done
	is "$(files)" ''
	tool 0 add rouxy true
}

@test "a bad registration leaves nothing behind" {
	setup_tools
	for template in '{"template": "true", "retry": -1}' 'echo {a..b}' '[]' '[5]' '{"name": "nothing"}' \
		'{"template":' '[{"template": "true"},]'; do
		tool 2 add bad "$template"
		! contains err .check || { cat err; return 1; }
		is "$(files)" ''
	done
	for args in a,a n:int=x 'm:enum(a,b)=c' 'bad name' '{a}'; do
		tool 2 add bad 'echo {a=1}' --args "$args"
		is "$(files)" ''
	done
}

@test "an existing tool is not written over" {
	setup_tools
	tool 0 add a 'echo 1'
	cp "$TOOLS/a.json" before
	tool 2 add a 'echo 2'
	contains err 'tool update'
	cmp before "$TOOLS/a.json"
	tool 2 update b 'echo 2'
	contains err 'tool add'
	is "$(files)" 'a.json '
}

@test "a Markdown recipe of that name counts as existing" {
	setup_tools
	mkdir -p "$TOOLS"
	printf -- '---\n---\n```template\necho md\n```\n' >"$TOOLS/m.md"
	tool 2 add m 'echo json'
	is "$(files)" 'm.md '
}

@test "update changes what is given and keeps every other byte" {
	setup_tools
	mkdir -p "$TOOLS"
	printf '{ "x": [1,  2.50],\n\t"template" : "echo 1" ,"y":{ } }' >"$TOOLS/k.json"
	chmod 640 "$TOOLS/k.json"
	tool 0 update --json k 'echo 2'
	is "$(member 'd')" "{'ok': True, 'id': 'k', 'path': '$TOOLS/k.json'}"
	printf '{ "x": [1,  2.50],\n\t"template" : "echo 2" ,"y":{ } }' | cmp - "$TOOLS/k.json"
	is "$(stat -c %a "$TOOLS/k.json")" 640
	tool 0 update k --description d
	has "$(cat "$TOOLS/k.json")" '[1,  2.50]'
	tool 0 update k --async
	tool 0 update k --no-async
	is "$(stored k)" "$(python3 -c 'import json
d = json.load(open("'"$TOOLS"'/k.json")); assert d["async"] is False and d["description"] == "d"; print(d)')"
	cp "$TOOLS/k.json" before
	tool 2 update k 'echo {a..b}'
	cmp before "$TOOLS/k.json"
	is "$(files)" 'k.json '
}

@test "update of arguments keeps other defaults" {
	setup_tools
	mkdir -p "$TOOLS"
	echo '{"defaults": {"q": 1.50}, "template": "echo {q} {k}"}' >"$TOOLS/k.json"
	tool 0 update k --args 'k:int=3'
	is "$(stored k)" "{'defaults': {'q': 1.5, 'k': '3'}, 'args': ['k:int'], 'template': 'echo {q} {k}'}"
}

@test "ids of existing files are used as they are" {
	setup_tools
	mkdir -p "$TOOLS"
	echo '{"template": "echo 1"}' >"$TOOLS/My-Tool.json"
	tool 0 update My-Tool 'echo 2'
	is "$(quick run My-Tool)" 2
	is "$(files)" 'My-Tool.json '
	tool 0 remove My-Tool
	is "$(files)" ''
}

@test "a link stays a link" {
	setup_tools
	mkdir -p "$TOOLS"
	echo '{"template": "echo 1"}' >real.json
	ln -s "$PWD/real.json" "$TOOLS/l.json"
	tool 0 update l 'echo 2'
	[ -L "$TOOLS/l.json" ]
	contains real.json 'echo 2'
}

@test "remove, or an empty or null template, takes the tool away" {
	setup_tools
	for id in a b c; do tool 0 add "$id" true; done
	tool 0 remove --json a
	is "$(member 'd["ok"], d["id"]')" "(True, 'a')"
	tool 0 update b ''
	tool 0 update c null
	is "$(files)" ''
	tool 2 remove a
	echo '{"template": "true"}' >"$BASE/packaged/p.json"
	tool 2 remove p
	[ -e "$BASE/packaged/p.json" ]
}

@test "one word that names a recipe delegates to it" {
	setup_tools
	echo '{"template": "echo {n:int}"}' >"$BASE/packaged/count-it.json"
	tool 0 add mine count-it
	is "$(quick run mine n=7)" 7
	tool 0 schema mine
	is "$(member 'd["properties"]')" "{'n': {'type': 'integer'}}"
	tool 0 add other nothing-of-that-name
	is "$(stored other)" "{'template': 'nothing-of-that-name'}"
}

@test "a delegate that gets a template of its own needs the other no more" {
	setup_tools
	tool 0 add other 'echo other'
	tool 0 add mine other
	tool 0 update mine 'echo {z}'
	is "$(stored mine)" "{'template': 'echo {z}'}"
	tool 0 remove other
	is "$(quick run mine z=3)" 3
}

@test "it does by the name of its file and by a path, too" {
	setup_tools
	echo '{"template": "echo packaged"}' >"$BASE/packaged/count-it.json"
	echo '{"template": "echo here"}' >'o d.json'
	mkdir sub
	echo '{"template": "echo below"}' >sub/x.json
	tool 0 add one count-it.json
	tool 0 add two sub/x.json
	tool 0 add three "$PWD/sub/x.json"
	(cd sub && asks 0 tool add four x.json)
	is "$(quick run one)$(quick run two)$(quick run three)$(quick run four)" packagedbelowbelowbelow
	tool 0 add five '"o d.json"'
	is "$(stored five)" "{'template': 'o d.json'}"
	# One of the same name would import itself, and as a program there is none.
	cp "$BASE/packaged/count-it.json" "$BASE/packaged/count.json"
	tool 2 add count count
	contains err "the tool 'count' would hide the recipe of that name"
	[ ! -e "$TOOLS/count.json" ]
}

@test "a delegate shows what the other declares and what it uses itself" {
	setup_tools
	tool 0 add inner 'echo {n} {m=2}' --args n:int
	echo '{"imports":{"i":"inner"},"timeout":"{t=9000}","template":{"name":"i","values":{"m":"{mm}"}}}' >"$TOOLS/outer.json"
	tool 0 schema outer
	is "$(member 'sorted(d["properties"]), d["required"]')" "(['mm', 'n', 't'], ['n', 'mm'])"
	is "$(quick run outer n=1 mm=4)" '1 4'
	# With declarations of its own it shows these alone.
	echo '{"imports":{"i":"inner"},"args":["n:int"],"template":{"name":"i","values":{"m":"{mm=5}"}}}' >"$TOOLS/outer.json"
	tool 0 schema outer
	is "$(member 'sorted(d["properties"])')" "['n']"
}

@test "a person may give what only a label, the output or an artifact uses" {
	echo '{"args":["a"],"output":"{o=x}","artifacts":{"q":"{z=1}"},"template":{"label":"l {b=x}","template":"echo {a}"}}' >p.json
	is "$(quick run ./p.json a=1 o=2 z=3 b=4)" 2
	asks 0 status latest --json
	is "$(member 'd["artifacts"]["q"].rsplit("/", 1)[-1]')" 3
	echo '{"args":["a"],"output":"o","template":"echo {a}"}' >p.json
	is "$(quick run ./p.json a=1 o=2)" 2
	asks 2 run ./p.json a=1 zz=2
}

@test "delegation in a circle is refused" {
	setup_tools
	tool 0 add a 'echo 1'
	tool 0 add b a
	cp "$TOOLS/a.json" before
	tool 2 update a b
	cmp before "$TOOLS/a.json"
}

@test "of many that add one name at once, one wins" {
	setup_tools
	seq 20 | xargs -P 20 -I @ sh -c '"$ROUX" tool add race "echo @" >>won 2>>lost </dev/null || :'
	is "$(wc -l <won)" 1
	is "$(grep -c error: lost)" 19
	is "$(files)" 'race.json '
	quick run race
}

@test "the schema tells types, what is required, and nothing more" {
	setup_tools
	tool 0 add s 'echo {t} {i:int} {n:number} {b:bool} {p:path} {l:array} {m:enum(a,b)} {v?x:y} {d=1}'
	tool 0 schema s
	is "$(member 'd["type"], d["additionalProperties"], d["required"]')" \
		"('object', False, ['t', 'i', 'n', 'b', 'p', 'l', 'm'])"
	is "$(member '{k: v["type"] for k, v in d["properties"].items()}')" \
		"{'t': 'string', 'i': 'integer', 'n': 'number', 'b': 'boolean', 'p': 'string', 'l': 'array', 'm': 'string', 'v': 'boolean', 'd': 'string'}"
	is "$(member 'd["properties"]["m"]["enum"], d["properties"]["l"]["items"]')" "(['a', 'b'], {})"
	tool 0 update s --async
	tool 0 schema s
	is "$(member '"run_id" in d["properties"], "run_id" in d["required"]')" '(True, False)'
	tool 2 schema --json nothing
	is "$(member 'd["ok"], d["status"]')" "(False, 'invalid')"
}

@test "defaults in the schema are values of their type, and null has none" {
	echo '{"args":["c:bool=yes","d:bool=0","n:int=3","l:array=[1]"],"defaults":{"n":"7"},"template":"echo {c} {d} {n} {l}"}' >b.json
	asks 0 tool schema ./b.json
	is "$(member '[v["default"] for v in d["properties"].values()]')" "[True, False, 7, [1]]"
	printf 'name: n\nversion: 1.0.0\ndescription: d\nrequired: [z]\ncontext: {a: null, b: ""}\nsteps: [{id: a, type: bash, command: "echo {{a}}{{b}}{{z}}"}]\n' >n.yaml
	asks 0 tool schema ./n.yaml
	is "$(member 'd["properties"]')" "{'a': {'default': None}, 'b': {'type': 'string', 'default': ''}, 'z': {}}"
}

@test "wrong requests say what is right" {
	setup_tools
	tool 2 frob
	contains err 'add, update, remove, list'
	tool 2 add
	tool 2 add x
	tool 2 add x echo a
	is "$(files)" ''
}

@test "tool update keeps the import that a default still refers to" {
	asks 0 tool add other 'echo {q}' --args 'q=7'
	asks 0 tool add it other
	sed -i 's/^{/{"defaults": {"k": "{other.defaults.q}"},/' "$HOME/.pi/agent/recipes/it.json"
	asks 0 check it
	asks 0 tool update it 'echo {k} {z}' --args 'z=1,k'
	asks 0 run -q it
	is "$(cat out)" '7 1'
}
