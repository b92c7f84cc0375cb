#!/usr/bin/env bats
# What programs that act for people need of roux's answers (agents.md section 2).

load common

@test "a failure has the end of what the command printed on both streams" {
	local answer
	run -1 --separate-stderr roux run --json --as bad --progress=none "sh -c 'echo seen; echo wrong >&2; exit 3'"
	is "$(of_json 'd["failures"][0]["stdout"], d["failures"][0]["stderr"]' <<<"$output")" "('seen\\n', 'wrong\\n')"
	for answer in "status bad" "wait bad"; do
		# shellcheck disable=SC2086 # two words
		run --separate-stderr roux $answer --json
		is "$(of_json 'd["failures"][0]["stdout"], d["failures"][0]["stderr"]' <<<"$output")" "('seen\\n', 'wrong\\n')"
	done
	# At most 4 KiB of each, the end.
	run -1 --separate-stderr roux run --json --as long --progress=none "sh -c 'seq 1 9999; exit 3'"
	is "$(of_json 'len(d["failures"][0]["stdout"]) <= 4096, d["failures"][0]["stdout"][-5:]' <<<"$output")" "(True, '9999\\n')"
}

@test "secrets are masked in both" {
	run -1 --separate-stderr roux run --json --as bad --progress=none --secret tok=hunter2 "sh -c 'echo {tok}; echo {tok} >&2; exit 3'"
	[[ $output != *hunter2* ]]
	run --separate-stderr roux status bad --json
	[[ $output != *hunter2* ]]
}

@test "a detached start with --unique has a name of its own" {
	mkdir -p "$HOME/.pi/agent/recipes"
	echo '{"template":"sleep 1000"}' >"$HOME/.pi/agent/recipes/nap.json"
	local first second
	first=$(roux run --json --detach --unique nap | of_json 'd["run"]')
	second=$(roux run --json --detach --unique nap | of_json 'd["run"]')
	[ "$first" != "$second" ]
	[[ $first == nap-* && $second == nap-* ]]
	run -0 roux run --json --detach nap
	run -2 roux run --json --detach nap
	local run
	for run in "$first" "$second" nap; do
		roux kill "$run" >/dev/null
	done
}

@test "the list of tools has their schemas" {
	roux tool add greet 'echo {who:string} {times:int=3} {how:enum(loud,soft)=soft}' --description 'Greets' >/dev/null
	run -0 --separate-stderr roux tool list --json
	is "$(of_json 'd["tools"][0]["description"], d["tools"][0]["async"], d["tools"][0]["schema"]["required"]' <<<"$output")" "('Greets', False, ['who'])"
	is "$(of_json 'd["tools"][0]["schema"]["properties"]["times"]' <<<"$output")" "{'type': 'integer', 'default': 3}"
	is "$(of_json 'd["tools"][0]["schema"]["properties"]["how"]["default"]' <<<"$output")" soft
	run -0 --separate-stderr roux tool schema greet --json
	is "$(of_json 'd["properties"]["times"]["default"]' <<<"$output")" 3
}

@test "messages are followed until the run has ended" {
	cat >talk.json <<-'JSON'
	{"mailbox":{"emits":["note"]},"template":"sh -c 'until [ -e go ]; do sleep 0.05; done; \"$ROUX_BIN\" message --from-run note 5'"}
	JSON
	ROUX_BIN=$ROUX roux run --detach --as talk ./talk.json >/dev/null
	"$ROUX" messages -f --json talk >seen 2>err </dev/null 3>&- &
	local follower=$!
	touch go
	roux wait talk >/dev/null
	until_true ended "$follower"
	wait "$follower"
	has "$(cat seen)" '"box":"outbox"'
	has "$(cat seen)" '"type":"note"'
	while read -r line; do
		of_json '"box" in d' <<<"$line" >/dev/null
	done <seen
}

@test "runs are listed by their owner" {
	ROUX_OWNER=chat-1 roux run -q --as one 'true x'
	ROUX_OWNER=chat-2 roux run -q --as two 'true x'
	is "$(roux runs --owner chat-1 --json | of_json '[r["run"] for r in d["runs"]]')" "['one']"
}
