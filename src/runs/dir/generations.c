#include "runs/dir/generations.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/vec.h"
#include "runs/dir/events.h"
#include "runs/dir/leaves.h"
#include "runs/dir/partial-files.h"
#include "runs/dir/remove-tree.h"

/* What belongs to one generation. */
static const char *const files[] = { "run.json", "graph.json", "values.json", "start.json", "stdin",
	"stdin.part", LEAVES_FILE, "progress.json", EVENTS_FILE, "outbox.jsonl", "inbox.jsonl",
	"outbox.1.jsonl", "inbox.1.jsonl", "events.1.jsonl", "gates.json", "recipes.json",
	"stdout.log", "stderr.log", "out", "result.json", "context.jsonl", "communication.json",
	"state.json", "recipe.yaml", "large", "orders.jsonl" };

static const char *file_in(struct buf *b, const char *dir, const char *name)
{
	buf_reset(b);
	buf_printf(b, "%s/%s", dir, name);
	return buf_cstr(b);
}

void generation_directory(struct buf *b, const char *dir, uint64_t number)
{
	buf_printf(b, "%s/" GENERATIONS_DIR "/%" PRIu64, dir, number);
}

/* -- which there are -----------------------------------------------------------------------------
 */

typedef VEC(uint64_t) numbers;

static int newest_first(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x > *y ? -1 : *x < *y;
}

/* Those whose run has begun: one that was given up before has no run.json and counts nowhere. */
static void read_numbers(const char *dir, bool begun, numbers *ret)
{
	AUTO_BUF path = BUF_INIT;
	DIR *d = opendir(file_in(&path, dir, GENERATIONS_DIR));

	for (const struct dirent *e; d && (e = readdir(d));) {
		AUTO_BUF file = BUF_INIT;
		uint64_t number;

		if (!str_to_uint(str_of(e->d_name), &number) || !number || e->d_name[0] == '0')
			continue;
		generation_directory(&file, dir, number);
		buf_adds(&file, "/run.json");
		if (!begun || access(buf_cstr(&file), F_OK) == 0)
			vec_push(ret, number);
	}
	if (d)
		(void)closedir(d);
	if (ret->len)
		qsort(ret->at, ret->len, sizeof(*ret->at), newest_first);
}

size_t generations_count(const char *dir)
{
	numbers all = { 0 };

	read_numbers(dir, true, &all);
	size_t count = all.len;
	vec_done(&all);
	return count;
}

uint64_t generation_number(const char *dir, uint64_t back)
{
	numbers all = { 0 };

	read_numbers(dir, true, &all);
	uint64_t number = back && back <= all.len ? all.at[back - 1] : 0;
	vec_done(&all);
	return number;
}

/* Larger than any that is there, so that the order of the numbers is that of the starts. */
static uint64_t next_number(const char *dir)
{
	numbers all = { 0 };

	read_numbers(dir, false, &all);
	uint64_t number = all.len ? all.at[0] + 1 : 1;
	vec_done(&all);
	return number;
}

/* -- moving --------------------------------------------------------------------------------------
 */

static bool has_files(const char *dir)
{
	AUTO_BUF path = BUF_INIT;

	return access(file_in(&path, dir, "run.json"), F_OK) == 0 ||
	       access(file_in(&path, dir, "start.json"), F_OK) == 0;
}

int generation_move_out(const char *dir, const char *to)
{
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		AUTO_BUF from = BUF_INIT;
		AUTO_BUF target = BUF_INIT;

		if (rename(file_in(&from, dir, files[i]), file_in(&target, to, files[i])) < 0 &&
			errno != ENOENT)
			return -errno;
	}
	AUTO_BUF pipe = BUF_INIT;
	partial_files_remove(dir, 0);
	(void)unlink(file_in(&pipe, dir, "control.fifo"));
	(void)unlink(file_in(&pipe, dir, "control.sock"));
	return 0;
}

bool generation_put_away(const char *dir, uint64_t *ret, struct report *r)
{
	AUTO_BUF to = BUF_INIT;

	*ret = 0;
	if (!has_files(dir))
		return true;
	*ret = next_number(dir);
	generation_directory(&to, dir, *ret);
	int e = dir_make(buf_cstr(&to));
	if (e < 0)
		return report_errno(r, -e, "cannot make %s", buf_cstr(&to));
	e = generation_move_out(dir, buf_cstr(&to));
	return e == 0 ||
	       report_errno(r, -e, "cannot put the run before away into %s", buf_cstr(&to));
}

void generation_bring_back(const char *dir, uint64_t number)
{
	AUTO_BUF from = BUF_INIT;
	AUTO_BUF all = BUF_INIT;

	generation_directory(&from, dir, number);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		AUTO_BUF file = BUF_INIT;
		AUTO_BUF target = BUF_INIT;

		(void)rename(
			file_in(&file, buf_cstr(&from), files[i]), file_in(&target, dir, files[i]));
	}
	(void)rmdir(buf_cstr(&from));
	(void)rmdir(file_in(&all, dir, GENERATIONS_DIR)); /* unless there are others */
}

void generation_delete_files(const char *dir)
{
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		AUTO_BUF file = BUF_INIT;

		if (unlink(file_in(&file, dir, files[i])) < 0 && errno == EISDIR)
			(void)remove_tree(AT_FDCWD, buf_cstr(&file), NULL);
	}
	partial_files_remove(dir, 0);
}
