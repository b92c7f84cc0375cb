# Time limits of leaves, groups and the root: what they end, and what they do not.

load common

@test "the limit of a leaf ends its whole tree" {
	run quick exec --json --grace 300 '[{"timeout":3000,"template":"fork-setsid pids stay"},"echo after"]'
	is "$status" 3
	is "$(jq -c '[.status,.stdout,.failures[0].timeout,.failures[0].code]' <<<"$output")" '["done","after\n",true,1]'
	is "$(wc -l <pids)" 2
	nobody_left
}

@test "the limit of a leaf ends a daemon without environment too" {
	run quick exec --json --grace 300 "[{\"timeout\":3000,\"template\":\"env -i $SUPPORT/fork-setsid $BASE/work/pids stay\"},\"echo after\"]"
	is "$status" 3
	is "$(wc -l <pids)" 2
	nobody_left
}

@test "the limit of a leaf kills those who do not listen" {
	run quick exec --json --grace 200 '[{"timeout":200,"template":"fork-setsid pids stay ignore"},{"timeout":200,"template":"ignore-term pids"},{"timeout":200,"template":"stop-self pids"},{"timeout":200,"template":"refork pids 200"}]'
	is "$(jq -c '[.failures[].timeout]' <<<"$output")" '[true,true,true,true]'
	nobody_left
}

@test "the limit of a leaf leaves alone what another command has left behind" {
	run quick exec --json --grace 200 '["fork-setsid kept","sh -c \"until test -s kept; do sleep 0.01; done\"",{"timeout":200,"template":"fork-setsid pids stay ignore"}]'
	is "$status" 3
	lives "$(cat kept)"
	kill "$(cat kept)"
	until_true ended "$(cat kept)"
	nobody_left
}

@test "the limit of a group ends the commands that run in it, and only those" {
	run quick exec --json --grace 200 '{"parallel":true,"template":[{"timeout":300,"parallel":true,"template":["fork-setsid pids stay","ignore-term pids"]},"sh -c \"sleep 1; echo other\""]}'
	is "$(jq -c '[.status,[.branches[-2:][].status]]' <<<"$output")" '["done",["timeout","done"]]'
	has "$(jq -r .stdout <<<"$output")" other
	nobody_left
}

@test "the limit of a sequence starts none of its later steps" {
	run quick exec --json '[{"timeout":200,"template":["sleep 100","touch later"]},"echo after"]'
	is "$(jq -r .stdout <<<"$output")" after
	[ ! -e later ]
	nobody_left
}

@test "the limit of the root: status timeout, exit 124" {
	run --separate-stderr quick exec --json '{"timeout":200,"template":["sleep 100","touch later"]}'
	is "$status" 124
	is "$(jq -c '[.ok,.status,.stdout]' <<<"$output")" '[false,"timeout",""]'
	[ ! -e later ]
	run --separate-stderr quick exec '{"timeout":200,"template":"sleep 100"}'
	is "$status" 124
	is "$output" ''
	has "$stderr" 'time'
	nobody_left
}

@test "the limit of a leaf in a root without one is not a timeout of the run" {
	run quick exec --json '{"failure":"root","template":["true",{"timeout":200,"template":"sleep 100"}]}'
	is "$status" 1
	is "$(jq -r .status <<<"$output")" failed
}

@test "a command that exits 0 when its time is up has failed" {
	run quick exec --json '{"timeout":3000,"template":"sh -c \"trap \\\"exit 0\\\" TERM; sleep 100 & wait\""}'
	is "$status" 124
	is "$(jq -c '[.code,.failures[0].timeout]' <<<"$output")" '[1,true]'
	run quick exec --json '{"timeout":3000,"template":"sh -c \"trap \\\"exit 7\\\" TERM; sleep 100 & wait\""}'
	is "$(jq -c '[.code,.failures[0].code]' <<<"$output")" '[7,7]'
}

@test "a limit holds for each attempt, and an attempt follows a timeout" {
	run quick exec --json '{"timeout":3000,"retry":3,"template":"sh -c \"if test -e second; then echo ok; else touch second; sleep 100; fi\""}'
	is "$status" 0
	is "$(jq -c '[.stdout,(.failures|length),.failures[0].timeout,.failures[0].tolerated]' <<<"$output")" '["ok\n",1,true,true]'
	nobody_left
}

@test "a group is retried after its limit" {
	run quick exec --json '{"timeout":3000,"retry":2,"failure":"root","template":["true","sh -c \"if test -e second; then echo ok; else touch second; sleep 100; fi\""]}'
	is "$status" 0
	is "$(jq -r .stdout <<<"$output")" ok
}

@test "the delay of a node does not count against its limit" {
	run quick exec --json '{"delay":4000,"timeout":3000,"template":"echo ok"}'
	is "$status" 0
}

@test "limits beyond 2^31 and 2^63 ms do not end a command" {
	local limit
	for limit in 2147483648 3000000000 9223372036854775807 18446744073709551615 99999999999999999999; do
		run quick exec "{\"timeout\":$limit,\"template\":\"sh -c 'sleep 0.05; echo ok'\"}"
		is "$status" 0
		is "$output" ok
	done
}

@test "a limit of a millisecond does not hang or confuse, 200 times" {
	run quick exec --json --grace 100 '{"parallel":true,"repeat":200,"timeout":1,"template":"sleep 100"}'
	is "$status" 1
	is "$(jq -c '[([.branches[].status]|unique),.failures_total]' <<<"$output")" '[["timeout"],200]'
	nobody_left
}

@test "output before the limit is kept for people and is not a result" {
	run --separate-stderr quick exec '{"timeout":3000,"template":"sh -c \"echo partial; echo reason >&2; sleep 100\""}'
	is "$output" ''
	has "$stderr" reason
}

@test "the status of a run says that time ran out, or by which signal a command ended" {
	run -3 roux run -q --as limited '[{"timeout":100,"template":"sleep 60"},"sh -c \"kill -9 $$\""]'
	run -0 roux status limited
	has "$output" 'failures   [0] ran out of time (code 1): sleep 60'
	has "$output" '[1] ended by signal 9 (Killed): sh -c '
}
