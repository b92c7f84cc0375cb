#pragma once

#include "base/arena.h"
#include "base/report.h"
#include "data/json.h"

/* The index of all runs: one SQLite file beside the run directories. It lists and arbitrates; the
 * directory of a run alone is enough to understand it, and the ledger can be made anew from
 * directories. One connection for a process. */
struct ledger;

/* Limits of what a host may store (queue.h, host-state.h); more is refused with an issue. */
enum { LEDGER_VALUE_MAX = 1 << 20, LEDGER_KEY_MAX = 1024 };

/* One generation of a run. Texts that are not known are empty. Times are milliseconds since 1970;
 * 0: not yet. */
struct run_row {
	struct str id, generation;
	uint64_t seq;  /* the order of starts */
	uint64_t back; /* of a list: how many generations before the current one; else 0 */
	struct str owner, recipe, recipe_path, recipe_sha256, tool, launch, cwd, dir;
	uint64_t created, started, ended;
	struct str status; /* "starting", then a name of base/run-status.h */
	int code;
	/* Of an ended run: how many commands ended it as failures, tolerated or not, and what `run`
	 * ended with. */
	bool counted; /* these are known */
	uint64_t failed, tolerated;
	int exit;
	int64_t pid;
	uint64_t pid_start; /* `start` of base/process.h */
	struct str boot_id;
	bool detached;
	struct str handled; /* the event that asked for its end: "run.cancel", "run.kill",
			       "run.message" */
	bool announced;
};

/* Whether something in it went wrong that people want to look at: a command failed and was not
 * tolerated, or the run's time ran out. */
bool run_row_has_failures(const struct run_row *row);

/* How a process uses it. */
struct ledger_manner {
	bool durable;     /* every change is on stable storage when it has been made */
	unsigned wait_ms; /* how long another process may have it locked; 0: a minute */
};
#define LEDGER_USUAL ((struct ledger_manner){ 0 })

/* `root` is the state root: it and the ledger are made when they are not there. NULL with an issue
 * added. */
struct ledger *ledger_open(struct str root, struct ledger_manner how, struct report *r);
/* The same, but nothing is made: NULL without an issue when there is no ledger yet. */
struct ledger *ledger_open_existing(struct str root, struct ledger_manner how, struct report *r);
void ledger_close(struct ledger *l);
/* Whether there is one that this roux can write to, as far as the file's first bytes say. Opening
 * it takes a hundred times as long. Only in a process that does not have it open: closing a file
 * gives up the locks that the process has on it. */
bool ledger_is_ready(struct str root);
/* As in ledger_manner, from now on; returns what it was. */
unsigned ledger_set_wait(struct ledger *l, unsigned wait_ms);
/* Whether run directories may be there that it lacks: some were when it was made, so the one before
 * was lost. A rebuild has no gap. */
bool ledger_has_gap(struct ledger *l);
bool ledger_set_gap(struct ledger *l, bool gap, struct report *r);
/* How many directories below runs/ there are beyond the ids of the ledger: `directories` is what
 * there are now. *ret_news: that is not what it was when it was last kept. */
bool ledger_spare(struct ledger *l, int64_t directories, int64_t *ret, bool *ret_news);
bool ledger_set_spare(struct ledger *l, int64_t spare, struct report *r);
/* Puts everything into the one file, so that it can be moved. */
bool ledger_fold(struct ledger *l, struct report *r);

/* This process writes often and for long: the log is put back into the ledger less often, and at
 * its end. */
void ledger_stays(struct ledger *l);

/* Several changes as one transaction: all of them are made, or none. Every call of ledger.h,
 * queue.h and host-state.h in between is part of it; when one of them fails, the commit does too
 * and nothing has happened. On stable storage when `full`. Batches do not nest, and other processes
 * cannot write until the end: do not wait for anything in between. */
bool ledger_batch_begin(struct ledger *l, bool full, struct report *r);
bool ledger_batch_commit(struct ledger *l, struct report *r);
void ledger_batch_undo(struct ledger *l);

/* Makes `row` the current generation of its id, in one transaction: exactly one of two starts at
 * once wins. `free` is asked, inside the transaction, whether the generation that is current now
 * has ended (its lock is the truth). False with an issue (`taken` is set when another live run has
 * the id). Fills row->seq. Of a detached run, whose caller hears that it has begun, it is on
 * stable storage when this returns. */
bool ledger_claim(struct ledger *l, struct run_row *row,
	bool (*ended)(void *data, const struct run_row *current), void *data, bool *taken,
	struct report *r);
/* Makes `row`, which has begun, the current generation of an id that no other run has: the
 * process that has made its directory has the name. Another process may have found the directory
 * and entered it already. Fills row->seq. */
bool ledger_enter(struct ledger *l, struct run_row *row, struct report *r);
/* Tells the ledger of `root` of a run that has begun and ended without it, at the price of one line
 * in a file beside it. It knows of the run when it is opened the next time, or asked in a process
 * that has it open. -errno: it has to be entered. */
int ledger_tell(struct str root, const struct run_row *row);
/* Enters those runs now. What cannot be done now is done the next time; `r`, which may be NULL,
 * gets a warning then. */
void ledger_take_news(struct ledger *l, struct report *r);
/* Takes a claim back that came to nothing: the generation before it is current again. */
void ledger_unclaim(struct ledger *l, const struct run_row *row);
/* Replaces what is known of a generation. Durably when `final`. */
bool ledger_update(struct ledger *l, const struct run_row *row, bool final, struct report *r);
/* Writes down an end that its supervisor did not: status, code, counts and ended of `now`. Only
 * when the generation is still as it was `seen`, because it may have been resumed meanwhile. */
