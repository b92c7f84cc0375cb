#include "render/picture-model.h"

/* The beginning of every line inside a group. */
static void indent(struct buf *b, unsigned depth)
{
	buf_fill(b, '\t', depth + 1);
}

/* A quoted string, its lines ended by `eol`: entities are read inside, and a backslash begins an
 * escape. */
static void add_quoted(struct buf *b, struct str s, const char *eol)
{
	buf_addc(b, '"');
	for (size_t i = 0; i < s.len; i++) {
		switch (s.p[i]) {
		case '"':
			buf_adds(b, "\\\"");
			break;
		case '\\':
			buf_adds(b, "\\\\");
			break;
		case '&':
			buf_adds(b, "&amp;");
			break;
		case '\n':
			buf_adds(b, eol);
			break;
		default:
			buf_addc(b, s.p[i]);
		}
	}
	buf_addc(b, '"');
}

static void add_label(struct buf *b, const struct item *i)
{
	AUTO_BUF lines = BUF_INIT;

	item_lines(i, &lines);
	if (item_is_group(i))
		buf_addc(&lines, '\n');
	buf_adds(b, "label=");
	add_quoted(b, buf_str(&lines), item_is_group(i) ? "\\l" : "\\n");
	buf_adds(b, ", tooltip=");
	add_quoted(b, i->tip, "\\n");
}

/* The word stands in the label; this is its colour. */
static void add_colours(struct buf *b, const struct item *i)
{
	const struct outcome_colours *c = &outcome_looks[i->outcome].light;

	if (!i->known)
		return;
	buf_printf(b, ", %s=\"%s\"", item_is_group(i) ? "pencolor" : "color", c->line);
	if (!item_is_group(i))
		buf_printf(b, ", fillcolor=\"%s\", fontcolor=\"%s\", penwidth=2", c->fill, c->text);
}

static const char *box_style(const struct item *i)
{
	if (i->recovery)
		return "rounded,dashed";
	return i->kind == ITEM_MORE ? "rounded,dotted" : "rounded";
}

static void put_leaf(struct buf *b, const struct item *i)
{
	indent(b, i->depth);
	buf_printf(b, "n%u [", i->id);
	switch (i->kind) {
	case ITEM_START:
		buf_adds(b, "shape=circle, style=filled, fillcolor=black, width=0.2, label=\"\", "
			    "tooltip=\"start\"");
		break;
	case ITEM_END:
		buf_adds(b, "shape=doublecircle, style=filled, fillcolor=black, width=0.14, "
			    "label=\"\", tooltip=\"end\"");
		break;
	case ITEM_FORK:
	case ITEM_JOIN:
		buf_printf(b,
			"shape=box, style=filled, fillcolor=black, width=1.6, height=0.07, "
			"fixedsize=true, label=\"\", tooltip=\"%s\"",
			i->kind == ITEM_FORK ? "fork" : "join");
		break;
	case ITEM_BOX:
	case ITEM_MORE:
	case ITEM_SEQUENCE:
	case ITEM_PARALLEL:
		add_label(b, i);
		buf_printf(b, ", style=\"%s%s\"", box_style(i), i->known ? ",filled" : "");
		add_colours(b, i);
		if (i->copies)
			buf_adds(b, ", peripheries=2");
		break;
	}
	buf_adds(b, "];\n");
}

static void put_item(struct buf *b, const struct item *i)
{
	if (!item_is_group(i)) {
		put_leaf(b, i);
	} else {
		indent(b, i->depth);
		buf_printf(b, "subgraph cluster_%u {\n", i->id);
		indent(b, i->depth + 1);
		buf_adds(b, "graph [");
		add_label(b, i);
		buf_printf(b, ", style=\"%s\", penwidth=%s", box_style(i), i->fork ? "2" : "1");
		add_colours(b, i);
		buf_adds(b, "];\n");
		if (i->fork)
			put_leaf(b, i->fork);
		for (size_t c = 0; c < i->child_count; c++)
			put_item(b, i->children[c]);
		if (i->join)
			put_leaf(b, i->join);
		indent(b, i->depth);
		buf_adds(b, "}\n");
	}
	if (i->recover)
		put_item(b, i->recover);
}

/* Arrows join nodes; those of a group are cut off at its frame. */
static void put_arrow(struct buf *b, const struct arrow *a)
{
	static const char *const looks[] = {
		[ARROW_NEXT] = "",
		[ARROW_BRANCH] = "",
		[ARROW_AGAIN] = "constraint=false label=\"next copy\" ",
		[ARROW_RECOVER] =
			"constraint=false label=\"between attempts\" style=dashed dir=both ",
	};

	buf_printf(b, "\tn%u -> n%u [%s", item_exit(a->from)->id, item_entry(a->to)->id,
		looks[a->kind]);
	if (a->from != a->to && item_is_group(a->from))
		buf_printf(b, "ltail=cluster_%u ", a->from->id);
	if (a->from != a->to && item_is_group(a->to))
		buf_printf(b, "lhead=cluster_%u ", a->to->id);
	buf_adds(b, "];\n");
}

void dot_write(const struct picture *p, struct buf *ret)
{
	buf_adds(ret, "digraph roux {\n\tgraph [compound=true, rankdir=TB, ranksep=0.7, "
		      "nodesep=0.35, fontname=\"monospace\", fontsize=11, labeljust=l, "
		      "charset=\"UTF-8\"];\n"
		      "\tnode [shape=box, fontname=\"monospace\", fontsize=11, "
		      "margin=\"0.18,0.1\"];\n"
		      "\tedge [fontname=\"monospace\", fontsize=10, arrowsize=0.8];\n");
	put_item(ret, p->start);
	put_item(ret, p->root);
	put_item(ret, p->end);
	vec_each (a, &p->arrows)
		put_arrow(ret, a);
	if (p->title.len) { /* last: groups would inherit it */
		buf_adds(ret, "\tlabelloc=t;\n\tlabel=");
		add_quoted(ret, p->title, "\\n");
		buf_adds(ret, ";\n");
	}
	buf_adds(ret, "}\n");
}
