#pragma once

#include "data/json.h"

/* A command has ended: what the supervisor says of it in the outbox. */
struct command_done {
	struct str path, label;
	struct str command; /* display form, without secrets */
	unsigned attempt;
	int code;
	bool killed;   /* by its time limit; what a cancel or kill ended says nothing */
	size_t others; /* leaves still running */
	uint64_t ms;
	const json_t *artifacts; /* name → path; NULL or empty: none declared */
};

/* What is the same in every line of a run, so made once. */
struct command_done_frame {
	struct buf head;  /* as far as its summary */
	struct buf files; /* where the files of the run are, as JSON */
};

void command_done_frame(struct command_done_frame *f, struct str run, struct str dir);
void command_done_frame_done(struct command_done_frame *f);

/* Its line, with delivery and level by policy. Made by hand: there is one for each command. */
void command_done_line(
	struct buf *b, const struct command_done_frame *frame, const struct command_done *d);
