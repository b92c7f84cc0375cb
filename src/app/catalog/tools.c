/* Tools: recipes in the user's directory that a call writes. */
#include "app/context/context.h"
#include "app/recipes.h"
#include "recipe/tool.h"

static bool write_tool(struct app *a, const struct recipe_tool *tool, bool update, struct buf *path,
	struct report *r)
{
	const struct tool_request q = {
		.name = tool->name,
		.template = tool->template,
		.description = tool->description,
		.args = tool->args,
		.async = tool->async,
		.update = update,
	};

	return tool_write(app_dirs(a), &q, path, r);
}

bool recipes_add_tool(
	struct app *a, const struct recipe_tool *tool, struct buf *path, struct report *r)
{
	return write_tool(a, tool, false, path, r);
}

bool recipes_update_tool(
	struct app *a, const struct recipe_tool *tool, struct buf *path, struct report *r)
{
	return write_tool(a, tool, true, path, r);
}

bool recipes_remove_tool(struct app *a, const char *name, struct buf *path, struct report *r)
{
	return tool_remove(app_dirs(a), name, path, r);
}

struct str recipes_id_of(struct str path)
{
	return recipe_id_of(path);
}
