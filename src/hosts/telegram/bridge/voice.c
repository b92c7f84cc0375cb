#include "hosts/telegram/bridge/voice.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/path.h"
#include "hosts/telegram/bridge/bridge.h"
#include "hosts/telegram/bridge/job.h"

enum { VOICE_MS = 120000 };

struct speaking {
	struct bridge *bridge;
	struct arena arena;
	json_t *handlers, *values, *handler;
	size_t at;
	struct buf why;
	voice_fn *done;
	void *data;
};

static void next(struct speaking *s);

static void free_speaking(struct speaking *s)
{
	json_decref(s->handlers);
	json_decref(s->values);
	buf_done(&s->why);
	arena_done(&s->arena);
	free(s);
}

static void finish(struct speaking *s, const char *path)
{
	s->done(s->data, path, buf_str(&s->why));
	free_speaking(s);
}

static struct str last_line(struct str text)
{
	text = str_trim(text);
	for (size_t at = text.len; at > 0; at--)
		if (text.p[at - 1] == '\n')
			return str_trim(str_from(text, at));
	return text;
}

/* Where the handler has put it: a value that `output` names, or what it printed last. */
static const char *made(struct speaking *s, struct str output)
{
	struct str named = json_text_of(s->handler, "output");
	struct stat st;

	if (named.len > 2 && named.p[0] == '{')
		named = str_sub(named, 1, named.len - 2);
	struct str path = named.len && !str_eq(named, S("stdout"))
				  ? json_text_of(s->values, arena_cstr(&s->arena, named))
				  : last_line(output);
	if (!path.len)
		return NULL;
	const char *file = path_from(&s->arena, app_cwd(s->bridge->app), path).p;
	return stat(file, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 ? file : NULL;
}

static void on_done(void *data, const struct job_result *result)
{
	struct speaking *s = data;

	if (!result) {
		free_speaking(s);
		return;
	}
	const char *path = result->ok ? made(s, result->output) : NULL;

	if (path) {
		finish(s, path);
		return;
	}
	buf_reset(&s->why);
	buf_add(&s->why, result->why.len ? result->why : S("the handler made no file"));
	next(s);
}

static void next(struct speaking *s)
{
	s->handler = json_array_get(s->handlers, s->at++);
	if (!s->handler) {
		finish(s, NULL);
		return;
	}
	AUTO_JSON *node = json_copy(s->handler);
	json_object_del(node, "type");
	json_object_del(node, "match");
	json_object_del(node, "output");
	(void)job_start(s->bridge,
		&(struct job_request){ .name = "outboundHandlers",
			.template = node,
			.values = s->values,
			.input = json_text_of(s->values, "text"),
			.timeout_ms = json_object_get(s->handler, "timeout") ? 0 : VOICE_MS,
			.done = on_done,
			.data = s });
}

static bool speaks(const json_t *handler)
{
	return str_eq(json_text_of(handler, "type"), S("voice")) ||
	       str_eq(json_text_of(handler, "match"), S("voice"));
}

void voice_make(struct bridge *b, const json_t *voice, voice_fn *done, void *data)
{
	struct speaking *s = mem_new(struct speaking);
	json_t *h, *all = conf_get(&b->config, "outboundHandlers");
	size_t i;

	s->bridge = b;
	s->done = done;
	s->data = data;
	s->handlers = json_array();
	json_array_foreach(all, i, h) if (speaks(h)) json_array_append(s->handlers, h);
	s->values = json_pack("{s:O,s:o,s:o}", "text", json_object_get(voice, "text"), "mp3",
		json_from_str(places_new_file(&b->places, &s->arena, S("voice.mp3"))), "ogg",
		json_from_str(places_new_file(&b->places, &s->arena, S("voice.ogg"))));
	if (json_text_of(voice, "lang").len)
		json_object_set(s->values, "lang", json_object_get(voice, "lang"));
	if (json_text_of(voice, "rate").len)
		json_object_set(s->values, "rate", json_object_get(voice, "rate"));
	next(s);
}
