#include "render/terminal/status.h"

#include "base/clock.h"
#include "base/plain-text.h"
#include "base/run-status.h"
#include "base/utf8.h"
#include "render/terminal/failure.h"

enum { STATUS_FAILURES = 100, STATUS_COMMAND = 60, STATUS_WORKERS = 20 };

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
	return !status_is_end(json_text_of(d, "status"));
}

static void times_text(const json_t *d, struct buf *b)
{
	AUTO_BUF text = BUF_INIT;

	if (!json_text_of(d, "started").len)
		return;
	buf_add(&text, json_text_of(d, "started"));
	buf_adds(&text, is_live(d) ? ", for " : ", took ");
	clock_duration(&text, (uint64_t)json_number_of(d, "ms"));
	line(b, "started", buf_str(&text));
}

static void progress_text(const json_t *d, struct buf *b)
{
	const json_t *p = json_object_get(d, "progress"), *pid = json_object_get(d, "pid");
	bool expects = json_is_integer(json_object_get(p, "expected"));
	json_int_t completed = json_number_of(p, "completed"), active = json_number_of(p, "active");
	json_int_t failed = json_number_of(p, "failed");
	AUTO_BUF text = BUF_INIT;

	buf_printf(&text, "%" JSON_INTEGER_FORMAT, completed);
	if (expects)
		buf_printf(&text, " of %" JSON_INTEGER_FORMAT, json_number_of(p, "expected"));
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

/* One line for each worker of a batch system. */
static void workers_text(const json_t *d, struct buf *b)
{
	const json_t *workers = is_live(d) ? json_object_get(d, "workers") : NULL;
	json_int_t left = json_number_of(d, "left_jobs");
	struct str on = json_text_of(d, "on");
	AUTO_BUF all = BUF_INIT;
	json_t *w;
	size_t i;

	json_array_foreach(workers, i, w)
	{
		AUTO_BUF text = BUF_INIT;
		struct str host = json_text_of(w, "host"), job = json_text_of(w, "job");
		struct str reason = json_text_of(w, "reason");

		if (i == STATUS_WORKERS) {
			buf_printf(b, "             and %zu more (--json)\n",
				json_array_size(workers) - i);
			break;
		}
		buf_printf(&text, "%" JSON_INTEGER_FORMAT " %.*s", json_number_of(w, "id"),
			STR(json_text_of(w, "state")));
		if (!str_eq(json_text_of(w, "on"), on))
			buf_printf(&text, " of %.*s", STR(json_text_of(w, "on")));
		if (host.len)
			buf_printf(&text, " on %.*s", STR(host));
		if (job.len)
			buf_printf(&text, " (job %.*s)", STR(job));
		if (reason.len)
			buf_printf(&text, ": %.*s", STR(reason));
		else if (host.len)
			buf_printf(&text,
				", %" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT
				" slots, %" JSON_INTEGER_FORMAT " done",
				json_number_of(w, "busy"), json_number_of(w, "slots"),
				json_number_of(w, "done"));
		line(b, i ? "" : "workers", buf_str(&text));
	}
	if (!left)
		return;
	if (!on.len)
		on = json_text_of(d, "left_on");
	buf_printf(&all, "%" JSON_INTEGER_FORMAT " job%s of it %s on %.*s", left,
		left == 1 ? "" : "s", left == 1 ? "is" : "are", STR(on));
	line(b, "left", buf_str(&all));
}

/* Commands, and in brackets how often they were tried. */
static void attempts_text(const json_t *d, struct buf *b)
{
	const json_t *failures = json_object_get(d, "failures");
	json_int_t attempts = json_number_of(d, "failures_total");
	json_int_t failed = json_number_of(d, "failed"), tolerated = json_number_of(d, "tolerated");
	AUTO_BUF text = BUF_INIT;

	if (!failed && !tolerated)
		return;
	for (size_t i = 0; i < json_array_size(failures); i++)
		attempts -= json_truth_of(json_array_get(failures, i), "tolerated");
	if (failed)
		buf_printf(&text, "%" JSON_INTEGER_FORMAT " command%s failed", failed,
			failed == 1 ? "" : "s");
	if (failed && attempts > failed)
		buf_printf(&text, " (%" JSON_INTEGER_FORMAT " attempts)", attempts);
	if (tolerated)
		buf_printf(&text, "%s%" JSON_INTEGER_FORMAT " tolerated", failed ? ", " : "",
			tolerated);
	line(b, "failed", buf_str(&text));
}

/* The last attempt of each command that did not succeed in the end. */
static json_t *last_attempts(const json_t *failures)
{
	AUTO_JSON *last = json_object();
	json_t *list = json_array(), *f;
	size_t i;

	json_array_foreach(failures, i, f) json_object_setn_nocheck(
		last, json_text_of(f, "path").p, json_text_of(f, "path").len, f);
	json_array_foreach(failures, i, f)
	{
		struct str path = json_text_of(f, "path");

		if (json_object_getn(last, path.p, path.len) == f &&
			!json_truth_of(f, "succeeded_later"))
			json_array_append(list, f);
	}
	return list;
}

static void failures_text(const json_t *d, struct buf *b)
{
	json_int_t total = json_number_of(d, "failed") + json_number_of(d, "tolerated");
	AUTO_JSON *last = last_attempts(json_object_get(d, "failures"));
	json_t *failure;
	size_t i;

	json_array_foreach(last, i, failure)
	{
		AUTO_BUF text = BUF_INIT;
		struct str label = json_text_of(failure, "label");

		if (i == STATUS_FAILURES) {
			buf_printf(b, "             and %" JSON_INTEGER_FORMAT " more (--json)\n",
				MAX(total, (json_int_t)json_array_size(last)) - (json_int_t)i);
			break;
		}
		buf_addc(&text, '[');
		text_name(
			&text, json_text_of(failure, "path"), label, json_text_of(failure, "item"));
		buf_adds(&text, "] ");
		failure_how(&text, failure);
		buf_printf(&text, "%s: %.*s",
			json_truth_of(failure, "tolerated") ? ", tolerated" : "",
			STR(utf8_head(json_text_of(failure, "command"), STATUS_COMMAND)));
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

		buf_printf(&text, "%s: %.*s", name, STR(json_text_of(entry, "path")));
		if (!json_truth_of(entry, "exists"))
			buf_adds(&text, " (not there)");
		line(b, first ? "artifacts" : "", buf_str(&text));
		first = false;
	}
}

/* The answer at a gate, and what it waits for. */
static void answered_text(const json_t *d, const struct status_words *w, struct buf *b)
{
	const json_t *answered = json_object_get(d, "answered");
	struct str by = json_text_of(answered, "by"), message = json_text_of(answered, "message");

	if (!json_is_object(answered))
		return;
	buf_adds(b, "  answered: ");
	text_plain(b, json_text_of(answered, "decision"));
	if (by.len) {
		buf_adds(b, " by ");
		text_plain(b, by);
	}
	if (w->next.len)
		buf_printf(b, "; next: %.*s", STR(w->next));
	buf_addc(b, '\n');
	line(b, "message", message);
}

void status_text(const json_t *d, const struct status_words *w, struct buf *b)
{
	struct str run = json_text_of(d, "run"), path = json_text_of(d, "recipe_path");

	text_plain(b, run);
	buf_adds(b, ": ");
	buf_add(b, w->headline);
	buf_addc(b, '\n');
	line(b, "recipe", path.len ? path : json_text_of(d, "recipe"));
	times_text(d, b);
	progress_text(d, b);
	workers_text(d, b);
	line(b, "error", json_text_of(d, "error"));
	attempts_text(d, b);
	failures_text(d, b);
	artifacts_text(d, b);
	line(b, "waits for", json_text_of(json_object_get(d, "pending_approval"), "prompt"));
	answered_text(d, w, b);
	line(b, "owner", json_text_of(d, "owner"));
	line(b, "directory", json_text_of(d, "dir"));
	line(b, "see", w->see);
	line(b, "again", w->again);
	line(b, "next", w->next);
}
