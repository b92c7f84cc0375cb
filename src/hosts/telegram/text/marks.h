#pragma once

#include "base/arena.h"

/*
 * Comments that an agent writes into its answer for the bridge:
 *
 *   <!-- telegram_button: Label -->                          the label is the prompt
 *   <!-- telegram_button label=Go prompt="Start the job" -->
 *   <!-- telegram_button label="Why"                         what follows the first line
 *   Explain the cause.                                       is the prompt
 *   -->
 *   <!-- telegram_voice: text -->  <!-- telegram_voice lang=de rate=+10% text="…" -->  or with a
 * body
 *
 * Only those that begin in the first column of a line outside of code count; they and all other
 * comments at such a place are taken out of the text. An incomplete one makes nothing and is taken
 * out, too.
 */
struct mark_button {
	struct str label, prompt;
};

struct mark_voice {
	struct str text, lang, rate; /* empty: not given */
};

/* Everything is borrowed from the Markdown or in the arena. */
struct marks {
	struct str text;             /* the Markdown without them */
	struct mark_button *buttons; /* one a row */
	size_t button_count;
	struct mark_voice *voices;
	size_t voice_count;
	struct str lang, rate; /* the first that was given, with a text or without */
	bool unclosed;         /* a comment has no end: what it is for the caller to tell */
};

/* For the final text. An unclosed comment for the bridge hides what follows; any other stays
 * literal, so that nothing is lost. Without a comment the text is the Markdown as it was; with one,
 * runs of blank lines are shortened to one and those at the ends are dropped, outside of code. */
void marks_read(struct arena *a, struct str markdown, struct marks *ret);

/* For a text that is still growing: every comment is hidden, one that has no end yet and the
 * beginnings of one (`<`, `<!`, `<!-`) included. Borrowed or in the arena. */
struct str marks_hide(struct arena *a, struct str markdown);
