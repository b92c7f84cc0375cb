#include "runs/dir/begun.h"

#include <errno.h>

#include "base/file.h"
#include "runs/dir/run-dir.h"
#include "runs/root.h"

#define KEPT                                                                        \
	"{\"" BEGUN_MEMBER "\":{\"graph.json\":{\"format\":\"template\"},"          \
	"\"communication.json\":{\"self\":\"run:a\"},\"run.json\":{\"run\":\"a\"}," \
	"\"../escaped\":{},\"result.json\":{}}}"

static void what_was_not_written_is(void **state UNUSED)
{
	put("a/start.json", KEPT);
	put("a/leaves.jsonl", "{}\n");
	put("a/graph.json", "{ \"for");
	assert_int_equal(begun_mend(at("a")), 1);
	assert_str(text_of("a/graph.json"), "{\n  \"format\": \"template\"\n}\n");
	assert_str(text_of("a/communication.json"), "{\n  \"self\": \"run:a\"\n}\n");
	assert_str(text_of("a/run.json"), "{\n  \"run\": \"a\"\n}\n");
	assert_false(is_there("escaped"));
	assert_false(is_there("a/result.json"));
	assert_int_equal(begun_mend(at("a")), 0);
}

static void one_that_has_not_begun_is_left_alone(void **state UNUSED)
{
	put("a/start.json", KEPT);
	assert_int_equal(begun_mend(at("a")), 0);
	put("a/leaves.jsonl", "");
	assert_int_equal(begun_mend(at("a")), 0);
	assert_false(is_there("a/run.json"));
}

static void what_start_json_does_not_have_is_not_made_up(void **state UNUSED)
{
	static const char *const starts[] = { "{}", "", "[", "{\"" BEGUN_MEMBER "\":3}",
		"{\"" BEGUN_MEMBER "\":{\"run.json\":\"text\"}}" };

	put("a/leaves.jsonl", "{}\n");
	assert_int_equal(begun_mend(at("a")), 0);
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++) {
		put("a/start.json", starts[i]);
		assert_int_equal(begun_mend(at("a")), 0);
		assert_false(is_there("a/run.json"));
	}
	assert_int_equal(begun_mend(at("nowhere")), -ENOENT);
}

static void a_live_process_does_it_itself(void **state UNUSED)
{
	int lock;

	put("a/start.json", KEPT);
	put("a/leaves.jsonl", "{}\n");
	assert_int_equal(run_lock(at("a"), &lock), 0);
	assert_int_equal(begun_mend(at("a")), -EAGAIN);
	assert_false(is_there("a/run.json"));
	close_fd(&lock);
	assert_int_equal(begun_mend(at("a")), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(what_was_not_written_is),
		T(one_that_has_not_begun_is_left_alone),
		T(what_start_json_does_not_have_is_not_made_up),
		T(a_live_process_does_it_itself),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("begun", tests, NULL, NULL);
}
