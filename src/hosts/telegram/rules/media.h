#pragma once

#include "base/arena.h"
#include "data/json.h"

/* Files of messages. */
struct media_file {
	struct str id;   /* file_id */
	struct str kind; /* photo document video audio voice animation sticker */
	struct str name; /* as given, else KIND-MESSAGE with an ending */
	struct str mime; /* may be empty */
	uint64_t size;   /* 0: not declared */
	bool image;
};

struct media_files {
	struct media_file *at;
	size_t count;
};

/* All that one message names, in the order of the kinds above. Texts are borrowed or in the arena.
 */
void media_named(struct arena *a, const json_t *message, struct media_files *ret);
/* What is downloaded for several messages: each file_id once, the first. */
void media_files(struct arena *a, const json_t *messages, struct media_files *ret);

enum { MEDIA_NAME_BYTES = 120 };
/* A name that is safe on this machine: every run of characters outside [A-Za-z0-9._-] is one _, at
 * most MEDIA_NAME_BYTES with its ending kept. Never empty, never `.` or `..`. In the arena. */
struct str media_safe_name(struct arena *a, struct str name);
