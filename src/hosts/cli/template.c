#include "hosts/cli/template.h"

#include <string.h>

#include "hosts/cli/values.h"

static const char *const dialects[] = { "now", "0.9", NULL };

const struct opt dialect_opts[1] = {
	OPT_CHOICE(0, "dialect", dialects, struct template_opts, dialect,
		"read the template in today's dialect or in 0.9's"),
};
const struct opt template_opts[1] = {
	OPT_FLAG(0, "template", struct template_opts, template,
		"the first word is a template, never a recipe"),
};
const struct opt values_opts[1] = {
	OPT_LIST(0, "values", "FILE|-", struct template_opts, values,
		"read values from a JSON object; may be repeated"),
};

const struct opt lines_opts[2] = {
	OPT_LIST(0, "lines", "NAME=FILE|-", struct template_opts, lines,
		"a value that is an array: the lines of a file"),
	OPT_LIST(0, "lines0", "NAME=FILE|-", struct template_opts, lines0,
		"the same with NUL in place of newlines, as git -z and find -print0 write"),
};

/* What other programs of this kind call something that roux has elsewhere. */
static const struct {
	const char *name, *hint;
} foreign[] = {
	{ "n", "`roux plan` shows what would run and starts nothing" },
	{ "dry-run", "`roux plan` shows what would run and starts nothing" },
	{ "just-print", "`roux plan` shows what would run and starts nothing" },
	{ "k", "it continues after a failure anyway; \"failure\": \"root\" of a node stops it" },
	{ "keep-going",
		"it continues after a failure anyway; \"failure\": \"root\" of a node stops it" },
	{ "dir", "-C DIR goes there first" },
	{ "max-procs", "-j N runs at most N commands at once" },
};

bool template_unknown_option(struct str name, struct report *r)
{
	for (size_t i = 0; i < ARRAY_SIZE(foreign); i++) {
		if (str_eq(name, str_of(foreign[i].name))) {
			report_hint(r, "%s", foreign[i].hint);
			return true;
		}
	}
	if (!recipes_is_field(name))
		return false;
	report_hint(r, "it is a field of the template: {\"%.*s\": …, \"template\": …}", STR(name));
	return true;
}

bool template_is_0_9(const struct template_opts *o)
{
	return o->dialect == 1;
}

void cli_note_project(struct cli *cli, const char *operand)
{
	struct str why = recipes_unused_project(cli_app(cli));
	AUTO_REPORT note = REPORT_INIT;
	AUTO_BUF text = BUF_INIT;

	if (!why.len ||
		(operand && (strchr(operand, '/') || recipes_is_template(cli_app(cli), operand))))
		return;
	report_warning(&note, (struct where){ 0 }, "%.*s", STR(why));
	report_text(&note, REPORT_ALL, &text);
	cli_say(buf_str(&text));
}

struct recipe_ref *cli_open_recipe(
	struct cli *cli, const char *operand, const struct recipe_open *o)
{
	if (o->as != OPERAND_TEMPLATE)
		cli_note_project(cli, operand);
	return recipes_open(cli_app(cli), operand, o, &cli->report);
}

bool template_open(struct template_given *g, const struct template_opts *o, bool any, size_t count,
	const char *const *words)
{
	struct cli *cli = g->cli;

	if (!values_claim_stdin(cli, words[0], &g->stdin_used))
		return false;
	struct opt_list positions = { 0 };
	g->values = values_read(cli, o, count - 1, words + 1,
		any && !o->template ? &positions : NULL, &g->stdin_used);
	g->secrets = json_array();
	g->secret_env = json_array();
	g->secret_vars = json_object();
	if (!g->values || !secrets_take(cli, &o->secrets, g->values, g->secrets, g->secret_env,
				  g->secret_vars))
		return false;
	g->ref = values_open(cli, words[0],
		&(struct recipe_open){ .as = any && !o->template ? OPERAND_ANY : OPERAND_TEMPLATE,
			.dialect_0_9 = template_is_0_9(o),
			.values = g->values },
		&positions);
	return g->ref != NULL;
}

void template_close(struct template_given *g)
{
	recipe_ref_free(g->ref);
	json_decref(g->values);
	json_decref(g->secrets);
	json_decref(g->secret_env);
	json_decref(g->secret_vars);
}
