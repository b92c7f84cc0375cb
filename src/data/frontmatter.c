#include "data/frontmatter.h"

#include <math.h>

#include "base/number.h"
#include "base/utf8.h"
#include "data/markdown.h"

/*
 * The metadata of a Markdown recipe: like YAML, but not YAML. A scalar ends with its line, ` #`
 * begins no comment, quotes know no escapes, and an item of a list is a scalar.
 */

enum { DEPTH_MAX = 64 };

struct reader {
	const struct source *source;
	struct str text; /* of the source, up to the closing `---` */
	size_t at;       /* where the next line begins */
	size_t end;      /* of the last line that was read, without spaces */
	struct arena *arena;
	struct report *errors, *warnings;
	bool ok;
};

/* A line that says something: neither blank nor a comment. */
struct entry {
	struct text_line line;
	struct str indent, text;
};

struct value {
	json_t *json;
	struct str from;   /* its bytes in the text */
	bool is_json;      /* they are JSON */
	struct map *inner; /* where what is in it stands; NULL: unknown */
};

static struct where where(const struct reader *rd, struct str part)
{
	return (struct where){ rd->source, (size_t)(part.p - rd->text.p), part.len };
}

static struct str indent_of(struct str line)
{
	size_t n = 0;

	while (n < line.len && (line.p[n] == ' ' || line.p[n] == '\t'))
		n++;
	return str_sub(line, 0, n);
}

/* Finds the next line that says something; it stays the next line until take() is called. */
static bool peek(struct reader *rd, struct entry *ret)
{
	while (rd->at < rd->text.len) {
		struct text_line line = text_line_at(rd->text, rd->at);
		struct str all = str_sub(rd->text, line.begin, line.end - line.begin);
		struct str indent = indent_of(all), text = str_from(all, indent.len);

		if (text.len && text.p[0] != '#' && utf8_trim(text).len) {
			*ret = (struct entry){ line, indent, text };
			return true;
		}
		rd->at = line.next;
	}
	return false;
}

static void take(struct reader *rd, const struct entry *e)
{
	struct str text = utf8_trim(e->text);

	rd->at = e->line.next;
	rd->end = (size_t)(text.p - rd->text.p) + text.len;
}

/* The reference loses such lines silently; nothing stops because of them, but they are told. */
static void unplaced(struct reader *rd, const struct entry *e, const char *why, const char *hint)
{
	take(rd, e);
	report_warning(rd->warnings, where(rd, utf8_trim(e->text)), "line is ignored: %s", why);
	report_hint(rd->warnings, "%s", hint);
	report_slip(rd->warnings);
}

static void too_deep(struct reader *rd, const struct entry *e)
{
	unplaced(rd, e, "it is indented more deeply than the line it could belong to",
		"a long text stands under 'key: |'; an item that is a mapping is written as JSON");
}

/* `- item`. A dash that touches the next character begins a scalar. */
static bool is_item(struct str text)
{
	return text.p[0] == '-' && (text.len == 1 || text.p[1] == ' ' || text.p[1] == '\t' ||
					   utf8_trim(str_from(text, 1)).len == 0);
}

/* `key: rest`, with a key of [A-Za-z_][A-Za-z0-9_.-]*. */
static bool split_key(struct str text, struct str *key, struct str *rest)
{
	size_t n = 0;

	while (n < text.len) {
		char c = text.p[n];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';

		if (!letter && (n == 0 || (!ascii_digit(c) && c != '.' && c != '-')))
			break;
		n++;
	}
	if (n == 0 || n == text.len || text.p[n] != ':')
		return false;
	*key = str_sub(text, 0, n);
	*rest = utf8_trim(str_from(text, n + 1));
	return true;
}

/* Integers stay exact; beyond 64 bits they are what JSON readers make of them. NULL when it is not
 * digits with an optional sign and fraction, or no number can hold it. */
static json_t *number(struct str s)
{
	bool negative = s.len && s.p[0] == '-';
	struct str digits = str_from(s, negative);
	int64_t whole;
	double real;

	if (!digits.len || !ascii_digit(digits.p[0]))
		return NULL;
	if (str_to_int(s, &whole))
		return json_integer(whole);
	if (!number_plain(digits, &real) || !isfinite(real))
		return NULL;
	return json_real(negative ? -real : real);
}

static json_t *json_or_null(struct str s)
{
	AUTO_REPORT ignored = REPORT_INIT;
	struct source source = { S(""), s };

	return json_read(&source, &ignored);
}

static bool enclosed(struct str s, char open, char close)
{
	return s.len >= 2 && s.p[0] == open && s.p[s.len - 1] == close;
}

