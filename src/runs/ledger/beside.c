/* What SQLite opens when it opens the ledger. */
#include <sys/stat.h>

#include "runs/ledger/store.h"

/* SQLite opens what has the name, and waits for ever for the other end of a FIFO. */
static bool is_file(const char *path, const char *more, struct report *r)
{
	AUTO_BUF file = BUF_INIT;
	struct stat st;

	buf_printf(&file, "%s%s", path, more);
	/* A link may lead to one. */
	if (lstat(buf_cstr(&file), &st) < 0 || S_ISREG(st.st_mode) ||
		(S_ISLNK(st.st_mode) && stat(buf_cstr(&file), &st) == 0 && S_ISREG(st.st_mode)))
		return true;
	report_system(r, (struct where){ 0 }, "cannot open the ledger: %s is not a regular file",
		buf_cstr(&file));
	return report_hint(r, "delete it");
}

bool ledger_is_file(const char *path, struct report *r)
{
	return is_file(path, "", r);
}

bool ledger_files_beside(const char *path, struct report *r)
{
	return is_file(path, "-wal", r) && is_file(path, "-shm", r) && is_file(path, "-journal", r);
}
