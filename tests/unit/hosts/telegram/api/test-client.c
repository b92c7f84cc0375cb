#include "hosts/telegram/api/client.h"

#include "../service.h"

/* Calls against a service that fails in every way, with a clock that the test moves: how often a
 * request is made, and after how long, is a fact and not a matter of luck. */

#define TOKEN "4711:secret"

struct world {
	struct loop *loop;
	struct service service;
	struct api *api;
	/* What the last call came to: */
	size_t done;
	bool skipped;
	enum api_class class;
};

static int open_world(void **state)
{
	struct world *w = mem_new(struct world);

	w->loop = loop_new();
	service_start(&w->service, w->loop);
	w->api = api_new(w->loop, str_of(w->service.url), S(TOKEN));
	assert_non_null(w->api);
	*state = w;
	return 0;
}

static int close_world(void **state)
{
	struct world *w = *state;

	api_free(w->api);
	service_stop(&w->service);
	loop_free(w->loop);
	free(w);
	return 0;
}

static void on_done(void *data, const struct api_answer *answer)
{
	struct world *w = data;

	w->done++;
	w->skipped = !answer;
	if (answer) {
		w->class = answer->class;
		assert_false(str_contains(answer->description, S(TOKEN)));
	}
}

static void ask(struct world *w, const char *method, enum api_patience patience)
{
	(void)api_start(w->api, &(struct api_request){ .method = method,
					.params = json_object(),
					.patience = patience,
					.done = on_done,
					.data = w });
}

/* Until there were so many requests, or so many calls are over. */
static void until(struct world *w, size_t requests, size_t done)
{
	while (json_array_size(w->service.requests) < requests || w->done < done)
		assert_true(loop_turn(w->loop, 1000) >= 0);
}

/* A while in which nothing may happen. */
static void nothing(struct world *w)
{
	size_t requests = json_array_size(w->service.requests), done = w->done;

	for (int i = 0; i < 20; i++)
		(void)loop_turn(w->loop, 1);
	assert_int_equal(json_array_size(w->service.requests), requests);
	assert_int_equal(w->done, done);
}

static void a_server_error_is_tried_three_times(void **state)
{
	struct world *w = *state;

	for (int i = 0; i < 3; i++)
		service_script(&w->service, "sendMessage", 502, "<html>");
	ask(w, "sendMessage", API_WAITS);
	until(w, 1, 0);
	clock_moved += 600;
	until(w, 2, 0);
	clock_moved += 1100;
	until(w, 3, 1);
	assert_int_equal(w->class, API_SERVER);
	clock_moved += 100000;
	nothing(w);
}

static void a_flood_is_waited_out(void **state)
{
	struct world *w = *state;

	service_script(&w->service, "sendMessage", 429,
		"{\"ok\":false,\"error_code\":429,\"description\":\"Too Many Requests\","
		"\"parameters\":{\"retry_after\":200}}");
	ask(w, "sendMessage", API_WAITS);
	until(w, 1, 0);
	while (!api_penalty(w->api))
		(void)loop_turn(w->loop, 10);
	nothing(w);
	/* It is the bot that waits, not the one call: */
	ask(w, "sendMessage", API_SKIPS);
	until(w, 1, 1);
	assert_true(w->skipped);
	ask(w, "answerCallbackQuery", API_ONCE);
	until(w, 2, 2);
	assert_int_equal(w->class, API_OK);
	ask(w, "sendMessage", API_WAITS);
	nothing(w);
	clock_moved += 100000;
	nothing(w);
	clock_moved += 101000;
	until(w, 4, 4);
	assert_int_equal(w->class, API_OK);
	assert_false(api_penalty(w->api));
}

static void a_wait_of_many_minutes_is_given_up(void **state)
{
	struct world *w = *state;

	service_script(&w->service, "sendMessage", 429,
		"{\"ok\":false,\"error_code\":429,\"description\":\"Too Many Requests\","
		"\"parameters\":{\"retry_after\":3600}}");
	ask(w, "sendMessage", API_WAITS);
	until(w, 1, 1);
	assert_int_equal(w->class, API_FLOOD);
	assert_true(api_penalty(w->api));
}

static void what_may_have_arrived_is_repeated_only_when_that_does_no_harm(void **state)
{
	struct world *w = *state;

	service_script(&w->service, "sendMessage", 0, NULL);
	ask(w, "sendMessage", API_WAITS);
	until(w, 1, 1);
	assert_int_equal(w->class, API_LOST);
	service_script(&w->service, "editMessageText", 0, NULL);
	ask(w, "editMessageText", API_WAITS);
	until(w, 2, 1);
	clock_moved += 600;
	until(w, 3, 2);
	assert_int_equal(w->class, API_OK);
}

static void what_the_service_refuses_is_not_repeated(void **state)
{
	static const struct {
		int status;
		const char *body;
		enum api_class class;
	} cases[] = {
		{ 400, "{\"ok\":false,\"description\":\"Bad Request: can't parse entities\"}",
			API_PARSE_ENTITIES },
		{ 403, "{\"ok\":false,\"description\":\"Forbidden: bot was blocked by the user\"}",
			API_BLOCKED },
		{ 401, "{\"ok\":false,\"description\":\"Unauthorized\"}", API_TOKEN_REFUSED },
		{ 413, "<html>", API_REFUSED },
		{ 200, "{\"ok\":false,\"description\":\"no\"}", API_NOT_OK },
		{ 200, "not json", API_UNREADABLE },
	};
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		service_script(&w->service, "sendMessage", cases[i].status, cases[i].body);
		ask(w, "sendMessage", API_WAITS);
		until(w, i + 1, i + 1);
		assert_int_equal(w->class, cases[i].class);
		clock_moved += 10000;
		nothing(w);
	}
}

static void a_service_that_is_not_there_is_tried_again(void **state)
{
	struct world *w = *state;
	struct api *other = api_new(w->loop, S("http://127.0.0.1:1"), S(TOKEN));

	(void)api_start(other,
		&(struct api_request){ .method = "sendMessage", .done = on_done, .data = w });
	while (!w->done) {
		(void)loop_turn(w->loop, 20);
		clock_moved += 200;
	}
	assert_int_equal(w->class, API_UNSENT);
	api_free(other);
}

static void a_cancelled_call_is_silent(void **state)
{
	struct world *w = *state;
	struct api_call *c = api_start(w->api,
		&(struct api_request){ .method = "getUpdates", .done = on_done, .data = w });

	until(w, 1, 0);
	assert_int_equal(api_pending(w->api), 1);
	api_cancel(c);
	nothing(w);
	assert_int_equal(api_pending(w->api), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_server_error_is_tried_three_times),
		TEST(a_flood_is_waited_out),
		TEST(a_wait_of_many_minutes_is_given_up),
		TEST(what_may_have_arrived_is_repeated_only_when_that_does_no_harm),
		TEST(what_the_service_refuses_is_not_repeated),
		TEST(a_service_that_is_not_there_is_tried_again),
		TEST(a_cancelled_call_is_silent),
	};

	(void)signal(SIGPIPE, SIG_IGN);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("client", tests, NULL, NULL);
}
