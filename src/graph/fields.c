#include "graph/fields.h"

#include "base/near.h"

static const char *const failure_words[] = { "continue", "branch", "root", NULL };
static const char *const runs_on_words[] = { "any", "local", NULL };
static const char *const mode_words[] = { "parallel", "sequence", NULL };

enum {
	NUMBER_OR_TEXT = FIELD_IS_NUMBER | FIELD_IS_STRING,
	TEMPLATE = FIELD_IS_STRING | FIELD_IS_ARRAY | FIELD_IS_OBJECT,
};

const struct field node_fields[FIELD_COUNT] = {
	[FIELD_LABEL] = {
		.name = "label",
		.types = FIELD_IS_STRING,
		.old_types = FIELD_IS_STRING,
		.wanted = "a string",
		.summary = "a name for people: in diagnostics, the live view and the headers of a join",
	},
	[FIELD_PARALLEL] = {
		.name = "parallel",
		.types = FIELD_IS_BOOL,
		.wanted = "true or false",
		.summary = "run the children at once and join their outputs in order",
	},
	[FIELD_WHEN] = {
		.name = "when",
		.types = FIELD_IS_BOOL | FIELD_IS_STRING,
		.wanted = "true, false, or a string such as \"flag\", \"!flag\" or \"{flag?yes:}\"",
		.summary = "skip the node when this is false: a flag's name, !name, or one placeholder",
	},
	[FIELD_ARGS] = {
		.name = "args",
		.types = FIELD_IS_ARRAY,
		.old_types = FIELD_IS_ARRAY,
		.wanted = "an array of declarations such as \"file:path\"",
		.summary = "declared arguments: name, name:type, name=default, name:type=default",
		.items = "string",
	},
	[FIELD_DEFAULTS] = {
		.name = "defaults",
		.types = FIELD_IS_OBJECT,
		.old_types = FIELD_IS_OBJECT,
		.wanted = "an object of names and values",
		.summary = "values for placeholders that the caller leaves out, for this node and below",
	},
	[FIELD_TIMEOUT] = {
		.name = "timeout",
		.types = NUMBER_OR_TEXT,
		.old_types = FIELD_IS_NUMBER,
		.wanted = "a number of milliseconds, or a string that gives one",
		.old_wanted = "a number of milliseconds",
		.summary = "milliseconds that each attempt may take; 0: as long as it likes",
	},
	[FIELD_DELAY] = {
		.name = "delay",
		.types = NUMBER_OR_TEXT,
		.old_types = FIELD_IS_NUMBER,
		.wanted = "a number of milliseconds, or a string that gives one",
		.old_wanted = "a number of milliseconds",
		.summary = "milliseconds to wait before the node starts",
	},
	[FIELD_OUTPUT] = {
		.name = "output",
		.types = FIELD_IS_STRING,
		.old_types = FIELD_IS_STRING,
		.wanted = "a string: \"stdout\", a value's name, or text with placeholders",
		.summary = "what the run answers with; only the outermost node's counts",
	},
	[FIELD_RETRY] = {
		.name = "retry",
		.types = NUMBER_OR_TEXT,
		.old_types = FIELD_IS_NUMBER,
		.wanted = "a whole number of attempts, or a string that gives one",
		.old_wanted = "a whole number of attempts",
		.summary = "attempts in all, the first included",
		.minimum = 1,
		.whole = true,
	},
	[FIELD_FAILURE] = {
		.name = "failure",
		.types = FIELD_IS_STRING,
		.wanted = "\"continue\", \"branch\" or \"root\"",
		.summary = "how far a failure reaches: nowhere, to the nearest join, or to the whole run",
		.words = failure_words,
	},
	[FIELD_RECOVER] = {
		.name = "recover",
		.types = TEMPLATE,
		.wanted = "a template: a string, an array or an object",
		.summary = "runs after a failed attempt when another one follows",
		.node = true,
	},
	[FIELD_REPEAT] = {
		.name = "repeat",
		.types = NUMBER_OR_TEXT,
		.old_types = FIELD_IS_NUMBER,
		.wanted = "a whole number, or \"{items.length}\"",
		.old_wanted = "a whole number",
		.summary = "make this many copies; {index}, {prev}, {next}, {repeat} tell them apart",
		.minimum = 1,
		.whole = true,
	},
	[FIELD_CWD] = {
		.name = "cwd",
		.types = FIELD_IS_STRING,
		.wanted = "a string: a directory",
		.summary = "the directory of its commands, from where the run is; of roux, not portable",
		.extension = true,
	},
	[FIELD_ENV] = {
		.name = "env",
		.types = FIELD_IS_OBJECT,
		.wanted = "an object of names and values",
		.summary = "variables for its commands; an inner one wins, the caller's over all; of roux, not portable",
		.items = "scalar",
		.extension = true,
	},
	[FIELD_QUORUM] = {
		.name = "quorum",
		.types = NUMBER_OR_TEXT,
		.wanted = "a number of branches, \"all\" or a share such as \"60%\"",
		.summary = "how many branches of a parallel node must succeed; of roux, not portable",
		.minimum = 1,
		.whole = true,
		.extension = true,
	},
	[FIELD_TTY] = {
		.name = "tty",
		.types = FIELD_IS_BOOL,
		.wanted = "true or false",
		.summary = "the command gets the terminal, alone; nothing is kept; of roux, not portable",
		.extension = true,
	},
	[FIELD_NEEDS] = {
		.name = "needs",
		.types = FIELD_IS_OBJECT,
		.wanted = "an object such as {\"cpus\": 8, \"mem\": \"16G\"}",
		.summary = "what its commands ask of the machine that runs them; not an order: what has to come first stands before it in an array; of roux, not portable",
		.extension = true,
	},
	[FIELD_RUNS_ON] = {
		.name = "runs_on",
		.types = FIELD_IS_STRING,
		.wanted = "\"local\" or \"any\"",
		.summary = "\"local\": here, also when the other commands run elsewhere; of roux, not portable",
		.words = runs_on_words,
		.extension = true,
	},
	[FIELD_TEMPLATE] = {
		.name = "template",
		.types = TEMPLATE,
		.old_types = TEMPLATE,
		.wanted = "a string, an array or an object",
		.summary = "what to run: one command line, or an array of templates",
		.items = "node",
		.node = true,
	},
	[FIELD_MODE] = {
		.name = "mode",
		.old_types = FIELD_IS_STRING,
		.wanted = "\"parallel\" or \"sequence\"",
		.words = mode_words,
		.instead = "write \"parallel\": true, or leave it out for a sequence",
	},
	[FIELD_CRITICAL] = {
		.name = "critical",
		.old_types = FIELD_IS_BOOL,
		.wanted = "true or false",
		.instead = "write \"failure\": \"root\" in place of \"critical\": true",
	},
	[FIELD_PIPE] = {
		.name = "pipe",
		.old_types = FIELD_IS_ARRAY,
		.wanted = "an array of templates",
		.instead = "write \"template\": […] in place of \"pipe\": […]",
	},
};

