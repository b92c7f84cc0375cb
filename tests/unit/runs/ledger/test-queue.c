#include "runs/ledger/queue.h"

#include <poll.h>
#include <signal.h>

#include "base/clock.h"
#include "ledger-root.h"
#include "runs/ledger/host-state.h"
#include "runs/ledger/queued.h"
#include "runs/ledger/store.h"

#define HOST S("chat")

static uint64_t enqueue(
	struct ledger *l, int lane, enum queue_place place, const char *key, const char *payload)
{
	AUTO_REPORT r = REPORT_INIT;
	struct queue_item item = { .lane = lane, .key = str_of(key), .payload = str_of(payload) };
	bool new;

	assert_true(ledger_queue_add(l, HOST, &item, place, &new, &r));
	assert_true(new);
	assert_int_equal(item.state, QUEUE_QUEUED);
	return item.item;
}

static struct str listed(struct ledger *l, enum queue_state state)
{
	return queued(l, HOST, state, false);
}

/* What the next item is; "" when there is none. */
static struct queue_item next(struct ledger *l, const char *run)
{
	AUTO_REPORT r = REPORT_INIT;
	struct queue_item item = { 0 };

	(void)ledger_queue_next(l, HOST, str_of(run), &arena, &item, &r);
	assert_int_equal(r.issues.len, 0);
	return item;
}

static size_t counted(struct ledger *l, size_t lane)
{
	AUTO_REPORT r = REPORT_INIT;
	size_t n[8];

	assert_true(lane < ARRAY_SIZE(n) && ledger_queue_count(l, HOST, lane + 1, n, &r));
	return n[lane];
}

/* -- order ---------------------------------------------------------------------------------------
 */

static void lanes_are_taken_in_order_and_each_by_arrival(void **state UNUSED)
{
	struct ledger *l = opened();

	(void)enqueue(l, 2, QUEUE_BACK, "", "c1");
	(void)enqueue(l, 2, QUEUE_BACK, "", "c2");
	(void)enqueue(l, 0, QUEUE_BACK, "", "a1");
	(void)enqueue(l, 1, QUEUE_BACK, "", "b1");
	(void)enqueue(l, -1, QUEUE_BACK, "", "first");
	(void)enqueue(l, 0, QUEUE_BACK, "", "a2");
	assert_str(listed(l, QUEUE_QUEUED), "first a1 a2 b1 c1 c2 ");
	assert_int_equal(counted(l, 2), 2);
	assert_int_equal(counted(l, 1), 1);
	assert_int_equal(counted(l, 7), 0);
	assert_str(next(l, "r1").payload, "first");
	assert_str(next(l, "r2").payload, "a1");
	ledger_close(l);
	l = opened();
	assert_str(next(l, "r3").payload, "a2");
	assert_str(listed(l, QUEUE_RUNNING), "a1 first a2 ");
	ledger_close(l);
}

