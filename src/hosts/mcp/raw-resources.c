/* The fixed resources of fixtures. */
#include <string.h>

#include "base/file.h"
#include "hosts/mcp/raw.h"

enum { FILE_MAX = 4 << 20 };

/* The document of one directory: a new reference; NULL: it has none. */
static json_t *document(const char *dir)
{
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_BUF path = BUF_INIT;
	AUTO_BUF text = BUF_INIT;

	buf_printf(&path, "%s/resources.json", dir);
	if (file_read_regular(buf_cstr(&path), FILE_MAX, &text) < 0)
		return NULL;
	return json_read(&(struct source){ S("resources.json"), buf_str(&text) }, &ignored);
}

typedef bool each_fn(void *data, const json_t *one);

static void each(const struct mcp *m, const char *member, each_fn *fn, void *data)
{
	for (size_t i = 0; i < m->options.dir_count && m->options.raw_results; i++) {
		AUTO_JSON *d = document(m->options.dirs[i]);
		json_t *one;
		size_t at;

		json_array_foreach(json_object_get(d, member), at, one)
		{
			if (!fn(data, one))
				return;
		}
	}
}

static bool list(void *data, const json_t *one)
{
	json_t *shown = json_copy((json_t *)one);

	json_object_del(shown, "text");
	json_object_del(shown, "blob");
	json_array_append_new(data, shown);
	return true;
}

void raw_resources_list(const struct mcp *m, const char *member, json_t *all)
{
	each(m, member, list, all);
}

struct wanted {
	struct str uri;
	json_t *found;
};

static bool take_exact(void *data, const json_t *one)
{
	struct wanted *w = data;

	if (!str_eq(json_text_of(one, "uri"), w->uri))
		return true;
	w->found = json_copy((json_t *)one);
	return false;
}

/* Whether `uri` is the template with something for its one `{name}`. */
static bool matches(struct str template, struct str uri, struct str *ret_name, struct str *ret)
{
	size_t open = str_find(template, '{', 0), close = str_find(template, '}', open);

	if (close >= template.len)
		return false;
	struct str head = str_sub(template, 0, open), tail = str_from(template, close + 1);
	if (uri.len <= head.len + tail.len || !str_starts(uri, head) || !str_ends(uri, tail))
		return false;
	*ret_name = str_sub(template, open, close + 1 - open);
	*ret = str_sub(uri, head.len, uri.len - head.len - tail.len);
	return str_find(*ret, '/', 0) == ret->len;
}

static bool take_template(void *data, const json_t *one)
{
	struct wanted *w = data;
	struct str text = json_text_of(one, "text"), name, value;
	AUTO_BUF shown = BUF_INIT;

	if (!matches(json_text_of(one, "uriTemplate"), w->uri, &name, &value))
		return true;
	for (size_t at = 0; at < text.len;) {
		bool here = str_starts(str_from(text, at), name);

		buf_add(&shown, here ? value : str_sub(text, at, 1));
		at += here ? name.len : 1;
	}
	w->found = json_pack("{s:o, s:o}", "text", json_from_str(buf_str(&shown)), "mimeType",
		json_from_str(json_text_of(one, "mimeType")));
	return false;
}

json_t *raw_resource_read(const struct mcp *m, struct str uri)
{
	struct wanted w = { .uri = uri };

	each(m, "resources", take_exact, &w);
	if (!w.found)
		each(m, "templates", take_template, &w);
	if (!w.found)
		return NULL;
	json_object_set_new(w.found, "uri", json_from_str(uri));
	json_object_del(w.found, "name");
	json_object_del(w.found, "description");
	return w.found;
}
