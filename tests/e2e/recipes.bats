#!/usr/bin/env bats
# Recipes as files: found, listed, checked, counted, and what hostile ones can do.
# shellcheck disable=SC2016  # back quotes of Markdown in Python texts

load common

setup_recipes() {
	export PI_CODING_AGENT_DIR=$BASE/agent ROUX_PACKAGED_DIR=$BASE/packaged
	mkdir -p "$BASE/agent/recipes" "$BASE/packaged"
	USER_DIR=$BASE/agent/recipes
	PACKAGED=$BASE/packaged
}

sanitized() {
	grep -q __asan_init "$ROUX"
}

# bounded STATUS TEXT ARGUMENT...: in 2 s of the processor and 96 MiB of addresses (some 64 MiB of
# memory), with this status and a diagnostic with TEXT.
bounded() {
	local want=$1 text=$2 seconds=2 status=0
	shift 2
	if sanitized; then seconds=20; else ulimit -v 98304; fi
	(ulimit -t "$seconds" && exec timeout -k 1 "$WATCHDOG" "$ROUX" "$@") \
		>out 2>err </dev/null || status=$?
	if [ "$status" -ne "$want" ]; then
		echo "exit status $status, expected $want, of: roux $*"
		head -c 2000 err
		return 1
	fi
	cat out err >both
	[ -z "$text" ] || contains both "$text" || {
		echo "expected: $text"
		head -c 2000 both
		return 1
	}
}

