#include "render/web/html.h"

#include "unit.h"

static void texts_cannot_end_their_element(void **state UNUSED)
{
	AUTO_BUF b = BUF_INIT;

	html_text(&b, S("</script><img src=x onerror='a' \"b\">&amp;\nnext"));
	assert_str(buf_str(&b), "&lt;/script&gt;&lt;img src=x onerror=&#39;a&#39; "
				"&quot;b&quot;&gt;&amp;amp;\nnext");
}

static void attributes_stay_on_one_line(void **state UNUSED)
{
	AUTO_BUF b = BUF_INIT;

	html_attr(&b, S("a\"b\nc\td"));
	assert_str(buf_str(&b), "a&quot;b c d");
}

static void what_is_invisible_is_shown(void **state UNUSED)
{
	AUTO_BUF b = BUF_INIT;

	html_text(&b, S("a\0b\x1b\x7f \xe2\x80\xae \xff \xc2\x85"));
	assert_str(buf_str(&b), "a␀b␛␡ ⟦U+202E⟧ \xef\xbf\xbd ⟦U+0085⟧");
}

static void segments_are_coded(void **state UNUSED)
{
	AUTO_BUF b = BUF_INIT;

	html_url(&b, S("a/b c?d&e=f%#\xc3\xa4~1"));
	assert_str(buf_str(&b), "a%2Fb%20c%3Fd%26e%3Df%25%23%C3%A4~1");
}

static void empty_texts_are_nothing(void **state UNUSED)
{
	AUTO_BUF b = BUF_INIT;

	html_text(&b, (struct str){ 0 });
	html_attr(&b, (struct str){ 0 });
	html_url(&b, (struct str){ 0 });
	html_cut(&b, (struct str){ 0 }, 3);
	assert_int_equal(b.len, 0);
}

static void times_are_for_people(void **state UNUSED)
{
	AUTO_BUF b = BUF_INIT;

	html_time(&b, 1700000000000);
	assert_str(buf_str(&b), "<time datetime=\"2023-11-14T22:13:20.000Z\">"
				"2023-11-14 22:13:20</time>");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_cannot_end_their_element),
		cmocka_unit_test(attributes_stay_on_one_line),
		cmocka_unit_test(what_is_invisible_is_shown),
		cmocka_unit_test(segments_are_coded),
		cmocka_unit_test(empty_texts_are_nothing),
		cmocka_unit_test(times_are_for_people),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
