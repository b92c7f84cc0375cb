#include "runs/dir/leftovers.h"

#include <stdio.h>

#include "base/arena.h"
#include "runs/dir/process.h"

/* No other run has this id. */
static struct str id;
static struct arena arena;

static int begin(void **state UNUSED)
{
	id = arena_printf(&arena, "unit-leftovers-%d", (int)getpid());
	return 0;
}

static int end(void **state UNUSED)
{
	arena_done(&arena);
	return 0;
}

/* A process of the run; what is NULL is not in its environment. */
static pid_t process(const char *run, const char *generation, const char *worker)
{
	const char *environment[8] = { "A=B" };
	size_t n = 1;

	if (run)
		environment[n++] = arena_printf(&arena, "ROUX_RUN=%s", run).p;
	if (generation)
		environment[n++] = arena_printf(&arena, "ROUX_GENERATION=%s", generation).p;
	if (worker)
		environment[n++] = arena_printf(&arena, "ROUX_WORKER=%s", worker).p;
	environment[n++] = "Z=1";
	return sleeper(environment);
}

static bool is_found(pid_t pid, struct str generation, uint64_t since)
{
	identity_list found = { 0 };
	bool is = false;

	leftovers_find(id, generation, since, &found);
	vec_each (who, &found)
		is |= who->pid == pid;
	vec_done(&found);
	return is;
}

static void a_process_carries_the_name_of_its_run(void **state UNUSED)
{
	pid_t ours = process(id.p, "g1", NULL);

	assert_true(process_carries(ours, id, S("g1")));
	assert_true(process_carries(ours, id, S("")));
	assert_false(process_carries(ours, id, S("g2")));
	assert_false(process_carries(ours, id, S("g")));
	assert_false(process_carries(ours, str_sub(id, 0, id.len - 1), S("g1")));
	assert_false(process_carries(getpid(), id, S("")));
	(void)reap(ours);
	assert_false(process_carries(ours, id, S("g1")));
}

static void a_name_inside_of_another_is_not_it(void **state UNUSED)
{
	const char *environment[] = { arena_printf(&arena, "XROUX_RUN=%s", id.p).p,
		arena_printf(&arena, "X=ROUX_RUN=%s", id.p).p,
		arena_printf(&arena, "ROUX_RUN=%sx", id.p).p, NULL };
	pid_t other = sleeper(environment);

	assert_false(process_carries(other, id, S("")));
	assert_false(is_found(other, S(""), 0));
	(void)reap(other);
}

/* Its machine is another one, or this one by chance: its own driver ends it. */
static void a_process_of_a_worker_is_not_the_runs(void **state UNUSED)
{
	pid_t workers = process(id.p, "g1", "3"), other = process(id.p, "g1", "33");

	assert_false(process_carries(workers, id, S("g1")));
	assert_false(is_found(workers, S("g1"), 0));
	assert_int_equal(leftovers_end(id, S("g1"), 0), 0);
	assert_int_equal(leftovers_end_of_worker(id, S("g1"), 4), 0);
	assert_int_equal(leftovers_end_of_worker(id, S("g2"), 3), 0);
	assert_int_equal(leftovers_end_of_worker(id, S("g1"), 3), 1);
	assert_int_equal(reap(workers), SIGKILL);
	assert_int_equal(reap(other), SIGTERM);
}

static void what_began_before_the_supervisor_stays(void **state UNUSED)
{
	struct identity who;
	pid_t old = process(id.p, "g1", NULL);

	assert_true(identity_of(old, &who));
	assert_true(is_found(old, S("g1"), 0));
	assert_true(is_found(old, S(""), who.start));
	assert_false(is_found(old, S("g1"), who.start + 1));
	assert_int_equal(leftovers_end(id, S("g1"), who.start + 1), 0);
	assert_int_equal(reap(old), SIGTERM);
}

static void all_of_a_generation_are_ended_and_no_others(void **state UNUSED)
{
	pid_t first = process(id.p, "g1", NULL), second = process(id.p, "g1", NULL);
	pid_t other = process(id.p, "g2", NULL), stranger = process(NULL, "g1", NULL);

	assert_int_equal(leftovers_end(id, S("g1"), 0), 2);
	assert_int_equal(leftovers_end(id, S("g1"), 0), 0);
	assert_int_equal(reap(first), SIGKILL);
	assert_int_equal(reap(second), SIGKILL);
	assert_true(is_found(other, S("g2"), 0));
	assert_int_equal(leftovers_end(id, S(""), 0), 1);
	assert_int_equal(reap(other), SIGKILL);
	assert_int_equal(reap(stranger), SIGTERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_carries_the_name_of_its_run),
		cmocka_unit_test(a_name_inside_of_another_is_not_it),
		cmocka_unit_test(a_process_of_a_worker_is_not_the_runs),
		cmocka_unit_test(what_began_before_the_supervisor_stays),
		cmocka_unit_test(all_of_a_generation_are_ended_and_no_others),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("leftovers", tests, begin, end);
}
