/* Questions that runs wait at, and their answers. */
#include "app/gates.h"

#include "app/face.h"

static const char recipe[] = "name: gated\n"
			     "description: it\n"
			     "version: 1.0.0\n"
			     "stages:\n"
			     "- name: build\n"
			     "  steps: [{id: a, type: bash, command: 'true'}]\n"
			     "  approval: {required: true, prompt: 'ship it?', timeout: 60}\n"
			     "- name: ship\n"
			     "  steps: [{id: b, type: bash, command: 'printf sent'}]\n";

static void pause_as(const char *name)
{
	AUTO_REPORT r = REPORT_INIT;
	const struct request q = request_as(name);

	assert_int_equal(
		run_all(start_ref(
			recipes_open_text(app, S("gated.yaml"), str_of(recipe), NULL, &r), &q)),
		ROUX_PAUSED);
}

static bool note(void *data, const struct gate *g)
{
	struct buf *b = data;

	assert_str(g->prompt, "ship it?");
	assert_int_equal(g->timeout_ms, 60000);
	assert_true(g->since_ms > 0);
	assert_false(g->approves);
	buf_printf(b, "%.*s:%.*s ", STR(g->run), STR(g->stage));
	return true;
}

/* The open gates of a run, or of all. */
static struct str asked(const char *run)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF b = BUF_INIT;

	assert_true(gates_each(app, run, note, &b, &r));
	assert_right(&r);
	return arena_str(&arena, buf_str(&b));
}

static bool decide(const char *run, const char *stage, bool approve, struct report *r)
{
	const struct gate_decision d = { .run = run,
		.stage = stage,
		.approve = approve,
		.text = S("as you like"),
		.by = S("ada") };
	struct gate_decided decided;

	return gate_decide(app, &d, &decided, r);
}

static void gates_of_all_runs_are_told(void **state UNUSED)
{
	/* A host looks before there is any run, too. */
	assert_str(asked(NULL), "");
	pause_as("one");
	pause_as("two");
	assert_int_equal(run_all(start("echo hi", "plain")), ROUX_DONE);
	struct str all = asked(NULL);
	assert_true(str_contains(all, S("one:build ")));
	assert_true(str_contains(all, S("two:build ")));
	assert_int_equal(all.len, strlen("one:build two:build "));
	assert_str(asked("two"), "two:build ");
	assert_str(asked("plain"), "");
	open_again();
	assert_bytes(asked(NULL), all);
}

static void gates_are_found_without_a_ledger(void **state UNUSED)
{
	pause_as("one");
	app_close(app);
	assert_int_equal(remove(at("state/ledger.db")), 0);
	app = app_at_root();
	assert_str(asked(NULL), "one:build ");
}

static bool enough(void *data, const struct gate *g UNUSED)
{
	++*(int *)data;
	return false;
}

static void a_visitor_ends_it(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	int count = 0;

	pause_as("one");
	pause_as("two");
	assert_true(gates_each(app, NULL, enough, &count, &r));
	assert_int_equal(count, 1);
	assert_false(gates_each(app, "three", enough, &count, &r));
	assert_refused(&r, "no such run");
}

static void a_gate_is_answered_once(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	struct resume_request again = { .request = REQUEST_INIT };
	bool over = false;

	pause_as("one");
	assert_false(decide("one", "ship", true, &r));
	assert_refused(&r, "nothing to approve");
	assert_true(decide("one", "build", true, &r));
	assert_right(&r);
	assert_str(asked(NULL), "");
	assert_false(decide("one", NULL, false, &r));
	assert_refused(&r, "nothing to approve");

	AUTO_JSON *gates = json_load_file(at("state/runs/one/gates.json"), 0, NULL);
	json_t *g = json_object_iter_value(json_object_iter(gates));
	assert_str(json_str(json_object_get(g, "answer")), "approved");
	assert_str(json_str(json_object_get(g, "by")), "ada");
	assert_str(json_str(json_object_get(g, "message")), "as you like");

	struct run_handle *h = runs_resume(app, "one", &again, &over, &r);
	assert_right(&r);
	assert_false(over);
	assert_int_equal(run_all(h), ROUX_DONE);
	assert_false(decide("one", NULL, true, &r));
	assert_refused(&r, "nothing to approve");
}

static void a_question_that_is_lost_is_asked_again(void **state UNUSED)
{
	static const char *const texts[] = { NULL, "[]", "{}", "{\"0.1\":5}", "{\"0.1\":[]}" };
	const char *file = "state/runs/one/gates.json";
	struct resume_request again = { .request = REQUEST_INIT };

	pause_as("one");
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		AUTO_REPORT r = REPORT_INIT;
		bool over;

		assert_int_equal(remove(at(file)), 0);
		if (texts[i])
			put(file, texts[i]);
		assert_str(asked(NULL), "");
		assert_false(decide("one", NULL, true, &r));
		assert_true(str_contains(
			r.issues.at[r.issues.len - 1].message, S("is damaged or gone")));
		assert_refused(&r, "nothing to approve");
		struct run_handle *h = runs_resume(app, "one", &again, &over, &r);
		assert_right(&r);
		assert_int_equal(run_all(h), ROUX_PAUSED);
		assert_str(asked(NULL), "one:build ");
	}
	AUTO_REPORT r = REPORT_INIT;
	assert_true(decide("one", NULL, true, &r));
}

static void a_denied_run_does_not_continue(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	struct resume_request again = { .request = REQUEST_INIT };
	bool over;

	pause_as("one");
	assert_true(decide("one", NULL, false, &r));
	assert_int_equal(run_all(runs_resume(app, "one", &again, &over, &r)), ROUX_DENIED);
	assert_right(&r);
	assert_str(asked("one"), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		F(gates_of_all_runs_are_told),
		F(gates_are_found_without_a_ledger),
		F(a_visitor_ends_it),
		F(a_gate_is_answered_once),
		F(a_question_that_is_lost_is_asked_again),
		F(a_denied_run_does_not_continue),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("gates", tests, NULL, NULL);
}
