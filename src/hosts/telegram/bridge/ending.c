#include "hosts/telegram/bridge/ending.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "app/artifacts.h"
#include "app/logs.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/run-status.h"
#include "hosts/telegram/bridge/agent.h"
#include "hosts/telegram/bridge/bridge.h"
#include "hosts/telegram/bridge/buttons.h"
#include "hosts/telegram/rules/ending.h"
#include "hosts/telegram/text/jsonl.h"
#include "hosts/telegram/text/redact.h"
#include "hosts/telegram/text/unicode.h"

enum {
	OUTPUT_MAX = 64 << 20,
	STDERR_UNITS = 4000,
	STDERR_READ = 64 << 10,
	KEPT_MAX = 256 << 10, /* a larger text stays in the record of its run */
};

/* -errno. */
static int read_output(struct run_handle *h, size_t max, struct buf *ret)
{
	AUTO_CLOSE int fd = memfd_create("output", MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	int e = run_output_write(h, fd);
	if (e < 0)
		return e;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	(void)fd_read_all(fd, max, ret);
	return 0;
}

void ending_hide(struct mask *mask, unsigned cut, struct buf *text)
{
	struct arena a = ARENA_INIT;
	struct str shown = mask_part(mask, buf_str(text), cut, &a);

	if (shown.p != text->p) {
		buf_reset(text);
		buf_add(text, shown);
	}
	arena_done(&a);
}

/* Reads what is in lines of JSON. It is masked only then: a secret may be written with other
 * escapes, or be in pieces. */
static void read_said(struct mask *mask, struct buf *text, json_t **ret_usage)
{
	struct jsonl_stream s = { 0 };

	jsonl_feed(&s, buf_str(text));
	(void)jsonl_final(&s);
	buf_reset(text);
	buf_add(text, jsonl_text(&s));
	if (ret_usage && s.usage)
		*ret_usage = mask_value(mask, s.usage);
	jsonl_done(&s);
}

void ending_output(struct bridge *b, struct run_handle *h, bool turn, size_t max, struct buf *ret,
	json_t **ret_usage)
{
	AUTO_REPORT why = REPORT_INIT;
	AUTO_BUF raw = BUF_INIT;
	struct mask *mask;

	if (!run_mask(h, &mask, &why)) {
		buf_printf(ret, "Its output is not shown: %.*s.", STR(why.issues.at[0].message));
		return;
	}
	int e = read_output(h, max, &raw);
	if (e < 0) {
		buf_printf(ret, "Its output cannot be read: %s.", strerror(-e));
		mask_free(mask);
		return;
	}
	unsigned cut = raw.len == max ? MASK_CUT_BACK : 0;
	if (turn && str_eq(conf_text(&b->config, "agent.stream"), S("jsonl")))
		read_said(mask, &raw, ret_usage);
	ending_hide(mask, cut, &raw);
	mask_free(mask);
	buf_swap(ret, &raw);
}

struct str ending_text(struct bridge *b, const json_t *delivery, struct buf *room)
{
	const char *run = json_string_value(json_object_get(delivery, "run"));
	AUTO_REPORT r = REPORT_INIT;
	struct run_handle *h = run ? runs_open(b->app, run, &r) : NULL;

	if (!run)
		return json_text_of(delivery, "text");
	if (h)
		ending_output(b, h, json_truth_of(delivery, "turn"), OUTPUT_MAX, room, NULL);
	else
		buf_printf(room, "The answer is gone with run %s.", run);
	run_close(h);
	return buf_str(room);
}

/* The end of standard error, without the path of the node before each line. */
static void read_errors(struct run_handle *h, struct buf *ret)
{
	struct log_cursor c = { .stream = LOG_STDERR };
	AUTO_BUF log = BUF_INIT;

	for (size_t before = 1; before != log.len && log.len < OUTPUT_MAX;) {
		before = log.len;
		if (run_log_read(h, &c, STDERR_READ, &log) < 0)
			break;
		if (log.len > 2 * STDERR_READ)
			buf_drop(&log, log.len - STDERR_READ);
	}
	struct str s = buf_str(&log);
	for (size_t at = 0; at < s.len;) {
		size_t end = MIN(str_find(s, '\n', at) + 1, s.len);
		struct str line = str_sub(s, at, end - at);

		buf_add(ret, str_starts(line, S("[0] ")) ? str_from(line, 4) : line);
		at = end;
	}
}

static json_t *delivery(const json_t *turn, const char *kind, struct str text)
{
	return json_pack("{s:s,s:I,s:I,s:o}", "kind", kind, "chat",
		(json_int_t)json_number_of(turn, "chat"), "reply",
		(json_int_t)json_number_of(turn, "reply"), "text", json_from_str(text));
}

static void error_text(struct bridge *b, struct run_handle *h, struct str name,
	enum roux_status status, struct buf *ret)
{
	AUTO_BUF errors = BUF_INIT;
	AUTO_BUF clean = BUF_INIT;
	AUTO_REPORT ignored = REPORT_INIT;
	struct mask *mask;

	/* What cannot be masked is not sent. */
	if (run_mask(h, &mask, &ignored)) {
		read_errors(h, &errors);
		ending_hide(mask, MASK_CUT_FRONT, &errors);
		mask_free(mask);
	}
	redact(&clean, str_trim(buf_str(&errors)), b->token);
	struct str tail = buf_str(&clean);
	while (unicode_units(tail) > STDERR_UNITS)
		tail = str_from(tail, MIN(tail.len, grapheme_next(tail, tail.len / 16)));
	buf_printf(ret, "%.*s: %s (run %.*s)", STR(name), status_name(status), STR(run_id(h)));
	if (tail.len)
		buf_printf(ret, "\n\n%.*s", STR(tail));
}

struct attaching {
	struct str run;
	json_t *list;
};

/* By its name: a secret in its path is not kept. */
static bool attach_artifact(void *data, const struct artifact *a)
{
	const struct attaching *to = data;

	if (a->exists)
		json_array_append_new(to->list,
			json_pack("{s:o,s:o,s:o}", "run", json_from_str(to->run), "artifact",
				json_from_str(a->name), "path", json_from_str(a->path)));
	return true;
}

/* What `attach` has put aside during the turn, paths, then what the recipe declares. */
static json_t *attachments(struct bridge *b, struct run_handle *h, uint64_t item)
{
	char key[40];

	(void)snprintf(key, sizeof(key), "attach/%llu", (unsigned long long)item);
	json_t *list = store_get(&b->store, key);
	if (!json_is_array(list)) {
		json_decref(list);
		list = json_array();
	}
	if (run_status(h) == ROUX_DONE)
		artifacts_each(h, attach_artifact, &(struct attaching){ run_id(h), list });
	(void)store_delete(&b->store, key);
	return list;
}

static json_t *interrupted(struct bridge *b, struct run_handle *h, const json_t *turn)
{
	AUTO_BUF text = BUF_INIT;
	json_t *d;

	buf_printf(&text,
		"Interrupted: run %.*s ended without a result. It is not started again by "
		"itself.",
		STR(run_id(h)));
	d = delivery(turn, "line", buf_str(&text));
	json_object_set_new(d, "again", json_incref((json_t *)turn));
	(void)b;
	return d;
}

bool ending_unbegun(struct run_handle *h)
{
	AUTO_JSON *document = run_status_document(h);
	AUTO_REPORT ignored = REPORT_INIT;

	if (run_status(h) != ROUX_EXITED || !document ||
		json_is_string(json_object_get(document, "started")))
		return false;
	(void)run_prune(h, false, NULL, &ignored);
	return true;
}

/* For the menu. */
static void note_last_run(struct bridge *b, struct run_handle *h, json_t *usage)
{
	AUTO_BUF time = BUF_INIT;

	clock_rfc3339(&time, clock_real_ms());
	(void)store_set_new(&b->store, "last-run",
		json_pack("{s:s,s:s,s:O*}", "status", status_name(run_status(h)), "time",
			buf_cstr(&time), "usage", usage));
}

json_t *ending_delivery(
	struct bridge *b, struct run_handle *h, const json_t *turn, uint64_t item, enum ended_by by)
{
	enum roux_status status = run_status(h);
	bool late = by == ENDED_BY_LIMIT && status == ROUX_CANCELLED;
	AUTO_BUF text = BUF_INIT;
	json_t *d, *told = NULL;

	if (status == ROUX_EXITED || status == ROUX_RUNNING)
		return interrupted(b, h, turn);
	AUTO_JSON *files = attachments(b, h, item);
	ending_output(b, h, item != 0, OUTPUT_MAX, &text, &told);
	AUTO_JSON *usage = told;
	struct ending_plan plan = ending_plan(&(struct ending_facts){ .has_turn = true,
		.stop = status == ROUX_DONE || status == ROUX_PARTIAL ? STOP_DONE
			: late                                        ? STOP_ERROR
			: by == ENDED_BY_PERSON || status == ROUX_CANCELLED || status == ROUX_KILLED
				? STOP_ABORTED
				: STOP_ERROR,
		.has_text = str_trim(buf_str(&text)).len > 0,
		.has_files = json_array_size(files) > 0,
		.held = b->turns.held });
	if (plan.send_error) {
		struct arena a = ARENA_INIT;

		buf_reset(&text);
		error_text(b, h, item ? agent_name(b, &a, NULL) : json_text_of(turn, "name"),
			late ? ROUX_TIMEOUT : status, &text);
		d = delivery(turn, "error", buf_str(&text));
		arena_done(&a);
	} else if (plan.kind == ENDING_ABORTED) {
		d = delivery(turn, "aborted", S(""));
	} else {
		if (plan.kind == ENDING_EMPTY)
			buf_adds(&text, "Done, without output.");
		bool large = text.len > KEPT_MAX;

		d = delivery(turn, "answer", large ? S("") : buf_str(&text));
		if (large) {
			json_object_set_new(d, "run", json_from_str(run_id(h)));
			json_object_set_new(d, "turn", json_boolean(item != 0));
		}
		json_object_set(d, "files", files);
		json_object_set_new(d, "notice", json_boolean(plan.send_notice));
	}
	if (b->live.message && item) {
		json_object_set_new(d, "preview", json_integer(b->live.message));
		json_object_set_new(d, "shown", json_from_str(buf_str(&b->live.shown)));
		json_object_set_new(d, "shown_html", json_boolean(b->live.shown_html));
	}
	note_last_run(b, h, usage);
	return d;
}

json_t *ending_refused(struct bridge *b, const json_t *turn, struct str why)
{
	AUTO_BUF clean = BUF_INIT;

	redact(&clean, why, b->token);
	return delivery(turn, "error", buf_str(&clean));
}
