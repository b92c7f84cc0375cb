#include "data/mask.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/number.h"
#include "base/plain-text.h"
#include "base/shell-words.h"
#include "base/vec.h"
#include "data/big.h"

/* A longer text of an object or an array is hidden by what is in it only. */
enum { WHOLE_MAX = 4096 };
/* What one of that length may weigh at most: each of its values takes two bytes of it. */
enum { WHOLE_WEIGHT = 5 * WHOLE_MAX + 8 };

/* No more is kept back of a text that comes in pieces, whatever it repeats. */
enum { PIECES_MAX = 1 << 20 };

/*
 * The texts as a tree of their bytes, in which each node also knows the node of its longest proper
 * ending (Aho and Corasick). Reading a text byte by byte, the node reached says which secret ends
 * here, and no byte is looked at again.
 */
struct state {
	uint32_t child, sibling; /* 0: none */
	uint32_t fall;           /* the longest ending that is in the tree as well */
	uint32_t length;         /* of the longest secret that ends here; 0: none does */
	uint32_t depth;          /* of the text that leads here */
	unsigned char byte;
};

struct mask {
	unsigned more; /* owners beside the first */
	struct arena arena;
	struct map known; /* the texts that are in it */
	VEC(struct state) states;
	uint32_t first[256]; /* the children of the root, by their byte */
	bool linked;         /* `fall` is right */
	bool deriving;       /* what is added is another way to write a text */
	bool wholes;         /* an object or an array is in it */
};

struct mask *mask_open(void)
{
	struct mask *m = mem_new(struct mask);

	vec_push(&m->states, (struct state){ 0 });
	return m;
}

struct mask *mask_ref(struct mask *m)
{
	m->more++;
	return m;
}

void mask_free(struct mask *m)
{
	if (!m || m->more--)
		return;
	vec_done(&m->states);
	arena_done(&m->arena);
	free(m);
}

/* -- the tree ------------------------------------------------------------------------------------
 */

static uint32_t child_of(const struct mask *m, uint32_t at, unsigned char byte)
{
	if (!at)
		return m->first[byte];
	uint32_t child = m->states.at[at].child;
	while (child && m->states.at[child].byte != byte)
		child = m->states.at[child].sibling;
	return child;
}

static uint32_t add_child(struct mask *m, uint32_t at, unsigned char byte)
{
	uint32_t child = (uint32_t)m->states.len;

	vec_push(&m->states, (struct state){ .sibling = m->states.at[at].child,
				     .depth = m->states.at[at].depth + 1,
				     .byte = byte });
	m->states.at[at].child = child;
	if (!at)
		m->first[byte] = child;
	return child;
}

static void insert(struct mask *m, struct str text)
{
	uint32_t at = 0;

	for (size_t i = 0; i < text.len; i++) {
		unsigned char byte = (unsigned char)text.p[i];
		uint32_t child = child_of(m, at, byte);

		at = child ? child : add_child(m, at, byte);
	}
	m->states.at[at].length = (uint32_t)text.len;
	m->linked = false;
}

/* Where a text leads that stands at `at` and continues with `byte`. */
static uint32_t step(const struct mask *m, uint32_t at, unsigned char byte)
{
	uint32_t child = child_of(m, at, byte);

	while (!child && at) {
		at = m->states.at[at].fall;
		child = child_of(m, at, byte);
	}
	return child;
}

/* Parents first, since a node falls to one that is nearer to the root. */
static void link(struct mask *m)
{
	AUTO_FREE uint32_t *queue = mem_resize(NULL, m->states.len, sizeof(*queue));
	size_t head = 0, tail = 0;

	queue[tail++] = 0;
	while (head < tail) {
		uint32_t at = queue[head++];

		for (uint32_t c = m->states.at[at].child; c; c = m->states.at[c].sibling) {
			struct state *s = &m->states.at[c];

			s->fall = at ? step(m, m->states.at[at].fall, s->byte) : 0;
			s->length = MAX(s->length, m->states.at[s->fall].length);
			queue[tail++] = c;
		}
	}
	m->linked = true;
}

/* -- what is in it -------------------------------------------------------------------------------
 */

/* What `known` has for a text. */
enum { KNOWN_DERIVED = 1, KNOWN_GIVEN };

static void add(struct mask *m, struct str text)
{
	void **known = text.len < MASK_SHORTEST ? NULL : map_put(&m->known, &m->arena, text);

	if (!known)
		return;
	if (!*known)
		insert(m, text);
	if (!*known || !m->deriving)
		*known = (void *)(uintptr_t)(m->deriving ? KNOWN_DERIVED : KNOWN_GIVEN);
}

