#pragma once

#include "base/buf.h"
#include "base/vec.h"
#include "data/json.h"
#include "remote/line-reader.h"

/*
 * What driver and worker say to each other: one JSON object a line, orders one way and records the
 * other. Lines are made and read here and nowhere else. What comes from the other side is input: a
 * line that breaks a rule is refused, unknown members are ignored.
 */
enum {
	INLINE_MAX = 16 * 1024, /* bytes of an input or output that stand in a line */
	ARGV_MAX = 768 * 1024,  /* words and environment of one command */
};

/* -- driver → worker ------------------------------------------------------------------------------
 */

enum order_kind {
	ORDER_RUN,
	ORDER_DROP,   /* give it back if it has not begun */
	ORDER_STOP,   /* one tree: asked, then killed */
	ORDER_KILL,   /* … at once */
	ORDER_CANCEL, /* all trees: asked, then killed; then leave */
	ORDER_KILL_ALL,
	ORDER_QUIT, /* finish what was granted, then leave */
	ORDER_GRACE,
	ORDER_PAUSE,
	ORDER_ALLOCATION, /* what it has; the first of all */
	ORDER_RULES,      /* when a command may begin; before the first of them */
	ORDER_KINDS,
};

/* Where a standard input is. */
enum input_kind { INPUT_NONE, INPUT_INLINE, INPUT_FILE };

/* A command that is handed to a worker: everything but the number of its grant. */
struct order_run {
	struct str path;
	uint64_t number; /* `a`: which execution of its path */
	const char *const *argv;
	const char *const *env;    /* beside that of all commands; may be NULL */
	const char *cwd, *program; /* NULL: the run's; argv[0] is looked for */
	enum input_kind in;
	struct str in_bytes; /* INPUT_INLINE */
	struct str in_file;  /* INPUT_FILE: from the exchange, or absolute */
	uint64_t in_size;
	uint64_t timeout_ms, max_output, cpus, mem_mb, gpus;
	bool live;    /* standard output is sent as it comes */
	bool cut_err; /* max_output holds for standard error too */
};

/* ORDER_ALLOCATION. */
struct order_allocation {
	uint64_t cpus, mem_mb, gpus, time_s;
};

struct order {
	enum order_kind kind;
	uint64_t n;            /* the grant; 0: of all */
	uint64_t ms;           /* ORDER_GRACE */
	bool on;               /* ORDER_PAUSE */
	bool durable, careful; /* ORDER_RULES: as in run.json, which is the first driver's */
	struct order_run run;
	struct order_allocation has;
	json_t *line;       /* what texts are borrowed from */
	struct arena arena; /* … and the rest */
};

/* The members behind `n` of an order to run. -E2BIG: it is longer than a line may be. */
int order_run_write(struct buf *b, const struct order_run *run);
/* A whole line. `run` is what order_run_write() has made; empty: not ORDER_RUN. */
void order_line_write(struct buf *b, const struct order *o, struct str run);
/* False: it is not an order, or one that this version does not know; *unknown tells which. */
bool order_line_read(struct str line, struct order *ret, bool *unknown);
void order_done(struct order *o);

/* -- worker → driver ------------------------------------------------------------------------------
 */

enum said_kind {
	SAID_HELLO,
	SAID_BEGAN,
	SAID_OUT,
	SAID_END,
	SAID_DROPPED,
	SAID_DRAIN,
	SAID_BEAT,
	SAID_BYE,
	SAID_KINDS,
};

/* Why a command ended. */
enum end_why { WHY_ITSELF, WHY_TIMEOUT, WHY_STOPPED, WHY_ALLOCATION, WHY_START, WHY_KINDS };

/* One output of an ended command. */
struct said_output {
	uint64_t size;
	struct buf bytes; /* all of it, unless: */
	bool file;        /* it is in the worker's file of that number */
};

struct said_hello {
	struct str generation, probe, roux, host, boot, job;
	uint64_t pid, cpus, mem_mb, left_s, cwd_ino, epoch, uid;
	struct str problem; /* a sentence: it cannot work; empty: it can */
	VEC(uint64_t) has;  /* grants that have not ended */
};

struct said_end {
	int code, signal, error; /* WHY_START: errno */
	enum end_why why;
	uint64_t ms;
	struct said_output out, err;
	uint64_t user_us, system_us, memory_kib;
	bool held, cut;
	int keep_error; /* errno: its output could not be kept */
};

/* Texts are borrowed from `line`. */
struct said {
	enum said_kind kind;
	uint64_t n;
	struct said_hello hello;
	struct said_end end;
	uint64_t pid, start; /* SAID_BEGAN */
	int stream;          /* SAID_OUT: 1 or 2 */
	struct buf bytes;    /* SAID_OUT */
	uint64_t left_s;     /* SAID_DRAIN */
	struct str why;      /* SAID_DRAIN, SAID_BYE */
	json_t *line;
};

void said_write(struct buf *b, const struct said *s);
bool said_read(struct str line, struct said *ret, bool *unknown);
void said_done(struct said *s);