/* The item at *at of a comma-separated list, trimmed; *at moves behind its comma. Commas between
 * the pairs of `brackets` and in an item that begins with a quote do not count. *open is set when
 * a bracket is never closed. */
static struct str next_item(struct str s, size_t *at, struct str brackets, bool *open)
{
	size_t i = *at, depth = 0;

	while (i < s.len && (s.p[i] == ' ' || s.p[i] == '\t'))
		i++;
	if (i < s.len && (s.p[i] == '"' || s.p[i] == '\'')) {
		size_t close = str_find(s, s.p[i], i + 1);

		i = close < s.len ? close + 1 : i;
	}
	for (; i < s.len && (depth || s.p[i] != ','); i++) {
		size_t bracket = str_find(brackets, s.p[i], 0);

		if (bracket == brackets.len)
			continue;
		if (bracket % 2 == 0)
			depth++;
		else if (depth)
			depth--;
	}
	*open = *open || depth;
	struct str item = utf8_trim(str_sub(s, *at, i - *at));
	*at = i + 1;
	return item;
}

static struct value scalar(struct str s, bool lists);

/* `[a, b]` that is not JSON. NULL when its brackets do not match, which leaves it a text. */
static json_t *plain_list(struct str inner)
{
	AUTO_JSON *list = json_array();
	bool open = false;

	for (size_t at = 0; at < inner.len;) {
		struct str item = next_item(inner, &at, S("()[]{}"), &open);

		json_array_append_new(list, scalar(item, false).json);
	}
	return open ? NULL : json_incref(list);
}

/* One value on one line, already trimmed; nothing at all is null. `lists` allows `[a, b]`, which
 * holds plain scalars only. */
static struct value scalar(struct str s, bool lists)
{
	struct value v = { NULL, s, false };

	if (!s.len || str_eq(s, S("null")))
		v.json = json_null();
	else if (str_eq(s, S("true")) || str_eq(s, S("false")))
		v.json = json_boolean(s.p[0] == 't');
	else if (enclosed(s, '"', '"') || enclosed(s, '\'', '\''))
		v.from = str_sub(s, 1, s.len - 2);
	else if (enclosed(s, '{', '}') || enclosed(s, '[', ']'))
		v.json = json_or_null(s);
	else
		v.json = number(s);
	v.is_json = v.json && (s.p[0] == '{' || s.p[0] == '[');

	if (!v.json && lists && v.from.len == s.len && enclosed(s, '[', ']'))
		v.json = plain_list(str_sub(s, 1, s.len - 2));
	if (!v.json)
		v.json = json_from_str(v.from);
	return v;
}

/* `|` or `>`, then in either order how the end is treated and how deep the block is indented. */
struct block_style {
	bool folded;
	char chomp;      /* '-' ends without a line break, '+' keeps all of them, 0 keeps one */
	unsigned indent; /* 0: as the first line is */
};

static bool block_header(struct str s, struct block_style *ret)
{
	struct block_style style = { 0 };

	if (!s.len || s.len > 3 || (s.p[0] != '|' && s.p[0] != '>'))
		return false;
	style.folded = s.p[0] == '>';
	for (size_t i = 1; i < s.len; i++) {
		char c = s.p[i];

		if ((c == '-' || c == '+') && !style.chomp)
			style.chomp = c;
		else if (c >= '1' && c <= '9' && !style.indent)
			style.indent = (unsigned)(c - '0');
		else
			return false;
	}
	*ret = style;
	return true;
}

/* A block that grows line by line. */
struct folding {
	struct buf text;
	bool any, was_indented;
	size_t blank_lines; /* since the last line */
};

/* Between two lines that are not indented further a folded break is a space, and blank lines stand
 * for the breaks; all other breaks are kept. */
static void fold_line(struct folding *f, struct str line, bool folded)
{
	bool indented = line.p[0] == ' ' || line.p[0] == '\t';

	if (f->any && !(folded && !f->was_indented && !indented))
		buf_addc(&f->text, '\n');
	else if (f->any && !f->blank_lines)
		buf_addc(&f->text, ' ');
	buf_fill(&f->text, '\n', f->blank_lines);
	buf_add(&f->text, line);
	f->any = true;
	f->was_indented = indented;
	f->blank_lines = 0;
}

static struct value block_scalar(struct reader *rd, struct str outer, struct block_style style)
{
	struct folding f = { .text = BUF_INIT };
	struct str prefix = { 0 };
	size_t begin = rd->at;

