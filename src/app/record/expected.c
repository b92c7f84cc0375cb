#include "app/record/expected.h"

static bool count_commands(const struct node *n, uint64_t times, uint64_t *total)
{
	if (n->when || !n->runs || n->recover || n->retry.text || n->retry.value > 1)
		return false;
	switch (n->kind) {
	case NODE_COMMAND:
		*total += times;
		return true;
	case NODE_EACH:
		return n->count.number && times < UINT32_MAX &&
		       count_commands(n->children[0], times * n->count.number, total);
	case NODE_SEQUENCE:
	case NODE_PARALLEL:
		for (size_t i = 0; i < n->child_count; i++)
			if (!count_commands(n->children[i], times, total))
				return false;
		return true;
	case NODE_WHILE:
	case NODE_CALL:
	case NODE_GATE:
	case NODE_WAIT:
		break;
	}
	return false;
}

bool expected_commands(const struct node *root, uint64_t *ret)
{
	*ret = 0;
	return count_commands(root, 1, ret);
}
