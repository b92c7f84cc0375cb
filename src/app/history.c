#include "app/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/node-path.h"
#include "base/utf8.h"
#include "data/json.h"
#include "runs/dir/events.h"
#include "runs/look/look.h"

enum {
	COMMANDS_KEPT = 200000, /* more are counted and not told apart */
	PATH_BYTES = 4000,
	PATH_DEPTH = 500,
	SPANS_KEPT = 40, /* of one command: half of them the first, half the last ones */
	COMMAND_KEPT = 300,
	LABEL_KEPT = 200,
};

/* -- finding the node of a path ------------------------------------------------------------------
 */

static bool root_is(const struct history *h, struct str path)
{
	return h->graph ? str_eq(path, node_root_path(h->graph->root)) : str_eq(path, S("."));
}

/* Which child the part of a path means; *order puts siblings in the order of execution. */
static const struct node *child_of(const struct node *n, struct str part, uint64_t *order)
{
	uint64_t index = 0;

	if (str_eq(part, S("recover"))) {
		*order = UINT64_MAX;
		return n ? n->recover : NULL;
	}
	if (node_path_is_copy(part, &index)) {
		*order = index;
		return n && n->child_count ? n->children[0] : NULL;
	}
	if (!str_to_uint(part, &index))
		return NULL;
	*order = index;
	return n && index < n->child_count ? n->children[index] : NULL;
}

static struct past_node *node_make(struct history *h, struct str path)
{
	struct past_node *p = arena_new(&h->arena, struct past_node);
	void **place = map_put(&h->nodes, &h->arena, path);

	p->path = arena_str(&h->arena, path);
	*place = p;
	return p;
}

static struct past_node *node_at(struct history *h, struct str path, unsigned depth)
{
	struct past_node *p = map_get(&h->nodes, path);

	if (p || !path.len || path.len > PATH_BYTES || depth > PATH_DEPTH)
		return p;
	if (root_is(h, path)) {
		h->top = node_make(h, path);
		h->top->node = h->graph ? h->graph->root : NULL;
		return h->top;
	}
	struct str part = node_path_last(path), up = node_path_up(path);
	if (h->graph && str_eq(up, S(".")))
		up = node_root_path(h->graph->root);
	struct past_node *above = node_at(h, up, depth + 1);
	if (!above)
		return NULL;
	p = node_make(h, path);
	p->up = above;
	p->node = child_of(above->node, part, &p->order);
	vec_push(&above->below, p);
	return p;
}

/* -- events --------------------------------------------------------------------------------------
 */

static int64_t number_of(const json_t *e, const char *name)
{
	return json_integer_value(json_object_get(e, name));
}

/* Times of events are those of a clock that may have been set back. */
static uint64_t since_start(const struct history *h, uint64_t real_ms)
{
	return real_ms > h->began_ms ? real_ms - h->began_ms : 0;
}

static void add_span(struct past_node *p, struct report_span span)
{
	p->executions++;
	if (p->spans.len == SPANS_KEPT) {
		struct report_span *half = p->spans.at + SPANS_KEPT / 2;

		memmove(half, half + 1, (SPANS_KEPT / 2 - 1) * sizeof(*half));
		p->spans.len--;
	}
	vec_push(&p->spans, span);
	p->open = true;
}

static struct report_span *last_span(const struct past_node *p)
{
	return p->spans.len ? &p->spans.at[p->spans.len - 1] : NULL;
}

static void interrupt(struct past_node *p, uint64_t at_ms, enum outcome_kind outcome)
{
	struct report_span *s = last_span(p);

	if (!p->open)
		return;
	p->open = false;
	s->outcome = outcome;
	s->ms = at_ms > s->start_ms ? at_ms - s->start_ms : 0;
}

static struct str command_text(struct history *h, const json_t *argv)
{
	const char *words[64];
	size_t count = MIN(json_array_size(argv), ARRAY_SIZE(words));
	AUTO_BUF text = BUF_INIT;

	for (size_t i = 0; i < count; i++) {
		const char *word = json_string_value(json_array_get(argv, i));

		words[i] = word ? word : "";
		if (strlen(words[i]) > COMMAND_KEPT) /* what follows is not shown */
			count = i + 1;
	}
	command_display(&text, words, count);
	if (text.len <= COMMAND_KEPT)
		return arena_str(&h->arena, buf_str(&text));
	return arena_printf(&h->arena, "%.*s…", STR(utf8_cut(buf_str(&text), COMMAND_KEPT)));
}

static void on_start(struct history *h, const json_t *e, uint64_t at_ms)
{
	struct str path = look_text(e, "path");
	struct past_node *p = map_get(&h->nodes, path);

	h->commands += !p || !p->executions;
	if (!p && h->kept >= COMMANDS_KEPT)
		return;
	p = node_at(h, path, 0);
	if (!p)
		return;
	h->kept += !p->executions;
	interrupt(p, at_ms, OUTCOME_INTERRUPTED);
	if (!p->executions) {
		p->label = arena_str(&h->arena, utf8_cut(look_text(e, "label"), LABEL_KEPT));
		p->command = command_text(h, json_object_get(e, "argv"));
	}
	p->skipped = false;
	add_span(p, (struct report_span){ .start_ms = at_ms, .outcome = OUTCOME_RUNNING });
}

