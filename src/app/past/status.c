#include "app/past/elsewhere.h"
#include "app/past/find.h"
#include "app/past/left.h"
#include "app/past/told.h"
#include "app/record/freeze.h"
#include "app/record/gates-file.h"
#include "base/clock.h"
#include "base/run-status.h"
#include "remote/left.h"
#include "runs/dir/manifest.h"
#include "runs/dir/open.h"

enum { WORKERS_MAX = 16 << 20 };

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
	struct str phase = json_text_of(look->progress, "phase");
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

	if (!json_is_array(listed) && look->result) {
		*total = 0; /* on a full disk it had no room for them */
		return json_array();
	}
	if (!json_is_array(listed))
		return told_failures(look, total);
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
	json_t *frozen = json_object_get(look->result, "manifest"), *entry;
	const char *name;

	if (json_is_object(frozen))
		return json_incref(frozen);
	AUTO_JSON *shown = manifest_paths(artifacts_of(look));
	AUTO_JSON *files = freeze_artifacts(look->dir, shown, NULL);
	json_t *manifest = manifest_make(files ? files : shown,
		json_object_get(look->start, "manifest"), json_text_of(look->start, "cwd"));
	json_object_foreach(manifest, name, entry)
		json_object_set(entry, "path", json_object_get(shown, name));
	return manifest;
}

/* Before it says so itself, the row names who starts it. */
static bool has_supervisor(const struct run_look *look)
{
	return look->live && look->named && look->row.pid > 0;
}

static json_t *handled_of(const struct run_look *look)
{
	if (look->row.handled.len)
		return json_from_str(look->row.handled);
	/* A ledger that was made anew knows less than the status. */
	struct str asked_by = status_asked_by(told_status(look));
	return asked_by.len ? json_from_str(asked_by) : json_null();
}

/* gates.json is the truth; what the result says is how it was when the run paused. */
static json_t *pending_of(const struct run_look *look)
{
	json_t *gate =
		status_rests(look->status, STATUS_AT_GATE) ? gates_pending_in(look->gates) : NULL;

	json_object_del(gate, "path");
	return or_null(gate);
}

/* While it has not been continued, and of a run that it has ended. */
static json_t *answered_of(const struct run_look *look)
{
	return status_is(look->status, ROUX_PAUSED) || status_is(look->status, ROUX_DENIED)
		       ? or_null(gates_answered_in(look->gates, look->dir))
		       : json_null();
}

/* Of a run whose commands go elsewhere. */
static void add_workers(const struct run_look *look, json_t *d)
{
	json_t *all = json_array();

	/* One that it had before may still run what was adopted there. */
	for (size_t i = 0; i < LEFT_EXECUTORS && !look->result; i++) {
		AUTO_REPORT ignored = REPORT_INIT;
		AUTO_BUF text = BUF_INIT;
		struct arena a = ARENA_INIT;
		struct table *t = left_table(look, i, &ignored);
		json_t *worker;
		size_t n;

		if (t &&
			run_read(remote_exchange_path(t, look->dir, look->run, look->generation, &a)
					 .p,
				WORKERS_FILE, WORKERS_MAX, &text) >= 0) {
			AUTO_JSON *workers = json_loadb(buf_cstr(&text), text.len, 0, NULL);

			json_array_foreach(workers, n, worker)
			{
				json_object_set_new(worker, "on", json_from_str(t->name));
				json_array_append(all, worker);
			}
		}
		table_free(t);
		arena_done(&a);
	}
	json_object_set_new(d, "on", text_or_null(json_text_of(look->start, "on")));
	json_object_set_new(d, "left_on", text_or_null(json_text_of(look->start, "left_on")));
	json_object_set_new(d, "workers", all);
	json_object_set_new(d, "left_jobs", json_integer((json_int_t)left_jobs(look)));
}

static json_t *status_document(const struct run_look *look)
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
	told_counts(look, d);
	json_object_set_new(d, "progress", progress_of(look));
	json_object_set_new(d, "failures", failures_of(look, &failures));
	json_object_set_new(d, "failures_total", json_integer((json_int_t)failures));
	json_object_set_new(d, "failed_node", member_or_null(look->result, "failed_node"));
	if (json_text_of(look->result, "mistake").len)
		json_object_set(d, "mistake", json_object_get(look->result, "mistake"));
	if (json_is_true(json_object_get(look->result, "input_cut")))
		json_object_set_new(d, "input_cut", json_true());
	json_object_set_new(d, "artifacts", manifest_paths(artifacts_of(look)));
	json_object_set_new(d, "manifest", manifest_of(look));
	json_object_set_new(d, "dir", json_from_str(look->dir));
	json_object_set_new(d, "pending_approval", pending_of(look));
	json_object_set_new(d, "answered", answered_of(look));
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
	json_object_set_new(d, "error",
		look->denied ? told_denial(look) : member_or_null(look->result, "error"));
	if (json_object_get(look->start, "executor") ||
		json_object_get(look->start, "left_executor"))
		add_workers(look, d);
	return d;
}

json_t *run_status_document(struct run_handle *h)
{
	AUTO_REPORT ignored = REPORT_INIT;
	const struct run_look *look = handle_look(h, &ignored);

	return look ? status_document(look) : json_null();
}

void run_task(struct run_handle *h, struct buf *b)
{
	AUTO_REPORT ignored = REPORT_INIT;
	const struct run_look *look = handle_look(h, &ignored);

	if (look)
		buf_add(b, json_text_of(look->start, "task"));
}

json_t *run_values_document(struct run_handle *h, struct report *r)
{
	const struct run_look *look = handle_look(h, r);
	json_t *values = look ? json_object_get(look->start, "values") : NULL;

	return json_is_object(values) ? json_incref(values) : json_object();
}
