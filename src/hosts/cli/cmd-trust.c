/* trust: which recipes of a project may be run for a model or a chat. */
#include "app/trust.h"

#include "base/plain-text.h"
#include "hosts/cli/cli.h"
#include "hosts/cli/commands.h"
#include "hosts/cli/run-operand.h"
#include "hosts/cli/template.h"

struct trust_opts {
	bool list, withdraw;
	struct common_opts common;
};

static const struct opt own_opts[] = {
	OPT_FLAG(0, "list", struct trust_opts, list, "show what is trusted, and what has changed"),
	OPT_FLAG(0, "withdraw", struct trust_opts, withdraw, "trust them no longer"),
};

static const struct opt_set sets[] = {
	OPT_SET("Options", own_opts),
	COMMON_SET(struct trust_opts),
};

static const struct command_example examples[] = {
	{ "roux trust -C shop hello", "one recipe of the project in ./shop" },
	{ "roux trust -C shop", "all recipes of the project in ./shop, as they are now" },
	{ "roux trust --withdraw -C shop hello", "agents and chats cannot use it any more" },
};

/* What one call does, and what it has done. */
struct trusting {
	struct cli *cli;
	bool withdraw;
	json_t *done; /* paths */
};

/* -- giving and withdrawing ----------------------------------------------------------------------
 */

static bool give(struct trusting *t, const char *word)
{
	struct recipe_ref *ref = cli_open_recipe(
		t->cli, word, &(struct recipe_open){ .as = OPERAND_RECIPE, .values = json_null() });
	bool ok = ref && trust_give(ref, &t->cli->report);

	if (ok)
		json_array_append_new(t->done, json_from_str(recipe_ref_path(ref)));
	recipe_ref_free(ref);
	return ok;
}

/* The file that a word names, whatever has become of what is in it. */
static struct str file_of(struct trusting *t, const char *word)
{
	AUTO_REPORT ignored = REPORT_INIT;
	struct str path = recipes_path(cli_app(t->cli), word, &t->cli->arena, &ignored);

	return path.len ? path : str_of(word);
}

static bool withdraw(struct trusting *t, const char *word)
{
	struct str path = file_of(t, word);
	bool was = false;

	if (!trust_withdraw(cli_app(t->cli), path, &was, &t->cli->report))
		return false;
	if (was) {
		json_array_append_new(t->done, json_from_str(path));
		return true;
	}
	report_error(&t->cli->report, (struct where){ 0 }, "'%s' is not trusted", word);
	return report_hint(&t->cli->report, "`roux trust --list` shows what is");
}

static bool take_project(void *data, const struct recipe_info *info)
{
	struct trusting *t = data;
	const char *path = arena_cstr(&t->cli->arena, info->path);

	if (!t->withdraw)
		(void)give(t, path);
	else if (info->trust != TRUST_NONE)
		(void)withdraw(t, path);
	return true;
}

/* Every recipe of the project, whatever stands before it. */
static void do_all(struct trusting *t)
{
	struct app *app = cli_app(t->cli);

	cli_note_project(t->cli, NULL);
	if (!recipes_project(app).len) {
		report_error(&t->cli->report, (struct where){ 0 }, "there is no project here");
		report_hint(&t->cli->report,
			"`roux init project` makes one; name a recipe to %s that one",
			t->withdraw ? "withdraw" : "trust");
		return;
	}
	(void)recipes_each(app, &(struct recipe_filter){ .layer = "project" }, take_project, t,
		&t->cli->report);
}

static int answer(const struct trusting *t, bool json)
{
	AUTO_BUF text = BUF_INIT;
	json_t *path;
	size_t i;

	if (json)
		return cli_print_json(json_pack(
			"{s:b, s:O}", "ok", 1, t->withdraw ? "withdrawn" : "trusted", t->done));
	json_array_foreach(t->done, i, path)
	{
		buf_adds(&text, t->withdraw ? "withdrawn " : "trusted ");
		text_plain(&text, json_str(path));
		buf_addc(&text, '\n');
	}
	if (!text.len)
		buf_adds(&text, "nothing to do\n");
	return cli_print(buf_str(&text));
}

/* -- the list ------------------------------------------------------------------------------------
 */

static const char *state_of(const struct trusted_recipe *one)
{
	return one->trust == TRUST_NONE ? "missing" : trust_name(one->trust);
}

static void add_json(void *data, const struct trusted_recipe *one)
{
	json_array_append_new(
		data, json_pack("{s:o, s:s, s:I, s:o}", "path", json_from_str(one->path), "state",
			      state_of(one), "files", (json_int_t)one->files, "when",
			      json_from_str(one->when)));
}

static void add_line(void *data, const struct trusted_recipe *one)
{
	struct buf *b = data;

	buf_printf(b, "%-8s ", state_of(one));
	text_plain(b, one->path);
	buf_addc(b, '\n');
}

static int list(struct cli *cli, bool json)
{
	AUTO_BUF text = BUF_INIT;
	AUTO_JSON *all = json_array();
	bool ok = trust_each(
		cli_app(cli), json ? add_json : add_line, json ? (void *)all : &text, &cli->report);

	cli_warn(cli);
	if (!ok)
		return cli_refuse(cli, json);
	if (json)
		return cli_print_json(json_pack("{s:O}", "trusted", all));
	if (!text.len)
		buf_adds(&text, "Nothing is trusted.\n");
	return cli_print(buf_str(&text));
}

static int run(const struct call *call)
{
	struct cli *cli = call->host;
	const struct trust_opts *o = call->opts;
	AUTO_JSON *done = json_array();
	struct trusting t = { cli, o->withdraw, done };

	if (!cli_enter(cli, &o->common))
		return cli_refuse(cli, o->common.json);
	if (o->list)
		return list(cli, o->common.json);
	for (size_t i = 0; i < call->count; i++)
		(void)(o->withdraw ? withdraw : give)(&t, call->words[i]);
	if (!call->count)
		do_all(&t);
	cli_warn(cli);
	if (cli->report.errors) {
		if (json_array_size(done) && !o->common.json)
			(void)answer(&t, false);
		return cli_refuse(cli, o->common.json);
	}
	return answer(&t, o->common.json);
}

const struct command cmd_trust = {
	.name = "trust",
	.operands = "[RECIPE|PATH]...",
	.summary = "let agents and chats run recipes of this project",
	.details =
		"A recipe in .roux/recipes came with the project. Typing its name runs it, as with "
		"make; a host that acts for a model or a chat runs it only when you have trusted "
		"it "
		"here. What is recorded is the SHA-256 of its file and of all that it imports: "
		"when "
		"one of them changes, it is not trusted any more. Without operands all recipes of "
		"the project are meant.",
	EXAMPLES(examples),
	SETS(sets, struct trust_opts),
	.max_operands = OPERANDS_ANY,
	.complete = COMPLETE_RECIPE,
	.run = run,
};
