#include "graph/certain.h"

#include "base/map.h"
#include "graph/plan.h"
#include "template/braces.h"
#include "template/resolve.h"

struct certain {
	struct report *r;
	struct arena a;
	struct map given; /* names that have a value whenever it runs → anything */
	struct map told;  /* address of a default whose NUL was told of → anything */
	struct map round; /* the same of one whose circle was → anything */
};

/* What a recipe has a value for, and what it declares as an argument and gives no default at its
 * top: a default further in that leads back to it is not asked. */
static void add_given(struct certain *c, const struct graph *g)
{
	const char *name;
	json_t *entry;
	size_t i;

	json_object_foreach(g->values, name, entry) * map_put(&c->given, &c->a, str_of(name)) = c;
	json_array_foreach(g->args, i, entry)
	{
		struct declaration d;

		if (declaration_parse(json_str(entry), &d) && !d.fallback.p &&
			!presets_find(g->root->defaults, d.name))
			*map_put(&c->given, &c->a, d.name) = c;
	}
}

static void **slot_of(struct certain *c, struct map *m, const struct preset *p)
{
	return map_put(m, &c->a, arena_printf(&c->a, "%p", (const void *)p));
}

/* -- defaults ------------------------------------------------------------------------------------
 */

enum mark { MARK_NONE, MARK_ON_THE_WAY, MARK_DONE };

/* The defaults that are followed from one node. */
struct following {
	struct certain *c;
	const struct node *n;
	const struct scope *s;
	struct map marks; /* name → enum mark */
	bool words;       /* from its words: what is found stands in one */
	bool circle;
	bool known; /* the circle was told of before */
};

static void follow(struct following *f, struct str name);

/* Whether more of the value stands in the text than whether it is there. */
static bool is_written(const struct placeholder *p)
{
	return p->kind != PLACEHOLDER_CONDITION && p->kind != PLACEHOLDER_EXPR;
}

static void follow_parts(struct following *f, const struct preset *p)
{
	for (size_t i = 0; i < p->part_count && !f->circle; i++) {
		const struct placeholder *place = p->parts[i].placeholder;

		if (place && place->name.len && (!f->words || is_written(place)))
			follow(f, place->name);
	}
}

static struct where preset_where(const struct following *f, const struct preset *p)
{
	return place_where(p->place ? p->place : f->n->place);
}

static void check_nul(struct following *f, const struct preset *p)
{
	void **told = slot_of(f->c, &f->c->told, p);
	struct str text = json_str(p->value);

	if (*told || str_find(text, '\0', 0) == text.len)
		return;
	*told = f;
	report_error(f->c->r, preset_where(f, p),
		"the default of '%.*s' has a NUL character in it, which no argument can have",
		STR(p->name));
	report_hint(f->c->r, "leave it out");
}

/* The default is part of the circle, or leads to it. */
static void note_circle(struct following *f, const struct preset *p)
{
	void **round = slot_of(f->c, &f->c->round, p);

	f->known |= *round != NULL;
	if (!f->words)
		*round = f->c;
}

static void follow(struct following *f, struct str name)
{
	struct default_hit hit;
	void **mark = map_put(&f->marks, &f->c->a, name);

	if (*mark == (void *)MARK_DONE)
		return;
	f->circle |= *mark == (void *)MARK_ON_THE_WAY;
	if (f->circle)
		return;
	*mark = (void *)MARK_ON_THE_WAY;
	if (default_find(f->s, name, f->s, &hit) && hit.preset && !hit.generated) {
		if (f->words)
			check_nul(f, hit.preset);
		if (!map_get(&f->c->given, name))
			follow_parts(f, hit.preset);
		if (f->circle)
			note_circle(f, hit.preset);
	}
	if (!f->circle)
		*map_put(&f->marks, &f->c->a, name) = (void *)MARK_DONE;
}

