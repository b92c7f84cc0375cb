#include "engine/failures.h"

void failures_add(struct failures *f, const struct failure *failure)
{
	f->total++;
	if (f->kept.len >= FAILURES_KEPT)
		return;
	struct failure kept = *failure;
	kept.path = arena_str(&f->arena, failure->path);
	kept.label = arena_str(&f->arena, failure->label);
	kept.command = arena_str(&f->arena, failure->command);
	kept.err = arena_str(&f->arena, failure->err);
	kept.out = arena_str(&f->arena, failure->out);
	vec_push(&f->kept, kept);
}

static bool within(struct str path, struct str group)
{
	if (str_eq(group, S(".")) || str_eq(path, group))
		return true;
	return str_starts(path, group) && path.p[group.len] == '.';
}

void failures_tolerate(struct failures *f, struct str path)
{
	vec_each (failure, &f->kept)
		if (within(failure->path, path))
			failure->tolerated = true;
}

void failures_done(struct failures *f)
{
	arena_done(&f->arena);
	vec_done(&f->kept);
}