make_files() { # a Python program that writes recipes with w(NAME, VALUE)
	(cd "$USER_DIR" && python3 -c '
import json, os, sys
def w(name, value):
    mode = "wb" if isinstance(value, bytes) else "w"
    with open(name, mode) as f: f.write(value if isinstance(value, (str, bytes)) else json.dumps(value))
exec(sys.argv[1])' "$1")
}

# -- check ----------------------------------------------------------------------------------------

@test "check tells every mistake of a JSON recipe at once" {
	setup_recipes
	cat >r.json <<-'END'
		{
		  "template": [
		    {"template": "echo {a..b}", "retry": -1},
		    {"timeout": "soon", "template": "echo"},
		    {"repeat": 0, "template": "echo"},
		    {"failure": "never", "template": "echo"}
		  ]
		}
	END
	asks 2 check ./r.json
	is "$(grep -c ': error: ' out)" 5
	for at in 3:24 3:42 4:17 5:16 6:17; do grep -q "r.json:$at: error: " out; done
	contains err '5 errors, 0 warnings'
	asks 2 check --json ./r.json
	is "$(member '[[e["line"], e["column"]] for e in d["errors"]]')" \
		'[[3, 24], [3, 42], [4, 17], [5, 16], [6, 17]]'
	is "$(member 'd["errors"][0]["hint"] is not None')" True
}

@test "check of a Markdown recipe counts the lines of the .md file" {
	setup_recipes
	cat >r.md <<-'END'
		---
		timeout: soon
		---

		# Prose

		```json
		[
		  {"template": "echo {a..b}", "retry": -1},
		  {"repeat": 0, "template": "echo"},
		  {"failure": "never", "template": "echo"}
		]
		```
	END
	asks 2 check ./r.md
	is "$(grep -c ': error: ' out)" 5
	for at in 2:10 9:22 9:40 10:14 11:15; do grep -q "r.md:$at: error: " out; done
}

@test "mistakes of imports, references, types and the graph are told together" {
	setup_recipes
	cat >r.json <<-'END'
		{
		  "args": ["n:int"],
		  "defaults": {"n": "x"},
		  "imports": {"bad alias": "y", "gone": "nowhere"},
		  "template": [
		    "echo {lib.defaults.k}",
		    {"template": "echo {a..b}"}
		  ]
		}
	END
	asks 2 check ./r.json
	for at in 3:21 4:15 4:41 6:11 7:24; do
		grep -q "r.json:$at: error: " out || { echo "nothing at $at"; cat out; return 1; }
	done
}

@test "an unknown member is reported with the nearest known one" {
	setup_recipes
	echo '{"descripton": "d", "template": "true"}' >r.json
	asks 0 check ./r.json
	contains out "did you mean 'description'?"
	asks 2 check --strict ./r.json
}

@test "check without operands looks at every recipe" {
	setup_recipes
	echo '{"template": 5}' >"$USER_DIR/a.json"
	echo '{"template": "echo {a..b}"}' >"$PACKAGED/b.json"
	asks 2 check
	contains out a.json:1:14
	contains out b.json:1:20
	contains err '2 errors'
}

# -- finding and listing --------------------------------------------------------------------------

@test "list tells layer, state, tool, shadowed files and usage" {
	setup_recipes
	echo '{"description": " D ", "async": true, "template": "true", "usage": {"calls": 2}}' >"$USER_DIR/a.json"
	echo '{"template": "true"}' >"$PACKAGED/a.json"
	echo '{"disabled": true, "template": "true"}' >"$USER_DIR/b.json"
	echo '[]' >"$USER_DIR/c.json"
	echo '{"template": "true"}' >"$PACKAGED/d.json"
	asks 0 list --json
	is "$(member '[[r["id"], r["layer"], r["state"], r["tool"], r["async"]] for r in d["recipes"]]')" \
		"[['a', 'user', 'active', True, True], ['b', 'user', 'disabled', False, False], ['c', 'user', 'invalid', False, False], ['d', 'packaged', 'active', False, False]]"
	is "$(member 'sorted(d["recipes"][0])')" \
		"['args', 'async', 'description', 'error', 'id', 'layer', 'path', 'shadowed', 'state', 'tool', 'usage']"
	is "$(member 'd["recipes"][0]["shadowed"]')" "['$PACKAGED/a.json']"
	is "$(member 'd["recipes"][0]["description"], d["recipes"][0]["usage"]')" "('D', {'calls': 2})"
	is "$(member 'd["recipes"][2]["error"] is not None, d["recipes"][3]["error"]')" '(True, None)'
	asks 0 list --all
	for id in a b c d; do grep -Eq "^  $id( |$)" out; done
	contains out 'D [shadows 1] [2 calls]'
	contains out '(disabled)'
	contains out '(invalid)'
	run ! grep -q ' $' out
}

@test "show tells arguments, imports, artifacts, mailbox and the graph" {
	setup_recipes
	echo '{"args": ["x:int"], "defaults": {"x": 4}, "template": "echo {x}"}' >"$PACKAGED/lib.json"
	cat >"$USER_DIR/r.json" <<-'END'
		{"description": "d", "imports": {"l": {"from": "lib", "values": {"x": 5}}},
		 "artifacts": {"b": "{out}", "a": "a.txt"}, "mailbox": {"accepts": ["go", 5], "emits": []},
		 "template": [{"name": "l", "label": "first"}, {"parallel": true, "template": ["echo {f:path}", "echo {n=3}"]}]}
	END
	asks 0 show --json r
	is "$(member 'list(d)')" \
		"['id', 'path', 'format', 'description', 'async', 'args', 'imports', 'artifacts', 'mailbox', 'warnings', 'graph']"
	is "$(member 'd["args"]')" \
		"[{'name': 'x', 'type': 'int', 'required': False, 'default': 5}, {'name': 'f', 'type': 'path', 'required': True, 'default': None}, {'name': 'n', 'type': 'string', 'required': False, 'default': '3'}]"
	is "$(member 'd["imports"]')" "{'l': {'id': 'lib', 'path': '$PACKAGED/lib.json'}}"
	is "$(member 'd["artifacts"]')" "{'b': '{out}', 'a': 'a.txt'}"
	is "$(member 'd["mailbox"]')" "{'accepts': ['go'], 'emits': []}"
	is "$(member 'd["graph"]["kind"], [(n["path"], n["kind"], n["label"]) for n in d["graph"]["children"]]')" \
		"('sequence', [('0', 'command', 'first'), ('1', 'parallel', None)])"
	is "$(member 'd["graph"]["children"][1]["children"][1]')" \
		"{'path': '1.1', 'kind': 'command', 'label': None, 'text': 'echo {n=3}', 'children': []}"
	asks 0 show r
	contains out 'Usage: roux run r'
	contains out 'accepts          go'
}

@test "show tells the default in force, as its type has it" {
	setup_recipes
	echo '{"args": ["n:int=5", "f:bool=true", "w:bool"], "defaults": {"b": 2, "w": "no"},
		"template": {"defaults": {"b": 3}, "template": "echo {n} {f} {w} {b}"}}' >"$USER_DIR/r.json"
	asks 0 show --json r
	is "$(member '[a["default"] for a in d["args"]]')" "[5, True, False]"
	echo '{"defaults": {"b": 2}, "template": {"defaults": {"b": 3}, "template": "echo {b}"}}' >"$USER_DIR/r.json"
	asks 0 show --json r
	is "$(member 'd["args"][0]["default"]')" 3
}

@test "what a recipe calls secret is shown nowhere but in the output" {
	setup_recipes
	echo '{"secrets": ["a"], "args": ["a:string", "n:int=1"], "template": "sh -c \"echo {a}; exit 1\""}' >"$USER_DIR/r.json"
	asks 1 run r a=verborgen
	contains err '***'
	run ! grep -q verborgen err
	asks 1 run --json r a=verborgen
	run ! grep -q verborgen err
	is "$(member 'd["failures"][0]["command"]')" "sh -c 'echo ***; exit 1'"
	echo '{"secrets": ["n"], "args": ["n:int"], "template": "echo {n}"}' >"$USER_DIR/r.json"
	asks 2 run r n=verborgen
	contains err "'n' is '***', expected a whole number"
	run ! grep -q verborgen err
	printf -- '---\nsecrets: [a]\nvalues:\n  a: verborgen\n---\n```template\necho {a}\n```\n' >"$USER_DIR/m.md"
	asks 0 run m
	is "$(cat out)" verborgen
	run ! grep -q verborgen err
}

