#include "app/record/mailbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "app/record/control-socket.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/vec.h"
#include "loop/notify.h"
#include "runs/dir/follower.h"
#include "runs/mail/endpoint.h"
#include "runs/mail/inbox.h"
#include "runs/mail/outbox.h"

enum { SENDER_MS = 500 };

/* What a file can have happen to it that matters here: it grows, or another takes its name. */
static const uint32_t file_events = IN_MODIFY | IN_MOVE_SELF | IN_DELETE_SELF | IN_ATTRIB;

/* A message that no program has taken for good. */
struct waiting {
	struct list link;
	struct buf id;
	off_t offset; /* of its line in the inbox */
	size_t length;
	size_t index;
	bool stop;   /* one of the words */
	bool flying; /* on its way through the socket */
};

struct mailbox {
	struct loop *loop;
	struct mailbox_options o;
	struct buf dir, run, owner;
	json_t *control;
	struct message_frame frame;
	struct notify notify; /* not open: messages are noticed when the supervisor looks */
	struct notify_file inbox_changes;
	ino_t watched;         /* the inbox that is watched */
	struct timer settled;  /* when the run has lasted long enough for that */
	struct follower inbox; /* as far as it has been read */
	bool silent;           /* what is read now was told before */
	/* struct waiting: those to push, in order of arrival, and those on their way */
	struct list letters, flying;
	struct map by_id;
	struct arena arena; /* of the map */
	struct control *socket;
	bool stop_delivered;
};

/* -- messages that wait --------------------------------------------------------------------------
 */

static void waiting_free(struct mailbox *m, struct waiting *w)
{
	*map_put(&m->by_id, &m->arena, buf_str(&w->id)) = NULL;
	list_remove(&w->link);
	buf_done(&w->id);
	free(w);
}

/* The message as it stands in the file, or NULL when it is not there any more. */
static json_t *read_waiting(struct mailbox *m, const struct waiting *w)
{
	AUTO_BUF line = BUF_INIT;

	buf_reserve(&line, w->length);
	ssize_t n = fd_read_at(m->inbox.fd, line.p, w->length, w->offset);
	if (n != (ssize_t)w->length)
		return NULL;
	AUTO_JSON *raw = message_line_read((struct str){ line.p, w->length });
	if (!raw)
		return NULL;
	json_t *message = message_complete(raw, &m->frame, w->index);
	if (str_eq(json_str(json_object_get(message, "id")), buf_str(&w->id)))
		return message;
	json_decref(message);
	return NULL;
}

static void set_flying(struct mailbox *m, struct waiting *w, bool flying)
{
	list_remove(&w->link);
	w->flying = flying;
	if (flying) {
		list_append(&m->flying, &w->link);
		return;
	}
	struct list *place = m->letters.next;
	while (place != &m->letters && list_entry(place, struct waiting, link)->index < w->index)
		place = place->next;
	list_insert_before(place, &w->link);
}

/* Gives the socket what waits, in order, until it takes no more. */
static void push_waiting(struct mailbox *m)
{
	while (m->socket && control_readers(m->socket) && !list_empty(&m->letters)) {
		struct waiting *w = list_entry(m->letters.next, struct waiting, link);
		AUTO_JSON *message = read_waiting(m, w);
		AUTO_BUF line = BUF_INIT;

		if (!message) {
			waiting_free(m, w); /* the file is not what it was */
			continue;
		}
		message_program_line(&line, message);
		set_flying(m, w, true);
		if (control_push(m->socket, buf_str(&w->id), buf_str(&line)))
			continue;
		set_flying(m, w, false);
		return;
	}
}

static void mark(
	struct mailbox *m, struct str id, enum inbox_status status, const struct inbox_mark *more)
{
	(void)inbox_mark(buf_cstr(&m->dir), id, status, more);
	if (m->o.durable)
		(void)lines_sync(buf_cstr(&m->dir), INBOX_FILE);
}

/* The sender waits for a word when the socket is the run's endpoint. */
static void answer_sender(struct mailbox *m, struct str id)
{
	struct endpoint e;

	endpoint_find(&e, buf_cstr(&m->dir), m->control);
	if (e.kind == ENDPOINT_SOCKET)
		mark(m, id, INBOX_QUEUED, NULL);
	endpoint_done(&e);
}

/* -- what the socket tells -----------------------------------------------------------------------
 */

static void on_ready(void *data)
{
	push_waiting(data);
}

