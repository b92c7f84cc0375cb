/* The contract of libroux, through its public header alone. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <roux/roux.h>

#include "../unit/unit.h"

/* What a run told. */
struct told {
	char types[4096];
	uint64_t last_seq;
	unsigned count;
	unsigned cancel, starts; /* the run, when so many commands have started */
};

static void on_event(struct roux_run *run, const struct roux_event *e, void *data)
{
	struct told *t = data;

	assert_true(e->size >= sizeof(*e));
	assert_int_equal(e->seq, t->last_seq + 1);
	t->last_seq = e->seq;
	t->count++;
	assert_int_equal(strlen(e->json), e->json_len);
	assert_null(strchr(e->json, '\n'));
	assert_non_null(strstr(e->json, e->type));
	if (strlen(t->types) + strlen(e->type) + 2 < sizeof(t->types)) {
		strcat(t->types, e->type);
		strcat(t->types, " ");
	}
	if (!strcmp(e->type, "command.start") && ++t->starts == t->cancel)
		assert_true(roux_run_cancel(run));
}

static struct roux_plan *plan_of(struct roux *r, const char *text, const char *values)
{
	struct roux_recipe *recipe = roux_load_text(r, "t.json", text, strlen(text));

	if (!recipe)
		fail_msg("%s", roux_errors_text(r));
	assert_true(roux_check(r, recipe));
	struct roux_plan *plan = roux_plan_new(r, recipe, values);
	if (!plan)
		fail_msg("%s", roux_errors_text(r));
	roux_recipe_free(recipe);
	return plan;
}

static struct roux_run *start(struct roux *r, const char *text, const char *values, struct told *t)
{
	struct roux_plan *plan = plan_of(r, text, values);
	struct roux_run *run = roux_run_start(plan, NULL, t ? on_event : NULL, t);

	assert_non_null(run);
	roux_plan_free(plan);
	return run;
}

static void loads_checks_plans_and_runs(void **state UNUSED)
{
	struct told t = { 0 };
	struct roux *r = roux_new(NULL);
	struct roux_run *run = start(r, "[\"echo {a}\",\"cat\"]", "{\"a\":\"x\"}", &t);

	assert_null(roux_run_result(run));
	assert_int_equal(roux_run_status(run), ROUX_RUNNING);
	assert_int_equal(roux_run_wait(run), ROUX_DONE);
	assert_int_equal(roux_run_wait(run), ROUX_DONE);
	assert_int_equal(roux_run_status(run), ROUX_DONE);
	assert_null(roux_run_id(run));
	assert_non_null(strstr(roux_run_result(run), "\"stdout\":\"x\\n\""));
	assert_string_equal(roux_run_result(run), roux_run_result(run));
	assert_string_equal(t.types, "run.start command.start command.done command.start "
				     "command.done node.done run.done ");
	assert_false(roux_run_cancel(run));
	assert_false(roux_run_kill(run));
	roux_run_free(run);
	roux_free(r);
}

static void everything_may_be_null_when_it_is_freed(void **state UNUSED)
{
	roux_run_free(NULL);
	roux_plan_free(NULL);
	roux_recipe_free(NULL);
	roux_free(NULL);
	assert_non_null(roux_version());
}

static void a_plan_starts_nothing_and_is_json(void **state UNUSED)
{
	struct roux *r = roux_new(NULL);
	struct roux_plan *plan =
		plan_of(r, "[\"touch /nonexistent/x\",\"echo '{a}'\"]", "{\"a\":\"b c\"}");

	assert_non_null(strstr(roux_plan_json(plan),
		"{\"argv\":[[\"touch\",\"/nonexistent/x\"],[\"echo\",\"b c\"]]"));
	assert_string_equal(roux_plan_json(plan), roux_plan_json(plan));
	roux_plan_free(plan);
	roux_free(r);
}

