#!/usr/bin/env bats
# No run is out of reach: names of runs, lists, what is kept (daily-use.md section 3).

load common

setup_file() {
	command -v python3 >/dev/null || skip "no python3"
}

# Three generations of `hist`: one failed, two done; and another run.
generations() {
	roux run -q --as hist 'sh -c "echo one; echo bad >&2; exit 3"' >/dev/null 2>&1 || true
	roux run -q --as hist 'echo two' >/dev/null
	roux run -q --as hist 'echo three' >/dev/null
}

status_of() {
	roux status "$1" --json | of_json '(d["run"], d["status"])'
}

# -- names ----------------------------------------------------------------------------------------

@test "earlier generations are ID~1, ID~2" {
	generations
	is "$(status_of hist)" "('hist', 'done')"
	is "$(status_of hist~1)" "('hist~1', 'done')"
	is "$(status_of hist~2)" "('hist~2', 'failed')"
	is "$(status_of run:hist~2)" "('hist~2', 'failed')"
	run -2 roux status hist~3
	has "$output" "run 'hist' has no generation ~3"
	has "$output" "hist~2"
	run -2 roux status other~1
	has "$output" "there is no run 'other'"
	run -2 roux status hist~x
	has "$output" "is not a name for a run"
}

@test "latest is the newest run, latest:RECIPE that of a recipe, and latest~1 is refused" {
	run -2 roux status latest
	has "$output" "there is no run yet"
	mkdir -p r
	echo '{"template":"echo of a recipe"}' >r/made.json
	roux run -q ./r/made.json >/dev/null
	roux run -q --as other 'echo 1' >/dev/null
	is "$(status_of latest)" "('other', 'done')"
	id=$(roux runs --json | of_json '[r["run"] for r in d["runs"] if r["recipe"] == "made"][0]')
	is "$(roux status latest:made --json | of_json 'd["run"]')" "$id"
	run -2 roux status latest:none
	has "$output" "there is no run of the recipe 'none'"
	run -2 roux status latest~1
	has "$output" "'latest~1' does not name a run"
}

@test "the beginning of an id is enough when one run has it, of four characters or more" {
	roux run -q --as nightly-one 'echo 1' >/dev/null
	roux run -q --as nightly-two 'echo 2' >/dev/null
	is "$(status_of nightly-o)" "('nightly-one', 'done')"
	run -2 roux status nigh
	has "$output" "2 runs begin with 'nigh': nightly-two, nightly-one"
	roux run -q --as nigh 'echo whole' >/dev/null
	is "$(status_of nigh)" "('nigh', 'done')"
	roux run -q --as solo-run 'echo 1' >/dev/null
	is "$(status_of solo)" "('solo-run', 'done')"
	run -2 roux status sol
	has "$output" "there is no run 'sol'"
	roux run -q --as solo-run 'echo 2' >/dev/null
	is "$(status_of solo~1)" "('solo-run~1', 'done')"
}

@test "every command takes the names" {
	generations
	run -1 roux wait hist~2
	is "$(roux wait hist~1)" two
	roux report hist~2 >report.html
	contains report.html "hist~2"
	roux graph hist~2 | grep -q '<svg'
	roux graph run:hist~2 | grep -q '<svg'
	roux graph latest | grep -q '<svg'
	is "$(roux messages hist~1 --json | of_json 'len(d["outbox"])')" 1
	is "$(roux rerun -q hist~1)" two
	is "$(roux rerun -q latest)" two
	is "$(roux resume -q hist 2>/dev/null)" three
	run -2 roux resume hist~2
	has "$output" "roux rerun hist~2"
	run -2 roux cancel hist~1
	has "$output" "earlier generation"
	run -2 roux approve hist~1
	has "$output" "earlier generation"
	run -2 roux archive hist~1
	has "$output" "roux archive hist"
}

@test "a run of another session is neither latest nor found by its beginning" {
	ROUX_OWNER=me roux run -q --as mine-run 'echo 1' >/dev/null
	ROUX_OWNER=other roux run -q --as their-run 'echo 1' >/dev/null
	is "$(ROUX_OWNER=me roux status latest --json | of_json 'd["run"]')" mine-run
	ROUX_OWNER=me run -2 roux status thei
	has "$output" "there is no run 'thei'"
	ROUX_OWNER=me run roux status their-run
	has "$output" "session_mismatch"
	is "$(status_of latest)" "('their-run', 'done')"
}

# -- what is deleted ------------------------------------------------------------------------------

@test "prune deletes one generation, and the newest that is left has the name" {
	generations
	roux prune hist
	is "$(roux wait hist)" two
	is "$(status_of hist~1)" "('hist~1', 'failed')"
	roux prune hist~1
	run -2 roux status hist~1
	is "$(roux wait hist)" two
	is "$(roux runs --json | of_json '[r["run"] for r in d["runs"]]')" "['hist']"
	[ ! -e "$(state)/runs/hist/generations" ]
	roux run -q --as hist 'echo four' >/dev/null
	is "$(roux wait hist~1)" two
	roux prune hist
	roux prune hist
	run -2 roux status hist
	[ ! -e "$(state)/runs/hist" ]
}

@test "numbers of generations keep their order after one in the middle was deleted" {
	generations
	roux prune hist~1
	is "$(status_of hist~1)" "('hist~1', 'failed')"
	roux run -q --as hist 'echo four' >/dev/null
	is "$(roux wait hist~1)" three
	is "$(status_of hist~2)" "('hist~2', 'failed')"
	roux prune hist~2
	roux run -q --as hist 'echo five' >/dev/null
	is "$(roux wait hist~1)" four
	is "$(roux wait hist~2)" three
}

@test "archive moves all generations" {
	generations
	path=$(roux archive hist)
	[ -e "$path/generations/2/run.json" ]
	run -2 roux status hist~1
	has "$output" "it was archived"
}

@test "a ledger that is made anew has all generations" {
	generations
	rm -f "$(state)"/ledger.db*
	roux doctor --rebuild >/dev/null
	is "$(status_of hist~2)" "('hist~2', 'failed')"
	is "$(status_of hist)" "('hist', 'done')"
	roux prune hist
	is "$(roux wait hist)" two
}
