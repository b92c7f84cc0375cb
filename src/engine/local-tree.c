#include "engine/local-tree.h"

#include <signal.h>

#include "base/clock.h"

enum {
	POLL_MIN_MS = 2, /* how often trees that are being ended are looked at */
	POLL_MAX_MS = 50,
	EMPTY_LOOKS = 2,
	REAP_MS = 1000, /* how often orphans that have ended are taken off the process table */
};

static bool known_pid(void *data, pid_t pid)
{
	struct local_trees *s = data;

	list_each (link, &s->all)
		if (list_entry(link, struct local_tree, link)->child.pid == pid)
			return true;
	return s->beside && known_pid(s->beside, pid);
}

/* What belongs to others that stand beside is left alone. */
static void spare_others(const struct local_trees *s, struct tree_scan *scan)
{
	if (!s->beside)
		return;
	tree_scan_spare_holders(scan);
	list_each (link, &s->beside->all)
		tree_scan_spare(scan, list_entry(link, struct local_tree, link)->child.pid);
}

static void on_reap(struct timer *t)
{
	struct local_trees *s = container_of(t, struct local_trees, reap);

	s->reaped += tree_reap(known_pid, s);
	if (!list_empty(&s->all))
		timer_start(s->loop, t, REAP_MS);
}

/* -- looking -------------------------------------------------------------------------------------
 */

/* What to look for. NULL: every descendant of this process. */
static const struct tree *target(
	const struct local_trees *s, const struct local_tree *t, struct tree *room)
{
	bool alone = s->whole && s->all.next->next == &s->all;

	if (t == &s->rest) {
		*room = (struct tree){ .mark = s->run_mark };
		return s->whole ? NULL : room;
	}
	*room = (struct tree){ .pid = t->child.pid,
		.mark = buf_str(&t->mark),
		.adopt_since_ms = alone ? t->began_ms : 0 };
	return room;
}

/* Without /proc only the process groups of running commands can be reached. */
static size_t signal_group(const struct local_tree *t, bool asking, bool killing)
{
	if (!child_running(&t->child))
		return 0;
	if (asking || killing)
		(void)kill(-t->child.pid, killing ? SIGKILL : SIGTERM);
	if (asking)
		(void)kill(-t->child.pid, SIGCONT);
	return 1;
}

/* One turn of ending a tree. Returns how many processes are left. */
static size_t advance_stop(struct local_trees *s, struct tree_scan *scan, struct local_tree *t)
{
	bool asking = t->stage == TREE_ASKING;
	struct tree room;

	if (asking)
		t->stage = TREE_ASKED;
	else if (t->stage == TREE_ASKED && clock_mono_ms() >= t->kill_at_ms)
		t->stage = TREE_KILLED;
	bool killing = t->stage == TREE_KILLED;
	if (!scan)
		return signal_group(t, asking, killing);
	const struct tree *tree = target(s, t, &room);
	return asking    ? tree_ask(scan, tree, &s->asked)
	       : killing ? tree_kill(scan, tree)
			 : tree_count(scan, tree);
}

/* A look at /proc takes time: a process that forks and exits meanwhile can be missed, child and
 * parent. But then its parent turns up as an orphan to be reaped, so none is left only when looks
 * in a row found none and reaped none. */
static bool proved_empty(const struct local_trees *s, struct local_tree *t)
{
	t->empty = s->reaped ? 0 : t->empty + 1;
	return !s->whole || t->empty >= EMPTY_LOOKS;
}

/* Whether it is gone. */
static bool look_at(struct local_trees *s, struct tree_scan *scan, struct local_tree *t)
{
	if (advance_stop(s, scan, t)) {
		t->empty = 0;
		return false;
	}
	return t->exited && proved_empty(s, t);
}

static bool look_at_commands(struct local_trees *s, struct tree_scan *scan, bool *progress)
{
	bool busy = false;

	list_each_safe (link, &s->all) {
		struct local_tree *t = list_entry(link, struct local_tree, link);

		if (t->stage == TREE_RUNNING)
			continue;
		if (!look_at(s, scan, t)) {
			busy = true;
			continue;
		}
		*progress = true;
		t->stage = TREE_KILLED;
		t->gone(t);
	}
	return busy;
}

