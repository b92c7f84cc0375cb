#include "render/terminal/lines.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/node-path.h"
#include "base/plain-text.h"
#include "base/shell-words.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "graph/step.h"
#include "render/terminal/stream.h"

enum {
	FLUSH_BYTES = 4096,
	COMMAND_BYTES = 120, /* of a command in its line: a script may be an argument */
	BEAT_AFTER_MS = 30000,
	BEAT_LINES = 5,
};

/* A loop of steps that has not ended. */
struct loop_row {
	struct buf path;
	uint64_t count, done, failed, started_ms; /* count: 0 when it is not known */
};

/* A command that runs. */
struct running_row {
	struct buf name; /* "[1.0 gpt] " */
	struct buf path;
	uint64_t started_ms;
};

struct plain_lines {
	int fd;
	struct buf text;
	VEC(struct loop_row) loops;
	VEC(struct running_row) running; /* in order of start */
	bool stopping;                   /* the run was cancelled or killed */
	bool pausing;                    /* it waits at a gate */
};

struct plain_lines *plain_lines_new(int fd)
{
	struct plain_lines *l = mem_new(struct plain_lines);

	l->fd = fd;
	return l;
}

static void end_running(struct plain_lines *l, size_t at)
{
	buf_done(&l->running.at[at].name);
	buf_done(&l->running.at[at].path);
	l->running.len--;
	for (size_t i = at; i < l->running.len; i++)
		l->running.at[i] = l->running.at[i + 1];
}

void plain_lines_free(struct plain_lines *l)
{
	if (!l)
		return;
	plain_lines_flush(l);
	vec_each (row, &l->loops)
		buf_done(&row->path);
	vec_done(&l->loops);
	while (l->running.len)
		end_running(l, 0);
	vec_done(&l->running);
	buf_done(&l->text);
	free(l);
}

void plain_lines_flush(struct plain_lines *l)
{
	text_write(l->fd, buf_str(&l->text));
	buf_reset(&l->text);
}

/* -- loops ---------------------------------------------------------------------------------------
 */

static struct loop_row *find_loop(struct plain_lines *l, struct str path)
{
	vec_each (row, &l->loops)
		if (str_eq(buf_str(&row->path), path))
			return row;
	return NULL;
}

/* The loop or the parallel group that the node is a part of. */
static struct loop_row *loop_around(struct plain_lines *l, struct str path)
{
	return str_eq(path, S(".")) ? NULL : find_loop(l, node_path_up(path));
}

static void begin_loop(struct plain_lines *l, const struct event *e)
{
	struct loop_row row = { .count = e->count, .started_ms = e->mono_ms };

	if (find_loop(l, e->path))
		return;
	buf_add(&row.path, e->path);
	vec_push(&l->loops, row);
}

static void end_loop(struct plain_lines *l, struct loop_row *row)
{
	buf_done(&row->path);
	*row = l->loops.at[l->loops.len - 1];
	l->loops.len--;
}

/* "37/200, 12.5/s" */
static void add_progress(struct buf *b, const struct loop_row *row, uint64_t now_ms)
{
	if (row->count)
		buf_printf(b, "%" PRIu64 "/%" PRIu64, row->done, row->count);
	else
		buf_printf(b, "%" PRIu64 " round%s", row->done, row->done == 1 ? "" : "s");
	text_rate(b, row->done, now_ms - row->started_ms);
}

static void add_start(struct buf *b, const struct event *e)
{
	AUTO_BUF command = BUF_INIT;
	size_t count = 0;

	while (e->argv && e->argv[count])
		count++;
	command_display(&command, e->argv, count);
	struct str head = utf8_cut(buf_str(&command), COMMAND_BYTES);
	node_name(b, e);
	buf_adds(b, "start ");
	text_plain(b, head);
	if (head.len < command.len)
		buf_adds(b, "…");
}

static void add_done(struct buf *b, const struct event *e)
{
	node_name(b, e);
	if (e->end.ok)
		buf_adds(b, "done");
	else if (e->end.timeout)
		buf_adds(b, "timed out");
	else if (e->end.signal)
		buf_printf(b, "failed with signal %d", e->end.signal);
	else if (e->end.code)
		buf_printf(b, "failed with code %d", e->end.code);
	else
		buf_adds(b, "failed");
	buf_adds(b, e->end.timeout && !e->end.ok ? " after " : " in ");
	clock_duration(b, e->end.ms);
}

static void add_stop(struct buf *b, const struct event *e, const char *what)
{
	buf_printf(b, "roux: run %s", what);
	if (e->signal)
		buf_printf(b, " by signal %d", e->signal);
}

