#!/usr/bin/env bats
# Values that arrive: lists, positions, required ones, durations, files of variables, slips.
# shellcheck disable=SC2016  # braces of templates

load common

own() { # NAME: a recipe in the working directory, from standard input
	cat >"$1"
}

argv() { # the arguments that a command was given, as Python shows them; of print-argv in out
	python3 -c 'import sys; print(sys.stdin.buffer.read().split(b"\0")[:-1])' <out
}

# A repository of which three files are changed, and no name of them is easy.
repository() {
	mkdir -p repo/.roux/recipes repo/sub/deep 'repo/with space'
	chmod go-w repo/.roux repo/.roux/recipes
	cd repo || return 1
	git init -q . 2>/dev/null
	git config user.email a@b && git config user.name A
	touch -- '-dash' $'new\nline' plain 'with space/a b' sub/below
	git add -A && git commit -qm one
	for f in '-dash' $'new\nline' 'with space/a b' sub/below; do echo "changed $f" >"./$f"; done
}

@test "a changed file of any name reaches the linter of the project, from a subdirectory" {
	repository
	cat >.roux/recipes/lint.md <<-'END'
		---
		description: Look into the files that are given
		args: files:array
		cwd: "{repo}"
		---
		```template
		cat -- {files[*]}
		```
	END
	cd sub/deep
	# What git names, it names from the top: the recipe runs there.
	git diff --name-only -z | "$ROUX" run lint --lines0 files=- >out 2>err
	is "$(cat out)" "changed -dash
changed new
line
changed sub/below
changed with space/a b"
	git diff --name-only -z | "$ROUX" plan lint --lines0 files=- --json >out
	is "$(member 'd["leaves"][0]["cwd"], d["argv"]')" \
		"('$BASE/work/repo', [['cat', '--', '-dash', 'new\\nline', 'sub/below', 'with space/a b']])"
	# The record has it too, from wherever it is run again.
	cd "$BASE"
	asks 0 rerun latest
	has "$(cat out)" 'changed sub/below'
	# Each file by itself, and the one that fails by its name.
	cat >work/repo/.roux/recipes/each.json <<-'END'
		{"args": ["files:array"], "cwd": "{repo}", "parallel": true, "repeat": "{files.length}",
		 "label": "look", "template": "grep -q -e dash -e below -e line -- {files[index]}"}
	END
	cd work/repo/sub
	git diff --name-only -z | "$ROUX" run each --lines0 files=- >out 2>err || status=$?
	is "$status" 3
	has "$(cat err)" 'look with space/a b] failed with code 1'
	# Nothing has changed: no word, and nothing to look into.
	git checkout -q ..
	git diff --name-only -z | "$ROUX" run lint --lines0 files=- >out 2>err
	is "$(cat out)" ""
}

@test "a recipe without cwd runs where it was called, with names from there" {
	repository
	printf -- '---\nargs: files:array\n---\n```template\ncat -- {files[*]}\n```\n' >.roux/recipes/lint.md
	cd sub
	git diff --name-only --relative -z | "$ROUX" run lint --lines0 files=- >out 2>err
	is "$(cat out)" "changed sub/below"
}

