#include "runs/dir/orders.h"

#include "runs/dir/lines.h"
#include "runs/root.h"

/* What a host that reads the file of the root finds: the orders, and how many lines are none. */
struct found {
	struct order orders[8];
	size_t len, others;
};

static bool see(void *data, struct str line, size_t index UNUSED)
{
	struct found *f = data;

	assert_true(f->len < ARRAY_SIZE(f->orders));
	if (order_read(line, &f->orders[f->len]))
		f->len++;
	else
		f->others++;
	return true;
}

static struct found posted(void)
{
	struct found f = { 0 };
	size_t too_long;

	assert_int_equal(lines_each(root, ORDERS_FILE, see, &f, &too_long), 0);
	return f;
}

static void post(enum run_order kind, int grace_ms)
{
	assert_int_equal(order_post(root, &(struct order){ kind, grace_ms }), 0);
}

static void orders_are_read_in_the_order_of_their_posting(void **state UNUSED)
{
	post(RUN_FINISH, -1);
	post(RUN_CANCEL, 100);
	post(RUN_KILL, 0);
	struct found f = posted();
	assert_int_equal(f.len, 3);
	assert_int_equal(f.others, 0);
	assert_int_equal(f.orders[0].kind, RUN_FINISH);
	assert_int_equal(f.orders[0].grace_ms, -1);
	assert_int_equal(f.orders[1].kind, RUN_CANCEL);
	assert_int_equal(f.orders[1].grace_ms, 100);
	assert_int_equal(f.orders[2].kind, RUN_KILL);
	assert_int_equal(f.orders[2].grace_ms, 0);
	assert_str(text_of(ORDERS_FILE),
		"{\"order\":\"finish\"}\n{\"order\":\"cancel\",\"grace_ms\":100}\n"
		"{\"order\":\"kill\",\"grace_ms\":0}\n");
}

static void an_order_after_half_a_line_is_not_lost(void **state UNUSED)
{
	put(ORDERS_FILE, "{\"order\":\"ki");
	post(RUN_CANCEL, -1);
	struct found f = posted();
	assert_int_equal(f.len, 1);
	assert_int_equal(f.others, 1);
	assert_int_equal(f.orders[0].kind, RUN_CANCEL);
}

static void half_a_line_is_no_order(void **state UNUSED)
{
	struct str whole = S("{\"order\":\"cancel\",\"grace_ms\":100}");
	struct order o;

	for (size_t n = 0; n < whole.len; n++)
		assert_false(order_read(str_sub(whole, 0, n), &o));
	assert_true(order_read(whole, &o));
}

static void what_is_not_an_order_is_none(void **state UNUSED)
{
	static const char *const odd[] = {
		"{\"order\":\"dance\"}",
		"{\"order\":\"\"}",
		"{\"order\":\"Cancel\"}",
		"{\"order\":\"cancelled\"}",
		"{\"order\":\"cancel\\u0000\"}",
		"{\"order\":0}",
		"{\"order\":null}",
		"{\"grace_ms\":1}",
		"[\"cancel\"]",
		"\"cancel\"",
		"cancel",
	};
	struct order o;

	for (size_t i = 0; i < ARRAY_SIZE(odd); i++)
		assert_false(order_read(str_of(odd[i]), &o));
}

static void a_grace_time_that_cannot_be_is_that_of_the_run(void **state UNUSED)
{
	static const char *const odd[] = { "-1", "-9223372036854775808", "2147483648",
		"9223372036854775807", "1.5", "\"1\"", "null", "true" };
	struct order o;

	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		struct str line =
			arena_printf(&arena, "{\"order\":\"finish\",\"grace_ms\":%s}", odd[i]);

		assert_true(order_read(line, &o));
		assert_int_equal(o.kind, RUN_FINISH);
		assert_int_equal(o.grace_ms, -1);
	}
	assert_true(order_read(S("{\"order\":\"kill\",\"grace_ms\":2147483647}"), &o));
	assert_int_equal(o.grace_ms, 2147483647);
}

static void without_a_directory_an_order_cannot_be_posted(void **state UNUSED)
{
	assert_int_equal(order_post(at("nowhere"), &(struct order){ RUN_KILL, -1 }), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(orders_are_read_in_the_order_of_their_posting),
		T(an_order_after_half_a_line_is_not_lost),
		T(half_a_line_is_no_order),
		T(what_is_not_an_order_is_none),
		T(a_grace_time_that_cannot_be_is_that_of_the_run),
		T(without_a_directory_an_order_cannot_be_posted),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("orders", tests, NULL, NULL);
}
