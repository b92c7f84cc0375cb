#pragma once

#include <sys/inotify.h>

#include "loop/loop.h"

/* Changes of files and directories, as inotify tells them. A user has a bounded number of inotify
 * instances, so one `struct notify` serves all files of an owner. It can be turned by a loop, or
 * waited for with poll(). */
struct notify {
	int fd; /* readable when something has changed; -1: not open */
	struct watch watch;
	struct list files;
};

/* One file or directory. The owner embeds it and sets `changed`, or leaves it NULL when it is
 * enough to be woken. */
struct notify_file {
	struct list link;
	int wd; /* -1: not watched */
	uint32_t pending;
	/* `events` are those of inotify since the last call, together. With IN_Q_OVERFLOW some were
	 * lost, and every file is called. Files may be added and removed here. */
	void (*changed)(struct notify_file *f, uint32_t events);
};

/* For an object that has none yet: makes notify_close() harmless. */
void notify_init(struct notify *n);
/* -errno, and it stays as it was: the caller has to look by itself now and then. */
int notify_open(struct notify *n);
/* From now on the loop calls `changed`. -errno. */
int notify_start(struct loop *l, struct notify *n);
/* The files are not watched any more; nothing of them is touched. */
void notify_close(struct notify *n);

static inline bool notify_is_open(const struct notify *n)
{
	return n->fd >= 0;
}

/* Watches what has the name now, for these inotify events; instead of what `f` watched before. Two
 * files of one `struct notify` must not be the same. -errno. */
int notify_add(struct notify *n, struct notify_file *f, const char *path, uint32_t events);
/* The same by an open descriptor: another file may have taken its name meanwhile. */
int notify_add_fd(struct notify *n, struct notify_file *f, int fd, uint32_t events);
void notify_remove(struct notify *n, struct notify_file *f);

/* Without a loop: calls `changed` for everything that is there now, without waiting. */
void notify_take(struct notify *n);
/* Waits until something has changed, at most `timeout_ms` (-1: for ever), and takes it. False: the
 * time is over, or a signal came. */
bool notify_wait(struct notify *n, int timeout_ms);
