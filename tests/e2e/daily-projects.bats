#!/usr/bin/env bats
# Recipes of a project: found, listed, run, shadowed, refused and trusted.
# shellcheck disable=SC2016  # braces and back quotes of recipes

load common

setup_project() {
	export PI_CODING_AGENT_DIR=$BASE/agent ROUX_PACKAGED_DIR=$BASE/packaged
	mkdir -p "$BASE/agent/recipes" "$BASE/packaged" repo/.roux/recipes repo/src/deep
	chmod go-w repo/.roux repo/.roux/recipes
	REPO=$BASE/work/repo
	RECIPES=$REPO/.roux/recipes
}

recipe() { # NAME: a Markdown recipe of the project, its template on standard input
	{
		printf -- '---\ndescription: the %s of this project\n---\n```template\n' "$1"
		cat
		printf '\n```\n'
	} >"$RECIPES/$1.md"
}

@test "a recipe of the nearest project runs where it was called from" {
	setup_project
	echo 'sh -c "pwd; echo $ROUX_PROJECT"' | recipe where
	cd repo/src/deep
	asks 0 run where
	is "$(cat out)" "$REPO/src/deep
$REPO"
	asks 0 -C .. run --detach where --as there
	roux wait there >/dev/null
	is "$(roux logs --result there 2>/dev/null | grep -c "^$REPO/src\$")" 1
	is "$(roux logs --result there 2>/dev/null | grep -c "^$REPO\$")" 1
}

@test "only the nearest .roux counts, and not one of the home directory or the root" {
	setup_project
	echo 'echo outer' | recipe outer
	mkdir -p repo/inner/.roux "$HOME/.roux/recipes" "$HOME/sub"
	chmod go-w repo/inner/.roux
	cd repo/inner
	asks 2 run outer
	has "$(cat err)" "there is no recipe 'outer'"
	cp "$RECIPES/outer.md" "$HOME/.roux/recipes/athome.md"
	cd "$HOME/sub"
	asks 2 run athome
	cd "$HOME"
	asks 2 run athome
	# A project below the home directory is one.
	mkdir -p sub/.roux/recipes && chmod go-w sub/.roux sub/.roux/recipes
	cp .roux/recipes/athome.md sub/.roux/recipes/below.md
	asks 0 -C sub run below
	is "$(cat out)" outer
}

@test "the search for a project ends where another file system begins" {
	setup_project
	echo 'echo outer' | recipe outer
	command -v unshare >/dev/null && unshare -m true 2>/dev/null || skip "mounts are not allowed here"
	mkdir repo/mounted
	unshare -m sh -c 'mount -t tmpfs none repo/mounted && mkdir repo/mounted/sub && exec "$@"' sh \
		"$ROUX" -C repo/mounted/sub run outer >out 2>err && return 1
	has "$(cat err)" "there is no recipe 'outer'"
	mkdir repo/mounted/sub
	asks 0 -C repo/mounted/sub run outer
}

@test "the user's recipe comes first, then the project's, then the packaged one" {
	setup_project
	echo '{"template":"echo packaged"}' >"$ROUX_PACKAGED_DIR/a.json"
	cp "$ROUX_PACKAGED_DIR/a.json" "$ROUX_PACKAGED_DIR/b.json"
	echo 'echo project' | recipe a
	echo 'echo project' | recipe b
	echo '{"template":"echo user"}' >"$PI_CODING_AGENT_DIR/recipes/a.json"
	cd repo
	asks 0 run a --progress=none
	is "$(cat out)" user
	is "$(cat err)" ""
	asks 0 run b --progress=none
	is "$(cat out)" project
	is "$(cat err)" "roux: note: 'b' is the project's recipe $RECIPES/b.md, not the packaged one"
	asks 0 run ../../packaged/b.json --progress=none
	is "$(cat out)" packaged
	asks 0 list --json
	is "$(member '[(r["id"], r["layer"], len(r["shadowed"])) for r in d["recipes"]]')" \
		"[('a', 'user', 2), ('b', 'project', 1)]"
}

@test "imports of a project: {repo}, and bare names also from the project" {
	setup_project
	mkdir "$REPO/tools"
	echo '{"template":"echo shared"}' >"$REPO/tools/shared.json"
	echo '{"template":"echo beside"}' >"$RECIPES/beside.json"
	echo '{"imports":{"s":"{repo}/tools/shared.json","b":"beside"},"template":[{"name":"s"},{"name":"b"}]}' \
		>"$RECIPES/both.json"
	echo '{"imports":{"b":"beside"},"template":{"name":"b"}}' >"$BASE/elsewhere.json"
	asks 0 -C repo/src run both
	is "$(cat out)" beside
	asks 0 plan repo/.roux/recipes/both.json
	has "$(cat out)" "echo shared"
	asks 0 -C repo/src run "$BASE/elsewhere.json" --as other
	is "$(cat out)" beside
	asks 2 run "$BASE/elsewhere.json"
	# A run begins again from what it was, whatever the directory.
	rm -r "$RECIPES/beside.json"
	asks 0 rerun other
	is "$(cat out)" beside
}

