/* One recipe: what it is, as a document and for texts. */
#include "app/catalog/describe.h"

#include "app/catalog/ref.h"
#include "app/catalog/secrets.h"
#include "base/node-path.h"
#include "data/json-out.h"
#include "graph/node.h"
#include "steps/read/recipe.h"

bool recipe_ref_disabled(const struct recipe_ref *ref)
{
	return ref->recipe && recipe_disabled(ref->recipe);
}

const json_t *recipe_ref_member(const struct recipe_ref *ref, const char *name)
{
	return ref->recipe ? json_object_get(ref->recipe->file->object, name) : NULL;
}

static struct str text_of(const struct recipe_ref *ref)
{
	return ref->recipe ? ref->recipe->file->doc.source.text : ref->graph->doc.source.text;
}

static void add_shown(const struct recipe_ref *ref, struct str text, struct buf *b)
{
	struct arena a = ARENA_INIT;
	struct mask *mask = recipe_mask(ref->recipe, ref->graph, NULL);

	buf_add(b, mask_text(mask, text, &a));
	mask_free(mask);
	arena_done(&a);
}

void recipe_ref_shown_member(const struct recipe_ref *ref, const char *name, struct buf *b)
{
	const json_t *member = recipe_ref_member(ref, name);

	if (json_is_string(member))
		add_shown(ref, json_str(member), b);
}

void recipe_ref_shown_text(const struct recipe_ref *ref, struct buf *b)
{
	add_shown(ref, text_of(ref), b);
}

bool recipe_ref_hides(const struct recipe_ref *ref, struct str name)
{
	AUTO_JSON *names = secrets_declared(ref->recipe, ref->graph);
	json_t *secret;
	size_t i;

	json_array_foreach(names, i, secret) if (str_eq(json_str(secret), name)) return true;
	return false;
}

/* False: the number is not known. */
static bool commands_below(const struct node *n, size_t *count)
{
	bool known = !node_repeats(n);

	*count += n->child_count == 0;
	for (size_t i = 0; i < n->child_count; i++)
		known &= commands_below(n->children[i], count);
	return known;
}

size_t recipe_ref_size(const struct recipe_ref *ref)
{
	size_t count = 0;

	return commands_below(ref->graph->root, &count) ? count : 0;
}

struct str recipe_ref_path(const struct recipe_ref *ref)
{
	return ref->recipe->file->path;
}

const char *recipe_ref_format(const struct recipe_ref *ref)
{
	return recipe_format_name(ref->recipe->file->format);
}

void recipe_ref_description(const struct recipe_ref *ref, struct buf *b)
{
	struct arena a = ARENA_INIT;
	struct mask *mask = recipe_mask(ref->recipe, ref->graph, ref->values);

	buf_add(b, mask_text(mask, recipe_description(ref->recipe), &a));
	mask_free(mask);
	arena_done(&a);
}

struct str recipe_ref_operand(const struct recipe_ref *ref)
{
	return recipe_called(ref->recipe);
}

json_t *recipe_ref_parts(const struct recipe_ref *ref)
{
	const struct recipe *recipe = ref->recipe;
	AUTO_JSON *declared = recipe_artifacts(recipe);
	json_t *imports = json_object(), *artifacts = json_object(), *artifact;
	json_t *mailbox = recipe_mailbox(recipe);
	struct mask *mask = recipe_mask(recipe, ref->graph, ref->values);
	const char *name;

	vec_each (import, &recipe->file->imports) {
		json_t *one = json_pack("{s:o, s:o}", "id", json_from_str(import->file->id), "path",
			json_from_str(import->file->path));

		json_object_setn_new_nocheck(imports, import->alias.p, import->alias.len, one);
	}
	json_object_foreach(declared, name, artifact) json_object_set_new_nocheck(
		artifacts, name, mask_json(mask, json_object_get(artifact, "path")));
	mask_free(mask);
	return json_pack(
		"{s:o, s:o, s:o?}", "imports", imports, "artifacts", artifacts, "mailbox", mailbox);
}

/* -- the document --------------------------------------------------------------------------------
 */

/* What of a recipe is not shown. */
struct hidden {
	json_t *names; /* as members */
	struct mask *mask;
};

static struct hidden hidden_of(const struct recipe_ref *ref)
{
	return (struct hidden){ recipe_secret_members(ref->recipe),
		recipe_mask(ref->recipe, ref->graph, ref->values) };
}

static void hidden_done(struct hidden *h)
{
	json_decref(h->names);
	mask_free(h->mask);
}

/* Its default, or what stands for it when it is a secret: a new reference; NULL: there is none. */
static json_t *shown_default(const struct hidden *h, const struct public_argument *arg)
{
	AUTO_JSON *value = public_argument_default(arg);

	if (value && json_object_getn(h->names, arg->name.p, arg->name.len))
		return json_string(MASKED);
	return value ? mask_value(h->mask, value) : NULL;
}

