#include "app/record/mailbox.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "runs/mail/inbox.h"
#include "runs/mail/send.h"
#include "runs/root.h"

static struct loop *loop;
static struct mailbox *box;
static struct report report;
static size_t told, told_bytes;

static const struct message_frame frame = { INBOX, { "r", 1 }, { "", 0 } };

static int open_loop(void **state)
{
	told = told_bytes = 0;
	loop = loop_new();
	return loop ? begin(state) : -1;
}

static int close_loop(void **state)
{
	mailbox_stop(box);
	box = NULL;
	loop_free(loop);
	report_done(&report);
	return end(state);
}

static void on_message(void *data UNUSED, struct str id UNUSED, size_t bytes)
{
	told++;
	told_bytes += bytes;
}

static void start(bool socket, bool resumed)
{
	struct mailbox_options o = { .dir = root,
		.run = S("r"),
		.socket = socket,
		.resumed = resumed,
		.on_message = on_message };

	box = mailbox_start(loop, &o, &report);
	assert_non_null(box);
	assert_int_equal(report.issues.len, 0);
}

/* Lets the loop work until there is nothing more to do. */
static void settle(void)
{
	struct timespec pause = { .tv_nsec = 2000000 };

	for (int i = 0; i < 5; i++) {
		assert_int_equal(loop_turn(loop, 0), 0);
		(void)nanosleep(&pause, NULL);
	}
}

static void turn_until_told(size_t count)
{
	while (told < count)
		assert_int_equal(loop_turn(loop, 2000), 0);
}

/* As `roux message` does, but without waiting for the supervisor, who is this process. */
static struct buf post(const char *text)
{
	AUTO_JSON *body = json_string(text);
	AUTO_JSON *m = message_compose(NULL, S("run.message"), body, &frame, &report);
	struct send_request q = { .dir = root, .frame = frame, .message = m };
	struct send_result result;
	struct buf id = BUF_INIT;

	assert_non_null(m);
	assert_int_equal(message_send(&q, &result, &report), SEND_DONE);
	buf_add(&id, result.id);
	return id;
}

static void post_only(const char *text)
{
	struct buf id = post(text);

	buf_done(&id);
}

static const char *status_of(size_t n)
{
	static char word[16];
	struct inbox i;

	assert_int_equal(inbox_read(root, &frame, &i), 0);
	assert_true(n < i.messages.len);
	const char *status = json_string_value(json_object_get(i.messages.at[n], "status"));
	(void)snprintf(word, sizeof(word), "%s", status ? status : "");
	inbox_done(&i);
	return word;
}

