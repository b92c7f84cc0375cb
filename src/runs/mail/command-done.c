#include "runs/mail/command-done.h"

#include "base/clock.h"
#include "base/utf8.h"
#include "runs/mail/policy.h"

enum {
	COMMAND_SHOWN = 4096, /* bytes of a command's text in its message */
	LINE_ROOM = 2000,     /* of most messages */
};

static const struct str type = { "command.done", sizeof("command.done") - 1 };
static const struct str to = { "coordinator", sizeof("coordinator") - 1 };

static void text_member(struct buf *b, const char *name, struct str value, bool *first)
{
	json_member(b, name, first);
	json_write_str(b, value);
}

static void file_member(struct buf *b, const char *name, struct str dir, const char *file)
{
	buf_adds(b, name);
	json_write_str(b, dir);
	/* Behind the directory, inside its quotes. */
	buf_truncate(b, b->len - 1);
	buf_adds(b, file);
	buf_addc(b, '"');
}

void command_done_frame(struct command_done_frame *f, struct str run, struct str dir)
{
	AUTO_BUF from = BUF_INIT;
	bool first = true;

	text_member(&f->head, "type", type, &first);
	text_member(&f->head, "event", type, &first);
	text_member(&f->head, "run", run, &first);
	text_member(&f->head, "to", to, &first);
	buf_printf(&from, "run:%.*s", STR(run));
	text_member(&f->head, "from", buf_str(&from), &first);
	buf_adds(&f->files, "{\"dir\":");
	json_write_str(&f->files, dir);
	file_member(&f->files, ",\"stdout\":", dir, "/stdout.log");
	file_member(&f->files, ",\"stderr\":", dir, "/stderr.log");
	file_member(&f->files, ",\"events\":", dir, "/events.jsonl");
	buf_addc(&f->files, '}');
}

void command_done_frame_done(struct command_done_frame *f)
{
	buf_done(&f->head);
	buf_done(&f->files);
}

static void write_body(
	struct buf *b, const struct command_done_frame *frame, const struct command_done *d)
{
	struct str command = d->command;
	AUTO_BUF cut = BUF_INIT;

	if (command.len > COMMAND_SHOWN) {
		utf8_add_short(&cut, command, COMMAND_SHOWN);
		command = buf_str(&cut);
	}
	buf_adds(b, "{\"code\":");
	buf_add_int(b, d->code);
	buf_adds(b, ",\"command\":");
	json_write_str(b, command);
	buf_adds(b, d->killed ? ",\"killed\":true" : ",\"killed\":false");
	json_number_member(b, "activeSubagents", d->others);
	buf_adds(b, ",\"path\":");
	json_write_str(b, d->path);
	buf_adds(b, ",\"label\":");
	json_write_str_or_null(b, d->label);
	json_number_member(b, "attempt", d->attempt);
	json_number_member(b, "ms", d->ms);
	buf_adds(b, ",\"run_files\":");
	buf_add(b, buf_str(&frame->files));
	if (json_object_size(d->artifacts)) {
		buf_adds(b, ",\"artifacts\":");
		json_write(b, d->artifacts, 0);
	}
	buf_addc(b, '}');
}

static void write_summary(struct buf *b, const struct command_done *d)
{
	buf_adds(b, "Command ");
	buf_add(b, d->label.len ? d->label : d->path);
	buf_adds(b, d->code ? " failed with code " : " completed with code ");
	buf_add_int(b, d->code);
}

void command_done_line(
	struct buf *b, const struct command_done_frame *frame, const struct command_done *d)
{
	struct policy_facts f = {
		.type = type,
		.to = to,
		.has_code = true,
		.code = d->code,
		.others = d->others > 0,
	};
	AUTO_BUF text = BUF_INIT;
	bool first = false;

	buf_reserve(b, LINE_ROOM);
	buf_add(b, buf_str(&frame->head));
	write_summary(&text, d);
	text_member(b, "summary", buf_str(&text), &first);
	text_member(b, "level", str_of(level_name(policy_level(&f))), &first);
	text_member(b, "delivery", str_of(delivery_name(policy_delivery(&f))), &first);
	buf_reset(&text);
	clock_rfc3339(&text, clock_real_ms());
	text_member(b, "ts", buf_str(&text), &first);
	buf_reset(&text);
	message_id(&text);
	text_member(b, "id", buf_str(&text), &first);
	json_member(b, "body", &first);
	size_t body = b->len;
	write_body(b, frame, d);
	size_t length = b->len - body;
	json_member(b, "data", &first);
	buf_reserve(b, length + 1); /* what is copied must not move meanwhile */
	buf_add(b, str_sub(buf_str(b), body, length));
	buf_addc(b, '}');
}
