#include "app/record/freeze.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "app/record/beginning.h"
#include "app/record/masked.h"
#include "app/record/secrets.h"
#include "base/atomic-file.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "data/base64.h"
#include "data/big.h"
#include "runs/dir/begun.h"
#include "runs/dir/manifest.h"
#include "runs/dir/open.h"
#include "runs/dir/run-dir.h"

/* -EEXIST: it is there. */
static int write_first(int at, const char *name, struct str text, bool durable)
{
	AUTO_CLOSE int fd =
		openat(at, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	int n = fd_write_all(fd, text);
	if (n == 0 && durable && (fsync(fd) < 0 || fsync(at) < 0))
		n = -errno;
	if (n < 0)
		(void)unlinkat(at, name, 0);
	return n;
}

/* `fresh`: the directory has no file of that name yet. */
static int write_text(int dir, const struct freeze_text *file, bool fresh, bool durable)
{
	const char *slash = strrchr(file->name, '/');
	const char *last = slash ? slash + 1 : file->name;
	AUTO_CLOSE int inner = -1;

	if (slash) {
		AUTO_BUF in = BUF_INIT;

		buf_add(&in, (struct str){ file->name, (size_t)(slash - file->name) });
		inner = run_open_dir_at(dir, buf_cstr(&in), true);
		if (inner < 0)
			return inner;
	}
	int at = slash ? inner : dir;
	int n = file->first ? write_first(at, last, file->text, durable) : -EEXIST;
	if (n != -EEXIST)
		return n;
	/* A name that is new costs less than two. */
	AUTO_CLOSE int spare = fresh && !durable ? atomic_spare(at) : -1;
	return atomic_write_at(at, last, file->text,
		&(struct atomic_options){ .quick = true, .durable = durable, .spare = &spare });
}

static bool report_text_lost(struct report *r, int error, struct str dir, const char *name)
{
	return report_fault(r, -error, "cannot write %.*s/%s", STR(dir), name);
}

static int open_own(struct str dir)
{
	AUTO_BUF path = BUF_INIT;

	buf_add(&path, dir);
	return run_open_dir(buf_cstr(&path), ".", false);
}

bool freeze_files(
	const struct launch *l, const struct freeze_text *files, size_t count, struct report *r)
{
	bool fresh = l->claim.own >= 0;
	AUTO_CLOSE int opened = fresh ? -1 : open_own(l->claim.dir);
	int at = fresh ? l->claim.own : opened;

	for (size_t i = 0; i < count; i++) {
		int n = at < 0 ? at : write_text(at, &files[i], fresh, l->asked.durable);

		if (n < 0)
			return report_text_lost(r, n, l->claim.dir, files[i].name);
	}
	return true;
}

bool freeze_file(struct str dir, const char *name, struct str text, bool durable, struct report *r)
{
	AUTO_CLOSE int at = open_own(dir);
	int n = at < 0 ? at
		       : write_text(at, &(struct freeze_text){ name, text, false }, false, durable);

	return n == 0 || report_text_lost(r, n, dir, name);
}

typedef json_t *reader_fn(const struct source *source, struct report *r);

static json_t *read_with(
	reader_fn *read, struct str dir, const char *name, bool optional, struct report *r)
{
	AUTO_BUF path = BUF_INIT;
	AUTO_BUF text = BUF_INIT;

	buf_add(&path, dir);
	int n = run_read(buf_cstr(&path), name, RUN_FILE_MAX, &text);
	buf_printf(&path, "/%s", name);
	if (n == -ENOENT && optional)
		return NULL;
	if (n < 0) {
		report_errno(r, -n, "cannot read %s", buf_cstr(&path));
		return NULL;
	}
	return read(&(struct source){ buf_str(&path), buf_str(&text) }, r);
}

json_t *freeze_json(struct str dir, const char *name, bool optional, struct report *r)
{
	return read_with(json_read, dir, name, optional, r);
}

/* The values: a run that continues has the same digits, also beyond 64 bits. */
static json_t *values_json(struct str dir, bool optional, struct report *r)
{
	return read_with(json_read_big, dir, "values.json", optional, r);
}

/* -- the graph -----------------------------------------------------------------------------------
 */

static json_t *source_json(struct str path, struct str text)
{
	char sum[SHA256_HEX];
	json_t *source = json_object();

	sha256_hex(text, sum);
	json_object_set_new(source, "path", json_from_str(path));
	json_object_set_new(source, "sha256", json_string(sum));
	if (utf8_valid(text)) {
		json_object_set_new(source, "text", json_from_str(text));
	} else {
		AUTO_BUF coded = BUF_INIT;

		base64_write(&coded, text);
		json_object_set_new(source, "base64", json_from_str(buf_str(&coded)));
	}
	return source;
}

static json_t *sources_json(const struct subject *s)
{
	json_t *sources = json_array();

	if (!s->recipe) {
		json_array_append_new(
			sources, source_json(s->graph->doc.source.name, s->graph->doc.source.text));
		return sources;
	}
	/* The entry was read first. */
	vec_each (f, &s->recipe->set->files)
		json_array_append_new(sources, source_json((*f)->path, (*f)->doc.source.text));
	return sources;
}

json_t *freeze_graph_json(const struct subject *s)
{
	json_t *graph = json_object();

	json_object_set_new(graph, "format",
		json_string(s->recipe ? recipe_format_name(s->recipe->file->format) : "template"));
	if (s->graph->dialect == DIALECT_0_9)
		json_object_set_new(graph, "dialect", json_string("0.9"));
	if (s->recipe) {
		json_object_set_new(graph, "layer", json_integer(s->recipe->layer));
		json_object_set_new(graph, "agent_dir", json_from_str(s->dirs.agent));
		json_object_set_new(graph, "packaged_dir", json_from_str(s->dirs.packaged));
		if (s->dirs.project.repo.len)
			json_object_set_new(
				graph, "project_dir", json_from_str(s->dirs.project.repo));
	}
	json_object_set_new(graph, "sources", sources_json(s));
	return graph;
}

void freeze_graph_text(const struct subject *s, struct buf *b)
{
	AUTO_JSON *graph = freeze_graph_json(s);

	json_write(b, graph, 2);
	buf_addc(b, '\n');
}

/* Gives every source its text. */
static bool decode_sources(json_t *sources, struct report *r)
{
	json_t *source;
	size_t i;

	json_array_foreach(sources, i, source)
	{
		const json_t *coded = json_object_get(source, "base64");
		AUTO_BUF text = BUF_INIT;

		if (!coded)
			continue;
		if (!base64_read(json_str(coded), &text))
			return report_error(r, (struct where){ 0 }, "graph.json is damaged");
		json_object_set_new(source, "text", json_from_str(buf_str(&text)));
	}
	return json_array_size(sources) > 0 ||
	       report_error(r, (struct where){ 0 }, "graph.json has no sources");
}

static const char *dir_or_null(const json_t *graph, const char *name)
{
	return json_string_value(json_object_get(graph, name));
}

static bool read_graph(struct launch *l, struct report *r)
{
	AUTO_JSON *graph = freeze_json(l->claim.dir, "graph.json", false, r);
	json_t *sources = json_object_get(graph, "sources");
	struct str format = json_str(json_object_get(graph, "format"));

	if (!graph || !decode_sources(sources, r))
		return false;
	if (str_eq(format, S("template"))) {
		const json_t *source = json_array_get(sources, 0);
		bool old = json_object_get(graph, "dialect") != NULL;

		l->subject.graph = graph_read(json_str(json_object_get(source, "path")),
			json_str(json_object_get(source, "text")), old ? DIALECT_0_9 : DIALECT_NOW,
			r);
		return l->subject.graph != NULL;
	}
	l->subject.dirs = recipe_dirs_find(
		&l->arena, dir_or_null(graph, "agent_dir"), dir_or_null(graph, "packaged_dir"));
	recipe_dirs_project_was(
		&l->arena, &l->subject.dirs, json_str(json_object_get(graph, "project_dir")));
	l->subject.recipe = recipe_open_frozen(&l->subject.dirs, sources,
		(enum recipe_layer)json_integer_value(json_object_get(graph, "layer")),
		l->subject.values, r);
	l->subject.graph = l->subject.recipe ? graph_ref(l->subject.recipe->graph) : NULL;
	return l->subject.recipe != NULL;
}

struct graph *freeze_graph(const char *dir, struct report *r)
{
	struct launch l = { .claim.dir = str_of(dir) };
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_JSON *start = freeze_json(l.claim.dir, "start.json", true, &ignored);
	struct graph *g = NULL;

	l.subject.values = values_json(l.claim.dir, true, r);
	l.asked.secret_vars = json_incref(json_object_get(start, "secret_vars"));
	masked_restore_values(&l, l.subject.values);
	if (read_graph(&l, r))
		g = graph_ref(l.subject.graph);
	launch_done(&l);
	return g;
}

/* -- values --------------------------------------------------------------------------------------
 */

/* JSON has no way to say bytes that are not UTF-8. They are kept beside the values, each with the
 * way to it. A large number is written as its digits. */
static void collect_bytes(const json_t *value, json_t *way, json_t *ret)
{
	const char *key;
	json_t *item;
	size_t i;

	if (json_is_string(value) && !json_is_big(value) && !utf8_valid(json_str(value))) {
		AUTO_BUF coded = BUF_INIT;

		base64_write(&coded, json_str(value));
		json_array_append_new(ret, json_pack("{s:o, s:o}", "at", json_copy(way), "base64",
						   json_from_str(buf_str(&coded))));
	} else if (json_is_object(value)) {
		json_object_foreach((json_t *)value, key, item)
		{
			json_array_append_new(way, json_from_str(str_of(key)));
			collect_bytes(item, way, ret);
			json_array_remove(way, json_array_size(way) - 1);
		}
	} else if (json_is_array(value)) {
		json_array_foreach(value, i, item)
		{
			json_array_append_new(way, json_integer((json_int_t)i));
			collect_bytes(item, way, ret);
			json_array_remove(way, json_array_size(way) - 1);
		}
	}
}

static void restore_bytes(json_t *root, const json_t *bytes)
{
	json_t *entry, *step;
	size_t i, k;

	json_array_foreach(bytes, i, entry)
	{
		const json_t *way = json_object_get(entry, "at");
		size_t last = json_array_size(way) - 1;
		json_t *at = root;
		AUTO_BUF text = BUF_INIT;

		if (!json_array_size(way) ||
			!base64_read(json_str(json_object_get(entry, "base64")), &text))
			continue;
		json_array_foreach(way, k, step)
		{
			json_t *made = k == last ? json_from_str(buf_str(&text)) : NULL;

			if (json_is_integer(step) && made)
				json_array_set_new(at, (size_t)json_integer_value(step), made);
			else if (made)
				json_object_set_new_nocheck(at, json_string_value(step), made);
			else if (json_is_integer(step))
				at = json_array_get(at, (size_t)json_integer_value(step));
			else
				at = json_object_get(at, json_string_value(step));
		}
	}
}

static void write_bytes_of(const json_t *value, json_t *to, const char *name)
{
	AUTO_JSON *way = json_array();
	json_t *bytes = json_array();

	collect_bytes(value, way, bytes);
	if (json_array_size(bytes))
		json_object_set_new(to, name, bytes);
	else
		json_decref(bytes);
}

/* The members of start.json and where struct launch has them. Numbers and truths are always there,
 * the rest when it is given. */
static const struct member {
	const char *name;
	enum { MEMBER_NUMBER, MEMBER_TRUTH, MEMBER_JSON, MEMBER_TEXT } kind;
	size_t offset;
} members[] = {
#define TYPE(of) ((struct launch *)0)->of
#define NUMBER(of) MEMBER_NUMBER, _Generic(TYPE(of), uint64_t : offsetof(struct launch, of))
#define TRUTH(of) MEMBER_TRUTH, _Generic(TYPE(of), bool : offsetof(struct launch, of))
#define JSON(of) MEMBER_JSON, _Generic(TYPE(of), json_t * : offsetof(struct launch, of))
#define TEXT(of) MEMBER_TEXT, _Generic(TYPE(of), struct str : offsetof(struct launch, of))
	{ "jobs", NUMBER(asked.jobs) },
	{ "grace_ms", NUMBER(asked.grace_ms) },
	{ "durable", TRUTH(asked.durable) },
	{ "detached", TRUTH(asked.detached) },
	{ "input", TRUTH(asked.has_input) },
	{ "max_parallel", NUMBER(asked.max_parallel) },
	{ "max_parallel_given", TRUTH(asked.max_parallel_given) },
	{ "stream", TRUTH(asked.stream) },
	{ "notify", TRUTH(asked.notify) },
	{ "bare", TRUTH(asked.bare) },
	{ "careful", TRUTH(asked.careful) },
	{ "stops_in_doubt", TRUTH(asked.stops_in_doubt) },
	{ "jobs_given", TRUTH(asked.jobs_given) },
	{ "sandbox", TRUTH(asked.sandbox) },
	{ "offline", TRUTH(asked.offline) },
	{ "created", NUMBER(asked.created) },
	{ "agents", JSON(asked.agents) },
	{ "collections", JSON(asked.collections) },
	{ "env", JSON(asked.env) },
	{ "artifacts", JSON(subject.artifacts) },
	{ "secrets", JSON(asked.secrets) },
	{ "secret_env", JSON(asked.secret_env) },
	{ "secret_vars", JSON(asked.secret_vars) },
	{ "secret_files", JSON(asked.secret_files) },
	{ "argv", JSON(asked.argv) },
	{ "run", TEXT(asked.id) },
	{ "generation", TEXT(claim.generation) },
	{ "owner", TEXT(asked.owner) },
	{ "tool", TEXT(asked.tool) },
	{ "launch", TEXT(asked.how) },
	{ "rerun_of", TEXT(asked.rerun_of) },
	{ "only", TEXT(asked.only) },
	{ "task", TEXT(asked.task) },
	{ "on", TEXT(asked.on) },
	{ "class", TEXT(asked.class) },
	{ "executor", JSON(asked.executor) },
	{ "left_on", TEXT(asked.left_on) },
	{ "left_executor", JSON(asked.left_executor) },
};

static json_t *start_json(const struct launch *l)
{
	json_t *start = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		const struct member *m = &members[i];
		const void *at = (const char *)l + m->offset;
		json_t *value = NULL;

		switch (m->kind) {
		case MEMBER_NUMBER:
			value = json_integer((json_int_t) * (const uint64_t *)at);
			break;
		case MEMBER_TRUTH:
			value = json_boolean(*(const bool *)at);
			break;
		case MEMBER_JSON:
			value = json_incref(*(json_t *const *)at);
			break;
		case MEMBER_TEXT:
			value = ((const struct str *)at)->len
					? json_from_str(*(const struct str *)at)
					: NULL;
			break;
		}
		if (value)
			json_object_set_new(start, m->name, value);
	}
	return start;
}

