#include "runs/dir/leftovers.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/process.h"

enum { PASSES = 20, GONE_MS = 5000, SETTLE_MS = 1000 };

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

/* Whose processes are looked for. */
struct owner {
	struct str id, generation;
	struct str worker; /* empty: not those of a worker, which are not this machine's to end */
	uint64_t since;
};

/* That of a stranger cannot be read, and is none. */
static bool carries(pid_t pid, const struct owner *o)
{
	AUTO_BUF text = BUF_INIT;

	if (process_environ_settled(pid, SETTLE_MS, &text) < 0)
		return false;
	return has_entry(&text, "ROUX_RUN", o->id) &&
	       (o->worker.len ? has_entry(&text, "ROUX_WORKER", o->worker)
			      : !has_name(&text, "ROUX_WORKER")) &&
	       (!o->generation.len || has_entry(&text, "ROUX_GENERATION", o->generation));
}

bool process_carries(pid_t pid, struct str id, struct str generation)
{
	return carries(pid, &(struct owner){ id, generation, S(""), 0 });
}

static void find(const struct owner *o, identity_list *ret)
{
	DIR *d = opendir("/proc");

	for (const struct dirent *e; d && (e = readdir(d));) {
		struct identity who;
		uint64_t pid;

		if (!str_to_uint(str_of(e->d_name), &pid) || (pid_t)pid == getpid() ||
			!carries((pid_t)pid, o) || !identity_of((int64_t)pid, &who))
			continue;
		if (who.start >= o->since)
			vec_push(ret, who);
	}
	if (d)
		(void)closedir(d);
}

void leftovers_find(struct str id, struct str generation, uint64_t since, identity_list *ret)
{
	find(&(struct owner){ id, generation, S(""), since }, ret);
}

static bool end_one(const struct identity *who)
{
	AUTO_CLOSE int fd = identity_open(who);
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return fd >= 0 && identity_signal(fd, SIGKILL, 0) == 0 && poll(&p, 1, GONE_MS) > 0;
}

static size_t end_all(const struct owner *o)
{
	size_t total = 0, ended = 1;

	/* One that was about to start another is gone before it can be seen in the next pass. */
	for (int pass = 0; pass < PASSES && ended; pass++) {
		identity_list found = { 0 };

		ended = 0;
		find(o, &found);
		vec_each (who, &found)
			ended += end_one(who);
		vec_done(&found);
		total += ended;
	}
	return total;
}

size_t leftovers_end(struct str id, struct str generation, uint64_t since)
{
	return end_all(&(struct owner){ id, generation, S(""), since });
}

size_t leftovers_end_of_worker(struct str id, struct str generation, uint64_t worker)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%" PRIu64, worker);
	return end_all(&(struct owner){ id, generation, str_of(text), 0 });
}
