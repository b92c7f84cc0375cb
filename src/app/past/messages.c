#include "app/messages.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app/past/elsewhere.h"
#include "app/past/find.h"
#include "app/record/freeze.h"
#include "base/mem.h"
#include "base/near.h"
#include "runs/dir/follower.h"
#include "runs/dir/identity.h"
#include "runs/mail/outbox.h"
#include "runs/mail/send.h"

enum { SUPERVISOR_MS = 1000 }; /* how long its word about a socket is waited for */

void message_answer_done(struct message_answer *a)
{
	buf_done(&a->id);
}

static const struct {
	const char *type, *order;
} host_orders[] = {
	{ "control.kill", "kill" },
	{ "control.archive", "archive" },
	{ "control.prune", "prune" },
};

const char *messages_host_order(struct str type)
{
	for (size_t i = 0; i < ARRAY_SIZE(host_orders); i++)
		if (str_eq(type, str_of(host_orders[i].type)))
			return host_orders[i].order;
	return NULL;
}

/* -- the run -------------------------------------------------------------------------------------
 */

static bool running(const struct message_request *q, const struct run_look *look, struct report *r)
{
	if (!look->live)
		return refuse_ended(look->id, look->status, r);
	if (q->generation.len && look->generation.len && !str_eq(q->generation, look->generation)) {
		report_refuse(r, look->id, "another generation",
			"run '%.*s' has been started again: it is generation '%.*s' now",
			STR(look->id), STR(look->generation));
		return report_hint(r, "the run that this program belongs to has ended");
	}
	return true;
}

/* -- writing -------------------------------------------------------------------------------------
 */

/* The envelope with what was said apart from it. NULL with an issue. */
static json_t *gather(const struct message_request *q, struct report *r)
{
	json_t *m = q->envelope ? json_copy((json_t *)q->envelope) : json_object();
	static const char *const names[] = { "to", "from" };
	struct str given[] = { q->to, q->from };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const json_t *said = json_object_get(m, names[i]);
		struct address ignored;

		if (!given[i].len)
			continue;
		if (i == 0 && said && !(json_is_string(said) && str_eq(json_str(said), given[i]))) {
			report_error(r, (struct where){ 0 }, "the message has two of 'to'");
			report_hint(r, "give it once: by itself or in the envelope");
			json_decref(m);
			return NULL;
		}
		if (said)
			continue;
		if (i == 0 && !address_check(given[i], "to", &ignored, r)) {
			json_decref(m);
			return NULL;
		}
		(void)json_object_set_new_nocheck(m, names[i], json_from_str(given[i]));
	}
	return m;
}

static struct message_frame frame_of(const struct run_look *look, enum message_box box)
{
	return (struct message_frame){ box, look->run, look->row.owner };
}

/* The message that was asked for: everything that can be wrong with it is found here. */
static json_t *compose(
	const struct message_request *q, const struct message_frame *f, struct report *r)
{
	AUTO_JSON *given = gather(q, r);

	return given ? message_compose(given, q->type, q->body, f, r) : NULL;
}

static struct str accepted_type(const json_t *entry)
{
	const json_t *type = json_is_object(entry) ? json_object_get(entry, "type") : entry;

	return json_str(type);
}

/* `mailbox.accepts` of a recipe is advice. */
static void warn_unexpected(const json_t *start, struct str type, struct report *r)
{
	const json_t *accepts = json_object_get(json_object_get(start, "mailbox"), "accepts");
	struct near near = near_to(type);
	const json_t *entry;
	size_t i;

	if (!json_array_size(accepts))
		return;
	json_array_foreach(accepts, i, entry)
	{
		if (str_eq(accepted_type(entry), type))
			return;
		near_offer(&near, accepted_type(entry));
	}
	(void)report_warning(r, (struct where){ 0 },
		"the recipe does not say that it accepts messages of type '%.*s'", STR(type));
	struct str best = near_best(&near);
	if (best.len)
		report_hint(r, "did you mean '%.*s'?", STR(best));
}