static void on_done(struct history *h, const json_t *e)
{
	struct past_node *p = map_get(&h->nodes, look_text(e, "path"));
	struct report_span *s = p ? last_span(p) : NULL;

	if (!s)
		return;
	bool timeout = json_is_true(json_object_get(e, "timeout"));
	s->code = (int)number_of(e, "code");
	s->signal = (int)number_of(e, "signal");
	s->ms = (uint64_t)MAX(number_of(e, "ms"), 0);
	s->outcome = timeout          ? OUTCOME_TIMEOUT
		     : !s->code       ? OUTCOME_DONE
		     : h->stopped.len ? OUTCOME_CANCELLED
				      : OUTCOME_FAILED;
	p->open = false;
}

/* A result that an earlier run, or the part of this one before a resume, already had. */
static void on_reused(struct history *h, const json_t *e, uint64_t at_ms)
{
	struct past_node *p = map_get(&h->nodes, look_text(e, "path"));

	if ((p && p->executions) || h->kept >= COMMANDS_KEPT)
		return;
	p = node_at(h, look_text(e, "path"), 0);
	if (!p)
		return;
	h->kept++;
	h->commands++;
	p->label = arena_str(&h->arena, utf8_cut(look_text(e, "label"), LABEL_KEPT));
	p->command = S("taken over from an earlier execution");
	add_span(p, (struct report_span){ .start_ms = at_ms });
	on_done(h, e);
}

static void on_node(struct history *h, const json_t *e, bool skipped)
{
	struct str path = look_text(e, "path");
	struct past_node *p = map_get(&h->nodes, path);

	if (!p && h->kept >= COMMANDS_KEPT)
		return;
	h->kept += !p;
	p = node_at(h, path, 0);
	if (!p)
		return;
	p->skipped = skipped;
	if (!skipped)
		p->retries = (uint64_t)MAX(number_of(e, "attempt"), 0);
}

/* Steps that are no commands: pauses and gates. */
static void on_step(struct history *h, const json_t *e, struct str type, uint64_t at_ms)
{
	struct str state = look_text(e, "state");
	bool waits = str_eq(type, S("step:wait:start")) || str_eq(state, S("pending"));
	bool failed = str_eq(type, S("step:wait:error")) || str_eq(state, S("denied"));
	struct past_node *p = map_get(&h->nodes, look_text(e, "path"));

	if (!p && h->kept >= COMMANDS_KEPT)
		return;
	h->kept += !p;
	p = node_at(h, look_text(e, "path"), 0);
	if (!p)
		return;
	p->first_ms = p->told ? p->first_ms : at_ms;
	p->last_ms = at_ms;
	p->told = true;
	p->outcome = waits ? OUTCOME_WAITING : failed ? OUTCOME_FAILED : OUTCOME_DONE;
}

/* The run goes on after a resume: what was running when it was cut short is over. */
static void on_run_start(struct history *h)
{
	h->stopped = S("");
	map_each (e, &h->nodes)
		interrupt(e->value, h->now_ms, OUTCOME_INTERRUPTED);
}

static void see(struct history *h, const json_t *e)
{
	struct str type = look_text(e, "type");
	uint64_t real = look_time(json_object_get(e, "ts"));

	if (real && !h->began_ms)
		h->began_ms = real;
	uint64_t at_ms = real ? since_start(h, real) : h->now_ms;
	if (str_eq(type, S("run.start")))
		on_run_start(h);
	else if (str_eq(type, S("command.start")))
		on_start(h, e, at_ms);
	else if (str_eq(type, S("command.done")))
		on_done(h, e);
	else if (str_eq(type, S("node.reused")))
		on_reused(h, e, at_ms);
	else if (str_eq(type, S("node.skipped")))
		on_node(h, e, true);
	else if (str_eq(type, S("node.retry")))
		on_node(h, e, false);
	else if (str_starts(type, S("step:wait:")) || str_eq(type, S("recipe:approval")))
		on_step(h, e, type, at_ms);
	else if (str_eq(type, S("run.cancel")))
		h->stopped = S("cancelled");
	else if (str_eq(type, S("run.kill")))
		h->stopped = S("killed");
	h->now_ms = MAX(h->now_ms, at_ms);
}

/* A line that is not an event is left out: the others are worth showing. */
static bool see_line(void *data, struct str line, uint64_t seq)
{
	AUTO_JSON *e = json_loadb(line.p, line.len, 0, NULL);

	(void)seq;
	if (json_is_object(e))
		see(data, e);
	return true;
}

struct history *history_read(const char *dir, struct graph *g, struct report *r)
{
	struct history *h = mem_new(struct history);

	h->graph = g ? graph_ref(g) : NULL;
	int n = events_each(dir, 0, see_line, h);
	if (n == 0)
		return h;
	report_errno(r, -n, "cannot read the events in %s", dir);
	history_free(h);
	return NULL;
}

void history_free(struct history *h)
{
	if (!h)
		return;
	map_each (e, &h->nodes) {
		struct past_node *p = e->value;

		vec_done(&p->below);
		vec_done(&p->spans);
	}
	graph_unref(h->graph);
	arena_done(&h->arena);
	free(h);
}
