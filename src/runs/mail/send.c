#include "runs/mail/send.h"

#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "loop/notify.h"
#include "runs/mail/endpoint.h"
#include "runs/mail/outbox.h"

enum { HOLD_MS = 2000 };

/* -- a FIFO --------------------------------------------------------------------------------------
 */

static const char *fifo_excuse(int error)
{
	switch (-error) {
	case ENXIO:
	case EPIPE:
		return "its FIFO has no reader";
	case EAGAIN:
		return "its FIFO is full";
	case ENOENT:
		return "it has no FIFO yet";
	default:
		return "its FIFO cannot be written";
	}
}

/* What a FIFO cannot take whole is named to its reader, which finds it in the inbox. */
static void note_line(struct buf *b, const struct send_result *ret, size_t bytes)
{
	buf_adds(b, "{\"type\":\"inbox.note\",\"id\":");
	json_write_str(b, ret->id);
	buf_printf(b, ",\"bytes\":%zu,\"file\":\"" INBOX_FILE "\"}", bytes);
}

static void give_fifo(const struct send_request *q, const char *path, struct send_result *ret)
{
	AUTO_BUF line = BUF_INIT;

	message_program_line(&line, q->message);
	size_t bytes = line.len;
	int r = fifo_give(path, buf_str(&line));
	if (r == -EMSGSIZE) {
		buf_reset(&line);
		note_line(&line, ret, bytes);
		r = fifo_give(path, buf_str(&line));
		ret->noted = r == 0;
		ret->waits_for =
			r == 0 ? "it is too long for the FIFO, which got a note" : fifo_excuse(r);
		return;
	}
	ret->sent = r == 0;
	if (r < 0) {
		ret->waits_for = fifo_excuse(r);
		return;
	}
	ret->transport = "fifo";
	(void)inbox_mark(q->dir, ret->id, INBOX_SENT, &(struct inbox_mark){ .transport = "fifo" });
}

/* -- a socket ------------------------------------------------------------------------------------
 */

struct word {
	struct str id;
	bool said;
	enum inbox_status status;
};

static bool find_word(void *data, struct str line, size_t index)
{
	struct word *w = data;
	enum inbox_status status;
	struct str id;

	(void)index;
	if (!str_contains(line, w->id))
		return true;
	AUTO_JSON *raw = message_line_read(line);
	if (raw && inbox_line(raw, &id, &status) == INBOX_LINE_STATUS && str_eq(id, w->id)) {
		w->said = true;
		w->status = status;
	}
	return true;
}

/* The supervisor pushes the message to the programs that are connected, and writes into the inbox
 * what became of it. */
static bool await_word(const char *dir, struct word *w, unsigned wait_ms)
{
	uint64_t end = clock_mono_ms() + wait_ms;
	struct notify_file inbox = { 0 };
	struct notify changes;
	AUTO_BUF path = BUF_INIT;

	buf_printf(&path, "%s/" INBOX_FILE, dir);
	notify_init(&changes);
	bool watched = notify_open(&changes) == 0 &&
		       notify_add(&changes, &inbox, buf_cstr(&path), IN_MODIFY) == 0;
	while (watched && lines_each(dir, INBOX_FILE, find_word, w, NULL) == 0 && !w->said) {
		uint64_t now = clock_mono_ms();

		if (now >= end)
			break;
		(void)notify_wait(&changes, (int)(end - now));
	}
	notify_close(&changes);
	return w->said;
}

static void await_socket(const struct send_request *q, struct send_result *ret)
{
	struct word w = { .id = ret->id };

	if (!await_word(q->dir, &w, q->wait_ms))
		ret->waits_for = "the run's supervisor has not answered yet";
	else if (w.status == INBOX_QUEUED)
		ret->waits_for = "no program is connected to its socket";
	else
		ret->sent = true;
	ret->transport = ret->sent ? "socket" : NULL;
}

/* -- all of it -----------------------------------------------------------------------------------
 */

static bool failed(int error, const struct send_request *q, struct report *r)
{
	if (error == -ENOENT) /* it has ended since, and was archived or pruned */
		return report_error(
			r, (struct where){ 0 }, "run '%.*s' is gone", STR(q->frame.run));
	return report_system(r, (struct where){ 0 }, "cannot use %s/" INBOX_FILE ": %s", q->dir,
		strerror(-error));
}

enum send_outcome message_send(
	const struct send_request *q, struct send_result *ret, struct report *r)
{
	struct endpoint e;
	struct inbox now;

	*ret = (struct send_result){ .id = json_str(json_object_get(q->message, "id")) };
	/* Without the lock the count may be off by one, and that is all. */
	AUTO_CLOSE int held = inbox_hold(q->dir, HOLD_MS);
	int error = inbox_read(q->dir, &q->frame, &now);
	bool full = error == 0 && now.waiting >= INBOX_WAITING_MAX;
	if (error == 0 && !full)
		error = inbox_post(q->dir, q->message, &now, LINES_MAX_BYTES);
	if (error == 0 && !full && q->durable)
		error = lines_sync(q->dir, INBOX_FILE);
	ret->waiting = now.waiting + 1;
	inbox_done(&now);
	if (full)
		return SEND_BACKPRESSURE;
	if (error < 0) {
		(void)failed(error, q, r);
		return SEND_FAILED;
	}
	if (q->ring)
		q->ring(q->ring_data);
	endpoint_find(&e, q->dir, q->control);
	switch (e.kind) {
	case ENDPOINT_FIFO:
		give_fifo(q, buf_cstr(&e.path), ret);
		break;
	case ENDPOINT_SOCKET:
		close_fd(&held); /* the supervisor has it from here */
		await_socket(q, ret);
		break;
	case ENDPOINT_MAILBOX:
		ret->waits_for = "it looks into its inbox itself";
		break;
	case ENDPOINT_NONE:
		ret->waits_for = "it has no FIFO and no program is connected";
		break;
	}
	endpoint_done(&e);
	if (q->durable)
		(void)lines_sync(q->dir, INBOX_FILE); /* that it was delivered */
	return SEND_DONE;
}