/* Whether it looks the same wherever it stands. */
static bool is_plain(struct str text)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.p[i];

		if (c < ' ' || c > '~' || c == '"' || c == '\'' || c == '\\' || c == '/')
			return false;
	}
	return true;
}

/* Where lines get a beginning of their own, as in a log, the whole is not found. */
static void add_lines(struct mask *m, struct str text)
{
	for (size_t at = 0, end; at < text.len; at = end + 1) {
		end = str_find(text, '\n', at);
		struct str line = str_trim(str_sub(text, at, end - at));

		if (line.len >= MASK_SHORTEST_LINE && line.len < text.len)
			mask_add_text(m, line);
	}
}

/* As it stands in a command as people read it. */
static void add_quoted(struct mask *m, struct str text)
{
	AUTO_BUF quoted = BUF_INIT;

	quoted_inside(&quoted, text);
	add(m, buf_str(&quoted));
	buf_reset(&quoted);
	quoted_inside_ansi(&quoted, text);
	add(m, buf_str(&quoted));
}

/* As it stands in a line of JSON, and in a command that has such a line in it: a value that is an
 * object or an array. */
static void add_json(struct mask *m, struct str quoted)
{
	struct str json = str_sub(quoted, 1, quoted.len - 2);

	add(m, json);
	add_quoted(m, json);
}

/* As it stands in a text that is fit for a terminal already. */
static void add_shown(struct mask *m, struct str text)
{
	AUTO_BUF shown = BUF_INIT;

	text_plain(&shown, text);
	add(m, buf_str(&shown));
	buf_reset(&shown);
	text_escaped(&shown, text);
	add(m, buf_str(&shown));
	buf_reset(&shown);
	text_marked(&shown, text);
	add(m, buf_str(&shown));
}

void mask_add_text(struct mask *m, struct str text)
{
	bool was = m->deriving;
	AUTO_BUF coded = BUF_INIT;

	add(m, text);
	if (is_plain(text))
		return;
	m->deriving = true;
	if (str_find(text, '\n', 0) < text.len)
		add_lines(m, text);
	add_quoted(m, text);
	add_shown(m, text);
	json_write_str(&coded, text);
	add_json(m, buf_str(&coded));
	buf_reset(&coded);
	json_write_str_ascii(&coded, text); /* as step recipes write it in lists */
	add_json(m, buf_str(&coded));
	m->deriving = was;
}

/* The names of members and what is too short to be hidden alone stand in it too. */
static void add_whole(struct mask *m, const json_t *value)
{
	AUTO_BUF text = BUF_INIT;

	json_write(&text, value, 0);
	if (text.len > WHOLE_MAX)
		return;
	mask_add_text(m, buf_str(&text));
	buf_reset(&text);
	json_write_python(&text, value);
	mask_add_text(m, buf_str(&text));
	m->wholes = true;
}

/* Of a text that is an object or an array, which steps look into: {{credentials.password}}. */
static void add_inside(struct mask *m, struct str text)
{
	struct str whole = str_trim(text);
	AUTO_REPORT ignored = REPORT_INIT;
	bool was = m->deriving;

	if (!whole.len || !strchr("{[", whole.p[0]))
		return;
	AUTO_JSON *inside = json_read_big(&(struct source){ S("secret"), whole }, &ignored);
	m->deriving = true;
	if (inside)
		mask_add(m, inside);
	m->deriving = was;
}

static void add_value(struct mask *m, const json_t *value)
{
	const char *key;
	json_t *item;

	if (json_is_big(value)) {
		add(m, json_big_digits(value));
	} else if (json_is_string(value)) {
		struct str text = json_str(value), trimmed = str_trim(text);

		mask_add_text(m, text);
		/* What a command has printed ends with a newline, what is made of it may not. */
		if (trimmed.len < text.len) {
			bool was = m->deriving;

			m->deriving = true;
			mask_add_text(m, trimmed);
			m->deriving = was;
		}
		add_inside(m, text);
	} else if (json_is_object(value)) {
		json_object_foreach((json_t *)value, key, item) add_value(m, item);
	} else if (json_is_array(value)) {
		for (size_t i = 0; i < json_array_size(value); i++)
			add_value(m, json_array_get(value, i));
	} else if (json_is_number(value)) {
		AUTO_BUF text = BUF_INIT;

		json_write(&text, value, 0);
		add(m, buf_str(&text));
		if (!json_is_real(value))
			return;
		buf_reset(&text);
		number_text_python(&text, json_real_value(value)); /* as step recipes write it */
		add(m, buf_str(&text));
	}
}

void mask_add(struct mask *m, const json_t *value)
{
	if (json_is_object(value) || json_is_array(value))
		add_whole(m, value);
	add_value(m, value);
}

