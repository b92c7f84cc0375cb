#include "app/embed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "app/record.h"
#include "app/recorded.h"
#include "app/retire.h"
#include "app/watched.h"
#include "base/clock.h"
#include "base/environ.h"
#include "base/path.h"
#include "base/program.h"
#include "base/run-status.h"
#include "loop/notify.h"
#include "runs/dir/follower.h"
#include "runs/dir/orders.h"
#include "runs/mail/inbox.h"

struct embed {
	struct launch launch;
	struct recorded recorded;
	struct roux_recipe *recipe; /* the launch borrows it */
	struct roux_run *run;
	/* Of the hub: */
	struct list link;
	struct follower orders;
	struct notify_file orders_changes, inbox_changes;
};

/* -- what others say -----------------------------------------------------------------------------
 */

/* One for all runs of a context: a user has a bounded number of inotify instances. Without one, the
 * files are looked at now and then. */
struct embed_hub {
	struct loop *loop;
	struct list embeds;
	struct notify notify; /* not open: there is none */
	struct timer look;
};

enum { LOOK_MS = 250 };

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

static bool see_order(void *data, const struct followed_line *line)
{
	struct embed *e = data;
	struct order order;

	if (!e->run->ended && order_read(line->text, &order))
		obey(e->run, &order);
	return true;
}

static void read_orders(struct embed *e)
{
	(void)follower_read(&e->orders, see_order, e);
}

static void on_orders(struct notify_file *f, uint32_t events)
{
	(void)events;
	read_orders(container_of(f, struct embed, orders_changes));
}

static void on_inbox(struct notify_file *f, uint32_t events)
{
	(void)events;
	record_ring(container_of(f, struct embed, inbox_changes)->recorded.record);
}

static void look_at_all(struct embed_hub *hub)
{
	list_each_safe (link, &hub->embeds) {
		struct embed *e = list_entry(link, struct embed, link);

		read_orders(e);
		record_ring(e->recorded.record);
	}
}

static void on_look(struct timer *t)
{
	struct embed_hub *hub = container_of(t, struct embed_hub, look);

	look_at_all(hub);
	if (!list_empty(&hub->embeds))
		timer_start(hub->loop, t, LOOK_MS);
}

static struct embed_hub *hub_of(struct roux *r)
{
	if (r->hub)
		return r->hub;
	struct embed_hub *hub = r->hub = mem_new(struct embed_hub);

	hub->loop = r->loop;
	notify_init(&hub->notify);
	hub->look.fire = on_look;
	list_init(&hub->embeds);
	if (notify_open(&hub->notify) == 0 && notify_start(r->loop, &hub->notify) < 0)
		notify_close(&hub->notify);
	return hub;
}

void embed_hub_free(struct embed_hub *hub)
{
	if (!hub)
		return;
	notify_close(&hub->notify);
	timer_stop(&hub->look);
	free(hub);
}

/* What was said before is of an earlier run. Made before run.json says that orders come this way.
 */
static bool make_orders(struct embed *e, struct report *r)
{
	follower_init(&e->orders, e->launch.dir.p, ORDERS_FILE, 0);
	const char *path = buf_cstr(&e->orders.path);
	AUTO_CLOSE int fd = open(
		path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	return fd >= 0 || report_errno(r, errno, "cannot write %s", path);
}

/* The inbox is there once the record has begun. */
static void listen_to_others(struct embed *e, struct embed_hub *hub)
{
	struct launch *l = &e->launch;
	const char *inbox = run_file(&l->arena, l->dir, INBOX_FILE);

	e->orders_changes = (struct notify_file){ .wd = -1, .changed = on_orders };
	e->inbox_changes = (struct notify_file){ .wd = -1, .changed = on_inbox };
	list_append(&hub->embeds, &e->link);
	int orders =
		notify_add(&hub->notify, &e->orders_changes, buf_cstr(&e->orders.path), IN_MODIFY);
	/* What came meanwhile, and all of it when the files cannot be watched. */
	if (orders < 0 || notify_add(&hub->notify, &e->inbox_changes, inbox, IN_MODIFY) < 0)
		timer_start(hub->loop, &hub->look, LOOK_MS);
	read_orders(e);
	record_ring(e->recorded.record);
}

static void stop_listening(struct embed *e, struct embed_hub *hub)
{
	if (!list_linked(&e->link))
		return;
	list_remove(&e->link);
	notify_remove(&hub->notify, &e->orders_changes);
	notify_remove(&hub->notify, &e->inbox_changes);
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
	recorded_done(&e->recorded);
	follower_done(&e->orders);
	e->launch.recipe = NULL;
	launch_done(&e->launch);
	roux_recipe_free(e->recipe);
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
	l->row.status = status_str(ROUX_FAILED);
	l->row.code = 1;
	l->row.ended = clock_real_ms();
	(void)ledger_update(l->ledger, &l->row, false, &ignored);
}

static struct roux_run *start_here(struct embed *e, struct roux *r, const struct start_options *how,
	roux_event_fn *fn, void *data)
{
	struct launch *l = &e->launch;
	struct start_options o = *how;

	if (!make_orders(e, &r->report) ||
		!recorded_begin(&e->recorded, l, r->loop, NULL, &r->report)) {
		give_up(l);
		return NULL;
	}
	recorded_options(&e->recorded, &o);
	struct roux_run *run = start_public(r, l->plan, &o, fn, data);
	run->embed = e;
	e->run = run;
	listen_to_others(e, hub_of(r));
	launch_count(l, r->usage_in_file);
	return run;
}

void embed_rest(struct roux_run *run)
{
	struct embed *e = run->embed;
	struct launch *l = &e->launch;

	list_remove(&run->link);
	stop_listening(e, run->roux->hub);
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

	found = found ? found : runnable(a, up, S("bin/roux"));
	found = found ? found : runnable(a, path_dir(up), S("bin/roux"));
	if (!found)
		found = program_find(
			a, S("roux"), path_absolute(a, S(".")), program_search(), NULL);
	if (found)
		return found;
	report_error(r, (struct where){ 0 },
		"there is no roux program, which looks after a detached run");
	report_hint(r, "install it where the library is, or put it on PATH");
	return NULL;
}

/* The supervisor must find the same places as this context, from its own directory. */
static const char *const *supervisor_environ(struct launch *l, const char *const *variables)
{
	struct str state = arena_printf(&l->arena, "ROUX_STATE_DIR=%.*s", STR(l->root));
	struct environ_list own = { 0 };

	environ_add(&own, variables, (const char *const[]){ state.p, NULL });
	vec_push(&own.vars, NULL);
	const char *const *env = environ_with(&l->arena, own.vars.at);
	vec_done(&own.vars);
	return env;
}

static struct roux_run *start_apart(struct embed *e, struct roux *r, roux_event_fn *fn, void *data)
{
	struct launch *l = &e->launch;

	l->environment = supervisor_environ(l, r->variables);
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
