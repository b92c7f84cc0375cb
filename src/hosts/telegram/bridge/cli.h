#pragma once

#include "base/report.h"
#include "cmdline/command.h"
#include "data/json.h"

struct app;

/* `roux telegram …`: the command line of the bridge. */
struct tg_cli {
	struct arena arena;
	struct report report;
	struct app *app;
};

int telegram_main(int argc, char **argv);

struct tg_common {
	const char *dir;
	bool json;
};
extern const struct opt tg_common_opts[2];
#define TG_COMMON(T) OPT_SET_IN("Common options", tg_common_opts, T, common)

/* Opened when it is first asked for, after -C was followed. */
struct app *tg_app(struct tg_cli *c);
bool tg_enter(struct tg_cli *c, const struct tg_common *o);
/* Prints the issues, as text or as a document. The exit status: 1 when the machine or the service
 * is to blame, else 2. */
int tg_refuse(struct tg_cli *c, bool json);
/* What is typed on the terminal, trimmed; hidden: it is not shown. False: the terminal is gone. */
bool tg_read_line(struct buf *ret, bool hidden);
void tg_say(const char *fmt, ...) PRINTF(1, 2);   /* a line on standard error */
void tg_print(const char *fmt, ...) PRINTF(1, 2); /* a line on standard output */
void tg_print_json(const json_t *document);

extern const struct command tg_setup, tg_connect, tg_disconnect, tg_status, tg_settings, tg_unpair,
	tg_attach, tg_push;
