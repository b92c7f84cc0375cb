#include "hosts/serve/ask.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/file.h"
#include "data/json.h"
#include "http/unix-path.h"

enum { ANSWER_MAX = 1 << 20, WAIT_S = 10, USUAL_PORT = 7689 };

static int reach(struct str path)
{
	struct timeval wait = { .tv_sec = WAIT_S };
	AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	AUTO_CLOSE int dir = -1;
	struct sockaddr_un un;
	int n = unix_path_address(path.p, &un, &dir);

	if (n < 0)
		return n;
	if (fd < 0 || connect(fd, (struct sockaddr *)&un, sizeof(un)) < 0)
		return -errno;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
	return take_fd(&fd);
}

void ask_awake(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
		.sin_port = htons(USUAL_PORT),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct timeval wait = { .tv_sec = WAIT_S };
	AUTO_CLOSE int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char answer[64];

	if (fd < 0 || connect(fd, (struct sockaddr *)&in, sizeof(in)) < 0)
		return;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	if (fd_write_all(fd, S("GET /healthz HTTP/1.0\r\nHost: localhost:7689\r\n\r\n")) == 0)
		(void)!read(fd, answer, sizeof(answer));
}

/* The body of "HTTP/1.1 200 OK\r\n…\r\n\r\n…"; *status is its number. */
static struct str body_of(struct str answer, unsigned *status)
{
	const char *end = answer.len ? memmem(answer.p, answer.len, "\r\n\r\n", 4) : NULL;
	uint64_t n;

	*status = 0;
	if (!end || !str_starts(answer, S("HTTP/1.1 ")) || !str_to_uint(str_sub(answer, 9, 3), &n))
		return S("");
	*status = (unsigned)n;
	return str_from(answer, (size_t)(end - answer.p) + 4);
}

json_t *ask_server(
	struct str socket, const char *method, const char *target, bool *ret_none, struct report *r)
{
	AUTO_BUF ask = BUF_INIT;
	AUTO_BUF answer = BUF_INIT;
	unsigned status;

	AUTO_CLOSE int fd = reach(socket);
	if (ret_none)
		*ret_none = fd < 0;
	if (fd < 0) {
		report_system(r, (struct where){ 0 }, "no server is running");
		report_hint(r, "roux serve");
		return NULL;
	}
	buf_printf(&ask,
		"%s %s HTTP/1.1\r\nHost: roux\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
		method, target);
	int n = fd_write_all(fd, buf_str(&ask));
	if (n == 0)
		n = fd_read_all(fd, ANSWER_MAX, &answer);
	if (n < 0) {
		report_errno(r, -n, "the server does not answer");
		return NULL;
	}
	struct str body = body_of(buf_str(&answer), &status);
	json_t *document = json_read(&(struct source){ S("the answer"), body }, r);
	if (document && status >= 400) {
		report_system(r, (struct where){ 0 }, "the server refuses: %.*s",
			STR(json_text_of(document, "error")));
		json_decref(document);
		return NULL;
	}
	return document;
}
