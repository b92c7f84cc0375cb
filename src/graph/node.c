#include "graph/node.h"

#include <inttypes.h>

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

static void path_up(struct buf *b, struct str up)
{
	if (up.len && !str_eq(up, S("."))) {
		buf_add(b, up);
		buf_addc(b, '.');
	}
}

void path_child(struct buf *b, struct str up, uint64_t index)
{
	path_up(b, up);
	buf_printf(b, "%" PRIu64, index);
}

void path_copy(struct buf *b, struct str up, uint64_t index)
{
	path_up(b, up);
	buf_printf(b, "r%" PRIu64, index);
}

void path_recover(struct buf *b, struct str up)
{
	path_up(b, up);
	buf_adds(b, "recover");
}

struct str path_root(const struct node *root)
{
	return root->kind == NODE_COMMAND ? S("0") : S(".");
}

static bool bare(struct str word)
{
	static const char plain[] = "_/:=.,@%+-";

	for (size_t i = 0; i < word.len; i++) {
		char c = word.p[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !ascii_digit(c) &&
			!(c && strchr(plain, c)))
			return false;
	}
	return word.len > 0;
}

void command_display(struct buf *b, const char *const *argv, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct str word = str_of(argv[i]);

		if (i)
			buf_addc(b, ' ');
		if (bare(word)) {
			buf_add(b, word);
			continue;
		}
		buf_addc(b, '\'');
		for (size_t k = 0; k < word.len; k++) {
			if (word.p[k] == '\'')
				buf_adds(b, "'\\''");
			else
				buf_addc(b, word.p[k]);
		}
		buf_addc(b, '\'');
	}
}

struct str node_caption(const struct node *n)
{
	if (n->kind == NODE_EACH)
		return node_caption(n->children[0]);
	if (n->label.len)
		return n->label;
	return n->kind == NODE_COMMAND ? n->line : str_of(kinds[n->kind]);
}