@test "check warns of references that bring in more than a word" {
	setup_recipes
	echo '{"template": "true"}' >"$USER_DIR/lib.json"
	cat >"$USER_DIR/r.json" <<-'END'
		{"imports": {"l": {"from": "lib", "values": {"s": "a b", "q": "it's", "b": "{x}", "w": "word"}}},
		 "description": "{l.values.s}",
		 "defaults": {"d": "{l.values.s}"},
		 "template": ["echo {l.values.s}", "echo \"{l.values.s}\" {l.values.w}", "echo {l.values.q} {d}",
		  "\"{l.values.s}\" x", {"retry": 2, "recover": "echo {l.values.b}", "template": "true"}]}
	END
	asks 0 check --json r
	is "$(member '[(e["line"], e["column"], e["message"].split(" brings in ")[1].split(",")[0]) for e in d["warnings"] if "brings in" in e["message"]]')" \
		"[(4, 21, 'spaces'), (4, 80, 'quotes or backslashes'), (5, 6, 'spaces'), (5, 55, 'braces')]"
	is "$(member 'all(e["hint"] for e in d["warnings"])')" True
}

@test "a reference that leads nowhere is reported once" {
	setup_recipes
	echo '{"template": "true"}' >"$USER_DIR/lib.json"
	echo '{"imports": {"l": "lib"}, "timeout": "{l.values.t}", "template": "echo {l.defaults.x} {l.nope}"}' >"$USER_DIR/r.json"
	asks 2 check --json r
	is "$(member '[e["column"] for e in d["errors"]]')" '[39, 72, 87]'
}

@test "a mistake in a flag hides none in the template" {
	setup_recipes
	echo '{"failure": "x", "retry": 0, "parallel": "x", "template": ["", {"timeout": -1, "template": []}]}' >"$USER_DIR/r.json"
	asks 2 check --json r
	is "$(member '[e["column"] for e in d["errors"]]')" '[13, 27, 42, 60, 76, 92]'
}

@test "check looks at the placeholders of artifacts" {
	setup_recipes
	echo '{"artifacts": {"a": "{a b}", "b": {"path": "{x:zz}"}}, "template": "true"}' >"$USER_DIR/r.json"
	asks 2 check --json r
	is "$(member 'len(d["errors"])')" 2
}

@test "mistakes in blocks of the frontmatter are told at their own lines" {
	setup_recipes
	cat >"$USER_DIR/m.md" <<-'END'
		---
		args:
		  - a:int
		  - b c
		defaults:
		  x: 1

		  a: q
		imports:
		  one: nope
		  two:
		    from: nope
		  three: {"from": "nope"}
		artifacts:
		  r: out/{a b}
		---
		```template
		echo
		```
	END
	asks 2 check --json m
	is "$(member '[(e["line"], e["column"]) for e in d["errors"]]')" \
		'[(4, 5), (8, 6), (10, 8), (12, 11), (13, 19), (15, 10)]'
	printf -- '---\nargs: a:int, b c\ndefaults:\n  - x: 1\n  - a: q\n---\n```template\necho\n```\n' >"$USER_DIR/m.md"
	asks 2 check --json m
	is "$(member '[(e["line"], e["column"]) for e in d["errors"]]')" '[(2, 14), (5, 5)]'
}

@test "a name that args keeps from callers and nothing gives is warned about" {
	setup_recipes
	echo '{"args": ["a"], "defaults": {"c": 1}, "values": {"d": 2},
		"template": "echo {a} {hidden} {c} {d} {e=1} {f?g:h} {i??j} {run_id}"}' >"$USER_DIR/r.json"
	asks 0 check --json r
	is "$(member '[(e["line"], e["message"].split()[0]) for e in d["warnings"]]')" "[(2, \"'hidden'\")]"
}

@test "check without operands leaves out what packaged recipes warn of" {
	setup_recipes
	echo '{"template": "sh -c {code}"}' >"$PACKAGED/p.json"
	echo '{"template": []}' >"$PACKAGED/q.json"
	asks 2 check --json
	is "$(member 'len(d["errors"]), d["warnings"]')" '(1, [])'
	asks 0 check --json p
	is "$(member 'len(d["warnings"]) > 0')" True
}

@test "lines that were ignored are told together with what is wrong" {
	setup_recipes
	printf -- '---\nwhat is this\n---\n```template\n\n```\n' >"$USER_DIR/m.md"
	asks 2 check --json m
	is "$(member '[e["line"] for e in d["errors"]], [e["line"] for e in d["warnings"]]')" '([4], [2])'
}

@test "a pipe is not a recipe, and roux does not wait for it" {
	setup_recipes
	mkfifo p.json
	asks 2 run ./p.json
	contains err 'p.json is a pipe, expected a regular file'
	asks 2 show ./p.json
}

@test "what blocks a recipe is reported with both files and a way out" {
	setup_recipes
	echo '{"template":' >"$USER_DIR/a.json"
	echo '{"disabled": true, "template": "true"}' >"$USER_DIR/b.json"
	echo '{"disabled": true, "template": "true"}' >"$USER_DIR/c.json"
	for id in a b; do echo '{"template": "true"}' >"$PACKAGED/$id.json"; done
	asks 2 run a
	contains err reason=shadowed_invalid
	contains err "active_path=$USER_DIR/a.json"
	contains err "blocked_candidate=$PACKAGED/a.json"
	contains err 'roux doctor'
	asks 2 run b
	contains err reason=shadowed_disabled
	contains err 'roux doctor'
	asks 2 run c
	! contains err reason= || false
	asks 2 run "$USER_DIR/b.json"
	! contains err reason= || false
	asks 2 run --json a
	is "$(member 'd["status"], "shadowed_invalid" in str(d["errors"])')" "('invalid', True)"
}