static unsigned types_in(const struct field *f, enum dialect d)
{
	return d == DIALECT_0_9 ? f->old_types : f->types;
}

enum field_id field_find(struct str name, enum dialect d)
{
	for (enum field_id id = 0; id < FIELD_COUNT; id++) {
		const struct field *f = &node_fields[id];

		/* A retired field is found in order to be refused. */
		if (str_eq(name, str_of(f->name)) && (types_in(f, d) || f->instead))
			return id;
	}
	return FIELD_COUNT;
}

bool field_accepts(const struct field *f, enum dialect d, const json_t *value)
{
	unsigned type = 0;

	switch (json_typeof(value)) {
	case JSON_OBJECT:
		type = FIELD_IS_OBJECT;
		break;
	case JSON_ARRAY:
		type = FIELD_IS_ARRAY;
		break;
	case JSON_STRING:
		type = FIELD_IS_STRING;
		break;
	case JSON_INTEGER:
	case JSON_REAL:
		type = FIELD_IS_NUMBER;
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		type = FIELD_IS_BOOL;
		break;
	case JSON_NULL:
		break;
	}
	return (types_in(f, d) & type) != 0;
}

struct str field_nearest(struct str name, enum dialect d)
{
	struct near near = near_to(name);

	for (enum field_id id = 0; id < FIELD_COUNT; id++)
		if (types_in(&node_fields[id], d))
			near_offer(&near, str_of(node_fields[id].name));
	return near_best(&near);
}

/* Words of make, just, Task, dagu, GitHub and others. */
static const struct {
	const char *word;
	enum field_id field;
	const char *instead;
} foreign[] = {
	{ "cmd", FIELD_TEMPLATE, "write `template`" },
	{ "command", FIELD_TEMPLATE, "write `template`" },
	{ "run", FIELD_TEMPLATE, "write `template`" },
	{ "script", FIELD_TEMPLATE, "write `template`" },
	{ "dir", FIELD_CWD, "write `cwd`" },
	{ "working_directory", FIELD_CWD, "write `cwd`" },
	{ "workdir", FIELD_CWD, "write `cwd`" },
	{ "environment", FIELD_ENV, "write `env`" },
	{ "if", FIELD_WHEN, "write `when`" },
	{ "deps", FIELD_COUNT, "what has to come first stands before it in an array" },
	{ "depends_on", FIELD_COUNT, "what has to come first stands before it in an array" },
	{ "ignore_error", FIELD_FAILURE, "write `failure`: \"continue\" is the default" },
	{ "retries", FIELD_RETRY, "write `retry`: attempts in all, the first included" },
};

const char *field_foreign(struct str name, enum field_id *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(foreign); i++) {
		if (!str_eq(name, str_of(foreign[i].word)))
			continue;
		*ret = foreign[i].field;
		return foreign[i].instead;
	}
	return NULL;
}

bool field_private(struct str name)
{
	return str_starts(name, S("x-")) || str_eq(name, S("//"));
}

bool field_means_template(struct str name, enum dialect d)
{
	enum field_id field = FIELD_COUNT;

	if (d == DIALECT_NOW)
		(void)field_foreign(name, &field);
	return !field_private(name) &&
	       (field == FIELD_TEMPLATE || str_eq(field_nearest(name, d), S("template")));
}
