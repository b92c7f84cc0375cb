#pragma once

#include "base/buf.h"
#include "graph/gate.h"
#include "graph/node.h"

/*
 * What the nodes of a step recipe have beyond those of a template. Steps hand nothing on through
 * standard input: they read and set variables (scope_vars()). steps/compile fills
 * these; the engine knows what they mean, and leaves to a few operations what only the dialect
 * knows.
 */

struct plan;
struct step_host;
struct step_ops;

/* What becomes of the run when the step has failed. */
enum step_failure { STEP_FAILURE_FAIL, STEP_FAILURE_CONTINUE, STEP_FAILURE_SKIP_REMAINING };

/* A variable that a loop sets after every round: a text, or a value taken as it is. */
struct step_update {
	struct str name;
	const struct text *text; /* NULL: `value` */
	json_t *value;
};

/* The pause before try k+1: initial · 2^(k-1) or always the same, at most `max`. */
struct node_pause {
	uint64_t ms, max_ms;
	bool doubles;
};

/* Loops: NODE_EACH with a list, NODE_WHILE. */
struct node_loop {
	const struct text *list;
	struct str as, collect;
	int64_t width; /* of a parallel one; -1: as wide as the host says */
	uint64_t max_rounds, delay_ms;
	uint64_t usual_rounds; /* `max_rounds` when the author gives none */
	bool checkpoints;      /* may be taken up in the middle */
	const struct text *condition, *break_when;
	const struct step_update *updates;
	size_t update_count;
};

/* NODE_GATE, and the stage that it ends. */
struct node_gate {
	const struct text *prompt;
	uint64_t timeout_ms;
	bool approves; /* when the time has run out */
};

/* What a gate has heard. The buffers are the caller's, empty at first. */
struct gate_heard {
	struct buf message;
	uint64_t since_ms;      /* when it was first asked for */
	bool untold;            /* no event tells of the answer yet; it was given: */
	struct buf who, digest; /* empty: it is not known */
};

/* A sequence that is a stage. */
struct node_stage {
	struct str name;
	const json_t *value; /* the variable `stage` */
};

/* What is not of the step's kind holds zeros. */
struct step_node {
	const struct step_ops *ops;
	const void *data; /* for the operations: the step as written */
	struct str id;
	const json_t *metadata; /* the variable `step` while it runs; NULL: it stays as it is */
	bool listed;            /* one of the recipe's own steps: in the lists of the result */
	enum step_failure on_error;
	/* Its results: names of variables; empty: none. */
	struct str output, output_stderr, output_exit_code;
	bool stream; /* what it prints is shown as it comes */
	bool agent;  /* starting it counts against the limits for agents */
	struct str agent_name;
	uint64_t usual_timeout_ms; /* the limit of a step whose author gives none; 0: none */
	bool keeps_output;         /* its output is needed when it has ended */
	uint64_t max_output;       /* bytes kept of each stream */
	struct node_pause pause;
	struct node_loop loop;
	uint64_t wait_ms; /* NODE_WAIT */
	struct node_gate gate;
	struct node_stage stage;
};

/* A command of a step, made when it starts. In the arena. */
struct step_command {
	const char *const *argv;
	size_t argc;
	const char *const *env; /* NULL-terminated; may be NULL */
	const char *cwd;        /* NULL: the run's */
	struct buf in;          /* its standard input */
	struct buf shown;       /* its own environment for the log: an object of JSON, or empty */
	struct buf remove;      /* files to delete when it has ended, each with a NUL behind it */
	struct buf why;         /* STEP_CANNOT: one sentence */
	int code;               /* STEP_CANNOT: its exit code */
};

enum step_made {
	STEP_MADE,
	STEP_CANNOT,  /* the step fails before it starts: no such directory, no such agent */
	STEP_MISTAKE, /* the author's: the run fails, with an issue added */
	STEP_FAULT,   /* the machine's: the run fails, with an issue added; the step has not */
};

/* A recipe that runs inside another one, the first one included. */
struct step_call {
	const struct step_call *up;
	struct graph *graph;
	json_t *vars;   /* its variables */
	json_t *passed; /* the names that it was given: left out of what it gives back */
	struct str dir; /* of its file: where its own sub-recipes are looked for */
	unsigned depth; /* the first one: 1 */
	uint64_t max_depth, max_agents;
	struct plan *plan; /* of a template recipe, which has no variables; NULL: of steps */
};

