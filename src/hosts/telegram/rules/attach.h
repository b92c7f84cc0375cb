#pragma once

#include "base/str.h"

/* Files that a turn sends along, and how large files may be. */

enum { ATTACH_MAX = 10 }; /* of one turn */

enum attach_refusal {
	ATTACH_OK,
	ATTACH_NO_TURN,
	ATTACH_TOO_MANY,
	ATTACH_NOT_A_FILE,
	ATTACH_TOO_LARGE,
	ATTACH_EMPTY,
};

/* Whether a file of that size can be sent. -1: it is not a regular file. */
enum attach_refusal attach_file(int64_t size, uint64_t max_bytes);

/* All or nothing: whether a call that names files of these sizes may add them. *ret_index is the
 * file that the refusal is about, when it is about one. */
enum attach_refusal attach_decide(bool turn, size_t attached, const int64_t *sizes, size_t count,
	size_t max_count, uint64_t max_bytes, size_t *ret_index);

/* By its ending: goes as a photo, others as documents. */
bool attach_is_photo(struct str path);
const char *attach_method(struct str path); /* "sendPhoto" */
const char *attach_field(struct str path);  /* "photo" */

/* -- limits from the environment -----------------------------------------------------------------
 */

enum file_limit_kind { FILE_LIMIT_INBOUND, FILE_LIMIT_OUTBOUND };
enum { FILE_LIMIT_BYTES = 52428800 };

/* The first of the names whose value is a positive whole number (1000, 1e3), else FILE_LIMIT_BYTES.
 * `get` is getenv(), or what a test has in its place. */
uint64_t file_limit_of(const char *const *names, size_t count, char *(*get)(const char *name));
/* With the names that each kind has. */
uint64_t file_limit(enum file_limit_kind kind, char *(*get)(const char *name));
