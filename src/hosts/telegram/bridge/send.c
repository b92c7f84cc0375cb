#include "hosts/telegram/bridge/send.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "hosts/telegram/bridge/bridge.h"
#include "hosts/telegram/bridge/buttons.h"
#include "hosts/telegram/text/html.h"
#include "hosts/telegram/text/redact.h"
#include "hosts/telegram/text/unicode.h"

enum { ANSWER_UNITS = 200 };

/* One message on its way. */
struct sending {
	struct list link; /* of bridge->sendings */
	struct bridge *bridge;
	json_t *params;
	const char *method, *category;
	struct api_upload upload; /* its descriptor and its name belong to the sending */
	int64_t edit, reply_to;
	enum api_patience patience;
	bool plain, bare, halved; /* what was tried already */
	char *rest;               /* of one that was cut in two; sent next */
	sent_fn *done;
	void *data;
};

static void start(struct sending *s);

static void finish(struct sending *s, enum sent result, int64_t id)
{
	sent_fn *done = s->done;
	void *data = s->data;

	list_remove(&s->link);
	json_decref(s->params);
	if (s->upload.field)
		close_fd(&s->upload.fd);
	free((char *)s->upload.name);
	free(s->rest);
	free(s);
	if (done)
		done(data, result, id);
}

void sends_start(struct bridge *b)
{
	list_init(&b->sendings);
}

void sends_stop(struct bridge *b)
{
	if (b->sendings.next)
		list_each_safe (link, &b->sendings)
			finish(list_entry(link, struct sending, link), SENT_LATER, 0);
}

static void record(struct sending *s, const struct api_answer *answer)
{
	struct bridge *b = s->bridge;

	ring_add(&b->store, s->category ? s->category : "api", answer->description,
		json_pack("{s:s,s:i}", "method", s->method, "status", answer->status));
	(void)bridge_note_store(b);
}

/* -- a simpler form ------------------------------------------------------------------------------
 */

static void make_plain(struct sending *s)
{
	AUTO_BUF text = BUF_INIT;

	html_visible(&text, json_text_of(s->params, "text"));
	json_object_set_new(s->params, "text", json_from_str(buf_str(&text)));
	json_object_del(s->params, "parse_mode");
	s->plain = true;
}

static void set_reply(json_t *params, int64_t reply_to)
{
	if (reply_to)
		json_object_set_new(params, "reply_parameters",
			json_pack("{s:I,s:b}", "message_id", (json_int_t)reply_to,
				"allow_sending_without_reply", 1));
}

static void send_new(struct sending *s)
{
	json_object_del(s->params, "message_id");
	set_reply(s->params, s->reply_to);
	s->method = "sendMessage";
	s->edit = s->reply_to = 0;
}

/* Keeps the first half and puts the rest aside, at a line or a space if there is one. */
static void halve(struct sending *s)
{
	if (json_object_get(s->params, "parse_mode"))
		make_plain(s);
	struct str text = json_text_of(s->params, "text");
	size_t at = text.len / 2;
	while (at > text.len / 4 && text.p[at] != '\n' && text.p[at] != ' ')
		at--;
	if (at <= text.len / 4)
		for (at = text.len / 2; at && ((unsigned char)text.p[at] & 0xc0) == 0x80;)
			at--;
	s->rest = strndup(text.p + at, text.len - at);
	json_object_set_new(s->params, "text", json_from_str(str_sub(text, 0, at)));
	s->halved = true;
}

/* Whether it is worth another try in another form, which is then made. */
static bool simplify(struct sending *s, const struct api_answer *answer)
{
	if (answer->class == API_PARSE_ENTITIES && !s->plain &&
		json_object_get(s->params, "parse_mode"))
		make_plain(s);
	else if (answer->class == API_MESSAGE_GONE && s->edit)
		send_new(s);
	else if (answer->class == API_TOO_LONG && !s->halved && !s->upload.field)
		halve(s);
	else if (answer->class == API_KEYBOARD && !s->bare) {
		json_object_del(s->params, "reply_markup");
		s->bare = true;
	} else if (answer->class == API_PHOTO_REFUSED && strcmp(s->method, "sendPhoto") == 0) {
		s->method = "sendDocument";
		s->upload.field = "document";
	} else
		return false;
	return true;
}

static enum sent result_of(const struct api_answer *answer)
{
	switch ((int)answer->class) {
	case API_LOST:
		return SENT_LOST;
	case API_BLOCKED:
	case API_FLOOD:
	case API_SERVER:
	case API_UNSENT:
	case API_TOKEN_REFUSED:
		return SENT_LATER;
	default:
		return SENT_FAILED;
	}
}

/* Those of a message that was cut in two stand under both. */
static void note_buttons(struct sending *s, int64_t message)
{
	if (!message || s->halved)
		return;
	buttons_sent(s->bridge,
		json_object_get(json_object_get(s->params, "reply_markup"), "inline_keyboard"),
		message);
}

