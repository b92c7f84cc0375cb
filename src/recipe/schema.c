#include "recipe/schema.h"

#include "graph/schema.h"
#include "recipe/fields.h"

static json_t *parse(const char *schema)
{
	return json_loads(schema, JSON_DECODE_ANY, NULL);
}

void schema_recipe(struct buf *b)
{
	json_t *definitions = schema_definitions(true);
	json_t *properties = json_deep_copy(
		json_object_get(json_object_get(definitions, "object"), "properties"));

	for (size_t i = 0; i < recipe_field_count; i++) {
		json_t *schema = parse(recipe_fields[i].schema);

		if (json_is_true(schema)) {
			json_decref(schema);
			schema = json_object();
		}
		json_object_set_new(schema, "description", json_string(recipe_fields[i].summary));
		json_object_set_new(properties, recipe_fields[i].name, schema);
	}
	AUTO_JSON *schema = json_pack("{s:s, s:s, s:s, s:s, s:[s], s:o, s:O, s:o}", "$schema",
		"https://json-schema.org/draft/2020-12/schema", "title", "roux recipe",
		"description", "A command template saved with what it needs.", "type", "object",
		"required", "template", "properties", properties, "not",
		json_object_get(json_object_get(definitions, "object"), "not"), "$defs",
		definitions);
	json_write(b, schema, 2);
	buf_addc(b, '\n');
}
