#include "remote/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "loop/tree.h"
#include "remote/lease.h"
#include "remote/worker-own.h"
#include "runs/dir/identity.h"

enum {
	GATHER_MS = 20, /* lines that come close together are one batch */
	GATHER_BYTES = 64 * 1024,
	LOOK_MIN_MS = 5,
	LOOK_BUSY_MS = 250,
	LOOK_MAX_MS = 1000,
	BEAT_MS = 15000,
	LEASE_MS = 90000,
	GUARD_MS = 2000, /* beyond the lease, for a loop that hangs */
	WATCH_MS = 5000, /* between looks at the fence and the drivers */
	GONE_MS = 60000, /* a driver that has not beaten for so long is gone */
	DRAIN_S = 60,
	TERM_GRACE_MS = 20000,
	LAST_WORDS_MS = 10000,
};

/* -- saying --------------------------------------------------------------------------------------
 */

static void flush(struct worker *w)
{
	AUTO_BUF lines = BUF_INIT;
	uint64_t now = clock_mono_ms();
	bool sync = clock_since(now, w->beat_ms) >= remote_ms(BEAT_MS) ||
		    (w->told_now && w->info.durable);

	timer_stop(&w->flush);
	if (!w->lines.len || w->dead)
		return;
	buf_swap(&lines, &w->lines);
	writer_add(w->writer, buf_str(&lines), sync, w->told_now);
	w->flushed_ms = now;
	w->told_now = false;
	if (sync)
		w->beat_ms = now;
}

static void on_flush(struct timer *t)
{
	flush(container_of(t, struct worker, flush));
}

void worker_say(struct worker *w, struct said *s)
{
	uint64_t now = clock_mono_ms();
	size_t before = w->lines.len;

	said_write(&w->lines, s);
	said_done(s);
	w->said += w->lines.len - before;
	if (w->lines.len >= GATHER_BYTES) {
		flush(w);
		return;
	}
	if (timer_running(&w->flush))
		return;
	/* What comes after a pause goes at once, at the end of this turn. */
	uint64_t since = clock_since(now, w->flushed_ms);
	bool idle = !w->waiting && !w->info.network;
	timer_start(w->loop, &w->flush, since >= GATHER_MS || idle ? 0 : GATHER_MS - since);
}

/* What is left of the time that it was given. */
static uint64_t left_s(const struct worker *w)
{
	uint64_t gone = (clock_boot_ms() - w->claimed_ms) / 1000;

	return !w->time_s ? UINT32_MAX : w->time_s > gone ? w->time_s - gone : 0;
}

static void say_hello(struct worker *w)
{
	struct said s = { .kind = SAID_HELLO };
	struct identity self = { 0 };
	struct stat st = { 0 };

	(void)identity_self(&self);
	(void)stat(w->info.cwd.p, &st);
	s.hello = (struct said_hello){ .generation = w->info.generation,
		.probe = w->probe,
		.roux = S(ROUX_VERSION),
		.host = str_of(w->host),
		.boot = str_of(self.boot),
		.job = w->job,
		.pid = (uint64_t)getpid(),
		.cpus = w->has.cpus,
		.mem_mb = w->has.mem_mb,
		.left_s = left_s(w),
		.cwd_ino = (uint64_t)st.st_ino,
		.uid = geteuid(),
		.epoch = w->epoch,
		.problem = str_of(w->problem) };
	list_each (link, &w->grants)
		vec_push(&s.hello.has, list_entry(link, struct grant, link)->order.n);
	w->beat_ms = 0; /* it is on the disk before anything else */
	worker_say(w, &s);
}

/* On a shared directory driver and orders may be seen late; the driver wants to know what it has.
 */
static void greet(struct worker *w)
{
	if (w->greeted || !w->allocated)
		return;
	w->greeted = true;
	w->ended_ms = clock_mono_ms();
	say_hello(w);
	flush(w);
}

static void say_bye(struct worker *w)
{
	struct said s = { .kind = SAID_BYE, .why = str_of(w->leaving) };

	w->beat_ms = 0;
	worker_say(w, &s);
	flush(w);
}

/* -- leaving -------------------------------------------------------------------------------------
 */

static void on_swept(void *data)
{
	((struct worker *)data)->swept = true;
}

static void sweep(struct worker *w, bool at_once)
{
	w->sweeping = true;
	w->executor->ops->sweep(w->executor, at_once ? SWEEP_KILL : SWEEP_ASK, on_swept, w);
}

/* It takes no more and leaves when nothing runs. */
static void leave(struct worker *w, const char *why)
{
	if (!w->leaving)
		w->leaving = why;
	grants_drop_all(w);
}

