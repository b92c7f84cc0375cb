#include "hosts/telegram/bridge/answer.h"

#include <stdlib.h>

#include "base/atomic-file.h"
#include "base/mem.h"
#include "hosts/telegram/bridge/bridge.h"
#include "hosts/telegram/bridge/buttons.h"
#include "hosts/telegram/bridge/ending.h"
#include "hosts/telegram/bridge/handlers.h"
#include "hosts/telegram/text/chunk.h"
#include "hosts/telegram/text/html.h"
#include "hosts/telegram/text/marks.h"
#include "hosts/telegram/text/unicode.h"

enum {
	CHUNKS_MAX = 20,
	BUTTONS_MAX = 100,                   /* that the service takes below one message */
	SURELY_MORE = CHUNKS_MAX * 4096 * 4, /* so many bytes never fit into them */
	SHOWN_OF_MORE = 64 << 10,            /* then this much is enough for the first one */
};

/* A plan in the making. */
struct answer_plan {
	struct bridge *bridge;
	json_t *delivery; /* borrowed */
	struct arena arena;
	struct marks marks;
	json_t *steps, *keyboard;
	size_t chunks;
	size_t label;     /* which button's label the handlers look at */
	struct buf whole; /* what was read for it; marks are borrowed from it */
	struct buf text;
	void (*done)(void *data);
	void *data;
};

static void add_text(struct answer_plan *p, struct str text, bool html)
{
	json_array_append_new(p->steps, json_pack("{s:s,s:o,s:b}", "do", "text", "text",
						json_from_str(text), "html", html));
}

static void add_chunks(struct answer_plan *p, const struct chunks *chunks, bool html)
{
	for (size_t i = 0; i < chunks->count; i++)
		add_text(p, chunks->at[i], html);
}

static void add_plain(struct answer_plan *p)
{
	struct chunks chunks;

	chunk_plain(&p->arena, json_text_of(p->delivery, "text"), &chunks);
	add_chunks(p, &chunks, false);
}

/* A path, or an artifact as ending.c names it. */
static void add_attached(struct answer_plan *p, const json_t *file)
{
	json_t *s =
		json_is_object(file) ? json_copy((json_t *)file) : json_pack("{s:O}", "path", file);

	json_object_set_new(s, "do", json_string("file"));
	json_array_append_new(p->steps, s);
}

static void add_file(struct answer_plan *p, struct str path, const char *name)
{
	json_t *s = json_pack("{s:s,s:o}", "do", "file", "path", json_from_str(path));

	if (name)
		json_object_set_new(s, "name", json_string(name));
	json_array_append_new(p->steps, s);
}

/* An answer that would fill the chat: its beginning, and the whole as a file. */
static bool shorten(struct answer_plan *p, struct str first, struct str whole)
{
	struct str path = places_new_file(&p->bridge->places, &p->arena, S("answer.md"));

	if (atomic_write(path.p, whole, &(struct atomic_options){ .quick = true }) < 0)
		return false;
	add_text(p, first, true);
	add_file(p, path, "answer.md");
	return true;
}

/* The first part replaces the preview; the last one has the buttons. */
static void finish_text(struct answer_plan *p)
{
	json_int_t preview = json_number_of(p->delivery, "preview");
	size_t n = json_array_size(p->steps);
	json_t *first = json_array_get(p->steps, 0), *last = NULL;

	for (size_t i = 0; i < n; i++)
		if (str_eq(json_text_of(json_array_get(p->steps, i), "do"), S("text")))
			last = json_array_get(p->steps, i);
	if (last && json_array_size(p->keyboard))
		json_object_set(last, "keyboard", p->keyboard);
	if (first && last && preview)
		json_object_set_new(first, "edit", json_integer(preview));
}

static json_t *voice_step(const struct mark_voice *v)
{
	json_t *s = json_pack("{s:s,s:o}", "do", "voice", "text", json_from_str(v->text));

	if (v->lang.len)
		json_object_set_new(s, "lang", json_from_str(v->lang));
	if (v->rate.len)
		json_object_set_new(s, "rate", json_from_str(v->rate));
	return s;
}

static void add_rest(struct answer_plan *p)
{
	json_t *files = json_object_get(p->delivery, "files"), *f;
	size_t i;

	for (i = 0; i < p->marks.voice_count; i++)
		json_array_append_new(p->steps, voice_step(&p->marks.voices[i]));
	if (json_truth_of(p->delivery, "notice") && !p->chunks && json_array_size(files))
		add_text(p, json_array_size(files) == 1 ? S("One file:") : S("Files:"), false);
	json_array_foreach(files, i, f) add_attached(p, f);
}

void answer_drop(struct answer_plan *p)
{
	if (!p)
		return;
	p->bridge->deliveries.plan = NULL;
	json_decref(p->steps);
	json_decref(p->keyboard);
	buf_done(&p->text);
	buf_done(&p->whole);
	arena_done(&p->arena);
	free(p);
}

static void finish(struct answer_plan *p)
{
	void (*done)(void *data) = p->done;
	void *data = p->data;

	json_object_set(p->delivery, "steps", p->steps);
	json_object_set_new(p->delivery, "at", json_integer(0));
	answer_drop(p);
	done(data);
}

