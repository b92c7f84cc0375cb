#pragma once

#include "data/json.h"
#include "hosts/telegram/api/client.h"

struct bridge;

/* The one place where messages are sent and edited. What the service refuses for its form is sent
 * once more in a simpler one, so that no text is lost for a tag or a button. */

void sends_start(struct bridge *b);
/* When no call is under way any more: those that were hear SENT_LATER. */
void sends_stop(struct bridge *b);

struct message {
	int64_t chat;
	int64_t reply_to; /* 0: it replies to nothing */
	int64_t edit;     /* the message that becomes this one; 0: a new one */
	struct str text;
	bool html;
	json_t *keyboard;     /* rows of {"text","callback_data"}; borrowed; NULL: none */
	const char *category; /* of a failure, in the ring */
	enum api_patience patience;
};

enum sent {
	SENT_OK,
	SENT_FAILED, /* the service refuses it, and always will */
	SENT_LATER,  /* it could not be reached, asks to wait, or the person has blocked the bot */
	SENT_LOST,   /* it may have arrived */
};

/* `message_id` is 0 when it is not known. */
typedef void sent_fn(void *data, enum sent result, int64_t message_id);

/* `done` may be NULL. It may be called before this returns. */
void send_message(struct bridge *b, const struct message *m, sent_fn *done, void *data);

struct send_file {
	int64_t chat, reply_to;
	const char *method; /* "sendPhoto", "sendDocument", "sendVoice" */
	const char *field;  /* "photo", "document", "voice" */
	int fd;             /* of a regular file; the caller keeps its own */
	const char *name;
	const char *category;
};
void send_file(struct bridge *b, const struct send_file *f, sent_fn *done, void *data);

/* A line of the bridge's own, plain. */
void send_line(struct bridge *b, int64_t chat, int64_t reply_to, const char *fmt, ...) PRINTF(4, 5);
/* Answers a query, once; a failure is ignored. Empty text: silently. */
void send_answer(struct bridge *b, struct str query, struct str text);
/* Takes the buttons off a message. */
void send_no_keyboard(struct bridge *b, int64_t chat, int64_t message);
void send_delete(struct bridge *b, int64_t chat, int64_t message);
