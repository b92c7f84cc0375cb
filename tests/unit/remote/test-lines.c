#include "remote/lines.h"

#include <errno.h>

#include "unit.h"

/* What driver and worker say to each other, both ways. */

static const char *const argv[] = { "sh", "-c", "echo \xff", NULL };
static const char *const env[] = { "A=1", NULL };

static void an_order_reads_back(void **state UNUSED)
{
	AUTO_BUF run = BUF_INIT;
	AUTO_BUF line = BUF_INIT;
	struct order_run said = { .path = S("1.r3"),
		.number = 2,
		.argv = argv,
		.env = env,
		.cwd = "/w",
		.in = INPUT_INLINE,
		.in_bytes = { "a\0b", 3 },
		.timeout_ms = 7,
		.cpus = 4,
		.mem_mb = 600,
		.gpus = 2,
		.live = true };
	struct order o;
	bool unknown;

	assert_int_equal(order_run_write(&run, &said), 0);
	order_line_write(&line, &(struct order){ .kind = ORDER_RUN, .n = 17 }, buf_str(&run));
	assert_true(order_line_read(str_sub(buf_str(&line), 0, line.len - 1), &o, &unknown));
	assert_int_equal(o.n, 17);
	assert_str(o.run.path, "1.r3");
	assert_string_equal(o.run.argv[2], argv[2]);
	assert_null(o.run.argv[3]);
	assert_string_equal(o.run.env[0], "A=1");
	assert_int_equal(o.run.in_bytes.len, 3);
	assert_int_equal(o.run.cpus, 4);
	assert_int_equal(o.run.mem_mb, 600);
	assert_int_equal(o.run.gpus, 2);
	assert_true(o.run.live);
	order_done(&o);
}

static void what_breaks_a_rule_is_refused(void **state UNUSED)
{
	static const char *const lines[] = {
		"",
		"{",
		"[]",
		"{}",
		"{\"t\":\"run\"}",
		"{\"t\":\"run\",\"n\":1,\"p\":\"0\",\"argv\":[]}",
		"{\"t\":\"stop\"}",
		"{\"t\":\"stop\",\"n\":-1}",
		"{\"t\":\"stop\",\"n\":\"1\"}",
		"{\"t\":\"run\",\"n\":1,\"p\":\"0\",\"argv\":[\"a\\u0000b\"]}",
		"{\"t\":\"run\",\"n\":1,\"p\":\"0\",\"argv\":[{\"b64\":\"!\"}]}",
	};
	struct order o;
	bool unknown;

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		assert_false(order_line_read(str_of(lines[i]), &o, &unknown));
	assert_false(order_line_read(S("{\"t\":\"dance\"}"), &o, &unknown));
	assert_true(unknown);
}

static void an_end_reads_back(void **state UNUSED)
{
	AUTO_BUF line = BUF_INIT;
	struct said s = { .kind = SAID_END, .n = 3 }, back;
	bool unknown;

	s.end = (struct said_end){ .code = 2, .ms = 9, .why = WHY_TIMEOUT, .out.size = 70000 };
	s.end.out.file = true;
	s.end.err.size = 2;
	buf_adds(&s.end.err.bytes, "e\n");
	said_write(&line, &s);
	said_done(&s);
	assert_true(said_read(str_sub(buf_str(&line), 0, line.len - 1), &back, &unknown));
	assert_int_equal(back.end.code, 2);
	assert_int_equal(back.end.why, WHY_TIMEOUT);
	assert_true(back.end.out.file);
	assert_str(buf_str(&back.end.err.bytes), "e\n");
	/* What is said of every command is read without a tree. */
	assert_null(back.line);
	said_done(&back);
}

static void odd_ends_are_read_as_json(void **state UNUSED)
{
	static const char *const lines[] = {
		"{\"t\":\"end\",\"n\":3,\"code\":7,\"out\":{\"size\":0},\"err\":{\"size\":0},"
		"\"new\":[1]}",
		"{ \"t\":\"end\",\"n\":3,\"code\":7,\"out\":{\"size\":0},\"err\":{\"size\":0}}",
		"{\"t\":\"end\",\"n\":3,\"code\":7,\"out\":{\"size\":0},\"err\":{\"size\":0},"
		"\"held\":false}",
		"{\"t\":\"\\u0065nd\",\"n\":3,\"code\":7,\"out\":{\"size\":0},\"err\":{\"size\":0}"
		"}",
		"{\"t\":\"end\",\"out\":{\"size\":1},\"n\":3,\"code\":7,\"out\":{\"size\":0},"
		"\"err\":{\"size\":0}}",
	};
	struct said s;
	bool unknown;

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		assert_true(said_read(str_of(lines[i]), &s, &unknown));
		assert_non_null(s.line);
		assert_int_equal(s.n, 3);
		assert_int_equal(s.end.code, 7);
		said_done(&s);
	}
	assert_true(said_read(S("{\"t\":\"began\",\"n\":4,\"st\":6,\"pid\":5}"), &s, &unknown));
	assert_null(s.line);
	assert_int_equal(s.pid, 5);
	assert_int_equal(s.start, 6);
	said_done(&s);
}