/* The supervisor need not watch for what it is sent. A host does: the signal would end it. */
static void ring(void *data)
{
	const struct run_look *look = data;
	bool deaf = !look->start || look_embedded(look);
	AUTO_CLOSE int pidfd = deaf ? -1 : look_supervisor(&look->row);

	if (pidfd >= 0)
		(void)identity_signal(pidfd, RING_SIGNAL, 0);
}

static bool deliver(const struct run_look *look, const json_t *message, struct message_answer *ret,
	struct report *r)
{
	struct send_request s = {
		.dir = look->dir.p,
		.frame = frame_of(look, INBOX),
		.control = json_object_get(look->start, "control"),
		.message = message,
		.ring = ring,
		.ring_data = (void *)look,
		.durable = json_is_true(json_object_get(look->start, "durable")),
		.wait_ms = SUPERVISOR_MS,
	};
	struct send_result result;

	switch (message_send(&s, &result, r)) {
	case SEND_FAILED:
		return report_has_system(r) ? false : refuse_gone(look->id, r);
	case SEND_BACKPRESSURE:
		report_refuse(r, look->id, "backpressure",
			"run '%.*s' has %d messages that it has not taken", STR(look->id),
			INBOX_WAITING_MAX);
		report_hint(r, "wait until it has");
		report_action(r, ACTION_MESSAGES, look->id);
		return report_action(r, ACTION_KILL, look->id);
	case SEND_DONE:
		break;
	}
	buf_add(&ret->id, result.id);
	ret->sent = result.sent;
	ret->queued = !result.sent;
	ret->transport = result.transport;
	ret->waits_for = result.waits_for;
	return true;
}

bool messages_send(struct app *a, const struct message_request *q, struct message_answer *ret,
	struct report *r)
{
	struct run_look look = { 0 };
	bool ok = false;

	*ret = (struct message_answer){ 0 };
	if (find_run(a, q->run, &look, r)) {
		struct message_frame f = frame_of(&look, INBOX);
		AUTO_JSON *message = compose(q, &f, r);

		if (message && running(q, &look, r)) {
			warn_unexpected(look.start, json_str(json_object_get(message, "type")), r);
			ok = deliver(&look, message, ret, r);
		}
	}
	look_done(&look);
	return ok;
}

/* What a program says, without the secrets of its run: nothing but people and hosts reads it. What
 * roux says of it stays, whatever a secret is spelled like. A new reference. */
static json_t *without_secrets(struct str dir, const json_t *message)
{
	static const char *const ours[] = { "run", "level", "delivery", "ts", "id" };
	bool known; /* what is not known here is hidden where it is shown */
	struct mask *mask = freeze_mask(dir, &known);
	json_t *shown = mask_members(mask, message);

	mask_free(mask);
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		(void)json_object_set_nocheck(shown, ours[i], json_object_get(message, ours[i]));
	return shown;
}

bool messages_emit(struct app *a, const struct message_request *q, struct message_answer *ret,
	struct report *r)
{
	struct run_look look = { 0 };
	bool ok = false;

	*ret = (struct message_answer){ 0 };
	if (find_any_run(a, q->run, &look, r)) {
		struct message_frame f = frame_of(&look, OUTBOX);
		AUTO_JSON *message = compose(q, &f, r);

		if (message && running(q, &look, r)) {
			AUTO_JSON *shown = without_secrets(look.dir, message);
			int error = outbox_append(look.dir.p, shown);

			if (error == 0 && json_is_true(json_object_get(look.start, "durable")))
				error = lines_sync(look.dir.p, OUTBOX_FILE);
			ok = error == 0 || report_system(r, (struct where){ 0 },
						   "cannot write %.*s/" OUTBOX_FILE ": %s",
						   STR(look.dir), strerror(-error));
			buf_add(&ret->id, json_str(json_object_get(message, "id")));
			ret->sent = ok;
		}
	}
	look_done(&look);
	return ok;
}

/* -- reading -------------------------------------------------------------------------------------
 */

static void add_message(void *data, const json_t *message)
{
	(void)json_array_append(data, (json_t *)message);
}

/* What its sender chose to say. That a command has ended is said by roux, without secrets. */
static void hide_texts(json_t *box)
{
	static const char *const texts[] = { "summary", "body", "data", "metadata", "error" };
	json_t *message;
	size_t i;

	json_array_foreach(box, i, message)
	{
		if (str_eq(json_text_of(message, "type"), S("command.done")))
			continue;
		for (size_t n = 0; n < ARRAY_SIZE(texts); n++)
			if (json_object_get(message, texts[n]))
				(void)json_object_set_new_nocheck(
					message, texts[n], json_string(MASKED));
	}
}

