#include "base/buf.h"

#include <stdlib.h>

#include "unit.h"

static void an_empty_buffer_reads_as_an_empty_string(void **state UNUSED)
{
	struct buf b = BUF_INIT;

	assert_str(buf_str(&b), "");
	assert_string_equal(buf_cstr(&b), "");
	buf_add(&b, S(""));
	buf_reset(&b);
	buf_truncate(&b, 5);
	assert_string_equal(buf_cstr(&b), "");
	buf_done(&b);
	buf_done(&b);
}

static void bytes_are_added_in_order_and_end_with_nul(void **state UNUSED)
{
	AUTO_BUF b = BUF_INIT;

	buf_adds(&b, "one");
	buf_addc(&b, ' ');
	buf_printf(&b, "%d/%s", 2, "three");
	buf_fill(&b, '.', 3);
	buf_add(&b, S("\0x"));
	assert_bytes(buf_str(&b), S("one 2/three...\0x"));
	assert_int_equal(b.p[b.len], 0);
}

static void it_grows_to_hold_anything(void **state UNUSED)
{
	AUTO_BUF b = BUF_INIT;

	for (int i = 0; i < 100000; i++)
		buf_addc(&b, (char)('a' + i % 26));
	assert_int_equal(b.len, 100000);
	assert_int_equal(b.p[99999], 'a' + 99999 % 26);
	buf_printf(&b, "%5000d", 1);
	assert_int_equal(b.len, 105000);
	assert_int_equal(b.p[b.len], 0);
}

static void truncating_only_ever_shortens(void **state UNUSED)
{
	AUTO_BUF b = BUF_INIT;

	buf_adds(&b, "abcdef");
	buf_truncate(&b, 9);
	assert_str(buf_str(&b), "abcdef");
	buf_truncate(&b, 2);
	assert_string_equal(buf_cstr(&b), "ab");
	buf_reset(&b);
	assert_string_equal(buf_cstr(&b), "");
	assert_true(b.cap > 0);
}

static void swapping_and_taking_hand_the_memory_over(void **state UNUSED)
{
	AUTO_BUF a = BUF_INIT;
	AUTO_BUF b = BUF_INIT;

	buf_adds(&a, "left");
	buf_swap(&a, &b);
	assert_str(buf_str(&a), "");
	assert_str(buf_str(&b), "left");
	char *taken = buf_take(&b);
	assert_string_equal(taken, "left");
	assert_int_equal(b.len, 0);
	free(taken);
	taken = buf_take(&a);
	assert_string_equal(taken, "");
	free(taken);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_buffer_reads_as_an_empty_string),
		cmocka_unit_test(bytes_are_added_in_order_and_end_with_nul),
		cmocka_unit_test(it_grows_to_hold_anything),
		cmocka_unit_test(truncating_only_ever_shortens),
		cmocka_unit_test(swapping_and_taking_hand_the_memory_over),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("buf", tests, NULL, NULL);
}
