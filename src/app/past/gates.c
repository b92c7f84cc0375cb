#include "app/gates.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "app/past/find.h"
#include "app/past/kin.h"
#include "app/record/freeze.h"
#include "app/record/gates-file.h"
#include "app/runs.h"
#include "base/clock.h"
#include "base/run-status.h"
#include "graph/event.h"
#include "graph/node.h"
#include "runs/dir/events.h"
#include "runs/dir/lines.h"
#include "runs/dir/run-dir.h"

enum { AWAIT_POLL_MS = 10 };

/* -- listing -------------------------------------------------------------------------------------
 */

struct asking {
	gate_fn *see;
	void *data;
	bool enough;
};

static void tell(struct asking *q, const struct run_look *look)
{
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_JSON *gates = NULL;
	const char *path;
	json_t *g;

	if (!status_rests(look->status, STATUS_AT_GATE))
		return;
	gates = gates_read(look->dir, &ignored);
	json_object_foreach(gates, path, g)
	{
		const struct gate gate = {
			.run = look->id,
			.path = str_of(path),
			.stage = json_str(json_object_get(g, "stage")),
			.prompt = json_str(json_object_get(g, "prompt")),
			.since_ms = (uint64_t)json_integer_value(json_object_get(g, "since_ms")),
			.timeout_ms =
				(uint64_t)json_integer_value(json_object_get(g, "timeout")) * 1000,
			.approves = str_eq(json_str(json_object_get(g, "default")), S("approve")),
		};

		if (gate_answer_of(g) == GATE_PENDING && !q->enough)
			q->enough = !q->see(q->data, &gate);
	}
}

/* The ids of runs that wait. They are told when all are known: a broken ledger begins anew, and the
 * visitor may answer. */
struct waiting {
	struct arena arena;
	VEC(struct str) ids;
};

static bool collect(void *data, const struct run_entry *e)
{
	struct waiting *w = data;

	if (status_rests(e->status, STATUS_AT_GATE))
		vec_push(&w->ids, arena_str(&w->arena, e->id));
	return true;
}

static void collect_again(void *data)
{
	((struct waiting *)data)->ids.len = 0;
}

static bool tell_all(struct asking *q, struct app *a, struct report *r)
{
	struct waiting w = { 0 };
	size_t errors = r->errors;

	const struct run_filter paused = { .status = status_str(ROUX_PAUSED) };

	runs_each(a, &paused, collect, collect_again, &w, r);
	vec_each (id, &w.ids) {
		AUTO_REPORT found = REPORT_INIT;
		AUTO_LOOK look = { 0 };

		if (q->enough)
			break;
		if (look_at(app_state_root(a), app_ledger(a, r), *id, &look, &found))
			tell(q, &look);
		else
			app_warn(&found, r);
	}
	vec_done(&w.ids);
	arena_done(&w.arena);
	return r->errors == errors;
}

bool gates_each(struct app *a, const char *run, gate_fn *see, void *data, struct report *r)
{
	struct asking q = { .see = see, .data = data };
	AUTO_LOOK look = { 0 };

	if (!run)
		return tell_all(&q, a, r);
	if (!find_run(a, run, &look, r))
		return false;
	tell(&q, &look);
	return true;
}

static bool has_gate(const struct node *n)
{
	bool found = n->kind == NODE_GATE || n->kind == NODE_CALL;

	for (size_t i = 0; i < n->child_count && !found; i++)
		found = has_gate(n->children[i]);
	return found;
}

bool run_may_ask(struct run_handle *h)
{
	AUTO_REPORT issues = REPORT_INIT;
	AUTO_BUF dir = BUF_INIT;

	buf_add(&dir, run_dir(h));
	struct graph *g = freeze_graph(buf_cstr(&dir), &issues);
	bool found = !g || has_gate(g->root);
	graph_unref(g);
	return found;
}

/* -- asking --------------------------------------------------------------------------------------
 */

int gate_ask(struct app *a, const char *run)
{
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_LOOK look = { 0 };

	return find_run(a, run, &look, &ignored) ? gates_asking(look.dir) : -ENOENT;
}

bool gate_is_asked(struct app *a, const char *run)
{
	int fd = gate_ask(a, run);

	if (fd >= 0)
		(void)close(fd);
	return fd == -EWOULDBLOCK;
}

/* -- answering -----------------------------------------------------------------------------------
 */

/* Says by whom and when it was answered, as far as that is known. */
static void refuse_answered(const struct run_look *look, struct report *r)
{
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_JSON *answer = gates_answered(look->dir, &ignored);
	struct str by = json_text_of(answer, "by"), when = json_text_of(answer, "answered");

	if (by.len && when.len)
		report_refuse(r, look->id, "nothing to approve",
			"the run '%.*s' has its answer already: %.*s by %.*s at %.*s",
			STR(look->id), STR(json_text_of(answer, "decision")), STR(by), STR(when));
	else
		report_refuse(r, look->id, "nothing to approve",
			"the run '%.*s' has its answer already", STR(look->id));
}

