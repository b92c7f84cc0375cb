#include "hosts/cli/template.h"

#include "app/catalog/ref.h"
#include "graph/fields.h"
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

/* What other programs of this kind call something that roux has elsewhere. */
static const struct {
	const char *name, *hint;
} foreign[] = {
	{ "n", "`roux plan` shows what would run and starts nothing" },
	{ "dry-run", "`roux plan` shows what would run and starts nothing" },
	{ "just-print", "`roux plan` shows what would run and starts nothing" },
	{ "k", "it goes on after a failure anyway; \"failure\": \"root\" of a node stops it" },
	{ "keep-going",
		"it goes on after a failure anyway; \"failure\": \"root\" of a node stops it" },
	{ "silent", "--quiet shows neither progress nor failures" },
	{ "dir", "-C DIR goes there first" },
	{ "max-procs", "-j N runs at most N commands at once" },
};

bool template_unknown_option(struct str name, struct report *r)
{
	enum field_id id = field_find(name, DIALECT_NOW);

	for (size_t i = 0; i < ARRAY_SIZE(foreign); i++) {
		if (str_eq(name, str_of(foreign[i].name))) {
			report_hint(r, "%s", foreign[i].hint);
			return true;
		}
	}
	if (id == FIELD_COUNT || id == FIELD_TEMPLATE || node_fields[id].instead)
		return false;
	report_hint(r, "it is a field of the template: {\"%s\": …, \"template\": …}",
		node_fields[id].name);
	return true;
}

enum dialect template_dialect(const struct template_opts *o)
{
	return template_is_0_9(o) ? DIALECT_0_9 : DIALECT_NOW;
}

bool template_is_0_9(const struct template_opts *o)
{
	return o->dialect == 1;
}

struct recipe_ref *template_ref(struct cli *cli, const struct template_opts *o, bool any,
	size_t count, const char *const *words, bool *stdin_used)
{
	*stdin_used = false;
	if (!values_claim_stdin(cli, words[0], stdin_used))
		return NULL;
	AUTO_JSON *values = values_read(cli, &o->values, count - 1, words + 1, stdin_used);
	AUTO_JSON *given = json_array();
	AUTO_JSON *from_environment = json_array();
	if (!values || !secrets_take(cli, &o->secrets, values, given, from_environment))
		return NULL;
	return recipes_open(cli_app(cli), words[0],
		&(struct recipe_open){
			.as = any && !o->template ? OPERAND_ANY : OPERAND_TEMPLATE,
			.dialect_0_9 = template_is_0_9(o),
			.values = values,
		},
		&cli->report);
}

struct plan *template_plan(struct cli *cli, const struct template_opts *o, size_t count,
	const char *const *words, bool *stdin_used)
{
	struct recipe_ref *ref = template_ref(cli, o, false, count, words, stdin_used);
	struct plan *p = ref ? plan_new(ref->graph, ref->values, &cli->report) : NULL;

	recipe_ref_free(ref);
	return p;
}
