#include "render/lines.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "render/live-text.h"

enum {
	FLUSH_BYTES = 4096,
	COMMAND_BYTES = 120, /* of a command in its line: a script may be an argument */
};

struct plain_lines {
	int fd;
	struct buf text;
};

struct plain_lines *plain_lines_new(int fd)
{
	struct plain_lines *l = mem_new(struct plain_lines);

	l->fd = fd;
	return l;
}

void plain_lines_free(struct plain_lines *l)
{
	if (!l)
		return;
	plain_lines_flush(l);
	buf_done(&l->text);
	free(l);
}

void plain_lines_flush(struct plain_lines *l)
{
	text_write(l->fd, buf_str(&l->text));
	buf_reset(&l->text);
}

/* "[1.0 gpt] " */
static void add_node(struct buf *b, const struct event *e)
{
	struct str label = e->label.len || !e->node ? e->label : e->node->label;

	buf_addc(b, '[');
	text_plain(b, e->path);
	if (label.len)
		buf_addc(b, ' ');
	text_plain(b, label);
	buf_adds(b, "] ");
}

static void add_start(struct buf *b, const struct event *e)
{
	AUTO_BUF command = BUF_INIT;
	size_t count = 0;

	while (e->argv && e->argv[count])
		count++;
	command_display(&command, e->argv, count);
	struct str head = utf8_cut(buf_str(&command), COMMAND_BYTES);
	add_node(b, e);
	buf_adds(b, "start ");
	text_plain(b, head);
	if (head.len < command.len)
		buf_adds(b, "…");
}

static void add_done(struct buf *b, const struct event *e)
{
	add_node(b, e);
	if (e->ok)
		buf_adds(b, "done");
	else if (e->timeout)
		buf_adds(b, "timed out");
	else if (e->signal)
		buf_printf(b, "failed with signal %d", e->signal);
	else if (e->code)
		buf_printf(b, "failed with code %d", e->code);
	else
		buf_adds(b, "failed");
	buf_adds(b, e->timeout && !e->ok ? " after " : " in ");
	clock_duration(b, e->ms);
}

static void add_stop(struct buf *b, const struct event *e, const char *what)
{
	buf_printf(b, "run %s", what);
	if (e->signal)
		buf_printf(b, " by signal %d", e->signal);
}

void plain_lines_event(void *lines, const struct event *e)
{
	struct plain_lines *l = lines;
	struct buf *b = &l->text;

	switch (e->kind) {
	case EVENT_COMMAND_START:
		add_start(b, e);
		break;
	case EVENT_COMMAND_DONE:
		add_done(b, e);
		break;
	case EVENT_NODE_SKIPPED:
		add_node(b, e);
		buf_adds(b, "skipped");
		break;
	case EVENT_NODE_REUSED:
		add_node(b, e);
		buf_printf(b, "reused: it ended %s before",
			e->ok        ? "well"
			: e->timeout ? "out of time"
				     : "with a failure");
		break;
	case EVENT_RUN_MESSAGE:
		buf_printf(b, "message of %" PRIu64 " bytes", e->bytes);
		break;
	case EVENT_NODE_RETRY:
		add_node(b, e);
		buf_printf(b, "retry, attempt %" PRIu64, e->attempt);
		break;
	case EVENT_RUN_CANCEL:
		add_stop(b, e, "cancelled");
		break;
	case EVENT_RUN_KILL:
		add_stop(b, e, "killed");
		break;
	case EVENT_RUN_START:
	case EVENT_STEP:
	case EVENT_NODE_START:
	case EVENT_NODE_DONE:
	case EVENT_COMMAND_OUTPUT:
	case EVENT_RUN_DONE:
	case EVENT_RUN_FAILED: /* the host says why, with all there is to say */
		return;
	}
	buf_addc(b, '\n');
	if (b->len > FLUSH_BYTES)
		plain_lines_flush(l);
}