/* Whether another process has taken the run up and has yet to come to a gate that was asked: with
 * the lock of the gates it stays so. One that has been there and found no answer pauses, and lets
 * go of the run before it says that it has. */
static bool under_way(const struct run_look *look)
{
	return run_lock_state(look->dir.p) == 1 && !gates_pause_now(look->dir);
}

/* The path of the gate that is meant, in gates.json. NULL with a refusal added. */
static const char *meant(const struct run_look *look, bool taken_up, json_t *gates,
	const struct gate_decision *d, struct report *r)
{
	const char *path, *open = NULL;
	json_t *g;

	json_object_foreach(gates, path, g)
	{
		if (gate_answer_of(g) == GATE_PENDING && !open)
			open = path;
	}
	if (!status_rests(look->status, STATUS_AT_GATE) && !(open && taken_up)) {
		AUTO_REPORT ignored = REPORT_INIT;
		AUTO_JSON *answer = gates_answered(look->dir, &ignored);
		struct str by = json_text_of(answer, "by");

		if (by.len)
			report_refuse(r, look->id, "nothing to approve",
				"the run '%.*s' is not waiting for an approval: it is %.*s, after "
				"'%.*s' was %.*s by %.*s at %.*s",
				STR(look->id), STR(look->status),
				STR(json_text_of(answer, "stage")),
				STR(json_text_of(answer, "decision")), STR(by),
				STR(json_text_of(answer, "answered")));
		else
			report_refuse(r, look->id, "nothing to approve",
				"the run '%.*s' is not waiting for an approval: it is %.*s",
				STR(look->id), STR(look->status));
		report_action(r, ACTION_STATUS, look->id);
		return NULL;
	}
	if (!open && !json_object_size(gates)) {
		report_refuse(r, look->id, "nothing to approve",
			"what the run '%.*s' asks is lost: %.*s/" GATES_FILE " is damaged or gone",
			STR(look->id), STR(look->dir));
		report_hint(r, "continue the run: it asks again");
		report_action(r, ACTION_RESUME, look->id);
		return NULL;
	}
	if (!open) {
		refuse_answered(look, r);
		report_action(r, ACTION_RESUME, look->id);
		return NULL;
	}
	struct str stage = json_str(json_object_get(json_object_get(gates, open), "stage"));
	if (!d->stage || str_eq(str_of(d->stage), stage) || str_eq(str_of(d->stage), str_of(open)))
		return open;
	report_refuse(r, look->id, "nothing to approve",
		"the run waits at stage '%.*s', not at '%s'", STR(stage), d->stage);
	report_hint(r, "leave the stage out to mean the one it waits at");
	return NULL;
}

/* What a run does is what is to be approved: it has no say in that. */
static bool may_answer(const struct run_look *look, struct report *r)
{
	int own = run_started_this(look);

	if (own == 0)
		return true;
	if (own < 0)
		return report_fault(r, -own,
			"cannot find out whether run '%.*s' has started this process",
			STR(look->id));
	report_refuse(r, look->id, "own run", "a process of the run '%.*s' cannot answer for it",
		STR(look->id));
	return report_hint(r, "it is answered from outside of the run");
}

static bool is_durable(const struct run_look *look)
{
	return json_is_true(json_object_get(look->start, "durable"));
}

/* The answer among the events, for all who follow them. The run's process has ended, so the line is
 * ours to write; the answer holds without it. */
static void append_event(const struct run_look *look, const json_t *g)
{
	AUTO_BUF dir = BUF_INIT;
	AUTO_BUF line = BUF_INIT;
	struct line_log log;

	buf_add(&dir, look->dir);
	event_json(&(struct event){ .kind = EVENT_RUN_ANSWERED,
			   .seq = events_count(buf_cstr(&dir)) + 1,
			   .time_ms = clock_real_ms(),
			   .answered = { json_text_of(g, "stage"), json_text_of(g, "by"),
				   json_text_of(g, "digest"), gate_answer_of(g) } },
		&line);
	line_log_init(&log, buf_cstr(&dir), EVENTS_FILE, LINES_MAX_BYTES);
	(void)line_log_append(&log, buf_str(&line));
	line_log_done(&log);
	if (is_durable(look))
		(void)lines_sync(buf_cstr(&dir), EVENTS_FILE);
}

/* Why it was denied is read by people only: it is written without the secrets of the run. */
static json_t *reason_of(const struct run_look *look, const struct gate_decision *d)
{
	AUTO_JSON *said = json_from_str(d->text);
	bool ignored;
	struct mask *mask = d->text.len ? freeze_mask(look->dir, &ignored) : NULL;
	json_t *reason = mask_json(mask, said);

	mask_free(mask);
	return reason;
}

bool gate_refused(struct app *a, const char *run, struct report *r)
{
	AUTO_LOOK look = { 0 };
	const struct gate_decision any = { .run = run };

	if (!find_run(a, run, &look, r))
		return false;
	AUTO_JSON *gates = gates_read(look.dir, r);
	return !r->errors && meant(&look, under_way(&look), gates, &any, r) != NULL;
}