static void on_delivered(void *data, struct str id)
{
	struct mailbox *m = data;
	struct waiting *w = map_get(&m->by_id, id);

	m->stop_delivered |= w && w->stop;
	mark(m, id, INBOX_SENT, &(struct inbox_mark){ .transport = "socket" });
}

static void on_returned(void *data, struct str id)
{
	struct mailbox *m = data;
	struct waiting *w = map_get(&m->by_id, id);

	if (!w) /* its reader has said what became of it */
		return;
	mark(m, id, INBOX_QUEUED, &(struct inbox_mark){ .error = "its reader went away" });
	set_flying(m, w, false);
}

static void on_finished(void *data, struct str id)
{
	struct mailbox *m = data;
	struct waiting *w = map_get(&m->by_id, id);

	if (w)
		waiting_free(m, w);
}

static void on_said(void *data, struct str line)
{
	struct mailbox *m = data;
	AUTO_JSON *raw = message_line_read(line);
	enum inbox_status status;
	struct str id;

	if (!raw || inbox_line(raw, &id, &status) != INBOX_LINE_STATUS || status == INBOX_QUEUED)
		return;
	mark(m, id, status,
		&(struct inbox_mark){
			.claimed_by = json_string_value(json_object_get(raw, "claimed_by")),
			.error = json_string_value(json_object_get(raw, "error")) });
}

/* -- lines of the inbox --------------------------------------------------------------------------
 */

static void message_seen(struct mailbox *m, const json_t *raw, const struct followed_line *line)
{
	AUTO_JSON *message = message_complete(raw, &m->frame, line->index);
	struct str id = json_str(json_object_get(message, "id"));
	enum inbox_status status = inbox_status_of(raw);
	struct waiting *w = map_get(&m->by_id, id);

	if (w) {
		/* Carried over into a new file. */
		w->offset = line->offset;
		w->length = line->text.len;
		return;
	}
	if (!m->silent && m->o.on_message)
		m->o.on_message(
			m->o.data, id, message_body_bytes(json_object_get(message, "body")));
	bool stop = message_is_stop(message);
	if (status != INBOX_QUEUED) {
		m->stop_delivered |= stop && !m->silent && status != INBOX_FAILED;
		return;
	}
	w = mem_new(struct waiting);
	buf_add(&w->id, id);
	w->offset = line->offset;
	w->length = line->text.len;
	w->index = line->index;
	w->stop = stop;
	*map_put(&m->by_id, &m->arena, id) = w;
	list_append(&m->letters, &w->link);
	if (m->silent)
		return;
	push_waiting(m);
	if (map_get(&m->by_id, id) == w && !w->flying)
		answer_sender(m, id);
}

static void status_seen(struct mailbox *m, struct str id, enum inbox_status s)
{
	struct waiting *w = map_get(&m->by_id, id);

	if (!w || s == INBOX_QUEUED)
		return;
	m->stop_delivered |= w->stop && !m->silent && s != INBOX_FAILED;
	/* Our own word that the socket took it: it may still come back. */
	if (s == INBOX_SENT && w->flying)
		return;
	waiting_free(m, w);
}

static bool line_seen(void *data, const struct followed_line *line)
{
	struct mailbox *m = data;
	enum inbox_status status;
	struct str id;
	AUTO_JSON *raw = message_line_read(line->text);
	enum inbox_line_kind kind = raw ? inbox_line(raw, &id, &status) : INBOX_LINE_NONE;

	if (kind == INBOX_LINE_MESSAGE)
		message_seen(m, raw, line);
	else if (kind == INBOX_LINE_STATUS)
		status_seen(m, id, status);
	return true;
}

/* -- reading it ----------------------------------------------------------------------------------
 */

/* Watches the inbox that is read now. True: it is another file than before. */
static bool watch_inbox(struct mailbox *m)
{
	if (!notify_is_open(&m->notify) || m->inbox.fd < 0 || m->watched == m->inbox.ino)
		return false;
	m->watched = m->inbox.ino;
	return notify_add_fd(&m->notify, &m->inbox_changes, m->inbox.fd, file_events) == 0;
}

/* Once more after a new file is watched: what came in between would not be told. */
static int look_now(struct mailbox *m)
{
	int r;

	do {
		r = follower_read(&m->inbox, line_seen, m);
	} while (watch_inbox(m));
	return r;
}

void mailbox_look(struct mailbox *m)
{
	/* Called for every command that ends: mostly there is nothing new, and of a short run not
	 * even the file. */
	if (m->inbox.fd < 0 ? access(buf_cstr(&m->inbox.path), F_OK) == 0
			    : !follower_idle(&m->inbox))
		(void)look_now(m);
}

