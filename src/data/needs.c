#include "data/needs.h"

#include <inttypes.h>
#include <math.h>

#include "base/near.h"
#include "base/number.h"

enum member { CPUS, MEM, TIME, GPUS, NODES, CLASS, MEMBERS };

const struct needs_member needs_members[6] = {
	[CPUS] = { "cpus", true, false, 1, 4096, "processors" },
	[MEM] = { "mem", true, true, 1, 0, "memory: bytes, or with K, M, G, T" },
	[TIME] = { "time", true, true, 1, 0, "how long it may take at most: \"45m\", \"2h\"" },
	[GPUS] = { "gpus", true, false, 0, 64, "graphics processors" },
	[NODES] = { "nodes", true, false, 1, 1024, "machines, for a command that spreads itself" },
	[CLASS] = { "class", false, true, 0, 0, "a class of the executor that is chosen" },
};

bool needs_memory(struct str text, uint64_t *ret_mb)
{
	static const char units[] = "KMGT";
	double bytes, factor = 1;
	const char *unit = text.len ? strchr(units, text.p[text.len - 1] & ~0x20) : NULL;

	if (unit && *unit && !ascii_digit(text.p[text.len - 1])) {
		for (const char *u = units; u <= unit; u++)
			factor *= 1024;
		text.len--;
	}
	if (!number_plain(text, &bytes))
		return false;
	double mb = ceil(bytes * factor / (1024.0 * 1024.0));
	if (!(mb >= 1) || mb > 1e12)
		return false;
	*ret_mb = (uint64_t)mb;
	return true;
}

bool needs_seconds(struct str text, uint64_t *ret_s)
{
	double ms, s;

	if (number_plain(text, &s))
		ms = s * 1000;
	else if (!number_duration(text, &ms))
		return false;
	s = ceil(ms / 1000);
	if (!(s >= 1) || s > 1e9)
		return false;
	*ret_s = (uint64_t)s;
	return true;
}

void needs_memory_text(struct buf *b, uint64_t mb)
{
	if (mb % 1024 == 0)
		buf_printf(b, "%" PRIu64 "G", mb / 1024);
	else
		buf_printf(b, "%" PRIu64 "M", mb);
}

void needs_seconds_text(struct buf *b, uint64_t s)
{
	if (s % 3600 == 0)
		buf_printf(b, "%" PRIu64 "h", s / 3600);
	else if (s % 60 == 0)
		buf_printf(b, "%" PRIu64 "m", s / 60);
	else
		buf_printf(b, "%" PRIu64 "s", s);
}

json_t *needs_json(const struct needs *n)
{
	AUTO_BUF mem = BUF_INIT;
	AUTO_BUF time = BUF_INIT;
	json_t *o = json_object();

	needs_memory_text(&mem, n->mem_mb);
	needs_seconds_text(&time, n->time_s);
	if (n->cpus)
		json_object_set_new(o, needs_members[CPUS].name, json_integer((json_int_t)n->cpus));
	if (n->mem_mb)
		json_object_set_new(o, needs_members[MEM].name, json_from_str(buf_str(&mem)));
	if (n->time_s)
		json_object_set_new(o, needs_members[TIME].name, json_from_str(buf_str(&time)));
	if (n->gpus >= 0)
		json_object_set_new(o, needs_members[GPUS].name, json_integer(n->gpus));
	if (n->nodes)
		json_object_set_new(
			o, needs_members[NODES].name, json_integer((json_int_t)n->nodes));
	if (n->class.len)
		json_object_set_new(o, needs_members[CLASS].name, json_from_str(n->class));
	return o;
}

static bool is_name(struct str s)
{
	for (size_t i = 0; i < s.len; i++) {
		char c = s.p[i];

		if (!ascii_digit(c) && !((c | 0x20) >= 'a' && (c | 0x20) <= 'z') && c != '_' &&
			c != '-' && c != '.')
			return false;
	}
	return s.len && s.len <= 64 && s.p[0] != '-';
}

static bool take_text(enum member m, struct str text, struct needs *ret)
{
	switch (m) {
	case MEM:
		return needs_memory(text, &ret->mem_mb);
	case TIME:
		return needs_seconds(text, &ret->time_s);
	case CLASS:
		if (!is_name(text))
			return false;
		ret->class = text;
		return true;
	case CPUS:
	case GPUS:
	case NODES:
	case MEMBERS:
		break;
	}
	return false;
}

static bool take_number(enum member m, json_int_t n, struct needs *ret)
{
	const struct needs_member *said = &needs_members[m];

	if (!said->number || n < said->min || (said->max && n > said->max))
		return false;
	if (m == CPUS)
		ret->cpus = (uint64_t)n;
	else if (m == MEM)
		ret->mem_mb = ((uint64_t)n + (1 << 20) - 1) >> 20;
	else if (m == TIME)
		ret->time_s = (uint64_t)n;
	else if (m == GPUS)
		ret->gpus = n;
	else
		ret->nodes = (uint64_t)n;
	return m != TIME || n <= 1000000000;
}