static bool asks(const struct run_look *look)
{
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_JSON *pending = look->live ? gates_pending(look->dir, &ignored) : NULL;

	return pending || status_rests(look->status, STATUS_AT_GATE);
}

/* The lock, when there is something to answer, and the run as it is since that is ours: another
 * process may have taken it up, or have come to the gate, while this one waited. From then on none
 * comes to the gate before it is answered. *lock -1: there is nothing. */
static bool look_to_answer(struct app *a, const struct run_look *seen, struct run_look *ret,
	int *lock, struct report *r)
{
	for (;;) {
		look_done(ret);
		if (!find_id(a, seen->run, ret, r))
			return false;
		if (!str_eq(ret->generation, seen->generation))
			return refuse_gone(seen->id, r); /* another one has the name now */
		if (*lock >= 0 || !asks(ret))
			return true;
		*lock = gates_lock_to_answer(ret->dir, r);
		if (*lock < 0)
			return false;
	}
}

static void set_answer(json_t *g, const struct run_look *look, const struct gate_decision *d)
{
	AUTO_BUF when = BUF_INIT;

	clock_rfc3339(&when, clock_real_ms());
	json_object_set_new(g, "answer", json_string(d->approve ? "approved" : "denied"));
	json_object_set_new(g, "message", d->approve ? json_from_str(d->text) : reason_of(look, d));
	json_object_set_new(g, "answered", json_from_str(buf_str(&when)));
	if (d->by.len)
		json_object_set_new(g, "by", json_from_str(d->by));
	if (d->digest.len)
		json_object_set_new(g, "digest", json_from_str(d->digest));
}

static void answered(struct app *a, const struct run_look *look, const json_t *g)
{
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_LOOK after = { 0 };

	append_event(look, g);
	/* The ledger hears of a denial from the next look. */
	if (gate_answer_of(g) == GATE_DENIED)
		(void)look_at(
			app_state_root(a), app_ledger(a, &ignored), look->run, &after, &ignored);
}

bool gate_decide(
	struct app *a, const struct gate_decision *d, struct gate_decided *ret, struct report *r)
{
	AUTO_LOOK seen = { 0 };
	AUTO_LOOK look = { 0 };

	if (!find_run(a, d->run, &seen, r) || !find_is_current(&seen, "answered", r))
		return false;
	AUTO_CLOSE int lock = -1;
	if (!look_to_answer(a, &seen, &look, &lock, r))
		return false;
	if (!may_answer(&look, r))
		return false;
	AUTO_JSON *gates = gates_read(look.dir, r);
	if (r->errors)
		return false;
	/* A gate that was asked in this moment is not answered without the lock. */
	bool taken_up = lock >= 0 && under_way(&look);
	const char *path = meant(&look, taken_up, gates, d, r);
	if (!path)
		return false;
	json_t *g = json_object_get(gates, path);
	set_answer(g, &look, d);
	if (taken_up)
		json_object_set_new(g, "untold", json_true()); /* its process tells it */
	*ret = (struct gate_decided){
		.run = arena_str(&a->arena, look.run),
		.generation = arena_str(&a->arena, look.generation),
		.stage = arena_str(&a->arena, json_text_of(g, "stage")),
		.path = arena_str(&a->arena, str_of(path)),
		.events = events_count(look.dir.p) + !taken_up,
		.under_way = taken_up,
	};
	if (!gates_write(look.dir, gates, is_durable(&look), r))
		return false;
	if (!taken_up)
		answered(a, &look, g);
	return true;
}

/* -- what becomes of it --------------------------------------------------------------------------
 */

/* The process that was to hear it has let go of the run: no other tells that it was given. */
static void tell_answer(struct app *a, const struct run_look *look, struct str path)
{
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_CLOSE UNUSED int lock = gates_lock(look->dir, &ignored);
	AUTO_JSON *gates = lock >= 0 ? gates_read(look->dir, &ignored) : NULL;
	json_t *g = json_object_getn(gates, path.p, path.len);

	if (!json_is_true(json_object_get(g, "untold")) || run_locked(look->dir.p))
		return;
	json_object_del(g, "untold");
	if (gates_write(look->dir, gates, is_durable(look), &ignored))
		answered(a, look, g);
}

enum gate_fate gate_await(struct app *a, const struct gate_decided *d, unsigned ms)
{
	uint64_t until = clock_mono_ms() + ms;
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_LOOK look = { 0 };

	if (!find_id(a, d->run, &look, &ignored) || !str_eq(look.generation, d->generation))
		return GATE_LET_GO;
	for (;;) {
		bool held = run_locked(look.dir.p);

		/* One that continues the run tells that it does, and one that is refused writes
		 * nothing. */
		if (events_count(look.dir.p) > d->events)
			return GATE_HEARD;
		if (!held)
			break;
		if (clock_mono_ms() >= until)
			return GATE_NOT_REACHED;
		(void)nanosleep(&(struct timespec){ .tv_nsec = AWAIT_POLL_MS * 1000000 }, NULL);
	}
	tell_answer(a, &look, d->path);
	return GATE_LET_GO;
}
