#include "data/json-out.h"

#include "unit.h"

static void commas_stand_between_values_only(void **state UNUSED)
{
	AUTO_BUF b = BUF_INIT;
	struct json_out o = { .b = &b };

	json_out_object(&o, NULL);
	json_out_array(&o, "a");
	json_out_array_end(&o);
	json_out_array(&o, "b");
	json_out_object(&o, NULL);
	json_out_object_end(&o);
	json_out_object(&o, NULL);
	json_out_bool(&o, "x", true);
	json_out_bool(&o, "y", false);
	json_out_object_end(&o);
	json_out_null(&o, NULL);
	json_out_array_end(&o);
	json_out_name(&o, S("c"));
	json_out_array(&o, NULL);
	json_out_uint(&o, NULL, 1);
	json_out_uint(&o, NULL, 2);
	json_out_array_end(&o);
	json_out_null(&o, "d");
	json_out_object_end(&o);
	assert_str(buf_str(&b),
		"{\"a\":[],\"b\":[{},{\"x\":true,\"y\":false},null],\"c\":[1,2],\"d\":null}");
}

static void numbers_are_exact(void **state UNUSED)
{
	AUTO_BUF b = BUF_INIT;
	struct json_out o = { .b = &b };

	json_out_array(&o, NULL);
	json_out_int(&o, NULL, INT64_MIN);
	json_out_int(&o, NULL, -1);
	json_out_int(&o, NULL, 0);
	json_out_int(&o, NULL, INT64_MAX);
	json_out_uint(&o, NULL, UINT64_MAX);
	json_out_array_end(&o);
	assert_str(buf_str(&b), "[-9223372036854775808,-1,0,9223372036854775807,"
				"18446744073709551615]");
}

static void strings_have_any_bytes(void **state UNUSED)
{
	AUTO_BUF b = BUF_INIT;
	struct json_out o = { .b = &b };

	json_out_object(&o, NULL);
	json_out_str(&o, "s", S("a\"\n\xff"));
	json_out_str(&o, "empty", S(""));
	json_out_str_or_null(&o, "none", S(""));
	json_out_name(&o, S("a\\"));
	json_out_str_or_null(&o, NULL, S("x"));
	json_out_time(&o, "never", 0);
	json_out_time(&o, "then", 1000);
	json_out_object_end(&o);
	assert_str(buf_str(&b), "{\"s\":\"a\\\"\\n\xEF\xBF\xBD\",\"empty\":\"\",\"none\":null,"
				"\"a\\\\\":\"x\",\"never\":null,"
				"\"then\":\"1970-01-01T00:00:01.000Z\"}");
}

static void values_and_members_are_taken_over(void **state UNUSED)
{
	AUTO_JSON *value = json_pack("{s:i,s:[f]}", "n", 1, "l", 2.5);
	AUTO_BUF b = BUF_INIT;
	struct json_out o = { .b = &b };

	json_out_object(&o, NULL);
	json_out_members(&o, NULL);
	json_out_value(&o, "v", value);
	json_out_value(&o, "none", NULL);
	json_out_members(&o, value);
	json_out_raw(&o, "raw", S("0.500"));
	json_out_object_end(&o);
	assert_str(buf_str(&b),
		"{\"v\":{\"n\":1,\"l\":[2.5]},\"none\":null,\"n\":1,\"l\":[2.5],\"raw\":0.500}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commas_stand_between_values_only),
		cmocka_unit_test(numbers_are_exact),
		cmocka_unit_test(strings_have_any_bytes),
		cmocka_unit_test(values_and_members_are_taken_over),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("json-out", tests, NULL, NULL);
}
