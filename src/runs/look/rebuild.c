#include "runs/look/rebuild.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/atomic-file.h"
#include "base/file.h"
#include "base/run-status.h"
#include "base/vec.h"
#include "runs/dir/leaves.h"
#include "runs/dir/run-dir.h"
#include "runs/look/remains.h"

enum { RUNS_PER_TRANSACTION = 4096 };

struct found {
	struct str root;
	struct arena arena;
	VEC(struct run_row) rows;
	size_t runs, skipped;
	uint64_t last;        /* start of the one that was seen before, of the same id */
	struct ledger *noted; /* the old one as it was before */
	struct report *r;
};

static void see_row(void *data, const struct run_row *row)
{
	struct found *f = data;
	struct run_row own = *row;
	enum roux_status status;

	if (status_read(own.status, &status))
		own.handled = status_asked_by(status);
	/* For the order: a clock that was set back does not make an earlier one newer. */
	f->last = own.seq = MIN(f->last, own.started);
	vec_push(&f->rows, own);
}

static bool see(void *data, struct str id)
{
	struct found *f = data;
	AUTO_REPORT said = REPORT_INIT;
	struct str dir = run_directory(&f->arena, f->root, id);

	f->last = UINT64_MAX;
	bool any = look_rows(f->root, id, &f->arena, see_row, f, &said);
	f->runs += any;
	f->skipped += !any;
	/* It is made without this one, and says why. */
	vec_each (i, &said.issues) {
		report_warning(f->r, (struct where){ 0 }, "%.*s%s", STR(i->message),
			any || !said.errors ? "" : ": it was skipped");
		report_advise(f->r, i);
	}
	if (!any && !said.errors && access(run_file(&f->arena, dir, TOMBSTONE_FILE), F_OK) < 0)
		report_warning(f->r, (struct where){ 0 },
			"%.*s is not the directory of a run and was skipped", STR(dir));
	return true;
}

static int by_start(const void *a, const void *b)
{
	const struct run_row *x = a, *y = b;

	if (x->seq != y->seq)
		return x->seq < y->seq ? -1 : 1;
	int names = str_cmp(x->id, y->id);
	return names ? names : x->back > y->back ? -1 : x->back < y->back;
}

static bool fill_some(struct ledger *l, struct run_row *rows, size_t count, struct report *r)
{
	struct arena a = ARENA_INIT;
	bool ok = ledger_batch_begin(l, false, r);

	if (!ok)
		return false;
	for (size_t i = 0; ok && i < count; i++) {
		ok = ledger_put(l, &rows[i], r) &&
		     ledger_add_leaves(l, rows[i].id, rows[i].generation,
			     run_file(&a, rows[i].dir, LEAVES_FILE), r);
		arena_reset(&a);
	}
	arena_done(&a);
	if (ok)
		return ledger_batch_commit(l, r);
	ledger_batch_undo(l);
	return false;
}

static bool fill(struct ledger *l, const struct found *f, struct report *r)
{
	bool ok = true;

	for (size_t i = 0; ok && i < f->rows.len; i += RUNS_PER_TRANSACTION)
		ok = fill_some(l, f->rows.at + i, MIN(f->rows.len - i, RUNS_PER_TRANSACTION), r);
	return ok;
}

/* -- what happened while the directories were read -----------------------------------------------
 */

struct late {
	struct ledger *ledger, *old;
	struct found *found;
	size_t from; /* where the rows that have come begin */
	struct report *r;
};

/* Archived, deleted, or about to be: the row goes first, then the directory. */
static bool drop(void *data, struct str id, struct str generation)
{
	struct late *late = data;

	return ledger_forget_generation(late->ledger, id, generation, late->r);
}

