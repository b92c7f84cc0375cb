#include "graph/way.h"

#include "base/node-path.h"
#include "base/utf8.h"
#include "graph/graph.h"

static bool number_of(struct str s, uint64_t *ret)
{
	*ret = 0;
	for (size_t i = 0; i < s.len; i++) {
		if (!ascii_digit(s.p[i]) || *ret > UINT64_MAX / 10 - 10)
			return false;
		*ret = *ret * 10 + (uint64_t)(s.p[i] - '0');
	}
	return s.len > 0;
}

/* One part of a path below `n`. */
static const struct node *below(const struct node *n, struct str part, struct way_step *ret)
{
	uint64_t index;

	if (str_eq(part, S("recover"))) {
		ret->recovery = true;
		return n->recover;
	}
	if (part.len > 1 && part.p[0] == 'r') {
		if (!node_repeats(n) || !number_of(str_from(part, 1), &index))
			return NULL;
		ret->index = index;
		return n->child_count ? n->children[0] : NULL;
	}
	if (n->kind == NODE_CALL && n->call)
		return str_eq(part, S("0")) ? n->call->root : NULL;
	if (!number_of(part, &index) || index >= n->child_count || node_repeats(n))
		return NULL;
	ret->index = index;
	return n->children[index];
}

size_t way_to(const struct node *root, struct str path, struct way_step steps[WAY_MAX])
{
	return way_through(root, path, steps, NULL, NULL);
}

size_t way_through(const struct node *root, struct str path, struct way_step steps[WAY_MAX],
	way_called *called, void *data)
{
	const struct node *n = root;
	size_t count = 0, at = 0;

	steps[count++] = (struct way_step){ .node = root, .path = node_root_path(root) };
	if (str_eq(path, node_root_path(root)))
		return count;
	/* Below a root that is a command only its recovery has a path. */
	if (root->kind == NODE_COMMAND) {
		if (!str_starts(path, S("0.")))
			return 0;
		at = 2;
	}
	while (at < path.len && count < WAY_MAX) {
		size_t end = str_find(path, '.', at);
		struct way_step step = { 0 };
		struct str part = str_sub(path, at, end - at);

		if (n->kind == NODE_CALL && called)
			n = str_eq(part, S("0")) ? called(data, n) : NULL;
		else
			n = below(n, part, &step);
		if (!n)
			return 0;
		step.node = n;
		step.path = str_sub(path, 0, end);
		steps[count++] = step;
		at = end + 1;
	}
	return at >= path.len ? count : 0;
}
