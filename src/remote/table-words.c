/* What an executor's templates of words become, and what the words mean that its programs print. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/user.h"
#include "remote/table.h"
#include "template/braces.h"

/* -- shapes --------------------------------------------------------------------------------------
 */

const struct table_class *table_class(const struct table *t, struct str name)
{
	for (size_t i = 0; i < t->class_count; i++)
		if (str_eq(t->classes[i].name, name))
			return &t->classes[i];
	return NULL;
}

bool table_lacks_class(const struct table *t, const struct needs *n, struct buf *text)
{
	if (!n || !n->class.len || table_class(t, n->class))
		return false;
	buf_printf(text,
		"the executor '%.*s' has no class '%.*s'; its usual allocation is asked for",
		STR(t->name), STR(n->class));
	return true;
}

static bool fits_into(const struct needs *n, const struct shape *s)
{
	return n->cpus <= s->cpus && n->mem_mb <= s->mem_mb && n->nodes <= 1 &&
	       (n->gpus < 0 || (uint64_t)n->gpus <= s->gpus);
}

struct shape table_shape(
	const struct table *t, const struct needs *n, struct str fallback, bool *own)
{
	const struct table_class *usual = table_class(t, fallback);
	const struct table_class *named = n ? table_class(t, n->class) : NULL;
	struct shape s = named ? named->shape : usual ? usual->shape : t->shape;

	*own = !named || named == usual;
	if (!n || fits_into(n, &s) || (t->hosts[0] && n->nodes <= 1))
		return s;
	*own = false;
	s.cpus = n->cpus ? n->cpus : n->nodes > 1 ? s.cpus : MIN(s.cpus, (uint64_t)1);
	s.mem_mb = n->mem_mb ? n->mem_mb : s.mem_mb;
	s.gpus = n->gpus >= 0 ? (uint64_t)n->gpus : s.gpus;
	s.nodes = n->nodes ? n->nodes : s.nodes;
	return s;
}

bool shape_same(const struct shape *a, const struct shape *b)
{
	return a->cpus == b->cpus && a->mem_mb == b->mem_mb && a->time_s == b->time_s &&
	       a->nodes == b->nodes && a->gpus == b->gpus && str_eq(a->class, b->class);
}

/* -- words ---------------------------------------------------------------------------------------
 */

static void set(json_t *values, const char *name, const char *text)
{
	json_object_set_new(values, name, json_from_str(str_of(text)));
}

static void set_number(json_t *values, const char *name, uint64_t n, bool empty)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%" PRIu64, n);
	set(values, name, empty ? "" : text);
}

enum { WARN_S = 120 };

void table_quote(struct buf *b, struct str word)
{
	buf_addc(b, '\'');
	for (size_t i = 0; i < word.len; i++)
		if (word.p[i] == '\'')
			buf_adds(b, "'\\''");
		else
			buf_addc(b, word.p[i]);
	buf_addc(b, '\'');
}

static void set_quoted(json_t *values, const char *name, const char *text)
{
	AUTO_BUF word = BUF_INIT;

	table_quote(&word, str_of(text));
	set(values, name, buf_cstr(&word));
}

static json_t *values_of(const struct table_values *v)
{
	const struct shape *s = v->shape;
	json_t *values = json_object();
	struct arena names = ARENA_INIT;
	char text[32];

	set(values, "name", v->name);
	set(values, "comment", v->comment);
	set(values, "log", v->log);
	set(values, "script", v->script);
	set(values, "host", v->host);
	set(values, "roux", v->roux);
	set(values, "dir", v->dir);
	set_quoted(values, "quoted_roux", v->roux);
	set_quoted(values, "quoted_dir", v->dir);
	json_object_set_new(values, "user", json_from_str(user_name(&names)));
	arena_done(&names);
	if (!s)
		return values;
	(void)snprintf(text, sizeof(text), "%" PRIu64 "M", s->mem_mb);
	set(values, "mem", s->mem_mb ? text : "");
	set_number(values, "mem_mb", s->mem_mb, !s->mem_mb);
	set_number(values, "nodes", MAX(s->nodes, (uint64_t)1), false);
	set_number(values, "cpus", s->cpus, false);
	set_number(values, "minutes", MAX((s->time_s + 59) / 60, (uint64_t)1), false);
	set_number(values, "seconds", s->time_s, false);
	set_number(values, "warn", MAX(MIN((uint64_t)WARN_S, s->time_s / 4), (uint64_t)1), false);
	set_number(values, "gpus", s->gpus, !s->gpus);
	json_object_set_new(values, "partition", json_from_str(s->partition));
	json_object_set_new(values, "account", json_from_str(s->account));
	return values;
}

