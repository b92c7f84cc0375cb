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
	has "$output" "from 4 characters on: solo-run"
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
	roux status hist~2 >shown
	contains shown "roux rerun hist~2"
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

# -- lists ----------------------------------------------------------------------------------------

# listed OPTION...: the names in the list.
listed() {
	roux runs --json "$@" | of_json '" ".join(r["run"] for r in d["runs"])'
}

# backdate ID DAYS: the run was started and ended that much earlier.
backdate() {
	python3 - "$(state)/ledger.db" "$1" "$2" <<-'END'
		import sqlite3, sys
		db = sqlite3.connect(sys.argv[1])
		ms = int(float(sys.argv[3]) * 86400000)
		db.execute("UPDATE run SET started = started - ?, ended = ended - ? WHERE id = ?", (ms, ms, sys.argv[2]))
		db.commit()
	END
}

@test "the list is filtered by status, recipe, id and time" {
	mkdir r
	echo '{"template":"echo x"}' >r/made.json
	roux run -q --as old-done 'echo 1' >/dev/null
	roux run -q --as old-bad 'false x' >/dev/null 2>&1 || true
	roux run -q --as of-recipe ./r/made.json >/dev/null
	roux run -q --as partly '["false x", "echo y"]' >/dev/null 2>&1 || true
	backdate old-done 3
	backdate old-bad 2.5
	is "$(listed)" "partly of-recipe old-bad old-done"
	is "$(listed --status failed)" "old-bad"
	is "$(listed --status failed,done)" "partly of-recipe old-bad old-done"
	is "$(listed --failed)" "partly old-bad"
	is "$(listed --recipe made)" "of-recipe"
	is "$(listed --match d-)" "old-bad old-done"
	is "$(listed --match 'old%')" ""
	is "$(listed --since 1d)" "partly of-recipe"
	is "$(listed --until 1d)" "old-bad old-done"
	is "$(listed --since 66h --until 1d)" "old-bad"
	is "$(listed --since "$(date -d '1 day ago' +%F)")" "partly of-recipe"
	is "$(listed --until "$(date +%F)")" "partly of-recipe old-bad old-done"
	is "$(listed --until "$(date -d '1 day ago' +%F)")" "old-bad old-done"
	is "$(listed --limit 2)" "partly of-recipe"
	is "$(listed --before of-recipe --limit 1)" "old-bad"
	is "$(listed --before latest)" "of-recipe old-bad old-done"
	run -2 roux runs --status faild
	has "$output" "did you mean 'failed'?"
	run -2 roux runs --since yesteryear
	has "$output" "is not a time"
	run -2 roux runs --before nothing
	run -0 roux runs --match nothing
	is "$output" "No such runs."
}

@test "generations are listed when asked for, and all that failed with --failed" {
	generations
	roux run -q --as other 'false x' >/dev/null 2>&1 || true
	is "$(listed)" "other hist"
	is "$(listed --generations)" "other hist hist~1 hist~2"
	is "$(listed --failed)" "other hist~2"
	is "$(listed --generations --before hist~1)" "hist~2"
	is "$(listed --generations --limit 2 --match hist)" "hist hist~1"
	is "$(roux complete runs | paste -sd' ')" "other hist hist~1 hist~2 latest"
	rm -f "$(state)"/ledger.db*
	is "$(listed --failed 2>/dev/null)" "other hist~2"
}

@test "a terminal shows 30 runs and how to see more, a pipe all" {
	for i in $(seq 32); do
		roux run -q --as "run-$i" 'true x' >/dev/null
	done
	is "$(roux runs | wc -l)" 33
	on-terminal shown '' '' "$ROUX" runs </dev/null 3>&-
	is "$(grep -c 'done' shown)" 30
	contains shown "--before run-3 "
	on-terminal shown '' '' "$ROUX" runs --limit 31 </dev/null 3>&-
	is "$(grep -c 'done' shown)" 31
	is "$(roux runs --before run-3 | grep -c 'done')" 2
}

# -- what is kept ---------------------------------------------------------------------------------

# The failed night is the one before, at every door.
monday_is_there() {
	is "$(roux status nightly --json | of_json 'd["status"]')" "done"
	roux runs --failed >listed
	is "$(grep -c nightly listed)" 1
	has "$(cat listed)" "nightly~"
	monday=$(listed --failed)
	is "$(roux logs "$monday" backup 2>/dev/null)" saving
	is "$(roux logs "$monday" backup 2>&1 >/dev/null)" "disk full"
	has "$(roux status "$monday")" "failed at 0 'backup' (exit 28)"
	roux report "$monday" >report.html
	contains report.html "disk full"
	contains report.html "<title>$monday"
}

@test "a nightly run that failed on Monday is there after Tuesday, with max_runs = 1" {
	mkdir -p "$HOME/.config/roux" r
	printf '[retention]\nmax_runs = 1\n' >"$HOME/.config/roux/config.toml"
	cat >r/nightly.json <<-'END'
		{"async":true,"template":[{"label":"backup","template":"sh -c \"echo saving; echo disk full >&2; exit $(cat code)\""}]}
	END
	for code in 28 0 0; do
		echo "$code" >code
		id=$(roux run -d ./r/nightly.json)
		is "$id" nightly
		roux wait nightly >/dev/null 2>&1 || true
		[ "$code" = 28 ] || monday_is_there
	done
	# Tuesday's and Wednesday's succeeded: one of these is kept.
	is "$(listed --generations)" "nightly nightly~1"
	is "$(listed --failed)" "nightly~1"
	roux report nightly~1 >report.html
	contains report.html "disk full"
	run -1 roux wait nightly~1
	is "$(roux prune --json | of_json 'd["runs"]')" "[]"
}

@test "a selection lists, and deletes with --yes; failed ones only when they are asked for" {
	roux run -q --as old 'echo 1' >/dev/null
	roux run -q --as old-bad 'false x' >/dev/null 2>&1 || true
	roux run -q --as old-partly '["false x", "echo y"]' >/dev/null 2>&1 || true
	roux run -q --as new 'echo 1' >/dev/null
	for id in old old-bad old-partly; do
		backdate $id 40
	done
	run -0 roux prune --older-than 30d
	has "$output" "old  done"
	has "$output" "1 run; --yes deletes it."
	is "$(listed)" "new old-partly old-bad old"
	is "$(roux prune --older-than 30d --json --yes | of_json 'd["deleted"]')" 1
	is "$(listed)" "new old-partly old-bad"
	is "$(roux prune --status 'done' --json | of_json '[r["run"] for r in d["runs"]]')" "['new']"
	is "$(roux prune --status failed --json --yes | of_json 'd["deleted"]')" 2
	is "$(listed)" new
	run -0 roux prune --status cancelled --yes
	has "$output" "No matching run"
	run -2 roux prune --older-than soon
	run -2 roux prune new --status 'done'
	is "$(listed)" new
}

@test "several runs can be named, and all names are looked at first" {
	generations
	roux run -q --as other 'echo 1' >/dev/null
	run -2 roux prune hist none
	is "$(listed --generations)" "other hist hist~1 hist~2"
	roux prune hist other hist~1 other
	is "$(listed --generations)" "hist"
	is "$(status_of hist)" "('hist', 'failed')"
}
