#pragma once

#include "engine/executor.h"
#include "graph/node.h"

/*
 * Writes down what the commands of a run did, so that a run that was cut short can be resumed. The
 * engine asks it before a command starts and tells it when one has ended, before anything that
 * depends on that happens.
 */

/* How it ended. */
struct leaf_end {
	int code, signal;
	bool timed_out;
	struct str limit; /* the path of the node whose time limit ended it; empty: none did */
	bool cancelled;   /* ended by a cancel or kill: it counts as not run */
	/* It has ended, but what it printed could not be kept: it counts as not run. */
	bool unkept;
	bool lost; /* with the machine that ran it: `code` stands for an end that is not known */
	/* Of a record: it failed, and the run was asked to continue behind it all the same. */
	bool passed;
	bool in_doubt; /* it may have ended or not: nothing is written down */
	bool ok;
	uint64_t ms, out_bytes, err_bytes;
	/* Why it was not started, in whole lines: kept as its standard error, of which it has
	 * printed nothing. Empty: it was. */
	struct str why;
	const struct job_usage *usage; /* NULL: not known */
};

/* A recorded end, with what the command printed. */
struct leaf_recall {
	bool wants_err; /* set by the engine: standard error matters even when it ended well */
	struct leaf_end end;
	struct content *out;      /* a reference */
	struct buf err, err_tail; /* the beginning and the end of standard error */
	struct content *err_all;  /* all of it, where it is kept; a reference */
};

enum recalled {
	RECALL_NOTHING, /* it has not been executed */
	RECALL_DONE,
	RECALL_FAILED, /* it has, and what it printed cannot be read: it is not executed again */
};

struct recorder {
	const struct recorder_ops *ops;
};

struct recorder_ops {
	/* Whether the command has been executed before; then it is not executed again. `ret` NULL:
	 * what it printed does not matter. Why it failed is added to `issues`. */
	enum recalled (*recall)(struct recorder *r, const struct leaf_key *key,
		struct leaf_recall *ret, struct report *issues);
	/* What the command's start has to leave behind, and where its output goes. `last`: what it
	 * prints is what the run prints. -errno. */
	int (*begin)(
		struct recorder *r, const struct leaf_key *key, bool last, struct job_record *ret);
	/* `total` bytes of that output have come so far. */
	void (*printed)(struct recorder *r, struct job_record *record, enum job_stream stream,
		uint64_t total);
	/* `record` is what begin() filled. -errno. */
	int (*end)(struct recorder *r, const struct leaf_key *key, struct job_record *record,
		const struct leaf_end *end);
	/* A file that keeps the run's input while it comes: a descriptor, or -errno. */
	int (*keep_input)(struct recorder *r);
	/* All of it has come. */
	void (*input_complete)(struct recorder *r);
	/* The run has ended before that. `bytes` is what commands have taken; `enough`: they wanted
	 * no more. */
	void (*input_taken)(struct recorder *r, uint64_t bytes, bool enough);
	/* A loop without checkpoints starts: what is recorded below it counts only once it is
	 * closed. -errno. */
	int (*open)(struct recorder *r, struct str path);
	/* … and has ended. -errno. */
	int (*close)(struct recorder *r, struct str path);
};
