#include "runs/mail/endpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

static const struct {
	const char *type;
	enum endpoint_kind kind;
	const char *file;
} kinds[] = {
	{ "fifo", ENDPOINT_FIFO, FIFO_FILE }, { "socket", ENDPOINT_SOCKET, SOCKET_FILE },
	{ "mailbox", ENDPOINT_MAILBOX, NULL },
	{ "named-pipe", ENDPOINT_NONE, NULL }, /* of another platform */
};

static void set_path(struct endpoint *e, const char *dir, struct str path)
{
	buf_reset(&e->path);
	if (!str_starts(path, S("/")))
		buf_printf(&e->path, "%s/", dir);
	buf_add(&e->path, path);
}

static bool lies_there(struct endpoint *e, const char *dir, const char *file, mode_t kind)
{
	struct stat st;

	set_path(e, dir, str_of(file));
	return lstat(buf_cstr(&e->path), &st) == 0 && (st.st_mode & S_IFMT) == kind;
}

void endpoint_find(struct endpoint *e, const char *dir, const json_t *control)
{
	const json_t *type = json_is_string(control) ? control : json_object_get(control, "type");
	const json_t *path = json_object_get(control, "path");

	*e = (struct endpoint){ .kind = ENDPOINT_NONE };
	for (size_t i = 0; json_is_string(type) && i < ARRAY_SIZE(kinds); i++) {
		if (!str_eq(json_str(type), str_of(kinds[i].type)))
			continue;
		e->kind = kinds[i].kind;
		if (kinds[i].file)
			set_path(e, dir,
				json_is_string(path) && json_string_length(path)
					? json_str(path)
					: str_of(kinds[i].file));
		return;
	}
	if (lies_there(e, dir, FIFO_FILE, S_IFIFO))
		e->kind = ENDPOINT_FIFO;
	else if (lies_there(e, dir, SOCKET_FILE, S_IFSOCK))
		e->kind = ENDPOINT_SOCKET;
}

void endpoint_done(struct endpoint *e)
{
	buf_done(&e->path);
}

int fifo_give(const char *path, struct str line)
{
	AUTO_BUF whole = BUF_INIT;
	struct sigpipe quiet;
	struct stat st;
	ssize_t n;

	/* Without a reader this fails at once, because it does not block. */
	AUTO_CLOSE int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode))
		return -EINVAL;
	if (line.len + 1 > PIPE_BUF)
		return -EMSGSIZE;
	buf_add(&whole, line);
	buf_addc(&whole, '\n');
	sigpipe_begin(&quiet);
	do {
		n = write(fd, whole.p, whole.len); /* all or nothing up to PIPE_BUF */
	} while (n < 0 && errno == EINTR);
	int error = n < 0 ? errno : 0;
	sigpipe_end(&quiet);
	return -error;
}
