/* One run, as a document and for people. */
#include <inttypes.h>
#include <string.h>

#include "app/runs.h"
#include "base/clock.h"
#include "base/plain-text.h"
#include "base/run-status.h"
#include "base/utf8.h"
#include "base/width.h"
#include "runs/dir/manifest.h"
#include "runs/look/failures.h"

/* -- facts ---------------------------------------------------------------------------------------
 */

static uint64_t took_ms(const struct run_look *look)
{
	const json_t *ms = json_object_get(look->result, "ms");
	uint64_t end = look->row.ended ? look->row.ended : clock_real_ms();

	/* What the run measured itself is right even when the clock was set meanwhile. */
	if (json_is_integer(ms))
		return (uint64_t)json_integer_value(ms);
	return look->row.started && end > look->row.started ? end - look->row.started : 0;
}

static json_t *or_null(json_t *value)
{
	return value ? value : json_null();
}

static json_t *text_or_null(struct str text)
{
	return text.len ? json_from_str(text) : json_null();
}

static json_t *time_or_null(uint64_t ms)
{
	AUTO_BUF text = BUF_INIT;

	if (!ms)
		return json_null();
	clock_rfc3339(&text, ms);
	return json_from_str(buf_str(&text));
}

static json_t *member_or_null(const json_t *object, const char *name)
{
	json_t *value = json_object_get(object, name);

	return value ? json_incref(value) : json_null();
}

static json_t *count_of(const json_t *progress, const char *name)
{
	json_t *value = json_object_get(progress, name);

	return json_is_integer(value) ? json_incref(value) : json_integer(0);
}

static json_t *progress_of(const struct run_look *look)
{
	struct str phase = look_text(look->progress, "phase");
	json_t *p = json_object();

	/* The file may lag behind: it is written a few times a second, and not by the dead. */
	if (!look->live || look->result)
		phase = look->status;
	else if (!phase.len || status_is_end(phase))
		phase = S(STATUS_STARTING);
	json_object_set_new(p, "phase", json_from_str(phase));
	json_object_set_new(
		p, "active", look->live ? count_of(look->progress, "active") : json_integer(0));
	json_object_set_new(p, "completed", count_of(look->progress, "completed"));
	json_object_set_new(p, "failed", count_of(look->progress, "failed"));
	json_object_set_new(p, "expected", member_or_null(look->progress, "expected"));
	return p;
}

static json_t *failures_of(const struct run_look *look, uint64_t *total)
{
	json_t *listed = json_object_get(look->result, "failures");
	const json_t *all = json_object_get(look->result, "failures_total");

	if (!json_is_array(listed))
		return run_failures(look->dir.p, total);
	*total = json_is_integer(all) ? (uint64_t)json_integer_value(all) : json_array_size(listed);
	return json_incref(listed);
}

/* The result's are those that the run ended with. */
static const json_t *artifacts_of(const struct run_look *look)
{
	const json_t *artifacts = json_object_get(look->start, "artifacts");

	return artifacts ? artifacts : json_object_get(look->result, "artifacts");
}

static json_t *manifest_of(const struct run_look *look)
{
	json_t *frozen = json_object_get(look->result, "manifest");

	if (json_is_object(frozen))
		return json_incref(frozen);
	return manifest_make(artifacts_of(look), json_object_get(look->start, "manifest"),
		look_text(look->start, "cwd"));
}

/* Before it says so itself, the row names who starts it. */
static bool has_supervisor(const struct run_look *look)
{
	return look->live && look->start && look->row.pid > 0;
}

static json_t *handled_of(const struct run_look *look)
{
	if (look->row.handled.len)
		return json_from_str(look->row.handled);
	/* A ledger that was made anew knows less than the status. */
	struct str asked_by = status_asked_by(runs_status_of(look->status));
	return asked_by.len ? json_from_str(asked_by) : json_null();
}

static json_t *document(const struct run_look *look)
{
	json_t *d = json_object();
	uint64_t failures = 0;

	json_object_set_new(d, "run", json_from_str(look->id));
	json_object_set_new(d, "recipe", text_or_null(look->row.recipe));
	json_object_set_new(d, "status", json_from_str(look->status));
	json_object_set_new(d, "started", time_or_null(look->row.started));
	json_object_set_new(d, "ended", time_or_null(look->row.ended));
	json_object_set_new(d, "ms", json_integer((json_int_t)took_ms(look)));
	json_object_set_new(d, "owner", text_or_null(look->row.owner));
	json_object_set_new(d, "detached", json_boolean(look->row.detached));
	json_object_set_new(d, "progress", progress_of(look));
	json_object_set_new(d, "failures", failures_of(look, &failures));
	json_object_set_new(d, "failures_total", json_integer((json_int_t)failures));
	json_object_set_new(d, "artifacts", manifest_paths(artifacts_of(look)));
	json_object_set_new(d, "manifest", manifest_of(look));
	json_object_set_new(d, "dir", json_from_str(look->dir));
	json_object_set_new(
		d, "pending_approval", member_or_null(look->result, "pending_approval"));
	json_object_set_new(
		d, "pid", has_supervisor(look) ? json_integer(look->row.pid) : json_null());
	json_object_set_new(d, "mailbox", member_or_null(look->start, "mailbox"));
	json_object_set_new(d, "retire_when", member_or_null(look->start, "retire_when"));
	json_object_set_new(d, "terminal_handled", handled_of(look));
	json_object_set_new(d, "context_records", count_of(look->start, "context_records"));
	json_object_set_new(d, "generation", text_or_null(look->generation));
	json_object_set_new(d, "cwd", text_or_null(look->row.cwd));
	json_object_set_new(d, "recipe_path", text_or_null(look->row.recipe_path));
	json_object_set_new(d, "rerun_of", member_or_null(look->start, "rerun_of"));
	json_object_set_new(d, "code", or_null(look->result ? json_integer(look->row.code) : NULL));
	json_object_set_new(d, "error", member_or_null(look->result, "error"));
	return d;
}

