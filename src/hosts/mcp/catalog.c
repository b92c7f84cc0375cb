#include "hosts/mcp/catalog.h"

#include <dirent.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "app/recipes.h"
#include "base/utf8.h"
#include "hosts/mcp/builtins.h"
#include "hosts/mcp/methods.h"
#include "hosts/mcp/seal.h"
#include "hosts/mcp/subscriptions.h"
#include "hosts/mcp/tool.h"

enum { PAGE = 200, MANY = 128, SETTLE_MS = 50, RESCAN_MS = 2000 };

/* -- reading -------------------------------------------------------------------------------------
 */

static void note(struct catalog *c, struct str id, struct str text)
{
	vec_push(&c->problems,
		(struct problem){ arena_str(&c->arena, id), arena_str(&c->arena, text) });
	mcp_log("recipe '%.*s' is not a tool: %.*s", STR(id), STR(text));
}

static bool listed(const char *const *globs, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (fnmatch(globs[i], name, 0) == 0)
			return true;
	return false;
}

static bool wanted(const struct catalog *c, const struct tool *t)
{
	const struct mcp_options *o = &c->server->options;
	const char *name = t->name.p;

	if (o->only_count && !listed(o->only, o->only_count, name))
		return false;
	if (listed(o->except, o->except_count, name))
		return false;
	return !o->read_only || t->effects == EFFECTS_READ;
}

static struct tool *find_in(struct catalog *c, struct str name)
{
	vec_each (t, &c->tools)
		if (str_eq((*t)->name, name))
			return *t;
	return NULL;
}

/* Takes the tool. What was added before wins. */
static void add(struct catalog *c, struct tool *t)
{
	const struct tool *other = find_in(c, t->name);
	AUTO_BUF text = BUF_INIT;

	if (str_starts(t->name, S("roux_")) && !t->builtin)
		buf_adds(&text, "names that begin with roux_ are those of built-in tools");
	else if (other && !str_eq(other->id, t->id))
		buf_printf(&text, "'%.*s' has the same name as a tool", STR(other->id));
	if (text.len)
		note(c, t->id, buf_str(&text));
	if (text.len || other || !wanted(c, t))
		tool_unref(t);
	else
		vec_push(&c->tools, t);
}

static void add_recipe(struct catalog *c, struct recipe_ref *ref)
{
	AUTO_REPORT issues = REPORT_INIT;
	struct tool *t = tool_of_recipe(ref, &issues);

	if (t)
		add(c, t);
	else
		note(c, recipe_ref_id(ref), issues.issues.at[0].message);
}

static bool see(void *data, const struct recipe_info *info)
{
	struct catalog *c = data;

	if (info->state == RECIPE_INVALID && strcmp(info->layer, "packaged") != 0)
		note(c, info->id, info->error);
	else if (info->tool && info->ref)
		add_recipe(c, info->ref);
	else if (info->state == RECIPE_ACTIVE && strcmp(info->layer, "project") == 0)
		note(c, info->id,
			S("it is of the project and not trusted; a person types `roux trust`"));
	return true;
}

/* One that the command line names, as a file or by its id. */
static void add_named(struct catalog *c, const char *operand)
{
	AUTO_REPORT issues = REPORT_INIT;
	AUTO_JSON *unknown = json_null();
	struct recipe_ref *ref = recipes_open(c->server->app, operand,
		&(struct recipe_open){ .as = OPERAND_RECIPE, .launch = true, .values = unknown },
		&issues);

	if (ref)
		add_recipe(c, ref);
	else
		note(c, recipes_id_of(str_of(operand)), issues.issues.at[0].message);
	recipe_ref_free(ref);
}

