#pragma once

#include "data/needs.h"
#include "template/text.h"
#include "template/words.h"

/* The one execution language. Every format (templates, recipes, steps, launches) becomes a tree of
 * these nodes; the engine knows nothing else. A tree is immutable once it is read: what differs
 * between two executions is in the scope and in the engine's own records. */
enum node_kind {
	NODE_COMMAND,  /* one process: words, or later a shell's text */
	NODE_SEQUENCE, /* children one after the other, output to input */
	NODE_PARALLEL, /* children at once, outputs joined */
	NODE_EACH,     /* copies of one body: a count, or a list known only when the node starts */
	NODE_WHILE,    /* step recipes: body, condition, limit */
	NODE_CALL,     /* another graph with variables of its own: a step, or an import of steps */
	NODE_GATE,     /* step recipes: waits for a person's answer, durably */
	NODE_WAIT,     /* step recipes: a pause as a node of its own */
};

/* How far a failure reaches (docs/reference.md, "Failures"). The order is the rank. */
enum failure_scope { FAILURE_CONTINUE, FAILURE_BRANCH, FAILURE_ROOT };

/* A number that may be written as text with placeholders, known when the node starts. */
struct setting {
	const struct text *text; /* NULL: `value` is it */
	uint64_t value;
	const struct place *place;
};

/* How many copies a NODE_EACH makes. */
struct count {
	uint64_t number;  /* 0: the length of `array` */
	struct str array; /* name of a value */
	const struct place *place;
};

/* `quorum`: how many branches must succeed. */
enum quorum_kind { QUORUM_NONE, QUORUM_COUNT, QUORUM_PERCENT, QUORUM_ALL };

struct quorum {
	enum quorum_kind kind;
	uint64_t number; /* branches, or percent */
};

/* An entry of `env`. */
struct env_entry {
	struct str name;
	const struct text *text;
};

struct graph;
struct origin;
struct step_node;

struct command_word {
	const struct text *text;
	bool quoted; /* stays an argument when it comes out empty */
};

struct node {
	enum node_kind kind;
	const struct node *parent;   /* NULL at the root of a graph and of a recovery */
	const struct node *owner;    /* of the root of a recovery: the node it belongs to */
	const struct place *place;   /* where it stands in its source */
	const struct origin *origin; /* the recipe it was written in; NULL: a template */
	struct str import; /* the id of the recipe that this node stands for; empty: none */
	struct str label;  /* empty: none given */
	/* The label cut at its placeholders; NULL: it has none. */
	const struct part *label_parts;
	size_t label_part_count;

	const struct text *when; /* NULL: runs if `runs` is true */
	bool runs;
	struct setting delay_ms, timeout_ms, retry; /* retry: attempts, the first included */
	const struct node *recover;                 /* between attempts; NULL: none */
	enum failure_scope failure;
	bool failure_stated; /* the author wrote it */

	const struct presets *defaults; /* laid over inherited ones; NULL: none */
	const struct presets *args; /* shorthand defaults; replace inherited ones; NULL: inherit */

	const struct text *cwd; /* for what is below too; NULL: as above */
	const struct env_entry *env;
	size_t env_count;
	struct quorum quorum;      /* of what joins */
	const struct needs *needs; /* of it and what is below; NULL: as above */
	enum runs_on runs_on;

	/* NODE_COMMAND */
	bool tty;        /* it gets the terminal */
	struct str line; /* as the author wrote it */
	const struct command_word *words;
	size_t word_count;
	bool keep_empty; /* dialect 0.9: bare words that come out empty stay arguments */

	/* groups: NODE_SEQUENCE, NODE_PARALLEL; one child, the body, for NODE_EACH */
	const struct node *const *children;
	size_t child_count;
	bool wrapper; /* a sequence around one node that only adds flags: fails as its child does */
	bool each_parallel; /* NODE_EACH: copies at once, outputs joined */
	struct count count; /* NODE_EACH */

	/* NODE_CALL of a template: the step recipe that it imports; belongs to those who keep the
	 * graph */
	struct graph *call;

	const struct step_node *step; /* of a step recipe; NULL: of a template */
};

static inline bool node_is_group(const struct node *n)
{
	return n->kind == NODE_SEQUENCE || n->kind == NODE_PARALLEL || n->kind == NODE_EACH ||
	       n->kind == NODE_WHILE || n->kind == NODE_CALL;
}

/* Whether its one child stands for many, each with a path of its own. */
static inline bool node_repeats(const struct node *n)
{
	return n->kind == NODE_EACH || n->kind == NODE_WHILE;
}

/* The node with the flags that its author wrote: of copies, the one that is copied. */
static inline const struct node *node_body(const struct node *n)
{
	return n->kind == NODE_EACH && n->child_count ? n->children[0] : n;
}

/* Whether its children run at once. */
static inline bool node_joins(const struct node *n)
{
	return n->kind == NODE_PARALLEL || (n->kind == NODE_EACH && n->each_parallel);
}

/* "command", "sequence" …, as in events and documents. */
const char *node_kind_name(enum node_kind kind);
const char *failure_name(enum failure_scope scope);

/* The root's own path (base/node-path.h): ".", or "0" when it is a command. */
struct str node_root_path(const struct node *root);

/* A short text for a node: label, or command line as written, or what kind of group it is. */
struct str node_caption(const struct node *n);
