#include "runs/dir/generations.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/vec.h"
#include "runs/dir/events.h"
#include "runs/dir/leaves.h"
#include "runs/dir/open.h"
#include "runs/dir/partial-files.h"
#include "runs/dir/remove-tree.h"
#include "runs/dir/story.h"

/* What belongs to one generation. */
static const char *const files[] = { "run.json", "graph.json", "values.json", "start.json", "stdin",
	"stdin.part", LEAVES_FILE, "progress.json", EVENTS_FILE, "outbox.jsonl", "inbox.jsonl",
	"outbox.1.jsonl", "inbox.1.jsonl", "events.1.jsonl", "gates.json", "recipes.json",
	"stdout.log", "stderr.log", "out", "result.json", "context.jsonl", "communication.json",
	"state.json", "recipe.yaml", "large", "orders.jsonl", STORY_FILE };

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

static bool has_file(int dir, const char *name)
{
	return faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* What has that name is not a directory, or not one beneath the run's. */
static bool is_other(int e)
{
	return e == -ENOENT || e == -ENOTDIR || e == -ELOOP || e == -EXDEV;
}

/* Whether the run of that number has begun: one that was given up before has no run.json and counts
 * nowhere. -errno: that cannot be found out. */
static int has_begun(int all, const char *number)
{
	AUTO_CLOSE int one = run_open_dir_at(all, number, false);

	if (one < 0)
		return is_other(one) ? 0 : one;
	return has_file(one, "run.json") ? 1 : errno == ENOENT ? 0 : -errno;
}

static int read_entries(DIR *d, bool begun, numbers *ret)
{
	errno = 0;
	for (const struct dirent *e; (e = readdir(d)); errno = 0) {
		uint64_t number;

		if (!str_to_uint(str_of(e->d_name), &number) || !number || e->d_name[0] == '0')
			continue;
		int has = begun ? has_begun(dirfd(d), e->d_name) : 1;
		if (has < 0)
			return has;
		if (has)
			vec_push(ret, number);
	}
	return -errno;
}

/* Of those whose run has begun, or of all. -errno. */
static int read_numbers(const char *dir, bool begun, numbers *ret)
{
	int fd = run_open_dir(dir, GENERATIONS_DIR, false);

	if (fd < 0)
		return is_other(fd) ? 0 : fd;
	DIR *d = fdopendir(fd);
	if (!d) {
		int e = -errno;

		close_fd(&fd);
		return e;
	}
	int e = read_entries(d, begun, ret);
	(void)closedir(d);
	if (ret->len)
		qsort(ret->at, ret->len, sizeof(*ret->at), newest_first);
	return e;
}

int generations_count(const char *dir, size_t *ret)
{
	numbers all = { 0 };

	int e = read_numbers(dir, true, &all);
	*ret = all.len;
	vec_done(&all);
	return e;
}

int generation_number(const char *dir, uint64_t back, uint64_t *ret)
{
	numbers all = { 0 };

	int e = read_numbers(dir, true, &all);
	*ret = back && back <= all.len ? all.at[back - 1] : 0;
	vec_done(&all);
	return e;
}

/* Larger than any that is there, so that the order of the numbers is that of the starts. */
static int next_number(const char *dir, uint64_t *ret)
{
	numbers all = { 0 };

	int e = read_numbers(dir, false, &all);
	*ret = all.len ? all.at[0] + 1 : 1;
	vec_done(&all);
	return e;
}

/* -- moving --------------------------------------------------------------------------------------
 */

/* All of them, from `files[first]` on and then those before it; or none, unless moving back fails
 * too. -errno. */
static int move_files(int from, int to, size_t first)
{
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		const char *name = files[(first + i) % ARRAY_SIZE(files)];

		if (renameat(from, name, to, name) == 0 || errno == ENOENT)
			continue;
		int e = -errno;
		while (i-- > 0) {
			name = files[(first + i) % ARRAY_SIZE(files)];
			(void)renameat(to, name, from, name);
		}
		return e;
	}
	return 0;
}

static int move_out(int from, int to)
{
	int e = move_files(from, to, 0);

	if (e < 0)
		return e;
	(void)unlinkat(from, "control.fifo", 0);
	(void)unlinkat(from, "control.sock", 0);
	return 0;
}

int generation_move_out(const char *dir, const char *to)
{
	AUTO_CLOSE int from = run_open_dir(dir, ".", false);
	AUTO_CLOSE int target = run_open_dir(to, ".", false);

	partial_files_remove(dir, 0);
	return from < 0 ? from : target < 0 ? target : move_out(from, target);
}

/* generations/N, made. A link in the place of `generations` is not followed. */
static int make_directory(int own, uint64_t number)
{
	char name[24];
	AUTO_CLOSE int all = run_open_dir_at(own, GENERATIONS_DIR, true);

	(void)snprintf(name, sizeof(name), "%" PRIu64, number);
	return all < 0 ? all : run_open_dir_at(all, name, true);
}

bool generation_put_away(const char *dir, uint64_t *ret, struct report *r)
{
	AUTO_CLOSE int own = run_open_dir(dir, ".", false);

	*ret = 0;
	if (own < 0)
		return report_errno(r, -own, "cannot open %s", dir);
	if (!has_file(own, "run.json") && !has_file(own, "start.json"))
		return true;
	uint64_t number;
	int e = next_number(dir, &number);
	/* A number that another one has would mix the two. */
	if (e < 0)
		return report_errno(r, -e, "cannot read %s/" GENERATIONS_DIR, dir);
	AUTO_CLOSE int to = make_directory(own, number);
	if (to < 0) {
		(void)unlinkat(own, GENERATIONS_DIR, AT_REMOVEDIR); /* unless there are others */
		return report_errno(r, -to, "cannot make a directory in %s/" GENERATIONS_DIR, dir);
	}
	*ret = number;
	partial_files_remove(dir, 0);
	e = move_out(own, to);
	return e == 0 ||
	       report_errno(r, -e,
		       "cannot put the run before away into %s/" GENERATIONS_DIR "/%" PRIu64, dir,
		       number);
}

int generation_bring_back(const char *dir, uint64_t number)
{
	AUTO_CLOSE int own = run_open_dir(dir, ".", false);
	AUTO_CLOSE int from = own < 0 ? own : make_directory(own, number);
	AUTO_BUF name = BUF_INIT;

	if (from < 0)
		return from;
	/* The first of the names, by which a run counts as one, comes last. */
	int e = move_files(from, own, 1);
	if (e < 0)
		return e;
	buf_printf(&name, GENERATIONS_DIR "/%" PRIu64, number);
	(void)unlinkat(own, buf_cstr(&name), AT_REMOVEDIR);
	(void)unlinkat(own, GENERATIONS_DIR, AT_REMOVEDIR); /* unless there are others */
	return 0;
}

void generation_delete_files(const char *dir)
{
	AUTO_CLOSE int own = run_open_dir(dir, ".", false);

	for (size_t i = 0; own >= 0 && i < ARRAY_SIZE(files); i++)
		if (unlinkat(own, files[i], 0) < 0 && errno == EISDIR)
			(void)remove_tree(own, files[i], NULL);
	partial_files_remove(dir, 0);
}
