#include "app/catalog/entries.h"

#include "app/catalog/secrets.h"
#include "app/catalog/trust.h"

void entry_open(const struct recipe_index *index, const struct recipe_entry *e, struct opened *ret)
{
	*ret = (struct opened){ .entry = e, .active = &e->candidates.at[0] };
	ret->recipe =
		recipe_open_file(&index->dirs, ret->active->path, ret->active->layer, &ret->issues);
	if (!ret->recipe)
		secrets_hide_written(
			&index->dirs, ret->active->path, (struct str){ 0 }, &ret->issues);
	ret->state = !ret->recipe                   ? RECIPE_INVALID
		     : recipe_disabled(ret->recipe) ? RECIPE_DISABLED
						    : RECIPE_ACTIVE;
}

void entry_close(struct opened *o)
{
	recipe_free(o->recipe);
	report_done(&o->issues);
}

bool entry_is_tool(const struct opened *o, const json_t *trusted)
{
	return o->state == RECIPE_ACTIVE &&
	       (o->active->layer == LAYER_USER || trust_of(trusted, o->recipe) == TRUST_GIVEN);
}

const struct issue *entry_fault(const struct opened *o)
{
	vec_each (i, &o->issues.issues)
		if (issue_is_error(i))
			return i;
	return NULL;
}

bool entry_fault_elsewhere(const struct opened *o)
{
	const struct issue *fault = entry_fault(o);

	return fault && fault->file.len && !str_eq(fault->file, o->active->path);
}

void entries_each(const struct recipe_index *index, entry_fn *fn, void *data)
{
	vec_each (e, &index->entries) {
		struct opened o;

		entry_open(index, e, &o);
		fn(data, &o);
		entry_close(&o);
	}
}
