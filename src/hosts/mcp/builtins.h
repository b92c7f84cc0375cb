#pragma once

#include "hosts/mcp/catalog.h"

/* The tools about runs, which every server has. */
struct builtin {
	const char *name, *title, *description;
	const char *input; /* the properties of its arguments, as JSON */
	const char *required;
	enum tool_effects effects;
	void (*call)(struct exchange *x, const json_t *arguments);
};

extern const struct builtin builtins[];
extern const size_t builtin_count;

struct tool *tool_of_builtin(const struct builtin *b);
/* Checks the arguments and answers, now or later. */
void builtin_call(struct exchange *x, struct tool *t);
