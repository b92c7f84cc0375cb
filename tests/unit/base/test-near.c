#include "base/near.h"

#include "unit.h"

static struct str best(const char *wanted, const char *const *candidates)
{
	struct near n = near_to(str_of(wanted));

	for (; *candidates; candidates++)
		near_offer(&n, str_of(*candidates));
	return near_best(&n);
}

static const char *const fields[] = { "template", "timeout", "retry", "repeat", "recover", "when",
	"x", NULL };

static void slips_of_the_fingers_are_recognised(void **state UNUSED)
{
	assert_str(best("tempalte", fields), "template");
	assert_str(best("templat", fields), "template");
	assert_str(best("ttemplate", fields), "template");
	assert_str(best("timout", fields), "timeout");
	assert_str(best("rerty", fields), "retry");
	assert_str(best("whne", fields), "when");
	assert_str(best("when", fields), "when");
}

static void a_beginning_is_near(void **state UNUSED)
{
	assert_str(best("tem", (const char *const[]){ "template", NULL }), "");
	assert_str(best("temp", (const char *const[]){ "template", NULL }), "template");
}

static void strangers_are_not_offered(void **state UNUSED)
{
	assert_str(best("colour", fields), "");
	assert_str(best("a", fields), "");
	assert_str(best("", fields), "");
	assert_str(best("zz", fields), "");
	assert_str(best("when", (const char *const[]){ NULL }), "");
}

static void the_nearest_and_of_equals_the_first_wins(void **state UNUSED)
{
	assert_str(best("scoep", (const char *const[]){ "shape", "scope", NULL }), "scope");
	assert_str(best("cat1", (const char *const[]){ "cat2", "cat3", NULL }), "cat2");
}

static void names_of_any_length_are_borne(void **state UNUSED)
{
	char name[300];

	memset(name, 'a', sizeof(name));
	struct near n = near_to((struct str){ name, sizeof(name) });
	near_offer(&n, (struct str){ name, sizeof(name) - 1 });
	near_offer(&n, S("aaa"));
	assert_str(near_best(&n), "");
	n = near_to((struct str){ name, 64 });
	near_offer(&n, (struct str){ name, 63 });
	near_offer(&n, (struct str){ name, 65 });
	assert_int_equal(near_best(&n).len, 63);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slips_of_the_fingers_are_recognised),
		cmocka_unit_test(a_beginning_is_near),
		cmocka_unit_test(strangers_are_not_offered),
		cmocka_unit_test(the_nearest_and_of_equals_the_first_wins),
		cmocka_unit_test(names_of_any_length_are_borne),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("near", tests, NULL, NULL);
}
