# Redo what failed: rerun, and what a plan says of it (daily-use.md section 2).

load common

ran() { # the marks that commands have left in the file ran since it was last emptied, sorted
	sort ran 2>/dev/null | tr '\n' ' '
	: >ran
}

newest() {
	roux runs --json | of_json 'd["runs"][0]["run"]'
}

# 300 items, of which 17 fail until the file fixed is there.
items() {
	cat >item <<'X'
#!/bin/sh
echo "$1" >>ran
if [ ! -e fixed ] && [ $(($1 % 17)) -eq 5 ] && [ "$1" -lt 289 ]; then
	echo "no luck with $1" >&2
	exit 3
fi
echo "item $1"
X
	chmod 755 item
	echo '[{"parallel":true,"repeat":300,"label":"items","template":"./item {index}"},"sh -c \"echo join >>ran; cat\""]' >items.json
}

@test "17 of 300 fail: every door says so and names them, and a rerun executes exactly those" {
	items
	bad=$(seq 5 17 288)
	n=$(wc -l <<<"$bad")
	is "$n" 17
	asks 3 run --as big -j 8 @items.json
	ran >/dev/null
	has "$(roux runs)" "done, $n failed"
	is "$(roux runs --json | of_json 'd["runs"][0]["failed"]')" "$n"
	has "$(cat err)" "roux: big: done, $n failed (exit status 3; --tolerate makes it 0)"
	roux status big >status
	roux report big >report
	[ -s report ] && [ "$(head -c 1 report)" = / ] && cp "$(cat report)" report
	has "$(head -1 status)" "done, $n failed"
	has "$(cat report)" "done, $n failed</span></h1>"
	for i in $bad; do
		has "$(cat err)" "[0.r$i"
		has "$(cat status)" "[0.r$i"
		has "$(cat report)" "0.r$i<"
	done
	touch fixed
	roux plan run:big --json >out
	is "$(member 'len(d["leaves"]), len(d["argv"]), len(d["reused"])')" "($((n + 1)), $((n + 1)), $((300 - n)))"
	is "$(ran)" ''
	asks 0 rerun big
	has "$(cat err)" "[0.r22 items 22] run again (failed earlier: exit 3)"
	has "$(cat err)" "$((300 - n)) commands reused, $n that failed run again, and what follows"
	is "$(ran)" "$( (echo "$bad"; echo join) | sort | tr '\n' ' ')"
	is "$(grep '^item ' out)" "$(seq 0 299 | sed 's/^/item /')"
	is "$(roux status "$(newest)" --json | of_json 'd["failed"], d["exit"], d["rerun_of"]')" "(0, 0, 'big')"
}

@test "what follows a failure in a sequence runs again, the rest is taken over" {
	echo '[{"label":"a","template":"sh -c \"echo a >>ran; echo A\""},
	  {"parallel":true,"template":[["sh -c \"echo p0 >>ran; echo P0\"","sh -c \"echo p1 >>ran; test -e ok\"","sh -c \"echo p2 >>ran; echo P2\""],"sh -c \"echo q >>ran; echo Q\""]},
	  "sh -c \"echo z >>ran; cat\""]' >t.json
	asks 3 run --as s @t.json
	ran >/dev/null
	touch ok
	asks 0 rerun s
	is "$(ran)" 'p1 p2 z '
	asks 0 rerun s --all
	is "$(ran)" 'a p0 p1 p2 q z '
	asks 0 rerun s --failed
	is "$(ran)" 'p1 p2 z '
	asks 3 rerun s --from 1.1
	is "$(ran)" 'q z '
	asks 2 rerun s --from a --all
	has "$(cat err)" 'only one of --from, --failed and --all'
}

