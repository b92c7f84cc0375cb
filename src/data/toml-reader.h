#pragma once

#include "base/report.h"

/* The inside of the TOML reader. The text becomes a tree of nodes that know where they stand; a
 * value for others is made from it, and so is the answer to where one of its values stands.
 *
 *   toml-parse.c   lines, keys, brackets
 *   toml-string.c  the four kinds of strings
 *   toml-scalar.c  numbers, booleans, dates and times
 *   toml-tree.c    the nodes, and who may add to which table
 *   toml.c         the tree as JSON
 *   toml-locate.c  the tree asked for places */

enum { TOML_MAX_DEPTH = 512 };

enum toml_kind {
	TOML_TABLE,
	TOML_ARRAY,
	TOML_STRING,
	TOML_INTEGER,
	TOML_FLOAT,
	TOML_BOOL,
	TOML_DATETIME,
	TOML_DATETIME_LOCAL,
	TOML_DATE_LOCAL,
	TOML_TIME_LOCAL,
};

/* What made a table or an array decides what may add to it. */
enum toml_origin {
	TOML_IMPLICIT, /* the `a` of [a.b] */
	TOML_HEADER,   /* [a], an element of [[a]], and that array itself */
	TOML_DOTTED,   /* the `a` of a.b = 1 */
	TOML_VALUE,    /* {…} and […]: nothing may */
};

struct toml_node {
	enum toml_kind kind;
	enum toml_origin origin;
	unsigned depth;
	uint32_t key_at, key_len; /* offsets into the text */
	uint32_t at, len;
	uint64_t hash;
	struct str key;              /* of a member */
	struct toml_node *up, *next; /* the next in the same table or array */
	struct toml_node *first, *last;
	union {
		struct str text; /* strings, dates and times */
		int64_t integer;
		double real;
		bool truth;
	};
};

/* One part of a key. */
struct toml_part {
	struct str name;
	uint32_t at, len;
};

struct toml_reader {
	const struct source *source;
	struct str text;
	size_t at;
	bool nul_in_keys; /* allowed */
	struct arena *arena;
	struct report *report;
	struct toml_node *root;
	struct toml_node **members; /* of all tables: a hash table of (table, name) */
	size_t member_count, member_room;
	uint64_t seed;
	VEC(struct toml_part) key; /* read last */
	struct buf scratch;        /* the string read last */
};

void toml_reader_init(
	struct toml_reader *r, const struct source *s, struct arena *a, struct report *report);
void toml_reader_done(struct toml_reader *r);

/* Reads all of it. NULL with one issue added. The nodes and the table of members live in the
 * arena. */
struct toml_node *toml_parse(struct toml_reader *r);

/* -- what is wrong -------------------------------------------------------------------------------
 */

/* Marks `len` bytes, at least one character. Returns false. */
bool toml_wrong(struct toml_reader *r, size_t at, size_t len, const char *fmt, ...) PRINTF(4, 5);
/* Something else stands here than what was expected. Returns false. */
bool toml_unexpected(struct toml_reader *r, const char *expected, const char *hint);
/* For hints. */
size_t toml_line(const struct toml_reader *r, size_t at);

/* -- tokens --------------------------------------------------------------------------------------
 */

/* The byte here, or -1 at the end. */
static inline int toml_peek(const struct toml_reader *r)
{
	return r->at < r->text.len ? (unsigned char)r->text.p[r->at] : -1;
}

/* The length of the line end here: 0, 1 or 2. */
static inline size_t toml_newline(const struct toml_reader *r)
{
	int c = toml_peek(r);

	if (c == '\r' && r->at + 1 < r->text.len && r->text.p[r->at + 1] == '\n')
		return 2;
	return c == '\n';
}

/* Control characters that may stand nowhere: all but the tab. */
static inline bool toml_control(int c)
{
	return (c >= 0 && c < 0x20 && c != '\t') || c == 0x7f;
}

/* The letters, digits and signs here that could be a number, a date or a word without quotes. */
struct str toml_word(const struct toml_reader *r);

struct toml_string {
	char quote;
	bool many_lines;
};
enum toml_step { TOML_STEP_MORE, TOML_STEP_END, TOML_STEP_WRONG };

/* At a quote: goes behind the opening ones. */
struct toml_string toml_string_begin(struct toml_reader *r);
/* Adds the next character to r->scratch, or nothing, or goes behind the closing quotes. */
enum toml_step toml_string_step(struct toml_reader *r, struct toml_string s);
/* A whole string, left in r->scratch. */
bool toml_string(struct toml_reader *r);

/* A number, a boolean, a date or time. */
bool toml_scalar(struct toml_reader *r, struct toml_node *ret);

/* -- the tree ------------------------------------------------------------------------------------
 */

/* The member of a table, or NULL. */
struct toml_node *toml_member(
	const struct toml_reader *r, const struct toml_node *table, struct str name);
/* A new element at the end of an array, which stands where we are. NULL when it is too deep. */
struct toml_node *toml_element(struct toml_reader *r, struct toml_node *array);
/* The table that [r->key], or [[r->key]], begins; `at` and `len` are those of the header. NULL
 * when the text has said otherwise before. */
struct toml_node *toml_header(struct toml_reader *r, bool array, size_t at, size_t len);
/* The node for the value of `r->key =` in a table. NULL likewise. */
struct toml_node *toml_assign(struct toml_reader *r, struct toml_node *table);
