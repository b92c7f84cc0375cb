#pragma once

#include "base/report.h"

/* leaves.jsonl of a run directory (async-runs.md section 12): what has started and ended, one line
 * each, written before anything that depends on it happens. It is what a resume believes.
 *
 *   {"p":"1.0","a":1,"s":"start","pid":123,"st":456789,"ts":…}
 *   {"p":"1.0","a":1,"s":"start","on":"slurm","w":3,"n":17,"ts":…}   elsewhere: by a worker
 *   {"p":"1.0","a":1,"s":"exit","code":0,"sig":0,"ms":4,"out":12,"err":0,"ts":…,"ru":{…}}
 *   {"p":"1","s":"forget","ts":…}   what is recorded of a node and below it counts no more
 *   {"p":"3","s":"closed","ts":…}   a loop that may not be taken up in the middle has ended
 */
struct leaf_record {
	uint64_t number; /* `a`: which execution of its path */
	bool started, ended;
	int code, signal;
	bool timed_out, cancelled;
	struct str limit; /* the path of the node whose time limit ended it; empty: none */
	uint64_t ms, out_bytes, err_bytes;
	/* Of this machine; of a command that was started elsewhere 0, so that it is not looked for
	 * here. */
	int64_t pid;
	uint64_t pid_start;
	struct str on;          /* the executor it was handed to; empty: this machine */
	uint64_t worker, grant; /* `w`, `n`: which of its workers, and the number of the order */
};

/* All that counts of one file. */
struct leaves;

/* A missing file is an empty one; a line that was cut off by a crash does not count. NULL with an
 * issue added when it cannot be read. */
struct leaves *leaves_read(const char *file, struct report *r);
void leaves_free(struct leaves *l);

/* What is recorded of an execution; `number` counts from 1 since the path was last forgotten. NULL:
 * nothing. */
const struct leaf_record *leaves_find(const struct leaves *l, struct str path, uint64_t number);
/* What has to be added to such a number to be `a` of the file. */
uint64_t leaves_base(const struct leaves *l, struct str path);
/* Forgets it here as well; the line is the caller's to write. False: there was nothing. */
bool leaves_forget(struct leaves *l, struct str path);
bool leaves_closed(const struct leaves *l, struct str path);
/* Calls `see` with everything that counts, in the order of the file. */
void leaves_each(const struct leaves *l,
	void (*see)(void *data, struct str path, const struct leaf_record *record), void *data);

/* … and with every loop that has ended. */
void leaves_each_closed(
	const struct leaves *l, void (*see)(void *data, struct str path), void *data);
