#include "steps/read/schema.h"

#include "steps/read/fields.h"

#define LETTERS "\\p{L}\\p{N}"

static const char *const definitions[KEY_IN_COUNT] = {
	[KEY_IN_STEP] = "step",
	[KEY_IN_RETRY] = "retry",
	[KEY_IN_RECURSION] = "recursion",
	[KEY_IN_RATE_LIMITING] = "rate_limiting",
	[KEY_IN_BACKOFF] = "backoff",
	[KEY_IN_ORCHESTRATOR] = "orchestrator",
	[KEY_IN_ORCHESTRATOR_CONFIG] = "orchestrator_config",
	[KEY_IN_STAGE] = "stage",
	[KEY_IN_APPROVAL] = "approval",
};

static json_t *of_type(const char *type)
{
	return json_pack("{s:s}", "type", type);
}

static json_t *ref(enum key_in in)
{
	AUTO_BUF to = BUF_INIT;

	buf_printf(&to, "#/$defs/%s", definitions[in]);
	return json_pack("{s:s}", "$ref", buf_cstr(&to));
}

static json_t *words(const char *const *list)
{
	json_t *all = json_array();

	for (size_t i = 0; list[i]; i++)
		json_array_append_new(all, json_string(list[i]));
	return json_pack("{s:s, s:o}", "type", "string", "enum", all);
}

/* -- one key -------------------------------------------------------------------------------------
 */

/* Where a text may be empty an empty one counts as none. */
static json_t *text_schema(const struct key *k)
{
	if (k->words)
		return words(k->words);
	json_t *text = of_type("string");
	const char *pattern = NULL;

	if (k->in == KEY_IN_RECIPE && str_eq(k->name, S("version")))
		pattern = "^[0-9]+\\.[0-9]+\\.[0-9]+$";
	else if (k->in == KEY_IN_RECIPE && str_eq(k->name, S("name")))
		pattern = "^[" LETTERS "_-]*[" LETTERS "][" LETTERS "_-]*$";
	else if (k->in == KEY_IN_STAGE && str_eq(k->name, S("name")))
		pattern = "^[" LETTERS "_ -]*[" LETTERS "][" LETTERS "_ -]*$";
	else if (k->is_name)
		pattern = "^([" LETTERS "_]*[" LETTERS "][" LETTERS "_]*)?$";
	else if (k->required)
		json_object_set_new(text, "minLength", json_integer(1));
	if (pattern)
		json_object_set_new(text, "pattern", json_string(pattern));
	if (k->is_name == KEY_NAME_RESULT)
		json_object_set_new(text, "not",
			json_pack(
				"{s:[s, s, s, s]}", "enum", "recipe", "session", "step", "stage"));
	return text;
}

static json_t *number_schema(const struct key *k)
{
	json_t *number = of_type(k->types & KEY_NUMBER ? "number" : "integer");

	json_object_set_new(number, "minimum", json_integer((json_int_t)k->minimum));
	if (k->maximum != 0)
		json_object_set_new(number, "maximum", json_integer((json_int_t)k->maximum));
	return number;
}

static json_t *list_schema(const struct key *k)
{
	json_t *items = NULL;

	switch (k->items) {
	case KEY_ITEMS_STEPS:
		items = ref(KEY_IN_STEP);
		break;
	case KEY_ITEMS_STAGES:
		items = ref(KEY_IN_STAGE);
		break;
	case KEY_ITEMS_MAPPINGS:
		items = of_type("object");
		break;
	case KEY_ITEMS_TEXTS:
	case KEY_ITEMS_NAMES:
		items = of_type("string");
		break;
	case KEY_ITEMS_ANY:
	case KEY_ITEMS_SCALARS:
	case KEY_ITEMS_KEYS:
	case KEY_ITEMS_BY_NAME:
		items = json_object();
		break;
	}
	json_t *list = json_pack("{s:s, s:o}", "type", "array", "items", items);
	if (k->required)
		json_object_set_new(list, "minItems", json_integer(1));
	return list;
}

