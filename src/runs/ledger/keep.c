/* What a rebuild takes over from the old ledger: run directories do not have it. */
#include <errno.h>
#include <unistd.h>

#include "base/vec.h"
#include "runs/ledger/store.h"

static const struct kept_table {
	const char *name, *columns;
} tables[] = {
	{ "queue", "item, host, lane, place, state, key, run, added, began, ended, payload" },
	{ "counter", "name, n" },
	{ "host_state", "host, key, value" },
	{ "usage", "recipe_path, calls, last_called, fingerprint, reset_at" },
};

/* A file that is not a database, or whose first pages are damaged, cannot be locked either: then
 * there is nothing to take over, and no process can be writing to it. */
bool ledger_hold_old(struct str root, struct ledger **ret, struct report *r)
{
	AUTO_BUF path = BUF_INIT;
	AUTO_REPORT issues = REPORT_INIT;

	*ret = NULL;
	buf_printf(&path, "%.*s/ledger.db", STR(root));
	if (!ledger_is_there(buf_cstr(&path), false))
		return true;
	/* It is sound, and what is in it would be lost. */
	if (!ledger_files_beside(buf_cstr(&path), r))
		return false;
	struct ledger *l = ledger_open_file(buf_cstr(&path), LEDGER_USUAL, &issues);
	bool held = l && ledger_batch_begin(l, false, &issues);
	int error = l ? sqlite3_errcode(l->db) : SQLITE_OK;
	if (held) {
		*ret = l;
		return true;
	}
	ledger_close(l);
	if (error == SQLITE_BUSY || error == SQLITE_LOCKED) {
		report_move(r, &issues);
		return false;
	}
	return report_warning(r, (struct where){ 0 },
		"the old ledger cannot be read: queues, the state of hosts and counts of launches "
		"are not taken over");
}

void ledger_release_old(struct ledger *old)
{
	if (old)
		ledger_batch_undo(old);
	ledger_close(old);
}

static sqlite3_stmt *prepare(struct ledger *l, const char *text)
{
	sqlite3_stmt *s = NULL;

	return sqlite3_prepare_v2(l->db, text, -1, &s, NULL) == SQLITE_OK ? s : NULL;
}

/* -- what changes while the directories are read -------------------------------------------------
 */

struct ledger *ledger_note_old(struct str root)
{
	AUTO_BUF path = BUF_INIT;
	AUTO_REPORT ignored = REPORT_INIT;

	buf_printf(&path, "%.*s/ledger.db", STR(root));
	if (!ledger_is_there(buf_cstr(&path), false))
		return NULL;
	struct ledger *l = ledger_open_file(buf_cstr(&path), LEDGER_USUAL, &ignored);
	if (l && sqlite3_exec(l->db,
			 "PRAGMA temp_store=MEMORY;"
			 "CREATE TEMP TABLE noted AS SELECT id, generation FROM run",
			 NULL, NULL, NULL) == SQLITE_OK)
		return l;
	ledger_close(l);
	return NULL;
}

/* Both are read from the first row to the last: what a damaged index does not find is not taken
 * for gone. */
static const char gone[] =
	"SELECT id, generation FROM noted EXCEPT SELECT id, generation FROM run NOT INDEXED";
static const char come[] = "SELECT id, generation FROM run NOT INDEXED"
			   " WHERE (id, generation) NOT IN (SELECT id, generation FROM noted)"
			   " ORDER BY seq";

struct change {
	struct str id, generation;
};

bool ledger_changed(struct ledger *noted, bool added, ledger_change_fn *see, void *data)
{
	struct arena a = ARENA_INIT;
	VEC(struct change) all = { 0 };
	int step = SQLITE_ERROR;
	bool ok = true;

	sqlite3_stmt *s = prepare(noted, added ? come : gone);
	while (s && (step = sqlite3_step(s)) == SQLITE_ROW)
		vec_push(&all, (struct change){ arena_str(&a, ledger_column_str(s, 0)),
				       arena_str(&a, ledger_column_str(s, 1)) });
	(void)sqlite3_finalize(s);
	for (size_t i = 0; step == SQLITE_DONE && ok && i < all.len; i++)
		ok = see(data, all.at[i].id, all.at[i].generation);
	vec_done(&all);
	arena_done(&a);
	return ok;
}

