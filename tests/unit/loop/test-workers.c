#include "loop/workers.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "unit.h"

static struct loop *loop;
static pthread_t here;

static int begin(void **state UNUSED)
{
	loop = loop_new();
	here = pthread_self();
	return loop ? 0 : -1;
}

static int end(void **state UNUSED)
{
	loop_free(loop);
	return 0;
}

struct sum {
	struct job job;
	unsigned n, result, times;
	bool elsewhere, told_here, done, stopped, signals_blocked;
	atomic_bool *gate; /* worked at until this is set */
	struct workers *again;
};

static void add_up(struct job *j)
{
	struct sum *s = container_of(j, struct sum, job);
	sigset_t blocked;

	(void)pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	s->signals_blocked = sigismember(&blocked, SIGTERM) && sigismember(&blocked, SIGINT);
	s->elsewhere = !pthread_equal(pthread_self(), here);
	for (unsigned i = 1; i <= s->n; i++)
		s->result += i;
	while (s->gate && !atomic_load(s->gate) && !atomic_load(&j->stop))
		(void)usleep(1000);
	s->stopped = atomic_load(&j->stop);
}

static void is_done(struct job *j)
{
	struct sum *s = container_of(j, struct sum, job);

	s->told_here = pthread_equal(pthread_self(), here);
	s->done = true;
	if (s->times && s->times--)
		workers_add(s->again, j);
}

static struct sum sum_of(unsigned n)
{
	return (struct sum){ .job = { .work = add_up, .done = is_done }, .n = n };
}

static void a_job_is_done_elsewhere_and_told_here(void **state UNUSED)
{
	struct workers *w = workers_new(loop, 2);
	struct sum jobs[20];

	for (unsigned i = 0; i < 20; i++) {
		jobs[i] = sum_of(i);
		workers_add(w, &jobs[i].job);
	}
	for (unsigned i = 0; i < 20; i++) {
		while (!jobs[i].done)
			assert_true(loop_turn(loop, -1) >= 0);
		assert_int_equal(jobs[i].result, i * (i + 1) / 2);
		assert_true(jobs[i].elsewhere && jobs[i].told_here && jobs[i].signals_blocked);
	}
	workers_free(w);
}

static void a_job_may_be_added_again(void **state UNUSED)
{
	struct workers *w = workers_new(loop, 1);
	struct sum s = sum_of(1);

	s.times = 3;
	s.again = w;
	workers_add(w, &s.job);
	while (s.result < 4 || !s.done)
		assert_true(loop_turn(loop, -1) >= 0);
	workers_free(w);
	assert_int_equal(s.result, 4);
}

/* One that is long does not keep the other thread from its work. */
static void two_are_worked_at_at_once(void **state UNUSED)
{
	struct workers *w = workers_new(loop, 2);
	atomic_bool gate = false;
	struct sum slow = sum_of(1), quick = sum_of(2);

	slow.gate = &gate;
	workers_add(w, &slow.job);
	workers_add(w, &quick.job);
	while (!quick.done)
		assert_true(loop_turn(loop, -1) >= 0);
	assert_false(slow.done);
	atomic_store(&gate, true);
	while (!slow.done)
		assert_true(loop_turn(loop, -1) >= 0);
	workers_free(w);
}

static void the_end_stops_what_is_worked_at_and_what_waits(void **state UNUSED)
{
	struct workers *w = workers_new(loop, 1);
	atomic_bool never = false;
	struct sum first = sum_of(1), second = sum_of(2);

	first.gate = second.gate = &never;
	workers_add(w, &first.job);
	workers_add(w, &second.job);
	workers_free(w);
	assert_true(first.done && second.done);
	assert_true(atomic_load(&first.job.stop) && atomic_load(&second.job.stop));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_is_done_elsewhere_and_told_here),
		cmocka_unit_test(a_job_may_be_added_again),
		cmocka_unit_test(two_are_worked_at_at_once),
		cmocka_unit_test(the_end_stops_what_is_worked_at_and_what_waits),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("workers", tests, begin, end);
}
