#include "base/node-path.h"

#include <stdlib.h>

static void add_up(struct buf *b, struct str up)
{
	if (up.len && !str_eq(up, S("."))) {
		buf_add(b, up);
		buf_addc(b, '.');
	}
}

void node_path_child(struct buf *b, struct str up, uint64_t index)
{
	add_up(b, up);
	buf_add_number(b, index, 1);
}

void node_path_copy(struct buf *b, struct str up, uint64_t index)
{
	add_up(b, up);
	buf_addc(b, 'r');
	buf_add_number(b, index, 1);
}

void node_path_recover(struct buf *b, struct str up)
{
	add_up(b, up);
	buf_adds(b, "recover");
}

bool node_path_within(struct str path, struct str top)
{
	if (str_eq(top, S(".")) || str_eq(path, top))
		return true;
	return str_starts(path, top) && path.p[top.len] == '.';
}

struct str node_path_last(struct str path)
{
	size_t from = path.len;

	while (from && path.p[from - 1] != '.')
		from--;
	return str_from(path, from);
}

struct str node_path_up(struct str path)
{
	size_t end = path.len - node_path_last(path).len;

	return end > 1 ? str_sub(path, 0, end - 1) : S(".");
}

bool node_path_is_copy(struct str part, uint64_t *ret_index)
{
	return part.len > 1 && part.p[0] == 'r' && str_to_uint(str_from(part, 1), ret_index);
}

uint64_t node_path_round(struct str path)
{
	uint64_t index = 0;

	return node_path_is_copy(node_path_last(path), &index) ? index + 1 : 0;
}

bool node_path_index(struct str path, struct str up, uint64_t *ret)
{
	size_t at = str_eq(up, S(".")) ? 0 : up.len + 1;

	if (!node_path_within(path, up) || at >= path.len)
		return false;
	at += path.p[at] == 'r' && at + 1 < path.len && ascii_digit(path.p[at + 1]);
	*ret = ascii_digit(path.p[at]) ? strtoull(path.p + at, NULL, 10) : UINT64_MAX;
	return true;
}
