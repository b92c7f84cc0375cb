#include "graph/certain.h"

#include "base/map.h"
#include "graph/plan.h"
#include "template/braces.h"
#include "template/resolve.h"

struct certain {
	struct report *r;
	struct arena a;
	struct map told; /* address of a default that was told of → anything */
};

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
	void **told = map_put(&f->c->told, &f->c->a, arena_printf(&f->c->a, "%p", (void *)p));
	struct str text = json_str(p->value);

	if (*told || str_find(text, '\0', 0) == text.len)
		return;
	*told = f;
	report_error(f->c->r, preset_where(f, p),
		"the default of '%.*s' has a NUL character in it, which no argument can have",
		STR(p->name));
	report_hint(f->c->r, "leave it out");
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
		follow_parts(f, hit.preset);
	}
	if (!f->circle)
		*map_put(&f->marks, &f->c->a, name) = (void *)MARK_DONE;
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
		report_error(c->r, preset_where(&f, p),
			"the default of '%.*s' leads back to itself", STR(p->name));
		report_hint(c->r, "defaults that name each other have no value");
		return; /* the others of the circle have the same mistake */
	}
}

/* -- words ---------------------------------------------------------------------------------------
 */

static void see_placeholder(void *data, const struct placeholder *p)
{
	struct following *f = data;

	if (p->name.len && is_written(p) && !f->circle)
		follow(f, p->name);
}

static void check_words(struct certain *c, const struct node *n, const struct scope *s)
{
	struct following f = { .c = c, .n = n, .s = s, .words = true };

	for (size_t i = 0; i < n->word_count; i++) {
		const struct text *t = n->words[i].text;

		t->ops->walk(t, see_placeholder, &f);
		if (str_find(t->raw, '\0', 0) == t->raw.len)
			continue;
		report_error(c->r, braces_where(t, 0, t->raw.len),
			"the word has a NUL character in it, which no argument can have");
		report_hint(c->r, "leave it out");
	}
}

/* -- nodes ---------------------------------------------------------------------------------------
 */

/* What may be skipped, and recoveries, are looked at only when they run. */
static void check_node(struct certain *c, const struct node *n, const struct scope *up)
{
	struct scope room;

	if (!n->runs || n->when)
		return;
	const struct scope *s = plan_enter(n, up, &room);
	if (n->kind != NODE_EACH) {
		check_defaults(c, n, n->defaults, s);
		check_defaults(c, n, n->args, s);
	}
	check_words(c, n, s);
	for (size_t i = 0; i < n->child_count; i++)
		check_node(c, n->children[i], s);
}

void certain_check(const struct graph *g, struct report *r)
{
	struct certain c = { .r = r };
	struct scope top = { 0 };

	if (!g->steps)
		check_node(&c, g->root, &top);
	arena_done(&c.a);
}
