load common.bash

# What is said about runs is true, whatever became of their records.

gated() { # PROMPT: gated.yaml, which asks it
	cat >gated.yaml <<END
name: gated
description: asks
version: 1.0.0
stages:
  - name: first
    steps:
      - id: one
        type: bash
        command: echo one >>lines
    approval:
      required: true
      prompt: "$1"
  - name: second
    steps:
      - id: two
        type: bash
        command: echo two >>lines
END
}

@test "after deny, status, wait and runs say denied; resume changes nothing" {
	gated 'go on?'
	asks 4 run --as it --progress=none gated.yaml
	asks 0 deny it --reason 'not on a Friday'
	asks 0 status it --json
	is "$(member 'd["status"]')" denied
	is "$(member 'd["pending_approval"]')" None
	has "$(member 'd["error"]')" "not on a Friday"
	asks 0 status it
	has "$(cat out)" "it: denied"
	asks 1 wait it
	has "$(cat err)" "denied: not on a Friday"
	asks 1 wait it --json
	is "$(member 'd["status"], d["ok"]')" "('denied', False)"
	asks 0 runs --json
	is "$(member 'd["runs"][0]["status"]')" denied
	asks 2 approve it
	has "$(cat err)" "it is denied"
	asks 1 wait it --json
	cp out before
	cp -r "$(state)/runs/it" record
	asks 1 resume it --progress=none
	is "$(cat err)" "roux: it: denied: nothing was started; \`roux rerun it\` runs it again"
	asks 1 resume it --json
	is "$(cat out)" "$(cat before)"
	is "$(member 'd["status"], d["exit"], d["error"]')" "('denied', 1, \"stage 'first' was denied: not on a Friday\")"
	diff -r record "$(state)/runs/it"
	is "$(cat lines)" one
}

@test "a run that waits for an approval is not ended: nothing takes it away" {
	gated 'go on?'
	asks 4 run --as it --progress=none gated.yaml
	local command
	for command in 'archive it' 'prune it' 'run --as it gated.yaml' 'run --detach --as it gated.yaml'; do
		# shellcheck disable=SC2086 # words
		asks 2 $command
		has "$(cat err)" "run 'it' waits for an approval"
		has "$(cat err)" 'roux approve it'
		has "$(cat err)" 'roux deny it'
	done
	asks 2 archive it --json
	is "$(member 'd["status"], d["reason"]')" "('refused', 'paused')"
	asks 0 prune --status paused --yes
	asks 0 approve it
	asks 2 prune it
	asks 0 resume it --progress=none
	is "$(cat lines)" 'one
two'
	asks 4 run --as it --progress=none gated.yaml
	asks 0 deny it
	asks 4 run --as it --progress=none gated.yaml
	asks 0 deny it
	asks 0 prune it
	asks 0 archive it
}

@test "a run that waits for an approval keeps its name when its result is lost" {
	gated 'go on?'
	asks 4 run --as it --progress=none gated.yaml
	rm "$(state)/runs/it/result.json"
	asks 2 run --as it gated.yaml
	has "$(cat err)" "run 'it' waits for an approval"
	[ ! -e "$(state)/runs/it/generations" ]
	asks 0 approve it
	asks 0 resume it --progress=none
	is "$(cat lines)" 'one
two'
}

@test "of a run whose question is lost it is not said that it is answered" {
	gated 'go on?'
	asks 4 run --as it --progress=none gated.yaml
	rm "$(state)/runs/it/gates.json"
	asks 4 wait it
	has "$(cat err)" "what run 'it' asks is lost: \`roux resume it\` asks it again"
	asks 4 resume it --progress=none
	asks 0 approve it
	asks 4 wait it
	has "$(cat err)" "run 'it' has its answer: \`roux resume it\` continues it"
}

@test "a run that waits for an approval keeps its name when the ledger is lost" {
	gated 'continue it?'
	asks 4 run --as it --progress=none gated.yaml
	rm "$(state)"/ledger.db*
	for how in --foreground --detach; do
		asks 2 run "$how" --as it gated.yaml
		has "$(cat err)" "run 'it' waits for an approval"
	done
	[ ! -e "$(state)/runs/it/generations" ]
	asks 0 approve it
	asks 0 resume it --progress=none
	asks 4 run --as it --progress=none gated.yaml
	asks 0 deny it
	rm "$(state)"/ledger.db*
	asks 4 run --as it --progress=none gated.yaml
}

