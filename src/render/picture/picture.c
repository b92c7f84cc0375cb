#include "render/picture/picture.h"

#include "graph/graph.h"
#include "render/picture/build.h"
#include "render/picture/text.h"

/* What Mermaid takes unless the page that shows the diagram has raised it. */
enum { MERMAID_MAX_BYTES = 50000, MERMAID_MAX_ARROWS = 500 };
enum { COLUMNS_TITLE = 72 };

static struct str description(const struct builder *b)
{
	const struct picture *p = b->picture;
	const char *few = p->commands == 1 ? "" : "s";

	if (p->steps)
		return arena_printf(b->arena,
			"%u step%s, from top to bottom. A diamond is a condition or an approval; a "
			"dashed arrow passes a step by.",
			p->commands, few);
	return arena_printf(b->arena,
		"%u command%s in %u group%s, from top to bottom. The steps of a sequence run one "
		"after the other; the branches of a parallel group run at once, between two bars.",
		p->commands, few, p->groups, p->groups == 1 ? "" : "s");
}

void picture_build(struct picture *p, const struct graph *g, const struct picture_options *options,
	unsigned items_max)
{
	struct builder b = { p, options, &p->arena, items_max, { 0 } };
	struct str title = options ? options->title : S("");

	*p = (struct picture){ .run = options && options->state, .steps = g->steps, .graph = g };
	p->title = picture_cut(b.arena, picture_line(b.arena, title), COLUMNS_TITLE);
	p->start = build_item(&b, ITEM_START, 0);
	p->start->text.tip = S("start");
	p->root = g->steps ? build_steps(&b, g->root) : build_template(&b, g->root);
	p->end = build_item(&b, ITEM_END, 0);
	p->end->text.tip = S("end");
	build_arrow(&b, ARROW_NEXT, p->start, p->root);
	build_arrow(&b, ARROW_NEXT, p->root, p->end);
	vec_each (condition, &b.open)
		build_arrow(&b, ARROW_SKIP, *condition, p->end);
	vec_done(&b.open);
	p->description = description(&b);
}

void picture_done(struct picture *p)
{
	vec_done(&p->arrows);
	arena_done(&p->arena);
}

/* Leaves more and more out until Mermaid takes it. */
static void write_mermaid(
	const struct graph *g, const struct picture_options *options, struct buf *ret)
{
	size_t before = ret->len;
	bool fits = false;

	for (unsigned items = PICTURE_ITEMS_MAX; !fits; items /= 2) {
		struct picture p;

		buf_truncate(ret, before);
		picture_build(&p, g, options, items);
		mermaid_write(&p, ret);
		fits = (ret->len - before < MERMAID_MAX_BYTES &&
			       p.arrows.len < MERMAID_MAX_ARROWS) ||
		       items == 0;
		picture_done(&p);
	}
}

void picture_write(const struct graph *g, enum picture_format format,
	const struct picture_options *options, struct buf *ret)
{
	struct picture p;

	if (format == PICTURE_MERMAID) {
		write_mermaid(g, options, ret);
		return;
	}
	picture_build(&p, g, options, PICTURE_ITEMS_MAX);
	if (format == PICTURE_SVG)
		svg_write(&p, ret);
	else
		dot_write(&p, ret);
	picture_done(&p);
}