/* False: nothing is left to look at. */
static bool look_at_rest(struct local_trees *s, struct tree_scan *scan)
{
	if (s->rest.stage == TREE_RUNNING)
		return false;
	if (!look_at(s, scan, &s->rest))
		return true;
	void (*swept)(void *) = s->swept;
	s->swept = NULL;
	if (swept)
		swept(s->swept_data);
	return false;
}

static void on_poll(struct timer *timer)
{
	struct local_trees *s = container_of(timer, struct local_trees, poll);
	struct tree_scan *scan = tree_scan_new();
	bool progress = false;

	if (scan && s->spares)
		tree_scan_spare_runs(scan);
	if (scan)
		spare_others(s, scan);
	if (s->whole)
		s->reaped += tree_reap(known_pid, s);
	bool busy = look_at_commands(s, scan, &progress);
	busy |= look_at_rest(s, scan);
	progress |= s->reaped > 0;
	s->reaped = 0;
	s->poll_ms = progress ? POLL_MIN_MS : MIN(s->poll_ms * 2, (uint64_t)POLL_MAX_MS);
	if (busy && !timer_running(&s->poll))
		timer_start(s->loop, &s->poll, s->poll_ms);
	tree_scan_free(scan);
}

static void look_soon(struct local_trees *s)
{
	s->poll_ms = POLL_MIN_MS;
	timer_start(s->loop, &s->poll, 0);
}

/* -- ending --------------------------------------------------------------------------------------
 */

static void ask(struct local_trees *s, struct local_tree *t)
{
	t->stage = TREE_ASKING;
	t->kill_at_ms = clock_mono_ms() + s->grace_ms;
	look_soon(s);
}

void local_tree_stop(struct local_trees *s, struct local_tree *t)
{
	if (t->stage == TREE_RUNNING)
		ask(s, t);
}

void local_tree_kill(struct local_trees *s, struct local_tree *t)
{
	t->stage = TREE_KILLED;
	look_soon(s);
}

bool local_tree_exited(struct local_trees *s, struct local_tree *t)
{
	t->exited = true;
	/* Orphans are reaped by the timer, or while trees are ended: not at every exit. */
	if (t->stage != TREE_RUNNING)
		timer_start(s->loop, &s->poll, 0);
	return t->stage == TREE_RUNNING;
}

void local_trees_stop(struct local_trees *s)
{
	ask(s, &s->rest);
}

void local_trees_sweep(struct local_trees *s, bool at_once, void (*done)(void *data), void *data)
{
	if (!s->swept) {
		s->swept = done;
		s->swept_data = data;
		local_tree_stop(s, &s->rest);
	}
	if (at_once)
		s->rest.stage = TREE_KILLED;
	look_soon(s);
}

void local_trees_set_grace(struct local_trees *s, uint64_t grace_ms)
{
	uint64_t latest = clock_mono_ms() + grace_ms;

	s->grace_ms = grace_ms;
	s->rest.kill_at_ms = MIN(s->rest.kill_at_ms, latest);
	list_each (link, &s->all) {
		struct local_tree *t = list_entry(link, struct local_tree, link);

		t->kill_at_ms = MIN(t->kill_at_ms, latest);
	}
}

/* -- beginning -----------------------------------------------------------------------------------
 */

void local_trees_began(struct local_trees *s)
{
	if (s->whole && !timer_running(&s->reap))
		timer_start(s->loop, &s->reap, REAP_MS);
}

void local_trees_init(
	struct local_trees *s, struct loop *l, bool whole, struct str run_mark, uint64_t grace_ms)
{
	*s = (struct local_trees){ .loop = l,
		.whole = whole,
		.run_mark = run_mark,
		.grace_ms = grace_ms,
		.poll.fire = on_poll,
		.reap.fire = on_reap,
		.rest = { .child.pidfd = -1, .exited = true } };
	list_init(&s->all);
}

void local_trees_done(struct local_trees *s)
{
	timer_stop(&s->poll);
	timer_stop(&s->reap);
	tree_asked_done(&s->asked);
}