@test "a name is a file of the working directory only with its extension" {
	setup_recipes
	echo '{"template": "echo here"}' >r.json
	echo '{"template": "echo user"}' >"$USER_DIR/r.json"
	is "$(quick run r)" user
	is "$(quick run r.json)" here
	is "$(quick run ./r.json)" here
	rm r.json
	is "$(quick run r.json)" user
	asks 2 run ./r.json
	asks 2 run rr
	contains err "did you mean 'r'?"
}

@test "a home directory that does not exist is not made" {
	mkdir -p .roux/recipes
	echo '{"template": "true"}' >.roux/recipes/own.json
	for command in 'tool add x echo' 'trust own' 'doctor --rebuild' 'run --template true' 'init --agent cat'; do
		# shellcheck disable=SC2086 # words
		HOME=$BASE/nowhere run roux $command
		[ "$status" -ne 0 ]
		has "$output" "$BASE/nowhere"
		[ ! -e "$BASE/nowhere" ]
	done
	HOME=$BASE/nowhere asks 2 tool add x echo
	contains err 'there is no place for recipes of yours'
	contains err 'PI_CODING_AGENT_DIR'
	HOME=$BASE/nowhere PI_CODING_AGENT_DIR=$BASE/agent asks 0 tool add x echo
	[ -e "$BASE/agent/recipes/x.json" ]
}

@test "--template is a hint only where it is an option, and a called recipe has its place" {
	setup_recipes
	for command in 'show nosuch' 'tool schema nosuch' 'trust nosuch'; do
		# shellcheck disable=SC2086 # words
		asks 2 $command
		contains err "there is no recipe 'nosuch'"
		if grep -q -e --template err; then cat err; return 1; fi
	done
	asks 2 run nosuch
	contains err '--template takes it'
	printf '%s\n' 'name: r' 'description: d' 'version: 1.0.0' 'steps:' \
		'  - {id: l, type: recipe, recipe: nosuch}' >r.yaml
	asks 0 check r.yaml
	contains out "r.yaml:5:35: warning: step 'l': there is no recipe 'nosuch'"
	if grep -q -e --template out; then cat out; return 1; fi
}

