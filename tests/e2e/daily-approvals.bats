# Approvals at the prompt (daily-use.md section 10).

load common

gate() { # [LINES of the approval]
	cat >gate.yaml <<X
name: gate
description: a gate
version: 1.0.0
stages:
  - name: one
    steps:
      - id: a
        type: bash
        command: echo a >>ran
    approval:
      required: true
      prompt: "Deploy \\e[31mnow?"
$1
  - name: two
    steps:
      - id: b
        type: bash
        command: echo b >>ran; echo result
        output: final_output
X
}

# terminal STATUS TRIGGER KEYS WORD...: roux on a terminal; what it showed is in the file log.
terminal() {
	local want=$1 trigger=$2 keys=$3 status=0
	shift 3
	on-terminal log "$trigger" "$keys" "$ROUX" "$@" </dev/null || status=$?
	is "$status" "$want" || {
		cat -v log
		return 1
	}
}

state_of() {
	roux status "$1" --json | of_json 'd["status"]'
}

@test "a run in the foreground asks on the terminal, and yes continues it" {
	gate
	terminal 0 '[l]ater? ' $'y\r' run --as g ./gate.yaml
	has "$(cat log)" "g waits at stage 'one'"
	has "$(cat log)" 'result'
	is "$(grep -c $'\033\\[31mnow' log)" 0
	is "$(cat ran)" $'a\nb'
	is "$(state_of g)" "done"
	is "$(python3 -c 'import json,sys; print([g["by"] for g in json.load(open(sys.argv[1])).values()])' "$(state)/runs/g/gates.json")" "['$(id -un)']"
}

@test "no ends the run as denied" {
	gate
	terminal 1 '[l]ater? ' $'no\r' run --as g ./gate.yaml
	is "$(cat ran)" a
	is "$(state_of g)" denied
	is "$(ROUX_OWNER='' roux status g --json | of_json 'd["answered"]["decision"]')" denied
}

@test "later, Enter alone and Ctrl-D leave it paused, other words are asked again" {
	gate
	for keys in $'l\r' $'later\r' $'\r' $'\004' $'what\rl\r'; do
		terminal 4 '[l]ater? ' "$keys" run --as g ./gate.yaml
		is "$(state_of g)" paused
		has "$(cat log)" 'roux approve g'
		roux deny g >/dev/null 2>&1
	done
	has "$(cat log)" 'Please answer y, n or l'
}

@test "Ctrl-C at the question cancels the run" {
	gate
	terminal 130 '[l]ater? ' $'\003' run --as g ./gate.yaml
	is "$(state_of g)" cancelled
	is "$(cat ran)" a
}

@test "what was typed before the question is discarded" {
	gate
	sed -i 's/echo a >>ran/echo a >>ran; echo begun >up; until test -e go; do sleep 0.05; done/' gate.yaml
	typed() { on-terminal log 'start' $'y\ry\ry\r' "$ROUX" run --progress=plain --as g ./gate.yaml </dev/null; }
	typed &
	RUNNING=$!
	until_true test -e up
	until_true contains log 'y'
	touch go
	until_true contains log '[l]ater? '
	sleep 0.3
	is "$(state_of g)" paused
	roux approve g >said
	has "$(cat said)" 'the terminal that asks for it continues the run'
	finish
	is "$status" 0
	is "$(cat ran)" $'a\nb'
}

