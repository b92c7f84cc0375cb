# The two lines of an agent: which one is launched where, what it is given, and who hears of a model or
# a role that does not reach it. The agents are stand-ins; tests/agents has the real ones.
load common

configure() { # TABLE TEXT: adds to ~/.config/start/TABLE.toml
	mkdir -p "$HOME/.config/start"
	printf '%s\n' "$2" >>"$HOME/.config/start/$1.toml"
}

prompts() {
	timeout -k 5 $WATCHDOG "$ROUX" "$@" </dev/null 3>&-
}

program() { # NAME TEXT: a program in PATH
	mkdir -p bin
	printf '#!/bin/sh\n%s\n' "$2" >"bin/$1"
	chmod +x "bin/$1"
	PATH=$PWD/bin:$PATH
}

both() { # an agent that says which line started it
	program tell 'printf "[%s]" "$@"; printf " in="; cat; echo'
	configure agents "[agents.tell]
bin = 'tell'
command = '''{bin} screen -- '{prompt}' </dev/null'''
batch = '''{bin} batch'''"
}

no_recipes() {
	mkdir -p none
	export ROUX_PACKAGED_DIR=$PWD/none
}

@test "a pipe, a step, a record and a dry run without a terminal take batch; a terminal takes command" {
	both
	is "$(prompts prompt -q 'it'\''s $(id)')" "[batch] in=it's \$(id)"
	is "$(prompts prompt -q --record 'x y')" "[batch] in=x y"
	prompts prompt -q 'to a file' >out
	is "$(cat out)" "[batch] in=to a file"
	is "$(prompts prompt --dry-run --json x | jq -r .line,.stdin)" $'batch\nprompt'
	on-terminal log '' '' "$ROUX" prompt -q 'on a screen' 3>&-
	contains log "[screen][--][on a screen] in="
	cat >step.yaml <<-'YAML'
	name: one
	description: asks
	version: 1.0.0
	steps:
	  - id: ask
	    agent: tell
	    prompt: "what's up"
	    output: said
	YAML
	run -0 prompts run step.yaml --json
	has "$output" "[batch] in=what's up"
}

@test "a batch that names the prompt is not given it on standard input" {
	program tell 'printf "[%s]" "$@"; printf " in="; cat; echo'
	configure agents "[agents.tell]
bin = 'tell'
command = '''{bin}'''
batch = '''{bin} --prompt='{prompt}' '''"
	is "$(prompts prompt -q hi)" "[--prompt=hi] in="
}

@test "200 KB reach a batch on standard input, and a role its file" {
	program count 'wc -c; cat "$1"'
	configure agents "[agents.count]
bin = 'count'
command = '''{bin} -- '{prompt}' '''
batch = '''{bin} '{role_file}' '''"
	configure roles "[roles.r]
prompt = \"it's '''a''' \$(id)\\nrole\""
	head -c 200000 /dev/zero | tr '\0' x >long
	run -0 --separate-stderr timeout $WATCHDOG "$ROUX" prompt -q - <long 3>&-
	is "$output" $'200000\nit\'s \'\'\'a\'\'\' $(id)\nrole'
	[ -z "$(ls -A "$TMPDIR")" ]
}

@test "a role without text is like no role: its file is the empty word" {
	program show 'printf "[%s]" "$@"; cat >/dev/null'
	configure agents "[agents.show]
bin = 'show'
command = '''{bin} '{role_file}' '{role}' '''
batch = '''{bin} '{role_file}' '{role}' '''"
	: >empty.md
	is "$(prompts prompt -q --role ./empty.md x)" "[][]"
	is "$(prompts prompt -q x)" "[][]"
}

@test "a model or a role that does not reach the agent is reported, and with --strict nothing is started" {
	both
	configure roles "[roles.r]
prompt = 'R'"
	run -0 --separate-stderr prompts prompt -m big --no-role x
	has "$stderr" "model 'big' does not reach agent 'tell': its batch does not name {model}"
	run -0 --separate-stderr prompts prompt x
	has "$stderr" "role 'r' does not reach agent 'tell': its batch does not name {role} or {role_file}"
	run -2 --separate-stderr prompts prompt --strict -m big x
	is "$output" ""
	has "$stderr" "add {model} to 'batch' of [agents.tell]"
	has "$stderr" "add {role} or {role_file} to 'batch' of [agents.tell]"
	run -0 --separate-stderr prompts prompt --strict --no-role x
	configure tasks "[tasks.t]
prompt = 'x'
model = 'huge'"
	run -2 --separate-stderr prompts task --strict --no-role t
	has "$stderr" "model 'huge' does not reach"
}

