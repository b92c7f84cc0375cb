#include "app/context/run-values.h"

#include "recipe/fields.h"

void run_add_unknown_values(json_t *values)
{
	for (const char *const *n = lifecycle_names; values && *n; n++) {
		AUTO_BUF text = BUF_INIT;

		buf_printf(&text, "{%s}", *n);
		if (!json_object_get(values, *n))
			json_object_set_new(values, *n, json_from_str(buf_str(&text)));
	}
}

void run_add_values(json_t *values, struct str id, struct str dir)
{
	AUTO_BUF text = BUF_INIT;
	const struct {
		const char *name, *before;
		struct str value;
		const char *after;
	} all[] = {
		{ "run_id", "", id, "" },
		{ "state_dir", "", dir, "" },
		{ "actor_address", "run:", id, "" },
		{ "default_room", "room:", id, "" },
		{ "communication_file", "", dir, "/communication.json" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		buf_reset(&text);
		buf_printf(&text, "%s%.*s%s", all[i].before, STR(all[i].value), all[i].after);
		json_object_set_new(values, all[i].name, json_from_str(buf_str(&text)));
	}
}

bool run_values_in(struct str text)
{
	/* Of step recipes, and of the environment. */
	static const char *const others[] = { "session", "ROUX_" };

	for (const char *const *n = lifecycle_names; *n; n++)
		if (str_contains(text, str_of(*n)))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (str_contains(text, str_of(others[i])))
			return true;
	return false;
}
