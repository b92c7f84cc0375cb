#include <inttypes.h>

#include "app/past/all-runs.h"
#include "app/past/find.h"
#include "app/runs.h"
#include "base/clock.h"
#include "base/run-status.h"
#include "runs/look/gap.h"
#include "runs/look/rebuild.h"

/* What is asked of the list, and how far it has come. */
struct listing {
	struct app *app;
	struct run_filter filter;
	run_fn *see;
	void *data;
	uint64_t now_ms;
	size_t rows, told;
	bool behind; /* the cursor of the filter; the ledger begins there by itself */
	struct report *r;
};

static bool fits(const struct run_filter *f, const struct run_row *row)
{
	return (!f->owner.len || str_eq(f->owner, row->owner)) &&
	       (!f->status.len || status_listed(f->status, row->status)) &&
	       (!f->recipe.len || str_eq(f->recipe, row->recipe)) &&
	       (!f->prefix.len || str_starts(row->id, f->prefix)) &&
	       str_contains(row->id, f->match) &&
	       (!f->any.len || str_contains(row->id, f->any) ||
		       str_contains(row->recipe, f->any)) &&
	       (!f->detached || row->detached == (f->detached > 0)) &&
	       row->started >= f->since_ms && (!f->until_ms || row->started <= f->until_ms) &&
	       (!f->failures || run_row_has_failures(row)) && (f->generations || !row->back);
}

/* A directory that the ledger lacks has no number: the others show where the cursor is. */
static bool is_behind(struct listing *l, const struct run_row *row)
{
	if (l->behind)
		return true;
	l->behind = row->seq && row->seq <= l->filter.before;
	return l->behind && row->seq < l->filter.before;
}

static bool tell(struct listing *l, const struct run_row *row)
{
	uint64_t end = row->ended ? row->ended : l->now_ms;
	AUTO_BUF name = BUF_INIT;

	if (!is_behind(l, row) || !fits(&l->filter, row))
		return true;
	if (row->back)
		buf_printf(&name, "%.*s~%" PRIu64, STR(row->id), row->back);
	const struct run_entry e = {
		.id = row->back ? buf_str(&name) : row->id,
		.recipe = row->recipe,
		.status = row->status,
		.owner = row->owner,
		.launch = row->launch,
		.started = row->started,
		.ended = row->ended,
		.ms = row->started && end > row->started ? end - row->started : 0,
		.detached = row->detached,
		.failed = row->failed,
		.tolerated = row->tolerated,
		.exit = row->counted ? row->exit : -1,
		.cursor = row->seq,
	};

	l->told++;
	return l->see(l->data, &e) && l->told != l->filter.limit;
}

/* The row is what the ledger knows. */
static bool tell_unseen(struct listing *l, const struct run_row *row, const struct report *why)
{
	app_warn(why, l->r);
	report_hint(l->r, "its status is what the ledger has");
	return tell(l, row);
}

/* Only of a run that should be alive can the ledger be wrong; of one that ended before it counted
 * failures it lacks something. */
static bool tell_row(void *data, const struct run_row *row)
{
	struct listing *l = data;
	AUTO_REPORT found = REPORT_INIT;
	AUTO_LOOK look = { 0 };
	struct str root = app_state_root(l->app);

	l->rows++;
	if (status_is_end(row->status) && row->counted)
		return tell(l, row);
	if (!(row->back ? look_back(root, row->id, row->back, &look, &found)
			: look_at(root, l->app->ledger, row->id, &look, &found)))
		return found.errors ? tell_unseen(l, row, &found) : true;
	look.row.id = row->id;
	look.row.seq = row->seq;
	look.row.back = row->back;
	return tell(l, &look.row);
}

/* -- without a ledger, and with one that lacks some ----------------------------------------------
 */

static void each_directory(struct listing *l, struct report *r)
{
	struct all_runs all = { 0 };

	l->behind = !l->filter.before;
	(void)all_runs_find(l->app, &all, r);
	vec_each (row, &all.rows)
		if (!tell(l, row))
			break;
	if (all.left_out)
		report_warning(r, (struct where){ 0 },
			"%zu older run%s not listed: without the ledger only the newest %u are",
			all.left_out, all.left_out == 1 ? " is" : "s are", l->app->directories_max);
	all_runs_done(&all);
}

/* What the ledger can see to. A status it may not know, and so neither the number of those. */
static struct ledger_filter filter_of(const struct run_filter *f)
{
	return (struct ledger_filter){ .owner = f->owner,
		.status = f->status,
		.recipe = f->recipe,
		.prefix = f->prefix,
		.match = f->match,
		.since = f->since_ms,
		.until = f->until_ms,
		.any = f->any,
		.detached = f->detached,
		.limit = f->status.len || f->failures ? 0 : f->limit,
		.before = f->before,
		.failures = f->failures,
		.generations = f->generations };
}

/* Whether the ledger has told of none because there is none, and not because of the filter. */
static bool is_plain(const struct run_filter *f)
{
	return !f->before && !f->owner.len && !f->status.len && !f->recipe.len && !f->prefix.len &&
	       !f->match.len && !f->any.len && !f->detached && !f->failures && !f->since_ms &&
	       !f->until_ms;
}

