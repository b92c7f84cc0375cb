#include "app/agents.h"
#include "app/recipes.h"

/* The command becomes a template of nothing but values: "{w0}" "{w1}" …. What they hold is never
 * looked at again, so every byte arrives as it is. */
struct recipe_ref *agents_launch_ref(struct app *a, const struct agents_launch *l, struct report *r)
{
	const struct agents_command c = agents_launch_command(l);
	AUTO_JSON *values = json_object();
	AUTO_BUF text = BUF_INIT;

	for (size_t i = 0; i < c.argc; i++) {
		AUTO_BUF name = BUF_INIT;

		buf_printf(&name, "w%zu", i);
		buf_printf(&text, "%s\"{%s}\"", i ? " " : "", buf_cstr(&name));
		json_object_set_new_nocheck(
			values, buf_cstr(&name), json_from_str(str_of(c.argv[i])));
	}
	return recipes_open(a, buf_cstr(&text),
		&(struct recipe_open){ .as = OPERAND_TEMPLATE, .values = values }, r);
}
