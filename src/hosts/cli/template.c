#include "hosts/cli/template.h"

#include "app/source.h"
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

bool template_unknown_option(struct str name, struct report *r)
{
	enum field_id id = field_find(name, DIALECT_NOW);

	if (id == FIELD_COUNT || id == FIELD_TEMPLATE || fields[id].instead)
		return false;
	report_hint(
		r, "it is a field of the template: {\"%s\": …, \"template\": …}", fields[id].name);
	return true;
}

enum dialect template_dialect(const struct template_opts *o)
{
	return o->dialect == 1 ? DIALECT_0_9 : DIALECT_NOW;
}

struct plan *template_plan(struct cli *cli, const struct template_opts *o, bool any, size_t count,
	const char *const *words, bool *stdin_used)
{
	enum dialect d = template_dialect(o);

	*stdin_used = false;
	if (!values_claim_stdin(cli, words[0], stdin_used))
		return NULL;
	AUTO_JSON *values = values_read(cli, &o->values, count - 1, words + 1, stdin_used);
	struct graph *g = NULL;
	if (!values && *stdin_used)
		return NULL; /* who knows what was meant to be read from there */
	g = any && !o->template ? source_any(words[0], d, &cli->report)
				: source_template(words[0], d, &cli->report);
	struct plan *p = g && values ? plan_new(g, values, &cli->report) : NULL;
	graph_unref(g);
	return p;
}
