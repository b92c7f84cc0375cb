/* The leaves of a run, copied from its leaves.jsonl: that file is the truth. */
#include <errno.h>
#include <string.h>

#include "runs/dir/leaves.h"
#include "runs/dir/open.h"
#include "runs/ledger/store.h"

struct copying {
	struct ledger *ledger;
	struct str id, generation;
	struct report *r;
	/* The start that was read last: mostly the next line is its end, and one row has both. */
	bool started;
	struct buf path;
	struct leaf_record start;
	uint64_t began;
	bool ok;
};

static void bind_number(sqlite3_stmt *s, int at, uint64_t number)
{
	(void)sqlite3_bind_int64(s, at, (sqlite3_int64)number);
}

/* Either may be NULL. */
static bool put(struct copying *c, struct str path, const struct leaf_record *start,
	const struct leaf_record *end, uint64_t ended)
{
	sqlite3_stmt *s =
		ledger_use(c->ledger, start && end ? LEDGER_LEAF_WHOLE : LEDGER_LEAF, c->r);

	if (!s)
		return false;
	ledger_bind_str(s, 1, c->id);
	ledger_bind_str(s, 2, c->generation);
	ledger_bind_str(s, 3, path);
	bind_number(s, 4, start ? start->number : end->number);
	if (start && start->pid > 0) {
		bind_number(s, 5, (uint64_t)start->pid);
		bind_number(s, 6, start->pid_start);
	}
	if (start)
		bind_number(s, 7, c->began);
	if (end) {
		(void)sqlite3_bind_int64(s, 8, end->code);
		(void)sqlite3_bind_int64(s, 9, end->signal);
		bind_number(s, 10, ended);
		bind_number(s, 11, end->out_bytes);
		bind_number(s, 12, end->err_bytes);
	}
	return ledger_step(c->ledger, s, "record a leaf", c->r);
}

static bool put_start(struct copying *c)
{
	bool put_now = c->started;

	c->started = false;
	return !put_now || put(c, buf_str(&c->path), &c->start, NULL, 0);
}

static bool add_leaf(void *data, const struct leaf_line *line)
{
	struct copying *c = data;
	const struct leaf_record *r = &line->record;

	if (line->kind == LEAF_EXIT) {
		bool both = c->started && c->start.number == r->number &&
			    str_eq(buf_str(&c->path), line->path);

		c->ok = both || put_start(c);
		c->started = false;
		c->ok = c->ok && put(c, line->path, both ? &c->start : NULL, r, line->ts);
	} else if (line->kind == LEAF_START) {
		c->ok = put_start(c);
		c->started = true;
		buf_reset(&c->path);
		buf_add(&c->path, line->path);
		c->start = *r;
		c->began = line->ts;
	}
	return c->ok;
}

bool ledger_add_leaves(struct ledger *l, struct str id, struct str generation,
	const char *leaves_file, struct report *r)
{
	struct copying c = { .ledger = l, .id = id, .generation = generation, .r = r, .ok = true };

	if (!ledger_begin(l, false, r))
		return false;
	int e = leaf_lines_each(leaves_file, add_leaf, &c);
	c.ok = c.ok && put_start(&c);
	buf_done(&c.path);
	/* One run whose file is something else, or is closed to us, does not keep the ledger from
	 * all the others. */
	if (run_is_foreign(e) || e == -EACCES)
		report_warning(
			r, (struct where){ 0 }, "cannot read %s: %s", leaves_file, strerror(-e));
	else if (e < 0)
		c.ok = report_errno(r, -e, "cannot read %s", leaves_file);
	if (c.ok)
		return ledger_commit(l, r);
	ledger_rollback(l);
	return false;
}
