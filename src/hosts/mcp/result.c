#include "hosts/mcp/result.h"

#include <fcntl.h>
#include <string.h>

#include "app/artifacts.h"
#include "app/gates.h"
#include "app/logs.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/plain-text.h"
#include "base/run-status.h"
#include "base/utf8.h"
#include "data/json-schema.h"
#include "hosts/mcp/artifact.h"
#include "hosts/mcp/text.h"
#include "hosts/mcp/words.h"

enum { TAIL_LINES = 40, TAIL_BYTES = 8 * 1024, FOLD = 2000, VIOLATIONS = 3 };

/* -- small things --------------------------------------------------------------------------------
 */

json_t *result_error(struct str text)
{
	return json_pack("{s:[{s:s, s:o}], s:b}", "content", "type", "text", "text",
		json_from_str(text), "isError", 1);
}

static json_t *result_issues(struct report *r)
{
	AUTO_BUF text = BUF_INIT;

	report_word(r, mcp_words);
	vec_each (i, &r->issues) {
		if (i->kind == ISSUE_WARNING)
			continue;
		buf_printf(&text, "%s%.*s", text.len ? "\n" : "", STR(i->message));
		if (i->hint.len)
			buf_printf(&text, " (%.*s)", STR(i->hint));
	}
	return result_error(buf_str(&text));
}

void answer_issues(struct exchange *x, struct report *r)
{
	if (report_has_system(r))
		exchange_fail_report(x, RPC_INTERNAL, r);
	else
		exchange_answer(x, result_issues(r));
}

void run_uri(struct buf *b, struct str id, const char *below)
{
	buf_printf(b, "roux://runs/%.*s%s", STR(id), below);
}

static void size_words(struct buf *b, uint64_t bytes)
{
	if (bytes >= 10 << 20)
		buf_printf(b, "%llu MiB", (unsigned long long)(bytes >> 20));
	else if (bytes >= 1 << 20)
		buf_printf(b, "%.1f MiB", (double)bytes / (1 << 20));
	else if (bytes >= 1024)
		buf_printf(b, "%llu KiB", (unsigned long long)(bytes >> 10));
	else
		buf_printf(b, "%llu bytes", (unsigned long long)bytes);
}

/* -- parts of what was printed -------------------------------------------------------------------
 */

/* Lines over 2,000 characters get line breaks: some clients drop a result that is one long line. */
static void add_folded(struct buf *b, struct str text)
{
	for (size_t at = 0; at < text.len;) {
		size_t end = str_find(text, '\n', at);
		struct str line = str_sub(text, at, end - at);

		while (line.len > FOLD) {
			struct str head = utf8_head(line, FOLD);

			if (head.len == line.len)
				break;
			buf_add(b, head);
			buf_addc(b, '\n');
			line = str_from(line, head.len);
		}
		buf_add(b, line);
		if (end < text.len)
			buf_addc(b, '\n');
		at = end + 1;
	}
}

static void end_line(struct buf *b)
{
	if (b->len && b->p[b->len - 1] != '\n')
		buf_addc(b, '\n');
}

/* The beginning and the end of a log that is too long. */
static void add_ends(struct run_handle *h, struct mask *mask, size_t most, struct buf *b)
{
	AUTO_BUF head = BUF_INIT;
	AUTO_BUF tail = BUF_INIT;
	struct log_found first, last;
	struct log_window w = { .stream = LOG_STDOUT, .max = most / 4, .mask = mask };

	(void)run_log_window(h, &w, &head, &first);
	w.max = most - most / 4;
	w.tail = true;
	(void)run_log_window(h, &w, &tail, &last);
	struct str begin = text_whole(buf_str(&head), NULL), end = text_whole(buf_str(&tail), NULL);
	add_folded(b, begin);
	end_line(b);
	buf_printf(b, "[… %llu bytes left out …]\n",
		(unsigned long long)(last.offset - first.next + (head.len - begin.len) +
				     (tail.len - end.len)));
	add_folded(b, end);
}

