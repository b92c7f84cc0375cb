#include <inttypes.h>

#include "base/clock.h"
#include "engine/steps.h"

/* foreach and while: rounds of one body (docs/steps.md, "For each" and "While"). */

static struct str path_of(const struct frame *f, struct buf *b)
{
	frame_path(f, b);
	return buf_str(b);
}

/* -- opening -------------------------------------------------------------------------------------
 */

static bool too_many(struct frame *f, size_t count)
{
	const struct step_node *s = f->node->step;

	report_error(&f->run->issues, place_where(s->loop.list->place),
		"step '%.*s': the list has %zu items, more than max_iterations (%" PRIu64 ")",
		STR(s->id), count, s->loop.max_rounds);
	return report_hint(
		&f->run->issues, "raise max_iterations, or loop over a part of the list");
}

static enum frame_open open_list(struct frame *f)
{
	const struct step_node *s = f->node->step;
	struct rounds *st = &f->rounds;

	if (f->node->kind != NODE_EACH)
		return OPEN_BEGINS;
	st->list = s->ops->list(f->node, f->scope, &f->run->issues);
	if (!st->list)
		return OPEN_MISTAKE;
	f->count = json_array_size(st->list);
	if (f->count > s->loop.max_rounds) {
		(void)too_many(f, f->count);
		return OPEN_MISTAKE;
	}
	/* All of them or none: half a round of agents has cost something and is worth nothing. */
	if (f->node->each_parallel && f->node->children[0]->step->agent &&
		!pace_charge(f, f->count))
		return OPEN_MISTAKE;
	if (f->count)
		return OPEN_BEGINS;
	if (s->loop.collect.len)
		json_object_setn_new_nocheck(
			scope_vars(f->scope), s->loop.collect.p, s->loop.collect.len, json_array());
	return OPEN_EMPTY;
}

static bool open_record(struct frame *f)
{
	struct recorder *r = f->run->options.recorder;
	AUTO_BUF path = BUF_INIT;

	if (!r || f->node->step->loop.checkpoints)
		return true;
	int n = r->ops->open(r, path_of(f, &path));
	if (n == 0)
		return true;
	run_abort(f->run, "cannot record a loop", -n);
	frame_end_halted(f);
	return false;
}

/* Of every attempt. False: it could not be recorded, and has ended. */
static bool begin(struct frame *f)
{
	struct rounds *st = &f->rounds;

	st->over = st->failed = st->cut_short = st->retried = st->kept = false;
	st->failure = 0;
	st->due_ms = 0;
	json_decref(st->results);
	json_decref(st->last);
	st->results = f->node->step->loop.collect.len ? json_array() : NULL;
	st->last = NULL;
	return open_record(f);
}

/* -- closing -------------------------------------------------------------------------------------
 */

static void set_position(json_t *vars, uint64_t index)
{
	json_object_set_new(vars, "_loop_index", json_integer((json_int_t)index));
	json_object_set_new(vars, "_loop_iteration", json_integer((json_int_t)index + 1));
}

/* The while loop around it, in the same recipe. */
static const struct frame *outer_while(const struct frame *f)
{
	for (f = f->up; f && f->node->kind != NODE_CALL; f = f->up)
		if (f->node->kind == NODE_WHILE)
			return f;
	return NULL;
}

static void restore(struct frame *f)
{
	const struct step_node *s = f->node->step;
	const struct frame *outer = outer_while(f);
	json_t *vars = scope_vars(f->scope);

	if (f->node->kind == NODE_WHILE && outer) {
		set_position(vars, outer->next - 1);
	} else if (f->node->kind == NODE_WHILE) {
		json_object_del(vars, "_loop_index");
		json_object_del(vars, "_loop_iteration");
	} else if (f->rounds.saved) {
		json_object_setn_nocheck(vars, s->loop.as.p, s->loop.as.len, f->rounds.saved);
	} else if (!f->node->each_parallel) {
		json_object_deln(vars, s->loop.as.p, s->loop.as.len);
	}
}

