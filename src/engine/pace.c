#include <inttypes.h>
#include <string.h>

#include "engine/steps.h"

/* Agents are slow and limited by those who serve them: at most so many at once, a pause after each,
 * and a longer one after an agent said "rate limit". */

static const struct step_graph *limits(const struct run *r)
{
	static const struct step_graph none = { 0 };

	if (r->plan->graph->steps)
		return r->plan->graph->steps;
	return r->pace.limits ? r->pace.limits : &none;
}

static void next(struct run *r);

static void on_due(struct timer *t)
{
	next(container_of(t, struct run, pace.timer));
}

static void next(struct run *r)
{
	const struct step_graph *g = limits(r);

	while (!list_empty(&r->pace.waiting)) {
		uint64_t now = loop_now(r->loop);

		if (g->max_concurrent && r->pace.running >= g->max_concurrent)
			return;
		if (now < r->pace.until_ms) {
			r->pace.timer.fire = on_due;
			timer_start(r->loop, &r->pace.timer, r->pace.until_ms - now);
			return;
		}
		struct frame *f = list_entry(r->pace.waiting.next, struct frame, waits);
		list_remove(&f->waits);
		r->pace.running++;
		f->leaf.paced = true;
		schedule_command(f);
	}
}

bool pace_charge(struct frame *f, uint64_t count)
{
	const struct step_call *call = step_call_of(f);

	f->run->pace.started += count;
	if (f->run->pace.started <= call->max_agents)
		return true;
	report_error(&f->run->issues, place_where(f->node->place),
		"step '%.*s': more than max_total_steps (%" PRIu64 ") agent steps",
		STR(f->node->step->id), call->max_agents);
	return report_hint(&f->run->issues, "raise recursion.max_total_steps");
}

void pace_want(struct frame *f)
{
	list_append(&f->run->pace.waiting, &f->waits);
	next(f->run);
}

static bool says_limited(const struct outcome *o)
{
	AUTO_BUF text = BUF_INIT;

	(void)content_tail(o->err, 64 * 1024, &text);
	(void)content_tail(o->out, 64 * 1024, &text);
	for (size_t i = 0; i < text.len; i++)
		if (text.p[i] >= 'A' && text.p[i] <= 'Z')
			text.p[i] += 'a' - 'A';
	return str_contains(buf_str(&text), S("429")) ||
	       str_contains(buf_str(&text), S("rate limit"));
}

static void adapt(struct run *r, const struct outcome *o)
{
	const struct step_graph *g = limits(r);

	if (!g->backoff)
		return;
	if (o->ok) {
		if (r->pace.backoff_ms && ++r->pace.successes >= g->backoff_reset)
			r->pace.backoff_ms = 0;
	} else if (says_limited(o)) {
		double raised = r->pace.backoff_ms ? (double)r->pace.backoff_ms * g->backoff_factor
						   : (double)g->backoff_initial_ms;

		r->pace.backoff_ms = (uint64_t)MIN(raised, (double)g->backoff_max_ms);
		r->pace.successes = 0;
	}
}

void pace_ended(struct frame *f, const struct outcome *o)
{
	struct run *r = f->run;

	if (!f->leaf.paced)
		return;
	f->leaf.paced = false;
	r->pace.running--;
	adapt(r, o);
	r->pace.until_ms = loop_now(r->loop) + MAX(limits(r)->min_delay_ms, r->pace.backoff_ms);
	next(r);
}