void mask_add_named(struct mask *m, const json_t *values, const json_t *names)
{
	for (size_t i = 0; i < json_array_size(names); i++)
		mask_add(m, json_object_get(values, json_string_value(json_array_get(names, i))));
}

struct mask *mask_or_null(struct mask *m)
{
	if (m->known.count)
		return m;
	mask_free(m);
	return NULL;
}

struct mask *mask_new(const json_t *values, const json_t *names, const json_t *more)
{
	struct mask *m = mask_open();

	mask_add_named(m, values, names);
	mask_add_named(m, values, more);
	return mask_or_null(m);
}

/* -- masking -------------------------------------------------------------------------------------
 */

struct span {
	size_t from, to;
};

typedef VEC(struct span) spans;

/* Secrets that overlap are one: the rest of the second would be shown otherwise. */
static void add_span(spans *found, struct span s)
{
	while (found->len && found->at[found->len - 1].to > s.from) {
		struct span before = vec_pop(found);

		s.from = MIN(s.from, before.from);
	}
	vec_push(found, s);
}

/* Returns how many bytes at its end may be the beginning of a secret. What stands before … is cut
 * there. */
static size_t find(struct mask *m, struct str text, spans *found)
{
	uint32_t at = 0;

	if (!m->linked)
		link(m);
	for (size_t i = 0; i < text.len; i++) {
		size_t cut = m->states.at[at].depth;

		if (cut >= MASK_SHORTEST && str_starts(str_from(text, i), S("…")))
			add_span(found, (struct span){ i - cut, i });
		at = step(m, at, (unsigned char)text.p[i]);
		if (m->states.at[at].length)
			add_span(found, (struct span){ i + 1 - m->states.at[at].length, i + 1 });
	}
	return m->states.at[at].depth;
}

static struct str replaced(struct str text, const spans *found, struct arena *a)
{
	AUTO_BUF masked = BUF_INIT;
	size_t at = 0;

	if (!found->len)
		return text;
	vec_each (s, found) {
		buf_add(&masked, str_sub(text, at, s->from - at));
		buf_adds(&masked, MASKED);
		at = s->to;
	}
	buf_add(&masked, str_from(text, at));
	return (struct str){ arena_cstr(a, buf_str(&masked)), masked.len };
}

struct str mask_text(struct mask *m, struct str text, struct arena *a)
{
	return mask_part(m, text, 0, a);
}

/* The longest beginning of `text` with which a secret ends. The second half is Knuth, Morris and
 * Pratt's search for the text in each secret: `border` has how much of a beginning is left when the
 * next byte is another one. */
static size_t rest_of_secret(const struct mask *m, struct str text)
{
	size_t longest = mask_longest(m), found = 0;
	struct str t = str_sub(text, 0, MIN(text.len, longest));
	AUTO_FREE size_t *border = mem_resize(NULL, t.len + 1, sizeof(*border));

	if (!t.len)
		return 0;
	border[0] = 0;
	for (size_t i = 1, k = 0; i < t.len; i++) {
		while (k && t.p[i] != t.p[k])
			k = border[k - 1];
		k += t.p[i] == t.p[k];
		border[i] = k;
	}
	map_each (secret, &m->known) {
		size_t k = 0;

		for (size_t i = 0; i < secret->key.len; i++) {
			while (k && (k == t.len || secret->key.p[i] != t.p[k]))
				k = border[k - 1];
			k += secret->key.p[i] == t.p[k];
		}
		found = MAX(found, k);
	}
	return found;
}

struct str mask_part(struct mask *m, struct str text, unsigned cut, struct arena *a)
{
	spans found = { 0 };

	if (!m || !m->known.count || !text.len)
		return text;
	size_t back = find(m, text, &found);
	size_t front = cut & MASK_CUT_FRONT ? rest_of_secret(m, text) : 0;
	if (front >= MASK_SHORTEST) {
		spans all = { 0 };

		add_span(&all, (struct span){ 0, front });
		vec_each (s, &found)
			if (s->to > front)
				add_span(&all, *s);
		vec_done(&found);
		found = all;
	}
	if (cut & MASK_CUT_BACK && back >= MASK_SHORTEST &&
		(!found.len || found.at[found.len - 1].to < text.len))
		add_span(&found, (struct span){ text.len - back, text.len });
	struct str masked = replaced(text, &found, a);
	vec_done(&found);
	return masked;
}

struct str mask_piece(
	struct mask *m, struct buf *kept, struct str piece, bool last, struct arena *a)
{
	spans found = { 0 };
	size_t end;

