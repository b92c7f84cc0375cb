#include "app/catalog/placement.h"

#include "graph/graph.h"
#include "graph/step.h"

struct checking {
	const struct placement *p;
	const json_t *secrets;
	struct report *r;
	bool ok;
};

bool placement_of(const struct placement *p, const struct node *n, const struct walk_call *within,
	struct shape *ret)
{
	struct needs needs;
	bool own, says = machine_needs(n, within, &needs);

	if (machine_is_here(n, within) || (p->table->takes_needs && !says))
		return false;
	*ret = table_shape(p->table, &needs, p->class, &own);
	/* A class that the executor does not have is none. */
	const struct table_class *class = table_class(p->table, ret->class);
	ret->class = class ? class->name : S("");
	return true;
}

static void check_needs(struct checking *c, const struct node *n, const struct walk_call *within)
{
	const struct table *t = c->p->table;
	struct needs needs;
	struct shape shape;

	if (!placement_of(c->p, n, within, &shape))
		return;
	(void)machine_needs(n, within, &needs);
	AUTO_BUF lacks = BUF_INIT;
	if (table_lacks_class(t, &needs, &lacks) && !report_says(c->r, buf_str(&lacks)))
		/* About the settings more than about this node: warnings with a place are check's.
		 */
		report_warning(c->r, (struct where){ 0 }, "%s", buf_cstr(&lacks));
	if (needs.time_s <= shape.time_s)
		return;
	AUTO_BUF wanted = BUF_INIT;
	AUTO_BUF most = BUF_INIT;
	needs_seconds_text(&wanted, needs.time_s);
	needs_seconds_text(&most, shape.time_s);
	c->ok = report_error(c->r, place_where(n->place),
		"the command needs %s, and an allocation of '%.*s' has %s", buf_cstr(&wanted),
		STR(t->name), buf_cstr(&most));
	report_hint(c->r, "give the executor or a class of it a longer `time`");
}

/* -- secrets -------------------------------------------------------------------------------------
 */

struct secret_use {
	const json_t *secrets;
	const char *found; /* the name of the value */
};

static void see_placeholder(void *data, const struct placeholder *p)
{
	struct secret_use *u = data;
	json_t *name;
	size_t i;

	json_array_foreach(u->secrets, i, name)
	{
		if (str_eq(json_str(name), p->name))
			u->found = json_string_value(name);
	}
}

static void see_text(const struct text *t, struct secret_use *u)
{
	if (t)
		t->ops->walk(t, see_placeholder, u);
}

/* A value that may not be written down cannot go with an order either. */
static void check_secrets(struct checking *c, const struct node *n, const struct walk_call *within)
{
	struct secret_use use = { c->secrets, NULL };
	struct shape shape;
	json_t *name;
	size_t i;

	if (!json_array_size(c->secrets) || !placement_of(c->p, n, within, &shape))
		return;
	for (size_t k = 0; k < n->word_count; k++)
		see_text(n->words[k].text, &use);
	for (const struct node *up = n; up; up = up->parent ? up->parent : up->owner)
		for (size_t k = 0; k < up->env_count; k++)
			see_text(up->env[k].text, &use);
	json_array_foreach(c->secrets, i, name)
	{
		AUTO_BUF written = BUF_INIT;

		buf_printf(&written, "{{%s}}", json_string_value(name));
		if (n->step && str_contains(n->line, buf_str(&written)))
			use.found = json_string_value(name);
	}
	if (!use.found)
		return;
	c->ok = report_error(c->r, place_where(n->place),
		"the command needs the secret '%s', which may not be written to the shared "
		"directory of '%.*s'",
		use.found, STR(c->p->table->name));
	report_hint(c->r, "add \"runs_on\": \"local\" to it, or set secrets = \"file\" of the "
			  "executor in config.toml");
}

static void check(struct checking *c, const struct node *n, const struct walk_call *within)
{
	if (n->kind == NODE_COMMAND) {
		check_needs(c, n, within);
		check_secrets(c, n, within);
	}
	if (n->recover)
		check(c, n->recover, within);
	for (size_t i = 0; i < n->child_count; i++)
		check(c, n->children[i], within);
	if (n->call)
		check(c, n->call->root, &(struct walk_call){ n, within });
}

bool placement_check(
	const struct placement *p, const struct node *root, const json_t *secrets, struct report *r)
{
	struct checking c = { p, secrets, r, true };

	check(&c, root, NULL);
	return c.ok;
}
