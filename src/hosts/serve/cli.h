#pragma once

#include "base/report.h"
#include "cmdline/command.h"
#include "data/json.h"
#include "hosts/serve/places.h"

/* `roux serve …`: the command line of the web host. */
struct serve_cli {
	struct arena arena;
	struct report report;
	struct app *app;
	struct serve_places places;
};

int serve_main(int argc, char **argv);

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