static void end_all(struct worker *w, const char *why, bool at_once)
{
	leave(w, why);
	if (at_once)
		w->leaving = why;
	grants_stop_all(w, at_once);
	w->executor->ops->stop_all(w->executor);
	if (at_once && w->sweeping)
		sweep(w, true);
}

/* Its lease is over, or it was given up: others may run its commands from now on. */
static void die(struct worker *w, const char *why)
{
	if (w->dead)
		return;
	w->dead = true;
	end_all(w, "fence", true);
	/* Last: where this goes may hang too. */
	(void)worker_complain("%s; its commands are ended", why);
}

bool worker_lapsed(struct worker *w)
{
	uint64_t lease = remote_ms(LEASE_MS);

	if (!w->dead && clock_since(clock_boot_ms(), writer_synced_ms(w->writer)) > lease)
		die(w, "nothing could be written to the shared directory for too long");
	return w->dead;
}

static void drain(struct worker *w)
{
	struct said s = { .kind = SAID_DRAIN, .left_s = left_s(w), .why = S("time") };

	if (w->draining)
		return;
	w->draining = true;
	worker_say(w, &s);
	grants_drop_all(w);
}

static void check_time(struct worker *w)
{
	if (w->time_s && left_s(w) < MIN((uint64_t)DRAIN_S, w->time_s / 4))
		drain(w);
}

/* The batch system does not wait longer. */
static void take_grace(struct worker *w)
{
	uint64_t most = w->terminated ? TERM_GRACE_MS : UINT64_MAX;

	w->executor->ops->set_grace(w->executor, MIN(w->info.grace_ms, most));
}

static void on_signal(struct signals *signals, int signal, int value)
{
	struct worker *w = container_of(signals, struct worker, signals);

	(void)value;
	if (signal == SIGUSR1) {
		check_time(w);
		return;
	}
	if (w->terminated || w->leaving)
		return;
	w->terminated = true;
	take_grace(w);
	end_all(w, "term", false);
	grants_terminated(w);
}

/* -- hearing -------------------------------------------------------------------------------------
 */

static void take_allocation(struct worker *w, const struct order_allocation *has)
{
	w->has = (struct load){ has->cpus ? has->cpus : w->has.cpus, has->mem_mb, has->gpus };
	w->time_s = has->time_s;
	w->allocated = true;
}

static void obey(struct worker *w, struct order *o)
{
	switch (o->kind) {
	case ORDER_RUN:
		grants_add(w, o);
		break;
	case ORDER_DROP:
		grants_drop(w, o->n);
		break;
	case ORDER_STOP:
	case ORDER_KILL:
		grants_stop(w, o->n, o->kind == ORDER_KILL);
		break;
	case ORDER_CANCEL:
		end_all(w, "cancel", false);
		break;
	case ORDER_KILL_ALL:
		end_all(w, "kill", true);
		break;
	case ORDER_QUIT:
		w->leaving = w->leaving ? w->leaving : "quit";
		break;
	case ORDER_GRACE:
		w->info.grace_ms = o->ms;
		take_grace(w);
		break;
	case ORDER_PAUSE:
		w->paused = o->on;
		w->executor->ops->pause(w->executor, o->on);
		break;
	case ORDER_ALLOCATION:
		if (!w->greeted)
			take_allocation(w, &o->has);
		break;
	case ORDER_RULES:
		w->info.durable = o->durable;
		w->info.careful = o->careful;
		break;
	case ORDER_KINDS:
		break;
	}
}

static void see_order(void *data, struct str line)
{
	struct worker *w = data;
	struct order o;
	bool unknown;

	if (!order_line_read(line, &o, &unknown)) {
		if (!unknown)
			(void)worker_complain("an order that cannot be read is left out");
		return;
	}
	obey(w, &o);
	order_done(&o);
}

/* Whether there was something. */
static bool read_orders(struct worker *w)
{
	AUTO_BUF bytes = BUF_INIT;

	if (!w->epoch || !w->orders.name)
		return false;
	(void)exchange_file_follow(&w->x, &w->orders, w->reader.offset, 4 << 20, &bytes);
	if (!bytes.len)
		return false;
	(void)line_reader_take(&w->reader, buf_str(&bytes), see_order, w);
	greet(w);
	grants_begin(w);
	return true;
}

static void look(struct worker *w)
{
	bool busy = w->waiting + w->running > 0;
	uint64_t most = busy ? LOOK_BUSY_MS : LOOK_MAX_MS;

	if (read_orders(w))
		w->look_ms = LOOK_MIN_MS;
	else
		w->look_ms = MIN(w->look_ms * 3 / 2 + 1, most);
	/* Changes of files here are told. */
	timer_start(w->loop, &w->look,
		notify_is_open(&w->notify) && w->orders_changes.wd >= 0 ? LOOK_MAX_MS : w->look_ms);
}

