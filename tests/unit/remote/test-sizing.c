#include "remote/sizing.h"
#include "remote/table.h"

#include "unit.h"

/* How many allocations, how much ahead, and what an executor's words mean. */

static void allocations(void **state UNUSED)
{
	static const struct {
		struct sizing in;
		uint64_t more;
	} rows[] = {
		{ { .cpus = 4, .ready_cpus = 1, .most = 8 }, 1 },
		{ { .cpus = 4, .ready_cpus = 9, .most = 8 }, 3 },
		{ { .cpus = 4, .ready_cpus = 100, .most = 8 }, 4 },
		{ { .cpus = 4, .ready_cpus = 100, .most = 2, .all = 1 }, 1 },
		{ { .cpus = 4,
			  .ready_cpus = 8,
			  .queued = 2,
			  .queued_cpus = 8,
			  .all = 2,
			  .most = 8 },
			0 },
		{ { .cpus = 4, .ready_cpus = 4, .free_cpus = 4, .has_cpus = 4, .most = 8 }, 0 },
		/* Machines differ: what counts is what those that are asked for have. */
		{ { .cpus = 2,
			  .ready_cpus = 18,
			  .queued = 1,
			  .queued_cpus = 16,
			  .all = 1,
			  .most = 8 },
			1 },
		{ { .cpus = 2,
			  .ready_cpus = 16,
			  .queued = 1,
			  .queued_cpus = 16,
			  .all = 1,
			  .most = 8 },
			0 },
		/* What is left is done within a minute. */
		{ { .cpus = 4,
			  .ready_cpus = 100,
			  .has_cpus = 8,
			  .all = 2,
			  .most = 8,
			  .ended = 16,
			  .mean_ms = 100 },
			0 },
		{ { .cpus = 4,
			  .ready_cpus = 100,
			  .has_cpus = 8,
			  .all = 2,
			  .most = 8,
			  .ended = 16,
			  .mean_ms = 60000 },
			4 },
		/* … as far as is known, which is not far. */
		{ { .cpus = 1,
			  .ready_cpus = 564,
			  .has_cpus = 500,
			  .all = 500,
			  .most = 1000,
			  .ended = 16,
			  .mean_ms = 10000,
			  .more_come = true },
			4 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(sizing_more(&rows[i].in), rows[i].more);
}

static void what_fits(void **state UNUSED)
{
	static const struct {
		struct load used, more, has;
		bool fits;
	} rows[] = {
		{ { 0 }, { 4, 8, 1 }, { 4, 8, 1 }, true },
		{ { 1, 0, 0 }, { 4, 0, 0 }, { 4, 0, 0 }, false },
		{ { 1, 5, 0 }, { 1, 4, 0 }, { 4, 8, 0 }, false },
		{ { 1, 0, 1 }, { 1, 0, 1 }, { 4, 0, 1 }, false },
		/* What it has of them is not known. */
		{ { 1, 5, 1 }, { 1, 4, 1 }, { 4, 0, 0 }, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(
			load_fits(&rows[i].used, &rows[i].more, &rows[i].has), rows[i].fits);
}

static void spare(void **state UNUSED)
{
	static const struct {
		struct sizing in;
		uint64_t spare;
	} rows[] = {
		{ { .cpus = 4 }, 0 },
		{ { .cpus = 4, .queued = 2 }, 2 },
		{ { .cpus = 4, .queued = 2, .ready_cpus = 1 }, 1 },
		{ { .cpus = 4, .queued = 2, .ready_cpus = 5 }, 0 },
		{ { .cpus = 4, .queued = 2, .ready_cpus = 5, .free_cpus = 5 }, 2 },
		{ { .cpus = 4, .queued = 2, .ready_cpus = 100 }, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(sizing_spare(&rows[i].in), rows[i].spare);
}

/* Asked every `step` ms for a second: how many looks there are. */
static unsigned looks_in_a_second(uint64_t step, unsigned each)
{
	struct looks l = { 0 };
	unsigned count = 0;

	for (uint64_t now = 100000; now < 101000; now += step)
		for (unsigned i = 0; i < each; i++)
			count += looks_take(&l, now);
	return count;
}

static void looks(void **state UNUSED)
{
	struct looks l = { 0 };

	assert_int_equal(looks_in_a_second(100, 10), 100);
	assert_int_equal(looks_in_a_second(3, 1), 334);
	assert_in_range(looks_in_a_second(1, 1), 500, 500 + LOOKS_AT_ONCE);
	assert_in_range(looks_in_a_second(5, 24), 475, 500 + LOOKS_AT_ONCE);
	assert_in_range(looks_in_a_second(50, 1000), 475, 500 + LOOKS_AT_ONCE);
	/* When all are spent one comes back after two milliseconds. */
	for (unsigned i = 0; i < LOOKS_AT_ONCE; i++)
		assert_true(looks_take(&l, 1000));
	assert_false(looks_take(&l, 1001));
	assert_true(looks_take(&l, 1002));
	assert_false(looks_take(&l, 1003));
	assert_true(looks_take(&l, 1004));
}

static void ahead(void **state UNUSED)
{
	assert_int_equal(sizing_ahead(7, 20, 1000, 0), 0);
	assert_int_equal(sizing_ahead(8, 20, 1000, 1), 0);
	assert_int_equal(sizing_ahead(8, 20, 1000, 0), 20);
	assert_int_equal(sizing_ahead(8, 20, 500, 0), AHEAD_SLOT_MAX);
	assert_int_equal(sizing_ahead(8, 20, 30000, 0), 0);
}

static void the_latest_count(void **state UNUSED)
{
	struct sizing_mean m = { 0 };

	assert_int_equal(sizing_mean(&m), 0);
	for (int i = 0; i < 100; i++)
		sizing_add(&m, 1000);
	for (int i = 0; i < SIZING_KEPT; i++)
		sizing_add(&m, 10);
	assert_int_equal(sizing_mean(&m), 10);
}

static struct table *slurm(void)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_JSON *resolved = table_resolve(NULL, S("slurm"), &r);
	struct table *t = table_load(resolved, S("slurm"), &r);

	assert_non_null(t);
	return t;
}

static void ids(void **state UNUSED)
{
	assert_str(table_job_id(S("123\n")), "123");
	assert_str(table_job_id(S("123;cluster\n")), "123");
	assert_str(table_job_id(S("n1:77")), "n1:77");
	assert_str(table_job_id(S("Submitted batch job 3\n")), "Submitted");
	assert_str(table_job_id(S("-rf /")), "");
	assert_str(table_job_id(S("a/b")), "");
	assert_str(table_job_id(S("")), "");
}

static void see(void *data, const struct table_job *job)
{
	buf_printf(data, "[%.*s %d %.*s %.*s]", STR(job->id), (int)job->means, STR(job->node),
		STR(job->comment));
}

static void states(void **state UNUSED)
{
	struct table *t = slurm();
	AUTO_BUF seen = BUF_INIT;

	table_jobs(t,
		S("1|PENDING||Resources|roux r g "
		  "w1\n2|RUNNING|n1|None|a|b\n3|NODE_FAIL|||\nnonsense\n\n"),
		see, &seen);
	assert_str(buf_str(&seen), "[1 1  roux r g w1][2 2 n1 a|b][3 0  ]");
	table_free(t);
}

static void words(void **state UNUSED)
{
	struct table *t = slurm();
	struct arena a = ARENA_INIT;
	AUTO_REPORT r = REPORT_INIT;
	struct shape shape = t->shape;
	struct table_values v = { .name = "n",
		.comment = "c d",
		.log = "l",
		.script = "s",
		.host = "",
		.roux = "",
		.dir = "",
		.shape = &shape };
	const char *const *argv = table_words(t, WORDS_SUBMIT, &v, &a, &r);
	AUTO_BUF all = BUF_INIT;

	for (size_t i = 0; argv[i]; i++)
		buf_printf(&all, "%s|", argv[i]);
	assert_str(buf_str(&all),
		"sbatch|--parsable|--no-requeue|--export=ALL|--job-name=n|--comment=c d|--output=l|"
		"--open-mode=append|--nodes=1|--ntasks-per-node=1|--cpus-per-task=4|--time=60|"
		"--signal=B:USR1@120|s|");
	shape.mem_mb = 2048;
	shape.gpus = 2;
	argv = table_words(t, WORDS_SUBMIT, &v, &a, &r);
	buf_reset(&all);
	for (size_t i = 0; argv[i]; i++)
		buf_printf(&all, "%s|", argv[i]);
	assert_true(str_contains(buf_str(&all), S("|--mem|2048M|--gpus-per-node|2|s|")));
	arena_done(&a);
	table_free(t);
}

static void machines(void **state UNUSED)
{
	static const char *const wrong[] = { "", ":4", "-n1", "n1:", "n1:0", "n1:x", "n1:4097",
		"u@n1", "n1;id", "n 1",
		"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn" };
	struct str name;
	uint64_t slots;

	assert_true(table_host(S("n-1.x_2:8"), &name, &slots) && slots == 8);
	assert_str(name, "n-1.x_2");
	assert_true(table_host(S("n1"), &name, &slots) && slots == 0);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_false(table_host(str_of(wrong[i]), &name, &slots));
}

static void machine_words(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_JSON *tables =
		json_pack("{s:{s:[s,s], s:[s]}}", "ssh", "hosts", "n1:8", "n2", "extra", "-4");
	AUTO_JSON *resolved = table_resolve(tables, S("ssh"), &r);
	struct table *t = table_load(resolved, S("ssh"), &r);
	struct arena a = ARENA_INIT;
	AUTO_BUF all = BUF_INIT;

	assert_non_null(t);
	assert_int_equal(t->workers, 2);
	assert_int_equal(t->slots, 12);
	assert_int_equal(t->shape.cpus, 8);
	assert_true(table_ends_by_cancel(t));
	const char *const *argv = table_words(t, WORDS_CANCEL,
		&(struct table_values){ .name = "n",
			.comment = "",
			.log = "",
			.script = "",
			.host = "n1",
			.roux = "/a b/it's",
			.dir = "/d",
			.shape = &t->shape },
		&a, &r);
	for (size_t i = 0; argv[i]; i++)
		buf_printf(&all, "%s|", argv[i]);
	assert_str(buf_str(&all),
		"ssh|-n|-o|BatchMode=yes|-4|n1|exec '/a b/it'\\''s' worker --end '/d'|");
	arena_done(&a);
	table_free(t);
	AUTO_JSON *bare = table_resolve(NULL, S("ssh"), &r);
	assert_null(table_load(bare, S("ssh"), &r));
	assert_int_equal(r.errors, 1);
}

static void shapes(void **state UNUSED)
{
	struct table *t = slurm();
	struct needs n = NEEDS_NONE;
	bool own;

	n.cpus = 4;
	assert_true(shape_same(&(struct shape){ .cpus = 4, .time_s = 3600, .nodes = 1 },
		&(struct shape){ .cpus = 4, .time_s = 3600, .nodes = 1 }));
	struct shape s = table_shape(t, &n, S(""), &own);
	assert_true(own && s.cpus == 4);
	n.cpus = 5;
	s = table_shape(t, &n, S(""), &own);
	assert_true(!own && s.cpus == 5);
	n.cpus = 1;
	n.mem_mb = 1;
	s = table_shape(t, &n, S(""), &own);
	assert_true(!own && s.cpus == 1 && s.mem_mb == 1);
	table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(allocations),
		cmocka_unit_test(what_fits),
		cmocka_unit_test(spare),
		cmocka_unit_test(looks),
		cmocka_unit_test(ahead),
		cmocka_unit_test(the_latest_count),
		cmocka_unit_test(ids),
		cmocka_unit_test(states),
		cmocka_unit_test(words),
		cmocka_unit_test(machines),
		cmocka_unit_test(machine_words),
		cmocka_unit_test(shapes),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("sizing", tests, NULL, NULL);
}
