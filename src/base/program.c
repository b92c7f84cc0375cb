#include "base/program.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"

struct str program_search(void)
{
	const char *path = getenv("PATH");

	return path ? str_of(path) : S("/usr/local/bin:/usr/bin:/bin");
}

/* A file that cannot be seen, also in a directory that may not be searched, is not found there. */
static bool executable(const char *path, int *error)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return false;
	if (S_ISREG(st.st_mode) && access(path, X_OK) == 0)
		return true;
	*error = EACCES;
	return false;
}

static void add_part(struct buf *b, struct str name)
{
	if (b->len && b->p[b->len - 1] != '/')
		buf_addc(b, '/');
	buf_add(b, name);
}

static bool look_up(
	struct buf *path, struct str word, struct str cwd, struct str search, int *error)
{
	for (size_t at = 0; word.len && at <= search.len;) {
		size_t end = str_find(search, ':', at);
		struct str dir = str_sub(search, at, end - at);

		buf_reset(path);
		if (!dir.len || dir.p[0] != '/')
			buf_add(path, cwd);
		if (dir.len)
			add_part(path, dir);
		add_part(path, word);
		if (executable(buf_cstr(path), error))
			return true;
		at = end + 1;
	}
	return false;
}

const char *program_find(
	struct arena *a, struct str word, struct str cwd, struct str search, int *ret_error)
{
	AUTO_BUF path = BUF_INIT;
	int error = ENOENT;
	bool found;

	if (str_find(word, '/', 0) < word.len) {
		if (word.p[0] != '/')
			buf_add(&path, cwd);
		add_part(&path, str_starts(word, S("./")) ? str_from(word, 2) : word);
		found = executable(buf_cstr(&path), &error);
	} else {
		found = look_up(&path, word, cwd, search, &error);
	}
	if (found)
		return arena_cstr(a, buf_str(&path));
	if (ret_error)
		*ret_error = error;
	return NULL;
}

void programs_done(struct programs *p)
{
	arena_done(&p->arena);
}

const char *programs_find(struct programs *p, const char *word, int *error)
{
	if (strchr(word, '/'))
		return word;
	const char *known = map_get(&p->found, str_of(word));
	if (known)
		return known;

	const char *path = program_find(
		&p->arena, str_of(word), str_of(p->cwd ? p->cwd : "."), p->path, error);
	if (path)
		*map_put(&p->found, &p->arena, str_of(word)) = (void *)path;
	return path;
}
