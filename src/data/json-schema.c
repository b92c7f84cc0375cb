#include "data/json-schema.h"

#include <math.h>
#include <regex.h>
#include <string.h>

#include "base/near.h"
#include "base/utf8.h"

enum { DEPTH_MAX = 128, SCHEMA_DEPTH = 32, SCHEMA_COUNT = 2000 };

struct checking {
	const json_t *root;
	json_schema_fn *tell; /* NULL: only whether */
	void *data;
	struct buf path;
	unsigned depth;
	bool enough;
};

static bool check(struct checking *c, const json_t *schema, const json_t *value);

static bool PRINTF(2, 3) complain(struct checking *c, const char *fmt, ...)
{
	AUTO_BUF text = BUF_INIT;
	va_list args;

	if (!c->tell || c->enough)
		return false;
	va_start(args, fmt);
	buf_vprintf(&text, fmt, args);
	va_end(args);
	c->enough = !c->tell(c->data, buf_str(&c->path), buf_str(&text));
	return false;
}

/* Whether a value satisfies a schema, without a word about it. */
static bool satisfies(struct checking *c, const json_t *schema, const json_t *value)
{
	struct checking quiet = *c;

	quiet.tell = NULL;
	return check(&quiet, schema, value);
}

/* A short text of a value, for messages. */
static void show(struct buf *b, const json_t *value)
{
	AUTO_BUF text = BUF_INIT;

	json_write(&text, value, 0);
	struct str head = utf8_head(buf_str(&text), 60);
	buf_printf(b, "%.*s%s", STR(head), head.len < text.len ? "…" : "");
}

/* -- types ---------------------------------------------------------------------------------------
 */

static bool is_whole(const json_t *value)
{
	double d = json_real_value(value);

	return json_is_integer(value) ||
	       (json_is_real(value) && floor(d) == d && fabs(d) <= 9007199254740992.0);
}

static bool has_type(struct str type, const json_t *value)
{
	if (str_eq(type, S("integer")))
		return is_whole(value);
	if (str_eq(type, S("number")))
		return json_is_number(value);
	if (str_eq(type, S("string")))
		return json_is_string(value);
	if (str_eq(type, S("boolean")))
		return json_is_boolean(value);
	if (str_eq(type, S("array")))
		return json_is_array(value);
	if (str_eq(type, S("object")))
		return json_is_object(value);
	return str_eq(type, S("null")) && json_is_null(value);
}

static const char *article(struct str type)
{
	return type.len && strchr("aeiou", type.p[0]) ? "an" : "a";
}

static bool check_type(struct checking *c, const json_t *type, const json_t *value)
{
	AUTO_BUF wanted = BUF_INIT;
	AUTO_BUF found = BUF_INIT;
	size_t count = json_is_array(type) ? json_array_size(type) : 1;

	for (size_t i = 0; i < count; i++) {
		struct str one = json_str(json_is_array(type) ? json_array_get(type, i) : type);

		if (has_type(one, value))
			return true;
		buf_printf(&wanted, "%s%s %.*s", i ? " or " : "", article(one), STR(one));
	}
	show(&found, value);
	return complain(c, "expected %s, found %s", buf_cstr(&wanted), buf_cstr(&found));
}

static bool check_enum(struct checking *c, const json_t *allowed, const json_t *value)
{
	AUTO_BUF wanted = BUF_INIT;
	AUTO_BUF found = BUF_INIT;
	json_t *one;
	size_t i;

	json_array_foreach(allowed, i, one)
	{
		if (json_equal(one, (json_t *)value))
			return true;
		buf_adds(&wanted, i ? ", " : "");
		show(&wanted, one);
	}
	show(&found, value);
	return complain(c, "expected one of %s, found %s", buf_cstr(&wanted), buf_cstr(&found));
}

/* -- texts and numbers ---------------------------------------------------------------------------
 */

