#include "remote/sizing.h"

#include "base/lang.h"

void load_add(struct load *l, const struct load *more)
{
	l->cpus += more->cpus;
	l->mem_mb += more->mem_mb;
	l->gpus += more->gpus;
}

void load_remove(struct load *l, const struct load *less)
{
	l->cpus -= less->cpus;
	l->mem_mb -= less->mem_mb;
	l->gpus -= less->gpus;
}

bool load_fits(const struct load *used, const struct load *more, const struct load *has)
{
	return used->cpus + more->cpus <= has->cpus &&
	       (!has->mem_mb || used->mem_mb + more->mem_mb <= has->mem_mb) &&
	       (!has->gpus || used->gpus + more->gpus <= has->gpus);
}

static uint64_t waiting_cpus(const struct sizing *s)
{
	return s->ready_cpus > s->free_cpus ? s->ready_cpus - s->free_cpus : 0;
}

/* For so many processors. */
static uint64_t allocations_for(const struct sizing *s, uint64_t processors)
{
	uint64_t cpus = MAX(s->cpus, (uint64_t)1);

	return (processors + cpus - 1) / cpus;
}

uint64_t sizing_spare(const struct sizing *s)
{
	uint64_t wanted = allocations_for(s, waiting_cpus(s));

	return s->queued > wanted ? s->queued - wanted : 0;
}

uint64_t sizing_more(const struct sizing *s)
{
	uint64_t waiting = waiting_cpus(s);
	uint64_t unasked = waiting > s->queued_cpus ? waiting - s->queued_cpus : 0;
	uint64_t more = allocations_for(s, unasked);
	uint64_t room = s->most > s->all ? s->most - s->all : 0;

	more = MIN(more, room);
	/* One that is asked for now may come when all is done. */
	if (s->ended >= SIZING_ENDED && s->has_cpus && s->mean_ms && !s->more_come) {
		uint64_t rest = waiting * s->mean_ms / s->has_cpus;

		if (rest < SIZING_SOON_MS)
			return 0;
	}
	return MIN(more, s->queued < QUEUED_MAX ? QUEUED_MAX - s->queued : (uint64_t)0);
}

uint64_t sizing_ahead(uint64_t ended, uint64_t turn_ms, uint64_t mean_us, uint64_t queued)
{
	if (ended < AHEAD_ENDED || queued)
		return 0;
	uint64_t took = MAX(mean_us, (uint64_t)1);
	uint64_t ahead = (turn_ms * 1000 + took - 1) / took;

	/* What takes longer than an answer is not given ahead. */
	return took > turn_ms * 1000 ? 0 : MIN(ahead, (uint64_t)AHEAD_SLOT_MAX);
}

bool looks_take(struct looks *l, uint64_t now)
{
	uint64_t back = now > l->from_ms ? (now - l->from_ms) / LOOK_EVERY_MS : 0;

	if (back >= l->spent) {
		l->spent = 0;
		l->from_ms = now;
	} else {
		l->spent -= back;
		l->from_ms += back * LOOK_EVERY_MS;
	}
	if (l->spent >= LOOKS_AT_ONCE)
		return false;
	l->spent++;
	return true;
}

void sizing_add(struct sizing_mean *m, uint64_t value)
{
	if (m->count == SIZING_KEPT)
		m->sum -= m->at[m->next];
	else
		m->count++;
	m->at[m->next] = value;
	m->sum += value;
	m->next = (m->next + 1) % SIZING_KEPT;
}

uint64_t sizing_mean(const struct sizing_mean *m)
{
	return m->count ? m->sum / m->count : 0;
}
