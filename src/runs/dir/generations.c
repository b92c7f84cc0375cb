#include "runs/dir/generations.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/vec.h"
#include "runs/dir/events.h"
#include "runs/dir/leaves.h"
#include "runs/dir/open.h"
#include "runs/dir/partial-files.h"
#include "runs/dir/remove-tree.h"
#include "runs/dir/run-dir.h"
#include "runs/dir/story.h"

/* Of a generation that is moved these go first and last. A start that is killed in between leaves
 * two halves that can be told from a whole. */
#define FIRST "start.json"
#define LAST "run.json"

/* What belongs to one generation. */
static const char *const files[] = { FIRST, "graph.json", "values.json", "stdin", "stdin.part",
	LEAVES_FILE, "progress.json", EVENTS_FILE, "outbox.jsonl", "inbox.jsonl", "outbox.1.jsonl",
	"inbox.1.jsonl", "events.1.jsonl", "gates.json", "recipes.json", "stdout.log", "stderr.log",
	"out", "result.json", "context.jsonl", "communication.json", "state.json", "recipe.yaml",
	"large", "orders.jsonl", STORY_FILE, LAST };

/* Those of which there may be several: a number, then a dot. */
static const char *const numbered[] = { "recipe-", "result." };

/* Where processes find one that lives. */
static const char *const meetings[] = { "control.fifo", "control.sock", ".asking" };

void generation_directory(struct buf *b, const char *dir, uint64_t number)
{
	buf_printf(b, "%s/" GENERATIONS_DIR "/%" PRIu64, dir, number);
}

/* generations/N. A link in the place of `generations` is not followed. */
static int open_generation(int own, uint64_t number, bool make)
{
	char name[24];
	AUTO_CLOSE int all = run_open_dir_at(own, GENERATIONS_DIR, make);

	(void)snprintf(name, sizeof(name), "%" PRIu64, number);
	return all < 0 ? all : run_open_dir_at(all, name, make);
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

static bool are_halves(int one, int other)
{
	return has_file(one, LAST) && !has_file(one, FIRST) && has_file(other, FIRST) &&
	       !has_file(other, LAST);
}

/* The other half of the current one is generations/N. */
static bool is_half(int own, uint64_t number)
{
	AUTO_CLOSE int other = open_generation(own, number, false);

	return other >= 0 && (are_halves(own, other) || are_halves(other, own));
}

/* Larger than any that is there, so that the order of the numbers is that of the starts; or that of
 * a move that was not finished. */
static int next_number(int own, const char *dir, uint64_t *ret)
{
	numbers all = { 0 };

	int e = read_numbers(dir, false, &all);
	*ret = !all.len ? 1 : is_half(own, all.at[0]) ? all.at[0] : all.at[0] + 1;
	vec_done(&all);
	return e;
}

/* -- moving --------------------------------------------------------------------------------------
 */

static bool is_numbered(const char *name, const char *prefix)
{
	size_t len = strlen(prefix);

	if (strncmp(name, prefix, len) != 0)
		return false;
	size_t digits = strspn(name + len, "0123456789");
	return digits && name[len + digits] == '.';
}

static bool is_own(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (strcmp(name, files[i]) == 0)
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(numbered); i++)
		if (is_numbered(name, numbered[i]))
			return true;
	return false;
}

struct names {
	struct arena arena;
	VEC(const char *) at;
};

static void names_done(struct names *n)
{
	vec_done(&n->at);
	arena_done(&n->arena);
}

static int place_of(const char *name)
{
	return strcmp(name, FIRST) == 0 ? 0 : strcmp(name, LAST) == 0 ? 2 : 1;
}

static int in_order(const void *a, const void *b)
{
	return place_of(*(const char *const *)a) - place_of(*(const char *const *)b);
}

/* What the directory has of a generation, in the order in which it is moved. -errno. */
static int read_names(int dir, struct names *ret)
{
	int fd = run_open_dir_at(dir, ".", false);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	int e = fd < 0 ? fd : d ? 0 : -errno;

	if (!d) {
		close_fd(&fd);
		return e;
	}
	errno = 0;
	for (const struct dirent *one; (one = readdir(d)); errno = 0)
		if (is_own(one->d_name))
			vec_push(&ret->at, arena_cstr(&ret->arena, str_of(one->d_name)));
	e = -errno;
	(void)closedir(d);
	if (ret->at.len)
		qsort(ret->at.at, ret->at.len, sizeof(*ret->at.at), in_order);
	return e;
}

