#include "engine/frame.h"

#include <stdlib.h>

#include "graph/settings.h"

void outcome_done(struct outcome *o)
{
	content_unref(o->out);
	content_unref(o->err);
	join_list_done(&o->joins);
	json_decref(o->value);
	*o = (struct outcome){ 0 };
}

/* -- making and freeing --------------------------------------------------------------------------
 */

static const struct frame_ops *ops_of(const struct node *n)
{
	static const struct frame_ops *const of_templates[] = {
		[NODE_COMMAND] = &command_ops,
		[NODE_SEQUENCE] = &sequence_ops,
		[NODE_PARALLEL] = &parallel_ops,
		[NODE_EACH] = &sequence_ops,
		[NODE_CALL] = &import_ops,
	};
	static const struct frame_ops *const of_steps[] = {
		[NODE_COMMAND] = &step_command_ops,
		[NODE_SEQUENCE] = &stage_ops,
		[NODE_EACH] = &rounds_ops,
		[NODE_WHILE] = &rounds_ops,
		[NODE_CALL] = &call_ops,
		[NODE_GATE] = &gate_ops,
		[NODE_WAIT] = &wait_ops,
	};

	if (n->step)
		return n->each_parallel ? &parallel_rounds_ops : of_steps[n->kind];
	return n->each_parallel ? &parallel_ops : of_templates[n->kind];
}

static void on_timer(struct timer *t);

struct frame *frame_new(struct run *r, struct frame *up, const struct node *n, enum frame_role role,
	uint64_t index, struct content *in, bool in_unread)
{
	struct frame *f = mem_new(struct frame);

	f->run = r;
	f->up = up;
	f->node = n;
	f->ops = ops_of(n);
	f->role = role;
	f->index = index;
	f->in = content_ref(in);
	f->in_unread = in_unread;
	f->timer.fire = on_timer;
	f->tries.most = 1;
	f->tolerated =
		(up && up->tolerated) || (n->failure_stated && n->failure == FAILURE_CONTINUE);
	if (n->kind == NODE_SEQUENCE || n->kind == NODE_PARALLEL)
		f->count = n->child_count;
	list_init(&f->active);
	if (up)
		list_append(&up->active, &f->link);
	return f;
}

static void frame_free(struct frame *f)
{
	timer_stop(&f->timer);
	list_remove(&f->link);
	list_remove(&f->queued);
	list_remove(&f->waits);
	if (f->ops->done)
		f->ops->done(f);
	json_decref(f->own_vars);
	content_unref(f->in);
	outcome_done(&f->outcome);
	free(f);
}

void frame_next_child(struct frame *f, struct content *in, bool in_unread)
{
	bool copy = node_repeats(f->node);
	uint64_t index = f->next++;

	frame_begin(frame_new(f->run, f, f->node->children[copy ? 0 : index],
		copy ? FRAME_COPY : FRAME_CHILD, index, in, in_unread));
}

/* -- questions -----------------------------------------------------------------------------------
 */

