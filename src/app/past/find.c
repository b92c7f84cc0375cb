#include "app/past/find.h"

#include <inttypes.h>

#include "app/runs.h"
#include "base/near.h"
#include "base/number.h"
#include "base/run-status.h"
#include "runs/dir/generations.h"
#include "runs/dir/open.h"
#include "runs/dir/run-dir.h"
#include "runs/look/gap.h"

enum { PREFIX_MIN = 4, CANDIDATES = 5, TOMBSTONE_MAX = 1 << 20 };

/* -- there is none -------------------------------------------------------------------------------
 */

/* A row's texts are gone with it: the best so far is kept. */
struct guess {
	struct near near;
	struct arena *arena;
};

static bool offer(void *data, const struct run_row *row)
{
	struct guess *g = data;
	const char *before = g->near.best.p;

	if (!str_eq(row->status, S(STATUS_STARTING)))
		near_offer(&g->near, row->id);
	if (g->near.best.p != before)
		g->near.best = arena_str(g->arena, g->near.best);
	return true;
}

static bool refuse_archived(struct app *a, struct str id, struct report *r)
{
	AUTO_BUF tombstone = BUF_INIT;

	struct str dir = run_directory(&a->arena, app_state_root(a), id);
	(void)run_read(dir.p, TOMBSTONE_FILE, TOMBSTONE_MAX, &tombstone);
	AUTO_JSON *archived = json_loadb(buf_cstr(&tombstone), tombstone.len, 0, NULL);
	struct str where = json_text_of(archived, "where");
	if (!where.len)
		return true;
	report_refuse(r, id, "no such run", "there is no run '%.*s'", STR(id));
	report_hint(r, "it was archived: look in %.*s", STR(where));
	return false;
}

/* There was one: it was archived, or the ledger knows it, and that is all that there is. */
static bool refuse_lost(struct app *a, struct ledger *l, struct str id, struct report *r)
{
	AUTO_REPORT ignored = REPORT_INIT;
	struct run_row row;

	if (!refuse_archived(a, id, r))
		return false;
	/* Of a start that came to nothing only the row may be left, on a disk that is full. */
	if (!l || !ledger_find(l, id, &a->arena, &row, &ignored) ||
		str_eq(row.status, S(STATUS_STARTING)))
		return true;
	report_refuse(r, id, "directory gone", "the directory of run '%.*s' is gone: %.*s", STR(id),
		STR(run_directory(&a->arena, app_state_root(a), id)));
	report_action(r, ACTION_FORGET_GONE, S(""));
	return false;
}

static bool refuse_unknown(struct app *a, struct str id, struct report *r)
{
	struct guess guess = { .near = near_to(id), .arena = &a->arena };
	AUTO_REPORT ignored = REPORT_INIT;

	report_refuse(r, id, "no such run", "there is no run '%.*s'", STR(id));
	if (a->ledger)
		(void)ledger_list(a->ledger, NULL, offer, &guess, &ignored);
	struct str best = near_best(&guess.near);
	if (best.len)
		return report_hint(r, "did you mean '%.*s'?", STR(best));
	return report_action(r, ACTION_LIST_RUNS, S(""));
}

/* -- which one is meant --------------------------------------------------------------------------
 */

/* The session that started a run has it to itself; a caller without a session is the operator. */
static bool may_see(const struct app *a, struct str owner)
{
	return !a->owner.len || !owner.len || str_eq(owner, a->owner);
}

/* What a list is asked for: the newest, or all that begin with a word. */
struct choice {
	struct app *app;
	struct buf *id;   /* of the first */
	struct buf names; /* of the first few, for a refusal */
	size_t count;
	bool first; /* no more than one is wanted */
};

static bool choose(void *data, const struct run_entry *e)
{
	struct choice *c = data;

	if (!may_see(c->app, e->owner))
		return true;
	if (!c->count)
		buf_add(c->id, e->id);
	if (c->count < CANDIDATES)
		buf_printf(&c->names, "%s%.*s", c->count ? ", " : "", STR(e->id));
	else if (c->count == CANDIDATES)
		buf_adds(&c->names, ", …");
	c->count++;
	return !c->first;
}

