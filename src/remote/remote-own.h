#pragma once

#include "base/map.h"
#include "loop/notify.h"
#include "remote/batch.h"
#include "remote/exchange.h"
#include "remote/lines.h"
#include "remote/remote.h"
#include "remote/sizing.h"

/* The parts of the executor: remote.c has its calls and the jobs, remote-input.c what they read,
 * remote-give.c hands them out, remote-hear.c reads what workers say, remote-worker.c has the life
 * of a worker, remote-resume.c what an earlier driver has left. */

struct remote;

/* Commands and allocations that fit each other. */
struct remote_shape {
	struct list link;
	struct shape shape;
	struct list ready; /* jobs without a worker, first come first served */
	uint64_t ready_count, ready_cpus;
	uint64_t longest_ms; /* that one of its commands took */
	unsigned barren;     /* allocations in a row that ended without having begun a command */
	uint64_t spare_ms;   /* since when more are queued than are needed; 0: they are not */
};

enum worker_state {
	WORKER_ASKED,  /* its submission is under way, or is tried again */
	WORKER_QUEUED, /* it has a job and has not said hello */
	WORKER_ALIVE,
	WORKER_DEAD,
};

struct remote_worker {
	struct list link;
	struct remote *remote;
	struct remote_shape *shape;
	uint64_t id;
	enum worker_state state;
	bool inherited; /* an earlier driver, perhaps of another version, has asked for it */
	bool adopting;  /* … and it has not spoken to this one */
	bool draining, quitting; /* it gets no more */
	bool fenced, cancelled, hung;
	bool said_bye, ended_job; /* why it is dead */
	bool found_dead;          /* its machine says that it had died */
	bool begun;               /* it has begun a command */
	bool job_kept;            /* its job's number is in the exchange */
	char *job, *host, *why, *reason;
	char *machine;    /* of `hosts`: where it is asked for, before it or its job can say */
	char *state_word; /* what the batch system says */
	enum batch_state means;
	uint64_t answered_ms; /* … and when it said so */
	unsigned unlisted;    /* answers in a row that did not know it */
	uint64_t asked_ms, hello_ms;
	uint64_t seen_ms;   /* its last byte */
	uint64_t looked_ms; /* its file: what is said of its silence holds for then */
	uint64_t fenced_ms, ended_ms, ordered_ms, running_ms, cancelled_ms;
	uint64_t deadline_ms; /* its allocation ends; 0: not known */
	uint64_t cpus;
	struct load given_load; /* of what it was given and has not ended */
	uint64_t done;
	uint64_t next_n;
	struct list given; /* jobs, in order of their numbers */
	size_t given_count;
	struct buf orders; /* not written yet */
	struct exchange_file orders_file, records_file;
	struct line_reader reader;
	struct notify_file changes;
	uint64_t look_at_ms, look_ms;
	uint64_t heard;      /* of `records`, when the driver before this one last handed it on */
	bool handed_on;      /* standard error of a command, since that was written down */
	bool mutes;          /* … of a command is handed on only at its end */
	unsigned wrong;      /* lines that broke a rule */
	unsigned doubted;    /* answers in a row, since it is silent, that do not vouch for it */
	unsigned told_leave; /* enum leave_how */
};

enum remote_job_state { JOB_READY, JOB_GIVEN, JOB_BEGAN, JOB_ENDED };

/* An input that is written to the exchange for commands that read it. */
struct remote_input {
	struct list link;
	struct content *content;
	uint64_t number;
	size_t readers;
};

enum { LOSSES_MAX = 3 }; /* of one command: it is what ends its workers */

struct remote_job {
	struct job job;
	struct list link; /* in a shape's `ready` or a worker's `given` */
	enum remote_job_state state;
	struct remote_shape *shape;
	struct remote_worker *worker;
	struct remote_input *input;
	struct job_record *record;
	struct buf order; /* what order_run_write() made; empty: it was adopted */
	uint64_t n, time_s;
	struct load load;         /* what it takes of an allocation */
	struct job_behind behind; /* until it has begun */
	uint64_t started_ms, given_ms, began_ms;
	bool keep_err, live;
	bool idle_slot; /* it was given to a slot that was free: how long an answer takes */
	bool stopping, killing, told_began;
	bool dropped;  /* it is to go to another worker */
	bool recalled; /* it is to go back */
	bool muted;    /* what it prints to standard error is handed on at its end */
	unsigned losses;
	int out_fd; /* the run's output while it comes; -1: none */
	uint64_t came[2];
	/* JOB_ENDED */
	struct job_end end;
	struct job_away away;
	struct buf host, lost_with;
	struct content *out, *err;
	struct deferred telling;
};