static void an_item_is_promoted_and_comes_back_to_its_place(void **state UNUSED)
{
	struct ledger *l = opened();
	AUTO_REPORT r = REPORT_INIT;
	uint64_t a = enqueue(l, 2, QUEUE_BACK, "", "a"), b = enqueue(l, 2, QUEUE_BACK, "", "b");
	uint64_t c = enqueue(l, 2, QUEUE_BACK, "", "c");

	assert_true(ledger_queue_move(l, HOST, c, 1, QUEUE_BACK, &r));
	assert_true(ledger_queue_move(l, HOST, a, 1, QUEUE_BACK, &r));
	assert_str(listed(l, QUEUE_QUEUED), "c a b ");
	/* Once more: it takes a new place. */
	assert_true(ledger_queue_move(l, HOST, c, 1, QUEUE_BACK, &r));
	assert_str(listed(l, QUEUE_QUEUED), "a c b ");
	(void)enqueue(l, 1, QUEUE_AHEAD, "", "go");
	(void)enqueue(l, 1, QUEUE_AHEAD, "", "on");
	assert_str(listed(l, QUEUE_QUEUED), "go on a c b ");
	(void)enqueue(l, 1, QUEUE_FRONT, "", "now");
	assert_str(listed(l, QUEUE_QUEUED), "now go on a c b ");
	assert_true(ledger_queue_move(l, HOST, c, 1, QUEUE_FRONT, &r));
	assert_true(ledger_queue_move(l, HOST, c, 1, QUEUE_FRONT, &r));
	assert_str(listed(l, QUEUE_QUEUED), "c now go on a b ");
	assert_true(ledger_queue_move(l, HOST, c, 2, QUEUE_ARRIVAL, &r));
	assert_true(ledger_queue_move(l, HOST, a, 2, QUEUE_ARRIVAL, &r));
	assert_str(listed(l, QUEUE_QUEUED), "now go on a b c ");
	/* Behind those that are there, before those that come. */
	assert_true(ledger_queue_move(l, HOST, b, 2, QUEUE_BACK, &r));
	(void)enqueue(l, 2, QUEUE_BACK, "", "d");
	assert_str(listed(l, QUEUE_QUEUED), "now go on a c b d ");
	assert_int_equal(r.issues.len, 0);
	ledger_close(l);
}

static void the_front_of_an_empty_lane_is_a_place_too(void **state UNUSED)
{
	struct ledger *l = opened();

	(void)enqueue(l, 0, QUEUE_FRONT, "", "b");
	(void)enqueue(l, 0, QUEUE_BACK, "", "c");
	(void)enqueue(l, 0, QUEUE_FRONT, "", "a");
	assert_str(listed(l, QUEUE_QUEUED), "a b c ");
	ledger_close(l);
}

static void hosts_do_not_see_each_other(void **state UNUSED)
{
	struct ledger *l = opened();
	AUTO_REPORT r = REPORT_INIT;
	struct queue_item other = { .key = S("7"), .payload = S("theirs") };
	bool new;

	uint64_t mine = enqueue(l, 0, QUEUE_BACK, "7", "mine");
	assert_true(ledger_queue_add(l, S("mcp"), &other, QUEUE_BACK, &new, &r));
	assert_true(new);
	assert_str(listed(l, QUEUE_QUEUED), "mine ");
	assert_false(ledger_queue_remove(l, S("mcp"), mine, &r));
	assert_false(ledger_queue_edit(l, S("mcp"), mine, S("x"), &r));
	assert_false(ledger_queue_move(l, S("mcp"), mine, 1, QUEUE_BACK, &r));
	assert_false(ledger_queue_find(l, S("mcp"), mine, &arena, &other, &r));
	assert_str(next(l, "r").payload, "mine");
	assert_str(next(l, "r").payload, "");
	assert_int_equal(r.issues.len, 0);
	ledger_close(l);
}

/* -- from one state to the next ------------------------------------------------------------------
 */

static void a_taken_item_has_its_run_also_after_a_restart(void **state UNUSED)
{
	struct ledger *l = opened();
	AUTO_REPORT r = REPORT_INIT;
	struct queue_item item;
	uint64_t a = enqueue(l, 0, QUEUE_BACK, "k", "a"), b = enqueue(l, 0, QUEUE_BACK, "", "b");

	assert_int_equal(next(l, "run-a").item, a);
	ledger_close(l);
	l = opened();
	assert_true(ledger_queue_find(l, HOST, a, &arena, &item, &r));
	assert_int_equal(item.state, QUEUE_RUNNING);
	assert_str(item.run, "run-a");
	assert_str(item.key, "k");
	assert_true(item.added > 0 && item.began >= item.added && item.ended == 0);
	/* What runs cannot be changed as if it waited, and the other way round. */
	assert_false(ledger_queue_move(l, HOST, a, 1, QUEUE_BACK, &r));
	assert_false(ledger_queue_edit(l, HOST, a, S("x"), &r));
	assert_false(ledger_queue_remove(l, HOST, a, &r));
	assert_false(ledger_queue_done(l, HOST, b, &r));
	assert_false(ledger_queue_put_back(l, HOST, b, &r));
	/* It never began: it waits again, before what came later. */
	assert_true(ledger_queue_put_back(l, HOST, a, &r));
	assert_str(listed(l, QUEUE_QUEUED), "a b ");
	assert_int_equal(next(l, "run-2").item, a);
	assert_int_equal(next(l, "run-3").item, b);
	assert_true(ledger_queue_done(l, HOST, a, &r));
	assert_true(ledger_queue_done(l, HOST, b, &r));
	assert_false(ledger_queue_done(l, HOST, a, &r));
	assert_true(ledger_queue_find(l, HOST, a, &arena, &item, &r));
	assert_int_equal(item.state, QUEUE_DONE);
	assert_str(item.run, "run-2");
	assert_str(item.payload, "");
	assert_false(ledger_queue_find(l, HOST, b, &arena, &item, &r));
	assert_int_equal(r.issues.len, 0);
	ledger_close(l);
}