static void ends_that_break_a_rule_are_refused(void **state UNUSED)
{
	static const char *const lines[] = {
		"{\"t\":\"end\",\"code\":0,\"out\":{\"size\":0},\"err\":{\"size\":0}}",
		"{\"t\":\"end\",\"n\":3,\"code\":256,\"out\":{\"size\":0},\"err\":{\"size\":0}}",
		"{\"t\":\"end\",\"n\":3,\"code\":-1,\"out\":{\"size\":0},\"err\":{\"size\":0}}",
		"{\"t\":\"end\",\"n\":3,\"code\":0,\"out\":{\"size\":0}}",
		"{\"t\":\"end\",\"n\":3,\"out\":{\"size\":0,\"b64\":\"\"},\"err\":{\"size\":0}}",
		"{\"t\":\"end\",\"n\":3,\"why\":\"tired\",\"out\":{\"size\":0},\"err\":{\"size\":0}"
		"}",
		"{\"t\":\"end\",\"n\":3,\"why\":\"start\",\"out\":{\"size\":0},\"err\":{\"size\":0}"
		"}",
		"{\"t\":\"began\",\"pid\":5,\"st\":6}",
	};
	struct said s;
	bool unknown;

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		assert_false(said_read(str_of(lines[i]), &s, &unknown));
}

static void a_file_has_the_name_of_its_grant(void **state UNUSED)
{
	struct said s;
	bool unknown;

	assert_false(said_read(
		S("{\"t\":\"end\",\"n\":3,\"code\":0,\"out\":{\"size\":9,\"file\":\"../x\"},"
		  "\"err\":{\"size\":0}}"),
		&s, &unknown));
	assert_false(said_read(
		S("{\"t\":\"end\",\"n\":3,\"code\":0,\"out\":{\"size\":9,\"b64\":\"QQ==\"},"
		  "\"err\":{\"size\":0}}"),
		&s, &unknown));
}

static void too_much_for_a_line_is_refused(void **state UNUSED)
{
	char *word = mem_zero(ARGV_MAX + 2);
	AUTO_BUF run = BUF_INIT;

	memset(word, 'x', ARGV_MAX + 1);
	const char *const words[] = { word, NULL };
	assert_int_equal(
		order_run_write(&run, &(struct order_run){ .path = S("0"), .argv = words }),
		-E2BIG);
	free(word);
}

static void see(void *data, struct str line)
{
	struct buf *b = data;

	buf_add(b, line);
	buf_addc(b, '|');
}

static void lines_may_be_split_at_every_byte(void **state UNUSED)
{
	static const char text[] = "one\ntwo\n\nthree\ntorn";

	for (size_t cut = 0; cut < sizeof(text); cut++) {
		struct line_reader r = { 0 };
		AUTO_BUF seen = BUF_INIT;
		struct str all = str_of(text);

		cut = MIN(cut, all.len);
		assert_true(line_reader_take(&r, str_sub(all, 0, cut), see, &seen));
		assert_true(line_reader_take(&r, str_from(all, cut), see, &seen));
		assert_str(buf_str(&seen), "one|two||three|");
		assert_int_equal(r.offset, all.len);
		line_reader_done(&r);
		if (cut == all.len)
			break;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_order_reads_back),
		cmocka_unit_test(what_breaks_a_rule_is_refused),
		cmocka_unit_test(an_end_reads_back),
		cmocka_unit_test(odd_ends_are_read_as_json),
		cmocka_unit_test(ends_that_break_a_rule_are_refused),
		cmocka_unit_test(a_file_has_the_name_of_its_grant),
		cmocka_unit_test(too_much_for_a_line_is_refused),
		cmocka_unit_test(lines_may_be_split_at_every_byte),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("lines", tests, NULL, NULL);
}
