#include "render/terminal/stream.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/plain-text.h"
#include "base/vec.h"
#include "graph/step.h"

enum { LINE_BYTES = 4096, SECOND_MS = 1000 }; /* a longer line is shown in pieces */

/* A running command that has printed something. */
struct stream {
	struct buf path;
	struct buf text[2]; /* of its two outputs: what came since the last line end */
	struct stream_shown shown;
	uint64_t second_ms; /* when the second began in which … */
	uint64_t in_second; /* … so many lines were shown */
	uint64_t left_out;  /* since then, and not said yet */
};

struct stream_lines {
	bool all;
	struct buf run; /* its id; empty: it is not recorded */
	VEC(struct stream *) open;
	struct arena arena;
	struct map failed; /* path and attempt → struct stream_shown */
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
	buf_done(&s->text[0]);
	buf_done(&s->text[1]);
	free(s);
}

void stream_lines_free(struct stream_lines *s)
{
	if (!s)
		return;
	vec_each (o, &s->open)
		stream_free(*o);
	vec_done(&s->open);
	buf_done(&s->run);
	arena_done(&s->arena);
	free(s);
}

static void add_key(struct buf *b, struct str path, uint64_t attempt)
{
	buf_printf(b, "%.*s %" PRIu64, STR(path), attempt);
}

struct stream_shown stream_lines_shown(
	const struct stream_lines *s, struct str path, uint64_t attempt)
{
	AUTO_BUF key = BUF_INIT;

	add_key(&key, path, attempt);
	const struct stream_shown *shown = s ? map_get(&s->failed, buf_str(&key)) : NULL;
	return shown ? *shown : (struct stream_shown){ 0 };
}

/* -- names ---------------------------------------------------------------------------------------
 */

static struct str label_of(const struct event *e)
{
	return e->label.len || !e->node ? e->label : e->node->label;
}

void node_name(struct buf *b, const struct event *e)
{
	buf_addc(b, '[');
	text_name(b, e->path, label_of(e), e->item);
	buf_adds(b, "] ");
}

void left_line(struct buf *b, const struct event *e)
{
	node_name(b, e);
	switch (e->left) {
	case LEFT_RUNNING:
		buf_printf(b, "is still running on %.*s", STR(e->away.host));
		break;
	case LEFT_ENDED:
		buf_adds(b, "ended meanwhile");
		break;
	case LEFT_AGAIN:
		buf_printf(b, "runs again: %.*s", STR(e->away.why));
		break;
	}
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
	text_plain(b, label_of(e));
	if (round)
		buf_printf(b, " #%" PRIu64, round);
}

/* A step that streams is named as its author named it. */
static bool is_streaming(const struct stream_lines *s, const struct event *e)
{
	const struct step_node *step = e->node ? e->node->step : NULL;

	return step && (s->all || step->stream);
}

static void add_name(const struct stream_lines *s, const struct event *e, struct buf *ret)
{
	if (!is_streaming(s, e)) {
		node_name(ret, e);
		return;
	}
	buf_addc(ret, '[');
	step_name(ret, e);
	buf_adds(ret, "] ");
}

/* -- lines ---------------------------------------------------------------------------------------
 */

static size_t find(const struct stream_lines *s, struct str path)
{
	size_t i = 0;

	while (i < s->open.len && !str_eq(buf_str(&s->open.at[i]->path), path))
		i++;
	return i;
}

static struct stream *open_stream(struct stream_lines *s, struct str path)
{
	size_t at = find(s, path);

	if (at < s->open.len)
		return s->open.at[at];
	struct stream *o = mem_new(struct stream);
	buf_add(&o->path, path);
	vec_push(&s->open, o);
	return o;
}

static void tell_left_out(
	const struct stream_lines *s, struct stream *o, const struct event *e, struct buf *ret)
{
	if (!o->left_out)
		return;
	add_name(s, e, ret);
	buf_printf(ret, "… %" PRIu64 " line%s left out", o->left_out, o->left_out == 1 ? "" : "s");
	if (s->run.len)
		buf_printf(ret, ": roux logs %s %s", buf_cstr(&s->run), buf_cstr(&o->path));
	buf_addc(ret, '\n');
	o->left_out = 0;
}

/* Whether one more line of the command may be shown now. A step whose author asked to see all of it
 * has no limit. */
static bool has_room(
	const struct stream_lines *s, struct stream *o, const struct event *e, struct buf *ret)
{
	if (e->node && e->node->step && e->node->step->stream)
		return true;
	if (e->mono_ms >= o->second_ms + SECOND_MS) {
		tell_left_out(s, o, e, ret);
		o->second_ms = e->mono_ms;
		o->in_second = 0;
	}
	return o->in_second++ < STREAM_LINES;
}

static void put_line(struct stream_lines *s, struct stream *o, const struct event *e, bool err,
	struct str line, struct buf *ret)
{
	o->shown.total += err;
	if (!has_room(s, o, e, ret)) {
		o->left_out++;
		return;
	}
	*(err ? &o->shown.lines : &o->shown.out_lines) += 1;
	add_name(s, e, ret);
	text_plain(ret, str_ends(line, S("\r")) ? str_sub(line, 0, line.len - 1) : line);
	buf_addc(ret, '\n');
}

static bool is_shown(const struct stream_lines *s, const struct event *e)
{
	return e->output.is_stderr || (is_streaming(s, e) && e->node->step) ||
	       (s->all && !e->output.is_result);
}

static void feed(struct stream_lines *s, const struct event *e, struct buf *ret)
{
	bool err = e->output.is_stderr;
	struct str rest = e->output.bytes;

	if (!rest.len || !is_shown(s, e))
		return;
	struct stream *o = open_stream(s, e->path);
	struct buf *text = &o->text[err];
	while (rest.len) {
		size_t end = str_find(rest, '\n', 0);
		size_t take = MIN(end, LINE_BYTES - text->len);

		buf_add(text, str_sub(rest, 0, take));
		if (take == end && end == rest.len)
			return; /* its line continues */
		put_line(s, o, e, err, buf_str(text), ret);
		buf_reset(text);
		rest = str_from(rest, take == end ? end + 1 : take);
	}
}

static void note_shown(struct stream_lines *s, const struct event *e, struct stream_shown shown)
{
	AUTO_BUF key = BUF_INIT;

	if (e->end.ok)
		return;
	add_key(&key, e->path, e->attempt);
	void **place = map_put(&s->failed, &s->arena, buf_str(&key));
	*place = *place ? *place : arena_new(&s->arena, struct stream_shown);
	*(struct stream_shown *)*place = shown;
}

/* What had no line end is a line all the same. */
static void finish(struct stream_lines *s, const struct event *e, struct buf *ret)
{
	size_t at = find(s, e->path);

	if (at == s->open.len) {
		note_shown(s, e, (struct stream_shown){ 0 });
		return;
	}
	struct stream *o = s->open.at[at];
	for (int err = 0; err < 2; err++)
		if (o->text[err].len)
			put_line(s, o, e, err, buf_str(&o->text[err]), ret);
	tell_left_out(s, o, e, ret);
	note_shown(s, e, o->shown);
	stream_free(o);
	s->open.at[at] = s->open.at[--s->open.len];
}

void stream_lines_event(struct stream_lines *s, const struct event *e, struct buf *ret)
{
	if (e->kind == EVENT_RUN_START) {
		buf_reset(&s->run);
		buf_add(&s->run, e->run.id);
	} else if (e->kind == EVENT_COMMAND_OUTPUT) {
		feed(s, e, ret);
	} else if (e->kind == EVENT_COMMAND_DONE) {
		finish(s, e, ret);
	}
}
