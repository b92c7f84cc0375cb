#pragma once

#include "runs/dir/lines.h"
#include "runs/mail/message.h"

/* Messages from a run, DIR/outbox.jsonl. The supervisor writes one for each command that ends;
 * programs of the run append their own. */
#define OUTBOX_FILE "outbox.jsonl"

/* For one that writes often. line_log_append(), line_log_done(). */
void outbox_init(struct line_log *l, const char *dir);
/* Appends one message. -errno. */
int outbox_append(const char *dir, const json_t *message);

/* Calls `see` with every message, completed; borrowed. Lines that are not JSON objects are left out
 * and counted. -errno. */
typedef void message_fn(void *data, const json_t *message);
int outbox_each(const char *dir, const struct message_frame *f, message_fn *see, void *data,
	size_t *ret_skipped);

/* The object that a line is, or NULL. */
json_t *message_line_read(struct str line);
