#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/doctor/findings.h"
#include "app/past/find.h"
#include "base/map.h"
#include "base/path.h"
#include "base/run-status.h"
#include "loop/notify.h"
#include "runs/dir/begun.h"
#include "runs/dir/generations.h"
#include "runs/dir/leftovers.h"
#include "runs/dir/open.h"
#include "runs/dir/run-dir.h"
#include "runs/look/gap.h"
#include "runs/look/rebuild.h"
#include "runs/look/remains.h"

/* What needs attention among the runs. */
struct ward {
	struct examination *x;
	struct app *app;
	struct ledger *ledger;
	struct str root;
	struct map known; /* id → size_t, how many earlier generations the ledger has of it */
	VEC(struct str) doubtful, exited;
	size_t unknown, ghosts;
};

/* The finding, to add to: until the next one is added. */
static struct finding *add(struct ward *w, enum finding_kind kind, struct str id, struct str path,
	struct str message, struct str advice)
{
	vec_push(&w->x->findings, (struct finding){ .kind = kind,
					  .id = id,
					  .path = path,
					  .message = message,
					  .advice = advice });
	return &w->x->findings.at[w->x->findings.len - 1];
}

static bool note_row(void *data, const struct run_row *row)
{
	struct ward *w = data;
	struct str id = arena_str(&w->x->arena, row->id);
	void **known = map_put(&w->known, &w->x->arena, id);

	if (!*known)
		*known = arena_new(&w->x->arena, size_t);
	if (row->back) {
		++*(size_t *)*known;
		return true;
	}
	if (!status_is_end(row->status))
		vec_push(&w->doubtful, id);
	else if (status_is(row->status, ROUX_EXITED))
		vec_push(&w->exited, id);
	/* A row of a start that came to nothing is taken back by the look at what is doubtful. */
	if (!str_eq(row->status, S(STATUS_STARTING)) &&
		access(run_directory(&w->x->arena, w->root, id).p, F_OK) < 0 && errno == ENOENT)
		w->ghosts++;
	return true;
}

/* What is wrong with it, as the end of a sentence about it; empty: nothing. *lost: it will not be
 * better another time. */
static struct str flaw_of(struct arena *a, const char *dir, const char *name, bool *lost)
{
	AUTO_BUF text = BUF_INIT;
	int e = run_read(dir, name, RUN_FILE_MAX, &text);

	*lost = e == -ENOENT || e >= 0;
	if (e == -ENOENT)
		return S("is gone");
	if (e < 0)
		return arena_printf(a, "cannot be read (%s)", strerror(-e));
	AUTO_JSON *object = json_loadb(text.p, text.len, 0, NULL);
	return json_is_object(object) ? S("") : S("is damaged");
}

/* How many earlier generations of an id in `dir` the ledger lacks, of which it has `listed`. */
static size_t lacking_generations(struct ward *w, struct str id, const char *dir, size_t listed)
{
	AUTO_REPORT ignored = REPORT_INIT;
	size_t count = 0, lacking = 0;

	(void)generations_count(dir, &count);
	for (uint64_t back = 1; count > listed && back <= count; back++) {
		AUTO_LOOK look = { 0 };

		lacking += look_back(w->root, id, back, &look, &ignored) &&
			   !ledger_seq(w->ledger, id, look.generation);
	}
	return lacking;
}

static bool note_directory(void *data, struct str id)
{
	struct ward *w = data;
	struct str dir = run_directory(&w->x->arena, w->root, id);

	const size_t *known = map_get(&w->known, id);

	/* One that has just begun is about to get its row. */
	if (run_locked(dir.p) && (known || run_is_unlisted(dir.p)))
		return true;
	struct arena *a = &w->x->arena;
	bool lost;
	(void)begun_mend(dir.p);
	struct str flaw = flaw_of(a, dir.p, "run.json", &lost);
	bool is_run = known || !flaw.len || look_is_run(dir.p);
	w->unknown += known ? lacking_generations(w, id, dir.p, *known) : is_run;
	if (is_run && flaw.len) {
		struct finding *f = add(w, FINDING_RUN, arena_str(a, id), dir,
			arena_printf(a,
				"its run.json %.*s: when and where it was started is not known",
				STR(flaw)),
			S(""));
		f->actions[0] = (struct issue_action){ ACTION_STATUS, f->id };
		if (lost)
			f->actions[1] = (struct issue_action){ ACTION_PRUNE, f->id };
	}
	return true;
}

/* A run that was killed may have processes left without a supervisor. */
static void examine_exited(struct ward *w, struct str id, bool news)
{
	struct arena *a = &w->x->arena;
	struct finding *f;
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_LOOK look = { 0 };
	identity_list left = { 0 };

	if (!look_at(w->root, w->ledger, id, &look, &ignored) || look.live ||
		!status_is(look.status, ROUX_EXITED))
		return;
	struct str dir = arena_str(a, look.dir);
	leftovers_find(id, look.generation, look.row.pid_start, &left);
	if (left.len) {
		f = add(w, FINDING_RUN, id, dir,
			arena_printf(a,
				"%zu process%s of this run %s left, and its supervisor is gone",
				left.len, left.len == 1 ? "" : "es", left.len == 1 ? "is" : "are"),
			S(""));
		f->actions[0] = (struct issue_action){ ACTION_END_LEFT, id };
	}
	vec_done(&left);
	f = add(w, news ? FINDING_RUN : FINDING_EXITED, id, dir,
		news ? S("it was said to be running, but its supervisor is gone")
		     : S("it ended without a result: its supervisor was killed"),
		S(""));
	f->actions[0] = (struct issue_action){ ACTION_RESUME, id };
	f->actions[1] = (struct issue_action){ ACTION_PRUNE, id };
}

