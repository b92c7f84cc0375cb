/* What a page asks for when it opens its stream. */
#include <inttypes.h>
#include <stdlib.h>

#include "app/logs.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/run-status.h"
#include "data/json-out.h"
#include "hosts/serve/site/feed.h"

static struct str next_part(struct str *s)
{
	size_t end = str_find(*s, ':', 0);
	struct str part = str_sub(*s, 0, end);

	*s = end < s->len ? str_from(*s, end + 1) : S("");
	return part;
}

static bool same_run(struct stream *s, struct str id)
{
	if (!id.len || (s->run.len && !str_eq(s->run, id)))
		return false;
	s->run = arena_str(&s->arena, id);
	return true;
}

static bool read_log_topic(struct stream *s, struct str rest)
{
	struct str id = next_part(&rest), path = next_part(&rest), stream = next_part(&rest);

	if (s->wants_log || !same_run(s, id))
		return false;
	s->wants_log = true;
	s->log.node = str_eq(path, S("root")) ? S("") : arena_str(&s->arena, path);
	s->log.stream =
		str_eq(stream, S("err")) || str_eq(stream, S("run-err")) ? LOG_STDERR : LOG_STDOUT;
	if (!str_eq(stream, S("out")) && !str_eq(stream, S("err")) &&
		!str_eq(stream, S("run-out")) && !str_eq(stream, S("run-err")))
		return false;
	if (str_eq(rest, S("END")) || !rest.len) {
		s->from_end = true;
		return true;
	}
	return str_to_uint(rest, &s->offset);
}

/* The query of a list behind `runs:`; the texts of the filter are the stream's. */
static bool read_filter(struct stream *s, struct http_request *q, struct str query)
{
	struct str *const texts[] = { &s->filter.status, &s->filter.recipe, &s->filter.any };

	if (!ask_filter_of(q, ask_fields(q, query), &s->filter))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		*texts[i] = arena_str(&s->arena, *texts[i]);
	return true;
}

bool stream_topic(struct stream *s, struct http_request *q, struct str topic)
{
	struct str rest = topic, kind = next_part(&rest);

	if (str_eq(kind, S("runs"))) {
		s->wants_runs = true;
		return read_filter(s, q, rest);
	}
	if (str_eq(kind, S("run"))) {
		s->wants_run = true;
		return same_run(s, rest);
	}
	if (str_eq(kind, S("nodes")) && s->node_count < TOPICS) {
		struct nodes_topic *t = &s->nodes[s->node_count++];

		if (!same_run(s, next_part(&rest)))
			return false;
		t->path = arena_str(&s->arena, next_part(&rest));
		return !rest.len || str_to_uint(rest, &t->from);
	}
	return str_eq(kind, S("log")) && read_log_topic(s, rest);
}

/* G.SEQ.OFFSET: where the page left off. False: it is not such an id. */
static bool read_id(
	struct str id, struct str *ret_generation, uint64_t *ret_seq, uint64_t *ret_offset)
{
	size_t last = id.len, middle;

	while (last && id.p[last - 1] != '.')
		last--;
	if (!last || !str_to_uint(str_from(id, last), ret_offset))
		return false;
	for (middle = last - 1; middle && id.p[middle - 1] != '.'; middle--)
		;
	if (!middle || !str_to_uint(str_sub(id, middle, last - 1 - middle), ret_seq))
		return false;
	*ret_generation = str_sub(id, 0, middle - 1);
	return true;
}

void stream_begin_run(struct stream *s, struct http_request *q)
{
	AUTO_REPORT r = REPORT_INIT;
	struct str last = http_request_header(q, "Last-Event-ID"), generation = S("");
	struct run_model *m = run_models_get(s->feeds->site->models, s->run, &r);
	uint64_t seq = 0, offset = 0;

	if (!last.len)
		(void)http_query(q, "last", &last);
	if (!m)
		return;
	s->generation = arena_str(&s->arena, run_model_generation(m));
	bool fits = last.len && read_id(last, &generation, &seq, &offset) &&
		    str_eq(generation, s->generation) && seq <= run_model_seq(m) &&
		    run_model_seq(m) - seq <= BEHIND_MAX;
	s->seq = fits ? seq : 0;
	/* Before the first event: each has it in its id. */
	if (s->wants_log && fits && offset)
		s->offset = offset;
	else if (s->from_end)
		stream_find_end(s, m);
	if (last.len && !fits)
		stream_event(s, "resync", S("{}"));
}
