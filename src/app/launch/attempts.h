#pragma once

#include "app/launch/past-calls.h"
#include "runs/dir/leaves.h"

/* Executions of a command are numbered over all attempts of it and of the groups around it
 * (frame_key()). So the number of a record tells which execution of each of these groups it was a
 * part of. */

struct past {
	const struct node *root;
	const struct leaves *leaves;
	struct called *called; /* to see through calls; may be NULL */
	uint64_t count;        /* of records */
	uint64_t *effort;      /* how many may still be looked at; the same for all of one resume */
};

/* Calls `see` with every record, and takes their number from the effort. What is asked once that is
 * used up has the answer of a record that tells nothing. */
void past_each(const struct past *p,
	void (*see)(void *data, struct str path, const struct leaf_record *record), void *data);
/* The same of something that is found without looking at all. Whether there was enough left. */
bool past_spend(const struct past *p, uint64_t records);

struct execution {
	struct str path; /* of the node; borrowed */
	size_t depth;    /* of it on its way */
	uint64_t number; /* from 0 */
	bool only;       /* neither it nor what is around it is tried more than once */
};

/* Whether it has ended by itself, and is not executed again. */
bool record_counts(const struct leaf_record *r);
bool record_failed(const struct leaf_record *r);
/* Whether no further attempt can come behind this execution. */
bool execution_is_last(const struct node *n, uint64_t number);

/* Which execution of the node at `depth` of the way the record of the last one is a part of. False:
 * that is not known, because values decide how often something inside of it is tried. */
bool execution_at(const struct past *p, const struct way_step *way, size_t steps,
	const struct leaf_record *record, size_t depth, struct execution *ret);
/* Whether the record is a part of that execution. */
bool execution_has(const struct past *p, const struct execution *e, struct str path,
	const struct leaf_record *record);
/* The one of the node at `path` that decides about it, in the execution `up` of what is around it.
 * False: there is none, or it is not known whether another attempt comes. */
bool execution_deciding(const struct past *p, const struct node *n, struct str path,
	const struct execution *up, struct execution *ret);
/* Whether the node at `depth` of the way has been tried again since the record was written, so that
 * the attempt that it is a part of is over, and what recovered from that too. */
bool execution_superseded(const struct past *p, const struct way_step *way, size_t steps,
	const struct leaf_record *record, size_t depth);
/* Whether the command failed and has an attempt left: the next one, if no later one has begun. */
bool execution_retries(const struct past *p, struct str path, const struct leaf_record *record);
/* Whether the command, or a node around it, may be tried more than once. */
bool execution_is_retried(const struct past *p, struct str path);
/* Whether the command at `path` is executed again, though its last record counts, because `next`
 * is: that is in a later attempt of a node around both, or in the recovery before it. */
bool execution_precedes(const struct past *p, struct str path, const struct leaf_record *record,
	struct str next_path, const struct leaf_record *next);
