# Values reach commands unchanged and are never interpreted.

load common

hex() {
	od -An -v -tx1 | tr -d ' \n'
}

@test "every byte but NUL arrives unchanged, in the middle and alone" {
	local i value wanted found
	for i in $(seq 1 255); do
		printf -v value "\\x$(printf %02x "$i")"
		# A value is a text: bytes that are not UTF-8 may be refused, but not changed.
		found=$(quick exec 'print-argv "{x}" "a{x}b"' "x=$value" 2>err) && {
			wanted=$(printf '%s' "$value" | hex)
			is "$found" "$wanted
61${wanted}62"
		} || { echo "byte $i: $(cat err)"; return 1; }
	done
}

@test "all bytes together in one value" {
	local value
	value=$(for i in $(seq 1 255); do printf "\\x$(printf %02x "$i")"; done; printf x)
	is "$(quick exec 'print-argv {x}' "x=$value")" "$(printf '%s' "$value" | hex)"
}

@test "nothing in a value is interpreted" {
	local value
	for value in '$(touch hurt)' '`touch hurt`' '; touch hurt' '| touch hurt' '&& touch hurt' \
		'{y}' '{x}' '{{y}}' '{y=1}' '{y??z}' '{y?a:b}' "it's" '"quoted"' "'quoted'" '\' '\n' \
		'a\ b' '*' '?' '~' '~/x' '-n' '--json' '--' '-' '@file' '%s' '%n' '=' 'a=b' ':=1' \
		$'two\nlines' $'\ttab' '  blanks  ' '$HOME' '${HOME}' '!!' '#no comment' '<in' '>out' \
		'{}' '[' ']' '"' "'" 'ünïcödé' '日本語' $'\e[31m'; do
		is "$(quick exec 'print-argv {x}' "x=$value" y=SECRET)" "$(printf '%s' "$value" | hex)"
		is "$(quick exec 'print-argv --opt={x}' "x=$value" y=SECRET)" "2d2d6f70743d$(printf '%s' "$value" | hex)"
	done
	[ ! -e hurt ]
	[ ! -e out ]
}

@test "a value reaches a command of its own choice only in command position" {
	is "$(quick exec '["print-argv {x}"]' 'x=touch hurt')" "$(printf 'touch hurt' | hex)"
	[ ! -e hurt ]
	run quick exec '{x}' 'x=touch hurt'
	is "$status" 1
	[ ! -e hurt ]
}

@test "bare empty words go, quoted ones stay" {
	is "$(quick exec 'print-argv a {x} b' x=)" $'61\n62'
	is "$(quick exec "print-argv a '{x}' \"\" b" x=)" $'61\n\n\n62'
}

@test "a value of 131071 bytes passes, one more is refused before anything starts" {
	head -c 131071 /dev/zero | tr '\0' a >text
	jq -Rs '{x:.}' <text >values.json
	is "$(quick exec "sh -c 'printf %s \"\$1\" | wc -c' _ {x}" --values values.json)" 131071
	printf a >>text
	jq -Rs '{x:.}' <text >values.json
	run --separate-stderr quick exec '["touch started","true {x}"]' --values values.json
	is "$status" 2
	has "$stderr" '{x}'
	[ ! -e started ]
	run --separate-stderr quick exec --json '["touch started","true {x}"]' --values values.json
	is "$status" 2
	is "$(jq -r .status <<<"$output")" invalid
	has "$(jq -r '.errors[0].message' <<<"$output")" '{x}'
	[ ! -e started ]
}

@test "a word that the template makes too long is refused as well" {
	head -c 70000 /dev/zero | tr '\0' a | jq -Rs '{x:.}' >values.json
	run quick exec '["touch started","true {x}{x}"]' --values values.json
	is "$status" 2
	[ ! -e started ]
}

@test "too much in all is a failure of the command: 126" {
	head -c 131000 /dev/zero | tr '\0' a | jq -Rs '{x:.}' >values.json
	local words
	words=$(printf ' {x}%.0s' $(seq 60))
	run --separate-stderr quick exec --json "[\"true $words\",\"echo after\"]" --values values.json
	is "$status" 3
	is "$(jq -c '[.stdout,.failures[0].code]' <<<"$output")" '["after\n",126]'
	has "$(jq -r '.failures[0].stderr' <<<"$output")" 'too long'
}

@test "error is one sentence, however long the command was" {
	head -c 131000 /dev/zero | tr '\0' a | jq -Rs '{x:.}' >values.json
	run --separate-stderr quick exec --json "sh -c 'exit 3' {x} {x} {x} {x}" --values values.json
	is "$status" 1
	between "$(jq '.error|length' <<<"$output")" 1 5000
}

@test "--env: a value too long is refused, an odd name too" {
	run quick exec 'touch started' --env "novalue"
	is "$status" 2
	run quick exec 'touch started' --env "=x"
	is "$status" 2
	[ ! -e started ]
	is "$(quick exec 'sh -c "printf %s \"$A\""' --env 'A=$(x) {y}' --env 'B=1')" '$(x) {y}'
	is "$(A=old quick exec 'sh -c "printf %s \"$A\""' --env A=1 --env A=2)" 2
	is "$(quick exec 'sh -c "printf %s \"[$HOME]\""' --env HOME=)" '[]'
}

@test "values: files, standard input, later ones win, JSON values" {
	echo '{"a":"file","b":1.50,"c":[1,"x"],"d":null,"e":true}' >v.json
	is "$(quick exec 'print-argv {a} {b} "{c}" "{d}" {e}' --values v.json a=word | tail -n +2)" \
		"$(printf 1.5 | hex)
$(printf '[1,"x"]' | hex)

$(printf true | hex)"
	is "$(quick exec 'echo {a}' --values v.json a=word)" word
	is "$(echo '{"a":"stdin"}' | timeout $WATCHDOG "$ROUX" exec --progress=none 'echo {a}' --values -)" stdin
	is "$(quick exec 'echo {a[1]}' 'a:=["x","y"]')" y
	run quick exec 'echo {a}' 'a:=[1'
	is "$status" 2
	run quick exec 'echo {a}' '1a=x'
	is "$status" 2
}

@test "a NUL, invalid UTF-8 and huge numbers are refused or kept, never changed" {
	run quick exec 'print-argv {x}' 'x:="a\u0000b"'
	is "$status" 2
	run quick exec '"echo a\u0000b"'
	is "$status" 2
	run quick exec "$(printf 'echo \xff')"
	is "$status" 2
	is "$(quick exec 'echo {x}' x:=9223372036854775807)" 9223372036854775807
	is "$(quick exec 'echo {x}' x:=-9223372036854775808)" -9223372036854775808
	run quick exec 'echo {x}' x:=1e400
	is "$status" 2
}

@test "in a locale with a decimal comma numbers stay as they are" {
	is "$(LC_ALL=de_DE.UTF-8 quick exec 'echo {x}' x:=1.5)" 1.5
}
