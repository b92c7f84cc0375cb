#include "engine/steps.h"

#include <stdlib.h>
#include <unistd.h>

#include "data/json.h"

void step_remove_files(struct frame *f)
{
	struct buf *files = &f->leaf.remove;

	for (size_t at = 0; at < files->len; at += strlen(files->p + at) + 1)
		(void)unlink(files->p + at);
	buf_reset(files);
}

struct frame *step_caller(const struct frame *f)
{
	struct frame *up = f->up;

	while (up && up->node->kind != NODE_CALL)
		up = up->up;
	return up;
}

const struct step_call *step_call_of(const struct frame *f)
{
	const struct frame *caller = step_caller(f);

	return caller ? &caller->called.call : &f->run->book.first_call;
}

/* Whether it belongs to the recipe that was started, and not to one that this calls. */
bool step_listed(const struct frame *f)
{
	return f->node->step->listed && step_call_of(f) == &f->run->book.first_call;
}

/* The scope of a frame, with variables of its own where it has some. */
static const struct scope *scope_of(struct frame *f, const struct scope *up)
{
	const struct frame *above = f->up;

	if (above && above->node->kind == NODE_CALL) {
		f->room = (struct scope){ .up = up, .vars = above->called.call.vars };
		return &f->room;
	}
	if (f->role != FRAME_COPY)
		return up;
	json_t *vars = scope_vars(up);
	if (above->node->each_parallel) {
		/* What a parallel round sets is its own. */
		f->own_vars = json_copy(vars);
		f->room = (struct scope){ .up = up, .vars = f->own_vars };
		vars = f->own_vars;
		up = &f->room;
	}
	if (above->node->kind == NODE_EACH) {
		struct str as = above->node->step->loop.as;

		json_object_setn_nocheck(
			vars, as.p, as.len, json_array_get(above->rounds.list, f->index));
	}
	return up;
}

/* Whether the gate of the stage before has just been passed. */
static bool after_gate(const struct frame *stage)
{
	if (!stage->up || !stage->index)
		return false;
	const struct node *before = stage->up->node->children[stage->index - 1];

	return before->child_count && before->children[before->child_count - 1]->kind == NODE_GATE;
}

/* Whether it is the body of a loop whose items are called `step`: that is what the name then means.
 */
static bool is_called_step(const struct frame *f)
{
	return f->role == FRAME_COPY && f->up->node->kind == NODE_EACH &&
	       str_eq(f->up->node->step->loop.as, S("step"));
}

/* It is about to begin: the variables that say where we are. */
static void set_position(struct frame *f)
{
	const struct step_node *s = f->node->step;
	json_t *vars = scope_vars(f->scope);

	if (s->metadata && !is_called_step(f))
		json_object_set(vars, "step", (json_t *)s->metadata);
	if (s->stage.value)
		json_object_set(vars, "stage", (json_t *)s->stage.value);
	/* What an approval said is for the stage behind its gate. */
	if (s->stage.value && !after_gate(f))
		json_object_set_new(vars, "_approval_message", json_from_str(S("")));
	if (s->listed)
		run_emit_frame(f->run,
			&(struct event){ .kind = EVENT_RECIPE_STEP, .step.number = f->index }, f);
}

static enum event_kind end_kind(enum run_status status)
{
	if (status == RUN_DONE || status == RUN_PARTIAL)
		return EVENT_RECIPE_COMPLETE;
	return status == RUN_CANCELLED || status == RUN_KILLED ? EVENT_RECIPE_CANCELLED
							       : EVENT_RECIPE_ERROR;
}

static void tell_run(struct run *r, bool begins)
{
	const struct run_result *res = &r->result;
	struct event e = { .kind = EVENT_RECIPE_START,
		.path = S("."),
		.node = r->plan->graph->root,
		.step.number = 1 };

	if (!begins && res->status == RUN_PAUSED)
		return; /* it has not come to its end */
	if (!begins)
		e = (struct event){ .kind = end_kind(res->status),
			.path = e.path,
			.node = e.node,
			.step.error = res->error ? str_of(res->error) : S("") };
	run_emit(r, &e);
}

void step_mistake(struct frame *f)
{
	struct run *r = f->run;

	if (!r->ending.failed_path.len)
		frame_path(f, &r->ending.failed_path);
	run_fail(r, RUN_FAILED);
	frame_end_halted(f);
}

/* -- the lists of the result ---------------------------------------------------------------------
 */

static void list_step(struct frame *f, const char *status)
{
	json_t *entry;

	if (!step_listed(f))
		return;
	entry = json_object();
	json_object_set_new(entry, "id", json_from_str(f->node->step->id));
	json_object_set_new(entry, "status", json_string(status));
	json_object_set_new(entry, "code", json_integer(f->outcome.code));
	json_object_set_new(entry, "attempts", json_integer((json_int_t)f->tries.now));
	json_object_set_new(entry, "ms",
		json_integer((json_int_t)(loop_now(f->run->loop) - f->tries.entered_ms)));
	AUTO_BUF path = BUF_INIT;
	frame_path(f, &path);
	json_object_set_new(entry, "path", json_from_str(buf_str(&path)));
	json_array_append_new(f->run->book.steps, entry);
}

