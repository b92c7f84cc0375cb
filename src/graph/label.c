#include "graph/label.h"

#include "base/map.h"
#include "template/resolve.h"

/* -- reading -------------------------------------------------------------------------------------
 */

/* What is not a placeholder is text. */
static bool keep_group(void *data, struct str group, const struct placeholder_mistake *wrong)
{
	(void)data;
	(void)group;
	(void)wrong;
	return true;
}

static void cut_label(struct reader *rd, struct node *n)
{
	struct part *parts;
	size_t begin, end;

	if (!brace_group(n->label, 0, &begin, &end))
		return;
	size_t count = placeholder_cut(rd->a, n->label, rd->d, &parts, keep_group, NULL);
	if (count == SIZE_MAX)
		return;
	n->label_parts = parts;
	n->label_part_count = count;
}

void label_read(struct reader *rd, struct node *n, const struct members *m)
{
	struct str label = json_str(m->at[FIELD_LABEL]);

	for (size_t i = 0; i < label.len; i++) {
		if ((unsigned char)label.p[i] < 0x20 || label.p[i] == 0x7f) {
			report_error(rd->r, place_where_in(m->place[FIELD_LABEL], i, 1),
				"`label` has a control character in it, expected one line of text");
			return;
		}
	}
	n->label = label;
	cut_label(rd, n);
}

/* -- names that stand for nothing ----------------------------------------------------------------
 */

/* The names that commands, guards and defaults use or declare. */
struct names {
	struct arena arena;
	struct map map;
};

static void note(struct names *k, struct str name)
{
	if (name.len)
		*map_put(&k->map, &k->arena, name) = k;
}

static void see(void *data, const struct placeholder *p)
{
	note(data, p->name);
}

static void note_text(struct names *k, const struct text *t)
{
	if (t && t->ops->walk)
		t->ops->walk(t, see, k);
}

static void note_presets(struct names *k, const struct presets *p)
{
	for (size_t i = 0; p && i < p->count; i++)
		note(k, p->at[i].name);
}

static bool collect(struct names *k, const struct node *n)
{
	bool labels = n->label_parts != NULL;

	note_text(k, n->when);
	note_text(k, n->delay_ms.text);
	note_text(k, n->timeout_ms.text);
	note_text(k, n->retry.text);
	note_presets(k, n->defaults);
	note_presets(k, n->args);
	note(k, n->count.array);
	for (size_t i = 0; i < n->word_count; i++)
		note_text(k, n->words[i].text);
	for (size_t i = 0; i < n->child_count; i++)
		labels |= collect(k, n->children[i]);
	return (n->recover && collect(k, n->recover)) || labels;
}

/* Whether it can stand for something: it has a text of its own, or a name that is known. */
static bool is_known(const struct names *k, const struct placeholder *p)
{
	struct str bare;
	size_t underscores;

	return p->kind == PLACEHOLDER_EXPR || p->kind == PLACEHOLDER_DEFAULT ||
	       p->kind == PLACEHOLDER_FALLBACK || p->kind == PLACEHOLDER_CONDITION ||
	       repeat_name(p->name, &bare, &underscores) || map_get(&k->map, p->name);
}

static void warn(struct graph *g, const struct names *k, const struct node *n)
{
	for (size_t i = 0; i < n->label_part_count; i++) {
		const struct part *p = &n->label_parts[i];

		if (!p->placeholder || is_known(k, p->placeholder))
			continue;
		report_warning(&g->warnings, place_where_for(&g->warnings, n->place),
			"'%.*s' in the label stays as it is written: nothing else uses that name",
			STR(report_quote(&g->warnings, p->text)));
	}
	for (size_t i = 0; i < n->child_count; i++)
		warn(g, k, n->children[i]);
	if (n->recover)
		warn(g, k, n->recover);
}

void label_names_warn(struct graph *g)
{
	struct names k = { 0 };

	if (collect(&k, g->root))
		warn(g, &k, g->root);
	arena_done(&k.arena);
}

void label_resolve(const struct node *n, const struct scope *scope, struct buf *b)
{
	if (!n->label_parts || !scope) {
		buf_add(b, n->label);
		return;
	}
	for (size_t i = 0; i < n->label_part_count; i++) {
		const struct part *p = &n->label_parts[i];
		AUTO_RESOLVER rs = { .scope = scope };
		size_t before = b->len;

		if (p->placeholder && resolver_parts(&rs, p, 1, b, NULL))
			continue;
		buf_truncate(b, before);
		buf_add(b, p->text);
	}
}
