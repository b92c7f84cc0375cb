#pragma once

#include "data/json.h"

/* A command has ended: what the supervisor says of it in the outbox. */
struct command_done {
	struct str run, path, label;
	struct str files;   /* what command_done_files() has made */
	struct str command; /* display form, without secrets */
	unsigned attempt;
	int code;
	bool killed;   /* by its time limit; what a cancel or kill ended says nothing */
	size_t others; /* leaves still running */
	uint64_t ms;
	const json_t *artifacts; /* name → path; NULL or empty: none declared */
};

/* Where the files of a run are, as JSON: the same in every line of a run, so made once. */
void command_done_files(struct buf *b, struct str dir);

/* Its line, with delivery and level by policy. Made by hand: there is one for each command. */
void command_done_line(struct buf *b, const struct command_done *d);
