/* What a rebuild of the ledger takes over from the old one: run directories do not have it. */
#include "runs/look/rebuild.h"

#include <poll.h>
#include <sys/wait.h>

#include "runs/ledger/host-state.h"
#include "runs/ledger/queued.h"
#include "runs/state.h"

#define HOST S("chat")

static uint64_t enqueue(struct ledger *l, const char *key, const char *payload)
{
	AUTO_REPORT r = REPORT_INIT;
	struct queue_item item = { .key = str_of(key), .payload = str_of(payload) };
	bool new;

	assert_true(ledger_queue_add(l, HOST, &item, QUEUE_BACK, &new, &r));
	return new ? item.item : 0;
}

static struct str listed(struct ledger *l, enum queue_state state)
{
	return queued(l, HOST, state, true);
}

static struct str value(struct ledger *l, const char *key)
{
	AUTO_REPORT r = REPORT_INIT;
	struct str got = S("(none)");

	(void)ledger_state_get(l, HOST, str_of(key), &arena, &got, &r);
	assert_int_equal(r.issues.len, 0);
	return got;
}

/* Rebuilds; returns how many warnings there were. */
static size_t rebuild(size_t runs)
{
	AUTO_REPORT r = REPORT_INIT;
	struct rebuilt made;

	if (!ledger_rebuild(str_of(root), &made, &r))
		fail_msg("%.*s", STR(r.issues.at[0].message));
	assert_int_equal(made.runs, runs);
	assert_int_equal(r.errors, 0);
	return r.warnings;
}

/* A queue with one item in each state, a value and a count. */
static void fill(struct ledger *l)
{
	AUTO_REPORT r = REPORT_INIT;
	struct queue_item item;

	(void)enqueue(l, "1", "done");
	(void)enqueue(l, "2", "running");
	(void)enqueue(l, "3", "queued");
	assert_true(ledger_queue_next(l, HOST, S("r1"), &arena, &item, &r));
	assert_true(ledger_queue_done(l, HOST, item.item, &r));
	assert_true(ledger_queue_next(l, HOST, S("r2"), &arena, &item, &r));
	assert_true(ledger_state_set(l, HOST, S("offset"), S("4"), &r));
	assert_true(ledger_count(l, S("/r.yaml"), S("f"), 1000, &r));
	assert_int_equal(r.issues.len, 0);
}

static void assert_filled(struct ledger *l)
{
	AUTO_REPORT r = REPORT_INIT;
	struct recipe_usage usage = { 0 };

	assert_str(listed(l, QUEUE_QUEUED), "queued: ");
	assert_str(listed(l, QUEUE_RUNNING), "running:r2 ");
	assert_str(listed(l, QUEUE_DONE), ":r1 ");
	assert_int_equal(enqueue(l, "1", "again"), 0);
	assert_str(value(l, "offset"), "4");
	assert_true(ledger_usage(l, S("/r.yaml"), &arena, &usage, &r));
	assert_int_equal(usage.calls, 1);
}

static void keeps_queues_and_the_state_of_hosts(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	struct ledger *l = opened();

	put_run("a");
	put_result("a", "done");
	fill(l);
	uint64_t last = enqueue(l, "", "removed");
	assert_true(ledger_queue_remove(l, HOST, last, &r));
	ledger_close(l);
	assert_int_equal(rebuild(1), 0);
	l = opened();
	assert_filled(l);
	/* A number is not used again. */
	assert_true(enqueue(l, "", "new") > last);
	ledger_close(l);
	assert_int_equal(rebuild(1), 0);
}

static void an_open_ledger_continues_in_the_new_one(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	struct ledger *reader = opened(), *writer = opened();

	fill(writer);
	assert_int_equal(rebuild(0), 0);
	(void)enqueue(writer, "", "after");
	assert_true(ledger_state_set(writer, HOST, S("offset"), S("5"), &r));
	struct ledger *l = opened();
	assert_str(listed(l, QUEUE_QUEUED), "queued: after: ");
	assert_str(value(l, "offset"), "5");
	assert_str(listed(reader, QUEUE_QUEUED), "queued: after: ");
	assert_str(value(reader, "offset"), "5");
	ledger_close(l);
	ledger_close(writer);
	ledger_close(reader);
}