/* All of them, or none, unless moving back fails too. -errno. */
static int move_files(int from, int to)
{
	struct names names = { 0 };
	int e = read_names(from, &names);

	for (size_t i = 0; e == 0 && i < names.at.len; i++) {
		const char *name = names.at.at[i];

		if (renameat(from, name, to, name) == 0 || errno == ENOENT)
			continue;
		e = -errno;
		for (size_t k = i; k-- > 0;)
			(void)renameat(to, names.at.at[k], from, names.at.at[k]);
	}
	names_done(&names);
	return e;
}

static void remove_meetings(int dir)
{
	for (size_t i = 0; i < ARRAY_SIZE(meetings); i++)
		(void)unlinkat(dir, meetings[i], 0);
}

static int move_out(int from, int to)
{
	int e = move_files(from, to);

	if (e == 0)
		remove_meetings(from);
	return e;
}

int generation_move_out(const char *dir, const char *to)
{
	AUTO_CLOSE int from = run_open_dir(dir, ".", false);
	AUTO_CLOSE int target = run_open_dir(to, ".", false);

	partial_files_remove(dir, 0);
	return from < 0 ? from : target < 0 ? target : move_out(from, target);
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
	int e = next_number(own, dir, &number);
	/* A number that another one has would mix the two. */
	if (e < 0)
		return report_errno(r, -e, "cannot read %s/" GENERATIONS_DIR, dir);
	AUTO_CLOSE int to = open_generation(own, number, true);
	if (to < 0) {
		AUTO_BUF made = BUF_INIT;

		buf_printf(&made, GENERATIONS_DIR "/%" PRIu64, number);
		(void)unlinkat(own, buf_cstr(&made), AT_REMOVEDIR);
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
	AUTO_CLOSE int from = own < 0 ? own : open_generation(own, number, true);
	AUTO_BUF name = BUF_INIT;

	if (from < 0)
		return from;
	int e = move_files(from, own);
	if (e < 0)
		return e;
	buf_printf(&name, GENERATIONS_DIR "/%" PRIu64, number);
	(void)unlinkat(own, buf_cstr(&name), AT_REMOVEDIR);
	(void)unlinkat(own, GENERATIONS_DIR, AT_REMOVEDIR); /* unless there are others */
	return 0;
}

/* N of what is to be current: the other half of it, or the newest when there is none in its place
 * and no command of one has begun. */
static uint64_t displaced(int own, const char *dir)
{
	bool first = has_file(own, FIRST), last = has_file(own, LAST);
	numbers all = { 0 };
	uint64_t ret = 0;

	if (first && last)
		return 0;
	if (!first && !last)
		return has_file(own, LEAVES_FILE) || generation_number(dir, 1, &ret) < 0 ? 0 : ret;
	if (read_numbers(dir, false, &all) == 0 && all.len && is_half(own, all.at[0]))
		ret = all.at[0];
	vec_done(&all);
	return ret;
}

bool generation_mend(const char *dir)
{
	AUTO_CLOSE int own = run_open_dir(dir, ".", false);
	AUTO_CLOSE int lock = -1;

	if (own < 0 || !displaced(own, dir) || run_lock(dir, &lock) < 0)
		return false;
	uint64_t number = displaced(own, dir); /* now that no other process moves anything */
	if (!number)
		return false;
	if (!has_file(own, FIRST) && !has_file(own, LAST))
		generation_delete_files(
			dir); /* of a start that did not come to its first command */
	return generation_bring_back(dir, number) == 0;
}

void generation_delete_files(const char *dir)
{
	AUTO_CLOSE int own = run_open_dir(dir, ".", false);
	struct names names = { 0 };

	if (own < 0)
		return;
	(void)read_names(own, &names);
	vec_each (name, &names.at)
		if (unlinkat(own, *name, 0) < 0 && errno == EISDIR)
			(void)remove_tree(own, *name, NULL);
	names_done(&names);
	remove_meetings(own);
	partial_files_remove(dir, 0);
}
