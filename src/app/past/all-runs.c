#include "app/past/all-runs.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "app/past/find.h"
#include "base/map.h"
#include "runs/dir/generations.h"
#include "runs/dir/run-dir.h"
#include "runs/look/gap.h"

struct directory {
	struct str id;
	uint64_t since; /* when it was begun, as far as its file tells without being opened */
};

struct directories {
	struct app *app;
	VEC(struct directory) found;
	struct all_runs *all; /* its rows begin with those of the ledger: … */
	size_t listed;        /* … so many */
	struct map known;     /* id → size_t, how many earlier generations the ledger has of it */
	struct report *r;
};

/* The name of a run that the ledger has lost may have been used again since. */
static bool has_all(struct directories *d, struct str id)
{
	const size_t *known = map_get(&d->known, id);
	size_t count = 0;

	return known &&
	       (generations_count(run_directory(&d->all->arena, d->app->root, id).p, &count) < 0 ||
		       count <= *known);
}

static bool find_directory(void *data, struct str id)
{
	struct directories *d = data;
	AUTO_BUF path = BUF_INIT;
	struct stat st = { 0 };

	if (has_all(d, id))
		return true;
	if (d->app->directories_max) {
		buf_add(&path, run_directory(&d->all->arena, d->app->root, id));
		buf_adds(&path, "/run.json");
		(void)lstat(buf_cstr(&path), &st);
	}
	vec_push(&d->found,
		(struct directory){ arena_str(&d->all->arena, id),
			(uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec });
	return true;
}

static int last_begun_first(const void *a, const void *b)
{
	const struct directory *x = a, *y = b;

	if (x->since != y->since)
		return x->since > y->since ? -1 : 1;
	return -str_cmp(x->id, y->id);
}

/* A host that serves others opens only the newest of them. */
static void bound(struct directories *d)
{
	size_t max = d->app->directories_max;

	if (!max || d->found.len <= max)
		return;
	qsort(d->found.at, d->found.len, sizeof(*d->found.at), last_begun_first);
	d->all->left_out = d->found.len - max;
	d->found.len = max;
}

/* The directory knows better than the ledger how many came after a generation. */
static void add_row(void *data, const struct run_row *row)
{
	struct directories *d = data;

	for (size_t i = 0; i < d->listed && map_get(&d->known, row->id); i++) {
		struct run_row *listed = &d->all->rows.at[i];

		if (!str_eq(listed->id, row->id) || !str_eq(listed->generation, row->generation))
			continue;
		listed->back = row->back;
		return;
	}
	vec_push(&d->all->rows, *row);
}

/* A row of the ledger, with the texts that ledger_list() fills. */
static bool add_known(void *data, const struct run_row *row)
{
	struct directories *d = data;
	struct run_row own = *row;
	struct str *const texts[] = { &own.id, &own.generation, &own.recipe, &own.status,
		&own.owner };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		*texts[i] = arena_str(&d->all->arena, *texts[i]);
	vec_push(&d->all->rows, own);
	d->listed++;
	void **known = map_put(&d->known, &d->all->arena, own.id);
	if (!*known)
		*known = arena_new(&d->all->arena, size_t);
	*(size_t *)*known += own.back > 0;
	return true;
}

/* One that has begun and does not have its row yet, because another process has the ledger, is not
 * lacking. Of an id that the ledger does not know the earlier ones are not counted. */
static bool is_lacking(struct directories *d, const struct run_row *row)
{
	if (map_get(&d->known, row->id))
		return !ledger_seq(d->app->ledger, row->id, row->generation);
	return !row->back && !run_is_unlisted(row->dir.p);
}

/* Says how many runs the ledger lacks. When it lacks none any more that is written down. */
static void tell_gap(struct directories *d)
{
	struct ledger *ledger = d->app->ledger;
	AUTO_REPORT ignored = REPORT_INIT;
	size_t lacking = d->all->left_out;

	for (size_t i = d->listed; i < d->all->rows.len; i++)
		lacking += is_lacking(d, &d->all->rows.at[i]);
	if (!lacking) {
		if (ledger_has_gap(ledger))
			(void)ledger_set_gap(ledger, false, &ignored);
		return;
	}
	if (d->listed)
		report_warning(d->r, (struct where){ 0 },
			"the ledger %.*s/ledger.db lacks %zu run%s", STR(d->app->root), lacking,
			lacking == 1 ? "" : "s");
	else
		report_warning(d->r, (struct where){ 0 }, "the ledger %.*s/ledger.db is empty",
			STR(d->app->root));
	report_action(d->r, ACTION_REBUILD, S(""));
}

static int newest_first(const void *a, const void *b)
{
	const struct run_row *x = a, *y = b;

	if (x->started != y->started)
		return x->started > y->started ? -1 : 1;
	return -str_cmp(x->id, y->id);
}

bool all_runs_find(struct app *a, struct all_runs *ret, struct report *r)
{
	struct directories d = { .app = a, .all = ret, .r = r };
	AUTO_REPORT ignored = REPORT_INIT;

	if (a->ledger)
		(void)ledger_list(a->ledger, &(struct ledger_filter){ .generations = true },
			add_known, &d, &ignored);
	int e = look_each_directory(a->root, find_directory, &d);
	bound(&d);
	vec_each (one, &d.found)
		(void)look_rows(a->root, one->id, &ret->arena, add_row, &d, r);
	if (e < 0)
		report_errno(r, -e, "cannot read %.*s/runs", STR(a->root));
	else if (a->ledger)
		tell_gap(&d);
	else
		find_tell_missing(a, r);
	if (ret->rows.len)
		qsort(ret->rows.at, ret->rows.len, sizeof(*ret->rows.at), newest_first);
	vec_done(&d.found);
	return e == 0;
}

void all_runs_done(struct all_runs *all)
{
	vec_done(&all->rows);
	arena_done(&all->arena);
}

/* -- whether they are needed ---------------------------------------------------------------------
 */

static bool see_any(void *data, const struct run_row *row UNUSED)
{
	*(bool *)data = true;
	return false;
}

bool all_runs_needed(struct app *a)
{
	AUTO_REPORT ignored = REPORT_INIT;
	bool any = false;

	if (!a->ledger || look_gap_counted(app_state_root(a), a->ledger))
		return true;
	return ledger_list(
		       a->ledger, &(struct ledger_filter){ .limit = 1 }, see_any, &any, &ignored) &&
	       !any;
}