static void tell_circle(const struct following *f, const struct preset *p)
{
	if (f->known)
		return; /* the others of the circle have the same mistake */
	report_error(f->c->r, preset_where(f, p), "the default of '%.*s' leads back to itself",
		STR(p->name));
	report_hint(f->c->r, "defaults that name each other have no value");
}

/* `presets` are the node's own defaults, or those that its `args` have in them. */
static void check_defaults(struct certain *c, const struct node *n, const struct presets *presets,
	const struct scope *s)
{
	struct following f = { .c = c, .n = n, .s = s };

	for (size_t i = 0; presets && i < presets->count; i++) {
		const struct preset *p = &presets->at[i];
		struct default_hit hit;

		if (!p->part_count || presets_find(presets, p->name) != p)
			continue;
		/* What `defaults` say of a name comes before what `args` do. */
		if (presets == n->args && !(default_find(s, p->name, s, &hit) && hit.preset == p))
			continue;
		follow(&f, p->name);
		if (!f.circle)
			continue;
		tell_circle(&f, p);
		return;
	}
}

static void see_guard(void *data, const struct placeholder *p)
{
	struct following *f = data;
	struct default_hit hit;

	if (!p->name.len || f->circle)
		return;
	follow(f, p->name);
	if (f->circle && default_find(f->s, p->name, f->s, &hit) && hit.preset)
		tell_circle(f, hit.preset);
}

/* The guard is looked at before anything else of the node is. */
static void check_guard(struct certain *c, const struct node *n, const struct scope *s)
{
	struct following f = { .c = c, .n = n, .s = s };

	n->when->ops->walk(n->when, see_guard, &f);
}

/* -- words ---------------------------------------------------------------------------------------
 */

static void see_placeholder(void *data, const struct placeholder *p)
{
	struct following *f = data;

	if (p->name.len && is_written(p) && !f->circle)
		follow(f, p->name);
}

/* `what` the text is, and what it becomes. */
static void check_text(
	struct following *f, const struct text *t, const char *what, const char *becomes)
{
	if (!t)
		return;
	t->ops->walk(t, see_placeholder, f);
	if (str_find(t->raw, '\0', 0) == t->raw.len)
		return;
	report_error(f->c->r, braces_where(t, 0, t->raw.len),
		"the %s has a NUL character in it, which no %s can have", what, becomes);
	report_hint(f->c->r, "leave it out");
}

static void check_words(struct certain *c, const struct node *n, const struct scope *s)
{
	struct following f = { .c = c, .n = n, .s = s, .words = true };

	for (size_t i = 0; i < n->word_count; i++)
		check_text(&f, n->words[i].text, "word", "argument");
	for (size_t i = 0; i < n->env_count; i++)
		check_text(&f, n->env[i].text, "value", "variable");
	check_text(&f, n->cwd, "path", "directory");
}

/* -- nodes ---------------------------------------------------------------------------------------
 */

/* What may be skipped, and recoveries, are looked at only when they run. `copy`: it is one of
 * several, so that {index} and its like have values. */
static void check_node(struct certain *c, const struct node *n, const struct scope *up, bool copy)
{
	struct scope room;

	if (!n->runs)
		return;
	const struct scope *s =
		copy ? plan_enter_copy(n, up, 0, 1, &room) : plan_enter(n, up, &room);
	if (n->when) {
		check_guard(c, n, s);
		return;
	}
	if (n->kind != NODE_EACH) {
		check_defaults(c, n, n->defaults, s);
		check_defaults(c, n, n->args, s);
	}
	check_words(c, n, s);
	for (size_t i = 0; i < n->child_count; i++)
		check_node(c, n->children[i], s, n->kind == NODE_EACH);
}

void certain_check(const struct graph *g, struct report *r)
{
	struct certain c = { .r = r };
	struct scope top = { 0 };

	if (g->steps)
		return;
	add_given(&c, g);
	check_node(&c, g->root, &top, false);
	arena_done(&c.a);
}
