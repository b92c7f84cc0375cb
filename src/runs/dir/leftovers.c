#include "runs/dir/leftovers.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

enum { ENVIRON_MAX = 4 << 20, PASSES = 20, GONE_MS = 5000 };

/* NAME=VALUE as a whole entry of a list that NULs part. */
static bool has_name(const struct buf *entries, const char *name)
{
	struct str all = buf_str(entries);
	size_t len = strlen(name);

	for (size_t at = 0; at < all.len; at = str_find(all, '\0', at) + 1)
		if (all.len - at > len && memcmp(all.p + at, name, len) == 0 &&
			all.p[at + len] == '=')
			return true;
	return false;
}

static bool has_entry(const struct buf *entries, const char *name, struct str value)
{
	AUTO_BUF entry = BUF_INIT;
	struct str all = buf_str(entries);

	buf_printf(&entry, "%s=%.*s", name, STR(value));
	for (size_t at = 0; at < all.len;) {
		size_t end = str_find(all, '\0', at);

		if (str_eq(str_sub(all, at, end - at), buf_str(&entry)))
			return true;
		at = end + 1;
	}
	return false;
}

/* That of a stranger cannot be read, and is none. */
bool process_carries(pid_t pid, struct str id, struct str generation)
{
	AUTO_BUF text = BUF_INIT;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fd_read_all(fd, ENVIRON_MAX, &text) < 0)
		return false;
	/* What a worker of the run has started is not this machine's to end. */
	return has_entry(&text, "ROUX_RUN", id) && !has_name(&text, "ROUX_WORKER") &&
	       (!generation.len || has_entry(&text, "ROUX_GENERATION", generation));
}

void leftovers_find(struct str id, struct str generation, uint64_t since, identity_list *ret)
{
	DIR *d = opendir("/proc");

	for (const struct dirent *e; d && (e = readdir(d));) {
		struct identity who;
		uint64_t pid;

		if (!str_to_uint(str_of(e->d_name), &pid) || (pid_t)pid == getpid() ||
			!process_carries((pid_t)pid, id, generation) ||
			!identity_of((int64_t)pid, &who))
			continue;
		if (who.start >= since)
			vec_push(ret, who);
	}
	if (d)
		(void)closedir(d);
}

static bool end_one(const struct identity *who)
{
	AUTO_CLOSE int fd = identity_open(who);
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return fd >= 0 && identity_signal(fd, SIGKILL, 0) == 0 && poll(&p, 1, GONE_MS) > 0;
}

size_t leftovers_end(struct str id, struct str generation, uint64_t since)
{
	size_t total = 0, ended = 1;

	/* One that was about to start another is gone before it can be seen in the next pass. */
	for (int pass = 0; pass < PASSES && ended; pass++) {
		identity_list found = { 0 };

		ended = 0;
		leftovers_find(id, generation, since, &found);
		vec_each (who, &found)
			ended += end_one(who);
		vec_done(&found);
		total += ended;
	}
	return total;
}
