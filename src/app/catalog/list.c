/* All recipes: iteration, words for completion. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app/catalog/describe.h"
#include "app/catalog/entries.h"
#include "app/catalog/ref.h"
#include "app/catalog/trust.h"
#include "app/context/context.h"
#include "base/clock.h"
#include "base/plain-text.h"

const char *recipe_state_name(enum recipe_state state)
{
	static const char *const names[] = {
		[RECIPE_ACTIVE] = "active",
		[RECIPE_INVALID] = "invalid",
		[RECIPE_DISABLED] = "disabled",
	};

	return names[state];
}

struct str recipes_user_dir(struct app *a)
{
	return app_dirs(a)->user;
}

struct str recipes_project(struct app *a)
{
	return app_dirs(a)->project.repo;
}

struct str recipes_project_dir(struct app *a)
{
	return app_dirs(a)->project.recipes;
}

struct str recipes_unused_project(struct app *a)
{
	return app_dirs(a)->project.unused;
}

struct str recipes_packaged_dir(struct app *a)
{
	return app_dirs(a)->packaged;
}

/* -- how often one was started -------------------------------------------------------------------
 */

struct listing {
	const struct recipe_index *index;
	const struct recipe_filter *filter;
	struct app *app;
	struct ledger *ledger; /* NULL: there is none */
	bool usage_in_files;   /* the settings say so */
	json_t *trusted;
	recipe_fn *fn;
	void *data;
	size_t told;
};

static void set_time(json_t *object, const char *name, uint64_t ms)
{
	AUTO_BUF text = BUF_INIT;

	if (!ms)
		return;
	clock_rfc3339(&text, ms);
	json_object_set_new(object, name, json_from_str(buf_str(&text)));
}

static json_t *usage_in_ledger(const struct listing *l, struct str path)
{
	struct arena a = ARENA_INIT;
	AUTO_REPORT ignored = REPORT_INIT;
	struct recipe_usage counted;
	json_t *usage = NULL;

	if (l->ledger && ledger_usage(l->ledger, path, &a, &counted, &ignored)) {
		usage = json_pack("{s:I}", "calls", (json_int_t)counted.calls);
		set_time(usage, "last_called", counted.last_called);
		json_object_set_new(usage, "fingerprint", json_from_str(counted.fingerprint));
		set_time(usage, "reset_at", counted.reset_at);
	}
	arena_done(&a);
	return usage;
}

/* A user's JSON recipe has it itself, the ledger has that of all others. A new reference; NULL when
 * it is not known. */
static json_t *usage_of(const struct listing *l, const struct opened *o)
{
	bool own = o->active->layer == LAYER_USER && l->usage_in_files && o->recipe &&
		   o->recipe->file->format == RECIPE_JSON;

	if (!own)
		return usage_in_ledger(l, o->active->path);
	json_t *usage = json_object_get(o->recipe->file->object, "usage");
	return json_is_object(usage) ? json_incref(usage) : NULL;
}

static uint64_t calls_of(const json_t *usage)
{
	double calls = json_number_value(json_object_get(usage, "calls"));

	return calls >= 1 ? (uint64_t)calls : 0;
}

/* -- which are meant -----------------------------------------------------------------------------
 */

static bool contains(struct str text, struct str part)
{
	for (size_t at = 0; at + part.len <= text.len; at++)
		if (str_eq_nocase(str_sub(text, at, part.len), part))
			return true;
	return false;
}

static bool wanted(const struct listing *l, const struct opened *o)
{
	const struct recipe_filter *f = l->filter;

	if ((f->tools && !entry_is_tool(o, l->trusted)) ||
		(f->states && !(f->states & 1U << o->state)))
		return false;
	if (f->layer && strcmp(f->layer, recipe_layer_name(o->active->layer)) != 0)
		return false;
	return !f->text.len || contains(o->entry->id, f->text) ||
	       (o->recipe && contains(recipe_description(o->recipe), f->text));
}

/* -- telling -------------------------------------------------------------------------------------
 */

static void make_cursor(
	const struct listing *l, const struct opened *o, const json_t *usage, struct buf *b)
{
	if (l->filter->order == RECIPES_BY_CALLS)
		buf_printf(b, "%" PRIu64 " ", calls_of(usage));
	buf_add(b, o->entry->id);
}

