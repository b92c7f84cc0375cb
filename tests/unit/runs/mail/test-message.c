#include "runs/mail/message.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "runs/mail/command-done.h"
#include "runs/mail/endpoint.h"
#include "runs/mail/inbox.h"
#include "runs/mail/outbox.h"
#include "runs/mail/send.h"
#include "runs/root.h"

static json_t *parse(const char *text)
{
	AUTO_REPORT r = REPORT_INIT;
	struct source s = { S("test"), str_of(text) };
	json_t *value = json_read(&s, &r);

	assert_non_null(value);
	return value;
}

static struct str member(const json_t *m, const char *name)
{
	return json_str(json_object_get(m, name));
}

static const struct message_frame out_frame = { OUTBOX, { "r", 1 }, { "s1", 2 } };
static const struct message_frame in_frame = { INBOX, { "r", 1 }, { "s1", 2 } };

/* -- grammar -------------------------------------------------------------------------------------
 */

static void types_have_a_grammar(void **state UNUSED)
{
	static const char *const good[] = { "a", "run.message", "A9_.:-", "x:y" };
	static const char *const bad[] = { "", "9a", ".a", "a b", "a/b", "é", "a\n" };

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_true(message_type_valid(str_of(good[i])));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(message_type_valid(str_of(bad[i])));
	assert_false(message_type_valid((struct str){ "a\0b", 3 }));
}

static void addresses_have_a_grammar(void **state UNUSED)
{
	static const char *const bad[] = { "", "run:", "run", "runs:a", "run:a/b", "branch:a",
		"branch:a/", "branch:/b", "branch:a/b/c", "coordinator:x", "coordinators",
		"session:", "session:a b", "tool:a\n", "RUN:a" };
	struct address a;

	assert_true(address_read(S("run:a.b-c_9"), &a) && a.kind == ADDRESS_RUN);
	assert_str(a.name, "a.b-c_9");
	assert_true(address_read(S("branch:r/x.1"), &a) && a.kind == ADDRESS_BRANCH);
	assert_str(a.name, "r");
	assert_str(a.branch, "x.1");
	assert_true(address_read(S("room:r"), &a) && a.kind == ADDRESS_ROOM);
	assert_true(address_read(S("coordinator"), &a) && a.kind == ADDRESS_COORDINATOR);
	assert_true(address_read(S("session:s"), &a) && a.kind == ADDRESS_SESSION);
	assert_true(address_read(S("tool:t"), &a) && a.kind == ADDRESS_TOOL);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(address_read(str_of(bad[i]), &a));
}

/* -- meaning -------------------------------------------------------------------------------------
 */

