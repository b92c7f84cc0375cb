#include "runs/rebuild.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "runs/place.h"
#include "runs/stop.h"

struct found {
	struct str root;
	struct arena arena;
	VEC(struct run_row) rows;
	size_t skipped;
	struct report *r;
};

static bool see(void *data, struct str id)
{
	struct found *f = data;
	struct run_row row = { 0 };

	if (!look_row(f->root, id, &f->arena, &row, f->r)) {
		f->skipped++;
		return true;
	}
	/* Whoever asked for the end stands in the events; they say no more of other ends. */
	if (str_eq(row.status, S("cancelled")))
		row.handled = S("run.cancel");
	else if (str_eq(row.status, S("killed")))
		row.handled = S("run.kill");
	vec_push(&f->rows, row);
	return true;
}

static int by_start(const void *a, const void *b)
{
	const struct run_row *x = a, *y = b;

	if (x->started != y->started)
		return x->started < y->started ? -1 : 1;
	return str_cmp(x->id, y->id);
}

/* The old one may be all that somebody has: it is moved, with what SQLite put beside it. */
static bool put_away(struct str root, struct report *r)
{
	static const char *const ends[] = { "", "-wal", "-shm" };

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		AUTO_BUF from = BUF_INIT;
		AUTO_BUF to = BUF_INIT;

		buf_printf(&from, "%.*s/ledger.db%s", STR(root), ends[i]);
		buf_printf(&to, "%.*s/ledger.db.old%s", STR(root), ends[i]);
		if (rename(buf_cstr(&from), buf_cstr(&to)) == 0)
			continue;
		if (errno != ENOENT)
			return report_errno(r, errno, "cannot put %s away", buf_cstr(&from));
		(void)unlink(buf_cstr(&to)); /* of an earlier one: it would not fit */
	}
	return true;
}

static bool write_all(const struct found *f, struct report *r)
{
	struct arena a = ARENA_INIT;
	struct ledger *l = ledger_open(f->root, false, r);
	bool ok = l != NULL;

	for (size_t i = 0; ok && i < f->rows.len; i++) {
		struct run_row *row = &f->rows.at[i];

		ok = ledger_put(l, row, r) && ledger_add_leaves(l, row->id, row->generation,
						      run_file(&a, row->dir, "leaves.jsonl"), r);
		arena_reset(&a);
	}
	arena_done(&a);
	ledger_close(l);
	return ok;
}

bool ledger_rebuild(struct str root, struct rebuilt *ret, struct report *r)
{
	struct found f = { .root = root, .r = r };
	int e = look_each_directory(root, see, &f);
	bool ok = e == 0 || report_errno(r, -e, "cannot read %.*s/runs", STR(root));

	if (f.rows.len)
		qsort(f.rows.at, f.rows.len, sizeof(*f.rows.at), by_start);
	ok = ok && put_away(root, r) && write_all(&f, r);
	*ret = (struct rebuilt){ .runs = f.rows.len, .skipped = f.skipped };
	vec_done(&f.rows);
	arena_done(&f.arena);
	return ok;
}
