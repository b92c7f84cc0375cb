#include "app/recorded.h"

#include "app/record.h"
#include "app/secrets.h"
#include "app/steps.h"

/* What the commands' environment gets beside that of this process. */
static const char *const *environment(struct launch *l)
{
	size_t count = json_array_size(l->env), n = 0;
	const char **env = arena_array(&l->arena, const char *, count + 3);

	for (; n < count; n++)
		env[n] = arena_cstr(&l->arena, json_str(json_array_get(l->env, n)));
	env[n++] = arena_printf(&l->arena, "ROUX_RUN=%.*s", STR(l->id)).p;
	env[n++] = arena_printf(&l->arena, "ROUX_GENERATION=%.*s", STR(l->generation)).p;
	env[n] = NULL;
	return env;
}

bool recorded_begin(struct recorded *rec, struct launch *l, struct loop *loop,
	struct leaves *before, struct report *r)
{
	*rec = (struct recorded){ .launch = l };
	rec->record = record_open(l, loop, before, r);
	bool ok = rec->record && launch_begin(l, r);
	if (ok && l->graph->steps) {
		rec->steps = steps_open(l, r);
		ok = rec->steps != NULL;
		if (ok)
			record_steps(rec->record, rec->steps);
	}
	if (!ok) {
		recorded_done(rec);
		return false;
	}
	rec->mask = rec->steps ? mask_ref(steps_mask(rec->steps)) : mask_of(l);
	rec->env = environment(l);
	return true;
}

void recorded_options(const struct recorded *rec, struct start_options *o)
{
	const struct launch *l = rec->launch;

	o->base.as = l->id.p;
	o->artifacts = l->artifacts;
	o->bundle = l->bundle;
	o->env = rec->env;
	o->record = rec->record;
	o->steps = rec->steps;
	o->launch = l;
	o->mask = rec->mask;
	o->only = l->only;
}

void recorded_done(struct recorded *rec)
{
	record_free(rec->record);
	steps_close(rec->steps);
	mask_free(rec->mask);
	*rec = (struct recorded){ 0 };
}
