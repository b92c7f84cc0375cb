# Commands that are programs of their own, and commands that do not exist.

load common

make_command() { # PATH
	cat >"$1" <<'EOF'
#!/bin/sh
printf 'ran %s\n' "$0"
for a; do printf '<%s>\n' "$a"; done
exit 7
EOF
	chmod 755 "$1"
}

@test "roux NAME executes roux-NAME from PATH, with its words and its status" {
	mkdir bin
	make_command bin/roux-hello
	PATH=$PWD/bin:$PATH run "$ROUX" hello 'two words' --json -- ''
	is "$status" 7
	is "$(tail -n 4 <<<"$output")" $'<two words>\n<--json>\n<-->\n<>'
}

@test "roux-NAME beside the binary comes first" {
	mkdir bin beside
	make_command bin/roux-hello
	cp "$ROUX" beside/roux
	make_command beside/roux-hello
	PATH=$PWD/bin:$PATH run beside/roux hello
	is "$status" 7
	has "$output" "beside/roux-hello"
}

@test "a command of roux cannot be replaced" {
	mkdir bin
	make_command bin/roux-version
	PATH=$PWD/bin:$PATH run "$ROUX" version
	is "$status" 0
	has "$output" roux
}

@test "an unknown command: the nearest one as a hint, exit 2" {
	run --separate-stderr "$ROUX" exce 'true'
	is "$status" 2
	is "$output" ''
	has "$stderr" exec
	run --separate-stderr "$ROUX" exce 'true' --json
	is "$status" 2
	is "$(jq -r .status <<<"$output")" invalid
	has "$(jq -r '.errors[0].hint' <<<"$output")" exec
	is "$stderr" ''
}

@test "names that could leave the place are no commands" {
	make_command roux-x
	run "$ROUX" ../x
	is "$status" 2
	run "$ROUX" ''
	is "$status" 2
}

@test "roux-NAME that cannot be executed is an unknown command" {
	mkdir bin
	echo text >bin/roux-hello
	PATH=$PWD/bin:$PATH run "$ROUX" hello
	is "$status" 2
}

@test "the name of a recipe in place of a command: how to run it" {
	mkdir -p "$HOME/.pi/agent/recipes"
	echo '{"template":"touch started"}' >"$HOME/.pi/agent/recipes/nightly.json"
	run --separate-stderr "$ROUX" nightly
	is "$status" 2
	has "$stderr" 'roux run nightly'
	run --separate-stderr "$ROUX" exec nightly
	is "$status" 1
	has "$stderr" 'roux run nightly'
	[ ! -e started ]
}

@test "options that every command has may stand before the command" {
	mkdir place
	is "$("$ROUX" -C place exec -q pwd)" "$PWD/place"
	is "$("$ROUX" -Cplace exec -q pwd)" "$PWD/place"
	is "$("$ROUX" --directory=place --json version | jq .ok)" true
	run "$ROUX" -C place
	is "$status" 2
	run "$ROUX" --jobs 2 exec true
	is "$status" 2
}

@test "--json before the command, or alone, is answered with a document" {
	is "$("$ROUX" --json | jq -r '.ok, (.commands | length > 10)')" $'true\ntrue'
	is "$("$ROUX" --json --version)" "$("$ROUX" version --json)"
	is "$("$ROUX" --json --help)" "$("$ROUX" help --json)"
	run -2 "$ROUX" --json --bogus
	is "$(jq -r .status <<<"$output")" invalid
}

@test "help of one command is a document of that command" {
	"$ROUX" help run --json >out
	is "$(member 'd["name"], [o["letter"] for o in d["options"] if o["name"] == "--detach"]')" "('run', ['-d'])"
	"$ROUX" run --help --json >again
	cmp out again
}

@test "help of a program of its own is what that program says" {
	mkdir bin
	make_command bin/roux-hello
	PATH=$PWD/bin:$PATH run -7 "$ROUX" help hello
	is "$(tail -n 1 <<<"$output")" '<--help>'
	run -2 "$ROUX" help nothing
	has "$output" "unknown command 'nothing'"
	has "$("$ROUX" help)" '  roux serve '
	has "$("$ROUX" help)" '  roux telegram '
}
