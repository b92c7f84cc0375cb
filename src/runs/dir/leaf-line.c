#include "runs/dir/leaf-line.h"

#include <stddef.h>
#include <string.h>

/* The members of a line, whatever its kind. */
struct members {
	struct str p, s, on, limit;
	uint64_t a, ts, pid, st, w, n, code, sig, ms, out, err;
	bool timeout, cancelled, lost, ru;
	struct leaf_usage used;
};

enum type { TYPE_STRING, TYPE_NUMBER, TYPE_FLAG, TYPE_USAGE };

struct member {
	struct str name;
	enum type type;
	size_t at;
};

#define NAMED(text, type, of)                                                  \
	{                                                                      \
		{ text, sizeof(text) - 1 }, type, offsetof(struct members, of) \
	}
#define MEMBER(name, type) NAMED(#name, type, name)
#define USED(name) NAMED(#name, TYPE_NUMBER, used.name)

static const struct member of_line[] = {
	MEMBER(p, TYPE_STRING),
	MEMBER(a, TYPE_NUMBER),
	MEMBER(s, TYPE_STRING),
	MEMBER(ts, TYPE_NUMBER),
	MEMBER(pid, TYPE_NUMBER),
	MEMBER(st, TYPE_NUMBER),
	MEMBER(code, TYPE_NUMBER),
	MEMBER(sig, TYPE_NUMBER),
	MEMBER(ms, TYPE_NUMBER),
	MEMBER(out, TYPE_NUMBER),
	MEMBER(err, TYPE_NUMBER),
	MEMBER(ru, TYPE_USAGE),
	MEMBER(on, TYPE_STRING),
	MEMBER(w, TYPE_NUMBER),
	MEMBER(n, TYPE_NUMBER),
	MEMBER(timeout, TYPE_FLAG),
	MEMBER(cancelled, TYPE_FLAG),
	MEMBER(lost, TYPE_FLAG),
	MEMBER(limit, TYPE_STRING),
};

static const struct member of_usage[] = {
	USED(user_us),
	USED(system_us),
	USED(memory_kib),
};

static void *slot(struct members *m, const struct member *of)
{
	return (char *)m + of->at;
}

/* -- from members --------------------------------------------------------------------------------
 */

