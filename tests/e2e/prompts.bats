# Agents: what a user sees, what is left behind, and that no value is ever executed.
load common

configure() { # TABLE TEXT: adds to ~/.config/start/TABLE.toml
	mkdir -p "$HOME/.config/start"
	printf '%s\n' "$2" >>"$HOME/.config/start/$1.toml"
}

agent() { # COMMAND [BIN]: the agent `show`, its command as a TOML literal
	configure agents "[agents.show]
bin = '${2:-print-argv}'
command = '''$1'''"
}

no_recipes() { # what `check` and `doctor` tell is about prompts then
	mkdir -p none
	export ROUX_PACKAGED_DIR=$PWD/none
}

prompts() {
	timeout -k 5 $WATCHDOG "$ROUX" "$@" </dev/null 3>&-
}

tmp_is_empty() {
	[ -z "$(ls -A "$TMPDIR")" ] && return 0
	ls -la "$TMPDIR"
	return 1
}

tmp_has_file() { # PATTERN
	[ -n "$(find "$TMPDIR" -name "$1")" ]
}

# What must arrive byte for byte, wherever it comes from.
HOSTILE='it'\''s "q" $(touch pwned) `touch pwned` ; touch pwned | x > pwned
l2 \ \\ '\''; touch pwned; '\'' "; touch pwned; " ${HOME} $1 * ~ # -n'

@test "a hostile prompt arrives unchanged in every style of quoting, direct and through a shell" {
	local place around
	for place in "'{prompt}'" '"{prompt}"' '{prompt}'; do
		for around in '' ' ;' ' | cat'; do
			rm -rf "$HOME/.config/start"
			agent "{bin} %s $place$around" printf
			is "$(prompts prompt -q -- "$HOSTILE")" "$HOSTILE"
		done
	done
	[ ! -e pwned ]
}

@test "hostile roles, contexts, files, output, instructions and models are data" {
	agent "{bin} '{model}' \"{role}\" {prompt} '{role_file}' | cat" print-argv
	printf '%s' "$HOSTILE" >"$HOME/hostile.md"
	configure roles "[roles.r]
file = '~/hostile.md'"
	configure contexts "[contexts.file]
required = true
file = '~/hostile.md'
prompt = '{file_contents}'
[contexts.output]
required = true
command = 'cat ~/hostile.md'"
	configure tasks "[tasks.t]
prompt = '{instructions}'"
	run --separate-stderr prompts task t -q -m "$HOSTILE" -- "$HOSTILE"
	is "$status" 0
	run -0 prompts task t --dry-run --json -m "$HOSTILE" -- "$HOSTILE"
	python3 - "$HOSTILE" <<-'PY' "$output"
		import json, sys
		want, doc = sys.argv[1], json.loads(sys.argv[2][sys.argv[2].index("{"):])
		assert doc["model"] == want and doc["role_text"] == want, doc
		assert doc["prompt"] == "\n\n".join([want] * 3), doc["prompt"]
		assert doc["form"] == "shell" and want not in doc["argv"][2], doc
	PY
	[ ! -e pwned ]
}

@test "the command of a dry run does the same when it is pasted" {
	agent "{bin} 'x y' '{prompt}' \"<{prompt}>\" | cat"
	prompts prompt -q -- "$HOSTILE" >real
	prompts prompt -q --dry-run -- "$HOSTILE" >line
	bash line >pasted
	cmp real pasted
	[ ! -e pwned ]
}

@test "invalid UTF-8 arrives unchanged, NUL bytes are left out with a warning" {
	agent "{bin} %s '{prompt}'" printf
	printf 'a\377\376b' >bytes
	timeout $WATCHDOG "$ROUX" prompt -q - <bytes >got 3>&-
	cmp bytes got
	printf 'a\0b' | timeout $WATCHDOG "$ROUX" prompt - >got 2>err 3>&-
	is "$(cat got)" ab
	contains err "NUL"
}

