#!/usr/bin/env bats
# Fields of nodes that only roux has: cwd, env, quorum, tty; and what check --portable says of them.
# shellcheck disable=SC2016  # braces and dollars of templates

load common

@test "cwd is that of the run, also when nested, and of what is below" {
	mkdir -p a/b c
	printf '#!/bin/sh\necho "$0 $PWD"\n' >tool && chmod +x tool
	asks 0 exec '{"cwd":"a","template":["pwd",{"cwd":"c","template":"sh -c \"cat; pwd\""},"sh -c \"cat; pwd\""]}'
	is "$(cat out)" "$PWD/a
$PWD/c
$PWD/a"
	asks 0 exec '{"cwd":"{d}/b","template":"pwd"}' d=a
	is "$(cat out)" "$PWD/a/b"
	asks 0 exec '{"cwd":"a","template":"./tool"}'
	is "$(cat out)" "$PWD/tool $PWD/a"
	asks 0 exec '{"cwd":"{dirs[index]}","repeat":"{dirs.length}","template":"pwd"}' 'dirs:=["a","c"]'
	is "$(cat out)" "$PWD/c"
	asks 1 exec '{"cwd":"missing","template":"touch ran"}'
	has "$(cat err)" 'cwd missing: No such file or directory'
	asks 1 exec '{"cwd":"tool","template":"touch ran"}'
	[ ! -e ran ] && [ ! -e a/ran ]
	asks 3 exec --json '[{"cwd":"missing","template":"true"},"echo x"]'
	is "$(member 'd["failures"][0]["code"]')" 1
	asks 2 exec '{"cwd":"{nothing}","template":"pwd"}'
	asks 2 check '{"cwd":5,"template":"pwd"}'
	asks 0 plan --json '{"cwd":"a","template":"pwd"}'
	is "$(member 'd["leaves"][0]["cwd"]')" "a"
}

@test "a recorded run keeps its cwd, attached, detached and again" {
	mkdir a
	echo '{"cwd":"a","env":{"K":"{v}"},"template":"sh -c \"pwd; echo $K\""}' >r.json
	asks 0 run ./r.json v=1 --as one
	is "$(cat out)" "$PWD/a
1"
	asks 0 run --detach ./r.json v=2 --as two
	asks 0 wait two
	is "$(roux logs two --result)" "$PWD/a
2"
	asks 0 rerun one
	has "$(cat out)" "$PWD/a"
	asks 0 tool schema ./r.json
	is "$(member 'd["required"]')" "['v']"
}

@test "env merges name by name, the inner wins, --env over all" {
	t='{"env":{"A":"outer","B":"outer {v}","N":5,"T":true},"template":[{"env":{"A":"inner"},"template":"sh -c \"echo $A/$B/$C/$N/$T\""}]}'
	asks 0 exec "$t" v='two words'
	is "$(cat out)" "inner/outer two words//5/true"
	asks 0 exec "$t" v=1 --env A=given --env C=c
	is "$(cat out)" "given/outer 1/c/5/true"
	asks 2 exec '{"env":{"ROUX_RUN":"x"},"template":"true"}'
	has "$(cat err)" 'cannot be set'
	asks 2 exec '{"env":{"A=B":"x"},"template":"true"}'
	asks 2 exec '{"env":{"A":[]},"template":"true"}'
	asks 2 exec '{"env":{"A":"{missing}"},"template":"true"}'
	asks 0 exec '{"retry":2,"env":{"F":"set"},"recover":"sh -c \"touch recovered-$F\"","template":"test -e recovered-set"}'
}

@test "quorum decides whether a parallel node has failed" {
	fan() { # QUORUM FAILURE: three of five succeed
		echo "[{\"parallel\":true,\"quorum\":$1,\"failure\":\"$2\",\"template\":[\"true\",\"sh -c 'exit 7'\",\"true\",\"sh -c 'exit 8'\",\"true\"]},\"touch deployed\"]"
	}
	asks 3 exec "$(fan 3 branch)"
	[ -e deployed ] && rm deployed
	asks 3 exec "$(fan '"60%"' root)"
	[ -e deployed ] && rm deployed
	for q in 4 '"61%"' '"all"' 9; do
		asks 1 exec --json "$(fan "$q" branch)"
		is "$(member 'd["code"]')" 7
		[ ! -e deployed ]
	done
	asks 3 exec "$(fan '"all"' continue)" --tolerate || asks 0 exec "$(fan '"all"' continue)" --tolerate
	[ -e deployed ]
	for q in 0 -1 1.5 '"0%"' '"101%"' '"most"' '"x%"'; do
		asks 2 check "$(fan "$q" branch)"
	done
	asks 2 check '{"quorum":1,"template":["true","true"]}'
	asks 2 check '{"quorum":1,"parallel":true,"template":"true"}'
}

