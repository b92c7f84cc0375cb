#include "engine/program.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"

void programs_done(struct programs *p)
{
	arena_done(&p->arena);
}

static bool executable(const char *path, int *error)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return false; /* also in a directory that may not be searched: it is not found there
			       */
	if (!S_ISREG(st.st_mode) || access(path, X_OK) < 0) {
		*error = EACCES;
		return false;
	}
	return true;
}

static void below(struct buf *b, struct str dir, const char *name)
{
	buf_reset(b);
	buf_add(b, dir);
	if (dir.len && dir.p[dir.len - 1] != '/')
		buf_addc(b, '/');
	buf_adds(b, name);
}

const char *programs_find(struct programs *p, const char *word, int *error)
{
	if (strchr(word, '/'))
		return word; /* the child stands in the working directory when it executes it */
	const char *known = map_get(&p->found, str_of(word));
	if (known)
		return known;

	AUTO_BUF path = BUF_INIT;
	*error = ENOENT;
	for (size_t at = 0; at <= p->path.len;) {
		size_t end = str_find(p->path, ':', at);
		struct str dir = str_sub(p->path, at, end - at);
		AUTO_BUF from_cwd = BUF_INIT;

		/* An empty or relative entry means the working directory, which need not be ours.
		 */
		if (!dir.len || dir.p[0] != '/') {
			below(&from_cwd, str_of(p->cwd ? p->cwd : "."), "");
			buf_add(&from_cwd, dir);
			dir = buf_str(&from_cwd);
		}
		below(&path, dir, word);
		if (executable(buf_cstr(&path), error)) {
			/* Only hits are remembered: a step may install what the next one runs. */
			char *kept = arena_cstr(&p->arena, buf_str(&path));

			*map_put(&p->found, &p->arena, str_of(word)) = kept;
			return kept;
		}
		at = end + 1;
	}
	return NULL;
}
