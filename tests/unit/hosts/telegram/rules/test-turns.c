#include "hosts/telegram/rules/attach.h"
#include "hosts/telegram/rules/group.h"
#include "hosts/telegram/rules/inbound.h"
#include "hosts/telegram/rules/lock.h"
#include "hosts/telegram/rules/media.h"
#include "hosts/telegram/rules/polling.h"
#include "hosts/telegram/rules/press.h"
#include "hosts/telegram/rules/queue.h"
#include "unit.h"

static json_t *parse(const char *text)
{
	json_error_t error;
	json_t *value = json_loads(text, 0, &error);

	if (!value)
		fail_msg("%s: %s", error.text, text);
	return value;
}

static void albums_are_told_apart_by_their_id_and_chat(void **state)
{
	AUTO_JSON *a = parse("{\"message_id\":1,\"chat\":{\"id\":7},\"media_group_id\":\"g\"}");
	AUTO_JSON *b = parse("{\"message_id\":9,\"chat\":{\"id\":7},\"media_group_id\":\"g\"}");
	AUTO_JSON *other = parse("{\"message_id\":2,\"chat\":{\"id\":7},\"media_group_id\":\"h\"}");
	AUTO_JSON *text = parse("{\"message_id\":2,\"chat\":{\"id\":7},\"text\":\"x\"}");
	uint64_t ms = 0;

	(void)state;
	assert_true(group_opens(a, &ms));
	assert_int_equal(ms, ALBUM_MS);
	assert_true(group_joins(a, b, &ms));
	assert_false(group_joins(a, other, &ms));
	assert_false(group_joins(a, text, &ms));
	assert_false(group_opens(text, &ms));
}

static void a_file_that_is_named_twice_is_fetched_once(void **state)
{
	AUTO_JSON *messages =
		parse("[{\"message_id\":1,\"animation\":{\"file_id\":\"g\"},\"document\":"
		      "{\"file_id\":\"g\",\"file_size\":5}},{\"message_id\":2,\"sticker\":"
		      "{\"file_id\":\"s\",\"is_animated\":true}}]");
	struct arena a = ARENA_INIT;
	struct media_files files;

	(void)state;
	media_files(&a, messages, &files);
	assert_int_equal(files.count, 2);
	assert_str(files.at[0].kind, "document");
	assert_int_equal(files.at[0].size, 5);
	assert_str(files.at[1].name, "sticker-2.tgs");
	assert_false(files.at[1].image);
	arena_done(&a);
}

static void names_of_files_are_made_safe(void **state)
{
	struct arena a = ARENA_INIT;
	char longest[300];

	(void)state;
	assert_str(media_safe_name(&a, S("../../etc/pass wd\n")), ".._.._etc_pass_wd_");
	assert_str(media_safe_name(&a, S("日本.pdf")), "_.pdf");
	assert_str(media_safe_name(&a, S("..")), "file");
	assert_str(media_safe_name(&a, S("")), "file");
	memset(longest, 'a', sizeof(longest));
	memcpy(longest + sizeof(longest) - 5, ".pdf", 5);
	struct str name = media_safe_name(&a, str_of(longest));
	assert_int_equal(name.len, MEDIA_NAME_BYTES);
	assert_true(str_ends(name, S("aa.pdf")));
	arena_done(&a);
}

static void selectors_may_be_lists_with_stars_anywhere(void **state)
{
	AUTO_JSON *list = parse("{\"mime\":[\"image/*\",\"*/ogg\"]}");
	AUTO_JSON *text = parse("{\"match\":[\"TEXT\"]}");
	AUTO_JSON *none = parse("{\"type\":[\" \"],\"mime\":7}");

	(void)state;
	assert_true(handler_takes_file(list, S("voice"), S("audio/ogg")));
	assert_false(handler_takes_file(list, S("voice"), S("audio/oggx")));
	assert_false(handler_takes_text(list));
	assert_true(handler_takes_text(text));
	assert_false(handler_takes_file(text, S("voice"), S("")));
	assert_true(handler_takes_file(none, S("voice"), S("")));
	assert_false(handler_takes_text(none));
}