@test "a run without failures is run again as a whole; tolerated failures stand" {
	echo '["sh -c \"echo a >>ran\"","sh -c \"echo b >>ran\""]' >t.json
	asks 0 run --as good @t.json
	ran >/dev/null
	asks 0 rerun good
	is "$(ran)" 'a b '
	echo '[{"failure":"continue","template":"sh -c \"echo t >>ran; exit 4\""},{"parallel":true,"template":["sh -c \"echo p >>ran; test -e ok\"","sh -c \"echo q >>ran\""]}]' >u.json
	asks 3 run --as soft @u.json
	ran >/dev/null
	touch ok
	asks 0 rerun soft
	is "$(ran)" 'p '
	is "$(roux status "$(newest)" --json | of_json 'd["failed"], d["tolerated"]')" '(0, 1)'
	has "$(cat err)" '[0] reused (failed earlier: exit 4)'
}

@test "what succeeded in a retry is taken over, a retried group that failed is redone whole" {
	echo '{"parallel":true,"template":[
	  {"retry":2,"template":"sh -c \"echo f >>ran; test -e seen && exit; touch seen; exit 1\""},
	  {"retry":2,"failure":"branch","template":["sh -c \"echo g0 >>ran\"","sh -c \"echo g1 >>ran; test -e ok\""]},
	  "sh -c \"echo x >>ran\""]}' >t.json
	asks 3 run --as r @t.json
	is "$(ran)" 'f f g0 g0 g1 g1 x '
	touch ok
	asks 0 rerun r
	is "$(ran)" 'g0 g1 '
}

@test "runs that were cancelled, killed or ended early run what never ran" {
	echo '["sh -c \"echo a >>ran\"","sh -c \"echo b >>ran; touch up; test -e ok || sleep 100; true\"","sh -c \"echo c >>ran\""]' >t.json
	for how in cancel kill; do
		rm -f up ok
		roux run --detach --as "$how" @t.json >/dev/null
		until_true test -e up
		roux "$how" "$how" 2>/dev/null
		ran >/dev/null
		touch ok
		asks 0 rerun "$how"
		is "$(ran)" 'b c '
	done
	rm -f up ok
	roux run --detach --as dead @t.json >/dev/null
	until_true test -e up
	kill -KILL "$(supervisor dead)"
	gone() { [ "$(roux status dead --json | of_json 'd["status"]')" = exited ]; }
	until_true gone
	roux kill dead 2>/dev/null || true
	ran >/dev/null
	touch ok
	asks 0 rerun dead
	is "$(ran)" 'b c '
	cat >early.yaml <<'X'
name: early
description: a test
version: 1.0.0
steps:
  - id: one
    type: bash
    command: echo one >>ran
  - id: two
    type: bash
    command: echo two >>ran; test -e fine
    on_error: skip_remaining
  - id: three
    type: bash
    command: echo three >>ran
X
	: >ran
	asks 3 run --as early ./early.yaml
	is "$(ran)" 'one two '
	touch fine
	asks 0 rerun early
	is "$(ran)" 'three two '
}

loop() { # PARALLEL
	cat >loop.yaml <<X
name: loop
description: a test
version: 1.0.0
context:
  list: [0, 1, 2, 3, 4, 5, 6, 7]
steps:
  - id: each
    type: bash
    foreach: "{{list}}"
    as: i
    parallel: $1
    collect: all
    command: echo {{i}} >>ran; case {{i}} in 2|5) test -e ok || exit 1;; esac; echo v{{i}}
  - id: sum
    type: bash
    command: echo sum >>ran; printf '%s' '{{all}}'
    output: final_output
X
}

@test "failed rounds of a parallel loop are redone one by one" {
	loop true
	asks 1 run --as p ./loop.yaml
	is "$(ran)" '0 1 2 3 4 5 6 7 '
	touch ok
	roux plan run:p --json >out
	is "$(member '[l["path"] for l in d["leaves"]]')" "['0.r2', '0.r5', '1']"
	asks 0 rerun p
	is "$(ran)" '2 5 sum '
	has "$(cat out)" v0
	has "$(cat out)" v5
}

@test "of a sequential loop everything after the first failed round is redone" {
	loop false
	asks 1 run --as q ./loop.yaml
	is "$(ran)" '0 1 2 '
	touch ok
	asks 0 rerun q
	is "$(ran)" '2 3 4 5 6 7 sum '
	has "$(cat out)" v7
}

