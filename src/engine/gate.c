#include <inttypes.h>

#include "engine/steps.h"

/* The approval of a stage: the run pauses until a person has answered. */

/* How people call the gate: its stage, below the stages that called the recipe it is in. */
static void gate_name(const struct frame *f, struct buf *b)
{
	if (f->up)
		gate_name(f->up, b);
	if (f->node->kind != NODE_SEQUENCE || !f->node->step || !f->node->step->stage.name.len)
		return;
	if (b->len)
		buf_addc(b, '/');
	buf_add(b, f->node->step->stage.name);
}

static void pause_run(struct frame *f, struct str name, struct str prompt)
{
	struct run *r = f->run;
	const struct step_node *s = f->node->step;

	buf_reset(&r->book.gate);
	buf_add(&r->book.gate, name);
	buf_reset(&r->book.gate_prompt);
	buf_add(&r->book.gate_prompt, prompt);
	r->result.gate = buf_str(&r->book.gate);
	r->result.prompt = buf_str(&r->book.gate_prompt);
	r->result.gate_timeout_ms = s->gate.timeout_ms;
	r->result.gate_approves = s->gate.approves;
}

static void stop_run(struct frame *f, enum run_status status)
{
	run_stop(f->run, status);
	frame_end_halted(f);
}

static void act_on(struct frame *f, enum gate_answer answer, struct str name, struct str prompt,
	const struct gate_heard *heard)
{
	if (answer == GATE_FAILED) {
		run_fail(f->run, RUN_FAILED);
		frame_end_halted(f);
		return;
	}
	if (heard->untold)
		run_emit(f->run, &(struct event){ .kind = EVENT_RUN_ANSWERED,
					 .answered = { name, buf_str(&heard->who),
						 buf_str(&heard->digest), answer } });
	run_emit_frame(
		f->run, &(struct event){ .kind = EVENT_RECIPE_APPROVAL, .step.answer = answer }, f);
	if (answer == GATE_PENDING) {
		pause_run(f, name, prompt);
		stop_run(f, RUN_PAUSED);
	} else if (answer == GATE_DENIED) {
		pause_run(f, name, prompt);
		stop_run(f, RUN_DENIED);
	} else {
		json_object_set_new(scope_vars(f->scope), "_approval_message",
			json_from_str(buf_str(&heard->message)));
		frame_attempt_done(f, &(struct outcome){ .ok = true, .skipped = true });
	}
}

static void begin(struct frame *f)
{
	const struct step_node *s = f->node->step;
	const struct step_host *host = f->run->options.steps;
	AUTO_BUF prompt = BUF_INIT;
	AUTO_BUF name = BUF_INIT;
	AUTO_BUF path = BUF_INIT;

	if (s->gate.prompt && !text_resolve(s->gate.prompt, f->scope, &prompt, &f->run->issues)) {
		step_mistake(f);
		return;
	}
	/* Another attempt does its work again, which is another thing to approve. */
	uint64_t number = frame_key(f, &path).number;
	if (number > 1)
		buf_printf(&path, "#%" PRIu64, number);
	struct gate_heard heard = { 0 };
	gate_name(f, &name);
	loop_keep_rounds(f); /* what people approve is not done again */
	enum gate_answer answer = GATE_PENDING;
	if (host->gate)
		answer = host->gate(host->data, buf_str(&path), buf_str(&name), buf_str(&prompt),
			s->gate.timeout_ms, s->gate.approves, &heard, &f->run->issues);
	f->run->result.gate_since_ms = heard.since_ms;
	act_on(f, answer, buf_str(&name), buf_str(&prompt), &heard);
	buf_done(&heard.message);
	buf_done(&heard.who);
	buf_done(&heard.digest);
}

const struct frame_ops gate_ops = { .dialect = &frame_steps, .begin = begin };