/* Of characters, items or members. */
static bool check_count(struct checking *c, const json_t *schema, const char *least_name,
	const char *most_name, size_t count, const char *one, const char *many)
{
	const json_t *least = json_object_get(schema, least_name);
	const json_t *most = json_object_get(schema, most_name);

	if (json_is_integer(least) && (json_int_t)count < json_integer_value(least))
		return complain(c, "expected at least %lld %s, found %zu",
			(long long)json_integer_value(least),
			json_integer_value(least) == 1 ? one : many, count);
	if (json_is_integer(most) && (json_int_t)count > json_integer_value(most))
		return complain(c, "expected at most %lld %s, found %zu",
			(long long)json_integer_value(most),
			json_integer_value(most) == 1 ? one : many, count);
	return true;
}

/* True also when the pattern is one that this machine does not understand. */
static bool matches(const char *pattern, const char *text)
{
	regex_t re;

	if (regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB) != 0)
		return true;
	bool ok = regexec(&re, text, 0, NULL, 0) == 0;
	regfree(&re);
	return ok;
}

static bool check_string(struct checking *c, const json_t *schema, const json_t *value)
{
	const json_t *pattern = json_object_get(schema, "pattern");
	bool ok = check_count(c, schema, "minLength", "maxLength", utf8_count(json_str(value)),
		"character", "characters");

	if (json_is_string(pattern) &&
		!matches(json_string_value(pattern), json_string_value(value)))
		ok = complain(c, "does not match the pattern %s", json_string_value(pattern));
	return ok;
}

static bool check_number(struct checking *c, const json_t *schema, const json_t *value)
{
	static const struct {
		const char *name, *words;
		int sign; /* the value times this must not be below the limit times this */
		bool open;
	} limits[] = { { "minimum", "at least", 1, false }, { "maximum", "at most", -1, false },
		{ "exclusiveMinimum", "more than", 1, true },
		{ "exclusiveMaximum", "less than", -1, true } };
	const json_t *step = json_object_get(schema, "multipleOf");
	double v = json_number_value(value);
	bool ok = true;

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		const json_t *limit = json_object_get(schema, limits[i].name);
		double over = limits[i].sign * (v - json_number_value(limit));

		if (json_is_number(limit) && (over < 0 || (limits[i].open && over == 0)))
			ok = complain(c, "expected %s %.15g, found %.15g", limits[i].words,
				json_number_value(limit), v);
	}
	if (json_is_number(step) && json_number_value(step) > 0 &&
		fabs(remainder(v, json_number_value(step))) > 1e-9)
		ok = complain(
			c, "expected a multiple of %.15g, found %.15g", json_number_value(step), v);
	return ok;
}

/* -- arrays and objects --------------------------------------------------------------------------
 */

static bool is_unique(const json_t *array)
{
	size_t count = json_array_size(array);

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < i; k++)
			if (json_equal(json_array_get(array, i), json_array_get(array, k)))
				return false;
	return true;
}

static bool check_contains(struct checking *c, const json_t *schema, const json_t *value)
{
	const json_t *wanted = json_object_get(schema, "contains");
	json_t *item;
	size_t i;

	json_array_foreach(value, i, item)
	{
		if (satisfies(c, wanted, item))
			return true;
	}
	return complain(c, "has no item as it is expected");
}

static bool check_array(struct checking *c, const json_t *schema, const json_t *value)
{
	const json_t *first = json_object_get(schema, "prefixItems");
	const json_t *rest = json_object_get(schema, "items");
	bool ok = check_count(
		c, schema, "minItems", "maxItems", json_array_size(value), "item", "items");
	size_t length = c->path.len, i;
	json_t *item;

	json_array_foreach(value, i, item)
	{
		const json_t *one = i < json_array_size(first) ? json_array_get(first, i) : rest;

		buf_printf(&c->path, "[%zu]", i);
		ok &= !one || check(c, one, item);
		buf_truncate(&c->path, length);
	}
	if (json_is_true(json_object_get(schema, "uniqueItems")) && !is_unique(value))
		ok = complain(c, "has an item twice");
	if (json_object_get(schema, "contains"))
		ok &= check_contains(c, schema, value);
	return ok;
}

