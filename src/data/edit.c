#include "data/edit.h"

#include "base/vec.h"
#include "data/json-scan.h"
#include "data/json.h"

/* Offsets in the text. */
struct member {
	size_t key, key_end, value, value_end;
};

struct object {
	struct str text;
	size_t inside; /* behind the brace */
	VEC(struct member) members;
};

/* How the file is written. */
struct style {
	bool lines;             /* one member a line */
	struct str gap;         /* between a comma and the next member, else */
	struct str end, indent; /* of the lines */
	struct str colon;       /* with the spaces around it */
};

#define AUTO_OBJECT __attribute__((cleanup(object_done))) struct object

static void object_done(struct object *o)
{
	vec_done(&o->members);
}

static bool at_char(struct str t, size_t at, char c)
{
	return at < t.len && t.p[at] == c;
}

static bool scan(struct str t, struct object *o)
{
	size_t at = json_scan_blank(t, str_starts(t, S("\xEF\xBB\xBF")) ? 3 : 0);

	if (!at_char(t, at, '{'))
		return false;
	o->text = t;
	o->inside = at + 1;
	at = json_scan_blank(t, at + 1);
	while (at_char(t, at, '"')) {
		struct member m = { .key = at, .key_end = json_scan_string(t, at) };

		at = json_scan_blank(t, m.key_end);
		if (!m.key_end || !at_char(t, at, ':'))
			return false;
		m.value = json_scan_blank(t, at + 1);
		m.value_end = json_scan_value(t, m.value);
		if (!m.value_end)
			return false;
		vec_push(&o->members, m);
		at = json_scan_blank(t, m.value_end);
		if (!at_char(t, at, ','))
			break;
		at = json_scan_blank(t, at + 1);
	}
	return at_char(t, at, '}');
}

static struct str part(const struct object *o, size_t from, size_t to)
{
	return str_sub(o->text, from, to - from);
}

