#include "base/shown-state.h"

#include "base/lang.h"

static const struct {
	const char *word, *sign;
	bool bad;
} looks[SHOWN_STATES] = {
	[STATE_WAITING] = { "waiting", "○", false },
	[STATE_RUNNING] = { "running", "◐", false },
	[STATE_DONE] = { "done", "✓", false },
	[STATE_PARTIAL] = { "partial", "✓✗", true },
	[STATE_TOLERATED] = { "tolerated", "✓!", false },
	[STATE_FAILED] = { "failed", "✗", true },
	[STATE_SKIPPED] = { "skipped", "–", false },
	[STATE_RETRYING] = { "retrying", "↻", false },
	[STATE_PAUSED] = { "paused", "‖", false },
	[STATE_DENIED] = { "denied", "⊘", true },
	[STATE_CANCELLED] = { "cancelled", "◻", false },
	[STATE_KILLED] = { "killed", "◼", true },
	[STATE_TIMEOUT] = { "timeout", "⧖", true },
	[STATE_EXITED] = { "exited", "?", true },
	[STATE_UNREACHED] = { "unreached", "·", false },
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
