#include "base/run-status.h"

#include <inttypes.h>

#include "base/lang.h"

static const struct {
	struct str name;
	bool ok;
	int exit;
	enum status_rest rest;
	const char *asked_by;
	bool expires;
} statuses[] = {
#define NAME(text)                     \
	{                              \
		text, sizeof(text) - 1 \
	}
	/* clang-format off */
	[ROUX_RUNNING]   = { NAME("running"),   true,  0,   STATUS_LIVE,      NULL,         false },
	[ROUX_DONE]      = { NAME("done"),      true,  0,   STATUS_COMPLETE,  NULL,         true },
	[ROUX_PARTIAL]   = { NAME("partial"),   true,  3,   STATUS_COMPLETE,  NULL,         true },
	[ROUX_PAUSED]    = { NAME("paused"),    true,  4,   STATUS_AT_GATE,   NULL,         false },
	[ROUX_FAILED]    = { NAME("failed"),    false, 1,   STATUS_BROKEN,    NULL,         false },
	[ROUX_DENIED]    = { NAME("denied"),    false, 1,   STATUS_COMPLETE,  NULL,         false },
	[ROUX_TIMEOUT]   = { NAME("timeout"),   false, 124, STATUS_BROKEN,    NULL,         false },
	[ROUX_CANCELLED] = { NAME("cancelled"), false, 130, STATUS_CUT_SHORT, "run.cancel", true },
	[ROUX_KILLED]    = { NAME("killed"),    false, 137, STATUS_CUT_SHORT, "run.kill",   false },
	[ROUX_EXITED]    = { NAME("exited"),    false, 1,   STATUS_CUT_SHORT, NULL,         false },
	[ROUX_INVALID]   = { NAME("invalid"),   false, 2,   STATUS_NEVER,     NULL,         false },
	[ROUX_REFUSED]   = { NAME("refused"),   false, 2,   STATUS_NEVER,     NULL,         false },
/* clang-format on */
#undef NAME
};

const size_t status_count = ARRAY_SIZE(statuses);

const char *status_name(enum roux_status s)
{
	return statuses[s].name.p;
}

struct str status_str(enum roux_status s)
{
	return statuses[s].name;
}

bool status_read(struct str name, enum roux_status *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(statuses); i++)
		if (str_eq(name, statuses[i].name)) {
			*ret = (enum roux_status)i;
			return true;
		}
	return false;
}

bool status_is(struct str name, enum roux_status s)
{
	return str_eq(name, statuses[s].name);
}

bool status_ok(enum roux_status s)
{
	return statuses[s].ok;
}

int status_exit(enum roux_status s)
{
	return statuses[s].exit;
}

int status_exit_after(enum roux_status s, uint64_t failed, int signal)
{
	if (s == ROUX_CANCELLED && signal)
		return 128 + signal;
	return s == ROUX_DONE && failed ? statuses[ROUX_PARTIAL].exit : statuses[s].exit;
}

enum status_rest status_rest(enum roux_status s)
{
	return statuses[s].rest;
}

struct str status_asked_by(enum roux_status s)
{
	return str_of(statuses[s].asked_by);
}

void status_phrase(struct buf *b, struct str status, uint64_t failed, uint64_t tolerated)
{
	buf_add(b, status);
	if (failed && !status_is(status, ROUX_FAILED))
		buf_printf(b, ", %" PRIu64 " failed", failed);
	else if (!failed && tolerated)
		buf_printf(b, ", %" PRIu64 " tolerated", tolerated);
}

bool status_expires(enum roux_status s)
{
	return statuses[s].expires;
}

bool status_listed(struct str names, struct str name)
{
	for (size_t at = 0; at <= names.len;) {
		size_t end = str_find(names, ',', at);

		if (str_eq(str_sub(names, at, end - at), name))
			return true;
		at = end + 1;
	}
	return false;
}

bool status_is_end(struct str name)
{
	enum roux_status s;

	return status_read(name, &s) && statuses[s].rest != STATUS_LIVE &&
	       statuses[s].rest != STATUS_NEVER;
}

bool status_rests(struct str name, enum status_rest rest)
{
	enum roux_status s;

	return status_read(name, &s) && statuses[s].rest == rest;
}
