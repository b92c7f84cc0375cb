#!/usr/bin/env bats
# What a shell offers behind roux: asked in the shell itself, with the script that `roux completion` prints.

load common

# A failed run with three kinds of nodes, one that is done twice, one that waits, one under way.
setup_runs() {
	PATH=${ROUX%/*}:$PATH
	roux run -q --as soup '[{"label":"one step","template":"true"},{"label":"two","failure":"root","template":"false"},
		{"parallel":true,"repeat":2,"label":"l","template":"true {index}"}]' >/dev/null 2>&1 || true
	roux run -q --as fine 'echo x' >/dev/null
	roux run -q --as fine 'echo x' >/dev/null
	printf '%s\n' 'name: g' 'description: d' 'version: 1.0.0' 'stages:' '- name: a' '  steps: [{id: a, type: bash, command: "true"}]' \
		'  approval: {required: true, prompt: "Go?"}' '- {name: b, steps: [{id: b, type: bash, command: "true"}]}' >gate.yaml
	roux run -q --as gate ./gate.yaml >/dev/null 2>&1 || true
	mkfifo go
	detach live 'cat go'
	roux tool add mine 'echo x' >/dev/null
	mkdir -p .roux
	roux tool add --project ours 'echo x' >/dev/null
	echo '{"args":["items:array","n:int","who","loud:bool=false"],"template":"echo {items} {n} {who} {loud}"}' >r.json
}

# Each line: what stands before the cursor, and what is offered, sorted. offers LINE prints the latter.
asked_of() {
	local line wanted
	while IFS='|' read -r line wanted; do
		echo "behind '$line'"
		is "$(offers "$line" | LC_ALL=C sort | paste -sd' ')" "$wanted"
	done <<-'END'
		roux resume |gate soup
		roux approve |gate
		roux cancel |live
		roux rerun |fine fine~1 gate latest live soup
		roux logs soup |2.r0 2.r1 one step two
		roux rerun soup --from |2.r0 2.r1 one step two
		roux rerun soup --from t|two
		roux run ./r.json |items:= loud=false loud=true n:= who=
		roux run ./r.json loud=t|loud=true
		roux resu|resume
		roux tool |add list remove schema update
		roux tool remove |mine
		roux tool update m|mine
		roux tool remove --project |ours
		roux tool schema our|ours
		roux tool add |
		roux runs --status |cancelled denied done exited failed killed partial paused running timeout
		roux runs --status failed,d|failed,denied failed,done
		roux prune --status=pau|--status=paused
	END
}

@test "bash offers the runs that a command can be about, nodes and arguments" {
	setup_runs
	cat >offers.bash <<-'END'
		source <(roux completion bash)
		line=$1
		COMP_LINE=$line COMP_POINT=${#line}
		read -ra COMP_WORDS <<<"$line"
		[[ $line != *' ' ]] || COMP_WORDS+=("")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		COMP_WORDBREAKS=$' \t\n'
		_roux
		printf '%s\n' "${COMPREPLY[@]}" | sed 's/\\//g'
	END
	offers() { bash offers.bash "$1"; }
	asked_of
}

@test "fish offers the same" {
	command -v fish >/dev/null || skip "no fish here"
	setup_runs
	offers() { fish -c 'roux completion fish | source; complete -C "$argv[1]"' "$1" | cut -f 1; }
	asked_of
}

@test "zsh offers the same" {
	command -v zsh >/dev/null || skip "no zsh here"
	setup_runs
	# A shell of its own on a terminal of its own; what would be shown is printed in its place.
	cat >offers.zsh <<-'END'
		zmodload zsh/zpty
		zpty shell zsh -f -i
		until_seen() {
			local text
			while zpty -r shell text "*$1*"; do
				print -r -- "$text"
				[[ $text != *$1* ]] || break
			done
		}
		zpty -w shell "PROMPT=; unsetopt promptsp; autoload -U compinit; compinit -u -D; source <(roux completion zsh)
		compadd() {
			if [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd \"\$@\"; return; fi
			local -a hits__
			builtin compadd -A hits__ \"\$@\"
			(( \$#hits__ )) && print -rl -- '' '<'\$IPREFIX\${^hits__}'>'
		}
		at_end() { print -r -- the-''end; exit }
		comppostfuncs=(at_end); bindkey '^I' complete-word; print rea''dy"
		until_seen ready >/dev/null
		zpty -w -n shell "$1"$'\t'
		until_seen the-end
	END
	offers() { timeout $WATCHDOG zsh -f offers.zsh "$1" | tr -d '\r' | sed -n 's/^<\(.*\)>$/\1/p' | sed 's/\\//g'; }
	asked_of
}