static void write_node(struct json_out *o, const struct node *n, struct str path, struct mask *mask)
{
	struct arena a = ARENA_INIT;

	json_out_object(o, NULL);
	json_out_str(o, "path", path);
	json_out_str(o, "kind", str_of(node_kind_name(n->kind)));
	struct str label = n->kind == NODE_EACH && !n->step ? n->children[0]->label : n->label;
	json_out_str_or_null(o, "label", mask_text(mask, label, &a));
	json_out_str_or_null(o, "text", n->child_count ? S("") : mask_text(mask, n->line, &a));
	arena_done(&a);
	json_out_array(o, "children");
	for (size_t i = 0; i < n->child_count; i++) {
		AUTO_BUF child = BUF_INIT;

		/* The body of a repeated node is shown once: its path stands for all copies. */
		if (node_repeats(n))
			node_path_copy(&child, path, 0);
		else
			node_path_child(&child, path, i);
		write_node(o, n->children[i], buf_str(&child), mask);
	}
	json_out_array_end(o);
	json_out_object_end(o);
}

/* Whether 2.0 is another value than 2: in steps, and where it is a text. */
static bool is_exact(const struct public_argument *arg, bool steps)
{
	return steps || !arg->fallback || json_is_string(arg->fallback);
}

static void write_default(struct json_out *o, const json_t *value, bool exact)
{
	AUTO_BUF text = BUF_INIT;

	if (value && exact) {
		json_write_typed(&text, value, 0);
		json_out_raw(o, "default", buf_str(&text));
	} else {
		json_out_value(o, "default", value);
	}
}

static void write_argument(struct json_out *o, const struct hidden *hidden,
	const struct public_argument *arg, bool steps)
{
	AUTO_JSON *value = shown_default(hidden, arg);
	AUTO_BUF type = BUF_INIT;

	buf_adds(&type, type_name(arg->type.kind));
	if (arg->type.kind == TYPE_ENUM)
		buf_printf(&type, "(%.*s)", STR(arg->type.members));
	json_out_object(o, NULL);
	json_out_str(o, "name", arg->name);
	json_out_str(o, "type", buf_str(&type));
	json_out_bool(o, "required", arg->required);
	write_default(o, value, is_exact(arg, steps));
	json_out_object_end(o);
}

void recipes_describe(const struct recipe_ref *ref, struct json_out *o)
{
	const struct recipe *recipe = ref->recipe;
	const struct node *root = ref->graph->root;
	AUTO_JSON *parts = recipe_ref_parts(ref);
	AUTO_JSON *facts = recipe->steps ? step_recipe_facts(recipe->steps) : NULL;
	struct hidden hidden = hidden_of(ref);
	struct arena a = ARENA_INIT;
	AUTO_JSON *shown_facts = facts ? mask_json(hidden.mask, facts) : NULL;

	json_out_object(o, NULL);
	json_out_str(o, "id", recipe->file->id);
	json_out_str(o, "path", recipe->file->path);
	json_out_str(o, "format", str_of(recipe_format_name(recipe->file->format)));
	json_out_str_or_null(
		o, "description", mask_text(hidden.mask, recipe_description(recipe), &a));
	json_out_bool(o, "async", recipe_async(recipe));
	json_out_array(o, "args");
	for (size_t i = 0; i < recipe->arguments->count; i++)
		write_argument(o, &hidden, &recipe->arguments->at[i], recipe->steps);
	json_out_array_end(o);
	json_out_members(o, parts);
	json_out_array(o, "warnings");
	vec_each (i, &ref->graph->warnings.issues)
		json_out_str(o, NULL, mask_text(hidden.mask, i->message, &a));
	json_out_array_end(o);
	json_out_name(o, S("graph"));
	write_node(o, root, node_root_path(root), hidden.mask);
	json_out_members(o, shown_facts);
	json_out_object_end(o);
	arena_done(&a);
	hidden_done(&hidden);
}

/* -- for texts -----------------------------------------------------------------------------------
 */

struct recipe_argument argument_in_short(const struct public_argument *arg)
{
	return (struct recipe_argument){ .name = arg->name,
		.required = arg->required,
		.list = arg->type.kind == TYPE_ARRAY,
		.path = arg->type.kind == TYPE_PATH };
}

void recipe_arguments_each(const struct recipe_ref *ref, recipe_argument_fn *fn, void *data)
{
	const struct public_arguments *all = ref->recipe->arguments;
	struct hidden hidden = hidden_of(ref);

	for (size_t i = 0; i < all->count; i++) {
		const struct public_argument *arg = &all->at[i];
		AUTO_JSON *value = shown_default(&hidden, arg);
		bool nothing =
			json_is_string(value) && !json_string_length(value) && !arg->fallback;
		AUTO_BUF wanted = BUF_INIT;

		/* Shorter than a diagnostic, which has to name every form that would have done. */
		if (arg->type.kind == TYPE_NONE)
			buf_adds(&wanted, "a string");
		else if (arg->type.kind == TYPE_BOOL)
			buf_adds(&wanted, "true or false");
		else if (arg->type.kind == TYPE_WORDS)
			buf_adds(&wanted, "a command line, split into words");
		else
			type_describe(&arg->type, &wanted);
		struct recipe_argument told = argument_in_short(arg);
		told.wanted = buf_str(&wanted);
		told.fallback = arg->required || nothing ? NULL : value;
		told.exact = is_exact(arg, ref->recipe->steps != NULL);
		fn(data, &told);
	}
	hidden_done(&hidden);
}