@test "{repo} in a recipe of a project is its directory, unless its author says what it is" {
	setup_project
	mkdir -p repo/tools other
	printf '#!/bin/sh\necho "tool in $PWD"\n' >repo/tools/tool && chmod +x repo/tools/tool
	echo '{"cwd":"{repo}/src","env":{"TOP":"{repo}"},"template":["{repo}/tools/tool","sh -c \"cat; echo $TOP\""]}' >"$RECIPES/t.json"
	asks 0 -C repo/src/deep run t
	is "$(cat out)" "tool in $REPO/src
$REPO"
	# By path, from outside, and imported from outside, it means the same.
	asks 0 run repo/.roux/recipes/t.json
	has "$(cat out)" "tool in $REPO/src"
	echo "{\"imports\":{\"t\":\"$RECIPES/t.json\"},\"template\":[{\"name\":\"t\"},\"sed s/^/x/\"]}" >outside.json
	asks 0 run ./outside.json
	has "$(cat out)" "xtool in $REPO/src"
	# It is not an argument that is missing, and a caller may give another one where `args` does not say which there are.
	asks 0 tool schema repo/.roux/recipes/t.json
	is "$(member 'd["required"]')" "[]"
	asks 0 -C repo plan --json t repo=/elsewhere
	is "$(member 'd["argv"][0][0]')" /elsewhere/tools/tool
	asks 0 check --portable repo/.roux/recipes/t.json
	has "$(cat out)" 't.json:1:9: note: `{repo}` of a project is an extension of roux'
	# An author who says what it is wins.
	for said in '{"args":["repo=other"],"template":"echo {repo}"}' '{"defaults":{"repo":"other"},"template":"echo {repo}"}' \
		'{"values":{"repo":"other"},"template":"echo {repo}"}' '{"template":"echo {repo=other}"}'; do
		echo "$said" >"$RECIPES/said.json"
		asks 0 -C repo run said
		is "$(cut -d" " -f1 <out)" other
	done
	echo '{"args":["repo"],"template":"echo {repo}"}' >"$RECIPES/said.json"
	asks 2 -C repo run said
	has "$(cat err)" "no value for 'repo'"
	# Elsewhere it is a name like others.
	echo '{"template":"echo {repo}"}' >plain.json
	asks 2 run ./plain.json
	# Braces in the name of the directory would be read as placeholders.
	mkdir -p 'odd{x}/.roux/recipes' && chmod go-w odd*/.roux odd*/.roux/recipes
	cp "$RECIPES/t.json" 'odd{x}/.roux/recipes/t.json'
	asks 2 -C 'odd{x}' run t x=1
	has "$(cat err)" "a directory with braces in its name cannot be a default"
	has "$(cat err)" '$ROUX_PROJECT'
}

@test "a .roux that others could have written is not used, and one line says so" {
	setup_project
	echo 'echo mine' | recipe mine
	chmod g+w repo/.roux
	asks 2 -C repo run mine
	has "$(cat err)" "the recipes in $REPO/.roux are not used: others may write to it"
	is "$(grep -c 'are not used' err)" 1
	chmod g-w repo/.roux
	chmod o+w repo/.roux/recipes
	asks 0 -C repo list
	is "$(grep -c "the recipes in $RECIPES are not used" err)" 1
	is "$(grep -c mine out)" 0
	chmod o-w repo/.roux/recipes
	asks 0 -C repo run mine
	is "$(cat out)" mine
	[ "$(id -u)" -eq 0 ] || skip "needs root to give files away"
	chown 65534 repo/.roux
	asks 2 -C repo run mine
	has "$(cat err)" "it belongs to user 65534"
}

