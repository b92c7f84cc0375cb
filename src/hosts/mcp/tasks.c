#include "hosts/mcp/tasks.h"

#include <sys/random.h>

#include "app/queue.h"
#include "app/settings.h"
#include "base/clock.h"
#include "base/run-status.h"
#include "hosts/mcp/approvals.h"
#include "hosts/mcp/audit.h"
#include "hosts/mcp/methods.h"
#include "hosts/mcp/result.h"
#include "hosts/mcp/run-steps.h"

enum { QUICK_MS = 10000, POLL_QUICK_MS = 500, POLL_MS = 2000, ID_BYTES = 16, DAY_MS = 86400000 };

#define HOST S("mcp")

/* -- ids -----------------------------------------------------------------------------------------
 */

void task_id_make(struct buf *b)
{
	static const char digits[] = "abcdefghijklmnopqrstuvwxyz234567";
	unsigned char bytes[ID_BYTES] = { 0 };
	unsigned held = 0, bits = 0;

	(void)!getrandom(bytes, sizeof(bytes), 0);
	for (size_t i = 0; i < sizeof(bytes); i++) {
		held = held << 8 | bytes[i];
		for (bits += 8; bits >= 5; bits -= 5)
			buf_addc(b, digits[held >> (bits - 5) & 31]);
	}
	buf_addc(b, digits[held << (5 - bits) & 31]);
}

static void state_key(struct buf *b, struct str id)
{
	buf_printf(b, "task/%.*s", STR(id));
}

bool task_register(struct session *who, struct str id, struct str run, struct report *r)
{
	AUTO_BUF key = BUF_INIT;
	AUTO_BUF value = BUF_INIT;

	state_key(&key, id);
	buf_printf(&value, "%.*s %.*s", STR(run), STR(who->principal));
	return host_state_set(who->server->app, HOST, buf_str(&key), buf_str(&value), r);
}

/* "RUN PRINCIPAL". To have the id of a task is not enough. */
bool task_run(const struct session *who, struct str id, struct buf *run)
{
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_BUF key = BUF_INIT;
	struct arena a = ARENA_INIT;
	struct str found = S("");

	state_key(&key, id);
	bool ok = id.len &&
		  host_state_get(who->server->app, HOST, buf_str(&key), &a, &found, &ignored);
	size_t end = str_find(found, ' ', 0);
	ok = ok && end < found.len && str_eq(str_from(found, end + 1), who->principal);
	if (ok)
		buf_add(run, str_sub(found, 0, end));
	arena_done(&a);
	return ok;
}

/* -- what is reported of it
 * ------------------------------------------------------------------------
 */

static const char *status_word_of(enum roux_status s)
{
	switch (s) {
	case ROUX_RUNNING:
		return "working";
	case ROUX_PAUSED:
		return "input_required";
	case ROUX_DONE:
	case ROUX_PARTIAL:
	case ROUX_FAILED:
	case ROUX_TIMEOUT:
	case ROUX_DENIED:
		return "completed";
	case ROUX_CANCELLED:
	case ROUX_KILLED:
		return "cancelled";
	case ROUX_EXITED:
	case ROUX_INVALID:
	case ROUX_REFUSED:
		break;
	}
	return "failed";
}

static json_t *retention(struct mcp *m)
{
	AUTO_REPORT ignored = REPORT_INIT;
	const struct settings *s = app_settings(m->app, &ignored);

	return s && s->max_age_given ? json_integer((json_int_t)(s->max_age_days * DAY_MS))
				     : json_null();
}

/* The step that works, as its author calls it; else what has become of the run. A new reference. */
static json_t *message_of(struct run_handle *h)
{
	AUTO_JSON *steps = run_status(h) == ROUX_RUNNING ? run_steps(h) : NULL;
	json_t *found = NULL, *step;
	size_t i;

	json_array_foreach(steps, i, step) if (str_eq(json_text_of(step, "state"), S("running")))
		found = step;
	if (json_text_of(found, "label").len)
		return json_incref(json_object_get(found, "label"));
	return found ? json_incref(json_object_get(found, "path"))
		     : json_from_str(run_status_word(h));
}

static json_t *members_of(struct mcp *m, struct str id, struct run_handle *h)
{
	AUTO_JSON *status = run_status_document(h);
	struct str started = json_text_of(status, "started"), ended = json_text_of(status, "ended");
	uint64_t age = (uint64_t)json_number_of(status, "ms");
	AUTO_BUF now = BUF_INIT;

	clock_rfc3339(&now, clock_real_ms());
	started = started.len ? started : buf_str(&now);
	return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:i}", "taskId", json_from_str(id),
		"status", status_word_of(run_status(h)), "statusMessage", message_of(h),
		"createdAt", json_from_str(started), "lastUpdatedAt",
		json_from_str(ended.len ? ended : buf_str(&now)), "ttlMs", retention(m),
		"pollIntervalMs", age < QUICK_MS ? POLL_QUICK_MS : POLL_MS);
}

