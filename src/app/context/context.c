#include "app/context/context.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/path.h"
#include "base/user.h"
#include "loop/tree.h"
#include "runs/dir/run-dir.h"

/* -- beginning and end ---------------------------------------------------------------------------
 */

/* Paths are meant from where the process is now, wherever it moves to later. */
static struct str given_path(struct app *a, const char *path)
{
	return path && *path ? path_absolute(&a->arena, str_of(path)) : S("");
}

static struct str current_directory(struct app *a)
{
	char *cwd = getcwd(NULL, 0);
	struct str path = arena_str(&a->arena, str_of(cwd));

	free(cwd);
	return path;
}

struct app *app_open(const struct app_options *given)
{
	const struct app_options o = given ? *given : (struct app_options){ 0 };
	struct app *a = mem_new(struct app);

	a->references = 1;
	list_init(&a->runs);
	list_init(&a->ended);
	a->jobs = o.jobs;
	a->ledger_wait_ms = o.ledger_wait_ms;
	a->directories_max = o.directories_max;
	a->cwd = given_path(a, o.cwd);
	a->cwd = a->cwd.len ? a->cwd : current_directory(a);
	a->agent_dir = given_path(a, o.agent_dir);
	a->packaged_dir = given_path(a, o.packaged_dir);
	a->state_dir = given_path(a, o.state_dir);
	a->owner = arena_str(&a->arena, str_of(o.owner ? o.owner : getenv("ROUX_OWNER")));
	a->manners = (struct manners){ .own_process = o.own_process,
		.subreaper = o.subreaper,
		.is_roux = o.own_process || o.is_roux };
	return a;
}

struct app *app_ref(struct app *a)
{
	a->references++;
	return a;
}

void app_unref(struct app *a)
{
	if (--a->references)
		return;
	ledger_close(a->ledger);
	settings_done(&a->settings);
	if (a->hub)
		a->hub_free(a->hub);
	loop_free(a->loop);
	arena_done(&a->arena);
	free(a);
}

void app_close(struct app *a)
{
	if (!a)
		return;
	if (a->leave_runs)
		a->leave_runs(a);
	a->closed = true;
	app_unref(a);
}

int app_turn(struct app *a, int timeout_ms)
{
	struct loop *loop = app_loop(a);
	int n = loop ? loop_turn(loop, timeout_ms) : -errno;
	int live = 0;

	if (n < 0)
		return n;
	if (a->rest_runs)
		a->rest_runs(a);
	list_each (link, &a->runs)
		live++;
	return live;
}

struct loop *app_loop(struct app *a)
{
	if (a->loop)
		return a->loop;
	/* `sleep 9 & exec roux …`: they are the shell's, and must neither be ended nor reaped. */
	a->manners.alone = !tree_has_children();
	a->loop = loop_new();
	if (a->loop && a->manners.subreaper)
		a->manners.subreaper = tree_become_subreaper();
	return a->loop;
}

/* -- where things are ----------------------------------------------------------------------------
 */

static const char *given_or_null(struct str path)
{
	return path.len ? path.p : NULL;
}

static void make_variables(struct app *a)
{
	const char **v = arena_array(&a->arena, const char *, 4);
	size_t n = 0;

	if (a->state_dir.len || a->agent_dir.len)
		v[n++] = arena_printf(&a->arena, "ROUX_STATE_DIR=%.*s", STR(a->root)).p;
	if (a->agent_dir.len)
		v[n++] = arena_printf(&a->arena, "PI_CODING_AGENT_DIR=%.*s", STR(a->agent_dir)).p;
	if (a->packaged_dir.len)
		v[n++] = arena_printf(&a->arena, "ROUX_PACKAGED_DIR=%.*s", STR(a->packaged_dir)).p;
	a->variables = v;
}

/* The state belongs to the agent directory that was given, whatever the environment says. */
static struct str state_root(struct app *a)
{
	if (a->state_dir.len)
		return a->state_dir;
	if (a->agent_dir.len)
		return path_below(&a->arena, a->agent_dir, S("roux"));
	return path_absolute(&a->arena, runs_root(&a->arena, a->dirs.agent));
}

/* Looks for the directories once. */
static void app_places(struct app *a)
{
	if (a->root.len)
		return;
	a->dirs = recipe_dirs_find(
		&a->arena, given_or_null(a->agent_dir), given_or_null(a->packaged_dir));
	recipe_dirs_project(&a->arena, &a->dirs, a->cwd);
	a->root = state_root(a);
	make_variables(a);
}

const struct recipe_dirs *app_dirs(struct app *a)
{
	app_places(a);
	return &a->dirs;
}

struct str app_agent_dir(struct app *a)
{
	return app_dirs(a)->agent;
}

struct str app_state_root(struct app *a)
{
	app_places(a);
	return a->root;
}

struct str app_cwd(const struct app *a)
{
	return a->cwd;
}

struct str app_owner(const struct app *a)
{
	return a->owner;
}

/* -- settings and ledger -------------------------------------------------------------------------
 */

const struct settings *app_settings(struct app *a, struct report *r)
{
	AUTO_REPORT unread = REPORT_INIT; /* unknown keys are for doctor to tell */

	if (!a->settled) {
		settings_done(&a->settings); /* of a reading that failed */
		a->settled = settings_read(&a->settings, r, &unread);
	}
	return a->settled ? &a->settings : NULL;
}

json_t *app_collections(const struct app *a)
{
	return a->settings.collection_count ? settings_collections(&a->settings) : NULL;
}