static void the_same_key_twice_is_one_item(void **state UNUSED)
{
	struct ledger *l = opened();
	AUTO_REPORT r = REPORT_INIT;
	struct queue_item again = { .lane = 1, .key = S("u1"), .payload = S("again") };
	uint64_t first = enqueue(l, 0, QUEUE_BACK, "u1", "first");
	bool new = true;

	assert_true(ledger_queue_add(l, HOST, &again, QUEUE_BACK, &new, &r));
	assert_false(new);
	assert_int_equal(again.item, first);
	assert_int_equal(again.lane, 0);
	assert_str(listed(l, QUEUE_QUEUED), "first ");
	/* Also when it is done: an update that is sent once more does not run once more. */
	assert_int_equal(next(l, "r").item, first);
	assert_true(ledger_queue_done(l, HOST, first, &r));
	assert_true(ledger_queue_add(l, HOST, &again, QUEUE_BACK, &new, &r));
	assert_false(new);
	assert_int_equal(again.state, QUEUE_DONE);
	assert_str(listed(l, QUEUE_QUEUED), "");
	/* Until it is forgotten. */
	assert_true(ledger_queue_forget(l, HOST, 1, &r));
	assert_true(ledger_queue_add(l, HOST, &again, QUEUE_BACK, &new, &r));
	assert_false(new);
	assert_true(ledger_queue_forget(l, HOST, clock_real_ms() + 10000, &r));
	assert_true(enqueue(l, 0, QUEUE_BACK, "u1", "anew") > first);
	assert_int_equal(r.issues.len, 0);
	ledger_close(l);
}

static void a_removed_item_is_not_added_again(void **state UNUSED)
{
	struct ledger *l = opened();
	AUTO_REPORT r = REPORT_INIT;
	struct queue_item again = { .key = S("k") };
	uint64_t a = enqueue(l, 0, QUEUE_BACK, "k", "a"), b = enqueue(l, 0, QUEUE_BACK, "", "b");
	size_t removed;
	bool new = true;

	assert_true(ledger_queue_remove(l, HOST, a, &r));
	assert_true(ledger_queue_remove(l, HOST, b, &r));
	assert_false(ledger_queue_remove(l, HOST, b, &r));
	assert_true(ledger_queue_add(l, HOST, &again, QUEUE_BACK, &new, &r));
	assert_false(new);
	(void)enqueue(l, 0, QUEUE_BACK, "c", "c");
	(void)enqueue(l, 1, QUEUE_BACK, "", "d");
	(void)enqueue(l, 2, QUEUE_BACK, "", "e");
	assert_str(next(l, "r").payload, "c");
	assert_true(ledger_queue_clear(l, HOST, &removed, &r));
	assert_int_equal(removed, 2);
	assert_str(listed(l, QUEUE_QUEUED), "");
	assert_str(listed(l, QUEUE_RUNNING), "c ");
	assert_true(enqueue(l, 0, QUEUE_BACK, "", "f") > b);
	assert_int_equal(r.issues.len, 0);
	ledger_close(l);
}

