#include "base/near.h"
#include "recipe/file.h"
#include "steps/compile/compile.h"
#include "steps/compile/ops.h"

/* The graph of a recipe and of what it imports. */

/* A file as it is used in one place: the same file under another alias is another use. */
struct use {
	struct importer importer;
	struct origin origin;
	struct recipe_set *set;
	struct recipe_file *file;
};

static bool find(const struct importer *importer, struct str alias, const struct place *place,
	struct imported *ret, struct report *r);

static const struct importer *new_use(
	struct recipe_set *set, struct recipe_file *f, struct str alias, const struct origin *up)
{
	struct use *u = arena_new(&set->arena, struct use);

	u->origin = (struct origin){ .id = f->id, .path = f->path, .alias = alias, .up = up };
	u->importer = (struct importer){ .origin = &u->origin, .find = find };
	u->set = set;
	u->file = f;
	return &u->importer;
}

/* The graph of a step recipe for one node; json_null(): none stands for it. */
static struct graph *read_steps(
	const struct importer *importer, const json_t *given, struct report *r)
{
	const struct use *u = container_of(importer, struct use, importer);
	struct recipe_file *f = u->file;
	AUTO_JSON *known = json_copy((json_t *)given);
	json_t *name;
	size_t i;

	/* Those may also be values of the run: a plan tells which are missing. */
	json_array_foreach(json_object_get(f->object, "required"), i, name)
	{
		if (json_is_string(name) && json_is_object(known))
			json_object_set_new(known, json_string_value(name), json_null());
	}
	struct step_recipe *steps = step_recipe_of(f->path, f->doc.source.name, f->doc.source.text,
		json_incref(f->yaml), &f->yaml_found, known, r);

	if (!steps)
		return NULL;
	struct graph *g = step_graph(steps, &step_ops, NULL, NULL);
	if (!f->told)
		report_move(&u->set->warnings, &g->warnings);
	f->told = true;
	vec_push(&u->set->calls, g);
	return g;
}

static bool find(const struct importer *importer, struct str alias, const struct place *place,
	struct imported *ret, struct report *r)
{
	const struct use *u = container_of(importer, struct use, importer);

	struct recipe_import *import = recipe_import_find(u->file, alias);
	if (import && !import->file)
		return false; /* why has been said */
	if (import) {
		import->file->expanded = true;
		*ret = (struct imported){
			.recipe = import->file->object,
			.place = &import->file->place,
			.defaults = import->bound,
			.importer = new_use(u->set, import->file, import->alias, &u->origin),
			.steps = import->file->format == RECIPE_YAML ? read_steps : NULL,
		};
		return true;
	}
	report_error(r, place_where(place), "there is no import called '%.*s'", STR(alias));
	struct near near = near_to(alias);
	vec_each (other, &u->file->imports)
		near_offer(&near, other->alias);
	struct str best = near_best(&near);
	if (best.len)
		return report_hint(r, "did you mean '%.*s'?", STR(best));
	return report_hint(r, "add it to `imports`, or give the node a `template`");
}

static void recipe_set_done(void *set)
{
	recipe_set_free(set);
}

static struct graph *read_graph(struct recipe_set *set, struct recipe_file *f, struct report *r)
{
	struct imported recipe = {
		.recipe = f->object,
		.place = &f->place,
		.importer = new_use(set, f, S(""), NULL),
	};

	return graph_read_recipe(&recipe, NULL, NULL, r);
}

/* An import that no node stands for has to be a recipe all the same. */
static void check_unused(struct recipe_set *set, const struct recipe_file *entry, struct report *r)
{
	for (size_t i = 0; i < set->files.len; i++) {
		struct recipe_file *f = set->files.at[i];

		if (f == entry || f->broken || f->expanded)
			continue;
		if (f->format == RECIPE_YAML)
			(void)read_steps(new_use(set, f, S(""), NULL), json_null(), r);
		else
			graph_unref(read_graph(set, f, r));
	}
}

static bool same_place(const struct issue *a, const struct issue *b)
{
	return str_eq(a->file, b->file) && a->offset < b->offset + b->mark_len &&
	       b->offset < a->offset + a->mark_len;
}

/* A reference that leads nowhere is still there when the graph is read: told about once. */
static void forget_known(struct report *found, const struct report *known)
{
	size_t kept = 0;

	vec_each (i, &found->issues) {
		bool told = false;

		vec_each (k, &known->issues)
			told |= i->kind == ISSUE_INVALID && k->kind == ISSUE_INVALID &&
				same_place(i, k);
		if (told)
			found->errors--;
		else
			found->issues.at[kept++] = *i;
	}
	found->issues.len = kept;
}

static void tell_ways(const struct recipe_set *set, struct report *r)
{
	vec_each (slot, &set->files) {
		const struct recipe_file *f = *slot;

		for (size_t i = 0; f->way.len && i < r->issues.len; i++) {
			struct issue *issue = &r->issues.at[i];

			if (str_eq(issue->file, f->doc.source.name))
				issue->hint = arena_printf(&r->arena, "%.*s%s%.*s",
					STR(issue->hint), issue->hint.len ? "; " : "", STR(f->way));
		}
	}
}

struct graph *recipe_graph(struct recipe_set *set, struct recipe_file *entry, struct report *r)
{
	AUTO_REPORT found = REPORT_INIT;
	struct graph *g = read_graph(set, entry, &found);

	check_unused(set, entry, &found);
	bool ok = g && !found.errors;
	forget_known(&found, r);
	tell_ways(set, &found);
	if (!ok) {
		graph_unref(g);
		report_move(r, &found);
		report_move(r, &set->warnings);
		report_sort(r);
		recipe_set_free(set);
		return NULL;
	}
	g->keep = set;
	g->keep_free = recipe_set_done;
	report_move(&g->warnings, &set->warnings);
	report_move(&g->extensions, &set->extensions);
	return g;
}
