#pragma once

#include "data/doc.h"

/* What a command asks of the machine that runs it, as recipes and settings write it: the members of
 * `needs`, and where a command may run. Nothing here knows a batch system. */
struct needs {
	uint64_t cpus;    /* 0: not said */
	uint64_t mem_mb;  /* 0: not said */
	uint64_t time_s;  /* 0: not said */
	int64_t gpus;     /* -1: not said */
	uint64_t nodes;   /* 0: not said */
	struct str class; /* of the executor; empty: not said */
};

#define NEEDS_NONE ((struct needs){ .gpus = -1 })

enum runs_on {
	RUNS_UNSAID,
	RUNS_ANY,   /* wherever the run's commands go */
	RUNS_LOCAL, /* here */
};

/* Reads the value of `needs`. Texts are borrowed from it. False with issues added; members without
 * a mistake are taken all the same. */
bool needs_read(struct arena *a, const struct place *place, const json_t *value, struct needs *ret,
	struct report *r);
/* "any" or "local"; NULL: nothing is said. False with an issue added. */
bool runs_on_read(
	const struct place *place, const json_t *value, enum runs_on *ret, struct report *r);

/* What `inner` leaves open is what `outer` says. */
void needs_under(struct needs *inner, const struct needs *outer);

/* Bytes with K, M, G or T behind them, in whole MiB, rounded up. False: it is not that, or 0. */
bool needs_memory(struct str text, uint64_t *ret_mb);
/* Seconds, or a number with s, m, h or d behind it: in whole seconds. False: it is not that. */
bool needs_seconds(struct str text, uint64_t *ret_s);
/* The same as recipes write them: `16G`, `2h`. */
void needs_memory_text(struct buf *b, uint64_t mb);
void needs_seconds_text(struct buf *b, uint64_t s);
/* What is said, as a recipe would say it: a new reference. */
json_t *needs_json(const struct needs *n);
/* The members and what they expect, for a schema: name, then "number", "text" or "both". */
struct needs_member {
	const char *name;
	bool number, text;
	int64_t min, max;
	const char *summary;
};
extern const struct needs_member needs_members[6];
/* The value of `needs` as JSON Schema: a new reference. */
json_t *needs_schema(void);
