#include "http/sessions.h"

#include "data/json.h"
#include "runs/root.h"

enum { HOUR = 3600 * 1000 };
static const uint64_t now = 500000 * (uint64_t)HOUR;
static const uint64_t month = SESSION_DAYS * 24 * (uint64_t)HOUR;

static struct sessions opened(void)
{
	struct sessions s;

	sessions_init(&s, str_of(root));
	assert_false(s.changed);
	return s;
}

/* Its secret, in the arena. */
static struct str login(struct sessions *s, uint64_t ms)
{
	char secret[SECRET_HEX];

	assert_non_null(sessions_add(s, ms, secret));
	return arena_str(&arena, str_of(secret));
}

static void a_session_is_found_by_its_secret(void **state UNUSED)
{
	struct sessions s = opened();
	struct str secret = login(&s, now), other = login(&s, now);

	const struct session *one = sessions_find(&s, secret, now),
			     *two = sessions_find(&s, other, now);
	assert_true(one && two && one != two);
	assert_string_not_equal(one->name, two->name);
	assert_int_equal(strlen(one->name), 16);
	assert_null(sessions_find(&s, S(""), now));
	assert_null(sessions_find(&s, str_of(one->sum), now));
	assert_null(sessions_find(&s, str_of(one->name), now));
	assert_int_equal(sessions_save(&s), 0);
	sessions_done(&s);
	s = opened();
	assert_non_null(sessions_find(&s, secret, now));
	assert_non_null(sessions_find(&s, other, now));
	assert_false(str_contains(text_of("sessions.json"), secret));
	struct stat st;
	assert_int_equal(stat(at("sessions.json"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	sessions_done(&s);
}

static void it_ends_after_a_month_however_it_is_used(void **state UNUSED)
{
	struct sessions s = opened();
	struct str secret = login(&s, now);

	assert_non_null(sessions_find(&s, secret, now + month / 2));
	assert_non_null(sessions_find(&s, secret, now + month));
	assert_null(sessions_find(&s, secret, now + month + 1));
	(void)login(&s, now + month + 1); /* which takes the old ones away */
	assert_int_equal(s.at.len, 1);
	sessions_done(&s);
}

static void its_use_is_written_once_an_hour(void **state UNUSED)
{
	struct sessions s = opened();
	struct str secret = login(&s, now);

	assert_int_equal(sessions_save(&s), 0);
	assert_non_null(sessions_find(&s, secret, now + HOUR));
	struct str before = text_of("sessions.json");
	assert_non_null(sessions_find(&s, secret, now + HOUR + 1));
	assert_false(str_eq(before, text_of("sessions.json")));
	sessions_done(&s);
	s = opened();
	assert_int_equal(s.at.at[0]->seen, now + HOUR + 1);
	assert_int_equal(s.at.at[0]->created, now);
	sessions_done(&s);
}

/* Not the one that logged in first, but the one that was away for longest. */
static void the_one_not_seen_for_longest_makes_room(void **state UNUSED)
{
	struct sessions s = opened();
	struct str all[SESSIONS_MAX];

	for (int i = 0; i < SESSIONS_MAX; i++)
		all[i] = login(&s, now + (uint64_t)i);
	assert_non_null(sessions_find(&s, all[0], now + 2 * HOUR));
	struct str more = login(&s, now + 3 * HOUR);
	assert_int_equal(s.at.len, SESSIONS_MAX);
	assert_non_null(sessions_find(&s, all[0], now + 3 * HOUR));
	assert_null(sessions_find(&s, all[1], now + 3 * HOUR));
	assert_non_null(sessions_find(&s, all[2], now + 3 * HOUR));
	assert_non_null(sessions_find(&s, more, now + 3 * HOUR));
	sessions_done(&s);
}

static void who_logs_out_is_out(void **state UNUSED)
{
	struct sessions s = opened();
	struct str first = login(&s, now), second = login(&s, now);

	sessions_remove(&s, sessions_find(&s, first, now));
	assert_null(sessions_find(&s, first, now));
	assert_non_null(sessions_find(&s, second, now));
	assert_int_equal(sessions_save(&s), 0);
	sessions_done(&s);
	s = opened();
	assert_int_equal(s.at.len, 1);
	sessions_done(&s);
}

static void a_file_that_is_not_one_has_no_sessions(void **state UNUSED)
{
	static const char *const texts[] = { "", "{", "[]", "{\"sessions\":7}",
		"{\"sessions\":[1,{},{\"sha256\":\"short\"}]}" };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		put("sessions.json", texts[i]);
		struct sessions s = opened();
		assert_int_equal(s.at.len, 0);
		sessions_done(&s);
	}
}

static void without_a_directory_they_are_kept_in_memory(void **state UNUSED)
{
	struct sessions s;

	sessions_init(&s, S(""));
	struct str secret = login(&s, now);
	assert_int_equal(sessions_save(&s), 0);
	assert_non_null(sessions_find(&s, secret, now));
	sessions_done(&s);
	assert_false(is_there("sessions.json"));
}

static void what_cannot_be_written_is_said(void **state UNUSED)
{
	struct sessions s;

	sessions_init(&s, str_of(at("nowhere")));
	(void)login(&s, now);
	assert_true(sessions_save(&s) < 0);
	sessions_done(&s);
}

/* -- for one login -------------------------------------------------------------------------------
 */

static void a_token_for_one_login_is_used_once(void **state UNUSED)
{
	struct sessions s = opened();
	char secret[SECRET_HEX], other[SECRET_HEX];

	assert_true(once_make(&s, 1000, secret) && once_make(&s, 1000, other));
	assert_false(once_use(&s, S(""), 1000));
	assert_true(once_use(&s, str_of(secret), 1000));
	assert_false(once_use(&s, str_of(secret), 1000));
	assert_true(once_use(&s, str_of(other), 1000));
	sessions_done(&s);
}

static void it_is_good_for_ten_minutes(void **state UNUSED)
{
	struct sessions s = opened();
	char secret[SECRET_HEX];

	assert_true(once_make(&s, 1000, secret));
	assert_false(once_use(&s, str_of(secret), 1000 + ONCE_MS));
	assert_true(once_make(&s, 1000, secret));
	assert_true(once_use(&s, str_of(secret), 1000 + ONCE_MS - 1));
	sessions_done(&s);
}

static void of_very_many_the_first_goes(void **state UNUSED)
{
	struct sessions s = opened();
	char first[SECRET_HEX], second[SECRET_HEX], more[SECRET_HEX];

	assert_true(once_make(&s, 1, first) && once_make(&s, 1, second));
	for (int i = 2; i <= ONCE_MAX; i++)
		assert_true(once_make(&s, 1, more));
	assert_int_equal(s.once.len, ONCE_MAX);
	assert_false(once_use(&s, str_of(first), 1));
	assert_true(once_use(&s, str_of(second), 1));
	assert_true(once_use(&s, str_of(more), 1));
	sessions_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_session_is_found_by_its_secret),
		T(it_ends_after_a_month_however_it_is_used),
		T(its_use_is_written_once_an_hour),
		T(the_one_not_seen_for_longest_makes_room),
		T(who_logs_out_is_out),
		T(a_file_that_is_not_one_has_no_sessions),
		T(without_a_directory_they_are_kept_in_memory),
		T(what_cannot_be_written_is_said),
		T(a_token_for_one_login_is_used_once),
		T(it_is_good_for_ten_minutes),
		T(of_very_many_the_first_goes),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("sessions", tests, NULL, NULL);
}