static const char *limit_value;

static char *one_variable(const char *name)
{
	return strcmp(name, "ROUX_TELEGRAM_INBOUND_FILE_MAX_BYTES") == 0 ? (char *)limit_value
									 : NULL;
}

static void limits_are_positive_whole_numbers(void **state)
{
	static const char *const bad[] = { "", "0", "-1", "1.5", "1e-3", "nan", "inf", "1 2",
		"1e40", "x" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		limit_value = bad[i];
		assert_int_equal(file_limit(FILE_LIMIT_INBOUND, one_variable), FILE_LIMIT_BYTES);
	}
	limit_value = " 4096 ";
	assert_int_equal(file_limit(FILE_LIMIT_INBOUND, one_variable), 4096);
	assert_int_equal(file_limit(FILE_LIMIT_OUTBOUND, one_variable), FILE_LIMIT_BYTES);
}

static void endings_of_photos_may_be_large(void **state)
{
	(void)state;
	assert_true(attach_is_photo(S("/a/B.JPEG")));
	assert_false(attach_is_photo(S("/a/jpg")));
	assert_false(attach_is_photo(S("")));
}

static void a_process_that_began_at_another_time_is_another(void **state)
{
	(void)state;
	assert_true(lock_same_start(10000, 12000));
	assert_false(lock_same_start(10000, 12001));
	assert_true(lock_same_start(0, 5));
	assert_int_equal(lock_state(8, 7, true), LOCK_STATE_ELSEWHERE);
	assert_int_equal(lock_state(8, 7, false), LOCK_STATE_STALE);
	assert_false(lock_may_take(LOCK_STATE_ELSEWHERE, false));
	assert_true(lock_may_take(LOCK_STATE_ELSEWHERE, true));
	assert_true(lock_may_take(LOCK_STATE_STALE, false));
}

static void an_entry_is_ours_when_nothing_in_it_contradicts(void **state)
{
	struct lock_entry me = { 7, S("/a"), 10000 };

	(void)state;
	assert_true(lock_owns(&(struct lock_entry){ 7, S("/a"), 10000 }, &me));
	assert_true(lock_owns(&(struct lock_entry){ 7, S(""), 0 }, &me));
	assert_false(lock_owns(&(struct lock_entry){ 7, S("/b"), 10000 }, &me));
	assert_false(lock_owns(&(struct lock_entry){ 7, S("/a"), 20000 }, &me));
	assert_false(lock_owns(&(struct lock_entry){ 8, S("/a"), 10000 }, &me));
	assert_false(lock_owns(&(struct lock_entry){ 0 }, &(struct lock_entry){ 0 }));
}

static void a_registry_keeps_the_entries_of_others(void **state)
{
	AUTO_JSON *before = json_pack("{s{si}}", "other", "pid", 4);
	AUTO_JSON *taken =
		lock_registry(before, "ours", &(struct lock_entry){ 7, S("/a"), 1763409600123 });
	AUTO_JSON *dropped = lock_registry(taken, "ours", NULL);
	struct lock_entry e = lock_entry_read(json_object_get(taken, "ours"));

	(void)state;
	assert_int_equal(e.pid, 7);
	assert_str(e.cwd, "/a");
	assert_int_equal(e.started, 1763409600123);
	assert_true(json_equal(dropped, before));
}

static void an_empty_file_is_not_sent(void **state)
{
	const int64_t sizes[] = { 1, 0 };
	size_t index = 0;

	(void)state;
	assert_int_equal(attach_decide(true, 0, sizes, 2, ATTACH_MAX, 10, &index), ATTACH_EMPTY);
	assert_int_equal(index, 1);
}

