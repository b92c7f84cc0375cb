#include "runs/look/kept.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/vec.h"
#include "runs/dir/open.h"

/* Small ones are parsed in less than a millisecond. A parsed document takes about ten times the
 * bytes of its file; the last one is kept however large it is. */
enum { WORTH_KEEPING = 64 << 10, KEPT_BYTES = 4 << 20 };

struct kept_document {
	struct file_mark mark;
	json_t *document;
};

/* The one that was asked for last is the last one. */
struct look_kept {
	VEC(struct kept_document) at;
};

struct look_kept *look_kept_new(void)
{
	return mem_new(struct look_kept);
}

void look_kept_free(struct look_kept *k)
{
	if (!k)
		return;
	vec_each (d, &k->at)
		json_decref(d->document);
	vec_done(&k->at);
	free(k);
}

static uint64_t in_ns(struct timespec t)
{
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

bool look_kept_mark(const char *dir, const char *name, struct file_mark *ret)
{
	AUTO_CLOSE int fd = run_open(dir, name, O_RDONLY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size < WORTH_KEEPING)
		return false;
	*ret = (struct file_mark){ st.st_dev, st.st_ino, (uint64_t)st.st_size, in_ns(st.st_mtim),
		in_ns(st.st_ctim) };
	return true;
}

static void take_out(struct look_kept *k, size_t i)
{
	k->at.len--;
	memmove(k->at.at + i, k->at.at + i + 1, (k->at.len - i) * sizeof(*k->at.at));
}

json_t *look_kept_find(struct look_kept *k, const struct file_mark *mark)
{
	for (size_t i = 0; i < k->at.len; i++) {
		struct kept_document d = k->at.at[i];

		if (memcmp(&d.mark, mark, sizeof(*mark)) != 0)
			continue;
		take_out(k, i);
		vec_push(&k->at, d);
		return json_incref(d.document);
	}
	return NULL;
}

void look_kept_add(struct look_kept *k, const struct file_mark *mark, json_t *document)
{
	uint64_t bytes = 0;

	vec_push(&k->at, (struct kept_document){ *mark, json_incref(document) });
	vec_each (d, &k->at)
		bytes += d->mark.size;
	while (k->at.len > 1 && bytes > KEPT_BYTES) {
		bytes -= k->at.at[0].mark.size;
		json_decref(k->at.at[0].document);
		take_out(k, 0);
	}
}
