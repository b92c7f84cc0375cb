/* Line numbers of logs of any size: how many lines end before each block of 64 KiB is kept, so that
 * the number of any line is known after reading one block. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/logs.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/vec.h"

enum { LOGS_KEPT = 8, BLOCK = 64 << 10, BLOCKS_AT_ONCE = 4096 };

typedef VEC(uint64_t) numbers;

struct counted {
	dev_t device;
	ino_t inode;
	uint64_t used;
	bool under_way;
	numbers at; /* [i]: line ends before byte (i + 1) × BLOCK */
};

struct log_counts {
	struct counted logs[LOGS_KEPT];
	uint64_t clock;
};

struct log_counting {
	int fd;
	dev_t device;
	ino_t inode;
	uint64_t block, before; /* where it begins, and how many line ends were before that */
	numbers at;
	bool more;
};

struct log_counts *log_counts_new(void)
{
	return mem_new(struct log_counts);
}

void log_counts_free(struct log_counts *c)
{
	for (size_t i = 0; c && i < LOGS_KEPT; i++)
		vec_done(&c->logs[i].at);
	free(c);
}

static struct counted *find(struct log_counts *c, dev_t device, ino_t inode)
{
	for (size_t i = 0; i < LOGS_KEPT; i++)
		if (c->logs[i].inode == inode && c->logs[i].device == device)
			return &c->logs[i];
	return NULL;
}

/* The one of that file; the one that was not asked for longest makes room for it. */
static struct counted *find_or_make(struct log_counts *c, const struct stat *st)
{
	struct counted *l = find(c, st->st_dev, st->st_ino);

	for (size_t i = 0; !l && i < LOGS_KEPT; i++)
		if (!c->logs[i].under_way)
			l = &c->logs[i];
	for (size_t i = 0; l && l->inode != st->st_ino && i < LOGS_KEPT; i++)
		if (!c->logs[i].under_way && c->logs[i].used < l->used)
			l = &c->logs[i];
	if (!l)
		return NULL;
	bool other = l->inode != st->st_ino || l->device != st->st_dev;
	if (other || (uint64_t)st->st_size < (uint64_t)l->at.len * BLOCK) {
		l->at.len = 0; /* another file, or it was written anew */
		l->device = st->st_dev;
		l->inode = st->st_ino;
	}
	l->used = ++c->clock;
	return l;
}

int64_t log_counts_find(struct log_counts *c, int fd, uint64_t offset, uint64_t *ret_left)
{
	struct stat st;
	uint64_t block = offset / BLOCK;
	const struct counted *l = fstat(fd, &st) == 0 ? find_or_make(c, &st) : NULL;

	*ret_left = 0;
	if (!l)
		return -1;
	if (block > l->at.len) {
		*ret_left = (block - l->at.len) * BLOCK;
		return -1;
	}
	int64_t here = log_count_lines(fd, block * BLOCK, offset);
	return here < 0 ? -1 : here + (int64_t)(block ? l->at.at[block - 1] : 0);
}

struct log_counting *log_counting_begin(struct log_counts *c, int fd)
{
	struct stat st;
	struct counted *l = fstat(fd, &st) == 0 ? find_or_make(c, &st) : NULL;

	if (!l || l->under_way || (uint64_t)st.st_size < (l->at.len + 1) * (uint64_t)BLOCK)
		return NULL;
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (own < 0)
		return NULL;
	struct log_counting *w = mem_new(struct log_counting);
	*w = (struct log_counting){ .fd = own,
		.device = l->device,
		.inode = l->inode,
		.block = l->at.len,
		.before = l->at.len ? l->at.at[l->at.len - 1] : 0 };
	l->under_way = true;
	return w;
}

void log_counting_work(struct log_counting *w, const atomic_bool *stop)
{
	uint64_t before = w->before;
	struct stat st;

	if (fstat(w->fd, &st) < 0)
		return;
	for (uint64_t b = w->block; w->at.len < BLOCKS_AT_ONCE && !atomic_load(stop); b++) {
		if ((uint64_t)st.st_size < (b + 1) * BLOCK)
			return;
		int64_t n = log_count_lines(w->fd, b * BLOCK, (b + 1) * BLOCK);
		if (n < 0)
			return;
		before += (uint64_t)n;
		vec_push(&w->at, before);
	}
	w->more = true;
}

bool log_counting_end(struct log_counting *w, struct log_counts *c)
{
	struct counted *l = c ? find(c, w->device, w->inode) : NULL;
	bool more = w->more && l;

	if (l) {
		l->under_way = false;
		if (l->at.len == w->block)
			vec_each (n, &w->at)
				vec_push(&l->at, *n);
		more = more && l->at.len > w->block;
	}
	vec_done(&w->at);
	(void)close(w->fd);
	free(w);
	return more;
}