static size_t count_of(const char *const *list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

/* A word that is nothing but {extra} or {jobs} stands for all of them. */
static const char *const *list_of(const char *word, const struct table_values *v, bool *is)
{
	bool extra = strcmp(word, "{extra}") == 0;

	*is = extra || strcmp(word, "{jobs}") == 0;
	return !*is ? NULL : extra ? (v->shape ? v->shape->extra : NULL) : v->jobs;
}

const char *const *table_words(const struct table *t, enum table_words which,
	const struct table_values *v, struct arena *a, struct report *r)
{
	const char *const *words = which == WORDS_SUBMIT   ? t->submit
				   : which == WORDS_STATUS ? t->status
							   : t->cancel;
	AUTO_JSON *values = values_of(v);
	struct scope scope = { .values = values };
	size_t room = count_of(words) + (v->shape ? count_of(v->shape->extra) : 0) +
		      count_of(v->jobs) + 1;
	const char **made = arena_array(a, const char *, room);
	size_t n = 0;

	for (size_t i = 0; words[i]; i++) {
		struct doc *doc = arena_new(a, struct doc);
		struct place *place = arena_new(a, struct place);
		AUTO_BUF text = BUF_INIT;
		bool list;

		const char *const *all = list_of(words[i], v, &list);
		for (size_t k = 0; all && all[k]; k++)
			made[n++] = all[k];
		if (list)
			continue;
		doc->source = (struct source){ t->name, str_of(words[i]) };
		doc->plain = true;
		place->doc = doc;
		const struct text *compiled =
			braces_text(a, place, str_of(words[i]), DIALECT_NOW, r);
		if (!compiled || !text_resolve(compiled, &scope, &text, r))
			return NULL;
		if (text.len)
			made[n++] = arena_cstr(a, buf_str(&text));
	}
	made[n] = NULL;
	return made;
}

/* -- machines ------------------------------------------------------------------------------------
 */

enum { HOST_MAX = 55, SLOTS_MAX = 4096 };

static bool is_id_char(char c)
{
	return ascii_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
	       (c && strchr("_.:-", c));
}

bool table_host(struct str text, struct str *name, uint64_t *slots)
{
	size_t colon = str_find(text, ':', 0);

	*name = str_sub(text, 0, colon);
	*slots = 0;
	for (size_t i = 0; i < name->len; i++)
		if (!is_id_char(name->p[i]))
			return false;
	if (colon < text.len && (!str_to_uint(str_from(text, colon + 1), slots) || !*slots))
		return false;
	return name->len && name->len <= HOST_MAX && name->p[0] != '-' && *slots <= SLOTS_MAX;
}

uint64_t table_host_slots(const struct table *t, size_t i, struct str *name)
{
	uint64_t slots = 0;

	(void)table_host(str_of(t->hosts[i]), name, &slots);
	return slots ? slots : t->host_cpus;
}

void table_size_hosts(struct table *t)
{
	uint64_t most = 0;
	struct str name;
	size_t count = 0;

	t->host_cpus = t->shape.cpus;
	t->slots = 0;
	for (; t->hosts[count]; count++) {
		uint64_t slots = table_host_slots(t, count, &name);

		t->slots += slots;
		most = MAX(most, slots);
	}
	t->workers = MIN(t->workers, count);
	t->shape.cpus = most;
	for (size_t i = 0; i < t->class_count; i++)
		t->classes[i].shape.cpus = most;
}

bool table_ends_by_cancel(const struct table *t)
{
	return t->hosts[0] && !t->status[0];
}

bool table_lacks_hosts(const struct table *t, struct report *r)
{
	if (t->hosts[0])
		return false;
	for (size_t i = 0; t->submit[i]; i++) {
		if (!str_contains(str_of(t->submit[i]), S("{host}")))
			continue;
		report_error(
			r, (struct where){ 0 }, "the executor '%.*s' has no `hosts`", STR(t->name));
		report_hint(r,
			"[executors.%.*s] in config.toml names its machines: hosts = [\"n1\", "
			"\"n2:8\"]",
			STR(t->name));
		return true;
	}
	return false;
}

/* -- what the programs print ---------------------------------------------------------------------
 */

enum { JOB_ID_MAX = 64 };

struct str table_job_id(struct str printed)
{
	size_t len = 0;

	while (len < printed.len && is_id_char(printed.p[len]))
		len++;
	bool ends = len == printed.len || (printed.p[len] && strchr("; \t\r\n", printed.p[len]));
	return len && len <= JOB_ID_MAX && ends && printed.p[0] != '-' ? str_sub(printed, 0, len)
								       : S("");
}

static enum batch_state table_state(const struct table *t, struct str word)
{
	for (size_t i = 1; i < BATCH_STATES; i++)
		for (size_t k = 0; t->states[i] && t->states[i][k]; k++)
			if (str_eq(word, str_of(t->states[i][k])))
				return (enum batch_state)i;
	return BATCH_UNSURE;
}

/* The column `number` of a line, from 1; empty when there is none. The last one that is asked for
 * may have separators in it: a comment does. */
static struct str column(const struct table *t, struct str line, unsigned number, bool rest)
{
	size_t at = 0;

	for (unsigned n = 1; number; n++) {
		while (!t->separator && at < line.len && (line.p[at] == ' ' || line.p[at] == '\t'))
			at++;
		size_t end = at;
		while (end < line.len && (t->separator ? line.p[end] != t->separator
						       : line.p[end] != ' ' && line.p[end] != '\t'))
			end++;
		if (n == number)
			return str_trim(str_sub(line, at, (rest ? line.len : end) - at));
		if (end >= line.len)
			break;
		at = end + 1;
	}
	return S("");
}

void table_jobs(const struct table *t, struct str printed,
	void (*see)(void *data, const struct table_job *job), void *data)
{
	unsigned skip = t->skip;

	for (size_t at = 0; at < printed.len;) {
		size_t end = str_find(printed, '\n', at);
		struct str line = str_sub(printed, at, end - at);

		at = end + 1;
		if (skip) {
			skip--;
			continue;
		}
		struct table_job job = {
			.id = table_job_id(column(t, line, t->columns[0], false)),
			.state = column(t, line, t->columns[1], false),
			.node = column(t, line, t->columns[2], false),
			.reason = column(t, line, t->columns[3], false),
			.comment = column(t, line, t->columns[4], true),
		};
		if (!job.id.len || !job.state.len)
			continue;
		job.means = table_state(t, job.state);
		see(data, &job);
	}
}
