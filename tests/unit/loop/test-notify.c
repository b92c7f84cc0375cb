#include "loop/notify.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "unit.h"

static char dir[64], first[96], second[96];

static int begin(void **state UNUSED)
{
	(void)snprintf(dir, sizeof(dir), "/tmp/roux-notify-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	(void)snprintf(first, sizeof(first), "%s/first", dir);
	(void)snprintf(second, sizeof(second), "%s/second", dir);
	return 0;
}

static int end(void **state UNUSED)
{
	(void)unlink(first);
	(void)unlink(second);
	return rmdir(dir);
}

static void grow(const char *path)
{
	AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, S("x")), 0);
}

struct counted {
	struct notify_file file;
	unsigned calls;
	uint32_t events;
	struct notify *of; /* where `other` is removed by the first call */
	struct counted *other;
};

static void on_changed(struct notify_file *f, uint32_t events)
{
	struct counted *c = container_of(f, struct counted, file);

	c->calls++;
	c->events |= events;
	if (c->other)
		notify_remove(c->of, &c->other->file);
}

static void watch_of(struct notify *n, struct counted *c, const char *path)
{
	grow(path);
	*c = (struct counted){ .file = { .wd = -1, .changed = on_changed } };
	assert_int_equal(notify_add(n, &c->file, path, IN_MODIFY | IN_DELETE_SELF | IN_ATTRIB), 0);
}

static void opened(struct notify *n)
{
	notify_init(n);
	assert_int_equal(notify_open(n), 0);
	assert_true(notify_is_open(n));
}

static void the_file_that_changed_is_called_once(void **state UNUSED)
{
	struct counted a, b;
	struct notify n;

	opened(&n);
	watch_of(&n, &a, first);
	watch_of(&n, &b, second);
	grow(first);
	grow(first);
	grow(first);
	notify_take(&n);
	assert_int_equal(a.calls, 1);
	assert_int_equal(a.events, IN_MODIFY);
	assert_int_equal(b.calls, 0);
	notify_take(&n);
	assert_int_equal(a.calls, 1);
	notify_close(&n);
	assert_false(notify_is_open(&n));
}

static void a_loop_calls_it(void **state UNUSED)
{
	struct loop *l = loop_new();
	struct counted a;
	struct notify n;

	opened(&n);
	watch_of(&n, &a, first);
	assert_int_equal(notify_start(l, &n), 0);
	grow(first);
	while (!a.calls)
		assert_int_equal(loop_turn(l, 10000), 0);
	notify_close(&n);
	grow(first);
	assert_int_equal(loop_turn(l, 0), 0);
	assert_int_equal(a.calls, 1);
	loop_free(l);
}

static void it_can_be_waited_for_without_a_loop(void **state UNUSED)
{
	struct counted a;
	struct notify n;

	opened(&n);
	watch_of(&n, &a, first);
	assert_false(notify_wait(&n, 0));
	grow(first);
	struct pollfd p = { .fd = n.fd, .events = POLLIN };
	assert_int_equal(poll(&p, 1, 0), 1);
	assert_true(notify_wait(&n, 60000));
	assert_int_equal(a.calls, 1);
	a.file.changed = NULL;
	grow(first);
	assert_true(notify_wait(&n, 60000));
	assert_int_equal(a.calls, 1);
	notify_close(&n);
}

static void what_was_removed_is_silent(void **state UNUSED)
{
	struct counted a;
	struct notify n;

	opened(&n);
	watch_of(&n, &a, first);
	grow(first);
	notify_remove(&n, &a.file);
	notify_remove(&n, &a.file);
	notify_take(&n);
	assert_int_equal(a.calls, 0);
	notify_close(&n);
}

static void a_call_may_remove_another_file(void **state UNUSED)
{
	struct counted a, b;
	struct notify n;

	opened(&n);
	watch_of(&n, &a, first);
	watch_of(&n, &b, second);
	a.of = &n;
	a.other = &b;
	grow(first);
	grow(second);
	notify_take(&n);
	assert_int_equal(a.calls, 1);
	assert_int_equal(b.calls, 0);
	notify_close(&n);
}

static void a_file_that_is_deleted_can_be_watched_anew(void **state UNUSED)
{
	struct counted a;
	struct notify n;

	opened(&n);
	watch_of(&n, &a, first);
	(void)unlink(first);
	notify_take(&n);
	assert_true(a.events & IN_DELETE_SELF);
	assert_int_equal(a.file.wd, -1);
	grow(first);
	AUTO_CLOSE int fd = open(first, O_RDONLY | O_CLOEXEC);
	assert_int_equal(notify_add_fd(&n, &a.file, fd, IN_MODIFY), 0);
	a.calls = 0;
	grow(first);
	notify_take(&n);
	assert_int_equal(a.calls, 1);
	notify_close(&n);
}

static void what_cannot_be_watched_is_an_error(void **state UNUSED)
{
	struct notify_file f = { .wd = -1 };
	struct notify n;

	notify_init(&n);
	assert_int_equal(notify_add(&n, &f, dir, IN_MODIFY), -EBADF);
	notify_close(&n);
	opened(&n);
	assert_int_equal(notify_add(&n, &f, second, IN_MODIFY), -ENOENT);
	assert_int_equal(f.wd, -1);
	assert_int_equal(notify_add(&n, &f, dir, IN_CREATE | IN_ONLYDIR), 0);
	grow(second);
	assert_true(notify_wait(&n, 60000));
	notify_close(&n);
	notify_close(&n);
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(the_file_that_changed_is_called_once),
		T(a_loop_calls_it),
		T(it_can_be_waited_for_without_a_loop),
		T(what_was_removed_is_silent),
		T(a_call_may_remove_another_file),
		T(a_file_that_is_deleted_can_be_watched_anew),
		T(what_cannot_be_watched_is_an_error),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("notify", tests, NULL, NULL);
}
