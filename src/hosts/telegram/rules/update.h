#pragma once

#include "base/arena.h"
#include "data/json.h"

/* What an update of the Bot API is about and what may be done for it. Everything here is untrusted
 * JSON: a member of the wrong type counts as not there, and an update that fits nothing is
 * ignored. */

/* A whole number of JSON, 1.0 included. */
bool json_whole(const json_t *value, int64_t *ret);

/* Who may use the bot. */
struct pairing {
	bool paired;
	int64_t user;
	struct str code; /* while no user is paired: only `/start CODE` pairs; empty: every user
			    does */
};

enum update_kind {
	UPDATE_IGNORE,
	UPDATE_DELETED,
	UPDATE_REACTION,
	UPDATE_CALLBACK,
	UPDATE_MESSAGE,
	UPDATE_EDIT,
};

/* Pointers are borrowed from the update; the ids of deleted messages are in the arena. */
struct update {
	enum update_kind kind;
	const json_t *body;    /* the message, the edit, the query or the reaction */
	const json_t *message; /* the message, the edit, or the message below a query's button */
	int64_t user, chat, message_id; /* 0 where the kind has none */
	bool pairs;                     /* this update pairs `user`; it is then handled as usual */
	bool greets;                    /* and the chat hears so */
	bool denied;                    /* of a stranger: one refusal, nothing else */
	const int64_t *deleted;
	size_t deleted_count;
};

void update_classify(
	struct arena *a, const json_t *update, const struct pairing *pairing, struct update *ret);

/* "message", "edited-message", … */
const char *update_kind_name(enum update_kind kind);