@test "a quorum of more branches than there are is a failure that says so" {
	t='[{"label":"fan","parallel":true,"quorum":3,"template":["true","true"]},"touch after"]'
	asks 3 run --as few "$t"
	has "$(cat err)" '[0 fan] failed with code 1: 2 of 2 branches succeeded, quorum 3'
	[ -e after ] && rm after
	asks 0 status few
	has "$(cat out)" '[0 fan] failed with code 1: 2 of 2 branches succeeded, quorum 3'
	asks 0 status --json few
	is "$(member 'd["failed"], d["exit"]')" "(1, 3)"
	asks 1 exec --json "${t/\"label\"/\"failure\":\"branch\",\"label\"}"
	is "$(member 'd["error"], d["failures"][0]["path"]')" \
		"('node 0 failed with code 1: 2 of 2 branches succeeded, quorum 3', '0')"
	[ ! -e after ]
	asks 0 exec --json "${t/\"label\"/\"failure\":\"continue\",\"label\"}"
	is "$(member 'd["failed"], d["tolerated"]')" "(0, 1)"
	asks 1 exec '{"parallel":true,"quorum":3,"repeat":"{x.length}","template":"true"}' 'x:=[1,2]'
	has "$(cat err)" '2 of 2 branches succeeded, quorum 3'
	asks 0 check "$t"
	has "$(cat out)" '`quorum` is 3 of 2 branches: this node will fail'
	asks 0 check '{"parallel":true,"quorum":3,"repeat":2,"template":["true","true","true"]}'
	has "$(cat out)" '`quorum` is 3 of 2 branches'
}

@test "with repeat, quorum and failure are of all copies" {
	t='[{"parallel":true,"quorum":"all","failure":"root","repeat":"{x.length}","template":"sh -c \"test $1 != bad && touch done-$1\" sh {x[index]}"},"touch after"]'
	asks 1 exec -j 1 "$t" 'x:=["bad","b","c"]'
	[ -e done-b ] && [ -e done-c ] && [ ! -e after ]
	asks 0 exec "$t" 'x:=["b","c"]'
	[ -e after ]
}

@test "tty wants a terminal of its own" {
	asks 1 exec '{"tty":true,"template":"touch ran"}'
	has "$(cat err)" 'no terminal'
	[ ! -e ran ]
	asks 2 check '{"tty":true,"template":["true","true"]}'
	asks 2 check '{"parallel":true,"template":[{"tty":true,"template":"true"},"true"]}'
	has "$(cat out)" 'inside a parallel node'
	asks 2 check '{"parallel":true,"repeat":2,"tty":true,"template":"true"}'
	asks 0 check '["true",{"tty":true,"template":"true"}]'
	on-terminal out '' '' "$ROUX" exec --progress=none '["echo piped",{"tty":true,"template":"sh -c \"test -t 0 && test -t 1 && test -t 2 && echo on terminal\""},"echo end"]' </dev/null
	has "$(cat out)" 'on terminal'
	has "$(cat out)" 'end'
}

@test "check --portable notes every extension with its place" {
	cat >r.json <<'END'
{"args": ["files:array"], "template": [
  {"cwd": "a", "env": {"A": "b"}, "template": "x {files[*]}"},
  {"parallel": true, "quorum": "all", "timeout": "5s", "template": ["a", "b"]},
  {"tty": true, "timeout": 5000, "template": "y"}
]}
END
	asks 0 check --portable ./r.json
	is "$(grep -o '^./r.json:[0-9]*:[0-9]*: note: .* is an extension of roux' out)" './r.json:2:4: note: `cwd` is an extension of roux
./r.json:2:16: note: `env` is an extension of roux
./r.json:2:50: note: `{files[*]}` is an extension of roux
./r.json:3:22: note: `quorum` is an extension of roux
./r.json:3:50: note: `timeout` with a unit is an extension of roux
./r.json:4:4: note: `tty` is an extension of roux'
	asks 2 check --portable --strict ./r.json
	asks 0 check ./r.json
	is "$(grep -c note: out)" 0
	asks 0 check --portable --json ./r.json
	is "$(member 'd["ok"], len(d["notes"]), d["notes"][0]["line"]')" "(True, 6, 2)"
	cat >s.yaml <<'END'
name: s
description: d
version: 1.0.0
required: [a]
steps:
  - { id: x, type: bash, command: "echo {{a}}", timeout: 5s }
END
	asks 0 check --portable ./s.yaml
	is "$(grep -c 'note:.*extension of roux' out)" 2
	asks 0 check --portable 'echo {a}'
}

@test "the schema of templates has the fields, marked as roux's own" {
	asks 0 schema template
	is "$(member '[f for f in ("cwd","env","quorum","tty") if "not portable" in d["$defs"]["object"]["properties"][f]["description"]]')" "['cwd', 'env', 'quorum', 'tty']"
}

@test "check --strict says that it counts notes" {
	echo '{"template": {"cwd": "/", "template": "true"}}' >r.json
	asks 0 check --portable ./r.json
	contains err 'no mistakes found, 1 note'
	asks 2 check --portable --strict ./r.json
	contains err '0 errors, 0 warnings, 1 note, which --strict counts as well'
}