static bool check_required(struct checking *c, const json_t *schema, const json_t *value)
{
	json_t *name;
	size_t i;
	bool ok = true;

	json_array_foreach(json_object_get(schema, "required"), i, name)
	{
		if (json_is_string(name) && !json_object_get(value, json_string_value(name)))
			ok = complain(c, "'%s' is missing", json_string_value(name));
	}
	return ok;
}

static bool complain_extra(struct checking *c, const char *name, const json_t *properties)
{
	struct near near = near_to(str_of(name));
	AUTO_BUF known = BUF_INIT;
	const char *key;
	json_t *ignored;

	json_object_foreach((json_t *)properties, key, ignored)
	{
		near_offer(&near, str_of(key));
		buf_printf(&known, "%s%s", known.len ? ", " : "", key);
	}
	struct str best = near_best(&near);
	if (best.len)
		return complain(c, "'%s' is not known; did you mean '%.*s'? known: %s", name,
			STR(best), buf_cstr(&known));
	return complain(
		c, "'%s' is not known; known: %s", name, known.len ? buf_cstr(&known) : "none");
}

static bool check_member(
	struct checking *c, const json_t *schema, const char *name, const json_t *value)
{
	const json_t *properties = json_object_get(schema, "properties");
	const json_t *own = json_object_get(properties, name);
	const json_t *extra = json_object_get(schema, "additionalProperties");
	json_t *patterns = json_object_get(schema, "patternProperties"), *one;
	bool known = own != NULL, ok = true;
	size_t length = c->path.len;
	const char *pattern;

	buf_printf(&c->path, "%s%s", length ? "." : "", name);
	ok &= !own || check(c, own, value);
	json_object_foreach(patterns, pattern, one)
	{
		if (matches(pattern, name)) {
			known = true;
			ok &= check(c, one, value);
		}
	}
	if (!known && extra && !json_is_false(extra))
		ok &= check(c, extra, value);
	buf_truncate(&c->path, length);
	if (!known && json_is_false(extra))
		ok = complain_extra(c, name, properties);
	return ok;
}

static bool check_object(struct checking *c, const json_t *schema, const json_t *value)
{
	const json_t *names = json_object_get(schema, "propertyNames");
	bool ok = check_count(c, schema, "minProperties", "maxProperties", json_object_size(value),
			  "member", "members") &&
		  check_required(c, schema, value);
	const char *name;
	json_t *member;

	json_object_foreach((json_t *)value, name, member)
	{
		AUTO_JSON *text = json_from_str(str_of(name));

		ok &= check_member(c, schema, name, member);
		if (names && !satisfies(c, names, text))
			ok = complain(c, "a member may not be called '%s'", name);
	}
	return ok;
}

/* -- schemas within schemas ----------------------------------------------------------------------
 */

/* NULL: it leads nowhere. */
static const json_t *refer(const json_t *root, struct str way)
{
	const json_t *at = root;

	if (!way.len || way.p[0] != '#')
		return NULL;
	for (size_t from = 1; from < way.len && at;) {
		AUTO_BUF part = BUF_INIT;
		size_t end = str_find(way, '/', from + 1), index;
		int64_t number;

		if (way.p[from] != '/')
			return NULL;
		for (size_t i = from + 1; i < end; i++) {
			bool escape = way.p[i] == '~' && i + 1 < end;

			buf_addc(&part, !escape ? way.p[i] : way.p[i + 1] == '0' ? '~' : '/');
			i += escape;
		}
		index = str_to_int(buf_str(&part), &number) && number >= 0 ? (size_t)number
									   : SIZE_MAX;
		at = json_is_array(at) ? json_array_get(at, index)
				       : json_object_get(at, buf_cstr(&part));
		from = end;
	}
	return at;
}

static size_t count_of(struct checking *c, const json_t *schemas, const json_t *value)
{
	size_t count = 0, i;
	json_t *one;

	json_array_foreach(schemas, i, one) count += satisfies(c, one, value);
	return count;
}

