/* Commands that tell about recipes: list, show, doctor, and what completion asks for. */
#include "app/doctor.h"
#include "base/map.h"
#include "base/plain-text.h"
#include "base/run-status.h"
#include "hosts/cli/cli.h"
#include "hosts/cli/commands.h"
#include "hosts/cli/recipe-text.h"
#include "hosts/cli/run-operand.h"
#include "hosts/cli/template.h"
#include "hosts/cli/words.h"

struct recipes_opts {
	struct common_opts common;
};

/* -- list ----------------------------------------------------------------------------------------
 */

struct list_opts {
	bool all;
	struct common_opts common;
};

static const struct opt list_opts[] = {
	OPT_FLAG('a', "all", struct list_opts, all, "each packaged recipe too, not only how many"),
};

static const struct opt_set list_sets[] = {
	OPT_SET("Options", list_opts),
	COMMON_SET(struct list_opts),
};

static int run_list(const struct call *call)
{
	struct cli *cli = call->host;
	const struct list_opts *o = call->opts;
	AUTO_BUF text = BUF_INIT;

	if (!cli_enter(cli, &o->common))
		return cli_refuse(cli, o->common.json);
	cli_note_project(cli, NULL);
	if (o->common.json)
		recipe_json_list(cli_app(cli), false, &text, &cli->report);
	else
		recipe_text_list(cli_app(cli), false, o->all, &text, &cli->report);
	int printed = cli_print(buf_str(&text));
	return printed || !cli->report.errors ? printed : cli_refuse(cli, false);
}

const struct command cmd_list = {
	.name = "list",
	.heading = "Recipes",
	.summary = "list the recipes: the project's, yours, then the packaged ones",
	.details = "Those of the project are in .roux/recipes at or above the working directory. "
		   "Each is shown with its arguments; the packaged ones are only counted, unless "
		   "there are no others or --all is given.",
	SETS(list_sets, struct list_opts),
	.run = run_list,
};

/* -- show ----------------------------------------------------------------------------------------
 */

static int run_show(const struct call *call)
{
	struct cli *cli = call->host;
	const struct recipes_opts *o = call->opts;
	AUTO_BUF text = BUF_INIT;
	struct recipe_ref *ref = NULL;

	if (cli_enter(cli, &o->common))
		ref = cli_open_recipe(
			cli, call->words[0], &(struct recipe_open){ .as = OPERAND_RECIPE });
	if (!ref)
		return cli_refuse(cli, o->common.json);
	if (o->common.json)
		recipe_json_show(ref, &text);
	else
		recipe_text_show(ref, &text);
	recipe_ref_free(ref);
	return cli_print(buf_str(&text));
}

const struct command cmd_show = {
	.name = "show",
	.operands = "RECIPE",
	.summary = "show one recipe: where it is, its arguments, imports and graph",
	ONLY_COMMON(struct recipes_opts),
	.min_operands = 1,
	.max_operands = 1,
	.complete = COMPLETE_RECIPE,
	.run = run_show,
};

/* -- doctor --------------------------------------------------------------------------------------
 */

struct doctor_opts {
	bool rebuild, try_it;
	const char *on;
	struct common_opts common;
};

static const struct opt doctor_opts[] = {
	OPT_FLAG(0, "rebuild", struct doctor_opts, rebuild,
		"make the ledger anew from the run directories"),
	OPT_TEXT(0, "on", "NAME[:CLASS]", struct doctor_opts, on,
		"whether an executor of a batch system works"),
	OPT_FLAG(0, "try", struct doctor_opts, try_it,
		"with --on: submit one worker of a minute and follow it"),
};

static const struct opt_set doctor_sets[] = {
	OPT_SET("Options", doctor_opts),
	COMMON_SET(struct doctor_opts),
};

static int rebuild(struct cli *cli, bool json)
{
	AUTO_BUF text = BUF_INIT;

	struct runs_rebuilt made;
	bool ok = runs_rebuild(cli_app(cli), &made, &cli->report);

	cli_warn(cli);
	if (!ok)
		return cli_refuse(cli, json);
	if (json)
		return cli_print_json(json_pack("{s:b, s:I, s:I}", "ok", 1, "runs",
			(json_int_t)made.runs, "skipped", (json_int_t)made.skipped));
	buf_printf(&text, "The ledger was made anew: %zu run%s, %zu director%s skipped.\n",
		made.runs, made.runs == 1 ? "" : "s", made.skipped,
		made.skipped == 1 ? "y" : "ies");
	return cli_print(buf_str(&text));
}

