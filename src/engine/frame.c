#include "engine/frame.h"

#include <stdlib.h>

#include "base/node-path.h"
#include "engine/steps.h"
#include "graph/settings.h"

void outcome_done(struct outcome *o)
{
	content_unref(o->out);
	content_unref(o->err);
	join_list_done(&o->joins);
	json_decref(o->value);
	*o = (struct outcome){ 0 };
}

static void on_timer(struct timer *t);

struct frame *frame_new(struct run *r, struct frame *up, const struct node *n, enum frame_role role,
	uint64_t index, struct content *in, bool in_live)
{
	struct frame *f = mem_new(struct frame);

	f->run = r;
	f->up = up;
	f->node = n;
	f->role = role;
	f->index = index;
	f->in = content_ref(in);
	f->in_live = in_live;
	f->timer.fire = on_timer;
	f->attempts = 1;
	f->tolerated =
		(up && up->tolerated) || (n->failure_stated && n->failure == FAILURE_CONTINUE);
	f->root_index = f->failed_index = UINT64_MAX;
	list_init(&f->active);
	if (up) {
		f->copies = up->count;
		list_append(&up->active, &f->link);
	}
	return f;
}

void frame_free(struct frame *f)
{
	timer_stop(&f->timer);
	list_remove(&f->link);
	list_remove(&f->queued);
	list_remove(&f->slot);
	list_remove(&f->unfilled);
	if (f->job)
		job_free(f->job);
	step_state_free(f);
	content_unref(f->in);
	content_unref(f->flow);
	content_unref(f->root_out);
	join_unref(f->join);
	outcome_done(&f->outcome);
	free(f);
}

void frame_path(const struct frame *f, struct buf *b)
{
	if (!f->up) {
		buf_add(b, node_root_path(f->node));
		return;
	}
	AUTO_BUF up = BUF_INIT;
	frame_path(f->up, &up);
	switch (f->role) {
	case FRAME_CHILD:
		node_path_child(b, buf_str(&up), f->index);
		break;
	case FRAME_COPY:
		node_path_copy(b, buf_str(&up), f->index);
		break;
	case FRAME_RECOVERY:
		node_path_recover(b, buf_str(&up));
		break;
	}
}

uint64_t frame_number(const struct frame *f)
{
	uint64_t number = 0, weight = 1;

	for (; f; f = f->up) {
		number += weight * (MAX(f->attempt, (uint64_t)1) - 1);
		weight *= MAX(f->attempts, (uint64_t)1);
	}
	return number + 1;
}

bool frame_is_last(const struct frame *f)
{
	if (f->node->step)
		return false; /* the output of a step recipe is a variable */
	for (; f; f = f->up) {
		if (f->attempts > 1 || f->role == FRAME_RECOVERY || node_joins(f->node))
			return false;
		if (f->up && f->index + 1 < f->up->count)
			return false;
	}
	return true;
}

bool frame_halted(const struct frame *f)
{
	for (; f; f = f->up)
		if (f->halted)
			return true;
	return false;
}

/* -- ending --------------------------------------------------------------------------------------
 */

static void recovery_ended(struct frame *f, struct frame *recovery);

/* Whether it is the one node that the run is about. */
static bool is_only(const struct frame *f)
{
	AUTO_BUF path = BUF_INIT;

	if (!f->run->options.only.len || f->run->only_ended)
		return false;
	frame_path(f, &path);
	return str_eq(buf_str(&path), f->run->options.only);
}

/* Its end is the run's: nothing else is started. */
static void end_run_with(struct frame *f)
{
	struct run *r = f->run;

	r->only_ended = true;
	r->outcome = f->outcome;
	f->outcome = (struct outcome){ .halted = true, .code = 1 };
	frame_halt(r->root, false);
}

/* Hands the outcome to the frame above. */
static void deliver(struct frame *f)
{
	struct run *r = f->run;
	struct frame *up = f->up;

	if (up && is_only(f))
		end_run_with(f);
	if (!up && r->only_ended) {
		r->root = NULL;
	} else if (!up) {
		r->outcome = f->outcome;
		f->outcome = (struct outcome){ 0 };
		r->root_timed_out = f->timed_out;
		r->root = NULL;
	} else if (f->role == FRAME_RECOVERY) {
		recovery_ended(up, f);
	} else {
		group_child_ended(up, f);
	}
	frame_free(f);
}

