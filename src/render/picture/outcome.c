#include "render/picture/outcome.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/run-status.h"

#define QUIET_LIGHT                             \
	{                                       \
		"#7a8596", "#eceff3", "#4d5868" \
	}
#define QUIET_DARK                              \
	{                                       \
		"#8591a5", "#2b333f", "#b9c3d2" \
	}
#define STOPPED_LIGHT                           \
	{                                       \
		"#7b4fb5", "#eee5f9", "#54308a" \
	}
#define STOPPED_DARK                            \
	{                                       \
		"#b995f0", "#352252", "#d8c3fb" \
	}

/* Words on their ground have a contrast of 7 or more, lines on the page of 3 or more. */
const struct outcome_look outcome_looks[OUTCOME_KINDS] = {
	[OUTCOME_NONE] = { "not run", "none", QUIET_LIGHT, QUIET_DARK },
	[OUTCOME_WAITING] = { "waiting", "waiting", QUIET_LIGHT, QUIET_DARK },
	[OUTCOME_RUNNING] = { "running", "running", { "#1f6fd0", "#dcebfd", "#0b4a94" },
		{ "#6cb2ff", "#12335c", "#a9d2ff" } },
	[OUTCOME_DONE] = { "done", "done", { "#1a7f4b", "#dcf3e4", "#0f5132" },
		{ "#4cc38a", "#143b28", "#8ee6b8" } },
	[OUTCOME_SKIPPED] = { "skipped", "skipped", QUIET_LIGHT, QUIET_DARK },
	[OUTCOME_TOLERATED] = { "tolerated", "tolerated", { "#9a6700", "#fbefcf", "#684600" },
		{ "#e0b350", "#40320f", "#f3d48f" } },
	[OUTCOME_FAILED] = { "failed", "failed", { "#c2263a", "#fbe0e3", "#8c1022" },
		{ "#ff7b87", "#4a1720", "#ffb8bf" } },
	[OUTCOME_TIMEOUT] = { "timeout", "timeout", { "#b5480b", "#fde5d4", "#7d3005" },
		{ "#ff9f5f", "#4a260f", "#ffc9a1" } },
	[OUTCOME_CANCELLED] = { "cancelled", "cancelled", STOPPED_LIGHT, STOPPED_DARK },
	[OUTCOME_INTERRUPTED] = { "interrupted", "interrupted", STOPPED_LIGHT, STOPPED_DARK },
};

bool outcome_of_status(struct str status, enum outcome_kind *ret)
{
	enum roux_status s;
	const char *name = status_read(status, &s) ? status_outcome(s) : NULL;

	for (enum outcome_kind k = OUTCOME_NONE; name && k < OUTCOME_KINDS; k++)
		if (str_eq(str_of(outcome_looks[k].name), str_of(name))) {
			*ret = k;
			return true;
		}
	return false;
}

/* From what has gone well to what went worst. */
static const enum outcome_kind order[OUTCOME_KINDS] = {
	OUTCOME_DONE,
	OUTCOME_SKIPPED,
	OUTCOME_NONE,
	OUTCOME_WAITING,
	OUTCOME_RUNNING,
	OUTCOME_TOLERATED,
	OUTCOME_INTERRUPTED,
	OUTCOME_CANCELLED,
	OUTCOME_TIMEOUT,
	OUTCOME_FAILED,
};

uint64_t picture_state_total(const struct picture_state *s)
{
	uint64_t total = 0;

	for (size_t i = 0; i < OUTCOME_KINDS; i++)
		total += s->counts[i];
	return total;
}

enum outcome_kind picture_state_worst(const struct picture_state *s)
{
	enum outcome_kind worst = OUTCOME_NONE;

	for (size_t i = 0; i < OUTCOME_KINDS; i++)
		if (s->counts[order[i]])
			worst = order[i];
	return worst;
}

void picture_state_merge(struct picture_state *s, const struct picture_state *more)
{
	for (size_t i = 0; i < OUTCOME_KINDS; i++)
		s->counts[i] += more->counts[i];
	s->ms = MAX(s->ms, more->ms);
	s->timed |= more->timed;
	s->attempts += more->attempts;
	if (more->coded && (!s->coded || more->code))
		s->code = more->code;
	s->coded |= more->coded;
}

void picture_state_words(const struct picture_state *s, struct buf *b)
{
	bool several = picture_state_total(s) > 1;
	bool first = true;

	for (size_t i = 0; i < OUTCOME_KINDS; i++) {
		enum outcome_kind kind = order[i];

		if (!s->counts[kind])
			continue;
		buf_adds(b, first ? "" : ", ");
		first = false;
		if (several)
			buf_printf(b, "%" PRIu64 " ", s->counts[kind]);
		buf_adds(b, outcome_looks[kind].word);
	}
	if (first)
		buf_adds(b, outcome_looks[OUTCOME_NONE].word);
}

void picture_state_text(const struct picture_state *s, struct buf *b)
{
	picture_state_words(s, b);
	if (s->timed) {
		buf_adds(b, " · ");
		clock_duration(b, s->ms);
	}
	if (s->attempts > MAX(picture_state_total(s), (uint64_t)1))
		buf_printf(b, " · %" PRIu64 " attempts", s->attempts);
	if (s->coded)
		buf_printf(b, " · exit %d", s->code);
}
