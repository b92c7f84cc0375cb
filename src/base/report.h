#pragma once

#include "base/action.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/vec.h"

/* A text that a user wrote: its name as the user would type it, and its bytes. */
struct source {
	struct str name, text;
};

/* A place in it, in bytes. A zeroed `where` is a mistake that stands in no text. */
struct where {
	const struct source *source;
	size_t offset, length;
};

enum issue_kind {
	ISSUE_WARNING,
	ISSUE_INVALID, /* the author's or the user's mistake */
	ISSUE_SYSTEM,  /* the machine's: no space, no permission */
	ISSUE_REFUSED, /* the state of a run forbids what was asked for */
	ISSUE_NOTE,    /* nothing is wrong: something to know */
};

/* A next step, as data: the host words it (report_word()). */
struct issue_action {
	enum action what;
	struct str about;
};

enum { ISSUE_ACTIONS = 3 };

/* One finding. Everything in it belongs to the report, so the source may be gone. */
struct issue {
	enum issue_kind kind;
	struct str file;       /* empty: in no text */
	size_t line, column;   /* from 1, columns in characters */
	size_t offset;         /* for ordering */
	struct str message;    /* one clause, lower case */
	struct str hint;       /* what to do; may be empty */
	struct str excerpt;    /* the line, or a window of a long one, fit for a terminal */
	size_t mark, mark_len; /* what to underline, in bytes of the excerpt */
	struct str field;      /* the value that was given, or lacks, by its name; or empty */
	bool slip;             /* see report_slip() */
	bool no_room;          /* a disk or a quota is full: to delete something may help */
	bool held;             /* another process has it locked: later it may work */
	struct issue_action actions[ISSUE_ACTIONS]; /* unused ones are ACTION_NONE */
	/* Of a refusal: */
	const char *reason; /* a few words that do not change between versions */
	struct str run;     /* the run that it is about; empty: none */
};

/* Warnings and notes are not. */
static inline bool issue_is_error(const struct issue *i)
{
	return i->kind != ISSUE_WARNING && i->kind != ISSUE_NOTE;
}

/* A list of findings, so that a file's mistakes are all told in one go. */
struct report {
	struct arena arena;
	VEC(struct issue) issues;
	size_t errors, warnings, notes; /* all of them, also those past REPORT_MAX */
};

enum { REPORT_MAX = 200 };

/* The report is full; callers stop looking. */
static inline bool report_full(const struct report *r)
{
	return r->issues.len >= REPORT_MAX;
}

/* It keeps no more errors. */
static inline bool report_full_of_errors(const struct report *r)
{
	return r->errors >= REPORT_MAX;
}

#define REPORT_INIT ((struct report){ 0 })
#define AUTO_REPORT __attribute__((cleanup(report_done))) struct report

void report_done(struct report *r);
void report_reset(struct report *r);

/* Each adds an issue and returns false, so that a failing function can end with it. */
COLD bool report_error(struct report *r, struct where w, const char *fmt, ...) PRINTF(3, 4);
COLD bool report_system(struct report *r, struct where w, const char *fmt, ...) PRINTF(3, 4);
/* The request is right, but the state of `run` (may be empty) forbids it. `reason` is static. */
COLD bool report_refuse(struct report *r, struct str run, const char *reason, const char *fmt, ...)
	PRINTF(4, 5);
/* Warnings and notes stop nothing: they return true. */
COLD bool report_warning(struct report *r, struct where w, const char *fmt, ...) PRINTF(3, 4);
COLD bool report_note(struct report *r, struct where w, const char *fmt, ...) PRINTF(3, 4);
/* What to do about the issue added last. Returns false. */
COLD bool report_hint(struct report *r, const char *fmt, ...) PRINTF(2, 3);
/* Which value the issue added last is about, so that a form can mark it. Returns false. */
COLD bool report_field(struct report *r, struct str name);
/* What could be done about the issue added last, as data. Up to ISSUE_ACTIONS. Returns false. */
COLD bool report_action(struct report *r, enum action what, struct str about);
/* The issue added last gets the hint and the actions of another. Returns false. */
COLD bool report_advise(struct report *r, const struct issue *i);
/* The warning added last is about something that its author hardly meant: it is reported whenever
 * the text is used, not only when warnings are asked for. */
COLD void report_slip(struct report *r);
/* Adds a remark to the hints of all issues from number `from` on that have no such remark yet, and
 * what could be done about them; ACTION_NONE: nothing. */
COLD void report_remark(struct report *r, size_t from, const char *remark, enum action what);
/* A system call's errno as an issue: "MESSAGE: No such file or directory". */
COLD bool report_errno(struct report *r, int err, const char *fmt, ...) PRINTF(3, 4);
/* The same of a file of ours, which the user has not named: a fault of the machine, whatever it is.
 */
COLD bool report_fault(struct report *r, int err, const char *fmt, ...) PRINTF(3, 4);

/* The issue added last is that there is no room, when report_errno() was not told so. */
COLD void report_no_room(struct report *r);
/* The issue added last is that another process has something locked. */
COLD void report_held(struct report *r);

/* As much of a text as a message should quote, with … where it was cut. Lives with the report. */
COLD struct str report_quote(struct report *r, struct str text);

/* Moves all issues of `from` behind those of `to`. */
void report_move(struct report *to, struct report *from);

/* By file and position; issues without a place come first. Equal ones are told once. */
void report_sort(struct report *r);
/* FILE:LINE:COLUMN: error: MESSAGE, the line with the place underlined, the hint. For a terminal:
 * control characters are shown as U+FFFD. */
void issue_text(const struct issue *i, struct buf *b);
/* All issues of `kinds` (a mask of 1 << kind, or as below), one after the other. */
void report_text(const struct report *r, unsigned kinds, struct buf *b);
bool report_has_system(const struct report *r);
/* Whether an issue with this message is there already, wherever it was found. */
bool report_says(const struct report *r, struct str message);
/* Whether there are errors and each is that there is no room. */
bool report_lacks_room(const struct report *r);
/* Whether an issue, of any kind, is that another process has something locked. */
bool report_is_held(const struct report *r);
/* The refusal among the issues; NULL: there is none, or the machine failed as well. */
const struct issue *report_refusal(const struct report *r);

/* The words of a host for each action; %s stands for what it is about. An action without words is
 * one that the host cannot do: it is left out. */
typedef const char *action_words[ACTION_COUNT];
/* Adds ISSUE_ACTIONS actions to a hint, which may be empty. */
void actions_word(struct buf *hint, const struct issue_action *actions, const action_words words);
/* Turns the actions of all issues into hints, in the words of one host. */
void report_word(struct report *r, const action_words words);

enum {
	REPORT_ALL = ~0,
	REPORT_ERRORS = 1 << ISSUE_INVALID | 1 << ISSUE_SYSTEM | 1 << ISSUE_REFUSED,
	REPORT_SLIPS = 1 << 8, /* also warnings that are slips */
};
