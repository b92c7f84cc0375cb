#include "hosts/telegram/bridge/deliver.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "app/artifacts.h"
#include "base/atomic-file.h"
#include "base/path.h"
#include "hosts/telegram/bridge/answer.h"
#include "hosts/telegram/bridge/attachments.h"
#include "hosts/telegram/bridge/bridge.h"
#include "hosts/telegram/bridge/send.h"
#include "hosts/telegram/bridge/voice.h"
#include "hosts/telegram/rules/attach.h"
#include "hosts/telegram/text/html.h"

enum { AGAIN_MS = 60000 };

static void step(struct bridge *b);

static const char *key_of(struct bridge *b)
{
	return json_string_value(json_array_get(b->deliveries.keys, 0));
}

bool deliver_add(struct bridge *b, const json_t *delivery)
{
	char key[32];

	(void)snprintf(key, sizeof(key), "d/%016llx",
		(unsigned long long)store_count_up(&b->store, "deliveries"));
	if (!store_set(&b->store, key, delivery))
		return false;
	json_array_append_new(b->deliveries.keys, json_string(key));
	return true;
}

/* -- steps ---------------------------------------------------------------------------------------
 */

static void end_one(struct bridge *b)
{
	struct deliveries *d = &b->deliveries;

	(void)store_delete(&b->store, key_of(b));
	(void)bridge_note_store(b);
	json_array_remove(d->keys, 0);
	json_decref(TAKE(d->now));
	d->busy = false;
	if (json_array_size(d->keys))
		deliver_run(b);
	else
		turns_delivered(b);
}

/* The next one, after it is written down that this one is sent. */
static void stepped(struct bridge *b)
{
	struct deliveries *d = &b->deliveries;

	d->lost = false;
	json_object_set_new(d->now, "at", json_integer(json_number_of(d->now, "at") + 1));
	(void)store_set(&b->store, key_of(b), d->now);
	(void)bridge_note_store(b);
	step(b);
}

static void wait_for_service(struct bridge *b)
{
	struct deliveries *d = &b->deliveries;

	json_decref(TAKE(d->now));
	d->busy = false;
	d->waiting = true;
	timer_start(b->loop, &d->again, AGAIN_MS);
	turns_delivered(b); /* the queue does not wait with it */
}

static void add_line(struct bridge *b, const char *fmt, struct str about)
{
	struct deliveries *d = &b->deliveries;
	AUTO_BUF text = BUF_INIT;

	buf_printf(&text, fmt, STR(about));
	json_array_insert_new(json_object_get(d->now, "steps"),
		(size_t)json_number_of(d->now, "at") + 1,
		json_pack("{s:s,s:o,s:b}", "do", "text", "text", json_from_str(buf_str(&text)),
			"line", 1));
}

/* A text that the service refuses in every form is sent as a file: no answer is lost for its form.
 * A line about what could not be sent is not worth that. */
static bool as_file(struct bridge *b, json_t *s)
{
	struct arena a = ARENA_INIT;
	AUTO_BUF text = BUF_INIT;

	if (json_object_get(s, "path") || json_truth_of(s, "line"))
		return false;
	if (json_truth_of(s, "html"))
		html_visible(&text, json_text_of(s, "text"));
	else
		buf_add(&text, json_text_of(s, "text"));
	struct str path = places_new_file(&b->places, &a, S("answer.md"));
	bool ok = atomic_write(path.p, buf_str(&text), &(struct atomic_options){ .quick = true }) ==
		  0;
	if (ok) {
		json_object_set_new(s, "do", json_string("file"));
		json_object_set_new(s, "path", json_from_str(path));
		json_object_set_new(s, "name", json_string("answer.md"));
	}
	arena_done(&a);
	return ok;
}

/* An edit that the service refuses becomes a message of its own, and the old one is deleted. */
static bool without_edit(struct bridge *b, json_t *s)
{
	json_int_t edit = json_number_of(s, "edit");

	if (!edit)
		return false;
	json_object_del(s, "edit");
	send_delete(b, json_number_of(b->deliveries.now, "chat"), edit);
	return true;
}

static void on_sent(void *data, enum sent result, int64_t message)
{
	struct bridge *b = data;
	struct deliveries *d = &b->deliveries;
	json_t *s = d->stepping;

	(void)message;
	if (result == SENT_LATER || (result == SENT_LOST && d->lost)) {
		wait_for_service(b);
	} else if (result == SENT_LOST) {
		d->lost = true;
		step(b);
	} else if (result == SENT_FAILED && (without_edit(b, s) || as_file(b, s))) {
		step(b);
	} else {
		if (result == SENT_FAILED && json_object_get(s, "path"))
			add_line(b, "%.*s could not be sent", path_base(json_text_of(s, "path")));
		stepped(b);
	}
}

static void send_text(struct bridge *b, json_t *s)
{
	json_t *d = b->deliveries.now;
	bool first = json_number_of(d, "at") == 0;

	send_message(b,
		&(struct message){ .chat = json_number_of(d, "chat"),
			.reply_to = first ? json_number_of(d, "reply") : 0,
			.edit = json_number_of(s, "edit"),
			.text = json_text_of(s, "text"),
			.html = json_truth_of(s, "html"),
			.keyboard = json_object_get(s, "keyboard"),
			.category = "delivery" },
		on_sent, b);
}