@test "a round that failed inside a called recipe is redone alone" {
	cat >inner.yaml <<'X'
name: inner
description: a test
version: 1.0.0
context:
  n: 0
steps:
  - id: first
    type: bash
    command: echo first{{n}} >>ran
  - id: second
    type: bash
    command: echo second{{n}} >>ran; test {{n}} != 1 || test -e ok
X
	cat >outer.yaml <<'X'
name: outer
description: a test
version: 1.0.0
context:
  list: [0, 1, 2]
steps:
  - id: all
    type: recipe
    recipe: ./inner.yaml
    foreach: "{{list}}"
    as: n
    parallel: true
    context:
      n: "{{n}}"
  - id: end
    type: bash
    command: echo end >>ran
X
	asks 1 run --as c ./outer.yaml
	is "$(ran)" 'first0 first1 first2 second0 second1 second2 '
	touch ok
	asks 0 rerun c
	is "$(ran)" 'end second1 '
}

@test "a loop that only a later attempt of the recipe around it came to is taken over" {
	cat >inner.yaml <<'X'
name: inner
description: a test
version: 1.0.0
context:
  list: [p, q]
steps:
  - id: fails
    type: bash
    command: echo first >>ran; test $(grep -c first ran) = 2
  - id: each
    type: bash
    command: echo {{item}} >>ran
    foreach: "{{list}}"
X
	cat >outer.yaml <<'X'
name: outer
description: a test
version: 1.0.0
steps:
  - id: call
    type: recipe
    recipe: ./inner.yaml
    retry: {max_attempts: 2, initial_delay: 0.01}
  - id: end
    type: bash
    command: echo end >>ran; test -e ok
X
	asks 1 run --as c ./outer.yaml
	is "$(ran)" 'end first first p q '
	roux plan run:c --json >out
	is "$(member '[l["path"] for l in d["leaves"]]')" "['1']"
	touch ok
	asks 0 rerun c
	is "$(ran)" 'end '
}

is_exited() { # RUN
	roux status "$1" | grep -q exited
}

@test "a command that was tried several times is one of those that are reused" {
	echo '["echo a", {"retry": 3, "template": "sh -c \"echo x >>tries; test $(wc -l <tries) = 3\""}, "sh -c \"exit 4\""]' >t.json
	asks 3 run --as c @t.json
	asks 3 rerun c
	has "$(cat err)" "c: 2 commands reused, 1 that failed runs again"
	roux plan run:c --json >out
	is "$(member 'len(d["reused"])')" 2
	# Its second attempt was running.
	rm tries
	echo '["echo a", {"retry": 2, "template": "sh -c \"echo x >>tries; case $(wc -l <tries) in 1) exit 1;; 2) sleep 600;; esac\""}]' >t.json
	asks 0 run -d --as cut @t.json
	until_true lines_at_least tries 2
	kill -9 "$(supervisor cut)"
	until_true is_exited cut
	roux plan run:cut --json >out
	is "$(member '[x["path"] for x in d["reused"]]')" "['0']"
	asks 0 rerun cut
	has "$(cat err)" "cut: 1 command reused"
}

@test "plan run: shows what would run and what would be reused, and executes nothing" {
	echo '[{"label":"a","template":"sh -c \"echo a >>ran; echo A\""},{"label":"b","failure":"root","template":"sh -c \"echo b >>ran; test -e ok\""},{"label":"c","template":"wc -l"}]' >t.json
	asks 1 run --as s @t.json
	ran >/dev/null
	roux plan run:s --json >out
	is "$(member '[l["path"] for l in d["leaves"]], d["reused"]')" "(['1', '2'], [{'path': '0', 'label': 'a', 'why': 'succeeded earlier'}])"
	is "$(member 'd["argv"][1]')" "['wc', '-l']"
	asks 0 plan run:s
	has "$(cat out)" '0  reused (succeeded earlier)'
	has "$(cat out)" 'run again (failed earlier: exit 1)'
	has "$(cat out)" 'wc -l  # run (not reached before)'
	roux plan run:s --resume --json >out
	is "$(member '[l["path"] for l in d["leaves"]], [x["path"] for x in d["reused"]]')" "(['1', '2'], ['0'])"
	roux plan run:s --from c --json >out
	is "$(member '[l["path"] for l in d["leaves"]], [x["path"] for x in d["reused"]]')" "(['2'], ['0', '1'])"
	roux plan run:s --all --json >out
	is "$(member '[l["path"] for l in d["leaves"]], d["reused"]')" "(['0', '1', '2'], [])"
	is "$(ran)" ''
	is "$(roux runs --json | of_json 'len(d["runs"])')" 1
	asks 2 plan run:s --from nothing
	asks 2 plan run:s --all --failed
	asks 2 plan 'echo x' --failed
}

