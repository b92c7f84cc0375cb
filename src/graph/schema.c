#include "graph/schema.h"

#include "data/needs.h"
#include "graph/fields.h"

static json_t *of_type(const char *type)
{
	return json_pack("{s:s}", "type", type);
}

static json_t *node_ref(void)
{
	return json_pack("{s:s}", "$ref", "#/$defs/node");
}

/* One alternative for each JSON type that the field may hold. */
static json_t *field_schema(const struct field *f, bool imports)
{
	json_t *any = json_array();

	if (f->types & FIELD_IS_STRING) {
		json_t *text = of_type("string");

		if (f->node)
			json_object_set_new(text, "pattern", json_string("\\S"));
		for (size_t i = 0; f->words && f->words[i]; i++) {
			if (i == 0)
				json_object_set_new(text, "enum", json_array());
			json_array_append_new(
				json_object_get(text, "enum"), json_string(f->words[i]));
		}
		json_array_append_new(any, text);
	}
	if (f->types & FIELD_IS_NUMBER) {
		json_t *number = of_type(f->whole ? "integer" : "number");

		json_object_set_new(number, "minimum", json_integer((json_int_t)f->minimum));
		json_array_append_new(any, number);
	}
	if (f->types & FIELD_IS_BOOL)
		json_array_append_new(any, of_type("boolean"));
	if (f->types & FIELD_IS_ARRAY) {
		json_t *array = of_type("array");

		if (f->items && str_eq(str_of(f->items), S("string"))) {
			json_object_set_new(array, "items", of_type("string"));
		} else {
			json_object_set_new(array, "items", node_ref());
			json_object_set_new(array, "minItems", json_integer(1));
		}
		json_array_append_new(any, array);
	}
	if (f == &node_fields[FIELD_NEEDS])
		json_array_append_new(any, needs_schema());
	else if (f->types & FIELD_IS_OBJECT)
		json_array_append_new(any, f->node ? node_ref() : of_type("object"));
	/* A reference can stand for a value of any type. */
	if (imports && !(f->types & FIELD_IS_STRING))
		json_array_append_new(any,
			json_pack("{s:s, s:s}", "type", "string", "pattern", "^\\{[^{}]+\\}$"));
	if (!str_eq(str_of(f->name), S("template")))
		json_array_append_new(any, of_type("null"));
	json_t *schema = json_pack("{s:s}", "description", f->summary);
	json_object_set_new(schema, "anyOf", any);
	return schema;
}

/* A node that stands for another recipe. */
static json_t *import_node(json_t *properties)
{
	json_t *own = json_deep_copy(properties);

	json_object_del(own, "template");
	json_object_set_new(own, "name",
		json_pack("{s:s, s:s}", "type", "string", "description", "the alias of an import"));
	json_object_set_new(own, "values",
		json_pack("{s:s, s:s}", "type", "object", "description", "values for it"));
	return json_pack("{s:s, s:[s], s:{s:[s]}, s:o}", "type", "object", "required", "name",
		"not", "required", "template", "properties", own);
}

json_t *schema_definitions(bool imports)
{
	json_t *properties = json_object();
	json_t *retired = json_array();

	for (enum field_id id = 0; id < FIELD_COUNT; id++) {
		if (node_fields[id].types)
			json_object_set_new(properties, node_fields[id].name,
				field_schema(&node_fields[id], imports));
		else
			json_array_append_new(
				retired, json_pack("{s:[s]}", "required", node_fields[id].name));
	}
	json_t *object = json_pack("{s:s, s:[s], s:o, s:{s:o}}", "type", "object", "required",
		"template", "properties", properties, "not", "anyOf", retired);
	json_t *array =
		json_pack("{s:s, s:o, s:i}", "type", "array", "items", node_ref(), "minItems", 1);
	json_t *text = json_pack("{s:s, s:s}", "type", "string", "pattern", "\\S");
	json_t *any = json_pack("[o, o, {s:s}]", text, array, "$ref", "#/$defs/object");
	if (imports)
		json_array_append_new(any, json_pack("{s:s}", "$ref", "#/$defs/import"));
	json_t *definitions = json_pack("{s:{s:o}, s:o}", "node", "anyOf", any, "object", object);
	if (imports)
		json_object_set_new(definitions, "import", import_node(properties));
	return definitions;
}

void schema_template(struct buf *b)
{
	AUTO_JSON *schema = json_pack("{s:s, s:s, s:s, s:s, s:o}", "$schema",
		"https://json-schema.org/draft/2020-12/schema", "title", "roux command template",
		"description", "A graph of commands as data.", "$ref", "#/$defs/node", "$defs",
		schema_definitions(false));

	json_write(b, schema, 2);
	buf_addc(b, '\n');
}
