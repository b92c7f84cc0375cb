#pragma once

#include "base/report.h"
#include "engine/content.h"
#include "engine/feed.h"
#include "graph/event.h"

/*
 * An executor starts commands and tells when they began, printed and ended. The engine knows
 * nothing else of them: no pid, no pipe, no machine. `engine/local.h` is the one for processes of
 * this machine.
 */
struct executor;
struct job;
struct needs;

/* How what is left of a run is ended. */
enum sweep {
	SWEEP_ASK,   /* politely at first */
	SWEEP_KILL,  /* at once */
	SWEEP_PAUSE, /* politely at first; other runs that commands have started continue */
	SWEEP_LEAVE, /* the same, since the run has come to its end: what is held elsewhere is let
			go */
};

enum job_stream { JOB_STDOUT, JOB_STDERR };

/* One execution of a command: the path of its node, and which execution of that path it is.
 * Attempts of the node and of the groups around it are counted together, so that no two are alike.
 */
struct leaf_key {
	struct str path;
	uint64_t number; /* from 1 */
};

/* How the start and the output of a command are written down. */
struct job_record {
	/* The line that the executor writes to `fd` the moment before the command begins: `before`,
	 * what names the process as members of a JSON object, `after`. -1: none. */
	int fd;
	struct str before, after;
	/* Opens the named file for an output when its first byte comes. -errno. */
	int (*open)(void *data, enum job_stream stream);
	/* The named file is opened only when an output has more than that; it is then complete.
	 * With `keep_err` only. */
	uint64_t open_from;
	/* Takes over the file that has the whole output, a plain name in `dirfd`, instead of
	 * open(), unless that has been done before and the name is gone. A descriptor of what it
	 * is now, or -errno; -EXDEV: it has to be copied. May be NULL. */
	int (*accept)(void *data, enum job_stream stream, int dirfd, const char *name);
	bool last; /* what it prints is what the run prints: readers follow it */
	void *data;
	bool durable; /* the line is on the disk before the command begins */
	bool failed;  /* the line could not be written, so nothing was started */
};

/* Where a command runs that is not started here. Borrowed for the call that shows it. */
struct job_away {
	struct str on; /* the name of the executor */
	struct str host;
	uint64_t worker;
	uint64_t queued_ms; /* it waited, from the call of `start` on */
	uint64_t ms;        /* of an end: it executed */
};

/* What a command used. */
struct job_usage {
	uint64_t user_us, system_us, memory_kib;
};

/* Commands like another one, which come when that has begun: one every so often. */
struct job_behind {
	uint64_t count, every_ms;
};

/* A command to start. Borrowed during the call, what `record` points at until the end. */
struct job_spec {
	struct leaf_key key;       /* of a run that is written down; else empty */
	const struct needs *needs; /* what it asks of its machine; NULL: nothing */
	struct job_behind behind;  /* an executor that has to find machines may look ahead */
	const char *const *argv;
	size_t argc;
	struct content *in;     /* its standard input, or … */
	struct live *live;      /* … while it is still coming; or … */
	int in_fd;              /* … handed over as it is; -1: none */
	const char *const *env; /* NAME=VALUE, added or replacing; NULL-terminated; may be NULL */
	const char *cwd;        /* NULL: the executor's */
	const char *program;    /* its path; NULL: argv[0] is looked for */
	struct job_record *record; /* NULL: nothing is written down */
	bool terminal;       /* it gets our three streams and our process group; nothing is kept */
	bool keep_err;       /* all of standard error is kept, else its two ends */
	bool cut_err;        /* … and no more of it than of standard output */
	uint64_t max_output; /* bytes kept of an output that is kept whole; 0: all */
	/* Its time limit; 0: none. Its owner stops it when that has passed since `began`; an
	 * executor whose `began` comes late may be sooner, and then says so at the end. */
	uint64_t timeout_ms;
};

/* How a command ended. */
struct job_end {
	int code, signal;
	bool timed_out; /* the executor has ended it at its time limit */
	bool lost; /* the machine that ran it is gone; `code` stands for the end that is unknown */
	/* The machine that ran it is gone, and it must not be run again unasked: with what it was
	 * lost. Else NULL. */
	const char *in_doubt;
	bool held; /* a process that it left behind still holds a pipe; it was not waited for */
	bool cut;  /* an output was longer than max_output */
	int keep_error;  /* errno: its output could not be kept; 0: it was */
	int start_error; /* errno: it could not be started where it was to run; 0: it was */
	bool again; /* it is not under way: it was recalled, stopped before it began, or adopted;
		     * start it, if it is still wanted */
	const struct job_away *away; /* NULL: it ran here, or nowhere */
	uint64_t err_bytes;          /* of standard error, in all */
	struct job_usage usage;
};