static json_t *mapping_schema(const struct key *k)
{
	if (k->items == KEY_ITEMS_KEYS)
		return ref(k->inside);
	if (k->items == KEY_ITEMS_SCALARS)
		return json_pack("{s:s, s:{s:s}, s:{s:[s, s, s, s]}}", "type", "object",
			"propertyNames", "pattern", "^[^=]+$", "additionalProperties", "type",
			"string", "number", "boolean", "null");
	if (k->items == KEY_ITEMS_BY_NAME)
		return json_pack("{s:s, s:{s:s, s:{s:[s, s, s]}}}", "type", "object",
			"propertyNames", "pattern", "^[" LETTERS "_]*[" LETTERS "][" LETTERS "_]*$",
			"not", "enum", "recipe", "session", "step");
	return of_type("object");
}

/* One alternative for each type that it may hold; null is as good as nothing. */
static json_t *key_schema(const struct key *k)
{
	json_t *schema = json_pack("{s:s}", "description", k->summary);
	json_t *any = json_array();

	if (k->fallback)
		json_object_set_new(
			schema, "default", json_loads(k->fallback, JSON_DECODE_ANY, NULL));
	if (k->types == KEY_ANY) {
		json_decref(any);
		return schema;
	}
	if (k->types & KEY_TEXT)
		json_array_append_new(any, text_schema(k));
	if (k->types & (KEY_NUMBER | KEY_INTEGER))
		json_array_append_new(
			any, k->types & KEY_TEXT ? of_type("number") : number_schema(k));
	if (k->types & KEY_BOOL)
		json_array_append_new(any, of_type("boolean"));
	if (k->types & KEY_LIST)
		json_array_append_new(any, list_schema(k));
	if (k->types & KEY_MAPPING)
		json_array_append_new(any, mapping_schema(k));
	if (!k->required)
		json_array_append_new(any, of_type("null"));
	json_object_set_new(schema, "anyOf", any);
	return schema;
}

/* -- a mapping -----------------------------------------------------------------------------------
 */

static json_t *mapping(enum key_in in)
{
	json_t *properties = json_object(), *required = json_array();

	for (size_t i = 0; i < step_key_count; i++) {
		const struct key *k = &step_keys[i];

		if (k->in != in)
			continue;
		/* What a step may hold depends on its type. */
		bool foreign = in == KEY_IN_STEP && k->used_by;
		json_object_set_new(properties, k->name.p,
			foreign ? json_pack("{s:s}", "description", k->summary) : key_schema(k));
		if (k->required)
			json_array_append_new(required, json_string(k->name.p));
	}
	json_t *schema = json_pack("{s:s, s:o}", "type", "object", "properties", properties);
	if (json_array_size(required))
		json_object_set(schema, "required", required);
	json_decref(required);
	if (key_strict(in))
		json_object_set_new(schema, "additionalProperties", json_false());
	return schema;
}

/* -- the types of steps --------------------------------------------------------------------------
 */

/* What counts as absent where a key is not allowed. */
static json_t *nothing(void)
{
	return json_pack("{s:[n, s, [], {}, b, i]}", "enum", "", 0, 0);
}

static json_t *present(const char *name)
{
	return json_pack(
		"{s:[s], s:{s:{s:o}}}", "required", name, "properties", name, "not", nothing());
}

/* The condition under which a step has that type. */
static json_t *has_type(enum step_type type)
{
	const char *name = step_type_name(type);

	if (type == STEP_AGENT)
		return json_pack("{s:{s:{s:[s, n]}}}", "properties", "type", "enum", name);
	return json_pack(
		"{s:[s], s:{s:{s:s}}}", "required", "type", "properties", "type", "const", name);
}

static json_t *needed(enum step_type type)
{
	json_t *required = json_array(), *filled = json_object();

	for (size_t i = 0; i < step_key_count; i++) {
		const struct key *k = &step_keys[i];

		if (k->in != KEY_IN_STEP || !(k->needed_by & 1u << type))
			continue;
		json_array_append_new(required, json_string(k->name.p));
		json_object_set_new(filled, k->name.p,
			k->types & KEY_TEXT ? json_pack("{s:s, s:s}", "type", "string", "pattern",
						      k->filled ? "\\S" : "")
					    : of_type("number"));
		if (k->types & KEY_TEXT && !k->filled)
			json_object_set_new(
				json_object_get(filled, k->name.p), "minLength", json_integer(1));
	}
	return json_pack("{s:o, s:o}", "required", required, "properties", filled);
}

