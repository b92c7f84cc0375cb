#include "hosts/telegram/bridge/bridge.h"

#include <ftw.h>

#include "../service.h"
#include "hosts/telegram/bridge/send.h"

/* A whole bridge on a service of the test, with a clock that the test moves. Turns are held, so
 * that no agent is started: what waits, in which order, and what was written down before which
 * request is looked at. */

struct world {
	char root[32];
	struct app *app, *reader; /* the reader sees only what is committed */
	struct bridge bridge;
	struct service service;
	size_t sent;
	enum sent result;
	int64_t message;
	/* The offset and the number of turns in the ledger when the last getUpdates came. */
	json_int_t offset_then;
	size_t waiting_then;
};

static struct world *here;

static int drop(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

static size_t count_waiting(struct app *a)
{
	AUTO_REPORT r = REPORT_INIT;
	size_t n[LANE_DEFAULT + 1];

	assert_true(queue_count(a, STORE_HOST, ARRAY_SIZE(n), n, &r));
	return n[LANE_CONTROL] + n[LANE_PRIORITY] + n[LANE_DEFAULT];
}

static void on_asked(struct service *s, const char *method, const json_t *params)
{
	struct world *w = container_of(s, struct world, service);
	struct store reader = { .app = w->reader };

	(void)params;
	if (strcmp(method, "getUpdates") != 0)
		return;
	AUTO_JSON *offset = store_get(&reader, "offset");
	w->offset_then = json_number_of(offset, "last");
	w->waiting_then = count_waiting(w->reader);
	report_done(&reader.report);
}

static void connect_bridge(struct world *w)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF note = BUF_INIT;
	bool taken;

	w->bridge = (struct bridge){ 0 };
	assert_true(bridge_open(&w->bridge, w->app, &note, &r));
	assert_true(lock_take(&w->bridge.lock, true, &taken, &r));
	assert_true(bridge_start(
		&w->bridge, &(struct bridge_options){ .api_url = w->service.url }, &r));
}

static void disconnect(struct world *w)
{
	w->bridge.state = BRIDGE_STOPPING;
	bridge_stop(&w->bridge);
	bridge_close(&w->bridge);
}

static int open_world(void **state)
{
	struct world *w = here = mem_new(struct world);
	AUTO_BUF path = BUF_INIT;
	AUTO_JSON *config = json_pack("{s:s,s:I,s:I,s:I,s:{s:s}}", "botToken", "4711:secret",
		"botId", (json_int_t)4711, "allowedUserId", (json_int_t)7, "lastUpdateId",
		(json_int_t)999, "agent", "template", "false");

	(void)strcpy(w->root, "/tmp/roux-unit-XXXXXX");
	assert_non_null(mkdtemp(w->root));
	buf_printf(&path, "%s/telegram.json", w->root);
	assert_int_equal(json_dump_file(config, buf_cstr(&path), 0), 0);
	struct app_options o = { .agent_dir = w->root, .state_dir = w->root, .cwd = w->root };
	w->app = app_open(&o);
	w->reader = app_open(&o);
	service_start(&w->service, app_loop(w->app));
	w->service.asked = on_asked;
	struct store store = { .app = w->app };
	assert_true(store_set_new(&store, "held", json_true()));
	connect_bridge(w);
	*state = w;
	return 0;
}

static int close_world(void **state)
{
	struct world *w = *state;

	disconnect(w);
	service_stop(&w->service);
	app_close(w->reader);
	app_close(w->app);
	assert_int_equal(nftw(w->root, drop, 8, FTW_DEPTH | FTW_PHYS), 0);
	free(w);
	return 0;
}

/* -- what happens --------------------------------------------------------------------------------
 */

static void turn(struct world *w)
{
	assert_true(app_turn(w->app, 100) >= 0);
}

/* Until the service was asked for updates behind that one. */
static void until_confirmed(struct world *w, json_int_t update)
{
	const json_t *params = NULL;

	while (!service_count(&w->service, "getUpdates", &params) ||
		json_number_of(params, "offset") <= update)
		turn(w);
}