static enum node_end how_ended(const struct frame *f)
{
	if (f->outcome.ok)
		return NODE_END_DONE;
	if (f->outcome.halted)
		return NODE_END_CANCELLED;
	if (f->tolerated)
		return NODE_END_TOLERATED;
	return f->timed_out ? NODE_END_TIMEOUT : NODE_END_FAILED;
}

static void end(struct frame *f)
{
	f->state = FRAME_ENDED;
	timer_stop(&f->timer);
	if (node_is_group(f->node) && f->attempt)
		run_emit_frame(f->run,
			&(struct event){ .kind = EVENT_NODE_DONE,
				.attempt = f->attempt,
				.end.ok = f->outcome.ok,
				.end.outcome = how_ended(f),
				.end.code = f->outcome.code,
				.end.ms = loop_now(f->run->loop) - f->began_ms },
			f);
	schedule_call(f, deliver);
}

void frame_end_halted(struct frame *f)
{
	outcome_done(&f->outcome);
	f->outcome = (struct outcome){ .halted = true, .code = 1 };
	f->outcome.untolerated = f->untolerated_before;
	if (f->paced)
		pace_ended(f, &f->outcome);
	end(f);
}

/* -- attempts ------------------------------------------------------------------------------------
 */

static void attempt(struct frame *f)
{
	if (frame_halted(f)) {
		frame_end_halted(f);
		return;
	}
	f->attempt++;
	f->state = FRAME_RUNNING;
	f->timed_out = false;
	f->began_ms = loop_now(f->run->loop);
	f->failures_before = f->run->failures.total;
	if (f->attempt > 1)
		run_emit_frame(f->run,
			&(struct event){ .kind = EVENT_NODE_RETRY, .attempt = f->attempt }, f);
	f->finished = false;
	if (f->node->kind == NODE_COMMAND) {
		leaf_begin(f);
		return;
	}
	/* A command's limit begins when it starts, a group's here. */
	if (f->timeout_ms)
		timer_start(f->run->loop, &f->timer, f->timeout_ms);
	if (f->node->kind == NODE_GATE)
		gate_begin(f);
	else if (f->node->kind == NODE_WAIT)
		wait_begin(f);
	else
		group_begin(f);
}

static void on_timer(struct timer *t)
{
	struct frame *f = container_of(t, struct frame, timer);

	if (f->state == FRAME_DELAYED) {
		schedule_call(f, attempt);
	} else if (f->state == FRAME_RUNNING) {
		f->timed_out = true;
		frame_halt(f, true);
	}
}

/* An earlier failure does not count once a later attempt has succeeded. */
static void succeeded(struct frame *f)
{
	if (f->attempt < 2)
		return;
	AUTO_BUF path = BUF_INIT;
	frame_path(f, &path);
	failures_tolerate(&f->run->failures, buf_str(&path), f->failures_before);
	f->untolerated_before = 0;
}

static void recover(struct frame *f)
{
	f->state = FRAME_RECOVERING;
	f->timed_out = false; /* its limit is each attempt's, and not the recovery's */
	schedule_call(
		frame_new(f->run, f, f->node->recover, FRAME_RECOVERY, 0, f->outcome.out, false),
		frame_enter);
}

/* Steps are tried again after a while. What has been tried before is not waited for. */
static void pause_before_retry(struct frame *f)
{
	uint64_t ms = step_pause(f->node->step, f->attempt);

	run_emit_frame(f->run,
		&(struct event){
			.kind = EVENT_STEP_RETRY, .attempt = f->attempt + 1, .step.ms = ms },
		f);
	f->attempt++;
	bool recorded = leaf_recorded(f);
	f->attempt--;
	if (!ms || recorded || !f->run->executing) {
		schedule_call(f, attempt);
		return;
	}
	f->state = FRAME_DELAYED;
	timer_start(f->run->loop, &f->timer, ms);
}

/* A branch in which every step was skipped hands its input on. While that is still coming, the join
 * has to wait for its end. */
