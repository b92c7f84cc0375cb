#include "app/launch/attempts.h"

#include "base/node-path.h"

static bool retried(const struct node *n)
{
	return n->retry.text || n->retry.value > 1;
}

static size_t way_of(const struct past *p, struct str path, struct way_step way[WAY_MAX])
{
	return p->called ? called_way(p->called, path, way) : way_to(p->root, path, way);
}

bool past_spend(const struct past *p, uint64_t records)
{
	bool enough = *p->effort >= records;

	*p->effort = enough ? *p->effort - records : 0;
	return enough;
}

void past_each(const struct past *p,
	void (*see)(void *data, struct str path, const struct leaf_record *record), void *data)
{
	if (past_spend(p, p->count))
		leaves_each(p->leaves, see, data);
}

bool record_counts(const struct leaf_record *r)
{
	return r && r->ended && !r->cancelled;
}

bool record_failed(const struct leaf_record *r)
{
	return r->code || r->signal || r->timed_out;
}

bool execution_is_last(const struct node *n, uint64_t number)
{
	return !retried(n) || (!n->retry.text && (number + 1) % n->retry.value == 0);
}

static bool number_at(const struct past *p, const struct way_step *way, size_t steps,
	const struct leaf_record *record, size_t depth, uint64_t *ret)
{
	uint64_t base = steps ? leaves_base(p->leaves, way[steps - 1].path) : 0;

	if (steps <= depth || record->number <= base)
		return false;
	*ret = record->number - base - 1;
	for (size_t i = depth + 1; i < steps; i++) {
		if (way[i].node->retry.text)
			return false;
		*ret /= MAX(way[i].node->retry.value, (uint64_t)1);
	}
	return true;
}

/* The same by the path of the record. */
static bool number_of(const struct past *p, struct str path, const struct leaf_record *record,
	size_t depth, uint64_t *ret)
{
	struct way_step way[WAY_MAX];
	size_t steps = way_of(p, path, way);

	return number_at(p, way, steps, record, depth, ret);
}

bool execution_at(const struct past *p, const struct way_step *way, size_t steps,
	const struct leaf_record *record, size_t depth, struct execution *ret)
{
	*ret = (struct execution){ .path = way[depth].path, .depth = depth, .only = true };
	for (size_t i = 0; i <= depth; i++)
		ret->only &= !retried(way[i].node);
	return ret->only || number_at(p, way, steps, record, depth, &ret->number);
}

bool execution_has(const struct past *p, const struct execution *e, struct str path,
	const struct leaf_record *record)
{
	uint64_t number;

	if (!node_path_within(path, e->path))
		return false;
	return e->only || (number_of(p, path, record, e->depth, &number) && number == e->number);
}

/* -- one after the other -------------------------------------------------------------------------
 */

/* The attempts of a node in one execution of what is around it. */
struct attempts {
	const struct past *past;
	struct str path;
	size_t depth;
	const struct execution *up; /* NULL: nothing is around it */
	uint64_t last;              /* of those that have begun */
	uint64_t open;              /* the first of which something runs again; UINT64_MAX: none */
	bool any;
};

static void look_at_attempt(void *data, struct str path, const struct leaf_record *record)
{
	struct attempts *a = data;
	uint64_t number;

	if (!node_path_within(path, a->path) ||
		(a->up && !execution_has(a->past, a->up, path, record)))
		return;
	if (!number_of(a->past, path, record, a->depth, &number)) {
		a->open = 0; /* it may be of any of them */
		return;
	}
	a->last = MAX(a->last, number);
	a->any = true;
	if (!record_counts(record))
		a->open = MIN(a->open, number);
}

static struct attempts attempts_of(
	const struct past *p, struct str path, size_t depth, const struct execution *up)
{
	struct attempts a = {
		.past = p, .path = path, .depth = depth, .up = up, .open = UINT64_MAX
	};

	past_each(p, look_at_attempt, &a);
	return a;
}

bool execution_deciding(const struct past *p, const struct node *n, struct str path,
	const struct execution *up, struct execution *ret)
{
	*ret = (struct execution){ path, up->depth + 1, up->number, up->only };
	if (!retried(n))
		return true;
	struct attempts a = attempts_of(p, path, ret->depth, up);
	ret->number = a.last;
	ret->only = false;
	/* What runs again may fail, and another attempt comes. */
	return a.any &&
	       (a.open == UINT64_MAX || (a.open == a.last && execution_is_last(n, a.last)));
}

bool execution_superseded(const struct past *p, const struct way_step *way, size_t steps,
	const struct leaf_record *record, size_t depth)
{
	struct execution now, up;

	if (!retried(way[depth].node) || !execution_at(p, way, steps, record, depth, &now) ||
		(depth && !execution_at(p, way, steps, record, depth - 1, &up)))
		return false;
	struct attempts a = attempts_of(p, now.path, depth, depth ? &up : NULL);
	return a.any && a.last > now.number && a.open > now.number;
}

bool execution_retries(const struct past *p, struct str path, const struct leaf_record *record)
{
	struct way_step way[WAY_MAX];
	size_t steps = way_of(p, path, way);
	const struct node *n = steps ? way[steps - 1].node : NULL;
	struct execution e;

	if (!n || n->retry.text || !record_failed(record) || record->passed)
		return false;
	/* A step that could not be started is not tried again. */
	if (n->step && (record->code == 126 || record->code == 127))
		return false;
	if (record->limit.len && !str_eq(record->limit, path))
		return false;
	return execution_at(p, way, steps, record, steps - 1, &e) &&
	       !execution_is_last(n, e.number);
}

bool execution_is_retried(const struct past *p, struct str path)
{
	struct way_step way[WAY_MAX];
	size_t steps = way_of(p, path, way);

	for (size_t i = 0; i < steps; i++)
		if (retried(way[i].node))
			return true;
	return false;
}

bool execution_precedes(const struct past *p, struct str path, const struct leaf_record *record,
	struct str next_path, const struct leaf_record *next)
{
	struct way_step way[WAY_MAX];
	size_t steps = way_of(p, path, way);

	for (size_t i = 0; i < steps && node_path_within(next_path, way[i].path); i++) {
		bool recovers = i + 1 < steps && way[i + 1].recovery;
		uint64_t now, then, index;

		if (!retried(way[i].node) || !number_at(p, way, steps, record, i, &now) ||
			!number_of(p, next_path, next, i, &then))
			continue;
		/* Behind a recovery its node is tried again. */
		then += !recovers && node_path_index(next_path, way[i].path, &index) &&
			index == UINT64_MAX;
		if (then > now)
			return true;
	}
	return false;
}