@test "a prompt of 200 KiB is refused with the way out, and both ways out work" {
	head -c 204800 /dev/zero | tr '\0' x >big
	agent "{bin} '{prompt}'" cat
	run ! timeout $WATCHDOG "$ROUX" prompt - <big 3>&-
	is "$status" 2
	has "$output" "{prompt} is 204800 bytes long"
	has "$output" "{prompt_file}"
	rm -rf "$HOME/.config/start"
	agent "{bin} '{prompt_file}'" cat
	timeout $WATCHDOG "$ROUX" prompt -q - <big >got 3>&-
	cmp big got
	tmp_is_empty
	rm -rf "$HOME/.config/start"
	configure agents "[agents.show]
bin = 'cat'
command = '{bin}'
stdin = 'prompt'"
	timeout $WATCHDOG "$ROUX" prompt -q - <big >got 3>&-
	cmp big got
}

@test "a temporary file is private, complete, and gone when the agent has ended" {
	agent "stat -c '%a %s' '{role_file}'; {bin} '{role_file}' '{role_file}'; exit 7" cat
	configure roles "[roles.r]
prompt = 'twice'"
	run -7 --separate-stderr prompts prompt -q
	is "$output" "600 5
twicetwice"
	tmp_is_empty
}

waits() { # an agent that reads {role_file} and then waits, with a child that waits too
	agent "cat '{role_file}' >seen; echo \$\$ >>pids; {bin} 1000 & echo \$! >>pids; wait; {bin} 1000" sleep
	configure roles "[roles.r]
prompt = 'R'"
}

@test "TERM, INT, HUP and QUIT to roux during a launch leave no file and no child" {
	local signal
	waits
	for signal in TERM INT HUP QUIT; do
		: >pids
		start prompt -q
		until_true lines_at_least pids 2
		tmp_has_file 'start-role-*'
		kill -"$signal" "$RUNNING"
		finish
		[ "$signal" = QUIT ] || is "$status" $((128 + $(kill -l "$signal")))
		tmp_is_empty
		nobody_left
	done
}

@test "TERM ends an agent in shell form without files, and what it has started" {
	agent "echo \$\$ >>pids; {bin} 1000 & echo \$! >>pids; wait" sleep
	start prompt -q
	until_true lines_at_least pids 2
	kill -TERM "$RUNNING"
	finish
	is "$status" 143
	nobody_left
}

@test "TERM kills an agent that does not listen, after the grace time" {
	agent "trap '' TERM; cat '{role_file}' >seen; echo \$\$ >>pids; while :; do {bin} 1; done" sleep
	configure roles "[roles.r]
prompt = 'R'"
	start prompt -q
	until_true lines_at_least pids 1
	kill -TERM "$RUNNING"
	kill -TERM "$RUNNING"
	finish
	is "$status" 137
	tmp_is_empty
	nobody_left
}

@test "TERM while a section command runs ends it, and no agent is started" {
	agent "{bin} started" touch
	configure contexts "[contexts.c]
required = true
command = 'echo \$\$ >>pids; sleep 1000'"
	start prompt
	until_true lines_at_least pids 1
	kill -TERM "$RUNNING"
	finish
	is "$status" 143
	[ ! -e started ]
	nobody_left
}

@test "what a killed roux has left is removed by the next start, and nothing else" {
	waits
	start prompt -q
	until_true lines_at_least pids 2
	kill -KILL "$RUNNING"
	finish
	xargs kill -KILL <pids
	: >pids
	tmp_has_file 'start-role-*'
	echo other >"$TMPDIR/start-role-abc.md"
	start prompt -q # one that is alive keeps its file
	until_true lines_at_least pids 2
	rm -rf "$HOME/.config/start"
	agent '{bin}' true
	prompts prompt -q
	is "$(find "$TMPDIR" -name 'start-role-*' | wc -l)" 2
	kill -TERM "$RUNNING"
	finish
	is "$(ls "$TMPDIR")" start-role-abc.md
}

@test "with nothing to delete roux becomes the agent" {
	agent "{bin} -c 'echo \$PPID \$\$'" sh
	start prompt -q
	finish
	is "$(cut -d' ' -f2 out)" "$RUNNING"
}

