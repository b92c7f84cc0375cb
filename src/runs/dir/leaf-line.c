#include "runs/dir/leaf-line.h"

#include "data/json-plain.h"

/* The members of a line, whatever its kind. */
struct members {
	struct str p, s, on, limit;
	uint64_t a, ts, pid, st, w, n, code, sig, ms, out, err, in;
	bool timeout, cancelled, passed, lost, unkept, ru, end;
	struct leaf_usage used;
};

#define MEMBER(name, type) PLAIN_MEMBER(struct members, #name, type, name)
#define USED(name) PLAIN_MEMBER(struct members, #name, PLAIN_NUMBER, used.name)

static const struct plain_member of_usage[] = {
	USED(user_us),
	USED(system_us),
	USED(memory_kib),
};

static const struct plain_object usage = { of_usage, ARRAY_SIZE(of_usage) };

static const struct plain_member of_line[] = {
	MEMBER(p, PLAIN_STRING),
	MEMBER(a, PLAIN_NUMBER),
	MEMBER(s, PLAIN_STRING),
	MEMBER(ts, PLAIN_NUMBER),
	MEMBER(pid, PLAIN_NUMBER),
	MEMBER(st, PLAIN_NUMBER),
	MEMBER(code, PLAIN_NUMBER),
	MEMBER(sig, PLAIN_NUMBER),
	MEMBER(ms, PLAIN_NUMBER),
	MEMBER(out, PLAIN_NUMBER),
	MEMBER(err, PLAIN_NUMBER),
	PLAIN_INNER(struct members, "ru", ru, &usage),
	MEMBER(on, PLAIN_STRING),
	MEMBER(w, PLAIN_NUMBER),
	MEMBER(n, PLAIN_NUMBER),
	MEMBER(timeout, PLAIN_FLAG),
	MEMBER(cancelled, PLAIN_FLAG),
	MEMBER(lost, PLAIN_FLAG),
	MEMBER(passed, PLAIN_FLAG),
	MEMBER(unkept, PLAIN_FLAG),
	MEMBER(limit, PLAIN_STRING),
	MEMBER(in, PLAIN_NUMBER),
	MEMBER(end, PLAIN_FLAG),
};

static const struct plain_object whole = { of_line, ARRAY_SIZE(of_line) };

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
		[LEAF_INPUT] = "input",
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
		r->passed = m->passed;
		r->gone = m->lost;
		r->limit = m->limit;
		r->ms = m->ms;
		r->out_bytes = m->out;
		r->err_bytes = m->err;
		ret->used = m->ru;
		ret->usage = m->used;
	} else if (ret->kind == LEAF_LOST) {
		r->unkept = m->unkept;
	} else if (ret->kind == LEAF_INPUT) {
		ret->in_bytes = m->in;
		ret->in_end = m->end;
	}
	return true;
}

/* -- as JSON -------------------------------------------------------------------------------------
 */

static void take_json(const json_t *object, const struct plain_object *of, struct members *m)
{
	for (size_t i = 0; i < of->count; i++) {
		const struct plain_member *member = &of->members[i];
		const json_t *value = json_object_get(object, member->name.p);
		void *to = (char *)m + member->at;

		switch (member->type) {
		case PLAIN_STRING:
			*(struct str *)to = json_str(value);
			break;
		case PLAIN_NUMBER:
			*(uint64_t *)to = (uint64_t)json_integer_value(value);
			break;
		case PLAIN_FLAG:
			*(bool *)to = json_is_true(value);
			break;
		case PLAIN_OBJECT:
			*(bool *)to = json_is_object(value);
			take_json(value, member->object, m);
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
	take_json(*keep, &whole, &m);
	return line_of(&m, ret);
}

bool leaf_line_read_plain(struct str text, struct leaf_line *ret)
{
	struct members m = { 0 };

	return json_plain_take(&text, &whole, &m) && str_eq(text, S("\n")) && line_of(&m, ret);
}

bool leaf_line_read(struct str text, struct leaf_line *ret, json_t **keep)
{
	*keep = NULL;
	return leaf_line_read_plain(text, ret) || leaf_line_read_json(text, ret, keep);
}
