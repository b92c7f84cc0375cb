#include "runs/ledger/host-state.h"

#include "runs/ledger/store.h"

/* Host and key at ?1 and ?2. */
static sqlite3_stmt *use(struct ledger *l, enum ledger_statement which, struct str host,
	struct str key, struct report *r)
{
	sqlite3_stmt *s = ledger_use(l, which, r);

	if (s) {
		ledger_bind_str(s, 1, host);
		ledger_bind_bytes(s, 2, key);
	}
	return s;
}

/* Runs a statement that changes one row or none. Fills whether it did. */
static bool change(struct ledger *l, sqlite3_stmt *s, bool *ret, struct report *r)
{
	bool ok = ledger_step(l, s, "write a host's state", r);

	*ret = ok && sqlite3_changes(l->db) > 0;
	return ok;
}

bool ledger_state_get(struct ledger *l, struct str host, struct str key, struct arena *a,
	struct str *ret, struct report *r)
{
	sqlite3_stmt *s = ledger_refresh(l, r) ? use(l, LEDGER_HOST_GET, host, key, r) : NULL;

	if (!s)
		return false;
	int step = sqlite3_step(s);
	if (step == SQLITE_ROW)
		*ret = arena_str(a, ledger_column_bytes(s, 0));
	else if (step != SQLITE_DONE)
		(void)ledger_problem(l, "read a host's state", r);
	ledger_end(s);
	return step == SQLITE_ROW;
}

bool ledger_state_set(
	struct ledger *l, struct str host, struct str key, struct str value, struct report *r)
{
	bool changed;

	if (!ledger_begin(l, true, r))
		return false;
	bool ok = ledger_accepts(host, key, value, "value", r);
	sqlite3_stmt *s = ok ? use(l, LEDGER_HOST_SET, host, key, r) : NULL;
	if (s)
		ledger_bind_bytes(s, 3, value);
	return ledger_conclude(l, s && change(l, s, &changed, r), r);
}

bool ledger_state_delete(struct ledger *l, struct str host, struct str key, struct report *r)
{
	bool changed = false;

	return ledger_begin(l, true, r) &&
	       ledger_conclude(
		       l, change(l, use(l, LEDGER_HOST_DELETE, host, key, r), &changed, r), r) &&
	       changed;
}

bool ledger_state_swap(struct ledger *l, struct str host, struct str key,
	const struct str *expected, struct str value, struct report *r)
{
	bool changed = false;

	if (!ledger_begin(l, true, r))
		return false;
	bool ok = ledger_accepts(host, key, value, "value", r);
	sqlite3_stmt *s =
		ok ? use(l, expected ? LEDGER_HOST_SWAP : LEDGER_HOST_INSERT, host, key, r) : NULL;
	if (s) {
		ledger_bind_bytes(s, 3, value);
		if (expected)
			ledger_bind_bytes(s, 4, *expected);
	}
	return ledger_conclude(l, s && change(l, s, &changed, r), r) && changed;
}

bool ledger_state_each(struct ledger *l, struct str host, struct str prefix,
	bool (*see)(void *data, struct str key, struct str value), void *data, struct report *r)
{
	sqlite3_stmt *s = ledger_refresh(l, r) ? use(l, LEDGER_HOST_EACH, host, prefix, r) : NULL;
	int step;

	if (!s)
		return false;
	while ((step = sqlite3_step(s)) == SQLITE_ROW) {
		struct str key = ledger_column_bytes(s, 0);

		if (!str_starts(key, prefix) || !see(data, key, ledger_column_bytes(s, 1)))
			break;
	}
	bool ok = step == SQLITE_DONE || step == SQLITE_ROW ||
		  ledger_problem(l, "read a host's state", r);
	ledger_end(s);
	return ok;
}
