#include "app/catalog/placement.h"

#include "graph/plan.h"
#include "graph/step.h"
#include "steps/compile/compile.h"
#include "steps/language/reference.h"
#include "template/resolve.h"

struct checking {
	const struct placement *p;
	const json_t *secrets; /* see struct secret_use */
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

/* `secrets` are names of values with the name that people know the secret by: a value can hold
 * another one. */
struct secret_use {
	const json_t *secrets;
	const struct scope
		*scope; /* NULL: of a step recipe, whose variables are not looked at again */
	unsigned hops;
	const char *found; /* NULL: none is used */
};

static void see_name(struct secret_use *u, struct str name)
{
	const json_t *secret = json_object_getn(u->secrets, name.p, name.len);
	struct default_hit hit;

	if (secret)
		u->found = json_string_value(secret);
	/* What is given is taken as it is; a default may name others. */
	if (secret || !u->scope || scope_value(u->scope, name) || u->hops > HOPS_MAX ||
		!default_find(u->scope, name, u->scope, &hit) || hit.generated)
		return;
	u->hops++;
	for (size_t i = 0; i < hit.preset->part_count; i++)
		if (hit.preset->parts[i].placeholder)
			see_name(u, hit.preset->parts[i].placeholder->name);
	u->hops--;
}

static void see_placeholder(void *data, const struct placeholder *p)
{
	see_name(data, p->name);
}

static void see_text(struct secret_use *u, const struct text *t)
{
	if (t)
		t->ops->walk(t, see_placeholder, u);
}

static void see_step_text(struct secret_use *u, struct str text)
{
	struct reference ref;
	size_t at = 0;

	while (reference_next(text, &at, &ref))
		see_name(u, reference_variable(&ref));
}

/* Everything that an order of its command has. */
static void see_step(struct secret_use *u, const struct step_bash *bash)
{
	see_step_text(u, bash->command.text);
	see_step_text(u, bash->cwd.text);
	see_step_text(u, bash->stdin.text);
	for (size_t i = 0; i < bash->env_count; i++)
		see_step_text(u, bash->env[i].text.text);
}

static void see_command(struct secret_use *u, const struct node *n)
{
	bool cwd = false; /* the innermost holds */

	for (size_t i = 0; i < n->word_count; i++)
		see_text(u, n->words[i].text);
	for (const struct node *up = n; up; up = up->parent ? up->parent : up->owner) {
		for (size_t i = 0; i < up->env_count; i++)
			see_text(u, up->env[i].text);
		if (!cwd)
			see_text(u, up->cwd);
		cwd |= up->cwd != NULL;
	}
}

/* A value that may not be written down cannot go with an order either. */
static void check_secrets(struct checking *c, const struct node *n, const struct walk_call *within,
	const struct scope *s)
{
	struct secret_use use = { c->secrets, n->step ? NULL : s, 0, NULL };
	struct shape shape;

	if (!json_object_size(c->secrets) || !placement_of(c->p, n, within, &shape))
		return;
	if (n->step)
		see_step(&use, &step_of(n)->bash);
	else
		see_command(&use, n);
	if (!use.found)
		return;
	c->ok = report_error(c->r, place_where(n->place),
		"the command needs the secret '%s', which may not be written to the shared "
		"directory of '%.*s'",
		use.found, STR(c->p->table->name));
	report_hint(c->r, "add \"runs_on\": \"local\" to it, or set secrets = \"file\" of the "
			  "executor in config.toml");
}

static bool is_new(json_t *secrets, struct str name, const struct secret_use *use)
{
	return use->found && name.len && !json_object_getn(secrets, name.p, name.len) &&
	       json_object_setn_new(secrets, name.p, name.len, json_string(use->found)) == 0;
}

/* Variables that loops set from secrets. Whether there are new ones. */
static bool learn_variables(const struct node *n, json_t *secrets)
{
	const struct node_loop *loop = n->step ? &n->step->loop : NULL;
	bool more = false;

	if (loop && loop->list) {
		struct secret_use use = { .secrets = secrets };

		see_step_text(&use, loop->list->raw);
		more |= is_new(secrets, loop->as, &use);
	}
	for (size_t i = 0; loop && i < loop->update_count; i++) {
		struct secret_use use = { .secrets = secrets };

		if (loop->updates[i].text)
			see_step_text(&use, loop->updates[i].text->raw);
		more |= is_new(secrets, loop->updates[i].name, &use);
	}
	for (size_t i = 0; i < n->child_count; i++)
		more |= learn_variables(n->children[i], secrets);
	return more;
}

/* What a step recipe is given by the node that imports it. */
static void learn_defaults(const struct node *n, const struct scope *s, json_t *secrets)
{
	for (size_t i = 0; n->defaults && i < n->defaults->count; i++) {
		struct secret_use use = { .secrets = secrets, .scope = s };

		see_name(&use, n->defaults->at[i].name);
		(void)is_new(secrets, n->defaults->at[i].name, &use);
	}
}

static void check(struct checking *c, const struct node *n, const struct walk_call *within,
	const struct scope *up);

static void check_call(struct checking *c, const struct node *n, const struct walk_call *within,
	const struct scope *s)
{
	AUTO_JSON *secrets = json_copy((json_t *)c->secrets);
	struct checking inner = { c->p, secrets, c->r, true };

	learn_defaults(n, s, secrets);
	while (learn_variables(n->call->root, secrets))
		;
	check(&inner, n->call->root, &(struct walk_call){ n, within }, NULL);
	c->ok &= inner.ok;
}

static void check(struct checking *c, const struct node *n, const struct walk_call *within,
	const struct scope *up)
{
	struct scope room;
	const struct scope *s = plan_enter(n, up, &room);

	if (n->kind == NODE_COMMAND) {
		check_needs(c, n, within);
		check_secrets(c, n, within, s);
	}
	if (n->recover)
		check(c, n->recover, within, s);
	for (size_t i = 0; i < n->child_count; i++)
		check(c, n->children[i], within, s);
	if (n->call)
		check_call(c, n, within, s);
}

bool placement_check(const struct placement *p, const struct node *root, const struct scope *scope,
	const json_t *secrets, struct report *r)
{
	AUTO_JSON *names = json_object();
	struct checking c = { p, names, r, true };
	json_t *name;
	size_t i;

	json_array_foreach(secrets, i, name) json_object_set(names, json_string_value(name), name);
	while (learn_variables(root, names))
		;
	check(&c, root, NULL, scope);
	return c.ok;
}