/* What only steps have. False: there is nothing to say. */
static bool add_step(struct buf *b, const struct event *e)
{
	if (e->kind == EVENT_STEP_RETRY) {
		node_name(b, e);
		buf_printf(b, "retry, attempt %" PRIu64 ", in ", e->attempt);
		clock_duration(b, e->step.ms);
	} else if (e->kind == EVENT_WAIT_START) {
		node_name(b, e);
		buf_adds(b, "wait for ");
		clock_duration(b, e->step.ms);
	} else if (e->kind == EVENT_RECIPE_APPROVAL) {
		node_name(b, e);
		buf_adds(b, e->step.answer == GATE_APPROVED ? "approved"
			    : e->step.answer == GATE_DENIED ? "denied"
							    : "waits for approval");
	} else {
		return false;
	}
	return true;
}

/* "lint: 1 of 6 failed" */
static void add_failed(struct buf *b, const struct loop_row *row, const struct event *e)
{
	/* The label of a repeated node stands on what is repeated. */
	const struct node *body = node_body(e->node);
	struct str name = e->label.len ? e->label : body->label_parts ? S("") : body->label;

	if (name.len) {
		text_plain(b, name);
		buf_adds(b, ": ");
	}
	buf_printf(b, "%" PRIu64 " of %" PRIu64 " failed", row->failed, MAX(row->count, row->done));
}

/* Of templates only groups in which something failed have a line. */
static bool add_template_group(struct plain_lines *l, const struct event *e)
{
	struct loop_row *row = find_loop(l, e->path);
	bool failed = false;

	if (e->kind == EVENT_NODE_START) {
		if (node_joins(e->node) || node_repeats(e->node))
			begin_loop(l, e);
		return false;
	}
	if (row && row->failed) {
		node_name(&l->text, e);
		add_failed(&l->text, row, e);
		failed = true;
	}
	if (row)
		end_loop(l, row);
	return failed;
}

static const char *loop_end(const struct plain_lines *l, const struct event *e)
{
	if (e->end.ok)
		return "done: ";
	if (e->end.outcome != NODE_END_CANCELLED)
		return "failed: ";
	return l->pausing && !l->stopping ? "paused: " : "cancelled: ";
}

/* A stage or a loop begins or ends. False: nothing that is worth a line. */
static bool add_group(struct plain_lines *l, const struct event *e)
{
	bool begins = e->kind == EVENT_NODE_START;
	struct loop_row *around = begins ? NULL : loop_around(l, e->path);

	/* A round that was cut short has come to no end. */
	if (around && e->end.outcome != NODE_END_CANCELLED) {
		around->done++;
		around->failed += !e->end.ok;
	}
	if (e->node && !e->node->step)
		return add_template_group(l, e);
	if (!e->node)
		return false;
	if (node_repeats(e->node)) {
		struct loop_row *row = find_loop(l, e->path);

		if (begins) {
			begin_loop(l, e);
			if (!e->count)
				return false;
			node_name(&l->text, e);
			buf_printf(
				&l->text, "%" PRIu64 " item%s", e->count, e->count == 1 ? "" : "s");
			return true;
		}
		if (!row)
			return false;
		node_name(&l->text, e);
		if (row->failed) {
			add_failed(&l->text, row, e);
		} else {
			buf_adds(&l->text, loop_end(l, e));
			add_progress(&l->text, row, e->mono_ms);
		}
		end_loop(l, row);
		return true;
	}
	if (!begins || !e->node->step->stage.name.len)
		return false;
	node_name(&l->text, e);
	buf_adds(&l->text, "stage");
	return true;
}

/* A round of a loop has come to its end. */
static void count_round(struct plain_lines *l, const struct event *e, bool tell)
{
	struct loop_row *row = loop_around(l, e->path);
	bool failed = (e->kind == EVENT_COMMAND_DONE || e->kind == EVENT_NODE_REUSED) && !e->end.ok;

	if (!row)
		return;
	/* What a cancel ended is not a failure, and the round has come to no end. */
	bool ended = !(failed && l->stopping && e->end.signal);
	row->done += ended;
	row->failed += ended && failed;
	if (!tell || !e->node || !e->node->step)
		return;
	buf_adds(&l->text, " (");
	add_progress(&l->text, row, e->mono_ms);
	buf_addc(&l->text, ')');
}

static void note_start(struct plain_lines *l, const struct event *e)
{
	struct running_row row = { .started_ms = e->mono_ms };

	node_name(&row.name, e);
	buf_add(&row.path, e->path);
	vec_push(&l->running, row);
}

static void note_end(struct plain_lines *l, const struct event *e)
{
	for (size_t i = 0; i < l->running.len; i++) {
		if (!str_eq(buf_str(&l->running.at[i].path), e->path))
			continue;
		end_running(l, i);
		return;
	}
}

