/* The door with routes of its own: replies that come later, streams, ranges, the same reply again.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "http/http.h"
#include "http/unix-path.h"
#include "unit.h"

static struct {
	struct loop *loop;
	struct http *http;
	char dir[64], socket[96];
	struct http_request *later; /* waits for its reply */
	struct http_stream *stream;
	unsigned acts, gone, drained;
	bool slow; /* acts are replied to by hand */
} t;

/* -- routes --------------------------------------------------------------------------------------
 */

static void on_gone(void *data UNUSED)
{
	t.gone++;
	t.later = NULL;
	t.stream = NULL;
}

static void on_drained(void *data UNUSED)
{
	t.drained++;
}

static void handle_later(struct http_request *q)
{
	t.later = q;
	http_on_gone(q, on_gone, NULL);
}

static void handle_file(struct http_request *q)
{
	int fd = file_temp();

	assert_int_equal(fd_write_all(fd, S("0123456789")), 0);
	if (http_unchanged(q, S("x")))
		close(fd);
	else
		http_reply_file(
			q, &(struct http_content){ .untrusted = true, .name = S("a \"b") }, fd, 10);
}

static void handle_empty(struct http_request *q)
{
	http_reply_file(q, &(struct http_content){ .untrusted = true }, file_temp(), 0);
}

static void handle_act(struct http_request *q)
{
	t.acts++;
	http_audit_note(q, "recipe", S("r"));
	if (t.slow)
		t.later = q;
	else
		http_reply_value(q, 201, json_pack("{s:i}", "acts", (int)t.acts));
}

static void handle_stream(struct http_request *q)
{
	t.stream = http_stream_open(
		q, &(struct http_stream_options){ .drained = on_drained, .gone = on_gone });
	http_stream_event(t.stream, "hello", S("1"), S("{}"));
}

static void handle_name(struct http_request *q)
{
	AUTO_BUF b = BUF_INIT;
	struct str v = S("-");

	(void)http_query(q, "x", &v);
	buf_printf(&b, "%.*s %.*s %.*s", STR(http_param(q, "a")), STR(http_param(q, "b")), STR(v));
	http_reply_bytes(q, &(struct http_content){ .type = "text/plain" }, &b);
}

static const struct http_route routes[] = {
	{ "GET", "/later", HTTP_API, HTTP_READ, HTTP_READS, handle_later, "later" },
	{ "GET", "/file", HTTP_API, HTTP_READ, HTTP_READS, handle_file, "file" },
	{ "GET", "/empty", HTTP_API, HTTP_READ, HTTP_READS, handle_empty, "an empty file" },
	{ "POST", "/act", HTTP_API, HTTP_RUN, HTTP_STARTS, handle_act, "act", .action = "act" },
	{ "GET", "/stream", HTTP_API, HTTP_READ, HTTP_READS, handle_stream, "stream" },
	{ "GET", "/n/{a}/x/{b}", HTTP_API, HTTP_READ, HTTP_READS, handle_name, "names" },
	{ "GET", "/n/{a}/x/last", HTTP_API, HTTP_READ, HTTP_READS, handle_file, "a file" },
};

/* -- a client ------------------------------------------------------------------------------------
 */

static int reach(void)
{
	AUTO_CLOSE int dir = -1;
	struct sockaddr_un un;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_int_equal(unix_path_address(t.socket, &un, &dir), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&un, sizeof(un)), 0);
	return fd;
}

static void say(int fd, const char *head, const char *body)
{
	AUTO_BUF text = BUF_INIT;

	buf_printf(&text, "%s HTTP/1.1\r\nHost: x\r\n", head);
	if (body)
		buf_printf(&text, "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
			strlen(body), body);
	else
		buf_adds(&text, "\r\n");
	assert_int_equal(fd_write_all(fd, buf_str(&text)), 0);
}

/* Turns the loop until the bytes that came have `part`; "": until the connection has ended. */
static void hear(int fd, struct buf *b, const char *part)
{
	char piece[65536];

	for (int i = 0; i < 60000; i++) {
		ssize_t n = read(fd, piece, sizeof(piece));

		if (n > 0)
			buf_add(b, (struct str){ piece, (size_t)n });
		if (*part ? b->len && strstr(buf_cstr(b), part) != NULL : n == 0)
			return;
		(void)loop_turn(t.loop, n > 0 ? 0 : 10);
	}
	print_error("never came: %s after %s\n", part, buf_cstr(b));
	fail();
}

