#include "hosts/cli/shown.h"

#include <string.h>

#include "base/clock.h"
#include "base/plain-text.h"
#include "base/run-status.h"
#include "base/utf8.h"

enum {
	SHOWN_FAILURES = 20,
	SHOWN_LINES = 12,
	SHOWN_COMMAND = 100,
	STATUS_FAILURES = 10,
	STATUS_COMMAND = 60
};

static struct str text_of(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	return json_is_string(value) ? json_str(value) : S("");
}

static json_int_t number_of(const json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

static bool is_true(const json_t *object, const char *name)
{
	return json_is_true(json_object_get(object, name));
}

/* -- a result ------------------------------------------------------------------------------------
 */

/* The last lines say what went wrong. */
static void indented(struct buf *b, struct str text)
{
	size_t from, lines = 0;

	while (text.len && text.p[text.len - 1] == '\n')
		text.len--;
	for (from = text.len; from; from--)
		if (text.p[from - 1] == '\n' && ++lines == SHOWN_LINES)
			break;
	while (from < text.len) {
		size_t end = str_find(text, '\n', from);

		buf_adds(b, "    ");
		text_plain(b, str_sub(text, from, end - from));
		buf_addc(b, '\n');
		from = end + 1;
	}
}

static void failure_text(const json_t *f, struct buf *b)
{
	struct str label = text_of(f, "label"), command = text_of(f, "command");
	struct str err = text_of(f, "stderr");
	json_int_t code = number_of(f, "code"), signal = number_of(f, "signal");
	json_int_t attempt = number_of(f, "attempt");
	AUTO_BUF head = BUF_INIT;

	buf_printf(&head, "roux: [%.*s%s%.*s] ", STR(text_of(f, "path")), label.len ? " " : "",
		STR(label));
	if (is_true(f, "timeout"))
		buf_printf(&head, "ran out of time (code %" JSON_INTEGER_FORMAT ")", code);
	else if (signal > 0 && signal < 65)
		buf_printf(&head, "ended by signal %" JSON_INTEGER_FORMAT " (%s)", signal,
			strsignal((int)signal));
	else
		buf_printf(&head, "failed with code %" JSON_INTEGER_FORMAT, code);
	if (attempt > 1)
		buf_printf(&head, ", attempt %" JSON_INTEGER_FORMAT, attempt);
	if (is_true(f, "tolerated"))
		buf_adds(&head, ", tolerated");
	buf_printf(&head, ": %.*s%s", STR(utf8_head(command, SHOWN_COMMAND)),
		utf8_count(command) > SHOWN_COMMAND ? "…" : "");
	text_plain(b, buf_str(&head));
	buf_addc(b, '\n');
	indented(b, err.len ? err : text_of(f, "stdout"));
}

/* Text of a command or an author, line by line: nothing in it may move the cursor. */
static void plain_lines(struct buf *b, struct str text)
{
	for (size_t at = 0; at < text.len;) {
		size_t end = str_find(text, '\n', at);

		if (at)
			buf_addc(b, '\n');
		text_plain(b, str_sub(text, at, end - at));
		at = end + 1;
	}
}

static void paused_text(const json_t *s, struct str run, struct buf *b)
{
	const json_t *gate = json_object_get(s, "pending_approval");

	if (!json_is_object(gate)) {
		buf_printf(b, "roux: run '%.*s' has its answer: `roux resume %.*s` continues it\n",
			STR(run), STR(run));
		return;
	}
	buf_adds(b, "roux: paused at stage '");
	text_plain(b, text_of(gate, "stage"));
	buf_adds(b, "': ");
	plain_lines(b, str_trim(text_of(gate, "prompt")));
	buf_printf(b, "\nroux: `roux approve %.*s` or `roux deny %.*s`, then `roux resume %.*s`\n",
		STR(run), STR(run), STR(run));
}

static void last_word(const json_t *s, enum roux_status status, struct buf *b)
{
	json_int_t untolerated = number_of(s, "untolerated");
	struct str run = text_of(s, "run"), error = text_of(s, "error");

	switch (status) {
	case ROUX_PAUSED:
		paused_text(s, run, b);
		break;
	case ROUX_PARTIAL:
		buf_adds(b, "roux: warning: the run ended early: later steps were skipped after a "
			    "failure (exit status 3)\n");
		break;
	case ROUX_DENIED:
	case ROUX_CANCELLED:
	case ROUX_KILLED:
	case ROUX_TIMEOUT:
		if (error.len)
			buf_printf(b, "roux: %.*s\n", STR(error));
		else
			buf_printf(b, "roux: run '%.*s': %s\n", STR(run), status_name(status));
		break;
	case ROUX_EXITED:
		buf_printf(b,
			"roux: run '%.*s' ended without a result: its supervisor is gone\n"
			"     hint: `roux resume %.*s` continues where it was\n",
			STR(run), STR(run));
		break;
	case ROUX_DONE:
		if (untolerated)
			buf_printf(b,
				"roux: done, but %" JSON_INTEGER_FORMAT
				" failure%s passed over (exit status 3; --tolerate accepts that)\n",
				untolerated, untolerated == 1 ? " was" : "s were");
		break;
	case ROUX_RUNNING:
	case ROUX_FAILED:
	case ROUX_INVALID:
	case ROUX_REFUSED:
		break;
	}
}

void shown_result(struct run_handle *h, struct buf *b)
{
	AUTO_JSON *s = run_summary(h);
	const json_t *failures = json_object_get(s, "failures");
	json_int_t total = number_of(s, "failures_total");
	json_t *f;
	size_t i;

	if (run_issues(h))
		report_text(run_issues(h), REPORT_ALL, b);
	json_array_foreach(failures, i, f)
	{
		if (i == SHOWN_FAILURES)
			break;
		failure_text(f, b);
	}
	if (total > SHOWN_FAILURES)
		buf_printf(b,
			"roux: and %" JSON_INTEGER_FORMAT " more failures (--json lists them)\n",
			total - SHOWN_FAILURES);
	last_word(s, run_status(h), b);
}

int shown_exit(struct run_handle *h, bool strict, bool tolerate)
{
	enum roux_status status = run_status(h);

	if (status == ROUX_CANCELLED && run_signal(h))
		return 128 + run_signal(h);
	if (status == ROUX_PARTIAL && tolerate)
		return 0;
	if (status != ROUX_DONE)
		return status_exit(status);
	AUTO_JSON *s = run_summary(h);
	if (strict)
		return number_of(s, "failures_total") ? 3 : 0;
	return number_of(s, "untolerated") && !tolerate ? 3 : 0;
}

/* -- a status ------------------------------------------------------------------------------------
 */

static void line(struct buf *b, const char *name, struct str text)
{
	if (!text.len)
		return;
	buf_printf(b, "  %-10s ", name);
	text_plain(b, text);
	buf_addc(b, '\n');
}

static bool is_live(const json_t *d)
{
	return !status_is_end(text_of(d, "status"));
}

static void times_text(const json_t *d, struct buf *b)
{
	AUTO_BUF text = BUF_INIT;

	if (!text_of(d, "started").len)
		return;
	buf_add(&text, text_of(d, "started"));
	buf_adds(&text, is_live(d) ? ", for " : ", took ");
	clock_duration(&text, (uint64_t)number_of(d, "ms"));
	line(b, "started", buf_str(&text));
}

static void progress_text(const json_t *d, struct buf *b)
{
	const json_t *p = json_object_get(d, "progress"), *pid = json_object_get(d, "pid");
	bool expects = json_is_integer(json_object_get(p, "expected"));
	json_int_t completed = number_of(p, "completed"), active = number_of(p, "active");
	json_int_t failed = number_of(p, "failed");
	AUTO_BUF text = BUF_INIT;

	buf_printf(&text, "%" JSON_INTEGER_FORMAT, completed);
	if (expects)
		buf_printf(&text, " of %" JSON_INTEGER_FORMAT, number_of(p, "expected"));
	buf_printf(&text, " command%s ended", completed == 1 && !expects ? "" : "s");
	if (active)
		buf_printf(&text, ", %" JSON_INTEGER_FORMAT " running", active);
	if (failed)
		buf_printf(&text, ", %" JSON_INTEGER_FORMAT " failed", failed);
	if (json_is_integer(pid))
		buf_printf(
			&text, " (supervisor %" JSON_INTEGER_FORMAT ")", json_integer_value(pid));
	line(b, "progress", buf_str(&text));
}

static void failures_text(const json_t *d, struct buf *b)
{
	json_int_t total = number_of(d, "failures_total");
	json_t *failure;
	size_t i;

	json_array_foreach(json_object_get(d, "failures"), i, failure)
	{
		AUTO_BUF text = BUF_INIT;
		struct str label = text_of(failure, "label");

		if (i == STATUS_FAILURES) {
			buf_printf(b, "             and %" JSON_INTEGER_FORMAT " more (--json)\n",
				total - (json_int_t)i);
			break;
		}
		buf_printf(&text, "[%.*s%s%.*s] code %" JSON_INTEGER_FORMAT "%s: %.*s",
			STR(text_of(failure, "path")), label.len ? " " : "", STR(label),
			number_of(failure, "code"),
			is_true(failure, "tolerated") ? ", tolerated" : "",
			STR(utf8_head(text_of(failure, "command"), STATUS_COMMAND)));
		line(b, i ? "" : "failures", buf_str(&text));
	}
}

static void artifacts_text(const json_t *d, struct buf *b)
{
	const char *name;
	json_t *entry;
	bool first = true;

	json_object_foreach(json_object_get(d, "manifest"), name, entry)
	{
		AUTO_BUF text = BUF_INIT;

		buf_printf(&text, "%s: %.*s", name, STR(text_of(entry, "path")));
		if (!is_true(entry, "exists"))
			buf_adds(&text, " (not there)");
		line(b, first ? "artifacts" : "", buf_str(&text));
		first = false;
	}
}

/* The command to type next; NULL: there is none to recommend. */
static const char *what_next(const json_t *d)
{
	struct str word = text_of(d, "status");
	enum roux_status status = ROUX_EXITED;

	(void)status_read(word, &status);
	if (is_live(d))
		return "logs -f";
	switch (status_rest(status)) {
	case STATUS_AT_GATE:
		return json_is_object(json_object_get(d, "pending_approval")) ? "approve"
									      : "resume";
	case STATUS_CUT_SHORT:
		return "resume";
	case STATUS_LIVE:
	case STATUS_COMPLETE:
	case STATUS_BROKEN:
	case STATUS_NEVER:
		break;
	}
	return status_ok(status) ? NULL : "logs";
}

void shown_status(const json_t *d, struct buf *b)
{
	struct str run = text_of(d, "run"), path = text_of(d, "recipe_path");
	const char *next = what_next(d);
	AUTO_BUF command = BUF_INIT;

	text_plain(b, run);
	buf_adds(b, ": ");
	text_plain(b, text_of(d, "status"));
	buf_addc(b, '\n');
	line(b, "recipe", path.len ? path : text_of(d, "recipe"));
	times_text(d, b);
	progress_text(d, b);
	line(b, "error", text_of(d, "error"));
	failures_text(d, b);
	artifacts_text(d, b);
	line(b, "waits for", text_of(json_object_get(d, "pending_approval"), "prompt"));
	line(b, "owner", text_of(d, "owner"));
	line(b, "directory", text_of(d, "dir"));
	if (next)
		buf_printf(&command, "roux %s %.*s", next, STR(run));
	line(b, "next", buf_str(&command));
}
