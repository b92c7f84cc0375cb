#pragma once

#include <jansson.h>

#include "base/buf.h"
#include "base/report.h"

/* The one value tree is jansson's json_t, whatever the format of the text was. */

#define AUTO_JSON __attribute__((cleanup(json_auto_decref))) json_t
void json_auto_decref(json_t **value);

/* For a program, before anything else: the seed of jansson's tables from the random bytes that the
 * kernel gives every process, in place of opening a device for it. */
void json_seed(void);

/* Reads one JSON value. Of duplicate members the last wins; a byte order mark is skipped. NULL with
 * one issue added when it is not JSON. The caller owns the result. */
json_t *json_read(const struct source *source, struct report *r);

/* Compact and exact: numbers in the shortest form that reads back equal, members in order, bytes
 * that are not UTF-8 as U+FFFD. With `indent` > 0 one member a line. */
void json_write(struct buf *b, const json_t *value, unsigned indent);
/* Like json_write(), but 2.0 stays 2.0. */
void json_write_typed(struct buf *b, const json_t *value, unsigned indent);
/* As Python's json.dumps() has it, which is how step recipes write lists and mappings. */
void json_write_python(struct buf *b, const json_t *value);
/* About how many bytes it would take, no further than `limit`: eight a value and its letters. */
size_t json_weigh(const json_t *value, size_t limit);
/* `s` as a JSON string, quotes included. All control characters are escaped: the text may be shown
 * on a terminal. */
void json_write_str(struct buf *b, struct str s);
/* The same with only those escaped that JSON demands. */
void json_write_str_exact(struct buf *b, struct str s);
/* The same with nothing but printable ASCII, as Python and step recipes write it. */
void json_write_str_ascii(struct buf *b, struct str s);
/* `s` as a JSON string, or null when it is empty. */
void json_write_str_or_null(struct buf *b, struct str s);

/* The bytes of a string value. Borrowed. */
struct str json_str(const json_t *string);
/* Members of a document that may lack them: an empty string, 0, false. Borrowed. */
struct str json_text_of(const json_t *object, const char *name);
json_int_t json_number_of(const json_t *object, const char *name);
bool json_truth_of(const json_t *object, const char *name);
/* A string of any bytes: jansson's own constructor refuses what is not UTF-8. */
json_t *json_from_str(struct str s);
/* "a number", "an array" …: what a diagnostic says was found. */
const char *json_kind(const json_t *value);

/* Something that can stand behind `name: ` of a JSON object built by hand. */
void json_member(struct buf *b, const char *name, bool *first);
/* One more member, behind others. */
void json_number_member(struct buf *b, const char *name, uint64_t n);
