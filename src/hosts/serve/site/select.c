/* Which nodes of a run a page shows: all of small groups; of large ones what failed and what runs,
 * until a reader opens them. */
#include "hosts/serve/site/site.h"

struct choosing {
	struct run_model *m;
	struct selection *s;
	size_t limit;
};

/* Whether the reader has opened it; *from is the index of its first child to show. */
static bool is_open(const struct selection *s, struct str path, uint64_t *from)
{
	*from = 0;
	for (size_t at = 0; at < s->open.len;) {
		size_t end = str_find(s->open, ',', at);
		struct str one = str_sub(s->open, at, end - at);
		size_t colon = str_find(one, ':', 0);
		struct str name = str_sub(one, 0, colon);

		if (str_eq(name, path) || (str_eq(name, S("root")) && str_eq(path, S(".")))) {
			if (colon < one.len)
				(void)str_to_uint(str_from(one, colon + 1), from);
			return true;
		}
		at = end + 1;
	}
	return false;
}

static void choose(struct choosing *c, const struct past_node *n, unsigned depth);

/* Of a large group that is not open: what needs attention. */
static bool is_news(struct run_model *m, const struct past_node *n)
{
	struct node_view v;

	run_model_view(m, n, &v);
	return shown_state_bad(v.state) || v.state == STATE_RUNNING || v.state == STATE_RETRYING ||
	       v.state == STATE_PAUSED;
}

static size_t choose_news(struct choosing *c, const struct past_node *n, unsigned depth)
{
	size_t shown = 0;

	for (size_t i = 0; i < past_node_children(n) && shown < TREE_NEWS; i++)
		if (is_news(c->m, past_node_child(n, i)) && c->s->items.len < c->limit) {
			choose(c, past_node_child(n, i), depth);
			shown++;
		}
	return shown;
}

static void choose(struct choosing *c, const struct past_node *n, unsigned depth)
{
	struct tree_item item = { .depth = depth };
	size_t at = c->s->items.len, children = past_node_children(n), shown = 0;
	uint64_t from;

	if (at >= c->limit)
		return;
	run_model_view(c->m, n, &item.view);
	vec_push(&c->s->items, item);
	bool open = is_open(c->s, item.view.path, &from);
	if (children > TREE_SMALL && !open && !c->s->all) {
		shown = choose_news(c, n, depth + 1);
	} else {
		size_t end = children > TREE_SMALL && !c->s->all
				     ? MIN(children, (size_t)from + TREE_PAGE)
				     : children;

		for (size_t i = MIN((size_t)from, children); i < end && c->s->items.len < c->limit;
			i++, shown++)
			choose(c, past_node_child(n, i), depth + 1);
		c->s->items.at[at].from = children > TREE_SMALL ? from : 0;
		c->s->items.at[at].open = true;
	}
	c->s->items.at[at].hidden = children - MIN(shown, children);
}

void select_nodes(struct run_model *m, struct selection *s)
{
	struct choosing c = { .m = m, .s = s, .limit = s->limit ? s->limit : TREE_ITEMS };

	if (run_model_root(m))
		choose(&c, run_model_root(m), 0);
}

struct progress progress_of(const uint64_t *counts)
{
	struct progress n = { 0 };

	for (enum shown_state s = 0; counts && s < SHOWN_STATES; s++) {
		bool open = s == STATE_WAITING || s == STATE_RUNNING || s == STATE_RETRYING ||
			    s == STATE_UNREACHED || s == STATE_PAUSED;

		n.all += counts[s];
		n.over += open ? 0 : counts[s];
		n.bad += !open && shown_state_bad(s) ? counts[s] : 0;
	}
	return n;
}

void select_done(struct selection *s)
{
	vec_done(&s->items);
}
