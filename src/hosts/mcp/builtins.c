#include "hosts/mcp/builtins.h"

#include "hosts/mcp/arguments.h"
#include "hosts/mcp/result.h"

const struct builtin builtins[] = {
	{ 0 },
};
const size_t builtin_count = 0;

static json_t *parsed(const char *text)
{
	AUTO_REPORT ignored = REPORT_INIT;

	return json_read(&(struct source){ S("schema"), str_of(text) }, &ignored);
}

struct tool *tool_of_builtin(const struct builtin *b)
{
	struct tool *t = mem_new(struct tool);

	t->references = 1;
	t->builtin = b;
	t->name = t->id = str_of(b->name);
	t->effects = b->effects;
	t->input = json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties",
		parsed(b->input), "required", parsed(b->required), "additionalProperties", 0);
	t->listed = json_pack("{s:s, s:s, s:s, s:O}", "name", b->name, "title", b->title,
		"description", b->description, "inputSchema", t->input);
	return t;
}

void builtin_call(struct exchange *x, struct tool *t)
{
	AUTO_BUF wrong = BUF_INIT;
	AUTO_JSON *values = arguments_values(
		x->session->server, t, json_object_get(x->params, "arguments"), &wrong);

	if (values)
		t->builtin->call(x, values);
	else
		exchange_answer(x, result_error(buf_str(&wrong)));
}