/* The inbox has what the program was sent, and programs write lines of their own. */
static void mask_view(struct str dir, struct messages_view *v)
{
	bool known;
	struct mask *mask = freeze_mask(dir, &known);
	json_t *inbox = mask_members(mask, v->inbox), *outbox = mask_members(mask, v->outbox);

	mask_free(mask);
	json_decref(v->inbox);
	json_decref(v->outbox);
	v->inbox = inbox;
	v->outbox = outbox;
	v->hidden = !known;
	if (v->hidden) {
		hide_texts(v->inbox);
		hide_texts(v->outbox);
	}
}

bool messages_read(struct app *a, const char *run, struct messages_view *ret, struct report *r)
{
	struct run_look look = { 0 };
	bool ok = false;

	if (find_run(a, run, &look, r)) {
		struct message_frame in = frame_of(&look, INBOX), out = frame_of(&look, OUTBOX);
		struct inbox inbox;

		*ret = (struct messages_view){ .inbox = json_array(), .outbox = json_array() };
		int error = inbox_read(look.dir.p, &in, &inbox);
		vec_each (message, &inbox.messages)
			(void)json_array_append(ret->inbox, *message);
		ret->skipped_in = inbox.skipped;
		inbox_done(&inbox);
		if (error == 0)
			error = outbox_each(
				look.dir.p, &out, add_message, ret->outbox, &ret->skipped_out);
		ok = error == 0 ||
		     report_system(r, (struct where){ 0 }, "cannot read the messages in %.*s: %s",
			     STR(look.dir), strerror(-error));
		if (ok)
			mask_view(look.dir, ret);
		else
			messages_view_done(ret);
	}
	look_done(&look);
	return ok;
}

void messages_view_done(struct messages_view *v)
{
	json_decref(v->inbox);
	json_decref(v->outbox);
	*v = (struct messages_view){ 0 };
}

/* -- as they come --------------------------------------------------------------------------------
 */

struct message_follower {
	struct follower lines;
	struct buf run, owner;
	void (*see)(void *data, const json_t *message);
	void *data;
};

struct message_follower *messages_follow(const struct run_handle *h)
{
	const struct run_look *look = elsewhere_look(h);
	AUTO_BUF dir = BUF_INIT;
	struct stat st;

	if (!look)
		return NULL;
	struct message_follower *f = mem_new(struct message_follower);
	buf_add(&dir, look->dir);
	buf_add(&f->run, look->run);
	buf_add(&f->owner, look->row.owner);
	follower_init(&f->lines, buf_cstr(&dir), OUTBOX_FILE, 0);
	/* What is there is known already. */
	if (follower_open(&f->lines) == 0 && f->lines.fd >= 0 && fstat(f->lines.fd, &st) == 0)
		f->lines.next = st.st_size;
	return f;
}

void messages_follow_end(struct message_follower *f)
{
	if (!f)
		return;
	follower_done(&f->lines);
	buf_done(&f->run);
	buf_done(&f->owner);
	free(f);
}

static bool see_followed(void *data, const struct followed_line *line)
{
	const struct message_follower *f = data;
	const struct message_frame frame = { OUTBOX, buf_str(&f->run), buf_str(&f->owner) };
	AUTO_JSON *read = line->marker ? NULL : message_line_read(line->text);

	if (!read || str_eq(json_text_of(read, "type"), S("command.done")))
		return true;
	AUTO_JSON *message = message_complete(read, &frame, line->index);
	f->see(f->data, message);
	return true;
}

void messages_follow_read(
	struct message_follower *f, void (*see)(void *data, const json_t *message), void *data)
{
	f->see = see;
	f->data = data;
	(void)follower_read(&f->lines, see_followed, f);
}

void message_body_preview(struct buf *b, const json_t *message)
{
	message_preview(b, message);
}

bool message_is_address(struct str text)
{
	struct address ignored;

	return address_read(text, &ignored);
}