	while (rd->at < rd->text.len) {
		struct text_line at = text_line_at(rd->text, rd->at);
		struct str line = str_sub(rd->text, at.begin, at.end - at.begin);
		bool blank = utf8_trim(line).len == 0;

		if (!blank && !prefix.len) {
			prefix = indent_of(line);
			if (style.indent)
				prefix.len = MIN(prefix.len, outer.len + style.indent);
			begin = at.begin + prefix.len;
		}
		if (!blank && (prefix.len <= outer.len || !str_starts(prefix, outer) ||
				      !str_starts(line, prefix)))
			break;
		if (blank)
			f.blank_lines++;
		else
			fold_line(&f, str_from(line, prefix.len), style.folded);
		rd->end = blank ? rd->end : at.end;
		rd->at = at.next;
	}
	if (f.any && style.chomp != '-')
		buf_addc(&f.text, '\n');
	if (style.chomp == '+')
		buf_fill(&f.text, '\n', f.blank_lines);

	struct value v = { .json = json_from_str(buf_str(&f.text)),
		.from = str_sub(rd->text, begin, 0) };
	v.from.len = f.any ? rd->end - begin : 0;
	buf_done(&f.text);
	return v;
}

static struct markdown_region *record(
	struct reader *rd, struct map *regions, struct str key, const struct value *v)
{
	struct markdown_region **region =
		(struct markdown_region **)map_put(regions, rd->arena, key);

	if (!*region)
		*region = arena_new(rd->arena, struct markdown_region);
	**region = (struct markdown_region){
		.key = arena_str(rd->arena, key),
		.offset = where(rd, v->from).offset,
		.length = v->from.len,
		.json = v->is_json,
		.exact = json_is_string(v->json) && str_eq(json_str(v->json), v->from),
		.inner = v->inner,
	};
	return *region;
}

static void record_item(struct reader *rd, struct map *regions, size_t i, const struct value *v)
{
	record(rd, regions, arena_printf(rd->arena, "%zu", i), v);
}

static json_t *list(struct reader *rd, struct str indent, struct map *regions)
{
	json_t *items = json_array();
	struct entry e;

	while (peek(rd, &e) && str_starts(e.indent, indent)) {
		struct block_style style;

		if (e.indent.len > indent.len) {
			too_deep(rd, &e);
			continue;
		}
		if (!is_item(e.text))
			break; /* a list at the column of its key ends with the next key */
		take(rd, &e);
		struct str item = utf8_trim(str_from(e.text, 1));
		struct value v = block_header(item, &style) ? block_scalar(rd, indent, style)
							    : scalar(item, true);
		record_item(rd, regions, json_array_size(items), &v);
		json_array_append_new(items, v.json);
	}
	return items;
}

/* Whether every line at the top of the block that comes next is an item; one that is not makes it a
 * mapping. */
static bool all_items(const struct reader *rd, struct str indent)
{
	struct reader ahead = *rd;
	struct entry e;

	while (peek(&ahead, &e) && str_starts(e.indent, indent)) {
		if (e.indent.len == indent.len && !is_item(e.text))
			return false;
		ahead.at = e.line.next;
	}
	return true;
}

static json_t *mapping(struct reader *rd, struct str indent, unsigned depth, struct map *regions);

/* What stands below `key:`, at its own column (only a list) or further in; null when nothing. */
static struct value block(struct reader *rd, struct str outer, struct str nothing, unsigned depth)
{
	struct value v = { .from = nothing };
	struct entry first;

	if (!peek(rd, &first) || !str_starts(first.indent, outer) ||
		(first.indent.len == outer.len && !is_item(first.text))) {
		v.json = json_null();
		return v;
	}
	if (depth >= DEPTH_MAX) {
		rd->ok = report_error(rd->errors, where(rd, utf8_trim(first.text)),
			"frontmatter is nested more than %d levels deep", DEPTH_MAX);
		while (peek(rd, &first) && str_starts(first.indent, outer) &&
			first.indent.len > outer.len)
			take(rd, &first);
		v.json = json_null();
		return v;
	}
	v.inner = arena_new(rd->arena, struct map);
	if (first.indent.len == outer.len || all_items(rd, first.indent))
		v.json = list(rd, first.indent, v.inner);
	else
		v.json = mapping(rd, first.indent, depth + 1, v.inner);
	v.from = first.text;
	v.from.len = rd->end - (size_t)(first.text.p - rd->text.p);
	return v;
}

