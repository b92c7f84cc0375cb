#include "graph/node.h"

#include <inttypes.h>

#include "base/utf8.h"

static const char *const kinds[] = {
	[NODE_COMMAND] = "command",
	[NODE_SEQUENCE] = "sequence",
	[NODE_PARALLEL] = "parallel",
	[NODE_EACH] = "each",
	[NODE_WHILE] = "while",
	[NODE_CALL] = "call",
	[NODE_GATE] = "gate",
	[NODE_WAIT] = "wait",
};

const char *node_kind_name(enum node_kind kind)
{
	return kinds[kind];
}

const char *failure_name(enum failure_scope scope)
{
	static const char *const names[] = { "continue", "branch", "root" };

	return names[scope];
}

struct str node_root_path(const struct node *root)
{
	return root->kind == NODE_COMMAND ? S("0") : S(".");
}

struct str node_caption(const struct node *n)
{
	if (n->kind == NODE_EACH && !n->step)
		return node_caption(n->children[0]);
	if (n->label.len)
		return n->label;
	return n->kind == NODE_COMMAND ? n->line : str_of(kinds[n->kind]);
}
