#include "graph/event.h"

#include "base/clock.h"
#include "data/json.h"

/* One row an event: its name and which members it has on its line. */
enum member {
	HAS_PATH = 1 << 0,
	HAS_LABEL = 1 << 1,
	HAS_ARGV = 1 << 2,
	HAS_ATTEMPT = 1 << 3,
	HAS_END = 1 << 4, /* code, signal, timeout, ms, stdout_bytes */
	HAS_RUN = 1 << 5,
	HAS_SIGNAL = 1 << 6,
	HAS_STATUS = 1 << 7,
	HAS_ERROR = 1 << 8,
	HAS_MESSAGE = 1 << 9, /* id, bytes */
	HAS_STEP = 1 << 10,   /* its own name and members */
};

static const struct {
	const char *name;
	unsigned members;
} kinds[] = {
	[EVENT_RUN_START] = { "run.start", HAS_RUN },
	[EVENT_NODE_START] = { NULL, 0 },
	[EVENT_NODE_DONE] = { NULL, 0 },
	[EVENT_COMMAND_START] = { "command.start", HAS_PATH | HAS_LABEL | HAS_ARGV | HAS_ATTEMPT },
	[EVENT_COMMAND_OUTPUT] = { NULL, 0 },
	[EVENT_COMMAND_DONE] = { "command.done", HAS_PATH | HAS_ATTEMPT | HAS_END },
	[EVENT_NODE_SKIPPED] = { "node.skipped", HAS_PATH | HAS_LABEL },
	[EVENT_NODE_REUSED] = { "node.reused", HAS_PATH | HAS_LABEL | HAS_ATTEMPT | HAS_END },
	[EVENT_NODE_RETRY] = { "node.retry", HAS_PATH | HAS_LABEL | HAS_ATTEMPT },
	[EVENT_STEP] = { "step", HAS_PATH | HAS_STEP },
	[EVENT_RUN_MESSAGE] = { "run.message", HAS_MESSAGE },
	[EVENT_RUN_CANCEL] = { "run.cancel", HAS_SIGNAL },
	[EVENT_RUN_KILL] = { "run.kill", HAS_SIGNAL },
	[EVENT_RUN_DONE] = { "run.done", HAS_STATUS },
	[EVENT_RUN_FAILED] = { "run.failed", HAS_STATUS | HAS_ERROR },
};

bool event_is(const struct event *e, const char *name)
{
	return e->kind == EVENT_STEP && str_eq(e->name, str_of(name));
}

uint64_t event_number(const struct event *e, const char *member)
{
	AUTO_BUF key = BUF_INIT;
	uint64_t number = 0;

	buf_printf(&key, ",\"%s\":", member);
	for (size_t at = 0; at + key.len < e->data.len; at++) {
		if (!str_starts(str_from(e->data, at), buf_str(&key)))
			continue;
		for (at += key.len; at < e->data.len && ascii_digit(e->data.p[at]); at++)
			number = number * 10 + (uint64_t)(e->data.p[at] - '0');
		return number;
	}
	return 0;
}

const char *event_name(enum event_kind kind)
{
	return kinds[kind].name;
}

static void signal_member(struct buf *b, int signal)
{
	if (signal)
		buf_printf(b, ",\"signal\":%d", signal);
	else
		buf_adds(b, ",\"signal\":null");
}

void event_json(const struct event *e, struct buf *b)
{
	unsigned has = kinds[e->kind].members;

	buf_adds(b, "{\"seq\":");
	buf_add_number(b, e->seq, 1);
	buf_adds(b, ",\"ts\":\"");
	clock_rfc3339(b, e->time_ms);
	buf_adds(b, "\",\"type\":");
	json_write_str(b, e->name.len ? e->name : str_of(kinds[e->kind].name));
	if (has & HAS_RUN) {
		buf_adds(b, ",\"run\":");
		json_write_str_or_null(b, e->run);
		buf_printf(b, ",\"pid\":%d", e->pid);
	}
	if (has & HAS_PATH) {
		buf_adds(b, ",\"path\":");
		json_write_str(b, e->path);
	}
	if (has & HAS_STEP) {
		buf_adds(b, ",\"step\":");
		json_write_str_or_null(b, e->label);
		buf_add(b, e->data);
	}
	if (has & HAS_LABEL) {
		buf_adds(b, ",\"label\":");
		json_write_str_or_null(b, e->label);
	}
	if (has & HAS_ARGV) {
		buf_adds(b, ",\"argv\":[");
		for (size_t i = 0; e->argv && e->argv[i]; i++) {
			if (i)
				buf_addc(b, ',');
			json_write_str(b, str_of(e->argv[i]));
		}
		buf_addc(b, ']');
	}
	if (has & HAS_ATTEMPT)
		json_number_member(b, "attempt", e->attempt);
	if (has & HAS_END) {
		buf_printf(b, ",\"code\":%d", e->code);
		signal_member(b, e->signal);
		buf_adds(b, e->timeout ? ",\"timeout\":true" : ",\"timeout\":false");
		json_number_member(b, "ms", e->ms);
		json_number_member(b, "stdout_bytes", e->stdout_bytes);
	}
	if (has & HAS_MESSAGE) {
		buf_adds(b, ",\"id\":");
		json_write_str(b, e->id);
		json_number_member(b, "bytes", e->bytes);
	}
	if (has & HAS_SIGNAL)
		signal_member(b, e->signal);
	if (has & HAS_STATUS) {
		buf_adds(b, ",\"status\":");
		json_write_str(b, e->status);
		buf_printf(b, ",\"code\":%d", e->code);
	}
	if (has & HAS_ERROR) {
		buf_adds(b, ",\"error\":");
		json_write_str_or_null(b, e->error);
	}
	buf_addc(b, '}');
}
