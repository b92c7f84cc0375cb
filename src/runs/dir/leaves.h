#pragma once

#include "base/buf.h"
#include "base/report.h"

/* leaves.jsonl of a run directory: what has started and ended, one line each, written before
 * anything that depends on it happens. A resume believes this file. Lines are made and read here
 * and nowhere else.
 *
 *   {"p":"1.0","a":1,"s":"start","pid":123,"st":456789,"ts":…}
 *   {"p":"1.0","a":1,"s":"start","on":"slurm","w":3,"n":17,"ts":…}   elsewhere: by a worker
 *   {"p":"1.0","a":1,"s":"exit","code":0,"sig":0,"ms":4,"out":12,"err":0,"ts":…,"ru":{…}}
 *     and where they apply "timeout":true, "limit":"1", "cancelled":true, "lost":true (with its
 * machine)
 *   {"p":"1","s":"forget","ts":…}   what is recorded of a node and below it counts no more
 *   {"p":"3","s":"closed","ts":…}   a loop without checkpoints has ended
 *   {"p":"1.0","a":1,"s":"lost","ts":…}   what it printed is gone and is needed: it runs again;
 *     "unkept":true: it ended, and then what it printed could not be kept
 *   {"p":".","s":"input","in":4,"ts":…}   the run's standard input is kept as far as commands read
 *     it, and they did not come to its end; with "end":true they did, and that is all of it
 *
 * Of several exits of one execution the last counts: one that was cancelled and then resumed, or
 * one that could not be started and counts as not run, because the machine failed the run by that.
 */
#define LEAVES_FILE "leaves.jsonl"

struct leaf_record {
	uint64_t number; /* `a`: which execution of its path */
	bool started, ended;
	bool lost;       /* it had ended, but what it printed is gone: it counts as not run */
	bool unkept;     /* … or could never be kept; with `lost` */
	bool unrecorded; /* the events tell of it, the file has lost its end: see unrecorded.h */
	int code, signal;
	bool timed_out, cancelled;
	bool passed;      /* it failed, and a rerun continues behind it all the same */
	bool gone;        /* the machine that ran it: its end is not known */
	struct str limit; /* the path of the node whose time limit ended it; empty: none */
	uint64_t ms, out_bytes, err_bytes;
	uint64_t started_ms; /* `ts` of its start */
	/* Of this machine; 0: not known, or the command was started elsewhere, so that it is not
	 * looked for here. */
	int64_t pid;
	uint64_t pid_start;
	struct str on;          /* the executor it was handed to; empty: this machine */
	uint64_t worker, grant; /* `w`, `n`: which of its workers, and the number of the order */
};

/* -- writing -------------------------------------------------------------------------------------
 * Each adds one line with its end. `now_ms` is the `ts`: milliseconds since 1970. */

/* The line of a start, in two parts: the members that name the process stand between them, without
 * a comma before or behind ("pid":123,"st":456789). The started child writes all three, because
 * only it can do so before its program begins. */
void leaf_start_parts(
	struct buf *before, struct buf *after, struct str path, uint64_t number, uint64_t now_ms);
/* The same without the process, for a path that is too long for the child. */
void leaf_start_line(struct buf *b, struct str path, uint64_t number, uint64_t now_ms);

/* What a command used; `ru` of its line. */
struct leaf_usage {
	uint64_t user_us, system_us, memory_kib;
};
/* `usage` may be NULL: not known. */
void leaf_exit_line(struct buf *b, struct str path, const struct leaf_record *record,
	const struct leaf_usage *usage, uint64_t now_ms);
void leaf_forget_line(struct buf *b, struct str path, uint64_t now_ms);
void leaf_closed_line(struct buf *b, struct str path, uint64_t now_ms);
void leaf_lost_line(struct buf *b, struct str path, uint64_t number, bool unkept, uint64_t now_ms);
void leaf_input_line(struct buf *b, uint64_t bytes, bool end, uint64_t now_ms);

/* -- reading line by line ------------------------------------------------------------------------
 */

enum leaf_line_kind { LEAF_START, LEAF_EXIT, LEAF_FORGET, LEAF_CLOSED, LEAF_LOST, LEAF_INPUT };

/* Texts are borrowed until the callback returns. */
struct leaf_line {
	enum leaf_line_kind kind;
	struct str path;
	struct leaf_record record; /* of a start where it runs, of an exit all else */
	bool used;                 /* of an exit: what it used is known */
	struct leaf_usage usage;
	uint64_t in_bytes; /* of an input */
	bool in_end;       /* … and they are all of it */
	uint64_t ts;
};

/* Calls `see` with every line of the file in its order, also with what a later line forgets; `see`
 * stops by returning false. A missing file has no lines. Damaged lines and unknown kinds are
 * skipped, so that a newer version may add some; a last line without its end was cut off by a crash
 * and does not count. -errno. */
typedef bool leaf_line_fn(void *data, const struct leaf_line *line);
int leaf_lines_each(const char *file, leaf_line_fn *see, void *data);

/* -- what counts ---------------------------------------------------------------------------------
 */

/* All that counts of one file. */
struct leaves;

/* NULL with an issue added when the file cannot be read. */
struct leaves *leaves_read(const char *file, struct report *r);
void leaves_free(struct leaves *l);
/* The records of `l` that hold, with their numbers; its texts are borrowed from `l`. */
struct leaves *leaves_that(const struct leaves *l,
	bool (*holds)(void *data, struct str path, const struct leaf_record *record), void *data);

/* What is recorded of an execution; `number` counts from 1 since the path was last forgotten. NULL:
 * nothing. */
const struct leaf_record *leaves_find(const struct leaves *l, struct str path, uint64_t number);
/* The last one of all that is recorded of a path, forgotten or not. NULL: nothing. */
const struct leaf_record *leaves_last(const struct leaves *l, struct str path);
/* Whether the file was missing, or had lines that cannot be read. */
bool leaves_are_damaged(const struct leaves *l);
/* An event of that time says that it was started, or that it `ended` with this code, after so many
 * milliseconds and bytes of output: unless the file says what became of it, its last execution is
 * `unrecorded`. Whether it is. */
bool leaves_doubt(struct leaves *l, struct str path, const struct leaf_record *event, uint64_t ms);
/* What has to be added to such a number to be `a` of the file. */
uint64_t leaves_base(const struct leaves *l, struct str path);
/* The execution `a` of the file counts as not run, in memory; the caller writes the line. */
void leaves_lose(struct leaves *l, struct str path, uint64_t a);
/* Forgets it in memory; the caller writes the line. False: there was nothing. */
bool leaves_forget(struct leaves *l, struct str path);
bool leaves_closed(const struct leaves *l, struct str path);
/* How much of the run's standard input is kept; 0: that is not known. */
uint64_t leaves_input(const struct leaves *l);
/* Whether that is only as far as it was read. */
bool leaves_input_is_part(const struct leaves *l, uint64_t *bytes);
/* The highest number of a worker of any executor, also of what was forgotten; 0: there was none. */
uint64_t leaves_last_worker(const struct leaves *l);
/* Calls `see` with everything that counts, path by path in the order of their first lines. */
void leaves_each(const struct leaves *l,
	void (*see)(void *data, struct str path, const struct leaf_record *record), void *data);
