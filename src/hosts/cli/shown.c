#include "hosts/cli/shown.h"

#include "base/plain-text.h"
#include "base/run-status.h"
#include "hosts/cli/words.h"
#include "render/terminal/failure.h"
#include "render/terminal/status.h"

enum { SHOWN_FAILURES = 20 };

/* -- a result ------------------------------------------------------------------------------------
 */

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
	text_plain(b, json_text_of(gate, "stage"));
	buf_adds(b, "': ");
	plain_lines(b, str_trim(json_text_of(gate, "prompt")));
	buf_printf(b, "\nroux: `roux approve %.*s` or `roux deny %.*s`, then `roux resume %.*s`\n",
		STR(run), STR(run), STR(run));
}

static void last_word(const json_t *s, enum roux_status status, struct buf *b)
{
	json_int_t failed = json_number_of(s, "failed");
	struct str run = json_text_of(s, "run"), error = json_text_of(s, "error");

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
		if (failed)
			buf_printf(b,
				"roux: done, but %" JSON_INTEGER_FORMAT
				" failure%s passed over (exit status 3; --tolerate accepts that)\n",
				failed, failed == 1 ? " was" : "s were");
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
	json_int_t total = json_number_of(s, "failures_total");
	json_t *f;
	size_t i;

	if (run_issues(h)) {
		report_word(run_issues(h), cli_action);
		report_text(run_issues(h), REPORT_ALL, b);
	}
	json_array_foreach(failures, i, f)
	{
		if (i == SHOWN_FAILURES)
			break;
		failure_text(b, f);
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
	AUTO_JSON *s = run_summary(h);

	if (tolerate && (status == ROUX_PARTIAL || status == ROUX_DONE))
		return 0;
	if (strict && status == ROUX_DONE)
		return json_number_of(s, "failures_total") ? 3 : 0;
	return (int)json_number_of(s, "exit");
}

/* -- a status ------------------------------------------------------------------------------------
 */

/* The command to type next; NULL: there is none to recommend. */
static const char *what_next(const json_t *d)
{
	struct str word = json_text_of(d, "status");
	enum roux_status status = ROUX_EXITED;

	(void)status_read(word, &status);
	if (!status_is_end(word))
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
	const char *next = what_next(d);
	AUTO_BUF command = BUF_INIT;

	if (next)
		buf_printf(&command, "roux %s %.*s", next, STR(json_text_of(d, "run")));
	status_text(d, next ? buf_cstr(&command) : NULL, b);
}