static void add_heading(struct buf *b, enum log_stream stream, bool cut)
{
	static const char *const headings[] = {
		[LOG_STDOUT] = "Standard output", [LOG_STDERR] = "Standard error"
	};

	buf_printf(b, "\n%s%s:\n", headings[stream], cut ? ", its end" : "");
}

/* The last lines of a stream under a heading; nothing when it is empty. */
static void add_tail(struct run_handle *h, struct mask *mask, enum log_stream stream,
	struct str node, struct buf *b)
{
	AUTO_BUF text = BUF_INIT;
	struct log_found found;
	struct log_window w = {
		.stream = stream, .node = node, .max = TAIL_BYTES, .tail = true, .mask = mask
	};

	(void)run_log_window(h, &w, &text, &found);
	struct str tail = text_whole(buf_str(&text), NULL);
	size_t lines = 0, from = tail.len;
	while (from > 0 && lines < TAIL_LINES) {
		from--;
		lines += tail.p[from] == '\n' && from + 1 < tail.len;
	}
	bool cut = found.offset > 0 || lines == TAIL_LINES;
	if (lines == TAIL_LINES)
		tail = str_from(tail, from + 1);
	if (!tail.len)
		return;
	add_heading(b, stream, cut);
	add_folded(b, tail);
	end_line(b);
}

/* -- what became of it ---------------------------------------------------------------------------
 */

/* The failure that the account is about: the last that was not tolerated. */
static const json_t *main_failure(const json_t *summary)
{
	const json_t *failures = json_object_get(summary, "failures");
	const json_t *found = NULL;

	for (size_t i = 0; i < json_array_size(failures); i++)
		if (!json_is_true(json_object_get(json_array_get(failures, i), "tolerated")))
			found = json_array_get(failures, i);
	return found;
}

/* What the failed command wrote to standard error. One that could not be started has written
 * nothing, and why is in the failure alone. */
static void add_errors(struct run_handle *h, struct mask *mask, const json_t *f, struct buf *b)
{
	struct str why = json_text_of(f, "stderr");
	struct arena a = ARENA_INIT;
	size_t before = b->len;

	add_tail(h, mask, LOG_STDERR, json_text_of(f, "path"), b);
	if (b->len == before && why.len) {
		add_heading(b, LOG_STDERR, false);
		add_folded(b, mask_text(mask, why, &a));
		end_line(b);
	}
	arena_done(&a);
}

void gate_words(struct buf *b, const json_t *gate)
{
	text_plain(b, json_text_of(gate, "stage"));
	buf_adds(b, "': ");
	text_plain_lines(b, str_trim(json_text_of(gate, "prompt")));
}

static void failure_words(struct buf *b, const json_t *f)
{
	struct str label = json_text_of(f, "label"), path = json_text_of(f, "path");

	if (label.len) {
		buf_adds(b, "step '");
		text_plain(b, label);
		buf_adds(b, "'");
	} else if (path.len && !str_eq(path, S(".")))
		buf_printf(b, "command %.*s", STR(path));
	else
		buf_adds(b, "the command");
	if (json_is_true(json_object_get(f, "timeout")))
		buf_adds(b, " reached its time limit");
	else if (json_is_integer(json_object_get(f, "signal")))
		buf_printf(b, " was ended by signal %d", (int)json_number_of(f, "signal"));
	else
		buf_printf(b, " failed with exit code %d", (int)json_number_of(f, "code"));
}

/* One line that says how it ended. */
static void conclusion(
	struct buf *b, struct run_handle *h, const json_t *summary, enum roux_status status)
{
	const json_t *f = main_failure(summary);
	struct str error = json_text_of(summary, "error");
	const json_t *gate = json_object_get(summary, "pending_approval");

