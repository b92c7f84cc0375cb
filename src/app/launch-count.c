#include "app/launch.h"
#include "base/clock.h"
#include "recipe/usage.h"

void launch_count(const struct launch *l, bool in_file)
{
	const struct recipe *recipe = l->recipe;
	AUTO_REPORT ignored = REPORT_INIT;
	char fingerprint[SHA256_HEX];

	if (!recipe || recipe->layer == LAYER_ADHOC)
		return;
	if (l->ledger) {
		usage_fingerprint(recipe->file->object, fingerprint);
		(void)ledger_count(l->ledger, recipe->file->path, str_of(fingerprint),
			clock_real_ms(), &ignored);
	}
	if (in_file && recipe->layer == LAYER_USER && recipe->file->format == RECIPE_JSON)
		(void)usage_count(recipe->file->path.p, "direct");
}
