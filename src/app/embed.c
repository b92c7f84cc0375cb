#include "app/embed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "app/record.h"
#include "app/recorded.h"
#include "app/retire.h"
#include "app/watched.h"
#include "base/clock.h"
#include "runs/lines.h"
#include "runs/orders.h"

extern char **environ;

struct embed {
	struct launch launch;
	struct recorded recorded;
	struct roux_recipe *recipe; /* the launch borrows it */
	struct roux_run *run;
	/* orders.jsonl: */
	struct watch watch; /* of inotify */
	int file;
	struct buf text; /* what has been read and is no whole line yet */
};

/* -- orders of others ----------------------------------------------------------------------------
 */

static void obey(struct roux_run *run, const struct order *o)
{
	switch (o->kind) {
	case ORDER_IS_CANCEL:
		if (o->grace_ms >= 0)
			run_set_grace(run->run, (uint64_t)o->grace_ms);
		cancel_run(run, 0);
		break;
	case ORDER_IS_FINISH:
		run_cancel_gently(run->run);
		break;
	case ORDER_IS_KILL:
		kill_run(run, 0);
		break;
	}
}

static void on_orders(struct watch *w, uint32_t events)
{
	struct embed *e = container_of(w, struct embed, watch);
	char some[4096];
	ssize_t n;

	(void)events;
	while (read(w->fd, some, sizeof(some)) > 0)
		; /* the file says what */
	while ((n = read(e->file, some, sizeof(some))) > 0)
		buf_add(&e->text, (struct str){ some, (size_t)n });
	for (;;) {
		struct str all = buf_str(&e->text);
		size_t end = str_find(all, '\n', 0);
		struct order order;

		if (end >= all.len)
			break;
		if (!e->run->ended && order_read(str_sub(all, 0, end), &order))
			obey(e->run, &order);
		buf_drop(&e->text, end + 1);
	}
	/* Nobody who has something to say needs that much. */
	if (e->text.len > sizeof(some))
		buf_reset(&e->text);
}