@test "an answer at another door ends the question and the run continues" {
	gate
	asked() { on-terminal log '' '' "$ROUX" run --as g ./gate.yaml </dev/null; }
	for how in approve 'approve --resume'; do
		rm -f ran log
		asked &
		RUNNING=$!
		until_true contains log '[l]ater? '
		ROUX_OWNER=someone:else roux ${how%% *} g ${how#approve} >said 2>&1
		finish
		is "$status" 0
		has "$(cat log)" result
		is "$(cat ran)" $'a\nb'
		is "$(state_of g)" "done"
	done
}

@test "the time limit of a gate ends the question" {
	gate '      timeout: 1s
      default: approve'
	terminal 0 never never run --as g ./gate.yaml
	is "$(cat ran)" $'a\nb'
	gate '      timeout: 1
      default: deny'
	rm ran
	terminal 1 never never run --as h ./gate.yaml
	is "$(cat ran)" a
	is "$(state_of h)" denied
}

@test "nothing is asked without a terminal, with --json, --silent, or when it is detached" {
	gate
	asks 4 run --as g ./gate.yaml
	is "$(grep -c '\[y\]es' err)" 0
	terminal 4 never never run --as h --json ./gate.yaml
	is "$(grep -c '\[y\]es' log)" 0
	terminal 4 never never run --as j --silent ./gate.yaml
	is "$(grep -c '\[y\]es' log)" 0
	terminal 0 never never run --as i --detach ./gate.yaml
	is "$(grep -c '\[y\]es' log)" 0
	roux wait i >/dev/null 2>&1 || true
}

@test "approve says that nothing runs until resume, and offers it on a terminal" {
	gate
	asks 4 run --as g ./gate.yaml
	asks 0 approve g --message fine
	is "$(tail -1 out)" "stage 'one' of run 'g' is approved; nothing runs until \`roux resume g\`"
	is "$(roux status g --json | of_json '[d["answered"][k] for k in ("stage", "decision", "by", "message")]')" "['one', 'approved', '$(id -un)', 'fine']"
	has "$(roux status g --json | of_json 'd["answered"]["answered"]')" T
	is "$(roux status g --json | of_json 'd["pending_approval"]')" None
	has "$(roux status g)" "answered: approved by $(id -un); next: roux resume g"
	is "$(cat ran)" a
	asks 0 resume g
	is "$(cat ran)" $'a\nb'
	is "$(roux status g --json | of_json 'd["answered"]')" None
	asks 4 run --as h ./gate.yaml
	ROUX_OWNER=team:x roux approve h >/dev/null
	has "$(roux status h)" 'answered: approved by team:x; next: roux resume h'
	asks 4 run --as i ./gate.yaml
	terminal 0 'continue it now?' $'y\r' approve i
	is "$(state_of i)" "done"
	asks 4 run --as j ./gate.yaml
	terminal 0 'continue it now?' $'\r' approve j
	is "$(state_of j)" paused
}

# What a step starts approves its own run once that waits.
approver() { # RUN START
	cat >"$1.yaml" <<-END
		name: gated
		description: asks
		version: 1.0.0
		stages:
		- name: first
		  steps:
		  - {id: one, type: bash, command: "$2; until \$ROUX status e-$1 >/dev/null 2>&1; do sleep 0.05; done"}
		  approval: {required: true, prompt: go?}
		- name: second
		  steps: [{id: two, type: bash, command: "true"}]
	END
}

@test "a run that a step starts with another environment cannot approve the step's run" {
	local id
	export ROUX
	cat >answers <<-'END'
		until "$ROUX" status "$1" | grep -q paused; do sleep 0.05; done
		"$ROUX" approve "$1" >"$1.said" 2>&1
		echo "ended $?" >>"$1.said"
	END
	approver plain "env -u ROUX_TREE -u ROUX_RUN -u ROUX_GENERATION \$ROUX run --detach --as e-plain 'sh answers plain'"
	approver twice "env -u ROUX_TREE -u ROUX_RUN -u ROUX_GENERATION \$ROUX run --detach --as e-twice 'env -u ROUX_TREE -u ROUX_RUN sh answers twice'"
	approver orphan "setsid -f env -i MARK=\$MARK PATH=\$PATH ROUX=\$ROUX HOME=\$HOME \$ROUX run --detach --as e-orphan 'sh answers orphan'"
	approver options "setsid -f env -i MARK=\$MARK PATH=\$PATH ROUX=\$ROUX HOME=\$HOME \$ROUX run --detach --as e-options 'sh answers options'"
	for id in plain twice orphan options; do
		case $id in
		options) asks 4 -C . run -q --as "$id" "$id.yaml" ;;
		*) asks 4 run -q --as "$id" "$id.yaml" ;;
		esac
		until_true contains "$id.said" ended
		contains "$id.said" "a process of the run '$id' cannot answer for it"
		contains "$id.said" "ended 2"
		asks 0 approve "$id"
	done
}

@test "a run that a step starts cannot approve the step's run where processes have other numbers, or none" {
	local id why
	unshare --mount --pid --fork true 2>/dev/null || skip "needs the right to make namespaces"
	export ROUX
	cat >answer <<-'END'
		[ "$1" != none ] || mount -t tmpfs none /proc
		"$ROUX" approve "$1" >"$1.said" 2>&1
		echo "ended $?" >>"$1.said"
	END
	cat >elsewhere <<-'END'
		until "$ROUX" status "$1" | grep -q paused; do sleep 0.05; done
		exec env -i MARK="$MARK" PATH="$PATH" ROUX="$ROUX" HOME="$HOME" unshare --mount "$2" --fork sh answer "$1"
	END
	approver numbers "\$ROUX run --detach --as e-numbers 'sh elsewhere numbers --pid'"
	approver none "\$ROUX run --detach --as e-none 'sh elsewhere none --mount'"
	for id in numbers none; do
		asks 4 run -q --as "$id" "$id.yaml"
		until_true contains "$id.said" ended
		why="a process of the run '$id' cannot answer for it"
		[ $id = numbers ] || why="cannot find out whether run '$id' has started this process"
		contains "$id.said" "$why"
		is "$(state_of "$id")" paused
		asks 0 approve "$id"
	done
}