static void mistakes_are_told_as_json_and_as_text(void **state UNUSED)
{
	struct roux *r = roux_new(NULL);
	static const char bad[] = "{\"retry\":0,\"template\":\"\"}";

	assert_null(roux_load_text(r, "bad.json", bad, strlen(bad)));
	assert_non_null(
		strstr(roux_errors_json(r), "[{\"file\":\"bad.json\",\"line\":1,\"column\":10,"));
	assert_non_null(strstr(roux_errors_text(r), "bad.json:1:10: error: `retry`"));
	/* Each call begins anew. */
	struct roux_recipe *recipe = roux_load(r, "echo {x}");
	assert_non_null(recipe);
	assert_string_equal(roux_errors_json(r), "[]");
	assert_string_equal(roux_errors_text(r), "");
	assert_null(roux_plan_new(r, recipe, NULL));
	assert_non_null(strstr(roux_errors_json(r), "no value for 'x'"));
	assert_null(roux_plan_new(r, recipe, "[1]"));
	assert_non_null(strstr(roux_errors_text(r), "an object"));
	assert_null(roux_plan_new(r, recipe, "{"));
	assert_non_null(strstr(roux_errors_text(r), "JSON"));
	assert_null(roux_load(r, "@/nonexistent/file.json"));
	assert_non_null(strstr(roux_errors_text(r), "/nonexistent/file.json"));
	roux_recipe_free(recipe);
	roux_free(r);
}

static void plans_and_recipes_may_go_before_what_was_made_from_them(void **state UNUSED)
{
	struct roux *r = roux_new(NULL);
	struct roux_run *first = start(r, "echo {a}", "{\"a\":1}", NULL);
	struct roux_run *second = start(r, "echo {a}", "{\"a\":2}", NULL);

	assert_int_equal(roux_run_wait(second), ROUX_DONE);
	assert_int_equal(roux_run_wait(first), ROUX_DONE);
	assert_non_null(strstr(roux_run_result(first), "\"1\\n\""));
	assert_non_null(strstr(roux_run_result(second), "\"2\\n\""));
	roux_run_free(first);
	roux_run_free(second);
	roux_free(r);
}

static void one_plan_can_run_often(void **state UNUSED)
{
	struct roux *r = roux_new(NULL);
	struct roux_plan *plan = plan_of(r, "echo again", NULL);

	for (int i = 0; i < 20; i++) {
		struct roux_run *run = roux_run_start(plan, NULL, NULL, NULL);

		assert_int_equal(roux_run_wait(run), ROUX_DONE);
		roux_run_free(run);
	}
	roux_plan_free(plan);
	roux_free(r);
}

static void failures_have_their_status(void **state UNUSED)
{
	struct roux *r = roux_new(NULL);
	struct told t = { 0 };
	struct roux_run *run = start(r, "sh -c 'echo why >&2; exit 5'", NULL, &t);

	assert_int_equal(roux_run_wait(run), ROUX_FAILED);
	assert_non_null(strstr(roux_run_result(run), "\"code\":5"));
	assert_non_null(strstr(roux_run_result(run), "why"));
	assert_non_null(strstr(t.types, "run.failed"));
	roux_run_free(run);
	run = start(r, "{\"timeout\":1,\"template\":\"tail -f /dev/null\"}", NULL, NULL);
	assert_int_equal(roux_run_wait(run), ROUX_TIMEOUT);
	roux_run_free(run);
	roux_free(r);
}

static void a_run_can_be_cancelled_and_killed(void **state UNUSED)
{
	struct roux *r = roux_new(NULL);
	struct told t = { .cancel = 1 };
	struct roux_run *run = start(r, "tail -f /dev/null", NULL, &t);

	assert_int_equal(roux_run_wait(run), ROUX_CANCELLED);
	assert_non_null(strstr(t.types, "run.cancel"));
	roux_run_free(run);
	run = start(r, "sh -c 'trap \"\" TERM; exec tail -f /dev/null'", NULL, NULL);
	assert_int_equal(roux_turn(r, 0), 1);
	assert_true(roux_run_kill(run));
	assert_int_equal(roux_run_wait(run), ROUX_KILLED);
	roux_run_free(run);
	/* Before it had a turn. */
	run = start(r, "tail -f /dev/null", NULL, NULL);
	assert_true(roux_run_cancel(run));
	assert_int_equal(roux_run_wait(run), ROUX_CANCELLED);
	roux_run_free(run);
	roux_free(r);
}