static void choose_again(void *data)
{
	struct choice *c = data;

	c->count = 0;
	buf_reset(c->id);
	buf_reset(&c->names);
}

static bool find_latest(struct app *a, struct str recipe, struct buf *id, struct report *r)
{
	struct choice c = { .app = a, .id = id, .first = true };
	size_t errors = r->errors;

	runs_each(a, &(struct run_filter){ .recipe = recipe }, choose, choose_again, &c, r);
	buf_done(&c.names);
	if (c.count || r->errors > errors)
		return c.count > 0;
	if (recipe.len)
		report_refuse(r, S(""), "no such run", "there is no run of the recipe '%.*s'",
			STR(recipe));
	else
		report_refuse(r, S(""), "no such run", "there is no run yet");
	return report_action(r, ACTION_LIST_RUNS, S(""));
}

/* False without an issue: no id begins so. */
static bool find_prefix(struct app *a, struct str word, struct buf *id, struct report *r)
{
	struct choice c = { .app = a, .id = id };

	runs_each(a, &(struct run_filter){ .prefix = word }, choose, choose_again, &c, r);
	if (c.count && word.len < PREFIX_MIN) {
		report_refuse(r, word, "no such run", "there is no run '%.*s'", STR(word));
		report_hint(r, "the beginning of an id is enough from %d characters on: %s",
			PREFIX_MIN, buf_cstr(&c.names));
		c.count = 0;
	} else if (c.count > 1) {
		report_refuse(r, word, "ambiguous", "%zu runs begin with '%.*s': %s", c.count,
			STR(word), buf_cstr(&c.names));
		report_hint(r, "more characters, until one is meant");
	}
	buf_done(&c.names);
	return c.count == 1;
}

bool find_id(struct app *a, struct str id, struct run_look *ret, struct report *r)
{
	struct ledger *ledger = app_ledger(a, r);
	size_t errors = r->errors;

	if (look_with(app_state_root(a), ledger, a->kept, id, ret, r))
		return true;
	return r->errors == errors && refuse_lost(a, ledger, id, r) && refuse_unknown(a, id, r);
}

/* The id that `word` names, and the run as it is now. */
static bool find_current(struct app *a, struct str word, struct run_look *ret, struct report *r)
{
	struct ledger *ledger = app_ledger(a, r);
	AUTO_BUF id = BUF_INIT;
	size_t errors = r->errors;

	if (str_eq(word, S("latest")) || str_starts(word, S("latest:")))
		return find_latest(a, str_from(word, MIN(word.len, strlen("latest:"))), &id, r) &&
		       find_id(a, buf_str(&id), ret, r);
	if (!run_id_check(word, r))
		return false;
	if (look_with(app_state_root(a), ledger, a->kept, word, ret, r))
		return true;
	if (r->errors > errors || !refuse_lost(a, ledger, word, r))
		return false;
	if (find_prefix(a, word, &id, r)) {
		look_done(ret);
		return find_id(a, buf_str(&id), ret, r);
	}
	return r->errors > errors ? false : refuse_unknown(a, word, r);
}

static bool refuse_generation(
	const struct run_look *look, uint64_t back, size_t count, struct report *r)
{
	report_refuse(r, look->id, "no such run", "run '%.*s' has no generation ~%" PRIu64,
		STR(look->id), back);
	if (count)
		return report_hint(r, "the oldest that is left is %.*s~%zu", STR(look->id), count);
	return report_hint(r, "no earlier one of that name is left");
}

/* ID~N of the run that has been found. */
static bool go_back(struct app *a, uint64_t back, struct run_look *look, struct report *r)
{
	struct run_look earlier;
	size_t errors = r->errors, count = 0;

	if (!back)
		return true;
	if (!look_back(app_state_root(a), look->run, back, &earlier, r)) {
		look_done(&earlier);
		int e = r->errors > errors ? 0 : generations_count(look->dir.p, &count);
		if (e < 0)
			report_errno(r, -e, "cannot read %.*s/" GENERATIONS_DIR, STR(look->dir));
		return r->errors > errors ? false : refuse_generation(look, back, count, r);
	}
	look_done(look);
	*look = earlier;
	return true;
}