static void keep_results(struct frame *f, struct outcome *o)
{
	const struct step_node *s = f->node->step;
	struct rounds *st = &f->rounds;

	if (s->loop.collect.len) {
		o->value = json_incref(st->results);
		step_set(f, s->loop.collect, json_incref(st->results));
		return;
	}
	o->value = json_incref(st->last);
	if (s->output.len && st->last)
		step_set(f, s->output, json_incref(st->last));
}

static void close_record(struct frame *f)
{
	struct recorder *r = f->run->options.recorder;
	AUTO_BUF path = BUF_INIT;

	if (!r || f->node->step->loop.checkpoints)
		return;
	if (f->rounds.kept)
		return;
	f->rounds.kept = true;
	int n = r->ops->close(r, path_of(f, &path));
	if (n < 0)
		run_abort(f->run, "cannot record a loop", -n);
}

/* Those of a template that imports the steps are kept anyway. */
void loop_keep_rounds(struct frame *f)
{
	for (; f; f = f->up)
		if (node_repeats(f->node) && f->node->step)
			close_record(f);
}

static void loop_over(struct frame *f, bool halted)
{
	struct rounds *st = &f->rounds;
	struct outcome o = { .ok = !halted && !st->failed,
		.halted = halted,
		.partial = f->outcome.partial && !st->failed,
		.tally = f->outcome.tally,
		.code = halted       ? 1
			: st->failed ? st->code
				     : 0,
		.no_retry = st->failed && st->no_retry,
		.retried = st->failed && st->retried,
		.failure = st->failure };

	restore(f);
	if (!halted && !st->failed)
		keep_results(f, &o);
	if (!halted && (!st->failed || f->tolerated))
		close_record(f);
	if (!halted) {
		if (step_listed(f))
			json_object_deln(
				f->run->book.rounds, f->node->step->id.p, f->node->step->id.len);
		run_emit_frame(f->run,
			&(struct event){ .kind = EVENT_LOOP_COMPLETE, .step.number = f->next }, f);
		step_was_last(f);
	}
	frame_attempt_done(f, &o);
}

/* -- rounds --------------------------------------------------------------------------------------
 */

static void start_round(struct frame *f)
{
	uint64_t index = f->next;

	frame_next_child(f, NULL, false);
	if (step_listed(f))
		json_object_setn_new_nocheck(f->run->book.rounds, f->node->step->id.p,
			f->node->step->id.len, json_integer((json_int_t)f->next));
	run_emit_frame(
		f->run, &(struct event){ .kind = EVENT_LOOP_ITERATION, .step.number = index }, f);
}

/* Whether all its rounds are done, whatever else happens. */
static bool complete(const struct frame *f)
{
	return f->rounds.over || (f->node->kind == NODE_EACH && f->next == f->count);
}

/* Takes the value as the result of the last round, if it is. */
static void keep_last(struct frame *f, uint64_t index, json_t *value)
{
	struct rounds *st = &f->rounds;

	if (st->last && index < st->last_index) {
		json_decref(value);
		return;
	}
	json_decref(st->last);
	st->last = value;
	st->last_index = index;
}

static void keep_round(struct frame *f, struct frame *child)
{
	struct rounds *st = &f->rounds;
	json_t *value = child->outcome.value ? json_incref(child->outcome.value) : json_null();

	if (st->results && f->node->each_parallel)
		json_array_set(st->results, child->index, value);
	else if (st->results)
		json_array_append(st->results, value);
	keep_last(f, child->index, value);
	if (f->node->kind == NODE_WHILE && f->node->step->output.len &&
		(child->outcome.ok || step_continues(f)))
		step_set(f, f->node->step->output, json_incref(st->last));
}