static void a_payload_is_any_bytes_up_to_a_limit(void **state UNUSED)
{
	struct ledger *l = opened();
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF large = BUF_INIT;
	struct queue_item item = { .payload = S("a\0\xff\n") }, got;
	bool new;

	assert_true(ledger_queue_add(l, HOST, &item, QUEUE_BACK, &new, &r));
	assert_true(ledger_queue_find(l, HOST, item.item, &arena, &got, &r));
	assert_bytes(got.payload, S("a\0\xff\n"));
	assert_true(ledger_queue_edit(l, HOST, item.item, S(""), &r));
	assert_true(ledger_queue_find(l, HOST, item.item, &arena, &got, &r));
	assert_bytes(got.payload, S(""));
	buf_fill(&large, 'x', LEDGER_VALUE_MAX);
	assert_true(ledger_queue_edit(l, HOST, item.item, buf_str(&large), &r));
	assert_int_equal(r.issues.len, 0);
	buf_adds(&large, "x");
	assert_false(ledger_queue_edit(l, HOST, item.item, buf_str(&large), &r));
	assert_said(&r, "a queue item of 1048577 bytes is too large");
	report_reset(&r);
	struct queue_item next_item = { .payload = buf_str(&large) };
	assert_false(ledger_queue_add(l, HOST, &next_item, QUEUE_BACK, &new, &r));
	assert_said(&r, "too large");
	report_reset(&r);
	assert_false(ledger_queue_add(l, S(""), &item, QUEUE_BACK, &new, &r));
	assert_said(&r, "name of a host");
	assert_int_equal(counted(l, 0), 1);
	ledger_close(l);
}

/* -- batches -------------------------------------------------------------------------------------
 */

static struct str offset(struct ledger *l)
{
	AUTO_REPORT r = REPORT_INIT;
	struct str value = S("none");

	(void)ledger_state_get(l, HOST, S("offset"), &arena, &value, &r);
	assert_int_equal(r.issues.len, 0);
	return value;
}

static void items_and_the_offset_behind_them_are_one_change(void **state UNUSED)
{
	struct ledger *l = opened(), *other = opened();
	AUTO_REPORT r = REPORT_INIT;

	assert_true(ledger_batch_begin(l, true, &r));
	(void)enqueue(l, 0, QUEUE_BACK, "1", "a");
	assert_true(ledger_state_set(l, HOST, S("offset"), S("2"), &r));
	assert_str(listed(other, QUEUE_QUEUED), "");
	assert_str(offset(other), "none");
	assert_true(ledger_batch_commit(l, &r));
	assert_str(listed(other, QUEUE_QUEUED), "a ");
	assert_str(offset(other), "2");

	assert_true(ledger_batch_begin(l, true, &r));
	(void)enqueue(l, 0, QUEUE_BACK, "2", "b");
	assert_str(next(l, "run").payload, "a");
	assert_true(ledger_state_set(l, HOST, S("offset"), S("3"), &r));
	ledger_batch_undo(l);
	assert_str(listed(l, QUEUE_QUEUED), "a ");
	assert_str(offset(l), "2");
	assert_int_equal(r.issues.len, 0);
	ledger_close(other);
	ledger_close(l);
}

/* They are counted in memory during a batch: what follows it counts on, what undoes it does not. */
static void numbers_of_a_batch_are_never_given_again(void **state UNUSED)
{
	struct ledger *l = opened(), *other = opened();
	AUTO_REPORT r = REPORT_INIT;
	struct queue_item again = { .lane = 1, .key = S("two"), .payload = S("again") };
	bool new = true;
	uint64_t first = enqueue(l, 1, QUEUE_BACK, "one", "1");

	assert_true(ledger_batch_begin(l, true, &r));
	assert_int_equal(enqueue(l, 1, QUEUE_BACK, "two", "2"), first + 1);
	assert_int_equal(enqueue(l, 0, QUEUE_BACK, "", "3"), first + 2);
	assert_true(ledger_queue_add(l, HOST, &again, QUEUE_BACK, &new, &r));
	assert_false(new);
	assert_int_equal(again.item, first + 1);
	assert_true(ledger_batch_commit(l, &r));
	uint64_t last = enqueue(other, 1, QUEUE_BACK, "", "4");
	assert_true(last > first + 2);
	assert_true(ledger_batch_begin(l, true, &r));
	(void)enqueue(l, 1, QUEUE_BACK, "", "undone");
	ledger_batch_undo(l);
	assert_int_equal(enqueue(other, 1, QUEUE_BACK, "", "5"), last + 1);
	assert_str(listed(l, QUEUE_QUEUED), "3 1 2 4 5 ");
	ledger_close(other);
	ledger_close(l);
}