static void freeing_a_live_run_cancels_it(void **state UNUSED)
{
	struct roux *r = roux_new(NULL);
	struct roux_run *run = start(r, "tail -f /dev/null", NULL, NULL);

	assert_int_equal(roux_turn(r, 0), 1);
	roux_run_free(run);
	assert_int_equal(roux_turn(r, 0), 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	roux_free(r);
}

static void a_context_ends_its_live_runs(void **state UNUSED)
{
	struct roux *r = roux_new(NULL);
	struct roux_run *run = start(r, "tail -f /dev/null", NULL, NULL);
	struct roux_run *other = start(r, "tail -f /dev/null", NULL, NULL);

	assert_int_equal(roux_turn(r, 0), 2);
	roux_free(r);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(roux_run_status(run), ROUX_CANCELLED);
	roux_run_free(run);
	roux_run_free(other);
}

/* As somebody with a loop of their own does it. */
static void drive(struct roux *r, struct roux_run *run, int fd)
{
	while (roux_run_status(run) == ROUX_RUNNING) {
		int n = poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, 300000);

		if (n == 0)
			fail_msg("the descriptor was never ready");
		assert_true(roux_turn(r, 0) >= 0);
	}
}

static void an_outer_loop_can_drive_it(void **state UNUSED)
{
	struct roux *r = roux_new(NULL);
	struct roux_run *run =
		start(r, "[\"echo a\",{\"delay\":3,\"template\":\"cat\"}]", NULL, NULL);

	/* The descriptor may be asked for after a run was started, and before the next one. */
	int fd = roux_fd(r);
	drive(r, run, fd);
	assert_int_equal(roux_run_status(run), ROUX_DONE);
	roux_run_free(run);
	run = start(r, "[\"echo a\",{\"delay\":3,\"template\":\"cat\"}]", NULL, NULL);
	drive(r, run, fd);
	assert_int_equal(roux_run_status(run), ROUX_DONE);
	roux_run_free(run);
	roux_free(r);
}

static void *wake(void *r)
{
	roux_wake(r);
	return NULL;
}

static void a_wait_can_be_ended_from_another_thread(void **state UNUSED)
{
	struct roux *r = roux_new(NULL);
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, wake, r), 0);
	assert_int_equal(roux_turn(r, -1), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	roux_free(r);
}

static void *work(void *result)
{
	struct roux *r = roux_new(NULL);
	int done = 0;

	for (int i = 0; i < 10; i++) {
		static const char text[] =
			"{\"parallel\":true,\"repeat\":8,\"template\":\"echo {index}\"}";
		struct roux_recipe *recipe = roux_load_text(r, "t", text, strlen(text));
		struct roux_plan *plan = roux_plan_new(r, recipe, NULL);
		struct roux_run *run = roux_run_start(plan, NULL, NULL, NULL);

		done += roux_run_wait(run) == ROUX_DONE &&
			strstr(roux_run_result(run), "status: done ---\\n7\\n") != NULL;
		roux_run_free(run);
		roux_plan_free(plan);
		roux_recipe_free(recipe);
	}
	roux_free(r);
	*(int *)result = done;
	return NULL;
}

static void contexts_in_two_threads_share_nothing(void **state UNUSED)
{
	pthread_t threads[2];
	int done[2] = { 0, 0 };

	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work, &done[i]), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_int_equal(done[i], 10);
	}
}

