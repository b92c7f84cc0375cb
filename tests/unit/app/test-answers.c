/* Documents of requests that were not carried out. */
#include "app/answers.h"

#include "app/face.h"

static json_t *document(const struct report *r)
{
	AUTO_BUF text = BUF_INIT;

	answer_document(r, &text);
	assert_int_equal(text.p[text.len - 1], '\n');
	json_t *d = json_loadb(text.p, text.len, 0, NULL);
	assert_non_null(d);
	return d;
}

static struct str members(const json_t *d)
{
	AUTO_BUF names = BUF_INIT;
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)d, name, value) buf_printf(&names, "%s ", name);
	return arena_str(&arena, buf_str(&names));
}

static struct str text_in(const json_t *d, const char *name)
{
	return json_str(json_object_get(d, name));
}

static void a_refusal_says_which_run_and_why(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;

	report_warning(&r, (struct where){ 0 }, "first");
	assert_null(runs_open(app, "nowhere", &r));
	AUTO_JSON *d = document(&r);
	assert_str(members(d), "ok status run error reason hint ");
	assert_true(json_is_false(json_object_get(d, "ok")));
	assert_str(text_in(d, "status"), "refused");
	assert_str(text_in(d, "run"), "nowhere");
	assert_str(text_in(d, "error"), "there is no run 'nowhere'");
	assert_str(text_in(d, "reason"), "no such run");
}

static void a_mistake_lists_all_errors(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;

	assert_null(
		recipes_open(app, "nothing", &(struct recipe_open){ .as = OPERAND_RECIPE }, &r));
	report_warning(&r, (struct where){ 0 }, "a warning");
	report_error(&r, (struct where){ 0 }, "another");
	AUTO_JSON *d = document(&r);
	assert_str(members(d), "ok status run error errors ");
	assert_str(text_in(d, "status"), "invalid");
	assert_true(json_is_null(json_object_get(d, "run")));
	assert_int_equal(json_array_size(json_object_get(d, "errors")), 2);
	const json_t *first = json_array_get(json_object_get(d, "errors"), 0);
	assert_bytes(text_in(d, "error"), text_in(first, "message"));
}

static void what_the_machine_does_is_not_a_refusal(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;

	report_refuse(&r, S("one"), "running", "no");
	report_errno(&r, ENOSPC, "cannot write");
	AUTO_JSON *d = document(&r);
	assert_str(text_in(d, "status"), "failed");
	assert_int_equal(json_array_size(json_object_get(d, "errors")), 2);
}

static void a_live_run_refuses_all_alike(void **state UNUSED)
{
	struct report r[4] = { 0 };
	struct resume_request resume = { .request = REQUEST_INIT };
	const struct request q = request_as("live");
	struct run_handle *h = start("tail -f /dev/null", "live"), *other = opened("live");
	struct str path;
	bool over;

	struct recipe_ref *ref = recipes_open(app, "echo x", NULL, &r[0]);
	assert_null(runs_start(app, ref, &q, &r[0]));
	recipe_ref_free(ref);
	assert_null(runs_resume(app, "live", &resume, &over, &r[1]));
	assert_false(run_archive(other, &path, &r[2]));
	assert_false(run_prune(other, false, NULL, &r[3]));
	AUTO_JSON *first = document(&r[0]);
	assert_str(text_in(first, "reason"), "running");
	assert_str(text_in(first, "run"), "live");
	for (size_t i = 1; i < ARRAY_SIZE(r); i++) {
		AUTO_JSON *d = document(&r[i]);

		assert_true(json_equal(d, first));
	}
	run_close(other);
	run_close(h);
	for (size_t i = 0; i < ARRAY_SIZE(r); i++)
		report_done(&r[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		F(a_refusal_says_which_run_and_why),
		F(a_mistake_lists_all_errors),
		F(what_the_machine_does_is_not_a_refusal),
		F(a_live_run_refuses_all_alike),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("answers", tests, NULL, NULL);
}