static void nothing(struct world *w)
{
	for (int i = 0; i < 10; i++)
		(void)app_turn(w->app, 2);
}

static json_t *message(json_int_t update, json_int_t id, const char *text)
{
	return json_pack("{s:I,s:{s:I,s:i,s:s,s:{s:i,s:s},s:{s:i,s:b}}}", "update_id", update,
		"message", "message_id", id, "date", 1, "text", text, "chat", "id", 7, "type",
		"private", "from", "id", 7, "is_bot", 0);
}

static json_t *picture(json_int_t update, json_int_t id, const char *album)
{
	json_t *u = message(update, id, "");
	json_t *m = json_object_get(u, "message");

	json_object_del(m, "text");
	json_object_set_new(m, "media_group_id", json_string(album));
	json_object_set_new(m, "photo",
		json_pack("[{s:s,s:s,s:i,s:i,s:i}]", "file_id", "f", "file_unique_id", "u", "width",
			1, "height", 1, "file_size", 1));
	return u;
}

static json_t *reaction(json_int_t update, json_int_t id, const char *emoji)
{
	return json_pack("{s:I,s:{s:{s:i,s:s},s:I,s:i,s:{s:i,s:b},s:[],s:[{s:s,s:s}]}}",
		"update_id", update, "message_reaction", "chat", "id", 7, "type", "private",
		"message_id", id, "date", 1, "user", "id", 7, "is_bot", 0, "old_reaction",
		"new_reaction", "type", "emoji", "emoji", emoji);
}

static bool add_text(void *data, uint64_t item, enum lane lane, const json_t *t)
{
	(void)item;
	(void)lane;
	buf_printf(data, "%.*s|", STR(json_text_of(t, "text")));
	return true;
}

static void assert_waiting(struct world *w, const char *want)
{
	AUTO_BUF got = BUF_INIT;

	waiting_each(&w->bridge, 0, add_text, &got);
	assert_str(buf_str(&got), want);
}

/* With /abort in effect a message takes along what waits: here each is to wait for itself. */
static void keep_apart(struct world *w)
{
	w->bridge.turns.held = false;
	w->bridge.turns.compacting = true; /* so that none starts */
}

/* -- the tests -----------------------------------------------------------------------------------
 */

static void an_update_is_written_down_before_it_is_confirmed(void **state)
{
	struct world *w = *state;

	keep_apart(w);
	until_confirmed(w, 999);
	service_update(&w->service, message(1000, 1, "one"));
	until_confirmed(w, 1000);
	assert_int_equal(w->offset_then, 1000);
	assert_int_equal(w->waiting_then, 1);
	/* What comes again is not done again, also not by another process. */
	service_update(&w->service, message(1000, 1, "one"));
	service_update(&w->service, message(1001, 2, "two"));
	until_confirmed(w, 1001);
	assert_waiting(w, "one|two|");
	disconnect(w);
	connect_bridge(w);
	keep_apart(w);
	assert_waiting(w, "one|two|");
}

static void turns_stand_by_lane_then_by_arrival(void **state)
{
	struct world *w = *state;

	keep_apart(w);
	for (int i = 1; i <= 4; i++) {
		char text[8];

		(void)snprintf(text, sizeof(text), "%d", i);
		service_update(&w->service, message(999 + i, i, text));
		until_confirmed(w, 999 + i);
	}
	service_update(&w->service, reaction(1004, 3, "👍"));
	service_update(&w->service, reaction(1005, 2, "🔥"));
	until_confirmed(w, 1005);
	assert_waiting(w, "3|2|1|4|");
	service_update(&w->service, message(1006, 6, "/continue"));
	until_confirmed(w, 1006);
	assert_waiting(w, "continue|3|2|1|4|");
	service_update(&w->service, reaction(1007, 1, "💩"));
	until_confirmed(w, 1007);
	assert_waiting(w, "continue|3|2|4|");
}

