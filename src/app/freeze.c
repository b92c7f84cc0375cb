#include "app/freeze.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic-file.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "data/base64.h"
#include "runs/dir/run-dir.h"

bool freeze_file(struct str dir, const char *name, struct str text, bool durable, struct report *r)
{
	AUTO_BUF path = BUF_INIT;

	buf_printf(&path, "%.*s/%s", STR(dir), name);
	int n = atomic_write(buf_cstr(&path), text, &(struct atomic_options){ .quick = !durable });
	return n == 0 || report_errno(r, -n, "cannot write %s", buf_cstr(&path));
}

json_t *freeze_json(struct str dir, const char *name, bool optional, struct report *r)
{
	AUTO_BUF path = BUF_INIT;
	AUTO_BUF text = BUF_INIT;

	buf_printf(&path, "%.*s/%s", STR(dir), name);
	int n = file_read(buf_cstr(&path), RUN_FILE_MAX, &text);
	if (n == -ENOENT && optional)
		return NULL;
	if (n < 0) {
		report_errno(r, -n, "cannot read %s", buf_cstr(&path));
		return NULL;
	}
	return json_read(&(struct source){ buf_str(&path), buf_str(&text) }, r);
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

static json_t *sources_json(const struct launch *l)
{
	json_t *sources = json_array();

	if (!l->recipe) {
		json_array_append_new(
			sources, source_json(l->graph->doc.source.name, l->graph->doc.source.text));
		return sources;
	}
	/* The entry was read first. */
	vec_each (f, &l->recipe->set->files)
		json_array_append_new(sources, source_json((*f)->path, (*f)->doc.source.text));
	return sources;
}

static bool write_graph(const struct launch *l, struct report *r)
{
	AUTO_JSON *graph = json_object();
	AUTO_BUF text = BUF_INIT;

	json_object_set_new(graph, "format",
		json_string(l->recipe ? recipe_format_name(l->recipe->file->format) : "template"));
	if (l->graph->dialect == DIALECT_0_9)
		json_object_set_new(graph, "dialect", json_string("0.9"));
	if (l->recipe) {
		json_object_set_new(graph, "layer", json_integer(l->recipe->layer));
		json_object_set_new(graph, "agent_dir", json_from_str(l->dirs.agent));
		json_object_set_new(graph, "packaged_dir", json_from_str(l->dirs.packaged));
	}
	json_object_set_new(graph, "sources", sources_json(l));
	json_write(&text, graph, 2);
	buf_addc(&text, '\n');
	return freeze_file(l->dir, "graph.json", buf_str(&text), l->durable, r);
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
	AUTO_JSON *graph = freeze_json(l->dir, "graph.json", false, r);
	json_t *sources = json_object_get(graph, "sources");
	struct str format = json_str(json_object_get(graph, "format"));

	if (!graph || !decode_sources(sources, r))
		return false;
	if (str_eq(format, S("template"))) {
		const json_t *source = json_array_get(sources, 0);
		bool old = json_object_get(graph, "dialect") != NULL;

		l->graph = graph_read(json_str(json_object_get(source, "path")),
			json_str(json_object_get(source, "text")), old ? DIALECT_0_9 : DIALECT_NOW,
			r);
		return l->graph != NULL;
	}
	l->dirs = recipe_dirs_find(
		&l->arena, dir_or_null(graph, "agent_dir"), dir_or_null(graph, "packaged_dir"));
	l->recipe = recipe_open_frozen(&l->dirs, sources,
		(enum recipe_layer)json_integer_value(json_object_get(graph, "layer")), l->values,
		r);
	l->graph = l->recipe ? graph_ref(l->recipe->graph) : NULL;
	return l->recipe != NULL;
}

struct graph *freeze_graph(const char *dir, struct report *r)
{
	struct launch l = LAUNCH_INIT;
	struct graph *g = NULL;

	l.dir = str_of(dir);
	l.values = freeze_json(l.dir, "values.json", true, r);
	if (read_graph(&l, r))
		g = graph_ref(l.graph);
	launch_done(&l);
	return g;
}

/* -- values --------------------------------------------------------------------------------------
 */

/* JSON has no way to say bytes that are not UTF-8. They are kept beside the values, each with the
 * way to it. */
static void collect_bytes(const json_t *value, json_t *way, json_t *ret)
{
	const char *key;
	json_t *item;
	size_t i;

	if (json_is_string(value) && !utf8_valid(json_str(value))) {
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

static bool write_bytes_of(const json_t *value, json_t *start, const char *name)
{
	AUTO_JSON *way = json_array();
	json_t *bytes = json_array();

	collect_bytes(value, way, bytes);
	if (json_array_size(bytes))
		json_object_set_new(start, name, bytes);
	else
		json_decref(bytes);
	return true;
}

static json_t *start_json(const struct launch *l)
{
	json_t *start = json_object();

	json_object_set_new(start, "jobs", json_integer((json_int_t)l->jobs));
	json_object_set_new(start, "grace_ms", json_integer((json_int_t)l->grace_ms));
	json_object_set_new(start, "durable", json_boolean(l->durable));
	json_object_set_new(start, "detached", json_boolean(l->detached));
	json_object_set_new(start, "input", json_boolean(l->has_input));
	json_object_set_new(start, "max_parallel", json_integer((json_int_t)l->max_parallel));
	json_object_set_new(start, "stream", json_boolean(l->stream));
	json_object_set_new(start, "created", json_integer((json_int_t)l->created));
	if (l->agents)
		json_object_set(start, "agents", l->agents);
	if (l->collections)
		json_object_set(start, "collections", l->collections);
	if (l->env)
		json_object_set(start, "env", l->env);
	if (l->artifacts)
		json_object_set(start, "artifacts", l->artifacts);
	if (l->secrets)
		json_object_set(start, "secrets", l->secrets);
	if (l->secret_env)
		json_object_set(start, "secret_env", l->secret_env);
	if (l->argv)
		json_object_set(start, "argv", l->argv);
	const struct {
		const char *name;
		struct str value;
	} texts[] = { { "run", l->id }, { "generation", l->generation }, { "owner", l->owner },
		{ "tool", l->tool }, { "launch", l->how }, { "rerun_of", l->rerun_of },
		{ "only", l->only } };
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (texts[i].value.len)
			json_object_set_new(start, texts[i].name, json_from_str(texts[i].value));
	return start;
}

static bool write_values(const struct launch *l, struct report *r)
{
	AUTO_JSON *start = start_json(l);
	AUTO_JSON *kept = json_copy(l->values);
	AUTO_BUF text = BUF_INIT;
	json_t *name;
	size_t i;

	/* What came from the environment is read from there again. */
	json_array_foreach(l->secret_env, i, name) json_object_del(kept, json_string_value(name));
	(void)write_bytes_of(kept, start, "value_bytes");
	(void)write_bytes_of(l->env, start, "env_bytes");
	/* Steps tell 2.0 from 2. */
	json_write_typed(&text, kept, 2);
	buf_addc(&text, '\n');
	if (!freeze_file(l->dir, "values.json", buf_str(&text), l->durable, r))
		return false;
	buf_reset(&text);
	json_write(&text, start, 2);
	buf_addc(&text, '\n');
	return freeze_file(l->dir, "start.json", buf_str(&text), l->durable, r);
}

static struct str text_of(struct launch *l, const json_t *start, const char *name)
{
	return arena_str(&l->arena, json_str(json_object_get(start, name)));
}

static bool read_secrets(struct launch *l, struct report *r)
{
	json_t *name;
	size_t i;

	json_array_foreach(l->secret_env, i, name)
	{
		const char *value = getenv(json_string_value(name));

		if (!value) {
			report_error(r, (struct where){ 0 },
				"the secret '%s' is not in the environment",
				json_string_value(name));
			return report_hint(r, "it is never written down: set $%s again",
				json_string_value(name));
		}
		json_object_set_new_nocheck(
			l->values, json_string_value(name), json_from_str(str_of(value)));
	}
	return true;
}

static bool read_values(struct launch *l, struct report *r)
{
	l->values = freeze_json(l->dir, "values.json", false, r);
	AUTO_JSON *start = l->values ? freeze_json(l->dir, "start.json", false, r) : NULL;

	if (!start)
		return false;
	l->env = json_incref(json_object_get(start, "env"));
	restore_bytes(l->values, json_object_get(start, "value_bytes"));
	restore_bytes(l->env, json_object_get(start, "env_bytes"));
	l->jobs = (uint64_t)json_integer_value(json_object_get(start, "jobs"));
	l->grace_ms = (uint64_t)json_integer_value(json_object_get(start, "grace_ms"));
	l->durable = json_is_true(json_object_get(start, "durable"));
	l->detached = json_is_true(json_object_get(start, "detached"));
	l->has_input = json_is_true(json_object_get(start, "input"));
	l->artifacts = json_incref(json_object_get(start, "artifacts"));
	l->secrets = json_incref(json_object_get(start, "secrets"));
	l->secret_env = json_incref(json_object_get(start, "secret_env"));
	l->argv = json_incref(json_object_get(start, "argv"));
	l->max_parallel = (uint64_t)json_integer_value(json_object_get(start, "max_parallel"));
	l->stream = json_is_true(json_object_get(start, "stream"));
	l->created = (uint64_t)json_integer_value(json_object_get(start, "created"));
	l->agents = json_incref(json_object_get(start, "agents"));
	l->collections = json_incref(json_object_get(start, "collections"));
	l->id = text_of(l, start, "run");
	l->generation = text_of(l, start, "generation");
	l->owner = text_of(l, start, "owner");
	l->tool = text_of(l, start, "tool");
	l->how = text_of(l, start, "launch");
	l->rerun_of = text_of(l, start, "rerun_of");
	l->only = text_of(l, start, "only");
	return read_secrets(l, r);
}

/* -- both ----------------------------------------------------------------------------------------
 */

bool freeze_write(const struct launch *l, struct report *r)
{
	return write_graph(l, r) && write_values(l, r);
}

bool freeze_read(struct launch *l, struct report *r)
{
	return read_values(l, r) && read_graph(l, r);
}
