/* Tools: recipes in the user's directory that a call writes. */
#include <errno.h>

#include "app/context/context.h"
#include "app/recipes.h"
#include "base/atomic-file.h"
#include "base/file.h"
#include "base/path.h"
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
		.project = tool->project,
		.update = update,
	};

	return (tool->project || app_may_keep_recipes(a, r)) &&
	       tool_write(app_dirs(a), &q, path, r);
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

bool recipes_remove_tool(
	struct app *a, const char *name, bool project, struct buf *path, struct report *r)
{
	return tool_remove(app_dirs(a), name, project, path, r);
}

bool recipes_init_project(struct app *a, struct str text, struct buf *path, struct report *r)
{
	struct arena arena = ARENA_INIT;
	struct str dir = path_below(&arena, app_cwd(a), S(".roux/recipes"));
	int n = dir_make(dir.p);

	buf_printf(path, "%.*s/hello.md", STR(dir));
	if (n == 0)
		n = atomic_write(buf_cstr(path), text,
			&(struct atomic_options){ .mode = 0644, .exclusive = true });
	arena_done(&arena);
	if (n == -EEXIST)
		return report_error(
			r, (struct where){ 0 }, "there is a %s already", buf_cstr(path));
	return n == 0 || report_errno(r, -n, "cannot write %s", buf_cstr(path));
}

struct str recipes_id_of(struct str path)
{
	return recipe_id_of(path);
}