@test "a gate's question cannot move the cursor from any command" {
	gated '\e[2J\e[31mowned\u009b2J\a'
	local command
	asks 4 run --as it gated.yaml --progress=plain
	cat out err >all
	for command in 'status it' 'wait it' 'runs' 'logs it' 'runs --status paused' 'messages it' 'cancel it' \
		'resume it --progress=plain' 'approve it other' 'deny it' 'wait it' 'status it' 'resume it'; do
		# shellcheck disable=SC2086 # words
		roux $command >>all 2>&1 || true
	done
	grep -q owned all
	if LC_ALL=C grep -q "$(printf '\033\|\007\|\302\233')" all; then
		cat -v all
		false
	fi
}

@test "marks that turn the text around are escaped in plans and messages" {
	local turn
	turn=$(printf '\342\200\256')
	asks 0 plan "echo a${turn}b"
	is "$(cat out)" "0  echo \$'a\\342\\200\\256b'"
	asks 2 run --as "a${turn}b" --template true
	cp err all
	asks 2 run "./a${turn}b.json"
	cat err >>all
	asks 2 status "a${turn}b"
	cat err >>all
	run ! grep -qF "$turn" all
}

@test "an ended run whose progress.json is old or gone says how many commands have ended" {
	local file phase
	asks 3 run --quiet --as it '["true", "false", "true"]'
	file=$(state)/runs/it/progress.json
	rm "$file"
	asks 0 status it
	contains out "3 commands ended, 1 failed"
	for phase in running failed; do
		echo '{"phase": "'$phase'", "active": 1, "completed": 1, "failed": 0, "expected": 3}' >"$file"
		asks 0 status it
		contains out "3 of 3 commands ended, 1 failed"
	done
	# The same of one that was killed, which is said in the file too.
	rm "$(state)/runs/it/result.json" "$(state)"/ledger.db*
	asks 0 doctor --rebuild
	asks 0 status it
	contains out "3 of 3 commands ended, 1 failed"
	is "$(of_json 'd["completed"], d["failed"], d["active"]' <"$file")" "(3, 1, 0)"
	# And of an earlier one of that name.
	asks 0 run --quiet --as it --template true
	rm "$(state)/runs/it/generations/1/progress.json"
	asks 0 status it~1
	contains out "3 commands ended, 1 failed"
}

@test "resume of a run whose run.json is empty continues where it was" {
	asks 1 run --as it --progress=none '["sh -c \"echo one >>lines\"", {"failure":"root","template":"test -e good"}]'
	: >"$(state)/runs/it/run.json"
	: >good
	asks 0 resume it --progress=none
	is "$(cat lines)" one
	asks 0 status it --json
	is "$(member 'd["status"]')" 'done'
}

@test "a run that the machine failed: wait prints the reason, result.json has it" {
	asks 0 run --detach --as it 'sh -c "rm $HOME/.pi/agent/roux/runs/it/stdout.log; ln -s $PWD/elsewhere $HOME/.pi/agent/roux/runs/it/stdout.log"'
	asks 1 wait it
	has "$(cat err)" "cannot write stdout.log"
	has "$(cat "$(state)/runs/it/result.json")" "cannot write stdout.log"
	[ ! -e elsewhere ]
	asks 1 wait it --json
	has "$(member 'd["error"]')" "cannot write stdout.log"
	asks 0 resume it --progress=none
	asks 0 wait it
}

@test "a link in the place of stdout.log is not followed by wait" {
	asks 0 run --as it 'echo good'
	echo secret >elsewhere
	ln -sf "$PWD/elsewhere" "$(state)/runs/it/stdout.log"
	asks 1 wait it
	asks 1 wait it --json
	if grep secret out err; then false; fi
}

@test "archive without a ledger is refused, and offers to make it" {
	asks 0 run --as it --template true
	rm "$(state)"/ledger.db*
	asks 2 archive it
	has "$(cat err)" "doctor --rebuild"
	[ -d "$(state)/runs/it" ]
	asks 0 doctor --rebuild
	asks 0 archive it
}

@test "what a killed doctor --rebuild has left is removed" {
	asks 0 run --as it --template true
	mkdir "$(state)/.rebuild-abcdef"
	: >"$(state)/.rebuild-abcdef/ledger.db"
	: >"$(state)/.rebuild-abcdef/ledger.db-wal"
	asks 0 doctor --rebuild
	[ ! -e "$(state)/.rebuild-abcdef" ]
	mkdir "$(state)/.rebuild-abcdef"
	asks 0 doctor
	[ ! -e "$(state)/.rebuild-abcdef" ]
}

