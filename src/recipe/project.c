#include "recipe/project.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/path.h"
#include "base/user.h"

static bool same_file(const struct stat *x, const struct stat *y)
{
	return x->st_dev == y->st_dev && x->st_ino == y->st_ino;
}

static bool is_dir(struct str path)
{
	struct stat st;

	return stat(path.p, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool ours(const struct stat *st)
{
	return st->st_uid == geteuid() || st->st_uid == 0;
}

/* Why the recipes below a directory must not be used: another user could have put them there.
 * Empty: there is no reason, or no such directory. */
static struct str objection(struct arena *a, struct str dir)
{
	struct stat link, st;

	if (lstat(dir.p, &link) < 0 || stat(dir.p, &st) < 0)
		return S("");
	if (!ours(&link) || !ours(&st))
		return arena_printf(a, "the recipes in %.*s are not used: it belongs to user %u",
			STR(dir), (unsigned)(ours(&st) ? link.st_uid : st.st_uid));
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return arena_printf(a,
			"the recipes in %.*s are not used: others may write to it (chmod go-w "
			"removes that)",
			STR(dir));
	return S("");
}

/* `.roux` of `repo` is the one that counts. */
static struct project take(struct arena *a, struct str repo, struct str dot)
{
	struct str recipes = path_below(a, dot, S("recipes"));
	struct str why = objection(a, dot);

	if (!why.len)
		why = objection(a, recipes);
	if (why.len)
		return (struct project){ S(""), S(""), why };
	return (struct project){ repo, recipes, S("") };
}

/* Whether a directory at or above it has a `.roux`: mostly there is none, and nothing else to look
 * at. */
static bool has_any(struct str cwd)
{
	AUTO_BUF dot = BUF_INIT;
	struct stat st;

	for (struct str dir = cwd; dir.len > 1; dir = path_dir(dir)) {
		buf_reset(&dot);
		buf_add(&dot, dir);
		buf_adds(&dot, "/.roux");
		if (stat(buf_cstr(&dot), &st) == 0 || errno != ENOENT)
			return true;
	}
	return false;
}

struct project project_find(struct arena *a, struct str cwd)
{
	if (!has_any(cwd))
		return (struct project){ S(""), S(""), S("") };
	struct str home_path = user_home(a), dir = arena_str(a, cwd);
	struct stat first, home, st;
	bool has_home = home_path.len && stat(home_path.p, &home) == 0;

	for (bool begun = false; dir.len > 1 && stat(dir.p, &st) == 0; begun = true) {
		if (!begun)
			first = st;
		if (st.st_dev != first.st_dev || (has_home && same_file(&st, &home)))
			break;
		struct str dot = path_below(a, dir, S(".roux"));
		if (is_dir(dot))
			return take(a, dir, dot);
		dir = arena_str(a, path_dir(dir));
	}
	return (struct project){ S(""), S(""), S("") };
}

struct str project_of_file(struct str path)
{
	struct str recipes = path_dir(path), dot = path_dir(recipes), repo = path_dir(dot);
	const char *home = getenv("HOME");

	if (!str_eq(path_base(recipes), S("recipes")) || !str_eq(path_base(dot), S(".roux")))
		return S("");
	return repo.len > 1 && !str_eq(repo, str_of(home)) ? repo : S("");
}
