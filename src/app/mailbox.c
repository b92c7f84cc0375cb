#include "app/mailbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/control-socket.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/vec.h"
#include "runs/mail/endpoint.h"
#include "runs/mail/inbox.h"
#include "runs/mail/outbox.h"

enum { CHUNK = 64 * 1024, SENDER_MS = 500 };

/* What a file can have happen to it that matters here: it grows, or another takes its name. */
static const uint32_t file_events = IN_MODIFY | IN_MOVE_SELF | IN_DELETE_SELF | IN_ATTRIB;

/* A message that nobody has taken for good. */
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
	struct buf dir, inbox_path, outbox_path, run, owner;
	json_t *control;
	struct message_frame frame;
	struct watch watch;   /* of inotify */
	struct timer settled; /* when the run has lasted long enough for that */
	int inbox_watch, outbox_watch;
	/* The inbox, as far as it has been read: */
	int fd;
	dev_t dev;
	ino_t ino;
	off_t next;      /* to read */
	struct buf part; /* of a line that is not complete */
	bool skipping;   /* it is too long */
	size_t index;    /* of the next line */
	bool silent;     /* what is read now was told before */
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
	ssize_t n = pread(m->fd, line.p, w->length, w->offset);
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

/* The sender waits for a word when the socket is the run's endpoint. */
static void answer_sender(struct mailbox *m, struct str id)
{
	struct endpoint e;

	endpoint_find(&e, buf_cstr(&m->dir), m->control);
	if (e.kind == ENDPOINT_SOCKET)
		(void)inbox_mark(buf_cstr(&m->dir), id, INBOX_QUEUED, NULL);
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
	(void)inbox_mark(
		buf_cstr(&m->dir), id, INBOX_SENT, &(struct inbox_mark){ .transport = "socket" });
}

static void on_returned(void *data, struct str id)
{
	struct mailbox *m = data;
	struct waiting *w = map_get(&m->by_id, id);

	if (!w) /* its reader has said what became of it */
		return;
	(void)inbox_mark(buf_cstr(&m->dir), id, INBOX_QUEUED,
		&(struct inbox_mark){ .error = "its reader went away" });
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
	(void)inbox_mark(buf_cstr(&m->dir), id, status,
		&(struct inbox_mark){
			.claimed_by = json_string_value(json_object_get(raw, "claimed_by")),
			.error = json_string_value(json_object_get(raw, "error")) });
}

/* -- lines of the inbox --------------------------------------------------------------------------
 */