@test "lines: empty ones stay, one final newline goes, CR stays" {
	printf 'a\n\nb\r\n' >l
	asks 0 exec --lines x=l 'python3 -c "import sys; print(sys.argv[1:])" {x[*]}'
	is "$(cat out)" "['a', '', 'b\\r']"
	printf 'a' >l
	asks 0 exec --lines x=l 'echo {x[*]} end'
	is "$(cat out)" "a end"
	printf '\n' >l
	asks 0 exec --lines x=l 'python3 -c "import sys; print(sys.argv[1:])" {x[*]}'
	is "$(cat out)" "['']"
	: >l
	asks 0 exec --lines x=l 'python3 -c "import sys; print(sys.argv[1:])" {x[*]} "{x[*]}" y'
	is "$(cat out)" "['y']"
	printf '\377\n' >l
	asks 2 exec --lines x=l 'echo {x[*]}'
	has "$(cat err)" 'not UTF-8'
	asks 2 exec --lines x 'echo {x[*]}'
	asks 2 exec --lines x=missing 'echo {x[*]}'
	printf 'a\nb\n' | "$ROUX" plan --json --lines x=- 'echo {x[*]}' >out
	is "$(member 'd["leaves"][0]["argv"]')" "['echo', 'a', 'b']"
	printf 'one\ntwo\n' >l
	asks 0 run --as lines --lines x=l --template 'echo {x[*]}'
	is "$(cat out)" 'one two'
	printf 'three\n' >l
	asks 0 rerun lines --lines x=l
	is "$(cat out)" three
	asks 0 rerun lines
	is "$(cat out)" 'one two'
	printf 'p\0q r\0' | "$ROUX" exec --lines0 x=- 'echo {x[1]}' >out 2>err
	is "$(cat out)" 'q r'
}

@test "items as words: the command too, whole words only" {
	asks 0 exec '{c[*]} end' 'c:=["echo","a b",""]'
	is "$(cat out)" "a b  end"
	asks 2 exec '{c[*]} end' 'c:=[]'
	has "$(cat err)" 'comes out empty'
	asks 2 exec 'echo x{c[*]}' 'c:=["a"]'
	has "$(cat err)" 'part of a longer word'
	asks 2 exec '{"template":"echo","timeout":"{c[*]}"}' 'c:=["a"]'
	has "$(cat err)" 'outside a command line'
	asks 2 exec 'echo {c[*]}' c=text
	asks 2 exec 'echo {c[*]}'
	has "$(cat err)" "no value for 'c'"
	asks 0 exec '["echo {c[*]}","cat"]' 'c:=["$HOME","*","a;b"]'
	is "$(cat out)" '$HOME * a;b'
	own r.json <<<'{"template":"echo {c[*]}"}'
	asks 0 tool schema ./r.json
	is "$(member 'd["properties"]["c"]["type"], d["required"]')" "('array', ['c'])"
}

@test "words fill the declared arguments in order" {
	own g.json <<<'{"args":["name","greeting=hello","n:int=1"],"template":"echo {greeting} {name} {n}"}'
	asks 0 run ./g.json Ada
	is "$(cat out)" "hello Ada 1"
	asks 0 run ./g.json Ada hi 3
	is "$(cat out)" "hi Ada 3"
	asks 0 run ./g.json greeting=hey Ada 2
	is "$(cat out)" "hey Ada 2"
	asks 0 run ./g.json 'http://x/?a=b'
	is "$(cat out)" "hello http://x/?a=b 1"
	asks 0 run ./g.json -- -x
	is "$(cat out)" "hello -x 1"
	asks 2 run ./g.json a b 1 more
	has "$(cat err)" "unexpected argument 'more'"
	asks 2 run ./g.json a b notanumber
	asks 0 plan --json ./g.json Ada
	is "$(member 'd["leaves"][0]["argv"]')" "['echo', 'hello', 'Ada', '1']"
	own n.json <<<'{"template":"echo {name}"}'
	asks 2 run ./n.json Ada
	has "$(cat err)" "unexpected argument 'Ada': values are written name=value"
	own s.yaml <<<'{name: s, description: d, version: 1.0.0, context: {a: 1}, steps: [{id: x, type: bash, command: "true"}]}'
	asks 2 run ./s.yaml Ada
}