/* A round has failed. */
static void note_failure(struct frame *f, const struct outcome *o)
{
	struct rounds *st = &f->rounds;

	run_emit_frame(
		f->run, &(struct event){ .kind = EVENT_ITERATION_FAILED, .step.code = o->code }, f);
	if (f->node->step->on_error == STEP_FAILURE_CONTINUE)
		return;
	if (!st->failed) {
		st->code = o->code;
		st->failure = o->failure;
		st->no_retry = o->no_retry;
	}
	st->retried |= o->retried;
	st->failed = true;
}

/* Of any loop. */
static void round_ended(struct frame *f, struct frame *child)
{
	const struct outcome *o = &child->outcome;

	tally_add(&f->outcome.tally, o->tally);
	f->rounds.cut_short |= o->halted;
	if (o->halted)
		return;
	keep_round(f, child);
	if (!o->ok)
		note_failure(f, o);
	if (o->partial)
		f->outcome.partial = f->rounds.over = true;
}

static void done(struct frame *f)
{
	timer_stop(&f->rounds.pause);
	json_decref(f->rounds.list);
	json_decref(f->rounds.results);
	json_decref(f->rounds.last);
	json_decref(f->rounds.saved);
}

/* -- one after the other -------------------------------------------------------------------------
 */

/* 1: another round, 0: none, -1: a mistake of the author. */
static int wants_round(struct frame *f)
{
	const struct step_node *s = f->node->step;
	bool go = false, mistake = false;

	if (f->rounds.over)
		return 0;
	if (f->node->kind == NODE_EACH)
		return f->next < f->count;
	if (f->next >= s->loop.max_rounds)
		return 0;
	if (!s->ops->decide(s->loop.condition, f->scope, &go, &mistake, &f->run->issues))
		return -1;
	return go;
}

static void next_round(struct frame *f)
{
	if (frame_halted(f) && !complete(f)) {
		loop_over(f, true);
		return;
	}
	switch (wants_round(f)) {
	case 0:
		loop_over(f, false);
		return;
	case -1:
		restore(f);
		step_mistake(f);
		return;
	default:
		break;
	}
	if (f->node->kind == NODE_WHILE)
		set_position(scope_vars(f->scope), f->next);
	start_round(f);
}

static void on_pause(struct timer *t)
{
	schedule_call(container_of(t, struct frame, rounds.pause), next_round);
}

static void begin_in_order(struct frame *f)
{
	const struct step_node *s = f->node->step;
	struct rounds *st = &f->rounds;

	st->pause.fire = on_pause;
	if (f->node->kind == NODE_EACH) {
		json_decref(st->saved);
		st->saved = json_incref(
			json_object_getn(scope_vars(f->scope), s->loop.as.p, s->loop.as.len));
	}
	if (begin(f))
		next_round(f);
}

/* What a round may change before the next: `update_context`, `break_when`. False: a mistake. */
static bool after_round(struct frame *f)
{
	const struct step_node *s = f->node->step;
	struct report *r = &f->run->issues;

	for (size_t i = 0; i < s->loop.update_count; i++) {
		const struct step_update *u = &s->loop.updates[i];
		AUTO_BUF text = BUF_INIT;

		if (u->text && !text_resolve(u->text, f->scope, &text, r))
			return false;
		step_set(f, u->name,
			u->text ? json_from_str(buf_str(&text)) : json_deep_copy(u->value));
	}
	if (!s->loop.break_when)
		return true;
	AUTO_REPORT found = REPORT_INIT;
	bool stop = false, mistake = false;
	if (s->ops->decide(s->loop.break_when, f->scope, &stop, &mistake, &found)) {
		f->rounds.over = stop;
		return true;
	}
	if (!mistake) {
		report_move(r, &found);
		return false;
	}
	/* An expression that means nothing stops no loop. */
	if (!f->rounds.warned)
		report_warning(r, place_where(s->loop.break_when->place), "break_when: %.*s",
			STR(found.issues.at[0].message));
	f->rounds.warned = true;
	return true;
}

