#include "render/terminal/stream.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/node-path.h"
#include "base/plain-text.h"
#include "base/vec.h"
#include "graph/step.h"

enum { LINE_BYTES = 4096 }; /* a longer line is shown in pieces */

/* One of the two streams of a running step: what came since its last line end. */
struct stream {
	struct buf path, text;
	bool is_stderr;
};

struct stream_lines {
	bool all;
	VEC(struct stream *) open;
};

struct stream_lines *stream_lines_new(bool all)
{
	struct stream_lines *s = mem_new(struct stream_lines);

	s->all = all;
	return s;
}

static void stream_free(struct stream *s)
{
	buf_done(&s->path);
	buf_done(&s->text);
	free(s);
}

void stream_lines_free(struct stream_lines *s)
{
	if (!s)
		return;
	vec_each (o, &s->open)
		stream_free(*o);
	vec_done(&s->open);
	free(s);
}

void step_name(struct buf *b, const struct event *e)
{
	struct str path = e->path;
	uint64_t round = node_path_round(path);

	/* A step of the body is in the round that its loop is in. */
	while (!round && !str_eq(path, S("."))) {
		path = node_path_up(path);
		round = node_path_round(path);
	}
	text_plain(b, e->label.len || !e->node ? e->label : e->node->label);
	if (round)
		buf_printf(b, " #%" PRIu64, round);
}

static struct stream *find(struct stream_lines *s, const struct event *e)
{
	vec_each (o, &s->open)
		if ((*o)->is_stderr == e->output.is_stderr && str_eq(buf_str(&(*o)->path), e->path))
			return *o;
	struct stream *o = mem_new(struct stream);
	buf_add(&o->path, e->path);
	o->is_stderr = e->output.is_stderr;
	vec_push(&s->open, o);
	return o;
}

static void put_line(const struct event *e, struct str line, struct buf *ret)
{
	buf_addc(ret, '[');
	step_name(ret, e);
	buf_adds(ret, "] ");
	text_plain(ret, str_ends(line, S("\r")) ? str_sub(line, 0, line.len - 1) : line);
	buf_addc(ret, '\n');
}

static void feed(struct stream_lines *s, const struct event *e, struct buf *ret)
{
	struct stream *o = find(s, e);
	struct str rest = e->output.bytes;

	while (rest.len) {
		size_t end = str_find(rest, '\n', 0);
		size_t take = MIN(end, LINE_BYTES - o->text.len);

		buf_add(&o->text, str_sub(rest, 0, take));
		if (take == end && end == rest.len)
			return; /* its line continues */
		put_line(e, buf_str(&o->text), ret);
		buf_reset(&o->text);
		rest = str_from(rest, take == end ? end + 1 : take);
	}
}

/* What had no line end is a line all the same. */
static void finish(struct stream_lines *s, const struct event *e, struct buf *ret)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->open.len; i++) {
		struct stream *o = s->open.at[i];

		if (!str_eq(buf_str(&o->path), e->path)) {
			s->open.at[kept++] = o;
			continue;
		}
		if (o->text.len)
			put_line(e, buf_str(&o->text), ret);
		stream_free(o);
	}
	s->open.len = kept;
}

void stream_lines_event(struct stream_lines *s, const struct event *e, struct buf *ret)
{
	const struct step_node *step = e->node ? e->node->step : NULL;

	if (!step || !(s->all || step->stream))
		return;
	if (e->kind == EVENT_COMMAND_OUTPUT)
		feed(s, e, ret);
	else if (e->kind == EVENT_COMMAND_DONE)
		finish(s, e, ret);
}
