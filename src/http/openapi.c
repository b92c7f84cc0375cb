#include <string.h>

#include "data/json-out.h"
#include "http/door.h"

static const char *const effects[] = {
	[HTTP_READS] = "read",
	[HTTP_SESSION] = "session",
	[HTTP_SERVER] = "server",
	[HTTP_STARTS] = "start",
	[HTTP_STOPS] = "stop",
	[HTTP_CHANGES] = "change",
};

static const char *scope_name(unsigned s)
{
	switch (s) {
	case HTTP_OPEN:
		return "none";
	case HTTP_READ:
		return "read";
	case HTTP_RUN:
		return "run";
	case HTTP_ANSWER:
		return "answer";
	case HTTP_SCOPES:
		return "any";
	default:
		return "socket";
	}
}

/* Calls for each word of a list with spaces. */
static bool next_word(struct str text, size_t *at, struct str *ret)
{
	while (*at < text.len && text.p[*at] == ' ')
		++*at;
	size_t end = str_find(text, ' ', *at);
	*ret = str_sub(text, *at, end - *at);
	*at = end;
	return ret->len > 0;
}

static void add_parameter(struct json_out *o, struct str name, const char *place)
{
	json_out_object(o, NULL);
	json_out_str(o, "name", name);
	json_out_str(o, "in", str_of(place));
	json_out_bool(o, "required", strcmp(place, "path") == 0);
	json_out_raw(o, "schema", S("{\"type\":\"string\"}"));
	json_out_object_end(o);
}

static void add_parameters(struct json_out *o, const struct http_route *r)
{
	struct str path = str_of(r->path), query = str_of(r->query ? r->query : ""), word;

	json_out_array(o, "parameters");
	for (size_t at = str_find(path, '{', 0); at < path.len; at = str_find(path, '{', at + 1))
		add_parameter(o, str_sub(path, at + 1, str_find(path, '}', at) - at - 1), "path");
	for (size_t at = 0; next_word(query, &at, &word);)
		add_parameter(o, word, "query");
	json_out_array_end(o);
}

static void add_body(struct json_out *o, const struct http_route *r)
{
	static const char *const types[] = { "application/json",
		"application/x-www-form-urlencoded" };
	struct str body = str_of(r->body), word;

	json_out_object(o, "requestBody");
	json_out_object(o, "content");
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		json_out_object(o, types[i]);
		json_out_object(o, "schema");
		json_out_str(o, "type", S("object"));
		json_out_object(o, "properties");
		for (size_t at = 0; next_word(body, &at, &word);) {
			json_out_name(o, word);
			json_out_raw(o, NULL, S("{}"));
		}
		json_out_object_end(o);
		json_out_object_end(o);
		json_out_object_end(o);
	}
	json_out_object_end(o);
	json_out_object_end(o);
}

static void add_responses(struct json_out *o, const struct http_route *r)
{
	static const char *const answers[] = { [HTTP_PAGE] = "a page",
		[HTTP_API] = "a document",
		[HTTP_ASSET] = "a file",
		[HTTP_MCP] = "a message, or a stream of them" };

	json_out_object(o, "responses");
	json_out_object(o, "200");
	json_out_str(o, "description", str_of(answers[r->kind]));
	json_out_object_end(o);
	json_out_object(o, "default");
	json_out_str(o, "description", S("a refusal: ok, status, error, reason, hint"));
	json_out_object_end(o);
	json_out_object_end(o);
}

static void add_id(struct json_out *o, const struct http_route *r)
{
	AUTO_BUF id = BUF_INIT;

	buf_adds(&id, r->method);
	for (const char *p = r->path; *p; p++)
		if (*p != '{' && *p != '}')
			buf_addc(&id, *p == '/' || *p == '.' ? '_' : *p);
	json_out_str(o, "operationId", buf_str(&id));
}

static void add_route(struct json_out *o, const struct http_route *r)
{
	AUTO_BUF method = BUF_INIT;

	for (const char *p = r->method; *p; p++)
		buf_addc(&method, (char)(*p | 0x20));
	json_out_name(o, buf_str(&method));
	json_out_object(o, NULL);
	json_out_str(o, "summary", str_of(r->summary));
	add_id(o, r);
	json_out_str(o, "x-roux-effect", str_of(effects[r->effect]));
	json_out_str(o, "x-roux-scope", str_of(scope_name(r->scope)));
	add_parameters(o, r);
	if (r->body)
		add_body(o, r);
	add_responses(o, r);
	if (r->scope == HTTP_OPEN)
		json_out_raw(o, "security", S("[]"));
	json_out_object_end(o);
}

/* All routes with one path are members of it. */
static bool first_of_path(const struct http *h, size_t table, size_t route)
{
	const char *path = h->tables.at[table].at[route].path;

	for (size_t t = 0; t <= table; t++)
		for (size_t i = 0; i < h->tables.at[t].count && (t < table || i < route); i++)
			if (strcmp(h->tables.at[t].at[i].path, path) == 0)
				return false;
	return true;
}

static void add_path(struct json_out *o, const struct http *h, const char *path)
{
	json_out_name(o, str_of(path));
	json_out_object(o, NULL);
	vec_each (t, &h->tables)
		for (size_t i = 0; i < t->count; i++)
			if (strcmp(t->at[i].path, path) == 0)
				add_route(o, &t->at[i]);
	json_out_object_end(o);
}

void http_openapi(const struct http *h, struct buf *b)
{
	struct json_out o = { .b = b };

	json_out_object(&o, NULL);
	json_out_str(&o, "openapi", S("3.1.0"));
	json_out_object(&o, "info");
	json_out_str(&o, "title", S("roux"));
	json_out_str(&o, "version", S(ROUX_VERSION));
	json_out_object_end(&o);
	json_out_object(&o, "paths");
	for (size_t t = 0; t < h->tables.len; t++)
		for (size_t i = 0; i < h->tables.at[t].count; i++)
			if (first_of_path(h, t, i))
				add_path(&o, h, h->tables.at[t].at[i].path);
	json_out_object_end(&o);
	json_out_raw(&o, "components",
		S("{\"securitySchemes\":{\"bearer\":{\"type\":\"http\",\"scheme\":\"bearer\"},"
		  "\"session\":{\"type\":\"apiKey\",\"in\":\"cookie\",\"name\":\"roux_PORT\"}}}"));
	json_out_raw(&o, "security", S("[{\"bearer\":[]},{\"session\":[]}]"));
	json_out_object_end(&o);
	buf_addc(b, '\n');
}
