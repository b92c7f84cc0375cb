#include "app/model.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/recipes.h"
#include "base/file.h"
#include "unit.h"

static char dir[64];
static struct app *app;
static struct run_models *models;

static int begin(void **state UNUSED)
{
	(void)snprintf(dir, sizeof(dir), "/tmp/roux-model-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	app = app_open(&(struct app_options){
		.agent_dir = dir, .state_dir = dir, .cwd = dir, .owner = "" });
	models = run_models_new(app);
	return 0;
}

static int drop(
	const char *path, const struct stat *st UNUSED, int type UNUSED, struct FTW *at UNUSED)
{
	return remove(path);
}

static int end(void **state UNUSED)
{
	run_models_free(models);
	app_close(app);
	return nftw(dir, drop, 8, FTW_DEPTH | FTW_PHYS);
}

static void run(const char *template, const char *name)
{
	AUTO_REPORT r = REPORT_INIT;
	struct recipe_ref *ref = recipes_open(app, template, NULL, &r);
	struct request q = REQUEST_INIT;

	q.record = true;
	q.as = name;
	q.detach = DETACH_NEVER;
	struct run_handle *h = ref ? runs_start(app, ref, &q, &r) : NULL;
	assert_non_null(h);
	assert_true(run_wait(h, &r));
	run_close(h);
	recipe_ref_free(ref);
}

static struct node_view view_of(struct run_model *m, const char *path)
{
	struct node_view v = { 0 };
	const struct past_node *n = run_model_find(m, str_of(path));

	assert_non_null(n);
	run_model_view(m, n, &v);
	return v;
}

static void nodes_that_were_not_reached_are_there(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;

	run("[\"true\", {\"template\":\"false\",\"failure\":\"root\"}, [\"echo never\"]]", "a");
	struct run_model *m = run_models_get(models, S("a"), &r);
	assert_non_null(m);
	assert_false(run_model_live(m));
	assert_int_equal(view_of(m, "0").state, STATE_DONE);
	assert_int_equal(view_of(m, "1").state, STATE_FAILED);
	assert_int_equal(view_of(m, "2").state, STATE_UNREACHED);
	struct node_view top = view_of(m, "root");
	assert_int_equal(top.state, STATE_FAILED);
	assert_int_equal(top.counts[STATE_DONE], 1);
	assert_int_equal(top.counts[STATE_FAILED], 1);
	assert_int_equal(top.counts[STATE_UNREACHED], 1);
	assert_true(top.changed > 0 && top.changed <= run_model_seq(m));
}

static void asking_again_reads_only_what_is_new(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;

	run("[\"true\", \"echo b\"]", "b");
	struct run_model *m = run_models_get(models, S("b"), &r);
	uint64_t seq = run_model_seq(m);
	assert_true(seq > 0);
	assert_ptr_equal(run_models_get(models, S("b"), &r), m);
	assert_int_equal(run_model_seq(m), seq);
	/* Another start of the same name is another generation. */
	AUTO_BUF generation = BUF_INIT;
	buf_add(&generation, run_model_generation(m));
	run("\"false\"", "b");
	m = run_models_get(models, S("b"), &r);
	assert_false(str_eq(run_model_generation(m), buf_str(&generation)));
	assert_int_equal(view_of(m, "0").state, STATE_FAILED);
}

static void a_large_run_can_be_read_elsewhere(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	atomic_bool stop = false;

	run("[\"true\"]", "small");
	assert_null(run_models_load(models, S("small")));
	assert_null(run_models_load(models, S("none")));
	run("{\"repeat\":400,\"template\":\"true\"}", "large");
	/* One that is stopped is not kept. */
	struct model_load *l = run_models_load(models, S("large"));
	assert_non_null(l);
	atomic_store(&stop, true);
	model_load_read(l, &stop);
	model_load_end(l, models);
	l = run_models_load(models, S("large"));
	assert_non_null(l);
	atomic_store(&stop, false);
	model_load_read(l, &stop);
	model_load_end(l, models);
	assert_null(run_models_load(models, S("large")));
	struct run_model *m = run_models_get(models, S("large"), &r);
	assert_non_null(m);
	assert_int_equal(view_of(m, "root").counts[STATE_DONE], 400);
	assert_int_equal(run_model_issues(m)->issues.len, 0);
	/* One for which no request waits any more. */
	run("{\"repeat\":400,\"template\":\"true\"}", "other");
	l = run_models_load(models, S("other"));
	assert_non_null(l);
	model_load_end(l, NULL);
}

static void there_is_no_such_run(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;

	run("\"true\"", "longname");
	assert_null(run_models_get(models, S("nothing"), &r));
	assert_null(run_models_get(models, S("longn"), &r));
	assert_null(run_models_get(models, S("latest"), &r));
	assert_non_null(run_models_get(models, S("longname"), &r));
}

static void a_damaged_run_is_shown_as_far_as_it_can_be(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	char path[128];

	run("[\"true\", \"false\"]", "c");
	(void)snprintf(path, sizeof(path), "%s/runs/c/graph.json", dir);
	assert_int_equal(truncate(path, 10), 0);
	struct run_model *m = run_models_get(models, S("c"), &r);
	assert_non_null(m);
	assert_true(run_model_issues(m)->issues.len > 0);
	assert_int_equal(view_of(m, "0").state, STATE_DONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nodes_that_were_not_reached_are_there, begin, end),
		cmocka_unit_test_setup_teardown(asking_again_reads_only_what_is_new, begin, end),
		cmocka_unit_test_setup_teardown(a_large_run_can_be_read_elsewhere, begin, end),
		cmocka_unit_test_setup_teardown(there_is_no_such_run, begin, end),
		cmocka_unit_test_setup_teardown(
			a_damaged_run_is_shown_as_far_as_it_can_be, begin, end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
