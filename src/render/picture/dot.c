#include "base/sha256.h"
#include "data/json.h"
#include "graph/graph.h"
#include "graph/step.h"
#include "render/picture/model.h"

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
	add_quoted(b, i->text.tip, "\\n");
}

/* The word stands in the label; this is its colour. */
static void add_colours(struct buf *b, const struct item *i)
{
	const struct state_colours *c = &state_looks[i->state.state].light;

	if (!i->state.known)
		return;
	buf_printf(b, ", %s=\"%s\"", item_is_group(i) ? "pencolor" : "color", c->line);
	if (!item_is_group(i))
		buf_printf(b, ", fillcolor=\"%s\", fontcolor=\"%s\", penwidth=2", c->fill, c->text);
}

static const char *box_style(const struct item *i)
{
	if (i->look == LOOK_RECIPE)
		return "rounded,filled,dashed";
	if (i->look)
		return "rounded,filled";
	if (i->recovery)
		return "rounded,dashed";
	return i->kind == ITEM_MORE ? "rounded,dotted" : "rounded";
}

/* Start and end of a step recipe. */
static void put_oval(struct buf *b, const struct item *i)
{
	indent(b, 0);
	buf_printf(b,
		"n%u [shape=oval, style=filled, fillcolor=\"#e9ecf1\", label=\"%s\", "
		"tooltip=\"%s\"];\n",
		i->id, i->text.tip.p, i->text.tip.p);
}

static void put_leaf(struct buf *b, const struct item *i)
{
	indent(b, i->depth);
	buf_printf(b, "n%u [", i->id);
	switch (i->kind) {
	case ITEM_CONDITION:
	case ITEM_GATE:
		add_label(b, i);
		buf_printf(b,
			", shape=diamond, style=filled, margin=\"0.02,0.06\", fillcolor=\"%s\", "
			"color=\"%s\"",
			item_looks[i->look].light.fill, item_looks[i->look].light.line);
		add_colours(b, i);
		break;
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
		buf_printf(b, ", style=\"%s%s\"", box_style(i),
			i->state.known && !i->look ? ",filled" : "");
		if (i->look)
			buf_printf(b, ", fillcolor=\"%s\", color=\"%s\"",
				item_looks[i->look].light.fill, item_looks[i->look].light.line);
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
	} else if (i->bare) {
		for (size_t c = 0; c < i->child_count; c++)
			put_item(b, i->children[c]);
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
static void put_arrow(struct buf *b, const struct picture *p, const struct arrow *a)
{
	static const char *const attributes[] = {
		[ARROW_NEXT] = "",
		[ARROW_BRANCH] = "",
		[ARROW_AGAIN] = "constraint=false label=\"next copy\" ",
		[ARROW_ROUND] = "constraint=false label=\"next round\" style=dashed ",
		[ARROW_SKIP] = "label=\" skip\" style=dashed ",
		[ARROW_RECOVER] =
			"constraint=false label=\"between attempts\" style=dashed dir=both ",
	};

	buf_printf(b, "\tn%u -> n%u [%s", item_exit(a->from)->id, item_entry(a->to)->id,
		p->steps && a->kind == ARROW_AGAIN ? "constraint=false label=\"next item\" "
						   : attributes[a->kind]);
	if (a->from != a->to && item_is_group(a->from))
		buf_printf(b, "ltail=cluster_%u ", a->from->id);
	if (a->from != a->to && item_is_group(a->to))
		buf_printf(b, "lhead=cluster_%u ", a->to->id);
	buf_adds(b, "];\n");
}

static void put_legend_arrow(struct buf *b, unsigned which, unsigned before)
{
	buf_printf(b,
		"\t\tlegend_%u_from [shape=point];\n\t\tlegend_%u [shape=point];\n"
		"\t\tlegend_%u_from -> legend_%u [label=\" %s\"%s];\n",
		which, which, which, which, legend_entries[which].words,
		which == LEGEND_EACH ? "" : ", style=dashed");
	if (before < LEGEND_COUNT)
		buf_printf(b, "\t\tlegend_%u -> legend_%u_from [style=invis];\n", before, which);
}

/* What the signs mean, in a group of its own. */
static void put_legend(struct buf *b, const struct picture *p)
{
	unsigned before = LEGEND_COUNT;

	if (!p->legend)
		return;
	buf_adds(b,
		"\tsubgraph cluster_legend {\n\t\tgraph [label=\"legend\\l\", style=\"rounded\", "
		"color=\"#b9c2cf\"];\n\t\tnode [fontsize=10];\n");
	for (unsigned i = 0; i < LEGEND_COUNT; i++) {
		const struct legend_entry *e = &legend_entries[i];
		const struct look_colours *c = &item_looks[e->look].light;

		if (!(p->legend & 1u << i))
			continue;
		if (e->kind == ITEM_MORE) {
			put_legend_arrow(b, i, before);
			before = i;
			continue;
		}
		buf_printf(b, "\t\tlegend_%u [label=\"%s\", ", i, e->words);
		if (e->kind == ITEM_BOX)
			buf_printf(b,
				"style=\"rounded,filled%s\", fillcolor=\"%s\", color=\"%s\"%s",
				e->look == LOOK_RECIPE ? ",dashed" : "", c->fill, c->line,
				i == LEGEND_PARALLEL ? ", peripheries=2" : "");
		else
			buf_printf(b,
				"shape=diamond, style=filled, margin=\"0.02,0.06\", "
				"fillcolor=\"%s\", "
				"color=\"%s\"",
				c->fill, c->line);
		buf_adds(b, "];\n");
		if (before < LEGEND_COUNT)
			buf_printf(b, "\t\tlegend_%u -> legend_%u [style=invis];\n", before, i);
		before = i;
	}
	buf_adds(b, "\t}\n");
}

/* Tells whether a picture that was kept is still that of the recipe. */
static void put_hash(struct buf *b, const struct picture *p)
{
	char hex[SHA256_HEX];
	AUTO_BUF body = BUF_INIT;

	if (!p->steps)
		return;
	json_write(&body, p->graph->steps->body, 0);
	sha256_hex(buf_str(&body), hex);
	buf_printf(b, "\tsource_hash=\"%s\";\n", hex);
}

void dot_write(const struct picture *p, struct buf *ret)
{
	buf_adds(ret, "digraph roux {\n\tgraph [compound=true, rankdir=TB, ranksep=0.7, "
		      "nodesep=0.35, fontname=\"monospace\", fontsize=11, labeljust=l, "
		      "charset=\"UTF-8\"];\n"
		      "\tnode [shape=box, fontname=\"monospace\", fontsize=11, "
		      "margin=\"0.18,0.1\"];\n"
		      "\tedge [fontname=\"monospace\", fontsize=10, arrowsize=0.8];\n");
	put_hash(ret, p);
	(p->steps ? put_oval : put_item)(ret, p->start);
	put_item(ret, p->root);
	(p->steps ? put_oval : put_item)(ret, p->end);
	vec_each (a, &p->arrows)
		put_arrow(ret, p, a);
	put_legend(ret, p);
	if (p->title.len) { /* last: groups would inherit it */
		buf_adds(ret, "\tlabelloc=t;\n\tlabel=");
		add_quoted(ret, p->title, "\\n");
		buf_adds(ret, ";\n");
	}
	buf_adds(ret, "}\n");
}
