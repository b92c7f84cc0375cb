#include "base/map.h"
#include "data/yaml-events.h"
#include "data/yaml-within.h"
#include "data/yaml.h"

/* Where every value of a text stands. Made for the first diagnostic, from a text that was read
 * without mistakes before; so what is refused there (aliases to what encloses them, expansion
 * without end) is not met here. */

enum kind { KIND_SCALAR, KIND_LIST, KIND_MAPPING, KIND_ALIAS };

struct spot {
	enum kind kind;
	yaml_scalar_style_t style;
	size_t begin, end;
	struct str text;           /* of a scalar, as it reads */
	const struct spot *target; /* of an alias */
	bool merge;                /* of a key: `<<` */
	struct spot *key;          /* of a member of a mapping */
	struct spot *first, *last; /* what it holds, in order */
	struct spot *next;
};

struct index {
	struct locator locator;
	struct arena *arena;
	const struct spot *root; /* NULL: not made yet */
};

/* -- making it -----------------------------------------------------------------------------------
 */

struct maker {
	struct yaml_events events;
	struct arena *a;
	struct map anchors;
};

static struct spot *make(struct maker *m, yaml_event_t *e);

static void hold(struct spot *s, struct spot *item)
{
	if (s->last)
		s->last->next = item;
	else
		s->first = item;
	s->last = item;
}

/* The items up to the event that ends them. False when the text ends before. */
static bool make_items(struct maker *m, struct spot *s, yaml_event_type_t end, bool flow)
{
	yaml_event_t e;

	for (;;) {
		if (!yaml_events_next(&m->events, &e))
			return false;
		if (e.type == end)
			break;
		struct spot *item = make(m, &e), *key = NULL;
		if (!item)
			return false;
		if (s->kind == KIND_MAPPING) {
			key = item;
			if (!yaml_events_next(&m->events, &e))
				return false;
			item = make(m, &e);
			if (!item)
				return false;
			item->key = key;
		}
		hold(s, item);
	}
	/* A block ends where the next thing begins, which is far behind its last item. */
	if (flow)
		s->end = yaml_events_offset(&m->events, &e.end_mark);
	else if (s->last)
		s->end = s->last->end;
	yaml_event_delete(&e);
	return true;
}

static const char *anchor_of(const yaml_event_t *e)
{
	const yaml_char_t *name = e->type == YAML_SCALAR_EVENT ? e->data.scalar.anchor
				  : e->type == YAML_SEQUENCE_START_EVENT
					  ? e->data.sequence_start.anchor
					  : e->data.mapping_start.anchor;

	return (const char *)name;
}

static void make_scalar(struct maker *m, struct spot *s, const yaml_event_t *e)
{
	struct str text = m->events.text;

	s->style = e->data.scalar.style;
	s->text = arena_str(
		m->a, (struct str){ (const char *)e->data.scalar.value, e->data.scalar.length });
	s->merge = s->style == YAML_PLAIN_SCALAR_STYLE && !e->data.scalar.tag &&
		   str_eq(s->text, S("<<"));
	/* A block scalar has the break behind its last line. */
	while (s->end > s->begin && (text.p[s->end - 1] == '\n' || text.p[s->end - 1] == '\r'))
		s->end--;
}

/* The node that begins with `e`, which ends here. NULL at a mistake. */
static struct spot *make(struct maker *m, yaml_event_t *e)
{
	struct spot *s = arena_new(m->a, struct spot);
	yaml_event_type_t type = e->type, end = YAML_NO_EVENT;
	bool flow = false;

	s->begin = yaml_events_offset(&m->events, &e->start_mark);
	s->end = yaml_events_offset(&m->events, &e->end_mark);
	if (type == YAML_ALIAS_EVENT) {
		s->kind = KIND_ALIAS;
		s->target = map_get(&m->anchors, str_of((const char *)e->data.alias.anchor));
		yaml_event_delete(e);
		return s;
	}
	const char *anchor = anchor_of(e);
	struct str name = anchor ? arena_str(m->a, str_of(anchor)) : S("");
	if (type == YAML_SCALAR_EVENT) {
		make_scalar(m, s, e);
	} else if (type == YAML_SEQUENCE_START_EVENT) {
		s->kind = KIND_LIST;
		flow = e->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
		end = YAML_SEQUENCE_END_EVENT;
	} else {
		s->kind = KIND_MAPPING;
		flow = e->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
		end = YAML_MAPPING_END_EVENT;
	}
	yaml_event_delete(e);
	if (end != YAML_NO_EVENT && !make_items(m, s, end, flow))
		return NULL;
	/* Only now: an alias never leads to what it stands in. */
	if (name.len)
		*map_put(&m->anchors, m->a, name) = s;
	return s;
}