static bool has_file(const struct run_row *row, const char *name)
{
	AUTO_BUF path = BUF_INIT;

	buf_printf(&path, "%.*s/%s", STR(row->dir), name);
	return access(buf_cstr(&path), F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

/* The old one may never have had a row of it. Where it has one, the files are being moved by a
 * start of the same name, or the row will be taken out of the new one. */
static bool is_gone(const struct late *late, const struct run_row *row)
{
	return !has_file(row, LEAVES_FILE) && !has_file(row, "run.json") &&
	       !has_file(row, "start.json") &&
	       !(late->old && ledger_seq(late->old, row->id, row->generation));
}

static bool drop_gone(struct late *late)
{
	const struct found *f = late->found;
	bool ok = true;

	for (size_t i = 0; ok && i < late->from; i++)
		ok = !is_gone(late, &f->rows.at[i]) ||
		     drop(late, f->rows.at[i].id, f->rows.at[i].generation);
	return ok;
}

/* Started since. What the directory says of the others of that id is known already. */
static bool add(void *data, struct str id, struct str generation)
{
	struct late *late = data;
	struct found *f = late->found;
	size_t had = f->rows.len, kept = had;

	if (ledger_seq(late->ledger, id, generation))
		return true;
	(void)look_rows(f->root, id, &f->arena, see_row, f, f->r);
	for (size_t i = had; i < f->rows.len; i++)
		if (str_eq(f->rows.at[i].generation, generation))
			f->rows.at[kept++] = f->rows.at[i];
	f->rows.len = kept;
	return true;
}

/* Nothing more can happen to the old one now: it is held. */
static bool catch_up(struct late *late)
{
	struct found *f = late->found;

	if (!ledger_batch_begin(late->ledger, false, late->r))
		return false;
	bool ok = drop_gone(late) && (!f->noted || ledger_changed(f->noted, false, drop, late));
	if (!ok) {
		ledger_batch_undo(late->ledger);
		return false;
	}
	return ledger_batch_commit(late->ledger, late->r) &&
	       (!f->noted || ledger_changed(f->noted, true, add, late)) &&
	       fill_some(late->ledger, f->rows.at + late->from, f->rows.len - late->from, late->r);
}

/* -- its files -----------------------------------------------------------------------------------
 */

static const char *const parts[] = { "", "-wal", "-shm", "-journal" };

static const char *part(struct arena *a, struct str dir, const char *name, size_t i)
{
	return arena_printf(a, "%.*s/%s%s", STR(dir), name, parts[i]).p;
}

#define BUSY "busy"

static void remove_aside(struct str dir, struct arena *a)
{
	if (access(part(a, dir, "ledger.db.old", 0), F_OK) == 0)
		return; /* it could not be put in its place: another process will try again */
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		(void)unlink(part(a, dir, "ledger.db", i));
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		(void)unlink(part(a, dir, "ledger.db.new", i));
	(void)unlink(part(a, dir, BUSY, 0));
	(void)rmdir(arena_cstr(a, dir));
}

/* A rebuild holds this lock while it works. */
static int lock_aside(struct str dir, struct arena *a)
{
	AUTO_CLOSE int fd = open(part(a, dir, BUSY, 0),
		O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);

	return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 ? take_fd(&fd) : -1;
}

void rebuild_clean(struct str root)
{
	struct arena a = ARENA_INIT;

	ledger_mend(root);
	DIR *d = opendir(arena_cstr(&a, root));

	for (const struct dirent *e; d && (e = readdir(d));) {
		if (strncmp(e->d_name, LEDGER_ASIDE, strlen(LEDGER_ASIDE)) != 0)
			continue;
		struct str dir = arena_printf(&a, "%.*s/%s", STR(root), e->d_name);
		AUTO_CLOSE int lock = lock_aside(dir, &a);
		if (lock >= 0)
			remove_aside(dir, &a);
	}
	if (d)
		(void)closedir(d);
	arena_done(&a);
}

static bool take_over(struct ledger *l, struct ledger *old, struct found *f, struct report *r)
{
	struct late late = { .ledger = l, .old = old, .found = f, .from = f->rows.len, .r = r };

	return catch_up(&late) && (!old || ledger_keep(l, old, r));
}

/* Made beside the old one, which is touched only when all is well. */
static bool make(struct found *f, struct report *r)
{
	struct arena a = ARENA_INIT;
	char *aside = arena_cstr(&a, arena_printf(&a, "%.*s/" LEDGER_ASIDE "XXXXXX", STR(f->root)));

	if (!mkdtemp(aside)) {
		arena_done(&a);
		return report_errno(r, errno, "cannot make a ledger in %.*s", STR(f->root));
	}
	AUTO_CLOSE UNUSED int lock = lock_aside(str_of(aside), &a);
	struct ledger *old = NULL;
	struct ledger *l = ledger_open(str_of(aside), LEDGER_USUAL, r);
	bool ok = l && fill(l, f, r) && ledger_hold_old(f->root, &old, r) &&
		  take_over(l, old, f, r) && ledger_fold(l, r);
	ledger_close(l);
	ok = ok && ledger_exchange(f->root, aside, r);
	ledger_release_old(old);
	remove_aside(str_of(aside), &a);
	arena_done(&a);
	return ok;
}

bool ledger_rebuild(struct str root, struct rebuilt *ret, struct report *r)
{
	struct found f = { .root = root, .r = r };
	AUTO_BUF path = BUF_INIT;

	buf_add(&path, root);
	int e = dir_make(buf_cstr(&path));
	rebuild_clean(root);
	remains_clean(root);
	f.noted = ledger_note_old(root);
	e = e < 0 ? e : look_each_directory(root, see, &f);
	bool ok = e == 0 || report_errno(r, -e, "cannot read %.*s/runs", STR(root));
	if (f.rows.len)
		qsort(f.rows.at, f.rows.len, sizeof(*f.rows.at), by_start);
	ok = ok && make(&f, r);
	ledger_close(f.noted);
	*ret = (struct rebuilt){ .runs = f.runs, .skipped = f.skipped };
	vec_done(&f.rows);
	arena_done(&f.arena);
	return ok;
}