static int open_descriptors(void)
{
	int count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static bool has_mask(const sigset_t *a, const sigset_t *b)
{
	for (int sig = 1; sig < 32; sig++)
		if (sigismember(a, sig) != sigismember(b, sig))
			return false;
	return true;
}

static void the_process_stays_as_it_was(void **state UNUSED)
{
	char before[4096], after[4096];
	struct sigaction was[32], now;
	sigset_t mask, mask_now;
	int subreaper = 0;
	mode_t mode = umask(027);
	int descriptors = open_descriptors();
	struct told t = { 0 };

	assert_non_null(getcwd(before, sizeof(before)));
	(void)sigprocmask(SIG_SETMASK, NULL, &mask);
	for (int sig = 1; sig < 32; sig++)
		(void)sigaction(sig, NULL, &was[sig]);
	struct roux_options options = { .size = sizeof(options), .cwd = "/proc" };
	struct roux *r = roux_new(&options);
	(void)roux_fd(r);
	struct roux_run *run = start(r,
		"{\"parallel\":true,\"template\":[\"pwd\",\"sh -c 'head -c 600000 /dev/zero'\","
		"\"false\",\"nonexistent-program\"]}",
		NULL, &t);
	assert_int_equal(roux_run_wait(run), ROUX_DONE);
	assert_non_null(strstr(roux_run_result(run), "/proc"));
	roux_run_free(run);
	roux_free(r);

	assert_int_equal(open_descriptors(), descriptors);
	assert_non_null(getcwd(after, sizeof(after)));
	assert_string_equal(before, after);
	assert_int_equal(umask(mode), 027);
	(void)sigprocmask(SIG_SETMASK, NULL, &mask_now);
	assert_true(has_mask(&mask, &mask_now));
	for (int sig = 1; sig < 32; sig++) {
		(void)sigaction(sig, NULL, &now);
		assert_ptr_equal(now.sa_handler, was[sig].sa_handler);
	}
	assert_int_equal(prctl(PR_GET_CHILD_SUBREAPER, &subreaper), 0);
	assert_int_equal(subreaper, 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void children_of_the_host_are_left_alone(void **state UNUSED)
{
	struct roux *r = roux_new(NULL);
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(9);
	assert_int_equal(waitid(P_PID, (id_t)pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT), 0);
	struct roux_run *run = start(r, "echo a", NULL, NULL);
	assert_int_equal(roux_run_wait(run), ROUX_DONE);
	roux_run_free(run);
	roux_free(r);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), 9);
}

/* A host that adopts orphans has children of its own and some that are ours. */
static void a_cancel_ends_ours_alone_in_a_host_that_adopts(void **state UNUSED)
{
	struct roux_options options = { .size = sizeof(options), .subreaper = true };
	struct roux *r = roux_new(&options);
	struct told t = { .cancel = 2 };
	pid_t dead = fork(), living;
	int status;

	if (dead == 0)
		_exit(9);
	living = fork();
	while (living == 0)
		(void)pause();
	struct roux_run *run = start(r, "[\"setsid -f sleep 1000\",\"sleep 1001\"]", NULL, &t);
	assert_int_equal(roux_run_wait(run), ROUX_CANCELLED);
	roux_run_free(run);
	roux_free(r);
	assert_int_equal(waitpid(living, &status, WNOHANG), 0);
	assert_int_equal(waitpid(dead, &status, 0), dead);
	assert_int_equal(WEXITSTATUS(status), 9);
	assert_int_equal(kill(living, SIGKILL), 0);
	assert_int_equal(waitpid(living, &status, 0), living);
	assert_int_equal(WTERMSIG(status), SIGKILL);
	/* What is left is the orphan, which the host reaps. */
	assert_true(waitpid(-1, &status, 0) > 0);
	assert_int_equal(WTERMSIG(status), SIGTERM);
	assert_int_equal(waitpid(-1, &status, WNOHANG), -1);
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
}

static void values_may_hold_any_byte_but_nul(void **state UNUSED)
{
	char values[400] = "{\"a\":\"", *p = values + strlen(values);
	struct roux *r = roux_new(NULL);
	int out = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char got[300], want[300], *w = want;

	for (int c = 1; c < 128; c++) {
		if (c < 0x20)
			p += sprintf(p, "\\u%04x", (unsigned)c);
		else
			p += sprintf(p, c == '"' || c == '\\' ? "\\%c" : "%c", c);
		*w++ = (char)c;
	}
	p += sprintf(p, "\xc3\xa9\"}");
	w += sprintf(w, "\xc3\xa9");
	struct roux_plan *plan = plan_of(r, "printf %s {a}", values);
	struct roux_start how = { .size = sizeof(how), .stdin_fd = -1, .stdout_fd = out };
	struct roux_run *run = roux_run_start(plan, &how, NULL, NULL);
	assert_int_equal(roux_run_wait(run), ROUX_DONE);
	ssize_t n = pread(out, got, sizeof(got), 0);
	assert_int_equal(n, w - want);
	assert_memory_equal(got, want, (size_t)n);
	assert_true(fcntl(out, F_GETFD) >= 0);
	(void)close(out);
	roux_run_free(run);
	roux_plan_free(plan);
	struct roux_recipe *recipe = roux_load(r, "printf {a}");
	assert_null(roux_plan_new(r, recipe, "{\"a\":\"x\\u0000\"}"));
	assert_non_null(strstr(roux_errors_text(r), "NUL"));
	roux_recipe_free(recipe);
	roux_free(r);
}

static void standard_input_is_handed_over_and_not_closed(void **state UNUSED)
{
	struct roux *r = roux_new(NULL);
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(write(ends[1], "given", 5), 5);
	(void)close(ends[1]);
	struct roux_plan *plan =
		plan_of(r, "{\"parallel\":true,\"template\":[\"cat\",\"cat\"]}", NULL);
	struct roux_start how = { .size = sizeof(how), .stdin_fd = ends[0], .stdout_fd = -1 };
	struct roux_run *run = roux_run_start(plan, &how, NULL, NULL);
	assert_int_equal(roux_run_wait(run), ROUX_DONE);
	assert_non_null(strstr(roux_run_result(run), "done ---\\ngiven\\n--- branch: branch 2 "
						     "status: done ---\\ngiven\""));
	assert_true(fcntl(ends[0], F_GETFD) >= 0);
	(void)close(ends[0]);
	roux_run_free(run);
	roux_plan_free(plan);
	roux_free(r);
}

static void a_reader_of_the_output_that_went_away_is_no_death(void **state UNUSED)
{
	struct roux *r = roux_new(NULL);
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	(void)close(ends[0]);
	struct roux_plan *plan = plan_of(r, "echo a", NULL);
	struct roux_start how = { .size = sizeof(how), .stdin_fd = -1, .stdout_fd = ends[1] };
	struct roux_run *run = roux_run_start(plan, &how, NULL, NULL);
	(void)roux_run_wait(run);
	(void)close(ends[1]);
	roux_run_free(run);
	roux_plan_free(plan);
	roux_free(r);
}

static void shorter_structs_of_older_callers_are_taken(void **state UNUSED)
{
	/* What lies behind the size must not be looked at: it is poison. */
	struct roux_options options;
	memset(&options, 0xAA, sizeof(options));
	options.size = offsetof(struct roux_options, agent_dir);
	options.cwd = "/proc";
	struct roux *r = roux_new(&options);
	assert_non_null(r);
	struct roux_plan *plan = plan_of(r, "pwd", NULL);
	struct roux_start how;
	memset(&how, 0xAA, sizeof(how));
	how.size = offsetof(struct roux_start, record);
	how.as = how.owner = NULL;
	struct roux_run *run = roux_run_start(plan, &how, NULL, NULL);
	assert_non_null(run);
	assert_int_equal(roux_run_wait(run), ROUX_DONE);
	assert_non_null(strstr(roux_run_result(run), "\"/proc\\n\""));
	roux_run_free(run);
	roux_plan_free(plan);
	roux_free(r);
}

static void a_turn_without_runs_returns(void **state UNUSED)
{
	struct roux *r = roux_new(NULL);

	assert_int_equal(roux_turn(r, 0), 0);
	assert_int_equal(roux_turn(r, 1), 0);
	roux_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loads_checks_plans_and_runs),
		cmocka_unit_test(everything_may_be_null_when_it_is_freed),
		cmocka_unit_test(a_plan_starts_nothing_and_is_json),
		cmocka_unit_test(mistakes_are_told_as_json_and_as_text),
		cmocka_unit_test(plans_and_recipes_may_go_before_what_was_made_from_them),
		cmocka_unit_test(one_plan_can_run_often),
		cmocka_unit_test(failures_have_their_status),
		cmocka_unit_test(a_run_can_be_cancelled_and_killed),
		cmocka_unit_test(freeing_a_live_run_cancels_it),
		cmocka_unit_test(a_context_ends_its_live_runs),
		cmocka_unit_test(an_outer_loop_can_drive_it),
		cmocka_unit_test(a_wait_can_be_ended_from_another_thread),
		cmocka_unit_test(contexts_in_two_threads_share_nothing),
		cmocka_unit_test(the_process_stays_as_it_was),
		cmocka_unit_test(children_of_the_host_are_left_alone),
		cmocka_unit_test(a_cancel_ends_ours_alone_in_a_host_that_adopts),
		cmocka_unit_test(values_may_hold_any_byte_but_nul),
		cmocka_unit_test(standard_input_is_handed_over_and_not_closed),
		cmocka_unit_test(a_reader_of_the_output_that_went_away_is_no_death),
		cmocka_unit_test(shorter_structs_of_older_callers_are_taken),
		cmocka_unit_test(a_turn_without_runs_returns),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("contract", tests, NULL, NULL);
}
