#include "data/doc.h"
#include "data/toml-reader.h"
#include "data/toml.h"

/* The text is read again, and only for diagnostics. */
struct tree {
	struct report ignored;
	struct toml_reader reader;
	const struct toml_node *root;
	bool read;
};

/* A locator that keeps what it has read. */
struct index {
	struct locator locator;
	struct arena *arena;
	struct tree tree;
};

struct look {
	struct arena arena;
	struct tree temporary;
	struct toml_reader reader;    /* with texts of its own */
	const struct toml_node *node; /* what was looked for, or what is nearest above it */
	bool exact;
};

static const struct toml_node *below(
	const struct look *l, const struct toml_node *n, const struct place *p)
{
	if (p->key.p)
		return n->kind == TOML_TABLE ? toml_member(&l->reader, n, p->key) : NULL;
	if (n->kind != TOML_ARRAY)
		return NULL;
	n = n->first;
	for (size_t i = 0; n && i < p->index; i++)
		n = n->next;
	return n;
}

/* From the root down to `p`. */
static void follow(struct look *l, const struct place *p)
{
	if (!p->up)
		return;
	follow(l, p->up);
	const struct toml_node *n = l->exact ? below(l, l->node, p) : NULL;
	l->node = n ? n : l->node;
	l->exact = n != NULL;
}

static void read_tree(struct tree *t, const struct place *p, struct arena *a)
{
	toml_reader_init(&t->reader, &p->doc->source, a, &t->ignored);
	t->root = toml_parse(&t->reader);
	t->read = true;
	toml_reader_done(&t->reader);
	report_done(&t->ignored);
}

static void look(struct look *l, const struct place *p)
{
	bool keeps = p->doc->locator != &toml_locator;
	struct index *i = keeps ? container_of(p->doc->locator, struct index, locator) : NULL;

	*l = (struct look){ 0 };
	struct tree *t = keeps ? &i->tree : &l->temporary;
	if (!t->read)
		read_tree(t, p, keeps ? i->arena : &l->arena);
	l->reader = t->reader;
	l->node = t->root;
	l->exact = l->node != NULL;
	if (l->node)
		follow(l, p);
}

static void look_done(struct look *l)
{
	toml_reader_done(&l->reader);
	arena_done(&l->arena);
}

static struct where where_of(const struct look *l, const struct place *p)
{
	return (struct where){ &p->doc->source, l->node ? l->node->at : 0,
		l->node ? l->node->len : 0 };
}

static struct where value_where(const struct place *p)
{
	struct look l;

	look(&l, p);
	struct where w = where_of(&l, p);
	look_done(&l);
	return w;
}

static struct where key_where(const struct place *p)
{
	struct look l;

	look(&l, p);
	struct where w = where_of(&l, p);
	if (l.exact && l.node->key_len)
		w = (struct where){ w.source, l.node->key_at, l.node->key_len };
	look_done(&l);
	return w;
}

/* `len` bytes at `index` of a string, counted through its escapes. */
static struct where in_string(
	struct toml_reader *r, const struct toml_node *n, size_t index, size_t len)
{
	r->at = n->at;
	struct toml_string s = toml_string_begin(r);
	size_t begin = r->at, end = r->at;

	while (r->scratch.len < index + len) {
		size_t done = r->scratch.len;

		end = r->at;
		if (done <= index)
			begin = r->at;
		if (toml_string_step(r, s) != TOML_STEP_MORE)
			break;
		/* A line end that stands for nothing belongs to nothing. */
		end = r->scratch.len > done ? r->at : end;
	}
	return (struct where){ r->source, begin, MAX(end - begin, (size_t)1) };
}

static struct where within_where(const struct place *p, size_t index, size_t len)
{
	struct look l;

	look(&l, p);
	struct where w = where_of(&l, p);
	if (l.exact && l.node->kind == TOML_STRING)
		w = in_string(&l.reader, l.node, index, len);
	look_done(&l);
	return w;
}

const struct locator toml_locator = { value_where, key_where, within_where };

const struct locator *toml_locator_new(struct arena *a)
{
	struct index *i = arena_new(a, struct index);

	*i = (struct index){ .locator = toml_locator, .arena = a };
	return &i->locator;
}
