#include <string.h>
#include <sys/auxv.h>

#include "data/toml-reader.h"

void toml_reader_init(
	struct toml_reader *r, const struct source *s, struct arena *a, struct report *report)
{
	const char *random = (const char *)getauxval(AT_RANDOM);

	*r = (struct toml_reader){
		.source = s, .text = s->text, .nul_in_keys = true, .arena = a, .report = report
	};
	/* So that names which all fall together cannot be written on purpose. */
	if (random)
		memcpy(&r->seed, random + sizeof(size_t), sizeof(r->seed));
	r->root = arena_new(a, struct toml_node);
	r->root->origin = TOML_HEADER;
}

void toml_reader_done(struct toml_reader *r)
{
	vec_done(&r->key);
	buf_done(&r->scratch);
}

/* -- members -------------------------------------------------------------------------------------
 */

static uint64_t hash(uint64_t seed, const struct toml_node *table, struct str name)
{
	uint64_t h = seed ^ (uint64_t)(uintptr_t)table;

	for (size_t i = 0; i < name.len; i++)
		h = (h ^ (unsigned char)name.p[i]) * 1099511628211u; /* FNV-1a */
	h = (h ^ h >> 32) * 0x9E3779B97F4A7C15u;
	return h ^ h >> 29;
}

/* The slot of a member, or the free one where it belongs. */
static struct toml_node **slot(
	const struct toml_reader *r, const struct toml_node *table, struct str name, uint64_t h)
{
	size_t i = h & (r->member_room - 1);

	for (; r->members[i]; i = (i + 1) & (r->member_room - 1)) {
		const struct toml_node *n = r->members[i];

		if (n->hash == h && n->up == table && str_eq(n->key, name))
			break;
	}
	return &r->members[i];
}

struct toml_node *toml_member(
	const struct toml_reader *r, const struct toml_node *table, struct str name)
{
	return r->member_room ? *slot(r, table, name, hash(r->seed, table, name)) : NULL;
}

static void make_room(struct toml_reader *r)
{
	struct toml_node **old = r->members;
	size_t count = r->member_room;

	if (r->member_count < count / 2)
		return;
	r->member_room = count ? count * 2 : 64;
	r->members = arena_array(r->arena, struct toml_node *, r->member_room);
	for (size_t i = 0; i < count; i++)
		if (old[i])
			*slot(r, old[i]->up, old[i]->key, old[i]->hash) = old[i];
}

static struct toml_node *add(struct toml_reader *r, struct toml_node *up, size_t at, size_t len)
{
	if (up->depth == TOML_MAX_DEPTH) {
		toml_wrong(r, at, len, "values are nested more than %d deep", TOML_MAX_DEPTH);
		report_hint(r->report, "use fewer levels");
		return NULL;
	}
	struct toml_node *n = arena_new(r->arena, struct toml_node);
	n->up = up;
	n->depth = up->depth + 1;
	n->at = (uint32_t)at;
	n->len = (uint32_t)len;
	if (up->last)
		up->last->next = n;
	else
		up->first = n;
	up->last = n;
	return n;
}

struct toml_node *toml_element(struct toml_reader *r, struct toml_node *array)
{
	return add(r, array, r->at, 1);
}

/* A new member of a table. */
static struct toml_node *add_member(
	struct toml_reader *r, struct toml_node *table, const struct toml_part *part)
{
	struct toml_node *n = add(r, table, part->at, part->len);

	if (!n)
		return NULL;
	n->key = part->name;
	n->key_at = part->at;
	n->key_len = part->len;
	n->hash = hash(r->seed, table, n->key);
	make_room(r);
	*slot(r, table, n->key, n->hash) = n;
	r->member_count++;
	return n;
}

/* -- who may add to what -------------------------------------------------------------------------
 */

static const char *kind_text(const struct toml_node *n)
{
	switch (n->kind) {
	case TOML_TABLE:
		return n->origin == TOML_VALUE ? "an inline table" : "a table";
	case TOML_ARRAY:
		return n->origin == TOML_VALUE ? "an array" : "an array of tables";
	case TOML_STRING:
		return "a string";
	case TOML_INTEGER:
		return "an integer";
	case TOML_FLOAT:
		return "a float";
	case TOML_BOOL:
		return "a boolean";
	case TOML_DATETIME:
	case TOML_DATETIME_LOCAL:
	case TOML_DATE_LOCAL:
		return "a date";
	case TOML_TIME_LOCAL:
		return "a time";
	}
	return "something else";
}

/* The first `count` parts of the key as they are written. */
static struct str shown(const struct toml_reader *r, size_t count)
{
	const struct toml_part *first = &r->key.at[0], *last = &r->key.at[count - 1];