static int connect_reader(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%s/control.sock", root);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

static struct buf read_reader(int fd)
{
	struct buf b = BUF_INIT;
	char text[4096];
	ssize_t n;

	while ((n = recv(fd, text, sizeof(text), MSG_DONTWAIT)) > 0)
		buf_add(&b, (struct str){ text, (size_t)n });
	return b;
}

static void reader_got(int fd, const char *want)
{
	struct buf got = read_reader(fd);

	assert_str(buf_str(&got), want);
	buf_done(&got);
}

/* -- the inbox -----------------------------------------------------------------------------------
 */

static void tells_of_every_message_once(void **state UNUSED)
{
	start(false, false);
	post_only("abc");
	turn_until_told(1);
	assert_int_equal(told_bytes, 3);
	add(INBOX_FILE, S("junk\n{\"id\":\"x\",\"status\":\"sent\"}\n{\"type\":\"a"));
	settle();
	assert_int_equal(told, 1);
	add(INBOX_FILE, S("\",\"body\":{\"a\":1}}\n"));
	turn_until_told(2);
	assert_int_equal(told_bytes, 3 + 7);
	mailbox_look(box);
	assert_int_equal(told, 2);
}

static void finds_what_came_before_it(void **state UNUSED)
{
	add(INBOX_FILE, S("{\"type\":\"a\",\"id\":\"a\"}\n"));
	start(false, false);
	assert_int_equal(told, 1);
}

static void a_resumed_run_is_not_told_again(void **state UNUSED)
{
	add(INBOX_FILE, S("{\"type\":\"run.message\",\"id\":\"a\",\"body\":\"stop\"}\n"
			  "{\"id\":\"a\",\"status\":\"sent\",\"ts\":\"t\"}\n"));
	start(false, true);
	assert_int_equal(told, 0);
	assert_false(mailbox_stop_delivered(box));
	post_only("x");
	turn_until_told(1);
}

static void follows_the_file_that_has_the_name(void **state UNUSED)
{
	struct line_log log;

	start(false, false);
	post_only("one");
	turn_until_told(1);
	line_log_init(&log, root, INBOX_FILE, 0);
	assert_int_equal(line_log_rotate(&log, S("")), 0);
	line_log_done(&log);
	post_only("two");
	turn_until_told(2);
	assert_int_equal(unlink(at(INBOX_FILE)), 0);
	settle();
	assert_int_equal(access(at(INBOX_FILE), F_OK), 0);
	post_only("three");
	turn_until_told(3);
	assert_int_equal(truncate(at(INBOX_FILE), 0), 0);
	settle();
	add(INBOX_FILE, S("{\"type\":\"a\"}\n"));
	turn_until_told(4);
	settle();
	assert_int_equal(told, 4);
}

static void says_when_a_stop_word_was_delivered(void **state UNUSED)
{
	start(false, false);
	struct buf id = post("stop");
	assert_false(mailbox_stop_delivered(box));
	assert_int_equal(inbox_mark(root, buf_str(&id), INBOX_FAILED, NULL), 0);
	assert_false(mailbox_stop_delivered(box));
	buf_done(&id);
	id = post("quit");
	assert_int_equal(inbox_mark(root, buf_str(&id), INBOX_SENT, NULL), 0);
	assert_true(mailbox_stop_delivered(box));
	buf_done(&id);
}

/* The program was quicker than the sender's mark: the sender still holds the inbox. */
static void waits_for_the_sender_of_a_stop_word(void **state UNUSED)
{
	int ready[2];
	char c;

	start(false, false);
	assert_int_equal(pipe(ready), 0);
	pid_t child = fork();
	if (child == 0) {
		int held = inbox_hold(root, 1000);
		struct timespec pause = { .tv_nsec = 100000000 };

		add(INBOX_FILE, S("{\"type\":\"run.message\",\"id\":\"a\",\"body\":\"stop\"}\n"));
		(void)!write(ready[1], "x", 1);
		(void)nanosleep(&pause, NULL);
		_exit(held < 0 || inbox_mark(root, S("a"), INBOX_SENT, NULL) < 0);
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	assert_true(mailbox_stop_delivered(box));
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	(void)close(ready[0]);
	(void)close(ready[1]);
}

/* -- the socket ----------------------------------------------------------------------------------
 */

static void pushes_to_everybody_who_is_connected(void **state UNUSED)
{
	struct stat st;

	start(true, false);
	assert_int_equal(stat(at("control.sock"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	post_only("early");
	settle();
	assert_string_equal(status_of(0), "queued");
	int one = connect_reader();
	settle();
	reader_got(one, "early\n");
	assert_string_equal(status_of(0), "sent");
	int two = connect_reader();
	settle();
	post_only("both");
	settle();
	reader_got(one, "both\n");
	reader_got(two, "both\n");
	(void)close(one);
	settle();
	post_only("stop");
	settle();
	reader_got(two, "stop\n");
	assert_true(mailbox_stop_delivered(box));
	(void)close(two);
	mailbox_stop(box);
	box = NULL;
	assert_int_equal(access(at("control.sock"), F_OK), -1);
	assert_int_equal(told, 3);
}

static void a_reader_that_did_not_read_loses_nothing(void **state UNUSED)
{
	start(true, false);
	int one = connect_reader();
	settle();
	post_only("read");
	settle();
	reader_got(one, "read\n");
	settle();
	post_only("unread 1");
	post_only("unread 2");
	settle();
	assert_string_equal(status_of(2), "sent");
	(void)close(one);
	settle();
	assert_string_equal(status_of(0), "sent");
	assert_string_equal(status_of(1), "queued");
	assert_string_equal(status_of(2), "queued");
	int two = connect_reader();
	settle();
	reader_got(two, "unread 1\nunread 2\n");
	assert_string_equal(status_of(2), "sent");
	(void)close(two);
}

static void a_long_message_goes_through(void **state UNUSED)
{
	AUTO_FREE char *text = mem_zero(MESSAGE_BODY_MAX + 1);
	AUTO_BUF got = BUF_INIT;

	memset(text, 'x', MESSAGE_BODY_MAX);
	start(true, false);
	int one = connect_reader();
	for (int i = 0; i < 8; i++)
		post_only(text);
	for (int i = 0; i < 1000 && got.len < 8u * (MESSAGE_BODY_MAX + 1); i++) {
		assert_int_equal(loop_turn(loop, 20), 0);
		struct buf part = read_reader(one);
		buf_add(&got, buf_str(&part));
		buf_done(&part);
	}
	assert_int_equal(got.len, 8u * (MESSAGE_BODY_MAX + 1));
	settle();
	for (size_t i = 0; i < 8; i++)
		assert_string_equal(status_of(i), "sent");
	(void)close(one);
}

static void a_reader_can_say_what_became_of_a_message(void **state UNUSED)
{
	AUTO_BUF line = BUF_INIT;

	start(true, false);
	int one = connect_reader();
	settle();
	struct buf id = post("x");
	settle();
	buf_printf(&line, "junk\n{\"id\":\"%s\",\"status\":\"claimed\",\"claimed_by\":\"me\"}\n",
		buf_cstr(&id));
	assert_int_equal(fd_write_all(one, buf_str(&line)), 0);
	settle();
	assert_string_equal(status_of(0), "claimed");
	/* Claimed, so it does not come back, although it was not read. */
	(void)close(one);
	settle();
	assert_string_equal(status_of(0), "claimed");
	buf_done(&id);
}

static void a_long_path_is_no_hindrance(void **state UNUSED)
{
	char deep[300];

	(void)snprintf(deep, sizeof(deep), "%s/%0120d", root, 7);
	assert_int_equal(mkdir(deep, 0700), 0);
	struct mailbox_options o = { .dir = deep, .run = S("r"), .socket = true };
	box = mailbox_start(loop, &o, &report);
	assert_non_null(box);
	assert_int_equal(report.issues.len, 0);
	(void)snprintf(deep + strlen(deep), sizeof(deep) - strlen(deep), "/control.sock");
	assert_int_equal(access(deep, F_OK), 0);
}

static void something_else_of_that_name_stays(void **state UNUSED)
{
	add("control.sock", S("precious"));
	struct mailbox_options o = { .dir = root, .run = S("r"), .socket = true };
	box = mailbox_start(loop, &o, &report);
	assert_non_null(box);
	assert_int_equal(report.warnings, 1);
	struct stat st;
	assert_int_equal(stat(at("control.sock"), &st), 0);
	assert_int_equal(st.st_size, 8);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_loop, close_loop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(tells_of_every_message_once),
		TEST(finds_what_came_before_it),
		TEST(a_resumed_run_is_not_told_again),
		TEST(follows_the_file_that_has_the_name),
		TEST(says_when_a_stop_word_was_delivered),
		TEST(waits_for_the_sender_of_a_stop_word),
		TEST(pushes_to_everybody_who_is_connected),
		TEST(a_reader_that_did_not_read_loses_nothing),
		TEST(a_long_message_goes_through),
		TEST(a_reader_can_say_what_became_of_a_message),
		TEST(a_long_path_is_no_hindrance),
		TEST(something_else_of_that_name_stays),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("mailbox", tests, NULL, NULL);
}