static void ended_in_order(struct frame *f, struct frame *child)
{
	uint64_t pause = f->node->step->loop.delay_ms;

	round_ended(f, child);
	if (child->outcome.halted) {
		loop_over(f, true);
		return;
	}
	f->rounds.over |= f->rounds.failed;
	if (!f->rounds.over && !after_round(f)) {
		restore(f);
		step_mistake(f);
		return;
	}
	/* An order to stop that came while the round ran finds no pause to end later. */
	if (pause && f->run->executing && !complete(f) && !frame_halted(f))
		timer_start(f->run->loop, &f->rounds.pause, pause);
	else
		schedule_call(f, next_round);
}

/* A pause between rounds is over at once. */
static void halt_in_order(struct frame *f, bool stop UNUSED)
{
	if (!timer_running(&f->rounds.pause))
		return;
	timer_stop(&f->rounds.pause);
	schedule_call(f, next_round);
}

const struct frame_ops rounds_ops = {
	.dialect = &frame_steps,
	.open = open_list,
	.begin = begin_in_order,
	.child_ended = ended_in_order,
	.halt = halt_in_order,
	.done = done,
};

/* -- side by side --------------------------------------------------------------------------------
 */

static void settle(struct frame *f)
{
	if (f->state != FRAME_RUNNING || !list_empty(&f->active))
		return;
	if (complete(f))
		loop_over(f, f->rounds.cut_short);
	else if (frame_halted(f))
		loop_over(f, true);
}

/* How many rounds at once. The usual number spares this machine: unless the user gave it, it does
 * not hold for a loop whose commands all go elsewhere, which the slots there bound. */
static uint64_t width_of(const struct frame *f)
{
	const struct step_host *host = f->run->options.steps;
	int64_t width = f->node->step->loop.width;

	if (width > 0)
		return (uint64_t)width;
	return f->rounds.elsewhere && !f->rounds.here && !host->max_parallel_given
		       ? UINT64_MAX
		       : host->max_parallel;
}

static uint64_t active_rounds(const struct frame *f)
{
	uint64_t n = 0;

	list_each (link, &f->active)
		n++;
	return n;
}

/* How many more rounds may begin beside those that are active. */
static uint64_t spare_width(const struct frame *f)
{
	uint64_t width = width_of(f), active = width == UINT64_MAX ? 0 : active_rounds(f);

	return width > active ? width - active : 0;
}

/* The next round of a parallel loop may begin: now, or when it is due. When that is, is not known
 * while the one before has not begun. */
static void want_round(struct frame *f)
{
	struct rounds *st = &f->rounds;
	uint64_t now = loop_now(f->run->loop);

	if (st->handed)
		return;
	if (now >= st->due_ms) {
		schedule_children(f);
		return;
	}
	st->waiting = true;
	timer_start(f->run->loop, &st->pause, st->due_ms - now);
}

/* There may be room for another round. */
static void widen(struct frame *loop)
{
	struct rounds *st = &loop->rounds;

	if (!st->over && !st->waiting && loop->next < loop->count && !list_linked(&loop->waits) &&
		spare_width(loop) && !frame_halted(loop))
		want_round(loop);
}

static void feed(struct frame *f)
{
	bool executing = f->run->executing;

	f->rounds.begun = false;
	start_round(f);
	/* Starts are spaced; what is only looked up in a record is not. */
	if (f->node->step->loop.delay_ms && executing)
		f->rounds.due_ms = loop_now(f->run->loop) + f->node->step->loop.delay_ms;
	if (f->next == f->count || !spare_width(f)) {
		list_remove(&f->waits);
	} else if (loop_now(f->run->loop) < f->rounds.due_ms) {
		list_remove(&f->waits);
		want_round(f);
	}
}

static void ended_side_by_side(struct frame *f, struct frame *child)
{
	struct rounds *st = &f->rounds;

	round_ended(f, child);
	list_remove(&child->link);
	if (st->over) {
		list_remove(&f->waits);
		timer_stop(&st->pause);
	}
	widen(f);
	settle(f);
}

static void after_pause(struct frame *f)
{
	f->rounds.waiting = false;
	if (f->next < f->count)
		want_round(f);
}