static void on_inbox(struct notify_file *f, uint32_t events)
{
	(void)events;
	(void)look_now(container_of(f, struct mailbox, inbox_changes));
}

/* -- beginning and end ---------------------------------------------------------------------------
 */

/* Senders ring (ORDER_RING), so this is for programs that write into the files themselves. The
 * kernel takes its time to let go of it, which a short run would feel: only a run that lasts has
 * it. A user has a bounded number of these; without one, messages are noticed at the next look.
 */
static void on_settled(struct timer *t)
{
	struct mailbox *m = container_of(t, struct mailbox, settled);

	m->inbox.flags |= FOLLOW_CREATE; /* what is not there cannot be watched */
	if (notify_open(&m->notify) < 0)
		return;
	if (notify_start(m->loop, &m->notify) < 0) {
		notify_close(&m->notify);
		return;
	}
	(void)look_now(m);
}

static void start_socket(struct mailbox *m, struct report *r)
{
	struct control_calls calls = {
		.ready = on_ready,
		.delivered = on_delivered,
		.returned = on_returned,
		.finished = on_finished,
		.said = on_said,
		.data = m,
	};
	struct endpoint e;

	bool wanted = m->o.socket;
	if (m->control && !wanted) {
		endpoint_find(&e, buf_cstr(&m->dir), m->control);
		wanted = e.kind == ENDPOINT_SOCKET;
		endpoint_done(&e);
	}
	int error = wanted ? control_start(m->loop, buf_cstr(&m->dir), &calls, &m->socket) : 0;
	if (error < 0)
		(void)report_warning(r, (struct where){ 0 }, "no %s/" SOCKET_FILE ": %s",
			buf_cstr(&m->dir), strerror(-error));
}

struct mailbox *mailbox_start(struct loop *l, const struct mailbox_options *o, struct report *r)
{
	struct mailbox *m = mem_new(struct mailbox);

	m->loop = l;
	m->o = *o;
	notify_init(&m->notify);
	m->inbox_changes = (struct notify_file){ .wd = -1, .changed = on_inbox };
	follower_init(&m->inbox, o->dir, INBOX_FILE, o->inbox ? FOLLOW_CREATE : 0);
	list_init(&m->letters);
	list_init(&m->flying);
	buf_adds(&m->dir, o->dir);
	buf_add(&m->run, o->run);
	buf_add(&m->owner, o->owner);
	m->frame = (struct message_frame){ INBOX, buf_str(&m->run), buf_str(&m->owner) };
	m->control = o->control ? json_incref((json_t *)o->control) : NULL;
	m->settled.fire = on_settled;
	if (o->settle_ms)
		timer_start(l, &m->settled, o->settle_ms);
	bool nothing = o->fresh && !o->inbox;
	int error = nothing ? 0 : follower_open(&m->inbox);
	if (error < 0) {
		(void)report_system(r, (struct where){ 0 }, "cannot use %s: %s",
			buf_cstr(&m->inbox.path), strerror(-error));
		mailbox_stop(m);
		return NULL;
	}
	start_socket(m, r);
	m->silent = o->resumed;
	if (!nothing)
		(void)look_now(m);
	m->silent = false;
	if (!o->settle_ms)
		on_settled(&m->settled);
	return m;
}

bool mailbox_stop_delivered(struct mailbox *m)
{
	bool waits = false;

	mailbox_look(m);
	list_each (link, &m->letters)
		waits |= list_entry(link, struct waiting, link)->stop;
	if (waits && !m->stop_delivered) {
		/* The program may have acted on the word before its sender could write that it was
		 * delivered. The sender holds the inbox until it has. */
		AUTO_CLOSE UNUSED int held = inbox_hold(buf_cstr(&m->dir), SENDER_MS);

		mailbox_look(m);
	}
	return m->stop_delivered;
}

void mailbox_stop(struct mailbox *m)
{
	if (!m)
		return;
	timer_stop(&m->settled);
	control_stop(m->socket);
	notify_close(&m->notify);
	follower_done(&m->inbox);
	while (!list_empty(&m->letters))
		waiting_free(m, list_entry(m->letters.next, struct waiting, link));
	while (!list_empty(&m->flying))
		waiting_free(m, list_entry(m->flying.next, struct waiting, link));
	arena_done(&m->arena);
	json_decref(m->control);
	buf_done(&m->dir);
	buf_done(&m->run);
	buf_done(&m->owner);
	free(m);
}
