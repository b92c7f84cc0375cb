#!/usr/bin/env bats
# roux report and roux graph RUN: a recorded run as a page and as a picture.
# shellcheck disable=SC2016  # expanded by others

load common

setup_runs() {
	export PI_CODING_AGENT_DIR=$BASE/agent ROUX_PACKAGED_DIR=$BASE/packaged ROUX_STATE_DIR=$BASE/state
	mkdir "$BASE/packaged"
}

shows() { # TEXT: is in the file `out`
	grep -qF -- "$1" out && return 0
	echo "not in the output: $1"
	head -c 3000 out
	return 1
}

hides() { # TEXT: is not
	! grep -qF -- "$1" out && return 0
	echo "in the output: $1"
	return 1
}

REVIEW='[{"label":"collect","template":"echo README.md"},
{"parallel":true,"label":"reviewers","template":[
	{"label":"gpt","template":"echo clear"},
	{"label":"claude","retry":2,"recover":"touch mark","template":"sh -c \"test -e mark && echo dead links && exit; echo rate limit >&2; exit 75\""},
	{"label":"gemini","failure":"continue","template":"sh -c \"echo <b>no</b> >&2; exit 9\""}]},
{"label":"copies","repeat":4,"parallel":true,"template":"test {index} != 2"},
{"label":"publish","when":"publish","template":"echo published"},
{"label":"deploy","failure":"root","template":"sh -c \"echo refused >&2; exit 3\""},
"echo never"]'

@test "the page of a run tells its states, times, attempts, codes, failures and output" {
	setup_runs
	asks 1 run --quiet --as review "$REVIEW" publish=false
	asks 0 report review
	is "$(head -c 15 out)" '<!DOCTYPE html>'
	shows '<title>review · failed</title>'
	shows 'rate limit'
	shows '&lt;b&gt;no&lt;/b&gt;'
	hides '<b>no</b>'
	shows '2 attempts · exit 0'
	shows 'tolerated · '
	shows '3 done, 1 failed · '
	shows '>skipped<'
	shows '>unreached<'
	shows 'failed · '
	shows 'exit 3, attempt 1'
	grep -qx 'dead links' out
	hides '<script'
	is "$(grep -o '://' out | wc -l)" 1
}

@test "run: and a bare id name the run, and a recipe of that name comes first" {
	setup_runs
	asks 0 run --quiet --as thing 'echo hello there'
	asks 0 report run:thing
	shows '<title>thing · done</title>'
	asks 0 graph thing --format mermaid
	shows 'echo hello there<br/>done · '
	mkdir -p "$BASE/agent/recipes"
	echo '{"template":"echo from the recipe"}' >"$BASE/agent/recipes/thing.json"
	asks 0 graph thing --format mermaid
	shows 'echo from the recipe'
	hides 'done'
	asks 0 graph run:thing --format mermaid
	shows 'echo hello there<br/>done · '
}

@test "the three formats of a run's picture have the same words" {
	setup_runs
	asks 1 run --quiet --as review "$REVIEW" publish=false
	for format in svg dot mermaid; do
		asks 0 graph run:review --format "$format"
		shows '3 done, 1 failed · '
		shows 'tolerated · '
		shows ' · 2 attempts · exit 0'
		shows ' · exit 3'
		shows 'skipped'
		shows 'unreached'
	done
	asks 0 graph run:review --format dot
	if command -v dot >/dev/null; then dot -Tsvg out >/dev/null; fi
	asks 0 graph run:review
	python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("out")'
}

@test "the frozen graph is drawn, not the recipe as it is now" {
	setup_runs
	echo '{"template":"echo before"}' >it.json
	asks 0 run --quiet --as it ./it.json
	echo '{"template":"echo after"}' >it.json
	asks 0 graph run:it --format mermaid
	shows 'echo before'
	hides 'echo after'
}

@test "a run that has not ended is shown as far as it is" {
	setup_runs
	asks 0 run --detach --as slow '["echo first","sleep 600","echo last"]'
	until_true contains "$BASE/state/runs/slow/events.jsonl" '"path":"1"'
	asks 0 report slow
	shows '<title>slow · running</title>'
	shows 'Running for'
	asks 0 graph run:slow --format mermaid
	shows 'echo first<br/>done · '
	shows 'sleep 600<br/>running · '
	shows 'echo last<br/>waiting'
	asks 0 kill slow
	asks 0 graph run:slow --format mermaid
	shows 'sleep 600<br/>cancelled · '
	shows 'echo last<br/>unreached'
	asks 0 report slow
	shows '<title>slow · killed</title>'
}