@test "a step tells of a model that does not reach its agent, and check finds it before" {
	both
	cat >step.yaml <<-'YAML'
	name: one
	description: asks
	version: 1.0.0
	steps:
	  - id: ask
	    agent: tell
	    model: big
	    agent_config: {role: r}
	    prompt: hi
	YAML
	configure roles "[roles.r]
prompt = 'R'"
	run -0 --separate-stderr prompts run step.yaml --json
	has "$(jq -c .warnings <<<"$output")" "step 'ask': model 'big' does not reach agent 'tell'"
	has "$(jq -c .warnings <<<"$output")" "step 'ask': role 'r' does not reach agent 'tell'"
	run -0 prompts check step.yaml
	has "$output" "model 'big' does not reach agent 'tell'"
	run -2 prompts check --strict step.yaml
	run -0 prompts run step.yaml --json --agent tell='tell given {model}'
	[[ $output != *"does not reach"* ]]
	run -0 prompts run step.yaml --json --agent tell='tell given'
	has "$output" "model 'big' does not reach agent 'tell': its command does not name {model}"
}

@test "a task names a model, which -m replaces" {
	program show 'printf "[%s]" "$@"; cat >/dev/null'
	configure agents "[agents.show]
bin = 'show'
command = '''{bin} {model}'''
batch = '''{bin} {model}'''
[agents.show.models]
small = 's-1'
big = 'b-1'"
	configure tasks "[tasks.t]
prompt = 'x'
model = 'big'"
	is "$(prompts task -q t)" "[b-1]"
	is "$(prompts task -q -m small t)" "[s-1]"
	is "$(prompts prompt -q x)" "[s-1]"
}

@test "init writes both lines of those that are there, and doctor has nothing to say about them" {
	no_recipes
	for name in claude codex gemini opencode pi aider llm aichat mods ollama; do
		program "$name" 'cat'
	done
	run -0 prompts init --yes
	local toml=$HOME/.config/start/agents.toml
	contains "$toml" "command = \"{bin} --model {model} --append-system-prompt-file '{role_file}' -- '{prompt}'\""
	contains "$toml" "batch = \"{bin} exec --skip-git-repo-check -c \\\"developer_instructions='''{role}'''\\\" -\""
	is "$(prompts agents claude --json | jq -c '[.fields.default_model, .fields.models]')" \
		'["default",{"best":"opus","mid":"sonnet","fast":"haiku"}]'
	is "$(prompts agents --json | jq -r '[.agents[] | select(.fields.batch)] | length')" 10
	run -0 prompts doctor
	has "$output" "Nothing to do."
	[[ $output != *batch* ]]
	run -0 prompts agents
	has "$output" "batch    {bin} -p --append-system-prompt '{role_file}'"
}

@test "doctor shows the lines that init would write now, and who has no batch" {
	no_recipes
	program claude cat
	program mine cat
	configure agents "[agents.claude]
bin = 'claude'
command = '''{bin} --append-system-prompt '{role}' '{prompt}' '''
[agents.mine]
bin = 'mine'
command = '''{bin} -- '{prompt}' '''"
	cp "$HOME/.config/start/agents.toml" before
	run -1 prompts doctor
	has "$output" "a prompt that begins with - is an option to 'claude' here"
	has "$output" "to do: command = \"{bin} --model {model} --append-system-prompt-file '{role_file}' -- '{prompt}'\""
	has "$output" "to do: batch = \"{bin} -p --model {model} --append-system-prompt-file '{role_file}'\""
	has "$output" "to do: default_model = \"default\""
	has "$output" "agent 'mine' has no 'batch'"
	run -0 prompts init --yes
	cmp before "$HOME/.config/start/agents.toml"
}

@test "check launches both lines, on a terminal and without, and leaves nothing behind" {
	program good '
	if [ -t 1 ]; then
		[ "$*" = "-- Reply with the word ready" ] || exit 9
		echo "> Reply with the word ready"; sleep 0.1; printf "\033[3;1Hready\n"; sleep 98761
	else
		[ "$(cat)" = "Reply with the word ready" ] && echo Ready.
	fi'
	program screen-only '[ -t 1 ] || { echo "stdin is not a terminal"; exit 1; }; echo ready'
	program echo-only 'cat; sleep 98761'
	configure agents "[agents.good]
bin = 'good'
command = '''{bin} -- '{prompt}' '''
batch = '''{bin}'''
[agents.screen]
bin = 'screen-only'
command = '''{bin} -- '{prompt}' '''
[agents.echo]
bin = 'echo-only'
command = '''{bin} -- '{prompt}' '''
batch = '''{bin}'''"
	run -0 prompts agents --check good
	has "$output" "pipes     answered after"
	has "$output" "terminal  answered after"
	run -1 prompts agents --check screen
	has "$output" "pipes     ended with 1"
	has "$output" "| stdin is not a terminal"
	run -1 prompts agents --check echo --timeout 1 --json
	is "$(jq -c '[.ok, [.forms[] | [.on, .line, .ok, .timed_out]]]' <<<"$output")" \
		'[false,[["pipes","batch",false,true],["terminal","command",false,true]]]'
	run -2 prompts agents --check nosuch
	run -2 prompts agents --check
	run ! pgrep -f 'sleep 9876[1]'
	[ -z "$(ls -A "$TMPDIR")" ]
}