static bool wait_for_input(struct frame *f)
{
	if (!f->outcome.ok || !f->outcome.live || !f->up || !node_joins(f->up->node))
		return false;
	f->state = FRAME_TAKING;
	list_append(&f->run->taking, &f->slot);
	live_collect(f->run->live);
	return true;
}

void frame_take_input(struct frame *f)
{
	list_remove(&f->slot);
	f->outcome.live = false;
	f->outcome.out = live_content(f->run->live);
	end(f);
}

void frame_attempt_done(struct frame *f, struct outcome *o)
{
	timer_stop(&f->timer);
	outcome_done(&f->outcome);
	f->outcome = *o;
	*o = (struct outcome){ 0 };
	if (f->timed_out && node_is_group(f->node)) {
		f->outcome.ok = f->outcome.halted = false;
		f->outcome.timed_out = true;
		f->outcome.carried = FAILURE_CONTINUE;
		f->outcome.code = f->node->step ? 124 : 1;
		f->outcome.failure = 0;
		buf_reset(&f->run->limit_path);
		frame_path(f, &f->run->limit_path);
		content_unref(f->outcome.err);
		f->outcome.err = NULL;
	}
	/* Stopped for its own sake (its limit, a failure it catches) it may go on; for another's
	 * not. */
	bool own = !f->up || !frame_halted(f->up);
	bool again = !f->outcome.ok && f->attempt < f->attempts && own && !f->run->stopping &&
		     !(f->outcome.halted && !f->halted) && !f->outcome.no_retry;
	f->halted = f->halted && (!again || f->run->stopping);
	if (f->outcome.ok)
		succeeded(f);
	if (!f->outcome.ok && !f->outcome.halted && !again && f->attempts > 1 &&
		f->node->kind == NODE_CALL) {
		buf_reset(&f->run->retried_path);
		frame_path(f, &f->run->retried_path);
		f->outcome.retried = true;
	}
	if (!again) {
		f->outcome.untolerated += f->untolerated_before;
		if (f->node->step)
			step_finish(f);
		if (!wait_for_input(f))
			end(f);
		return;
	}
	f->untolerated_before += f->outcome.untolerated;
	f->state = FRAME_QUEUED;
	if (f->node->recover)
		recover(f);
	else if (f->node->step)
		pause_before_retry(f);
	else
		schedule_call(f, attempt);
}

/* Its output is thrown away; a failure ends the attempts, under the node's own scope unless the
 * recovery's author said how far it reaches. */
static void recovery_ended(struct frame *f, struct frame *recovery)
{
	struct outcome *o = &recovery->outcome;
	const struct node *n = node_body(recovery->node);
	bool stated = n->failure_stated;

	f->untolerated_before += o->untolerated;
	/* It may be the one that has stopped everything. */
	bool reached = !o->ok && !o->halted && stated && n->failure == FAILURE_ROOT;
	if (f->run->stopping || (!reached && f->up && frame_halted(f->up))) {
		frame_end_halted(f);
		return;
	}
	if (o->ok || (stated && n->failure == FAILURE_CONTINUE)) {
		f->state = FRAME_QUEUED;
		schedule_call(f, attempt);
		return;
	}
	/* What is reported of joins is the last attempt's, not the recovery's. */
	struct join_list joins = f->outcome.joins;
	f->outcome.joins = (struct join_list){ 0 };
	outcome_done(&f->outcome);
	f->outcome = *o;
	*o = (struct outcome){ 0 };
	join_list_done(&f->outcome.joins);
	f->outcome.joins = joins;
	f->outcome.untolerated = f->untolerated_before;
	f->outcome.carried = stated ? MAX(f->outcome.carried, n->failure) : FAILURE_CONTINUE;
	if (f->outcome.carried == FAILURE_ROOT && f->up)
		frame_fail_root(f->up);
	end(f);
}

/* -- entering ------------------------------------------------------------------------------------
 */

