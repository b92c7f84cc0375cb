#include "runs/dir/begun.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic-file.h"
#include "base/file.h"
#include "data/json.h"
#include "runs/dir/leaves.h"
#include "runs/dir/open.h"
#include "runs/dir/run-dir.h"

/* The last of them says that the others are there. */
static const char *const files[] = { "graph.json", "communication.json", "run.json" };

/* 1: a command has begun and there is no run.json. */
static int is_lacking(int own)
{
	struct stat st;

	if (fstatat(own, "run.json", &st, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	if (errno != ENOENT)
		return -errno;
	return fstatat(own, LEAVES_FILE, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_size > 0;
}

static int write_file(int own, const char *name, const json_t *file)
{
	AUTO_BUF text = BUF_INIT;

	if (!json_is_object(file))
		return 0;
	json_write(&text, file, 2);
	buf_addc(&text, '\n');
	/* What is there may be half of it. */
	return atomic_write_at(
		own, name, buf_str(&text), &(struct atomic_options){ .quick = true });
}

int begun_mend(const char *dir)
{
	AUTO_CLOSE int own = run_open_dir(dir, ".", false);
	AUTO_CLOSE int lock = -1;
	AUTO_BUF text = BUF_INIT;

	int r = own < 0 ? own : is_lacking(own);
	if (r <= 0 || run_read(dir, "start.json", RUN_FILE_MAX, &text) < 0)
		return r < 0 ? r : 0;
	AUTO_JSON *start = json_loadb(buf_cstr(&text), text.len, 0, NULL);
	const json_t *begun = json_object_get(start, BEGUN_MEMBER);
	if (!json_is_object(json_object_get(begun, "run.json")))
		return 0;
	r = run_lock(dir, &lock);
	r = r < 0 ? r : is_lacking(own);
	if (r <= 0)
		return r < 0 ? r : 1;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		r = write_file(own, files[i], json_object_get(begun, files[i]));
		if (r < 0)
			return r;
	}
	return 1;
}
