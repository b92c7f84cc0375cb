#pragma once

#include "hosts/serve/cli.h"
#include "hosts/serve/serve.h"

/* What `roux serve` was asked for. */
struct serve_opts {
	uint64_t port; /* PORT_UNSET: 7689 and those behind it */
	struct opt_list listen, names, roots;
	const char *socket, *log_file;
	bool open, read_only, mcp, any_user, behind_tls;
	uint64_t idle_exit; /* seconds; 0: never */
	struct companion_common common;
};

#define PORT_UNSET UINT64_MAX

/* Descriptors that are listened at, before there is a door. */
struct bound_sockets {
	VEC(int) fds;
	uint16_t port; /* of the first that has one */
	bool exposed;  /* as start_exposed() said */
	bool moved;    /* the usual port was taken */
	bool given;    /* by systemd */
};

/* Whether the addresses of the options are beyond loopback. False with an issue: one is not an
 * address. */
bool start_exposed(const struct serve_opts *o, bool *ret, struct report *r);
/* Binds what the options say, or takes what systemd has bound. False with an issue. The caller
 * closes the descriptors that are left. */
bool start_bind(const struct serve_opts *o, struct bound_sockets *ret, struct report *r);
void bound_done(struct bound_sockets *b);

/* Serves until it is stopped. The exit status. */
int start_serving(
	struct serve_cli *c, const struct serve_opts *o, struct bound_sockets *b, bool in_memory);