static void after_six_silent_days_the_service_may_count_anew(void **state)
{
	const uint64_t day = 24u * 60 * 60 * 1000;
	int64_t stored = 100;
	struct polling p;

	(void)state;
	polling_init(&p, &stored, 1);
	assert_true(polling_request(&p, 6 * day).has_offset);
	assert_false(polling_take(&p, 100, 6 * day));
	assert_false(polling_request(&p, 6 * day + 2).has_offset);
	assert_true(polling_take(&p, 3, 6 * day + 2));
	assert_int_equal(polling_request(&p, 6 * day + 3).offset, 4);
	assert_false(polling_take(&p, 3, 6 * day + 3));
}

static void buttons_of_other_bots_do_nothing(void **state)
{
	struct press_facts f = { .menu = true, .item = true, .button = true };
	struct callback c;

	(void)state;
	callback_parse(S("queue:confirm-delete:7:1"), &c);
	assert_int_equal(press_decide(&c, &f).act, PRESS_NOTHING);
	f.own = true;
	assert_int_equal(press_decide(&c, &f).act, PRESS_REMOVE);
	callback_parse(S("tgbtn:00000000"), &c);
	assert_int_equal(press_decide(&c, &f).act, PRESS_FIRE);
	f.used = true;
	assert_int_equal(press_decide(&c, &f).answer, ANSWER_BUTTON_USED);
	callback_parse(S("gate:00000000:y"), &c);
	f.menu = false;
	assert_int_equal(press_decide(&c, &f).act, PRESS_GATE);
	callback_parse(S("section:1:x"), &c);
	assert_int_equal(press_decide(&c, &f).answer, ANSWER_MENU_EXPIRED);
}

static void a_long_queue_has_pages_and_few_buttons(void **state)
{
	struct item_name items[QUEUE_PAGE_ITEMS];
	struct arena a = ARENA_INIT;
	struct str *keys;

	(void)state;
	for (size_t i = 0; i < QUEUE_PAGE_ITEMS; i++)
		items[i] = (struct item_name){ 7, i + 1 };
	size_t count = menu_queue_keys(&a, items, QUEUE_PAGE_ITEMS, 1, 3, 0, &keys);
	assert_int_equal(count, QUEUE_PAGE_ITEMS + 5);
	assert_str(keys[count - 3], "queue:page:0");
	assert_str(keys[count - 2], "queue:noop");
	assert_str(keys[count - 1], "queue:page:2");
	count = menu_queue_keys(&a, items, 1, 2, 3, 0, &keys);
	assert_str(keys[count - 1], "queue:page:0");
	arena_done(&a);
}

static void nothing_starts_while_abort_holds_it_or_the_lock_is_lost(void **state)
{
	struct dispatch_facts f = { .idle = true };

	(void)state;
	assert_true(dispatch_allowed(&f));
	f.held = true;
	assert_false(dispatch_allowed(&f));
	f = (struct dispatch_facts){ .idle = true, .lost = true };
	assert_false(dispatch_allowed(&f));
	assert_int_equal(move_place(MOVE_CONTINUE), QUEUE_AHEAD);
	assert_int_equal(move_lane(MOVE_DEMOTE), LANE_DEFAULT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(albums_are_told_apart_by_their_id_and_chat),
		cmocka_unit_test(a_file_that_is_named_twice_is_fetched_once),
		cmocka_unit_test(names_of_files_are_made_safe),
		cmocka_unit_test(selectors_may_be_lists_with_stars_anywhere),
		cmocka_unit_test(limits_are_positive_whole_numbers),
		cmocka_unit_test(endings_of_photos_may_be_large),
		cmocka_unit_test(a_process_that_began_at_another_time_is_another),
		cmocka_unit_test(an_entry_is_ours_when_nothing_in_it_contradicts),
		cmocka_unit_test(a_registry_keeps_the_entries_of_others),
		cmocka_unit_test(an_empty_file_is_not_sent),
		cmocka_unit_test(after_six_silent_days_the_service_may_count_anew),
		cmocka_unit_test(buttons_of_other_bots_do_nothing),
		cmocka_unit_test(a_long_queue_has_pages_and_few_buttons),
		cmocka_unit_test(nothing_starts_while_abort_holds_it_or_the_lock_is_lost),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("turns", tests, NULL, NULL);
}