/* The same as a person may read it. */
static json_t *shown_start(const struct launch *l)
{
	json_t *start = start_json(l);
	struct mask *m = mask_of(l);

	json_object_set_new(start, "argv", shown_argv(l, m));
	if (l->asked.env)
		json_object_set_new(start, "env", shown_env(l, m));
	if (l->asked.agents)
		json_object_set_new(start, "agents", mask_json(m, l->asked.agents));
	if (l->subject.artifacts)
		json_object_set_new(start, "artifacts", shown_artifacts(l));
	mask_free(m);
	return start;
}

static void take_members(struct launch *l, const json_t *start)
{
	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		const struct member *m = &members[i];
		json_t *value = json_object_get(start, m->name);
		void *at = (char *)l + m->offset;

		switch (m->kind) {
		case MEMBER_NUMBER:
			*(uint64_t *)at = (uint64_t)json_integer_value(value);
			break;
		case MEMBER_TRUTH:
			*(bool *)at = json_is_true(value);
			break;
		case MEMBER_JSON:
			json_decref(*(json_t **)at);
			*(json_t **)at = json_incref(value);
			break;
		case MEMBER_TEXT:
			*(struct str *)at = arena_str(&l->arena, json_str(value));
			break;
		}
	}
}

/* Of start.json: there are no values, and so no values.json either, unless a secret turned up. */
#define NO_VALUES "no_values"

