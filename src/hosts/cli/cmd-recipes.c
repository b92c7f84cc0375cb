/* Commands that tell about recipes: list, show, doctor, and what completion asks for. */
#include "app/recipes.h"
#include "hosts/cli/cli.h"
#include "hosts/cli/commands.h"

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

		recipe = recipe_open(&dirs, str_of(words[0]), false, &cli->report);
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

static int run_doctor(void *host, const struct command *c, const void *opts, size_t count,
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
	size_t findings = recipes_doctor(&dirs, o->common.json, &text);
	int printed = cli_print(buf_str(&text));
	return printed ? printed : findings ? 1 : 0;
}

const struct command cmd_doctor = {
	.name = "doctor",
	.summary = "say what needs attention, and what to do first",
	.details =
		"Looks at every recipe and at the directories they are in. Ends with status 1 when "
		"it found an error or a warning; that a recipe is disabled or shadows another is "
		"only told.",
	.sets = sets,
	.set_count = ARRAY_SIZE(sets),
	.options_size = sizeof(struct recipes_opts),
	.run = run_doctor,
};

/* -- complete: for the scripts of `roux completion` -----------------------------------------------
 */

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
