#pragma once

#include "base/arena.h"
#include "remote/table.h"

/* One allocation that is asked for, and what its words are made of: of a worker that is about to
 * be, or, with <id> and the like in their places, of one that would be. */
struct submission {
	struct str run, generation;
	struct str id;   /* of the worker */
	struct str dir;  /* the exchange */
	struct str roux; /* the program's copy */
	struct str host; /* empty: the batch system chooses */
	const struct shape *shape;
};

/* The name of all jobs of a run: it tells them from those of an earlier run of that name. */
struct str submission_name(struct str run, struct str generation, struct arena *a);
/* The words that are executed; NULL with an issue. */
const char *const *submission_words(
	const struct table *t, const struct submission *s, struct arena *a, struct report *r);
/* What the job executes: the worker of that directory. */
void submission_script(const struct submission *s, struct buf *ret);

/* The words of an allocation that would be asked for. */
const char *const *submission_example(const struct table *t, const struct shape *shape,
	struct str roux, struct arena *a, struct report *r);

/* A shape for people, `4 cpus, 16G, 1h`, and as JSON: a new reference. */
void shape_text(const struct shape *s, struct buf *b);
json_t *shape_json(const struct shape *s);
