#include "hosts/telegram/rules/retry.h"
#include "unit.h"

static enum api_class class_of(const char *method, int status, const char *why)
{
	AUTO_JSON *body = json_pack("{sb ss}", "ok", 0, "description", why);
	struct api_attempt attempt = { .status = status, .body = body };
	struct api_answer answer;

	api_classify(str_of(method), &attempt, &answer);
	return answer.class;
}

static void complaints_of_the_service_are_told_apart(void **state)
{
	(void)state;
	assert_int_equal(class_of("editMessageText", 400,
				 "Bad Request: message is not modified: specified new message"),
		API_UNCHANGED);
	assert_int_equal(class_of("sendMessage", 400,
				 "Bad Request: can't parse entities: Unsupported start tag"),
		API_PARSE_ENTITIES);
	assert_int_equal(class_of("editMessageText", 400, "Bad Request: message to edit not found"),
		API_MESSAGE_GONE);
	assert_int_equal(
		class_of("sendMessage", 400, "Bad Request: BUTTON_DATA_INVALID"), API_KEYBOARD);
	assert_int_equal(
		class_of("sendMessage", 400, "Bad Request: message is too long"), API_TOO_LONG);
	assert_int_equal(class_of("sendPhoto", 400, "Bad Request: PHOTO_INVALID_DIMENSIONS"),
		API_PHOTO_REFUSED);
	assert_int_equal(class_of("sendMessage", 400, "Bad Request: chat not found"), API_REFUSED);
	assert_int_equal(class_of("getMe", 404, "Not Found"), API_TOKEN_REFUSED);
	assert_int_equal(class_of("sendMessage", 404, "Not Found"), API_REFUSED);
	assert_int_equal(class_of("getUpdates", 409,
				 "Conflict: can't use getUpdates method while webhook is active"),
		API_WEBHOOK);
	assert_int_equal(class_of("getUpdates", 409, "Conflict: terminated by other getUpdates"),
		API_CONFLICT);
}

static void a_null_result_is_a_result(void **state)
{
	AUTO_JSON *body = json_pack("{sb sn}", "ok", 1, "result");
	struct api_attempt attempt = { .status = 200, .body = body };
	struct api_answer answer;

	(void)state;
	api_classify(S("editMessageText"), &attempt, &answer);
	assert_int_equal(answer.class, API_OK);
	attempt.body = NULL;
	api_classify(S("sendMessage"), &attempt, &answer);
	assert_int_equal(answer.class, API_UNREADABLE);
}

static void what_may_have_been_done_is_not_done_twice(void **state)
{
	struct api_attempt attempt = { .lost = true };
	struct api_answer answer;
	uint64_t wait;

	(void)state;
	api_classify(S("sendMessage"), &attempt, &answer);
	assert_false(api_retry(S("sendMessage"), &answer, 1, 3, 500, &wait));
	assert_true(api_retry(S("editMessageText"), &answer, 2, 3, 500, &wait));
	assert_int_equal(wait, 1000);
	attempt = (struct api_attempt){ .unsent = true };
	api_classify(S("sendMessage"), &attempt, &answer);
	assert_true(api_retry(S("sendMessage"), &answer, 1, 3, 500, &wait));
}

static void a_wait_of_more_than_five_minutes_is_not_waited(void **state)
{
	AUTO_JSON *body = json_pack("{s{si}}", "parameters", "retry_after", 301);
	struct api_attempt attempt = { .status = 429, .body = body };
	struct api_answer answer;
	uint64_t wait = 0;

	(void)state;
	api_classify(S("sendMessage"), &attempt, &answer);
	assert_true(answer.has_wait);
	assert_false(api_retry(S("sendMessage"), &answer, 1, 3, 500, &wait));
	json_object_set_new(json_object_get(body, "parameters"), "retry_after", json_integer(300));
	api_classify(S("sendMessage"), &attempt, &answer);
	assert_true(api_retry(S("sendMessage"), &answer, 1, 3, 500, &wait));
	assert_int_equal(wait, 300000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(complaints_of_the_service_are_told_apart),
		cmocka_unit_test(a_null_result_is_a_result),
		cmocka_unit_test(what_may_have_been_done_is_not_done_twice),
		cmocka_unit_test(a_wait_of_more_than_five_minutes_is_not_waited),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("retry", tests, NULL, NULL);
}