@test "what a step leaves behind does not outlive the pause by the name of a supervisor" {
	export ROUX
	cat >supervise <<-'END'
		echo $$ >named.pid
		until "$ROUX" status named | grep -q paused; do sleep 0.05; done
		"$ROUX" approve named >named.said 2>&1
	END
	cat >left.sh <<-'END'
		env -i MARK=$MARK PATH=$PATH ROUX=$ROUX HOME=$HOME setsid -f sh supervise >/dev/null 2>&1
		until test -s named.pid; do sleep 0.05; done
		"$ROUX" run -q --as e-named 'echo x'
	END
	approver named 'sh left.sh'
	asks 4 run -q --as named named.yaml
	run kill -0 "$(cat named.pid)"
	is "$status" 1
	is "$(state_of named)" paused
	[ ! -e named.said ]
	asks 0 approve named
}

@test "a step cannot write the answer to a gate that has not been asked" {
	export ROUX
	cat >writes.sh <<-'END'
		echo '{"0.1":{"stage":"first","answer":"approved"}}' >"$HOME/.pi/agent/roux/runs/$ROUX_RUN/gates.json"
		"$ROUX" run -q --as e-writes 'echo x'
	END
	approver writes 'sh writes.sh'
	asks 4 run -q --as writes writes.yaml
	is "$(state_of writes)" paused
	asks 0 approve writes
	asks 0 resume -q writes
}

@test "what a run that a step starts leaves behind ends with that run, and cannot approve" {
	export ROUX
	cat >daemon.sh <<-'END'
		echo $$ >"$1.pid"
		until "$ROUX" status "e-$1" | grep -q done; do sleep 0.05; done
		"$ROUX" approve "$1" >"$1.said" 2>&1
	END
	cat >helper.sh <<-'END'
		env -i MARK=$MARK PATH=$PATH ROUX=$ROUX HOME=$HOME setsid -f sh daemon.sh "$1" >/dev/null 2>&1
		until test -s "$1.pid"; do sleep 0.05; done
		until test -e "$1.go"; do sleep 0.05; done
	END
	# It is spared at the pause, as its run is, and ends with it.
	approver nested "\$ROUX run --detach --as e-nested 'sh helper.sh nested'; until test -s nested.pid; do sleep 0.05; done"
	asks 4 run -q --as nested nested.yaml
	kill -0 "$(cat nested.pid)"
	touch nested.go
	asks 0 wait e-nested
	ended "$(cat nested.pid)"
	is "$(state_of nested)" paused
	asks 0 approve nested
}

@test "what a detached run leaves behind stays when no run has started it" {
	echo 'echo $$ >alone.pid; sleep 1000' >daemon.sh
	asks 0 run --detach --as alone 'sh -c "setsid -f sh daemon.sh >/dev/null 2>&1; until test -s alone.pid; do sleep 0.05; done"'
	asks 0 wait alone
	until_true ended "$(supervisor alone)"
	kill "$(cat alone.pid)"
}

@test "escape sequences of gates.json reach the terminal from no command" {
	gate
	asks 4 run -q --as g ./gate.yaml
	cp -r "$(state)/runs/g" good
	local answer command
	for answer in '' approve deny; do
		for command in 'approve g' 'approve g other' 'deny g' 'approve g --resume' 'status g' 'wait g' 'logs g' 'resume g' \
			'plan run:g --resume' 'graph run:g' 'cancel g'; do
			rm -r "$(state)/runs/g"
			cp -r good "$(state)/runs/g"
			[ -z "$answer" ] || roux "$answer" g >/dev/null
			python3 - "$(state)/runs/g/gates.json" <<-'END'
				import json, sys
				gates = json.load(open(sys.argv[1]))
				for g in gates.values():
				    for k in {"by", *g}:
				        if isinstance(g.get(k, ""), str) and k not in ("answer", "default"):
				            g[k] = "\x1b[31mred\x9b" + g.get(k, "")
				json.dump(gates, open(sys.argv[1], "w"))
			END
			# shellcheck disable=SC2086 # words
			roux $command >shown 2>&1 </dev/null || true
			if grep -P '\x1b|\xc2\x9b' shown; then
				echo "# by: $command, answer: $answer"
				false
			fi
		done
	done
}

@test "a rerun from a gate asks again in each attempt" {
	cat >sub.yaml <<'X'
name: sub
description: fails once in each run
version: 1.0.0
stages:
  - name: one
    steps: [{id: a, type: bash, command: echo a >>ran}]
    approval: {required: true, prompt: "Go?"}
  - name: two
    steps: [{id: b, type: bash, command: "test -e seen-$ROUX_RUN || { touch seen-$ROUX_RUN; exit 1; }"}]
X
	cat >again.yaml <<'X'
name: again
description: calls it twice
version: 1.0.0
steps: [{id: call, type: recipe, recipe: ./sub.yaml, retry: {max_attempts: 2, initial_delay: 0}}]
X
	asks 4 run -q --as g ./again.yaml
	local run
	for run in g h; do
		[ $run = g ] || asks 4 rerun -q --as h g --from 0.0.0.1
		asks 0 approve $run
		asks 4 resume -q $run
		asks 0 approve $run
		asks 0 resume -q $run
	done
	is "$(wc -l <ran)" 2
}
