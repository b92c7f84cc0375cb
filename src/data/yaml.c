#include "data/yaml.h"

#include "base/map.h"
#include "base/utf8.h"
#include "data/yaml-events.h"
#include "data/yaml-scalar.h"

#define TAGS "tag:yaml.org,2002:"

struct anchor {
	json_t *value; /* a reference of its own; NULL: still being read */
	size_t nodes;  /* in it, itself included */
	unsigned height;
};

struct reader {
	struct yaml_events events;
	const struct source *source;
	struct report *r;
	struct arena arena;
	struct map anchors;
	VEC(json_t *) kept; /* values of anchors: a later duplicate key may drop them */
	size_t nodes;       /* so far, aliases expanded */
	bool wrong;         /* a mistake that did not end the reading */
};

/* What a node turned out to be. */
struct found {
	json_t *value;   /* a new reference; NULL: reading has ended with a mistake */
	unsigned height; /* levels below it */
};

static struct found read_node(struct reader *rd, yaml_event_t *e, unsigned depth);

static struct where where_of(struct reader *rd, const yaml_mark_t *from, const yaml_mark_t *to)
{
	size_t begin = yaml_events_offset(&rd->events, from);
	size_t end = yaml_events_offset(&rd->events, to);

	return (struct where){ rd->source, begin, MAX(end, begin) - begin };
}

static struct where where_event(struct reader *rd, const yaml_event_t *e)
{
	return where_of(rd, &e->start_mark, &e->end_mark);
}

/* -- mistakes of the grammar ---------------------------------------------------------------------
 */

/* libyaml's words for what it met, ours, and what people usually did. */
static const struct {
	const char *problem, *message, *hint;
} mistakes[] = {
	{ "mapping values are not allowed", "a second ': ' stands in the value of a key",
		"put quotes around a string with ': ' in it, or fix the indentation" },
	{ "cannot start any token", "this character cannot begin a value",
		"indent with spaces, not tabs; quote a string that begins with @, ` or %" },
	{ "could not find expected ':'", "a key has no ':' behind it",
		"a line of a mapping is `key: value`; is it indented right?" },
	{ "did not find expected key", "expected a key",
		"is the indentation right, and does every quote above end where it should?" },
	{ "did not find expected '-' indicator", "expected '-'",
		"the items of a list begin with '-' in the same column" },
	{ "did not find expected ',' or '}'", "expected ',' or '}'",
		"quote a string that begins with '{': \"{{name}}\"" },
	{ "did not find expected ',' or ']'", "expected ',' or ']'",
		"quote a string that begins with '[', or close the list" },
	{ "unexpected end of stream", "the quote is not closed", "close it" },
	{ "found unknown escape character", "there is no such escape",
		"in double quotes a backslash is written \\\\; single quotes leave it alone" },
	{ "found undefined tag handle", "there is no such tag",
		"quote a string that begins with '!'" },
	{ "did not find expected comment or line break", "expected the end of the line",
		"behind | or > stands nothing; the text begins on the next line" },
	{ "did not find expected alphabetic or numeric character", "expected a name",
		"quote a string that begins with '*' or '&'" },
	{ "did not find expected <document start>", "this line belongs to nothing above",
		"fix the indentation" },
};

/* What it was in, when that began elsewhere. */
static void add_context(const yaml_parser_t *p, size_t line, struct buf *b)
{
	size_t began = p->context_mark.line;

	if (!p->context || began == line)
		return;
	if (strstr(p->context, "mapping"))
		buf_printf(b, ", in the mapping that begins in line %zu", began + 1);
	else if (strstr(p->context, "sequence") || strstr(p->context, "collection"))
		buf_printf(b, ", in the list that begins in line %zu", began + 1);
}