@test "a step recipe says what it requires" {
	own r.yaml <<'END'
name: r
description: d
version: 1.0.0
required: [version, env]
context: { version: "", other: null, blank: "" }
steps:
  - { id: x, type: bash, command: "echo {{version}} {{env}} >ran", output: o }
END
	asks 2 run ./r.yaml
	has "$(cat err)" "'version' is required"
	has "$(cat err)" "'env' is required"
	[ ! -e ran ]
	asks 2 run ./r.yaml version=1
	asks 0 run ./r.yaml version=1 env=prod
	is "$(cat ran)" "1 prod"
	asks 0 tool schema ./r.yaml
	is "$(member 'd["required"]')" "['version', 'env']"
	asks 0 show ./r.yaml
	has "$(cat out)" "version          a string; required"
	has "$(cat out)" "other            a string; null by default"
	has "$(cat out)" "blank            a string; empty by default"
	asks 0 help ./r.yaml
	has "$(cat out)" "version          a string; required"
	asks 0 check ./r.yaml
	asks 2 plan ./r.yaml
	asks 2 run ./r.yaml version=1 env=prod versoin=2
	has "$(cat err)" "did you mean 'version'?"
	asks 0 run ./r.yaml version=1 env=prod unrelated_thing=2
	has "$(cat err)" "uses the value 'unrelated_thing'"
}

@test "spaces inside the braces are told at every run" {
	own s.yaml <<'END'
name: s
description: d
version: 1.0.0
context: { who: you }
steps:
  - { id: x, type: bash, command: "echo '{{ who }}'", output: o }
END
	asks 0 run ./s.yaml
	is "$(cat out)" "{{ who }}"
	is "$(grep -c 's.yaml:6:.*spaces inside the braces' err)" 1
}

@test "a slip that changes what happens is reported by every run, not by check alone" {
	local template text
	while IFS='~' read -r template text; do
		for how in exec 'run --template' check; do
			# shellcheck disable=SC2086  # a command and its option
			roux $how "$template" >out 2>&1 || true
			is "$(grep -c "warning: .*$text" out)" 1
		done
	done <<'TABLE'
echo "a b~the quote is not closed
{"retry":2,"template":["true","true"]}~`retry` never happens
{"recover":"true","template":"true"}~`recover` never runs
{"when":"true","template":"true"}~`when` names a flag called 'true'
{"retries":2,"template":"true"}~unknown field 'retries' is ignored
echo $HOME~no shell reads this line
TABLE
}

@test "slips of recipes are reported by every run, too" {
	cat >k.yaml <<'END'
name: k
version: 1.0.0
description: slips
steps:
  - id: a
    type: bash
    command: echo one
    command: echo two
  - id: b
    type: bash
    condition: "{{a} =="
    on_error: continue
    command: echo hi
  - id: c
    foreach: "{{list}}"
    retry:
      max_attempts: 2
    steps:
      - id: d
        type: bash
        command: echo d
  - id: e
    type: bash
    condition: "1 == 2"
    foreach: "{{list}} x"
    command: echo e
  - id: f
    type: bash
    condition: "1 == 2"
    foreach: "{{list"
    command: echo f
context:
  list: [1]
END
	echo '{"imprts":{},"value":{},"args":["n:integer"],"template":"true"}' >m.json
	printf -- '---\nname: f\n    stray: 1\ndefaults:\n  - ""\n---\n\n```template\necho a \\\n  b\n```\n\n```template\ntrue\n```\n' >f.md
	local file text
	while IFS='~' read -r file text; do
		for how in run check; do
			roux "$how" "./$file" >out 2>&1 || true
			is "$file $text $how $(grep -c "warning: .*$text" out)" "$file $text $how 1"
		done
	done <<'TABLE'
k.yaml~the key 'command' stands here twice
k.yaml~this condition will fail
k.yaml~`retry` is ignored
k.yaml~step 'e': this `foreach` will fail
k.yaml~step 'f': this `foreach` will fail
m.json~unknown member 'imprts' is ignored
m.json~unknown member 'value' is ignored
m.json~unknown type in 'n:integer'
f.md~line is ignored
f.md~item 1 of 'defaults' is ignored
f.md~the backslash makes the line break a part of the argument
f.md~the fence is ignored
TABLE
}

