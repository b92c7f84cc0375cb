#include "engine/failures.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/node-path.h"

void failures_add(struct failures *f, const struct failure *failure)
{
	f->total++;
	f->elsewhere += f->only.len && !node_path_within(failure->path, f->only);
	tally_add(&f->tally, tally_one(failure->tolerated));
	if (f->kept.len >= FAILURES_KEPT) {
		if (!f->latest)
			f->latest = mem_zero(sizeof(*f->latest) * FAILURES_LATEST);
		struct buf *slot = &f->latest[f->total % FAILURES_LATEST];
		buf_reset(slot);
		buf_add(slot, failure->path);
		return;
	}
	struct failure kept = *failure;
	kept.path = arena_str(&f->arena, failure->path);
	kept.label = arena_str(&f->arena, failure->label);
	kept.item = arena_str(&f->arena, failure->item);
	kept.command = arena_str(&f->arena, failure->command);
	kept.err = arena_str(&f->arena, failure->err);
	kept.out = arena_str(&f->arena, failure->out);
	kept.host = arena_str(&f->arena, failure->host);
	vec_push(&f->kept, kept);
}

void failures_tolerate(struct failures *f, struct str path, uint64_t before)
{
	for (size_t i = 0; i < f->kept.len && i < before; i++)
		if (node_path_within(f->kept.at[i].path, path))
			f->kept.at[i].tolerated = f->kept.at[i].overcome = true;
}

struct str failures_path(const struct failures *f, uint64_t number)
{
	if (number <= f->kept.len)
		return f->kept.at[number - 1].path;
	return f->latest && number + FAILURES_LATEST > f->total
		       ? buf_str(&f->latest[number % FAILURES_LATEST])
		       : S("");
}

void failures_keep_only(struct failures *f, struct tally tally)
{
	size_t n = 0;

	for (size_t i = 0; i < f->kept.len; i++)
		if (node_path_within(f->kept.at[i].path, f->only))
			f->kept.at[n++] = f->kept.at[i];
	f->kept.len = n;
	f->total -= f->elsewhere;
	f->elsewhere = 0;
	f->tally = tally;
}

void failures_done(struct failures *f)
{
	for (size_t i = 0; f->latest && i < FAILURES_LATEST; i++)
		buf_done(&f->latest[i]);
	free(f->latest);
	arena_done(&f->arena);
	vec_done(&f->kept);
}
