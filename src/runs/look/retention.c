#include "runs/look/retention.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic-file.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/run-status.h"
#include "base/vec.h"
#include "runs/dir/copy-tree.h"
#include "runs/dir/generations.h"
#include "runs/dir/remove-tree.h"
#include "runs/dir/run-dir.h"
#include "runs/look/remains.h"

enum { NAMES_TRIED = 10000, GOING_MS = 5000 };

/* A supervisor that has written its result is about to go: it is waited for. */
static void await_end(const struct run_look *look)
{
	AUTO_CLOSE int pidfd = look->result ? look_supervisor(&look->row) : -1;
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	if (pidfd >= 0)
		(void)poll(&p, 1, GOING_MS);
}

/* The run must not be resumed or started while its directory is moved or deleted. */
static bool hold(const struct run_look *look, int *ret_lock, bool *busy, struct report *r)
{
	*busy = false;
	int e = run_lock(look->dir.p, ret_lock);
	if (e == -EAGAIN) {
		await_end(look);
		e = run_lock(look->dir.p, ret_lock);
	}
	if (e == 0 && look_is_supervised(look)) {
		close_fd(ret_lock);
		e = -EAGAIN;
	}
	if (e == -EAGAIN) {
		*busy = true;
		return false;
	}
	/* Where we cannot make a lock file no other process can either. */
	if (e == -EROFS || e == -EACCES)
		return true;
	if (e == -ENOENT)
		return report_error(r, (struct where){ 0 }, "run '%.*s' is gone", STR(look->id));
	return e == 0 || report_errno(r, -e, "cannot lock %.*s", STR(look->dir));
}

