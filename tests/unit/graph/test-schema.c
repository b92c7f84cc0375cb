#include "graph/schema.h"

#include <math.h>

#include "graph/fields.h"
#include "graph/graph.h"

#include "unit.h"

/* As much of JSON Schema as the schema uses; a keyword that is not known here fails the test. */
static bool valid(const json_t *top, const json_t *schema, const json_t *value);

static const char *type_of(const json_t *v)
{
	static const char *const names[] = { [JSON_OBJECT] = "object",
		[JSON_ARRAY] = "array",
		[JSON_STRING] = "string",
		[JSON_INTEGER] = "number",
		[JSON_REAL] = "number",
		[JSON_TRUE] = "boolean",
		[JSON_FALSE] = "boolean",
		[JSON_NULL] = "null" };

	return names[json_typeof(v)];
}

static bool has_type(const json_t *value, const char *type)
{
	if (!strcmp(type, "integer"))
		return json_is_number(value) &&
		       floor(json_number_value(value)) == json_number_value(value);
	return !strcmp(type, type_of(value));
}

static bool any_of(const json_t *top, const json_t *list, const json_t *value)
{
	json_t *schema;
	size_t i;

	json_array_foreach(list, i, schema) if (valid(top, schema, value)) return true;
	return false;
}

static bool in_list(const json_t *list, const json_t *value)
{
	json_t *item;
	size_t i;

	json_array_foreach(list, i, item) if (json_equal(item, (json_t *)value)) return true;
	return false;
}

static bool all_items(const json_t *top, const json_t *schema, const json_t *array)
{
	json_t *item;
	size_t i;

	json_array_foreach(array, i, item) if (!valid(top, schema, item)) return false;
	return true;
}

static bool all_properties(const json_t *top, const json_t *properties, const json_t *object)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)object, key, value)
	{
		json_t *schema = json_object_get(properties, key);

		if (schema && !valid(top, schema, value))
			return false;
	}
	return true;
}

static bool all_there(const json_t *names, const json_t *object)
{
	json_t *name;
	size_t i;

	json_array_foreach(
		names, i, name) if (!json_object_get(object, json_string_value(name))) return false;
	return true;
}

static bool has_visible_character(const json_t *text)
{
	return str_trim(json_str(text)).len > 0;
}

static bool keyword(const json_t *top, const char *key, const json_t *rule, const json_t *value)
{
	if (!strcmp(key, "$ref")) {
		struct str name = json_str(rule);

		assert_true(str_starts(name, S("#/$defs/")));
		json_t *to = json_object_get(json_object_get(top, "$defs"), name.p + 8);
		assert_non_null(to);
		return valid(top, to, value);
	}
	if (!strcmp(key, "type"))
		return has_type(value, json_string_value(rule));
	if (!strcmp(key, "anyOf"))
		return any_of(top, rule, value);
	if (!strcmp(key, "not"))
		return !valid(top, rule, value);
	if (!strcmp(key, "enum"))
		return in_list(rule, value);
	if (!strcmp(key, "minimum"))
		return !json_is_number(value) ||
		       json_number_value(value) >= json_number_value(rule);
	if (!strcmp(key, "pattern")) {
		assert_string_equal(json_string_value(rule), "\\S");
		return !json_is_string(value) || has_visible_character(value);
	}
	if (!strcmp(key, "items"))
		return !json_is_array(value) || all_items(top, rule, value);
	if (!strcmp(key, "minItems"))
		return !json_is_array(value) ||
		       json_array_size(value) >= (size_t)json_integer_value(rule);
	if (!strcmp(key, "properties"))
		return !json_is_object(value) || all_properties(top, rule, value);
	if (!strcmp(key, "required"))
		return !json_is_object(value) || all_there(rule, value);
	if (strcmp(key, "$schema") != 0 && strcmp(key, "$defs") != 0 && strcmp(key, "$id") != 0 &&
		strcmp(key, "title") != 0 && strcmp(key, "description") != 0)
		fail_msg("unknown keyword %s", key);
	return true;
}

static bool valid(const json_t *top, const json_t *schema, const json_t *value)
{
	const char *key;
	json_t *rule;

	json_object_foreach(
		(json_t *)schema, key, rule) if (!keyword(top, key, rule, value)) return false;
	return true;
}

static json_t *parse(const char *text)
{
	struct source source = { S("t"), str_of(text) };
	AUTO_REPORT r = REPORT_INIT;
	json_t *value = json_read(&source, &r);

	if (!value)
		fail_msg("%s is no JSON", text);
	return value;
}

static json_t *schema(void)
{
	AUTO_BUF b = BUF_INIT;

	schema_template(&b);
	return parse(buf_cstr(&b));
}

static void the_schema_is_json_and_describes_every_field(void **state UNUSED)
{
	AUTO_JSON *top = schema();
	json_t *properties = json_object_get(
		json_object_get(json_object_get(top, "$defs"), "object"), "properties");

	assert_string_equal(json_string_value(json_object_get(top, "$schema")),
		"https://json-schema.org/draft/2020-12/schema");
	for (enum field_id id = 0; id < FIELD_COUNT; id++) {
		json_t *field = json_object_get(properties, node_fields[id].name);

		assert_int_equal(field != NULL, node_fields[id].types != 0);
		if (field)
			assert_true(json_string_length(json_object_get(field, "description")) > 10);
	}
}