@test "a run whose directory is gone is reported as that" {
	asks 0 run --as it --template true
	rm -r "$(state)/runs/it"
	for command in status wait logs resume; do
		asks 2 "$command" it
		has "$(cat err)" "the directory of run 'it' is gone"
		if grep "did you mean" err; then false; fi
	done
	echo '{"template": "true"}' >job.json
	asks 0 run --as nightly ./job.json
	rm -r "$(state)/runs/nightly"
	for word in nigh latest latest:job; do
		for command in status wait logs resume rerun cancel kill approve deny report messages archive prune; do
			asks 2 "$command" "$word"
			has "$(cat err)" "the directory of run 'nightly' is gone"
			if grep "did you mean" err; then false; fi
		done
	done
}

@test "doctor says when no run can be started, and why" {
	: >file
	for root in "$BASE/work/file" "$BASE/work/file/below"; do
		ROUX_STATE_DIR=$root asks 1 doctor
		grep -q "^error: no run can be started: $BASE/work/file is not a directory" out
		grep -q '^Next: .*ROUX_STATE_DIR' out
	done
	mkdir -m 777 open
	ROUX_STATE_DIR=$BASE/work/open asks 1 doctor
	contains out "no run can be started: every user of this machine can write to $BASE/work/open"
	ROUX_STATE_DIR=$BASE/work/not/yet asks 0 doctor
	[ ! -e not ]
	HOME=$BASE/nowhere asks 1 doctor
	contains out "no run can be started: there is no place to record runs"
}

@test "doctor says when another user has the state root, or it may not be written" {
	mkdir -m 555 state
	[ "$(id -u)" -ne 0 ] || chown 65534 state
	ROUX_STATE_DIR=$BASE/work/state run -1 as_nobody "$ROUX" doctor </dev/null
	has "$output" "no run can be started: cannot write to $BASE/work/state: Permission denied"
	[ "$(id -u)" -eq 0 ] || return 0
	ROUX_STATE_DIR=$BASE/work/state asks 1 doctor
	contains out "no run can be started: $BASE/work/state belongs to another user"
}

@test "a run whose directory could not be read while the ledger was made anew is found later" {
	mkdir -m 777 shared
	cp "$ROUX" "$BASE/roux"
	export ROUX_STATE_DIR=$BASE/work/shared/state
	for name in p q; do
		as_nobody "$BASE/roux" run -q --as "$name" --template true </dev/null
	done
	as_nobody chmod 000 shared/state/runs/p
	as_nobody "$BASE/roux" doctor --rebuild </dev/null
	as_nobody "$BASE/roux" runs </dev/null >before 2>&1
	if grep '^p ' before; then false; fi
	as_nobody chmod 700 shared/state/runs/p
	as_nobody "$BASE/roux" runs </dev/null >after 2>&1
	grep '^p ' after
	contains after 'lacks 1 run'
}

@test "a state root that others can write to is refused" {
	asks 0 run --as it --template true
	chmod 777 "$(state)"
	for command in 'run --template true' 'runs' 'status it' 'resume it' 'wait it' 'doctor --rebuild' 'prune'; do
		# shellcheck disable=SC2086 # words
		asks 2 $command
		has "$(cat err)" "$(state)"
	done
	asks 0 exec true
	chmod 700 "$(state)"
	chmod 777 "$(state)/runs"
	asks 2 status it
	chmod 700 "$(state)/runs"
	asks 0 status it
}

@test "a sticky state root that every user can add to is refused, also when all in it is ours" {
	asks 0 run --as it --template true
	for place in "$(state)" "$(state)/runs"; do
		chmod 1777 "$place"
		for command in 'run --template true' 'runs' 'status it' 'resume it' 'wait it' 'prune it --preserve-artifacts'; do
			# shellcheck disable=SC2086 # words
			asks 2 $command
			has "$(cat err)" "every user of this machine can write to $place"
		done
		asks 1 doctor
		has "$(cat out)" "no run can be started: every user of this machine can write to $place"
		chmod 700 "$place"
	done
	asks 0 status it
}

@test "the top of a file system in memory is a state root while all in it is ours" {
	mkdir memory
	inside() {
		unshare -rm sh -c 'mount -t tmpfs -o size=4m tmpfs memory && exec "$@"' sh "$@"
	}
	inside true 2>why || skip "nothing can be mounted: $(cat why)"
	export ROUX_STATE_DIR=$PWD/memory
	inside "$ROUX" run --as it --template 'echo fine' >out
	is "$(cat out)" fine
	# shellcheck disable=SC2154 # stderr is set by run
	run -2 --separate-stderr inside sh -c 'chmod 777 memory; exec "$0" run --template "echo never"' "$ROUX"
	is "$output" ""
	has "$stderr" "every user of this machine can write to $PWD/memory"
}