	return report_quote(
		r->report, str_sub(r->text, first->at, last->at + last->len - first->at));
}

/* The part of the key at `i` names something that is there and does not fit. */
static struct toml_node *conflict(
	struct toml_reader *r, size_t i, const struct toml_node *there, const char *problem)
{
	const struct toml_part *part = &r->key.at[i];
	struct str name = shown(r, i + 1);

	toml_wrong(r, part->at, part->len, "'%.*s' is %s%s", STR(name), kind_text(there), problem);
	report_hint(r->report, "it stands on line %zu", toml_line(r, there->at));
	return NULL;
}

static struct toml_node *defined_twice(struct toml_reader *r, const struct toml_node *there)
{
	const struct toml_part *last = &r->key.at[r->key.len - 1];
	struct str name = shown(r, r->key.len);

	toml_wrong(r, last->at, last->len, "'%.*s' is defined a second time", STR(name));
	if (there->origin == TOML_DOTTED)
		report_hint(r->report,
			"line %zu defines it by a dotted key; add to it there, in the same way",
			toml_line(r, there->at));
	else
		report_hint(r->report, "it is defined first on line %zu; keep one of them",
			toml_line(r, there->at));
	return NULL;
}

/* All parts of a header but the last: what is not there yet comes to be. */
static struct toml_node *header_way(struct toml_reader *r)
{
	struct toml_node *table = r->root;

	for (size_t i = 0; i + 1 < r->key.len; i++) {
		struct toml_node *n = toml_member(r, table, r->key.at[i].name);

		if (!n) {
			n = add_member(r, table, &r->key.at[i]);
			if (!n)
				return NULL;
			n->origin = TOML_IMPLICIT;
		}
		if (n->origin == TOML_VALUE || (n->kind != TOML_TABLE && n->kind != TOML_ARRAY))
			return conflict(r, i, n, ", to which a header cannot add");
		table = n->kind == TOML_ARRAY ? n->last : n;
	}
	return table;
}

static struct toml_node *begin_table(struct toml_node *n, size_t at, size_t len)
{
	n->kind = TOML_TABLE;
	n->origin = TOML_HEADER;
	n->at = (uint32_t)at;
	n->len = (uint32_t)len;
	return n;
}

struct toml_node *toml_header(struct toml_reader *r, bool array, size_t at, size_t len)
{
	struct toml_node *up = header_way(r);
	const struct toml_part *last = &r->key.at[r->key.len - 1];

	if (!up)
		return NULL;
	struct toml_node *n = toml_member(r, up, last->name);
	if (!array) {
		if (n && n->kind == TOML_TABLE && n->origin != TOML_IMPLICIT)
			return n->origin == TOML_VALUE ? conflict(r, r->key.len - 1, n,
								 ", to which a header cannot add")
						       : defined_twice(r, n);
		if (n && n->kind != TOML_TABLE)
			return conflict(r, r->key.len - 1, n, ", not a table");
		n = n ? n : add_member(r, up, last);
		if (!n)
			return NULL;
		/* Its name is where it is defined, not where it was first in the way. */
		n->key_at = last->at;
		n->key_len = last->len;
		return begin_table(n, at, len);
	}
	if (n && (n->kind != TOML_ARRAY || n->origin == TOML_VALUE))
		return conflict(r, r->key.len - 1, n,
			n->kind == TOML_ARRAY ? ", to which a header cannot add"
					      : ", not an array of tables");
	if (!n) {
		n = add_member(r, up, last);
		if (!n)
			return NULL;
		n->kind = TOML_ARRAY;
		n->origin = TOML_HEADER;
		n->at = (uint32_t)at;
		n->len = (uint32_t)len;
	}
	struct toml_node *element = add(r, n, at, len);
	return element ? begin_table(element, at, len) : NULL;
}

struct toml_node *toml_assign(struct toml_reader *r, struct toml_node *table)
{
	for (size_t i = 0; i + 1 < r->key.len; i++) {
		struct toml_node *n = toml_member(r, table, r->key.at[i].name);

		if (!n)
			n = add_member(r, table, &r->key.at[i]);
		else if (n->kind != TOML_TABLE || n->origin == TOML_VALUE)
			return conflict(r, i, n, ", to which a key cannot add");
		else if (n->origin == TOML_HEADER)
			return conflict(
				r, i, n, " with a header, to which a dotted key cannot add");
		if (!n)
			return NULL;
		n->origin = TOML_DOTTED;
		table = n;
	}
	const struct toml_part *last = &r->key.at[r->key.len - 1];
	struct toml_node *there = toml_member(r, table, last->name);
	if (there)
		return defined_twice(r, there);
	struct toml_node *n = add_member(r, table, last);
	if (n)
		n->origin = TOML_VALUE;
	return n;
}