/* -- what only the old one has -------------------------------------------------------------------
 */

/* An older version did not have all of them. */
static bool has_table(struct ledger *l, const char *name)
{
	sqlite3_stmt *s =
		prepare(l, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1");

	if (!s)
		return true; /* reading it will tell what is wrong */
	(void)sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC);
	bool has = sqlite3_step(s) == SQLITE_ROW;
	(void)sqlite3_finalize(s);
	return has;
}

/* Rows come as long as they can be read; `*ret_whole` says whether all could. False with an issue
 * when the new ledger cannot be written. */
static bool copy_rows(
	struct ledger *l, sqlite3_stmt *from, sqlite3_stmt *to, bool *ret_whole, struct report *r)
{
	int step;

	while ((step = sqlite3_step(from)) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(from); i++)
			(void)sqlite3_bind_value(to, i + 1, sqlite3_column_value(from, i));
		if (!ledger_step(l, to, "write the ledger", r))
			return false;
	}
	*ret_whole = step == SQLITE_DONE;
	return true;
}

static bool copy_table(struct ledger *l, struct ledger *old, const struct kept_table *t,
	bool *ret_whole, struct report *r)
{
	AUTO_BUF text = BUF_INIT;

	buf_printf(&text, "SELECT %s FROM %s NOT INDEXED", t->columns, t->name);
	sqlite3_stmt *from = prepare(old, buf_cstr(&text));
	buf_reset(&text);
	/* As many places as there are columns. A row that breaks a rule was damaged: left out. */
	buf_printf(&text, "INSERT OR IGNORE INTO %s(%s) VALUES(", t->name, t->columns);
	for (int i = 0; from && i < sqlite3_column_count(from); i++)
		buf_printf(&text, "%s?", i ? "," : "");
	buf_adds(&text, ")");
	sqlite3_stmt *to = from ? prepare(l, buf_cstr(&text)) : NULL;

	*ret_whole = false;
	bool ok = !from || (to ? copy_rows(l, from, to, ret_whole, r)
			       : ledger_problem(l, "write the ledger", r));
	(void)sqlite3_finalize(from);
	(void)sqlite3_finalize(to);
	return ok;
}

static bool execute(struct ledger *l, const char *text, struct report *r)
{
	return sqlite3_exec(l->db, text, NULL, NULL, NULL) == SQLITE_OK ||
	       ledger_problem(l, "write the ledger", r);
}

/* In case the counter was among what could not be read. The new ledger has all runs. */
static const char restart_counter[] =
	"DELETE FROM counter WHERE name = 'gap';"
	"INSERT OR IGNORE INTO counter(name, n) VALUES('queue', 0);"
	"UPDATE counter SET n = max(n, ifnull((SELECT max(max(item, place)) FROM queue), 0))"
	" WHERE name = 'queue'";

bool ledger_keep(struct ledger *l, struct ledger *old, struct report *r)
{
	bool whole = true;

	if (!ledger_begin(l, false, r))
		return false;
	bool ok = execute(l, "DELETE FROM counter", r);
	for (size_t i = 0; ok && i < ARRAY_SIZE(tables); i++) {
		bool all = true;

		ok = !has_table(old, tables[i].name) || copy_table(l, old, &tables[i], &all, r);
		whole &= all;
	}
	if (!ok || !execute(l, restart_counter, r)) {
		ledger_rollback(l);
		return false;
	}
	if (!whole)
		report_warning(r, (struct where){ 0 },
			"the old ledger cannot be read to its end: queues, the state of hosts or "
			"counts of launches may lack something");
	return ledger_commit(l, r);
}
