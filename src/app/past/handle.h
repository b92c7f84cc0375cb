#pragma once

#include "app/context/context.h"
#include "app/past/names.h"
#include "app/runs.h"
#include "runs/look/look.h"

/* What stands behind `struct run_handle`: here.c for a run in this process, elsewhere.c for one of
 * another process or an ended one. Both embed it. */

struct handle_ops {
	struct str (*id)(const struct run_handle *h);
	struct str (*dir)(const struct run_handle *h);
	enum roux_status (*status)(const struct run_handle *h);
	/* Of a live one. False with an issue. */
	bool (*order)(struct run_handle *h, enum run_order order, int grace_ms, struct report *r);
	/* Of an ended one: */
	int (*write_result)(struct run_handle *h, struct buf *b, int fd, enum roux_status *ret);
	json_t *(*summary)(struct run_handle *h);
	int (*write_output)(struct run_handle *h, int fd);
	/* Tells a new observer of the past. -errno. May be NULL. */
	int (*observed)(struct run_handle *h);
	/* The app is being closed: ends it, or only stops watching it. */
	void (*leave)(struct run_handle *h);
	/* It has ended, and the loop has turned: lets go of what others wait for. May be NULL. */
	void (*rest)(struct run_handle *h);
	void (*free)(struct run_handle *h);
};

struct watcher {
	struct list link;
	struct observer o;
	uint64_t next; /* the number of the event it waits for */
	bool behind;   /* hears nothing before it has been told of the past */
	bool told_end;
};

struct run_handle {
	const struct handle_ops *ops;
	struct app *app;
	struct list link; /* of app->runs, or app->ended */
	struct list watchers;
	struct buf line; /* an event as JSON, while it is reported */
	struct buf log_paths[2];
	struct past_names names; /* read when they are first asked for, and again while it grows */
	bool names_known;
	struct run_look seen; /* of a run here, as it was found last: handle_look() */
	bool ended;
	/* Called last when the handle is closed; NULL: nothing is. */
	void (*closing)(void *data);
	void *closing_data;
};

/* Takes a reference to the app and enters its list of live runs. */
void handle_init(struct run_handle *h, const struct handle_ops *ops, struct app *a);
void handle_done(struct run_handle *h);

bool handle_wants_lines(const struct run_handle *h);
bool handle_wants_changes(const struct run_handle *h);
void handle_tell_change(struct run_handle *h);
/* Passes an event as a line of JSON to the observers that want lines. */
void handle_tell_line(struct run_handle *h, struct str line);
/* It has ended: takes it off the list and tells every observer. */
void handle_ended(struct run_handle *h);
/* Tells the observers that have not been told of the end. */
void handle_tell_end(struct run_handle *h);
/* Tells every observer that it cannot be looked at now. */
void handle_tell_unseen(struct run_handle *h);
/* Turns the loop until it has ended. */
void handle_turn(struct run_handle *h);