static void a_long_text_waits_for_its_rest(void **state)
{
	struct world *w = *state;
	AUTO_FREE char *lengthy = mem_zero(4001);

	memset(lengthy, 'a', 4000);
	keep_apart(w);
	service_update(&w->service, message(1000, 1, lengthy));
	until_confirmed(w, 1000);
	nothing(w);
	assert_int_equal(count_waiting(w->app), 0);
	service_update(&w->service, message(1001, 2, "the rest"));
	until_confirmed(w, 1001);
	assert_int_equal(count_waiting(w->app), 0);
	clock_moved += 700;
	while (!count_waiting(w->app))
		turn(w);
	AUTO_BUF got = BUF_INIT;
	waiting_each(&w->bridge, 0, add_text, &got);
	assert_int_equal(got.len, 4000 + 2 + strlen("the rest") + 1);
	/* One that does not belong to it closes it first: the order stays. */
	service_update(&w->service, message(1002, 10, lengthy));
	service_update(&w->service, message(1003, 20, "another"));
	until_confirmed(w, 1003);
	assert_int_equal(count_waiting(w->app), 3);
}

static void an_album_is_whole_when_its_time_is_over(void **state)
{
	struct world *w = *state;

	keep_apart(w);
	service_update(&w->service, picture(1000, 1, "x"));
	until_confirmed(w, 1000);
	clock_moved += 600;
	nothing(w);
	service_update(&w->service, picture(1001, 2, "x"));
	until_confirmed(w, 1001);
	clock_moved += 600; /* the second one has begun the time anew */
	nothing(w);
	assert_int_equal(count_waiting(w->app), 0);
	/* A process that ends now has it in the journal. */
	disconnect(w);
	connect_bridge(w);
	keep_apart(w);
	assert_int_equal(count_waiting(w->app), 0);
	clock_moved += 1200;
	while (!count_waiting(w->app))
		turn(w);
	assert_int_equal(count_waiting(w->app), 1);
	assert_int_equal(waiting_find(&w->bridge, 1), waiting_find(&w->bridge, 2));
	AUTO_JSON *rows = store_list(&w->bridge.store, "u/");
	assert_int_equal(json_array_size(rows), 0);
}

static void on_sent(void *data, enum sent result, int64_t id)
{
	struct world *w = data;

	w->sent++;
	w->result = result;
	w->message = id;
}

static void send_one(struct world *w, const struct message *m)
{
	size_t before = w->sent;

	send_message(&w->bridge, m, on_sent, w);
	while (w->sent == before)
		turn(w);
}

static void what_is_refused_for_its_form_is_sent_in_a_simpler_one(void **state)
{
	struct world *w = *state;
	AUTO_JSON *keyboard = json_pack("[[{s:s,s:s}]]", "text", "x", "callback_data", "menu:back");
	struct message m = {
		.chat = 7, .text = S("<b>bold</b> text"), .html = true, .keyboard = keyboard
	};
	const json_t *last = NULL;

	service_script(&w->service, "sendMessage", 400,
		"{\"ok\":false,\"description\":\"Bad Request: can't parse entities\"}");
	service_script(&w->service, "sendMessage", 400,
		"{\"ok\":false,\"description\":\"Bad Request: BUTTON_DATA_INVALID\"}");
	send_one(w, &m);
	assert_int_equal(w->result, SENT_OK);
	assert_int_equal(service_count(&w->service, "sendMessage", &last), 3);
	assert_str(json_text_of(last, "text"), "bold text");
	assert_null(json_object_get(last, "parse_mode"));
	assert_null(json_object_get(last, "reply_markup"));

	m = (struct message){ .chat = 7, .text = S("new"), .edit = 5 };
	service_script(&w->service, "editMessageText", 400,
		"{\"ok\":false,\"description\":\"Bad Request: message to edit not found\"}");
	send_one(w, &m);
	assert_int_equal(w->result, SENT_OK);
	assert_int_equal(service_count(&w->service, "sendMessage", &last), 4);
	assert_str(json_text_of(last, "text"), "new");

	m = (struct message){ .chat = 7, .text = S("first half second half") };
	service_script(&w->service, "sendMessage", 400,
		"{\"ok\":false,\"description\":\"Bad Request: message is too long\"}");
	send_one(w, &m);
	assert_int_equal(w->result, SENT_OK);
	assert_int_equal(service_count(&w->service, "sendMessage", &last), 7);
	assert_str(json_text_of(last, "text"), " second half");
}