@test "defaults are checked like values, and what exec would refuse" {
	asks 2 exec '{"defaults":{"n":"x"},"template":"echo {n:int}"}'
	asks 2 check '{"defaults":{"n":"x"},"template":"echo {n:int}"}'
	asks 2 check '{"defaults":{"a":"{b}","b":"{a}"},"template":"echo {a}"}'
	asks 2 check '{"template":"echo a\u0000b"}'
	asks 0 check 'echo "a b'
	has "$(cat out)" 'warning: the quote is not closed'
}

@test "unknown fields are told once, with what to write instead" {
	asks 0 check '{"template":"echo","colour":1,"x-mine":2,"//":"note","retries":3,"environment":{},"timout":5}'
	is "$(grep -c "unknown field 'colour'" out)" 1
	has "$(cat out)" 'write `retry`'
	has "$(cat out)" 'write `env`'
	has "$(cat out)" "did you mean 'timeout'?"
	is "$(grep -c 'warning:' out)" 4
	for word in cmd command run script; do
		asks 2 check "{\"$word\":\"echo\"}"
		has "$(cat out)" "did you mean 'template' in place of '$word'?"
	done
	for pair in dir:cwd working_directory:cwd workdir:cwd if:when ignore_error:failure; do
		asks 0 check "{\"template\":\"echo\",\"${pair%:*}\":\"x\"}"
		has "$(cat out)" "write \`${pair#*:}\`"
	done
	for word in deps depends_on; do
		asks 0 check "{\"template\":\"echo\",\"$word\":[]}"
		has "$(cat out)" 'stands before it in an array'
	done
	asks 2 check '{"template":"echo","needs":["build"]}' # a field of ours, which is about machines
	has "$(cat out)" 'stands before it in an array'
	own r.json <<<'{"template":"echo","colour":1,"descripton":"x","x-a":1,"name":"r"}'
	asks 0 check ./r.json
	is "$(grep -c 'warning:' out)" 2
}

@test "durations have units" {
	asks 124 exec '{"template":"sleep 300","timeout":"50ms"}'
	asks 0 exec '{"template":"echo ok","delay":"0.01s","timeout":"{t}"}' t=5m
	is "$(cat out)" ok
	asks 2 exec '{"template":"echo","timeout":"5 s"}'
	asks 2 exec '{"template":"echo","timeout":"-5s"}'
	asks 2 exec '{"template":"echo","timeout":"5w"}'
	own s.yaml <<'END'
name: s
description: d
version: 1.0.0
steps:
  - id: x
    type: bash
    command: "sleep 300"
    timeout: 100ms
    on_error: continue
    retry: { max_attempts: 2, initial_delay: 1ms, max_delay: 0.5s }
  - { id: y, type: bash, command: "echo {{i}}", foreach: "{{l}}", as: i, delay_between: 1ms, output: o, timeout: 1h }
context: { l: [1, 2] }
END
	asks 0 run ./s.yaml
	is "$(cat out)" 2
	has "$(cat err)" 'retry, attempt 2, in 1 ms'
	sed -i 's/timeout: 100ms/timeout: 0s/' s.yaml
	asks 2 check ./s.yaml
	sed -i 's/timeout: 0s/timeout: soon/' s.yaml
	asks 2 check ./s.yaml
}

@test "variables come from files, --env wins" {
	printf '%s\n' '# comment' 'export A=one # said' "B='two # three'" 'C="x y"' 'D=a#b' 'A=last' '' 'E=' >vars
	asks 0 exec --env-file vars --env D=other 'sh -c "echo [\$A][\$B][\$C][\$D][\$E]"'
	is "$(cat out)" "[last][two # three][x y][other][]"
	printf 'A=1\nno pair\n' >vars
	asks 2 exec --env-file vars 'true'
	has "$(cat err)" 'vars:2:1: error: the line is not KEY=value'
	printf 'A="1\n' >vars
	asks 2 exec --env-file vars 'true'
	asks 2 exec --env-file missing 'true'
	printf 'A=$HOME `id` $(id)\n' >vars
	asks 0 exec --env-file vars 'sh -c "printf %s \"\$A\""'
	is "$(cat out)" '$HOME `id` $(id)'
}

