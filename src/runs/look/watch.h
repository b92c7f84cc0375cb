#pragma once

#include "loop/notify.h"
#include "runs/look/look.h"

/* Waits for what happens to a run without using the processor: its supervisor's end through a
 * pidfd, changes of its files through inotify. */
struct run_watch {
	int pidfd;             /* -1: not known yet */
	struct notify changes; /* of the directory; not open: not asked for */
	struct notify_file file;
};

/* Before the first open: makes run_watch_close() harmless. */
void run_watch_init(struct run_watch *w);
/* `files`: also wake up when a file of the directory changes. The look must outlive it. -errno. */
int run_watch_open(struct run_watch *w, const struct run_look *look, bool files);
void run_watch_close(struct run_watch *w);