static int open_directory(struct str path, bool make)
{
	AUTO_BUF text = BUF_INIT;

	buf_add(&text, path);
	int e = make ? dir_make(buf_cstr(&text)) : 0;
	if (e < 0)
		return e;
	/* The state root and what is directly below may be on another disk, behind a link. */
	int fd = open(buf_cstr(&text), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* The first that is seen is the newest. */
static bool point_latest(void *data, const struct run_row *row)
{
	int runs = *(int *)data;
	AUTO_BUF id = BUF_INIT;

	buf_add(&id, row->id);
	(void)symlinkat(buf_cstr(&id), runs, "latest");
	return false;
}

/* `latest` does not lead to a run that is gone. */
static void move_latest(int runs, struct ledger *l, struct str id)
{
	AUTO_REPORT ignored = REPORT_INIT;
	char now[NAME_MAX];
	ssize_t n = readlinkat(runs, "latest", now, sizeof(now));

	if (n < 0 || !str_eq((struct str){ now, (size_t)n }, id))
		return;
	(void)unlinkat(runs, "latest", 0);
	if (l)
		(void)ledger_list(l, NULL, point_latest, &runs, &ignored);
}

/* -- archive -------------------------------------------------------------------------------------
 */

/* Moves to the first name that nothing has. -errno. */
static int move_aside(int from, const char *id, int to, struct str name, struct buf *ret)
{
	for (int n = 1; n < NAMES_TRIED; n++) {
		buf_reset(ret);
		buf_add(ret, name);
		if (n > 1)
			buf_printf(ret, "-%d", n);
		if (renameat2(from, id, to, buf_cstr(ret), RENAME_NOREPLACE) == 0)
			return 0;
		if (errno != EEXIST && errno != ENOTEMPTY)
			return -errno;
	}
	return -EEXIST;
}

static bool write_tombstone(const struct run_look *look, struct str where, uint64_t now_ms)
{
	AUTO_JSON *stone = json_object();
	AUTO_BUF path = BUF_INIT;
	AUTO_BUF when = BUF_INIT;
	AUTO_BUF text = BUF_INIT;

	clock_rfc3339(&when, now_ms);
	json_object_set_new(stone, "run", json_from_str(look->id));
	json_object_set_new(stone, "status", json_from_str(look->status));
	json_object_set_new(stone, "where", json_from_str(where));
	json_object_set_new(stone, "when", json_from_str(buf_str(&when)));
	json_write(&text, stone, 2);
	buf_addc(&text, '\n');
	buf_printf(&path, "%.*s/" TOMBSTONE_FILE, STR(look->dir));
	/* When the run was started again meanwhile, there is nothing to tell. */
	if (mkdir(look->dir.p, 0700) < 0)
		return errno == EEXIST;
	return atomic_write(buf_cstr(&path), buf_str(&text), NULL) == 0;
}

bool retention_archive(struct str root, struct ledger *l, struct run_look *look,
	struct str *ret_path, bool *busy, struct report *r)
{
	struct arena *a = &look->arena;
	struct str archived = arena_printf(a, "%.*s/archived", STR(root));
	uint64_t now = clock_real_ms();
	AUTO_BUF name = BUF_INIT;
	AUTO_BUF got = BUF_INIT;
	AUTO_CLOSE int lock = -1;

	if (!hold(look, &lock, busy, r))
		return false;
	AUTO_CLOSE int runs = open_directory(arena_printf(a, "%.*s/runs", STR(root)), false);
	AUTO_CLOSE int to = open_directory(archived, true);
	if (runs < 0 || to < 0)
		return report_errno(
			r, runs < 0 ? -runs : -to, "cannot archive into %.*s", STR(archived));
	/* First the row: a run that is only a directory is found all the same, a row without one is
	 * a ghost. */
	if (l && !ledger_forget(l, look->run, r))
		return false;
	buf_printf(&name, "%.*s-", STR(look->run));
	clock_stamp(&name, now);
	int e = move_aside(runs, look->run.p, to, buf_str(&name), &got);
	if (e < 0)
		return report_errno(
			r, -e, "cannot move %.*s to %.*s", STR(look->dir), STR(archived));
	*ret_path = arena_printf(a, "%.*s/%s", STR(archived), buf_cstr(&got));
	move_latest(runs, l, look->run);
	if (!write_tombstone(look, *ret_path, now))
		report_warning(r, (struct where){ 0 }, "no tombstone could be left in %.*s",
			STR(look->dir));
	return true;
}

/* -- prune ---------------------------------------------------------------------------------------
 */

/* report.md, then report-2.md. */
static void numbered(struct buf *ret, const char *base, int n)
{
	const char *dot = strrchr(base, '.');

	buf_reset(ret);
	if (n == 1)
		buf_adds(ret, base);
	else if (dot && dot != base)
		buf_printf(ret, "%.*s-%d%s", (int)(dot - base), base, n, dot);
	else
		buf_printf(ret, "%s-%d", base, n);
}

static void remove_copy(int dir, const char *name)
{
	if (unlinkat(dir, name, 0) < 0 && errno == EISDIR)
		(void)remove_tree(dir, name, NULL);
}

/* It has its name when it is whole; what a killed process has left of it is made anew. */
static int preserve_one(
	int dir, const char *path, struct str generation, struct buf *ret_name, size_t *skipped)
{
	AUTO_BUF plain = BUF_INIT;
	AUTO_BUF part = BUF_INIT;

	buf_printf(&part, ".part-%.*s", STR(generation));
	remove_copy(dir, buf_cstr(&part));
	int e = copy_tree(path, dir, buf_cstr(&part), skipped);
	if (e < 0)
		return e;
	e = -EEXIST;

	buf_adds(&plain, path);
	while (plain.len > 1 && plain.p[plain.len - 1] == '/')
		buf_truncate(&plain, plain.len - 1);
	const char *slash = strrchr(buf_cstr(&plain), '/');
	const char *base = slash ? slash + 1 : buf_cstr(&plain);
	if (!*base || strcmp(base, ".") == 0 || strcmp(base, "..") == 0)
		base = "artifact";
	for (int n = 1; e == -EEXIST && n < NAMES_TRIED; n++) {
		numbered(ret_name, base, n);
		e = renameat2(dir, buf_cstr(&part), dir, buf_cstr(ret_name), RENAME_NOREPLACE) < 0
			    ? -errno
			    : 0;
	}
	if (e < 0)
		remove_copy(dir, buf_cstr(&part));
	return e;
}

/* What has been copied before something could not be. */
static void undo_copies(int dir, const json_t *copied)
{
	const char *name;
	json_t *path;

	json_object_foreach((json_t *)copied, name, path)
	{
		const char *base = strrchr(json_string_value(path), '/') + 1;

		remove_copy(dir, base);
	}
}

static struct str preserved_dir(struct str root, struct run_look *look)
{
	return arena_printf(
		&look->arena, "%.*s/preserved-artifacts/%.*s", STR(root), STR(look->run));
}

/* Nothing is deleted after all. */
static void take_back_copies(struct str root, struct run_look *look, json_t **preserved)
{
	struct str all = preserved_dir(root, look);
	AUTO_CLOSE int dir = open_directory(all, false);

	undo_copies(dir, *preserved);
	(void)rmdir(all.p); /* unless there was something before */
	json_decref(*preserved);
	*preserved = NULL;
}

/* An artifact that was never made is not missed; a link to nothing is reported. */
static bool is_missing(const char *name, const char *path, struct report *r)
{
	struct stat st;

	if (access(path, F_OK) == 0 || errno != ENOENT)
		return false;
	if (lstat(path, &st) == 0)
		report_warning(r, (struct where){ 0 },
			"not preserved: the artifact '%s' (%s) is a link to nothing", name, path);
	return true;
}

static bool preserve_all(struct str root, struct run_look *look, const json_t *artifacts,
	json_t **ret, struct report *r)
{
	struct arena *a = &look->arena;
	struct str all = preserved_dir(root, look);
	AUTO_JSON *preserved = json_object();
	AUTO_CLOSE int dir = -1;
	size_t skipped = 0;
	const char *name;
	json_t *path;

	json_object_foreach((json_t *)artifacts, name, path)
	{
		AUTO_BUF got = BUF_INIT;

		if (is_missing(name, json_string_value(path), r))
			continue;
		if (dir < 0)
			dir = open_directory(all, true);
		int e = dir < 0 ? dir
				: preserve_one(dir, json_string_value(path), look->generation, &got,
					  &skipped);
		if (e < 0) {
			undo_copies(dir, preserved);
			(void)rmdir(all.p); /* unless there was something before */
			if (e == -EINVAL)
				report_error(r, (struct where){ 0 },
					"cannot preserve the artifact '%s' (%s): it is neither a "
					"file nor a directory",
					name, json_string_value(path));
			else
				report_errno(r, -e, "cannot preserve the artifact '%s' (%s)", name,
					json_string_value(path));
			return report_hint(r, "nothing was deleted");
		}
		if (skipped)
			report_warning(r, (struct where){ 0 },
				"not preserved of the artifact '%s' (%s): %zu %s neither a file "
				"nor "
				"a directory",
				name, json_string_value(path), skipped,
				skipped == 1 ? "entry that is" : "entries that are");
		json_object_set_new_nocheck(preserved, name,
			json_from_str(arena_printf(a, "%.*s/%s", STR(all), buf_cstr(&got))));
	}
	*ret = json_incref(preserved);
	return true;
}

/* An earlier generation takes the place of the current one. -errno, and all is where it was, unless
 * that fails too: then a part of it is in the directory *ret. */
static int move_current_out(int runs, struct str root, const struct run_look *look, uint64_t newest,
	const char *name, struct buf *ret, int *held)
{
	AUTO_BUF to = BUF_INIT;
	int e = -EEXIST;

	for (int n = 1; n < NAMES_TRIED && e == -EEXIST; n++) {
		buf_reset(ret);
		buf_printf(ret, n > 1 ? "%s-%d" : "%s", name, n);
		e = mkdirat(runs, buf_cstr(ret), 0700) < 0 ? -errno : 0;
		*held = e == 0 ? remains_hold(runs, buf_cstr(ret)) : -1;
		if (*held == -ESTALE || *held == -EBUSY)
			e = -EEXIST; /* it was taken for what a killed one has left */
	}
	if (e < 0)
		return e;
	buf_printf(&to, "%.*s/runs/%s", STR(root), buf_cstr(ret));
	e = generation_move_out(look->dir.p, buf_cstr(&to));
	if (e == 0) {
		e = generation_bring_back(look->dir.p, newest);
		if (e < 0)
			(void)generation_move_out(buf_cstr(&to), look->dir.p);
	}
	return e;
}

/* What is deleted gets another name first: half a run is never seen. Only the generation goes when
 * there are others, the whole directory when it is the last one. -errno. */
static int move_out(int runs, struct str root, const struct run_look *look, uint64_t newest,
	struct buf *ret, int *held)
{
	AUTO_BUF name = BUF_INIT;
	AUTO_BUF to = BUF_INIT;

	buf_printf(&name, REMAINS_PREFIX "%.*s", STR(look->run));
	(void)remains_delete(runs, buf_cstr(&name));
	if (!look->back && newest)
		return move_current_out(runs, root, look, newest, buf_cstr(&name), ret, held);
	*held = remains_hold(AT_FDCWD, look->dir.p);
	if (!look->back)
		return move_aside(runs, look->run.p, runs, buf_str(&name), ret);
	int e = move_aside(AT_FDCWD, look->dir.p, runs, buf_str(&name), ret);
	buf_printf(&to, "%.*s/runs/%.*s/" GENERATIONS_DIR, STR(root), STR(look->run));
	(void)rmdir(buf_cstr(&to)); /* when it was the last of the earlier ones */
	return e;
}

/* `newest`: the number of the earlier generation that takes its place; 0: there is none. */
static bool delete_files(
	struct str root, struct ledger *l, struct run_look *look, uint64_t newest, struct report *r)
{
	struct arena *a = &look->arena;
	AUTO_CLOSE int runs = open_directory(arena_printf(a, "%.*s/runs", STR(root)), false);
	AUTO_BUF aside = BUF_INIT;
	AUTO_FREE char *failed = NULL;
	AUTO_CLOSE UNUSED int held = -1;

	int e = runs < 0 ? runs : move_out(runs, root, look, newest, &aside, &held);
	bool moved = e == 0;
	if (moved) {
		if (!look->back)
			move_latest(runs, l, look->run);
		e = remove_tree(runs, buf_cstr(&aside), &failed);
	} else if (aside.len) {
		moved = unlinkat(runs, buf_cstr(&aside), AT_REMOVEDIR) < 0 && errno != ENOENT;
	}
	if (e == 0)
		return true;
	report_errno(r, -e, "cannot delete %.*s%s%s", STR(look->dir), failed ? ": " : "",
		failed ? failed : "");
	if (!moved)
		return report_hint(r, "the run is as it was");
	report_hint(r, "what is left of it is in %.*s/runs/%s", STR(root), buf_cstr(&aside));
	return report_action(r, ACTION_DOCTOR, S(""));
}

static bool forget(struct ledger *l, const struct run_look *look, bool whole, struct report *r)
{
	return whole ? ledger_forget(l, look->run, r)
		     : ledger_forget_generation(l, look->run, look->generation, r);
}

void retention_unforgotten(struct run_look *look, struct report *why, struct report *r)
{
	struct str remark = arena_printf(&look->arena,
		"'%.*s' was deleted, and the ledger could not forget it", STR(look->id));

	report_remark(why, 0, remark.p, ACTION_REBUILD);
	report_move(r, why);
}

bool retention_forget(struct ledger *l, struct run_look *look, bool whole, struct report *r)
{
	AUTO_REPORT unwritten = REPORT_INIT;

	if (forget(l, look, whole, &unwritten))
		return true;
	retention_unforgotten(look, &unwritten, r);
	return false;
}

/* Another start, or another prune, may have put another generation in its place. */
static bool is_still(struct str root, const struct run_look *look, struct report *r)
{
	AUTO_REPORT issues = REPORT_INIT;
	AUTO_LOOK now = { 0 };

	bool there = look_at(root, NULL, look->run, &now, &issues);
	/* Which one it is cannot be told when its run.json is damaged or gone. */
	if (there && (str_eq(now.generation, look->generation) || (!now.start && !look->start)))
		return true;
	if (now.unread) {
		report_errno(r, now.unread, "cannot read the record of run '%.*s'", STR(look->id));
		return report_hint(r, "nothing was deleted");
	}
	if (issues.errors) {
		report_move(r, &issues);
		return false;
	}
	return report_error(r, (struct where){ 0 }, "run '%.*s' is gone", STR(look->id));
}

void retention_refuse(struct run_look *look, struct report *why, struct report *r)
{
	struct str remark = arena_printf(&look->arena, "'%.*s' was not deleted", STR(look->id));

	report_remark(why, 0, remark.p, ACTION_NONE);
	report_move(r, why);
}

/* *unwritable: the ledger cannot be written, for another reason than a full disk. */
static bool prune(struct str root, struct ledger *l, struct run_look *look, const json_t *preserve,
	json_t **ret_preserved, bool *busy, bool *unwritable, retention_outside_fn *outside,
	struct report *r)
{
	AUTO_REPORT unwritten = REPORT_INIT;
	AUTO_CLOSE int lock = -1;
	uint64_t newest = 0;

	*busy = *unwritable = false;
	if (!look->back && (!hold(look, &lock, busy, r) || !is_still(root, look, r)))
		return false;
	/* Taken for the only one, it would take the others along. */
	int e = look->back ? 0 : generation_number(look->dir.p, 1, &newest);
	if (e < 0) {
		report_errno(r, -e, "cannot read %.*s/" GENERATIONS_DIR, STR(look->dir));
		return report_hint(r, "nothing was deleted");
	}
	if (preserve && !preserve_all(root, look, preserve, ret_preserved, r))
		return false;
	bool whole = !look->back && !newest;
	/* First the row, but on a full disk there is no room for that before something is gone. */
	bool forgotten = !l || forget(l, look, whole, &unwritten);
	*unwritable = !forgotten && !report_lacks_room(&unwritten);
	if (*unwritable) {
		if (preserve)
			take_back_copies(root, look, ret_preserved);
		retention_refuse(look, &unwritten, r);
		return false;
	}
	if (!delete_files(root, l, look, newest, r)) {
		/* The newest, which is still there, is listed as before. */
		if (l && forgotten && !look->back && access(look->dir.p, F_OK) == 0)
			(void)ledger_put(l, &look->row, &unwritten);
		return false;
	}
	outside(look, r);
	return forgotten || retention_forget(l, look, whole, r);
}

bool retention_prune(struct str root, struct ledger *l, struct run_look *look,
	const json_t *preserve, json_t **ret_preserved, bool *busy, retention_outside_fn *outside,
	struct report *r)
{
	bool unwritable;

	return prune(root, l, look, preserve, ret_preserved, busy, &unwritable, outside, r);
}

/* -- limits --------------------------------------------------------------------------------------
 */

struct due {
	const struct retention_limits *limits;
	uint64_t now_ms, kept;
	bool (*see)(void *data, const struct run_row *row);
	void *data;
};

/* What people may have to look at is never deleted by the way. */
static bool may_go(const struct retention_limits *limits, const struct run_row *row)
{
	enum roux_status s;

	if (!status_is_end(row->status) || !status_read(row->status, &s))
		return false;
	if (status_rest(s) == STATUS_AT_GATE && !row->back)
		return false; /* it waits for an answer, whatever is asked for */
	if (run_row_has_failures(row) && (!limits->status.len || status_ok(s)))
		return status_listed(limits->status, status_str(ROUX_FAILED));
	return limits->status.len ? status_listed(limits->status, row->status) : status_expires(s);
}

static bool see_due(void *data, const struct run_row *row)
{
	struct due *d = data;
	const struct retention_limits *limits = d->limits;
	const uint64_t day_ms = 86400000;
	uint64_t age = d->now_ms > row->ended ? d->now_ms - row->ended : 0;

	if (!row->ended || !may_go(limits, row))
		return true;
	if (limits->older_ms || limits->status.len)
		return age < limits->older_ms || d->see(d->data, row);
	bool old = limits->max_age_days && age / day_ms >= limits->max_age_days;
	bool many = limits->max_runs && d->kept >= limits->max_runs;
	if (old || many)
		return d->see(d->data, row);
	d->kept++;
	return true;
}

bool retention_is_limited(const struct retention_limits *limits)
{
	return limits->max_age_days || limits->max_runs || limits->older_ms || limits->status.len;
}

bool retention_due(struct ledger *l, const struct retention_runs *all,
	const struct retention_limits *limits, uint64_t now_ms,
	bool (*see)(void *data, const struct run_row *row), void *data, struct report *r)
{
	struct due d = { .limits = limits, .now_ms = now_ms, .see = see, .data = data };
	bool limited = retention_is_limited(limits);

	for (size_t i = 0; limited && all && i < all->count; i++)
		if (!see_due(&d, &all->at[i]))
			break;
	return !limited || all ||
	       ledger_list(l, &(struct ledger_filter){ .generations = true }, see_due, &d, r);
}

struct sweep {
	struct arena arena;
	VEC(struct run_row) rows;
};

static bool note_row(void *data, const struct run_row *row)
{
	struct sweep *s = data;

	vec_push(&s->rows, (struct run_row){ .id = arena_str(&s->arena, row->id),
				   .generation = arena_str(&s->arena, row->generation),
				   .back = row->back });
	return true;
}

size_t retention_sweep(struct str root, struct ledger *l, const struct retention_runs *all,
	const struct retention_limits *limits, uint64_t now_ms, retention_outside_fn *outside,
	struct report *r)
{
	struct sweep s = { 0 };
	size_t gone = 0;

	(void)retention_due(l, all, limits, now_ms, note_row, &s, r);
	/* The oldest first: others of that id keep the number that they were seen with. */
	for (size_t i = s.rows.len; i-- > 0;) {
		const struct run_row *row = &s.rows.at[i];
		AUTO_LOOK look = { 0 };
		bool busy, unwritable;

		/* It may have been resumed since. */
		if (!(row->back ? look_back(root, row->id, row->back, &look, r)
				: look_at(root, l, row->id, &look, r)))
			continue;
		look.row.back = row->back;
		/* With clocks that were set the order is another, and so are the numbers. */
		if (row->generation.len && !str_eq(look.generation, row->generation))
			continue;
		if (look.live || !may_go(limits, &look.row))
			continue;
		gone += prune(root, l, &look, NULL, NULL, &busy, &unwritable, outside, r);
		/* The next ones would be refused too, perhaps each after a minute of waiting. */
		if (unwritable)
			break;
	}
	vec_done(&s.rows);
	arena_done(&s.arena);
	return gone;
}
