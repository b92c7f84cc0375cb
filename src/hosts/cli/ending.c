#include "hosts/cli/ending.h"

#include <inttypes.h>

#include "base/plain-text.h"
#include "base/run-status.h"
#include "base/shell-words.h"

static enum roux_status status_of(const json_t *d)
{
	enum roux_status s = ROUX_EXITED;

	(void)status_read(json_text_of(d, "status"), &s);
	return s;
}

static uint64_t number(const json_t *d, const char *name)
{
	json_int_t n = json_number_of(d, name);

	return n > 0 ? (uint64_t)n : 0;
}

/* What failed the run, or else the first command that was not to fail. NULL: it is not known. */
static const json_t *culprit(const json_t *d)
{
	const json_t *failures = json_object_get(d, "failures"), *f;
	struct str node = json_text_of(d, "failed_node");

	for (size_t i = json_array_size(failures); node.len && i > 0; i--) {
		f = json_array_get(failures, i - 1);
		if (str_eq(json_text_of(f, "path"), node))
			return f;
	}
	for (size_t i = 0; i < json_array_size(failures); i++) {
		f = json_array_get(failures, i);
		if (!json_truth_of(f, "tolerated"))
			return f;
	}
	return NULL;
}

/* -- in one line ---------------------------------------------------------------------------------
 */

static void failed_words(const json_t *d, struct buf *b)
{
	const json_t *f = culprit(d);
	struct str error = json_text_of(d, "error");
	AUTO_BUF name = BUF_INIT;

	/* Without a node that failed it, the machine did. */
	if (!f || (error.len && !json_text_of(d, "failed_node").len)) {
		buf_adds(b, error.len ? "failed: " : "failed");
		text_plain(b, error);
		return;
	}
	buf_adds(b, "failed at ");
	text_plain(b, json_text_of(f, "path"));
	text_name(&name, S(""), json_text_of(f, "label"), json_text_of(f, "item"));
	if (name.len)
		buf_printf(b, " '%.*s'", STR(str_trim(buf_str(&name))));
	if (json_truth_of(f, "timeout"))
		buf_adds(b, " (time limit)");
	else if (json_number_of(f, "signal") > 0)
		buf_printf(b, " (signal %" PRIu64 ")", number(f, "signal"));
	else
		buf_printf(b, " (exit %" JSON_INTEGER_FORMAT ")", json_number_of(f, "code"));
}

/* Of the commands that were not to fail. */
static uint64_t failed_attempts(const json_t *d)
{
	const json_t *failures = json_object_get(d, "failures");
	uint64_t attempts = number(d, "failures_total");

	for (size_t i = 0; i < json_array_size(failures) && attempts; i++)
		attempts -= json_truth_of(json_array_get(failures, i), "tolerated");
	return attempts;
}

/* Behind what has failed: how often, and what that makes of the exit status. */
static void add_consequences(const json_t *d, const struct ending_options *o, struct buf *b)
{
	static const struct ending_options none;
	uint64_t attempts = failed_attempts(d), failed = number(d, "failed");
	bool more = attempts > failed, early = status_of(d) == ROUX_PARTIAL;
	bool strict = status_of(d) == ROUX_DONE && !failed;

	o = o ? o : &none;
	buf_adds(b, " (");
	if (more)
		buf_printf(b, "%" PRIu64 " attempts; ", attempts);
	if (early)
		buf_adds(b, "it ended early; ");
	if (strict)
		buf_adds(b, "exit status 3 by --strict)");
	else if (o->tolerate)
		buf_adds(b, "exit status 0 by --tolerate)");
	else
		buf_printf(b, "exit status 3%s --tolerate makes it 0)", more || early ? "," : ";");
}

/* "2 commands failed": of a run without a name, in a sentence of its own. */
static void finished_words(const json_t *d, struct buf *b)
{
	uint64_t failed = number(d, "failed"), tolerated = number(d, "tolerated");
	uint64_t n = failed ? failed : tolerated;

	buf_printf(b, "finished, but %" PRIu64 " command%s failed%s", n, n == 1 ? "" : "s",
		failed ? "" : ", tolerated");
}

void ending_words(const json_t *d, const struct ending_options *o, struct buf *b)
{
	struct str word = json_text_of(d, "status"), error = json_text_of(d, "error");
	uint64_t failed = number(d, "failed"), tolerated = number(d, "tolerated");
	enum roux_status status = status_of(d);

	if (status_is_end(word) && status == ROUX_FAILED) {
		failed_words(d, b);
		return;
	}
	if (status == ROUX_DONE && (failed || tolerated) && !json_text_of(d, "run").len)
		finished_words(d, b);
	else
		status_phrase(b, word, failed, tolerated);
	/* Where the status alone does not say why. */
	if (error.len &&
		(status == ROUX_TIMEOUT || status == ROUX_DENIED || status == ROUX_EXITED)) {
		buf_adds(b, ": ");
		text_plain(b, error);
	}
	if ((status == ROUX_DONE && failed) || status == ROUX_PARTIAL ||
		(status == ROUX_DONE && tolerated && o && o->strict))
		add_consequences(d, o, b);
}

/* Whether it has ended in another way than it was to. */
static bool ending_is_bad(const json_t *d)
{
	struct str word = json_text_of(d, "status");
	enum roux_status status = status_of(d);

	if (!status_is_end(word) || status == ROUX_PAUSED)
		return false;
	return !status_ok(status) || number(d, "failed") || status == ROUX_PARTIAL;
}

/* -- what to type --------------------------------------------------------------------------------
 */

/* A command about the run. */
static void type(struct buf *b, const char *command, struct str run)
{
	buf_printf(b, "roux %s ", command);
	text_plain(b, run);
}

void ending_see(const json_t *d, struct buf *b)
{
	struct str run = json_text_of(d, "run");
	const json_t *f = ending_is_bad(d) ? culprit(d) : NULL;

	if (!run.len || !ending_is_bad(d))
		return;
	if (json_text_of(d, "mistake").len) {
		text_plain(b, json_text_of(d, "mistake"));
		return;
	}
	type(b, "logs", run);
	if (!f)
		return;
	buf_addc(b, ' ');
	text_plain(b, json_text_of(f, "path"));
}

void ending_again(const json_t *d, struct buf *b)
{
	struct str run = json_text_of(d, "run"), path = json_text_of(d, "recipe_path");

	if (!run.len || !ending_is_bad(d))
		return;
	/* The run keeps the recipe that it was started with, and would fail at the same place. */
	if (json_text_of(d, "mistake").len) {
		if (path.len) {
			command_display(b, (const char *const[]){ "roux", "run", path.p }, 3);
			buf_adds(b, "  # once it is fixed");
		}
		return;
	}
	switch (status_rest(status_of(d))) {
	case STATUS_BROKEN:
	case STATUS_CUT_SHORT:
		/* What was to read the input would have to run again, and that is not there. */
		if (json_truth_of(d, "input_cut"))
			return;
		/* An earlier generation, ID~1, cannot be continued. */
		type(b, str_find(run, '~', 0) < run.len ? "rerun" : "resume", run);
		break;
	case STATUS_COMPLETE:
		type(b, "rerun", run);
		break;
	case STATUS_AT_GATE:
	case STATUS_LIVE:
	case STATUS_NEVER:
		break;
	}
}
