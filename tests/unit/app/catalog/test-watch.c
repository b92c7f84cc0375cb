#include <sys/stat.h>

#include "kitchen.h"

static void count(void *data)
{
	++*(size_t *)data;
}

/* Turns the loop until more than `before` changes were told. */
static void wait_for_more(struct kitchen *k, const size_t *told, size_t before)
{
	while (*told == before)
		assert_true(loop_turn(app_loop(k->app), 60000) >= 0);
}

/* What is due now and nothing else. */
static void settle(struct kitchen *k)
{
	for (int i = 0; i < 3; i++)
		assert_true(loop_turn(app_loop(k->app), 0) >= 0);
}

static void remove_file(struct kitchen *k, const char *below)
{
	AUTO_BUF path = BUF_INIT;

	buf_printf(&path, "%s/%s", k->top, below);
	assert_int_equal(remove(buf_cstr(&path)), 0);
}

static void every_change_is_told(void **state)
{
	struct kitchen *k = kitchen_new();
	size_t told = 0;

	(void)state;
	kitchen_put(k, "agent/recipes/a.json", "{\"template\":\"true\"}");
	kitchen_put(k, "packaged/b.json", "{\"template\":\"true\"}");
	struct recipes_watch *w = recipes_watch(k->app, count, &told);
	assert_non_null(w);
	settle(k);
	assert_int_equal(told, 0);
	kitchen_put(k, "agent/recipes/c.json", "{\"template\":\"true\"}");
	wait_for_more(k, &told, 0);
	settle(k);
	assert_int_equal(told, 1); /* one call for all events of one turn */
	kitchen_put(k, "packaged/b.json", "{\"template\":\"false\"}");
	wait_for_more(k, &told, 1);
	settle(k);
	size_t before = told;
	remove_file(k, "agent/recipes/a.json");
	wait_for_more(k, &told, before);
	recipes_watch_end(w);
	before = told;
	remove_file(k, "agent/recipes/c.json");
	settle(k);
	assert_int_equal(told, before);
	kitchen_free(k);
}

static void a_directory_may_come_later_and_again(void **state)
{
	struct kitchen *k = kitchen_new();
	size_t told = 0, before;

	(void)state;
	struct recipes_watch *w = recipes_watch(k->app, count, &told);
	assert_non_null(w);
	for (int round = 0; round < 2; round++) {
		before = told;
		kitchen_put(k, "agent/recipes/a.json", "{\"template\":\"true\"}");
		wait_for_more(k, &told, before);
		settle(k);
		before = told;
		kitchen_put(k, "agent/recipes/a.json", "{\"template\":\"false\"}");
		wait_for_more(k, &told, before);
		settle(k);
		before = told;
		remove_file(k, "agent/recipes/a.json");
		remove_file(k, "agent/recipes");
		remove_file(k, "agent");
		wait_for_more(k, &told, before);
		settle(k);
	}
	recipes_watch_end(w);
	kitchen_free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_change_is_told),
		cmocka_unit_test(a_directory_may_come_later_and_again),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("watch", tests, NULL, NULL);
}