static void a_batch_with_a_failure_leaves_nothing(void **state UNUSED)
{
	struct ledger *l = opened();
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF large = BUF_INIT;

	buf_fill(&large, 'x', LEDGER_VALUE_MAX + 1);
	assert_true(ledger_batch_begin(l, true, &r));
	(void)enqueue(l, 0, QUEUE_BACK, "1", "a");
	assert_false(ledger_state_set(l, HOST, S("offset"), buf_str(&large), &r));
	assert_said(&r, "too large");
	/* A caller that does not look at the failure makes no half change. */
	assert_false(ledger_state_set(l, HOST, S("offset"), S("2"), &r));
	assert_false(ledger_batch_commit(l, &r));
	assert_str(listed(l, QUEUE_QUEUED), "");
	assert_str(offset(l), "none");
	/* It can be used as before. */
	report_reset(&r);
	assert_true(ledger_batch_begin(l, true, &r));
	(void)enqueue(l, 0, QUEUE_BACK, "1", "a");
	assert_true(ledger_batch_commit(l, &r));
	assert_str(listed(l, QUEUE_QUEUED), "a ");
	ledger_close(l);
}

static bool ended(void *data UNUSED, const struct run_row *current UNUSED)
{
	return true;
}

/* Nothing said "no such item": that is an answer, not a failure. */
static void the_run_can_be_claimed_in_the_same_change(void **state UNUSED)
{
	struct ledger *l = opened();
	AUTO_REPORT r = REPORT_INIT;
	struct run_row row = { .id = S("turn-1"), .generation = S("g1"), .status = S("starting") };
	bool taken;

	(void)enqueue(l, 0, QUEUE_BACK, "", "a");
	for (int i = 0; i < 2; i++) {
		assert_true(ledger_batch_begin(l, true, &r));
		assert_str(next(l, "turn-1").payload, "a");
		assert_false(ledger_queue_remove(l, HOST, 99, &r));
		assert_true(ledger_claim(l, &row, ended, NULL, &taken, &r));
		if (i == 0)
			ledger_batch_undo(l);
		else
			assert_true(ledger_batch_commit(l, &r));
		assert_int_equal(ledger_find(l, S("turn-1"), &arena, &row, &r), i);
		assert_str(listed(l, QUEUE_RUNNING), i ? "a " : "");
	}
	assert_int_equal(r.issues.len, 0);
	ledger_close(l);
}

/* -- several processes, and their death ----------------------------------------------------------
 */

enum { PROCESSES = 8, EACH = 40 };

/* Adds what is its own and what all add, takes as many as it can. */
static int work(int go, int number)
{
	AUTO_REPORT r = REPORT_INIT;
	struct arena a = ARENA_INIT;
	struct pollfd p = { .fd = go, .events = POLLIN };
	struct queue_item got;
	bool new;

	(void)poll(&p, 1, -1);
	struct ledger *l = ledger_open(str_of(root), LEDGER_USUAL, &r);
	bool ok = l != NULL;
	for (int i = 0; ok && i < EACH; i++) {
		struct queue_item own = { .payload = S("own") };
		struct queue_item shared = { .key = arena_printf(&a, "k%d", i),
			.payload = S("shared") };

		ok = ledger_queue_add(l, HOST, &own, QUEUE_BACK, &new, &r) &&
		     ledger_queue_add(l, HOST, &shared, QUEUE_FRONT, &new, &r);
		if (ok && ledger_queue_next(
				  l, HOST, arena_printf(&a, "%d-%d", number, i), &a, &got, &r))
			ok = i % 2 || ledger_queue_put_back(l, HOST, got.item, &r);
		ok = ok && !r.issues.len;
	}
	if (!ok) {
		AUTO_BUF why = BUF_INIT;

		report_text(&r, REPORT_ERRORS, &why);
		print_error("process %d: %s\n", number, buf_cstr(&why));
	}
	ledger_close(l);
	arena_done(&a);
	return ok ? 0 : 1;
}

