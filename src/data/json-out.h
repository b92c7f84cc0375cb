#pragma once

#include "data/json.h"

/* Writes a JSON document from its first member to its last, compact, without building it as a tree
 * first: what is written may be flushed in between. It knows where a comma belongs; the caller
 * closes what it opens. Strings may have any bytes (json_write_str()).
 *
 *	struct json_out o = { .b = &text };
 *	json_out_object(&o, NULL);
 *	json_out_bool(&o, "ok", true);
 *	json_out_array(&o, "names");
 *	json_out_str(&o, NULL, name);
 *	json_out_array_end(&o);
 *	json_out_object_end(&o);          {"ok":true,"names":["…"]}
 *
 * `name` is that of a member; NULL: the document itself, an element of an array, or the value of
 * the member that json_out_name() began. */
struct json_out {
	struct buf *b; /* borrowed */
	bool more;     /* a value stands before the next one */
};

void json_out_object(struct json_out *o, const char *name);
void json_out_object_end(struct json_out *o);
void json_out_array(struct json_out *o, const char *name);
void json_out_array_end(struct json_out *o);

/* The name of a member whose value comes next: for names that are not literals. */
void json_out_name(struct json_out *o, struct str name);

void json_out_str(struct json_out *o, const char *name, struct str s);
/* null when it is empty. */
void json_out_str_or_null(struct json_out *o, const char *name, struct str s);
void json_out_bool(struct json_out *o, const char *name, bool value);
void json_out_int(struct json_out *o, const char *name, int64_t value);
void json_out_uint(struct json_out *o, const char *name, uint64_t value);
void json_out_null(struct json_out *o, const char *name);
/* As RFC 3339 has it; null when it is 0. */
void json_out_time(struct json_out *o, const char *name, uint64_t real_ms);
/* Any value, as json_write() writes it; NULL: null. */
void json_out_value(struct json_out *o, const char *name, const json_t *value);
/* The members of an object as members of the one that is open. */
void json_out_members(struct json_out *o, const json_t *object);
/* Text that is JSON already. */
void json_out_raw(struct json_out *o, const char *name, struct str json);
