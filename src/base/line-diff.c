#include "base/line-diff.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/lang.h"
#include "base/mem.h"
#include "base/vec.h"

enum { CELLS_MAX = 4 << 20 };

typedef VEC(struct str) lines;

struct step {
	enum line_mark mark;
	struct str line;
};

typedef VEC(struct step) steps;

static void split(struct str text, lines *ret)
{
	for (size_t at = 0; at < text.len;) {
		size_t end = str_find(text, '\n', at);

		vec_push(ret, str_sub(text, at, end - at));
		at = end + 1;
	}
}

static void add(steps *all, enum line_mark mark, const struct str *lines_at, size_t count)
{
	for (size_t i = 0; i < count; i++)
		vec_push(all, (struct step){ mark, lines_at[i] });
}

/* The longest common subsequence: [i][j] is its length from old line i and new line j on. */
static void compare(const struct str *old, size_t m, const struct str *now, size_t n, steps *all)
{
	size_t row = n + 1, i = 0, j = 0;

	if (m && n > CELLS_MAX / m) {
		add(all, LINE_OUT, old, m);
		add(all, LINE_IN, now, n);
		return;
	}
	uint32_t *common = mem_zero((m + 1) * row * sizeof(*common));
	for (i = m; i-- > 0;)
		for (j = n; j-- > 0;) {
			uint32_t down = common[(i + 1) * row + j], right = common[i * row + j + 1];

			common[i * row + j] = str_eq(old[i], now[j])
						      ? common[(i + 1) * row + j + 1] + 1
						      : MAX(down, right);
		}
	for (i = j = 0; i < m || j < n;) {
		if (i < m && j < n && str_eq(old[i], now[j])) {
			add(all, LINE_SAME, &old[i++], 1);
			j++;
		} else if (i < m &&
			   (j == n || common[(i + 1) * row + j] >= common[i * row + j + 1])) {
			add(all, LINE_OUT, &old[i++], 1);
		} else {
			add(all, LINE_IN, &now[j++], 1);
		}
	}
	free(common);
}

static bool is_near(const steps *all, size_t at, size_t context)
{
	size_t from = at > context ? at - context : 0;

	for (size_t i = from; i < all->len && i <= at + context; i++)
		if (all->at[i].mark != LINE_SAME)
			return true;
	return false;
}

void line_diff(struct str old, struct str now, size_t context, line_diff_fn *see, void *data)
{
	lines a = { 0 }, b = { 0 };
	steps all = { 0 };
	size_t head = 0, tail = 0;
	bool gap = false;

	if (str_eq(old, now))
		return;
	split(old, &a);
	split(now, &b);
	while (head < a.len && head < b.len && str_eq(a.at[head], b.at[head]))
		head++;
	while (tail < a.len - head && tail < b.len - head &&
		str_eq(a.at[a.len - 1 - tail], b.at[b.len - 1 - tail]))
		tail++;
	add(&all, LINE_SAME, a.at, head);
	compare(a.at + head, a.len - head - tail, b.at + head, b.len - head - tail, &all);
	add(&all, LINE_SAME, a.at + a.len - tail, tail);
	for (size_t i = 0; i < all.len; i++) {
		bool near = is_near(&all, i, context);

		if (near && gap)
			see(data, LINE_GAP, S(""));
		gap = !near;
		if (near)
			see(data, all.at[i].mark, all.at[i].line);
	}
	vec_done(&a);
	vec_done(&b);
	vec_done(&all);
}
