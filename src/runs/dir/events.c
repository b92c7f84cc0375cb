#include "runs/dir/events.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "data/json.h"
#include "runs/dir/lines.h"
#include "runs/dir/open.h"

struct reading {
	uint64_t from;
	event_line_fn *see;
	void *data;
	struct event_follower *follower; /* NULL: the file is not followed */
};

static bool see_line(void *data, struct str line, size_t index)
{
	const struct reading *g = data;

	if (index + 1 < g->from || line_is_marker(line))
		return true;
	return g->see(g->data, line, index + 1);
}

int events_each(const char *dir, uint64_t from, event_line_fn *see, void *data)
{
	struct reading g = { .from = from, .see = see, .data = data };

	return lines_each(dir, EVENTS_FILE, see_line, &g, NULL);
}

static bool count_line(void *data, struct str line, uint64_t seq)
{
	(void)line;
	*(uint64_t *)data = seq;
	return true;
}

uint64_t events_count(const char *dir)
{
	uint64_t last = 0;

	(void)events_each(dir, 0, count_line, &last);
	return last;
}

int events_line(const char *dir, const struct event_place *place, struct buf *ret)
{
	AUTO_BUF path = BUF_INIT;
	AUTO_BUF rotated = BUF_INIT;

	buf_printf(&path, "%s/" EVENTS_FILE, dir);
	lines_rotated_path(&rotated, buf_cstr(&path));
	const char *const names[] = { buf_cstr(&path), buf_cstr(&rotated) };
	for (size_t i = 0; place->len && i < ARRAY_SIZE(names); i++) {
		AUTO_CLOSE int fd = run_open_path(names[i], O_RDONLY);
		struct stat st;

		if (fd < 0 || fstat(fd, &st) < 0 || st.st_ino != place->file)
			continue;
		AUTO_FREE char *line = mem_alloc(place->len);
		ssize_t n = fd_read_at(fd, line, place->len, place->offset);
		if (n < 0)
			return -errno;
		if ((size_t)n < place->len)
			break;
		buf_add(ret, (struct str){ line, place->len });
		return 0;
	}
	return -ENOENT;
}

/* -- while it runs -------------------------------------------------------------------------------
 */

void event_follower_init(struct event_follower *f, const char *dir, uint64_t from)
{
	f->from = from;
	f->place = (struct event_place){ 0 };
	follower_init(&f->lines, dir, EVENTS_FILE, FOLLOW_ROTATED);
}

void event_follower_done(struct event_follower *f)
{
	follower_done(&f->lines);
}

static bool see_followed(void *data, const struct followed_line *line)
{
	const struct reading *g = data;

	if (line->marker || line->index + 1 < g->from)
		return true;
	g->follower->place =
		(struct event_place){ g->follower->lines.ino, line->offset, line->text.len };
	return g->see(g->data, line->text, line->index + 1);
}

int event_follower_read(struct event_follower *f, event_line_fn *see, void *data)
{
	struct reading g = { f->from, see, data, f };

	return follower_read(&f->lines, see_followed, &g);
}

/* -- who asked for the end -----------------------------------------------------------------------
 */

static bool see_stop(void *data, struct str line, uint64_t seq)
{
	enum stop_kind *last = data;

	(void)seq;
	/* Most lines are about commands: reading only those that can matter is a hundred times
	 * faster. */
	if (!memmem(line.p, line.len, "\"run.", 5))
		return true;
	AUTO_JSON *event = json_loadb(line.p, line.len, 0, NULL);
	const json_t *value = json_object_get(event, "type");
	struct str type = json_is_string(value) ? json_str(value) : S("");
	if (str_eq(type, S("run.cancel")))
		*last = STOP_CANCEL;
	else if (str_eq(type, S("run.kill")))
		*last = STOP_KILL;
	else if (str_eq(type, S("run.start")))
		*last = STOP_NONE;
	return true;
}

int events_stop(const char *dir, enum stop_kind *ret)
{
	*ret = STOP_NONE;
	return events_each(dir, 0, see_stop, ret);
}
