#pragma once

#include "hosts/mcp/server.h"

/* The transport of a process that a client has started: one message a line on standard input and
 * output. */
struct stdio_options {
	size_t line;  /* bytes of a line */
	size_t queue; /* bytes that may wait for a client that does not read */
};

/* Takes standard output away from everything else in this process: what is written there from now
 * on goes to standard error. The descriptor for messages; -errno. Called before anything else. */
int stdio_protect(void);
/* Serves until the input ends or a signal asks for the end. Returns the exit status. */
int stdio_serve(struct mcp *m, int out, const struct stdio_options *o);
