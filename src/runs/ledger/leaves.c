/* The leaves of a run, copied from its leaves.jsonl: that file is the truth. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runs/ledger/store.h"

static sqlite3_int64 number(const json_t *line, const char *name)
{
	return (sqlite3_int64)json_number_value(json_object_get(line, name));
}

static void bind_number(sqlite3_stmt *s, int at, const json_t *line, const char *name)
{
	if (json_is_number(json_object_get(line, name)))
		(void)sqlite3_bind_int64(s, at, number(line, name));
	else
		(void)sqlite3_bind_null(s, at);
}

static bool add_leaf(struct ledger *l, struct str id, struct str generation, const json_t *line,
	struct report *r)
{
	struct str path = json_str(json_object_get(line, "p"));
	struct str what = json_str(json_object_get(line, "s"));
	bool start = str_eq(what, S("start"));

	if (!path.len || (!start && !str_eq(what, S("exit"))))
		return true; /* what a later roux may write there is none of our business */
	sqlite3_stmt *s = ledger_use(l, start ? LEDGER_LEAF_START : LEDGER_LEAF_EXIT, r);
	if (!s)
		return false;
	ledger_bind_str(s, 1, id);
	ledger_bind_str(s, 2, generation);
	ledger_bind_str(s, 3, path);
	(void)sqlite3_bind_int64(s, 4, number(line, "a"));
	bind_number(s, 5, line, start ? "pid" : "code");
	bind_number(s, 6, line, start ? "st" : "sig");
	bind_number(s, 7, line, "ts");
	if (!start) {
		bind_number(s, 8, line, "out");
		bind_number(s, 9, line, "err");
	}
	return ledger_step(l, s, "record a leaf", r);
}

bool ledger_add_leaves(struct ledger *l, struct str id, struct str generation,
	const char *leaves_file, struct report *r)
{
	FILE *f = fopen(leaves_file, "re");
	size_t cap = 0;
	char *text = NULL;
	ssize_t len;

	if (!f)
		return errno == ENOENT || report_errno(r, errno, "cannot read %s", leaves_file);
	bool ok = ledger_begin(l, false, r);
	bool begun = ok;
	/* The last line may be half written: the process was killed there. */
	while (ok && (len = getline(&text, &cap, f)) > 0) {
		AUTO_JSON *line = json_loadb(text, (size_t)len, 0, NULL);

		ok = !json_is_object(line) || add_leaf(l, id, generation, line, r);
	}
	free(text);
	(void)fclose(f);
	if (ok)
		return ledger_commit(l, r);
	if (begun)
		ledger_rollback(l);
	return false;
}
