#pragma once

#include "base/report.h"
#include "cmdline/command.h"
#include "data/json.h"
#include "hosts/serve/places.h"

struct http;

/* `roux serve …`: the command line of the web host. */
struct serve_cli {
	struct arena arena;
	struct report report;
	struct app *app;
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

struct serve_common {
	const char *dir;
	bool json;
};
extern const struct opt serve_common_opts[2];
#define SERVE_COMMON(T) OPT_SET_IN("Common options", serve_common_opts, T, common)

/* Follows -C and opens the app. False with an issue. */
bool serve_enter(struct serve_cli *c, const struct serve_common *o);
/* Prints the issues, as text or as a document. The exit status: 1 when the machine is to blame,
 * else 2. */
int serve_refuse(struct serve_cli *c, bool json);
void serve_say(const char *fmt, ...) PRINTF(1, 2);   /* a line on standard error */
void serve_print(const char *fmt, ...) PRINTF(1, 2); /* a line on standard output */
void serve_print_json(const json_t *document);

extern const struct command serve_start, serve_link, serve_status, serve_stop_command, serve_token;