	switch (status) {
	case ROUX_PAUSED:
		if (!json_is_object(gate)) {
			buf_adds(b, "Its approval has been answered, and the run has not been "
				    "continued yet.");
			return;
		}
		buf_adds(b, "Waiting for the approval of a person at stage '");
		gate_words(b, gate);
		buf_addc(b, '\n');
		buf_printf(b,
			"A person answers in a terminal: roux approve %.*s --resume, or roux deny "
			"%.*s --resume.",
			STR(run_id(h)), STR(run_id(h)));
		return;
	case ROUX_DENIED:
		buf_printf(b, "Denied: %.*s",
			STR(error.len ? error : S("the approval was not given")));
		return;
	case ROUX_CANCELLED:
		buf_adds(b, "The run was cancelled.");
		return;
	case ROUX_KILLED:
		buf_adds(b, "The run was killed.");
		return;
	case ROUX_EXITED:
		buf_adds(b, "The run ended without a result: its supervisor is gone.");
		return;
	case ROUX_TIMEOUT:
		buf_adds(b, "The run reached its time limit.");
		return;
	case ROUX_DONE:
	case ROUX_PARTIAL:
		buf_adds(b, status == ROUX_DONE ? "Finished, but " : "Ended early: ");
		break;
	case ROUX_RUNNING:
	case ROUX_FAILED:
	case ROUX_INVALID:
	case ROUX_REFUSED:
		buf_adds(b, "Failed: ");
		break;
	}
	if (f)
		failure_words(b, f);
	else
		buf_printf(b, "%.*s", STR(error.len ? error : S("a step failed")));
	json_int_t total = json_number_of(summary, "failures_total");
	if (total > 1)
		buf_printf(b, " (and %lld more)", (long long)total - 1);
	buf_addc(b, '.');
}

int run_exit_code(struct run_handle *h)
{
	AUTO_JSON *status = run_status_document(h);
	const json_t *code = json_object_get(status, "code");

	return json_is_integer(code) ? (int)json_integer_value(code) : -1;
}

static void mark(struct buf *b, struct run_handle *h, uint64_t from, uint64_t to)
{
	AUTO_JSON *status = run_status_document(h);
	struct str word = run_status_word(h);
	const json_t *code = json_object_get(status, "code");

	end_line(b);
	buf_printf(b, "[roux %.*s: %.*s", STR(run_id(h)), STR(word));
	if (!status_ok(run_status(h)) && json_is_integer(code))
		buf_printf(b, ", exit %d", (int)json_integer_value(code));
	if (from > to) {
		buf_adds(b, ", cut ");
		size_words(b, from);
		buf_adds(b, " to ");
		size_words(b, to);
		buf_adds(b, ", all at ");
		run_uri(b, run_id(h), "/log");
	} else {
		AUTO_BUF took = BUF_INIT;

		clock_duration(&took, (uint64_t)json_number_of(status, "ms"));
		buf_printf(b, ", %s", buf_cstr(&took));
	}
	buf_addc(b, ']');
}

static void account(struct run_handle *h, struct mask *mask, const json_t *summary,
	enum roux_status status, struct buf *b)
{
	const json_t *f = main_failure(summary);
	struct str node = json_text_of(f, "path");

	conclusion(b, h, summary, status);
	buf_addc(b, '\n');
	size_t before = b->len;
	add_tail(h, mask, LOG_STDOUT, node, b);
	if (b->len == before && node.len)
		add_tail(h, mask, LOG_STDOUT, S(""), b);
	before = b->len;
	add_errors(h, mask, f, b);
	if (b->len == before && node.len)
		add_tail(h, mask, LOG_STDERR, S(""), b);
	mark(b, h, 0, 0);
}

/* The beginning of standard output. -errno, also when it was lost: empty is what printed nothing.
 */
static int read_output(
	struct run_handle *h, const struct log_window *w, struct buf *text, struct log_found *found)
{
	int e = run_log_window(h, w, text, found);

	if (e < 0 || found->size)
		return e;
	AUTO_CLOSE int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	return run_output_write(h, nowhere);
}

/* The output of a run that came to its end, and what failed in it. False: it cannot be read. */
static bool output(struct mcp *m, struct run_handle *h, struct mask *mask, const json_t *summary,
	enum roux_status status, struct buf *b, bool *ret_cut)
{
	size_t most = m->options.output;
	bool plain = status == ROUX_DONE && !json_number_of(summary, "untolerated");
	AUTO_BUF text = BUF_INIT;
	struct log_found found;
	struct log_window w = { .stream = LOG_STDOUT, .max = most, .mask = mask };

