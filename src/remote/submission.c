#include "remote/submission.h"

#include <inttypes.h>

enum { NAME_RUN_MAX = 80, NAME_GENERATION = 8 };

struct str submission_name(struct str run, struct str generation, struct arena *a)
{
	return arena_printf(a, "roux-%.*s-%.*s",
		STR(str_sub(run, 0, MIN(run.len, (size_t)NAME_RUN_MAX))),
		STR(str_sub(generation, 0, MIN(generation.len, (size_t)NAME_GENERATION))));
}

/* What tells the job of one worker from all others. */
static struct str submission_comment(const struct submission *s, struct arena *a)
{
	return arena_printf(a, "roux %.*s %.*s w%.*s", STR(s->run), STR(s->generation), STR(s->id));
}

static const char *const *words(const struct table *t, const struct submission *s, struct str name,
	struct arena *a, struct report *r)
{
	const char *dir = arena_printf(a, "%.*s/w/%.*s", STR(s->dir), STR(s->id)).p;
	const struct table_values v = { .name = name.p,
		.comment = submission_comment(s, a).p,
		.log = arena_printf(a, "%s/log", dir).p,
		.script = arena_printf(a, "%s/script", dir).p,
		.host = arena_cstr(a, s->host),
		.roux = arena_cstr(a, s->roux),
		.dir = dir,
		.shape = s->shape };

	return table_words(t, WORDS_SUBMIT, &v, a, r);
}

const char *const *submission_words(
	const struct table *t, const struct submission *s, struct arena *a, struct report *r)
{
	return words(t, s, submission_name(s->run, s->generation, a), a, r);
}

const char *const *submission_example(const struct table *t, const struct shape *shape,
	struct str roux, struct arena *a, struct report *r)
{
	struct submission s = { .run = S("<run>"),
		.generation = S("<generation>"),
		.id = S("<id>"),
		.dir = S("<dir>"),
		.roux = roux,
		.host = t->hosts[0] ? S("<host>") : S(""),
		.shape = shape };

	/* What stands for the generation is not cut as a generation is. */
	return words(t, &s, S("roux-<run>-<generation>"), a, r);
}

void submission_script(const struct submission *s, struct buf *ret)
{
	AUTO_BUF dir = BUF_INIT;

	buf_printf(&dir, "%.*s/w/%.*s", STR(s->dir), STR(s->id));
	buf_adds(ret, "#!/bin/sh\nexec ");
	table_quote(ret, s->roux);
	buf_adds(ret, " worker ");
	table_quote(ret, buf_str(&dir));
	buf_addc(ret, '\n');
}

/* -- shapes --------------------------------------------------------------------------------------
 */

void shape_text(const struct shape *s, struct buf *b)
{
	buf_printf(b, "%" PRIu64 " cpu%s", s->cpus, s->cpus == 1 ? "" : "s");
	if (s->mem_mb) {
		buf_adds(b, ", ");
		needs_memory_text(b, s->mem_mb);
	}
	buf_adds(b, ", ");
	needs_seconds_text(b, s->time_s);
	if (s->gpus)
		buf_printf(b, ", %" PRIu64 " gpu%s", s->gpus, s->gpus == 1 ? "" : "s");
	if (s->nodes > 1)
		buf_printf(b, ", %" PRIu64 " nodes", s->nodes);
	if (s->class.len)
		buf_printf(b, ", class %.*s", STR(s->class));
}

json_t *shape_json(const struct shape *s)
{
	return needs_json(&(struct needs){ .cpus = s->cpus,
		.mem_mb = s->mem_mb,
		.time_s = s->time_s,
		.gpus = (int64_t)s->gpus,
		.nodes = MAX(s->nodes, (uint64_t)1),
		.class = s->class });
}
