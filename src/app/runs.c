#include "app/runs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/near.h"
#include "base/path.h"
#include "base/plain-text.h"
#include "base/run-status.h"
#include "base/utf8.h"
#include "base/width.h"
#include "recipe/dirs.h"
#include "runs/dir/run-dir.h"
#include "runs/look/gap.h"
#include "runs/look/rebuild.h"

/* What is wrong with a ledger harms nobody who can read the directories. */
static void warn_of(const struct report *issues, struct report *r)
{
	vec_each (i, &issues->issues) {
		report_warning(r, (struct where){ 0 }, "%.*s", STR(i->message));
		report_hint(r, "%.*s", STR(i->hint));
	}
}

void runs_open(struct runs *s, struct arena *a, struct report *r)
{
	struct recipe_dirs dirs = recipe_dirs_find(a, NULL, NULL);

	runs_open_at(s, a, path_absolute(a, runs_root(a, dirs.agent)), r);
}

void runs_open_at(struct runs *s, struct arena *a, struct str root, struct report *r)
{
	AUTO_REPORT issues = REPORT_INIT;

	*s = (struct runs){ .arena = a, .root = root, .caller = str_of(getenv("ROUX_OWNER")) };
	s->ledger = ledger_open_existing(s->root, &issues);
	warn_of(&issues, r);
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
		(void)ledger_list(s->ledger, NULL, offer, &guess, &ignored);
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
	return report_hint(r,
		"reason=session_mismatch; ask from the session that started it, or without "
		"ROUX_OWNER");
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

/* Ten thousand runs are listed in a few milliseconds, so what is written for each of them is
 * written by hand: printf() alone would take as long as all the rest. */

enum { ID_COLUMNS = 42, STATUS_COLUMNS = 9, AGE_COLUMNS = 11 };

struct listing {
	struct runs *s;
	struct buf *b;
	bool json, any;
	size_t from; /* of the list in `b` */
	uint64_t now_ms;
};

static void add_number(struct buf *b, uint64_t n)
{
	char text[24];
	size_t at = sizeof(text);

	do {
		text[--at] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	buf_add(b, (struct str){ text + at, sizeof(text) - at });
}

static void time_member(struct listing *l, struct str name, uint64_t ms)
{
	buf_add(l->b, name);
	if (!ms) {
		buf_add(l->b, S("null"));
		return;
	}
	buf_addc(l->b, '"');
	clock_rfc3339(l->b, ms);
	buf_addc(l->b, '"');
}

static uint64_t took_ms(const struct run_row *row, uint64_t now_ms)
{
	uint64_t end = row->ended ? row->ended : now_ms;

	return row->started && end > row->started ? end - row->started : 0;
}

static void entry_json(struct listing *l, const struct run_row *row)
{
	struct buf *b = l->b;

	buf_add(b, l->any ? S(",\n{\"run\":") : S("{\"run\":"));
	json_write_str(b, row->id);
	buf_add(b, S(",\"recipe\":"));
	json_write_str_or_null(b, row->recipe);
	buf_add(b, S(",\"status\":"));
	json_write_str(b, row->status);
	time_member(l, S(",\"started\":"), row->started);
	time_member(l, S(",\"ended\":"), row->ended);
	buf_add(b, S(",\"ms\":"));
	add_number(b, took_ms(row, l->now_ms));
	buf_add(b, S(",\"owner\":"));
	json_write_str_or_null(b, row->owner);
	buf_add(b, row->detached ? S(",\"detached\":true}") : S(",\"detached\":false}"));
}

/* Nearly every text here is plain; others were written by whoever made the ledger. */
static void padded(struct buf *b, struct str text, size_t width)
{
	static const char blanks[] = "                                            ";
	size_t from = b->len, used = 0;

	while (used < text.len && text.p[used] >= ' ' && text.p[used] <= '~')
		used++;
	if (used == text.len) {
		buf_add(b, text);
	} else {
		text_plain(b, text);
		used = width_text(str_from(buf_str(b), from));
	}
	size_t fill = (used < width ? width - used : 0) + 2;
	buf_add(b, (struct str){ blanks, MIN(fill, sizeof(blanks) - 1) });
}

/* How long ago, in one unit: people want to know whether it was this one. */
static void add_age(struct buf *b, uint64_t ms)
{
	static const struct {
		uint64_t ms;
		struct str name;
	} units[] = { { 86400000, { " d ago", 6 } }, { 3600000, { " h ago", 6 } },
		{ 60000, { " min ago", 8 } }, { 1000, { " s ago", 6 } } };
	size_t i = 0;

	while (i + 1 < ARRAY_SIZE(units) && ms < units[i].ms)
		i++;
	add_number(b, ms / units[i].ms);
	buf_add(b, units[i].name);
}

static void entry_text(struct listing *l, const struct run_row *row)
{
	struct buf *b = l->b;

	if (!l->any)
		buf_printf(b, "%-*s  %-*s  %-*s  TOOK\n", ID_COLUMNS, "RUN", STATUS_COLUMNS,
			"STATUS", AGE_COLUMNS, "STARTED");
	padded(b, row->id, ID_COLUMNS);
	padded(b, row->status, STATUS_COLUMNS);
	size_t from = b->len;
	if (row->started)
		add_age(b, l->now_ms > row->started ? l->now_ms - row->started : 0);
	padded(b, S(""), AGE_COLUMNS - MIN(b->len - from, (size_t)AGE_COLUMNS));
	clock_duration(b, took_ms(row, l->now_ms));
	buf_addc(b, '\n');
}

static void list_one(struct listing *l, const struct run_row *row)
{
	if (l->json)
		entry_json(l, row);
	else
		entry_text(l, row);
	l->any = true;
}

/* Only of a run that should be alive can the ledger be wrong. */
static void list_doubtful(struct listing *l, struct str id)
{
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_LOOK look = { 0 };

	if (look_at(l->s->root, l->s->ledger, id, &look, &ignored))
		list_one(l, &look.row);
}

static bool list_row(void *data, const struct run_row *row)
{
	if (status_is_end(row->status))
		list_one(data, row);
	else
		list_doubtful(data, row->id);
	return true;
}

typedef bool row_fn(void *data, const struct run_row *row);

struct counted {
	row_fn *see;
	void *data;
	size_t count;
};

static bool count_row(void *data, const struct run_row *row)
{
	struct counted *c = data;

	c->count++;
	return c->see(c->data, row);
}

/* Without a ledger, and with one that lacks some, every directory has to be opened. */
struct directories {
	struct runs *s;
	struct arena arena;
	VEC(struct run_row) rows;
	struct map known; /* id → anything, of the ledger */
	struct report *r;
};

static bool add_directory(void *data, struct str id)
{
	struct directories *d = data;
	struct run_row row;

	if (!map_get(&d->known, id) && look_row(d->s->root, id, &d->arena, &row, d->r))
		vec_push(&d->rows, row);
	return true;
}

/* A row of the ledger, with the texts that ledger_list() fills. */
static bool add_known(void *data, const struct run_row *row)
{
	struct directories *d = data;
	struct run_row own = *row;
	struct str *const texts[] = { &own.id, &own.recipe, &own.status, &own.owner };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		*texts[i] = arena_str(&d->arena, *texts[i]);
	vec_push(&d->rows, own);
	*map_put(&d->known, &d->arena, own.id) = d;
	return true;
}

static int newest_first(const void *a, const void *b)
{
	const struct run_row *x = a, *y = b;

	if (x->started != y->started)
		return x->started > y->started ? -1 : 1;
	return -str_cmp(x->id, y->id);
}

/* Says how many runs the ledger lacks. When it lacks none any more that is written down. */
static void tell_gap(struct directories *d, size_t known)
{
	AUTO_REPORT ignored = REPORT_INIT;
	size_t lacking = d->rows.len - known;

	if (!lacking) {
		if (ledger_has_gap(d->s->ledger))
			(void)ledger_set_gap(d->s->ledger, false, &ignored);
		return;
	}
	if (known)
		report_warning(d->r, (struct where){ 0 },
			"the ledger %.*s/ledger.db lacks %zu run%s", STR(d->s->root), lacking,
			lacking == 1 ? "" : "s");
	else
		report_warning(d->r, (struct where){ 0 }, "the ledger %.*s/ledger.db is empty",
			STR(d->s->root));
	report_hint(d->r, "`roux doctor --rebuild` makes it anew from the run directories");
}

static void each_directory(struct runs *s, row_fn *see, void *data, struct report *r)
{
	struct directories d = { .s = s, .r = r };
	AUTO_REPORT ignored = REPORT_INIT;

	if (s->ledger)
		(void)ledger_list(s->ledger, NULL, add_known, &d, &ignored);
	size_t known = d.rows.len;
	int e = look_each_directory(s->root, add_directory, &d);
	if (e < 0)
		report_errno(r, -e, "cannot read %.*s/runs", STR(s->root));
	else if (s->ledger)
		tell_gap(&d, known);
	if (d.rows.len)
		qsort(d.rows.at, d.rows.len, sizeof(*d.rows.at), newest_first);
	vec_each (row, &d.rows)
		if (!see(data, row))
			break;
	vec_done(&d.rows);
	arena_done(&d.arena);
}

/* `restart` takes back what was seen of a ledger that broke off. */
static void each_run(
	struct runs *s, row_fn *see, void (*restart)(void *data), void *data, struct report *r)
{
	AUTO_REPORT broken = REPORT_INIT;
	struct counted c = { see, data, 0 };

	if (s->ledger && look_gap(s->root, s->ledger)) {
		each_directory(s, see, data, r);
		return;
	}
	if (s->ledger && !ledger_list(s->ledger, NULL, count_row, &c, &broken)) {
		warn_of(&broken, r);
		restart(data);
		ledger_close(s->ledger);
		s->ledger = NULL;
		c.count = 0;
	}
	if (!c.count)
		each_directory(s, see, data, r);
}

static void list_again(void *data)
{
	struct listing *l = data;

	buf_truncate(l->b, l->from);
	l->any = false;
}

void runs_list(struct runs *s, bool json, struct buf *b, struct report *r)
{
	struct listing l = { .s = s, .b = b, .json = json, .now_ms = clock_real_ms() };

	if (json)
		buf_adds(b, "{\"runs\":[");
	l.from = b->len;
	each_run(s, list_row, list_again, &l, r);
	if (json)
		buf_adds(b, "]}\n");
	else if (!l.any && !r->errors)
		buf_adds(b, "No runs yet. `roux run RECIPE` makes one.\n");
}

struct ids {
	struct buf *b;
	size_t from;
};

static bool add_id(void *data, const struct run_row *row)
{
	const struct ids *ids = data;

	buf_add(ids->b, row->id);
	buf_addc(ids->b, '\n');
	return true;
}

static void ids_again(void *data)
{
	const struct ids *ids = data;

	buf_truncate(ids->b, ids->from);
}

void runs_ids(struct runs *s, struct buf *b)
{
	AUTO_REPORT ignored = REPORT_INIT;
	struct ids ids = { b, b->len };

	each_run(s, add_id, ids_again, &ids, &ignored);
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
