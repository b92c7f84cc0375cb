#pragma once

#include "data/json.h"
#include "hosts/telegram/rules/update.h"

/* What a reaction does to the waiting turn that its message belongs to. Only emoji that were added
 * count, without the selector U+FE0F; custom and paid ones never do. */

enum reaction_effect {
	REACTION_NONE,
	REACTION_REMOVE, /* 👎 👻 💔 💩 🗑; also drops an album that is still collected */
	REACTION_PROMOTE, /* 👍 ⚡ ❤ 🕊 🔥 */
	REACTION_DEMOTE,  /* the last promoting one was taken back */
};

struct reaction {
	enum reaction_effect effect;
	const char *emoji; /* of REACTION_PROMOTE: the first of the list above */
};

/* `body` is the `message_reaction` of an update. */
struct reaction reaction_read(const json_t *body);

/* Whether it may act: of the paired user, in a private chat. A reaction never pairs. */
bool reaction_allowed(const json_t *body, const struct pairing *pairing);