static bool settings(struct frame *f)
{
	const struct node *n = f->node;
	struct report *r = &f->run->issues;
	uint64_t delay_ms = 0;

	if (!setting_resolve(&n->delay_ms, "delay", SETTING_MS, f->scope, &delay_ms, r) ||
		!setting_resolve(
			&n->timeout_ms, "timeout", SETTING_MS, f->scope, &f->timeout_ms, r) ||
		!setting_resolve(&n->retry, "retry", SETTING_ATTEMPTS, f->scope, &f->attempts, r))
		return false;
	if (n->kind == NODE_EACH && !n->step && !count_resolve(&n->count, f->scope, &f->count, r))
		return false;
	/* What has been executed before is not waited for again. */
	if (delay_ms && !leaf_recorded(f)) {
		f->state = FRAME_DELAYED;
		timer_start(f->run->loop, &f->timer, delay_ms);
	} else {
		schedule_call(f, attempt);
	}
	return true;
}

static void skip(struct frame *f)
{
	if (f->node->step)
		step_skip(f);
	run_emit_frame(f->run, &(struct event){ .kind = EVENT_NODE_SKIPPED }, f);
	f->outcome = (struct outcome){
		.ok = true, .skipped = true, .live = f->in_live, .out = content_ref(f->in)
	};
	end(f);
}

static void enter_step(struct frame *f, const struct scope *up)
{
	const struct node *n = f->node;
	bool runs = true;

	f->scope = step_scope(f, up);
	step_enter(f);
	if (n->when && !text_decide(n->when, f->scope, &runs, &f->run->issues)) {
		step_mistake(f);
		return;
	}
	enum loop_open open = runs && (n->kind == NODE_EACH || n->kind == NODE_WHILE) ? loop_open(f)
										      : LOOP_BEGINS;
	if (!runs || open == LOOP_EMPTY)
		skip(f);
	else if (open == LOOP_MISTAKE || !settings(f))
		step_mistake(f);
}

void frame_enter(struct frame *f)
{
	const struct node *n = f->node;
	const struct scope *up = f->up ? f->up->scope : &f->run->scope;
	bool runs;

	f->entered_ms = loop_now(f->run->loop);
	if (f->up && frame_halted(f->up)) {
		frame_end_halted(f);
		return;
	}
	if (n->step) {
		enter_step(f, up);
		return;
	}
	f->scope = f->role == FRAME_COPY
			   ? plan_enter_copy(n, up, (int64_t)f->index, (int64_t)f->copies, &f->room)
			   : plan_enter(n, up, &f->room);
	bool ok = plan_guard(n, f->scope, &runs, &f->run->issues);
	if (ok && !runs) {
		skip(f);
	} else if (!ok || !settings(f)) {
		run_fail(f->run, RUN_INVALID);
		frame_end_halted(f);
	}
}

/* -- stopping ------------------------------------------------------------------------------------
 */

void frame_fail_root(struct frame *f)
{
	/* The nearest frame that can still try again catches it. A recovery is a world of its own:
	 * only when its author wrote "root" does its failure go on, past the attempts of its owner.
	 * And what the limit of a group has ended is the group's failure. */
	while (f->up && f->attempt >= f->attempts && !f->timed_out) {
		if (f->role == FRAME_RECOVERY) {
			if (!node_body(f->node)->failure_stated || !f->up->up)
				break;
			f = f->up;
		}
		f = f->up;
	}
	frame_halt(f, false);
}

/* A pause, alone or between rounds, is over at once. */
static void stop_waiting(struct frame *f)
{
	timer_stop(&f->steps->pause);
	f->steps->pause.fire(&f->steps->pause);
}

static void halt_below(struct frame *f, bool stop)
{
	list_each_safe (link, &f->active)
		halt_below(list_entry(link, struct frame, link), stop);
	switch (f->state) {
	case FRAME_DELAYED:
	case FRAME_WAITING:
	case FRAME_TAKING:
		timer_stop(&f->timer);
		list_remove(&f->slot);
		frame_end_halted(f);
		break;
	case FRAME_RUNNING:
		if (f->job && stop)
			job_stop(f->job);
		list_remove(&f->unfilled);
		if (node_joins(f->node))
			schedule_call(f, group_settle);
		else if (f->steps && timer_running(&f->steps->pause))
			stop_waiting(f);
		break;
	case FRAME_QUEUED:
	case FRAME_RECOVERING:
	case FRAME_ENDED:
		break;
	}
}

void frame_halt(struct frame *f, bool stop)
{
	f->halted = true;
	halt_below(f, stop);
}
