#pragma once

#include "engine/local.h"
#include "loop/notify.h"
#include "loop/signals.h"
#include "remote/exchange.h"
#include "remote/lines.h"
#include "remote/sizing.h"
#include "remote/writer.h"

/* The parts of a worker: worker.c has its life, worker-grants.c the commands that it was given,
 * worker-node.c what it finds before it works, worker-host.c its start and its end where no batch
 * system has them. */

enum grant_state { GRANT_WAITING, GRANT_RUNNING, GRANT_HELD };

struct worker;

/* A command that was handed to this worker. */
struct grant {
	struct list link; /* in order of their numbers */
	struct worker *worker;
	struct order order;
	struct load load; /* what it takes while it runs */
	enum grant_state state;
	struct job_owner owner;
	struct job *job;
	struct job_record record;
	uint64_t began_ms;
	uint64_t pid, start;
	bool stopped;          /* by an order */
	bool timed_out;        /* at its own limit */
	uint64_t announced;    /* that it begins: up to there it is `said`; 0: it is not */
	struct timer limit;    /* its own time limit */
	struct timer hold;     /* its end is held back */
	struct timer send;     /* what it printed is sent when it is due */
	struct buf printed[2]; /* not sent yet */
	bool unseen[2];        /* more has come than is sent: the end has it */
	struct said end;       /* GRANT_HELD */
};

struct worker {
	struct exchange x;
	struct exchange_info info;
	struct arena arena;
	uint64_t id;
	struct loop *loop;
	struct executor *executor;
	struct store store;
	struct writer *writer;
	struct signals signals;
	struct buf lines; /* said, and not given to the writer */
	uint64_t said;    /* bytes of all lines */
	struct timer flush;
	uint64_t flushed_ms;
	bool told_now; /* what is said next does not wait for more */

	uint64_t epoch; /* of the driver that is obeyed; 0: none is seen yet */
	bool fence_seen;
	bool allocated;      /* it has said what the allocation has */
	bool greeted;        /* … and the worker hello; before that nothing begins */
	const char *problem; /* why it cannot work; NULL: it can */
	struct exchange_file orders;
	struct line_reader reader;
	struct notify notify;
	struct notify_file orders_changes, drivers_changes;
	struct timer look, tick;
	uint64_t look_ms;
	uint64_t beat_seen_ms, beat_size; /* of that driver */
	uint64_t looked_ms;               /* at the fence and the drivers */

	/* What the allocation has, and what runs takes of it. */
	struct load has, used;
	uint64_t time_s;
	uint64_t claimed_ms;
	char host[256];
	struct str job; /* what the batch system calls it there; "" where it says nothing */
	struct str probe;

	struct list grants;
	size_t waiting, running;
	uint64_t ended_ms; /* when the last grant ended */
	uint64_t beat_ms;
	int ids[2]; /* a pipe by which commands tell who they are */

	bool draining, paused;
	const char *leaving; /* why; NULL: it stays */
	bool terminated;     /* the batch system has asked it to end */
	bool sweeping, swept;
	bool dead; /* its lease is over: nothing more is said */
};

/* -- worker.c ------------------------------------------------------------------------------------
 */

/* Takes the lines of `s` into the next batch, and what it owns. */
void worker_say(struct worker *w, struct said *s);
/* It has said something that orders may follow: these are looked for soon. */
void worker_expect(struct worker *w);
/* Whether its lease is over. Then everything has been killed. */
bool worker_lapsed(struct worker *w);

/* -- worker-node.c -------------------------------------------------------------------------------
 */

/* Says why it cannot work, where its log is. Returns 1. */
int worker_complain(const char *fmt, ...) PRINTF(1, 2);
/* Opens the exchange whose directory of a worker `dir` is, and reads what the run says of itself.
 * False after a complaint. */
bool worker_find(struct worker *w, const char *dir);
/* Makes its directory its own. False: another process has it, or it cannot; *status is what it ends
 * with. */
bool worker_claim(struct worker *w, int *status);
/* What commands find: the run's, but the node's own of some; or the node's with what the run adds.
 * It takes the place of this process's. False after a complaint. */
bool worker_environment(struct worker *w, const char *const **ret);
/* Both are asked before that: what the batch system calls its job, and gives it. */
struct str worker_job(struct arena *a);
uint64_t worker_processors(void);

/* -- worker-grants.c -----------------------------------------------------------------------------
 */

/* A command was handed over; takes the order. */
void grants_add(struct worker *w, struct order *o);
void grants_drop(struct worker *w, uint64_t n);
void grants_stop(struct worker *w, uint64_t n, bool at_once);
/* Gives back everything that has not begun. */
void grants_drop_all(struct worker *w);
/* Ends everything that runs. */
void grants_stop_all(struct worker *w, bool at_once);
/* Begins what there is room for. */
void grants_begin(struct worker *w);
/* The batch system has asked the worker to end: ends that are held back are its doing. */
void grants_terminated(struct worker *w);