static void a_line_gets_its_delivery_and_level_by_policy(void **state UNUSED)
{
	static const struct {
		const char *line, *delivery, *level;
	} cases[] = {
		{ "{}", "notify", "info" },
		{ "{\"to\":\"coordinator\"}", "notify", "info" },
		{ "{\"to\":\"session:s1\"}", "followup", "info" },
		{ "{\"to\":\"session:s2\"}", "log", "info" },
		{ "{\"to\":\"run:other\"}", "log", "info" },
		{ "{\"to\":\"run:other\",\"metadata\":{\"requires_response\":true}}", "followup",
			"info" },
		{ "{\"metadata\":{\"requires_response\":\"true\"}}", "notify", "info" },
		{ "{\"delivery\":\"log\"}", "log", "info" },
		{ "{\"delivery\":\"followup\",\"to\":\"run:x\"}", "followup", "info" },
		{ "{\"delivery\":\"zap\"}", "log", "info" },
		{ "{\"delivery\":7}", "log", "info" },
		{ "{\"delivery\":null}", "notify", "info" },
		{ "{\"level\":\"warning\"}", "notify", "warning" },
		{ "{\"level\":\"zap\"}", "notify", "info" },
		{ "{\"type\":\"command.done\",\"body\":{\"code\":3}}", "followup", "error" },
		{ "{\"type\":\"command.done\",\"body\":{\"code\":3},\"level\":\"info\"}",
			"followup", "info" },
		{ "{\"type\":\"command.done\",\"body\":{\"code\":0,\"activeSubagents\":2}}",
			"followup", "info" },
		{ "{\"type\":\"command.done\",\"body\":{\"code\":0,\"activeSubagents\":0}}", "log",
			"info" },
		{ "{\"type\":\"command.done\"}", "notify", "info" },
		{ "{\"type\":\"x\",\"body\":{\"code\":3}}", "notify", "info" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO_JSON *line = parse(cases[i].line);
		AUTO_JSON *m = message_complete(line, &out_frame, 0);

		assert_str(member(m, "delivery"), cases[i].delivery);
		assert_str(member(m, "level"), cases[i].level);
	}
}

static void a_line_gets_what_it_lacks(void **state UNUSED)
{
	AUTO_JSON *line = parse("{\"event\":\"e\",\"run\":\"other\",\"odd\":1}");
	AUTO_JSON *m = message_complete(line, &out_frame, 7);
	AUTO_BUF text = BUF_INIT;

	json_write(&text, m, 0);
	assert_str(buf_str(&text),
		"{\"type\":\"e\",\"event\":\"e\",\"run\":\"r\",\"to\":\"coordinator\",\"from\":"
		"\"run:"
		"r\",\"summary\":\"e\",\"level\":\"info\",\"delivery\":\"notify\",\"ts\":\"1970-01-"
		"01T00:00:00.000Z\",\"id\":\"r:7\",\"odd\":1}");
	AUTO_JSON *empty = parse("{\"type\":5,\"summary\":\"\",\"body\":null}");
	AUTO_JSON *n = message_complete(empty, &out_frame, 0);
	assert_str(member(n, "type"), "run.event");
	assert_str(member(n, "summary"), "run.event");
	assert_true(json_is_null(json_object_get(n, "body")));
}

static json_t *compose(const char *given, const char *type, const char *body,
	const struct message_frame *f, struct report *r)
{
	AUTO_JSON *g = given ? parse(given) : NULL;
	AUTO_JSON *b = body ? parse(body) : NULL;

	report_reset(r);
	return message_compose(g, str_of(type), b, f, r);
}

static void a_message_that_cannot_be_is_refused(void **state UNUSED)
{
	static const struct {
		const char *given, *type, *body;
		bool to_run;
	} bad[] = {
		{ NULL, "9", NULL, false },
		{ "{\"type\":\"b\"}", "a", NULL, false },
		{ "{\"body\":1}", "a", "2", false },
		{ "{\"to\":\"nobody\"}", "a", NULL, false },
		{ "{\"to\":5}", "a", NULL, false },
		{ "{\"summary\":5}", "a", NULL, false },
		{ "{\"metadata\":[]}", "a", NULL, false },
		{ "{\"from\":\"run:other\"}", "a", NULL, false },
		{ "{\"from\":\"branch:r/x\"}", "a", NULL, false },
		{ "{\"to\":\"session:s2\"}", "a", NULL, false },
		{ "{\"to\":\"coordinator\"}", "a", NULL, true },
		{ "{\"to\":\"run:other\"}", "a", NULL, true },
		{ "{\"to\":\"tool:t\"}", "a", NULL, true },
	};
	AUTO_REPORT r = REPORT_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_null(compose(bad[i].given, bad[i].type, bad[i].body,
			bad[i].to_run ? &in_frame : &out_frame, &r));
		assert_true(r.errors > 0);
	}
}

static void a_message_has_an_id_of_its_own(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_JSON *a = compose("{\"id\":\"mine\",\"ts\":\"then\"}", "a", "1", &out_frame, &r);
	assert_int_equal(r.warnings, 2);
	AUTO_JSON *b = compose("{\"to\":\"session:s1\"}", "a", NULL, &out_frame, &r);
	AUTO_JSON *c =
		compose("{\"from\":\"branch:r/x\",\"to\":\"run:y\"}", "", NULL, &out_frame, &r);

	assert_non_null(a);
	assert_non_null(b);
	assert_non_null(c);
	assert_false(str_eq(member(a, "id"), S("mine")));
	assert_false(str_eq(member(a, "ts"), S("then")));
	assert_false(str_eq(member(a, "id"), member(b, "id")));
	assert_str(member(c, "type"), "run.message");
	assert_str(member(b, "delivery"), "followup");
}

