#include "hosts/telegram/bridge/handlers.h"

#include <stdlib.h>

#include "base/mem.h"
#include "hosts/telegram/bridge/bridge.h"
#include "hosts/telegram/bridge/job.h"
#include "hosts/telegram/rules/inbound.h"

enum { HANDLER_MS = 120000 };

/* A walk through a list of handlers. */
struct walk {
	struct bridge *bridge;
	json_t *handlers; /* those that match, in order */
	size_t at;
	struct buf text;
	json_t *file; /* NULL: a text */
	const char *category;
	handled_fn *done;
	void *data;
};

static void next(struct walk *w);

static void free_walk(struct walk *w)
{
	json_decref(w->handlers);
	json_decref(w->file);
	buf_done(&w->text);
	free(w);
}

static void finish(struct walk *w)
{
	handled_fn *done = w->done;
	void *data = w->data;
	AUTO_BUF text = BUF_INIT;

	buf_swap(&text, &w->text);
	free_walk(w);
	done(data, buf_str(&text));
}

static void on_done(void *data, const struct job_result *result)
{
	struct walk *w = data;

	if (!result) {
		free_walk(w);
		return;
	}
	struct str said = str_trim(result->output);
	if (!result->ok)
		ring_add(&w->bridge->store, w->category, result->why, NULL);
	if (result->ok && said.len) {
		buf_reset(&w->text);
		buf_add(&w->text, said);
		/* Texts go through all of them; a file is spoken for by the first. */
		if (w->file)
			w->at = json_array_size(w->handlers);
	}
	next(w);
}

static json_t *values_of(const struct walk *w)
{
	json_t *values = json_object();

	if (w->file) {
		json_object_set(values, "file", json_object_get(w->file, "path"));
		json_object_set(values, "mime", json_object_get(w->file, "mime"));
		json_object_set(values, "type", json_object_get(w->file, "kind"));
		json_object_set(values, "name", json_object_get(w->file, "name"));
	} else {
		json_object_set_new(values, "text", json_from_str(buf_str(&w->text)));
	}
	return values;
}

static json_t *template_of(const struct walk *w, const json_t *handler)
{
	json_t *template = json_object_get(handler, "template");

	/* A command that does not say where the file goes gets it as its last argument. */
	if (w->file && json_is_string(template) && !str_contains(json_str(template), S("{file"))) {
		AUTO_BUF text = BUF_INIT;

		buf_printf(&text, "%.*s {file}", STR(json_str(template)));
		return json_from_str(buf_str(&text));
	}
	return json_incref(template);
}

/* Fields that a template's node may have are the node's; the selectors are not. */
static json_t *node_of(const struct walk *w, const json_t *handler)
{
	json_t *node = json_copy((json_t *)handler);

	json_object_del(node, "type");
	json_object_del(node, "mime");
	json_object_del(node, "match");
	json_object_del(node, "output");
	json_object_set_new(node, "template", template_of(w, handler));
	return node;
}

static void next(struct walk *w)
{
	json_t *handler = json_array_get(w->handlers, w->at++);
	json_t *timeout = json_object_get(handler, "timeout");

	if (!handler) {
		finish(w);
		return;
	}
	AUTO_JSON *values = values_of(w);
	AUTO_JSON *node = node_of(w, handler);
	(void)job_start(w->bridge, &(struct job_request){ .name = w->category,
					   .template = node,
					   .values = values,
					   .input = w->file ? S("") : buf_str(&w->text),
					   .timeout_ms = json_is_integer(timeout) ? 0 : HANDLER_MS,
					   .done = on_done,
					   .data = w });
}

/* -- which of them -------------------------------------------------------------------------------
 */

static void add_matching(json_t *to, const json_t *handlers, const json_t *file)
{
	json_t *h;
	size_t i;

	json_array_foreach((json_t *)handlers, i,
		h) if (file ? handler_takes_file(h, json_text_of(file, "kind"),
				      json_text_of(file, "mime"))
			    : handler_takes_text(h)) json_array_append(to, h);
}

static json_t *matching(struct bridge *b, const char *key, const char *older, const json_t *file)
{
	json_t *found = json_array();

	add_matching(found, conf_get(&b->config, key), file);
	if (older)
		add_matching(found, conf_get(&b->config, older), file);
	return found;
}

static void walk(struct bridge *b, json_t *handlers, struct str text, const json_t *file,
	const char *category, handled_fn *done, void *data)
{
	struct walk *w = mem_new(struct walk);

	*w = (struct walk){ .bridge = b,
		.handlers = handlers,
		.file = file ? json_incref((json_t *)file) : NULL,
		.category = category,
		.done = done,
		.data = data };
	buf_add(&w->text, text);
	next(w);
}

void handlers_outbound_text(struct bridge *b, struct str text, handled_fn *done, void *data)
{
	walk(b, matching(b, "outboundHandlers", NULL, NULL), text, NULL, "outbound-text-handler",
		done, data);
}

void handlers_inbound_text(struct bridge *b, struct str text, handled_fn *done, void *data)
{
	walk(b, matching(b, "inboundHandlers", "attachmentHandlers", NULL), text, NULL,
		"inbound-text-handler", done, data);
}

bool handlers_change_inbound(struct bridge *b)
{
	AUTO_JSON *found = matching(b, "inboundHandlers", "attachmentHandlers", NULL);

	return json_array_size(found) > 0;
}

void handlers_inbound_file(struct bridge *b, const json_t *file, handled_fn *done, void *data)
{
	walk(b, matching(b, "inboundHandlers", "attachmentHandlers", file), S(""), file,
		"inbound-handler", done, data);
}
