#include "app/context/executor.h"

bool executor_split(
	struct str on, struct arena *a, struct str *name, struct str *class, struct report *r)
{
	size_t colon = str_find(on, ':', 0);
	bool classed = colon < on.len;

	*name = arena_str(a, str_sub(on, 0, colon));
	*class = classed ? arena_str(a, str_from(on, colon + 1)) : S("");
	bool here = str_eq(*name, S("local"));
	if (!name->len || (classed && (here || !class->len))) {
		report_error(r, (struct where){ 0 }, "'%.*s' does not name an executor", STR(on));
		return report_hint(r, "write NAME or NAME:CLASS, or local, which has no classes");
	}
	if (here)
		*name = *class = S("");
	return true;
}

bool executor_has_class(const struct table *t, struct str class, struct report *r)
{
	if (!class.len || table_class(t, class))
		return true;
	report_error(r, (struct where){ 0 }, "the executor '%.*s' has no class '%.*s'",
		STR(t->name), STR(class));
	return report_hint(
		r, "[executors.%.*s.classes.NAME] in config.toml makes one", STR(t->name));
}

bool executor_choose(struct app *a, struct str on, struct arena *arena, struct executor_choice *ret,
	struct report *r)
{
	const struct settings *s = app_settings(a, r);

	*ret = (struct executor_choice){ .name = S(""), .class = S("") };
	if (!s)
		return false;
	if (!executor_split(on, arena, &ret->name, &ret->class, r))
		return false;
	if (!ret->name.len)
		return true;
	AUTO_JSON *resolved = table_resolve(s->executors, ret->name, r);
	ret->table = resolved ? table_load(resolved, ret->name, r) : NULL;
	return ret->table && executor_has_class(ret->table, ret->class, r);
}

void executor_choice_done(struct executor_choice *c)
{
	table_free(c->table);
	c->table = NULL;
}
