#include "unit.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/environ.h"

static void joined(struct environ_list *l, struct buf *b)
{
	vec_each (entry, &l->vars)
		buf_printf(b, "%s;", *entry);
	vec_done(&l->vars);
}

static void own_entries_replace_those_of_the_base(void **state UNUSED)
{
	struct environ_list l = { 0 };
	AUTO_BUF b = BUF_INIT;

	environ_add(&l, (const char *const[]){ "A=1", "AB=2", "B=3", NULL },
		(const char *const[]){ "C=4", "A=", NULL });
	joined(&l, &b);
	assert_str(buf_str(&b), "AB=2;B=3;C=4;A=;");
}

static void the_last_entry_of_a_name_counts(void **state UNUSED)
{
	struct environ_list l = { 0 };
	AUTO_BUF b = BUF_INIT;

	environ_add(&l, NULL, (const char *const[]){ "A=1", "B=2", "A=3=4", NULL });
	joined(&l, &b);
	assert_str(buf_str(&b), "B=2;A=3=4;");
}

static void nothing_replaces_nothing(void **state UNUSED)
{
	struct environ_list l = { 0 };

	environ_add(&l, (const char *const[]){ "A=1", NULL }, NULL);
	assert_int_equal(l.vars.len, 1);
	vec_done(&l.vars);
	assert_false(environ_sets(NULL, "A=1"));
	assert_false(environ_sets((const char *const[]){ "A=1", NULL }, "AB=1"));
	assert_true(environ_sets((const char *const[]){ "A=1", NULL }, "A="));
}

static void a_process_environment_has_what_is_put_in(void **state UNUSED)
{
	struct arena a = ARENA_INIT;
	size_t hits = 0;

	setenv("ROUX_TEST_ENVIRON", "outside", 1);
	const char *const *e =
		environ_with(&a, (const char *const[]){ "ROUX_TEST_ENVIRON=inside", NULL });
	for (; *e; e++)
		if (str_starts(str_of(*e), S("ROUX_TEST_ENVIRON="))) {
			assert_string_equal(*e, "ROUX_TEST_ENVIRON=inside");
			hits++;
		}
	assert_int_equal(hits, 1);
	arena_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_entries_replace_those_of_the_base),
		cmocka_unit_test(the_last_entry_of_a_name_counts),
		cmocka_unit_test(nothing_replaces_nothing),
		cmocka_unit_test(a_process_environment_has_what_is_put_in),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("environ", tests, NULL, NULL);
}