static void a_person_who_blocks_the_bot_is_left_alone(void **state)
{
	struct world *w = *state;
	struct message m = { .chat = 7, .text = S("hello") };

	keep_apart(w);
	service_script(&w->service, "sendMessage", 403,
		"{\"ok\":false,\"description\":\"Forbidden: bot was blocked by the user\"}");
	send_one(w, &m);
	assert_int_equal(w->result, SENT_LATER);
	send_one(w, &m);
	assert_int_equal(w->result, SENT_LATER);
	assert_int_equal(service_count(&w->service, "sendMessage", NULL), 1);
	service_update(&w->service, message(1000, 1, "I am back"));
	until_confirmed(w, 1000);
	send_one(w, &m);
	assert_int_equal(w->result, SENT_OK);
}

static void an_answer_is_sent_when_the_service_is_back(void **state)
{
	struct world *w = *state;
	AUTO_JSON *d = json_pack(
		"{s:s,s:i,s:i,s:s}", "kind", "answer", "chat", 7, "reply", 1, "text", "the answer");
	const json_t *last = NULL;

	for (int i = 0; i < 3; i++)
		service_script(&w->service, "sendMessage", 500, "oops");
	assert_true(deliver_add(&w->bridge, d));
	deliver_run(&w->bridge);
	while (!w->bridge.deliveries.waiting) {
		turn(w);
		clock_moved += 400;
	}
	assert_int_equal(service_count(&w->service, "sendMessage", NULL), 3);
	clock_moved += 60000;
	while (json_array_size(w->bridge.deliveries.keys))
		turn(w);
	assert_int_equal(service_count(&w->service, "sendMessage", &last), 4);
	assert_str(json_text_of(last, "text"), "the answer");
	assert_int_equal(
		json_number_of(json_object_get(last, "reply_parameters"), "message_id"), 1);
}

static void a_conflict_is_tried_every_second_then_seldom(void **state)
{
	static const char body[] = "{\"ok\":false,\"description\":\"Conflict: terminated by other "
				   "getUpdates request\"}";
	struct world *w = *state;
	size_t polls;

	for (int i = 0; i < 5; i++)
		service_script(&w->service, "getUpdates", 409, body);
	for (size_t n = 1; n <= 4; n++) {
		while ((polls = service_count(&w->service, "getUpdates", NULL)) < n)
			turn(w);
		assert_int_equal(polls, n);
		while (!timer_running(&w->bridge.poller.pause))
			turn(w);
		assert_int_equal(w->bridge.state, BRIDGE_CONFLICT);
		clock_moved += n < 4 ? 1000 : 0;
	}
	clock_moved += 20000;
	nothing(w);
	assert_int_equal(service_count(&w->service, "getUpdates", NULL), 4);
	clock_moved += 10000;
	while (service_count(&w->service, "getUpdates", NULL) < 5)
		turn(w);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_update_is_written_down_before_it_is_confirmed),
		TEST(turns_stand_by_lane_then_by_arrival),
		TEST(a_long_text_waits_for_its_rest),
		TEST(an_album_is_whole_when_its_time_is_over),
		TEST(what_is_refused_for_its_form_is_sent_in_a_simpler_one),
		TEST(a_person_who_blocks_the_bot_is_left_alone),
		TEST(an_answer_is_sent_when_the_service_is_back),
		TEST(a_conflict_is_tried_every_second_then_seldom),
	};

	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGCHLD, SIG_DFL);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("bridge", tests, NULL, NULL);
}
