#include "data/json-out.h"

#include "base/clock.h"

static void begin(struct json_out *o, const char *name)
{
	if (name)
		json_out_name(o, str_of(name));
	else if (o->more)
		buf_addc(o->b, ',');
	o->more = true;
}

void json_out_name(struct json_out *o, struct str name)
{
	if (o->more)
		buf_addc(o->b, ',');
	json_write_str(o->b, name);
	buf_addc(o->b, ':');
	o->more = false;
}

static void open_with(struct json_out *o, const char *name, char c)
{
	begin(o, name);
	buf_addc(o->b, c);
	o->more = false;
}

static void close_with(struct json_out *o, char c)
{
	buf_addc(o->b, c);
	o->more = true;
}

void json_out_object(struct json_out *o, const char *name)
{
	open_with(o, name, '{');
}

void json_out_object_end(struct json_out *o)
{
	close_with(o, '}');
}

void json_out_array(struct json_out *o, const char *name)
{
	open_with(o, name, '[');
}

void json_out_array_end(struct json_out *o)
{
	close_with(o, ']');
}

void json_out_raw(struct json_out *o, const char *name, struct str json)
{
	begin(o, name);
	buf_add(o->b, json);
}

void json_out_null(struct json_out *o, const char *name)
{
	json_out_raw(o, name, S("null"));
}

void json_out_bool(struct json_out *o, const char *name, bool value)
{
	json_out_raw(o, name, value ? S("true") : S("false"));
}

void json_out_str(struct json_out *o, const char *name, struct str s)
{
	begin(o, name);
	json_write_str(o->b, s);
}

void json_out_str_or_null(struct json_out *o, const char *name, struct str s)
{
	begin(o, name);
	json_write_str_or_null(o->b, s);
}

void json_out_uint(struct json_out *o, const char *name, uint64_t value)
{
	begin(o, name);
	buf_add_number(o->b, value, 1);
}

void json_out_int(struct json_out *o, const char *name, int64_t value)
{
	begin(o, name);
	buf_add_int(o->b, value);
}

void json_out_time(struct json_out *o, const char *name, uint64_t real_ms)
{
	if (!real_ms) {
		json_out_null(o, name);
		return;
	}
	begin(o, name);
	buf_addc(o->b, '"');
	clock_rfc3339(o->b, real_ms);
	buf_addc(o->b, '"');
}

void json_out_value(struct json_out *o, const char *name, const json_t *value)
{
	if (!value) {
		json_out_null(o, name);
		return;
	}
	begin(o, name);
	json_write(o->b, value, 0);
}

void json_out_members(struct json_out *o, const json_t *object)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)object, name, value) json_out_value(o, name, value);
}