@test "a secret may have another name than its variable" {
	own r.json <<<'{"template":"python3 -c \"import sys; print(len(sys.argv[1]))\" {token}"}'
	MY_TOKEN=hush-hush asks 0 run ./r.json --secret-env token=MY_TOKEN --as one
	is "$(cat out)" 9
	if grep -rq hush-hush "$(state)/runs/one"; then
		grep -rl hush-hush "$(state)/runs/one"
		return 1
	fi
	MY_TOKEN=hush-hush asks 0 rerun one --as two
	is "$(cat out)" 9
	asks 2 rerun one --as three
	has "$(cat err)" 'set $MY_TOKEN again'
	asks 2 run ./r.json --secret-env token=NOT_THERE
}

@test "an argument of the type words is split as a command line is" {
	echo '{"args":["command:words","n:int=1"],"template":["{command[*]} x","cat"]}' >w.json
	asks 0 run ./w.json command='printf "%s|" "two words" a\ b $(date) {n}'
	is "$(cat out)" 'two words|a b|$(date)|{n}|x|'
	asks 0 run ./w.json command='printf "%s\n" '"'a\b' "'""'
	is "$(cat out)" 'a\b

x'
	asks 0 run ./w.json 'echo by place'
	is "$(cat out)" "by place x"
	asks 0 run ./w.json command:='["echo","a  b"]'
	is "$(cat out)" "a  b x"
	asks 2 run ./w.json command="echo 'open"
	has "$(cat err)" "expected words with every quote closed, or a JSON array"
	asks 2 run ./w.json command=
	has "$(cat err)" "'command' has no items"
	# The exit status is the command's own.
	asks 3 run ./w.json command='sh -c "exit 7"' --as one
	has "$(cat err)" "[0] failed with code 7: sh -c 'exit 7' x"
	asks 0 check --portable ./w.json
	has "$(cat out)" 'the type `words` is an extension of roux'
	# Defaults are split as well, and so are arrays that are written as texts.
	asks 0 exec '{"args":["c:words=echo hi there","l:array=[1,\"b c\"]"],"template":"{c[*]} {l[*]}"}'
	is "$(cat out)" "hi there 1 b c"
	asks 0 exec '{"args":["c:words"],"defaults":{"c":"echo d"},"template":"{c[*]}"}'
	is "$(cat out)" d
}

@test "a missing value and a word too many are reported together" {
	local recipe
	echo '{"template":"echo {x}"}' >plain.json
	echo '{"args":["x","y=1"],"template":"echo {x} {y}"}' >args.json
	printf '%s\n' 'name: s' 'description: d' 'version: 1.0.0' 'required: [x]' 'context: {x: null}' \
		'steps: [{id: a, type: bash, command: "echo {{x}}"}]' >s.yaml
	for recipe in ./plain.json s.yaml; do
		for command in run plan; do
			run -2 --separate-stderr roux $command $recipe surplus --json
			is "$(jq -r '[.errors[].message] | sort | .[]' <<<"$output" | sed -n "/'surplus'/s/:.*//p;/'x'/s/.*/lacks x/p" | sort | paste -sd,)" \
				"lacks x,unexpected argument 'surplus'"
		done
	done
	for command in run plan; do
		run -2 --separate-stderr roux $command ./args.json z=1 --json
		is "$(jq -r '[.errors[].field] | sort | join(",")' <<<"$output")" x,z
		run -2 --separate-stderr roux $command ./args.json y=2 b c z=1 --json
		is "$(jq -r '[.errors[].message] | join(",")' <<<"$output")" \
			"unexpected argument 'c': every argument of the recipe has a value,the recipe has no argument 'z'"
	done
	[ ! -e "$(state)/runs" ]
}
