#pragma once

/* What tests of the face share: an app whose places are all below the temporary directory, and runs
 * in this process. Tests are made with F(). */
#include "app/recipes.h"
#include "app/runs.h"
#include "runs/root.h"

static struct app *app;

static struct app *app_at_root(void)
{
	return app_open(&(struct app_options){
		.cwd = root,
		.agent_dir = at("agent"),
		.packaged_dir = at("packaged"),
		.state_dir = at("state"),
		.owner = "",
	});
}

static UNUSED int begin_face(void **state)
{
	if (begin(state) < 0 || setenv("XDG_CONFIG_HOME", root, 1) < 0)
		return -1;
	app = app_at_root();
	return app ? 0 : -1;
}

static UNUSED int end_face(void **state)
{
	app_close(app);
	return end(state);
}

/* As another process would see it: nothing is remembered. */
static UNUSED void open_again(void)
{
	app_close(app);
	app = app_at_root();
}

/* Fails, with its issues, when there are errors. */
static void assert_right(struct report *r)
{
	AUTO_BUF text = BUF_INIT;

	report_text(r, REPORT_ERRORS, &text);
	if (r->errors)
		fail_msg("%s", buf_cstr(&text));
}

/* There is one refusal and it has this reason; the report is empty then. */
static UNUSED void assert_refused(struct report *r, const char *reason)
{
	const struct issue *i = report_refusal(r);

	assert_int_equal(r->errors, 1);
	assert_non_null(i);
	assert_string_equal(i->reason, reason);
	report_reset(r);
}

static struct request request_as(const char *as)
{
	struct request q = REQUEST_INIT;

	q.record = as != NULL;
	q.as = as;
	q.detach = DETACH_NEVER;
	return q;
}

static struct run_handle *start_ref(struct recipe_ref *ref, const struct request *q)
{
	AUTO_REPORT r = REPORT_INIT;

	assert_right(&r);
	assert_non_null(ref);
	struct run_handle *h = runs_start(app, ref, q, &r);
	assert_right(&r);
	assert_non_null(h);
	recipe_ref_free(ref);
	return h;
}

/* A template, as the request says. */
static UNUSED struct run_handle *start_with(const char *template, const struct request *q)
{
	AUTO_REPORT r = REPORT_INIT;
	const struct recipe_open as = { .as = OPERAND_TEMPLATE };

	return start_ref(recipes_open(app, template, &as, &r), q);
}

/* Named `as`; NULL: not recorded. */
static UNUSED struct run_handle *start(const char *template, const char *as)
{
	const struct request q = request_as(as);

	return start_with(template, &q);
}

/* To its end. */
static UNUSED enum roux_status run_all(struct run_handle *h)
{
	AUTO_REPORT r = REPORT_INIT;

	assert_true(run_wait(h, &r));
	assert_right(&r);
	enum roux_status status = run_status(h);
	run_close(h);
	return status;
}

static UNUSED struct run_handle *opened(const char *name)
{
	AUTO_REPORT r = REPORT_INIT;
	struct run_handle *h = runs_open(app, name, &r);

	assert_right(&r);
	return h;
}

#define F(name) cmocka_unit_test_setup_teardown(name, begin_face, end_face)
