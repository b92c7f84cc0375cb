#pragma once

#include "base/str.h"

/* The states that people see: of a run, and of one node of it. Each has a word, a sign and a colour
 * (render/picture and the style sheet of the dashboard have the colours under the same names), so
 * that no state is known by its colour alone. One table for every view: terminal, picture, report,
 * dashboard. */
enum shown_state {
	STATE_WAITING,
	STATE_RUNNING,
	STATE_DONE,
	STATE_PARTIAL,   /* of a run: it came to its end, with failures */
	STATE_TOLERATED, /* of a node: it failed, and its author asked to continue */
	STATE_FAILED,
	STATE_SKIPPED,
	STATE_RETRYING,
	STATE_PAUSED,
	STATE_DENIED,
	STATE_CANCELLED,
	STATE_KILLED,
	STATE_TIMEOUT,
	STATE_EXITED,    /* the supervisor vanished */
	STATE_UNREACHED, /* the run ended before its turn came */
	SHOWN_STATES,
};

/* "running", also its name in documents and style sheets; its sign, UTF-8. */
const char *shown_state_word(enum shown_state s);
const char *shown_state_sign(enum shown_state s);
/* Of the status of a run, "starting" included; one that is not known is STATE_EXITED. */
enum shown_state shown_state_of(struct str status);
/* False: it is not the name of one. */
bool shown_state_read(struct str word, enum shown_state *ret);
/* Whether it stands for something that went wrong. */
bool shown_state_bad(enum shown_state s);
/* From 0, what has gone well, to what deserves attention first; no two have the same. */
unsigned shown_state_rank(enum shown_state s);
enum shown_state shown_state_ranked(unsigned rank);