/* The text of values.json, empty when there are none; `start` is start.json. */
static void values_text(const struct launch *l, const json_t *start, struct buf *values)
{
	AUTO_JSON *kept = json_object();

	masked_keep(l, start, kept);
	write_bytes_of(kept, kept, MASKED_BYTES);
	if (!json_object_size(kept))
		return;
	json_write_typed(values, kept, 2); /* steps tell 2.0 from 2 */
	buf_addc(values, '\n');
}

/* The texts of values.json and of start.json. */
static void start_texts(struct launch *l, struct buf *values, struct buf *asked)
{
	AUTO_JSON *start = shown_start(l);

	values_text(l, start, values);
	write_bytes_of(json_object_get(start, "env"), start, "env_bytes");
	if (!values->len)
		json_object_set_new(start, NO_VALUES, json_true());
	if (l->claim.waits)
		json_object_set(start, BEGUN_MEMBER, (json_t *)beginning_kept(l));
	json_write(asked, start, 2);
	buf_addc(asked, '\n');
}

static bool read_secrets(struct launch *l, struct report *r)
{
	json_t *name;
	size_t i;

	json_array_foreach(l->asked.secret_env, i, name)
	{
		const char *variable = secret_variable(l, json_string_value(name));
		const char *value = getenv(variable);

		if (!value) {
			report_error(r, (struct where){ 0 },
				"the secret '%s' is not in the environment",
				json_string_value(name));
			return report_hint(r, "it is never written down: set $%s again", variable);
		}
		json_object_set_new_nocheck(
			l->subject.values, json_string_value(name), json_from_str(str_of(value)));
	}
	return true;
}

