#pragma once

/* The temporary directory of a test is a state root, with a ledger in it. */
#include <sys/wait.h>

#include "runs/ledger/ledger.h"
#include "runs/root.h"

static struct ledger *opened(void)
{
	AUTO_REPORT r = REPORT_INIT;
	struct ledger *l = ledger_open(str_of(root), LEDGER_USUAL, &r);

	if (!l)
		fail_msg("%.*s", STR(r.issues.at[0].message));
	return l;
}

/* The only issue of a report has these words. */
static UNUSED void assert_said(const struct report *r, const char *words)
{
	assert_int_equal(r->issues.len, 1);
	if (!str_contains(r->issues.at[0].message, str_of(words)))
		fail_msg("said: %.*s", STR(r->issues.at[0].message));
}
