#pragma once

#include "cmdline/command.h"
#include "hosts/mcp/server.h"

/* The table of the command, for main(). */
extern const struct command cmd_mcp;

/* What the command line says about HTTP. Borrowed. */
struct mcp_http_options {
	const char *address; /* of --http; NULL: none */
	const char *socket, *token_file;
	const char *const *listen, *const *names;
	size_t listen_count, name_count;
};

/* Serves over HTTP: set by the program that can. In others the command executes that program. */
extern int (*mcp_over_http)(struct mcp *m, const struct mcp_http_options *o);

/* As without any option. */
struct mcp_options mcp_default_options(void);