struct tally {
	size_t own, shared;
};

static bool tally(void *data, const struct queue_item *item)
{
	struct tally *t = data;

	t->own += str_eq(item->payload, S("own"));
	t->shared += str_eq(item->payload, S("shared"));
	return item->run.len > 0 || item->state == QUEUE_QUEUED;
}

static void many_processes_at_once_lose_and_double_nothing(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	struct tally queued = { 0 }, running = { 0 };
	pid_t pids[PROCESSES];
	int go[2];

	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	for (int i = 0; i < PROCESSES; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i] == 0) {
			(void)close(go[1]);
			_exit(work(go[0], i));
		}
	}
	(void)close(go[0]);
	(void)close(go[1]);
	for (int i = 0; i < PROCESSES; i++) {
		int status;

		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	struct ledger *l = opened();
	assert_true(ledger_queue_each(l, HOST, QUEUE_QUEUED, tally, &queued, &r));
	assert_true(ledger_queue_each(l, HOST, QUEUE_RUNNING, tally, &running, &r));
	assert_int_equal(queued.own + running.own, PROCESSES * EACH);
	assert_int_equal(queued.shared + running.shared, EACH);
	/* Half of what each process took it put back, and there was always something to take. */
	assert_int_equal(running.own + running.shared, PROCESSES * EACH / 2);
	ledger_close(l);
}

static int countdown;

static int die_at_zero(void *data UNUSED)
{
	if (countdown-- == 0)
		(void)kill(getpid(), SIGKILL);
	return 0;
}

/* One update arrives and its first item is taken, as a host does it. Killed after `n` steps of
 * SQLite's machine. */
static int live_until(struct str host, int n)
{
	AUTO_REPORT r = REPORT_INIT;
	struct arena a = ARENA_INIT;
	struct ledger *l = ledger_open(str_of(root), LEDGER_USUAL, &r);
	struct queue_item one = { .key = S("7"), .payload = S("one") };
	struct queue_item two = { .lane = 1, .key = S("8"), .payload = S("two") }, got;
	bool new;

	if (!l)
		return 1;
	countdown = n;
	sqlite3_progress_handler(l->db, 1, die_at_zero, NULL);
	bool ok = ledger_batch_begin(l, true, &r) &&
		  ledger_queue_add(l, host, &one, QUEUE_FRONT, &new, &r) &&
		  ledger_queue_add(l, host, &two, QUEUE_BACK, &new, &r) &&
		  ledger_state_set(l, host, S("offset"), S("9"), &r) &&
		  ledger_batch_commit(l, &r) &&
		  ledger_queue_next(l, host, S("run"), &a, &got, &r) &&
		  ledger_queue_done(l, host, got.item, &r);
	sqlite3_progress_handler(l->db, 0, NULL, NULL);
	ledger_close(l);
	arena_done(&a);
	return ok ? 0 : 1;
}

struct seen {
	size_t queued, running, done, odd;
};

static bool look(void *data, const struct queue_item *item)
{
	struct seen *s = data;
	bool taken = item->state != QUEUE_QUEUED;

	s->queued += item->state == QUEUE_QUEUED;
	s->running += item->state == QUEUE_RUNNING;
	s->done += item->state == QUEUE_DONE;
	s->odd += taken != str_eq(item->run, S("run")) || taken != (item->began > 0);
	return true;
}

