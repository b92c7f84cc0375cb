/* JSON Schemas: of one recipe's arguments, and of what can be written. */
#include "graph/schema.h"

#include "app/catalog/ref.h"
#include "app/catalog/secrets.h"
#include "recipe/schema.h"
#include "steps/read/schema.h"

json_t *recipes_input_schema(const struct recipe_ref *ref)
{
	const struct recipe *recipe = ref->recipe;
	AUTO_JSON *secrets = recipe_secrets(recipe);
	json_t *schema = public_arguments_schema(recipe->arguments, recipe_async(recipe));
	json_t *properties = json_object_get(schema, "properties"), *name, *property;
	struct mask *mask = recipe_mask(recipe, ref->graph, ref->values);
	const char *of;
	size_t i;

	/* Left out rather than masked: a client would send the mask as the value. */
	json_array_foreach(secrets, i, name)
	{
		property = json_object_get(properties, json_string_value(name));
		json_object_del(property, "default");
		json_object_set_new(property, "writeOnly", json_true());
	}
	json_object_foreach(properties, of, property)
	{
		const json_t *value = json_object_get(property, "default");
		AUTO_JSON *shown = value ? mask_value(mask, value) : NULL;

		if (value && !json_equal(shown, value))
			json_object_del(property, "default");
	}
	mask_free(mask);
	return schema;
}

json_t *recipes_output_schema(const struct recipe_ref *ref)
{
	json_t *schema = json_object_get(ref->recipe->file->object, "output_schema");

	return json_is_object(schema) ? json_incref(schema) : NULL;
}

void schema_write(enum schema_kind kind, struct buf *b)
{
	switch (kind) {
	case SCHEMA_TEMPLATE:
		schema_template(b);
		break;
	case SCHEMA_RECIPE:
		schema_recipe(b);
		break;
	case SCHEMA_STEPS: {
		AUTO_JSON *schema = steps_schema();

		json_write(b, schema, 2);
		buf_addc(b, '\n');
		break;
	}
	}
}
