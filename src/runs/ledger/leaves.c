/* The leaves of a run, copied from its leaves.jsonl: that file is the truth. */
#include "runs/dir/leaves.h"
#include "runs/ledger/store.h"

struct copying {
	struct ledger *ledger;
	struct str id, generation;
	struct report *r;
	bool ok;
};

static void bind_known(sqlite3_stmt *s, int at, uint64_t number, bool known)
{
	if (known)
		(void)sqlite3_bind_int64(s, at, (sqlite3_int64)number);
	else
		(void)sqlite3_bind_null(s, at);
}

static bool add_leaf(void *data, const struct leaf_line *line)
{
	struct copying *c = data;
	const struct leaf_record *r = &line->record;
	bool start = line->kind == LEAF_START;

	if (!start && line->kind != LEAF_EXIT)
		return true;
	sqlite3_stmt *s = ledger_use(c->ledger, start ? LEDGER_LEAF_START : LEDGER_LEAF_EXIT, c->r);
	if (!s)
		return c->ok = false;
	ledger_bind_str(s, 1, c->id);
	ledger_bind_str(s, 2, c->generation);
	ledger_bind_str(s, 3, line->path);
	(void)sqlite3_bind_int64(s, 4, (sqlite3_int64)r->number);
	if (start) {
		bind_known(s, 5, (uint64_t)r->pid, r->pid > 0);
		bind_known(s, 6, r->pid_start, r->pid > 0);
	} else {
		(void)sqlite3_bind_int64(s, 5, r->code);
		(void)sqlite3_bind_int64(s, 6, r->signal);
		(void)sqlite3_bind_int64(s, 8, (sqlite3_int64)r->out_bytes);
		(void)sqlite3_bind_int64(s, 9, (sqlite3_int64)r->err_bytes);
	}
	(void)sqlite3_bind_int64(s, 7, (sqlite3_int64)line->ts);
	return c->ok = ledger_step(c->ledger, s, "record a leaf", c->r);
}

bool ledger_add_leaves(struct ledger *l, struct str id, struct str generation,
	const char *leaves_file, struct report *r)
{
	struct copying c = { l, id, generation, r, true };

	if (!ledger_begin(l, false, r))
		return false;
	int e = leaf_lines_each(leaves_file, add_leaf, &c);
	if (e < 0)
		c.ok = report_errno(r, -e, "cannot read %s", leaves_file);
	if (c.ok)
		return ledger_commit(l, r);
	ledger_rollback(l);
	return false;
}