static void on_due(struct timer *t)
{
	schedule_call(container_of(t, struct frame, rounds.pause), after_pause);
}

static void begin_side_by_side(struct frame *f)
{
	json_t *results;

	f->rounds.pause.fire = on_due;
	if (!begin(f))
		return;
	results = f->rounds.results;
	for (size_t i = 0; results && i < f->count; i++)
		json_array_append_new(results, json_null());
	schedule_children(f);
}

static void halt_side_by_side(struct frame *f, bool stop UNUSED)
{
	list_remove(&f->waits);
	schedule_call(f, settle);
}

/* -- where its commands begin --------------------------------------------------------------------
 */

/* The nearest loop around it that spaces its starts, and in whose latest round it is. */
static struct frame *spaced_above(const struct frame *f)
{
	for (; f->up; f = f->up)
		if (f->up->ops == &parallel_rounds_ops && f->up->node->step->loop.delay_ms &&
			f->role == FRAME_COPY && f->index + 1 == f->up->next)
			return f->up;
	return NULL;
}

void round_handed_over(const struct frame *command)
{
	for (struct frame *loop = spaced_above(command); loop; loop = spaced_above(loop)) {
		struct rounds *st = &loop->rounds;

		if (st->begun || st->handed)
			continue;
		st->handed = command;
		list_remove(&loop->waits);
	}
}

/* Nothing is to begin first any more. */
static void unhold(struct frame *loop)
{
	loop->rounds.handed = NULL;
	widen(loop);
}

void round_begins(const struct frame *f)
{
	for (struct frame *loop = spaced_above(f); loop; loop = spaced_above(loop)) {
		struct rounds *st = &loop->rounds;

		st->begun = true;
		if (!st->handed)
			continue;
		/* By the clock: it may have begun in this turn of the loop. */
		st->due_ms = clock_mono_ms() + loop->node->step->loop.delay_ms;
		unhold(loop);
	}
}

void round_taken_back(const struct frame *command)
{
	for (struct frame *loop = spaced_above(command); loop; loop = spaced_above(loop))
		if (loop->rounds.handed == command)
			unhold(loop);
}

struct job_behind round_behind(const struct frame *command)
{
	const struct frame *loop = spaced_above(command);

	if (!loop || loop->rounds.begun || loop->rounds.handed)
		return (struct job_behind){ 0 };
	return (struct job_behind){ .every_ms = loop->node->step->loop.delay_ms,
		.count = MIN(loop->count - loop->next, spare_width(loop)) };
}

/* -- where its commands go -----------------------------------------------------------------------
 */

/* Whether the author lets something in it run here only. */
static bool has_local(const struct node *n)
{
	if (n->runs_on == RUNS_LOCAL || (n->runs_on == RUNS_UNSAID && n->step && n->step->agent))
		return true;
	for (size_t i = 0; i < n->child_count; i++)
		if (has_local(n->children[i]))
			return true;
	return false;
}

/* The body of the loop, and each recipe that it calls on the way to the command. */
static bool keeps_here(const struct frame *command, const struct frame *loop)
{
	for (const struct frame *f = command; f != loop; f = f->up)
		if ((f->up == loop || f->up->node->kind == NODE_CALL) && has_local(f->node))
			return true;
	return false;
}

void round_goes(const struct frame *command, bool here)
{
	for (struct frame *f = command->up; f; f = f->up) {
		struct rounds *st = &f->rounds;

		if (f->ops != &parallel_rounds_ops)
			continue;
		if (here) {
			st->here = true;
		} else if (!st->elsewhere) {
			st->elsewhere = true;
			st->here |= keeps_here(command, f);
			widen(f);
		}
	}
}

const struct frame_ops parallel_rounds_ops = {
	.dialect = &frame_steps,
	.open = open_list,
	.begin = begin_side_by_side,
	.child_ended = ended_side_by_side,
	.feed = feed,
	.halt = halt_side_by_side,
	.done = done,
};