@test "a section command that runs out of time leaves no process" {
	agent "{bin} '<%s>' '{prompt}'" printf
	configure contexts "[contexts.c]
required = true
command = 'echo part; sleep 1000 & echo \$! >>pids; wait'
command_timeout = 1
prompt = '[{command_output}]'"
	run -0 prompts prompt q
	has "$output" "did not end within 1 s"
	has "$output" "<[]

q>"
	nobody_left
}

@test "interleaved output of a section command keeps its order" {
	agent "{bin} %s '{prompt}'" printf
	configure contexts "[contexts.c]
required = true
command = 'for i in 1 2 3 4 5 6 7 8 9; do echo out\$i; echo err\$i >&2; done'"
	is "$(prompts prompt -q)" "$(for i in 1 2 3 4 5 6 7 8 9; do echo "out$i"; echo "err$i"; done)"
}

@test "a section command that prints more than 16 MiB counts as failed" {
	agent "{bin} %s '{prompt}'" printf
	configure contexts "[contexts.c]
required = true
command = 'head -c 17000000 /dev/zero'"
	run -0 --separate-stderr prompts prompt q
	is "$output" q
	has "$stderr" "16 MiB"
}

@test "an empty home gets a hint how to begin, and init begins without overwriting" {
	run -2 prompts start --dry-run
	has "$output" "roux init"
	run -0 prompts init --yes --agent cat --command "{bin}"
	has "$output" "wrote"
	mkdir -p .git
	printf 'kept' >"$HOME/.config/start/roles.toml"
	run -0 prompts init --yes --agent sort
	has "$output" "kept "
	is "$(cat "$HOME/.config/start/roles.toml")" kept
	has "$(cat "$HOME/.config/start/agents.toml")" 'bin = "cat"'
}

@test "init and then a task work with an agent that is cat" {
	prompts init --yes --agent cat --command "{bin} '{prompt_file}'"
	run -0 --separate-stderr prompts task review -q "be kind"
	has "$output" "Instructions: be kind"
	has "$output" "Review these changes:"
	tmp_is_empty
	run -0 prompts agents
	has "$output" cat
	run -0 prompts tasks
	has "$output" "review (rv)"
	run -0 prompts roles assistant --json
	has "$output" '"name":"assistant"'
}

