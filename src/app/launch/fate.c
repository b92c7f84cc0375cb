#include "app/launch/fate.h"

#include "base/node-path.h"
#include "graph/step.h"

const char *resume_reason(enum resume_note note)
{
	static const char *const reasons[] = {
		[RESUME_WAS_RUNNING] = "it was running when the run was cut short",
		[RESUME_WAS_ENDED] = "the run was ended while it was running",
		[RESUME_LOST] = "what it printed is gone and needed",
		[RESUME_UNKEPT] = "it ended, but what it printed could not be kept",
		[RESUME_UNRECORDED] = "its record is lost",
		[RESUME_ROUNDS] = "what its rounds have come to is not kept",
	};

	return note < ARRAY_SIZE(reasons) && reasons[note] ? reasons[note] : "";
}

/* False: it stands, or nothing is known that could be said of it. */
static bool runs_again(const struct leaf_record *r, enum resume_note *why)
{
	if (r->unrecorded)
		*why = RESUME_UNRECORDED;
	else if (r->lost)
		*why = r->unkept ? RESUME_UNKEPT : RESUME_LOST;
	else if (r->started && !r->ended && !r->on.len)
		*why = RESUME_WAS_RUNNING;
	else if (r->started && r->cancelled)
		*why = RESUME_WAS_ENDED;
	else
		return false;
	return true;
}

static struct fate *fate_at(const struct fates *f, struct str path)
{
	const size_t *place = map_get(&f->index, path);

	return place ? &f->all.at[*place - 1] : NULL;
}

static void add(struct fates *f, struct str path, enum resume_note why)
{
	struct fate *known = fate_at(f, path);

	if (known) {
		if (known->why == RESUME_WAS_RUNNING || known->why == RESUME_WAS_ENDED)
			known->why = why;
		return;
	}
	size_t *place = arena_new(&f->arena, size_t);
	vec_push(&f->all, (struct fate){ path, why });
	*place = f->all.len;
	*map_put(&f->index, &f->arena, path) = place;
}

struct finding {
	struct fates *fates;
	struct called *called;
	const struct leaves *leaves;
};

/* A loop without checkpoints begins with its first round when it is opened before its end. */
static void find_loop(const struct finding *f, struct str path)
{
	const struct graph *g = f->called->launch->subject.graph;
	struct way_step way[WAY_MAX];
	size_t steps = g->steps || g->calls ? called_way(f->called, path, way) : 0;

	for (size_t i = 0; i < steps; i++) {
		const struct node *n = way[i].node;

		if (!node_repeats(n) || !n->step || n->step->loop.checkpoints ||
			leaves_closed(f->leaves, way[i].path))
			continue;
		add(f->fates, way[i].path, RESUME_ROUNDS);
		return;
	}
}

static void find(void *data, struct str path, const struct leaf_record *record)
{
	const struct finding *f = data;
	enum resume_note why;

	find_loop(f, path);
	if (runs_again(record, &why))
		add(f->fates, path, why);
}

void fates_find(struct fates *f, struct called *called, const struct leaves *leaves)
{
	leaves_each(leaves, find, &(struct finding){ f, called, leaves });
}

void fates_done(struct fates *f)
{
	vec_done(&f->all);
	arena_done(&f->arena);
}

const struct fate *fates_of(const struct fates *f, struct str path)
{
	return fate_at(f, path);
}

const struct fate *fates_loop(const struct fates *f, struct str path)
{
	for (size_t at = 0; at < path.len; at++) {
		const struct fate *up = path.p[at] == '.' ? fate_at(f, str_sub(path, 0, at)) : NULL;

		if (up && up->why == RESUME_ROUNDS)
			return up;
	}
	return NULL;
}

void fates_list(const struct fates *f, enum resume_note why, struct buf *ret)
{
	vec_each (fate, &f->all)
		if (fate->why == why)
			buf_printf(ret, "%s[%.*s]", ret->len ? ", " : "", STR(fate->path));
}