static bool wrong(enum member m, const struct place *p, const json_t *value, struct report *r)
{
	const struct needs_member *said = &needs_members[m];
	AUTO_BUF found = BUF_INIT;

	if (json_is_string(value))
		buf_printf(&found, "\"%.*s\"", STR(report_quote(r, json_str(value))));
	else if (json_is_number(value))
		json_write(&found, value, 0);
	else
		buf_adds(&found, json_kind(value));
	if (m == MEM)
		return report_error(r, place_where(p),
			"`mem` is %s, expected a size such as \"16G\"", buf_cstr(&found));
	if (m == TIME)
		return report_error(r, place_where(p),
			"`time` is %s, expected a time such as \"45m\" or \"2h\"",
			buf_cstr(&found));
	if (m == CLASS)
		return report_error(
			r, place_where(p), "`class` is %s, expected a name", buf_cstr(&found));
	return report_error(r, place_where(p),
		"`%s` is %s, expected a whole number from %" PRId64 " to %" PRId64, said->name,
		buf_cstr(&found), said->min, said->max);
}

static bool unknown(const struct place *p, struct report *r)
{
	struct near near = near_to(p->key);

	for (size_t i = 0; i < MEMBERS; i++)
		near_offer(&near, str_of(needs_members[i].name));
	report_error(r, place_key_where(p), "`needs` has no member '%.*s'",
		STR(report_quote(r, p->key)));
	struct str best = near_best(&near);
	if (best.len)
		return report_hint(r, "did you mean '%.*s'?", STR(best));
	return report_hint(r, "it has cpus, mem, time, gpus, nodes and class");
}

bool needs_read(struct arena *a, const struct place *place, const json_t *value, struct needs *ret,
	struct report *r)
{
	const char *name;
	json_t *item;
	bool ok = true;

	*ret = NEEDS_NONE;
	if (!json_is_object(value))
		return report_error(r, place_where(place),
			"`needs` is %s, expected an object such as {\"cpus\": 8, \"mem\": \"16G\"}",
			json_kind(value));
	json_object_foreach((json_t *)value, name, item)
	{
		const struct place *p = place_member(a, place, str_of(name));
		size_t m = 0;

		while (m < MEMBERS && !str_eq(p->key, str_of(needs_members[m].name)))
			m++;
		if (m == MEMBERS) {
			ok = unknown(p, r);
			continue;
		}
		if (json_is_null(item))
			continue;
		bool taken = json_is_integer(item)
				     ? take_number((enum member)m, json_integer_value(item), ret)
				     : json_is_string(item) &&
					       take_text((enum member)m, json_str(item), ret);
		ok &= taken || wrong((enum member)m, p, item, r);
	}
	return ok;
}

bool runs_on_read(
	const struct place *place, const json_t *value, enum runs_on *ret, struct report *r)
{
	struct str word = json_is_string(value) ? json_str(value) : S("");

	if (!value)
		return true;
	if (str_eq(word, S("any")))
		*ret = RUNS_ANY;
	else if (str_eq(word, S("local")))
		*ret = RUNS_LOCAL;
	else
		return report_error(r, place_where(place),
			"`runs_on` is %s%.*s%s, expected \"local\" or \"any\"",
			json_is_string(value) ? "\"" : "",
			STR(json_is_string(value) ? report_quote(r, word)
						  : str_of(json_kind(value))),
			json_is_string(value) ? "\"" : "");
	return true;
}

void needs_under(struct needs *inner, const struct needs *outer)
{
	inner->cpus = inner->cpus ? inner->cpus : outer->cpus;
	inner->mem_mb = inner->mem_mb ? inner->mem_mb : outer->mem_mb;
	inner->time_s = inner->time_s ? inner->time_s : outer->time_s;
	inner->gpus = inner->gpus >= 0 ? inner->gpus : outer->gpus;
	inner->nodes = inner->nodes ? inner->nodes : outer->nodes;
	inner->class = inner->class.len ? inner->class : outer->class;
}

json_t *needs_schema(void)
{
	json_t *properties = json_object();

	for (size_t i = 0; i < MEMBERS; i++) {
		const struct needs_member *m = &needs_members[i];
		json_t *types = json_array();

		if (m->number)
			json_array_append_new(types, json_string("integer"));
		if (m->text)
			json_array_append_new(types, json_string("string"));
		json_array_append_new(types, json_string("null"));
		json_t *member = json_pack("{s:o, s:s}", "type", types, "description", m->summary);
		if (m->number)
			json_object_set_new(member, "minimum", json_integer(m->min));
		if (m->max)
			json_object_set_new(member, "maximum", json_integer(m->max));
		json_object_set_new(properties, m->name, member);
	}
	return json_pack("{s:s, s:o, s:b}", "type", "object", "properties", properties,
		"additionalProperties", false);
}