void worker_expect(struct worker *w)
{
	if (notify_is_open(&w->notify) && w->orders_changes.wd >= 0)
		return;
	w->look_ms = LOOK_MIN_MS;
	timer_start(w->loop, &w->look, LOOK_MIN_MS);
}

static void on_look(struct timer *t)
{
	look(container_of(t, struct worker, look));
}

static void on_orders_changed(struct notify_file *f, uint32_t events)
{
	(void)events;
	look(container_of(f, struct worker, orders_changes));
}

/* The orders of another driver are read from now on. */
static void follow(struct worker *w, uint64_t epoch)
{
	char name[80], path[4200];

	exchange_file_done(&w->orders);
	line_reader_done(&w->reader);
	w->reader = (struct line_reader){ 0 };
	w->epoch = epoch;
	w->beat_size = 0;
	w->beat_seen_ms = clock_mono_ms();
	(void)snprintf(name, sizeof(name), "w/%" PRIu64 "/orders.%" PRIu64, w->id, epoch);
	exchange_file_init(&w->orders, &w->x, name, false, false);
	if (!notify_is_open(&w->notify))
		return;
	(void)snprintf(path, sizeof(path), "%s/%s", w->x.path, name);
	w->orders_changes.changed = on_orders_changed;
	(void)notify_add(&w->notify, &w->orders_changes, path, IN_MODIFY);
}

