# On a terminal: the live tree, Ctrl-C, and what is left on the screen.

load common

tm() {
	tmux -L "e2e-$$" -f /dev/null "$@"
}

# on_screen COMMAND: a shell command on a terminal of 80 by 24.
on_screen() {
	command -v tmux >/dev/null || skip "no tmux here"
	tm new-session -d -x 80 -y 24 "env TERM=screen sh -c 'trap : INT; $1; echo status=\$?; exec sleep 100'"
}

teardown() {
	off_screen
	clean_up
}

screen() {
	tm capture-pane -p | sed -e 's/ *$//' -e '/./,$!d' | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'
}

shows() {
	screen | grep -qE -- "$1"
}

off_screen() {
	tm kill-server 2>/dev/null || true
}

@test "the tree appears during a long run, goes at its end, and leaves exactly the output" {
	echo '["sh -c \"echo working >&2; until test -e go; do sleep 0.05; done; echo result\"","cat"]' >"$HOME/t.json"
	on_screen '$ROUX exec @$HOME/t.json'
	until_true shows 'sh -c'
	screen >during
	touch go
	until_true shows 'status=0'
	screen >after
	off_screen
	cat during after
	is "$(cat after)" $'[0] working\nresult\nstatus=0'
	until_true nobody_left
}

@test "a short run shows no tree at all" {
	# On a busy machine it may last longer than a short run does.
	short() {
		on-terminal log '' '' "$ROUX" exec 'echo hi' </dev/null
		[ "$(tr -d '\r' <log)" = hi ]
	}
	until_true short
}

@test "Ctrl-C on the terminal cancels and leaves a clean screen" {
	echo '{"parallel":true,"repeat":3,"template":"sh -c \"echo $$ >>pids; sleep 100; true\""}' >"$HOME/t.json"
	on_screen '$ROUX exec @$HOME/t.json'
	until_true shows 'sleep 100'
	tm send-keys C-c
	until_true shows 'status=130'
	screen >after
	off_screen
	cat after
	is "$(grep -c 'sleep 100' after)" 0
	has "$(cat after)" 'cancelled'
	is "$(tail -n 1 after)" 'status=130'
	until_true nobody_left
}

@test "Ctrl-C is for the command that has the terminal; one that ends by it ends the run" {
	cat >"$HOME/ask" <<-'END'
		#!/bin/sh
		trap 'echo got it' INT
		echo ask
		until read x && test -n "$x"; do :; done
		echo said "$x"
	END
	printf '#!/bin/sh\necho asleep\nexec sleep 100\n' >"$HOME/sleep"
	chmod +x "$HOME/ask" "$HOME/sleep"
	echo "[\"true\",{\"tty\":true,\"template\":\"$HOME/ask\"},{\"tty\":true,\"template\":\"$HOME/sleep\"},\"touch after\"]" >"$HOME/t.json"
	on_screen '$ROUX run -q @$HOME/t.json'
	until_true shows '^ask'
	tm send-keys C-c
	until_true shows 'got it'
	tm send-keys hello Enter
	until_true shows 'said hello'
	until_true shows '^asleep'
	tm send-keys C-c
	until_true shows 'status=130'
	screen >screen
	off_screen
	has "$(cat screen)" cancelled
	[ ! -e after ]
	until_true nobody_left
}

@test "80 columns are never wrapped" {
	local long
	long=$(printf 'x%.0s' $(seq 300))
	jq -n --arg l "$long" '{"parallel":true,"repeat":40,"template":("sh -c \"echo " + $l + " >&2; echo 日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語 >&2; until test -e go; do sleep 0.05; done\" " + $l)}' >"$HOME/t.json"
	on_screen '$ROUX exec @$HOME/t.json >/dev/null'
	until_true shows 'sh -c'
	# -J joins lines that were wrapped: then there would be fewer.
	tm capture-pane -p -J >joined
	local height
	height=$(grep -c . joined)
	touch go
	until_true shows 'status=0'
	screen >after
	off_screen
	cat joined after
	is "$(awk -F'sh -c' 'NF>2' joined | wc -l)" 0
	is "$(grep -c '●' joined)" "$(grep -c '^  ●' joined)"
	between "$height" 1 24
	is "$(tail -n 1 after)" 'status=0'
	until_true nobody_left
}