@test "doctor tells the worst first" {
	setup_recipes
	echo '{"template":' >"$USER_DIR/a.json"
	echo '[]' >"$USER_DIR/b.json"
	for id in c d; do echo '{"disabled": true, "template": "true"}' >"$USER_DIR/$id.json"; done
	echo '{"template": "sh -c {x}"}' >"$USER_DIR/e.json"
	echo '{"template": "true"}' >"$USER_DIR/f.json"
	for id in a c f; do echo '{"template": "true"}' >"$PACKAGED/$id.json"; done
	asks 1 doctor --json
	is "$(member '[(f["severity"], f["id"]) for f in d["findings"]]')" \
		"[('error', 'a'), ('error', 'b'), ('error', 'c'), ('warning', 'e'), ('info', 'd'), ('info', 'f')]"
	is "$(member 'all(f["message"] and f["action"] and f["path"] for f in d["findings"])')" True
	asks 1 doctor
	grep -q '^Next: .*a.json' out
	rm "$USER_DIR"/*
	asks 0 doctor
}

@test "a mistake that others import is one finding, at its own place" {
	setup_recipes
	echo '{"template": []}' >"$USER_DIR/m.json"
	echo '{"template": "true"}' >"$PACKAGED/m.json"
	for id in b z; do echo '{"imports": {"m": "m"}, "template": [{"name": "m"}]}' >"$PACKAGED/$id.json"; done
	asks 1 doctor --json
	is "$(member '[(f["id"], f["path"], f["message"]) for f in d["findings"]]')" \
		"[('m', '$USER_DIR/m.json:1:14', 'the array is empty, expected at least one template; also breaks b, z')]"
	is "$(member '"check " + "'"$USER_DIR"'/m.json" in d["findings"][0]["action"]')" True
	asks 0 list
	contains out 'Packaged: 2 recipes, 2 invalid; '
	asks 0 list --all
	contains out "(invalid) $USER_DIR/m.json:1:14: the array is empty"
	for n in $(seq 12); do cp "$PACKAGED/b.json" "$PACKAGED/c$n.json"; done
	asks 1 doctor --json
	has "$(member 'd["findings"][0]["message"]')" ', c6 and 4 more'
	is "$(member 'len(d["findings"])')" 1
}

@test "doctor tells about recipe directories that others can write" {
	setup_recipes
	chmod 777 "$USER_DIR"
	asks 1 doctor --json
	is "$(member '[f["severity"] for f in d["findings"]], "go-w" in d["findings"][0]["action"]')" \
		"(['warning'], True)"
	chmod 755 "$USER_DIR"
	asks 0 doctor
	chmod 775 "$PACKAGED"
	asks 1 doctor
	contains out "$PACKAGED"
}

@test "control characters of names and descriptions do not reach the terminal" {
	setup_recipes
	make_files 'for n in ("\x1b[31mred", "a\nb"): w(n + ".json", {"description": "d\x1b[2J", "template": "true"})'
	make_files 'w(b"\xff\xfe.json", {"template": "true"})'
	for command in list 'tool list' doctor; do
		# shellcheck disable=SC2086
		asks 0 $command
		! grep -q "$(printf '\033')" out || { cat -v out; return 1; }
		iconv -f UTF-8 -t UTF-8 out >/dev/null
	done
	asks 0 list
	is "$(grep -c '^  ' out)" 3
	asks 0 list --json
	is "$(member 'len(d["recipes"])')" 3
}

# -- usage ----------------------------------------------------------------------------------------

@test "two hundred launches, twenty at a time, are all counted" {
	setup_recipes
	printf '{ "name" : "é",\n\t"n": 1.50, "template":\t"true"  }\n' >"$USER_DIR/r.json"
	cp "$USER_DIR/r.json" before
	chmod 640 "$USER_DIR/r.json"
	seq 200 | xargs -P 20 -I @ "$ROUX" run r --progress=none
	python3 - "$USER_DIR/r.json" <<-'END'
		import json, re, sys
		text = open(sys.argv[1], encoding="utf-8").read()
		usage = json.loads(text)["usage"]
		assert usage["calls"] == 200, usage
		assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", usage["last_called"]), usage
		assert "reset_at" not in usage, usage
		authored = re.sub(r'"usage"\s*:\s*\{[^}]*\}\s*,?\s*', "", text)
		assert authored.split() == open("before", encoding="utf-8").read().split() or \
			re.sub(r",?\s*}\s*$", "", authored).split() == \
			re.sub(r"\s*}\s*$", "", open("before", encoding="utf-8").read()).split(), text
	END
	is "$(stat -c %a "$USER_DIR/r.json")" 640
	is "$(ls -A "$USER_DIR")" r.json
}

@test "a launch that was refused is not counted, a failed one is" {
	setup_recipes
	echo '{"template": "false {x}"}' >"$USER_DIR/r.json"
	cp "$USER_DIR/r.json" before
	asks 2 run r
	cmp before "$USER_DIR/r.json"
	for command in 'show r' 'check r' 'plan r x=1' 'list' 'tool schema r' 'doctor'; do
		# shellcheck disable=SC2086
		asks 0 $command
	done
	cmp before "$USER_DIR/r.json"
	asks 1 run r x=1
	asks 0 list --json
	is "$(member 'd["recipes"][0]["usage"]["calls"]')" 1
	# Nor is one whose name is taken.
	echo '{"template": "sh -c \"touch there; exec sleep 6000\""}' >"$USER_DIR/long.json"
	asks 0 run -d long
	until_true test -e there
	asks 2 run -d long
	asks 2 run --as long r x=1
	asks 0 kill long
	# Nor is one that continues, which its supervisor would count.
	asks 0 resume -d --in-doubt rerun long
	asks 0 kill long
	asks 0 list --json
	is "$(member '[r["usage"]["calls"] for r in d["recipes"]]')" '[1, 1]'
}

@test "an agent learns what the records of its recipe are" {
	setup_recipes
	mkdir bin
	printf '#!/bin/sh\nprintf "%%s\\n" "$@" >asked\n' >bin/pi
	chmod +x bin/pi
	echo '{"template": "pi -p {prompt}"}' >"$USER_DIR/r.json"
	PATH=$PWD/bin:$PATH asks 0 run r prompt='do it'
	contains asked 'provenance, not the task'
	contains asked 'the prompt above stays authoritative'
	contains asked '"you_are_here": true marks the recipe whose node launched you'
	contains asked '"you_are_here":true'
}

@test "the end of a command is a sentence in the outbox" {
	setup_recipes
	asks 1 run --as one '[{"label": "work", "template": "true"}, {"failure": "root", "template": "sh -c \"exit 3\""}]'
	asks 0 messages one --json
	is "$(member '[m["summary"] for m in d["outbox"]]')" "['Command work completed with code 0', 'Command 1 failed with code 3']"
}

@test "a read-only recipe runs and stays as it is" {
	setup_recipes
	echo '{"template": "echo ok"}' >"$USER_DIR/r.json"
	chmod 444 "$USER_DIR/r.json"
	[ "$(id -u)" -ne 0 ] || chmod 755 "$BASE/agent" "$USER_DIR" "$BASE" "$BASE/work"
	cp "$USER_DIR/r.json" before
	mkdir -m 777 "$BASE/state"
	is "$(ROUX_STATE_DIR=$BASE/state/own as_nobody "$ROUX" run r --progress=none </dev/null)" ok
	cmp before "$USER_DIR/r.json"
}

# -- hostile files --------------------------------------------------------------------------------

@test "a megabyte of nesting is refused" {
	setup_recipes
	make_files 'w("a.json", "{\"template\":" + "[" * 500000 + "]" * 500000 + "}")'
	make_files 'w("b.json", "{\"template\":" * 80000 + "\"x\"" + "}" * 80000)'
	make_files 'w("c.md", "---\n---\n```json\n" + "[" * 900000 + "\n```\n")'
	make_files 'w("d.md", "---\n" + "".join(" " * i + "a:\n" for i in range(1400)) + "---\n```template\ntrue\n```\n")'
	bounded 2 a.json:1 check a
	bounded 2 b.json:1 check b
	bounded 2 c.md:4 check c
	bounded 2 d.md: check d
	bounded 0 '' list
}

@test "imports that double at every level are refused" {
	setup_recipes
	make_files 'os.mkdir("parts")
for i in range(30): w(f"parts/f{i}.json", {"imports": {"a": f"f{i+1}"}, "template": [{"name": "a"}, {"name": "a"}]} if i < 29 else {"template": "true"})
w("bomb.json", {"imports": {"a": "./parts/f0"}, "template": [{"name": "a"}]})'
	bounded 2 error: check bomb
	bounded 2 error: run bomb
	bounded 0 '(invalid)' list
	bounded 1 bomb doctor
}

@test "thirty files that import all later ones twice are refused" {
	setup_recipes
	make_files 'n = 30
for i in range(n):
    names = [f"{c}{j}" for j in range(i + 1, n) for c in "ab"]
    w(f"f{i}.json", {"imports": {a: "f" + a[1:] for a in names}, "template": [{"name": a} for a in names] or "true"})'
	bounded 2 error: check f0
}

@test "references that double at every level are refused" {
	setup_recipes
	make_files 'for i in range(30): w(f"t{i}.json", {"imports": {"a": f"t{i+1}"}, "defaults": {"k": "{a.defaults.k}{a.defaults.k}"}, "template": "echo {k}"} if i < 29 else {"defaults": {"k": "0123456789"}, "template": "echo {k}"})'
	make_files 'for i in range(30): w(f"l{i}.json", {"imports": {"a": f"l{i+1}"}, "defaults": {"k": ["{a.defaults.k}", "{a.defaults.k}"]}, "template": "echo {k}"} if i < 29 else {"defaults": {"k": "0"}, "template": "echo {k}"})'
	make_files 'w("m.json", {"imports": {"a": "l0"}, "template": "echo {a.defaults.k}"})'
	bounded 2 error: check t0
	bounded 2 error: check m
	bounded 2 '"status":"invalid"' show --json l0
}

@test "imports that lead back are told with the way" {
	setup_recipes
	make_files 'w("self.json", {"imports": {"a": "self"}, "template": [{"name": "a"}]})'
	make_files 'w("x.json", {"imports": {"a": "y"}, "template": [{"name": "a"}]}); w("y.json", {"imports": {"a": "x"}, "template": [{"name": "a"}]})'
	make_files 'w("p.json", {"imports": {"a": "q"}, "template": [{"name": "a"}]}); w("q.md", "---\nimports:\n  a: p\n---\n```json\n[{\"name\": \"a\"}]\n```\n")'
	make_files 'w("l.json", {"imports": {"a": "m"}, "template": [{"name": "a"}]}); os.symlink("l.json", "m.json")'
	bounded 2 'self → self' run self
	bounded 2 'x → y → x' run x
	bounded 2 'p → q → p' run p
	bounded 2 ' → ' run l
}

@test "thirty-two files in a chain are fine, one more is not" {
	setup_recipes
	make_files 'for i in range(33): w(f"c{i}.json", {"imports": {"a": f"c{i+1}"}, "template": [{"name": "a"}]} if i < 32 else {"template": "echo end"})'
	is "$(quick run c1)" end
	bounded 2 'more than 32 recipes' run c0
	contains err c31.json:1
}

@test "links to files are recipes; other things are passed over" {
	setup_recipes
	echo '{"template": "echo linked"}' >real.json
	ln -s "$PWD/real.json" "$USER_DIR/a.json"
	ln -s nowhere "$USER_DIR/b.json"
	ln -s c.json "$USER_DIR/c.json"
	ln -s /dev/zero "$USER_DIR/d.json"
	mkfifo "$USER_DIR/e.json"
	mkdir "$USER_DIR/f.json"
	echo '{"template": "true"}' >"$USER_DIR/.hidden.json"
	echo '{"template": "true"}' >"$USER_DIR/g.json.tmp"
	is "$(quick run a)" linked
	[ -L "$USER_DIR/a.json" ]
	contains real.json '"calls"'
	for id in b c d e f .hidden g; do bounded 2 error: run "$id"; done
	for id in b c d e f; do bounded 2 error: run "$USER_DIR/$id.json"; done
	bounded 0 '' list --json
	is "$(member '[r["id"] for r in d["recipes"]]')" "['a']"
	make_files 'w("i.json", {"imports": {"a": "./e.json"}, "template": [{"name": "a"}]}); w("j.json", {"imports": {"a": "./d.json"}, "template": [{"name": "a"}]}); w("k.json", {"imports": {"a": "./f.json"}, "template": [{"name": "a"}]})'
	for id in i j k; do bounded 2 error: run "$id"; done
}

@test "a file that may not be read is reported as such, and imports of it too" {
	setup_recipes
	echo '{"template": "true"}' >"$USER_DIR/a.json"
	make_files 'w("b.json", {"imports": {"x": "a"}, "template": [{"name": "x"}]})'
	chmod 000 "$USER_DIR/a.json"
	[ "$(id -u)" -ne 0 ] || chmod 755 "$BASE/agent" "$USER_DIR" "$BASE/work"
	for id in a b; do # the machine's fault, not the request's
		run -1 as_nobody "$ROUX" run "$id" </dev/null
		has "$output" 'Permission denied'
	done
	run -0 as_nobody "$ROUX" list </dev/null
	has "$output" '(invalid)'
}

@test "a recipe directory that is a file or may not be read is reported" {
	setup_recipes
	rmdir "$USER_DIR"
	echo x >"$USER_DIR"
	asks 1 doctor
	contains out "$USER_DIR"
	asks 2 run x
	rm "$USER_DIR"
	mkdir -m 000 "$USER_DIR"
	[ "$(id -u)" -ne 0 ] || chmod 755 "$BASE/agent" "$BASE/work"
	run -1 as_nobody "$ROUX" doctor </dev/null
	has "$output" "$USER_DIR"
	chmod 700 "$USER_DIR"
}

@test "sizes, byte order marks, line ends and bytes that are no text" {
	setup_recipes
	make_files 'w("fits.json", "{\"template\": \"echo fits\", \"description\": \"" + "x" * (1048576 - 44) + "\"}")'
	is "$(stat -c %s "$USER_DIR/fits.json")" 1048576
	make_files 'w("over.json", "{\"template\": \"echo over\", \"description\": \"" + "x" * (1048577 - 44) + "\"}")'
	is "$(stat -c %s "$USER_DIR/over.json")" 1048577
	make_files 'w("bom.json", b"\xef\xbb\xbf{\"template\": \"echo bom\"}"); w("bommd.md", b"\xef\xbb\xbf---\n---\n```template\necho bom\n```\n")'
	make_files 'w("crlf.json", b"{\r\n\"template\":\r\n\"echo crlf\"}\r\n"); w("crlfmd.md", b"---\r\ndescription: d\r\n---\r\n```template\r\necho crlf\r\n```\r\n")'
	make_files 'w("bad.json", b"{\"template\": \"echo \xff\"}"); w("badmd.md", b"---\ndescription: \xff\n---\n```template\ntrue\n```\n")'
	make_files 'w("nul.json", b"{\"template\": \"echo \0\"}"); w("nulesc.json", b"{\"template\": \"echo \\u0000\"}")'
	is "$(quick run fits)" fits
	bounded 2 '1 MiB' run over
	for id in bom bommd; do is "$(quick run "$id")" bom; done
	for id in crlf crlfmd; do is "$(quick run "$id")" crlf; done
	bounded 2 bad.json:1:20 run bad
	bounded 2 badmd.md:2:14 run badmd
	bounded 2 nul.json:1:20 run nul
	bounded 2 nulesc.json:1 run nulesc
}

@test "defaults that lead to themselves are refused" {
	setup_recipes
	make_files 'w("a.json", {"defaults": {"a": "x{a}"}, "template": "echo {a}"})'
	make_files 'w("b.json", {"defaults": {"a": "{b}", "b": "{a}"}, "template": "echo {a}"})'
	make_files 'w("c.json", {"defaults": {**{f"a{i}": "{a%d}{a%d}" % (i + 1, i + 1) for i in range(60)}, "a60": "x"}, "template": "echo {a0}"})'
	make_files 'w("d.json", {"defaults": {**{f"a{i}": "{a%d}" % (i + 1) for i in range(10000)}, "a10000": "x"}, "template": "echo {a0}"})'
	for id in a b c d; do bounded 2 error: run "$id"; done
}

@test "very many arguments, placeholders, defaults, imports and mistakes take no long time" {
	setup_recipes
	make_files 'w("args.json", {"args": [f"a{i}" for i in range(100000)], "template": "echo {a1}"})'
	make_files 'w("places.json", {"template": "echo " + " ".join("{a%d=1}" % i for i in range(60000))})'
	make_files 'w("defaults.json", {"defaults": {f"a{i}": i for i in range(20000)}, "template": ["echo {a%d}" % i for i in range(20000)]})'
	make_files 'w("one.json", {"template": "true"}); w("imports.json", {"imports": {f"a{i}": "one" for i in range(10000)}, "template": ["echo {a%d.name}" % i for i in range(10000)]})'
	make_files 'w("mistakes.json", {"template": [1] * 100000})'
	make_files 'w("warnings.json", {"template": ["sh -c {a}"] * 40000})'
	bounded 0 '' show --json args
	bounded 0 '' check places
	bounded 0 '' plan defaults
	bounded 0 '' plan imports
	bounded 2 mistakes.json:1 check mistakes
	bounded 0 warnings.json:1 check warnings
}

@test "a huge repeat is checked and shown without counting it out" {
	setup_recipes
	echo '{"repeat": 1000000000000, "parallel": true, "template": "true"}' >"$USER_DIR/r.json"
	bounded 0 '' check r
	bounded 0 '' show --json r
	bounded 0 '' graph r
}

@test "strange names of recipes can be run by name and by path" {
	setup_recipes
	make_files 'for n in ("q\"x", "-dash", "%s%n", "dollar$HOME", "ünï"): w(n + ".json", {"template": "echo ok"})'
	for id in 'q"x' '%s%n' 'dollar$HOME' 'ünï'; do is "$(quick run "$id")" ok; done
	is "$(quick run "$USER_DIR/-dash.json")" ok
	is "$("$ROUX" run --progress=none -- -dash </dev/null)" ok
	make_files 'w("a\nb.json", {"template": "echo ok"})'
	is "$(quick run "$USER_DIR/"$'a\nb.json')" ok
}

@test "no home, empty directories, and one directory in both roles" {
	setup_recipes
	asks 0 list
	asks 0 list --json
	is "$(member 'd')" "{'recipes': []}"
	echo '{"template": "echo both"}' >"$USER_DIR/a.json"
	is "$(env -u HOME "$ROUX" run a --progress=none </dev/null)" both
	run -0 env -u HOME -u PI_CODING_AGENT_DIR "$ROUX" list </dev/null
	ROUX_PACKAGED_DIR=$USER_DIR asks 0 list --json
	is "$(member '[(r["id"], r["layer"], r["shadowed"]) for r in d["recipes"]]')" "[('a', 'user', [])]"
	ROUX_PACKAGED_DIR=$USER_DIR asks 0 doctor
	ROUX_PACKAGED_DIR=$BASE/none asks 0 list
}

@test "completion knows the recipes, their arguments and the values of those that have few" {
	setup_recipes
	echo '{"args": ["file:path", "mode:enum(check,fix)", "dry:bool"], "defaults": {"dry": false}, "template": "echo {file} {mode} {dry}"}' >"$USER_DIR/tidy.json"
	is "$("$ROUX" complete recipes)" tidy
	is "$("$ROUX" complete args -- --json tidy x=1 | tr '\n' ' ')" 'file= mode=check mode=fix dry=true dry=false '
	is "$("$ROUX" complete args -- nothing-of-that-name)" ''
	"$ROUX" completion bash >completion.bash
	is "$(PATH=${ROUX%/*}:$PATH bash -c 'source ./completion.bash
		COMP_LINE="roux run tidy mode=" COMP_WORDS=(roux run tidy mode=) COMP_CWORD=3
		COMP_POINT=${#COMP_LINE}
		_roux
		echo "${COMPREPLY[*]}"')" 'check fix'
}

@test "an import that is not there names the places where it was looked for, each once" {
	mkdir -p "$HOME/.pi/agent/recipes"
	echo '{"imports":{"a":"./nosuch"},"template":{"name":"a"}}' >path.json
	asks 2 check ./path.json
	is "$(sed -n 's/ *hint: //p' out)" "looked for $PWD/nosuch.json, .md, .yaml and .yml"
	echo '{"imports":{"a":"../nosuch.md"},"template":{"name":"a"}}' >path.json
	asks 2 check ./path.json
	is "$(sed -n 's/ *hint: //p' out)" "looked for ${PWD%/*}/nosuch.md"
	echo '{"imports":{"a":"nosuch"},"template":{"name":"a"}}' >"$HOME/.pi/agent/recipes/mine.json"
	asks 2 check mine
	is "$(sed -n 's/ *hint: //p' out | grep -o recipes | wc -l)" 2
	has "$(cat out)" "looked in $HOME/.pi/agent/recipes and /"
}

@test "help of a recipe with a mistake shows the mistake" {
	setup_recipes
	echo '{"template": []}' >"$USER_DIR/bad.json"
	asks 2 help bad
	contains err "$USER_DIR/bad.json:1:14: error: the array is empty"
}

@test "a default is shown as a run has it: the point of a whole float, the digits of a large number" {
	big=123456789012345678901234567890
	echo '{"args": ["n:number=100.0", "i:int='$big'", "j:number"], "defaults": {"j": 2.0}, "template": "echo {n} {i} {j}"}' >r.json
	printf '%s\n' 'name: s' 'description: d' 'version: 1.0.0' "context: {n: 100.0, i: $big}" \
		'steps: [{id: a, type: bash, command: "echo {{n}} {{i}}", output: o}]' >s.yaml
	is "$(quick run ./r.json)" "100.0 $big 2"
	is "$(quick run ./s.yaml)" "100.0 $big"
	for recipe in r.json s.yaml; do
		asks 0 show "./$recipe"
		contains out "a number; default 100.0"
		contains out "a whole number; default $big"
		asks 0 show "./$recipe" --json
		contains out '"default":100.0'
		contains out "\"default\":$big"
		asks 0 tool schema "./$recipe" --json
		contains out '"default":100.0'
		contains out "\"default\":$big"
	done
	asks 0 show ./r.json
	contains out "a number; default 2"
}
