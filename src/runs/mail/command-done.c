#include "runs/mail/command-done.h"

#include "base/clock.h"
#include "base/utf8.h"
#include "runs/mail/policy.h"

enum {
	COMMAND_SHOWN = 4096, /* bytes of a command's text in its message */
	LINE_ROOM = 2000,     /* of most messages */
};

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

void command_done_files(struct buf *b, struct str dir)
{
	buf_adds(b, "{\"dir\":");
	json_write_str(b, dir);
	file_member(b, ",\"stdout\":", dir, "/stdout.log");
	file_member(b, ",\"stderr\":", dir, "/stderr.log");
	file_member(b, ",\"events\":", dir, "/events.jsonl");
	buf_addc(b, '}');
}

static void write_body(struct buf *b, const struct command_done *d)
{
	struct str command = d->command;
	AUTO_BUF cut = BUF_INIT;

	if (command.len > COMMAND_SHOWN) {
		buf_add(&cut, utf8_cut(command, COMMAND_SHOWN));
		buf_adds(&cut, "…");
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
	buf_add(b, d->files);
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

void command_done_line(struct buf *b, const struct command_done *d)
{
	struct policy_facts f = {
		.type = S("command.done"),
		.to = S("coordinator"),
		.has_code = true,
		.code = d->code,
		.others = d->others > 0,
	};
	AUTO_BUF text = BUF_INIT;
	bool first = true;

	buf_reserve(b, LINE_ROOM);
	text_member(b, "type", f.type, &first);
	text_member(b, "event", f.type, &first);
	text_member(b, "run", d->run, &first);
	text_member(b, "to", f.to, &first);
	buf_adds(&text, "run:");
	buf_add(&text, d->run);
	text_member(b, "from", buf_str(&text), &first);
	buf_reset(&text);
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
	write_body(b, d);
	size_t length = b->len - body;
	json_member(b, "data", &first);
	buf_reserve(b, length + 1); /* what is copied must not move meanwhile */
	buf_add(b, str_sub(buf_str(b), body, length));
	buf_addc(b, '}');
}
