#include "runs/dir/leaves.h"

#include "runs/dir/leaf-line.h"
#include "runs/root.h"

enum { NOW = 1700000000 };

static struct buf lines;

static int finish(void **state)
{
	buf_done(&lines);
	return end(state);
}

#define L(name) cmocka_unit_test_setup_teardown(name, begin, finish)

/* Writes what is in `lines` and reads it. */
static struct leaves *read_back(void)
{
	AUTO_REPORT r = REPORT_INIT;

	put(LEAVES_FILE, buf_cstr(&lines));
	struct leaves *l = leaves_read(at(LEAVES_FILE), &r);
	assert_non_null(l);
	assert_int_equal(r.errors, 0);
	return l;
}

static void started(const char *path, uint64_t number, int pid)
{
	AUTO_BUF after = BUF_INIT;

	leaf_start_parts(&lines, &after, str_of(path), number, NOW);
	buf_printf(&lines, "\"pid\":%d,\"st\":%d", pid, pid + 1);
	buf_add(&lines, buf_str(&after));
}

static void ended(const char *path, uint64_t number, int code)
{
	leaf_exit_line(&lines, str_of(path),
		&(struct leaf_record){ .number = number, .code = code }, NULL, NOW);
}

/* -- lines ---------------------------------------------------------------------------------------
 */

static void a_start_is_what_its_two_parts_and_the_process_are(void **state UNUSED)
{
	started("1.0", 2, 123);
	assert_str(buf_str(&lines), "{\"p\":\"1.0\",\"a\":2,\"s\":\"start\",\"pid\":123,\"st\":124,"
				    "\"ts\":1700000000}\n");
	struct leaves *l = read_back();
	const struct leaf_record *r = leaves_find(l, S("1.0"), 2);
	assert_non_null(r);
	assert_true(r->started && !r->ended);
	assert_int_equal(r->pid, 123);
	assert_int_equal(r->pid_start, 124);
	leaves_free(l);
}

/* The quick reader and the reader of JSON: the first takes what is written here, and refuses what
 * it might read in another way than the second. */
static void a_line_of_ours_is_read_directly(void **state UNUSED)
{
	struct leaf_line line;

	started("1.0", 2, 123);
	assert_true(leaf_line_read_plain(buf_str(&lines), &line));
	buf_reset(&lines);
	leaf_exit_line(&lines, S("r1"),
		&(struct leaf_record){ .number = 3,
			.code = 1,
			.signal = 9,
			.timed_out = true,
			.cancelled = true,
			.gone = true,
			.limit = S("r"),
			.ms = 4,
			.out_bytes = 5,
			.err_bytes = 6 },
		&(struct leaf_usage){ 7, 8, 9 }, NOW);
	assert_true(leaf_line_read_plain(buf_str(&lines), &line));
	assert_int_equal(line.kind, LEAF_EXIT);
	assert_str(line.path, "r1");
	assert_true(line.record.ended && line.record.timed_out && line.record.cancelled &&
		    line.record.gone);
	assert_int_equal(line.record.number, 3);
	assert_int_equal(line.record.code, 1);
	assert_int_equal(line.record.signal, 9);
	assert_str(line.record.limit, "r");
	assert_int_equal(line.record.ms, 4);
	assert_int_equal(line.record.out_bytes, 5);
	assert_int_equal(line.record.err_bytes, 6);
	assert_int_equal(line.usage.user_us, 7);
	assert_int_equal(line.usage.memory_kib, 9);
	assert_int_equal(line.ts, NOW);
}

static void a_line_that_looks_different_is_left_to_the_reader_of_json(void **state UNUSED)
{
	static const char *const odd[] = {
		"{\"p\":\"0\", \"s\":\"lost\"}\n",            /* a space */
		"{\"p\":\"\\u0030\",\"s\":\"lost\"}\n",       /* an escape */
		"{\"p\":\"é\",\"s\":\"lost\"}\n",             /* not ASCII */
		"{\"p\":\"0\",\"s\":\"lost\",\"new\":1}\n",   /* a member of a newer version */
		"{\"p\":\"0\",\"s\":\"exit\",\"code\":-1}\n", /* negative */
		"{\"p\":\"0\",\"s\":\"exit\",\"ms\":1.5}\n",  /* a fraction */
		"{\"p\":\"0\",\"s\":\"exit\",\"timeout\":false}\n",
		"{\"p\":\"0\",\"s\":\"exit\",\"ru\":{\"user_us\":1},\"ru\":{\"system_us\":2}}\n",
	};
	struct leaf_line line;

	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		AUTO_JSON *kept = NULL;

		assert_false(leaf_line_read_plain(str_of(odd[i]), &line));
		assert_true(leaf_line_read(str_of(odd[i]), &line, &kept));
	}
}