static void complain(struct reader *rd)
{
	const yaml_parser_t *p = &rd->events.parser;
	const char *problem = p->problem ? p->problem : "it is too large";
	/* A quote that never ends is noticed at the end of the file, a key without ':' at the next;
	 * both are wrong where they began. */
	bool before = p->context && (strstr(problem, "unexpected end of stream") ||
					    strstr(problem, "could not find expected ':'"));
	const yaml_mark_t *mark = before ? &p->context_mark : &p->problem_mark;
	const char *message = problem, *hint = NULL;
	AUTO_BUF context = BUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(mistakes) && !hint; i++)
		if (strstr(problem, mistakes[i].problem)) {
			message = mistakes[i].message;
			hint = mistakes[i].hint;
		}
	add_context(p, mark->line, &context);
	report_error(rd->r, (struct where){ rd->source, yaml_events_offset(&rd->events, mark), 1 },
		"not valid YAML: %s%s", message, buf_cstr(&context));
	if (hint)
		report_hint(rd->r, "%s", hint);
}

static bool next(struct reader *rd, yaml_event_t *ret)
{
	if (yaml_events_next(&rd->events, ret))
		return true;
	complain(rd);
	return false;
}

/* A mistake that leaves the rest readable: something stands in for the value. */
static struct found stand_in(struct reader *rd)
{
	rd->wrong = true;
	return (struct found){ .value = json_null() };
}

/* -- tags ----------------------------------------------------------------------------------------
 */