/* Directories that a prune could not delete to the end. */
static void examine_remains(struct ward *w)
{
	struct arena *a = &w->x->arena;
	struct str runs = arena_printf(a, "%.*s/runs", STR(w->root));
	DIR *d = opendir(runs.p);

	for (const struct dirent *e; d && (e = readdir(d));) {
		if (strncmp(e->d_name, REMAINS_PREFIX, strlen(REMAINS_PREFIX)) != 0)
			continue;
		struct str path = arena_printf(a, "%.*s/%s", STR(runs), e->d_name);
		if (remains_held(path.p))
			continue; /* it is just going */
		add(w, FINDING_RUN, S(""), path,
			arena_printf(a, "a run that was pruned is not all gone: %.*s", STR(path)),
			arena_printf(
				a, "find out why it cannot be deleted: rm -r %.*s", STR(path)));
	}
	if (d)
		(void)closedir(d);
}

static void examine_ledger(struct ward *w)
{
	const struct issue_action rebuild = { ACTION_REBUILD, S("") };
	struct arena *a = &w->x->arena;
	struct str path = arena_printf(a, "%.*s/ledger.db", STR(w->root));

	if (w->unknown)
		add(w, FINDING_RUN, S(""), path,
			arena_printf(a, "%zu run director%s not in the ledger", w->unknown,
				w->unknown == 1 ? "y is" : "ies are"),
			S(""))
			->actions[0] = rebuild;
	if (w->ghosts)
		add(w, FINDING_RUN, S(""), path,
			arena_printf(a, "%zu run%s of the ledger ha%s no directory", w->ghosts,
				w->ghosts == 1 ? "" : "s", w->ghosts == 1 ? "s" : "ve"),
			S(""))
			->actions[0] = rebuild;
}

static bool can_write(struct str path, int mode, struct report *r)
{
	return faccessat(AT_FDCWD, path.p, mode, AT_EACCESS) == 0 ||
	       report_errno(r, errno, "cannot write to %.*s", STR(path));
}

/* Whether a run could put something into the directory, or make it where there is none yet. */
static bool can_fill(struct arena *a, struct str dir, struct report *r)
{
	struct stat st;
	int n;

	while ((n = stat(dir.p, &st)) < 0 && (errno == ENOENT || errno == ENOTDIR))
		dir = arena_str(a, path_dir(dir));
	if (n < 0)
		return report_errno(r, errno, "cannot look at %.*s", STR(dir));
	if (!S_ISDIR(st.st_mode))
		return report_error(r, (struct where){ 0 }, "%.*s is not a directory", STR(dir));
	return can_write(dir, W_OK | X_OK, r);
}

/* What is not recorded is not run: a state root that cannot be written to stops all runs. */
static void examine_root(struct ward *w)
{
	struct arena *a = &w->x->arena;
	struct str ledger = path_below(a, w->root, S("ledger.db"));
	AUTO_REPORT found = REPORT_INIT;

	(void)(app_may_record(w->app, &found) && can_fill(a, w->root, &found) &&
		can_fill(a, path_below(a, w->root, S("runs")), &found) &&
		(access(ledger.p, F_OK) < 0 || can_write(ledger, W_OK, &found)));
	vec_each (i, &found.issues)
		finding_advise(w->x,
			add(w, FINDING_NO_RUNS, S(""), w->root,
				arena_printf(a, "no run can be started: %.*s", STR(i->message)),
				S("")),
			i,
			S("make it a directory that you can write to, or set ROUX_STATE_DIR to "
			  "another"));
}

/* Hosts that wait for files to change look at them now and then, when they cannot be told. */
static void examine_watching(struct ward *w)
{
	struct notify notify;
	struct notify_file root = { .wd = -1 };

	notify_init(&notify);
	int n = notify_open(&notify);
	if (n == 0)
		n = notify_add(&notify, &root, w->root.p, IN_CREATE | IN_ONLYDIR);
	notify_close(&notify);
	if (n == -EMFILE || n == -ENOSPC)
		add(w, FINDING_RUN, S(""), S(""),
			S("no inotify is left to this user: live views look every 2 s only"),
			S("close programs that watch many files, or raise "
			  "fs.inotify.max_user_instances and fs.inotify.max_user_watches"));
}

void doctor_runs(struct examination *x)
{
	struct ward w = { .x = x, .app = x->app, .root = app_state_root(x->app) };
	AUTO_REPORT issues = REPORT_INIT;

	rebuild_clean(w.root);
	w.ledger = app_ledger(x->app, &issues);
	if (w.ledger) {
		/* What was killed before it had a row gets one, and is examined. */
		(void)look_gap_counted(w.root, w.ledger);
		(void)ledger_list(w.ledger, &(struct ledger_filter){ .generations = true },
			note_row, &w, &issues);
	}
	(void)look_each_directory(w.root, note_directory, &w);
	vec_each (i, &issues.issues)
		finding_advise(x,
			add(&w, FINDING_LEDGER, S(""), w.root, arena_str(&x->arena, i->message),
				S("")),
			i, S(""));
	if (!issues.issues.len)
		examine_ledger(&w);
	vec_each (id, &w.doubtful)
		examine_exited(&w, *id, true);
	vec_each (id, &w.exited)
		examine_exited(&w, *id, false);
	examine_remains(&w);
	examine_root(&w);
	examine_watching(&w);
	vec_done(&w.doubtful);
	vec_done(&w.exited);
}
