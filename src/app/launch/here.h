#pragma once

#include "app/past/handle.h"
#include "app/record/launch.h"
#include "loop/notify.h"
#include "runs/dir/follower.h"
#include "runs/dir/leaves.h"

/* A run in this process: the launch becomes an execution of the engine, and is written down when it
 * is recorded. */

/* How a launch is run here. */
struct here_options {
	struct leaves *before; /* what an earlier execution has left; taken; NULL: nothing */
	bool terminal;         /* its one command gets the terminal */
	int stdin_fd, stdout_fd, pipe_fd;
	bool pipe_prints;
	bool leaves_nothing;             /* what its commands leave behind ends with it */
	const struct observer *observer; /* NULL: none */
};

/* Takes the launch, which has its plan and, when it is recorded, is claimed and frozen. NULL with
 * issues; a name that was claimed is free again. */
struct run_handle *here_start(struct launch *l, const struct here_options *o, struct report *r);

/* Gives an order to a run here; nothing happens when it has ended. */
void here_obey(struct run_handle *h, enum run_order order, int grace_ms, int signal);
/* A message has come. */
void here_ring(struct run_handle *h);
bool handle_is_here(const struct run_handle *h);

/* hub.c: what other processes say to recorded runs in the process of a host that signals would end.
 * One for all runs of an app: a user has a bounded number of inotify instances. */
struct hub_entry {
	struct list link;
	struct run_handle *handle;
	struct follower orders;
	const char *inbox; /* its path, in the launch */
	struct notify_file orders_changes, inbox_changes;
};

/* Makes the file for orders, before run.json says that they come this way. */
bool hub_prepare(struct hub_entry *e, struct launch *l, struct report *r);
void hub_join(struct hub_entry *e, struct run_handle *h);
void hub_leave(struct hub_entry *e);