/* What an earlier driver has left under way. */
struct remote_left {
	struct str path;
	uint64_t number, n;
	struct remote_worker *worker; /* NULL: it left no trace */
	uint64_t worker_id;
	bool began; /* and its owner has not heard that yet */
	bool ended, taken, again, settled;
	bool in_doubt; /* it was lost, and is not to be run again unasked */
	/* Of its standard error: whole lines that the earlier driver has handed on; and whether
	 * there is more, which the end is to tell. */
	uint64_t told, told_part;
	bool untold_err;
	struct said end; /* when it has ended */
	/* What views are yet to be told. */
	bool untold;
	enum event_left news;
	const char *why;
};

enum leave_how { LEAVE_NOT, LEAVE_QUIT, LEAVE_CANCEL, LEAVE_KILL };

struct remote {
	struct executor executor;
	struct loop *loop;
	struct table *table;
	struct arena arena;
	struct str run, generation, run_dir, cwd, roux, class;
	uint64_t cwd_ino;
	bool told_cwd;        /* that a node may have another one */
	struct str name;      /* of jobs */
	VEC(struct str) told; /* of classes that there are not */
	bool durable, careful, resumed, stops_left;
	bool announced; /* since the run began no command executes before that is written */
	bool trial;     /* the first failure is reported, nothing is tried again */
	bool ends_left; /* it only ends what a dead driver has left */
	bool all_ended; /* … another has done that: no worker lives */
	uint64_t grace_ms, jobs;
	struct exchange x;
	uint64_t epoch;
	struct str probe;
	struct exchange_file beats;
	uint64_t beat_ms;
	struct batch *batch;
	struct list shapes, workers, inputs;
	size_t worker_count; /* not dead */
	uint64_t next_worker, next_input;
	size_t jobs_count; /* that have not ended */
	struct notify notify;
	struct deferred pump;
	struct timer looks, tick;
	struct looks looked;
	struct list *looked_last; /* the worker whose file was looked at last; they take turns */
	/* How long things take, of the latest. */
	struct sizing_mean took_us, turn_ms;
	uint64_t ended; /* commands */
	/* Submissions: one at a time. */
	struct remote_worker *submitting;
	uint64_t submit_at_ms;
	unsigned submit_failures;
	uint64_t next_host;
	/* Status: */
	bool asking, told_cut, told_nameless;
	uint64_t asked_ms;
	unsigned asked_ending;
	unsigned no_hello; /* allocations in a row that came to nothing */
	bool strays;       /* there may be jobs that no worker has */
	unsigned stray_asks;
	unsigned cancelling; /* jobs whose cancelling has not been answered */
	/* The end: */
	enum leave_how leaving;
	uint64_t leaving_ms;
	void (*swept)(void *data);
	void *swept_data;
	bool failed, full;
	struct buf shown; /* what workers.json says */
	uint64_t show_at_ms;
	/* What an earlier driver left: */
	struct remote_left *left;
	size_t left_count, left_open;
	bool left_untold;
	void (*superseded)(void *data);
	void *data;
};

/* -- remote.c ------------------------------------------------------------------------------------
 */

/* It has ended; `end` is reported from the loop. */
void remote_job_tell(struct remote_job *j);
/* It has not been run by the worker that had it: it waits for another. */
void remote_job_again(struct remote_job *j);
/* It may have been executed, and its worker, of which `with` tells, cannot say so any more. */
void remote_job_doubt(struct remote_job *j, struct str with);
/* The run cannot continue. */
void remote_fail(struct remote *r, struct str message, struct str hint);
void remote_warn(struct remote *r, struct str message);
/* Warns of a class that there is not, once. */
void remote_tell_class(struct remote *r, const struct needs *n);
void remote_wake(struct remote *r);
struct remote_shape *remote_shape(struct remote *r, const struct shape *s);

/* -- remote-input.c ------------------------------------------------------------------------------
 */

/* Where the worker finds the standard input. `room` holds the bytes or the name. -errno. */
int remote_input_take(
	struct remote_job *j, const struct job_spec *spec, struct order_run *run, struct buf *room);