/* The keys of one type: its own as they are, those of others empty or ignored. */
static json_t *of_step_type(enum step_type type)
{
	json_t *properties = json_object();

	for (size_t i = 0; i < step_key_count; i++) {
		const struct key *k = &step_keys[i];

		if (k->in != KEY_IN_STEP)
			continue;
		if (k->refused_by & 1u << type)
			json_object_set_new(properties, k->name.p, nothing());
		else if (k->used_by & 1u << type)
			json_object_set_new(properties, k->name.p, key_schema(k));
	}
	json_t *then = json_pack("{s:o}", "properties", properties), *need = needed(type);
	json_t *all = json_array();
	if (type == STEP_AGENT)
		/* A loop around steps of its own does nothing itself. */
		json_array_append_new(all, json_pack("{s:[o, o, o]}", "anyOf", need,
						   present("steps"), present("while_steps")));
	else
		json_array_append_new(all, need);
	json_object_set_new(then, "allOf", all);
	return json_pack("{s:o, s:o}", "if", has_type(type), "then", then);
}

static json_t *foreach_given(void)
{
	return json_pack("{s:[s], s:{s:{s:s, s:s}}}", "required", "foreach", "properties",
		"foreach", "type", "string", "pattern", "\\{\\{");
}

static json_t *while_given(void)
{
	return json_pack("{s:[s], s:{s:{s:{s:[n, s]}}}}", "required", "while_condition",
		"properties", "while_condition", "not", "enum", "");
}

/* A key that cannot stand without its loop. */
static json_t *loop_rule(const struct key *k)
{
	json_t *then = k->needs == STEP_FOREACH
			       ? foreach_given()
			       : json_pack("{s:[o, o]}", "anyOf", foreach_given(), while_given());

	return json_pack("{s:o, s:o}", "if", present(k->name.p), "then", then);
}

static json_t *step_schema(void)
{
	json_t *schema = mapping(KEY_IN_STEP), *all = json_array();

	for (unsigned t = 0; t < STEP_TYPE_COUNT; t++)
		json_array_append_new(all, of_step_type((enum step_type)t));
	for (size_t i = 0; i < step_key_count; i++)
		if (step_keys[i].in == KEY_IN_STEP && step_keys[i].needs_always)
			json_array_append_new(all, loop_rule(&step_keys[i]));
	json_array_append_new(
		all, json_pack("{s:{s:[o, o]}}", "not", "allOf", foreach_given(), while_given()));
	json_object_set_new(schema, "allOf", all);
	return schema;
}

json_t *steps_schema(void)
{
	json_t *schema = json_pack("{s:s, s:s, s:s}", "$schema",
		"https://json-schema.org/draft/2020-12/schema", "title", "roux step recipe",
		"description", "A list of steps, or stages of steps with gates, written as YAML.");
	json_t *defs = json_object();
	AUTO_JSON *top = mapping(KEY_IN_RECIPE);

	json_object_update(schema, top);
	json_object_set_new(schema, "oneOf",
		json_pack("[{s:[s], s:{s:{s:i}, s:{s:i}}}, {s:[s], s:{s:{s:i}, s:{s:i}}}]",
			"required", "steps", "properties", "steps", "minItems", 1, "stages",
			"maxItems", 0, "required", "stages", "properties", "stages", "minItems", 1,
			"steps", "maxItems", 0));
	for (unsigned in = KEY_IN_STEP; in < KEY_IN_COUNT; in++)
		json_object_set_new(defs, definitions[in],
			in == KEY_IN_STEP ? step_schema() : mapping((enum key_in)in));
	json_object_set_new(schema, "$defs", defs);
	return schema;
}
