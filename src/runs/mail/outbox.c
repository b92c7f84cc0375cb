#include "runs/mail/outbox.h"

void outbox_init(struct line_log *l, const char *dir)
{
	line_log_init(l, dir, OUTBOX_FILE, LINES_MAX_BYTES);
}

int outbox_append(const char *dir, const json_t *message)
{
	AUTO_BUF line = BUF_INIT;
	struct line_log log;

	json_write(&line, message, 0);
	outbox_init(&log, dir);
	int r = line_log_append(&log, buf_str(&line));
	line_log_done(&log);
	return r;
}

json_t *message_line_read(struct str line)
{
	AUTO_REPORT ignored = REPORT_INIT;
	struct source source = { S("line"), str_trim(line) };

	/* Most lines that are not messages are plain text: where and why they are not JSON does not
	 * matter. */
	if (!str_starts(source.text, S("{")))
		return NULL;
	json_t *value = json_read(&source, &ignored);
	if (json_is_object(value))
		return value;
	json_decref(value);
	return NULL;
}

struct reading {
	const struct message_frame *frame;
	message_fn *see;
	void *data;
	size_t skipped;
};

static bool on_line(void *data, struct str line, size_t index)
{
	struct reading *g = data;
	AUTO_JSON *raw = message_line_read(line);

	if (!raw) {
		g->skipped++;
		return true;
	}
	AUTO_JSON *message = message_complete(raw, g->frame, index);
	g->see(g->data, message);
	return true;
}

int outbox_each(const char *dir, const struct message_frame *f, message_fn *see, void *data,
	size_t *ret_skipped)
{
	struct reading g = { f, see, data, 0 };
	size_t too_long = 0;
	int r = lines_each(dir, OUTBOX_FILE, on_line, &g, &too_long);

	if (ret_skipped)
		*ret_skipped = g.skipped + too_long;
	return r;
}