/* Everything is there or nothing; what runs has its run. Returns how far it came: 0 to 3. */
static int survived(struct ledger *l, struct str host)
{
	AUTO_REPORT r = REPORT_INIT;
	struct seen s = { 0 };
	struct str value;

	for (enum queue_state i = QUEUE_QUEUED; i <= QUEUE_DONE; i++)
		assert_true(ledger_queue_each(l, host, i, look, &s, &r));
	bool journaled = ledger_state_get(l, host, S("offset"), &arena, &value, &r);
	assert_int_equal(r.issues.len, 0);
	assert_int_equal(s.odd, 0);
	assert_int_equal(s.queued + s.running + s.done, journaled ? 2 : 0);
	assert_true(s.running + s.done <= 1);
	return !journaled ? 0 : s.done ? 3 : s.running ? 2 : 1;
}

static void killed_at_any_step_it_is_all_or_nothing(void **state UNUSED)
{
	struct ledger *l = opened();
	int before = 0, status = -1, n = 0;

	for (; status != 0; n += 3) {
		struct str host = arena_printf(&arena, "host-%d", n);
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid == 0)
			_exit(live_until(host, n));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(status == 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
		int now = survived(l, host);
		assert_true(now >= before);
		before = now;
	}
	assert_int_equal(before, 3);
	print_message("# killed at every third of %d steps\n", n - 3);
	assert_true(n > 100);
	ledger_close(l);
}

/* -- many ----------------------------------------------------------------------------------------
 */

enum { MANY = 20000 };

struct check {
	uint64_t before;
	size_t n;
};

static bool ascending(void *data, const struct queue_item *item)
{
	struct check *c = data;

	c->n += item->item > c->before;
	c->before = item->item;
	return true;
}

static void twenty_thousand_items_stay_in_order(void **state UNUSED)
{
	struct ledger *l = opened();
	AUTO_REPORT r = REPORT_INIT;
	struct check c = { 0 };
	uint64_t start = clock_mono_ms();

	assert_true(ledger_batch_begin(l, true, &r));
	for (int i = 0; i < MANY; i++) {
		char key[32];

		(void)snprintf(key, sizeof(key), "update/%d", i);
		(void)enqueue(l, 2, QUEUE_BACK, key, "{\"text\":\"what is the weather like\"}");
	}
	assert_true(ledger_batch_commit(l, &r));
	print_message("# %d added in %d ms\n", MANY, (int)(clock_mono_ms() - start));
	assert_true(ledger_queue_each(l, HOST, QUEUE_QUEUED, ascending, &c, &r));
	assert_int_equal(c.n, MANY);
	assert_int_equal(counted(l, 2), MANY);

	start = clock_mono_ms();
	assert_true(ledger_batch_begin(l, true, &r));
	for (int i = 0; i < MANY; i++) {
		struct queue_item item = next(l, "run");

		assert_int_equal(item.item, (uint64_t)i + 1);
		assert_true(ledger_queue_done(l, HOST, item.item, &r));
	}
	assert_true(ledger_batch_commit(l, &r));
	print_message("# taken and done in %d ms\n", (int)(clock_mono_ms() - start));
	ledger_close(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(lanes_are_taken_in_order_and_each_by_arrival),
		T(an_item_is_promoted_and_comes_back_to_its_place),
		T(the_front_of_an_empty_lane_is_a_place_too),
		T(hosts_do_not_see_each_other),
		T(a_taken_item_has_its_run_also_after_a_restart),
		T(the_same_key_twice_is_one_item),
		T(a_removed_item_is_not_added_again),
		T(a_payload_is_any_bytes_up_to_a_limit),
		T(items_and_the_offset_behind_them_are_one_change),
		T(numbers_of_a_batch_are_never_given_again),
		T(a_batch_with_a_failure_leaves_nothing),
		T(the_run_can_be_claimed_in_the_same_change),
		T(many_processes_at_once_lose_and_double_nothing),
		T(killed_at_any_step_it_is_all_or_nothing),
		T(twenty_thousand_items_stay_in_order),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("queue", tests, NULL, NULL);
}