/* Holds the ledger while the rebuild wants it. */
static int write_slowly(int ready)
{
	AUTO_REPORT r = REPORT_INIT;
	struct ledger *l = ledger_open(str_of(root), LEDGER_USUAL, &r);
	struct queue_item item = { .payload = S("slow") };
	bool new;

	bool ok = l && ledger_batch_begin(l, true, &r) && write(ready, "x", 1) == 1;
	(void)poll(NULL, 0, 200);
	ok = ok && ledger_queue_add(l, HOST, &item, QUEUE_BACK, &new, &r) &&
	     ledger_batch_commit(l, &r);
	ledger_close(l);
	return ok ? 0 : 1;
}

static void waits_for_a_writer_and_has_what_it_wrote(void **state UNUSED)
{
	int ready[2], status;
	char byte;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	ledger_close(opened());
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(write_slowly(ready[1]));
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(rebuild(0), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	struct ledger *l = opened();
	assert_str(listed(l, QUEUE_QUEUED), "slow: ");
	ledger_close(l);
	(void)close(ready[0]);
	(void)close(ready[1]);
}

static void write_at(off_t at_byte, struct str bytes)
{
	AUTO_CLOSE int fd = open(at("ledger.db"), O_WRONLY | O_CLOEXEC);

	assert_int_equal(pwrite(fd, bytes.p, bytes.len, at_byte), bytes.len);
}

static void takes_over_what_a_newer_version_calls_the_same(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	struct ledger *l = opened();

	fill(l);
	assert_true(ledger_fold(l, &r));
	ledger_close(l);
	write_at(60, S("\0\0\0\x63")); /* user_version */
	assert_int_equal(rebuild(0), 0);
	l = opened();
	assert_filled(l);
	ledger_close(l);
}

/* A value that fills pages of its own: the tail of the file. */
static void of_a_damaged_one_takes_what_can_be_read(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF large = BUF_INIT, noise = BUF_INIT;
	struct ledger *l = opened();
	struct stat st;

	fill(l);
	buf_fill(&large, 'x', 2000);
	for (int i = 0; i < 200; i++)
		assert_true(ledger_state_set(
			l, HOST, arena_printf(&arena, "v%03d", i), buf_str(&large), &r));
	assert_true(ledger_fold(l, &r));
	ledger_close(l);
	buf_fill(&noise, '\xa5', 4096);
	assert_int_equal(stat(at("ledger.db"), &st), 0);
	write_at(st.st_size / 4096 / 2 * 4096, buf_str(&noise));
	assert_int_equal(rebuild(0), 1);
	l = opened();
	assert_filled(l);
	assert_str(value(l, "v000"), buf_cstr(&large));
	ledger_close(l);
}

static void of_nonsense_takes_nothing_and_says_so(void **state UNUSED)
{
	AUTO_BUF noise = BUF_INIT;

	buf_fill(&noise, '\xa5', 20000);
	put("ledger.db", buf_cstr(&noise));
	assert_int_equal(rebuild(0), 1);
	struct ledger *l = opened();
	assert_str(listed(l, QUEUE_QUEUED), "");
	assert_int_equal(enqueue(l, "", "first"), 1);
	ledger_close(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(keeps_queues_and_the_state_of_hosts),
		T(an_open_ledger_continues_in_the_new_one),
		T(waits_for_a_writer_and_has_what_it_wrote),
		T(takes_over_what_a_newer_version_calls_the_same),
		T(of_a_damaged_one_takes_what_can_be_read),
		T(of_nonsense_takes_nothing_and_says_so),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("rebuild", tests, NULL, NULL);
}
