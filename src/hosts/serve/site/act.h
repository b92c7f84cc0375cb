#pragma once

#include "hosts/serve/site/site.h"

/* Acting on runs, for pages and for the API: one function each. They answer with the document of
 * the command, a new reference, or NULL with issues in the report. */

/* What is to be done again, from the query of a page or the body of a request. */
struct again {
	bool resume, all, only;
	const char *from; /* NULL: none */
	const char *as;
	json_t *values, *secrets; /* borrowed objects; NULL: none */
	bool stop_in_doubt;
};

/* Reads `do`, `from`, `only`, `all`. False: refused. */
bool again_read(struct http_request *q, bool body, struct again *ret);
json_t *again_plan(struct dashboard *d, struct str run, const struct again *what, struct report *r);
json_t *again_do(struct http_request *q, struct str run, const struct again *what,
	struct str *ret_run, struct report *r);

/* Whether generation and digest of the request, where they are given, are those of now. False:
 * refused with 409. `plan` may be NULL: no digest is looked at. */
bool act_is_current(struct http_request *q, struct run_model *m, const json_t *plan);
bool act_digest_fits(struct http_request *q, const json_t *plan);

/* Why the run takes no answer now. */
void act_refuse_answer(struct http_request *q);
/* What an approval would run, when that can be said; *ret is a new reference or NULL. False:
 * refused; a digest that was given is compared, or the answer is not taken. */
bool act_answer_plan(struct http_request *q, struct run_model *m, json_t **ret);
/* `resume` NULL: an approved run is not continued. */
json_t *act_answer(struct http_request *q, struct str run, bool approve, const char *stage,
	struct str text, struct str digest, const struct again *resume, struct report *r);
json_t *act_stop(struct run_model *m, bool kill, bool graceful, int grace_ms, struct report *r);
json_t *act_message(struct http_request *q, struct str run, struct report *r);
json_t *act_archive(struct run_model *m, struct report *r);

/* A recipe that may be started from here: by its id, found in discovery and trusted. NULL: refused
 * in the report. */
struct recipe_ref *act_recipe(struct dashboard *d, struct str id, struct report *r);
json_t *act_start(struct dashboard *d, struct recipe_ref *ref, json_t *secrets, const char *as,
	struct str *ret_run, struct report *r);

/* The lists of a plan, for people. */
void put_plan(struct page *p, const json_t *plan);