static bool type_of_tag(struct str tag, enum yaml_type *ret)
{
	static const struct {
		const char *tag;
		enum yaml_type type;
	} types[] = {
		{ "!", YAML_ANY },
		{ TAGS "str", YAML_STR },
		{ TAGS "timestamp", YAML_STR },
		{ TAGS "int", YAML_INT },
		{ TAGS "float", YAML_FLOAT },
		{ TAGS "bool", YAML_BOOL },
		{ TAGS "null", YAML_NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		if (!str_eq(tag, str_of(types[i].tag)))
			continue;
		*ret = types[i].type;
		return true;
	}
	return false;
}

static void refuse_tag(struct reader *rd, const yaml_event_t *e, struct str tag, const char *on)
{
	struct str name = str_starts(tag, S(TAGS)) ? str_from(tag, sizeof(TAGS) - 1) : tag;

	report_error(rd->r, where_event(rd, e), "the tag %s%.*s on %s is not plain data",
		name.len < tag.len ? "!!" : "", STR(report_quote(rd->r, name)), on);
	report_hint(rd->r, "take the tag away; quote a string that begins with '!'");
	rd->wrong = true;
}

static void check_collection_tag(struct reader *rd, const yaml_event_t *e, const yaml_char_t *tag,
	const char *wanted, const char *on)
{
	struct str t = str_of((const char *)tag);

	if (tag && !str_eq(t, S("!")) && !str_eq(t, str_of(wanted)))
		refuse_tag(rd, e, t, on);
}

/* -- anchors and aliases -------------------------------------------------------------------------
 */

/* NULL: it has no name. A name may be given again; from then on it means the new value. */
static struct anchor *anchor_declare(struct reader *rd, const yaml_char_t *name)
{
	if (!name)
		return NULL;
	struct anchor *a = arena_new(&rd->arena, struct anchor);
	*map_put(&rd->anchors, &rd->arena, str_of((const char *)name)) = a;
	return a;
}

static void anchor_settle(struct reader *rd, struct anchor *a, struct found f, size_t nodes)
{
	if (!a || !f.value)
		return;
	*a = (struct anchor){ json_incref(f.value), nodes, f.height };
	vec_push(&rd->kept, a->value);
}

static struct found read_alias(struct reader *rd, const yaml_event_t *e, unsigned depth)
{
	struct str name = str_of((const char *)e->data.alias.anchor);
	const struct anchor *a = map_get(&rd->anchors, name);

	if (!a || !a->value) {
		report_error(rd->r, where_event(rd, e),
			a ? "*%.*s stands inside what it names" : "there is no anchor &%.*s above",
			STR(report_quote(rd->r, name)));
		if (!a)
			report_hint(rd->r, "quote a string that begins with '*'");
		return stand_in(rd);
	}
	/* The value is shared, so it costs nothing here; but everyone who walks the tree, or copies
	 * it, meets all of it. */
	if (rd->nodes + a->nodes > YAML_NODES_MAX || depth + a->height > YAML_DEPTH_MAX) {
		if (rd->nodes + a->nodes > YAML_NODES_MAX)
			report_error(rd->r, where_event(rd, e),
				"with its aliases expanded the file has more than %d values",
				YAML_NODES_MAX);
		else
			report_error(rd->r, where_event(rd, e),
				"with its aliases expanded the file nests deeper than %d levels",
				YAML_DEPTH_MAX);
		return (struct found){ 0 };
	}
	rd->nodes += a->nodes;
	return (struct found){ json_incref(a->value), a->height };
}

/* -- values --------------------------------------------------------------------------------------
 */

static struct str scalar_text(const yaml_event_t *e)
{
	return (struct str){ (const char *)e->data.scalar.value, e->data.scalar.length };
}

static struct found read_scalar(struct reader *rd, const yaml_event_t *e)
{
	bool plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	struct str tag = str_of((const char *)e->data.scalar.tag);
	enum yaml_type type = plain ? YAML_ANY : YAML_STR;

	rd->nodes++;
	if (tag.len && !type_of_tag(tag, &type)) {
		refuse_tag(rd, e, tag, "a scalar");
		return stand_in(rd);
	}
	json_t *value = yaml_scalar(scalar_text(e), type);
	if (!value) {
		report_error(rd->r, where_event(rd, e), "'%.*s' cannot be what its tag says",
			STR(report_quote(rd->r, scalar_text(e))));
		return stand_in(rd);
	}
	return (struct found){ value, 0 };
}

static struct found read_sequence(struct reader *rd, unsigned depth)
{
	AUTO_JSON *array = json_array();
	unsigned height = 0;
	yaml_event_t e;

	rd->nodes++;
	for (;;) {
		if (!next(rd, &e))
			return (struct found){ 0 };
		if (e.type == YAML_SEQUENCE_END_EVENT)
			break;
		struct found item = read_node(rd, &e, depth + 1);
		if (!item.value)
			return (struct found){ 0 };
		json_array_append_new(array, item.value);
		height = MAX(height, item.height + 1);
	}
	yaml_event_delete(&e);
	return (struct found){ TAKE(array), height };
}

/* -- mappings ------------------------------------------------------------------------------------
 */

/* `{{x}}` without quotes is a mapping in a mapping: the slip of authors who come from other
 * template languages. */
static bool refuse_key(struct reader *rd, struct where w)
{
	struct str text = str_from(rd->source->text, w.offset);
	bool braces = w.offset > 0 && str_starts(str_from(rd->source->text, w.offset - 1), S("{{"));

	rd->wrong = true;
	report_error(rd->r, w, "a key must be a string");
	if (braces)
		return report_hint(rd->r, "put quotes around it: \"{%.*s\"",
			STR(report_quote(rd->r, str_sub(text, 0,
							MIN(str_find(text, '\n', 0),
								str_find(text, '}', 0) + 2)))));
	return report_hint(rd->r, "write `key: value`, with a name as key");
}

static bool check_key(struct reader *rd, struct where w, struct str key)
{
	if (str_find(key, '\0', 0) == key.len)
		return true;
	rd->wrong = true;
	return report_error(rd->r, w, "a key has a NUL in it");
}

/* The key that begins with `e`, into `ret`. False when reading has ended; `usable` says whether it
 * can be the name of a member, `merge` whether it is `<<`. */
static bool read_key(struct reader *rd, yaml_event_t *e, unsigned depth, struct buf *ret,
	bool *usable, bool *merge)
{
	struct where w = where_event(rd, e);
	bool scalar = e->type == YAML_SCALAR_EVENT;

	*merge = false;
	if (scalar) {
		*merge = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && !e->data.scalar.tag &&
			 str_eq(scalar_text(e), S("<<"));
		buf_add(ret, scalar_text(e));
	}
	struct found key = read_node(rd, e, depth);
	AUTO_JSON *value = key.value;
	if (!value)
		return false;
	*usable = scalar || !(json_is_array(value) || json_is_object(value));
	if (!*usable)
		refuse_key(rd, w);
	else if (json_is_string(value) && !scalar)
		buf_add(ret, json_str(value));
	else if (!scalar)
		json_write(ret, value, 0);
	*usable = *usable && check_key(rd, w, buf_str(ret));
	return true;
}

static bool mergeable(const json_t *value)
{
	if (!json_is_array(value))
		return json_is_object(value);
	for (size_t i = 0; i < json_array_size(value); i++)
		if (!json_is_object(json_array_get(value, i)))
			return false;
	return true;
}

/* Of several mappings in one list the first wins, of several `<<` the last. */
static void merge_into(json_t *object, const json_t *value)
{
	if (json_is_object(value)) {
		json_object_update(object, (json_t *)value);
		return;
	}
	for (size_t i = json_array_size(value); i-- > 0;)
		json_object_update(object, json_array_get(value, i));
}

struct mapping {
	json_t *own;    /* what stands in it */
	json_t *merged; /* what `<<` brings; NULL: nothing */
	unsigned height;
};

static bool read_member(struct reader *rd, yaml_event_t *e, unsigned depth, struct mapping *m)
{
	struct where w = where_event(rd, e);
	AUTO_BUF key = BUF_INIT;
	bool usable, merge;

	if (!read_key(rd, e, depth, &key, &usable, &merge))
		return false;
	if (!next(rd, e))
		return false;
	struct where at = merge ? where_event(rd, e) : w;
	struct found item = read_node(rd, e, depth);
	AUTO_JSON *value = item.value;
	if (!value)
		return false;
	m->height = MAX(m->height, item.height + 1);
	if (merge && mergeable(value)) {
		if (!m->merged)
			m->merged = json_object();
		merge_into(m->merged, value);
	} else if (merge) {
		rd->wrong = true;
		report_error(rd->r, at, "`<<` takes a mapping or a list of mappings, found %s",
			json_kind(value));
		report_hint(rd->r, "write `<<: *name` with `&name` at the mapping to take from");
	} else if (usable) {
		if (json_object_get(m->own, buf_cstr(&key))) {
			report_warning(rd->r, w,
				"the key '%.*s' stands here twice: the last counts",
				STR(report_quote(rd->r, buf_str(&key))));
			report_hint(rd->r, "remove one of them");
			report_slip(rd->r);
		}
		json_object_set_new_nocheck(m->own, buf_cstr(&key), TAKE(value));
	}
	return true;
}

static struct found read_mapping(struct reader *rd, unsigned depth)
{
	struct mapping m = { .own = json_object() };
	bool ok = true;
	yaml_event_t e;

	rd->nodes++;
	while ((ok = next(rd, &e)) && e.type != YAML_MAPPING_END_EVENT)
		if (!(ok = read_member(rd, &e, depth + 1, &m)))
			break;
	if (!ok) {
		json_decref(m.own);
		json_decref(m.merged);
		return (struct found){ 0 };
	}
	yaml_event_delete(&e);
	if (!m.merged)
		return (struct found){ m.own, m.height };
	json_object_update(m.merged, m.own);
	json_decref(m.own);
	return (struct found){ m.merged, m.height };
}

/* The node that begins with `e`, which ends here. */
static struct found read_node(struct reader *rd, yaml_event_t *e, unsigned depth)
{
	size_t before = rd->nodes;
	struct anchor *anchor = NULL;
	struct found f = { 0 };

	if (depth > YAML_DEPTH_MAX) {
		report_error(
			rd->r, where_event(rd, e), "nested deeper than %d levels", YAML_DEPTH_MAX);
		yaml_event_delete(e);
		return f;
	}
	switch (e->type) {
	case YAML_ALIAS_EVENT:
		f = read_alias(rd, e, depth);
		yaml_event_delete(e);
		return f;
	case YAML_SCALAR_EVENT:
		anchor = anchor_declare(rd, e->data.scalar.anchor);
		f = read_scalar(rd, e);
		yaml_event_delete(e);
		break;
	case YAML_SEQUENCE_START_EVENT:
		anchor = anchor_declare(rd, e->data.sequence_start.anchor);
		check_collection_tag(rd, e, e->data.sequence_start.tag, TAGS "seq", "a list");
		yaml_event_delete(e);
		f = read_sequence(rd, depth);
		break;
	case YAML_MAPPING_START_EVENT:
		anchor = anchor_declare(rd, e->data.mapping_start.anchor);
		check_collection_tag(rd, e, e->data.mapping_start.tag, TAGS "map", "a mapping");
		yaml_event_delete(e);
		f = read_mapping(rd, depth);
		break;
	case YAML_NO_EVENT:
	case YAML_STREAM_START_EVENT:
	case YAML_STREAM_END_EVENT:
	case YAML_DOCUMENT_START_EVENT:
	case YAML_DOCUMENT_END_EVENT:
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
	default:
		UNREACHABLE("libyaml balances its events");
	}
	anchor_settle(rd, anchor, f, rd->nodes - before);
	return f;
}

/* -- the document --------------------------------------------------------------------------------
 */

/* What libyaml would stop at with a vague word, or not stop at. */
static bool check_bytes(const struct source *source, struct report *r)
{
	struct str text = source->text;
	uint32_t c;

	if (text.len > YAML_BYTES_MAX) {
		report_error(r, (struct where){ source, 0, 0 }, "the file is larger than 1 MiB");
		return report_hint(r, "keep data in files of their own");
	}
	for (size_t i = str_starts(text, S("\xEF\xBB\xBF")) ? 3 : 0, n; i < text.len; i += n) {
		n = utf8_decode(text, i, &c);
		if (c == UTF8_INVALID)
			return report_error(r, (struct where){ source, i, 1 },
				"byte 0x%02x is not valid UTF-8", (unsigned char)text.p[i]);
		if (c == 0)
			return report_error(
				r, (struct where){ source, i, 1 }, "not valid YAML: a NUL byte");
		bool printable = c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c <= 0x7e) ||
				 c == 0x85 || (c >= 0xa0 && c != 0xfffe && c != 0xffff);
		/* Inside a text a mark of byte order is a character like others. */
		if (!printable) {
			report_error(r, (struct where){ source, i, n },
				"not valid YAML: the control character U+%04X", c);
			return report_hint(r, "in double quotes it can be written \"\\u%04X\"", c);
		}
	}
	return true;
}

