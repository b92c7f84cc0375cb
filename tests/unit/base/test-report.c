#include "base/report.h"

#include <errno.h>
#include <stdio.h>

#include "base/utf8.h"

#include "unit.h"

/* The text of one error at `offset`. */
static void shown(struct buf *b, struct str text, size_t offset, size_t length)
{
	struct source source = { S("t.json"), text };
	AUTO_REPORT r = REPORT_INIT;

	buf_reset(b);
	assert_false(report_error(&r, (struct where){ &source, offset, length }, "bad"));
	report_text(&r, REPORT_ALL, b);
}

static void a_place_is_shown_with_its_line_underlined(void **state UNUSED)
{
	AUTO_BUF b = BUF_INIT;

	shown(&b, S("one\ntwo three\nfour"), 8, 5);
	assert_str(buf_str(&b), "t.json:2:5: error: bad\n"
				"   2 | two three\n"
				"     |     ^^^^^\n");
	shown(&b, S("one\ntwo"), 0, 3);
	assert_str(buf_str(&b), "t.json:1:1: error: bad\n   1 | one\n     | ^^^\n");
}

static void a_place_at_or_past_the_end_is_still_shown(void **state UNUSED)
{
	AUTO_BUF b = BUF_INIT;

	shown(&b, S("ab"), 2, 1);
	assert_str(buf_str(&b), "t.json:1:3: error: bad\n   1 | ab\n     |   ^\n");
	shown(&b, S("ab"), 99, 50);
	assert_str(buf_str(&b), "t.json:1:3: error: bad\n   1 | ab\n     |   ^\n");
	shown(&b, S("ab\n"), 3, 1);
	assert_str(buf_str(&b), "t.json:2:1: error: bad\n   2 | \n     | ^\n");
	shown(&b, S(""), 0, 1);
	assert_str(buf_str(&b), "t.json:1:1: error: bad\n   1 | \n     | ^\n");
}

static void a_mark_ends_with_its_line(void **state UNUSED)
{
	AUTO_BUF b = BUF_INIT;

	shown(&b, S("ab cd\nef"), 3, 5);
	assert_str(buf_str(&b), "t.json:1:4: error: bad\n   1 | ab cd\n     |    ^^\n");
}

static void wide_characters_and_controls_do_not_move_the_mark(void **state UNUSED)
{
	struct source source = { S("t"), S("\xe6\x97\xa5\xe6\x9c\xac\033[1m x") };
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF b = BUF_INIT;

	report_error(&r, (struct where){ &source, source.text.len - 1, 1 }, "an \033 escape");
	report_text(&r, REPORT_ALL, &b);
	assert_str(buf_str(&b), "t:1:8: error: an \xef\xbf\xbd escape\n"
				"   1 | \xe6\x97\xa5\xe6\x9c\xac\xef\xbf\xbd[1m x\n"
				"     |          ^\n");
}

static void tabs_stay_tabs_under_the_line(void **state UNUSED)
{
	AUTO_BUF b = BUF_INIT;

	shown(&b, S("\t\tkey\tx"), 6, 1);
	assert_str(buf_str(&b), "t.json:1:7: error: bad\n"
				"   1 | \t\tkey\tx\n"
				"     | \t\t   \t^\n");
}

static void a_carriage_return_is_not_shown(void **state UNUSED)
{
	AUTO_BUF b = BUF_INIT;

	shown(&b, S("one\r\ntwo\r\n"), 5, 3);
	assert_str(buf_str(&b), "t.json:2:1: error: bad\n   2 | two\n     | ^^^\n");
}

static void columns_count_characters(void **state UNUSED)
{
	AUTO_BUF b = BUF_INIT;

	shown(&b, S("\xc3\xa9\xc3\xa9 \xe2\x82\xac!"), 5, 3);
	assert_str(buf_str(&b), "t.json:1:4: error: bad\n"
				"   1 | \xc3\xa9\xc3\xa9 \xe2\x82\xac!\n"
				"     |    ^\n");
}

static void bytes_that_are_no_text_do_not_reach_the_terminal(void **state UNUSED)
{
	AUTO_BUF b = BUF_INIT;

	shown(&b,
		S("a\xff"
		  "b"),
		1, 1);
	assert_true(utf8_valid(buf_str(&b)));
	shown(&b, S("\xff\xfe\xff\xfe x"), 5, 1);
	assert_true(utf8_valid(buf_str(&b)));
}

