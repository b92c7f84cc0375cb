#include "app/launch/notice.h"

#include <string.h>

#include "app/context/context.h"
#include "app/runs.h"
#include "runs/ledger/host-state.h"

/* In the ledger as state of a host that is none: which one tells of the end is open. */
#define HOST S("runs")
#define PREFIX "notify/"

static struct str key_of(struct arena *a, struct str run)
{
	return arena_printf(a, PREFIX "%.*s", STR(run));
}

bool notice_begin(struct ledger *l, struct str run, struct report *r)
{
	struct arena a = ARENA_INIT;
	bool ok = ledger_state_set(l, HOST, key_of(&a, run), S("true"), r);

	arena_done(&a);
	return ok;
}

void notice_end(struct app *app, struct str run)
{
	struct arena a = ARENA_INIT;
	AUTO_REPORT ignored = REPORT_INIT;
	struct ledger *l = app_make_ledger(app, &ignored);

	if (l)
		(void)ledger_state_delete(l, HOST, key_of(&a, run), &ignored);
	arena_done(&a);
}

struct seeing {
	bool (*see)(void *data, struct str run);
	void *data;
};

static bool see_key(void *data, struct str key, struct str value)
{
	struct seeing *s = data;

	(void)value;
	return s->see(s->data, str_from(key, strlen(PREFIX)));
}

bool notices_each(
	struct app *app, bool (*see)(void *data, struct str run), void *data, struct report *r)
{
	struct ledger *l = app_make_ledger(app, r);

	return l &&
	       ledger_state_each(l, HOST, S(PREFIX), see_key, &(struct seeing){ see, data }, r);
}