	int e = read_output(h, &w, &text, &found);
	*ret_cut = found.size > most;
	if (e < 0) {
		buf_printf(b, "Failed: what the run printed cannot be read: %s.", strerror(-e));
		mark(b, h, 0, 0);
		return false;
	}
	if (!plain) {
		conclusion(b, h, summary, status);
		buf_adds(b, "\n\n");
	}
	if (*ret_cut)
		add_ends(h, mask, most, b);
	else
		buf_add(b, buf_str(&text));
	if (!plain) {
		const json_t *f = main_failure(summary);

		end_line(b);
		add_errors(h, mask, f, b);
	}
	if (*ret_cut)
		mark(b, h, found.size, most);
	else if (!plain)
		mark(b, h, 0, 0);
	return true;
}

/* False: what the run printed cannot be read. */
static bool text_of(
	struct mcp *m, struct run_handle *h, struct mask *mask, struct buf *b, bool *ret_cut)
{
	AUTO_JSON *summary = run_summary(h);
	enum roux_status status = run_status(h);

	*ret_cut = false;
	if (status == ROUX_PAUSED) {
		conclusion(b, h, summary, status);
		mark(b, h, 0, 0);
	} else if (!status_ok(status)) {
		account(h, mask, summary, status, b);
	} else {
		return output(m, h, mask, summary, status, b, ret_cut);
	}
	return true;
}

/* -- facts ---------------------------------------------------------------------------------------
 */

static bool add_artifact(void *data, const struct artifact *a)
{
	json_t *all = data;
	json_t *one;

	if (a->exists) {
		AUTO_BUF type = BUF_INIT;

		artifact_type(a->path, &type);
		one = json_pack("{s:o, s:o, s:I}", "name", json_from_str(a->name), "mimeType",
			json_from_str(buf_str(&type)), "bytes",
			(json_int_t)json_number_of(a->facts, "size"));
		json_array_append_new(all, one);
	}
	return true;
}

static json_t *artifacts_of(struct run_handle *h)
{
	json_t *all = json_array(), *one;
	size_t i;

	artifacts_each(h, add_artifact, all);
	json_array_foreach(all, i, one)
	{
		AUTO_BUF uri = BUF_INIT;

		artifact_uri(&uri, run_id(h), json_text_of(one, "name"));
		json_object_set_new(one, "uri", json_from_str(buf_str(&uri)));
	}
	return all;
}

json_t *run_facts(struct mcp *m, struct run_handle *h)
{
	AUTO_JSON *status = run_status_document(h);
	json_t *code = json_object_get(status, "code");
	json_t *gate = json_object_get(status, "pending_approval");
	AUTO_BUF log = BUF_INIT;
	json_t *facts;

	(void)m;
	run_uri(&log, run_id(h), "/log");
	facts = json_pack("{s:o, s:o, s:O, s:b, s:o, s:o}", "run", json_from_str(run_id(h)),
		"status", json_from_str(run_status_word(h)), "exitCode", code ? code : json_null(),
		"truncated", 0, "artifacts", artifacts_of(h), "log", json_from_str(buf_str(&log)));
	if (json_is_object(gate))
		json_object_set(facts, "approval", gate);
	return facts;
}

/* -- a recipe that says what it prints -----------------------------------------------------------
 */

struct violations {
	struct buf text;
	size_t count;
};

static bool note(void *data, struct str path, struct str message)
{
	struct violations *v = data;

	buf_printf(&v->text, "\n- %.*s%s%.*s", STR(path), path.len ? ": " : "", STR(message));
	return ++v->count < VIOLATIONS;
}

/* It is masked when it has been read: a number in it is a number, and no escape hides a secret. */
static json_t *structured(struct mcp *m, const struct tool *t, struct run_handle *h,
	struct mask *mask, struct violations *v)
{
	AUTO_BUF text = BUF_INIT;
	AUTO_REPORT issues = REPORT_INIT;
	struct log_found found;
	struct log_window w = { .stream = LOG_STDOUT, .max = m->options.limits.arguments };