/* values.json: a new reference. NULL with an issue. */
static json_t *read_kept(struct str dir, bool optional, struct report *r)
{
	size_t errors = r->errors;
	json_t *values = values_json(dir, optional, r);

	return values || r->errors > errors ? values : json_object();
}

static bool read_values(struct launch *l, struct report *r)
{
	AUTO_JSON *start = freeze_json(l->claim.dir, "start.json", false, r);
	json_t *values = NULL;

	if (start)
		values = read_kept(l->claim.dir, json_truth_of(start, NO_VALUES), r);
	l->subject.values = values;
	if (!values)
		return false;
	take_members(l, start);
	AUTO_JSON *bytes = json_incref(json_object_get(values, MASKED_BYTES));
	restore_bytes(values, bytes);
	restore_bytes(l->asked.env, json_object_get(start, "env_bytes"));
	masked_restore(l, values);
	return true;
}

/* -- both ----------------------------------------------------------------------------------------
 */

bool freeze_write(struct launch *l, struct report *r)
{
	AUTO_BUF graph = BUF_INIT;
	AUTO_BUF values = BUF_INIT;
	AUTO_BUF asked = BUF_INIT;
	struct freeze_text files[3];
	size_t count = 0;

	start_texts(l, &values, &asked);
	if (!l->claim.waits) {
		freeze_graph_text(&l->subject, &graph);
		files[count++] = (struct freeze_text){ "graph.json", buf_str(&graph), true };
	}
	if (values.len)
		files[count++] = (struct freeze_text){ "values.json", buf_str(&values), true };
	files[count++] = (struct freeze_text){ "start.json", buf_str(&asked), true };
	return freeze_files(l, files, count, r);
}

