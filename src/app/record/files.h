#pragma once

#include "base/map.h"
#include "engine/recorder.h"
#include "graph/event.h"
#include "runs/dir/leaves.h"

struct launch;
struct run;

/* The open files of a run directory. Owns its descriptors until record_files_done(); `dir` is
 * borrowed. */
struct record_files {
	struct str dir;
	int dirfd, leaves;
	int events, errors;     /* -1: not opened yet */
	int story;              /* -1: no command has printed anything yet */
	struct buf story_text;  /* not yet written */
	int out;                /* the directory out/; -1: not made yet */
	struct buf events_text; /* not yet written */
	struct buf errors_text; /* of stderr.log, the same */
	uint64_t events_bytes;  /* in the file */
	struct arena arena;
	struct map partial; /* path → struct buf *: a line of standard error that has not ended */
	bool made;          /* stdout.log, and it is empty */
	bool last_open;     /* stdout.log is being written by the run's last command */
	bool last_ok;       /* … which has succeeded: it is complete */
	bool torn;          /* leaves.jsonl may end in the middle of a line */
	bool durable;
	bool resumes; /* what is there is of the time before, until record_files_put_away() */
	/* Made beforehand for progress.json, state.json and result.json; -1: not, or used. */
	int spares[3];
};

/* Opens what must be there before a command begins. `own`: the directory when it is new and open,
 * else -1. `resume`: appends to what is there; *seq is then the number of events so far. -errno. */
int record_files_open_first(
	struct record_files *f, struct str dir, int own, bool resume, bool durable, uint64_t *seq);
/* Makes what readers look for, so that they can follow it from the beginning: events.jsonl and the
 * logs. Without this each is made when it is first written. -errno. */
int record_files_open_rest(struct record_files *f);
/* Of a resume: the result of the time before gets another name, and stdout.log is a new file.
 * -errno: the result is where it was. */
int record_files_put_away(struct record_files *f);
/* Makes files for what is written at the end. */
void record_files_prepare(struct record_files *f);
void record_files_done(struct record_files *f);

/* A file for the run's input, which is stdin.part until all of it has come. -errno. */
int record_files_stdin(struct record_files *f);
void record_files_stdin_complete(struct record_files *f);
/* No more comes. What commands took of it is kept when it was enough for them, else nothing is: it
 * could not be given to them again. */
void record_files_stdin_taken(struct record_files *f, uint64_t bytes, bool enough);
int record_files_replace(struct record_files *f, const char *name, struct str text);
/* The same of progress.json, which only readers need. */
struct record_progress {
	const char *phase;
	uint64_t active, completed, failed, tolerated;
	const uint64_t *expected; /* NULL: not known */
};
int record_files_progress(struct record_files *f, const struct record_progress *p);
/* Adds a line to leaves.jsonl. */
int record_files_line(struct record_files *f, struct str line);
/* result.json on a disk that has no room for another file: progress.json becomes it, or in a run
 * that had none yet communication.json, whose room is there. -ENOSPC when the text is longer than
 * that. */
int record_files_last_word(struct record_files *f, struct str text);
int record_files_flush(struct record_files *f);
/* Whether the disk is full: what only readers need waits until it is not. */
bool record_files_full(int error);

/* The file for the output of a command (runs/dir/outputs.h). A descriptor, or -errno. */
int record_files_open(struct record_files *f, struct str path, uint64_t number, bool err);
/* The same for the command whose output is the run's: it is stdout.log under a second name. */
int record_files_open_last(struct record_files *f, struct str path, uint64_t number);
/* Why a command was not started, in the place of what it would have printed, and `line` into the
 * story. Returns how long it is; 0: it could not be written, and result.json alone says it. */
struct story_line;
uint64_t record_files_why(struct record_files *f, const struct story_line *line, struct str why);
/* The file of a worker that has the whole output of a command. */
struct record_file {
	int dirfd;
	const char *name;
	bool err;
	bool last; /* it is what the run prints */
};
/* Makes it the file for that output, unless that has been done before. A descriptor to read it, or
 * -errno; -EXDEV: it is on another file system. */
int record_files_accept(
	struct record_files *f, struct str path, uint64_t number, const struct record_file *file);
/* Adds the line of its end. When the run is durable both are on the disk then. */
int record_files_leaf(
	struct record_files *f, struct str path, uint64_t number, const struct leaf_end *end);
/* What a command printed then. What is gone was looked for before the run was continued: it is not
 * needed any more. False with an issue that names the file when it cannot be read. */
bool record_files_recall(struct record_files *f, struct str path, const struct leaf_record *was,
	struct leaf_recall *ret, struct report *r);

/* Lines of standard error, each with the name of its command before it. Only readers need them:
 * what cannot be written is written with the next ones, and past a limit left out. */
void record_files_stderr(struct record_files *f, const struct event *e);
void record_files_stderr_end(struct record_files *f, const struct event *e);
void record_files_stderr_flush(struct record_files *f);

/* stdout.log becomes what the run printed. */
int record_files_output(struct record_files *f, const struct launch *l, struct run *run);
