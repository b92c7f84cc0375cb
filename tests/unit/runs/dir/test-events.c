#include "runs/dir/events.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "runs/dir/lines.h"
#include "runs/root.h"

static struct buf said;

static int finish(void **state)
{
	buf_done(&said);
	return end(state);
}

#define E(name) cmocka_unit_test_setup_teardown(name, begin, finish)

static bool say(void *data, struct str line, uint64_t seq)
{
	(void)data;
	buf_printf(&said, "%d:%.*s ", (int)seq, STR(line));
	return true;
}

static const char *from(uint64_t seq)
{
	buf_reset(&said);
	assert_int_equal(events_each(root, seq, say, NULL), 0);
	return buf_cstr(&said);
}

static void rotate(void)
{
	struct line_log log;

	line_log_init(&log, root, EVENTS_FILE, 0);
	assert_int_equal(line_log_rotate(&log, S("")), 0);
	line_log_done(&log);
}

static void events_have_numbers(void **state UNUSED)
{
	assert_string_equal(from(0), "");
	assert_int_equal(events_count(root), 0);
	put(EVENTS_FILE, "a\nb\nc");
	assert_string_equal(from(0), "1:a 2:b 3:c ");
	assert_string_equal(from(1), "1:a 2:b 3:c ");
	assert_string_equal(from(3), "3:c ");
	assert_string_equal(from(4), "");
	assert_int_equal(events_count(root), 3);
}

static void numbers_outlive_rotation(void **state UNUSED)
{
	put(EVENTS_FILE, "a\nb\n");
	rotate();
	assert_int_equal(events_count(root), 2);
	add(EVENTS_FILE, S("c\n"));
	assert_string_equal(from(2), "2:b 3:c ");
	rotate();
	assert_string_equal(from(0), "3:c ");
	assert_int_equal(events_count(root), 3);
}

static void a_follower_begins_where_it_is_told(void **state UNUSED)
{
	struct event_follower f;

	put(EVENTS_FILE, "a\nb\n");
	rotate();
	add(EVENTS_FILE, S("c\n"));
	event_follower_init(&f, root, 2);
	buf_reset(&said);
	assert_int_equal(event_follower_read(&f, say, NULL), 0);
	assert_str(buf_str(&said), "2:b 3:c ");
	add(EVENTS_FILE, S("d\ne"));
	buf_reset(&said);
	assert_int_equal(event_follower_read(&f, say, NULL), 0);
	assert_str(buf_str(&said), "4:d ");
	event_follower_done(&f);
}

static struct event_follower *followed;
static struct event_place places[8];

static bool note_place(void *data UNUSED, struct str line UNUSED, uint64_t seq)
{
	places[seq] = followed->place;
	return true;
}

static const char *line_of(uint64_t seq)
{
	buf_reset(&said);
	if (events_line(root, &places[seq], &said) == -ENOENT)
		buf_adds(&said, "gone");
	return buf_cstr(&said);
}

static void an_event_is_found_again_by_its_place(void **state UNUSED)
{
	struct event_follower f;

	followed = &f;
	put(EVENTS_FILE, "first\n\nsecond\n");
	event_follower_init(&f, root, 0);
	assert_int_equal(event_follower_read(&f, note_place, NULL), 0);
	add(EVENTS_FILE, S("third\n"));
	rotate();
	add(EVENTS_FILE, S("fourth\n"));
	assert_int_equal(event_follower_read(&f, note_place, NULL), 0);
	event_follower_done(&f);
	assert_string_equal(line_of(1), "first");
	assert_string_equal(line_of(2), "second");
	assert_string_equal(line_of(3), "third");
	assert_string_equal(line_of(4), "fourth");
	assert_string_equal(line_of(5), "gone"); /* there is none */
	put("events.1.jsonl", "cut\n");
	assert_string_equal(line_of(3), "gone");
	assert_string_equal(line_of(4), "fourth");
}

static enum stop_kind stop_of(const char *dir)
{
	enum stop_kind stop;

	assert_int_equal(events_stop(dir, &stop), 0);
	return stop;
}

static void the_last_order_to_end_counts(void **state UNUSED)
{
	assert_int_equal(stop_of(root), STOP_NONE);
	put(EVENTS_FILE, "{\"type\":\"run.start\"}\n{\"type\":\"run.cancel\"}\n"
			 "{\"type\":\"command.done\",\"label\":\"run.kill\"}\n");
	assert_int_equal(stop_of(root), STOP_CANCEL);
	rotate();
	assert_int_equal(stop_of(root), STOP_CANCEL);
	add(EVENTS_FILE, S("{\"type\":\"run.kill\"}\n{\"type\":"));
	assert_int_equal(stop_of(root), STOP_KILL);
	add(EVENTS_FILE, S("\n{\"type\":\"run.start\"}\n"));
	assert_int_equal(stop_of(root), STOP_NONE);
}

/* Opening a file takes two descriptors for a moment, and holds one: the second file lacks one. */
static void a_rotated_file_that_cannot_be_opened_is_an_error(void **state UNUSED)
{
	enum { FREE = 2, FILLERS = 64 };
	struct rlimit before, few;
	int fillers[FILLERS], count = 0;

	put(EVENTS_FILE, "a\nb\n");
	rotate();
	add(EVENTS_FILE, S("c\n"));
	assert_string_equal(from(1), "1:a 2:b 3:c ");
	int next = open("/dev/null", O_RDONLY);
	assert_true(next >= 0);
	(void)close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = (rlim_t)next + FILLERS / 2;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	while (count < FILLERS && (fillers[count] = open("/dev/null", O_RDONLY)) >= 0)
		count++;
	for (int i = 0; i < FREE; i++)
		(void)close(fillers[--count]);
	buf_reset(&said);
	int e = events_each(root, 1, say, NULL);
	while (count > 0)
		(void)close(fillers[--count]);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(e, -EMFILE);
	assert_string_equal(buf_cstr(&said), "");
	assert_string_equal(from(1), "1:a 2:b 3:c ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		E(events_have_numbers),
		E(numbers_outlive_rotation),
		E(a_follower_begins_where_it_is_told),
		E(an_event_is_found_again_by_its_place),
		E(the_last_order_to_end_counts),
		E(a_rotated_file_that_cannot_be_opened_is_an_error),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("events", tests, NULL, NULL);
}
