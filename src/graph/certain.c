#include "graph/certain.h"

#include "base/map.h"
#include "graph/plan.h"
#include "template/braces.h"
#include "template/resolve.h"

struct certain {
	struct report *r;
	struct arena a;
};

/* -- words ---------------------------------------------------------------------------------------
 */

static void check_words(struct certain *c, const struct node *n)
{
	for (size_t i = 0; i < n->word_count; i++) {
		const struct text *t = n->words[i].text;

		if (str_find(t->raw, '\0', 0) == t->raw.len)
			continue;
		report_error(c->r, braces_where(t, 0, t->raw.len),
			"the word has a NUL character in it, which no argument can have");
		report_hint(c->r, "leave it out");
	}
}

/* -- defaults ------------------------------------------------------------------------------------
 */

enum mark { MARK_NONE, MARK_ON_THE_WAY, MARK_DONE };

/* The defaults that are followed from one node. */
struct following {
	struct certain *c;
	const struct scope *s;
	struct map marks; /* name → enum mark */
	bool circle;
};

static void follow(struct following *f, struct str name);

static void follow_parts(struct following *f, const struct preset *p)
{
	for (size_t i = 0; i < p->part_count && !f->circle; i++) {
		const struct placeholder *place = p->parts[i].placeholder;

		if (place && place->name.len)
			follow(f, place->name);
	}
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
	if (default_find(f->s, name, f->s, &hit) && hit.preset && !hit.generated)
		follow_parts(f, hit.preset);
	if (!f->circle)
		*map_put(&f->marks, &f->c->a, name) = (void *)MARK_DONE;
}

static void check_defaults(struct certain *c, const struct node *n, const struct scope *s)
{
	struct following f = { .c = c, .s = s };

	for (size_t i = 0; n->defaults && i < n->defaults->count; i++) {
		const struct preset *p = &n->defaults->at[i];

		if (!p->part_count || presets_find(n->defaults, p->name) != p)
			continue;
		follow(&f, p->name);
		if (!f.circle)
			continue;
		report_error(c->r, place_where(p->place ? p->place : n->place),
			"the default of '%.*s' leads back to itself", STR(p->name));
		report_hint(c->r, "defaults that name each other have no value");
		return; /* the others of the circle have the same mistake */
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
	if (n->kind != NODE_EACH)
		check_defaults(c, n, s);
	check_words(c, n);
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