static void of_a_long_line_a_window_is_shown(void **state UNUSED)
{
	AUTO_BUF text = BUF_INIT;
	AUTO_BUF b = BUF_INIT;

	buf_fill(&text, 'x', 100000);
	buf_adds(&text, "HERE");
	buf_fill(&text, 'y', 100000);
	shown(&b, buf_str(&text), 100000, 4);
	assert_true(b.len < 1000);
	assert_true(str_starts(buf_str(&b), S("t.json:1:100001: error: bad\n   1 | …x")));
	assert_true(str_contains(buf_str(&b), S("xHEREy")));
	assert_true(str_contains(buf_str(&b), S("y…\n")));
	assert_true(str_ends(buf_str(&b), S(" ^^^^\n")));
	/* The marks stand under the word: both lines have as many characters before them. */
	size_t line = str_find(buf_str(&b), '\n', 0) + 1;
	struct str excerpt = str_from(buf_str(&b), line);
	size_t marks = str_find(excerpt, '^', 0), second = str_find(excerpt, '\n', 0) + 1;
	size_t here = str_find(excerpt, 'H', 0);
	assert_int_equal(utf8_count(str_sub(excerpt, 0, here)),
		utf8_count(str_sub(excerpt, second, marks - second)));
}

static void a_window_does_not_cut_characters(void **state UNUSED)
{
	AUTO_BUF text = BUF_INIT;
	AUTO_BUF b = BUF_INIT;

	for (int i = 0; i < 300; i++)
		buf_adds(&text, "\xe2\x82\xac");
	for (size_t at = 0; at < text.len; at += 3) {
		shown(&b, buf_str(&text), at, 3);
		assert_true(utf8_valid(buf_str(&b)));
		assert_false(str_contains(buf_str(&b), S("\xef\xbf\xbd")));
	}
}

static void hints_follow_the_issue_they_belong_to(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF b = BUF_INIT;

	assert_false(report_hint(&r, "nothing to add to"));
	assert_true(report_warning(&r, (struct where){ 0 }, "w %d", 1));
	assert_false(report_hint(&r, "do %s", "this"));
	assert_false(report_errno(&r, ENOENT, "cannot open '%s'", "f"));
	report_text(&r, REPORT_ALL, &b);
	assert_str(buf_str(&b), "roux: warning: w 1\n     hint: do this\n"
				"roux: error: cannot open 'f': No such file or directory\n");
	assert_int_equal(r.errors, 1);
	assert_int_equal(r.warnings, 1);
	assert_false(report_has_system(&r));
	buf_reset(&b);
	report_text(&r, 1 << ISSUE_WARNING, &b);
	assert_str(buf_str(&b), "roux: warning: w 1\n     hint: do this\n");
}

static void the_machine_and_the_user_are_told_apart(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;

	report_errno(&r, ENOENT, "x");
	assert_false(report_has_system(&r));
	report_errno(&r, ENOSPC, "x");
	assert_true(report_has_system(&r));
	report_reset(&r);
	assert_int_equal(r.errors, 0);
	report_system(&r, (struct where){ 0 }, "x");
	assert_true(report_has_system(&r));
}

static void issues_outlive_their_source(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF b = BUF_INIT;
	char name[] = "name", text[] = "text";
	{
		struct source source = { str_of(name), str_of(text) };

		report_error(&r, (struct where){ &source, 0, 4 }, "%s", text);
	}
	memset(name, 'x', 4);
	memset(text, 'x', 4);
	report_text(&r, REPORT_ALL, &b);
	assert_str(buf_str(&b), "name:1:1: error: text\n   1 | text\n     | ^^^^\n");
}

static void sorting_goes_by_file_and_place_and_keeps_equals_in_order(void **state UNUSED)
{
	struct source a = { S("a"), S("0123456789") }, z = { S("z"), S("0123456789") };
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF b = BUF_INIT;

	report_error(&r, (struct where){ &z, 1, 1 }, "4");
	report_error(&r, (struct where){ &a, 5, 1 }, "2");
	report_error(&r, (struct where){ 0 }, "0");
	report_error(&r, (struct where){ &a, 5, 1 }, "3");
	report_error(&r, (struct where){ &a, 2, 1 }, "1");
	report_sort(&r);
	vec_each (i, &r.issues)
		buf_add(&b, i->message);
	assert_str(buf_str(&b), "01234");
}

static void more_than_the_limit_are_counted_and_not_kept(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF b = BUF_INIT;

	for (int i = 0; i < REPORT_MAX + 7; i++) {
		if (i == REPORT_MAX - 1 || i == REPORT_MAX) {
			buf_reset(&b);
			report_text(&r, REPORT_ALL, &b);
			assert_int_equal(i == REPORT_MAX,
				str_ends(buf_str(&b), S("roux: there may be more\n")));
		}
		report_error(&r, (struct where){ 0 }, "%d", i);
		report_hint(&r, "hint of %d", i);
	}
	assert_int_equal(r.issues.len, REPORT_MAX);
	assert_int_equal(r.errors, REPORT_MAX + 7);
	buf_reset(&b);
	report_text(&r, REPORT_ALL, &b);
	assert_true(str_ends(
		buf_str(&b), S("roux: error: 199\n     hint: hint of 199\nroux: and 7 more\n")));
}