json_t *task_created(struct mcp *m, struct str id, struct run_handle *h)
{
	json_t *t = members_of(m, id, h);

	json_object_set_new(t, "resultType", json_string("task"));
	json_object_set_new(t, "status", json_string("working"));
	json_object_set_new(t, "_meta", json_pack("{s:o}", RUN_META, run_facts(m, h)));
	return t;
}

/* The tool that the run was a call of, as it is now; NULL: there is none any more. */
static const struct tool *tool_of(struct mcp *m, struct run_handle *h)
{
	AUTO_JSON *status = run_status_document(h);
	struct str recipe = json_text_of(status, "recipe");

	catalog_read(m->catalog);
	vec_each (t, &m->catalog->tools)
		if (!(*t)->builtin && str_eq((*t)->id, recipe))
			return *t;
	return NULL;
}

/* Of a task whose run is not there any more. */
static json_t *gone(struct str id)
{
	AUTO_BUF now = BUF_INIT;

	clock_rfc3339(&now, clock_real_ms());
	return json_pack("{s:o, s:s, s:s, s:s, s:s, s:n, s:i, s:{s:i, s:s}}", "taskId",
		json_from_str(id), "status", "failed", "statusMessage", "the run is gone",
		"createdAt", buf_cstr(&now), "lastUpdatedAt", buf_cstr(&now), "ttlMs",
		"pollIntervalMs", POLL_MS, "error", "code", RPC_INTERNAL, "message",
		"the run is gone: its retention has passed");
}

json_t *task_document(const struct session *who, struct str id)
{
	struct mcp *m = who->server;
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_BUF run = BUF_INIT;

	if (!task_run(who, id, &run))
		return NULL;
	struct run_handle *h = runs_open(m->app, buf_cstr(&run), &ignored);
	if (!h)
		return gone(id);
	json_t *t = members_of(m, id, h);
	struct str status = json_text_of(t, "status");
	if (str_eq(status, S("input_required")))
		json_object_set_new(t, "inputRequests", approvals_requests(m, buf_cstr(&run)));
	else if (str_eq(status, S("completed")))
		json_object_set_new(t, "result", result_of_run(m, tool_of(m, h), h));
	else if (str_eq(status, S("failed")))
		json_object_set_new(t, "error",
			json_pack("{s:i, s:s}", "code", RPC_INTERNAL, "message",
				"the run ended without a result: its supervisor is gone"));
	run_close(h);
	return t;
}

/* -- methods -------------------------------------------------------------------------------------
 */

bool tasks_offered(struct exchange *x)
{
	if (exchange_extends(x, TASKS_EXTENSION))
		return true;
	exchange_fail(x, RPC_CAPABILITY,
		json_pack("{s:{s:{s:{}}}}", "requiredCapabilities", "extensions", TASKS_EXTENSION),
		"the request has to declare the extension " TASKS_EXTENSION);
	return false;
}

static void unknown(struct exchange *x)
{
	exchange_fail(x, RPC_PARAMS, NULL, "there is no such task");
}

/* Such a request is acknowledged whatever comes of it: only the audit says that. */
static void audit(struct exchange *x, struct str run, bool ok)
{
	audit_call(x, &(struct audited_call){ .action = x->message.method,
			      .run = run,
			      .outcome = ok ? S("done") : S("ignored"),
			      .exit = -1 });
}

void method_tasks_get(struct exchange *x)
{
	if (!tasks_offered(x))
		return;
	json_t *t = task_document(x->session, json_text_of(x->params, "taskId"));
	if (t)
		exchange_answer(x, t);
	else
		unknown(x);
}

void method_tasks_update(struct exchange *x)
{
	struct mcp *m = x->session->server;
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_BUF run = BUF_INIT;
	struct resume_request q = { .request = REQUEST_INIT };
	bool over;

	if (!tasks_offered(x))
		return;
	if (!task_run(x->session, json_text_of(x->params, "taskId"), &run)) {
		unknown(x);
		return;
	}
	q.request.detach = DETACH_ALWAYS;
	q.request.sandbox = m->options.sandbox;
	bool ok = approvals_apply(
		x, buf_cstr(&run), json_object_get(x->params, "inputResponses"), &ignored);
	if (ok)
		run_close(runs_resume(m->app, buf_cstr(&run), &q, &over, &ignored));
	audit(x, buf_str(&run), ok);
	exchange_answer(x, json_object());
}

void method_tasks_cancel(struct exchange *x)
{
	struct mcp *m = x->session->server;
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_BUF run = BUF_INIT;

	if (!tasks_offered(x))
		return;
	if (!task_run(x->session, json_text_of(x->params, "taskId"), &run)) {
		unknown(x);
		return;
	}
	struct run_handle *h = runs_open(m->app, buf_cstr(&run), &ignored);
	bool ok = h && run_order(h, RUN_CANCEL, -1, &ignored);
	run_close(h);
	audit(x, buf_str(&run), ok);
	exchange_answer(x, json_object());
}
