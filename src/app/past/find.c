#include "app/past/find.h"

#include "base/near.h"
#include "runs/dir/run-dir.h"

/* A row's texts are gone with it: the best so far is kept. */
struct guess {
	struct near near;
	struct arena *arena;
};

static bool offer(void *data, const struct run_row *row)
{
	struct guess *g = data;
	const char *before = g->near.best.p;

	near_offer(&g->near, row->id);
	if (g->near.best.p != before)
		g->near.best = arena_str(g->arena, g->near.best);
	return true;
}

static bool refuse_unknown(struct app *a, struct ledger *ledger, struct str id, struct report *r)
{
	struct guess guess = { .near = near_to(id), .arena = &a->arena };
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_BUF tombstone = BUF_INIT;

	report_refuse(r, id, "no such run", "there is no run '%.*s'", STR(id));
	buf_printf(&tombstone, "%.*s/runs/%.*s/archive-tombstone.json", STR(a->root), STR(id));
	AUTO_JSON *archived = json_load_file(buf_cstr(&tombstone), 0, NULL);
	struct str where = json_text_of(archived, "where");
	if (where.len)
		return report_hint(r, "it was archived: look in %.*s", STR(where));
	if (ledger)
		(void)ledger_list(ledger, NULL, offer, &guess, &ignored);
	struct str best = near_best(&guess.near);
	if (best.len)
		return report_hint(r, "did you mean '%.*s'?", STR(best));
	return report_action(r, ACTION_LIST_RUNS, S(""));
}

/* The session that started a run has it to itself; a caller without a session is the operator. */
static bool check_owner(const struct app *a, const struct run_look *look, struct report *r)
{
	struct str owner = look->row.owner;

	if (!a->owner.len || !owner.len || str_eq(owner, a->owner))
		return true;
	report_refuse(r, look->id, "session_mismatch",
		"run '%.*s' belongs to session '%.*s' and this is session '%.*s'", STR(look->id),
		STR(owner), STR(a->owner));
	return report_hint(r,
		"reason=session_mismatch; ask from the session that started it, or without "
		"ROUX_OWNER");
}

bool find_any_run(struct app *a, const char *operand, struct run_look *ret, struct report *r)
{
	struct ledger *ledger = app_ledger(a, r);
	struct str id = run_id_of(str_of(operand));
	size_t errors = r->errors;

	*ret = (struct run_look){ 0 };
	if (!run_id_check(id.p, r))
		return false;
	if (!look_at(app_state_root(a), ledger, id, ret, r))
		return r->errors > errors ? false : refuse_unknown(a, ledger, id, r);
	return true;
}

bool find_run(struct app *a, const char *operand, struct run_look *ret, struct report *r)
{
	return find_any_run(a, operand, ret, r) && check_owner(a, ret, r);
}

bool look_embedded(const struct run_look *look)
{
	return json_is_true(json_object_get(look->start, "embedded"));
}
