#include "data/toml.h"

#include <math.h>

#include "base/number.h"
#include "data/toml-reader.h"

static void float_text(struct buf *b, double value)
{
	if (isnan(value))
		buf_adds(b, "nan");
	else if (isinf(value))
		buf_adds(b, value < 0 ? "-inf" : "inf");
	else if (value == 0)
		buf_adds(b, signbit(value) ? "-0" : "0");
	else
		number_text(b, value);
}

static json_t *plain(const struct toml_node *n)
{
	AUTO_BUF text = BUF_INIT;

	if (n->kind == TOML_INTEGER)
		return json_integer(n->integer);
	if (n->kind == TOML_BOOL)
		return json_boolean(n->truth);
	if (n->kind != TOML_FLOAT)
		return json_from_str(n->text);
	if (isfinite(n->real))
		return json_real(n->real);
	float_text(&text, n->real);
	return json_from_str(buf_str(&text));
}

static json_t *tagged(const struct toml_node *n)
{
	static const char *const types[] = {
		[TOML_STRING] = "string",
		[TOML_INTEGER] = "integer",
		[TOML_FLOAT] = "float",
		[TOML_BOOL] = "bool",
		[TOML_DATETIME] = "datetime",
		[TOML_DATETIME_LOCAL] = "datetime-local",
		[TOML_DATE_LOCAL] = "date-local",
		[TOML_TIME_LOCAL] = "time-local",
	};
	AUTO_BUF text = BUF_INIT;
	json_t *leaf = json_object();

	if (n->kind == TOML_INTEGER)
		buf_printf(&text, "%lld", (long long)n->integer);
	else if (n->kind == TOML_BOOL)
		buf_adds(&text, n->truth ? "true" : "false");
	else if (n->kind == TOML_FLOAT)
		float_text(&text, n->real);
	else
		buf_add(&text, n->text);
	(void)json_object_set_new(leaf, "type", json_string(types[n->kind]));
	(void)json_object_set_new(leaf, "value", json_from_str(buf_str(&text)));
	return leaf;
}

/* As deep as the tree, which has a limit. */
static json_t *convert(const struct toml_node *n, enum toml_style style)
{
	if (n->kind != TOML_TABLE && n->kind != TOML_ARRAY)
		return style == TOML_PLAIN ? plain(n) : tagged(n);
	json_t *all = n->kind == TOML_TABLE ? json_object() : json_array();
	for (const struct toml_node *below = n->first; below; below = below->next) {
		json_t *item = convert(below, style);

		if (n->kind == TOML_ARRAY)
			(void)json_array_append_new(all, item);
		else
			(void)json_object_setn_new_nocheck(all, below->key.p, below->key.len, item);
	}
	return all;
}

json_t *toml_read(const struct source *source, enum toml_style style, struct report *report)
{
	struct arena arena = ARENA_INIT;
	struct toml_reader r;
	json_t *value = NULL;

	toml_reader_init(&r, source, &arena, report);
	r.nul_in_keys = style != TOML_PLAIN;
	const struct toml_node *root = toml_parse(&r);
	if (root)
		value = convert(root, style);
	toml_reader_done(&r);
	arena_done(&arena);
	return value;
}
