#include "app/launch/past-calls.h"

#include "app/record/freeze.h"
#include "base/path.h"
#include "graph/step.h"
#include "runs/dir/open.h"
#include "steps/compile/compile.h"
#include "steps/compile/ops.h"
#include "steps/compile/sub-recipe.h"
#include "steps/language/reference.h"

void called_init(struct called *c, const struct launch *l, struct str dir)
{
	AUTO_REPORT ignored = REPORT_INIT;

	*c = (struct called){ .launch = l, .dir = dir };
	if (l->subject.graph->steps || l->subject.graph->calls)
		c->copies = freeze_json(dir, "recipes.json", true, &ignored);
}

void called_done(struct called *c)
{
	vec_each (g, &c->graphs)
		graph_unref(g->graph);
	vec_done(&c->graphs);
	json_decref(c->copies);
}

/* By its id: the run has called it, so there is a copy. */
static bool find_copy(void *data, struct str name, struct buf *path, struct report *r UNUSED)
{
	const struct called *c = data;
	const char *copied;
	json_t *file;

	json_object_foreach(c->copies, copied, file)
	{
		if (!str_eq(recipe_id_of(str_of(copied)), name))
			continue;
		buf_adds(path, copied);
		return true;
	}
	return false;
}

/* Where the recipe was found that a step has called. One whose name was made of variables is known
 * when the run has called no other. */
static bool find_path(const struct called *c, const struct step *s, struct buf *path)
{
	struct sub_recipe sub = { .step = s,
		.word = s->called.recipe.text,
		.dir = c->from,
		.collections = c->launch->asked.collections,
		.find = find_copy,
		.find_data = (void *)c };
	AUTO_REPORT ignored = REPORT_INIT;
	struct reference ref;
	size_t at = 0;

	if (!reference_next(s->called.recipe.text, &at, &ref))
		return sub_recipe_path(&sub, path, &ignored);
	if (json_object_size(c->copies) != 1)
		return false;
	buf_adds(path, json_object_iter_key(json_object_iter(c->copies)));
	return true;
}

/* A template recipe, from the copies of its files. */
static const struct node *open_template(struct called *c, const struct node *call, struct str path)
{
	AUTO_JSON *sources = json_array();
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_BUF dir = BUF_INIT;
	const char *copied;
	json_t *file;

	buf_add(&dir, c->dir);
	json_object_foreach(c->copies, copied, file)
	{
		AUTO_BUF text = BUF_INIT;
		bool entry = str_eq(str_of(copied), path);

		if (run_read(buf_cstr(&dir), json_string_value(file), RECIPE_MAX_BYTES, &text) < 0)
			return NULL;
		json_array_insert_new(sources, entry ? 0 : json_array_size(sources),
			json_pack("{s:s, s:o}", "path", copied, "text",
				json_from_str(buf_str(&text))));
	}
	if (!json_object_getn(c->copies, path.p, path.len))
		return NULL;
	struct recipe *recipe =
		recipe_open_frozen(&c->launch->subject.dirs, sources, LAYER_ADHOC, NULL, &ignored);
	if (!recipe)
		return NULL;
	struct graph *g = graph_ref(recipe->graph);
	recipe_free(recipe);
	vec_push(&c->graphs, (struct called_graph){ call, g });
	return g->root;
}

static const struct node *open_call(void *data, const struct node *call)
{
	struct called *c = data;

	if (call->call) { /* of a template, which has imported it */
		c->from = call->call->steps->dir;
		return call->call->root;
	}
	vec_each (known, &c->graphs)
		if (known->call == call) {
			/* A recipe of commands calls none. */
			if (known->graph->steps)
				c->from = known->graph->steps->dir;
			return known->graph->root;
		}
	const struct step *s = step_of(call);
	AUTO_BUF path = BUF_INIT;
	AUTO_BUF file = BUF_INIT;
	AUTO_BUF text = BUF_INIT;
	AUTO_REPORT ignored = REPORT_INIT;

	if (!find_path(c, s, &path))
		return NULL;
	if (sub_recipe_is_template(buf_str(&path))) {
		struct arena a = ARENA_INIT;
		/* As its copy is called. */
		const struct node *root = open_template(c, call, path_absolute(&a, buf_str(&path)));

		arena_done(&a);
		return root;
	}
	const char *copy = json_string_value(json_object_getn(c->copies, path.p, path.len));
	if (!copy)
		return NULL;
	buf_add(&file, c->dir);
	if (run_read(buf_cstr(&file), copy, RECIPE_MAX_BYTES, &text) < 0)
		return NULL;
	struct step_recipe *recipe = step_recipe_read(
		buf_str(&path), buf_str(&path), buf_str(&text), s->called.context.value, &ignored);
	if (!recipe)
		return NULL;
	struct graph *g = step_graph(recipe, &step_ops, NULL, NULL);
	vec_push(&c->graphs, (struct called_graph){ call, g });
	c->from = g->steps->dir;
	return g->root;
}

size_t called_way(struct called *c, struct str path, struct way_step steps[WAY_MAX])
{
	const struct graph *g = c->launch->subject.graph;

	if (g->steps)
		c->from = g->steps->dir;
	return way_through(g->root, path, steps, open_call, c);
}