static void on_answer(void *data, const struct api_answer *answer)
{
	struct sending *s = data;
	struct bridge *b = s->bridge;

	if (!answer) {
		finish(s, SENT_LATER, 0);
		return;
	}
	if (answer->class == API_OK || answer->class == API_UNCHANGED ||
		answer->class == API_UNREADABLE) {
		json_int_t id = json_number_of(answer->result, "message_id");

		if (!s->rest) {
			note_buttons(s, id ? id : s->edit);
			finish(s, SENT_OK, id ? id : s->edit);
			return;
		}
		json_object_set_new(s->params, "text", json_string(s->rest));
		json_object_del(s->params, "reply_parameters");
		s->reply_to = 0;
		free(TAKE(s->rest));
		send_new(s);
		start(s);
		return;
	}
	if (answer->class == API_BLOCKED)
		b->blocked = true;
	if (simplify(s, answer)) {
		start(s);
		return;
	}
	record(s, answer);
	finish(s, result_of(answer), 0);
}

static void start(struct sending *s)
{
	struct bridge *b = s->bridge;

	if (!bridge_speaks(b) || b->blocked) {
		finish(s, SENT_LATER, 0);
		return;
	}
	(void)api_start(b->api, &(struct api_request){ .method = s->method,
					.params = redact_json(s->params, b->token),
					.upload = s->upload,
					.patience = s->patience,
					.done = on_answer,
					.data = s });
}

void send_message(struct bridge *b, const struct message *m, sent_fn *done, void *data)
{
	struct sending *s = mem_new(struct sending);

	*s = (struct sending){ .bridge = b,
		.params = json_pack("{s:I,s:o}", "chat_id", (json_int_t)m->chat, "text",
			json_from_str(m->text)),
		.method = m->edit ? "editMessageText" : "sendMessage",
		.category = m->category,
		.edit = m->edit,
		.reply_to = m->reply_to,
		.patience = m->patience,
		.done = done,
		.data = data };
	list_append(&b->sendings, &s->link);
	if (m->edit)
		json_object_set_new(s->params, "message_id", json_integer(m->edit));
	else
		set_reply(s->params, m->reply_to);
	if (m->html)
		json_object_set_new(s->params, "parse_mode", json_string("HTML"));
	json_object_set_new(
		s->params, "link_preview_options", json_pack("{s:b}", "is_disabled", 1));
	if (m->keyboard && json_array_size(m->keyboard))
		json_object_set_new(s->params, "reply_markup",
			json_pack("{s:O}", "inline_keyboard", m->keyboard));
	start(s);
}

void send_file(struct bridge *b, const struct send_file *f, sent_fn *done, void *data)
{
	struct sending *s = mem_new(struct sending);

	*s = (struct sending){ .bridge = b,
		.params = json_pack("{s:I}", "chat_id", (json_int_t)f->chat),
		.method = f->method,
		.category = f->category,
		.upload = { f->field, fcntl(f->fd, F_DUPFD_CLOEXEC, 3), mem_strdup(f->name) },
		.done = done,
		.data = data };
	list_append(&b->sendings, &s->link);
	set_reply(s->params, f->reply_to);
	start(s);
}

void send_line(struct bridge *b, int64_t chat, int64_t reply_to, const char *fmt, ...)
{
	AUTO_BUF text = BUF_INIT;
	va_list args;

	va_start(args, fmt);
	buf_vprintf(&text, fmt, args);
	va_end(args);
	send_message(b,
		&(struct message){ .chat = chat, .reply_to = reply_to, .text = buf_str(&text) },
		NULL, NULL);
}

static void quick(struct bridge *b, const char *method, json_t *params, enum api_patience p)
{
	if (bridge_speaks(b))
		(void)api_start(b->api, &(struct api_request){ .method = method,
						.params = redact_json(params, b->token),
						.patience = p });
	json_decref(params);
}

void send_answer(struct bridge *b, struct str query, struct str text)
{
	json_t *params = json_pack("{s:o}", "callback_query_id", json_from_str(query));

	if (text.len)
		json_object_set_new(params, "text", json_from_str(unicode_cut(text, ANSWER_UNITS)));
	quick(b, "answerCallbackQuery", params, API_ONCE);
}

void send_no_keyboard(struct bridge *b, int64_t chat, int64_t message)
{
	quick(b, "editMessageReplyMarkup",
		json_pack("{s:I,s:I,s:{s:[]}}", "chat_id", (json_int_t)chat, "message_id",
			(json_int_t)message, "reply_markup", "inline_keyboard"),
		API_WAITS);
}

void send_delete(struct bridge *b, int64_t chat, int64_t message)
{
	quick(b, "deleteMessage",
		json_pack("{s:I,s:I}", "chat_id", (json_int_t)chat, "message_id",
			(json_int_t)message),
		API_WAITS);
}
