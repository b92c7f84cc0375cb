#include "app/catalog/check-steps.h"

#include <string.h>

#include "app/agents/step-agents.h"
#include "base/path.h"
#include "steps/compile/sub-recipe.h"
#include "steps/language/reference.h"

enum { RECIPES_MAX = 1000 }; /* that are opened: each calls others */

struct checking {
	const struct steps_check *how;
	struct step_agents *agents;
	struct arena arena;
	struct map seen; /* path of a recipe → struct needed */
	struct report *r;
};

/* The values that a recipe cannot do without. */
struct needed {
	struct str *names;
	size_t count;
};

static void check_recipe(struct checking *c, const struct step_recipe *recipe);

static void check_agent(struct checking *c, const struct step *s)
{
	struct str name = s->agent.name.text;

	if (s->type != STEP_AGENT || !name.len)
		return;
	if (step_agent_known(c->agents, name)) {
		step_agent_check(c->agents, s, c->r);
		return;
	}
	report_warning(c->r, place_where(s->agent.name.place),
		"step '%.*s': no agent '%.*s' is configured", STR(s->id), STR(name));
	AUTO_BUF table = BUF_INIT;
	step_agent_table(name, &table);
	report_hint(c->r, "put [%s] into agents.toml", buf_cstr(&table));
	report_action(c->r, ACTION_GIVE_AGENT, name);
	report_action(c->r, ACTION_LIST_AGENTS, S(""));
}

/* What is wrong with a recipe that is called is not a mistake of the one that calls it. */
static void warn(struct checking *c, struct report *found)
{
	vec_each (i, &found->issues)
		i->kind = ISSUE_WARNING;
	found->warnings += found->errors;
	found->errors = 0;
	report_move(c->r, found);
}

/* How the user would call the file: beside what he called the recipe that calls it. */
static struct str shown_name(struct checking *c, const struct step_recipe *recipe, struct str word)
{
	struct str name = recipe->doc.source.name;
	size_t end = name.len;

	if (str_starts(word, S("/")) || str_starts(word, S("@")))
		return S("");
	while (end && name.p[end - 1] != '/')
		end--;
	return arena_printf(&c->arena, "%.*s%.*s", (int)end, name.p, STR(word));
}

bool find_called(void *dirs, struct str name, struct buf *ret, struct report *r)
{
	struct arena a = ARENA_INIT;
	struct recipe_location at;
	bool found = recipe_locate(&a, dirs, name, &at, r);

	if (found)
		buf_add(ret, at.path);
	arena_done(&a);
	return found;
}

static void need(struct checking *c, struct needed *n, struct str name)
{
	n->names[n->count++] = arena_str(&c->arena, name);
}

/* A recipe of commands. */
static void look_at_template(
	struct checking *c, struct str path, struct needed *ret, struct report *found)
{
	struct recipe *recipe =
		c->how->dirs ? recipe_open_file(c->how->dirs, path, LAYER_ADHOC, found) : NULL;

	if (!recipe)
		return;
	const struct public_arguments *args = recipe->arguments;
	ret->names = arena_array(&c->arena, struct str, args->count);
	for (size_t i = 0; i < args->count; i++)
		if (args->at[i].required)
			need(c, ret, args->at[i].name);
	report_move(c->r, &recipe->graph->warnings);
	recipe_free(recipe);
}

static void look_at_steps(struct checking *c, const struct sub_recipe *sub, struct str name,
	struct needed *ret, struct report *found)
{
	struct step_recipe *called = sub_recipe_open(sub, name, found);

	if (!called)
		return;
	ret->names = arena_array(&c->arena, struct str, called->required_count);
	for (size_t i = 0; i < called->required_count; i++)
		need(c, ret, called->required[i]);
	report_move(c->r, &called->warnings);
	check_recipe(c, called);
	step_recipe_free(called);
}

static void check_call(
	struct checking *c, const struct step_recipe *recipe, const struct step *s, struct str dir)
{
	struct sub_recipe sub = { .step = s,
		.word = s->called.recipe.text,
		.dir = dir,
		.collections = c->how->collections,
		.find = c->how->dirs ? find_called : NULL,
		.find_data = (void *)c->how->dirs };
	const json_t *context = s->called.context.value;
	AUTO_BUF path = BUF_INIT;
	AUTO_REPORT inside = REPORT_INIT;
	AUTO_REPORT found = REPORT_INIT;
	size_t at = 0;
	struct reference ref;

	if (s->type != STEP_RECIPE || reference_next(s->called.recipe.text, &at, &ref))
		return;
	if (!sub_recipe_path(&sub, &path, &found)) {
		warn(c, &found);
		return;
	}
	void **seen = map_put(&c->seen, &c->arena, arena_str(&c->arena, buf_str(&path)));
	struct needed *needed = *seen;
	if (!needed && c->seen.count > RECIPES_MAX)
		return;
	if (!needed) {
		*seen = needed = arena_new(&c->arena, struct needed);
		if (sub_recipe_is_template(buf_str(&path)))
			look_at_template(c, buf_str(&path), needed, &inside);
		else
			look_at_steps(c, &sub, shown_name(c, recipe, s->called.recipe.text), needed,
				&inside);
	}
	sub_recipe_blame(s, context, &inside, &found);
	for (size_t i = 0; i < needed->count; i++)
		if (!json_object_getn(context, needed->names[i].p, needed->names[i].len))
			(void)sub_recipe_lacks(s, needed->names[i], &found);
	warn(c, &found);
}

static void check_recipe(struct checking *c, const struct step_recipe *recipe)
{
	for (size_t i = 0; i < recipe->all_count && !report_full(c->r); i++) {
		check_agent(c, recipe->all[i]);
		check_call(c, recipe, recipe->all[i], path_dir(recipe->path));
	}
}

void steps_check(const struct step_recipe *recipe, const struct steps_check *how, struct report *r)
{
	struct checking c = { .how = how, .r = r };

	c.agents = step_agents_new(how->agents, how->cwd);
	*map_put(&c.seen, &c.arena, recipe->path) = arena_new(&c.arena, struct needed);
	check_recipe(&c, recipe);
	step_agents_free(c.agents);
	arena_done(&c.arena);
}
