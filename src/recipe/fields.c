#include "recipe/fields.h"

#include "base/lang.h"

#define TEXTS "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}"

#define TRUTH "{\"type\":\"boolean\"}"
#define DURATION "{\"type\":[\"string\",\"number\"]}"

/* Where the schema is true, any value is read: one that is not understood counts as absent. */
const struct recipe_field recipe_fields[] = {
	{ "description", "true", "what the recipe is for" },
	{ "name", "true", "ignored: a recipe is called after its file" },
	{ "async", "true", "true: detached when a host that honours it starts it" },
	{ "disabled", "true", "true: cannot be launched, and blocks what it shadows" },
	{ "values", "{\"type\":[\"object\",\"null\"]}",
		"values that only a caller's own win over" },
	{ "imports",
		"{\"type\":\"object\",\"propertyNames\":{\"pattern\":\"^[A-Za-z0-9_.-]+$\"},"
		"\"additionalProperties\":{\"anyOf\":[{\"type\":\"string\",\"pattern\":\"\\\\S\"},"
		"{\"type\":\"object\",\"required\":[\"from\"],\"properties\":{\"from\":{\"type\":"
		"\"string\","
		"\"pattern\":\"\\\\S\"}}}]}}",
		"other recipes by alias: a name or path, or {from, defaults, values}" },
	{ "artifacts", "true", "files that a run makes: name and path" },
	{ "mailbox", "true", "types of messages that a run accepts and emits" },
	{ "actor_context", "true",
		"false or \"off\": child prompts are not told about the recipe" },
	{ "retire_when", "true", "\"children_terminal\": a hint about the end of its life" },
	{ "state_dir", "true", "ignored: a run's directory is below the state root" },
	{ "usage", "true", "kept by roux: how often it was launched" },
	{ "secrets", TEXTS, "names of values that are never shown" },
	{ "effects", "{\"enum\":[\"read\",\"write\",\"destructive\"]}",
		"what it does to the world, for clients that ask before they call a tool" },
	{ "idempotent", TRUTH, "true: doing it twice is the same as doing it once" },
	{ "network", TRUTH, "true: it talks to other machines" },
	{ "always", TRUTH, "true: clients that show only some tools show this one" },
	{ "output_schema", "{\"type\":\"object\"}", "a JSON Schema of what it prints" },
	{ "sync_budget", DURATION, "how long a tool call waits for it; 0: until it ends" },
	{ "progress_budget", DURATION, "the same for a client that hears of progress" },
	{ "paths", "{\"enum\":[\"project\",\"anywhere\"]}",
		"where paths that a model gives may lead" },
};

const size_t recipe_field_count = ARRAY_SIZE(recipe_fields);

const char *const lifecycle_names[] = { "run_id", "state_dir", "actor_address", "default_room",
	"communication_file", NULL };
