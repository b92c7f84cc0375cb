#!/usr/bin/env bats
# Small things that newcomers tripped over (daily-use.md section 11).

load common

@test "a word that is no command of serve or telegram is refused with a hint" {
	local host
	for host in serve telegram; do
		run -2 roux $host xyzzy
		has "$output" "unknown command '$host xyzzy'"
		has "$output" "hint: 'roux help $host' lists the commands"
	done
	run -2 roux serve tokn
	has "$output" "hint: did you mean 'token'?"
}

@test "commands of other tools name the one that is meant" {
	local word meant
	while read -r word meant; do
		run -2 roux "$word"
		has "$output" "unknown command '$word'"
		has "$output" "$meant"
	done <<'TABLE'
ls roux list
ls roux runs
ps roux runs
rm roux prune
stop roux cancel
retry roux rerun
validate roux check
new roux tool add
edit roux show NAME
dry-run roux plan
TABLE
	run -2 roux help ps
	has "$output" "roux runs"
}

@test "--help behind a recipe explains the recipe" {
	cat >greet.md <<-'MD'
	---
	args: [who:string]
	---
	Greets.
	```template
	echo hello {who}
	```
	MD
	run -0 roux run ./greet.md --help
	has "$output" "roux run ./greet.md who=…"
	[ -z "$(ls -A "$(state)/runs" 2>/dev/null)" ]
	run -0 roux run --help
	has "$output" "4 waiting for an approval"
}

@test "words that only a shell would replace are slips" {
	local template
	while read -r template; do
		run roux exec --progress=none "$template"
		has "$output" "no shell reads this line"
	done <<'TEMPLATES'
echo $HOME
echo ${HOME}/x
echo $(date)
echo `date`
echo *
ls *.c
FOO=bar env
TEMPLATES
	# Meant as they are: in quotes, and for programs that read patterns themselves.
	while read -r template; do
		run roux check "$template"
		[[ $output != *"no shell reads this line"* ]]
	done <<'TEMPLATES'
echo '$HOME'
find . -name *.c
grep a.*b file
grep end$ file
tar -cf x.tar --exclude *.o .
echo a=b
TEMPLATES
	# Each of a line, with its place.
	asks 0 check 'A=1 echo $A > out | cat && ls'
	is "$(sed -n 's/.*:1:\([0-9]*\): warning: \(.*\) [iw][so].*no shell reads.*/\1 \2/p' out)" "1 'A=1'
10 '\$A'
13 '>'
19 '|'
25 '&&'"
	run roux check 'FOO=bar env'
	has "$output" "env FOO=…"
	has "$output" "--env"
}

@test "without a home directory runs are refused, and nothing is made" {
	run -2 env -u ROUX_STATE_DIR -u PI_CODING_AGENT_DIR -u XDG_CONFIG_HOME HOME="$PWD/gone" "$ROUX" run --template 'touch made'
	has "$output" "ROUX_STATE_DIR"
	[ ! -e gone ] && [ ! -e made ]
	run -0 env -u ROUX_STATE_DIR -u PI_CODING_AGENT_DIR -u XDG_CONFIG_HOME HOME="$PWD/gone" "$ROUX" exec --progress=none 'touch made'
	[ -e made ]
}

@test "without HOME the home directory is that of the password file" {
	command -v unshare >/dev/null && [ "$(id -u)" -eq 0 ] || skip "needs root, to mount another password file"
	mkdir -m 700 of-passwd
	sed "s|^root:\([^:]*:[^:]*:[^:]*:[^:]*\):[^:]*:|root:\1:$PWD/of-passwd:|" /etc/passwd >passwd
	grep -q "of-passwd" passwd
	unshare -m sh -c 'mount --bind passwd /etc/passwd && exec env -u HOME -u PI_CODING_AGENT_DIR -u ROUX_STATE_DIR -u XDG_CONFIG_HOME "$@"' sh \
		"$ROUX" run -q --as here --template 'echo kept' >out 2>err || { cat err; unshare -m true || skip "mounts are not allowed here"; return 1; }
	is "$(cat out)" kept
	[ -e of-passwd/.pi/agent/roux/runs/here/result.json ]
}

@test "a packaged recipe shows the command that it was given, and ends as it does" {
	asks 1 run --as one check-and-retry command='sh -c "exit 7"' attempts:=2 pause:=0
	has "$(cat err)" "failed with code 7 in 2 attempts: sh -c 'exit 7'"
	has "$(cat err)" "roux: one: failed at 0 (exit 7)"
	is "$(roux status one --json | of_json 'sorted({(f["command"], f["code"]) for f in d["failures"]})')" "[(\"sh -c 'exit 7'\", 7)]"
	asks 3 run --as two fan-out command='test -e' items:='["/", "/nothing here"]'
	has "$(cat err)" "/nothing here] failed with code 1: test -e '/nothing here'"
	asks 0 plan --json run-words command='ls -l "a b"'
	is "$(member 'd["argv"]')" "[['ls', '-l', 'a b']]"
}

@test "exec takes --template like the others" {
	is "$(quick exec --template 'echo hi')" hi
}

@test "a recipe file that is named without its extension gets its path as a hint" {
	echo '{"args":["items:array"],"template":"echo {items[*]}"}' >many.json
	asks 2 run many
	has "$(cat err)" 'a file is named by its path: ./many.json'
	# A value of the wrong type is one mistake.
	asks 2 run ./many.json items=list
	is "$(grep -c error: err)" 1
}

@test "what failed the run is named with its item" {
	asks 1 run --as one '{"defaults":{"l":["a b","c"]},"failure":"branch","label":"lint","parallel":true,"repeat":"{l.length}","template":"false"}' --template
	has "$(cat err)" "roux: one: failed at r0 'lint a b' (exit 1)"
}

@test "options that contradict each other or cannot work are refused" {
	asks 2 tool add x echo --async --no-async
	contains err 'contradict each other'
	for command in run exec; do
		asks 2 "$command" --env ROUX_RUN=x 'touch started'
		contains err '--env cannot set ROUX_RUN'
	done
	[ ! -e started ]
	asks 2 run x --agent foo
	contains err '--agent takes NAME=COMMAND'
	asks 2 run x --collection foo
	contains err '--collection takes NAME=DIR'
	asks 2 prune --older-than 0s
	contains err "--older-than '0s' has to be longer than zero"
}

@test "words behind what is not a recipe: a name that is near, or the command in quotes" {
	roux tool add release 'touch started' >/dev/null
	run -2 roux run releese v1
	has "$output" "did you mean 'release'?"
	[[ $output != *'quote the command'* ]]
	run -2 roux run echo hello
	has "$output" "roux run 'echo hello'"
	[[ $output != *'roux help echo'* ]]
	[ ! -e started ]
}
