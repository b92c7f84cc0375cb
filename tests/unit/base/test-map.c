#include "base/map.h"

#include <stdio.h>

#include "unit.h"

static void nothing_is_found_in_an_empty_map(void **state UNUSED)
{
	struct map m = MAP_INIT;

	assert_null(map_get(&m, S("")));
	assert_null(map_get(&m, S("a")));
	map_each (e, &m)
		fail();
}

static void a_value_is_found_under_its_key_only(void **state UNUSED)
{
	struct arena a = ARENA_INIT;
	struct map m = MAP_INIT;
	int one, two;

	*map_put(&m, &a, S("one")) = &one;
	*map_put(&m, &a, S("one\0more")) = &two;
	*map_put(&m, &a, S("")) = &m;
	assert_ptr_equal(map_get(&m, S("one")), &one);
	assert_ptr_equal(map_get(&m, S("one\0more")), &two);
	assert_ptr_equal(map_get(&m, S("")), &m);
	assert_null(map_get(&m, S("on")));
	*map_put(&m, &a, S("one")) = &two;
	assert_ptr_equal(map_get(&m, S("one")), &two);
	assert_int_equal(m.count, 3);
	arena_done(&a);
}

static void keys_are_copied(void **state UNUSED)
{
	struct arena a = ARENA_INIT;
	struct map m = MAP_INIT;
	char key[] = "key";

	*map_put(&m, &a, str_of(key)) = &m;
	key[0] = 'x';
	assert_ptr_equal(map_get(&m, S("key")), &m);
	assert_null(map_get(&m, S("xey")));
	arena_done(&a);
}

static void thousands_stay_in_order_of_insertion(void **state UNUSED)
{
	struct arena a = ARENA_INIT;
	struct map m = MAP_INIT;
	size_t seen = 0;
	char key[24];

	for (size_t i = 0; i < 5000; i++) {
		(void)snprintf(key, sizeof(key), "k%zu", i * 7919 % 5000);
		*map_put(&m, &a, str_of(key)) = (void *)(i + 1);
	}
	assert_int_equal(m.count, 5000);
	map_each (e, &m) {
		(void)snprintf(key, sizeof(key), "k%zu", seen * 7919 % 5000);
		assert_str(e->key, key);
		assert_int_equal((size_t)e->value, ++seen);
		assert_ptr_equal(map_get(&m, e->key), e->value);
	}
	assert_int_equal(seen, 5000);
	arena_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_found_in_an_empty_map),
		cmocka_unit_test(a_value_is_found_under_its_key_only),
		cmocka_unit_test(keys_are_copied),
		cmocka_unit_test(thousands_stay_in_order_of_insertion),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("map", tests, NULL, NULL);
}