/* With the place, when it is in a file that the recipe imports. */
static void describe_fault(const struct opened *o, struct buf *b)
{
	const struct issue *fault = entry_fault(o);

	if (entry_fault_elsewhere(o))
		buf_printf(b, "%.*s:%zu:%zu: ", STR(fault->file), fault->line, fault->column);
	if (fault)
		buf_add(b, fault->message);
}

/* False: no more of them. */
static bool tell(struct listing *l, struct opened *o)
{
	size_t shadowed = o->entry->candidates.len - 1;
	struct str *paths = mem_resize(NULL, shadowed + 1, sizeof(*paths));
	AUTO_JSON *usage = usage_of(l, o);
	AUTO_BUF description = BUF_INIT;
	AUTO_BUF cursor = BUF_INIT;
	AUTO_BUF error = BUF_INIT;

	size_t argument_count = o->recipe ? o->recipe->arguments->count : 0;
	struct recipe_argument *arguments =
		mem_resize(NULL, argument_count + 1, sizeof(*arguments));
	for (size_t i = 0; i < argument_count; i++)
		arguments[i] = argument_in_short(&o->recipe->arguments->at[i]);
	for (size_t i = 0; i < shadowed; i++)
		paths[i] = o->entry->candidates.at[i + 1].path;
	make_cursor(l, o, usage, &cursor);
	describe_fault(o, &error);
	struct recipe_ref *ref = o->recipe ? ref_to_opened(l->app, o->recipe) : NULL;
	if (ref)
		recipe_ref_description(ref, &description);
	struct recipe_info info = { .id = o->entry->id,
		.path = o->active->path,
		.description = buf_str(&description),
		.layer = recipe_layer_name(o->active->layer),
		.format = o->recipe ? recipe_format_name(o->recipe->file->format) : NULL,
		.state = o->state,
		.tool = entry_is_tool(o, l->trusted),
		.trust = trust_of(l->trusted, o->recipe),
		.arguments = arguments,
		.argument_count = argument_count,
		.async = o->recipe && recipe_async(o->recipe),
		.shadowed = paths,
		.shadowed_count = shadowed,
		.usage = usage,
		.error = buf_str(&error),
		.cursor = buf_str(&cursor),
		.ref = ref };
	bool more = l->fn(l->data, &info) && ++l->told != l->filter->limit;
	if (ref)
		o->recipe = NULL; /* the reference has it */
	recipe_ref_free(ref);
	free(arguments);
	free(paths);
	return more;
}

/* Only what is reported is opened. */
static void tell_by_id(struct listing *l)
{
	bool more = true;

	for (size_t i = 0; i < l->index->entries.len && more; i++) {
		const struct recipe_entry *e = &l->index->entries.at[i];
		struct opened o;

		if (l->filter->after.len && str_cmp(e->id, l->filter->after) <= 0)
			continue;
		entry_open(l->index, e, &o);
		more = !wanted(l, &o) || tell(l, &o);
		entry_close(&o);
	}
}

struct ranked {
	const struct recipe_entry *entry;
	uint64_t calls;
};

static int by_rank(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->calls != y->calls)
		return x->calls > y->calls ? -1 : 1;
	return str_cmp(x->entry->id, y->entry->id);
}

/* Whether it comes behind the cursor. */
static bool is_after(const struct ranked *one, struct str cursor)
{
	size_t end = str_find(cursor, ' ', 0);
	struct recipe_entry seen = { .id = str_from(cursor, end < cursor.len ? end + 1 : end) };
	struct ranked last = { .entry = &seen };

	return !str_to_uint(str_sub(cursor, 0, end), &last.calls) || by_rank(one, &last) > 0;
}

static void tell_by_calls(struct listing *l)
{
	VEC(struct ranked) all = { 0 };
	bool more = true;
	struct opened o;

	vec_each (e, &l->index->entries) {
		entry_open(l->index, e, &o);
		AUTO_JSON *usage = usage_of(l, &o);
		struct ranked one = { e, calls_of(usage) };
		if (wanted(l, &o) && is_after(&one, l->filter->after))
			vec_push(&all, one);
		entry_close(&o);
	}
	if (all.len)
		qsort(all.at, all.len, sizeof(*all.at), by_rank);
	for (size_t i = 0; i < all.len && more; i++) {
		entry_open(l->index, all.at[i].entry, &o);
		more = tell(l, &o);
		entry_close(&o);
	}
	vec_done(&all);
}