/* What the schema can say, reader and schema say alike. */
static void schema_and_reader_agree(void **state UNUSED)
{
	static const struct {
		const char *text;
		bool good;
	} docs[] = {
		{ "\"echo a\"", true },
		{ "[\"a\",[\"b\"],{\"template\":\"c\"}]", true },
		{ "{\"template\":{\"template\":\"c\"}}", true },
		{ "{\"template\":\"a\",\"host\":{\"any\":1}}", true },
		{ "{\"template\":\"a\",\"label\":\"l\",\"parallel\":false,\"when\":true}", true },
		{ "{\"template\":\"a\",\"when\":\"flag\"}", true },
		{ "{\"template\":\"a\",\"args\":[\"x\",\"n:int=1\"]}", true },
		{ "{\"template\":\"a\",\"args\":[]}", true },
		{ "{\"template\":\"a\",\"defaults\":{\"a\":[1]}}", true },
		{ "{\"template\":\"a\",\"timeout\":0,\"delay\":1.5}", true },
		{ "{\"template\":\"a\",\"timeout\":\"{t=5}\",\"delay\":\"\"}", true },
		{ "{\"template\":\"a\",\"output\":\"stdout\"}", true },
		{ "{\"template\":\"a\",\"retry\":1}", true },
		{ "{\"template\":\"a\",\"retry\":2.0}", true },
		{ "{\"template\":\"a\",\"retry\":\"2\"}", true },
		{ "{\"template\":\"a\",\"failure\":\"root\",\"recover\":[\"b\"]}", true },
		{ "{\"template\":\"a\",\"recover\":{\"template\":\"b\"}}", true },
		{ "{\"template\":\"a\",\"repeat\":3}", true },
		{ "{\"template\":\"a\",\"repeat\":\"{xs.length}\"}", true },
		{ "{\"template\":\"a\",\"label\":null,\"when\":null,\"repeat\":null}", true },
		{ "5", false },
		{ "null", false },
		{ "true", false },
		{ "\"\"", false },
		{ "\" \"", false },
		{ "[]", false },
		{ "[\"a\",1]", false },
		{ "[\"a\",[]]", false },
		{ "{}", false },
		{ "{\"template\":null}", false },
		{ "{\"template\":1}", false },
		{ "{\"template\":\"\"}", false },
		{ "{\"template\":[]}", false },
		{ "{\"template\":{\"label\":\"x\"}}", false },
		{ "{\"template\":[{\"template\":false}]}", false },
		{ "{\"template\":\"a\",\"label\":1}", false },
		{ "{\"template\":\"a\",\"parallel\":\"true\"}", false },
		{ "{\"template\":\"a\",\"when\":1}", false },
		{ "{\"template\":\"a\",\"args\":\"x\"}", false },
		{ "{\"template\":\"a\",\"args\":[1]}", false },
		{ "{\"template\":\"a\",\"defaults\":[]}", false },
		{ "{\"template\":\"a\",\"timeout\":-1}", false },
		{ "{\"template\":\"a\",\"timeout\":true}", false },
		{ "{\"template\":\"a\",\"delay\":[]}", false },
		{ "{\"template\":\"a\",\"output\":1}", false },
		{ "{\"template\":\"a\",\"retry\":0}", false },
		{ "{\"template\":\"a\",\"retry\":1.5}", false },
		{ "{\"template\":\"a\",\"failure\":\"never\"}", false },
		{ "{\"template\":\"a\",\"failure\":1}", false },
		{ "{\"template\":\"a\",\"recover\":1}", false },
		{ "{\"template\":\"a\",\"recover\":\"\"}", false },
		{ "{\"template\":\"a\",\"recover\":[]}", false },
		{ "{\"template\":\"a\",\"repeat\":0}", false },
		{ "{\"template\":\"a\",\"repeat\":2.5}", false },
		{ "{\"template\":\"a\",\"repeat\":true}", false },
		{ "{\"template\":\"a\",\"mode\":\"parallel\"}", false },
		{ "{\"template\":\"a\",\"critical\":true}", false },
		{ "{\"template\":[\"a\"],\"pipe\":[\"a\"]}", false },
	};
	AUTO_JSON *top = schema();

	for (size_t i = 0; i < ARRAY_SIZE(docs); i++) {
		/* Inside an array, because a document that begins otherwise is a command line. */
		AUTO_JSON *value = parse(docs[i].text);
		AUTO_BUF wrapped = BUF_INIT;
		AUTO_REPORT r = REPORT_INIT;

		buf_printf(&wrapped, "[%s]", docs[i].text);
		struct graph *g = graph_read(S("t"), buf_str(&wrapped), DIALECT_NOW, &r);
		if (!g == docs[i].good)
			fail_msg("the reader: %s", docs[i].text);
		if (valid(top, top, value) != docs[i].good)
			fail_msg("the schema: %s", docs[i].text);
		graph_unref(g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_schema_is_json_and_describes_every_field),
		cmocka_unit_test(schema_and_reader_agree),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("schema", tests, NULL, NULL);
}