@test "a run whose supervisor was killed is shown as exited" {
	setup_runs
	asks 0 run --detach --json --as gone '["echo first","sleep 600"]'
	pid=$(member 'd["pid"]')
	until_true contains "$BASE/state/runs/gone/events.jsonl" '"path":"1"'
	kill -KILL "$pid"
	until_true ended "$pid"
	asks 0 graph run:gone --format mermaid
	shows 'sleep 600<br/>exited · '
	asks 0 report gone
	shows '<title>gone · exited</title>'
}

@test "a group is drawn as it ended, not as a limit in it" {
	setup_runs
	asks 1 run --quiet --as limit --template '[{"label":"outer","timeout":"{t=60000}","failure":"branch","template":[{"timeout":200,"failure":"branch","template":"sleep 600"},"true"]}]'
	asks 0 graph run:limit --format mermaid
	shows 'sleep 600<br/>#91;timeout 200ms] [failure branch]<br/>timeout · '
	shows 'outer<br/>#91;timeout {t=60000} ms] [failure branch]<br/>failed · '
	# A record that was written before groups had an event is drawn too.
	sed -i '/"node.done"/d' "$BASE/state/runs/limit/events.jsonl"
	asks 0 graph run:limit --format mermaid
	shows 'outer<br/>#91;timeout {t=60000} ms] [failure branch]<br/>failed · '
}

@test "a paused run is paused in the headline and in the picture" {
	setup_runs
	printf '%s\n' 'name: gate' 'description: d' 'version: 1.0.0' 'stages:' \
		'- {name: s, approval: {required: true, prompt: Good?}, steps: [{id: a, type: bash, command: "echo hi"}]}' >gate.yaml
	asks 4 run --quiet --as gate ./gate.yaml
	asks 0 report gate
	shows '<span class="tag is-paused">paused</span>'
	asks 0 graph run:gate --format mermaid
	shows 'paused · '
	hides 'running ·'
}

@test "an unknown run is refused, as text and as a document" {
	setup_runs
	asks 2 report nothing
	is "$(head -n 1 err)" "roux: error: there is no run 'nothing'"
	is "$(wc -c <out)" 0
	asks 2 report nothing --json
	is "$(member '[d["ok"], d["status"], d["reason"]]')" "[False, 'refused', 'no such run']"
	asks 2 graph run:nothing --json
	is "$(member '[d["ok"], d["status"]]')" "[False, 'refused']"
	asks 2 report
	asks 2 report a b
}

@test "the page as a document" {
	setup_runs
	asks 0 run --quiet --as one --template true
	asks 0 report one --json
	is "$(member '[d["ok"], d["run"], d["html"][:15]]')" "[True, 'one', '<!DOCTYPE html>']"
}

@test "a secret is nowhere in the page, not even in what a command printed" {
	setup_runs
	asks 0 run --quiet --as hush 'echo {word}' --secret word=sesame-open
	asks 0 report hush
	shows '<th scope="row">word</th><td><code>***</code>'
	hides 'sesame-open'
	is "$(grep -cx '\*\*\*' out)" 2 # of the run, and of its one command
	asks 0 graph run:hush
	hides 'sesame-open'
}

@test "a damaged run directory still gives a page" {
	setup_runs
	asks 0 run --quiet --as hurt '["echo a","echo b"]'
	cd "$BASE/state/runs/hurt"
	printf '{"type":"command.start","path":"../../x","argv":[1,{}]}\nnot json\n\0\n' >>events.jsonl
	echo broken >graph.json
	ln -sf /etc/passwd out/0.out
	cd "$BASE/work"
	asks 0 report hurt
	shows 'The graph of this run is not known.'
	hides 'root:x:0'
	asks 2 graph run:hurt
}

@test "ten thousand commands make a page that can be read" {
	setup_runs
	asks 3 run --quiet --as many '{"repeat":10000,"parallel":true,"template":"test {index} != 7777"}'
	asks 0 report many
	[ "$(wc -c <out)" -lt 200000 ]
	shows '9999 done, 1 failed'
	shows '>r7777</span>'
	shows '… 9,940 more commands'
}
