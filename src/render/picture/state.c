#include "render/picture/state.h"

#include <inttypes.h>

#include "base/clock.h"

/* Words on their ground have a contrast of 7 or more, lines on the page of 3 or more. States of one
 * family are told apart by their words and signs. */
/* clang-format off */
#define QUIET   { { "#7a8596", "#eceff3", "#4d5868" }, { "#8591a5", "#2b333f", "#b9c3d2" } }
#define ACTIVE  { { "#1f6fd0", "#dcebfd", "#0b4a94" }, { "#6cb2ff", "#12335c", "#a9d2ff" } }
#define GOOD    { { "#1a7f4b", "#dcf3e4", "#0f5132" }, { "#4cc38a", "#143b28", "#8ee6b8" } }
#define MIXED   { { "#9a6700", "#fbefcf", "#684600" }, { "#e0b350", "#40320f", "#f3d48f" } }
#define BAD     { { "#c2263a", "#fbe0e3", "#8c1022" }, { "#ff7b87", "#4a1720", "#ffb8bf" } }
#define LATE    { { "#b5480b", "#fde5d4", "#7d3005" }, { "#ff9f5f", "#4a260f", "#ffc9a1" } }
#define STOPPED { { "#7b4fb5", "#eee5f9", "#54308a" }, { "#b995f0", "#352252", "#d8c3fb" } }

const struct state_look state_looks[SHOWN_STATES] = {
	[STATE_WAITING]   = QUIET,
	[STATE_RUNNING]   = ACTIVE,
	[STATE_DONE]      = GOOD,
	[STATE_PARTIAL]   = MIXED,
	[STATE_TOLERATED] = MIXED,
	[STATE_FAILED]    = BAD,
	[STATE_SKIPPED]   = QUIET,
	[STATE_RETRYING]  = ACTIVE,
	[STATE_PAUSED]    = MIXED,
	[STATE_DENIED]    = BAD,
	[STATE_CANCELLED] = STOPPED,
	[STATE_KILLED]    = STOPPED,
	[STATE_TIMEOUT]   = LATE,
	[STATE_EXITED]    = BAD,
	[STATE_UNREACHED] = QUIET,
};
/* clang-format on */

uint64_t picture_state_total(const struct picture_state *s)
{
	uint64_t total = 0;

	for (size_t i = 0; i < SHOWN_STATES; i++)
		total += s->counts[i];
	return total;
}

enum shown_state picture_state_worst(const struct picture_state *s)
{
	enum shown_state worst = STATE_UNREACHED;

	for (unsigned rank = 0; rank < SHOWN_STATES; rank++)
		if (s->counts[shown_state_ranked(rank)])
			worst = shown_state_ranked(rank);
	return worst;
}

void picture_state_merge(struct picture_state *s, const struct picture_state *more)
{
	for (size_t i = 0; i < SHOWN_STATES; i++)
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

	for (unsigned rank = 0; rank < SHOWN_STATES; rank++) {
		enum shown_state state = shown_state_ranked(rank);

		if (!s->counts[state])
			continue;
		buf_adds(b, first ? "" : ", ");
		first = false;
		if (several)
			buf_printf(b, "%" PRIu64 " ", s->counts[state]);
		buf_adds(b, shown_state_word(state));
	}
	if (first)
		buf_adds(b, shown_state_word(STATE_UNREACHED));
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