bool recipes_each(struct app *a, const struct recipe_filter *given, recipe_fn *fn, void *data,
	struct report *r)
{
	const struct recipe_filter filter = given ? *given : (struct recipe_filter){ 0 };
	struct recipe_index *index = recipe_index_new(app_dirs(a));
	AUTO_REPORT ignored = REPORT_INIT;
	size_t errors = r->errors;

	/* Settings with a mistake are the defaults here. */
	(void)app_settings(a, &ignored);
	struct listing l = { .index = index,
		.app = a,
		.filter = &filter,
		.ledger = app_ledger(a, &ignored),
		.usage_in_files = a->settings.usage == SETTINGS_USAGE_FILE,
		.trusted = trust_read(a, &ignored),
		.fn = fn,
		.data = data };
	(filter.order == RECIPES_BY_CALLS ? tell_by_calls : tell_by_id)(&l);
	json_decref(l.trusted);
	recipe_index_report(index, r);
	recipe_index_free(index);
	return r->errors == errors;
}

static json_t *text_or_null(struct str text)
{
	return text.len ? json_from_str(text) : json_null();
}

json_t *recipe_info_json(const struct recipe_info *info)
{
	json_t *shadowed = json_array(), *args = json_array();

	for (size_t i = 0; i < info->argument_count; i++)
		json_array_append_new(args, json_from_str(info->arguments[i].name));
	for (size_t i = 0; i < info->shadowed_count; i++)
		json_array_append_new(shadowed, json_from_str(info->shadowed[i]));
	return json_pack("{s:o, s:o, s:s, s:s, s:b, s:b, s:o, s:o, s:o, s:O?, s:o}", "id",
		json_from_str(info->id), "path", json_from_str(info->path), "layer", info->layer,
		"state", recipe_state_name(info->state), "tool", info->tool, "async", info->async,
		"args", args, "description", text_or_null(info->description), "shadowed", shadowed,
		"usage", info->usage, "error", text_or_null(info->error));
}

/* -- words for completion ------------------------------------------------------------------------
 */

static bool is_in(const struct recipe_entry *e, const char *layer)
{
	vec_each (c, &e->candidates)
		if (!layer || strcmp(recipe_layer_name(c->layer), layer) == 0)
			return true;
	return false;
}

void recipes_id_words(struct app *a, const char *layer, struct buf *b)
{
	struct recipe_index *index = recipe_index_new(app_dirs(a));

	vec_each (e, &index->entries) {
		size_t from = b->len;

		if (!is_in(e, layer))
			continue;
		text_plain(b, e->id);
		if (str_eq(str_from(buf_str(b), from), e->id))
			buf_addc(b, '\n');
		else
			buf_truncate(b, from); /* what is shown would not be the id */
	}
	recipe_index_free(index);
}

static void argument_words(const struct public_argument *arg, struct buf *b)
{
	struct str member;

	if (arg->type.kind == TYPE_BOOL) {
		buf_printf(b, "%.*s=true\n%.*s=false\n", STR(arg->name), STR(arg->name));
	} else if (arg->type.kind == TYPE_ENUM) {
		for (size_t i = 0; (member = type_member(&arg->type, i)).p; i++)
			buf_printf(b, "%.*s=%.*s\n", STR(arg->name), STR(member));
	} else {
		bool text = arg->type.kind == TYPE_NONE || arg->type.kind == TYPE_STRING ||
			    arg->type.kind == TYPE_PATH || arg->type.kind == TYPE_WORDS;

		buf_printf(b, "%.*s%s\n", STR(arg->name), text ? "=" : ":=");
	}
}

void recipes_argument_words(struct app *a, size_t count, const char *const *words, struct buf *b)
{
	struct recipe *recipe = NULL;

	for (size_t i = 0; i < count && !recipe; i++) {
		AUTO_REPORT ignored = REPORT_INIT;

		if (words[i][0] != '-' && !strchr(words[i], '='))
			recipe = recipe_open(app_dirs(a), str_of(words[i]), false, NULL, &ignored);
	}
	for (size_t i = 0; recipe && i < recipe->arguments->count; i++)
		argument_words(&recipe->arguments->at[i], b);
	recipe_free(recipe);
}
