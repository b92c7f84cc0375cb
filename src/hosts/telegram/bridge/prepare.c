#include "hosts/telegram/bridge/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "hosts/telegram/bridge/bridge.h"
#include "hosts/telegram/bridge/handlers.h"
#include "hosts/telegram/rules/media.h"
#include "hosts/telegram/text/prompt.h"
#include "hosts/telegram/text/unicode.h"

enum {
	OUTPUT_UNITS = 12000,
	INJECTED_MAX = 1000000, /* bytes of a file of text */
	/* So many that wait are made ready before their time; the others when they come closer. */
	LOOKED_AT = 32,
};

/* The turn that is being prepared. */
struct preparing {
	struct bridge *bridge;
	struct arena arena;
	uint64_t item;
	json_t *turn;
	json_t *file; /* the one at hand */
	size_t at;    /* of the files that are still to be spoken for */
	struct api_call *call;
	int fd;
	bool again; /* its text was edited meanwhile */
};

static void fetch_next(struct preparing *p);
static void speak_next(struct preparing *p);

void prepare_start(struct bridge *b)
{
	b->preparing = NULL;
	b->prepare = true;
}

static void free_preparing(struct preparing *p)
{
	p->bridge->preparing = NULL;
	close_fd(&p->fd);
	json_decref(p->turn);
	arena_done(&p->arena);
	free(p);
}

void prepare_stop(struct bridge *b)
{
	if (b->preparing)
		free_preparing(b->preparing);
}

void prepare_new(struct bridge *b, json_t *turn, const json_t *messages)
{
	struct arena a = ARENA_INIT;
	struct media_files files;
	json_t *fetch = json_array();

	media_files(&a, messages, &files);
	for (size_t i = 0; i < files.count; i++) {
		const struct media_file *f = &files.at[i];

		json_array_append_new(fetch,
			json_pack("{s:o,s:o,s:o,s:o,s:I}", "id", json_from_str(f->id), "kind",
				json_from_str(f->kind), "name", json_from_str(f->name), "mime",
				json_from_str(f->mime), "size", (json_int_t)f->size));
	}
	json_object_set_new(turn, "ready",
		json_boolean(!files.count &&
			     !(json_text_of(turn, "text").len && handlers_change_inbound(b))));
	b->prepare |= !json_truth_of(turn, "ready");
	if (files.count)
		json_object_set(turn, "fetch", fetch);
	json_decref(fetch);
	arena_done(&a);
}

void prepare_fold(struct bridge *b, json_t *turn, json_t *earlier)
{
	json_t *fetch = json_object_get(earlier, "fetch"), *mine = json_object_get(turn, "fetch");
	json_t *changed = json_object_get(earlier, "changed");

	if (changed)
		json_object_set(earlier, "text", changed);
	if (!json_array_size(fetch))
		return;
	if (!mine)
		json_object_set_new(turn, "fetch", mine = json_array());
	json_array_extend(mine, fetch);
	json_object_del(earlier, "fetch");
	json_object_set_new(turn, "ready", json_false());
	b->prepare = true;
}

void prepare_edited(struct bridge *b, json_t *turn)
{
	if (!handlers_change_inbound(b))
		return;
	json_object_set_new(turn, "ready", json_false());
	json_object_del(turn, "changed");
	b->prepare = true;
	if (b->preparing)
		b->preparing->again = true;
}

/* -- the end -------------------------------------------------------------------------------------
 */

static json_t *outputs_of(struct preparing *p)
{
	json_t *outputs = json_object_get(p->turn, "outputs");

	if (!outputs)
		json_object_set_new(p->turn, "outputs", outputs = json_array());
	return outputs;
}

static void add_output(struct preparing *p, struct str text)
{
	json_array_append_new(outputs_of(p), json_from_str(unicode_cut(text, OUTPUT_UNITS)));
}

static void fill_outputs(json_t *turn)
{
	json_t *outputs = json_object_get(turn, "outputs"), *one;
	size_t i;

	json_array_foreach(outputs, i, one)
	{
		const char *path = json_string_value(json_object_get(one, "text_of"));
		AUTO_BUF text = BUF_INIT;

		if (path && file_read_regular(path, INJECTED_MAX, &text) < 0)
			buf_printf(&text, "%s is missing", path);
		if (path)
			json_array_set_new(outputs, i, json_from_str(str_trim(buf_str(&text))));
	}
}

void prepare_prompt(struct buf *ret, const json_t *turn)
{
	AUTO_JSON *copy = json_deep_copy((json_t *)turn);
	json_t *changed = json_object_get(turn, "changed"), *history, *one;
	size_t i;

	history = json_object_get(copy, "history");
	json_array_foreach(history, i, one) fill_outputs(one);
	fill_outputs(copy);
	if (changed)
		json_object_set(copy, "text", changed);
	/* A task gets what stands behind its name. */
	if (json_object_get(copy, "task") && !history) {
		json_object_set(copy, "text", json_object_get(copy, "instructions"));
		json_object_set_new(copy, "raw", json_true());
	}
	turn_prompt_of(ret, copy);
}

/* What is there now may have another text by now, or may be gone. */
static void settle(struct preparing *p)
{
	struct bridge *b = p->bridge;
	AUTO_JSON *now = waiting_get(b, p->item, NULL);
	bool again = p->again;

	if (now) {
		static const char *const made[] = { "files", "outputs", "changed" };

		for (size_t i = 0; i < ARRAY_SIZE(made); i++) {
			json_t *value = json_object_get(p->turn, made[i]);

			if (value && !(again && i == 2))
				json_object_set(now, made[i], value);
		}
		json_object_del(now, "fetch");
		json_object_set_new(now, "ready", json_boolean(!again));
		(void)waiting_edit(b, p->item, now);
		(void)bridge_note_store(b);
	}
	free_preparing(p);
	prepare_run(b);
	turns_dispatch(b);
}