static void a_start_can_do_without_its_process(void **state UNUSED)
{
	leaf_start_line(&lines, S("0"), 1, NOW);
	assert_str(buf_str(&lines), "{\"p\":\"0\",\"a\":1,\"s\":\"start\",\"ts\":1700000000}\n");
	struct leaves *l = read_back();
	assert_true(leaves_find(l, S("0"), 1)->started);
	assert_int_equal(leaves_find(l, S("0"), 1)->pid, 0);
	leaves_free(l);
}

static void a_start_elsewhere_has_no_process_here(void **state UNUSED)
{
	buf_adds(&lines, "{\"p\":\"0\",\"a\":1,\"s\":\"start\",\"on\":\"slurm\",\"w\":3,\"n\":17,"
			 "\"ts\":1}\n");
	ended("0", 1, 2);
	struct leaves *l = read_back();
	const struct leaf_record *r = leaves_find(l, S("0"), 1);

	assert_true(r->started && r->ended);
	assert_int_equal(r->pid, 0);
	assert_str(r->on, "slurm");
	assert_int_equal(r->worker, 3);
	assert_int_equal(r->grant, 17);
	assert_int_equal(r->code, 2);
	leaves_free(l);
}

static void an_exit_keeps_everything(void **state UNUSED)
{
	const struct leaf_record was = {
		.number = 3,
		.code = 143,
		.signal = 15,
		.timed_out = true,
		.cancelled = true,
		.limit = S("1"),
		.ms = 1ull << 40,
		.out_bytes = 1ull << 41,
		.err_bytes = 7,
	};

	started("1.0", 3, 9);
	leaf_exit_line(&lines, S("1.0"), &was, NULL, NOW);
	struct leaves *l = read_back();
	const struct leaf_record *r = leaves_find(l, S("1.0"), 3);
	assert_true(r->started && r->ended && r->timed_out && r->cancelled);
	assert_int_equal(r->pid, 9);
	assert_int_equal(r->code, 143);
	assert_int_equal(r->signal, 15);
	assert_str(r->limit, "1");
	assert_int_equal(r->ms, was.ms);
	assert_int_equal(r->out_bytes, was.out_bytes);
	assert_int_equal(r->err_bytes, 7);
	leaves_free(l);
}

static void an_exit_without_more_is_short(void **state UNUSED)
{
	leaf_exit_line(&lines, S("0"),
		&(struct leaf_record){ .number = 1, .ms = 4, .out_bytes = 12 },
		&(struct leaf_usage){ 5, 6, 7 }, NOW);
	assert_str(buf_str(&lines),
		"{\"p\":\"0\",\"a\":1,\"s\":\"exit\",\"code\":0,\"sig\":0,\"ms\":4,\"out\":12,"
		"\"err\":0,"
		"\"ts\":1700000000,\"ru\":{\"user_us\":5,\"system_us\":6,\"memory_kib\":7}}\n");
	struct leaves *l = read_back();
	assert_true(leaves_find(l, S("0"), 1)->ended);
	leaves_free(l);
}

static void a_long_path_is_whole(void **state UNUSED)
{
	AUTO_BUF path = BUF_INIT;

	for (int i = 0; i < 20000; i++)
		buf_adds(&path, i ? ".12" : "0");
	leaf_start_line(&lines, buf_str(&path), 1, NOW);
	ended(buf_cstr(&path), 1, 1);
	struct leaves *l = read_back();
	const struct leaf_record *r = leaves_find(l, buf_str(&path), 1);
	assert_true(r && r->started && r->ended);
	leaves_free(l);
}

/* -- damage --------------------------------------------------------------------------------------
 */

static void no_file_has_no_leaves(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	struct leaves *l = leaves_read(at("none"), &r);

	assert_non_null(l);
	assert_null(leaves_find(l, S("0"), 1));
	leaves_free(l);
}

