#pragma once

#include <curl/curl.h>

#include "hosts/telegram/api/client.h"

/* One attempt of a call as libcurl wants it, and its answer. */

struct api_call {
	struct list link; /* of api->calls */
	struct api *api;
	struct timer timer; /* before an attempt */
	CURL *easy;         /* of the attempt that runs; NULL: it waits */
	struct curl_slist *headers;
	curl_mime *form;
	const char *method; /* NULL: a download */
	json_t *params;
	char *url, *upload_name;
	int upload_fd; /* -1: none */
	const char *upload_field;
	struct buf text, body;   /* what is sent, what came */
	struct buf retry_header; /* Retry-After */
	int fd;                  /* of a download; -1 */
	uint64_t max, got;
	bool too_much;
	unsigned deadline_ms, attempts;
	enum api_patience patience;
	api_done_fn *done;
	void *data;
};

/* Fills c->easy, which the caller has made. False: there is no memory for it, or the file cannot be
 * read. */
bool request_make(struct api_call *c, bool local);
/* Ends what request_make() made. The handle is the caller's again; NULL: there was none. */
CURL *request_end(struct api_call *c);
/* What the attempt has come to. *ret_document owns what the answer borrows. */
struct api_answer request_answer(struct api_call *c, CURLcode code, json_t **ret_document);