@test "a window that becomes smaller does not spoil the end" {
	echo '{"parallel":true,"repeat":8,"template":"sh -c \"until test -e go; do sleep 0.05; done; echo ok\" _ aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}' >"$HOME/t.json"
	on_screen '$ROUX exec @$HOME/t.json >/dev/null'
	until_true shows 'sh -c'
	tm resize-window -x 40 -y 10
	until_true shows 'sh -c'
	touch go
	until_true shows 'status=0'
	off_screen
	until_true nobody_left
}

@test "TERM=dumb: lines, no escapes; NO_COLOR: no colours" {
	TERM=dumb on-terminal log '' '' "$ROUX" exec 'sleep 1.2' </dev/null
	has "$(cat log)" 'start sleep'
	[[ $(cat log) != *$'\e'* ]]
	TERM=xterm NO_COLOR=1 on-terminal log '' '' "$ROUX" exec 'sleep 1.5' </dev/null
	has "$(cat log)" sleep
	! grep -qE $'\e\\[([0-9;]*;)?(3[0-7]|9[0-7]|38|48|4[0-7])(;[0-9;]*)?m' log
}

@test "standard input from a terminal is not handed to commands" {
	on-terminal log '' '' "$ROUX" exec --progress=none '["cat","wc -c"]'
	has "$(cat log)" 0
}

@test "Ctrl-C typed twice kills those who do not listen" {
	env --default-signal=INT on-terminal log '[0] armed' $'\x03' "$ROUX" exec --progress=plain --grace 86400000 'sh -c "trap \"\" INT TERM; echo armed >&2; exec ignore-term pids"' 3>&- &
	RUNNING=$!
	until_true contains log 'cancelled by signal 2'
	# The second one as a terminal sends it: to the foreground group.
	local pid
	pid=$(pgrep -P "$RUNNING")
	kill -INT "$pid"
	finish
	is "$status" 130
	nobody_left
}

@test "escape sequences in what commands print do not reach the screen" {
	printf '#!/bin/sh\nprintf "\\033[2J\\033]0;owned\\007line\\n" >&2\nuntil test -e go; do sleep 0.05; done\n' >p
	chmod 755 p
	TERM=xterm on-terminal log 'line' '' "$ROUX" exec ./p 3>&- &
	RUNNING=$!
	until_true contains log line
	touch go
	finish
	if grep -qF 'owned'$'\a' log; then return 1; fi
	if grep -qF $'\e[2J' log; then return 1; fi
}

# in_shell: a shell with job control on that terminal; keys LINE types a line into it.
in_shell() {
	command -v tmux >/dev/null || skip "no tmux here"
	tm new-session -d -x 80 -y 24 "env TERM=screen PS1='> ' bash --norc --noprofile -i"
	until_true shows '^>'
}

keys() {
	tm send-keys -l "$1"
	tm send-keys Enter
}

stopped() { # PID
	[ "$(sed 's/.*) //; s/ .*//' "/proc/$1/stat" 2>/dev/null)" = T ]
}

@test "Ctrl-Z stops the commands too and leaves the shell a clean screen; fg continues" {
	echo '{"parallel":true,"repeat":3,"template":"sh -c \"echo $$ >>pids; until test -e go; do sleep 0.05; done; echo ok\""}' >"$HOME/t.json"
	in_shell
	keys '$ROUX exec @$HOME/t.json >out'
	until_true shows '● sh -c'
	until_true lines_at_least pids 3
	tm send-keys C-z
	until_true shows 'Stopped'
	screen >during
	local pid
	for pid in $(cat pids); do until_true stopped "$pid"; done
	touch go
	keys fg
	keys 'echo status=$?'
	until_true shows '^status=0'
	screen >after
	off_screen
	cat during after
	is "$(grep -c '●' during)" 0
	is "$(grep -c '●' after)" 0
	is "$(grep -c ok out)" 3
	until_true nobody_left
}

@test "in the background of a shell no tree is drawn across its prompt" {
	echo '["sh -c \"echo $$ >>pids; until test -e go; do sleep 0.05; done; echo ok\""]' >"$HOME/t.json"
	in_shell
	keys '$ROUX exec @$HOME/t.json >out &'
	until_true lines_at_least pids 1
	sleep 1 # longer than it takes for a tree to appear
	screen >during
	keys fg
	until_true shows '● sh -c'
	touch go
	keys 'echo status=$?'
	until_true shows '^status=0'
	off_screen
	cat during
	is "$(grep -c '●' during)" 0
	until_true nobody_left
}