	if (!m || !m->known.count)
		return piece;
	buf_add(kept, piece);
	if (!kept->len)
		return S("");
	end = kept->len - find(m, buf_str(kept), &found);
	if (last || kept->len > PIECES_MAX) {
		end = kept->len;
	} else {
		/* What may be the beginning of a secret may have others in it. */
		while (found.len && found.at[found.len - 1].to > end) {
			struct span open = vec_pop(&found);

			end = MIN(end, open.from);
		}
	}
	struct str shown = arena_str(a, replaced(str_sub(buf_str(kept), 0, end), &found, a));
	vec_done(&found);
	buf_drop(kept, end);
	return shown;
}

void mask_bytes(struct mask *m, struct buf *text)
{
	spans found = { 0 };

	if (!m || !m->known.count)
		return;
	(void)find(m, buf_str(text), &found);
	vec_each (s, &found)
		memset(text->p + s->from, '*', s->to - s->from);
	vec_done(&found);
}

size_t mask_count(const struct mask *m)
{
	return m->known.count;
}

json_t *mask_texts(const struct mask *m, size_t from)
{
	json_t *texts = json_array();
	size_t n = 0;

	map_each (e, &m->known)
		if (n++ >= from && (uintptr_t)e->value == KNOWN_GIVEN)
			json_array_append_new(texts, json_from_str(e->key));
	return texts;
}

size_t mask_longest(const struct mask *m)
{
	size_t longest = 0;

	if (m)
		vec_each (s, &m->states)
			longest = MAX(longest, s->length);
	return longest;
}

static json_t *masked_string(struct mask *m, const json_t *value)
{
	struct arena a = ARENA_INIT;
	json_t *masked = json_from_str(mask_text(m, json_str(value), &a));

	arena_done(&a);
	return masked;
}

/* A number that is a secret is hidden; one that only has its digits in it stays. */
static json_t *masked_number(struct mask *m, const json_t *value)
{
	struct arena a = ARENA_INIT;
	AUTO_BUF text = BUF_INIT;

	json_write(&text, value, 0);
	bool secret = str_eq(mask_text(m, buf_str(&text), &a), S(MASKED));
	arena_done(&a);
	return secret ? json_string(MASKED) : json_incref((json_t *)value);
}

/* Two members whose names are masked stay two. */
static void add_masked_name(struct mask *m, json_t *object, const char *name, json_t *value)
{
	struct arena a = ARENA_INIT;
	AUTO_BUF masked = BUF_INIT;

	buf_add(&masked, mask_text(m, str_of(name), &a));
	while (json_object_get(object, buf_cstr(&masked)))
		buf_addc(&masked, '*');
	json_object_set_new_nocheck(object, buf_cstr(&masked), value);
	arena_done(&a);
}

/* Whether it is an object or an array that is secret as a whole. */
static bool is_whole(struct mask *m, const json_t *value)
{
	AUTO_BUF text = BUF_INIT;

	if (m->wholes && (json_is_object(value) || json_is_array(value)) &&
		json_weigh(value, WHOLE_WEIGHT) <= WHOLE_WEIGHT)
		json_write(&text, value, 0);
	return text.len >= MASK_SHORTEST && map_get(&m->known, buf_str(&text));
}

static json_t *masked_json(struct mask *m, const json_t *value, bool names)
{
	json_t *copy, *item;
	const char *key;
	size_t i;

	if (json_is_number(value) || json_is_big(value))
		return masked_number(m, value);
	if (json_is_string(value))
		return masked_string(m, value);
	if (names && is_whole(m, value))
		return json_string(MASKED);
	if (json_is_object(value)) {
		copy = json_object();
		json_object_foreach((json_t *)value, key, item)
		{
			json_t *masked = masked_json(m, item, names);

			if (names)
				add_masked_name(m, copy, key, masked);
			else
				json_object_set_new_nocheck(copy, key, masked);
		}
		return copy;
	}
	if (json_is_array(value)) {
		copy = json_array();
		json_array_foreach(value, i, item)
			json_array_append_new(copy, masked_json(m, item, names));
		return copy;
	}
	return json_incref((json_t *)value);
}

json_t *mask_json(struct mask *m, const json_t *value)
{
	return m && m->known.count ? masked_json(m, value, false) : json_incref((json_t *)value);
}

json_t *mask_value(struct mask *m, const json_t *value)
{
	return m && m->known.count ? masked_json(m, value, true) : json_incref((json_t *)value);
}

json_t *mask_members(struct mask *m, const json_t *value)
{
	json_t *shown, *item;
	const char *key;
	size_t i;

	if (json_is_array(value)) {
		shown = json_array();
		json_array_foreach(value, i, item)
			json_array_append_new(shown, mask_members(m, item));
		return shown;
	}
	if (!json_is_object(value))
		return mask_value(m, value);
	shown = json_object();
	json_object_foreach((json_t *)value, key, item)
		json_object_set_new_nocheck(shown, key, mask_value(m, item));
	return shown;
}