static bool check_combined(struct checking *c, const json_t *schema, const json_t *value)
{
	const json_t *all = json_object_get(schema, "allOf");
	const json_t *any = json_object_get(schema, "anyOf");
	const json_t *one = json_object_get(schema, "oneOf");
	const json_t *not = json_object_get(schema, "not");
	const json_t *condition = json_object_get(schema, "if");
	bool ok = true;

	for (size_t i = 0; i < json_array_size(all); i++)
		ok &= check(c, json_array_get(all, i), value);
	if (any && !count_of(c, any, value))
		ok = complain(c, "is none of what is allowed");
	if (one && count_of(c, one, value) != 1)
		ok = complain(c, "is not exactly one of what is allowed");
	if (not &&satisfies(c, not, value))
		ok = complain(c, "is what is not allowed");
	if (condition) {
		const json_t *then =
			json_object_get(schema, satisfies(c, condition, value) ? "then" : "else");

		ok &= !then || check(c, then, value);
	}
	return ok;
}

static bool check_keywords(struct checking *c, const json_t *schema, const json_t *value)
{
	const json_t *type = json_object_get(schema, "type");
	const json_t *allowed = json_object_get(schema, "enum");
	const json_t *only = json_object_get(schema, "const");
	const json_t *reference = json_object_get(schema, "$ref");

	if (type && !check_type(c, type, value))
		return false; /* more about it would not help */
	if (allowed && !check_enum(c, allowed, value))
		return false;
	if (only && !json_equal((json_t *)only, (json_t *)value)) {
		AUTO_BUF wanted = BUF_INIT;

		show(&wanted, only);
		return complain(c, "expected %s", buf_cstr(&wanted));
	}
	bool ok = true;
	if (json_is_string(reference)) {
		const json_t *other = refer(c->root, json_str(reference));

		ok = other ? check(c, other, value)
			   : complain(c, "the schema refers to nothing: %s",
				     json_string_value(reference));
	}
	if (json_is_string(value))
		ok &= check_string(c, schema, value);
	else if (json_is_number(value))
		ok &= check_number(c, schema, value);
	else if (json_is_array(value))
		ok &= check_array(c, schema, value);
	else if (json_is_object(value))
		ok &= check_object(c, schema, value);
	return ok & check_combined(c, schema, value);
}

static bool check(struct checking *c, const json_t *schema, const json_t *value)
{
	if (json_is_false(schema))
		return complain(c, "is not allowed");
	if (!json_is_object(schema) || c->enough)
		return true;
	if (c->depth == DEPTH_MAX)
		return complain(c, "is nested too deep");
	c->depth++;
	bool ok = check_keywords(c, schema, value);
	c->depth--;
	return ok;
}

bool json_schema_check(const json_t *schema, const json_t *value, json_schema_fn *tell, void *data)
{
	struct checking c = { .root = schema, .tell = tell, .data = data };
	bool ok = check(&c, schema, value);

	buf_done(&c.path);
	return ok;
}

/* -- whether it can be used ----------------------------------------------------------------------
 */

struct counting {
	const json_t *root;
	size_t count;
};

static bool usable(struct counting *c, const json_t *at, unsigned depth, struct report *r)
{
	const json_t *reference = json_object_get(at, "$ref");
	const char *name;
	json_t *item;
	size_t i;

	if (depth > SCHEMA_DEPTH)
		return report_error(r, (struct where){ 0 },
			"the schema is more than %d levels deep", SCHEMA_DEPTH);
	if (json_is_object(at) && ++c->count > SCHEMA_COUNT)
		return report_error(r, (struct where){ 0 },
			"the schema has more than %d schemas in it", SCHEMA_COUNT);
	if (json_is_string(reference) && !refer(c->root, json_str(reference)))
		return report_error(r, (struct where){ 0 },
			"the schema refers to '%s', which is not in it",
			json_string_value(reference));
	json_object_foreach((json_t *)at, name, item)
	{
		if (!usable(c, item, depth + 1, r))
			return false;
	}
	json_array_foreach(at, i, item)
	{
		if (!usable(c, item, depth, r))
			return false;
	}
	return true;
}

bool json_schema_usable(const json_t *schema, struct report *r)
{
	struct counting c = { .root = schema };

	return usable(&c, schema, 0, r);
}
