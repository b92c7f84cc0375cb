#include "hosts/serve/places.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "base/sha256.h"

void serve_places_find(struct app *a, struct arena *arena, struct serve_places *ret)
{
	struct str root = app_state_root(a);
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	char sum[SHA256_HEX];

	sha256_hex(root, sum);
	ret->dir = path_below(arena, root, S("serve"));
	ret->lock = path_below(arena, ret->dir, S("serve.lock"));
	ret->socket = path_below(arena, ret->dir, S("serve.sock"));
	ret->runtime = ret->dir;
	if (!runtime || *runtime != '/')
		return;
	struct str dir = path_below(arena, str_of(runtime), S("roux"));
	if (dir_make(dir.p) < 0 || access(dir.p, W_OK) < 0)
		return;
	ret->runtime = dir;
	ret->socket = arena_printf(arena, "%s/serve-%.16s.sock", dir.p, sum);
}

int serve_places_lock(const struct serve_places *p)
{
	int n = dir_make(p->dir.p);

	if (n < 0)
		return n;
	AUTO_CLOSE int fd = open(p->lock.p, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return -errno;
	return take_fd(&fd);
}
