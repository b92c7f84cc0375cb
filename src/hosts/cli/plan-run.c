#include "hosts/cli/plan-run.h"

#include "app/plans.h"
#include "app/runs.h"
#include "base/plain-text.h"
#include "base/shell-words.h"
#include "hosts/cli/resume.h"
#include "hosts/cli/values.h"

enum { SHOWN_MAX = 100000 }; /* more cannot be read */

const struct opt plan_run_opts[4] = {
	OPT_TEXT(0, "from", "NODE", struct plan_run_opts, from,
		"of run:RUN: as `roux rerun --from` would"),
	OPT_FLAG(0, "failed", struct plan_run_opts, failed,
		"of run:RUN: as `roux rerun` would, which is the default"),
	OPT_FLAG(0, "all", struct plan_run_opts, all, "of run:RUN: as `roux rerun --all` would"),
	OPT_FLAG(0, "resume", struct plan_run_opts, resume, "of run:RUN: as `roux resume` would"),
};

bool plan_run_asked(const struct plan_run_opts *o)
{
	return o->from || o->failed || o->all || o->resume;
}

/* -- for people ----------------------------------------------------------------------------------
 */

struct lines {
	struct buf *b;
	size_t count;
};

static bool add_line(void *data, const struct planned_again *what)
{
	static const char *const words[] = { "run", "run again", "reused" };
	struct lines *l = data;
	struct buf *b = l->b;

	if (l->count++ == SHOWN_MAX) {
		buf_printf(b, "… and more: the first %d are shown\n", SHOWN_MAX);
		return false;
	}
	buf_printf(b, "%.*s  ", STR(what->path));
	if (what->argv) {
		command_display(b, what->argv, what->argc);
		buf_adds(b, "  ");
	}
	if (what->fate != PLANNED_REUSED)
		buf_adds(b, "# ");
	if (what->note.len) {
		text_plain(b, what->note);
		buf_adds(b, "; ");
	}
	buf_printf(b, "%s (%.*s)\n", words[what->fate], STR(what->why));
	return true;
}

/* -- the document --------------------------------------------------------------------------------
 */

struct document {
	json_t *argv, *leaves, *reused;
	bool truncated;
};

static json_t *text_or_null(struct str text)
{
	return text.len ? json_from_str(text) : json_null();
}

static void add_leaf(struct document *d, const struct planned_again *what)
{
	json_t *argv = json_array(), *leaf = json_object();

	for (size_t i = 0; i < what->argc; i++)
		json_array_append_new(argv, json_from_str(str_of(what->argv[i])));
	json_array_append(d->argv, argv);
	json_object_set_new(leaf, "path", json_from_str(what->path));
	json_object_set_new(leaf, "label", text_or_null(what->label));
	json_object_set_new(leaf, "argv", argv);
	json_object_set_new(leaf, "cwd", text_or_null(what->cwd));
	json_object_set_new(leaf, "timeout",
		what->timeout_ms ? json_integer((json_int_t)what->timeout_ms) : json_null());
	json_object_set_new(leaf, "when", text_or_null(what->when));
	json_object_set_new(leaf, "why", json_from_str(what->why));
	json_array_append_new(d->leaves, leaf);
}

static bool add_member(void *data, const struct planned_again *what)
{
	struct document *d = data;

	if (json_array_size(d->leaves) + json_array_size(d->reused) == SHOWN_MAX) {
		d->truncated = true;
		return false;
	}
	if (what->fate == PLANNED_REUSED && what->gate)
		return true; /* documents list commands */
	if (what->fate == PLANNED_REUSED)
		json_array_append_new(d->reused,
			json_pack("{s:o, s:o, s:o}", "path", json_from_str(what->path), "label",
				text_or_null(what->label), "why", json_from_str(what->why)));
	else if (what->argv)
		add_leaf(d, what);
	return true;
}

static bool write_document(
	struct cli *cli, const char *run, const struct rerun_request *q, bool resume, struct buf *b)
{
	struct document d = { json_array(), json_array(), json_array(), false };
	bool ok = runs_plan_again(cli_app(cli), run, q, resume, add_member, &d, &cli->report);
	AUTO_JSON *document = json_pack(
		"{s:o, s:o, s:o}", "argv", d.argv, "leaves", d.leaves, "reused", d.reused);

	if (d.truncated)
		json_object_set_new(document, "truncated", json_true());
	AUTO_JSON *plan = ok ? run_plan_document(cli_app(cli), run, q, resume, &cli->report) : NULL;
	if (!plan)
		return false;
	json_object_update_missing(document, plan);
	json_write(b, document, 0);
	buf_addc(b, '\n');
	return true;
}

/* -- what is another now --------------------------------------------------------------------------
 */

static void add_changes(
	struct cli *cli, const char *run, const struct rerun_request *q, bool resume, struct buf *b)
{
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_JSON *plan = run_plan_document(cli_app(cli), run, q, resume, &ignored);
	const json_t *changed = json_object_get(plan, "changed"), *source, *line;
	size_t i, n;

	if (!json_is_true(json_object_get(changed, "recipe")))
		return;
	buf_adds(b, "# the recipe has changed since: this repeats the old one\n");
	json_array_foreach(json_object_get(changed, "sources"), i, source)
	{
		buf_printf(b, "# %.*s\n", STR(json_text_of(source, "path")));
		json_array_foreach(json_object_get(source, "lines"), n, line)
		{
			buf_printf(b, "# %.*s ", STR(json_str(json_array_get(line, 0))));
			text_escaped(b, json_str(json_array_get(line, 1)));
			buf_addc(b, '\n');
		}
		if (json_is_true(json_object_get(source, "cut")))
			buf_adds(b, "# …\n");
	}
}

/* -- both ----------------------------------------------------------------------------------------
 */

static bool check_choice(struct cli *cli, const struct plan_run_opts *o)
{
	if (!rerun_choice(cli, o->from, o->failed, o->all))
		return false;
	if (!o->resume || !(o->from || o->failed || o->all))
		return true;
	return report_error(&cli->report, (struct where){ 0 },
		"--resume is about `roux resume`, the others are about `roux rerun`: give one");
}

bool plan_run(struct cli *cli, const struct plan_run_opts *o, const struct common_opts *common,
	const struct template_opts *given, size_t count, const char *const *words, struct buf *b)
{
	bool stdin_used = false;

	if (!check_choice(cli, o))
		return false;
	AUTO_JSON *values = values_read(cli, given, count - 1, words + 1, NULL, &stdin_used);
	if (!values)
		return false;
	const struct rerun_request q = { .request = REQUEST_INIT,
		.values = values,
		.from = o->from,
		.all = o->all,
		.stay = common->dir != NULL };
	if (common->json)
		return write_document(cli, words[0], &q, o->resume, b);
	if (!runs_plan_again(cli_app(cli), words[0], &q, o->resume, add_line,
		    &(struct lines){ .b = b }, &cli->report))
		return false;
	add_changes(cli, words[0], &q, o->resume, b);
	return true;
}
