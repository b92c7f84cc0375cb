/* What a host sees of its queue and its values; how they are kept is tested with the ledger. */
#include "app/queue.h"

#include "runs/ledger/queued.h"

#define HOST S("chat")

static struct app *opened(void)
{
	return app_open(&(struct app_options){ .state_dir = root, .cwd = root });
}

static struct str listed(struct app *a, enum queue_state state)
{
	AUTO_REPORT r = REPORT_INIT;
	struct queued q = { .runs = true };

	assert_true(queue_each(a, HOST, state, queued_note, &q, &r));
	return queued_text(&q);
}

static uint64_t enqueue(struct app *a, const char *payload)
{
	AUTO_REPORT r = REPORT_INIT;
	struct queue_item item = { .key = str_of(payload), .payload = str_of(payload) };
	bool new;

	assert_true(queue_add(a, HOST, &item, QUEUE_BACK, &new, &r));
	assert_true(new);
	return item.item;
}

static void a_host_finds_its_turns_again(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	struct queue_item item;
	struct app *a = opened();
	size_t n;

	uint64_t one = enqueue(a, "one"), two = enqueue(a, "two"), three = enqueue(a, "three");
	assert_true(queue_move(a, HOST, three, 0, QUEUE_FRONT, &r));
	assert_true(queue_edit(a, HOST, two, S("2"), &r));
	assert_true(queue_count(a, HOST, 1, &n, &r));
	assert_int_equal(n, 3);
	assert_true(queue_next(a, HOST, S("turn-1"), &arena, &item, &r));
	assert_int_equal(item.item, three);
	app_close(a);

	a = opened();
	assert_str(listed(a, QUEUE_RUNNING), "three:turn-1 ");
	assert_str(listed(a, QUEUE_QUEUED), "one: 2: ");
	assert_true(queue_put_back(a, HOST, three, &r));
	assert_true(queue_next(a, HOST, S("turn-2"), &arena, &item, &r));
	assert_int_equal(item.item, three);
	assert_true(queue_done(a, HOST, three, &r));
	assert_true(queue_find(a, HOST, three, &arena, &item, &r));
	assert_int_equal(item.state, QUEUE_DONE);
	assert_true(queue_forget(a, HOST, item.ended + 1, &r));
	assert_false(queue_find(a, HOST, three, &arena, &item, &r));
	assert_true(queue_remove(a, HOST, one, &r));
	assert_true(queue_clear(a, HOST, &n, &r));
	assert_int_equal(n, 1);
	assert_false(queue_next(a, HOST, S("turn-3"), &arena, &item, &r));
	assert_int_equal(r.issues.len, 0);
	app_close(a);
}

static bool count(void *data, struct str key UNUSED, struct str value UNUSED)
{
	++*(int *)data;
	return true;
}

static void items_and_values_change_together(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	struct app *a = opened();
	struct str value, old = S("1");
	int n = 0;

	assert_true(host_batch_begin(a, &r));
	(void)enqueue(a, "lost");
	assert_true(host_state_set(a, HOST, S("offset"), S("0"), &r));
	host_batch_undo(a);
	assert_str(listed(a, QUEUE_QUEUED), "");
	assert_false(host_state_get(a, HOST, S("offset"), &arena, &value, &r));

	assert_true(host_batch_begin(a, &r));
	(void)enqueue(a, "kept");
	assert_true(host_state_set(a, HOST, S("offset"), S("1"), &r));
	assert_true(host_batch_commit(a, &r));
	app_close(a);
	a = opened();
	assert_str(listed(a, QUEUE_QUEUED), "kept: ");
	assert_true(host_state_swap(a, HOST, S("offset"), &old, S("2"), &r));
	assert_true(host_state_get(a, HOST, S("offset"), &arena, &value, &r));
	assert_str(value, "2");
	assert_true(host_state_each(a, HOST, S("off"), count, &n, &r));
	assert_int_equal(n, 1);
	assert_true(host_state_delete(a, HOST, S("offset"), &r));
	assert_int_equal(r.issues.len, 0);
	app_close(a);
}

static void says_when_there_can_be_no_ledger(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	struct app *a = app_open(&(struct app_options){ .state_dir = "/dev/null/x", .cwd = root });

	assert_false(host_batch_begin(a, &r));
	assert_int_equal(r.errors, 1);
	app_close(a);
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_host_finds_its_turns_again),
		T(items_and_values_change_together),
		T(says_when_there_can_be_no_ledger),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("queue", tests, NULL, NULL);
}