bool frame_is_last(const struct frame *f)
{
	if (!f->ops->dialect->prints)
		return false;
	for (; f; f = f->up) {
		if (f->node->step)
			return false; /* what it prints is the result of a step */
		if (f->tries.most > 1 || f->role == FRAME_RECOVERY || node_joins(f->node))
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

enum failure_scope failure_scope_own(const struct frame *child)
{
	/* The flags of copies stand on their body. */
	const struct node *n = child->node->step ? child->node : node_body(child->node);

	return MAX(child->outcome.carried, n->failure);
}

enum failure_scope failure_scope_of(const struct frame *f, const struct frame *child)
{
	return MAX(failure_scope_own(child), f->node->failure);
}

/* Whether its next attempt has been executed before, and need not be waited for. */
static bool recorded(struct frame *f, uint64_t attempt)
{
	uint64_t now = f->tries.now;

	if (!f->ops->recorded)
		return false;
	f->tries.now = attempt;
	bool is = f->ops->recorded(f);
	f->tries.now = now;
	return is;
}

/* -- ending --------------------------------------------------------------------------------------
 */

static void recovery_ended(struct frame *f, struct frame *recovery);

/* Whether it is the one node that the run is about. */
static bool is_only(const struct frame *f)
{
	AUTO_BUF path = BUF_INIT;

	if (!f->run->options.only.len || f->run->ending.only)
		return false;
	frame_path(f, &path);
	return str_eq(buf_str(&path), f->run->options.only);
}

/* Its end is the run's: nothing else is started. */
static void end_run_with(struct frame *f)
{
	struct run *r = f->run;

	r->ending.only = true;
	r->ending.outcome = f->outcome;
	f->outcome = (struct outcome){ .halted = true, .code = 1 };
	frame_halt(r->root, false);
}

static void root_ended(struct frame *f)
{
	struct run *r = f->run;

	r->root = NULL;
	if (r->ending.only)
		return;
	r->ending.outcome = f->outcome;
	f->outcome = (struct outcome){ 0 };
	r->ending.timed_out = f->timed_out;
}

/* Hands the outcome to the frame above. */
static void deliver(struct frame *f)
{
	struct frame *up = f->up;

	if (up && is_only(f))
		end_run_with(f);
	if (!up)
		root_ended(f);
	else if (f->role == FRAME_RECOVERY)
		recovery_ended(up, f);
	else
		up->ops->child_ended(up, f);
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
	if (node_is_group(f->node) && f->tries.now)
		run_emit_frame(f->run,
			&(struct event){ .kind = EVENT_NODE_DONE,
				.attempt = f->tries.now,
				.end.ok = f->outcome.ok,
				.end.outcome = how_ended(f),
				.end.code = f->outcome.code,
				.end.ms = loop_now(f->run->loop) - f->tries.began_ms },
			f);
	schedule_call(f, deliver);
}

void frame_end_halted(struct frame *f)
{
	outcome_done(&f->outcome);
	f->outcome = (struct outcome){ .halted = true, .code = 1 };
	/* What came of the attempt before stands. */
	tally_add(&f->run->failures.tally, f->tries.last);
	f->outcome.tally = f->tries.last;
	tally_add(&f->outcome.tally, f->tries.recovery);
	if (f->ops->abandoned)
		f->ops->abandoned(f);
	end(f);
}

/* -- attempts ------------------------------------------------------------------------------------
 */

static void begin_group(struct frame *f)
{
	f->next = 0;
	outcome_done(&f->outcome);
	run_emit_frame(f->run, &(struct event){ .kind = EVENT_NODE_START, .count = f->count }, f);
}

static void attempt(struct frame *f)
{
	if (frame_halted(f)) {
		frame_end_halted(f);
		return;
	}
	f->tries.now++;
	f->state = FRAME_RUNNING;
	f->timed_out = false;
	f->tries.began_ms = loop_now(f->run->loop);
	f->tries.failed_before = f->run->failures.total;
	if (f->tries.now > 1)
		run_emit_frame(f->run,
			&(struct event){ .kind = EVENT_NODE_RETRY, .attempt = f->tries.now }, f);
	if (f->tries.limit_ms && !f->ops->late_limit)
		timer_start(f->run->loop, &f->timer, f->tries.limit_ms);
	if (node_is_group(f->node))
		begin_group(f);
	f->ops->begin(f);
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
	if (f->tries.now < 2)
		return;
	AUTO_BUF path = BUF_INIT;
	frame_path(f, &path);
	failures_tolerate(&f->run->failures, buf_str(&path), f->tries.failed_before);
	tally_take(&f->run->failures.tally, f->tries.recovery);
	f->tries.recovery = (struct tally){ 0 };
}

static void recover(struct frame *f)
{
	f->state = FRAME_RECOVERING;
	f->timed_out = false; /* its limit is each attempt's, and not the recovery's */
	frame_begin(
		frame_new(f->run, f, f->node->recover, FRAME_RECOVERY, 0, f->outcome.out, false));
}

static void delay_attempt(struct frame *f, uint64_t ms)
{
	f->state = FRAME_DELAYED;
	timer_start(f->run->loop, &f->timer, ms);
}

/* After a while, where the dialect wants one; what has been tried before is not waited for. */
static void try_again(struct frame *f)
{
	const struct frame_dialect *d = f->ops->dialect;
	uint64_t ms = d->retry ? d->retry(f) : 0;

	if (!ms || !f->run->executing || recorded(f, f->tries.now + 1))
		schedule_call(f, attempt);
	else
		delay_attempt(f, ms);
}

/* A branch in which every node was skipped hands its input on. While that is still coming, the join
 * has to wait for its end. */
static bool wait_for_input(struct frame *f)
{
	if (!f->outcome.ok || !f->outcome.unread || !f->up || !node_joins(f->up->node))
		return false;
	f->state = FRAME_WAITS_FOR_STDIN;
	list_append(&f->run->waits_for_stdin, &f->waits);
	live_collect(f->run->live);
	return true;
}

void frame_take_input(struct frame *f)
{
	list_remove(&f->waits);
	f->outcome.unread = false;
	f->outcome.out = live_content(f->run->live);
	end(f);
}

/* What the time limit of a group makes of its outcome. */
static void limit_reached(struct frame *f)
{
	struct outcome *o = &f->outcome;

	o->ok = o->halted = false;
	o->timed_out = true;
	o->carried = FAILURE_CONTINUE;
	o->code = f->ops->dialect->limit_code;
	o->failure = 0;
	buf_reset(&f->run->ending.limit_path);
	frame_path(f, &f->run->ending.limit_path);
	content_unref(o->err);
	o->err = NULL;
}

/* What was asked for comes behind it: its failure is reported and ends nothing, and the next
 * command gets nothing of it. */
static void pass_over(struct outcome *o)
{
	o->ok = true;
	o->timed_out = false;
	o->code = 0;
	o->failure = 0;
	content_unref(o->out);
	o->out = NULL;
}

static void attempts_over(struct frame *f)
{
	struct outcome *o = &f->outcome;

	if (!o->ok && !o->halted && f->tries.most > 1 && f->node->kind == NODE_CALL) {
		buf_reset(&f->run->ending.retried_path);
		frame_path(f, &f->run->ending.retried_path);
		o->retried = true;
	}
	tally_add(&o->tally, f->tries.recovery);
	if (f->ops->dialect->finish)
		f->ops->dialect->finish(f);
	if (f->node->kind == NODE_COMMAND && f->leaf.passed && !o->ok && !o->halted)
		pass_over(o);
	if (!wait_for_input(f))
		end(f);
}

void frame_attempt_done(struct frame *f, struct outcome *o)
{
	timer_stop(&f->timer);
	outcome_done(&f->outcome);
	f->outcome = *o;
	*o = (struct outcome){ 0 };
	if (f->timed_out && node_is_group(f->node))
		limit_reached(f);
	/* Stopped for its own sake (its limit, a failure it catches) it may be tried again; for
	 * another's not. */
	bool own = !f->up || !frame_halted(f->up);
	bool again = !f->outcome.ok && f->tries.now < f->tries.most && own &&
		     !run_stopping(f->run) && !(f->outcome.halted && !f->halted) &&
		     !f->outcome.no_retry;
	f->halted = f->halted && (!again || run_stopping(f->run));
	if (f->outcome.ok)
		succeeded(f);
	if (!again) {
		attempts_over(f);
		return;
	}
	f->tries.last = f->outcome.tally;
	tally_take(&f->run->failures.tally, f->tries.last);
	f->state = FRAME_QUEUED;
	if (f->node->recover)
		recover(f);
	else
		try_again(f);
}

/* Whether its author lets its failure reach past the attempts that it is between. */
static bool reaches_root(const struct frame *recovery)
{
	const struct node *n = node_body(recovery->node);

	return n->failure_stated && n->failure == FAILURE_ROOT;
}

/* Its output is thrown away; a failure ends the attempts, under the node's own scope unless the
 * recovery's author said how far it reaches. */
static void recovery_ended(struct frame *f, struct frame *recovery)
{
	struct outcome *o = &recovery->outcome;
	const struct node *n = node_body(recovery->node);
	bool stated = n->failure_stated;

	tally_take(&f->run->failures.tally, f->tries.recovery);
	f->tries.recovery = o->tally;
	/* It may be the one that has stopped everything. */
	bool reached = !o->ok && !o->halted && reaches_root(recovery);
	if (run_stopping(f->run) || (!reached && f->up && frame_halted(f->up))) {
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
	tally_add(&f->run->failures.tally, f->tries.last);
	tally_add(&f->outcome.tally, f->tries.last);
	f->outcome.carried = stated ? MAX(f->outcome.carried, n->failure) : FAILURE_CONTINUE;
	if (f->outcome.carried == FAILURE_ROOT && f->up)
		frame_fail_root(f->up);
	end(f);
}

/* -- entering ------------------------------------------------------------------------------------
 */

bool frame_settings(struct frame *f, uint64_t *delay_ms)
{
	const struct node *n = f->node;
	struct report *r = &f->run->issues;
	struct tries *t = &f->tries;

	*delay_ms = 0;
	return setting_resolve(&n->delay_ms, "delay", SETTING_MS, f->scope, delay_ms, r) &&
	       setting_resolve(&n->timeout_ms, "timeout", SETTING_MS, f->scope, &t->limit_ms, r) &&
	       setting_resolve(&n->retry, "retry", SETTING_ATTEMPTS, f->scope, &t->most, r);
}

void frame_delay(struct frame *f, uint64_t delay_ms)
{
	/* The order to end may have come before the first node was entered. */
	if (run_stopping(f->run))
		frame_end_halted(f);
	else if (delay_ms && !recorded(f, f->tries.now))
		delay_attempt(f, delay_ms);
	else
		schedule_call(f, attempt);
}

void frame_skip(struct frame *f)
{
	if (f->ops->dialect->skipped)
		f->ops->dialect->skipped(f);
	run_emit_frame(f->run, &(struct event){ .kind = EVENT_NODE_SKIPPED }, f);
	f->outcome = (struct outcome){
		.ok = true, .skipped = true, .unread = f->in_unread, .out = content_ref(f->in)
	};
	end(f);
}

/* A template recipe that a step calls has the values that it was given and no others. */
static const struct scope *scope_above(const struct frame *f)
{
	const struct frame *up = f->up;

	if (up && up->node->kind == NODE_CALL && up->called.call.plan)
		return &up->called.call.plan->scope;
	return up ? up->scope : &f->run->scope;
}

static void enter(struct frame *f)
{
	f->tries.entered_ms = loop_now(f->run->loop);
	if (f->up && frame_halted(f->up))
		frame_end_halted(f);
	else
		f->ops->dialect->enter(f, scope_above(f));
}

void frame_begin(struct frame *f)
{
	schedule_call(f, enter);
}

/* -- stopping ------------------------------------------------------------------------------------
 */

void frame_fail_root(struct frame *f)
{
	/* The nearest frame that can still try again catches it. A recovery is a world of its own:
	 * only when its author wrote "root" does its failure reach further, past the attempts of
	 * its owner. And what the limit of a group has ended is the group's failure. */
	while (f->up && f->tries.now >= f->tries.most && !f->timed_out) {
		/* For a recipe of commands that is a step, the root is its own. */
		if (f->up->node->kind == NODE_CALL && !f->node->step)
			break;
		if (f->role == FRAME_RECOVERY) {
			if (!reaches_root(f) || !f->up->up)
				break;
			f = f->up;
		}
		f = f->up;
	}
	frame_halt(f, false);
}

static void halt_below(struct frame *f, bool stop)
{
	list_each_safe (link, &f->active)
		halt_below(list_entry(link, struct frame, link), stop);
	switch (f->state) {
	case FRAME_DELAYED:
	case FRAME_WAITING:
	case FRAME_WAITS_FOR_STDIN:
		timer_stop(&f->timer);
		list_remove(&f->waits);
		frame_end_halted(f);
		break;
	case FRAME_RUNNING:
		if (f->ops->halt)
			f->ops->halt(f, stop);
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

void frame_kill(struct frame *f)
{
	list_each_safe (link, &f->active)
		frame_kill(list_entry(link, struct frame, link));
	if (f->ops->kill)
		f->ops->kill(f);
}
