#include "hosts/telegram/rules/ending.h"

static enum ending_kind kind_of(const struct ending_facts *f)
{
	if (!f->has_turn)
		return ENDING_NO_TURN;
	if (f->stop == STOP_ABORTED)
		return ENDING_ABORTED;
	if (f->stop == STOP_ERROR)
		return ENDING_ERROR;
	return f->has_text ? ENDING_TEXT : f->has_files ? ENDING_FILES : ENDING_EMPTY;
}

struct ending_plan ending_plan(const struct ending_facts *f)
{
	enum ending_kind kind = kind_of(f);

	return (struct ending_plan){ .kind = kind,
		.end_preview = kind != ENDING_NO_TURN && kind != ENDING_TEXT,
		.dispatch_next = !(kind == ENDING_ABORTED && f->held),
		.send_error = kind == ENDING_ERROR,
		.send_notice = kind == ENDING_FILES };
}

const char *ending_kind_name(enum ending_kind kind)
{
	static const char *const names[] = {
		[ENDING_NO_TURN] = "no-turn",
		[ENDING_ABORTED] = "aborted",
		[ENDING_ERROR] = "error",
		[ENDING_TEXT] = "text",
		[ENDING_FILES] = "attachments-only",
		[ENDING_EMPTY] = "empty",
	};

	return names[kind];
}