static void a_body_has_a_limit(void **state UNUSED)
{
	AUTO_FREE char *text = mem_zero(MESSAGE_BODY_MAX + 2);
	AUTO_REPORT r = REPORT_INIT;

	memset(text, 'x', MESSAGE_BODY_MAX + 1);
	AUTO_JSON *over = json_string(text);
	assert_null(message_compose(NULL, S("a"), over, &in_frame, &r));
	assert_true(str_contains(r.issues.at[0].hint, S("file")));
	text[MESSAGE_BODY_MAX] = '\0';
	AUTO_JSON *just = json_string(text);
	AUTO_JSON *m = message_compose(NULL, S("a"), just, &in_frame, &r);
	assert_non_null(m);
	AUTO_BUF shown = BUF_INIT;
	message_preview(&shown, m);
	assert_true(shown.len <= MESSAGE_PREVIEW && str_ends(buf_str(&shown), S("…")));
}

static void the_program_gets_one_line(void **state UNUSED)
{
	static const struct {
		const char *message, *line;
	} cases[] = {
		{ "{\"type\":\"run.message\",\"body\":\"next\"}", "next" },
		{ "{\"type\":\"run.message\",\"body\":{\"a\":[1]}}", "{\"a\":[1]}" },
		{ "{\"type\":\"run.message\",\"body\":\"a\\nb\"}", "\"a\\nb\"" },
		{ "{\"type\":\"run.message\"}", "" },
		{ "{\"type\":\"t\",\"id\":\"i\",\"body\":1,\"status\":\"queued\",\"queued_at\":"
		  "\"n\"}",
			"{\"type\":\"t\",\"id\":\"i\",\"body\":1}" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO_JSON *m = parse(cases[i].message);
		AUTO_BUF line = BUF_INIT;

		message_program_line(&line, m);
		assert_str(buf_str(&line), cases[i].line);
	}
}

static void only_bare_words_stop(void **state UNUSED)
{
	static const struct {
		const char *message;
		bool stop;
	} cases[] = {
		{ "{\"type\":\"run.message\",\"body\":\"stop\"}", true },
		{ "{\"type\":\"run.message\",\"body\":\"quit\\n\"}", true },
		{ "{\"type\":\"run.message\",\"body\":\"exit\"}", true },
		{ "{\"type\":\"run.message\",\"body\":\"cancel\"}", true },
		{ "{\"type\":\"run.message\",\"body\":\"stop it\"}", false },
		{ "{\"type\":\"run.message\",\"body\":{\"stop\":1}}", false },
		{ "{\"type\":\"control.stop\",\"body\":\"stop\"}", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO_JSON *m = parse(cases[i].message);

		assert_int_equal(message_is_stop(m), cases[i].stop);
	}
}

/* -- the outbox ----------------------------------------------------------------------------------
 */

struct seen {
	size_t count, skipped;
	json_t *last;
};

static void see(void *data, const json_t *message)
{
	struct seen *s = data;

	s->count++;
	json_decref(s->last);
	s->last = json_incref((json_t *)message);
}

static struct seen read_outbox(void)
{
	struct seen s = { 0 };

	assert_int_equal(outbox_each(root, &out_frame, see, &s, &s.skipped), 0);
	return s;
}

static void lines_that_are_no_messages_are_counted(void **state UNUSED)
{
	struct seen none = read_outbox();

	assert_int_equal(none.count + none.skipped, 0);
	add(OUTBOX_FILE,
		S("{\"type\":\"a\"}\nplain\n[1]\n\n   \n{\"type\":\n\xff\xfe\n{\"a\":\"\xff\"}\n"));
	add(OUTBOX_FILE, (struct str){ "{\"a\":1\0}\n", 9 });
	add(OUTBOX_FILE, S("\"text\"\n{\"type\":\"b\"}\r\n{\"type\":\"torn"));
	/* A message of ours after a torn line is whole. */
	AUTO_JSON *m = parse("{\"type\":\"ours\"}");
	assert_int_equal(outbox_append(root, m), 0);
	struct seen s = read_outbox();
	assert_int_equal(s.count, 3);
	assert_int_equal(s.skipped, 9);
	assert_str(member(s.last, "type"), "ours");
	json_decref(s.last);
	/* A last line needs no end. */
	add(OUTBOX_FILE, S("{\"type\":\"open\"}"));
	s = read_outbox();
	assert_str(member(s.last, "type"), "open");
	json_decref(s.last);
}

static void a_line_that_is_too_long_is_skipped(void **state UNUSED)
{
	size_t len = LINE_MAX_BYTES + 100;
	AUTO_FREE char *text = mem_alloc(len);

	memset(text, 'x', len);
	memcpy(text, "{\"a\":\"", 6);
	add(OUTBOX_FILE, S("{\"type\":\"a\"}\n"));
	add(OUTBOX_FILE, (struct str){ text, len });
	add(OUTBOX_FILE, S("\"}\n{\"type\":\"b\"}\n"));
	struct seen s = read_outbox();
	assert_int_equal(s.count, 2);
	assert_int_equal(s.skipped, 1);
	assert_str(member(s.last, "id"), "r:2");
	json_decref(s.last);
}

static void what_is_no_file_is_not_written_to(void **state UNUSED)
{
	AUTO_JSON *m = parse("{\"type\":\"a\"}");

	assert_int_equal(mkfifo(at(OUTBOX_FILE), 0600), 0);
	assert_int_equal(outbox_append(root, m), -EINVAL);
	(void)unlink(at(OUTBOX_FILE));
	assert_int_equal(symlink("/dev/null", at(OUTBOX_FILE)), 0);
	assert_int_equal(outbox_append(root, m), -ELOOP);
	struct line_log log;
	outbox_init(&log, root);
	assert_int_equal(line_log_append(&log, S("two\nlines")), -EINVAL);
	line_log_done(&log);
}

enum { WRITERS = 8, LINES = 400 };

/* Also while somebody rotates the file under their feet. */
static void write_many(size_t limit)
{
	pid_t pids[WRITERS];

	for (int w = 0; w < WRITERS; w++) {
		pids[w] = fork();
		assert_true(pids[w] >= 0);
		if (pids[w] > 0)
			continue;
		struct line_log log;
		char line[256];
		int bad = 0;

		line_log_init(&log, root, OUTBOX_FILE, limit);
		for (int i = 0; i < LINES; i++) {
			int n = snprintf(
				line, sizeof(line), "{\"type\":\"t\",\"id\":\"%d.%d\"}", w, i);

			bad |= line_log_append(&log, (struct str){ line, (size_t)n });
		}
		_exit(bad != 0);
	}
	for (int w = 0; w < WRITERS; w++) {
		int status;

		assert_true(waitpid(pids[w], &status, 0) == pids[w]);
		assert_int_equal(status, 0);
	}
}

static void many_writers_lose_nothing(void **state UNUSED)
{
	write_many(LINES_MAX_BYTES);
	struct seen s = read_outbox();
	assert_int_equal(s.count, WRITERS * LINES);
	assert_int_equal(s.skipped, 0);
	json_decref(s.last);
}

struct tally {
	size_t lines, markers, first;
	unsigned long long dropped;
};

static bool tally_line(void *data, struct str line, size_t index)
{
	struct tally *t = data;
	const char *lines = strstr(line.p, "\"lines\":");

	if (str_contains(line, S(LINES_MARKER))) {
		t->markers++;
		assert_non_null(lines);
		t->dropped = strtoull(lines + 8, NULL, 10);
		return true;
	}
	if (!t->lines++)
		t->first = index;
	assert_true(str_starts(line, S("{")) && str_ends(line, S("}")));
	return true;
}

static void rotation_counts_what_it_drops(void **state UNUSED)
{
	struct tally t = { 0 };
	struct line_log log;

	line_log_init(&log, root, OUTBOX_FILE, 1000);
	for (int i = 0; i < 100; i++)
		assert_int_equal(
			line_log_append(&log, S("{\"type\":\"x\",\"n\":\"0123456789\"}")), 0);
	line_log_done(&log);
	assert_int_equal(lines_each(root, OUTBOX_FILE, tally_line, &t, NULL), 0);
	assert_true(t.dropped > 0);
	assert_int_equal(t.markers, 2);
	assert_int_equal(t.first, t.dropped);
	assert_int_equal(t.lines + t.dropped, 100);
	struct stat st;
	assert_int_equal(stat(at(OUTBOX_FILE), &st), 0);
	assert_true(st.st_size <= 1000);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void writers_and_rotation_together_keep_lines_whole(void **state UNUSED)
{
	struct tally t = { 0 };

	write_many(20000);
	assert_int_equal(lines_each(root, OUTBOX_FILE, tally_line, &t, NULL), 0);
	assert_true(t.markers > 0);
	/* A line that meets the very moment of a rotation may be counted twice or not at all. */
	assert_in_range(t.lines + t.dropped, WRITERS * LINES - 32, WRITERS * LINES + 32);
}

static void a_command_that_ended_is_a_message(void **state UNUSED)
{
	AUTO_JSON *artifacts = parse("{\"report\":\"/a/r.md\"}");
	struct command_done_frame frame = { 0 };
	command_done_frame(&frame, S("r"), S("/runs/r"));
	struct command_done d = { .path = S("1.0"),
		.label = S("li\"nt"),
		.command = S("lint 'a b'"),
		.attempt = 2,
		.code = 3,
		.ms = 41,
		.artifacts = artifacts };
	AUTO_BUF line = BUF_INIT;
	AUTO_REPORT r = REPORT_INIT;

	command_done_line(&line, &frame, &d);
	struct source source = { S("line"), buf_str(&line) };
	AUTO_JSON *m = json_read(&source, &r);
	assert_non_null(m);
	/* It is complete: reading it changes nothing. */
	AUTO_JSON *again = message_complete(m, &out_frame, 0);
	assert_true(json_equal(m, again));
	assert_str(member(m, "type"), "command.done");
	assert_str(member(m, "from"), "run:r");
	assert_str(member(m, "summary"), "Command li\"nt failed with code 3");
	assert_str(member(m, "delivery"), "followup");
	assert_str(member(m, "level"), "error");
	json_t *body = json_object_get(m, "body");
	assert_true(json_equal(body, json_object_get(m, "data")));
	assert_int_equal(json_integer_value(json_object_get(body, "code")), 3);
	assert_int_equal(json_integer_value(json_object_get(body, "attempt")), 2);
	assert_str(member(body, "label"), "li\"nt");
	assert_str(member(json_object_get(body, "run_files"), "stderr"), "/runs/r/stderr.log");
	assert_true(json_equal(json_object_get(body, "artifacts"), artifacts));
	assert_true(json_is_false(json_object_get(body, "killed")));
	d.code = 0;
	d.others = 1;
	buf_reset(&line);
	command_done_line(&line, &frame, &d);
	assert_true(
		str_contains(buf_str(&line), S("\"level\":\"info\",\"delivery\":\"followup\"")));
	d.others = 0;
	d.artifacts = NULL;
	buf_reset(&line);
	command_done_line(&line, &frame, &d);
	assert_true(str_contains(buf_str(&line), S("\"level\":\"info\",\"delivery\":\"log\"")));
	assert_false(str_contains(buf_str(&line), S("artifacts")));
	command_done_frame_done(&frame);
}

/* -- the inbox -----------------------------------------------------------------------------------
 */

static void statuses_are_folded(void **state UNUSED)
{
	struct inbox i;

	add(INBOX_FILE,
		S("{\"type\":\"run.message\",\"id\":\"a\",\"body\":\"x\",\"status\":\"queued\"}\n"
		  "{\"id\":\"a\",\"status\":\"sent\",\"ts\":\"t1\",\"transport\":\"fifo\"}\n"
		  "{\"id\":\"a\",\"status\":\"queued\",\"ts\":\"t1\"}\n"
		  "{\"type\":\"b\",\"id\":\"b\"}\n"
		  "{\"id\":\"b\",\"status\":\"claimed\",\"ts\":\"t2\",\"claimed_by\":\"me\"}\n"
		  "{\"id\":\"b\",\"status\":\"failed\",\"ts\":\"t3\",\"error\":\"no\"}\n"
		  "{\"id\":\"c\",\"status\":\"sent\",\"ts\":\"t3\"}\n"
		  "{\"id\":\"b\",\"status\":\"odd\"}\n"
		  "{\"body\":5}\n"
		  "{\"type\":\"d\",\"id\":\"d\"}\n"
		  "{\"id\":\"d\",\"status\":\"sent\",\"ts\":\"t4\",\"transport\":\"socket\"}\n"
		  "{\"id\":\"d\",\"status\":\"queued\",\"ts\":\"t5\",\"error\":\"gone\"}\n"
		  "junk\n"));
	assert_int_equal(inbox_read(root, &in_frame, &i), 0);
	assert_int_equal(i.messages.len, 4);
	assert_int_equal(i.waiting, 2);
	assert_int_equal(i.skipped, 3);
	assert_str(member(i.messages.at[0], "status"), "sent");
	assert_str(member(i.messages.at[0], "sent_at"), "t1");
	assert_str(member(i.messages.at[0], "to"), "run:r");
	assert_str(member(i.messages.at[1], "status"), "failed");
	assert_str(member(i.messages.at[1], "claimed_by"), "me");
	assert_str(member(i.messages.at[1], "claimed_at"), "t2");
	assert_str(member(i.messages.at[1], "error"), "no");
	assert_str(member(i.messages.at[2], "id"), "r:8");
	assert_str(member(i.messages.at[2], "status"), "queued");
	assert_str(member(i.messages.at[3], "status"), "queued");
	assert_str(member(i.messages.at[3], "error"), "gone");
	assert_null(json_object_get(i.messages.at[3], "transport"));
	assert_null(json_object_get(i.messages.at[0], "level"));
	inbox_done(&i);
}

static enum send_outcome send_text(const char *text, struct send_result *ret, json_t **message)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_JSON *body = json_string(text);

	*message = message_compose(NULL, S("run.message"), body, &in_frame, &r);
	assert_non_null(*message);
	struct send_request q = { .dir = root, .frame = in_frame, .message = *message };
	return message_send(&q, ret, &r);
}

static void sent(const char *text, bool want, const char *transport)
{
	struct send_result result;
	json_t *message;

	assert_int_equal(send_text(text, &result, &message), SEND_DONE);
	assert_int_equal(result.sent, want);
	assert_string_equal(result.transport ? result.transport : "none", transport);
	assert_int_equal(!result.sent, result.waits_for != NULL);
	json_decref(message);
}

static void the_sixty_fifth_has_to_wait(void **state UNUSED)
{
	struct send_result result;
	json_t *message;

	for (int i = 0; i < INBOX_WAITING_MAX; i++)
		sent("x", false, "none");
	assert_int_equal(send_text("y", &result, &message), SEND_BACKPRESSURE);
	json_decref(message);
	struct inbox i;
	assert_int_equal(inbox_read(root, &in_frame, &i), 0);
	assert_int_equal(i.messages.len, INBOX_WAITING_MAX);
	struct str first = member(i.messages.at[0], "id");
	assert_int_equal(inbox_mark(root, first, INBOX_CLAIMED, NULL), 0);
	inbox_done(&i);
	sent("z", false, "none");
}

static void a_new_inbox_keeps_what_waits(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	struct inbox i;
	int waiting = 0;

	for (int n = 0; n < 60; n++) {
		AUTO_JSON *m = compose(
			NULL, "t", "\"0123456789012345678901234567890123456789\"", &in_frame, &r);

		assert_int_equal(inbox_read(root, &in_frame, &i), 0);
		assert_int_equal(i.waiting, waiting);
		assert_int_equal(inbox_post(root, m, &i, 4000), 0);
		inbox_done(&i);
		if (n % 10)
			assert_int_equal(inbox_mark(root, member(m, "id"), INBOX_HANDLED, NULL), 0);
		else
			waiting++;
	}
	assert_int_equal(waiting, 6);
	assert_int_equal(inbox_read(root, &in_frame, &i), 0);
	assert_int_equal(i.waiting, waiting);
	assert_int_equal(i.skipped, 0);
	assert_true(i.messages.len < 60);
	assert_int_equal(access(at("inbox.1.jsonl"), F_OK), 0);
	inbox_done(&i);
}

/* -- endpoints -----------------------------------------------------------------------------------
 */

static void a_fifo_never_hangs(void **state UNUSED)
{
	char text[PIPE_BUF + 1];
	const char *path = at(FIFO_FILE);

	memset(text, 'x', sizeof(text));
	assert_int_equal(fifo_give(path, S("x")), -ENOENT);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(fifo_give(path, S("x")), -ENXIO);
	int reader = open(path, O_RDONLY | O_NONBLOCK);
	assert_true(reader >= 0);
	assert_int_equal(fifo_give(path, (struct str){ text, PIPE_BUF }), -EMSGSIZE);
	size_t taken = 0;
	int r;
	while ((r = fifo_give(path, (struct str){ text, PIPE_BUF - 1 })) == 0)
		taken++;
	assert_int_equal(r, -EAGAIN);
	assert_true(taken > 0);
	(void)close(reader);
	assert_int_equal(fifo_give(path, S("x")), -ENXIO);
	(void)unlink(path);
	add(FIFO_FILE, S(""));
	assert_int_equal(fifo_give(path, S("x")), -EINVAL);
}

static void a_message_through_a_fifo_is_marked(void **state UNUSED)
{
	char text[64] = "";
	struct inbox i;

	assert_int_equal(mkfifo(at(FIFO_FILE), 0600), 0);
	sent("early", false, "none");
	int reader = open(at(FIFO_FILE), O_RDONLY | O_NONBLOCK);
	sent("next", true, "fifo");
	assert_int_equal(read(reader, text, sizeof(text)), 5);
	assert_string_equal(text, "next\n");
	(void)close(reader);
	assert_int_equal(inbox_read(root, &in_frame, &i), 0);
	assert_str(member(i.messages.at[0], "status"), "queued");
	assert_str(member(i.messages.at[1], "status"), "sent");
	inbox_done(&i);
}

static void a_long_message_is_noted(void **state UNUSED)
{
	AUTO_FREE char *body = mem_zero(PIPE_BUF + 1);
	struct send_result result;
	json_t *message;
	char text[512] = "";

	memset(body, 'x', PIPE_BUF);
	assert_int_equal(mkfifo(at(FIFO_FILE), 0600), 0);
	int reader = open(at(FIFO_FILE), O_RDONLY | O_NONBLOCK);
	assert_int_equal(send_text(body, &result, &message), SEND_DONE);
	assert_true(result.noted && !result.sent);
	assert_true(read(reader, text, sizeof(text) - 1) > 0);
	AUTO_JSON *note = parse(text);
	assert_bytes(member(note, "id"), result.id);
	json_decref(message);
	(void)close(reader);
}

static void endpoints_are_found(void **state UNUSED)
{
	static const struct {
		const char *control;
		enum endpoint_kind kind;
	} cases[] = {
		{ "{\"type\":\"mailbox\"}", ENDPOINT_MAILBOX },
		{ "{\"type\":\"fifo\"}", ENDPOINT_FIFO },
		{ "\"socket\"", ENDPOINT_SOCKET },
		{ "{\"type\":\"named-pipe\",\"path\":\"x\"}", ENDPOINT_NONE },
		{ "{}", ENDPOINT_NONE },
		{ "null", ENDPOINT_NONE },
	};
	struct endpoint e;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO_JSON *control = parse(cases[i].control);

		endpoint_find(&e, root, control);
		assert_int_equal(e.kind, cases[i].kind);
		endpoint_done(&e);
	}
	AUTO_JSON *control = parse("{\"type\":\"fifo\",\"path\":\"my.fifo\"}");
	endpoint_find(&e, root, control);
	assert_str(buf_str(&e.path), at("my.fifo"));
	endpoint_done(&e);
	assert_int_equal(mkfifo(at(FIFO_FILE), 0600), 0);
	endpoint_find(&e, root, NULL);
	assert_int_equal(e.kind, ENDPOINT_FIFO);
	endpoint_done(&e);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_have_a_grammar),
		cmocka_unit_test(addresses_have_a_grammar),
		cmocka_unit_test(a_line_gets_its_delivery_and_level_by_policy),
		cmocka_unit_test(a_line_gets_what_it_lacks),
		cmocka_unit_test(a_message_that_cannot_be_is_refused),
		cmocka_unit_test(a_message_has_an_id_of_its_own),
		cmocka_unit_test(a_body_has_a_limit),
		cmocka_unit_test(the_program_gets_one_line),
		cmocka_unit_test(only_bare_words_stop),
		TEST(lines_that_are_no_messages_are_counted),
		TEST(a_line_that_is_too_long_is_skipped),
		TEST(what_is_no_file_is_not_written_to),
		TEST(many_writers_lose_nothing),
		TEST(rotation_counts_what_it_drops),
		TEST(writers_and_rotation_together_keep_lines_whole),
		cmocka_unit_test(a_command_that_ended_is_a_message),
		TEST(statuses_are_folded),
		TEST(the_sixty_fifth_has_to_wait),
		TEST(a_new_inbox_keeps_what_waits),
		TEST(a_fifo_never_hangs),
		TEST(a_message_through_a_fifo_is_marked),
		TEST(a_long_message_is_noted),
		TEST(endpoints_are_found),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("message", tests, NULL, NULL);
}
