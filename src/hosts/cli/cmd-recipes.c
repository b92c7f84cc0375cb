/* Commands that tell about recipes: list, show, doctor, and what completion asks for. */
#include "app/catalog/list.h"
#include "hosts/cli/cli.h"
#include "hosts/cli/commands.h"
#include "hosts/cli/run-operand.h"

struct recipes_opts {
	struct common_opts common;
};

static const struct opt_set sets[] = {
	COMMON_SET(struct recipes_opts),
};

/* -- list ----------------------------------------------------------------------------------------
 */

static int run_list(void *host, const struct command *c, const void *opts, size_t count,
	const char *const *words)
{
	struct cli *cli = host;
	const struct recipes_opts *o = opts;
	AUTO_BUF text = BUF_INIT;

	(void)c;
	(void)count;
	(void)words;
	if (!cli_enter(cli, &o->common))
		return cli_refuse(cli, o->common.json);
	struct recipe_dirs dirs = recipe_dirs_find(&cli->arena, NULL, NULL);
	recipes_list(&dirs, o->common.json, &text, &cli->report);
	int printed = cli_print(buf_str(&text));
	return printed || !cli->report.errors ? printed : cli_refuse(cli, false);
}

const struct command cmd_list = {
	.name = "list",
	.heading = "Recipes",
	.summary = "list the recipes: yours, then the packaged ones",
	.sets = sets,
	.set_count = ARRAY_SIZE(sets),
	.options_size = sizeof(struct recipes_opts),
	.run = run_list,
};

/* -- show ----------------------------------------------------------------------------------------
 */

static int run_show(void *host, const struct command *c, const void *opts, size_t count,
	const char *const *words)
{
	struct cli *cli = host;
	const struct recipes_opts *o = opts;
	AUTO_BUF text = BUF_INIT;
	struct recipe *recipe = NULL;

	(void)c;
	(void)count;
	if (cli_enter(cli, &o->common)) {
		struct recipe_dirs dirs = recipe_dirs_find(&cli->arena, NULL, NULL);

		recipe = recipe_open(&dirs, str_of(words[0]), false, NULL, &cli->report);
	}
	if (!recipe)
		return cli_refuse(cli, o->common.json);
	recipes_show(recipe, o->common.json, &text);
	recipe_free(recipe);
	return cli_print(buf_str(&text));
}

const struct command cmd_show = {
	.name = "show",
	.operands = "RECIPE",
	.summary = "show one recipe: where it is, its arguments, imports and graph",
	.sets = sets,
	.set_count = ARRAY_SIZE(sets),
	.options_size = sizeof(struct recipes_opts),
	.min_operands = 1,
	.max_operands = 1,
	.complete = COMPLETE_RECIPE,
	.run = run_show,
};

/* -- doctor --------------------------------------------------------------------------------------
 */

struct doctor_opts {
	bool rebuild;
	struct common_opts common;
};

static const struct opt doctor_opts[] = {
	OPT_FLAG(0, "rebuild", struct doctor_opts, rebuild,
		"make the ledger anew from the run directories"),
};

static const struct opt_set doctor_sets[] = {
	OPT_SET("Options", doctor_opts),
	COMMON_SET(struct doctor_opts),
};

static int rebuild(struct cli *cli, bool json)
{
	AUTO_BUF text = BUF_INIT;

	bool ok = runs_rebuild(&cli->arena, json, &text, &cli->report);
	cli_warn(cli);
	return ok ? cli_print(buf_str(&text)) : cli_refuse(cli, json);
}

static int run_doctor(void *host, const struct command *c, const void *opts, size_t count,
	const char *const *words)
{
	struct cli *cli = host;
	const struct doctor_opts *o = opts;
	AUTO_BUF text = BUF_INIT;

	(void)c;
	(void)count;
	(void)words;
	if (!cli_enter(cli, &o->common))
		return cli_refuse(cli, o->common.json);
	if (o->rebuild)
		return rebuild(cli, o->common.json);
	struct recipe_dirs dirs = recipe_dirs_find(&cli->arena, NULL, NULL);
	size_t findings = recipes_doctor(&dirs, o->common.json, &text);
	int printed = cli_print(buf_str(&text));
	return printed ? printed : findings ? 1 : 0;
}

const struct command cmd_doctor = {
	.name = "doctor",
	.summary = "say what needs attention, and what to do first",
	.details =
		"Looks at every recipe, at the directories they are in, and at the ledger and "
		"the runs in it. Ends with status 1 when it found an error or a warning; that a "
		"recipe is disabled or shadows another is only told. With --rebuild the ledger is "
		"made anew from the run directories; the old one is kept as ledger.db.old.",
	.sets = doctor_sets,
	.set_count = ARRAY_SIZE(doctor_sets),
	.options_size = sizeof(struct doctor_opts),
	.run = run_doctor,
};

/* -- complete: for the scripts of `roux completion` -----------------------------------------------
 */

static void run_words(struct cli *cli, struct buf *b)
{
	AUTO_REPORT ignored = REPORT_INIT;
	struct runs runs;

	runs_open(&runs, &cli->arena, &ignored);
	runs_ids(&runs, b);
	runs_close(&runs);
}

static int run_complete(void *host, const struct command *c, const void *opts, size_t count,
	const char *const *words)
{
	struct cli *cli = host;
	AUTO_BUF text = BUF_INIT;

	(void)c;
	(void)opts;
	struct recipe_dirs dirs = recipe_dirs_find(&cli->arena, NULL, NULL);
	if (str_eq(str_of(words[0]), S("recipes")))
		recipes_ids(&dirs, &text);
	else if (str_eq(str_of(words[0]), S("args")))
		recipes_argument_words(&dirs, count - 1, words + 1, &text);
	else if (str_eq(str_of(words[0]), S("runs")))
		run_words(cli, &text);
	return cli_print(buf_str(&text));
}

const struct command cmd_complete = {
	.name = "complete",
	.operands = "WHAT [WORD]...",
	.summary = "list words for completion",
	.sets = sets,
	.set_count = ARRAY_SIZE(sets),
	.options_size = sizeof(struct recipes_opts),
	.min_operands = 1,
	.max_operands = OPERANDS_ANY,
	.hidden = true,
	.run = run_complete,
};
