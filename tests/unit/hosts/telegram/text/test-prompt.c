#include "base/buf.h"
#include "hosts/telegram/text/jsonl.h"
#include "hosts/telegram/text/prompt-template.h"
#include "hosts/telegram/text/prompt.h"
#include "hosts/telegram/text/redact.h"
#include "unit.h"

static json_t *parse(const char *text)
{
	json_error_t error;
	json_t *value = json_loads(text, 0, &error);

	if (!value)
		fail_msg("%s: %s", error.text, text);
	return value;
}

static void history_stands_before_the_text_and_its_files_are_listed(void **state)
{
	AUTO_JSON *turn =
		parse("{\"text\":\"now\",\"files\":[\"/t/c\"],\"outputs\":[\"o2\"],\"history\":["
		      "{\"text\":\"one\",\"files\":[\"/t/"
		      "a\"]},{\"text\":\"two\",\"outputs\":[\"o1\"]}]}");
	AUTO_BUF got = BUF_INIT;
	AUTO_BUF want = BUF_INIT;

	(void)state;
	turn_prompt_of(&got, turn);
	buf_printf(&want,
		"[telegram]\n\n%s\n\n1. one\n\n2. two\n\n%s\nnow\n\n[attachments] /t\n- /a\n- "
		"/c\n\n"
		"[outputs]\n- o1\n- o2",
		prompt_history_intro, prompt_current_marker);
	assert_bytes(buf_str(&got), buf_str(&want));
}

static void a_raw_prompt_is_the_text(void **state)
{
	AUTO_JSON *turn = parse("{\"text\":\"[callback] x:y\",\"raw\":true}");
	AUTO_BUF got = BUF_INIT;

	(void)state;
	turn_prompt_of(&got, turn);
	assert_str(buf_str(&got), "[callback] x:y");
}

static void a_reply_without_words_has_a_mark(void **state)
{
	struct arena a = ARENA_INIT;
	AUTO_JSON *messages = parse("[{\"reply_to_message\":{\"caption\":\" the plan \"}}]");

	(void)state;
	assert_str(message_prompt_text(&a, messages), "_\n\n[reply] the plan");
	assert_str(message_command_text(&a, messages), "");
	arena_done(&a);
}

static void what_a_template_puts_in_is_not_read_again(void **state)
{
	AUTO_BUF b = BUF_INIT;

	(void)state;
	template_expand(&b, S("$1|$@|$ARGUMENTS|${@:2}|${@:0:1}|$|${x}|$99999999999999999999|"),
		S("'$2' \"a b\""));
	assert_str(buf_str(&b), "$2|$2 a b|$2 a b|a b|$2|$|${x}||");
}

static void front_matter_is_what_stands_between_dashes(void **state)
{
	(void)state;
	assert_str(template_body(S("---\na: 1\n---\n\nBody\n")), "Body");
	assert_str(template_body(S("---\r\na\r\n---\r\nBody")), "Body");
	assert_str(template_body(S("--- \nBody")), "--- \nBody");
	assert_str(template_body(S("")), "");
}

static void the_token_is_shown_nowhere(void **state)
{
	AUTO_JSON *value = parse("{\"a1:2\":[\"x1:2y\",1,{\"b\":\"1:2\"}]}");
	AUTO_JSON *hidden = redact_json(value, S("1:2"));
	AUTO_BUF b = BUF_INIT;

	(void)state;
	json_write(&b, hidden, 0);
	assert_str(buf_str(&b),
		"{\"a<redacted-token>\":[\"x<redacted-token>y\",1,{\"b\":\"<redacted-token>\"}]}");
	buf_reset(&b);
	redact(&b, S("aaa"), S("aa"));
	assert_str(buf_str(&b), "<redacted-token>a");
}

static void a_stream_is_read_in_whatever_pieces_it_comes(void **state)
{
	static const char text[] =
		"noise\n{\"type\":\"text\",\"text\":\"a\"}\n[1]\n{\"type\":\"usage\",\"n\":1}\n"
		"{\"type\":\"text\",\"text\":\"b\"}\n{\"type\":\"result\",\"text\":\"all\"}";
	struct jsonl_stream s = { 0 };

	(void)state;
	for (size_t i = 0; text[i]; i++)
		jsonl_feed(&s, (struct str){ &text[i], 1 });
	assert_str(jsonl_text(&s), "ab");
	assert_str(jsonl_final(&s), "all");
	assert_int_equal(json_number_of(s.usage, "n"), 1);
	jsonl_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(history_stands_before_the_text_and_its_files_are_listed),
		cmocka_unit_test(a_raw_prompt_is_the_text),
		cmocka_unit_test(a_reply_without_words_has_a_mark),
		cmocka_unit_test(what_a_template_puts_in_is_not_read_again),
		cmocka_unit_test(front_matter_is_what_stands_between_dashes),
		cmocka_unit_test(the_token_is_shown_nowhere),
		cmocka_unit_test(a_stream_is_read_in_whatever_pieces_it_comes),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("prompt", tests, NULL, NULL);
}
