#pragma once

#include "app/record/files.h"
#include "app/record/mailbox.h"
#include "app/record/record.h"
#include "loop/loop.h"
#include "runs/dir/lines.h"
#include "runs/mail/command-done.h"

/* The inside of a record, for record.c and record-end.c. */

struct record {
	struct recorder recorder;
	struct launch *launch;
	struct loop *loop;
	struct run *run; /* once it is known */
	struct leaves *before;
	struct record_files files;
	struct list leaves; /* those that run */
	uint64_t seq;
	/* progress.json */
	uint64_t active, completed, expected;
	bool expects;      /* `expected` is known */
	uint64_t recorded; /* ends before it was resumed, when not all of them could be recalled */
	struct timer progress;
	struct timer again;      /* the disk was full: what waits is written when there is room */
	struct buf outbox_lines; /* that wait so, each with its end */
	struct deferred flush;
	const char *handled; /* the event by which the end was asked for */
	struct mailbox *mailbox;
	struct line_log outbox;
	struct command_done_frame ends; /* of what the coordinator hears */
	json_t *artifacts;              /* as these show them; NULL: none */
	const struct steps_run *steps;  /* of a step recipe */
	struct mask *mask;              /* borrowed; NULL: there are no secrets */
	bool checkpoints;               /* state.json is there */
	bool settled;                   /* what readers look for is there */
	/* The command whose end is being told: */
	struct buf command;
	bool cancelled; /* what has ended last counts as not run */
	/* The last line of the story, as long as it is not written: */
	const struct leaf_note *said;
	enum job_stream said_stream;
	size_t said_at;
	bool said_again; /* it was not the first of its command */
	bool broken;     /* something could not be written: the run has been told and ends */
	int lost;        /* its output could not be: -errno */
};

/* progress.json, and state.json of a step recipe. -errno. */
int record_write_progress(struct record *rec, const char *phase);
/* The messages that wait. -errno. */
int record_flush_outbox(struct record *rec);
