#include "render/picture/picture.h"

#include "graph/graph.h"
#include "render/picture/model.h"

/* What Mermaid takes unless whoever shows the diagram has raised it. */
enum { MERMAID_MAX_BYTES = 50000, MERMAID_MAX_ARROWS = 500 };

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
