#include "app/status.h"

static const struct {
	const char *name;
	bool ok;
	int exit;
} statuses[] = {
	[ROUX_RUNNING] = { "running", true, 0 },
	[ROUX_DONE] = { "done", true, 0 },
	[ROUX_PARTIAL] = { "partial", true, 3 },
	[ROUX_PAUSED] = { "paused", true, 4 },
	[ROUX_FAILED] = { "failed", false, 1 },
	[ROUX_DENIED] = { "denied", false, 1 },
	[ROUX_TIMEOUT] = { "timeout", false, 124 },
	[ROUX_CANCELLED] = { "cancelled", false, 130 },
	[ROUX_KILLED] = { "killed", false, 137 },
	[ROUX_EXITED] = { "exited", false, 1 },
	[ROUX_INVALID] = { "invalid", false, 2 },
	[ROUX_REFUSED] = { "refused", false, 2 },
};

const char *status_name(enum roux_status s)
{
	return statuses[s].name;
}

bool status_ok(enum roux_status s)
{
	return statuses[s].ok;
}

int status_exit(enum roux_status s)
{
	return statuses[s].exit;
}