/* -- for people ----------------------------------------------------------------------------------
 */

enum { SHOWN_FAILURES = 10, SHOWN_COMMAND = 60 };

static void line(struct buf *b, const char *name, struct str text)
{
	if (!text.len)
		return;
	buf_printf(b, "  %-10s ", name);
	text_plain(b, text);
	buf_addc(b, '\n');
}

static void times_text(const json_t *d, const struct run_look *look, struct buf *b)
{
	AUTO_BUF text = BUF_INIT;

	if (!look->row.started)
		return;
	buf_add(&text, look_text(d, "started"));
	buf_adds(&text, look->live ? ", for " : ", took ");
	clock_duration(&text, took_ms(look));
	line(b, "started", buf_str(&text));
}

static void progress_text(const json_t *d, const struct run_look *look, struct buf *b)
{
	const json_t *p = json_object_get(d, "progress"),
		     *expected = json_object_get(p, "expected");
	json_int_t completed = json_integer_value(json_object_get(p, "completed"));
	json_int_t active = json_integer_value(json_object_get(p, "active"));
	json_int_t failed = json_integer_value(json_object_get(p, "failed"));
	AUTO_BUF text = BUF_INIT;

	buf_printf(&text, "%" JSON_INTEGER_FORMAT, completed);
	if (json_is_integer(expected))
		buf_printf(&text, " of %" JSON_INTEGER_FORMAT, json_integer_value(expected));
	buf_printf(
		&text, " command%s ended", completed == 1 && !json_is_integer(expected) ? "" : "s");
	if (active)
		buf_printf(&text, ", %" JSON_INTEGER_FORMAT " running", active);
	if (failed)
		buf_printf(&text, ", %" JSON_INTEGER_FORMAT " failed", failed);
	if (has_supervisor(look))
		buf_printf(&text, " (supervisor %" PRId64 ")", look->row.pid);
	line(b, "progress", buf_str(&text));
}

static void failures_text(const json_t *d, struct buf *b)
{
	json_int_t total = json_integer_value(json_object_get(d, "failures_total"));
	json_t *failure;
	size_t i;

	json_array_foreach(json_object_get(d, "failures"), i, failure)
	{
		AUTO_BUF text = BUF_INIT;
		struct str label = look_text(failure, "label");

		if (i == SHOWN_FAILURES) {
			buf_printf(b, "             and %" JSON_INTEGER_FORMAT " more (--json)\n",
				total - (json_int_t)i);
			break;
		}
		buf_printf(&text, "[%.*s%s%.*s] code %" JSON_INTEGER_FORMAT "%s: %.*s",
			STR(look_text(failure, "path")), label.len ? " " : "", STR(label),
			json_integer_value(json_object_get(failure, "code")),
			json_is_true(json_object_get(failure, "tolerated")) ? ", tolerated" : "",
			STR(utf8_head(look_text(failure, "command"), SHOWN_COMMAND)));
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

		buf_printf(&text, "%s: %.*s", name, STR(look_text(entry, "path")));
		if (!json_is_true(json_object_get(entry, "exists")))
			buf_adds(&text, " (not there)");
		line(b, first ? "artifacts" : "", buf_str(&text));
		first = false;
	}
}

static struct str what_next(const struct run_look *look, struct arena *a)
{
	const char *command = look->live                                     ? "logs -f"
			      : status_is(look->status, ROUX_PAUSED)         ? "approve"
			      : status_rests(look->status, STATUS_CUT_SHORT) ? "resume"
			      : !status_ok(runs_status_of(look->status))     ? "logs"
									     : NULL;

	return command ? arena_printf(a, "roux %s %.*s", command, STR(look->id)) : S("");
}

static void text(const json_t *d, const struct run_look *look, struct buf *b)
{
	struct arena a = ARENA_INIT;

	text_plain(b, look->id);
	buf_adds(b, ": ");
	text_plain(b, look->status);
	buf_addc(b, '\n');
	line(b, "recipe", look->row.recipe_path.len ? look->row.recipe_path : look->row.recipe);
	times_text(d, look, b);
	progress_text(d, look, b);
	line(b, "error", look_text(d, "error"));
	failures_text(d, b);
	artifacts_text(d, b);
	line(b, "waits for", look_text(json_object_get(d, "pending_approval"), "prompt"));
	line(b, "owner", look->row.owner);
	line(b, "directory", look->dir);
	line(b, "next", what_next(look, &a));
	arena_done(&a);
}

void runs_status(const struct run_look *look, bool json, struct buf *b)
{
	AUTO_JSON *d = document(look);

	if (!json) {
		text(d, look, b);
		return;
	}
	json_write(b, d, 0);
	buf_addc(b, '\n');
}