static void finding_text(const json_t *finding, struct buf *b)
{
	struct str id = json_str(json_object_get(finding, "id"));
	AUTO_BUF text = BUF_INIT;

	buf_printf(&text, "%s: %.*s%s%.*s", json_string_value(json_object_get(finding, "severity")),
		STR(id), id.len ? ": " : "", STR(json_str(json_object_get(finding, "message"))));
	text_plain(b, buf_str(&text));
	if (id.len) {
		buf_adds(b, "\n    ");
		text_plain(b, json_str(json_object_get(finding, "path")));
	}
	buf_adds(b, "\n    to do: ");
	text_plain(b, json_str(json_object_get(finding, "action")));
	buf_addc(b, '\n');
}

static void doctor_text(const json_t *document, struct buf *b)
{
	const json_t *findings = json_object_get(document, "findings");
	const json_t *first = json_array_get(findings, 0);
	json_t *item;
	size_t i;

	if (json_is_true(json_object_get(document, "ok"))) {
		buf_adds(b, "Nothing to do.\n");
	} else {
		buf_adds(b, "Next: ");
		text_plain(b, json_str(json_object_get(first, "action")));
		buf_addc(b, '\n');
	}
	json_array_foreach(findings, i, item)
	{
		buf_adds(b, i ? "" : "\n");
		finding_text(item, b);
	}
	buf_adds(b, "\nChecked:\n");
	json_array_foreach(json_object_get(document, "checked"), i, item)
	{
		buf_adds(b, "  ");
		text_plain(b, json_str(item));
		buf_addc(b, '\n');
	}
}

static int doctor_on(struct cli *cli, const struct doctor_opts *o)
{
	AUTO_BUF text = BUF_INIT;
	AUTO_JSON *document = doctor_executor(cli_app(cli), o->on, o->try_it, &cli->report);
	bool ok = json_is_true(json_object_get(document, "ok"));
	json_t *check;
	size_t i;

	if (!document)
		return cli_refuse(cli, o->common.json);
	if (o->common.json)
		return cli_print_json(json_incref(document)) ? 1 : !ok;
	json_array_foreach(json_object_get(document, "checks"), i, check)
	{
		buf_printf(&text, "%-6s %-10s ", json_truth_of(check, "ok") ? "ok" : "broken",
			json_string_value(json_object_get(check, "hop")));
		text_plain(&text, json_text_of(check, "message"));
		buf_addc(&text, '\n');
	}
	int printed = cli_print(buf_str(&text));
	return printed ? printed : !ok;
}

static int run_doctor(const struct call *call)
{
	struct cli *cli = call->host;
	const struct doctor_opts *o = call->opts;
	AUTO_BUF text = BUF_INIT;

	if (!cli_enter(cli, &o->common))
		return cli_refuse(cli, o->common.json);
	if (o->try_it && !o->on) {
		report_error(&cli->report, (struct where){ 0 }, "--try is about --on NAME");
		return cli_refuse(cli, o->common.json);
	}
	if (o->on)
		return doctor_on(cli, o);
	if (o->rebuild)
		return rebuild(cli, o->common.json);
	AUTO_JSON *document = doctor_document(cli_app(cli), cli_words);
	if (o->common.json) {
		json_write(&text, document, 0);
		buf_addc(&text, '\n');
	} else {
		doctor_text(document, &text);
	}
	int printed = cli_print(buf_str(&text));
	return printed ? printed : json_is_true(json_object_get(document, "ok")) ? 0 : 1;
}

const struct command cmd_doctor = {
	.name = "doctor",
	.summary = "say what needs attention, and what to do first",
	.details =
		"Looks at every recipe, at the directories they are in, and at the ledger and "
		"the runs in it. Ends with status 1 when it found an error or a warning; that a "
		"recipe is disabled or shadows another is only told. With --rebuild the ledger is "
		"made anew from the run directories; the old one is kept as ledger.db.old.\n\n"
		"With --on it looks at one executor of a batch system instead: its programs, the "
		"shared directory, whether status answers. --try submits one worker of a minute "
		"and follows it: submit, queue, hello, a round trip, the working directory, "
		"umask and PATH there, cancel. The first hop that does not work is named.",
	SETS(doctor_sets, struct doctor_opts),
	.run = run_doctor,
};

/* -- complete: for the scripts of `roux completion` -----------------------------------------------
 */

/* Commands that are about some runs only: those that a resume finds so. An earlier generation is
 * not among them. */
static const struct about {
	const char *command;
	bool at[STATUS_NEVER];
} abouts[] = {
	{ "resume",
		{ [STATUS_AT_GATE] = true, [STATUS_BROKEN] = true, [STATUS_CUT_SHORT] = true } },
	{ "approve", { [STATUS_AT_GATE] = true } },
	{ "deny", { [STATUS_AT_GATE] = true } },
	{ "cancel", { [STATUS_LIVE] = true } },
	{ "kill", { [STATUS_LIVE] = true } },
	{ "message", { [STATUS_LIVE] = true } },
};

struct run_words {
	const struct about *about; /* NULL: all */
	struct buf *b;
};

