/* The moment when a run begins, or is taken up again. */
#include <stdlib.h>
#include <unistd.h>

#include "app/launch/notice.h"
#include "app/record/beginning.h"
#include "app/record/freeze.h"
#include "app/record/launch.h"
#include "base/clock.h"
#include "base/path.h"
#include "base/run-status.h"
#include "base/sha256.h"
#include "recipe/usage.h"
#include "runs/dir/run-dir.h"

bool launch_thaw(struct launch *l, struct str dir, struct report *r)
{
	l->claim.dir = path_absolute(&l->arena, dir);
	return freeze_read(l, r) && launch_fill_row(l, r);
}

bool launch_begin(struct launch *l, struct report *r)
{
	if (!l->claim.ledger && !l->claim.unlisted) {
		l->claim.ledger = ledger_open(
			l->claim.root, (struct ledger_manner){ .durable = l->asked.durable }, r);
		if (!l->claim.ledger)
			return false;
	}
	l->claim.row.started = clock_real_ms();
	l->claim.row.ended = 0;
	l->claim.row.counted = false;
	l->claim.row.status = status_str(ROUX_RUNNING);
	if (!l->claim.unlisted)
		launch_link_latest(l);
	if (l->asked.notify && !notice_begin(l->claim.ledger, l->asked.id, r))
		return false;
	if (!l->claim.waits && !beginning_write(l, r))
		return false;
	if (l->claim.unlisted)
		return true;
	/* The one before may have been killed before it had a row. */
	run_set_listed(l->claim.lock);
	return ledger_update(l->claim.ledger, &l->claim.row, false, r);
}

void launch_count(const struct launch *l)
{
	const struct recipe *recipe = l->subject.recipe;
	AUTO_REPORT ignored = REPORT_INIT;
	char fingerprint[SHA256_HEX];

	if (!l->counts || !recipe || recipe->layer == LAYER_ADHOC)
		return;
	if (l->claim.ledger) {
		usage_fingerprint(recipe->file->object, fingerprint);
		(void)ledger_count(l->claim.ledger, recipe->file->path, str_of(fingerprint),
			clock_real_ms(), &ignored);
	}
	if (l->app->settings.usage == SETTINGS_USAGE_FILE && recipe->layer == LAYER_USER &&
		recipe->file->format == RECIPE_JSON)
		(void)usage_count(recipe->file->path.p, "direct");
}