static void a_file_that_cannot_be_read_is_said(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;

	put("not-a-directory", "");
	assert_null(leaves_read(at("not-a-directory/leaves.jsonl"), &r));
	assert_int_equal(r.errors, 1);
}

static void damaged_lines_are_passed_over(void **state UNUSED)
{
	started("0", 1, 5);
	buf_adds(&lines, "\n{\"p\":\"0\",\"a\":1,\"s\":\"exi\nnull\n[]\n{}\n{\"p\":\"0\"}\n"
			 "{\"p\":1,\"s\":\"exit\"}\n{\"s\":\"exit\",\"a\":1}\n\xff\n"
			 "{\"p\":\"0\",\"a\":9,\"s\":\"invented\"}\n");
	ended("1", 1, 0);
	struct leaves *l = read_back();
	assert_false(leaves_find(l, S("0"), 1)->ended);
	assert_null(leaves_find(l, S("0"), 9));
	assert_true(leaves_find(l, S("1"), 1)->ended);
	leaves_free(l);
}

/* However much of its last line a killed process wrote, it has not ended. */
static void half_a_line_does_not_count(void **state UNUSED)
{
	started("0", 1, 5);
	size_t whole = lines.len;
	ended("0", 1, 0);
	size_t all = lines.len;

	for (size_t len = whole; len <= all; len++) {
		AUTO_REPORT r = REPORT_INIT;

		put(LEAVES_FILE, "");
		add(LEAVES_FILE, str_sub(buf_str(&lines), 0, len));
		struct leaves *l = leaves_read(at(LEAVES_FILE), &r);
		assert_true(leaves_find(l, S("0"), 1)->started);
		assert_int_equal(leaves_find(l, S("0"), 1)->ended, len == all);
		leaves_free(l);
	}
}

/* -- what counts ---------------------------------------------------------------------------------
 */

static void numbers_count_from_the_last_forget(void **state UNUSED)
{
	ended("1.0", 1, 4);
	ended("1.0", 2, 5);
	ended("1.1", 1, 6);
	ended("2", 1, 7);
	leaf_forget_line(&lines, S("1"), NOW);
	ended("1.0", 3, 8);
	struct leaves *l = read_back();

	assert_int_equal(leaves_base(l, S("1.0")), 2);
	assert_int_equal(leaves_find(l, S("1.0"), 1)->code, 8);
	assert_null(leaves_find(l, S("1.0"), 2));
	assert_int_equal(leaves_base(l, S("1.1")), 1);
	assert_null(leaves_find(l, S("1.1"), 1));
	assert_int_equal(leaves_find(l, S("2"), 1)->code, 7);
	assert_int_equal(leaves_base(l, S("2")), 0);
	assert_int_equal(leaves_base(l, S("never")), 0);
	leaves_free(l);
}

static void the_last_worker_is_remembered_when_its_command_is_forgotten(void **state UNUSED)
{
	buf_adds(&lines, "{\"p\":\"0\",\"a\":1,\"s\":\"start\",\"on\":\"x\",\"w\":7,\"n\":2}\n"
			 "{\"p\":\"1\",\"a\":1,\"s\":\"start\",\"on\":\"x\",\"w\":3,\"n\":4}\n");
	leaf_forget_line(&lines, S("."), NOW);
	struct leaves *l = read_back();

	assert_int_equal(leaves_last_worker(l), 7);
	leaves_free(l);
}

static void forgetting_reaches_what_is_below_and_nothing_beside(void **state UNUSED)
{
	ended("1", 1, 0);
	ended("1.2", 1, 0);
	ended("10", 1, 0);
	struct leaves *l = read_back();

	assert_true(leaves_forget(l, S("1")));
	assert_null(leaves_find(l, S("1"), 1));
	assert_null(leaves_find(l, S("1.2"), 1));
	assert_non_null(leaves_find(l, S("10"), 1));
	assert_false(leaves_forget(l, S("1")));
	assert_true(leaves_forget(l, S(".")));
	assert_null(leaves_find(l, S("10"), 1));
	leaves_free(l);
}