static bool add_id(void *data, const struct run_entry *e)
{
	struct run_words *w = data;
	bool fits = !w->about;

	for (enum status_rest rest = 0; !fits && rest < STATUS_NEVER; rest++)
		fits = w->about->at[rest] && status_rests(e->status, rest);
	if (fits) {
		buf_add(w->b, e->id);
		buf_addc(w->b, '\n');
	}
	return true;
}

static void begin_again(void *data)
{
	struct run_words *w = data;

	buf_reset(w->b);
}

/* `command`: the one whose operand it will be; may be empty. */
static void run_words(struct cli *cli, struct str command, struct buf *b)
{
	AUTO_REPORT ignored = REPORT_INIT;
	struct run_words w = { .b = b };

	for (size_t i = 0; i < ARRAY_SIZE(abouts); i++)
		if (str_eq(command, str_of(abouts[i].command)))
			w.about = &abouts[i];
	runs_each(cli_app(cli), &(struct run_filter){ .generations = !w.about }, add_id,
		begin_again, &w, &ignored);
	if (b->len && !w.about)
		buf_adds(b, "latest\n");
}

struct node_words {
	struct arena arena;
	struct map nodes;  /* path → label, a struct str */
	struct map labels; /* label → how many have it */
};

static bool add_node(void *data, const struct planned_again *p)
{
	struct node_words *w = data;

	if (p->gate)
		return true;
	struct str *label = arena_new(&w->arena, struct str);
	*label = arena_str(&w->arena, p->label);
	*map_put(&w->nodes, &w->arena, p->path) = label;
	void **times = map_put(&w->labels, &w->arena, p->label);
	*times = (void *)((uintptr_t)*times + 1);
	return true;
}

/* The commands of the first run among the words: by label where that names one, else by path. */
static void node_words(struct cli *cli, size_t count, const char *const *words, struct buf *b)
{
	struct node_words w = { 0 };

	for (size_t i = 0; i < count && !w.nodes.count; i++) {
		AUTO_REPORT ignored = REPORT_INIT;
		struct rerun_request q = { .request = REQUEST_INIT };

		if (words[i][0] != '-')
			(void)runs_plan_again(
				cli_app(cli), words[i], &q, false, add_node, &w, &ignored);
	}
	map_each (node, &w.nodes) {
		struct str label = *(struct str *)node->value;
		bool alone = label.len && (uintptr_t)map_get(&w.labels, label) == 1 &&
			     str_find(label, '\n', 0) == label.len;

		buf_add(b, alone ? label : node->key);
		buf_addc(b, '\n');
	}
	arena_done(&w.arena);
}

/* What the words behind `roux tool` can be about: a file that can be changed or removed, or any
 * recipe. The name of a new one is not known. */
static void tool_words(struct cli *cli, size_t count, const char *const *words, struct buf *b)
{
	const char *layer = "user";
	struct str action = S("");

	for (size_t i = 0; i < count; i++) {
		struct str word = str_of(words[i]);

		if (str_eq(word, S("--project")))
			layer = "project";
		else if (!action.len && !str_starts(word, S("-")))
			action = word;
	}
	if (str_eq(action, S("schema")))
		recipes_id_words(cli_app(cli), NULL, b);
	else if (str_eq(action, S("update")) || str_eq(action, S("remove")))
		recipes_id_words(cli_app(cli), layer, b);
}

static void status_words(struct buf *b)
{
	for (enum roux_status s = 0; s < status_count; s++)
		if (status_rest(s) != STATUS_NEVER)
			buf_printf(b, "%s\n", status_name(s));
}

static int run_complete(const struct call *call)
{
	struct cli *cli = call->host;
	AUTO_BUF text = BUF_INIT;

	if (str_eq(str_of(call->words[0]), S("recipes")))
		recipes_id_words(cli_app(cli), NULL, &text);
	else if (str_eq(str_of(call->words[0]), S("args")))
		recipes_argument_words(cli_app(cli), call->count - 1, call->words + 1, &text);
	else if (str_eq(str_of(call->words[0]), S("runs")))
		run_words(cli, call->count > 1 ? str_of(call->words[1]) : S(""), &text);
	else if (str_eq(str_of(call->words[0]), S("nodes")))
		node_words(cli, call->count - 1, call->words + 1, &text);
	else if (str_eq(str_of(call->words[0]), S("tools")))
		tool_words(cli, call->count - 1, call->words + 1, &text);
	else if (str_eq(str_of(call->words[0]), S("statuses")))
		status_words(&text);
	return cli_print(buf_str(&text));
}

const struct command cmd_complete = {
	.name = "complete",
	.operands = "WHAT [WORD]...",
	.summary = "list words for completion",
	ONLY_COMMON(struct recipes_opts),
	.min_operands = 1,
	.max_operands = OPERANDS_ANY,
	.hidden = true,
	.run = run_complete,
};