static void on_text(void *data, struct str text)
{
	struct preparing *p = data;

	json_object_set_new(p->turn, "changed", json_from_str(text));
	settle(p);
}

static void change_text(struct preparing *p)
{
	struct str text = json_text_of(p->turn, "text");

	if (text.len && handlers_change_inbound(p->bridge))
		handlers_inbound_text(p->bridge, text, on_text, p);
	else
		settle(p);
}

/* -- what handlers say ---------------------------------------------------------------------------
 */

/* A file of text speaks for itself when no handler does. Its text stays in the file until the turn
 * begins: it may be larger than the queue holds. */
static void let_file_speak(struct preparing *p)
{
	struct stat st;
	json_t *path = json_object_get(p->file, "path");

	if (str_starts(json_text_of(p->file, "mime"), S("text/")) &&
		stat(json_string_value(path), &st) == 0 && st.st_size > 0 &&
		st.st_size <= INJECTED_MAX)
		json_array_append_new(outputs_of(p), json_pack("{s:O}", "text_of", path));
}

static void on_spoken(void *data, struct str said)
{
	struct preparing *p = data;

	said = str_trim(said);
	if (said.len)
		add_output(p, said);
	else
		let_file_speak(p);
	speak_next(p);
}

static void speak_next(struct preparing *p)
{
	json_t *files = json_object_get(p->turn, "fetched");

	p->file = json_array_get(files, p->at++);
	if (p->file)
		handlers_inbound_file(p->bridge, p->file, on_spoken, p);
	else
		change_text(p);
}

/* -- files ---------------------------------------------------------------------------------------
 */

static void next_file(struct preparing *p)
{
	json_array_remove(json_object_get(p->turn, "fetch"), 0);
	fetch_next(p);
}

/* The turn is not lost with the file: the prompt says what is missing, and why. */
static void missing(struct preparing *p, struct str why)
{
	AUTO_BUF text = BUF_INIT;
	struct str name = json_text_of(p->file, "name");

	buf_printf(&text, "%.*s is missing: %.*s", STR(name), STR(why));
	ring_add(&p->bridge->store, "download", buf_str(&text), NULL);
	add_output(p, buf_str(&text));
	next_file(p);
}

static void on_bytes(void *data, const struct api_answer *answer)
{
	struct preparing *p = data;
	const char *path = json_string_value(json_object_get(p->file, "path"));
	json_t *files;

	p->call = NULL;
	close_fd(&p->fd);
	if (answer->class != API_OK) {
		(void)unlink(path);
		missing(p, answer->description);
		return;
	}
	if (!(files = json_object_get(p->turn, "files")))
		json_object_set_new(p->turn, "files", files = json_array());
	json_array_append_new(files, json_string(path));
	if (!(files = json_object_get(p->turn, "fetched")))
		json_object_set_new(p->turn, "fetched", files = json_array());
	json_array_append(files, p->file);
	next_file(p);
}

static void on_file(void *data, const struct api_answer *answer)
{
	struct preparing *p = data;
	struct bridge *b = p->bridge;
	struct str path = json_text_of(answer->result, "file_path");

	p->call = NULL;
	if (answer->class != API_OK || !path.len) {
		missing(p, answer->description.len ? answer->description
						   : S("the service has no path"));
		return;
	}
	if (json_number_of(answer->result, "file_size") > (json_int_t)b->places.inbound_max) {
		missing(p, S("it is larger than allowed"));
		return;
	}
	struct str local = places_new_file(&b->places, &p->arena, json_text_of(p->file, "name"));
	p->fd = open(local.p, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (p->fd < 0) {
		missing(p, S("it could not be stored"));
		return;
	}
	json_object_set_new(p->file, "path", json_from_str(local));
	p->call = api_download(b->api, path, p->fd, b->places.inbound_max, on_bytes, p);
}

static void fetch_next(struct preparing *p)
{
	p->file = json_array_get(json_object_get(p->turn, "fetch"), 0);
	if (!p->file) {
		p->at = 0;
		speak_next(p);
	} else if (json_number_of(p->file, "size") > (json_int_t)p->bridge->places.inbound_max) {
		missing(p, S("it is larger than allowed"));
	} else {
		p->call = api_start(p->bridge->api, &(struct api_request){ .method = "getFile",
							    .params = json_pack("{s:O}", "file_id",
								    json_object_get(p->file, "id")),
							    .done = on_file,
							    .data = p });
	}
}

/* -- which one -----------------------------------------------------------------------------------
 */

struct unready {
	size_t seen;
	uint64_t item;
	json_t *turn;
};

static bool find_unready(void *data, uint64_t item, enum lane lane, const json_t *turn)
{
	struct unready *u = data;

	(void)lane;
	if (json_truth_of(turn, "ready"))
		return ++u->seen < LOOKED_AT;
	u->item = item;
	u->turn = json_deep_copy(turn);
	return false;
}

void prepare_run(struct bridge *b)
{
	struct unready u = { 0 };

	if (!b->prepare || b->preparing || b->state == BRIDGE_STOPPING || !bridge_speaks(b))
		return;
	waiting_each(b, 0, find_unready, &u);
	b->prepare = u.turn || u.seen == LOOKED_AT;
	if (!u.turn)
		return;
	struct preparing *p = mem_new(struct preparing);
	*p = (struct preparing){ .bridge = b, .item = u.item, .turn = u.turn, .fd = -1 };
	b->preparing = p;
	json_object_del(p->turn, "fetched");
	fetch_next(p);
}
