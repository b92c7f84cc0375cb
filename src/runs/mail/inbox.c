#include "runs/mail/inbox.h"

#include <string.h>

#include "base/atomic-file.h"
#include "base/clock.h"
#include "runs/mail/outbox.h"

static const char *const names[] = {
	[INBOX_QUEUED] = "queued",
	[INBOX_SENT] = "sent",
	[INBOX_CLAIMED] = "claimed",
	[INBOX_HANDLED] = "handled",
	[INBOX_FAILED] = "failed",
};

static bool read_status(struct str word, enum inbox_status *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!str_eq(word, str_of(names[i])))
			continue;
		*ret = (enum inbox_status)i;
		return true;
	}
	return false;
}

enum inbox_status inbox_status_of(const json_t *message)
{
	enum inbox_status s = INBOX_QUEUED;
	const json_t *word = json_object_get(message, "status");

	if (json_is_string(word))
		(void)read_status(json_str(word), &s);
	return s;
}

static bool is_text(const json_t *value, const char *text)
{
	return json_is_string(value) && str_eq(json_str(value), str_of(text));
}

enum inbox_line_kind inbox_line(
	const json_t *line, struct str *ret_id, enum inbox_status *ret_status)
{
	const json_t *type = json_object_get(line, "type"), *id = json_object_get(line, "id"),
		     *status = json_object_get(line, "status");

	if (is_text(type, LINES_MARKER))
		return INBOX_LINE_MARKER;
	if (type || json_object_get(line, "event") || !status)
		return INBOX_LINE_MESSAGE;
	if (!json_is_string(id) || !json_is_string(status) ||
		!read_status(json_str(status), ret_status))
		return INBOX_LINE_NONE;
	*ret_id = json_str(id);
	return INBOX_LINE_STATUS;
}

/* -- reading -------------------------------------------------------------------------------------
 */

static void set_text(json_t *m, const char *name, struct str text)
{
	(void)json_object_set_new_nocheck(m, name, json_from_str(text));
}

static void set_status(json_t *message, enum inbox_status status, const json_t *ts)
{
	AUTO_BUF at = BUF_INIT;

	set_text(message, "status", str_of(names[status]));
	buf_printf(&at, "%s_at", names[status]);
	if (json_is_string(ts))
		(void)json_object_set_nocheck(message, buf_cstr(&at), (json_t *)ts);
}

static void fold(struct inbox *i, json_t *message, enum inbox_status status, const json_t *line)
{
	static const char *const said[] = { "transport", "claimed_by", "error" };
	bool waited = inbox_status_of(message) == INBOX_QUEUED;

	/* "Queued" with an error takes a delivery back; without one the supervisor says that it has
	 * seen the message, which its sender may have delivered meanwhile. */
	if (status == INBOX_QUEUED && !json_object_get(line, "error"))
		return;
	if (status == INBOX_QUEUED)
		for (size_t s = 0; s < ARRAY_SIZE(said); s++)
			(void)json_object_del(message, said[s]);
	if (status == INBOX_QUEUED)
		set_text(message, "status", str_of(names[status]));
	else
		set_status(message, status, json_object_get(line, "ts"));
	for (size_t s = 0; s < ARRAY_SIZE(said); s++) {
		json_t *value = json_object_get(line, said[s]);

		if (value)
			(void)json_object_set_nocheck(message, said[s], value);
	}
	i->waiting += (status == INBOX_QUEUED) - (size_t)waited;
}

static void add_message(struct inbox *i, const json_t *raw, size_t index)
{
	json_t *message = message_complete(raw, &i->frame, index);
	enum inbox_status status = inbox_status_of(raw);

	/* As the table has them, the status last: it is what changes. */
	set_text(message, "status", str_of(names[status]));
	struct str id = json_str(json_object_get(message, "id"));
	void **known = map_put(&i->by_id, &i->arena, id);
	if (*known) {
		/* Carried over into a new file, or written again by a program. */
		json_t *before = *known;

		i->waiting -= inbox_status_of(before) == INBOX_QUEUED;
		(void)json_object_update(before, message);
		json_decref(message);
	} else {
		*known = message;
		vec_push(&i->messages, message);
	}
	i->waiting += status == INBOX_QUEUED;
}

