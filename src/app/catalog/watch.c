/* Changes in the directories of recipes, and of what is configured for prompts. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "app/context/context.h"
#include "app/recipes.h"
#include "base/path.h"
#include "base/user.h"
#include "loop/notify.h"
#include "prompts/config.h"

enum {
	OF_DIRECTORY = IN_CREATE | IN_CLOSE_WRITE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO |
		       IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR,
	OF_ANCESTOR = IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR,
	TRIES_MAX = 16, /* directories that come and go while we look */
};

/* A directory that may not be there yet: then the nearest one above it that is there. Each has an
 * instance of its own, because two may be the same or wait for the same. */
struct watched_dir {
	struct recipes_watch *owner;
	struct notify notify;
	struct notify_file file;
	struct str path;
	bool there; /* it is the directory itself that is watched */
};

struct recipes_watch {
	struct arena arena;
	struct loop *loop;
	struct watched_dir dirs[4];
	struct deferred telling; /* one call for what happens in one turn */
	void (*changed)(void *data);
	void *data;
};

static void on_telling(struct deferred *d)
{
	struct recipes_watch *w = container_of(d, struct recipes_watch, telling);

	w->changed(w->data); /* which may end it */
}

static struct str nearest_ancestor(struct recipes_watch *w, struct str path)
{
	do
		path = arena_str(&w->arena, path_dir(path));
	while (path.len > 1 && access(path.p, F_OK) < 0);
	return path;
}

/* Watches the directory, or what is there of its path. -errno. */
static int follow(struct watched_dir *d)
{
	for (int i = 0; i < TRIES_MAX; i++) {
		int n = notify_add(&d->notify, &d->file, d->path.p, OF_DIRECTORY);

		d->there = n == 0;
		if (n != -ENOENT && n != -ENOTDIR)
			return n;
		n = notify_add(
			&d->notify, &d->file, nearest_ancestor(d->owner, d->path).p, OF_ANCESTOR);
		/* It may have been made before we watched. */
		if (n == 0 && access(d->path.p, F_OK) < 0)
			return 0;
	}
	return -EAGAIN;
}

static void on_changed(struct notify_file *f, uint32_t events)
{
	struct watched_dir *d = container_of(f, struct watched_dir, file);
	bool was_there = d->there;

	if (!was_there || events & (IN_DELETE_SELF | IN_MOVE_SELF))
		(void)follow(d);
	if (was_there || d->there)
		deferred_start(d->owner->loop, &d->owner->telling);
}

static int start(struct recipes_watch *w, struct watched_dir *d, struct str path)
{
	d->owner = w;
	d->path = arena_str(&w->arena, path);
	d->file = (struct notify_file){ .wd = -1, .changed = on_changed };
	notify_init(&d->notify);
	int n = notify_open(&d->notify);
	if (n == 0)
		n = follow(d);
	return n < 0 ? n : notify_start(w->loop, &d->notify);
}

struct recipes_watch *recipes_watch(struct app *a, void (*changed)(void *data), void *data)
{
	struct loop *loop = app_loop(a);

	if (!loop)
		return NULL;
	struct recipes_watch *w = mem_new(struct recipes_watch);
	w->loop = loop;
	w->changed = changed;
	w->data = data;
	w->telling = (struct deferred){ .call = on_telling };
	const struct recipe_dirs *dirs = app_dirs(a);
	const struct str paths[] = { dirs->user, dirs->packaged, dirs->project.recipes,
		config_global_dir(&w->arena, user_home(&w->arena)) };
	int n = 0;
	for (size_t i = 0; i < ARRAY_SIZE(w->dirs); i++)
		notify_init(&w->dirs[i].notify);
	for (size_t i = 0; i < ARRAY_SIZE(paths) && n == 0; i++)
		n = paths[i].len ? start(w, &w->dirs[i], paths[i]) : 0;
	if (n == 0)
		return w;
	recipes_watch_end(w);
	errno = -n;
	return NULL;
}

void recipes_watch_end(struct recipes_watch *w)
{
	if (!w)
		return;
	deferred_stop(&w->telling);
	for (size_t i = 0; i < ARRAY_SIZE(w->dirs); i++)
		notify_close(&w->dirs[i].notify);
	arena_done(&w->arena);
	free(w);
}
