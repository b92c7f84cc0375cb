#include "graph/certain.h"

#include "base/map.h"
#include "graph/plan.h"
#include "graph/settings.h"
#include "template/braces.h"
#include "template/expr.h"
#include "template/resolve.h"

/* Copies whose arithmetic is worked out, and guesses at what is not known. */
enum { COPIES_MAX = 1000, GUESSES = 16 };

struct certain {
	struct report *r;
	struct arena a;
	const json_t *values; /* of the recipe: its defaults of these names are not asked */
	struct map given;     /* names that have a value whenever it runs → anything */
	struct map told;      /* address of a default whose NUL was told of → anything */
	struct map round;     /* the same of one whose circle was → anything */
	struct map sums;      /* the same of one whose arithmetic was → anything */
};

/* The copies that a node is in. */
struct copies {
	bool any;
	uint64_t count; /* 0: not known */
};

/* What a recipe has a value for, and what it declares as an argument and gives no default at its
 * top: a default further in that leads back to it is not asked. */
static void add_given(struct certain *c, const struct graph *g)
{
	const char *name;
	json_t *entry;
	size_t i;

	c->values = g->values;
	json_object_foreach(g->values, name, entry) * map_put(&c->given, &c->a, str_of(name)) = c;
	json_array_foreach(g->args, i, entry)
	{
		struct declaration d;

		if (declaration_parse(json_str(entry), &d) && !d.fallback.p &&
			!presets_find(g->root->defaults, d.name))
			*map_put(&c->given, &c->a, d.name) = c;
	}
}