	int e = read_output(h, &w, &text, &found);
	if (e < 0) {
		(void)note(v, S("the output cannot be read"), str_of(strerror(-e)));
		return NULL;
	}
	if (found.size > w.max) {
		(void)note(v, S(""), S("the output is too long to be read as JSON"));
		return NULL;
	}
	AUTO_JSON *said = json_read(&(struct source){ S("output"), buf_str(&text) }, &issues);
	if (!said) {
		mask_report(mask, &issues);
		(void)note(v, S(""), issues.issues.at[0].message);
		return NULL;
	}
	json_t *value = mask_value(mask, said);
	if (json_schema_check(t->output, value, note, v))
		return t->wrapped ? json_pack("{s:o}", "result", value) : value;
	json_decref(value);
	return NULL;
}

/* -- all of it -----------------------------------------------------------------------------------
 */

static json_t *with_text(struct str text, bool error)
{
	json_t *result = json_pack(
		"{s:[{s:s, s:o}]}", "content", "type", "text", "text", json_from_str(text));

	json_object_set_new(result, "isError", json_boolean(error));
	return result;
}

static json_t *schema_result(
	struct mcp *m, const struct tool *t, struct run_handle *h, struct mask *mask)
{
	struct violations v = { 0 };
	AUTO_BUF text = BUF_INIT;
	json_t *value = structured(m, t, h, mask, &v);
	json_t *result;

	if (value) {
		json_write_typed(&text, t->wrapped ? json_object_get(value, "result") : value, 0);
		result = with_text(buf_str(&text), false);
		json_object_set_new(result, "structuredContent", value);
	} else {
		buf_printf(&text, "Failed: the output is not what output_schema says:%s\n",
			buf_cstr(&v.text));
		add_tail(h, mask, LOG_STDOUT, S(""), &text);
		mark(&text, h, 0, 0);
		result = with_text(buf_str(&text), true);
	}
	buf_done(&v.text);
	return result;
}

json_t *result_of_run(struct mcp *m, const struct tool *t, struct run_handle *h)
{
	AUTO_REPORT issues = REPORT_INIT;
	AUTO_BUF text = BUF_INIT;
	struct mask *mask;
	json_t *result, *facts;
	bool cut = false;

	if (!run_mask(h, &mask, &issues))
		return result_issues(&issues);
	if (t && t->output && run_status(h) == ROUX_DONE) {
		result = schema_result(m, t, h, mask);
	} else {
		bool there = text_of(m, h, mask, &text, &cut);
		result = with_text(buf_str(&text), !there || !status_ok(run_status(h)));
	}
	facts = run_facts(m, h);
	json_object_set_new(facts, "truncated", json_boolean(cut));
	if (run_status(h) != ROUX_PAUSED)
		artifacts_content(h, mask, json_object_get(facts, "artifacts"),
			json_object_get(result, "content"));
	json_object_set_new(result, "_meta", json_pack("{s:o}", RUN_META, facts));
	mask_free(mask);
	return result;
}

void run_text(struct mcp *m, struct run_handle *h, struct buf *b, bool *ret_cut)
{
	AUTO_REPORT issues = REPORT_INIT;
	struct mask *mask;

	*ret_cut = false;
	if (run_mask(h, &mask, &issues))
		(void)text_of(m, h, mask, b, ret_cut);
	else
		buf_add(b, issues.issues.at[0].message);
	mask_free(mask);
}

json_t *result_running(struct mcp *m, struct run_handle *h)
{
	AUTO_BUF text = BUF_INIT;
	json_t *result;

	buf_printf(&text, "still running; call roux_run_wait with run %.*s\n[roux %.*s: running]",
		STR(run_id(h)), STR(run_id(h)));
	result = with_text(buf_str(&text), false);
	json_object_set_new(result, "_meta", json_pack("{s:o}", RUN_META, run_facts(m, h)));
	json_object_set_new(json_object_get(json_object_get(result, "_meta"), RUN_META), "status",
		json_string("running"));
	return result;
}
