/* How often recipes were started. */
#include "runs/ledger/store.h"

bool ledger_count(struct ledger *l, struct str recipe_path, struct str fingerprint, uint64_t now_ms,
	struct report *r)
{
	sqlite3_stmt *s = ledger_use(l, LEDGER_COUNT, r);

	if (!s)
		return false;
	ledger_bind_str(s, 1, recipe_path);
	(void)sqlite3_bind_int64(s, 2, (sqlite3_int64)now_ms);
	ledger_bind_str(s, 3, fingerprint);
	return ledger_step(l, s, "count a launch", r);
}

bool ledger_usage(struct ledger *l, struct str recipe_path, struct arena *a,
	struct recipe_usage *ret, struct report *r)
{
	sqlite3_stmt *s = ledger_use(l, LEDGER_USAGE, r);

	if (!s)
		return false;
	ledger_bind_str(s, 1, recipe_path);
	bool found = sqlite3_step(s) == SQLITE_ROW;
	if (found)
		*ret = (struct recipe_usage){
			.calls = (uint64_t)sqlite3_column_int64(s, 0),
			.last_called = (uint64_t)sqlite3_column_int64(s, 1),
			.fingerprint = arena_str(a, ledger_column_str(s, 2)),
			.reset_at = (uint64_t)sqlite3_column_int64(s, 3),
		};
	ledger_end(s);
	return found;
}