/* It is not needed any more. */
void remote_input_release(struct remote_job *j);
/* Whether a file is somewhere in a directory, by their names. */
bool remote_below(struct str path, struct str dir);

/* -- remote-give.c -------------------------------------------------------------------------------
 */

/* Hands out what there is to hand out, and asks for allocations. */
void remote_give(struct remote *r);
/* Writes the orders of all workers. */
void remote_write_orders(struct remote *r);
/* How many commands it takes at once: as many as may become slots, and as many ahead as these would
 * be given. */
uint64_t remote_jobs_most(const struct remote *r);
void remote_order(struct remote_worker *w, const struct order *o);

/* -- remote-hear.c -------------------------------------------------------------------------------
 */

/* Standard error of one that is adopted is handed on where the earlier driver has stopped. */
void remote_hear_on(struct remote_job *j, const struct remote_left *l);
/* Reads what the worker has said since. */
void remote_hear(struct remote_worker *w);

/* -- remote-worker.c -----------------------------------------------------------------------------
 */

struct remote_worker *remote_worker_new(
	struct remote *r, uint64_t id, struct remote_shape *s, uint64_t cpus);
void remote_worker_free(struct remote_worker *w);
/* It will say no more: what it had goes elsewhere. `why` is for people. */
void remote_worker_died(struct remote_worker *w, const char *why);
void remote_worker_fence(struct remote_worker *w, const char *why);
/* The batch system has said what it knows of it, perhaps nothing. */
void remote_worker_answered(struct remote_worker *w, uint64_t now);
/* Everything that is due: beats, leases, status, the end. */
void remote_tick(struct remote *r);
void remote_tell_worker(struct remote_worker *w, enum event_kind kind, const char *why);
/* It has orders: what it answers is looked for soon, where changes of files are not told. */
void remote_expect(struct remote_worker *w);
/* Ends the workers, and what is queued. */
void remote_leave(struct remote *r, enum leave_how how);

/* Replaces a text that is owned and that people see: of what others said, one line of it, without
 * control characters. An empty one becomes NULL. */
void remote_set(char **text, struct str with);
/* Which worker it is, for people. */
void remote_worker_name(const struct remote_worker *w, struct buf *b);
/* Tells it what its allocation has, with `cpus` of the worker. */
void remote_order_allocation(struct remote_worker *w);

/* -- remote-batch.c ------------------------------------------------------------------------------
 */

/* Asks for one more allocation. */
void remote_submit(struct remote *r, struct remote_shape *s);
/* The processors that this one would have. */
uint64_t remote_next_cpus(const struct remote *r, const struct remote_shape *s);
void remote_worker_cancel(struct remote_worker *w);
/* Its job's number; a later driver finds it in the exchange. */
void remote_worker_job(struct remote_worker *w, struct str id);
void remote_ask_status(struct remote *r);
/* Cancels one job and says what came of it. */
void remote_cancel_told(struct remote *r, const char *job, batch_fn *done, void *data);

/* -- remote-faces.c ------------------------------------------------------------------------------
 */

/* Tells views and other processes what the workers do, when that has changed. */
void remote_show(struct remote *r, uint64_t now);

/* -- remote-resume.c -----------------------------------------------------------------------------
 */

/* Looks at every worker that is there. */
void remote_find_left(struct remote *r, const struct remote_options *o);
/* What is left of `key`; NULL: nothing. */
struct remote_left *remote_left(struct remote *r, const struct leaf_key *key);
struct remote_left *remote_left_of(const struct remote_worker *w, uint64_t n);
/* A worker of an earlier driver has said hello to this one, or is dead. */
void remote_settle_left(struct remote_worker *w, const struct said_hello *hello);
/* Whether one that was lost with its worker is in doubt, and that stops the run. `w` NULL: there is
 * no trace of it. */
bool remote_left_doubted(
	const struct remote *r, const struct remote_worker *w, const struct remote_left *l);
/* Whether it is not known yet of all that was left what became of it. */
bool remote_left_unsure(const struct remote *r);
/* With what it was lost. */
void remote_left_lost_with(const struct remote *r, const struct remote_left *l, struct buf *b);
/* Accepts what was recorded meanwhile of those that were adopted. */
void remote_settle_taken(struct remote *r);
/* Tells views what became of it, from the loop: the run may not have begun yet. */
void remote_left_news(struct remote *r, struct remote_left *l, enum event_left news);
void remote_tell_left(struct remote *r);
