#include "runs/look/gap.h"

#include <limits.h>
#include <unistd.h>

#include "runs/look/look.h"

/* A directory that cannot be understood is not a run that is lacking. */
static bool lacks(struct str root, struct ledger *l, struct str id)
{
	AUTO_REPORT ignored = REPORT_INIT;
	struct arena a = ARENA_INIT;
	struct run_row row;

	bool lacking = !ledger_find(l, id, &a, &row, &ignored) && !ignored.errors &&
		       look_row(root, id, 0, &a, &row, &ignored);
	arena_done(&a);
	return lacking;
}

bool look_gap(struct str root, struct ledger *l)
{
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_BUF link = BUF_INIT;
	char id[NAME_MAX];

	if (ledger_has_gap(l))
		return true;
	buf_printf(&link, "%.*s/runs/latest", STR(root));
	ssize_t n = readlink(buf_cstr(&link), id, sizeof(id));
	if (n <= 0 || !lacks(root, l, (struct str){ id, (size_t)n }))
		return false;
	(void)ledger_set_gap(l, true, &ignored);
	return true;
}