static bool read_kind(struct str name, enum leaf_line_kind *ret)
{
	static const char *const names[] = {
		[LEAF_START] = "start",
		[LEAF_EXIT] = "exit",
		[LEAF_FORGET] = "forget",
		[LEAF_CLOSED] = "closed",
		[LEAF_LOST] = "lost",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (str_eq(name, str_of(names[i]))) {
			*ret = (enum leaf_line_kind)i;
			return true;
		}
	return false;
}

static bool line_of(const struct members *m, struct leaf_line *ret)
{
	*ret = (struct leaf_line){ .path = m->p, .ts = m->ts };
	struct leaf_record *r = &ret->record;
	if (!m->p.len || !read_kind(m->s, &ret->kind))
		return false;
	r->number = m->a;
	if (ret->kind == LEAF_START) {
		r->started = true;
		r->pid = (int64_t)m->pid;
		r->pid_start = m->st;
		r->on = m->on;
		r->worker = m->w;
		r->grant = m->n;
		r->started_ms = m->ts;
	} else if (ret->kind == LEAF_EXIT) {
		r->ended = true;
		r->code = (int)m->code;
		r->signal = (int)m->sig;
		r->timed_out = m->timeout;
		r->cancelled = m->cancelled;
		r->gone = m->lost;
		r->limit = m->limit;
		r->ms = m->ms;
		r->out_bytes = m->out;
		r->err_bytes = m->err;
		ret->used = m->ru;
		ret->usage = m->used;
	}
	return true;
}

/* -- as JSON -------------------------------------------------------------------------------------
 */

static void take_json(
	const json_t *object, const struct member *table, size_t count, struct members *m)
{
	for (size_t i = 0; i < count; i++) {
		const json_t *value = json_object_get(object, table[i].name.p);
		void *to = slot(m, &table[i]);

		switch (table[i].type) {
		case TYPE_STRING:
			*(struct str *)to = json_str(value);
			break;
		case TYPE_NUMBER:
			*(uint64_t *)to = (uint64_t)json_integer_value(value);
			break;
		case TYPE_FLAG:
			*(bool *)to = json_is_true(value);
			break;
		case TYPE_USAGE:
			*(bool *)to = json_is_object(value);
			take_json(value, of_usage, ARRAY_SIZE(of_usage), m);
			break;
		}
	}
}

bool leaf_line_read_json(struct str text, struct leaf_line *ret, json_t **keep)
{
	struct members m = { 0 };

	*keep = json_loadb(text.p, text.len, 0, NULL);
	if (!json_is_object(*keep))
		return false;
	take_json(*keep, of_line, ARRAY_SIZE(of_line), &m);
	return line_of(&m, ret);
}

/* -- directly ------------------------------------------------------------------------------------
 * Members without spaces between them, known names, strings of plain ASCII, numbers that are not
 * negative: what is written here. Anything else is refused. */

enum { DIGITS_MAX = 18 };

static bool take_char(struct str *rest, char c)
{
	if (!rest->len || *rest->p != c)
		return false;
	*rest = str_from(*rest, 1);
	return true;
}

static bool take_word(struct str *rest, struct str word)
{
	if (!str_starts(*rest, word))
		return false;
	*rest = str_from(*rest, word.len);
	return true;
}

static bool take_string(struct str *rest, struct str *ret)
{
	size_t n = 1;

	if (!rest->len || *rest->p != '"')
		return false;
	for (; n < rest->len && rest->p[n] != '"'; n++)
		if (rest->p[n] == '\\' || rest->p[n] < ' ' || rest->p[n] > '~')
			return false;
	if (n == rest->len)
		return false;
	*ret = str_sub(*rest, 1, n - 1);
	*rest = str_from(*rest, n + 1);
	return true;
}

static bool take_number(struct str *rest, uint64_t *ret)
{
	size_t n = 0;

	*ret = 0;
	for (; n < rest->len && n <= DIGITS_MAX && rest->p[n] >= '0' && rest->p[n] <= '9'; n++)
		*ret = *ret * 10 + (uint64_t)(rest->p[n] - '0');
	/* A number has no zero before it; what follows a fraction or an exponent is refused by the
	 * caller, who wants a comma or the end. */
	if (!n || n > DIGITS_MAX || (n > 1 && *rest->p == '0'))
		return false;
	*rest = str_from(*rest, n);
	return true;
}

static bool take_object(
	struct str *rest, const struct member *table, size_t count, struct members *m);

static bool take_value(struct str *rest, enum type type, void *to, struct members *m)
{
	switch (type) {
	case TYPE_STRING:
		return take_string(rest, to);
	case TYPE_NUMBER:
		return take_number(rest, to);
	case TYPE_FLAG:
		*(bool *)to = true;
		return take_word(rest, S("true"));
	case TYPE_USAGE:
		if (m->ru)
			return false; /* the second of the same name counts alone */
		m->ru = true;
		return take_object(rest, of_usage, ARRAY_SIZE(of_usage), m);
	}
	return false;
}

static bool take_object(
	struct str *rest, const struct member *table, size_t count, struct members *m)
{
	struct str name;

	if (!take_char(rest, '{'))
		return false;
	do {
		const struct member *of = table;

		if (!take_string(rest, &name) || !take_char(rest, ':'))
			return false;
		while (of < table + count && !str_eq(of->name, name))
			of++;
		if (of == table + count || !take_value(rest, of->type, slot(m, of), m))
			return false;
	} while (take_char(rest, ','));
	return take_char(rest, '}');
}

bool leaf_line_read_plain(struct str text, struct leaf_line *ret)
{
	struct members m = { 0 };

	return take_object(&text, of_line, ARRAY_SIZE(of_line), &m) && take_char(&text, '\n') &&
	       !text.len && line_of(&m, ret);
}

bool leaf_line_read(struct str text, struct leaf_line *ret, json_t **keep)
{
	*keep = NULL;
	return leaf_line_read_plain(text, ret) || leaf_line_read_json(text, ret, keep);
}