@test "the agent of the help's example gets the prompt" {
	PATH=${ROUX%/*}:$PATH
	sh -c "$(prompts help init | sed -n 's/^  *\(roux init --yes.*\)/\1/p')"
	run -0 --separate-stderr prompts prompt -q hello
	has "$output" hello
}

@test "called as start it is that command" {
	agent "{bin} %s '{prompt}'" printf
	configure tasks "[tasks.t]
prompt = 'T {instructions}'"
	ln -s "$ROUX" start
	is "$(timeout $WATCHDOG ./start -q prompt hi 3>&-)" hi
	is "$(timeout $WATCHDOG ./start --agent show -q task t now 3>&-)" "T now"
	is "$(timeout $WATCHDOG ./start -q 3>&-)" ""
	run -0 timeout $WATCHDOG ./start tasks
	is "$output" t
}

@test "mistakes are told with their place and nothing is started" {
	agent "{bin} 'never closed" touch
	run -2 prompts prompt q
	has "$output" "agents.toml:3:20: error: ' in column 7 of the command is never closed"
	printf '[agents.show]\nbin = 3\n' >"$HOME/.config/start/agents.toml"
	run -2 prompts prompt q
	has "$output" "agents.toml:2:7: error: 'bin' is a number; expected a string in quotes"
	printf '[agents.show\n' >"$HOME/.config/start/agents.toml"
	run -2 prompts prompt q
	has "$output" "agents.toml:1:"
	printf '[agents.a]\nbin="x"\n' >"$HOME/.config/start/agents.toml"
	printf '[agents.a]\nbin="y"\n' >"$HOME/.config/start/config.toml"
	run -2 prompts prompt q
	has "$output" "defined twice"
	has "$output" "agents.toml"
	has "$output" "config.toml"
}

@test "a name that was shortened is announced" {
	configure agents "[agents.show]
bin = 'true'
command = '{bin} {model} {prompt}'
[agents.show.models]
gpt-4o-mini = 'mini'"
	run -0 prompts prompt q -m gpt-4o -a sh
	has "$output" "model 'gpt-4o' is taken for 'gpt-4o-mini'"
	has "$output" "agent 'sh' is taken for 'show'"
}

@test "thousands of mistakes in one file are told in no time" {
	no_recipes
	agent "{bin} %s -- '{prompt}'" printf
	local tasks=$HOME/.config/start/tasks.toml
	seq -f "[tasks.t%g]
alias = 'same'
prompt = '{filex} {{.date}}'
foo = 1" 20000 >"$tasks"
	run -2 --separate-stderr timeout $WATCHDOG "$ROUX" check
	has "$stderr" "20000 errors, 60000 warnings"
	run -1 timeout $WATCHDOG "$ROUX" doctor
	seq -f "[contexts.c%g]
required = 'x'" 20000 >"$tasks"
	run -2 timeout $WATCHDOG "$ROUX" start
	printf '[tasks.t]\nprompt = "%s"\n' "$(yes '{filex}' | head -n 100000 | tr '\n' ' ')" >"$tasks"
	run -0 --separate-stderr timeout $WATCHDOG "$ROUX" check
	has "$stderr" "0 errors, 100000 warnings"
	seq -f "[tasks.t%g]
prompt = 'x'" 100000 >"$tasks"
	run -2 --separate-stderr timeout $WATCHDOG "$ROUX" task nobody
	[ "${#stderr}" -lt 2000 ]
}

@test "files that are pipes or devices, loops and locked directories are told, never waited for" {
	no_recipes
	agent "{bin} %s '{prompt}'" printf
	local start=$HOME/.config/start
	mkfifo "$start/tasks.toml"
	run -2 prompts prompt q
	has "$output" "tasks.toml': not a regular file"
	run -2 prompts check
	run -1 prompts doctor
	rm "$start/tasks.toml"
	ln -s /dev/null "$start/tasks.toml"
	run -0 prompts prompt -q q
	ln -sf tasks.toml "$start/tasks.toml"
	run -2 prompts prompt q
	has "$output" "symbolic links"
	rm "$start/tasks.toml"
	ln -s .start .start
	run -2 prompts prompt q
	is "$(grep -c error: <<<"$output")" 1
	rm .start
	mkdir -p "$HOME/.config/roux"
	mkfifo "$HOME/.config/roux/config.toml"
	run -2 prompts exec 'echo hi'
	has "$output" "config.toml': not a regular file"
	run -1 prompts doctor
}

@test "of a section command that prints without end only so much is kept" {
	agent "{bin} '{prompt}'" printf
	configure contexts "[contexts.c]
command = 'yes'
command_timeout = 2"
	"$ROUX" start -q </dev/null 3>&- &
	local pid=$! most=0 now
	while kill -0 "$pid" 2>/dev/null; do
		now=$(stat -L -c %s /proc/"$pid"/fd/* 2>/dev/null | sort -n | tail -n 1)
		[ "${now:-0}" -gt "$most" ] && most=$now
		sleep 0.1
	done
	wait "$pid"
	[ "$most" -le $((20 << 20)) ]
}

@test "an agent that cannot be executed is a mistake: status 2" {
	printf '# no interpreter\n' >agent
	chmod +x agent
	agent "{bin} '{prompt}'" ./agent
	run -2 prompts prompt q
	has "$output" "a script needs a #! line"
}

@test "a recorded launch shows what the agent says on both streams, and has its own warnings" {
	agent "{bin} -c 'echo out; echo oops >&2; exit 7'" sh
	run -7 --separate-stderr prompts prompt -q --record q
	is "$output" out
	is "$stderr" oops
	run -7 --separate-stderr prompts prompt -q --record --json q
	has "$(jq -c .warnings <<<"$output")" 'does not get the prompt'
	[[ $(jq -c .warnings <<<"$output") != *template* ]]
}

@test "doctor says what it has looked at" {
	no_recipes
	run -0 prompts doctor
	has "$output" "Nothing to do."
	has "$output" "roux init"
	agent "{bin} -- '{prompt}'" printf
	run -0 prompts doctor
	has "$output" "prompts: 1 file in $HOME/.config/start"
	is "$(prompts doctor --json | jq '.checked | length > 3')" true
}

@test "init writes nothing that does not work" {
	no_recipes
	run -2 prompts init --yes --agent cat --command 'cat x'
	has "$output" "does not name {bin}"
	run -2 prompts init --yes --agent $'a\xff'
	[ ! -e "$HOME/.config/start" ]
	run -0 env PATH="$PATH:" "$ROUX" init --yes --agent ollama </dev/null
	has "$output" "not in PATH yet"
	run -2 prompts check
	is "$(grep -c error: <<<"$output")" 1
	has "$output" "the program 'ollama' of agent 'ollama' is not found"
	is "$(prompts agents ollama --json | jq -r .fields.default_model)" small
}

# -- on a terminal --------------------------------------------------------------------------------

@test "init asks again until the answer is one, and its end without an answer writes nothing" {
	on-terminal log 'named?' $'nosuch\nsort\nmaybe\nNo\n' "$ROUX" init 3>&-
	contains log "There is no program 'nosuch' in PATH."
	contains log "Answer yes or no."
	contains "$HOME/.config/start/config.toml" 'default_agent = "sort"'
	[ ! -e "$HOME/.config/start/roles.toml" ]
	rm -r "$HOME/.config/start"
	status=0
	on-terminal log 'named?' $'\x04' "$ROUX" init 3>&- || status=$?
	is "$status" 2
	contains log "nothing was written"
	[ ! -e "$HOME/.config/start" ]
}

with_role_file() { # SCRIPT: an agent whose script gets the role's file as $1
	printf '%s\n' "$1" >agent.sh
	agent "{bin} agent.sh '{role_file}'" sh
	configure roles "[roles.r]
prompt = 'R'"
}

@test "an agent with a temporary file has the terminal whole" {
	with_role_file 'test -t 0 && test -t 1 && test -t 2 && echo all three
		set -- $(sed "s/.*) //" /proc/$$/stat); [ "$3" = "$6" ] && echo in front'
	on-terminal log '' '' "$ROUX" prompt -q 3>&-
	contains log 'all three'
	contains log 'in front'
	tmp_is_empty
}

@test "Ctrl-C is the agent's: it may go on, and the file stays until it ends" {
	with_role_file 'trap "echo caught once; cat \$1; exit 5" INT; echo ready; while :; do sleep 0.1; done'
	status=0
	env --default-signal=INT on-terminal log ready $'\x03' "$ROUX" prompt -q 3>&- || status=$?
	is "$status" 5
	is "$(grep -c 'caught once' log)" 1
	contains log R
	tmp_is_empty
}

@test "an agent that Ctrl-C ends is reported as such, and its file is gone" {
	with_role_file 'echo ready; exec sleep 1000'
	status=0
	env --default-signal=INT on-terminal log ready $'\x03' "$ROUX" prompt -q 3>&- || status=$?
	is "$status" 130
	tmp_is_empty
}

@test "a terminal that goes away ends the agent and deletes the file" {
	with_role_file 'echo $$ >>pids; echo ready; exec sleep 1000'
	on-terminal log ready close "$ROUX" prompt -q 3>&- || true
	tmp_is_empty
	nobody_left
}

@test "roux stops with its agent and continues with it" {
	with_role_file 'echo $$ >>pids; kill -STOP $$; echo again >again; exit 4'
	start prompt -q
	until_true lines_at_least pids 1
	until_true grep -q '^State:.T' "/proc/$RUNNING/status"
	[ ! -e again ]
	kill -CONT "$RUNNING"
	finish
	is "$status" 4
	tmp_is_empty
}

@test "doctor says what to do about a wrong setting" {
	mkdir -p "$HOME/.config/roux"
	echo 'jobs = "x"' >"$HOME/.config/roux/config.toml"
	asks 1 doctor
	grep -q '^Next: correct or remove it: it says how many commands run at once' out
}
