#pragma once

#include "hosts/serve/site/site.h"
#include "loop/workers.h"

/* What takes longer than the loop may wait: models of large runs that are not known yet, searches,
 * counting lines. It is done on two threads. A request that needs it waits, and its handler is then
 * called once more, from its beginning; no handler has an effect before it asks here. */
struct aside;
struct aside *aside_new(struct dashboard *d);
void aside_free(struct aside *a);
void aside_add(struct aside *a, struct job *j);

/* Whether run_models_get() is quick. False: the request waits, and the handler returns. */
bool aside_run(struct http_request *q, struct str id);
/* The same for what is not a request: `then` is called from the loop when it is worth asking again.
 */
bool aside_run_known(struct aside *a, struct str id, void (*then)(void *data), void *data);

/* The number of the line at a byte of a log. False: the request waits. *ret 0: not counted yet. */
bool aside_number(struct http_request *q, struct run_model *m, const struct log_at *at,
	uint64_t offset, uint64_t *ret);

/* The same without waiting and without counting. */
uint64_t aside_number_known(struct aside *a, int fd, uint64_t offset);

/* A document that takes long, made on a thread by an app of its own: another connection to the
 * ledger, nothing shared. `reply` is called from the loop when it is made, and answers. */
struct aside_document {
	struct str run; /* "run:ID", or empty */
	uint64_t from;  /* where it begins, and how much of it: what that means is `make`'s */
	size_t limit;
	struct buf text;
	json_t *value;
	struct report r;
	bool ok;
};
typedef void aside_make_fn(struct app *a, struct aside_document *d);
typedef void aside_reply_fn(struct http_request *q, struct aside_document *d);
/* `what` has `run`, `from` and `limit`; it is copied. */
void aside_document(struct http_request *q, const struct aside_document *what, aside_make_fn *make,
	aside_reply_fn *reply);
/* For `make`: the run of it. NULL with an issue in it. */
struct run_handle *aside_document_run(struct app *a, struct aside_document *d);

/* From `done` of a job of a request: calls what may not wait again. */
void aside_resume(struct http_request *q, void (*go)(void *data), void *data);
