#pragma once

#include "runs/mail/inbox.h"

/* One message to a running run: into the inbox, then to the endpoint, then marked. Whether the run
 * is running and the caller may is checked before. */
struct send_request {
	const char *dir;
	struct message_frame frame; /* .box is INBOX */
	const json_t *control;      /* of run.json; may be NULL */
	const json_t *message;      /* of message_compose() */
	/* Tells the supervisor that there is something; NULL: it watches. */
	void (*ring)(void *data);
	void *ring_data;
	bool durable;     /* the message is on the disk before anything is done about it */
	unsigned wait_ms; /* for the supervisor's word, of a socket */
};

struct send_result {
	struct str id;         /* borrowed from the message */
	bool sent;             /* an endpoint took it; else it waits in the inbox */
	bool noted;            /* too long for a FIFO: its reader was told the id */
	const char *transport; /* "fifo", "socket" or NULL */
	const char *waits_for; /* why it was not sent, one clause */
	size_t waiting;        /* undelivered ones, with this one */
};

enum send_outcome {
	SEND_DONE,
	SEND_BACKPRESSURE, /* INBOX_WAITING_MAX are undelivered: nothing was written */
	SEND_FAILED,       /* with an issue */
};

enum send_outcome message_send(
	const struct send_request *q, struct send_result *ret, struct report *r);
