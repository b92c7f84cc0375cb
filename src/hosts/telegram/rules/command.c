#include "hosts/telegram/rules/command.h"

#include "base/lang.h"
#include "base/utf8.h"

const struct chat_command_info chat_commands[] = {
	{ "stop", CHAT_STOP, "stop", false },
	{ "abort", CHAT_ABORT, "abort", false },
	{ "next", CHAT_NEXT, "next", false },
	{ "continue", CHAT_CONTINUE, "continue", false },
	{ "status", CHAT_STATUS, "status", false },
	{ "queue", CHAT_QUEUE, "queue", false },
	{ "compact", CHAT_COMPACT, "compact", false },
	{ "model", CHAT_MODEL, "model", false },
	{ "thinking", CHAT_THINKING, "thinking", false },
	{ "settings", CHAT_SETTINGS, "settings", false },
	{ "help", CHAT_HELP, "help", false },
	{ "start", CHAT_HELP, "help", false },
	{ "run", CHAT_RUN, "run", true },
	{ "runs", CHAT_RUNS, "runs", true },
};
const size_t chat_command_count = ARRAY_SIZE(chat_commands);

const char *const chat_command_menu[] = { "start", "compact", "next", "continue", "abort", "stop" };
const size_t chat_command_menu_count = ARRAY_SIZE(chat_command_menu);

const struct chat_command_info *chat_command_find(struct str name)
{
	for (size_t i = 0; i < ARRAY_SIZE(chat_commands); i++)
		if (str_eq(str_of(chat_commands[i].name), name))
			return &chat_commands[i];
	return NULL;
}

/* The next word of *text, which is moved behind it; empty at the end. */
static struct str next_word(struct str *text)
{
	size_t begin = 0, end;
	uint32_t c;

	while (begin < text->len) {
		size_t n = utf8_decode(*text, begin, &c);

		if (!utf8_blank(c))
			break;
		begin += n;
	}
	for (end = begin; end < text->len;) {
		size_t n = utf8_decode(*text, end, &c);

		if (utf8_blank(c))
			break;
		end += n;
	}
	struct str word = str_sub(*text, begin, end - begin);
	*text = str_from(*text, end);
	return word;
}

static struct str lower(struct arena *a, struct str s)
{
	char *p = arena_cstr(a, s);

	for (size_t i = 0; i < s.len; i++)
		if (p[i] >= 'A' && p[i] <= 'Z')
			p[i] = (char)(p[i] - 'A' + 'a');
	return (struct str){ p, s.len };
}

bool chat_command_parse(struct arena *a, struct str text, struct chat_command *ret)
{
	struct str rest = utf8_trim(text);
	struct str head = next_word(&rest);
	AUTO_BUF args = BUF_INIT;

	if (!head.len || head.p[0] != '/')
		return false;
	head = str_from(head, 1);
	head.len = str_find(head, '@', 0);
	if (!head.len)
		return false;

	*ret = (struct chat_command){ .name = lower(a, head), .rest = utf8_trim(rest) };
	for (struct str word; (word = next_word(&rest)).len;) {
		if (args.len)
			buf_addc(&args, ' ');
		buf_add(&args, word);
	}
	ret->args = arena_str(a, buf_str(&args));
	const struct chat_command_info *info = chat_command_find(ret->name);
	ret->action = info ? info->action : CHAT_NONE;
	return true;
}

static void step(struct chat_plan *plan, enum chat_step what)
{
	plan->steps[plan->count++] = what;
}

static struct chat_plan plan_next(const struct chat_state *state)
{
	struct chat_plan plan = { 0 };

	if (!state->queued) {
		plan.reply = CHAT_SAYS_QUEUE_EMPTY;
	} else if (state->running) {
		step(&plan, CHAT_STEP_RELEASE);
		step(&plan, CHAT_STEP_ABORT);
		plan.reply = CHAT_SAYS_ABORTED_DISPATCHING;
	} else if (state->foreign || state->compacting) {
		plan.reply = CHAT_SAYS_BUSY;
	} else {
		step(&plan, CHAT_STEP_DISPATCH);
		plan.reply = CHAT_SAYS_DISPATCHING;
	}
	return plan;
}

static struct chat_plan plan_stop(const struct chat_state *state)
{
	struct chat_plan plan = { .cleared = state->queued, .reply = CHAT_SAYS_NO_TURN };

	step(&plan, CHAT_STEP_CLEAR);
	step(&plan, CHAT_STEP_RELEASE);
	if (state->running) {
		step(&plan, CHAT_STEP_ABORT);
		plan.reply = CHAT_SAYS_ABORTED;
	}
	return plan;
}

static struct chat_plan plan_abort(const struct chat_state *state)
{
	struct chat_plan plan = { .reply = CHAT_SAYS_NO_TURN };

	if (state->running) {
		step(&plan, CHAT_STEP_HOLD);
		step(&plan, CHAT_STEP_ABORT);
		plan.reply = CHAT_SAYS_ABORTED;
	}
	return plan;
}

static struct chat_plan plan_compact(const struct chat_state *state)
{
	struct chat_plan plan = { .reply = CHAT_SAYS_CANNOT_COMPACT };

	if (!state->running && !state->foreign && !state->compacting && !state->queued) {
		step(&plan, CHAT_STEP_COMPACT);
		plan.reply = CHAT_SAYS_COMPACTING;
	}
	return plan;
}

struct chat_plan chat_command_plan(enum chat_action action, const struct chat_state *state)
{
	struct chat_plan plan = { 0 };

	switch (action) {
	case CHAT_STOP:
		return plan_stop(state);
	case CHAT_ABORT:
		return plan_abort(state);
	case CHAT_NEXT:
		return plan_next(state);
	case CHAT_COMPACT:
		return plan_compact(state);
	case CHAT_CONTINUE:
		step(&plan, CHAT_STEP_CONTINUE);
		step(&plan, CHAT_STEP_DISPATCH);
		plan.reply = CHAT_SAYS_CONTINUING;
		return plan;
	case CHAT_NONE:
	case CHAT_STATUS:
	case CHAT_QUEUE:
	case CHAT_MODEL:
	case CHAT_THINKING:
	case CHAT_SETTINGS:
	case CHAT_HELP:
	case CHAT_RUN:
	case CHAT_RUNS:
		return plan;
	}
	UNREACHABLE("chat action");
}

const char *chat_reply_code(enum chat_reply reply)
{
	static const char *const codes[] = {
		[CHAT_SAYS_NOTHING] = "",
		[CHAT_SAYS_NO_TURN] = "no_active_turn",
		[CHAT_SAYS_ABORTED] = "aborted",
		[CHAT_SAYS_QUEUE_EMPTY] = "queue_empty",
		[CHAT_SAYS_DISPATCHING] = "dispatching",
		[CHAT_SAYS_ABORTED_DISPATCHING] = "aborted_dispatching",
		[CHAT_SAYS_BUSY] = "busy",
		[CHAT_SAYS_CANNOT_COMPACT] = "cannot_compact",
		[CHAT_SAYS_COMPACTING] = "compacting",
		[CHAT_SAYS_CONTINUING] = "continuing",
	};

	return codes[reply];
}
