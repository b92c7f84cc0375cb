#include "app/runs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/near.h"
#include "base/utf8.h"
#include "base/width.h"
#include "recipe/dirs.h"
#include "render/live-text.h"
#include "runs/place.h"
#include "runs/rebuild.h"

void runs_open(struct runs *s, struct arena *a, struct report *r)
{
	struct recipe_dirs dirs = recipe_dirs_find(a, NULL, NULL);
	AUTO_REPORT issues = REPORT_INIT;

	*s = (struct runs){ .arena = a, .caller = str_of(getenv("ROUX_OWNER")) };
	s->root = path_absolute(a, runs_root(a, dirs.agent));
	s->ledger = ledger_open_existing(s->root, &issues);
	vec_each (i, &issues.issues) {
		report_warning(r, (struct where){ 0 }, "%.*s", STR(i->message));
		report_hint(r, "%.*s", STR(i->hint));
	}
}

void runs_close(struct runs *s)
{
	ledger_close(s->ledger);
	s->ledger = NULL;
}

/* -- one -----------------------------------------------------------------------------------------
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

	near_offer(&g->near, row->id);
	if (g->near.best.p != before)
		g->near.best = arena_str(g->arena, g->near.best);
	return true;
}

static bool refuse_unknown(struct runs *s, struct str id, struct report *r)
{
	struct guess guess = { .near = near_to(id), .arena = s->arena };
	AUTO_REPORT ignored = REPORT_INIT;

	report_error(r, (struct where){ 0 }, "there is no run '%.*s'", STR(id));
	AUTO_JSON *archived =
		json_load_file(arena_printf(s->arena, "%.*s/runs/%.*s/archive-tombstone.json",
				       STR(s->root), STR(id))
				       .p,
			0, NULL);
	struct str where = look_text(archived, "where");
	if (where.len)
		return report_hint(r, "it was archived: look in %.*s", STR(where));
	if (s->ledger)
		(void)ledger_list(s->ledger, offer, &guess, &ignored);
	struct str best = near_best(&guess.near);
	if (best.len)
		return report_hint(r, "did you mean '%.*s'?", STR(best));
	return report_hint(r, "`roux runs` lists them");
}

/* The session that started a run has it to itself; who has no session is the operator. */
static bool check_owner(
	const struct runs *s, const struct run_look *look, const char **reason, struct report *r)
{
	struct str owner = look->row.owner;

	if (!s->caller.len || !owner.len || str_eq(owner, s->caller))
		return true;
	*reason = "session_mismatch";
	report_error(r, (struct where){ 0 },
		"run '%.*s' belongs to session '%.*s' and this is session '%.*s'", STR(look->id),
		STR(owner), STR(s->caller));
	return report_hint(r, "ask from the session that started it, or without ROUX_OWNER");
}

bool runs_find(struct runs *s, const char *operand, struct run_look *ret, const char **reason,
	struct report *r)
{
	struct str id = run_id_of(str_of(operand));
	size_t errors = r->errors;

	*reason = NULL;
	*ret = (struct run_look){ 0 };
	if (!run_id_check(id.p, r))
		return false;
	if (!look_at(s->root, s->ledger, id, ret, r)) {
		if (r->errors > errors)
			return false;
		*reason = "no such run";
		return refuse_unknown(s, id, r);
	}
	return check_owner(s, ret, reason, r);
}

void runs_refusal(struct str run, const char *reason, const struct report *r, struct buf *b)
{
	const struct issue *last = NULL;

	vec_each (i, &r->issues)
		if (i->kind != ISSUE_WARNING)
			last = i;
	buf_adds(b, "{\"ok\":false,\"status\":\"refused\",\"run\":");
	json_write_str_or_null(b, run);
	buf_adds(b, ",\"error\":");
	json_write_str(b, last ? last->message : S(""));
	buf_adds(b, ",\"reason\":");
	json_write_str(b, str_of(reason));
	buf_adds(b, ",\"hint\":");
	json_write_str_or_null(b, last ? last->hint : S(""));
	buf_adds(b, "}\n");
}

/* -- all -----------------------------------------------------------------------------------------
 */

enum { ID_COLUMNS = 42 };

struct listing {
	struct runs *s;
	struct report *r;
	struct buf *b;
	bool json, any;
	uint64_t now_ms;
};

static void time_member(struct buf *b, const char *name, uint64_t ms)
{
	buf_printf(b, ",\"%s\":", name);
	if (!ms) {
		buf_adds(b, "null");
		return;
	}
	buf_addc(b, '"');
	clock_rfc3339(b, ms);
	buf_addc(b, '"');
}

static uint64_t took_ms(const struct run_row *row, uint64_t now_ms)
{
	uint64_t end = row->ended ? row->ended : now_ms;

	return row->started && end > row->started ? end - row->started : 0;
}

static void entry_json(struct listing *l, const struct run_row *row)
{
	struct buf *b = l->b;

	buf_adds(b, l->any ? ",\n{\"run\":" : "{\"run\":");
	json_write_str(b, row->id);
	buf_adds(b, ",\"recipe\":");
	json_write_str_or_null(b, row->recipe);
	buf_adds(b, ",\"status\":");
	json_write_str(b, row->status);
	time_member(b, "started", row->started);
	time_member(b, "ended", row->ended);
	buf_printf(b, ",\"ms\":%" PRIu64 ",\"owner\":", took_ms(row, l->now_ms));
	json_write_str_or_null(b, row->owner);
	buf_printf(b, ",\"detached\":%s}", row->detached ? "true" : "false");
}

