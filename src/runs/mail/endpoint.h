#pragma once

#include "data/json.h"

/* How a running program can be given a message at once: `control` in run.json. */
enum endpoint_kind {
	ENDPOINT_NONE,    /* there is nothing to give it to */
	ENDPOINT_MAILBOX, /* it looks into its inbox */
	ENDPOINT_FIFO,    /* it reads DIR/control.fifo */
	ENDPOINT_SOCKET,  /* it is connected to DIR/control.sock, which the supervisor serves */
};

#define FIFO_FILE "control.fifo"
#define SOCKET_FILE "control.sock"

struct endpoint {
	enum endpoint_kind kind;
	struct buf path; /* of the FIFO or socket */
};

/* `control` is {"type","path"} or the type alone. NULL: it is what lies in the directory, a FIFO
 * first. */
void endpoint_find(struct endpoint *e, const char *dir, const json_t *control);
void endpoint_done(struct endpoint *e);

/* Gives a line to the reader of the FIFO. Neither waits nor raises SIGPIPE. -ENOENT: there is none;
 * -EINVAL: something else has that name; -ENXIO, -EPIPE: it has no reader; -EAGAIN: it is full;
 * -EMSGSIZE: the line could mix with others. */
int fifo_give(const char *path, struct str line);