@test "plan run: of steps uses what earlier steps have printed" {
	cat >made.yaml <<'X'
name: made
description: a test
version: 1.0.0
steps:
  - id: find
    type: bash
    command: printf '["x","y","z"]'
    parse_json: true
    output: files
  - id: each
    type: bash
    foreach: "{{files}}"
    as: f
    parallel: true
    command: echo {{f}} >>ran; test {{f}} != y || test -e ok
    output: last
  - id: after
    type: bash
    command: echo after {{last}} >>ran
X
	asks 1 run --as m ./made.yaml
	ran >/dev/null
	roux plan run:m --json >out
	is "$(member '[l["path"] for l in d["leaves"]]')" "['1.r1', '2']"
	has "$(member 'd["argv"][0]')" 'echo y >>ran'
	has "$(member 'd["argv"][1]')" '{{last}}'
	is "$(member 'sorted(x["path"] for x in d["reused"])')" "['0', '1.r0', '1.r2']"
	is "$(ran)" ''
}

# Three copies that end well, then a command that needs the file ok.
FAN='[{"label":"fan {xs[index]}","parallel":true,"repeat":"{xs.length}","template":"echo {xs[index]}{end=}"},{"failure":"root","label":"last {end=}","template":"sh -c \"test -e ok && cat && echo {end=}\""}]'

refused_for() { # NODE WHY WORDS...: refused before anything is run or written
	local node=$1 why=$2
	shift 2
	cp -r "$(state)/runs/v" before
	asks 2 "$@"
	has "$(cat err)" "the results of node $node"
	has "$(cat err)" "are kept, and with these values $why"
	has "$(cat err)" 'a rerun can begin at that node or before it; --from NODE'
	diff -r before "$(state)/runs/v"
	rm -r before
}

@test "values that would change what is kept are refused before anything is run" {
	asks 1 run --as v "$FAN" 'xs:=["a","b","c"]'
	touch ok
	for command in 'resume v' 'plan run:v --resume' 'rerun v' 'rerun v --from 1' 'plan run:v --from 1'; do
		# shellcheck disable=SC2086 # words
		refused_for '0' 'it would have 1 copy, not 3' $command 'xs:=["Z"]'
		# shellcheck disable=SC2086 # words
		refused_for '0.r0' 'it would be for another item' $command 'xs:=["Z","b","c"]'
	done
	asks 0 rerun v --from 0 'xs:=["Z"]'
	has "$(cat out)" '--- branch: fan Z status: done ---'
	asks 0 plan run:v --resume end=! 'xs:=["a","b","c"]'
	is "$(grep -c reused out)" 3
	asks 0 resume v end=! 'xs:=["a","b","c"]'
	is "$(sed -n 2p out)" a
	has "$(cat out)" !
}

@test "values may change what runs, and not the name or the condition of what is kept" {
	asks 0 run --as v '[{"label":"say {x}","template":"echo {x}"},{"when":"{on=yes}","template":"cat"},{"label":"end {x}","template":"sh -c \"cat; echo {x}\""}]' x=old
	refused_for '0' 'it would have another name' rerun v --from 2 x=new
	refused_for '1' 'it would be left out' rerun v --from 2 on=
	asks 0 rerun v --from 2 x=old
	is "$(paste -sd, out)" old,old
	asks 0 rerun v --from 0 x=new
	is "$(paste -sd, out)" new,new
}

