/* Commands that tell about runs: runs, status. */
#include <unistd.h>

#include "base/clock.h"
#include "base/plain-text.h"
#include "base/run-status.h"
#include "base/width.h"
#include "hosts/cli/commands.h"
#include "hosts/cli/run-filter.h"
#include "hosts/cli/run-operand.h"
#include "hosts/cli/shown.h"

struct runs_opts {
	struct filter_opts filter;
	struct common_opts common;
};

/* -- runs ----------------------------------------------------------------------------------------
 */

enum { ID_COLUMNS = 34, STATUS_COLUMNS = 17, AGE_COLUMNS = 11 };

struct table {
	struct buf b;
	uint64_t now_ms;
	size_t count;
	struct buf last; /* the id of the last one */
	bool colours;
};

/* Nearly every text here is plain; others may come from a damaged ledger. */
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
	buf_add_number(b, ms / units[i].ms, 1);
	buf_add(b, units[i].name);
}

/* A run with failures is never called done alone. */
static void add_status(struct table *t, const struct run_entry *e)
{
	const char *colour = t->colours ? shown_colour(e->status, e->failed) : NULL;
	AUTO_BUF text = BUF_INIT;

	status_phrase(&text, e->status, e->failed, e->tolerated);
	if (colour)
		buf_printf(&t->b, "\033[%sm", colour);
	padded(&t->b, buf_str(&text), STATUS_COLUMNS);
	if (colour)
		buf_adds(&t->b, "\033[m");
}

static bool add_entry(void *data, const struct run_entry *e)
{
	struct table *t = data;
	struct buf *b = &t->b;

	if (!b->len)
		buf_printf(b, "%-*s  %-*s  %-*s  TOOK\n", ID_COLUMNS, "RUN", STATUS_COLUMNS,
			"STATUS", AGE_COLUMNS, "STARTED");
	padded(b, e->id, ID_COLUMNS);
	add_status(t, e);
	size_t from = b->len;
	if (e->started)
		add_age(b, t->now_ms > e->started ? t->now_ms - e->started : 0);
	padded(b, S(""), AGE_COLUMNS - MIN(b->len - from, (size_t)AGE_COLUMNS));
	clock_duration(b, e->ms);
	buf_addc(b, '\n');
	t->count++;
	buf_reset(&t->last);
	buf_add(&t->last, e->id);
	return true;
}

static void begin_again(void *data)
{
	struct table *t = data;

	buf_reset(&t->b);
	t->count = 0;
}

/* Whether everything was asked for. */
static bool is_plain(const struct filter_opts *o)
{
	return !o->status && !o->recipe && !o->match && !o->since && !o->until && !o->before &&
	       !o->failed;
}

static bool any(void *data, const struct run_entry *e)
{
	(void)e;
	*(bool *)data = true;
	return false;
}

/* What was left out is said where only a part is shown unasked. */
static void tell_more(
	struct cli *cli, const struct runs_opts *o, struct run_filter f, struct table *t)
{
	AUTO_RUN *last = NULL;
	bool more = false;

	if (o->filter.limit || !f.limit || t->count < f.limit)
		return;
	last = runs_open(cli_app(cli), buf_cstr(&t->last), &cli->report);
	f.before = last ? run_cursor(last) : 0;
	if (f.before)
		runs_each(cli_app(cli), &f, any, NULL, &more, &cli->report);
	if (more)
		buf_printf(&t->b,
			"There are more: --before %s shows the next, --limit N more at once.\n",
			buf_cstr(&t->last));
}

static int list_text(struct cli *cli, const struct runs_opts *o)
{
	struct table t = { .now_ms = clock_real_ms(), .colours = shown_colours(STDOUT_FILENO) };
	struct run_filter filter;

	if (!filter_read(cli, &o->filter, &filter))
		return cli_refuse(cli, false);
	runs_each(cli_app(cli), &filter, add_entry, begin_again, &t, &cli->report);
	tell_more(cli, o, filter, &t);
	cli_warn(cli);
	if (!t.b.len && !cli->report.errors)
		buf_adds(&t.b, is_plain(&o->filter) ? "No runs yet. `roux run RECIPE` makes one.\n"
						    : "No such runs.\n");
	int printed = cli_print(buf_str(&t.b));
	buf_done(&t.b);
	buf_done(&t.last);
	return printed || !cli->report.errors ? printed : cli_refuse(cli, false);
}

static int list_json(struct cli *cli, const struct runs_opts *o)
{
	AUTO_BUF text = BUF_INIT;
	struct run_filter filter;

	if (!filter_read(cli, &o->filter, &filter))
		return cli_refuse(cli, true);
	filter.limit = o->filter.limit;
	runs_list_document(cli_app(cli), &filter, &text, &cli->report);
	cli_warn(cli);
	return cli->report.errors ? cli_refuse(cli, true) : cli_print(buf_str(&text));
}

static int run_runs(const struct call *call)
{
	struct cli *cli = call->host;
	const struct runs_opts *o = call->opts;

	if (!cli_enter(cli, &o->common))
		return cli_refuse(cli, o->common.json);
	return o->common.json ? list_json(cli, o) : list_text(cli, o);
}

static const struct opt_set runs_sets[] = {
	OPT_SET_IN("Options", filter_opts, struct runs_opts, filter),
	COMMON_SET(struct runs_opts),
};

static const struct command_example runs_examples[] = {
	{ "roux runs --failed --since 2d", "what went wrong since the day before yesterday" },
	{ "roux runs --recipe nightly --generations",
		"every run of a recipe, the earlier ones too" },
	{ "roux runs --json --status exited,killed", "for a script" },
};

const struct command cmd_runs = {
	.name = "runs",
	.heading = "Runs",
	.summary = "list the runs, newest first",
	.details =
		"A terminal shows 30 of them; elsewhere all are printed. Each start of an id is a "
		"generation: the list has the newest, --generations and --failed also have the "
		"earlier ones as ID~1, ID~2, and every command that takes a RUN takes these "
		"names.\n\n"
		"RUN may be an id, ID~N, latest, latest:RECIPE, or the beginning of an id (4 "
		"characters or more) that one run alone has.",
	EXAMPLES(runs_examples),
	SETS(runs_sets, struct runs_opts),
	.run = run_runs,
};

/* -- status --------------------------------------------------------------------------------------
 */

static int run_status_command(const struct call *call)
{
	struct cli *cli = call->host;
	const struct runs_opts *o = call->opts;
	AUTO_BUF text = BUF_INIT;
	int status;
	AUTO_RUN *run = run_operand(cli, &o->common, call->words[0], &status);

	if (!run)
		return status;
	json_t *document = run_status_document(run);
	if (o->common.json)
		return cli_print_json(document);
	shown_status(document, shown_colours(STDOUT_FILENO), &text);
	json_decref(document);
	return cli_print(buf_str(&text));
}

static const struct command_example status_examples[] = {
	{ "roux status review", "how far it is, what failed, where its files are" },
	{ "roux status review --json | jq -r .progress.phase", "for a script" },
};

const struct command cmd_status = {
	.name = "status",
	.operands = "RUN",
	.summary = "say how far a run is and what became of it",
	.details = "RUN is the id of a run; `roux runs` lists them. A run whose supervisor was "
		   "killed is shown as exited; `roux resume RUN` continues where it was.",
	EXAMPLES(status_examples),
	ONLY_COMMON(struct runs_opts),
	.min_operands = 1,
	.max_operands = 1,
	.complete = COMPLETE_RUN,
	.run = run_status_command,
};