bool freeze_values(const struct launch *l, struct report *r)
{
	AUTO_JSON *start = shown_start(l);
	AUTO_BUF values = BUF_INIT;

	values_text(l, start, &values);
	if (!values.len)
		return true; /* what turned up is too long to be kept */
	return freeze_file(l->claim.dir, "values.json", buf_str(&values), l->asked.durable, r);
}

bool freeze_read(struct launch *l, struct report *r)
{
	return read_values(l, r) && read_secrets(l, r) && read_graph(l, r);
}

/* -- for readers ---------------------------------------------------------------------------------
 */

json_t *freeze_artifacts(struct str dir, const json_t *shown, const char **ret_why)
{
	AUTO_REPORT ignored = REPORT_INIT;
	const char *why = NULL;
	json_t *artifacts = manifest_paths(shown), *path;
	const char *name;
	bool masked = false;

	json_object_foreach(artifacts, name, path) masked |=
		str_contains(json_str(path), S(MASKED));
	if (!masked)
		return artifacts;
	AUTO_JSON *kept = values_json(dir, true, &ignored);
	AUTO_JSON *start = freeze_json(dir, "start.json", true, &ignored);
	const struct launch l = { .asked.secret_vars = json_object_get(start, "secret_vars") };
	if (!kept)
		why = "its values.json cannot be read";
	else if (!masked_restore_artifacts(&l, artifacts, kept))
		why = "a secret in a path is not in the environment";
	if (!why)
		return artifacts;
	if (ret_why)
		*ret_why = why;
	json_decref(artifacts);
	return NULL;
}

static bool has_file(struct str dir, const char *name)
{
	AUTO_BUF path = BUF_INIT;

	buf_printf(&path, "%.*s/%s", STR(dir), name);
	return access(buf_cstr(&path), F_OK) == 0 || errno != ENOENT;
}

/* What cannot be read may name secrets. Before there is start.json nothing was asked for; the
 * others are there only behind it. */
struct mask *freeze_mask(struct str dir, bool *ret_known)
{
	AUTO_REPORT ignored = REPORT_INIT;
	struct launch l = { .claim.dir = dir };
	struct mask *mask = NULL;

	bool read = read_values(&l, &ignored);

	*ret_known = read || (!has_file(dir, "start.json") && !has_file(dir, "values.json") &&
				     !has_file(dir, "run.json"));
	if (read &&
		(json_array_size(l.asked.secrets) || json_array_size(l.asked.secret_env) ||
			json_array_size(l.asked.secret_files) ||
			json_array_size(l.asked.secret_texts) || json_array_size(l.asked.env))) {
		*ret_known = read_secrets(&l, &ignored);
		if (read_graph(&l, &ignored))
			l.subject.plan = plan_new(l.subject.graph, l.subject.values, &ignored);
		mask = mask_of(&l);
	}
	launch_done(&l);
	return mask;
}