/* -- an answer -----------------------------------------------------------------------------------
 */

/* Whole lines, or at least whole characters. */
static struct str beginning(struct str text, size_t max)
{
	size_t at = max;

	while (at > max / 2 && text.p[at] != '\n')
		at--;
	if (at <= max / 2)
		for (at = max; at && ((unsigned char)text.p[at] & 0xc0) == 0x80;)
			at--;
	return str_sub(text, 0, at);
}

static void lay_out(struct answer_plan *p)
{
	struct str text = buf_str(&p->text);
	struct str tables = conf_text(&p->bridge->config, "tables");
	struct chunks chunks;

	bool more = text.len > SURELY_MORE;

	if (!str_trim(text).len && json_array_size(p->keyboard))
		text = S("Choose:");
	chunk_markdown(&p->arena, more ? beginning(text, SHOWN_OF_MORE) : text,
		&(struct markdown_options){ .narrow_tables = str_eq(tables, S("auto")) }, &chunks);
	p->chunks = chunks.count;
	if ((more || chunks.count > CHUNKS_MAX) && chunks.count && shorten(p, chunks.at[0], text))
		chunks.count = 0;
	add_chunks(p, &chunks, true);
	finish_text(p);
	add_rest(p);
	finish(p);
}

static void next_label(struct answer_plan *p);

static void on_label(void *data, struct str text)
{
	struct answer_plan *p = data;
	struct mark_button *m = &p->marks.buttons[p->label++];
	AUTO_JSON *action = json_pack("{s:o}", "prompt", json_from_str(m->prompt));
	struct str id = buttons_new(p->bridge, &p->arena, action);

	if (id.len && str_trim(text).len)
		json_array_append_new(p->keyboard, button_row(str_trim(text), id));
	next_label(p);
}

/* Labels are text that the person reads, so handlers see them; what a button sends they do not. */
static void next_label(struct answer_plan *p)
{
	if (p->label == MIN(p->marks.button_count, (size_t)BUTTONS_MAX))
		lay_out(p);
	else
		handlers_outbound_text(p->bridge, p->marks.buttons[p->label].label, on_label, p);
}

static void on_text(void *data, struct str text)
{
	struct answer_plan *p = data;

	buf_add(&p->text, text);
	next_label(p);
}

/* -- the others ----------------------------------------------------------------------------------
 */

/* The preview keeps its text and gets a mark, for which a full one has to give up its end. */
static void mark_preview(struct answer_plan *p, const char *mark)
{
	json_t *shown = json_object_get(p->delivery, "shown");
	bool html = json_truth_of(p->delivery, "shown_html");
	AUTO_BUF text = BUF_INIT;

	if (!json_number_of(p->delivery, "preview") || !json_is_string(shown))
		return;
	size_t room = MESSAGE_UNITS - unicode_units(str_of(mark));
	if (unicode_units(json_str(shown)) <= room) {
		buf_add(&text, json_str(shown));
	} else {
		AUTO_BUF plain = BUF_INIT;

		if (html)
			html_visible(&plain, json_str(shown));
		else
			buf_add(&plain, json_str(shown));
		html = false;
		buf_add(&text, unicode_cut(buf_str(&plain), room));
	}
	buf_adds(&text, mark);
	add_text(p, buf_str(&text), html);
	finish_text(p);
}

static void plan_aborted(struct answer_plan *p)
{
	mark_preview(p, "\n\n⏹ aborted");
	finish(p);
}

/* The reason is a message of its own. */
static void plan_error(struct answer_plan *p)
{
	mark_preview(p, "\n\n⚠ failed");
	add_plain(p);
	finish(p);
}

static void plan_line(struct answer_plan *p)
{
	json_t *again = json_object_get(p->delivery, "again");

	if (again) {
		AUTO_JSON *action = json_pack("{s:O}", "again", again);
		struct str id = buttons_new(p->bridge, &p->arena, action);

		if (id.len)
			json_array_append_new(p->keyboard, button_row(S("Run again"), id));
	}
	add_plain(p);
	finish_text(p);
	finish(p);
}

void answer_plan(struct bridge *b, json_t *delivery, void (*done)(void *data), void *data)
{
	struct answer_plan *p = mem_new(struct answer_plan);
	struct str kind = json_text_of(delivery, "kind");

	*p = (struct answer_plan){ .bridge = b,
		.delivery = delivery,
		.steps = json_array(),
		.keyboard = json_array(),
		.done = done,
		.data = data };
	b->deliveries.plan = p;
	if (str_eq(kind, S("aborted"))) {
		plan_aborted(p);
	} else if (str_eq(kind, S("error"))) {
		plan_error(p);
	} else if (str_eq(kind, S("line"))) {
		plan_line(p);
	} else {
		marks_read(&p->arena, ending_text(b, delivery, &p->whole), &p->marks);
		if (p->marks.unclosed)
			ring_add(&b->store, "delivery", S("a comment in the answer is not closed"),
				NULL);
		handlers_outbound_text(b, p->marks.text, on_text, p);
	}
}