static bool orders_there(const struct worker *w, uint64_t epoch)
{
	char name[80];

	(void)snprintf(name, sizeof(name), "w/%" PRIu64 "/orders.%" PRIu64, w->id, epoch);
	return faccessat(w->x.fd, name, R_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* -- its life ------------------------------------------------------------------------------------
 */

static void look_around(struct worker *w)
{
	AUTO_BUF fence = BUF_INIT;
	char name[64];
	uint64_t epoch = 0, size = 0, now = clock_mono_ms();

	w->looked_ms = now;
	(void)snprintf(name, sizeof(name), "w/%" PRIu64 "/fence", w->id);
	int r = exchange_read(&w->x, name, 64, &fence);
	if (r == -ENOENT && w->fence_seen && !w->leaving)
		die(w, "the shared directory is gone");
	w->fence_seen |= r >= 0;
	if (fence.len)
		die(w, "it was given up by the run");
	if (exchange_epoch(&w->x, &epoch, &size) < 0 || !epoch)
		return;
	if (epoch > w->epoch && orders_there(w, epoch)) {
		follow(w, epoch);
		if (w->greeted)
			say_hello(w);
		look(w);
	} else if (epoch == w->epoch && size != w->beat_size) {
		w->beat_size = size;
		w->beat_seen_ms = now;
	}
}

static void on_drivers_changed(struct notify_file *f, uint32_t events)
{
	struct worker *w = container_of(f, struct worker, drivers_changes);

	/* Beats of the driver are looked at now and then. */
	if (events & (IN_CREATE | IN_Q_OVERFLOW))
		w->looked_ms = 0;
}

/* Whether it has waited long enough. */
static void check_idle(struct worker *w, uint64_t now)
{
	if (w->waiting || !list_empty(&w->grants) || w->leaving)
		return;
	const char *why = lease_rest(&(struct rest){ .now = now,
		.beat_seen = w->beat_seen_ms,
		.ended = w->ended_ms,
		.gone = remote_ms(GONE_MS),
		.orphan = remote_ms(w->info.orphan_s * 1000),
		.idle = w->greeted ? remote_ms(w->info.idle_s * 1000) : UINT64_MAX,
		.draining = w->draining });
	if (why)
		leave(w, why);
}

static void on_tick(struct timer *t)
{
	struct worker *w = container_of(t, struct worker, tick);
	uint64_t now = clock_mono_ms();

	timer_start(w->loop, t, MIN(remote_ms(1000), (uint64_t)1000));
	if (worker_lapsed(w))
		return;
	if (clock_since(now, w->looked_ms) >= remote_ms(WATCH_MS) || !w->looked_ms || !w->greeted)
		look_around(w);
	if (clock_since(now, w->beat_ms) >= remote_ms(BEAT_MS)) {
		struct said s = { .kind = SAID_BEAT };

		worker_say(w, &s);
	}
	check_time(w);
	check_idle(w, now);
}

/* Everything is over when no grant is left and no process either. */
static bool over(struct worker *w)
{
	if (!w->leaving || !list_empty(&w->grants))
		return false;
	if (!w->sweeping)
		sweep(w, w->dead || strcmp(w->leaving, "kill") == 0);
	return w->swept;
}

static void on_wrote(void *data)
{
	grants_begin(data);
}

static void live(struct worker *w)
{
	while (!over(w) && !(w->problem && w->greeted)) {
		(void)loop_turn(w->loop, -1);
		if (worker_lapsed(w) && w->swept)
			break;
	}
}

/* -- its beginning -------------------------------------------------------------------------------
 */

static bool begin(struct worker *w, const char *const *env)
{
	static const int list[] = { SIGTERM, SIGUSR1, SIGINT, SIGHUP, 0 };
	char name[64];

	w->loop = loop_new();
	w->signals.came = on_signal;
	if (!w->loop || signals_start(w->loop, &w->signals, list) < 0 ||
		pipe2(w->ids, O_CLOEXEC | O_NONBLOCK) < 0)
		return worker_complain("cannot begin: %s", strerror(errno)) == 0;
	(void)tree_become_subreaper();
	(void)snprintf(name, sizeof(name), "w/%" PRIu64 "/records", w->id);
	w->writer = writer_new(w->loop, &w->x, name, on_wrote, w);
	if (!w->writer || !lease_guard(w->writer, remote_ms(LEASE_MS + GUARD_MS)))
		return worker_complain("cannot begin: %s", strerror(errno)) == 0;
	w->executor = local_executor(w->loop, &(struct surroundings){ .cwd = w->info.cwd.p,
						      .env = env,
						      .mask = &w->signals.before,
						      .whole = true,
						      .grace_ms = w->info.grace_ms });
	w->executor->store = &w->store;
	notify_init(&w->notify);
	if (!w->x.network && notify_open(&w->notify) == 0 &&
		notify_start(w->loop, &w->notify) == 0) {
		char path[4200];

		(void)snprintf(path, sizeof(path), "%s/driver", w->x.path);
		w->drivers_changes.changed = on_drivers_changed;
		(void)notify_add(&w->notify, &w->drivers_changes, path, IN_CREATE);
	}
	return true;
}

/* Whether it can work where the run works; else it says why. */
static bool enter(struct worker *w, struct buf *problem)
{
	(void)umask((mode_t)w->info.umask);
	if (chdir(w->info.cwd.p) == 0)
		return true;
	buf_printf(problem,
		"node %s does not see %s (%s); the working directory and %s must be on a file "
		"system that the nodes share",
		w->host, w->info.cwd.p, strerror(errno), w->x.path);
	for (char *c = problem->p + strlen("node "); c < problem->p + problem->len; c++)
		if (*c == '(' && c[1] >= 'A' && c[1] <= 'Z')
			c[1] |= 0x20;
	return false;
}

static int work(struct worker *w, const char *const *env)
{
	AUTO_BUF problem = BUF_INIT;

	w->claimed_ms = clock_boot_ms();
	w->ended_ms = w->beat_seen_ms = clock_mono_ms();
	if (!begin(w, env))
		return 1;
	if (!enter(w, &problem)) {
		w->problem = buf_cstr(&problem);
		(void)worker_complain("%s", w->problem);
	}
	w->look.fire = on_look;
	w->tick.fire = on_tick;
	w->look_ms = LOOK_MIN_MS;
	timer_start(w->loop, &w->tick, 1);
	look_around(w);
	live(w);
	if (w->problem)
		(void)writer_flush(w->writer, LAST_WORDS_MS);
	if (w->dead || w->problem)
		return 1;
	say_bye(w);
	return writer_flush(w->writer, LAST_WORDS_MS)
		       ? 0
		       : worker_complain("could not say that it leaves");
}

int worker_main(const char *dir)
{
	struct worker w = { .x = EXCHANGE_NONE, .store = STORE_INIT, .ids = { -1, -1 } };
	const char *const *env = NULL;
	int status = 1;

	list_init(&w.grants);
	w.flush.fire = on_flush;
	w.job = worker_job(&w.arena);
	w.has.cpus = worker_processors();
	if (gethostname(w.host, sizeof(w.host) - 1) < 0)
		(void)snprintf(w.host, sizeof(w.host), "unknown");
	if (getenv("SLURMD_NODENAME"))
		(void)snprintf(w.host, sizeof(w.host), "%s", getenv("SLURMD_NODENAME"));
	if (worker_find(&w, dir) && worker_claim(&w, &status) && worker_environment(&w, &env))
		status = work(&w, env);
	(void)fflush(stderr);
	/* The thread may hang in a write for ever. */
	_exit(status);
}
