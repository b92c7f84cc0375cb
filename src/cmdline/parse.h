#pragma once

#include "base/arena.h"
#include "base/report.h"
#include "cmdline/command.h"

/* What a command line holds besides the options of its command. */
struct cmdline_result {
	bool help; /* it asks for help: operands were not counted, nothing should run */
	const char *const *operands;
	size_t operand_count;
};

/*
 * Reads the words after the command's name into `opts`, which has c->options_size bytes and may
 * be NULL when that is 0. It begins as c->defaults. Options stand before or after operands, `--`
 * ends them, the last of two wins, and `-` alone is an operand.
 *
 * All mistakes of the line are reported, and `opts` then still has whatever was understood, so
 * that a --json after a mistake counts. The operands' array and those of lists are made in `a`;
 * the texts stay in `argv`.
 */
bool cmdline_parse(const struct command *c, size_t argc, const char *const *argv, struct arena *a,
	void *opts, struct cmdline_result *ret, struct report *r);