static bool has_value(const struct certain *c, struct str name)
{
	return json_object_getn(c->values, name.p, name.len) != NULL;
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
	const struct copies *copies;
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

static void check_nul(struct following *f, const struct preset *p, struct str text)
{
	void **told = slot_of(f->c, &f->c->told, p);

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

/* -- arithmetic ----------------------------------------------------------------------------------
 */

static bool of_copy(void *copy, struct str name, int64_t *ret)
{
	*ret = scope_generated(copy, name);
	return true;
}

/* Outside a repeat the names are values, of which nothing is known. */
static bool guessed(void *guess, struct str name, int64_t *ret)
{
	(void)name;
	*ret = *(int64_t *)guess;
	return true;
}

static enum expr_status in_copy(struct str expr, int64_t index, int64_t count)
{
	struct scope copy = { .repeats = true, .index = index, .count = count };
	struct str name;
	int64_t n;

	return expr_eval(expr, of_copy, &copy, &n, &name);
}

static enum expr_status with_guess(struct str expr, int64_t guess)
{
	struct str name;
	int64_t n;

	return expr_eval(expr, guessed, &guess, &n, &name);
}

/* EXPR_OK unless it is certain to fail: in some copy when their number is known, else in the first,
 * however many there are. */
static enum expr_status sure_status(const struct copies *copies, struct str expr)
{
	enum expr_status status = EXPR_OK;

	if (copies->count) {
		int64_t known = (int64_t)MIN(copies->count, (uint64_t)COPIES_MAX);

		for (int64_t i = 0; i < known && status == EXPR_OK; i++)
			status = in_copy(expr, i, (int64_t)copies->count);
		return status;
	}
	for (int64_t i = 0; i < GUESSES; i++) {
		status = copies->any ? in_copy(expr, 0, i + 1) : with_guess(expr, i - GUESSES / 2);
		if (status == EXPR_OK)
			break;
	}
	return status;
}

static void check_sum(const struct following *f, struct str expr, struct where w)
{
	enum expr_status status = sure_status(f->copies, expr);

	if (status == EXPR_ZERO)
		report_error(f->c->r, w, "'%.*s' divides by zero", STR(expr));
	else if (status == EXPR_OVERFLOW)
		report_error(f->c->r, w, "'%.*s' goes beyond 64 bits", STR(expr));
}

/* One that is arithmetic and nothing else; in a longer text it would stay as it is written. */
static void check_default_sum(struct following *f, const struct preset *p)
{
	if (!one_placeholder(p->parts, p->part_count) ||
		p->parts[0].placeholder->kind != PLACEHOLDER_EXPR)
		return;
	void **told = slot_of(f->c, &f->c->sums, p);
	if (!*told)
		check_sum(f, p->parts[0].placeholder->expr, preset_where(f, p));
	*told = f->c;
}

/* -- following -----------------------------------------------------------------------------------
 */

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
		if (f->words && !has_value(f->c, name))
			check_nul(f, hit.preset, json_str(hit.preset->value));
		if (!map_get(&f->c->given, name)) {
			if (f->words)
				check_default_sum(f, hit.preset);
			follow_parts(f, hit.preset);
		}
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

/* -- texts ---------------------------------------------------------------------------------------
 */

/* A text of the node that is followed. */
struct reading {
	struct following f;
	const struct text *text;
};

static void check_text_sum(struct reading *r, const struct placeholder *p)
{
	if (p->kind != PLACEHOLDER_EXPR)
		return;
	/* With its braces. */
	size_t offset = (size_t)(p->content.p - r->text->raw.p) - 1;
	check_sum(&r->f, p->expr, braces_where(r->text, offset, p->content.len + 2));
}

static void see_guard(void *data, const struct placeholder *p)
{
	struct reading *r = data;
	struct following *f = &r->f;
	struct default_hit hit;

	check_text_sum(r, p);
	if (!p->name.len || f->circle)
		return;
	follow(f, p->name);
	if (f->circle && default_find(f->s, p->name, f->s, &hit) && hit.preset)
		tell_circle(f, hit.preset);
}

/* The guard is looked at before anything else of the node is. */
static void check_guard(
	struct certain *c, const struct node *n, const struct scope *s, const struct copies *copies)
{
	struct reading r = { { .c = c, .n = n, .s = s, .copies = copies }, n->when };

	n->when->ops->walk(n->when, see_guard, &r);
}

/* Items that are written for certain: all, the one of a number, or that of the first copy. */
static void check_items(struct following *f, const struct placeholder *p)
{
	struct default_hit hit;
	struct str bare;
	size_t underscores;
	uint64_t only = 0;
	bool all = p->kind == PLACEHOLDER_SPREAD;

	if (!all &&
		(p->kind != PLACEHOLDER_ITEM ||
			(!str_to_uint(p->index, &only) &&
				!(f->copies->any && repeat_name(p->index, &bare, &underscores) &&
					str_eq(bare, S("index"))))))
		return;
	if (has_value(f->c, p->name) || !default_find(f->s, p->name, f->s, &hit) || !hit.preset ||
		hit.generated)
		return;
	const json_t *items = hit.preset->value;
	for (size_t i = all ? 0 : only; i < (all ? json_array_size(items) : only + 1); i++)
		check_nul(f, hit.preset, json_str(json_array_get(items, i)));
}

static void see_placeholder(void *data, const struct placeholder *p)
{
	struct reading *r = data;

	check_text_sum(r, p);
	if (p->name.len && is_written(p) && !r->f.circle)
		follow(&r->f, p->name);
	if (p->name.len && r->f.words)
		check_items(&r->f, p);
}

static void walk_text(struct reading *r, const struct text *t)
{
	r->text = t;
	if (t)
		t->ops->walk(t, see_placeholder, r);
}

/* `what` the text is, and what it becomes. */
static void check_text(
	struct reading *r, const struct text *t, const char *what, const char *becomes)
{
	struct report *issues = r->f.c->r;

	walk_text(r, t);
	if (!t || str_find(t->raw, '\0', 0) == t->raw.len)
		return;
	report_error(issues, braces_where(t, 0, t->raw.len),
		"the %s has a NUL character in it, which no %s can have", what, becomes);
	report_hint(issues, "leave it out");
}

static void check_texts(
	struct certain *c, const struct node *n, const struct scope *s, const struct copies *copies)
{
	struct reading r = { .f = { c, n, s, copies, .words = true } };

	walk_text(&r, n->delay_ms.text);
	walk_text(&r, n->timeout_ms.text);
	walk_text(&r, n->retry.text);
	for (size_t i = 0; i < n->word_count; i++)
		check_text(&r, n->words[i].text, "word", "argument");
	for (size_t i = 0; i < n->env_count; i++)
		check_text(&r, n->env[i].text, "value", "variable");
	check_text(&r, n->cwd, "path", "directory");
}

/* -- nodes ---------------------------------------------------------------------------------------
 */

static void check_node(struct certain *c, const struct node *n, const struct scope *s,
	const struct copies *copies);

/* Their number may hang on a value that has to be given. */
static struct copies copies_of(const struct certain *c, const struct node *n, const struct scope *s)
{
	struct copies copies = { .any = true };
	AUTO_REPORT ignored = REPORT_INIT;

	if (n->count.array.p && map_get(&c->given, n->count.array))
		return copies;
	if (!count_resolve(&n->count, s, &copies.count, &ignored))
		copies.count = 0;
	return copies;
}

static void check_copies(
	struct certain *c, const struct node *n, const struct scope *s, const struct copies *around)
{
	struct copies copies = copies_of(c, n, s);
	struct scope room;

	if (n->when) {
		check_guard(c, n, s, braces_mentions_copy(n->when, s) ? &copies : around);
		return;
	}
	check_node(c, n->children[0], plan_enter_copy(n->children[0], s, 0, 1, &room), &copies);
}

static void check_group(
	struct certain *c, const struct node *n, const struct scope *s, const struct copies *copies)
{
	struct scope room;

	for (size_t i = 0; i < n->child_count; i++)
		check_node(c, n->children[i], plan_enter(n->children[i], s, &room), copies);
	/* It runs when it has failed, and fails itself then. */
	if (n->recover && (n->retry.text || n->retry.value > 1))
		check_node(c, n->recover, plan_enter(n->recover, s, &room), copies);
}

/* What may be skipped is looked at only when it runs. `s` is the scope inside the node. */
static void check_node(
	struct certain *c, const struct node *n, const struct scope *s, const struct copies *copies)
{
	if (!n->runs)
		return;
	if (n->kind == NODE_EACH) {
		check_copies(c, n, s, copies);
		return;
	}
	if (n->when) {
		check_guard(c, n, s, copies);
		return;
	}
	check_defaults(c, n, n->defaults, s);
	check_defaults(c, n, n->args, s);
	check_texts(c, n, s, copies);
	check_group(c, n, s, copies);
}

void certain_check(const struct graph *g, struct report *r)
{
	struct certain c = { .r = r };
	struct scope top = { 0 }, room;

	if (g->steps)
		return;
	add_given(&c, g);
	check_node(&c, g->root, plan_enter(g->root, &top, &room), &(struct copies){ 0 });
	arena_done(&c.a);
}