/* Looked at again and not only when it was attached: it may have changed. */
static int open_file(struct bridge *b, const json_t *s, struct report *r)
{
	const char *path = json_string_value(json_object_get(s, "path"));
	const char *run = json_string_value(json_object_get(s, "run"));
	struct run_handle *h = run ? runs_open(b->app, run, r) : NULL;
	struct stat st;

	if (!run)
		return attachment_open(path, b->places.outbound_max, r);
	AUTO_CLOSE int fd = h ? artifact_open(h, json_text_of(s, "artifact"), r) : -1;
	run_close(h);
	if (fd < 0)
		return -1;
	int64_t size = fstat(fd, &st) == 0 ? (int64_t)st.st_size : -1;
	if (!attachment_refused(attach_file(size, b->places.outbound_max), path, size,
		    b->places.outbound_max, r))
		return -1;
	return take_fd(&fd);
}

static void send_path(struct bridge *b, json_t *s)
{
	struct arena a = ARENA_INIT;
	json_t *d = b->deliveries.now;
	const char *path = json_string_value(json_object_get(s, "path"));
	struct str name = json_text_of(s, "name");
	bool voice = json_truth_of(s, "voice");
	AUTO_REPORT r = REPORT_INIT;
	AUTO_CLOSE int fd = open_file(b, s, &r);

	if (fd < 0) {
		AUTO_BUF why = BUF_INIT;

		report_text(&r, REPORT_ERRORS, &why);
		ring_add(&b->store, "attachment", str_trim(buf_str(&why)), NULL);
		add_line(b, "%.*s could not be sent", path_base(str_of(path)));
		stepped(b);
	} else {
		send_file(b,
			&(struct send_file){ .chat = json_number_of(d, "chat"),
				.reply_to =
					json_number_of(d, "at") ? 0 : json_number_of(d, "reply"),
				.method = voice ? "sendVoice" : attach_method(str_of(path)),
				.field = voice ? "voice" : attach_field(str_of(path)),
				.fd = fd,
				.name = arena_cstr(&a, name.len ? name : path_base(str_of(path))),
				.category = voice ? "voice" : "attachment" },
			on_sent, b);
	}
	arena_done(&a);
}

static void on_spoken(void *data, const char *path, struct str why)
{
	struct bridge *b = data;
	json_t *s = b->deliveries.stepping;

	if (path) {
		json_object_set_new(s, "path", json_string(path));
		json_object_set_new(s, "voice", json_true());
		json_object_set_new(s, "do", json_string("file"));
		step(b);
		return;
	}
	if (why.len) {
		ring_add(&b->store, "voice", why, NULL);
		add_line(b, "The voice message could not be made.%.*s", S(""));
	}
	stepped(b);
}

static void step(struct bridge *b)
{
	struct deliveries *d = &b->deliveries;
	json_t *s = json_array_get(
		json_object_get(d->now, "steps"), (size_t)json_number_of(d->now, "at"));
	struct str what = json_text_of(s, "do");

	d->stepping = s;
	if (!s)
		end_one(b);
	else if (str_eq(what, S("voice")))
		voice_make(b, s, on_spoken, b);
	else if (str_eq(what, S("file")))
		send_path(b, s);
	else
		send_text(b, s);
}

/* -- one after the other -------------------------------------------------------------------------
 */

static void on_planned(void *data)
{
	struct bridge *b = data;

	(void)store_set(&b->store, key_of(b), b->deliveries.now);
	(void)bridge_note_store(b);
	step(b);
}

void deliver_run(struct bridge *b)
{
	struct deliveries *d = &b->deliveries;

	if (d->busy || d->waiting || b->blocked || !b->user || !bridge_speaks(b) ||
		b->state == BRIDGE_STOPPING) {
		if (!d->busy)
			turns_delivered(b);
		return;
	}
	if (!json_array_size(d->keys)) {
		turns_delivered(b);
		return;
	}
	d->now = store_get(&b->store, key_of(b));
	d->busy = true;
	d->lost = false;
	if (!d->now || json_number_of(d->now, "chat") != b->user)
		end_one(b); /* of a person who is not paired any more */
	else if (json_object_get(d->now, "steps"))
		step(b);
	else
		answer_plan(b, d->now, on_planned, b);
}

void deliver_again(struct bridge *b)
{
	if (b->deliveries.busy)
		return;
	b->deliveries.waiting = false;
	timer_stop(&b->deliveries.again);
	deliver_run(b);
}

static void on_again(struct timer *t)
{
	deliver_again(container_of(t, struct bridge, deliveries.again));
}

void deliver_start(struct bridge *b)
{
	AUTO_JSON *left = store_list(&b->store, "d/");
	json_t *pair;
	size_t i;

	b->deliveries.again.fire = on_again;
	b->deliveries.keys = json_array();
	json_array_foreach(left, i, pair)
		json_array_append(b->deliveries.keys, json_array_get(pair, 0));
	if (i)
		deliver_run(b);
}

void deliver_stop(struct bridge *b)
{
	timer_stop(&b->deliveries.again);
	answer_drop(b->deliveries.plan);
	json_decref(b->deliveries.now);
	json_decref(b->deliveries.keys);
}
