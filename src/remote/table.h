#pragma once

#include "data/doc.h"
#include "data/needs.h"

/*
 * One executor of the settings, [executors.NAME]: which programs ask a batch system for an
 * allocation, ask for its state and end it, what an allocation has, and what the words mean that
 * the batch system prints. All that differs between batch systems is here, as data.
 */

/* What an allocation is asked for. */
struct shape {
	uint64_t cpus, mem_mb, time_s, nodes;
	uint64_t gpus;
	struct str class, partition, account;
	const char *const *extra; /* ends with NULL */
};

/* What `status` says of a job. */
enum batch_state {
	BATCH_UNSURE,
	BATCH_QUEUED,
	BATCH_RUNNING,
	BATCH_SUSPENDED,
	BATCH_ENDED,
	BATCH_STATES,
};

struct table_class {
	struct str name;
	struct shape shape;
};

enum { TABLE_COLUMNS = 5 };

/* Everything is in its arena. */
struct table {
	struct arena arena;
	struct str name;
	json_t *json; /* as resolved: what a run keeps; owned */
	const char *const *submit, *const *status, *const *cancel; /* words; end with NULL */
	const char *const *states[BATCH_STATES];
	const char *const *pass_env, *const *hosts;
	struct str dir;
	struct str suffix; /* of the exchange: of a run that has changed its executor */
	struct shape shape;
	uint64_t workers, idle_s, orphan_s;
	uint64_t host_cpus; /* of a machine that does not say its slots */
	uint64_t slots;     /* of all workers together, when there are as many as may be */
	bool takes_needs, env_node, secrets_file;
	char separator;                  /* 0: white space */
	unsigned columns[TABLE_COLUMNS]; /* from 1; 0: there is none */
	unsigned skip;
	struct table_class *classes;
	size_t class_count;
};

/* Adds the names of all executors, built in or in `tables` (may be NULL), to `ret`, with commas
 * between them. */
void table_names(const json_t *tables, struct buf *ret);

/* Only says what is wrong with the tables of a file, at their places. `tables` is the value of
 * `executors`. */
void tables_check(struct arena *a, const struct place *place, const json_t *tables,
	struct report *errors, struct report *warnings);

/* The executor `name` with all its defaults, as JSON: a new reference. NULL with an issue. */
json_t *table_resolve(const json_t *tables, struct str name, struct report *r);
/* Reads what table_resolve() gave; takes a reference. NULL with issues. table_free(). */
struct table *table_load(json_t *resolved, struct str name, struct report *r);
void table_free(struct table *t);

/* The class of that name; NULL: there is none. */
const struct table_class *table_class(const struct table *t, struct str name);
/* Whether a command asks for a class that is not there. Then `text` says so. */
bool table_lacks_class(const struct table *t, const struct needs *n, struct buf *text);
/* What the allocation of a command is to have. `fallback` is the class that holds where it names
 * none; empty: the executor's own. Machines cannot be asked for more than they have: there it is
 * that of the largest one. *own: it fits into the executor's own allocations, or those of
 * `fallback`. */
struct shape table_shape(
	const struct table *t, const struct needs *n, struct str fallback, bool *own);
bool shape_same(const struct shape *a, const struct shape *b);

/* -- words ----------------------------------------------------------------------------------------
 */

enum table_words { WORDS_SUBMIT, WORDS_STATUS, WORDS_CANCEL };

/* What the placeholders of a template of words stand for. */
struct table_values {
	const char *name, *comment, *log, *script, *host, *roux, *dir;
	const struct shape *shape; /* NULL: not of `submit` */
	const char *const *jobs;   /* of {jobs}; may be NULL */
};

/* Of `hosts`: the name of a machine, and its slots behind a colon; 0: not said. False: it is not
 * that. A name stands in the words of a shell and in the id of a job, so it has only letters,
 * digits, dots, dashes and underscores. */
bool table_host(struct str text, struct str *name, uint64_t *slots);
/* The slots of the machine `hosts[i]`, and its name. */
uint64_t table_host_slots(const struct table *t, size_t i, struct str *name);
/* One worker a machine, and the largest one is what an allocation can have: for table_load(). */
void table_size_hosts(struct table *t);
/* Whether its words name a machine and there is none; then with an issue. */
bool table_lacks_hosts(const struct table *t, struct report *r);
/* Whether its words of `cancel` return only when nothing of the job lives: of machines that have no
 * batch system to be asked. */
bool table_ends_by_cancel(const struct table *t);
/* Adds a word of a shell. */
void table_quote(struct buf *b, struct str word);

/* The words with their placeholders resolved, in the arena; those that come out empty are dropped.
 * NULL with an issue. */
const char *const *table_words(const struct table *t, enum table_words which,
	const struct table_values *v, struct arena *a, struct report *r);

/* -- what the programs print ----------------------------------------------------------------------
 */

/* The id that `submit` printed; empty: there is none. */
struct str table_job_id(struct str printed);
/* One line of `status`. Borrowed. */
struct table_job {
	struct str id, state, node, reason, comment;
	enum batch_state means;
};
/* Calls `see` with every line that names a job. */
void table_jobs(const struct table *t, struct str printed,
	void (*see)(void *data, const struct table_job *job), void *data);