/* What the engine asks of the host of a step recipe. Every call may be NULL. */
struct step_host {
	void *data;
	unsigned max_parallel;
	bool max_parallel_given;   /* the user has said it */
	bool stream;               /* every step as if it said so */
	const char *project;       /* the run's working directory */
	const json_t *env;         /* [NAME=VALUE] that commands get beside ours; NULL: none */
	const json_t *collections; /* name → directory of recipes; NULL: none */
	/* The text of a recipe file, as it was when the run first called it. False with an issue.
	 */
	bool (*load)(void *data, struct str path, struct buf *text, struct report *r);
	/* It is a recipe, and is being called: it stays as it is. False with an issue. */
	bool (*keep)(void *data, struct str path, struct str text, struct report *r);
	/* The file of a recipe that a step calls by its name. False with an issue. */
	bool (*find)(void *data, struct str name, struct buf *path, struct report *r);
	/* A template recipe with the values that it is given, as it was when the run first called
	 * it: the caller's reference. NULL with issues: it has mistakes, or a value is missing. */
	struct plan *(*open)(void *data, struct str path, const json_t *values, struct report *r);
	/* Whether the variable is a secret. */
	bool (*secret)(void *data, struct str name);
	/* Whether a secret stands in the text. NULL: nothing is secret. */
	bool (*has_secret)(void *data, struct str text);
	/* A variable has got a value; `hide`: the recipe that has it says that it is a secret. */
	void (*set)(void *data, struct str name, const json_t *value, bool hide);
	/* The command of an agent step. */
	enum step_made (*agent)(void *data, const struct node *n, const struct scope *s,
		const struct step_call *call, struct step_command *ret, struct arena *a,
		struct report *r);
	/* The answer at a gate; `name` is how people call it. Asks for one when it is new.
	 * GATE_FAILED: it cannot be asked for, with an issue added. */
	enum gate_answer (*gate)(void *data, struct str path, struct str name, struct str prompt,
		uint64_t timeout_ms, bool approves, struct gate_heard *ret, struct report *r);
};

struct step_ops {
	enum step_made (*make)(const struct node *n, const struct scope *s,
		const struct step_call *call, const struct step_host *host,
		struct step_command *ret, struct arena *a, struct report *r);
	/* The value of what a command printed. NULL with an issue added: it is not what was asked
	 * for, and the step has failed. */
	json_t *(*result)(const struct node *n, struct str printed, const struct step_host *host,
		struct report *r);
	/* The same as text, where that is tolerated. NULL: nothing was said. */
	json_t *(*said)(const struct node *n, struct str printed);
	/* The list of a loop: a new reference. */
	json_t *(*list)(const struct node *n, const struct scope *s, struct report *r);
	/* Whether an expression is true; *mistake: it is not an expression. */
	bool (*decide)(const struct text *t, const struct scope *s, bool *ret, bool *mistake,
		struct report *r);
	/* Opens the recipe of a NODE_CALL. STEP_CANNOT: the step fails, with an issue added.
	 * STEP_FAULT: an issue is the machine's. */
	enum step_made (*call)(const struct node *n, const struct scope *s,
		const struct step_call *up, const struct step_host *host, struct step_call *ret,
		struct report *r);
	/* Begins the recipe that a node of a template imports. `up`: the call that the template is
	 * in, of depth 0 when there is none. False with issues. */
	bool (*import)(const struct node *n, const struct scope *s, const struct step_call *up,
		const struct step_host *host, json_t *session, struct step_call *ret,
		struct report *r);
	/* What a called recipe gives back: a new reference. */
	json_t *(*returned)(const struct step_call *call);
	/* A value as text. */
	void (*text)(struct buf *b, const json_t *value);
};

/* The pause before the next try after `attempt` of them. */
static inline uint64_t step_pause(const struct step_node *s, uint64_t attempt)
{
	uint64_t ms = s->pause.ms;

	for (uint64_t k = 1; s->pause.doubles && k < attempt && ms < s->pause.max_ms; k++)
		ms *= 2;
	return MIN(ms, s->pause.max_ms);
}

/* The first recipe's: what it starts with. */
struct step_graph {
	const struct step_ops *ops;
	json_t *context;    /* defaults of variables; owned */
	json_t *metadata;   /* the variable `recipe`; owned */
	const json_t *body; /* its steps or stages as written; of the recipe */
	struct str path, dir;
	const struct str *required; /* what a caller has to give; of the recipe */
	size_t required_count;
	bool calls; /* a step calls another recipe */
	uint64_t max_depth, max_agents;
	/* Pacing of agents. */
	uint64_t max_concurrent, min_delay_ms;
	bool backoff;
	uint64_t backoff_initial_ms, backoff_max_ms, backoff_reset;
	double backoff_factor;
};
