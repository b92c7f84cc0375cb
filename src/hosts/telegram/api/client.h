#pragma once

#include "data/json.h"
#include "hosts/telegram/rules/retry.h"
#include "loop/loop.h"

/* The Bot API over libcurl, on our loop: calls, uploads, downloads. Nothing blocks. The token is in
 * addresses only, and no text that leaves here contains it. */

enum {
	API_DEADLINE_MS = 30000,
	API_CONNECT_MS = 10000,
};

struct api;
struct api_call;

/* `base` without a slash at its end. Both texts are copied. NULL, with errno. */
struct api *api_new(struct loop *l, struct str base, struct str token);
/* Ends all calls; their `done` is not called. */
void api_free(struct api *a);

/* Whether a base address may be used: https, or http to this machine. */
bool api_base_allowed(struct str base);

/* `answer` is borrowed during the call; NULL: the penalty clock runs, and the call was one to leave
 * out then. */
typedef void api_done_fn(void *data, const struct api_answer *answer);

/* How a call stands to the penalty clock, which runs while the service has told this bot to wait.
 */
enum api_patience {
	API_WAITS, /* for it, and is tried again */
	API_SKIPS, /* it: what is not worth sending late, such as previews */
	API_ONCE,  /* tried once, without waiting */
};

/* A file that is sent along. */
struct api_upload {
	const char *field; /* NULL: there is none */
	int fd;            /* of a regular file, read while it is sent; the caller keeps its own */
	const char *name;  /* what it is called there */
};

struct api_request {
	const char *method; /* static */
	json_t *params;     /* taken over; NULL: none */
	struct api_upload upload;
	unsigned deadline_ms; /* 0: API_DEADLINE_MS */
	enum api_patience patience;
	api_done_fn *done; /* from the loop, never from api_start(); may be NULL */
	void *data;
};

/* The call is over when `done` was called, and may not be cancelled afterwards. */
struct api_call *api_start(struct api *a, const struct api_request *q);
/* `done` is not called. */
void api_cancel(struct api_call *c);

/* Fetches a file by the path that getFile gave into `fd` (not closed), at most `max` bytes: more
 * are refused by their declared length or while they come: API_FILE_REFUSED. */
struct api_call *api_download(
	struct api *a, struct str file_path, int fd, uint64_t max, api_done_fn *done, void *data);

/* Whether the penalty clock runs. */
bool api_penalty(const struct api *a);
/* Calls that are under way or wait. */
size_t api_pending(const struct api *a);