static void ask(const char *head, const char *body, const char *part, struct buf *b)
{
	AUTO_CLOSE int fd = reach();

	buf_reset(b);
	say(fd, head, body);
	hear(fd, b, part);
}

static bool has(const struct buf *b, const char *part)
{
	return strstr(buf_cstr(b), part) != NULL;
}

static int begin(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;

	memset(&t, 0, sizeof(t));
	(void)signal(SIGPIPE, SIG_IGN);
	(void)snprintf(t.dir, sizeof(t.dir), "/tmp/roux-http-XXXXXX");
	if (!mkdtemp(t.dir))
		return -1;
	(void)snprintf(t.socket, sizeof(t.socket), "%s/s.sock", t.dir);
	t.loop = loop_new();
	t.http = http_new(&(struct http_options){ .loop = t.loop, .dir = str_of(t.dir) }, &r);
	report_done(&r);
	http_add_routes(t.http, &(struct http_routes){ routes, ARRAY_SIZE(routes), NULL });
	return t.http ? http_listen_unix(t.http, t.socket) : -1;
}

static int end(void **state UNUSED)
{
	AUTO_BUF command = BUF_INIT;

	http_free(t.http);
	loop_free(t.loop);
	buf_printf(&command, "rm -rf '%s'", t.dir);
	return system(buf_cstr(&command));
}

/* -- cases ---------------------------------------------------------------------------------------
 */

static void a_reply_may_come_later(void **state UNUSED)
{
	AUTO_CLOSE int fd = reach();
	AUTO_BUF got = BUF_INIT;
	AUTO_BUF text = BUF_INIT;

	say(fd, "GET /later", NULL);
	for (int i = 0; i < 1000 && !t.later; i++)
		(void)loop_turn(t.loop, 10);
	assert_non_null(t.later);
	buf_adds(&text, "{}");
	http_reply_json(t.later, 200, &text);
	hear(fd, &got, "{}");
	assert_int_equal(t.gone, 0);
	buf_reset(&got);
	say(fd, "GET /file", NULL);
	hear(fd, &got, "0123456789");
}

static void a_client_that_leaves_is_told_of(void **state UNUSED)
{
	int fd = reach();

	say(fd, "GET /later", NULL);
	for (int i = 0; i < 1000 && !t.later; i++)
		(void)loop_turn(t.loop, 10);
	assert_non_null(t.later);
	close(fd);
	for (int i = 0; i < 1000 && !t.gone; i++)
		(void)loop_turn(t.loop, 10);
	assert_int_equal(t.gone, 1);
}

static void parameters_are_decoded(void **state UNUSED)
{
	AUTO_BUF got = BUF_INIT;

	ask("GET /n/a%20b/x/%C3%A9?x=1+2", NULL, "\r\n\r\na b é 1 2", &got);
	ask("GET /n/a/x/last", NULL, "0123456789", &got);
	ask("GET /n//x/b", NULL, "\r\n\r\n{", &got);
	assert_true(has(&got, " 404 "));
}

static void parts_of_files_are_sent(void **state UNUSED)
{
	AUTO_BUF got = BUF_INIT;

	ask("GET /file HTTP/1.1\r\nRange: bytes=2-4\r\nX:", NULL, "\r\n\r\n234", &got);
	assert_true(has(&got, " 206 ") && has(&got, "Content-Range: bytes 2-4/10"));
	assert_true(has(&got, "sandbox") && has(&got, "no-store"));
	assert_true(has(&got, "attachment; filename=\"a _b\"; filename*=UTF-8''a%20%22b"));
	ask("GET /file HTTP/1.1\r\nRange: bytes=10-\r\nX:", NULL, "\r\n\r\n{", &got);
	assert_true(has(&got, " 416 ") && has(&got, "Content-Range: bytes */10"));
	ask("GET /file HTTP/1.1\r\nRange: bytes=0-1,3-4\r\nX:", NULL, "\r\n\r\n0123456789", &got);
	assert_true(has(&got, " 200 "));
	ask("GET /file HTTP/1.1\r\nRange: bytes=0-1\r\nIf-Range: \"x\"\r\nX:", NULL,
		"\r\n\r\n0123456789", &got);
}

