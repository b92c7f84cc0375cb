#pragma once

#include "hosts/companion/companion.h"
#include "hosts/serve/places.h"

struct http;

/* `roux serve …`: the command line of the web host. */
struct serve_cli {
	struct companion companion;
	struct serve_places places;
	const struct serve_guest *mcp; /* NULL: there is none */
};

/* Another host at the same door, for --mcp: `attach` adds its routes and returns what the others
 * get, or NULL with an issue; `detach` is called before the door stops, `drop` when it is gone. */
struct serve_guest {
	void *(*attach)(struct app *a, struct http *h, struct report *r);
	void (*detach)(void *guest);
	void (*drop)(void *guest);
};

/* `mcp` is what `roux-serve mcp …` runs. */
int serve_main(int argc, char **argv, const struct command *mcp, const struct serve_guest *guest);

/* Follows -C and opens the app. False with an issue. */
bool serve_enter(struct serve_cli *c, const struct companion_common *o);

extern const struct command serve_start, serve_link, serve_status, serve_stop_command, serve_token;