static void a_part_of_an_input_is_no_node_and_is_not_forgotten(void **state UNUSED)
{
	uint64_t bytes;

	leaf_input_line(&lines, 4, false, NOW);
	assert_str(buf_str(&lines), "{\"p\":\".\",\"s\":\"input\",\"in\":4,\"ts\":1700000000}\n");
	leaf_forget_line(&lines, S("."), NOW);
	struct leaves *l = read_back();
	assert_true(leaves_input_is_part(l, &bytes));
	assert_int_equal(bytes, 4);
	assert_null(leaves_last(l, S(".")));
	leaves_free(l);
	leaf_input_line(&lines, 6, true, NOW);
	l = read_back();
	assert_false(leaves_input_is_part(l, &bytes));
	assert_int_equal(leaves_input(l), 6);
	leaves_free(l);
}

static void a_closed_loop_stays_so_until_it_is_forgotten(void **state UNUSED)
{
	leaf_closed_line(&lines, S("3"), NOW);
	leaf_closed_line(&lines, S("4"), NOW);
	leaf_forget_line(&lines, S("4"), NOW);
	assert_str(str_sub(buf_str(&lines), 0, 39),
		"{\"p\":\"3\",\"s\":\"closed\",\"ts\":1700000000}\n");
	struct leaves *l = read_back();

	assert_true(leaves_closed(l, S("3")));
	assert_false(leaves_closed(l, S("4")));
	assert_false(leaves_closed(l, S("5")));
	assert_true(leaves_forget(l, S("3")));
	assert_false(leaves_closed(l, S("3")));
	leaves_free(l);
}

static void sum_codes(void *data, struct str path UNUSED, const struct leaf_record *record)
{
	*(int *)data = *(int *)data * 10 + record->code;
}

static void each_is_path_by_path(void **state UNUSED)
{
	int codes = 0;

	ended("1", 1, 1);
	ended("0", 1, 3);
	ended("1", 2, 2);
	struct leaves *l = read_back();
	leaves_each(l, sum_codes, &codes);
	assert_int_equal(codes, 123);
	leaves_free(l);
}

/* -- line by line --------------------------------------------------------------------------------
 */

struct seen {
	char kinds[8];
	size_t count, most;
};

static bool see(void *data, const struct leaf_line *line)
{
	struct seen *s = data;

	assert_str(line->path, "1");
	assert_int_equal(line->ts, NOW);
	s->kinds[s->count++] = "sxfc"[line->kind];
	return s->count < s->most;
}

static void lines_come_as_they_were_written(void **state UNUSED)
{
	struct seen all = { .most = 9 }, two = { .most = 2 };

	started("1", 1, 5);
	ended("1", 1, 0);
	leaf_forget_line(&lines, S("1"), NOW);
	leaf_closed_line(&lines, S("1"), NOW);
	started("1", 2, 5);
	put(LEAVES_FILE, buf_cstr(&lines));
	assert_int_equal(leaf_lines_each(at(LEAVES_FILE), see, &all), 0);
	assert_string_equal(all.kinds, "sxfcs");
	assert_int_equal(leaf_lines_each(at(LEAVES_FILE), see, &two), 0);
	assert_string_equal(two.kinds, "sx");
	assert_int_equal(leaf_lines_each(at("none"), see, &two), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		L(a_start_is_what_its_two_parts_and_the_process_are),
		L(a_line_of_ours_is_read_directly),
		L(a_line_that_looks_different_is_left_to_the_reader_of_json),
		L(a_start_can_do_without_its_process),
		L(a_start_elsewhere_has_no_process_here),
		L(an_exit_keeps_everything),
		L(an_exit_without_more_is_short),
		L(a_long_path_is_whole),
		L(no_file_has_no_leaves),
		L(a_file_that_cannot_be_read_is_said),
		L(damaged_lines_are_passed_over),
		L(half_a_line_does_not_count),
		L(numbers_count_from_the_last_forget),
		L(the_last_worker_is_remembered_when_its_command_is_forgotten),
		L(forgetting_reaches_what_is_below_and_nothing_beside),
		L(a_part_of_an_input_is_no_node_and_is_not_forgotten),
		L(a_closed_loop_stays_so_until_it_is_forgotten),
		L(each_is_path_by_path),
		L(lines_come_as_they_were_written),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("leaves", tests, NULL, NULL);
}
