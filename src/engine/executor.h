#pragma once

#include "base/report.h"
#include "engine/capture.h"
#include "engine/feed.h"

/*
 * An executor starts commands and tells when they printed and ended. There is one, local processes;
 * others can stand behind the same few calls, so nothing above may assume a pid.
 */
struct executor;
struct job;

enum job_stream { JOB_STDOUT, JOB_STDERR };

/* How a recorded command is written down. */
struct job_record {
	/* One line, written to `fd` the moment before the command begins, by whoever starts it:
	 * `before`, what names the process as members of a JSON object, `after`. -1: none. */
	int fd;
	struct str before, after;
	/* Opens the named file for an output when its first byte comes. -errno. */
	int (*open)(void *data, enum job_stream stream);
	void *data;
	bool failed; /* the line could not be written, so nothing was started */
};

/* What a command used. */
struct job_usage {
	uint64_t user_us, system_us, memory_kib;
};

/* A command to start. Borrowed during the call, what `record` points at until the end. */
struct job_spec {
	const char *const *argv;
	size_t argc;
	struct content *in;     /* its standard input, or … */
	struct live *live;      /* … while it is still coming; or … */
	int in_fd;              /* … handed over as it is; -1: none */
	const char *const *env; /* NAME=VALUE, added or replacing; NULL-terminated; may be NULL */
	const char *cwd;        /* NULL: the run's */
	struct job_record *record; /* NULL: it is not */
	bool terminal;       /* it gets our three streams and our process group; nothing is kept */
	uint64_t max_output; /* bytes kept of each output; 0: all, and of errors the two ends */
};

/* One command under way. The owner embeds or points at it and sets the two calls, which come from
 * the loop. After `ended` the members below tell how it went, until job_free(). */
struct job_owner {
	void (*output)(struct job_owner *o, enum job_stream stream, struct str data);
	void (*ended)(struct job_owner *o);
};

struct job {
	struct executor *executor;
	struct job_owner *owner;
	const struct job_record *record;
	int code, signal;
	bool held;      /* something it left running kept a pipe open and was not waited for */
	int keep_error; /* errno: its output could not be kept */
	struct job_usage usage;
	struct capture out; /* CAPTURE_ALL */
	struct capture err; /* CAPTURE_ENDS */
};

struct executor_ops {
	/* NULL with *error = errno when it cannot be started. */
	struct job *(*start)(struct executor *e, const struct job_spec *spec,
		struct job_owner *owner, int *error);
	/* Ends the whole tree: asks, waits for the grace time, then kills. `ended` comes later. */
	void (*stop)(struct job *j);
	/* Ends it at once. */
	void (*kill)(struct job *j);
	void (*free)(struct job *j);
	/* Everything is to end: asks also whatever ended commands have left behind. */
	void (*stop_all)(struct executor *e);
	/* Ends what is left of that and calls back when nothing is. After stop_all() the grace time
	 * has begun there. */
	void (*sweep)(struct executor *e, bool at_once, void (*done)(void *data), void *data);
	void (*set_grace)(struct executor *e, uint64_t grace_ms);
	/* Holds all commands that run, or lets them go on. */
	void (*pause)(struct executor *e, bool on);
	void (*close)(struct executor *e);
};

struct executor {
	const struct executor_ops *ops;
};