/* `args: a:int, mode:enum(x,y)` */
static json_t *args_of_text(struct reader *rd, struct value *v)
{
	struct str text = json_str(v->json);
	json_t *args = json_array();
	bool open = false;

	if (v->from.len == text.len)
		v->inner = arena_new(rd->arena, struct map);

	for (size_t at = 0; at < text.len;) {
		struct str item = next_item(text, &at, S("()"), &open);

		if (!item.len)
			continue;
		json_t *arg = json_from_str(item);
		if (v->inner)
			record_item(rd, v->inner, json_array_size(args),
				&(struct value){ .json = arg,
					.from = str_sub(
						v->from, (size_t)(item.p - text.p), item.len) });
		json_array_append_new(args, arg);
	}
	return args;
}

/* The value of the i-th item, which is `key: value`, stands where the item does. */
static void record_pair(
	struct reader *rd, const struct map *items, size_t i, struct str key, struct map *regions)
{
	struct str number = arena_printf(rd->arena, "%zu", i);
	const struct markdown_region *item = items ? map_get(items, number) : NULL;

	if (item)
		record(rd, regions, key,
			&(struct value){ .from = str_sub(rd->text, item->offset, item->length) });
}

/* `defaults` as a list of `key: value`. A JSON object among the items gives all its members. */
static json_t *defaults_of_list(struct reader *rd, struct value *v)
{
	json_t *defaults = json_object(), *item;
	struct map *regions = arena_new(rd->arena, struct map);
	size_t i;

	json_array_foreach(v->json, i, item)
	{
		struct str pair = json_is_string(item) ? json_str(item) : S("");
		size_t colon = str_find(pair, ':', 0);
		struct str key = utf8_trim(str_sub(pair, 0, colon));

		if (json_is_object(item)) {
			json_object_update(defaults, item);
		} else if (!key.len || memchr(key.p, '\0', key.len)) {
			report_warning(rd->warnings, where(rd, v->from),
				"item %zu of 'defaults' is ignored: it is %s, not 'key: value'",
				i + 1, pair.len ? "a string without a key" : json_kind(item));
			report_slip(rd->warnings);
		} else {
			json_t *value =
				colon == pair.len
					? json_from_str(S(""))
					: scalar(utf8_trim(str_from(pair, colon + 1)), true).json;

			json_object_set_new_nocheck(defaults, arena_cstr(rd->arena, key), value);
			record_pair(rd, v->inner, i, key, regions);
		}
	}
	v->inner = regions;
	return defaults;
}

/* The shapes that only Markdown knows become those of JSON recipes. */
static void shorthand(struct reader *rd, struct str key, struct value *v)
{
	json_t *full = NULL;

	if (str_eq(key, S("args")) && json_is_string(v->json))
		full = args_of_text(rd, v);
	else if (str_eq(key, S("defaults")) && json_is_array(v->json))
		full = defaults_of_list(rd, v);
	if (!full)
		return;
	json_decref(v->json);
	v->json = full;
	v->is_json = false;
}

/* The entries at `indent`, and where they stand. Of equal keys the last wins.
 * Lines that are not indented as the block belong to an outer one. */
static json_t *mapping(struct reader *rd, struct str indent, unsigned depth, struct map *regions)
{
	json_t *object = json_object();
	struct block_style style;
	struct str key, rest;
	struct entry e;

	while (peek(rd, &e) && str_starts(e.indent, indent)) {
		if (e.indent.len > indent.len) {
			too_deep(rd, &e);
			continue;
		}
		if (!split_key(e.text, &key, &rest)) {
			unplaced(rd, &e, "it is not 'key: value'",
				"a key is a letter or '_', then letters, digits, '_', '.' and '-'");
			continue;
		}
		take(rd, &e);
		struct value v = block_header(rest, &style) ? block_scalar(rd, indent, style)
				 : rest.len                 ? scalar(rest, true)
							    : block(rd, indent, rest, depth);
		if (!depth)
			shorthand(rd, key, &v);
		struct markdown_region *region = record(rd, regions, key, &v);
		region->key_offset = where(rd, key).offset;
		region->key_length = key.len;
		json_object_set_new_nocheck(object, arena_cstr(rd->arena, key), v.json);
	}
	return object;
}

bool frontmatter_read(const struct source *source, size_t begin, size_t end, struct arena *a,
	json_t *object, struct map *regions, struct report *r, struct report *warnings)
{
	struct reader rd = {
		.source = source,
		.text = str_sub(source->text, 0, end),
		.at = begin,
		.end = begin,
		.arena = a,
		.errors = r,
		.warnings = warnings,
		.ok = true,
	};
	AUTO_JSON *members = mapping(&rd, S(""), 0, regions);

	json_object_update(object, members);
	return rd.ok;
}
