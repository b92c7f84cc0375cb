#pragma once

#include "graph/node.h"

/* What is known about programs by their names, so that warnings can tell what a command does. */

/* The name of the program that a word of the command means, without its directory. */
struct str program_name(const struct node *n, size_t at);
/* The word that names the program which does the work: of `sudo -u me rm x` the fourth. */
size_t program_word(const struct node *n);

bool program_is_shell(struct str program);

/* What the program that a word of the command names runs as code. */
struct program_code {
	const char *interpreter; /* NULL: it is none */
	bool shell;
	size_t at; /* the word with the code, which may be missing behind the last; 0: none */
};
struct program_code program_code(const struct node *n, size_t program);
