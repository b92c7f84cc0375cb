#include "hosts/serve/ask.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/file.h"
#include "data/json.h"

enum { ANSWER_MAX = 1 << 20, WAIT_S = 10 };

static int reach(struct str path)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	struct timeval wait = { .tv_sec = WAIT_S };
	AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (path.len >= sizeof(un.sun_path))
		return -ENAMETOOLONG;
	memcpy(un.sun_path, path.p, path.len);
	if (fd < 0 || connect(fd, (struct sockaddr *)&un, sizeof(un)) < 0)
		return -errno;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
	return take_fd(&fd);
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