static void an_empty_file_is_sent_as_one(void **state UNUSED)
{
	AUTO_BUF got = BUF_INIT;

	ask("GET /empty", NULL, "\r\n\r\n", &got);
	assert_true(has(&got, " 200 ") && has(&got, "Content-Length: 0"));
	ask("GET /empty HTTP/1.1\r\nRange: bytes=0-\r\nX:", NULL, "\r\n\r\n{", &got);
	assert_true(has(&got, " 416 "));
}

static void the_same_key_acts_once(void **state UNUSED)
{
	AUTO_BUF got = BUF_INIT;

	ask("POST /act HTTP/1.1\r\nIdempotency-Key: k\r\nX:", "{}", "{\"acts\":1}", &got);
	ask("POST /act HTTP/1.1\r\nIdempotency-Key: k\r\nX:", "{}", "{\"acts\":1}", &got);
	assert_true(has(&got, " 201 "));
	assert_int_equal(t.acts, 1);
	ask("POST /act HTTP/1.1\r\nIdempotency-Key: k\r\nX:", "{\"a\":1}", "\r\n\r\n{", &got);
	assert_true(has(&got, " 409 "));
	ask("POST /act HTTP/1.1\r\nIdempotency-Key: l\r\nX:", "{}", "{\"acts\":2}", &got);
	ask("POST /act", "{}", "{\"acts\":3}", &got);
}

static void the_second_waits_for_the_first(void **state UNUSED)
{
	AUTO_CLOSE int first = reach();
	AUTO_CLOSE int second = reach();
	AUTO_BUF got = BUF_INIT;

	t.slow = true;
	say(first, "POST /act HTTP/1.1\r\nIdempotency-Key: k\r\nX:", "{}");
	say(second, "POST /act HTTP/1.1\r\nIdempotency-Key: k\r\nX:", "{}");
	for (int i = 0; i < 20; i++)
		(void)loop_turn(t.loop, 10);
	assert_int_equal(t.acts, 1);
	http_reply_value(t.later, 201, json_pack("{s:s}", "run", "r1"));
	hear(first, &got, "{\"run\":\"r1\"}");
	buf_reset(&got);
	hear(second, &got, "{\"run\":\"r1\"}");
}

static void the_audit_has_a_line_before_and_after(void **state UNUSED)
{
	AUTO_CLOSE int fd = reach();
	AUTO_BUF got = BUF_INIT;
	AUTO_BUF text = BUF_INIT;
	AUTO_BUF path = BUF_INIT;

	buf_printf(&path, "%s/audit.jsonl", t.dir);
	t.slow = true;
	say(fd, "POST /act", "{}");
	for (int i = 0; i < 1000 && !t.later; i++)
		(void)loop_turn(t.loop, 10);
	assert_int_equal(file_read(buf_cstr(&path), 1 << 20, &text), 0);
	assert_true(has(&text, "\"action\":\"act\"") && has(&text, "\"outcome\":\"begun\""));
	http_reply_value(t.later, 201, json_object());
	hear(fd, &got, "\r\n\r\n{}");
	buf_reset(&text);
	assert_int_equal(file_read(buf_cstr(&path), 1 << 20, &text), 0);
	assert_true(has(&text, "\"outcome\":\"done\"") && has(&text, "\"recipe\":\"r\""));
	assert_false(has(&text, "begun"));
	assert_int_equal(str_find(buf_str(&text), '\n', 0), text.len - 1);
}

static void without_an_audit_nothing_is_started(void **state UNUSED)
{
	AUTO_BUF got = BUF_INIT;
	AUTO_BUF path = BUF_INIT;

	buf_printf(&path, "%s/audit.jsonl", t.dir);
	assert_int_equal(dir_make(buf_cstr(&path)), 0);
	ask("POST /act", "{}", "\r\n\r\n{", &got);
	assert_true(has(&got, " 503 ") && has(&got, "\"reason\":\"audit\""));
	assert_int_equal(t.acts, 0);
}

