#include "hosts/telegram/bridge/external.h"

#include <stdlib.h>

#include "base/mem.h"
#include "hosts/telegram/bridge/bridge.h"
#include "hosts/telegram/bridge/job.h"
#include "hosts/telegram/rules/update.h"

enum { EXTERNAL_MS = 2000 };

struct showing {
	struct bridge *bridge;
	json_t *handlers;
	size_t at;
	struct buf update;
};

static json_t *wanting(struct bridge *b, const json_t *update)
{
	json_t *all = conf_get(&b->config, "externalHandlers"), *h, *found = json_array();
	struct arena a = ARENA_INIT;
	struct pairing pairing = { .paired = b->user != 0, .user = b->user };
	struct update u;
	size_t i;

	if (json_array_size(all)) {
		update_classify(&a, update, &pairing, &u);
		bool own = b->user && u.user == b->user && u.kind != UPDATE_IGNORE && !u.denied;
		json_array_foreach(all, i, h) if (own || json_truth_of(h, "unpaired"))
			json_array_append(found, h);
	}
	arena_done(&a);
	return found;
}

bool external_wanted(struct bridge *b, const json_t *update)
{
	AUTO_JSON *found = wanting(b, update);

	return json_array_size(found) > 0;
}

static void next(struct showing *s);

static void free_showing(struct showing *s)
{
	json_decref(s->handlers);
	buf_done(&s->update);
	free(s);
}

static void finish(struct showing *s, bool consumed)
{
	struct bridge *b = s->bridge;

	free_showing(s);
	route_resume(b, consumed);
}

static void on_done(void *data, const struct job_result *result)
{
	struct showing *s = data;

	if (!result) {
		free_showing(s);
		return;
	}
	if (!result->ok)
		ring_add(&s->bridge->store, "external", result->why, NULL);
	if (result->ok && str_eq(str_trim(result->output), S("consume")))
		finish(s, true);
	else
		next(s);
}

static void next(struct showing *s)
{
	json_t *h = json_array_get(s->handlers, s->at++);
	json_int_t ms = json_number_of(h, "timeout");

	if (!h) {
		finish(s, false);
		return;
	}
	(void)job_start(s->bridge, &(struct job_request){ .name = "externalHandlers",
					   .template = json_object_get(h, "template"),
					   .input = buf_str(&s->update),
					   .timeout_ms = ms > 0 ? (uint64_t)ms : EXTERNAL_MS,
					   .done = on_done,
					   .data = s });
}

void external_start(struct bridge *b, const json_t *update)
{
	struct showing *s = mem_new(struct showing);

	s->bridge = b;
	s->handlers = wanting(b, update);
	json_write(&s->update, update, 0);
	next(s);
}