static void skipped(struct frame *f)
{
	const struct step_node *s = f->node->step;

	run_emit_frame(f->run, &(struct event){ .kind = EVENT_STEP_SKIP }, f);
	if (!step_listed(f))
		return;
	json_array_append_new(f->run->book.skipped, json_from_str(s->id));
	list_step(f, "skipped");
}

void step_skip_node(struct run *r, const struct node *n)
{
	if (n->step->listed) {
		json_array_append_new(r->book.skipped, json_from_str(n->step->id));
		json_array_append_new(r->book.steps,
			json_pack("{s:o, s:s, s:i, s:i, s:i}", "id", json_from_str(n->step->id),
				"status", "skipped", "code", 0, "attempts", 0, "ms", 0));
	} else if (n->kind == NODE_SEQUENCE) {
		for (size_t i = 0; i < n->child_count; i++)
			step_skip_node(r, n->children[i]);
	}
}

/* -- the end of a step ---------------------------------------------------------------------------
 */

void step_set(struct frame *f, struct str name, json_t *value)
{
	const struct step_host *host = f->run->options.steps;

	if (!name.len) {
		json_decref(value);
		return;
	}
	if (host->set)
		host->set(host->data, name, value, false);
	json_object_setn_new_nocheck(scope_vars(f->scope), name.p, name.len, value);
}

/* At the limit it is cut where a character ends: half of one is not text. */
static struct str read_content(struct frame *f, struct content *c, uint64_t max, struct buf *ret)
{
	int error = content_head(c, (size_t)MIN(max, (uint64_t)SIZE_MAX), ret);
	if (error < 0) {
		AUTO_BUF what = BUF_INIT;

		buf_adds(&what, "cannot read what was printed by node ");
		frame_path(f, &what);
		run_abort(f->run, buf_cstr(&what), -error);
	}
	struct str s = buf_str(ret);
	size_t n = s.len;

	if (s.len < max)
		return s;
	while (n > 0 && s.len - n < 4 && ((unsigned char)s.p[n - 1] & 0xc0) == 0x80)
		n--;
	if (n > 0 && (unsigned char)s.p[n - 1] >= 0xc0) {
		size_t lead = n - 1;
		unsigned char first = (unsigned char)s.p[lead];
		size_t need = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;

		return s.len - lead < need ? str_sub(s, 0, lead) : s;
	}
	return s;
}

bool step_continues(const struct frame *f)
{
	bool body = f->role == FRAME_COPY && f->node->kind != NODE_SEQUENCE;
	const struct node *n = body ? f->up->node : f->node;

	return n->step->on_error == STEP_FAILURE_CONTINUE;
}

void step_failed(struct frame *f, int code, struct str why)
{
	AUTO_BUF path = BUF_INIT;
	AUTO_BUF item = BUF_INIT;

	frame_path(f, &path);
	frame_item(f, &item);
	failures_add(&f->run->failures, &(struct failure){
						.path = buf_str(&path),
						.label = f->node->label,
						.item = buf_str(&item),
						.command = f->node->line,
						.code = code,
						.timeout = f->timed_out,
						.tolerated = f->tolerated,
						.attempt = f->tries.now,
						.err = why,
					});
	f->outcome.failure = f->run->failures.total;
	tally_add(&f->outcome.tally, tally_one(f->tolerated));
	f->outcome.ok = false;
	f->outcome.code = code;
}

/* The value of what a command printed; a failed bash step keeps its text. */
static void read_result(struct frame *f)
{
	const struct step_node *s = f->node->step;
	struct outcome *o = &f->outcome;
	AUTO_BUF out = BUF_INIT;

	if ((!s->keeps_output && f->node->kind == NODE_COMMAND) || o->halted)
		return;
	struct str text = read_content(f, o->out, s->max_output, &out);
	if (!o->ok) {
		o->value = s->agent ? NULL : json_from_str(text);
		return;
	}
	AUTO_REPORT why = REPORT_INIT;
	o->value = s->ops->result(f->node, text, f->run->options.steps, &why);
	if (o->value)
		return;
	AUTO_BUF message = BUF_INIT;
	buf_add(&message, why.issues.len ? why.issues.at[0].message : S("no result"));
	if (why.issues.len && why.issues.at[0].hint.len)
		buf_printf(&message, "\nhint: %.*s", STR(why.issues.at[0].hint));
	step_failed(f, 1, buf_str(&message));
	/* What was printed is not what was asked for, and is kept where that is tolerated. */
	o->value = s->ops->said(f->node, text);
}

void step_was_last(struct frame *f)
{
	const struct step_node *s = f->node->step;
	struct frame *caller = step_caller(f);
	struct str last = s->loop.collect.len ? s->loop.collect : s->output;

	if (!s->listed)
		return;
	if (!caller)
		f->run->book.last_output = last;
	else if (caller->node->call)
		caller->called.last_output = last;
}

