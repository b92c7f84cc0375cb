#pragma once

#include "engine/frame.h"

/* A command: waits for a slot, is started, watched and, when it has ended, judged. Templates and
 * steps share all of it but what stands in struct command_kind. */

/* How it ended: told by its executor, found in a record, or it could not start. Borrowed. */
struct verdict {
	int code, signal;
	struct str err; /* for a join: the beginning of standard error */
	struct str err_tail, out_tail;
	bool recalled;  /* of an earlier execution */
	bool passed;    /* … which is passed over: see struct leaf_end */
	bool unstarted; /* nothing of it was executed */
	bool unkept;    /* what it printed could not be kept: it counts as not run */
	bool lost;      /* with the machine that ran it */
	bool no_retry, cut;
	struct content *err_all; /* a reference; only with keeps_err */
	uint64_t err_bytes;
	const struct job_usage *usage; /* NULL: not known */
	const struct job_away *away;   /* NULL: it ran here, or not at all */
};

/* frame_ops.command. Calls that say so may be NULL. */
struct command_kind {
	bool keeps_err; /* all of standard error */
	/* Bytes kept of each output. */
	uint64_t (*max_output)(const struct frame *f);
	/* The words, and what else it has, into the arena. False: it does not start, and the frame
	 * has been ended or judged; the slot is the caller's to release. */
	bool (*make)(struct frame *f, struct job_spec *spec, struct arena *a);
	/* How people see it: in a list of failures, … */
	void (*display)(const struct frame *f, struct buf *b);
	/* … and in a sentence: "node 0.1". */
	void (*name)(const struct frame *f, struct buf *b);
	/* The code, and whether it is worth another attempt. `f->timed_out` is known. */
	void (*judge)(const struct frame *f, const struct verdict *v, struct outcome *o);
	void (*cut)(struct frame *f);                            /* an output was; may be NULL */
	void (*ended)(struct frame *f, const struct outcome *o); /* may be NULL */
};

/* The code of a process: 128 and the signal, or what it exited with. */
int verdict_code(const struct verdict *v);

/* frame_ops of both kinds. */
bool command_start(struct frame *f);
bool command_recorded(const struct frame *f);
void command_halt(struct frame *f, bool stop);
void command_kill(struct frame *f);
void command_done(struct frame *f);

/* An attempt begins. Whether it needs no slot: its end was recorded and has been judged, or it is
 * under way already. */
bool command_is_found(struct frame *f);
/* Why it was not started, to all who want to hear what it prints. */
void command_tell_why(struct frame *f, struct str why);
/* The attempt is over. Takes `out` and `v->err_all`. */
void command_judge(struct frame *f, const struct verdict *v, struct content *out);
/* It counts as not run: the machine has failed, not the command. */
void command_not_run(struct frame *f);
/* Its record could not be written, which ends the run. */
void command_record_failed(struct frame *f, int error);
/* `cwd` of the nodes around it. False: it is not there, and the frame has been judged. */
bool command_go_to(struct frame *f, const char *cwd, struct job_spec *spec, struct arena *a);
/* `env` without what `set` sets, which may be NULL: in the arena. */
const char *const *command_env_without(
	const char *const *env, const char *const *set, struct arena *a);
/* The run's own input has come to its end, and the command waits for that: it runs elsewhere. */
void command_input_came(struct frame *f);