/* A host that waits for less than a minute says so instead of opening every directory. */
static bool refuse_held(const struct app *a, const struct report *found, struct report *r)
{
	if (!a->ledger_wait_ms || !report_is_held(found))
		return true;
	vec_each (i, &found->issues)
		if (i->held) {
			report_system(r, (struct where){ 0 }, "%.*s", STR(i->message));
			report_advise(r, i);
			report_held(r);
		}
	return false;
}

bool runs_can_be_listed(struct app *a, struct report *r)
{
	AUTO_REPORT found = REPORT_INIT;
	struct ledger *l = app_ledger(a, &found);

	if (l)
		(void)ledger_is_readable(l, &found);
	return refuse_held(a, &found, r);
}

void runs_each(struct app *a, const struct run_filter *f, run_fn *see, void (*restart)(void *data),
	void *data, struct report *r)
{
	struct listing l = { .app = a,
		.see = see,
		.data = data,
		.now_ms = clock_real_ms(),
		.behind = true,
		.r = r };
	AUTO_REPORT broken = REPORT_INIT;
	struct ledger *ledger = app_ledger(a, &broken);

	if (!app_root_is_ours(a, r) || !refuse_held(a, &broken, r))
		return;
	report_move(r, &broken);
	if (f)
		l.filter = *f;
	if (ledger)
		ledger_take_news(ledger, r);
	if (ledger && look_gap_counted(a->root, ledger)) {
		each_directory(&l, r);
		return;
	}
	struct ledger_filter filter = filter_of(&l.filter);
	if (ledger && !ledger_list(ledger, &filter, tell_row, &l, &broken)) {
		if (!refuse_held(a, &broken, r))
			return;
		app_warn(&broken, r);
		if (restart)
			restart(data);
		app_drop_ledger(a);
		l.rows = l.told = 0;
	}
	if (!l.rows && (!ledger || !a->ledger || is_plain(&l.filter)))
		each_directory(&l, r);
}

/* -- counts --------------------------------------------------------------------------------------
 */

static void add_count(void *data, struct str status, uint64_t count)
{
	struct runs_counted *n = data;
	enum roux_status s;

	n->all += count;
	if (str_eq(status, S(STATUS_STARTING)))
		n->by_status[ROUX_RUNNING] += count;
	else if (status_read(status, &s))
		n->by_status[s] += count;
}

bool runs_count(struct app *a, struct runs_counted *ret, struct report *r)
{
	struct ledger *l = app_ledger(a, r);

	*ret = (struct runs_counted){ 0 };
	return l && ledger_count_statuses(l, add_count, ret, r);
}

uint64_t runs_version(struct app *a)
{
	AUTO_REPORT ignored = REPORT_INIT;
	struct ledger *l = app_ledger(a, &ignored);

	return l ? ledger_version(l) : 0;
}

/* -- the document --------------------------------------------------------------------------------
 */

/* What is written for each run is written by hand: printf() alone would take as long as all the
 * rest. */
struct document {
	struct buf *b;
	size_t from; /* where its runs begin in `b` */
};

static void time_member(struct buf *b, struct str name, uint64_t ms)
{
	buf_add(b, name);
	if (!ms) {
		buf_add(b, S("null"));
		return;
	}
	buf_addc(b, '"');
	clock_rfc3339(b, ms);
	buf_addc(b, '"');
}

static bool add_entry(void *data, const struct run_entry *e)
{
	const struct document *d = data;
	struct buf *b = d->b;

	buf_add(b, b->len > d->from ? S(",\n{\"run\":") : S("{\"run\":"));
	json_write_str(b, e->id);
	buf_add(b, S(",\"recipe\":"));
	json_write_str_or_null(b, e->recipe);
	buf_add(b, S(",\"status\":"));
	json_write_str(b, e->status);
	time_member(b, S(",\"started\":"), e->started);
	time_member(b, S(",\"ended\":"), e->ended);
	buf_add(b, S(",\"ms\":"));
	buf_add_number(b, e->ms, 1);
	buf_add(b, S(",\"owner\":"));
	json_write_str_or_null(b, e->owner);
	buf_add(b, e->detached ? S(",\"detached\":true") : S(",\"detached\":false"));
	buf_add(b, S(",\"failed\":"));
	buf_add_number(b, e->failed, 1);
	buf_add(b, S(",\"tolerated\":"));
	buf_add_number(b, e->tolerated, 1);
	if (e->exit < 0) {
		buf_add(b, S(",\"exit\":null}"));
		return true;
	}
	buf_add(b, S(",\"exit\":"));
	buf_add_number(b, (uint64_t)e->exit, 1);
	buf_addc(b, '}');
	return true;
}

static void begin_again(void *data)
{
	const struct document *d = data;

	buf_truncate(d->b, d->from);
}

void runs_list_document(struct app *a, const struct run_filter *f, struct buf *b, struct report *r)
{
	struct document d = { .b = b };

	buf_adds(b, "{\"runs\":[");
	d.from = b->len;
	runs_each(a, f, add_entry, begin_again, &d, r);
	buf_adds(b, "]}\n");
}

bool runs_rebuild(struct app *a, struct runs_rebuilt *ret, struct report *r)
{
	struct rebuilt made;

	if (!app_may_record(a, r) || !ledger_rebuild(app_state_root(a), &made, r))
		return false;
	*ret = (struct runs_rebuilt){ made.runs, made.skipped };
	return true;
}