void find_tell_missing(struct app *a, struct report *r)
{
	AUTO_BUF text = BUF_INIT;

	if (!look_lost(app_state_root(a)))
		return;
	buf_printf(&text, "the ledger %.*s/ledger.db is missing", STR(app_state_root(a)));
	/* A request may look for several runs, and then start one. */
	vec_each (i, &r->issues)
		if (str_eq(i->message, buf_str(&text)))
			return;
	report_warning(r, (struct where){ 0 }, "%s", buf_cstr(&text));
	report_action(r, ACTION_REBUILD, S(""));
}

static bool find_any(struct app *a, const char *operand, struct run_look *ret, struct report *r)
{
	struct str word = run_id_of(str_of(operand));
	size_t tilde = str_find(word, '~', 0);
	uint64_t back = 0;

	*ret = (struct run_look){ 0 };
	if (!app_root_is_ours(a, r))
		return false;
	if (tilde == word.len)
		return find_current(a, word, ret, r);
	if (!str_to_uint(str_from(word, tilde + 1), &back)) {
		report_error(r, (struct where){ 0 }, "'%.*s' is not a name for a run", STR(word));
		return report_hint(r, "ID~1 is the generation before the current one of ID");
	}
	word = str_sub(word, 0, tilde);
	if (str_eq(word, S("latest")) || str_starts(word, S("latest:"))) {
		report_error(r, (struct where){ 0 },
			"'%.*s~%" PRIu64 "' does not name a run: ~ counts the generations of an id",
			STR(word), back);
		return report_action(r, ACTION_LIST_RUNS, S(""));
	}
	return find_current(a, word, ret, r) && go_back(a, back, ret, r);
}

bool find_any_run(struct app *a, const char *operand, struct run_look *ret, struct report *r)
{
	bool found = find_any(a, operand, ret, r);

	/* One that cannot be used was reported where it was opened. */
	if (found && !a->ledger)
		find_tell_missing(a, r);
	return found;
}

bool find_again(struct app *a, const struct run_look *look, struct run_look *ret, struct report *r)
{
	AUTO_REPORT ignored = REPORT_INIT;
	struct str root = app_state_root(a);
	size_t errors = r->errors;
	bool found = look->back
			     ? look_back(root, look->run, look->back, ret, r)
			     : look_with(root, app_ledger(a, &ignored), a->kept, look->run, ret, r);

	/* Another one that has the name now is not this one. */
	if (found && (!look->generation.len || str_eq(ret->generation, look->generation)))
		return true;
	look_done(ret);
	return r->errors == errors && refuse_gone(look->id, r);
}

bool find_is_current(const struct run_look *look, const char *doing, struct report *r)
{
	if (!look->back)
		return true;
	return report_refuse(r, look->id, "earlier generation",
		"'%.*s' is an earlier generation of run '%.*s' and cannot be %s", STR(look->id),
		STR(look->run), doing);
}

/* -- may the caller? -----------------------------------------------------------------------------
 */

static bool check_owner(const struct app *a, const struct run_look *look, struct report *r)
{
	struct str owner = look->row.owner;

	if (may_see(a, owner))
		return true;
	report_refuse(r, look->id, "session_mismatch",
		"run '%.*s' belongs to session '%.*s' and this is session '%.*s'", STR(look->id),
		STR(owner), STR(a->owner));
	return report_hint(r,
		"reason=session_mismatch; ask from the session that started it, or without "
		"ROUX_OWNER");
}

bool find_run(struct app *a, const char *operand, struct run_look *ret, struct report *r)
{
	return find_any_run(a, operand, ret, r) && check_owner(a, ret, r);
}

bool look_embedded(const struct run_look *look)
{
	return json_is_true(json_object_get(look->start, "embedded"));
}
