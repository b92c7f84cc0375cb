#include "http/tokens.h"

#include "data/json.h"
#include "http/http.h"
#include "runs/root.h"

enum { HOUR = 3600 * 1000 };

static struct tokens opened(void)
{
	AUTO_REPORT r = REPORT_INIT;
	struct tokens t;

	assert_true(tokens_open(&t, str_of(root), &r));
	assert_int_equal(r.errors, 0);
	return t;
}

/* Its secret, in the arena. */
static struct str added(const char *name, unsigned scopes)
{
	AUTO_REPORT r = REPORT_INIT;
	char secret[SECRET_HEX];

	assert_true(tokens_add(str_of(root), str_of(name), scopes, secret, &r));
	return arena_str(&arena, str_of(secret));
}

static bool refused(const char *name)
{
	AUTO_REPORT r = REPORT_INIT;
	char secret[SECRET_HEX];
	bool ok = tokens_add(str_of(root), str_of(name), HTTP_READ, secret, &r);

	assert_int_equal(!ok, r.errors);
	return !ok;
}

/* -- the file ------------------------------------------------------------------------------------
 */

static void without_a_file_there_are_no_tokens(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	struct tokens t = opened();

	assert_int_equal(t.at.len, 0);
	assert_null(tokens_find(&t, S(""), 1));
	tokens_close(&t);
	assert_true(tokens_open(&t, S(""), &r));
	assert_true(tokens_reload(&t, &r));
	tokens_close(&t);
	assert_int_equal(r.errors, 0);
}

