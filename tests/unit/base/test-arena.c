#include "base/arena.h"

#include <stdalign.h>

#include "unit.h"

static void memory_is_zeroed_and_aligned_for_anything(void **state UNUSED)
{
	struct arena a = ARENA_INIT;

	for (size_t size = 0; size < 300; size += 7) {
		char *p = arena_alloc(&a, size);

		assert_int_equal((uintptr_t)p % alignof(max_align_t), 0);
		for (size_t i = 0; i < size; i++)
			assert_int_equal(p[i], 0);
		memset(p, 0xAA, size);
	}
	arena_done(&a);
	arena_done(&a);
}

static void pieces_do_not_overlap(void **state UNUSED)
{
	struct arena a = ARENA_INIT;
	unsigned *at[2000];

	for (unsigned i = 0; i < ARRAY_SIZE(at); i++) {
		at[i] = arena_array(&a, unsigned, 1 + i % 17);
		*at[i] = i;
	}
	for (unsigned i = 0; i < ARRAY_SIZE(at); i++)
		assert_int_equal(*at[i], i);
	arena_done(&a);
}

static void one_piece_may_be_larger_than_a_block(void **state UNUSED)
{
	struct arena a = ARENA_INIT;
	char *small = arena_alloc(&a, 10);
	char *large = arena_alloc(&a, 1 << 20);

	memset(large, 1, 1 << 20);
	memset(small, 2, 10);
	assert_int_equal(large[0], 1);
	assert_int_equal(large[(1 << 20) - 1], 1);
	arena_done(&a);
}

static void strings_are_copied_with_a_nul_behind(void **state UNUSED)
{
	struct arena a = ARENA_INIT;
	char source[] = "abc";
	struct str kept = arena_str(&a, str_of(source));

	source[0] = 'x';
	assert_str(kept, "abc");
	assert_int_equal(kept.p[3], 0);
	assert_string_equal(arena_cstr(&a, S("")), "");
	assert_bytes(arena_str(&a, S("a\0b")), S("a\0b"));
	assert_str(arena_printf(&a, "%s-%d", "n", 5), "n-5");
	assert_str(arena_printf(&a, "%s", ""), "");
	arena_done(&a);
}

static void a_reset_arena_gives_zeroed_memory_again(void **state UNUSED)
{
	struct arena a = ARENA_INIT;

	arena_reset(&a);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 50; i++) {
			char *p = arena_alloc(&a, 500);

			for (size_t k = 0; k < 500; k++)
				assert_int_equal(p[k], 0);
			memset(p, 0xFF, 500);
		}
		arena_reset(&a);
	}
	arena_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_zeroed_and_aligned_for_anything),
		cmocka_unit_test(pieces_do_not_overlap),
		cmocka_unit_test(one_piece_may_be_larger_than_a_block),
		cmocka_unit_test(strings_are_copied_with_a_nul_behind),
		cmocka_unit_test(a_reset_arena_gives_zeroed_memory_again),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