static void an_error_behind_many_warnings_still_counts(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	bool kept = false;

	for (int i = 0; i < REPORT_MAX + 1; i++)
		report_warning(&r, (struct where){ 0 }, "w");
	report_error(&r, (struct where){ 0 }, "e");
	assert_int_equal(r.errors, 1);
	vec_each (i, &r.issues)
		kept |= i->kind == ISSUE_INVALID;
	assert_true(kept);
}

static const action_words words = {
	[ACTION_WAIT] = "wait for '%s'",
	[ACTION_CANCEL] = "cancel",
	[ACTION_CHECK] = "check '%s' well",
};

static void actions_become_hints_in_the_words_of_a_host(void **state)
{
	AUTO_REPORT r = REPORT_INIT;

	(void)state;
	report_refuse(&r, S("x"), "running", "run '%s' is running", "x");
	report_hint(&r, "it has begun");
	report_action(&r, ACTION_WAIT, S("x"));
	report_action(&r, ACTION_CANCEL, S("x"));
	const struct issue *i = report_refusal(&r);
	assert_non_null(i);
	assert_string_equal(i->reason, "running");
	assert_true(str_eq(i->run, S("x")));
	report_word(&r, words);
	assert_true(str_eq(i->hint, S("it has begun; wait for 'x', cancel")));
	report_word(&r, words); /* once is enough */
	assert_true(str_eq(i->hint, S("it has begun; wait for 'x', cancel")));
}

static void advice_goes_from_one_issue_to_another(void **state)
{
	AUTO_REPORT inner = REPORT_INIT;
	AUTO_REPORT r = REPORT_INIT;

	(void)state;
	report_error(&inner, (struct where){ 0 }, "broken");
	report_hint(&inner, "fix it");
	report_action(&inner, ACTION_CHECK, S("a.json"));
	report_warning(&r, (struct where){ 0 }, "left out");
	report_advise(&r, &inner.issues.at[0]);
	report_reset(&inner);
	report_remark(&r, 0, "reason=broken here", ACTION_DOCTOR);
	report_remark(&r, 0, "reason=broken there", ACTION_DOCTOR); /* there is such a remark */
	report_word(&r, words);
	/* This host has no words for the doctor. */
	assert_string_equal(
		r.issues.at[0].hint.p, "fix it; reason=broken here; check 'a.json' well");
}

static void the_machine_failing_is_not_a_refusal(void **state)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_REPORT all = REPORT_INIT;

	(void)state;
	report_refuse(&r, S("a-run"), "running", "no");
	report_action(&r, ACTION_WAIT, S("a-run"));
	report_move(&all, &r);
	const struct issue *i = report_refusal(&all);
	assert_non_null(i);
	assert_true(str_eq(i->run, S("a-run")));
	assert_true(str_eq(i->actions[0].about, S("a-run")));
	report_system(&all, (struct where){ 0 }, "the disk is full");
	assert_null(report_refusal(&all));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_place_is_shown_with_its_line_underlined),
		cmocka_unit_test(a_place_at_or_past_the_end_is_still_shown),
		cmocka_unit_test(a_mark_ends_with_its_line),
		cmocka_unit_test(wide_characters_and_controls_do_not_move_the_mark),
		cmocka_unit_test(tabs_stay_tabs_under_the_line),
		cmocka_unit_test(a_carriage_return_is_not_shown),
		cmocka_unit_test(columns_count_characters),
		cmocka_unit_test(bytes_that_are_no_text_do_not_reach_the_terminal),
		cmocka_unit_test(of_a_long_line_a_window_is_shown),
		cmocka_unit_test(a_window_does_not_cut_characters),
		cmocka_unit_test(hints_follow_the_issue_they_belong_to),
		cmocka_unit_test(the_machine_and_the_user_are_told_apart),
		cmocka_unit_test(issues_outlive_their_source),
		cmocka_unit_test(sorting_goes_by_file_and_place_and_keeps_equals_in_order),
		cmocka_unit_test(more_than_the_limit_are_counted_and_not_kept),
		cmocka_unit_test(an_error_behind_many_warnings_still_counts),
		cmocka_unit_test(actions_become_hints_in_the_words_of_a_host),
		cmocka_unit_test(advice_goes_from_one_issue_to_another),
		cmocka_unit_test(the_machine_failing_is_not_a_refusal),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