static json_t *read_document(struct reader *rd)
{
	yaml_event_t e;
	AUTO_JSON *root = NULL;

	for (;;) {
		if (!next(rd, &e))
			return NULL;
		yaml_event_type_t type = e.type;
		if (type == YAML_DOCUMENT_START_EVENT && root) {
			report_error(rd->r, where_event(rd, &e), "a second document begins here");
			report_hint(rd->r, "a file has one; take the line `---` away");
			yaml_event_delete(&e);
			return NULL;
		}
		if (type == YAML_STREAM_START_EVENT || type == YAML_STREAM_END_EVENT ||
			type == YAML_DOCUMENT_START_EVENT || type == YAML_DOCUMENT_END_EVENT) {
			yaml_event_delete(&e);
			if (type == YAML_STREAM_END_EVENT)
				break;
			continue;
		}
		root = read_node(rd, &e, 1).value;
		if (!root)
			return NULL;
	}
	if (rd->wrong)
		return NULL;
	return root ? TAKE(root) : json_null();
}

json_t *yaml_read(const struct source *source, struct report *r)
{
	if (!check_bytes(source, r))
		return NULL;
	struct reader rd = { .source = source, .r = r };
	yaml_events_init(&rd.events, source->text);
	json_t *root = read_document(&rd);
	yaml_events_done(&rd.events);
	vec_each (value, &rd.kept)
		json_decref(*value);
	vec_done(&rd.kept);
	arena_done(&rd.arena);
	return root;
}