/* `ended` is the code of the command itself, also where the step has failed for another reason. */
static void store(struct frame *f, int ended)
{
	const struct step_node *s = f->node->step;
	struct outcome *o = &f->outcome;

	if (s->output.len)
		step_set(f, s->output, o->value ? json_incref(o->value) : json_null());
	if (s->output_exit_code.len) {
		AUTO_BUF code = BUF_INIT;

		buf_printf(&code, "%d", ended);
		step_set(f, s->output_exit_code, json_from_str(buf_str(&code)));
	}
	if (s->output_stderr.len) {
		AUTO_BUF err = BUF_INIT;

		step_set(f, s->output_stderr,
			json_from_str(read_content(f, o->err, s->max_output, &err)));
	}
	step_was_last(f);
}

static void tell_end(struct frame *f)
{
	const struct step_node *s = f->node->step;
	const struct outcome *o = &f->outcome;

	enum event_kind kind = s->agent ? (o->ok ? EVENT_AGENT_COMPLETE : EVENT_AGENT_ERROR)
					: (o->ok ? EVENT_BASH_COMPLETE : EVENT_BASH_ERROR);
	run_emit_frame(f->run,
		&(struct event){ .kind = kind,
			.step.code = o->code,
			.step.ms = loop_now(f->run->loop) - f->tries.entered_ms,
			.step.truncated = o->cut },
		f);
}

/* All attempts are over: results are stored, `on_error` is applied. */
static void finish(struct frame *f)
{
	const struct step_node *s = f->node->step;
	struct outcome *o = &f->outcome;
	int ended = o->code;

	if (f->node->kind == NODE_CALL && f->called.call.plan && o->ok)
		read_result(f);
	if (f->node->kind == NODE_COMMAND) {
		read_result(f);
		step_remove_files(f);
	}
	if (o->halted)
		return;
	if (f->node->kind == NODE_COMMAND && !f->leaf.recalled)
		tell_end(f);
	/* Inside a loop the loop decides; a sequence has no result of its own. */
	bool leaf = f->node->kind == NODE_COMMAND || f->node->kind == NODE_CALL;
	bool passed = f->node->kind == NODE_COMMAND && f->leaf.passed;
	if (leaf && (o->ok || passed || step_continues(f)))
		store(f, ended);
	if (!o->ok && s->on_error == STEP_FAILURE_SKIP_REMAINING) {
		list_step(f, "failed");
		step_was_last(f);
		o->ok = o->partial = true;
		return;
	}
	if (f->node->kind != NODE_SEQUENCE)
		list_step(f, o->ok ? "done" : f->tolerated ? "tolerated" : "failed");
}

/* -- the run -------------------------------------------------------------------------------------
 */

/* The text of a variable. */
static struct content *output(struct run *r)
{
	const json_t *value = r->ending.only ? r->ending.outcome.value
					     : json_object_get(r->options.vars, "final_output");
	struct str last = r->book.last_output;
	AUTO_BUF text = BUF_INIT;

	if (!value && !r->ending.only && last.len)
		value = json_object_getn(r->options.vars, last.p, last.len);
	if (value)
		r->plan->graph->steps->ops->text(&text, value);
	return content_from_buf(&text);
}

static void conclude(struct run *r)
{
	enum run_status status = r->result.status;
	struct outcome *o = &r->ending.outcome;
	bool over = status == RUN_DONE || status == RUN_PARTIAL;

	/* One node alone: its result, or what it printed when it has none. */
	if (over && r->ending.only && (!o->value || json_is_null(o->value)))
		return;
	content_unref(o->out);
	o->out = over ? output(r) : NULL;
}

/* -- entering ------------------------------------------------------------------------------------
 */

static void enter(struct frame *f, const struct scope *up)
{
	const struct node *n = f->node;
	enum frame_open open = OPEN_BEGINS;
	uint64_t delay_ms;
	bool runs = true;

	f->scope = scope_of(f, up);
	set_position(f);
	if (n->when && !text_decide(n->when, f->scope, &runs, &f->run->issues)) {
		step_mistake(f);
		return;
	}
	if (runs && f->ops->open)
		open = f->ops->open(f);
	if (!runs || open == OPEN_EMPTY)
		frame_skip(f);
	else if (open == OPEN_MISTAKE || !frame_settings(f, &delay_ms))
		step_mistake(f);
	else
		frame_delay(f, delay_ms);
}

static uint64_t retry(struct frame *f)
{
	uint64_t ms = step_pause(f->node->step, f->tries.now);

	run_emit_frame(f->run,
		&(struct event){
			.kind = EVENT_STEP_RETRY, .attempt = f->tries.now + 1, .step.ms = ms },
		f);
	return ms;
}

const struct frame_dialect frame_steps = {
	.enter = enter,
	.skipped = skipped,
	.finish = finish,
	.retry = retry,
	.limit_code = 124,
	.conclude = conclude,
	.tell_run = tell_run,
};
