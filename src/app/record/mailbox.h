#pragma once

#include "base/report.h"
#include "base/str.h"
#include "data/json.h"
#include "loop/loop.h"

/*
 * The supervisor's part of the messages of its run. Senders append to DIR/inbox.jsonl; the mailbox
 * is woken when they do, reports every message, pushes those that no program has taken to the
 * programs that are connected to DIR/control.sock, and writes down what became of them. It knows
 * whether a message has asked the run to end.
 */
struct mailbox;

struct mailbox_options {
	const char *dir;
	struct str run, owner;
	const json_t *control; /* of run.json; may be NULL */
	bool socket;           /* serve DIR/control.sock, also when `control` does not ask for it */
	bool durable;          /* what is said about messages is on the disk at once */
	bool inbox;            /* make the file at once: programs of the run may look at it */
	bool fresh;            /* the directory is new: nothing lies in it */
	bool resumed; /* what lies in the inbox was told when it came; what waits still waits */
	uint64_t settle_ms; /* how long it relies on senders that ring, before it watches the files
			     */
	/* A new message in the inbox. `bytes` are those of its body. */
	void (*on_message)(void *data, struct str id, size_t bytes);
	void *data;
};

/* Makes an empty inbox when there is none. A socket that cannot be made is a warning. NULL with an
 * issue. `o` is copied, what it points to is borrowed until mailbox_stop(), which frees the
 * mailbox. */
struct mailbox *mailbox_start(struct loop *l, const struct mailbox_options *o, struct report *r);
/* Looks into the inbox now and not when the loop comes to it: before the end of a command is
 * written down, say. */
void mailbox_look(struct mailbox *m);
/* Whether the run was given one of the words stop, cancel, quit, exit: its end is then asked for.
 * Waits a moment for a sender that is just about to say that it was. */
bool mailbox_stop_delivered(struct mailbox *m);
void mailbox_stop(struct mailbox *m);
