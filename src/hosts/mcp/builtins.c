#include "hosts/mcp/builtins.h"

#include "base/run-status.h"
#include "hosts/mcp/arguments.h"
#include "hosts/mcp/builtin-calls.h"

#define RUN "\"run\":{\"type\":\"string\",\"description\":\"the id of the run\"}"

const struct builtin builtins[] = {
	{ "roux_runs", "List runs",
		"Lists runs of recipes, newest first: id, recipe, status, when it started and how "
		"long it "
		"took.",
		"{\"status\":{\"type\":\"string\",\"description\":\"only runs with this "
		"status\"},"
		"\"recipe\":{\"type\":\"string\",\"description\":\"only runs of this recipe\"},"
		"\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":50,\"default\":20}}",
		"[]", EFFECTS_READ, builtin_runs },
	{ "roux_run_status", "Status of a run",
		"Reports the status of a run, its steps, what failed, and the approvals that it "
		"waits for.",
		"{" RUN "}", "[\"run\"]", EFFECTS_READ, builtin_status },
	{ "roux_run_wait", "Wait for a run",
		"Waits until a run ends or pauses, at most `seconds`, and reports its status; when "
		"it has "
		"ended, also what it printed. Call it again while the status is running.",
		"{" RUN
		",\"seconds\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":45,\"default\":30}}",
		"[\"run\"]", EFFECTS_READ, builtin_wait },
	{ "roux_run_log", "Read a log",
		"Reads a part of what a run, or one step of it, has printed, at most 16 KiB: the "
		"end, or "
		"from a byte offset on, or only lines that contain a text.",
		"{" RUN
		",\"stream\":{\"type\":\"string\",\"enum\":[\"stdout\",\"stderr\"],\"default\":"
		"\"stdout\"},"
		"\"step\":{\"type\":\"string\",\"description\":\"the id or path of a step\"},"
		"\"offset\":{\"type\":\"integer\",\"minimum\":0,\"description\":\"in bytes\"},"
		"\"tail\":{\"type\":\"integer\",\"minimum\":1,\"description\":\"the last lines, "
		"this many\"},"
		"\"grep\":{\"type\":\"string\",\"minLength\":1,\"description\":\"only lines that "
		"contain "
		"this text; | stands between alternatives\"}}",
		"[\"run\"]", EFFECTS_READ, builtin_log },
	{ "roux_run_message", "Message to a run",
		"Sends a running run a message of a type that its recipe accepts. Approvals "
		"cannot be "
		"given this way.",
		"{" RUN ",\"action\":{\"type\":\"string\",\"minLength\":1,\"description\":\"the "
		"type of the "
		"message\"},\"input\":{\"description\":\"its body: a string or JSON\"}}",
		"[\"run\",\"action\"]", EFFECTS_WRITE, builtin_message },
	{ "roux_run_cancel", "Cancel a run", "Ends a run and everything that it started.",
		"{" RUN "}", "[\"run\"]", EFFECTS_DESTRUCTIVE, builtin_cancel },
	{ "roux_run_retry", "Run again",
		"Does a run again as a new run: from its first failure, or from a step on, or that "
		"step "
		"only. What succeeded before is not done again, unless the recipe asks for "
		"approvals: then all of it is.",
		"{" RUN
		",\"from\":{\"type\":\"string\",\"description\":\"the id or path of a step\"},"
		"\"only\":{\"type\":\"boolean\",\"default\":false,\"description\":\"nothing but "
		"that "
		"step\"}}",
		"[\"run\"]", EFFECTS_WRITE, builtin_retry },
};
const size_t builtin_count = ARRAY_SIZE(builtins);

static json_t *parsed(const char *text)
{
	AUTO_REPORT ignored = REPORT_INIT;

	return json_read(&(struct source){ S("schema"), str_of(text) }, &ignored);
}

static json_t *hints(enum tool_effects effects)
{
	json_t *h = json_pack(
		"{s:b, s:b}", "readOnlyHint", effects == EFFECTS_READ, "openWorldHint", 0);

	if (effects != EFFECTS_READ)
		json_object_set_new(
			h, "destructiveHint", json_boolean(effects == EFFECTS_DESTRUCTIVE));
	return h;
}

/* Those that a recorded run can have. */
static json_t *statuses(void)
{
	json_t *names = json_array();

	for (size_t i = 0; i < status_count; i++)
		if (status_rest((enum roux_status)i) != STATUS_NEVER)
			json_array_append_new(
				names, json_from_str(status_str((enum roux_status)i)));
	return names;
}

/* The properties of its arguments; a `status` is one of all that there are. */
static json_t *properties(const struct builtin *b)
{
	json_t *all = parsed(b->input), *status = json_object_get(all, "status");

	if (status)
		json_object_set_new(status, "enum", statuses());
	return all;
}

struct tool *tool_of_builtin(const struct builtin *b)
{
	struct tool *t = mem_new(struct tool);

	t->references = 1;
	t->builtin = b;
	t->name = t->id = str_of(b->name);
	t->effects = b->effects;
	t->input = json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties", properties(b),
		"required", parsed(b->required), "additionalProperties", 0);
	if (!json_array_size(json_object_get(t->input, "required")))
		json_object_del(t->input, "required");
	t->listed = json_pack("{s:s, s:s, s:s, s:O, s:o, s:o}", "name", b->name, "title", b->title,
		"description", b->description, "inputSchema", t->input, "outputSchema",
		parsed("{\"type\":\"object\",\"properties\":{\"run\":{\"type\":\"string\"},"
		       "\"status\":{"
		       "\"type\":\"string\"},\"text\":{\"type\":\"string\"}},\"required\":["
		       "\"text\"]}"),
		"annotations", hints(b->effects));
	return t;
}

void builtin_call(struct exchange *x, struct tool *t)
{
	AUTO_REPORT issues = REPORT_INIT;
	AUTO_BUF wrong = BUF_INIT;
	AUTO_JSON *values = arguments_values(
		x->session->server, t, json_object_get(x->params, "arguments"), &wrong);

	if (values) {
		t->builtin->call(x, values);
		return;
	}
	report_error(&issues, (struct where){ 0 }, "%s", buf_cstr(&wrong));
	builtin_refuse(x, &issues);
}
