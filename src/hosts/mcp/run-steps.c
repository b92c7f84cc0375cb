#include "hosts/mcp/run-steps.h"

#include "app/logs.h"
#include "base/map.h"

enum { MOST = 500 };

struct steps {
	struct arena arena;
	struct map by_path; /* → json_t, borrowed from `all` */
	json_t *all;
};

static json_t *step_of(struct steps *s, struct str path)
{
	void **at = map_put(&s->by_path, &s->arena, path);

	if (!*at && json_array_size(s->all) < MOST) {
		json_t *step = json_pack("{s:o}", "path", json_from_str(path));

		json_array_append_new(s->all, step);
		*at = step;
	}
	return *at;
}

static bool see(void *data, struct str line, uint64_t seq)
{
	struct steps *s = data;
	AUTO_REPORT ignored = REPORT_INIT;
	bool begins = str_contains(line, S("\"command.start\""));

	(void)seq;
	if (!begins && !str_contains(line, S("\"command.done\"")))
		return true;
	AUTO_JSON *event = json_read(&(struct source){ S("event"), line }, &ignored);
	json_t *step = event ? step_of(s, json_text_of(event, "path")) : NULL;
	if (!step)
		return true;
	json_t *code = json_object_get(event, "code");
	const char *state =
		begins ? "running"
		: json_integer_value(code) != 0 || json_is_true(json_object_get(event, "timeout"))
			? "failed"
			: "done";
	if (begins)
		json_object_set(step, "label", json_object_get(event, "label"));
	json_object_set_new(step, "state", json_string(state));
	if (!begins) {
		json_object_set(step, "code", code);
		json_object_set(step, "ms", json_object_get(event, "ms"));
	}
	return true;
}

json_t *run_steps(struct run_handle *h)
{
	struct steps s = { .all = json_array() };

	(void)run_events_each(h, 0, see, &s);
	arena_done(&s.arena);
	return s.all;
}