static void padded(struct buf *b, struct str text, size_t width)
{
	size_t from = b->len;

	text_plain(b, text);
	size_t used = width_text(str_from(buf_str(b), from));
	buf_fill(b, ' ', used < width ? width - used : 0);
	buf_adds(b, "  ");
}

/* How long ago, in one unit: people want to know whether it was this one. */
static void add_age(struct buf *b, uint64_t ms)
{
	static const struct {
		uint64_t ms;
		const char *name;
	} units[] = { { 86400000, "d" }, { 3600000, "h" }, { 60000, "min" }, { 1000, "s" } };

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (ms < units[i].ms && i + 1 < ARRAY_SIZE(units))
			continue;
		buf_printf(b, "%" PRIu64 " %s ago", ms / units[i].ms, units[i].name);
		return;
	}
}

static void entry_text(struct listing *l, const struct run_row *row)
{
	AUTO_BUF age = BUF_INIT;
	struct buf *b = l->b;

	if (!l->any)
		buf_printf(b, "%-*s  %-9s  %-11s  TOOK\n", ID_COLUMNS, "RUN", "STATUS", "STARTED");
	padded(b, row->id, ID_COLUMNS);
	padded(b, row->status, 9);
	if (row->started)
		add_age(&age, l->now_ms > row->started ? l->now_ms - row->started : 0);
	padded(b, buf_str(&age), 11);
	clock_duration(b, took_ms(row, l->now_ms));
	buf_addc(b, '\n');
}

static bool list_row(void *data, const struct run_row *row)
{
	struct listing *l = data;
	AUTO_LOOK look = { 0 };
	struct run_row now = *row;

	/* Only of those that should be alive can the ledger be wrong. */
	if (!look_is_end(row->status)) {
		AUTO_REPORT ignored = REPORT_INIT;

		if (!look_at(l->s->root, l->s->ledger, row->id, &look, &ignored))
			return true;
		now = look.row;
	}
	if (l->json)
		entry_json(l, &now);
	else
		entry_text(l, &now);
	l->any = true;
	return true;
}

/* Without a ledger every directory has to be opened. */
struct directories {
	struct runs *s;
	struct arena arena;
	VEC(struct run_row) rows;
	struct report *r;
};

static bool add_directory(void *data, struct str id)
{
	struct directories *d = data;
	struct run_row row;

	if (look_row(d->s->root, id, &d->arena, &row, d->r))
		vec_push(&d->rows, row);
	return true;
}

static int newest_first(const void *a, const void *b)
{
	const struct run_row *x = a, *y = b;

	if (x->started != y->started)
		return x->started > y->started ? -1 : 1;
	return -str_cmp(x->id, y->id);
}

static void each_run(struct runs *s, bool (*see)(void *data, const struct run_row *row), void *data,
	struct report *r)
{
	struct directories d = { .s = s, .r = r };

	if (s->ledger) {
		(void)ledger_list(s->ledger, see, data, r);
		return;
	}
	int e = look_each_directory(s->root, add_directory, &d);
	if (e < 0)
		report_errno(r, -e, "cannot read %.*s/runs", STR(s->root));
	if (d.rows.len)
		qsort(d.rows.at, d.rows.len, sizeof(*d.rows.at), newest_first);
	vec_each (row, &d.rows)
		if (!see(data, row))
			break;
	vec_done(&d.rows);
	arena_done(&d.arena);
}

void runs_list(struct runs *s, bool json, struct buf *b, struct report *r)
{
	struct listing l = { .s = s, .r = r, .b = b, .json = json, .now_ms = clock_real_ms() };

	if (json)
		buf_adds(b, "{\"runs\":[");
	each_run(s, list_row, &l, r);
	if (json)
		buf_adds(b, "]}\n");
	else if (!l.any && !r->errors)
		buf_adds(b, "No runs yet. `roux run RECIPE` makes one.\n");
}

static bool add_id(void *data, const struct run_row *row)
{
	struct buf *b = data;

	buf_add(b, row->id);
	buf_addc(b, '\n');
	return true;
}

void runs_ids(struct runs *s, struct buf *b)
{
	AUTO_REPORT ignored = REPORT_INIT;

	each_run(s, add_id, b, &ignored);
}

bool runs_rebuild(struct arena *a, bool json, struct buf *b, struct report *r)
{
	struct recipe_dirs dirs = recipe_dirs_find(a, NULL, NULL);
	struct rebuilt made;

	if (!ledger_rebuild(path_absolute(a, runs_root(a, dirs.agent)), &made, r))
		return false;
	if (json)
		buf_printf(
			b, "{\"ok\":true,\"runs\":%zu,\"skipped\":%zu}\n", made.runs, made.skipped);
	else
		buf_printf(b, "The ledger was made anew: %zu run%s, %zu director%s skipped.\n",
			made.runs, made.runs == 1 ? "" : "s", made.skipped,
			made.skipped == 1 ? "y" : "ies");
	return true;
}