static const struct spot *make_all(struct arena *a, struct str text)
{
	struct maker m = { .a = a };
	const struct spot *root = NULL;
	yaml_event_t e;

	yaml_events_init(&m.events, text);
	while (!root && yaml_events_next(&m.events, &e)) {
		bool around =
			e.type == YAML_STREAM_START_EVENT || e.type == YAML_DOCUMENT_START_EVENT;

		if (around || e.type == YAML_STREAM_END_EVENT) {
			yaml_event_delete(&e);
			if (!around)
				break;
			continue;
		}
		root = make(&m, &e);
		break;
	}
	yaml_events_done(&m.events);
	return root ? root : arena_new(a, struct spot);
}

/* -- finding -------------------------------------------------------------------------------------
 */

static const struct spot *resolved(const struct spot *s)
{
	while (s && s->kind == KIND_ALIAS)
		s = s->target;
	return s;
}

static bool has_text(const struct spot *key, struct str name)
{
	key = resolved(key);
	return key && key->kind == KIND_SCALAR && str_eq(key->text, name);
}

/* A member that stands in the mapping itself wins over what it merges; there, of several `<<` the
 * last wins and in a list the first. */
static const struct spot *find_member(const struct spot *mapping, struct str name)
{
	const struct spot *own = NULL, *merged = NULL;

	for (const struct spot *s = mapping->first; s; s = s->next)
		if (!s->key->merge && has_text(s->key, name))
			own = s;
	if (own)
		return own;
	for (const struct spot *s = mapping->first; s; s = s->next) {
		const struct spot *from = s->key->merge ? resolved(s) : NULL, *hit = NULL;

		if (from && from->kind == KIND_MAPPING)
			hit = find_member(from, name);
		for (const struct spot *i = from && from->kind == KIND_LIST ? from->first : NULL;
			i && !hit; i = i->next) {
			const struct spot *one = resolved(i);

			if (one && one->kind == KIND_MAPPING)
				hit = find_member(one, name);
		}
		merged = hit ? hit : merged;
	}
	return merged;
}

static const struct spot *find_element(const struct spot *list, size_t index)
{
	const struct spot *s = list->first;

	while (s && index-- > 0)
		s = s->next;
	return s;
}

/* What stands at `p`; when nothing does, what stands around it, and *exact is false. */
static const struct spot *find(const struct spot *root, const struct place *p, bool *exact)
{
	if (!p->up)
		return root;
	const struct spot *up = find(root, p->up, exact), *in = resolved(up), *hit = NULL;

	if (!*exact)
		return up;
	if (in && in->kind == KIND_MAPPING && p->key.p)
		hit = find_member(in, p->key);
	else if (in && in->kind == KIND_LIST && !p->key.p)
		hit = find_element(in, p->index);
	*exact = hit != NULL;
	return hit ? hit : up;
}

/* -- the locator ---------------------------------------------------------------------------------
 */

/* With a memory the index stays; without one it is made in `temporary`. */
static const struct spot *root_of(const struct place *p, struct arena *temporary)
{
	if (p->doc->locator == &yaml_locator)
		return make_all(temporary, p->doc->source.text);
	struct index *i = container_of(p->doc->locator, struct index, locator);
	if (!i->root)
		i->root = make_all(i->arena, p->doc->source.text);
	return i->root;
}

static struct where locate_value(const struct place *p)
{
	struct arena temporary = ARENA_INIT;
	bool exact = true;
	const struct spot *s = find(root_of(p, &temporary), p, &exact);
	struct where w = { &p->doc->source, s->begin, s->end - s->begin };

	arena_done(&temporary);
	return w;
}

static struct where locate_key(const struct place *p)
{
	struct arena temporary = ARENA_INIT;
	bool exact = true;
	const struct spot *s = find(root_of(p, &temporary), p, &exact);

	if (exact && p->key.p && s->key)
		s = s->key;
	struct where w = { &p->doc->source, s->begin, s->end - s->begin };
	arena_done(&temporary);
	return w;
}

static struct where locate_within(const struct place *p, size_t index, size_t len)
{
	struct arena temporary = ARENA_INIT;
	bool exact = true;
	const struct spot *s = find(root_of(p, &temporary), p, &exact), *scalar = resolved(s);
	struct where w = { &p->doc->source, s->begin, s->end - s->begin };

	if (exact && scalar && scalar->kind == KIND_SCALAR)
		w = yaml_within(&p->doc->source,
			&(struct yaml_written){
				scalar->begin, scalar->end, scalar->style, scalar->text },
			index, len);
	arena_done(&temporary);
	return w;
}

const struct locator yaml_locator = { locate_value, locate_key, locate_within };

const struct locator *yaml_locator_new(struct arena *a)
{
	struct index *i = arena_new(a, struct index);

	*i = (struct index){ .locator = yaml_locator, .arena = a };
	return &i->locator;
}