@test "loops and conditions of steps that are kept depend on no value that is changed" {
	cat >l.yaml <<-'END'
		name: l
		version: 1.0.0
		description: a loop, then a step that needs a file
		context: { xs: [a, b], zs: [p, q], more: 1, go: "yes" }
		steps:
		  - { id: each, type: bash, foreach: "{{xs}}", command: "echo {{item}}{{more}}", collect: all }
		  - { id: guarded, type: bash, condition: "{{go}} == 'yes'", command: "echo x" }
		  - { id: sub, type: recipe, recipe: ./s.yaml, output: sub, context: { ys: "{{zs}}", n: "{{more}}" } }
	END
	cat >s.yaml <<-'END'
		name: s
		version: 1.0.0
		description: a loop of what it is given
		context: { ys: [], n: 0 }
		steps:
		  - { id: inner, type: bash, foreach: "{{ys}}", command: "echo {{item}}" }
		  - { id: last, type: bash, command: "test -e ok && echo {{n}}", output: said }
	END
	asks 1 run --as v l.yaml
	touch ok
	refused_for '0' 'it may have other rounds' resume v 'xs:=["Q"]'
	refused_for '0' 'it may have other rounds' rerun v --from sub 'xs:=["Q"]'
	refused_for '1' 'its condition may come out otherwise' resume v go=no
	refused_for '2.0.0' 'it may have other rounds' resume v 'zs:=["p","Q"]'
	asks 0 resume v more:=2 --json
	is "$(member 'd["context"]["all"], d["context"]["sub"]["said"]')" "(['a1\\n', 'b1\\n'], '2\\n')"
}

@test "plan refuses a rerun that would be refused, since an output is gone" {
	asks 0 run -q --as a '["echo one", "echo two", "cat"]'
	asks 0 plan run:a --from 2
	contains out reused
	rm "$(state)/runs/a/out/1.out"
	asks 2 rerun a --from 2
	cp err refused
	asks 2 plan run:a --from 2
	is "$(cat err)" "$(cat refused)"
	contains err 'the output of node 1 is gone'
	contains err '`roux rerun a --all` runs all of it again'
	is "$(roux rerun -q a --all)" two
}

@test "a rerun of what failed that needs an output that is gone names --all" {
	asks 1 run -q --as a '["echo one", {"failure": "root", "template": "sh -c \"cat; test -e good\""}]'
	rm "$(state)/runs/a/out/0.out"
	asks 2 rerun a
	is "$(cat err)" 'roux: error: the output of node 0 is gone
     hint: `roux rerun a --all` runs all of it again'
	touch good
	is "$(roux rerun -q a --all)" one
}

@test "plan run: says of a gate whether it asks again" {
	cat >gated.yaml <<'X'
name: gated
description: a test
version: 1.0.0
stages:
  - name: first
    steps: [{id: a, type: bash, command: 'true'}]
    approval: {required: true, prompt: 'Go?'}
  - name: second
    steps: [{id: b, type: bash, command: 'test -e ok'}]
X
	asks 4 run --as g gated.yaml
	asks 0 plan run:g --resume
	has "$(cat out)" '0.1  # approval: Go?; run (not answered before)'
	asks 1 approve g --resume
	asks 0 plan run:g
	is "$(cat out)" "1.0  /bin/bash -c 'test -e ok'  # run again (failed earlier: exit 1)
0.1  reused (approved earlier)
0.0  reused (succeeded earlier)"
	# What follows the gate is what a rerun would run, so the document has it.
	roux plan run:g --json >out
	is "$(member 'd["until"], [w["path"] for w in d["will_run"]], [x["path"] for x in d["reused"]]')" "(None, ['1.0'], ['0.0'])"
	asks 0 plan run:g --from a
	has "$(cat out)" '0.1  # approval: Go?; run again (follows what runs again)'
	asks 0 plan run:g --all
	has "$(cat out)" '0.1  # approval: Go?; run again (asked for)'
	roux plan run:g --all --json >out
	is "$(member 'd["until"], [w["path"] for w in d["will_run"]]')" "('first', ['0.0'])"
}