@test "a relative PI_CODING_AGENT_DIR is meant from where roux was started" {
	mkdir sub
	export PI_CODING_AGENT_DIR=agent
	asks 0 run -C sub --as it --template 'sh -c "echo $PI_CODING_AGENT_DIR"'
	is "$(cat out)" "$PWD/agent"
	[ -d agent/roux/runs/it ]
	[ ! -e sub/agent ]
	asks 0 run -C sub --detach --as other --template 'true'
	asks 0 wait other
	asks 0 status -C sub it
}

@test "few descriptors: fewer commands at once" {
	unsanitized
	(
		ulimit -n 40
		asks 0 run --as it -j 60 --json '{"parallel":true,"repeat":60,"template":"sh -c \"echo {index}; echo e >&2; sleep 0.02\""}'
	)
	is "$(member 'd["coverage"]["done"]')" 60
}

@test "a start that has too few descriptors leaves no directory behind" {
	unsanitized
	local n
	asks 0 run --as first --template true
	for n in 5 6 7 8 9 10 11 12 13 14; do
		if (
			ulimit -n "$n"
			exec "$ROUX" run --as "few-$n" --template true </dev/null 3>&-
		) >out 2>err; then continue; fi
		[ ! -e "$(state)/runs/few-$n" ] || [ -s "$(state)/runs/few-$n/start.json" ] || {
			echo "$n: $(cat err)"
			return 1
		}
	done
}

@test "a ledger that a limit of the process holds up is not called damaged" {
	unsanitized
	local n
	asks 0 run --as first --template true
	for n in 7 8; do
		run -1 --separate-stderr bash -c "ulimit -n $n; exec '$ROUX' run --as few --template true </dev/null 3>&-"
		run ! grep -q damaged <<<"$stderr"
	done
	(
		ulimit -f 1
		trap '' XFSZ
		exec "$ROUX" run --as other --template true >out 2>err </dev/null 3>&-
	) || true
	contains err 'File too large'
	contains err 'ulimit -f'
	run ! grep -q damaged err
}

@test "directories that were copied in by hand are noticed, listed and taken in" {
	local name
	for name in one two three; do asks 0 run --as "$name" --template true; done
	asks 0 archive three
	asks 0 runs
	mv "$(state)/runs/one" kept
	asks 0 doctor --rebuild
	asks 0 runs --json
	is "$(member 'len(d["runs"])')" 1
	cp -r kept "$(state)/runs/one"
	asks 0 runs
	has "$(cat out)" one
	has "$(cat err)" "doctor --rebuild"
	asks 0 runs
	has "$(cat err)" "lacks 1 run"
	asks 0 doctor --rebuild
	asks 0 runs
	is "$(cat err)" ""
	has "$(cat out)" one
}

@test "a secret that is too long to be kept does not take the values away" {
	cat >long.yaml <<-'END'
		name: long
		description: a long secret
		version: 1.0.0
		secrets: [token]
		steps:
		  - {id: a, type: bash, command: "head -c 70000 /dev/zero | tr '\\0' k", output: token}
		  - {id: b, type: bash, command: "test -e good"}
	END
	asks 1 run -q --as long long.yaml
	touch good
	asks 0 resume -q long
	asks 0 rerun -q long --all
}

@test "a report leaves outputs out when the secrets of the run cannot be read" {
	asks 1 run -q --as hidden --secret tok=leek-and-potato --template "sh -c 'echo bad \$0 >&2; exit 3' {tok}"
	asks 0 report hidden
	! grep -q leek-and-potato out || return 1
	echo '{' >"$(roux status hidden --json | of_json 'd["dir"]')/values.json"
	asks 0 report hidden
	has "$(cat out)" hidden
	! grep -q leek-and-potato out || return 1
}

@test "past a limit of file size every command says so and ends by itself" {
	local how
	asks 0 run -q --as one --template true
	for how in "run --detach --as two --template true" "runs" "status one" "prune one" "doctor" "archive one"; do
		# shellcheck disable=SC2086 # words
		(ulimit -f 0 && exec "$ROUX" $how </dev/null 2>&1) | cat >err
		has "$(cat err)" "File too large"
	done
	asks 0 status one
	# Commands are ended by it as ever.
	(ulimit -f 8 && "$ROUX" exec --json "sh -c 'exec yes >big'" 2>/dev/null | cat >out) || true
	is "$(member 'd["failures"][0]["signal"]')" 25
}
