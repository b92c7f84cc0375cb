#pragma once

#include "data/json.h"

struct bridge;
struct job;

/* A configured template as a run of this process that is not recorded: handlers, sections, hooks.
 * It ends with the bridge. */

struct job_result {
	bool ok;
	struct str output; /* borrowed during the call */
	struct str why;    /* of one that failed: what it said on standard error, or its status */
};

/* NULL: the bridge stops before the job has ended; only what the job's owner holds is freed. */
typedef void job_done_fn(void *data, const struct job_result *result);

struct job_request {
	const char *name;       /* what it is called in messages */
	const json_t *template; /* borrowed */
	json_t *values;         /* borrowed; NULL: none */
	struct str input;       /* its standard input */
	uint64_t timeout_ms;    /* of the whole; 0: none */
	job_done_fn *done;      /* from the loop, never from job_start() */
	void *data;
};

/* Of the bridge: before the first one, and when it stops, while all that the loop calls is still
 * there: it is turned until the jobs are gone. */
void jobs_start(struct bridge *b);
void jobs_stop(struct bridge *b);

struct job *job_start(struct bridge *b, const struct job_request *q);