static bool is_recipe(const char *name)
{
	static const char *const ends[] = { ".json", ".md", ".yaml", ".yml" };

	if (name[0] == '.' || strcmp(name, "resources.json") == 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (str_ends(str_of(name), str_of(ends[i])))
			return true;
	return false;
}

/* False: it cannot be read. */
static bool add_directory(struct catalog *c, const char *dir)
{
	struct dirent **names = NULL;
	int count = scandir(dir, &names, NULL, alphasort);

	for (int i = 0; i < count; i++) {
		AUTO_BUF path = BUF_INIT;

		buf_printf(&path, "%s%s/%s", dir[0] == '/' ? "" : "./", dir, names[i]->d_name);
		if (is_recipe(names[i]->d_name))
			add_named(c, buf_cstr(&path));
		free(names[i]);
	}
	free(names);
	return count >= 0;
}

/* Of fixtures: the recipes below `prompts` are not tools. */
static void add_prompts(struct catalog *c, const char *dir)
{
	AUTO_BUF path = BUF_INIT;
	size_t before = c->tools.len;

	buf_printf(&path, "%s/prompts", dir);
	if (!c->server->options.raw_results || !add_directory(c, buf_cstr(&path)))
		return;
	for (size_t i = before; i < c->tools.len; i++)
		vec_push(&c->prompts, c->tools.at[i]);
	c->tools.len = before;
}

static int by_name(const void *a, const void *b)
{
	return str_cmp((*(struct tool *const *)a)->name, (*(struct tool *const *)b)->name);
}

static void forget(struct catalog *c)
{
	vec_each (t, &c->tools)
		tool_unref(*t);
	vec_each (t, &c->prompts)
		tool_unref(*t);
	c->tools.len = c->prompts.len = 0;
	c->problems.len = 0;
	arena_done(&c->arena);
	c->arena = ARENA_INIT;
}

static void read_all(struct catalog *c)
{
	const struct mcp_options *o = &c->server->options;
	AUTO_REPORT issues = REPORT_INIT;

	forget(c);
	for (size_t i = 0; i < builtin_count && !o->no_builtins; i++)
		add(c, tool_of_builtin(&builtins[i]));
	for (size_t i = 0; i < o->recipe_count; i++)
		add_named(c, o->recipes[i]);
	for (size_t i = 0; i < o->dir_count; i++)
		if (!add_directory(c, o->dirs[i]))
			mcp_log("cannot read the directory %s", o->dirs[i]);
	for (size_t i = 0; i < o->dir_count; i++)
		add_prompts(c, o->dirs[i]);
	(void)recipes_each(c->server->app, NULL, see, c, &issues);
	if (c->tools.len)
		qsort(c->tools.at, c->tools.len, sizeof(*c->tools.at), by_name);
	if (c->tools.len > MANY)
		mcp_log("%zu tools are listed: many clients get slow or leave some out; --only "
			"and --except choose",
			c->tools.len);
	c->read = true;
	json_decref(c->listed_prompts);
	c->listed_prompts = prompts_all(c->server);
}

/* -- changes -------------------------------------------------------------------------------------
 */

/* Two for each directory of the command line: itself, and `prompts` below it. */
struct named_dir {
	struct notify_file file;
	struct catalog *catalog;
};

static json_t *all_tools(struct catalog *c)
{
	json_t *all = json_array();

	vec_each (t, &c->tools)
		json_array_append(all, (*t)->listed);
	return all;
}

/* Whether changes are told, or have to be looked for. */
static bool is_watched(const struct catalog *c)
{
	return c->watch && (!c->server->options.dir_count || c->named);
}

static void on_again(struct timer *timer)
{
	struct catalog *c = container_of(timer, struct catalog, again);
	AUTO_JSON *before = all_tools(c), *after = NULL;
	AUTO_JSON *prompts = json_incref(c->listed_prompts);

	read_all(c);
	after = all_tools(c);
	if (!json_equal(before, after)) {
		c->generation++;
		subscriptions_lists_changed(c->server, CHANGED_TOOLS | CHANGED_RESOURCES);
	}
	if (!json_equal(prompts, c->listed_prompts))
		subscriptions_lists_changed(c->server, CHANGED_PROMPTS);
	if (!is_watched(c))
		timer_start(app_loop(c->server->app), &c->again, RESCAN_MS);
}

static void on_changed(void *data)
{
	struct catalog *c = data;

	timer_start(app_loop(c->server->app), &c->again, SETTLE_MS);
}

static void on_dir_changed(struct notify_file *f, uint32_t events)
{
	(void)events;
	on_changed(container_of(f, struct named_dir, file)->catalog);
}

/* False: there are no watches left, for example; then they are looked at now and then. */
static bool watch_named(struct catalog *c)
{
	const struct mcp_options *o = &c->server->options;
	const uint32_t events =
		IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_MOVED_FROM | IN_CLOSE_WRITE;
	bool ok = notify_open(&c->notify) == 0 &&
		  notify_start(app_loop(c->server->app), &c->notify) == 0;

	c->named = mem_zero(sizeof(*c->named) * 2 * o->dir_count);
	for (size_t i = 0; i < 2 * o->dir_count && ok; i++) {
		struct named_dir *d = &c->named[i];
		AUTO_BUF path = BUF_INIT;

		buf_printf(&path, "%s%s", o->dirs[i / 2], i % 2 ? "/prompts" : "");
		d->catalog = c;
		d->file.changed = on_dir_changed;
		d->file.wd = -1;
		/* Most have no prompts. */
		ok = notify_add(&c->notify, &d->file, buf_cstr(&path), events) == 0 || i % 2;
	}
	if (!ok) {
		notify_close(&c->notify);
		free(TAKE(c->named));
	}
	return ok;
}

static void watch(struct catalog *c)
{
	c->watch = recipes_watch(c->server->app, on_changed, c);
	if (c->server->options.dir_count)
		(void)watch_named(c);
	if (!is_watched(c))
		timer_start(app_loop(c->server->app), &c->again, RESCAN_MS);
}

/* Watching begins before reading, so that nothing falls in between. */
void catalog_read(struct catalog *c)
{
	if (c->read)
		return;
	watch(c);
	read_all(c);
}

struct tool *catalog_find(struct catalog *c, struct str name)
{
	catalog_read(c);
	return find_in(c, name);
}

struct tool *catalog_recipe(struct catalog *c, struct str id)
{
	struct tool *found = NULL;

	catalog_read(c);
	vec_each (t, &c->tools)
		if (!(*t)->builtin && (str_eq((*t)->id, id) || (!found && str_eq((*t)->name, id))))
			found = *t;
	return found;
}

struct catalog *catalog_new(struct mcp *m)
{
	struct catalog *c = mem_new(struct catalog);

	c->server = m;
	c->again.fire = on_again;
	notify_init(&c->notify);
	return c;
}

void catalog_free(struct catalog *c)
{
	if (!c)
		return;
	timer_stop(&c->again);
	recipes_watch_end(c->watch);
	notify_close(&c->notify);
	free(c->named);
	forget(c);
	vec_done(&c->tools);
	vec_done(&c->prompts);
	json_decref(c->listed_prompts);
	vec_done(&c->problems);
	arena_done(&c->arena);
	free(c);
}

/* -- lists in pages ------------------------------------------------------------------------------
 */

void answer_page(struct exchange *x, const char *member, json_t *all, uint64_t generation)
{
	const json_t *cursor = json_object_get(x->params, "cursor");
	json_t *page = json_array(), *result;
	uint64_t from = 0;

	if (cursor && !(json_is_string(cursor) && seal_cursor_open(x->session->server, member,
							  json_str(cursor), generation, &from))) {
		json_decref(page);
		json_decref(all);
		exchange_fail(x, RPC_PARAMS, NULL,
			"this cursor is not valid, or the list has changed: begin from the start");
		return;
	}
	for (size_t i = from; i < json_array_size(all) && i < from + PAGE; i++)
		json_array_append(page, json_array_get(all, i));
	result = json_pack("{s:o}", member, page);
	if (from + PAGE < json_array_size(all)) {
		AUTO_BUF next = BUF_INIT;

		seal_cursor(x->session->server, member, from + PAGE, generation, &next);
		json_object_set_new(result, "nextCursor", json_from_str(buf_str(&next)));
	}
	json_decref(all);
	exchange_answer(x, result);
}

void method_tools_list(struct exchange *x)
{
	struct catalog *c = x->session->server->catalog;

	catalog_read(c);
	answer_page(x, "tools", all_tools(c), c->generation);
}
