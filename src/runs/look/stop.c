#include "runs/look/stop.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "data/json.h"

/* Behind a stop come the ends of the leaves that it ended: a few hundred bytes each. */
enum { TAIL_MAX = 8 << 20, LINE_MAX_BYTES = 1 << 20 };

static bool read_tail(int fd, struct buf *ret)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	off_t from = st.st_size > TAIL_MAX ? st.st_size - TAIL_MAX : 0;
	size_t left = (size_t)(st.st_size - from);
	buf_reserve(ret, left);
	while (ret->len < left) {
		ssize_t n = pread(fd, ret->p + ret->len, left - ret->len, from + (off_t)ret->len);

		if (n <= 0)
			break;
		ret->len += (size_t)n;
	}
	return ret->len > 0;
}

/* True when the line is a word about starting or stopping. */
static bool word_of(struct str line, enum stop_kind *ret)
{
	/* Most lines are about commands: reading only those that can matter is a hundred times
	 * faster. */
	if (line.len > LINE_MAX_BYTES || !memmem(line.p, line.len, "\"run.", 5))
		return false;
	AUTO_JSON *event = json_loadb(line.p, line.len, 0, NULL);
	const json_t *value = json_object_get(event, "type");
	struct str type = json_is_string(value) ? json_str(value) : S("");
	if (str_eq(type, S("run.cancel")))
		*ret = STOP_CANCEL;
	else if (str_eq(type, S("run.kill")))
		*ret = STOP_KILL;
	else if (str_eq(type, S("run.start")) || str_eq(type, S("run.resume")))
		*ret = STOP_NONE;
	else
		return false;
	return true;
}

enum stop_kind stop_last(const char *dir)
{
	AUTO_BUF path = BUF_INIT;
	AUTO_BUF text = BUF_INIT;
	enum stop_kind kind = STOP_NONE;

	buf_printf(&path, "%s/events.jsonl", dir);
	AUTO_CLOSE int fd = open(buf_cstr(&path), O_RDONLY | O_CLOEXEC);
	if (fd < 0 || !read_tail(fd, &text))
		return STOP_NONE;
	for (size_t end = text.len; end > 0;) {
		const char *line = memrchr(text.p, '\n', end - 1);
		size_t from = line ? (size_t)(line - text.p) + 1 : 0;

		if (word_of((struct str){ text.p + from, end - from }, &kind))
			return kind;
		end = from;
	}
	return STOP_NONE;
}
