#pragma once

#include "runs/mail/message.h"

/* How a message from a run reaches its coordinator when it does not say so itself: a table, first
 * match wins. */

struct policy_facts {
	struct str type, to;
	struct str owner; /* the session that started the run; may be empty */
	bool wants_response;
	bool has_code; /* of a command.done */
	long long code;
	bool others; /* other leaves are still running */
};

enum delivery policy_delivery(const struct policy_facts *f);
enum level policy_level(const struct policy_facts *f);

/* One of the words; false, and nothing changed, for any other. */
bool delivery_read(struct str word, enum delivery *ret);
bool level_read(struct str word, enum level *ret);
