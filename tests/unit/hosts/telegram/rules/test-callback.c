#include "hosts/telegram/rules/callback.h"
#include "unit.h"

static struct callback parsed(const char *data)
{
	struct callback c;

	callback_parse(str_of(data), &c);
	return c;
}

static void what_has_no_owned_prefix_is_foreign(void **state)
{
	static const char *const foreign[] = { "acme:approve:7", "x", "MENU:model", "sections:1:x",
		"queue", "тест", ":" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(foreign); i++)
		assert_int_equal(parsed(foreign[i]).kind, CALLBACK_FOREIGN);
	assert_int_equal(parsed("").kind, CALLBACK_EMPTY);
}

static void owned_data_that_does_not_fit_is_bad(void **state)
{
	static const char *const bad[] = { "tgbtn:", "tgbtn:DEADBEEF", "tgbtn:deadbeef0",
		"menu:", "menu:model ", "model:page", "model:page:", "model:page:-1",
		"model:page:1x", "model:open:12345678901234567890", "model:scope:mine",
		"thinking:set:", "queue:pick:7", "queue:pick:-7:1", "queue:pick:7:1:2",
		"queue:prio-set:7:2:urgent", "queue:refresh:", "settings:zzz",
		"settings:set:proactive:", "section:1", "section::x", "section:1:", "gate:deadbeef",
		"gate:deadbeef:x", "gate:deadbeef:yn", "runs:cancel:xyz", "runs:",
		"section:1:a:0123456789012345678901234567890123456789012345678901234567890" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (parsed(bad[i]).kind != CALLBACK_BAD)
			fail_msg("'%s' is taken as kind %d", bad[i], (int)parsed(bad[i]).kind);
}

static void parts_of_the_data_are_read(void **state)
{
	struct callback c = parsed("queue:prio-set:7:9223372036854775807:normal");

	(void)state;
	assert_int_equal(c.action, QUEUE_NORMAL);
	assert_int_equal(c.chat, 7);
	assert_int_equal(c.message, INT64_MAX);
	c = parsed("gate:0123abcd:n");
	assert_int_equal(c.kind, CALLBACK_GATE);
	assert_str(c.id, "0123abcd");
	assert_false(c.yes);
	c = parsed("section:12:go:a:b");
	assert_int_equal(c.kind, CALLBACK_SECTION);
	assert_str(c.token, "12");
	assert_str(c.name, "go");
	assert_str(c.text, "a:b");
	c = parsed("queue:refresh:3");
	assert_int_equal(c.number, 3);
	assert_int_equal(parsed("model:pages:back").action, MODEL_PAGES_BACK);
	assert_str(parsed("model:scope:all").text, "all");
	assert_str(parsed("thinking:set:a:b").text, "a:b");
}

static void what_is_built_is_read_back(void **state)
{
	struct arena a = ARENA_INIT;
	struct str data;
	struct callback c;

	(void)state;
	for (int action = MENU_MODEL; action <= SETTINGS_PROACTIVE_OFF; action++) {
		bool item = action >= QUEUE_PICK && action <= QUEUE_CONFIRM_DELETE;
		bool numbered = action == MODEL_PAGE || action == MODEL_OPEN ||
				action == MODEL_PICK || action == QUEUE_PAGE;

		data = item       ? callback_item(&a, action, 1, 1000000000000000000u)
		       : numbered ? callback_numbered(&a, action, 4)
				  : callback_plain(action);
		callback_parse(data, &c);
		assert_int_equal(c.action, action);
		assert_true(data.len <= CALLBACK_BYTES);
	}
	callback_parse(callback_button(&a, S("00ff00ff")), &c);
	assert_int_equal(c.kind, CALLBACK_BUTTON);
	callback_parse(callback_run_cancel(&a, S("00ff00ff")), &c);
	assert_int_equal(c.kind, CALLBACK_RUN_CANCEL);
	assert_false(callback_thinking(&a,
		S("0123456789012345678901234567890123456789012345678901234567890123456789"),
		&data));
	arena_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_has_no_owned_prefix_is_foreign),
		cmocka_unit_test(owned_data_that_does_not_fit_is_bad),
		cmocka_unit_test(parts_of_the_data_are_read),
		cmocka_unit_test(what_is_built_is_read_back),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("callback", tests, NULL, NULL);
}
