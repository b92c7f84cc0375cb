#include "hosts/mcp/log.h"

#include <string.h>

/* In the order of their weight. */
enum { LEVEL_DEBUG, LEVEL_INFO, LEVEL_NOTICE, LEVEL_WARNING, LEVEL_ERROR };
static const char *const levels[] = { "debug", "info", "notice", "warning", "error", "critical",
	"alert", "emergency" };

int log_level(struct str name)
{
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
		if (str_eq(name, str_of(levels[i])))
			return (int)i;
	return -1;
}

bool log_wanted(const struct exchange *x, int level)
{
	const json_t *said = exchange_meta(x, "logLevel");
	int from = x->session->log_level;

	if (x->era == ERA_MODERN)
		from = json_is_string(said) ? log_level(json_str(said)) : -1;
	return from >= 0 && (level < 0 || level >= from);
}

/* What an event says, and how much it matters; NULL: nothing to tell. The command itself is not
 * told: it may name places of this machine. */
static const char *words_of(const char *type, const json_t *event, struct buf *b)
{
	bool code = json_number_of(event, "code") != 0;

	if (strcmp(type, "command.start") == 0) {
		json_int_t attempt = json_number_of(event, "attempt");

		buf_adds(b, "started");
		if (attempt > 1)
			buf_printf(b, " again, attempt %lld", (long long)attempt);
		return levels[attempt > 1 ? LEVEL_NOTICE : LEVEL_DEBUG];
	}
	if (strcmp(type, "node.skipped") == 0) {
		buf_adds(b, "skipped");
		return levels[LEVEL_INFO];
	}
	if (strcmp(type, "command.done") != 0)
		return NULL;
	if (json_is_true(json_object_get(event, "timeout")))
		buf_adds(b, "reached its time limit");
	else if (json_is_integer(json_object_get(event, "signal")))
		buf_printf(b, "ended by signal %d", (int)json_number_of(event, "signal"));
	else if (code)
		buf_printf(b, "failed with exit code %d", (int)json_number_of(event, "code"));
	else
		buf_printf(b, "done in %lld ms", (long long)json_number_of(event, "ms"));
	return levels[str_starts(buf_str(b), S("done")) ? LEVEL_INFO : LEVEL_ERROR];
}

/* What people call the command of an event. */
static struct str step_of(const json_t *event, json_t **labels)
{
	struct str path = json_text_of(event, "path"), label = json_text_of(event, "label");

	if (!*labels)
		*labels = json_object();
	if (label.len && path.len)
		json_object_setn_new(*labels, path.p, path.len, json_from_str(label));
	if (!label.len && path.len)
		label = json_str(json_object_getn(*labels, path.p, path.len));
	return label.len ? label : path;
}

void log_event(
	struct exchange *x, struct str run, json_t **labels, const char *type, struct str json)
{
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_BUF text = BUF_INIT;

	if (!log_wanted(x, -1))
		return;
	AUTO_JSON *event = json_read(&(struct source){ S("event"), json }, &ignored);
	const char *level = words_of(type, event, &text);
	struct str step = step_of(event, labels);

	if (!level || !log_wanted(x, log_level(str_of(level))))
		return;
	channel_notify(x->channel, "notifications/message",
		json_pack("{s:s, s:s, s:{s:o, s:o, s:o}}", "level", level, "logger", "roux", "data",
			"run", json_from_str(run), "step", json_from_str(step), "message",
			json_from_str(buf_str(&text))));
}
