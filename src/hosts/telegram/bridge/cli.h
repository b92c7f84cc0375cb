#pragma once

#include "hosts/companion/companion.h"

/* `roux telegram …`: the command line of the bridge. */
int telegram_main(int argc, char **argv);

/* Opened when it is first asked for, after -C was followed. */
struct app *tg_app(struct companion *c);
/* What is typed on the terminal, trimmed; hidden: it is not shown. False: the terminal is gone. */
bool tg_read_line(struct buf *ret, bool hidden);

extern const struct command tg_setup, tg_connect, tg_disconnect, tg_status, tg_settings, tg_unpair,
	tg_attach, tg_push;
