#include "base/shown-state.h"

#include "base/lang.h"

static const struct {
	const char *word, *sign;
	bool bad;
	unsigned rank;
} looks[SHOWN_STATES] = {
	[STATE_WAITING] = { "waiting", "○", false, 3 },
	[STATE_RUNNING] = { "running", "◐", false, 5 },
	[STATE_DONE] = { "done", "✓", false, 0 },
	[STATE_PARTIAL] = { "partial", "✓✗", true, 8 },
	[STATE_TOLERATED] = { "tolerated", "✓!", false, 7 },
	[STATE_FAILED] = { "failed", "✗", true, 14 },
	[STATE_SKIPPED] = { "skipped", "–", false, 1 },
	[STATE_RETRYING] = { "retrying", "↻", false, 4 },
	[STATE_PAUSED] = { "paused", "‖", false, 6 },
	[STATE_DENIED] = { "denied", "⊘", true, 13 },
	[STATE_CANCELLED] = { "cancelled", "◻", false, 10 },
	[STATE_KILLED] = { "killed", "◼", true, 11 },
	[STATE_TIMEOUT] = { "timeout", "⧖", true, 12 },
	[STATE_EXITED] = { "exited", "?", true, 9 },
	[STATE_UNREACHED] = { "unreached", "·", false, 2 },
};

const char *shown_state_word(enum shown_state s)
{
	return looks[s].word;
}

const char *shown_state_sign(enum shown_state s)
{
	return looks[s].sign;
}

bool shown_state_bad(enum shown_state s)
{
	return looks[s].bad;
}

unsigned shown_state_rank(enum shown_state s)
{
	return looks[s].rank;
}

enum shown_state shown_state_ranked(unsigned rank)
{
	enum shown_state s = 0;

	while (s < SHOWN_STATES - 1 && looks[s].rank != rank)
		s++;
	return s;
}

bool shown_state_read(struct str word, enum shown_state *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(looks); i++)
		if (str_eq(word, str_of(looks[i].word))) {
			*ret = (enum shown_state)i;
			return true;
		}
	return false;
}

enum shown_state shown_state_of(struct str status)
{
	enum shown_state s = STATE_EXITED;

	if (str_eq(status, S("starting")))
		return STATE_RUNNING;
	(void)shown_state_read(status, &s);
	return s;
}