/* Made before run.json says that orders come this way. */
static bool open_orders(struct embed *e, struct loop *loop, struct report *r)
{
	const char *path = run_file(&e->launch.arena, e->launch.dir, ORDERS_FILE);

	e->file = open(path, O_RDONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	int fd = e->file < 0 ? -1 : inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (fd >= 0 && inotify_add_watch(fd, path, IN_MODIFY) >= 0 &&
		watch_start(loop, &e->watch, fd, EPOLLIN) == 0)
		return true;
	report_errno(r, errno, "cannot watch %s", path);
	close_fd(&fd);
	close_fd(&e->file);
	return false;
}

static void close_orders(struct embed *e)
{
	int fd = e->watch.fd;

	if (!e->watch.loop)
		return;
	watch_stop(&e->watch);
	close_fd(&fd);
	close_fd(&e->file);
}

/* -- what is started -----------------------------------------------------------------------------
 */

static void take_places(struct launch *l, const struct roux *r, const struct roux_start *how)
{
	struct arena *a = &l->arena;

	l->dirs = (struct recipe_dirs){ arena_str(a, r->dirs.agent), arena_str(a, r->dirs.user),
		arena_str(a, r->dirs.packaged) };
	l->root = arena_str(a, r->root);
	l->cwd = arena_str(a, r->cwd);
	l->owner = arena_str(a, str_of(how->owner ? how->owner : getenv("ROUX_OWNER")));
	l->env = json_array();
	for (size_t i = 0; r->variables[i]; i++)
		json_array_append_new(l->env, json_from_str(str_of(r->variables[i])));
}

/* Every mistake is found here; nothing has been made yet. */
static bool prepare(struct embed *e, struct roux_plan *plan, const struct roux_start *how)
{
	struct roux *r = plan->roux;
	struct launch *l = &e->launch;

	take_places(l, r, how);
	e->recipe = recipe_share(plan->recipe);
	l->recipe = plan->recipe->recipe;
	l->graph = graph_ref(plan->recipe->graph);
	l->values = json_copy(plan->values);
	l->how = S("library");
	l->detached = how->detach;
	l->embedded = !how->detach;
	l->jobs = r->jobs;
	l->grace_ms = how->grace_ms;
	l->durable = r->durable;
	l->max_parallel = r->max_parallel;
	l->collections = r->collections ? json_incref(r->collections) : NULL;
	l->has_input = how->stdin_fd >= 0 && !how->detach && !l->graph->steps;
	if (how->as && !run_id_check(how->as, &r->report))
		return false;
	l->id = arena_str(&l->arena, str_of(how->as));
	launch_name(l);
	return launch_plan(l, NULL, &r->report);
}

void embed_free(struct embed *e)
{
	if (!e)
		return;
	close_orders(e);
	recorded_done(&e->recorded);
	e->launch.recipe = NULL;
	launch_done(&e->launch);
	roux_recipe_free(e->recipe);
	buf_done(&e->text);
	free(e);
}

/* -- in this process -----------------------------------------------------------------------------
 */

/* The name must not stay taken by a run that never began, for as long as this process lives. */
static void give_up(struct launch *l)
{
	AUTO_REPORT ignored = REPORT_INIT;

	if (!l->row.started) {
		launch_abandon(l);
		return;
	}
	l->row.status = S("failed");
	l->row.code = 1;
	l->row.ended = clock_real_ms();
	(void)ledger_update(l->ledger, &l->row, false, &ignored);
}

static struct roux_run *start_here(struct embed *e, struct roux *r, const struct start_options *how,
	roux_event_fn *fn, void *data)
{
	struct launch *l = &e->launch;
	struct start_options o = *how;

	if (!open_orders(e, r->loop, &r->report) ||
		!recorded_begin(&e->recorded, l, r->loop, NULL, &r->report)) {
		give_up(l);
		return NULL;
	}
	recorded_options(&e->recorded, &o);
	struct roux_run *run = start_public(r, l->plan, &o, fn, data);
	run->embed = e;
	e->run = run;
	launch_count(l, r->usage_in_file);
	return run;
}

void embed_rest(struct roux_run *run)
{
	struct embed *e = run->embed;
	struct launch *l = &e->launch;

	list_remove(&run->link);
	close_orders(e);
	record_rest(e->recorded.record);
	retire_after_run(l->root, l->ledger);
	ledger_close(l->ledger);
	l->ledger = NULL;
	/* A child of the host that has executed nothing yet has the lock too: closing is not
	 * enough. */
	(void)flock(l->lock, LOCK_UN);
	close_fd(&l->lock);
}

/* -- under a supervisor of its own ---------------------------------------------------------------
 */

static const char *runnable(struct arena *a, struct str dir, struct str name)
{
	struct str path = path_below(a, dir, name);

	return access(path.p, X_OK) == 0 ? path.p : NULL;
}

/* Beside the library in a build tree, below its prefix when installed, or on PATH. */
static const char *find_program(struct arena *a, struct report *r)
{
	struct str lib = path_dir(code_path(a)), up = path_dir(lib);
	const char *found = runnable(a, lib, S("roux"));
	struct str path = str_of(getenv("PATH"));

	found = found ? found : runnable(a, up, S("bin/roux"));
	found = found ? found : runnable(a, path_dir(up), S("bin/roux"));
	for (size_t at = 0; !found && at < path.len;) {
		size_t end = str_find(path, ':', at);

		if (end > at)
			found = runnable(a, str_sub(path, at, end - at), S("roux"));
		at = end + 1;
	}
	if (found)
		return found;
	report_error(r, (struct where){ 0 },
		"there is no roux program, which looks after a detached run");
	report_hint(r, "install it where the library is, or put it on PATH");
	return NULL;
}

static bool is_set(const char *const *variables, const char *entry)
{
	for (size_t i = 0; variables[i]; i++) {
		size_t name = strcspn(variables[i], "=") + 1;

		if (strncmp(variables[i], entry, name) == 0)
			return true;
	}
	return false;
}

/* The supervisor must find the same places as this context, from its own directory. */
static const char *const *environment(struct launch *l, const char *const *variables)
{
	struct str state = arena_printf(&l->arena, "ROUX_STATE_DIR=%.*s", STR(l->root));
	const char *const always[] = { state.p, NULL };
	size_t count = 0, n = 0;

	while (environ[count])
		count++;
	const char **env = arena_array(&l->arena, const char *, count + 8);
	for (size_t i = 0; i < count; i++)
		if (!is_set(variables, environ[i]) && !is_set(always, environ[i]))
			env[n++] = environ[i];
	for (size_t i = 0; variables[i]; i++)
		if (!is_set(always, variables[i]))
			env[n++] = variables[i];
	env[n++] = state.p;
	env[n] = NULL;
	return env;
}

static struct roux_run *start_apart(struct embed *e, struct roux *r, roux_event_fn *fn, void *data)
{
	struct launch *l = &e->launch;

	l->environment = environment(l, r->variables);
	if (launch_detach(l, false, &r->report) < 0) {
		launch_abandon(l);
		return NULL;
	}
	launch_count(l, r->usage_in_file);
	return watched_open(r, l->id.p, fn, data);
}

struct roux_run *embed_start(
	struct roux_plan *plan, const struct start_options *o, roux_event_fn *fn, void *data)
{
	struct roux *r = plan->roux;
	struct embed *e = mem_new(struct embed);
	struct launch *l = &e->launch;
	struct roux_run *run = NULL;
	bool refused;

	*l = LAUNCH_INIT;
	e->file = -1;
	e->watch = (struct watch){ .fd = -1, .ready = on_orders };
	bool ok = prepare(e, plan, &o->base);
	if (ok && o->base.detach)
		ok = (l->program = find_program(&l->arena, &r->report)) != NULL;
	if (ok && launch_claim(l, &refused, &r->report)) {
		if (!launch_freeze(l, &r->report))
			launch_abandon(l);
		else if (o->base.detach)
			run = start_apart(e, r, fn, data);
		else
			run = start_here(e, r, o, fn, data);
	}
	if (!run || !run->embed)
		embed_free(e);
	return run;
}
