#pragma once

#include "base/arena.h"

/* Commands that a person sends: `/name@bot arguments`. */

enum chat_action {
	CHAT_NONE, /* not a command of ours: a prompt template, a section or an ordinary prompt */
	CHAT_STOP,
	CHAT_ABORT,
	CHAT_NEXT,
	CHAT_CONTINUE,
	CHAT_STATUS,
	CHAT_QUEUE,
	CHAT_COMPACT,
	CHAT_MODEL,
	CHAT_THINKING,
	CHAT_SETTINGS,
	CHAT_HELP, /* /help and /start */
	CHAT_RUN,
	CHAT_RUNS,
};

/* One reserved name. Prompt templates and sections cannot have it. */
struct chat_command_info {
	const char *name;
	enum chat_action action;
	const char *code; /* of the action, as in the conformance cases */
	bool ours;        /* not of the seed: /run and /runs */
};

/* All of them; the seed's come first. */
extern const struct chat_command_info chat_commands[];
extern const size_t chat_command_count;
/* Those that are registered at Telegram, in the order in which a person sees them. */
extern const char *const chat_command_menu[];
extern const size_t chat_command_menu_count;

const struct chat_command_info *chat_command_find(struct str name);

struct chat_command {
	enum chat_action action;
	struct str name; /* lower case, without the slash and the bot's name */
	struct str args; /* words joined by single spaces */
	struct str rest; /* what follows the name as it was written, trimmed: line ends are kept */
};

/* False when the text is not a command. Texts are in the arena, `rest` is borrowed. */
bool chat_command_parse(struct arena *a, struct str text, struct chat_command *ret);

/* -- what a command does -------------------------------------------------------------------------
 */

struct chat_state {
	bool running; /* a turn of this bridge, one at a gate included */
	bool foreign; /* the agent does other work, or a turn is about to start */
	bool compacting;
	size_t queued;
};

/* In the order in which the caller does them. */
enum chat_step {
	CHAT_STEP_CLEAR,    /* drop the whole queue */
	CHAT_STEP_HOLD,     /* keep waiting turns for folding: nothing is dispatched by itself */
	CHAT_STEP_RELEASE,  /* forget that */
	CHAT_STEP_ABORT,    /* cancel the running turn */
	CHAT_STEP_DISPATCH, /* start the next turn */
	CHAT_STEP_CONTINUE, /* the prompt `continue`, before every promoted one */
	CHAT_STEP_COMPACT,
};

/* What the chat is shown; the words are the host's. */
enum chat_reply {
	CHAT_SAYS_NOTHING,
	CHAT_SAYS_NO_TURN, /* with the number of turns dropped */
	CHAT_SAYS_ABORTED, /* the same */
	CHAT_SAYS_QUEUE_EMPTY,
	CHAT_SAYS_DISPATCHING,
	CHAT_SAYS_ABORTED_DISPATCHING,
	CHAT_SAYS_BUSY,
	CHAT_SAYS_CANNOT_COMPACT,
	CHAT_SAYS_COMPACTING,
	CHAT_SAYS_CONTINUING,
};

struct chat_plan {
	enum chat_step steps[4];
	size_t count;
	enum chat_reply reply; /* after the steps */
	size_t cleared;
};

/* Of /stop, /abort, /next, /continue and /compact; an empty plan for the commands that open a menu
 * or a run. */
struct chat_plan chat_command_plan(enum chat_action action, const struct chat_state *state);

/* "aborted", "queue_empty", …; "" for CHAT_SAYS_NOTHING. */
const char *chat_reply_code(enum chat_reply reply);