void plain_lines_beat(struct plain_lines *l, uint64_t mono_ms)
{
	size_t old = 0;

	while (old < l->running.len && mono_ms - l->running.at[old].started_ms >= BEAT_AFTER_MS)
		old++;
	for (size_t i = 0; i < MIN(old, (size_t)BEAT_LINES); i++) {
		buf_add(&l->text, buf_str(&l->running.at[i].name));
		buf_adds(&l->text, "still running, for ");
		clock_duration(&l->text, mono_ms - l->running.at[i].started_ms);
		buf_addc(&l->text, '\n');
	}
	if (old > BEAT_LINES)
		buf_printf(&l->text, "%zu more are still running\n", old - BEAT_LINES);
	plain_lines_flush(l);
}

/* It had not ended after all. */
static void take_back(struct plain_lines *l, const struct event *e)
{
	struct loop_row *row = loop_around(l, e->path);

	if (row && row->done)
		row->done--;
	if (row && row->failed)
		row->failed--;
}

/* A worker that has begun, or is given up; the rest is in the events. */
static bool add_worker(struct buf *b, const struct event *e)
{
	const struct event_away *a = &e->away;

	if (e->kind != EVENT_WORKER_START && e->kind != EVENT_WORKER_LOST)
		return false;
	buf_printf(b, "worker %" PRIu64 " %s on %.*s (job %.*s", a->worker,
		e->kind == EVENT_WORKER_START ? "started" : "was lost", STR(a->host),
		STR(a->job.len ? a->job : S("unknown")));
	if (e->kind == EVENT_WORKER_START) {
		buf_adds(b, ", queued ");
		clock_duration(b, a->queued_ms);
	} else if (a->why.len) {
		buf_printf(b, ": %.*s", STR(a->why));
	}
	buf_addc(b, ')');
	return true;
}

static void add_reused(struct buf *b, const struct event *e)
{
	node_name(b, e);
	if (e->end.ok)
		buf_adds(b, "reused (succeeded earlier)");
	else if (e->end.timeout)
		buf_adds(b, "reused (failed earlier: time limit)");
	else
		buf_printf(b, "reused (failed earlier: exit %d)", e->end.code);
}

void plain_lines_event(void *lines, const struct event *e)
{
	struct plain_lines *l = lines;
	struct buf *b = &l->text;

	switch (e->kind) {
	case EVENT_COMMAND_START:
		note_start(l, e);
		add_start(b, e);
		break;
	case EVENT_COMMAND_DONE:
		note_end(l, e);
		add_done(b, e);
		count_round(l, e, true);
		break;
	case EVENT_NODE_SKIPPED:
		count_round(l, e, false);
		node_name(b, e);
		buf_adds(b, "skipped");
		break;
	case EVENT_NODE_REUSED:
		count_round(l, e, false);
		add_reused(b, e);
		break;
	case EVENT_RUN_MESSAGE:
		buf_printf(b, "message of %" PRIu64 " byte%s", e->message.bytes,
			e->message.bytes == 1 ? "" : "s");
		break;
	case EVENT_NODE_RETRY:
		take_back(l, e);
		if (e->node && e->node->step)
			return; /* told when its pause began */
		node_name(b, e);
		buf_printf(b, "retry, attempt %" PRIu64, e->attempt);
		break;
	case EVENT_RUN_CANCEL:
		l->stopping = true;
		add_stop(b, e, "cancelled");
		break;
	case EVENT_RUN_KILL:
		l->stopping = true;
		add_stop(b, e, "killed");
		break;
	case EVENT_NODE_START:
	case EVENT_NODE_DONE:
		if (!add_group(l, e))
			return;
		break;
	case EVENT_RUN_START: /* for the second time when it has paused */
		l->stopping = l->pausing = false;
		return;
	case EVENT_COMMAND_OUTPUT:
	case EVENT_RUN_ANSWERED: /* the gate says it */
	case EVENT_RUN_DONE:
	case EVENT_RUN_FAILED: /* the host says why, with all there is to say */
		return;
	case EVENT_COMMAND_LEFT:
		left_line(b, e);
		break;
	case EVENT_WORKER_SUBMIT ... EVENT_COMMAND_WAITS:
	case EVENT_WORKER_LOST:
		if (!add_worker(b, e))
			return;
		break;
	case EVENT_RECIPE_START ... EVENT_STEP_SKIP:
		l->pausing |= e->kind == EVENT_RECIPE_APPROVAL && e->step.answer == GATE_PENDING;
		if (!add_step(b, e))
			return;
		break;
	}
	buf_addc(b, '\n');
	if (b->len > FLUSH_BYTES)
		plain_lines_flush(l);
}