static void message_seen(struct mailbox *m, const json_t *raw, off_t offset, size_t length)
{
	AUTO_JSON *message = message_complete(raw, &m->frame, m->index);
	struct str id = json_str(json_object_get(message, "id"));
	enum inbox_status status = inbox_status_of(raw);
	struct waiting *w = map_get(&m->by_id, id);

	if (w) {
		/* Carried over into a new file. */
		w->offset = offset;
		w->length = length;
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
	w->offset = offset;
	w->length = length;
	w->index = m->index;
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

static void line_seen(struct mailbox *m, struct str line, off_t offset)
{
	enum inbox_status status;
	struct str id;
	AUTO_JSON *raw = message_line_read(line);
	enum inbox_line_kind kind = raw ? inbox_line(raw, &id, &status) : INBOX_LINE_NONE;

	if (kind == INBOX_LINE_MESSAGE)
		message_seen(m, raw, offset, line.len);
	else if (kind == INBOX_LINE_STATUS)
		status_seen(m, id, status);
	m->index += line.len > 0 && kind != INBOX_LINE_MARKER;
}

/* -- reading it ----------------------------------------------------------------------------------
 */

static void take_part(struct mailbox *m, struct str part)
{
	m->skipping |= m->part.len + part.len > LINE_MAX_BYTES;
	if (!m->skipping)
		buf_add(&m->part, part);
}

/* `end` is the offset of its end in the file. */
static void take_end(struct mailbox *m, off_t end)
{
	AUTO_BUF line = BUF_INIT;
	bool skip = m->skipping;

	buf_swap(&line, &m->part);
	m->skipping = false;
	if (skip)
		m->index++;
	else
		line_seen(m, buf_str(&line), end - (off_t)line.len);
}

/* Reads what the open file has more than before. */
static void read_more(struct mailbox *m)
{
	AUTO_FREE char *chunk = mem_alloc(CHUNK);
	struct stat st;
	ssize_t n;

	if (fstat(m->fd, &st) == 0 && st.st_size < m->next) {
		/* Somebody has cut it: what is there now was never read. */
		m->next = 0;
		buf_reset(&m->part);
	}
	while ((n = pread(m->fd, chunk, CHUNK, m->next)) > 0 || (n < 0 && errno == EINTR)) {
		struct str text = { chunk, n > 0 ? (size_t)n : 0 };
		off_t from = m->next;

		m->next += (off_t)text.len;
		for (size_t at = 0; at < text.len;) {
			size_t end = str_find(text, '\n', at);

			take_part(m, str_sub(text, at, end - at));
			if (end < text.len)
				take_end(m, from + (off_t)end);
			at = end + 1;
		}
	}
}

static void watch_file(struct mailbox *m, int fd, int *wd)
{
	AUTO_BUF path = BUF_INIT;

	if (m->watch.fd < 0)
		return;
	if (*wd >= 0)
		(void)inotify_rm_watch(m->watch.fd, *wd);
	/* By its descriptor: whatever has the name a moment later is another file. */
	buf_printf(&path, "/proc/self/fd/%d", fd);
	*wd = inotify_add_watch(m->watch.fd, buf_cstr(&path), file_events);
}

/* Opens the file that has the name now, and made if there is none. */
static int open_inbox(struct mailbox *m)
{
	struct stat st;
	int fd = file_open_regular(buf_cstr(&m->inbox_path), O_RDONLY | O_CREAT);

	if (fd < 0)
		return fd;
	(void)fstat(fd, &st);
	close_fd(&m->fd);
	m->fd = fd;
	m->dev = st.st_dev;
	m->ino = st.st_ino;
	m->next = 0;
	m->skipping = false;
	buf_reset(&m->part);
	watch_file(m, fd, &m->inbox_watch);
	return 0;
}

static void look_now(struct mailbox *m)
{
	struct stat st;

	if (m->fd >= 0)
		read_more(m);
	bool same = m->fd >= 0 && stat(buf_cstr(&m->inbox_path), &st) == 0 && st.st_dev == m->dev &&
		    st.st_ino == m->ino;
	if (!same && open_inbox(m) == 0)
		read_more(m);
}

void mailbox_look(struct mailbox *m)
{
	struct stat st;

	/* Called for every command that ends: mostly there is nothing new. */
	if (m->fd >= 0 && fstat(m->fd, &st) == 0 && st.st_nlink && st.st_size == m->next)
		return;
	look_now(m);
}

static void look_outbox(struct mailbox *m, uint32_t mask)
{
	if (m->outbox_watch < 0 || mask & ~(uint32_t)IN_MODIFY) {
		AUTO_CLOSE int fd =
			file_open_regular(buf_cstr(&m->outbox_path), O_RDONLY | O_CREAT);

		if (fd >= 0)
			watch_file(m, fd, &m->outbox_watch);
	}
	if (mask)
		m->o.on_outbox(m->o.data);
}

static void on_notify(struct watch *w, uint32_t events)
{
	struct mailbox *m = container_of(w, struct mailbox, watch);
	_Alignas(struct inotify_event) char text[4096];
	bool inbox = false;
	uint32_t outbox = 0;
	ssize_t n;

	(void)events;
	while ((n = read(w->fd, text, sizeof(text))) > 0) {
		for (ssize_t at = 0; at < n;) {
			const struct inotify_event *e = (const void *)(text + at);

			if (e->wd == m->outbox_watch || e->mask & IN_Q_OVERFLOW)
				outbox |= e->mask;
			if (e->wd == m->inbox_watch || e->mask & IN_Q_OVERFLOW)
				inbox = true;
			at += (ssize_t)(sizeof(*e) + e->len);
		}
	}
	if (outbox && m->o.on_outbox)
		look_outbox(m, outbox);
	if (inbox)
		look_now(m);
}

/* -- beginning and end ---------------------------------------------------------------------------
 */

/* Senders ring (ORDER_RING), so this is for programs that write into the files themselves. The
 * kernel takes its time to let go of it, which a short run would feel: only a run that lasts has
 * it. A user has a bounded number of these; without one, messages are noticed when somebody looks.
 */
static void on_settled(struct timer *t)
{
	struct mailbox *m = container_of(t, struct mailbox, settled);
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	if (fd >= 0 && watch_start(m->loop, &m->watch, fd, EPOLLIN) < 0) {
		close_fd(&fd);
		return;
	}
	if (fd < 0)
		return;
	if (m->fd >= 0)
		watch_file(m, m->fd, &m->inbox_watch);
	if (m->o.on_outbox)
		look_outbox(m, 0);
	look_now(m);
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

	endpoint_find(&e, buf_cstr(&m->dir), m->control);
	bool wanted = m->o.socket || (m->control && e.kind == ENDPOINT_SOCKET);
	endpoint_done(&e);
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
	m->fd = m->watch.fd = m->inbox_watch = m->outbox_watch = -1;
	m->watch.ready = on_notify;
	list_init(&m->letters);
	list_init(&m->flying);
	buf_adds(&m->dir, o->dir);
	buf_printf(&m->inbox_path, "%s/" INBOX_FILE, o->dir);
	buf_printf(&m->outbox_path, "%s/" OUTBOX_FILE, o->dir);
	buf_add(&m->run, o->run);
	buf_add(&m->owner, o->owner);
	m->frame = (struct message_frame){ INBOX, buf_str(&m->run), buf_str(&m->owner) };
	m->control = o->control ? json_incref((json_t *)o->control) : NULL;
	m->settled.fire = on_settled;
	if (o->settle_ms)
		timer_start(l, &m->settled, o->settle_ms);
	int error = open_inbox(m);
	if (error < 0) {
		(void)report_system(r, (struct where){ 0 }, "cannot use %s: %s",
			buf_cstr(&m->inbox_path), strerror(-error));
		mailbox_stop(m);
		return NULL;
	}
	start_socket(m, r);
	if (o->on_outbox)
		look_outbox(m, 0);
	m->silent = o->resumed;
	read_more(m);
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
		AUTO_CLOSE int held = inbox_hold(buf_cstr(&m->dir), SENDER_MS);

		mailbox_look(m);
	}
	return m->stop_delivered;
}

void mailbox_stop(struct mailbox *m)
{
	if (!m)
		return;
	int notify = m->watch.fd;

	timer_stop(&m->settled);
	control_stop(m->socket);
	watch_stop(&m->watch);
	close_fd(&notify);
	close_fd(&m->fd);
	while (!list_empty(&m->letters))
		waiting_free(m, list_entry(m->letters.next, struct waiting, link));
	while (!list_empty(&m->flying))
		waiting_free(m, list_entry(m->flying.next, struct waiting, link));
	arena_done(&m->arena);
	json_decref(m->control);
	buf_done(&m->dir);
	buf_done(&m->inbox_path);
	buf_done(&m->outbox_path);
	buf_done(&m->run);
	buf_done(&m->owner);
	buf_done(&m->part);
	free(m);
}
