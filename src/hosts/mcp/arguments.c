#include "hosts/mcp/arguments.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "data/json-schema.h"

enum { MOST = 20 };

struct findings {
	struct buf *text;
	size_t count;
};

static bool note(void *data, struct str path, struct str message)
{
	struct findings *f = data;

	if (f->count)
		buf_addc(f->text, '\n');
	if (path.len)
		buf_printf(f->text, "argument '%.*s': %.*s", STR(path), STR(message));
	else
		buf_printf(f->text, "argument %.*s", STR(message));
	return ++f->count < MOST;
}

/* -- paths ---------------------------------------------------------------------------------------
 */

/* Whether a path stays beneath the project also where links lead: what is not there yet is judged
 * by the directories above it. */
static bool stays_beneath(struct str root, struct str path)
{
	AUTO_BUF text = BUF_INIT;
	struct arena a = ARENA_INIT;
	bool beneath = false;

	buf_add(&text, path_from(&a, root, path));
	for (;;) {
		char *real = realpath(buf_cstr(&text), NULL);
		bool found = real != NULL || errno != ENOENT;
		char *top = realpath(root.p, NULL);

		if (real && top) {
			size_t len = strlen(top);

			beneath = strncmp(real, top, len) == 0 &&
				  (len == 1 || !real[len] || real[len] == '/');
		}
		free(real);
		free(top);
		size_t slash = text.len;
		while (slash && text.p[slash - 1] != '/')
			slash--;
		if (found || slash <= 1)
			break;
		buf_truncate(&text, slash - 1);
	}
	arena_done(&a);
	return beneath;
}

static bool leaves(struct str path)
{
	size_t depth = 0;

	for (size_t at = 0; at <= path.len;) {
		size_t end = str_find(path, '/', at);
		struct str part = str_sub(path, at, end - at);

		if (str_eq(part, S("..")) && depth-- == 0)
			return true;
		if (part.len && !str_eq(part, S(".")) && !str_eq(part, S("..")))
			depth++;
		at = end + 1;
	}
	return false;
}

static void check_path(const struct mcp *m, const struct tool *t, const char *name,
	const json_t *value, struct findings *f)
{
	struct str path = json_str(value);

	if (!json_is_string(value))
		return;
	if (path.len && path.p[0] == '-')
		(void)note(f, str_of(name),
			S("a path must not begin with '-'; write ./- for such a name"));
	else if (!t->anywhere && path.len && path.p[0] == '/')
		(void)note(f, str_of(name), S("the path has to be relative to the project root"));
	else if (!t->anywhere && (leaves(path) || !stays_beneath(app_cwd(m->app), path)))
		(void)note(f, str_of(name), S("the path has to stay inside the project"));
}

/* -- all of it -----------------------------------------------------------------------------------
 */

/* 2.0 is an integer for JSON Schema, and is one for the recipe then. */
static void settle_numbers(const struct tool *t, json_t *values, struct findings *f)
{
	const json_t *properties = json_object_get(t->input, "properties");
	const char *name;
	json_t *value;
	void *next;

	json_object_foreach_safe(values, next, name, value)
	{
		struct str type = json_text_of(json_object_get(properties, name), "type");

		if (!json_is_real(value))
			continue;
		if (!isfinite(json_real_value(value)))
			(void)note(f, str_of(name), S("is not a number that can be used"));
		else if (str_eq(type, S("integer")))
			json_object_set_new(
				values, name, json_integer((json_int_t)json_real_value(value)));
	}
}

static void add_secrets(const struct tool *t, json_t *values, struct findings *f)
{
	json_t *name;
	size_t i;

	json_array_foreach(t->secrets, i, name)
	{
		const char *value = getenv(json_string_value(name));

		if (value)
			json_object_set_new(
				values, json_string_value(name), json_from_str(str_of(value)));
		else
			(void)note(f, json_str(name),
				S("this secret is not in the environment of the server; a person "
				  "has to set it there"));
	}
}

json_t *arguments_values(
	struct mcp *m, const struct tool *t, const json_t *arguments, struct buf *wrong)
{
	struct findings f = { .text = wrong };
	json_t *values = arguments ? json_copy((json_t *)arguments) : json_object();
	json_t *name;
	size_t i;

	(void)json_schema_check(t->input, values, note, &f);
	if (!f.count) {
		settle_numbers(t, values, &f);
		json_array_foreach(t->paths, i, name) check_path(m, t, json_string_value(name),
			json_object_get(values, json_string_value(name)), &f);
		add_secrets(t, values, &f);
	}
	if (!f.count)
		return values;
	json_decref(values);
	return NULL;
}
