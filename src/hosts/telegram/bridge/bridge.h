#pragma once

#include "app/runs.h"
#include "hosts/telegram/api/client.h"
#include "hosts/telegram/bridge/config.h"
#include "hosts/telegram/bridge/deliver.h"
#include "hosts/telegram/bridge/live.h"
#include "hosts/telegram/bridge/lock.h"
#include "hosts/telegram/bridge/places.h"
#include "hosts/telegram/bridge/poll.h"
#include "hosts/telegram/bridge/route.h"
#include "hosts/telegram/bridge/store.h"
#include "hosts/telegram/bridge/turn.h"
#include "loop/signals.h"

/* One bridge: one bot, one paired person, one poller, one turn at a time. Everything that has to
 * survive a restart is in the ledger (store.h); what is here can be made again from it. */

enum bridge_state {
	BRIDGE_STARTING,
	BRIDGE_POLLING,
	BRIDGE_CONFLICT, /* another program polls with this token */
	BRIDGE_REFUSED,  /* the token is */
	BRIDGE_LOST,     /* another process has the lock: nothing is sent any more */
	BRIDGE_STOPPING,
};

struct bridge {
	struct app *app;
	struct loop *loop;
	struct api *api;
	struct places places;
	struct config config;
	struct lock lock;
	struct store store;
	struct arena arena; /* for the life of the bridge */
	struct str token;
	int64_t bot_id;
	int64_t user; /* who is paired; 0: no person is */
	bool blocked; /* by that person: nothing is sent until an update comes */
	enum bridge_state state;
	int exit_status;
	struct signals signals;
	struct timer tick; /* looks at the lock and the configuration */
	unsigned ticks;
	bool pushing;           /* results of other runs are looked for */
	enum bridge_state told; /* what bridge_status_write() has written */

	struct poller poller;
	struct router router;
	struct turns turns;
	struct live live;
	struct deliveries deliveries;
	bool prepare;                /* some waiting turn may not be ready */
	struct preparing *preparing; /* prepare.c; NULL: none is */
	struct groups *groups;       /* groups.c */
	struct list jobs;            /* job.c */
	struct list sendings;        /* send.c */
	unsigned menus_opening;      /* menu.c: how many are on their way */
	struct list menus;           /* menu.c */
	size_t open_gates;           /* gates.c: how many may be shown */
	struct list follows;         /* follow.c */
	json_t *asking;              /* recipes.c: the question that is open; NULL: none */
};

struct bridge_options {
	const char *api_url;       /* NULL: as configured */
	void (*ready)(void *data); /* it polls; may be NULL */
	void *data;
};
/* Opens what every command needs: places, configuration, store. The token is in b->token, empty
 * when none is stored. `note` gets what is worth saying. */
bool bridge_open(struct bridge *b, struct app *app, struct buf *note, struct report *r);
void bridge_close(struct bridge *b);
/* Runs it until a signal, a lost lock or a refused token; this process has taken the lock. The exit
 * status; with issues when it could not begin. */
int bridge_run(struct bridge *b, const struct bridge_options *o, struct report *r);
/* Its two ends, for one whose loop another turns (app_turn()). A start that fails needs no stop. */
bool bridge_start(struct bridge *b, const struct bridge_options *o, struct report *r);
void bridge_stop(struct bridge *b);
/* The address of the service: `given`, else that of the configuration, else the public one. False
 * with an issue: it may not be used. */
bool bridge_api_url(struct bridge *b, const char *given, struct str *ret, struct report *r);

/* Ends it from the loop: with that state, and that exit status. */
void bridge_end(struct bridge *b, enum bridge_state state, int exit_status);
/* Whether it still owns the chat. */
static inline bool bridge_speaks(const struct bridge *b)
{
	return b->api && b->state != BRIDGE_LOST && b->state != BRIDGE_REFUSED;
}

/* The errors of a report as a text, with what to do in words for the chat. */
void bridge_why(struct report *r, struct buf *b);

/* What every run that the bridge starts is asked for: it says that it came from the chat, and shows
 * the token nowhere. bridge_request_done() ends it. */
struct request bridge_request(struct bridge *b);
void bridge_request_done(struct request *q);

/* A line on standard error, and, with a category, in the ring. */
void bridge_note(struct bridge *b, const char *category, const char *fmt, ...) PRINTF(3, 4);
/* What the store has left in its report, as such a line. Returns whether there was something. */
bool bridge_note_store(struct bridge *b);