void app_warn(const struct report *issues, struct report *r)
{
	vec_each (i, &issues->issues) {
		report_warning(r, (struct where){ 0 }, "%.*s", STR(i->message));
		report_advise(r, i);
		if (i->held)
			report_held(r);
	}
}

/* One request asks for it several times, and waits once. */
enum { HELD_MS = 1000 };

static struct ledger_manner ledger_manner(const struct app *a)
{
	return (struct ledger_manner){ .wait_ms = a->ledger_wait_ms };
}

struct ledger *app_ledger(struct app *a, struct report *r)
{
	AUTO_REPORT issues = REPORT_INIT;

	if (a->looked_for_ledger)
		return a->ledger;
	if (a->ledger_held_ms && clock_mono_ms() < a->ledger_held_ms + HELD_MS) {
		report_warning(r, (struct where){ 0 }, "another process has the ledger locked");
		report_hint(r, "try again");
		report_held(r);
		return NULL;
	}
	a->ledger = ledger_open_existing(app_state_root(a), ledger_manner(a), &issues);
	bool held = a->ledger_wait_ms && report_is_held(&issues);
	/* Where there is none, the first run makes one; one that is locked will not be later. */
	a->looked_for_ledger = a->ledger || (issues.issues.len && !held);
	if (held)
		a->ledger_held_ms = clock_mono_ms();
	app_warn(&issues, r);
	return a->ledger;
}

struct ledger *app_ledger_to_change(struct app *a, struct report *r)
{
	if (!a->ledger)
		a->ledger = ledger_open_existing(app_state_root(a), ledger_manner(a), r);
	return a->ledger;
}

/* Whether all that is in it is ours. */
static bool holds_ours(struct str path)
{
	DIR *dir = opendir(path.p);
	bool ours = dir != NULL;
	struct stat st;

	for (const struct dirent *e; ours && (e = readdir(dir));)
		ours = strcmp(e->d_name, "..") == 0 ||
		       fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		       st.st_uid == geteuid();
	if (dir)
		(void)closedir(dir);
	return ours;
}

/* The top of a file system in memory is sticky and open to all unless its mount says otherwise, as
 * a container's is. While all in it is ours, no other user can replace any of it. */
static bool is_fresh_mount(struct str path, const struct stat *st)
{
	AUTO_BUF above = BUF_INIT;
	struct stat up;

	buf_printf(&above, "%.*s/..", STR(path));
	return st->st_mode & S_ISVTX && stat(buf_cstr(&above), &up) == 0 &&
	       up.st_dev != st->st_dev && holds_ours(path);
}

static bool is_ours(struct str path, struct report *r)
{
	struct stat st;

	if (stat(path.p, &st) < 0)
		return true;
	bool foreign = st.st_uid != geteuid();
	/* Also in a sticky one another user can put a run beside ours, or a name where a file of
	 * ours is yet to be. */
	if (!foreign && (!(st.st_mode & S_IWOTH) || is_fresh_mount(path, &st)))
		return true;
	if (foreign)
		report_refuse(
			r, S(""), "unsafe state root", "%.*s belongs to another user", STR(path));
	else
		report_refuse(r, S(""), "unsafe state root",
			"every user of this machine can write to %.*s", STR(path));
	report_hint(r, "%s%.*s, or set ROUX_STATE_DIR to a directory of yours",
		foreign ? "own " : "chmod go-w ", STR(path));
	return false;
}

bool app_root_is_ours(struct app *a, struct report *r)
{
	struct str root = app_state_root(a);

	return is_ours(root, r) && is_ours(path_below(&a->arena, root, S("runs")), r);
}

/* Whether a place was given, as an option or in the environment, or there is a home directory for
 * the usual one. */
static bool has_place(
	struct app *a, struct str given, const char *variable, const char *what, struct report *r)
{
	const char *set = getenv(variable), *agent = getenv("PI_CODING_AGENT_DIR");
	struct stat st;

	if (given.len || a->agent_dir.len || (set && *set) || (agent && *agent))
		return true;
	struct str home = user_home(&a->arena);
	int error = home.len && stat(home.p, &st) < 0 ? errno : 0;
	if (home.len && !error && S_ISDIR(st.st_mode))
		return true;
	if (error && error != ENOENT && error != ENOTDIR)
		return report_errno(r, error, "cannot look at the home directory %.*s", STR(home));
	report_error(r, (struct where){ 0 }, "there is no place %s: the home directory %s%.*s%s",
		what, home.len ? "'" : "", STR(home),
		home.len ? "' does not exist" : "is not known");
	return report_hint(r, "set %s to a directory of yours, or HOME", variable);
}

bool app_may_record(struct app *a, struct report *r)
{
	return has_place(a, a->state_dir, "ROUX_STATE_DIR", "to record runs", r) &&
	       app_root_is_ours(a, r);
}

bool app_may_keep_recipes(struct app *a, struct report *r)
{
	return has_place(a, a->agent_dir, "PI_CODING_AGENT_DIR", "for recipes of yours", r);
}

struct ledger *app_make_ledger(struct app *a, struct report *r)
{
	if (!a->ledger && !app_may_record(a, r))
		return NULL;
	if (!a->ledger)
		a->ledger = ledger_open(app_state_root(a), ledger_manner(a), r);
	a->looked_for_ledger = true;
	return a->ledger;
}

void app_drop_ledger(struct app *a)
{
	ledger_close(a->ledger);
	a->ledger = NULL;
}