static bool on_line(void *data, struct str line, size_t index)
{
	struct inbox *i = data;
	AUTO_JSON *raw = message_line_read(line);
	enum inbox_status status;
	struct str id;

	enum inbox_line_kind kind = raw ? inbox_line(raw, &id, &status) : INBOX_LINE_NONE;
	json_t *message = kind == INBOX_LINE_STATUS ? map_get(&i->by_id, id) : NULL;
	if (kind == INBOX_LINE_MESSAGE)
		add_message(i, raw, index);
	else if (message)
		fold(i, message, status, raw);
	else if (kind != INBOX_LINE_MARKER)
		i->skipped++;
	return true;
}

int inbox_read(const char *dir, const struct message_frame *f, struct inbox *ret)
{
	size_t too_long = 0;

	*ret = (struct inbox){ .frame = *f };
	int r = lines_each(dir, INBOX_FILE, on_line, ret, &too_long);
	ret->skipped += too_long;
	return r;
}

void inbox_done(struct inbox *i)
{
	vec_each (message, &i->messages)
		json_decref(*message);
	vec_done(&i->messages);
	arena_done(&i->arena);
}

/* -- writing -------------------------------------------------------------------------------------
 */

int inbox_hold(const char *dir, unsigned wait_ms)
{
	AUTO_BUF path = BUF_INIT;
	int fd = -1;

	buf_printf(&path, "%s/" INBOX_FILE, dir);
	return file_lock(buf_cstr(&path), wait_ms, &fd) == 0 ? fd : -1;
}

static void waiting_lines(struct buf *b, const struct inbox *now)
{
	vec_each (message, &now->messages) {
		if (inbox_status_of(*message) != INBOX_QUEUED)
			continue;
		json_write(b, *message, 0);
		buf_addc(b, '\n');
	}
}

int inbox_post(const char *dir, const json_t *message, const struct inbox *now, size_t limit)
{
	AUTO_JSON *queued = json_copy((json_t *)message);
	AUTO_BUF line = BUF_INIT;
	AUTO_BUF carry = BUF_INIT;
	AUTO_BUF ts = BUF_INIT;
	struct line_log log;

	clock_rfc3339(&ts, clock_real_ms());
	set_text(queued, "status", S("queued"));
	set_text(queued, "queued_at", buf_str(&ts));
	set_text(queued, "received_at", buf_str(&ts));
	json_write(&line, queued, 0);
	line_log_init(&log, dir, INBOX_FILE, limit);
	if (line_log_full(&log, line.len)) {
		waiting_lines(&carry, now);
		(void)line_log_rotate(&log, buf_str(&carry));
	}
	log.limit = 0; /* once is enough, also when what waits is as long as the limit */
	int r = line_log_append(&log, buf_str(&line));
	line_log_done(&log);
	return r;
}

static void add_member(struct buf *b, const char *name, const char *value)
{
	bool first = false;

	if (!value)
		return;
	json_member(b, name, &first);
	json_write_str(b, str_of(value));
}

int inbox_mark(const char *dir, struct str id, enum inbox_status status, const struct inbox_mark *m)
{
	AUTO_BUF line = BUF_INIT;
	struct line_log log;

	buf_adds(&line, "{\"id\":");
	json_write_str(&line, id);
	buf_printf(&line, ",\"status\":\"%s\",\"ts\":\"", names[status]);
	clock_rfc3339(&line, clock_real_ms());
	buf_addc(&line, '"');
	if (m) {
		add_member(&line, "transport", m->transport);
		add_member(&line, "claimed_by", m->claimed_by);
		add_member(&line, "error", m->error);
	}
	buf_addc(&line, '}');
	line_log_init(&log, dir, INBOX_FILE, 0);
	int r = line_log_append(&log, buf_str(&line));
	line_log_done(&log);
	return r;
}
