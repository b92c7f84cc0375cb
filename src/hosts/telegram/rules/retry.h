#pragma once

#include "base/arena.h"
#include "data/json.h"

/* What an answer of the Bot API means, and whether the request is made again. */

enum {
	API_ATTEMPTS = 3,
	API_BASE_DELAY_MS = 500,
	API_WAIT_MAX_MS = 300 * 1000, /* a longer wait is not waited */
};

enum api_class {
	API_OK,
	API_UNCHANGED,      /* an edit that changes nothing: success */
	API_UNREADABLE,     /* 200 without JSON: what was sent counts as delivered, id unknown */
	API_NOT_OK,         /* 200 with ok:false */
	API_NO_RESULT,      /* 200 with ok:true and no `result` */
	API_PARSE_ENTITIES, /* once more as plain text */
	API_MESSAGE_GONE,   /* the message to edit: forget its id, send a new one */
	API_TOO_LONG,       /* split at half the size, once */
	API_KEYBOARD,       /* once more without it */
	API_QUERY_OLD,      /* ignored */
	API_FILE_REFUSED,   /* too big or unknown: the turn continues without it */
	API_PHOTO_REFUSED,  /* once more as a document */
	API_BLOCKED,        /* 403: no more sends until the person writes */
	API_TOKEN_REFUSED,  /* 401, and 404 of getMe and getUpdates: stop polling */
	API_CONFLICT,       /* 409: another getUpdates */
	API_WEBHOOK,        /* 409: a webhook is set; delete it */
	API_FLOOD,          /* 429 */
	API_SERVER,         /* 5xx */
	API_REFUSED,        /* every other 4xx */
	API_UNSENT,         /* no connection was made: nothing was sent */
	API_LOST,           /* the connection ended after sending: it may have been done */
};

/* How one attempt ended. With a transport error `status` is 0. */
struct api_attempt {
	bool unsent, lost;
	int status;
	const json_t *body;      /* NULL when it is not JSON */
	struct str retry_header; /* the value of Retry-After, may be empty */
};

struct api_answer {
	enum api_class class;
	int status;
	const json_t *result;   /* of API_OK; borrowed */
	struct str description; /* borrowed; empty when there is none */
	bool has_wait;          /* the service says how long to wait */
	uint64_t wait_ms;
};

/* `method` as the Bot API calls it. */
void api_classify(struct str method, const struct api_attempt *attempt, struct api_answer *ret);

/* May be made again when it is unknown whether it was carried out. */
bool api_repeatable(struct str method);

/* Whether attempt number `attempt` (from 1) of `max` is followed by another, and after how long. */
bool api_retry(struct str method, const struct api_answer *answer, unsigned attempt, unsigned max,
	uint64_t base_delay_ms, uint64_t *ret_wait_ms);

/* The class of a failure as a word: "http", "not_ok", "no_result", "network", "unreadable". */
const char *api_class_word(enum api_class class);