bool ledger_correct(
	struct ledger *l, const struct run_row *seen, const struct run_row *now, struct report *r);
/* Writes down the counts of a generation that ended before the ledger had them. */
bool ledger_set_counts(struct ledger *l, const struct run_row *row, struct report *r);
/* Adds a generation that was found in its directory and makes it the current one. Nothing happens
 * when it is that already. */
bool ledger_put(struct ledger *l, struct run_row *row, struct report *r);
/* All generations of an id. */
bool ledger_forget(struct ledger *l, struct str id, struct report *r);
/* One of them. When it was the current one, the newest that is left is. */
bool ledger_forget_generation(
	struct ledger *l, struct str id, struct str generation, struct report *r);

/* For a rebuild, which makes a new ledger of run directories: queues, host state and counts of
 * launches are in the old one only. Holds the ledger of `root` so that no process writes to it
 * until ledger_release_old(), which comes after the new one has its name: writers then find that
 * and use it. `*ret` is NULL when there is none, or with a warning when it cannot be read. False
 * with an issue: another process holds it. */
bool ledger_hold_old(struct str root, struct ledger **ret, struct report *r);
/* Notes which runs the ledger of `root` has, before the directories are read: a connection to be
 * closed, or NULL when it cannot be read. */
struct ledger *ledger_note_old(struct str root);
/* Calls `see` with the generations that it has been told of since, in the order of their starts, or
 * with those that it has forgotten. Nothing is seen when they cannot all be read. False: `see` was.
 */
typedef bool ledger_change_fn(void *data, struct str id, struct str generation);
bool ledger_changed(struct ledger *noted, bool added, ledger_change_fn *see, void *data);
void ledger_release_old(struct ledger *old);
/* Copies what can be read of that; warnings say what cannot. False with an issue: `l` cannot be
 * written. */
bool ledger_keep(struct ledger *l, struct ledger *old, struct report *r);

/* Gives the ledger of `aside`, a directory of `root` named LEDGER_ASIDE…, the name of the one of
 * `root`, which is kept as ledger.db.old with its log. A process that is killed in between leaves
 * the old one or the new one: the next that looks for the ledger, or ledger_mend(), puts it in its
 * place. False with an issue: the old one has its name. */
#define LEDGER_ASIDE ".rebuild-"
bool ledger_exchange(struct str root, const char *aside, struct report *r);
void ledger_mend(struct str root);

/* Whether an id has a row. False: it has none (no issue), or the ledger cannot be read (with one).
 */
bool ledger_knows(struct ledger *l, struct str id, struct report *r);

/* The current generation of an id; texts live in the arena. False: there is none (no issue), or the
 * ledger cannot be read (with one). */
bool ledger_find(
	struct ledger *l, struct str id, struct arena *a, struct run_row *ret, struct report *r);
/* The `seq` of a generation; 0: there is none, or it cannot be found out. */
uint64_t ledger_seq(struct ledger *l, struct str id, struct str generation);

/* Which runs a list has. Zeroed: all. */
struct ledger_filter {
	struct str owner;  /* of that session */
	struct str status; /* one of these: names with commas between them. Those that run are let
			      through in any case: a run whose supervisor was killed is `running`
			      in the ledger until it is looked at */
	struct str recipe; /* the id of its recipe */
	struct str prefix; /* its id begins so, … */
	struct str match;  /* … or has this in it */
	struct str any;    /* its id or the one of its recipe has this in it */
	int detached;      /* 1: only detached ones, -1: only others */
	uint64_t since;    /* started then or later, … */
	uint64_t until;    /* … or earlier; 0: no limit */
	size_t limit;      /* how many at most */
	uint64_t before;   /* the page behind the row that has this seq */
	bool failures;     /* with failures, as far as the ledger knows; those that run too */
	bool generations;  /* the earlier ones too */
};

/* Calls `see` with the current generation of every id that the filter lets through (NULL: of every
 * id), newest first; it may stop by returning false. The row is borrowed and has what a list shows
 * and nothing else: id, generation, seq, back, recipe, status, started, ended, owner, detached and
 * the counts. Ten
 * thousand of them take a few milliseconds; a page of a hundred thousand runs takes less than one.
 */
bool ledger_list(struct ledger *l, const struct ledger_filter *filter,
	bool (*see)(void *data, const struct run_row *row), void *data, struct report *r);
/* How many runs have each status, earlier generations not counted. */
bool ledger_count_statuses(struct ledger *l,
	void (*see)(void *data, struct str status, uint64_t count), void *data, struct report *r);
/* Changes with the content: when another process has written, and when this one has. 0: it cannot
 * be read. */
uint64_t ledger_version(struct ledger *l);
/* Whether it can be read now. False with an issue. */
bool ledger_is_readable(struct ledger *l, struct report *r);

/* The leaves of a generation, filled from its leaves.jsonl when it has ended, idempotently. A file
 * that is none of roux, or may not be read, is a warning. */
bool ledger_add_leaves(struct ledger *l, struct str id, struct str generation,
	const char *leaves_file, struct report *r);

/* How often a recipe was started. Times are milliseconds since 1970; 0: never. */
struct recipe_usage {
	uint64_t calls, last_called, reset_at;
	struct str fingerprint;
};

/* One more launch of the recipe at that path. */
bool ledger_count(struct ledger *l, struct str recipe_path, struct str fingerprint, uint64_t now_ms,
	struct report *r);
/* False: it was never started, without an issue. The text lives in the arena. */
bool ledger_usage(struct ledger *l, struct str recipe_path, struct arena *a,
	struct recipe_usage *ret, struct report *r);
