/* The list of runs: what filters let through, and pages of it. */
#include "app/face.h"

struct page {
	struct buf ids;
	uint64_t cursor, newest, started_before; /* of the last one; of the first one */
	bool unordered;
};

static bool note(void *data, const struct run_entry *e)
{
	struct page *p = data;

	p->unordered |= p->ids.len && e->started > p->started_before;
	p->newest = p->ids.len ? p->newest : e->started;
	p->started_before = e->started;
	p->cursor = e->cursor;
	buf_printf(&p->ids, "%.*s ", STR(e->id));
	return true;
}

static struct str listed(const struct run_filter *f, struct page *p)
{
	AUTO_REPORT r = REPORT_INIT;

	*p = (struct page){ 0 };
	runs_each(app, f, note, NULL, p, &r);
	assert_right(&r);
	assert_false(p->unordered);
	struct str ids = arena_str(&arena, buf_str(&p->ids));
	buf_done(&p->ids);
	return ids;
}

static void make(const char *name, const char *owner, const char *template)
{
	struct request q = request_as(name);

	q.owner = owner;
	(void)run_all(start_with(template, &q));
}

static void make_four(void)
{
	make("a", "one", "echo x");
	make("b", "two", "sh -c 'exit 3'");
	make("c", "one", "sh -c 'exit 3'");
	make("d", "", "echo x");
}

static void filters_let_through_what_fits(void **state UNUSED)
{
	struct page p;

	assert_str(listed(NULL, &p), "");
	make_four();
	assert_str(listed(NULL, &p), "d c b a ");
	uint64_t newest = p.newest;
	assert_str(listed(&(struct run_filter){ .owner = S("one") }, &p), "c a ");
	assert_str(listed(&(struct run_filter){ .status = S("failed") }, &p), "c b ");
	assert_str(listed(&(struct run_filter){ .status = S("failed"), .limit = 1 }, &p), "c ");
	assert_str(
		listed(&(struct run_filter){ .owner = S("one"), .status = S("done") }, &p), "a ");
	assert_str(listed(&(struct run_filter){ .since_ms = newest + 1 }, &p), "");
	assert_true(str_starts(listed(&(struct run_filter){ .since_ms = newest }, &p), S("d ")));
}

static void pages_follow_each_other(void **state UNUSED)
{
	struct page p;

	make_four();
	assert_str(listed(&(struct run_filter){ .limit = 3 }, &p), "d c b ");
	assert_str(listed(&(struct run_filter){ .limit = 3, .before = p.cursor }, &p), "a ");
	assert_str(listed(&(struct run_filter){ .limit = 3, .before = p.cursor }, &p), "");
	assert_str(listed(&(struct run_filter){ .owner = S("one"), .limit = 1 }, &p), "c ");
	assert_str(listed(&(struct run_filter){ .owner = S("one"), .limit = 1, .before = p.cursor },
			   &p),
		"a ");
}

static void a_live_run_is_listed_as_running(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	struct run_handle *h = start("tail -f /dev/null", "live");
	struct page p;

	assert_str(listed(&(struct run_filter){ .status = S("running") }, &p), "live ");
	assert_true(run_end(h, RUN_KILL, -1, &r));
	assert_str(listed(&(struct run_filter){ .status = S("running") }, &p), "");
	assert_str(listed(&(struct run_filter){ .status = S("killed") }, &p), "live ");
	run_close(h);
}

/* The ledger was made anew while a directory was elsewhere. */
static void lose_one(const char *name)
{
	AUTO_REPORT r = REPORT_INIT;
	struct runs_rebuilt made;

	app_close(app);
	assert_int_equal(rename(at(name), at("away")), 0);
	app = app_at_root();
	assert_true(runs_rebuild(app, &made, &r));
	assert_int_equal(made.runs, 3);
	app_close(app);
	assert_int_equal(rename(at("away"), at(name)), 0);
	app = app_at_root();
}

static void pages_end_when_the_ledger_lacks_runs(void **state UNUSED)
{
	struct page p;

	make_four();
	lose_one("state/runs/d");
	assert_str(listed(NULL, &p), "d c b a ");
	assert_str(listed(&(struct run_filter){ .limit = 2 }, &p), "d c ");
	assert_str(listed(&(struct run_filter){ .limit = 1, .before = p.cursor }, &p), "b ");
	assert_str(listed(&(struct run_filter){ .limit = 1, .before = p.cursor }, &p), "a ");
	assert_str(listed(&(struct run_filter){ .limit = 1, .before = p.cursor }, &p), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		F(filters_let_through_what_fits),
		F(pages_follow_each_other),
		F(a_live_run_is_listed_as_running),
		F(pages_end_when_the_ledger_lacks_runs),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("run-list", tests, NULL, NULL);
}