static void a_token_lets_in_who_has_its_secret(void **state UNUSED)
{
	struct str secret = added("ci", HTTP_READ | HTTP_RUN), other = added("me", HTTP_ANSWER);
	struct tokens t = opened();

	assert_int_equal(t.at.len, 2);
	const struct token *found = tokens_find(&t, secret, 1);
	assert_non_null(found);
	assert_str(found->name, "ci");
	assert_int_equal(found->scopes, HTTP_READ | HTTP_RUN);
	assert_true(found->created > 0);
	found = tokens_find(&t, other, 1);
	assert_non_null(found);
	assert_str(found->name, "me");
	assert_int_equal(found->scopes, HTTP_ANSWER);
	assert_null(tokens_find(&t, str_sub(secret, 0, secret.len - 1), 1));
	assert_null(tokens_find(&t, S("x"), 1));
	assert_null(tokens_find(&t, str_of(t.at.at[0]->sum), 1)); /* what the file says */
	tokens_close(&t);
	struct stat st;
	assert_int_equal(stat(at("tokens.json"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_false(str_contains(text_of("tokens.json"), secret));
}

static void a_name_is_given_once(void **state UNUSED)
{
	struct str secret = added("ci", HTTP_READ);

	assert_true(refused("ci"));
	assert_true(refused(""));
	assert_true(refused("a b"));
	assert_true(refused("../x"));
	assert_true(refused("a\n"));
	AUTO_BUF name = BUF_INIT;
	for (int i = 0; i < 65; i++)
		buf_addc(&name, 'a');
	assert_true(refused(buf_cstr(&name)));
	buf_truncate(&name, 64);
	assert_false(refused(buf_cstr(&name)));
	assert_false(refused("A.b_c-9"));
	struct tokens t = opened();
	assert_int_equal(t.at.len, 3);
	assert_non_null(tokens_find(&t, secret, 1));
	tokens_close(&t);
}

static void one_that_is_removed_lets_in_no_more(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	struct str first = added("a", HTTP_READ), second = added("b", HTTP_READ),
		   third = added("c", HTTP_READ);

	assert_true(tokens_remove(str_of(root), S("b"), &r));
	struct tokens t = opened();
	assert_non_null(tokens_find(&t, first, 1));
	assert_null(tokens_find(&t, second, 1));
	assert_non_null(tokens_find(&t, third, 1));
	tokens_close(&t);
	assert_false(tokens_remove(str_of(root), S("b"), &r));
	assert_int_equal(r.errors, 1);
}

static void a_file_with_a_mistake_is_said_and_left(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	struct tokens t;

	put("tokens.json", "{\"tokens\":[");
	assert_false(tokens_open(&t, str_of(root), &r));
	assert_int_equal(r.errors, 1);
	tokens_close(&t);
	assert_true(refused("ci"));
	assert_str(text_of("tokens.json"), "{\"tokens\":[");
}

static void entries_that_cannot_be_are_left_out(void **state UNUSED)
{
	put("tokens.json", "{\"tokens\":[1,null,{},{\"name\":\"short\",\"sha256\":\"ab\"},"
			   "{\"name\":\"ok\",\"scopes\":[\"run\",7,\"fly\"],\"sha256\":\""
			   "0123456789012345678901234567890123456789012345678901234567890123\"}]}");
	struct tokens t = opened();
	assert_int_equal(t.at.len, 1);
	assert_str(t.at.at[0]->name, "ok");
	assert_int_equal(t.at.at[0]->scopes, HTTP_RUN);
	tokens_close(&t);
}

/* -- while a server runs -------------------------------------------------------------------------
 */

static void a_reload_takes_over_and_keeps_what_is_in_use(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	struct str old = added("old", HTTP_READ), stays = added("stays", HTTP_READ);
	struct tokens t = opened();

	tokens_add_given(&t, S("given"), S("a secret of a file"), HTTP_RUN);
	struct token *in_use = tokens_find(&t, old, 1);
	struct token *same = tokens_find(&t, stays, 1000 * (uint64_t)HOUR);
	assert_int_equal(same->seen, 1000 * (uint64_t)HOUR);
	assert_true(tokens_remove(str_of(root), S("old"), &r));
	struct str fresh = added("fresh", HTTP_READ);
	assert_true(tokens_reload(&t, &r));
	assert_null(tokens_find(&t, old, 1));
	assert_str(in_use->name, "old"); /* a request may still name it */
	assert_non_null(tokens_find(&t, fresh, 1));
	assert_non_null(tokens_find(&t, S("a secret of a file"), 1));
	assert_int_equal(tokens_find(&t, stays, 1)->seen, 1000 * (uint64_t)HOUR);
	tokens_close(&t);
}

static void a_reload_that_fails_changes_nothing(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	struct str secret = added("ci", HTTP_READ);
	struct tokens t = opened();

	put("tokens.json", "half a fi");
	assert_false(tokens_reload(&t, &r));
	assert_non_null(tokens_find(&t, secret, 1));
	tokens_close(&t);
}

static void its_use_is_written_once_an_hour(void **state UNUSED)
{
	struct str secret = added("ci", HTTP_READ);
	struct tokens t = opened(), again;
	const uint64_t now = 500000 * (uint64_t)HOUR;

	assert_non_null(tokens_find(&t, secret, now));
	assert_true(t.changed);
	tokens_save_seen(&t);
	assert_false(t.changed);
	assert_non_null(tokens_find(&t, secret, now + HOUR));
	assert_false(t.changed);
	assert_non_null(tokens_find(&t, secret, now + HOUR + 1));
	assert_true(t.changed);
	again = opened();
	assert_int_equal(again.at.at[0]->seen, now);
	tokens_close(&again);
	/* One that another process has removed meanwhile does not come back. */
	AUTO_REPORT r = REPORT_INIT;
	(void)added("other", HTTP_READ);
	assert_true(tokens_remove(str_of(root), S("ci"), &r));
	tokens_save_seen(&t);
	again = opened();
	assert_int_equal(again.at.len, 1);
	assert_str(again.at.at[0]->name, "other");
	tokens_close(&again);
	tokens_close(&t);
}

/* -- scopes --------------------------------------------------------------------------------------
 */

static void scopes_are_words_with_commas(void **state UNUSED)
{
	static const struct {
		const char *text, *written;
	} cases[] = {
		{ "read", "read" },
		{ "answer,read", "read,answer" },
		{ " run , read,run ", "read,run" },
		{ "", NULL },
		{ "read,", NULL },
		{ ",", NULL },
		{ "Read", NULL },
		{ "read run", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO_REPORT r = REPORT_INIT;
		AUTO_BUF b = BUF_INIT;
		unsigned mask = 0;
		bool ok = scopes_read(str_of(cases[i].text), &mask, &r);

		assert_int_equal(ok, cases[i].written != NULL);
		assert_int_equal(r.errors, !ok);
		scopes_write(&b, mask);
		assert_str(buf_str(&b), cases[i].written ? cases[i].written : "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(without_a_file_there_are_no_tokens),
		T(a_token_lets_in_who_has_its_secret),
		T(a_name_is_given_once),
		T(one_that_is_removed_lets_in_no_more),
		T(a_file_with_a_mistake_is_said_and_left),
		T(entries_that_cannot_be_are_left_out),
		T(a_reload_takes_over_and_keeps_what_is_in_use),
		T(a_reload_that_fails_changes_nothing),
		T(its_use_is_written_once_an_hour),
		T(scopes_are_words_with_commas),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("tokens", tests, NULL, NULL);
}