@test "a rerun of one node tells no failures of others" {
	echo '["echo a", "sh -c \"exit 3\"", {"label":"m","template":"cat"}, {"label":"n","template":"sh -c \"exit 5\""}]' >t.json
	asks 3 run --as o @t.json
	asks 0 rerun o --from m --only --as m
	has "$(cat err)" '[1] reused (failed earlier: exit 3)'
	is "$(grep -c 'failed with code' err)" 0
	for words in wait status; do
		is "$(roux $words m --json | of_json 'd["failed"], d["tolerated"], d["exit"], d["failures"], d["failures_total"]')" "(0, 0, 0, [], 0)"
	done
	is "$(roux status m --json | of_json 'd["progress"]["failed"]')" 0
	asks 1 rerun o --from n --only --as n
	is "$(roux wait n --json | of_json 'd["failed"], [f["path"] for f in d["failures"]], d["failures_total"]')" "(1, ['3'], 1)"
}

@test "a rerun from behind the failure that ended the run passes it over, and says so" {
	cat >three.yaml <<'X'
name: three
description: d
version: 1.0.0
steps:
  - {id: one, type: bash, command: echo one >>ran}
  - {id: two, type: bash, command: "echo two >>ran; echo part; exit 3", output: two}
  - {id: last, type: bash, command: "echo last >>ran; echo 'got {{two}}'", output: got}
X
	asks 1 run --as old three.yaml
	is "$(ran)" 'one two '
	for only in --only ''; do
		# shellcheck disable=SC2086 # nothing, or one word
		asks 0 rerun old --from last $only
		has "$(cat err)" '[1 two] reused (failed earlier: exit 3)'
		is "$(cat out)" 'got part'
		is "$(ran)" 'last '
	done
	is "$(roux wait "$(newest)" --json | of_json 'd["status"], d["failed"], d["tolerated"], [s["status"] for s in d["steps"]]')" \
		"('done', 0, 1, ['done', 'tolerated', 'done'])"
	asks 1 rerun old --from two
	is "$(ran)" 'two '
	# In a template, also inside groups and with attempts of its own; the next command reads nothing of it.
	echo '["echo a", [{"label":"b","failure":"root","retry":2,"template":"sh -c \"echo b >>ran; echo B; exit 4\""}], {"label":"c","template":"wc -l"}]' >t.json
	asks 1 run --as t @t.json
	is "$(ran)" 'b b '
	asks 0 rerun t --from c
	is "$(cat out)" 0
	is "$(ran)" ''
	# What was not reached in the group that failed has no result to take over, and is not run unasked.
	echo '[[{"failure":"root","template":"sh -c \"echo b >>ran; exit 4\""}, "sh -c \"echo not >>ran\""], {"label":"c","template":"echo c"}]' >g.json
	asks 1 run --as g @g.json
	is "$(ran)" 'b '
	asks 2 rerun g --from c
	has "$(cat err)" 'node 1 comes behind a group that failed at 0.0 and was not run to its end'
	has "$(cat err)" '`roux rerun g` does it again'
	asks 2 plan run:g --from c
	is "$(ran)" ''
	asks 0 rerun t --from c
	# What it took over holds when that run is done again; without a node, that is all of it.
	again=$(newest)
	asks 0 rerun "$again" --from c
	is "$(ran)" ''
	is "$(roux plan "run:$again" --json | of_json 'len(d["leaves"])')" 3
}

@test "lists and status say the same of how long a run took" {
	asks 0 run --as it 'sleep 0.2'
	is "$(roux status it --json | of_json 'd["ms"], d["started"], d["ended"]')" \
		"$(roux runs --json | of_json 'tuple(d["runs"][0][k] for k in ("ms", "started", "ended"))')"
	is "$(roux wait it --json | of_json 'd["ms"]')" "$(roux runs --json | of_json 'd["runs"][0]["ms"]')"
}