/* The owner of a job embeds this; container_of() leads back. `began` comes once, from the loop
 * or from inside `start` and `adopt`; the other two only from the loop. */
struct job_owner {
	const struct job_owner_ops *ops;
};

struct job_owner_ops {
	/* The command executes from now on, here when `away` is NULL. Not called for one that ended
	 * before it could. */
	void (*began)(struct job_owner *o, const struct job_away *away);
	/* `data` has come, empty when it went past unseen; `total` is how many bytes of the stream
	 * are kept so far. */
	void (*output)(
		struct job_owner *o, enum job_stream stream, struct str data, uint64_t total);
	/* The last call. The job is freed by its owner, here or later. */
	void (*ended)(struct job_owner *o, const struct job_end *end);
};

/* One command under way, or ended. An executor embeds it. */
struct job {
	struct executor *executor;
	struct job_owner *owner;
};

struct executor_ops {
	/* NULL with *error = errno when it cannot be started. */
	struct job *(*start)(struct executor *e, const struct job_spec *spec,
		struct job_owner *owner, int *error);
	/* The job of `spec->key` when an earlier process of this run has started it and it is still
	 * under way; `spec` has neither words nor input, and its record is filled once this has
	 * returned. NULL: it is not. The call may be NULL: what it starts ends with this process.
	 */
	struct job *(*adopt)(
		struct executor *e, const struct job_spec *spec, struct job_owner *owner);
	/* How many more jobs it would begin soon; when that grows it calls executor_grew(). The
	 * call may be NULL: there is always room. */
	unsigned (*room)(struct executor *e);
	/* Ends the whole tree: asks, waits for the grace time, then kills. `ended` comes later. */
	void (*stop)(struct job *j);
	/* Ends it at once. */
	void (*kill)(struct job *j);
	/* It is not wanted any more unless it has begun: else `ended` comes with `again`. The call
	 * may be NULL: what was started has begun. */
	void (*recall)(struct job *j);
	/* Before `ended`: the file that has all of its standard output so far, borrowed, and how
	 * much that is; -1: it is in none. The call may be NULL: it never is. */
	int (*peek)(struct job *j, uint64_t *size);
	/* After `ended`: what it printed, a reference that is handed over; NULL: nothing. Standard
	 * error only with `keep_err`. */
	struct content *(*take)(struct job *j, enum job_stream stream);
	/* After `ended`, without `keep_err`: the beginning and the end of standard error. */
	void (*err_ends)(struct job *j, struct buf *head, struct buf *tail);
	void (*free)(struct job *j);
	/* Everything is to end: asks also whatever ended commands have left behind. */
	void (*stop_all)(struct executor *e);
	/* Ends what is left of that and calls `done` from the loop when nothing is. After
	 * stop_all() the grace time has begun there. */
	void (*sweep)(struct executor *e, enum sweep how, void (*done)(void *data), void *data);
	void (*set_grace)(struct executor *e, uint64_t grace_ms);
	/* Holds all commands that run, or lets them continue. */
	void (*pause)(struct executor *e, bool on);
	void (*close)(struct executor *e);
};

/* It serves one run, which sets what is below `ops` before the first start and closes it. */
struct executor {
	const struct executor_ops *ops;
	struct str name;     /* empty: this machine */
	struct store *store; /* where outputs are kept */
	void (*grew)(void *data);
	void *grew_data;
	/* What it has to say: an event of its own, and that the run cannot continue with it. `hint`
	 * may be empty. */
	void (*tell)(void *data, struct event *e);
	void (*fail)(void *data, struct str message, struct str hint);
	void (*warn)(void *data, struct str message);
	void *run_data;
};

static inline void executor_grew(struct executor *e)
{
	if (e->grew)
		e->grew(e->grew_data);
}

static inline struct content *job_take_out(struct job *j)
{
	return j->executor->ops->take(j, JOB_STDOUT);
}

static inline struct content *job_take_err(struct job *j)
{
	return j->executor->ops->take(j, JOB_STDERR);
}

static inline void job_err_ends(struct job *j, struct buf *head, struct buf *tail)
{
	j->executor->ops->err_ends(j, head, tail);
}

static inline void job_stop(struct job *j)
{
	j->executor->ops->stop(j);
}

static inline void job_kill(struct job *j)
{
	j->executor->ops->kill(j);
}

static inline void job_recall(struct job *j)
{
	if (j->executor->ops->recall)
		j->executor->ops->recall(j);
}

static inline void job_free(struct job *j)
{
	j->executor->ops->free(j);
}
