#include "data/doc.h"

#include "unit.h"
#include "way.h"

static struct doc doc_of(struct str text)
{
	return (struct doc){ .source = { S("t"), text } };
}

static void values_are_found_by_their_way(void **state UNUSED)
{
	struct arena a = ARENA_INIT;
	struct doc d = doc_of(S(" {\"a\" : [ 10, {\"b\": \"x\" , \"c\":[true]}, -2.5e3 ],\n"
				"\t\"z\":null } "));

	assert_str(cut(place_where(way(&a, &d, WAY("a", "#0")))), "10");
	assert_str(cut(place_where(way(&a, &d, WAY("a", "#1")))), "{\"b\": \"x\" , \"c\":[true]}");
	assert_str(cut(place_where(way(&a, &d, WAY("a", "#1", "b")))), "\"x\"");
	assert_str(cut(place_where(way(&a, &d, WAY("a", "#1", "c", "#0")))), "true");
	assert_str(cut(place_where(way(&a, &d, WAY("a", "#2")))), "-2.5e3");
	assert_str(cut(place_where(way(&a, &d, WAY("z")))), "null");
	assert_str(cut(place_key_where(way(&a, &d, WAY("a", "#1", "c")))), "\"c\"");
	arena_done(&a);
}

static void the_root_is_the_value_without_the_blanks_around_it(void **state UNUSED)
{
	struct arena a = ARENA_INIT;
	struct doc d = doc_of(S("\xef\xbb\xbf\n [1] \n"));
	const struct place *root = way(&a, &d, (const char *const[]){ NULL });

	assert_str(cut(place_where(root)), "[1]");
	assert_str(cut(place_key_where(root)), "[1]");
	arena_done(&a);
}

static void brackets_inside_strings_do_not_count(void **state UNUSED)
{
	struct arena a = ARENA_INIT;
	struct doc d = doc_of(S("[\"]}\\\"[{\",{\"k\":\"}\"},7]"));

	assert_str(cut(place_where(way(&a, &d, WAY("#1")))), "{\"k\":\"}\"}");
	assert_str(cut(place_where(way(&a, &d, WAY("#2")))), "7");
	arena_done(&a);
}

static void of_duplicate_members_the_last_is_meant(void **state UNUSED)
{
	struct arena a = ARENA_INIT;
	struct doc d = doc_of(S("{\"a\":1,\"b\":2,\"a\":[3]}"));

	assert_str(cut(place_where(way(&a, &d, WAY("a", "#0")))), "3");
	assert_int_equal(place_key_where(way(&a, &d, WAY("a"))).offset, 13);
	arena_done(&a);
}

static void names_are_compared_with_their_escapes_undone(void **state UNUSED)
{
	struct arena a = ARENA_INIT;
	struct doc d = doc_of(S("{\"\\u0061\\n\":1,\"\\ud83d\\ude00\":2,\"\\\"\":3}"));

	assert_str(cut(place_where(way(&a, &d, WAY("a\n")))), "1");
	assert_str(cut(place_where(way(&a, &d, WAY("\xf0\x9f\x98\x80")))), "2");
	assert_str(cut(place_where(way(&a, &d, WAY("\"")))), "3");
	arena_done(&a);
}

static void bytes_of_a_string_are_counted_through_its_escapes(void **state UNUSED)
{
	struct arena a = ARENA_INIT;
	struct doc d = doc_of(S("{\"t\":\"a\\n\\u00e9\\ud83d\\ude00{x}\\\"z\"}"));
	const struct place *t = way(&a, &d, WAY("t"));

	/* Decoded: a, newline, 2 bytes, 4 bytes, {x}, ", z. */
	assert_str(cut(place_where_in(t, 0, 1)), "a");
	assert_str(cut(place_where_in(t, 1, 1)), "\\n");
	assert_str(cut(place_where_in(t, 2, 2)), "\\u00e9");
	assert_str(cut(place_where_in(t, 4, 4)), "\\ud83d\\ude00");
	assert_str(cut(place_where_in(t, 8, 3)), "{x}");
	assert_str(cut(place_where_in(t, 11, 1)), "\\\"");
	assert_str(cut(place_where_in(t, 12, 1)), "z");
	assert_str(cut(place_where_in(t, 0, 13)), "a\\n\\u00e9\\ud83d\\ude00{x}\\\"z");
	arena_done(&a);
}

static void places_outside_the_text_stay_inside_it(void **state UNUSED)
{
	struct arena a = ARENA_INIT;
	struct doc d = doc_of(S("{\"t\":\"ab\"}"));
	const struct place *t = way(&a, &d, WAY("t"));

	for (size_t at = 0; at < 20; at++)
		for (size_t len = 0; len < 20; len++)
			(void)cut(place_where_in(t, at, len));
	(void)cut(place_where(way(&a, &d, WAY("nope", "#3", "x"))));
	(void)cut(place_where(way(&a, &d, WAY("t", "#3"))));
	(void)cut(place_where_in(way(&a, &d, WAY("#0")), 5, 5));
	arena_done(&a);
}

static void of_a_plain_text_every_place_is_a_place_in_it(void **state UNUSED)
{
	struct arena a = ARENA_INIT;
	struct doc d = doc_of(S("echo {x} \"y\""));
	const struct place *root = way(&a, &d, (const char *const[]){ NULL });

	d.plain = true;
	assert_str(cut(place_where_in(root, 5, 3)), "{x}");
	assert_str(cut(place_where(root)), "echo {x} \"y\"");
	assert_str(cut(place_where_in(root, 9, 100)), "\"y\"");
	assert_str(cut(place_where_in(root, 100, 1)), "");
	arena_done(&a);
}

static void texts_cut_anywhere_are_walked_safely(void **state UNUSED)
{
	static const char whole[] =
		"{\"a\":[1,{\"b\":\"x\\u00e9\\ud83d\\ude00\"},\"\\\\\"],\"c\":tr";
	struct arena a = ARENA_INIT;

	for (size_t len = 0; len < sizeof(whole); len++) {
		/* A copy of exactly this size, so that a byte too far is noticed. */
		AUTO_FREE char *part = mem_dup(whole, len);
		struct doc d = doc_of((struct str){ part, len });

		(void)place_where(way(&a, &d, WAY("a", "#1", "b")));
		(void)place_where_in(way(&a, &d, WAY("a", "#1", "b")), 3, 2);
		(void)place_key_where(way(&a, &d, WAY("c")));
		(void)place_where(way(&a, &d, WAY("a", "#2")));
	}
	arena_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_found_by_their_way),
		cmocka_unit_test(the_root_is_the_value_without_the_blanks_around_it),
		cmocka_unit_test(brackets_inside_strings_do_not_count),
		cmocka_unit_test(of_duplicate_members_the_last_is_meant),
		cmocka_unit_test(names_are_compared_with_their_escapes_undone),
		cmocka_unit_test(bytes_of_a_string_are_counted_through_its_escapes),
		cmocka_unit_test(places_outside_the_text_stay_inside_it),
		cmocka_unit_test(of_a_plain_text_every_place_is_a_place_in_it),
		cmocka_unit_test(texts_cut_anywhere_are_walked_safely),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("doc", tests, NULL, NULL);
}
