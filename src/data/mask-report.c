/* Issues with their texts masked. */
#include "base/report.h"
#include "data/mask.h"

/* A window of a long line may begin or end within a secret, and so may what is marked in it. */
static struct str mask_window(struct mask *m, struct str text, struct arena *a)
{
	size_t from = str_starts(text, S("…")) ? S("…").len : 0;
	struct str inner = str_from(text, from);
	size_t behind = str_ends(inner, S("…")) ? S("…").len : 0;
	AUTO_BUF shown = BUF_INIT;

	inner.len -= behind;
	buf_add(&shown, str_sub(text, 0, from));
	buf_add(&shown, mask_part(m, inner, MASK_CUT_FRONT | MASK_CUT_BACK, a));
	buf_add(&shown, str_from(text, text.len - behind));
	return arena_str(a, buf_str(&shown));
}

/* The mark stays under its place. */
static void mask_excerpt(struct mask *m, struct issue *i, struct arena *a)
{
	struct str before = mask_window(m, str_sub(i->excerpt, 0, i->mark), a);
	struct str marked = mask_window(m, str_sub(i->excerpt, i->mark, i->mark_len), a);
	struct str behind = mask_window(m, str_from(i->excerpt, i->mark + i->mark_len), a);
	AUTO_BUF line = BUF_INIT;

	buf_add(&line, before);
	buf_add(&line, marked);
	buf_add(&line, behind);
	i->excerpt = arena_str(a, buf_str(&line));
	i->mark = before.len;
	i->mark_len = marked.len;
}

void mask_report(struct mask *m, struct report *r)
{
	if (!m)
		return;
	vec_each (i, &r->issues) {
		i->message = mask_text(m, i->message, &r->arena);
		i->hint = mask_text(m, i->hint, &r->arena);
		mask_excerpt(m, i, &r->arena);
		for (size_t n = 0; n < ISSUE_ACTIONS; n++)
			i->actions[n].about = mask_text(m, i->actions[n].about, &r->arena);
	}
}