static bool named(const struct object *o, const struct member *m, struct str name)
{
	struct str quoted = part(o, m->key, m->key_end);

	if (str_find(quoted, '\\', 0) == quoted.len)
		return str_eq(str_sub(quoted, 1, quoted.len - 2), name);
	AUTO_JSON *key = json_loadb(quoted.p, quoted.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	return key && str_eq(json_str(key), name);
}

static struct member *last_named(const struct object *o, struct str name)
{
	for (size_t i = o->members.len; i > 0; i--)
		if (named(o, &o->members.at[i - 1], name))
			return &o->members.at[i - 1];
	return NULL;
}

/* The white space before `at`. */
static struct str blanks_before(struct str t, size_t at)
{
	size_t from = at;

	while (from > 0 && json_scan_is_blank(t.p[from - 1]))
		from--;
	return str_sub(t, from, at - from);
}

static bool has_line(struct str s)
{
	return str_find(s, '\n', 0) < s.len;
}

/* The last member is the example to follow: it has a comma before it, unless it is alone. */
static struct style style_of(const struct object *o)
{
	struct style s = { .end = S("\n"), .indent = S("  "), .colon = S(": ") };
	size_t count = o->members.len;
	const struct member *last = count ? &o->members.at[count - 1] : NULL;
	size_t at = last ? last->key : json_scan_blank(o->text, o->inside);
	struct str gap = blanks_before(o->text, at);

	s.lines = has_line(gap);
	if (s.lines) {
		size_t line = gap.len;

		while (gap.p[line - 1] != '\n')
			line--;
		if (line > 1 && gap.p[line - 2] == '\r')
			s.end = S("\r\n");
		if (last)
			s.indent = str_from(gap, line);
	}
	if (last && !has_line(part(o, last->key_end, last->value)))
		s.colon = part(o, last->key_end, last->value);
	s.gap = s.colon.p[s.colon.len - 1] == ':' ? S("") : S(" ");
	if (count > 1 && !s.lines)
		s.gap = gap;
	return s;
}

static void new_line(struct buf *b, const struct style *s, size_t depth)
{
	buf_add(b, s->end);
	while (depth--)
		buf_add(b, s->indent);
}

/* The value of a member, spelled as the file is. Its own white space is dropped. */
static void add_value(struct buf *b, struct str v, const struct style *s)
{
	size_t depth = 1, next;

	for (size_t at = json_scan_blank(v, 0); at < v.len; at = json_scan_blank(v, next)) {
		char c = v.p[at];

		next = c == '"' ? MAX(json_scan_string(v, at), at + 1) : at + 1;
		if (c == ':') {
			buf_add(b, s->colon);
			continue;
		}
		if ((c == '}' || c == ']') && depth-- && s->lines)
			new_line(b, s, depth);
		buf_add(b, str_sub(v, at, next - at));
		if (c == ',' && !s->lines)
			buf_add(b, s->gap);
		if (c == ',' && s->lines)
			new_line(b, s, depth);
		if (c != '{' && c != '[')
			continue;
		size_t inner = json_scan_blank(v, next);
		if (at_char(v, inner, '}') || at_char(v, inner, ']')) { /* stays together */
			buf_addc(b, v.p[inner]);
			next = inner + 1;
		} else {
			depth++;
			if (s->lines)
				new_line(b, s, depth);
		}
	}
}

static void add_member(struct buf *b, struct str name, struct str value, const struct style *s)
{
	json_write_str(b, name);
	buf_add(b, s->colon);
	add_value(b, value, s);
}

static void add_gap(struct buf *b, const struct style *s)
{
	if (s->lines)
		new_line(b, s, 1);
	else
		buf_add(b, s->gap);
}

static void set_value(const struct object *o, const struct member *m, struct str value,
	struct style s, struct buf *ret)
{
	struct str old = part(o, m->value, m->value_end);

	/* A list or object that its author put on one line stays on it, unless it was empty. */
	if ((old.p[0] == '{' || old.p[0] == '[') && json_scan_blank(old, 1) + 1 < old.len)
		s.lines = has_line(old);
	buf_add(ret, str_sub(o->text, 0, m->value));
	add_value(ret, value, &s);
	buf_add(ret, str_from(o->text, m->value_end));
}

static void insert(const struct object *o, struct str name, struct str value, const struct style *s,
	struct buf *ret)
{
	size_t count = o->members.len;
	const struct member *last = count ? &o->members.at[count - 1] : NULL;
	bool before = last && named(o, last, S("template"));
	/* Behind the member that will be its neighbour, so that blank lines stay where they are. */
	const struct member *after = !before ? last : count > 1 ? last - 1 : NULL;
	size_t at = after ? after->value_end : last ? last->key : o->inside;

	buf_add(ret, str_sub(o->text, 0, at));
	if (after)
		buf_addc(ret, ',');
	if (after || (!last && s->lines))
		add_gap(ret, s);
	add_member(ret, name, value, s);
	if (!after && last) {
		buf_addc(ret, ',');
		add_gap(ret, s);
	}
	buf_add(ret, str_from(o->text, at));
}

bool edit_set_member(struct str text, struct str name, struct str json_value, struct buf *ret)
{
	AUTO_OBJECT o = { 0 };

	if (!scan(text, &o))
		return false;
	struct style s = style_of(&o);
	const struct member *m = last_named(&o, name);
	if (m)
		set_value(&o, m, json_value, s, ret);
	else
		insert(&o, name, json_value, &s, ret);
	return true;
}

/* From where to where it is cut: its line goes with it, and the comma before or behind it. */
static void cut(const struct object *o, const struct member *m, size_t *from, size_t *to)
{
	const struct member *first = o->members.at, *last = first + o->members.len - 1;

	*from = m > first ? m[-1].value_end : m < last ? m->key : o->inside;
	*to = m > first  ? m->value_end
	      : m < last ? m[1].key
			 : json_scan_blank(o->text, m->value_end);
}

bool edit_remove_member(struct str text, struct str name, struct buf *ret)
{
	const struct member *m;
	AUTO_BUF now = BUF_INIT;

	buf_add(&now, text);
	do {
		AUTO_OBJECT o = { 0 };
		AUTO_BUF rest = BUF_INIT;
		size_t from = now.len, to = now.len;

		if (!scan(buf_str(&now), &o))
			return false;
		m = last_named(&o, name);
		if (m)
			cut(&o, m, &from, &to);
		buf_add(&rest, str_sub(buf_str(&now), 0, from));
		buf_add(&rest, str_from(buf_str(&now), to));
		buf_swap(&now, &rest);
	} while (m);
	buf_add(ret, buf_str(&now));
	return true;
}
