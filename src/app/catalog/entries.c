#include "app/catalog/entries.h"

static void open_entry(
	const struct recipe_dirs *dirs, const struct recipe_entry *e, struct opened *ret)
{
	*ret = (struct opened){ .entry = e, .active = &e->candidates.at[0] };
	ret->recipe = recipe_open_file(dirs, ret->active->path, ret->active->layer, &ret->issues);
	ret->state = !ret->recipe                   ? STATE_INVALID
		     : recipe_disabled(ret->recipe) ? STATE_DISABLED
						    : STATE_ACTIVE;
}

static void close_entry(struct opened *o)
{
	recipe_free(o->recipe);
	report_done(&o->issues);
}

struct str entries_first_error(const struct report *r)
{
	vec_each (i, &r->issues)
		if (i->kind != ISSUE_WARNING)
			return i->message;
	return S("");
}

void entries_each(const struct recipe_index *index, entry_fn *fn, void *data)
{
	vec_each (e, &index->entries) {
		struct opened o;

		open_entry(&index->dirs, e, &o);
		fn(data, &o);
		close_entry(&o);
	}
}
