#pragma once

#include "cmdline/command.h"

/* A small command table with one of everything, for the tests of this folder. */

enum mode { MODE_AUTO, MODE_TREE, MODE_PLAIN, MODE_NONE };
static const char *const modes[] = { "auto", "tree", "plain", "none", NULL };

struct common_opts {
	bool json;
	const char *directory;
};

struct run_opts {
	bool detach, quiet;
	unsigned jobs;
	uint64_t grace_ms;
	const char *name, *values;
	enum mode progress;
	struct opt_list env;
	struct common_opts common;
};

struct list_opts {
	struct common_opts common;
	bool all;
};

static const struct opt common_opts[] = {
	OPT_FLAG(0, "json", struct common_opts, json, "answer with one JSON document"),
	OPT_TEXT('C', NULL, "DIR", struct common_opts, directory, "change to DIR first"),
};

static const struct opt run_opts[] = {
	OPT_FLAG('d', "detach", struct run_opts, detach, "return at once with the run's id"),
	OPT_FLAG('q', "quiet", struct run_opts, quiet, "show no [progress]: not *even* a_word_"),
	OPT_NUMBER(
		'j', "jobs", "N", struct run_opts, jobs, 0, 100000, "run at most N leaves at once"),
	OPT_NUMBER(0, "grace", "MS", struct run_opts, grace_ms, 1, UINT64_MAX,
		"milliseconds between TERM and KILL, which is time enough for a command to write "
		"down what it has and end of its own will"),
	OPT_TEXT(0, "as", "ID", struct run_opts, name, "name the run"),
	OPT_TEXT(0, "values", "FILE", struct run_opts, values, "read values from FILE"),
	OPT_CHOICE('p', "progress", modes, struct run_opts, progress, "how progress is shown"),
	OPT_LIST('e', "env", "NAME=VALUE", struct run_opts, env, "add to the environment"),
};

static const struct opt list_opts[] = {
	OPT_FLAG('a', "all", struct list_opts, all, "also those that are disabled"),
};

static const struct opt_set run_sets[] = {
	OPT_SET(NULL, run_opts),
	OPT_SET_IN("Common options", common_opts, struct run_opts, common),
};

static const struct opt_set list_sets[] = {
	OPT_SET(NULL, list_opts),
	OPT_SET_IN("Common options", common_opts, struct list_opts, common),
};

static const struct command_example run_examples[] = {
	{ "roux run review scope=src", "run the recipe 'review' on src" },
	{ "roux run -d nightly", NULL },
};

static const struct run_opts run_defaults = { .jobs = 64 };

static const struct command cmd_run = {
	.name = "run",
	.heading = "Running",
	.operands = "RECIPE|TEMPLATE [name=value]...",
	.summary = "run it and record the run",
	.details = "The run is recorded in the ledger, so that it can be looked at, cancelled and\n"
		   "resumed later.\n\n"
		   "  name=value    a text\n"
		   "  name:=JSON    any value\n\n"
		   "- is standard input.",
	.examples = run_examples,
	.example_count = ARRAY_SIZE(run_examples),
	.sets = run_sets,
	.set_count = ARRAY_SIZE(run_sets),
	.options_size = sizeof(struct run_opts),
	.defaults = &run_defaults,
	.min_operands = 1,
	.max_operands = OPERANDS_ANY,
	.complete = COMPLETE_RECIPE,
};

static const struct command cmd_exec = {
	.name = "exec",
	.operands = "TEMPLATE [name=value]...",
	.summary = "run one command template and keep no record of it",
	.min_operands = 1,
	.max_operands = OPERANDS_ANY,
	.complete = COMPLETE_TEMPLATE,
};

static const struct command cmd_check = {
	.name = "check",
	.operands = "[PATH]...",
	.summary = "validate",
	.max_operands = OPERANDS_ANY,
	.complete = COMPLETE_FILE,
};

static const struct command cmd_list = {
	.name = "list",
	.heading = "Looking",
	.summary = "show the recipes",
	.sets = list_sets,
	.set_count = ARRAY_SIZE(list_sets),
	.options_size = sizeof(struct list_opts),
};

static const struct command cmd_status = {
	.name = "status",
	.operands = "RUN",
	.summary = "how a run is doing",
	.min_operands = 1,
	.max_operands = 1,
	.complete = COMPLETE_RUN,
};

static const struct command cmd_message = {
	.name = "message",
	.operands = "RUN TYPE [BODY]",
	.summary = "write to a run",
	.min_operands = 2,
	.max_operands = 3,
	.complete = COMPLETE_RUN,
};

static const struct command cmd_completion = {
	.name = "completion",
	.heading = "Help",
	.operands = "bash|zsh|fish",
	.summary = "print a completion script",
	.min_operands = 1,
	.max_operands = 1,
	.complete = COMPLETE_WORDS,
};

static const struct command cmd_help = {
	.name = "help",
	.operands = "[COMMAND]",
	.summary = "explain a command",
	.max_operands = 1,
	.complete = COMPLETE_COMMAND,
};

static const struct command cmd_debug = {
	.name = "debug",
	.summary = "for tests",
	.hidden = true,
};

static const struct command *const commands[] = {
	&cmd_run,
	&cmd_exec,
	&cmd_check,
	&cmd_list,
	&cmd_status,
	&cmd_message,
	&cmd_completion,
	&cmd_help,
	&cmd_debug,
};