@test "list shows the project first with arguments, and counts the packaged ones" {
	setup_project
	echo '{"template":"echo p"}' >"$ROUX_PACKAGED_DIR/p.json"
	echo '{"template":"echo q"}' >"$ROUX_PACKAGED_DIR/q.json"
	asks 0 list
	has "$(cat out)" "Packaged ("
	echo '{"template":"echo {to=you}","description":"mine"}' >"$PI_CODING_AGENT_DIR/recipes/own.json"
	echo 'lint {files:array} {level=1}' | recipe lint
	asks 0 -C repo list
	is "$(cat out)" "Project ($RECIPES):
  lint files:='[…]' [level=…]  the lint of this project

Yours, each a tool ($BASE/agent/recipes):
  own [to=…]                   mine

Packaged: 2 recipes; \`roux list --all\` shows them"
	asks 0 -C repo list --all
	has "$(cat out)" "Packaged ($ROUX_PACKAGED_DIR):
  p"
	asks 0 -C repo list --json
	is "$(member '[(r["id"],r["args"],r["tool"]) for r in d["recipes"]]')" \
		"[('lint', ['files', 'level'], False), ('own', ['to'], True), ('p', [], False), ('q', [], False)]"
}

@test "files of a project are not rewritten; the ledger counts" {
	setup_project
	echo '{"template":"echo x"}' >"$RECIPES/x.json"
	cp "$RECIPES/x.json" before
	asks 0 -C repo run x
	cmp "$RECIPES/x.json" before
	asks 0 -C repo list --json
	is "$(member '[r["usage"]["calls"] for r in d["recipes"]]')" "[1]"
}

# -- trust ------------------------------------------------------------------------------------------

trusted() { # the states of trust --list
	roux trust --list --json | of_json '[(t["path"].split("/")[-1], t["state"]) for t in d["trusted"]]'
}

@test "trust records the sums of a recipe and of what it imports; a change ends it" {
	setup_project
	echo '{"template":"echo lib"}' >"$RECIPES/lib.json"
	echo '{"imports":{"l":"lib"},"template":[{"name":"l"},"cat"]}' >"$RECIPES/top.json"
	cd repo
	is "$(roux tool list --json | of_json 'd["tools"]')" "[]"
	is "$(roux tool list --json | of_json 'd["directories"]')" "['$PI_CODING_AGENT_DIR/recipes', '$RECIPES']"
	asks 0 trust top
	is "$(cat out)" "trusted $RECIPES/top.json"
	is "$(stat -c %a "$BASE/agent/roux/trust.json")" 600
	is "$(of_json 'sorted(len(f["files"]) for f in d["recipes"].values())' <"$BASE/agent/roux/trust.json")" "[2]"
	is "$(trusted)" "[('top.json', 'trusted')]"
	is "$(roux tool list --json | of_json '[t["id"] for t in d["tools"]]')" "['top']"
	echo '{"template":"echo changed"}' >"$RECIPES/lib.json"
	is "$(trusted)" "[('top.json', 'changed')]"
	is "$(roux tool list --json | of_json 'd["tools"]')" "[]"
	# A person runs it all the same.
	asks 0 run top
	is "$(cat out)" changed
	asks 0 trust
	is "$(trusted)" "[('top.json', 'trusted'), ('lib.json', 'trusted')]"
	asks 0 trust --withdraw ./.roux/recipes/top.json
	is "$(trusted)" "[('lib.json', 'trusted')]"
	rm "$RECIPES/lib.json"
	is "$(trusted)" "[('lib.json', 'missing')]"
	asks 0 trust --withdraw "$RECIPES/lib.json"
	is "$(trusted)" "[]"
	asks 2 trust --withdraw top
}

@test "trust covers the recipes that steps call" {
	setup_project
	echo '{"template":"echo lib"}' >"$RECIPES/lib.json"
	printf 'name: s\ndescription: d\nversion: 1.0.0\nsteps: [{id: a, type: recipe, recipe: lib, output: o}]\n' \
		>"$RECIPES/s.yaml"
	cd repo
	asks 0 trust s
	is "$(trusted)" "[('s.yaml', 'trusted')]"
	echo '{"template":"echo other"}' >"$RECIPES/lib.json"
	is "$(trusted)" "[('s.yaml', 'changed')]"
}

@test "trust is for recipes of a project" {
	setup_project
	echo '{"template":"echo own"}' >"$PI_CODING_AGENT_DIR/recipes/own.json"
	asks 2 trust own
	has "$(cat err)" "'own' is not a project's recipe"
	asks 2 trust
	has "$(cat err)" "there is no project here"
	echo '{"template":' >"$RECIPES/broken.json"
	asks 2 -C repo trust broken
	is "$(trusted)" "[]"
	asks 0 -C repo trust --list
	is "$(cat out)" "Nothing is trusted."
}

@test "a trust.json that others may write trusts nothing" {
	setup_project
	echo 'echo x' | recipe x
	asks 0 -C repo trust x
	chmod 666 "$BASE/agent/roux/trust.json"
	is "$(roux -C repo tool list --json | of_json 'd["tools"]')" "[]"
}

@test "init project writes a first recipe, tool add --project another" {
	setup_project
	mkdir -p fresh
	cd fresh
	asks 0 init project
	asks 0 run hello name=Ada
	is "$(cat out)" "hello Ada"
	asks 2 init project
	asks 0 tool add --project greet 'echo hi {who}'
	is "$(stat -c %a .roux/recipes/greet.json)" 644
	asks 0 run greet who=Bob
	is "$(cat out)" "hi Bob"
	asks 2 -C .. tool add --project greet 'echo hi'
	has "$(cat err)" "there is no project here"
}