static void a_stream_is_pushed_and_ends(void **state UNUSED)
{
	AUTO_CLOSE int fd = reach();
	AUTO_BUF got = BUF_INIT;

	say(fd, "GET /stream", NULL);
	hear(fd, &got, "id: 1\nevent: hello\ndata: {}\n\n");
	assert_true(has(&got, "Content-Type: text/event-stream"));
	for (int i = 0; i < 5; i++)
		(void)loop_turn(t.loop, 10);
	assert_int_equal(http_stream_queued(t.stream), 0);
	http_stream_push(t.stream, S(": more\n\n"));
	hear(fd, &got, ": more\n\n");
	assert_true(t.drained > 0);
	http_stream_end(t.stream);
	hear(fd, &got, "0\r\n\r\n");
	for (int i = 0; i < 1000 && !t.gone; i++)
		(void)loop_turn(t.loop, 10);
	assert_int_equal(t.gone, 1);
	buf_reset(&got);
	say(fd, "GET /file", NULL);
	hear(fd, &got, "0123456789");
}

static void a_stream_hears_of_a_client_that_left(void **state UNUSED)
{
	int fd = reach();
	AUTO_BUF got = BUF_INIT;

	say(fd, "GET /stream", NULL);
	hear(fd, &got, "hello");
	close(fd);
	for (int i = 0; i < 1000 && !t.gone; i++)
		(void)loop_turn(t.loop, 10);
	assert_int_equal(t.gone, 1);
	assert_int_equal(http_counts(t.http).streams, 0);
}

static void a_stream_queues_for_a_slow_client(void **state UNUSED)
{
	AUTO_CLOSE int fd = reach();
	AUTO_BUF got = BUF_INIT;
	char piece[1024];

	say(fd, "GET /stream", NULL);
	hear(fd, &got, "hello");
	memset(piece, 'x', sizeof(piece));
	for (int i = 0; i < 4096; i++) {
		http_stream_push(t.stream, (struct str){ piece, sizeof(piece) });
		(void)loop_turn(t.loop, 0);
	}
	assert_true(http_stream_queued(t.stream) > HTTP_STREAM_QUEUE);
	http_stream_push(t.stream, S("the end"));
	hear(fd, &got, "the end");
	assert_true(got.len > sizeof(piece) * 4096);
}

static void stopping_says_bye(void **state UNUSED)
{
	AUTO_CLOSE int fd = reach();
	AUTO_CLOSE int idle = reach();
	AUTO_BUF got = BUF_INIT;

	say(fd, "GET /stream", NULL);
	hear(fd, &got, "hello");
	http_stop(t.http);
	hear(fd, &got, "event: bye\ndata: {\"reason\":\"stop\"}\n\n");
	hear(fd, &got, "");
	hear(idle, &got, "");
	for (int i = 0; i < 1000 && !http_quiet(t.http); i++)
		(void)loop_turn(t.loop, 10);
	assert_true(http_quiet(t.http));
	assert_int_equal(t.gone, 1);
}

static void the_end_of_the_door_ends_all_that_waits(void **state UNUSED)
{
	AUTO_CLOSE int later = reach();
	AUTO_CLOSE int stream = reach();
	AUTO_BUF got = BUF_INIT;

	say(later, "GET /later", NULL);
	say(stream, "GET /stream", NULL);
	hear(stream, &got, "hello");
	for (int i = 0; i < 1000 && !t.later; i++)
		(void)loop_turn(t.loop, 10);
	http_free(t.http);
	t.http = NULL;
	assert_int_equal(t.gone, 2);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_reply_may_come_later),
		CASE(a_client_that_leaves_is_told_of),
		CASE(parameters_are_decoded),
		CASE(parts_of_files_are_sent),
		CASE(an_empty_file_is_sent_as_one),
		CASE(the_same_key_acts_once),
		CASE(the_second_waits_for_the_first),
		CASE(the_audit_has_a_line_before_and_after),
		CASE(without_an_audit_nothing_is_started),
		CASE(a_stream_is_pushed_and_ends),
		CASE(a_stream_hears_of_a_client_that_left),
		CASE(a_stream_queues_for_a_slow_client),
		CASE(stopping_says_bye),
		CASE(the_end_of_the_door_ends_all_that_waits),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
