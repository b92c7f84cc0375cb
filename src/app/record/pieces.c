#include "app/record/pieces.h"

#include <stdlib.h>

/* One stream of one command that has printed something. */
struct piece {
	struct piece *next;
	struct buf path, item, label, kept;
	struct event event; /* the latest; its texts are those above */
};

static void piece_free(struct piece *p)
{
	buf_done(&p->path);
	buf_done(&p->item);
	buf_done(&p->label);
	buf_done(&p->kept);
	free(p);
}

static struct piece *piece_of(struct pieces *all, const struct event *e)
{
	for (struct piece *p = all->first; p; p = p->next)
		if (p->event.output.is_stderr == e->output.is_stderr &&
			str_eq(buf_str(&p->path), e->path))
			return p;
	struct piece *p = mem_new(struct piece);
	buf_add(&p->path, e->path);
	buf_add(&p->item, e->item);
	buf_add(&p->label, e->label);
	p->next = all->first;
	all->first = p;
	return p;
}

void pieces_take(struct pieces *all, struct mask *m, const struct event *e, struct event *ret,
	struct arena *a)
{
	struct piece *p = piece_of(all, e);

	*ret = p->event = *e;
	p->event.path = buf_str(&p->path);
	p->event.item = buf_str(&p->item);
	p->event.label = buf_str(&p->label);
	ret->item = mask_text(m, e->item, a);
	ret->label = mask_text(m, e->label, a);
	ret->output.bytes = mask_piece(m, &p->kept, e->output.bytes, false, a);
}

bool pieces_rest(
	struct pieces *all, struct mask *m, struct str path, struct event *ret, struct arena *a)
{
	for (struct piece **at = &all->first, *p; (p = *at);) {
		if (path.len && !str_eq(buf_str(&p->path), path)) {
			at = &p->next;
			continue;
		}
		*at = p->next;
		bool any = p->kept.len > 0;
		if (any) {
			*ret = p->event;
			ret->path = arena_str(a, ret->path);
			ret->item = arena_str(a, mask_text(m, ret->item, a));
			ret->label = arena_str(a, mask_text(m, ret->label, a));
			ret->output.bytes = mask_piece(m, &p->kept, S(""), true, a);
		}
		piece_free(p);
		if (any)
			return true;
	}
	return false;
}

void pieces_done(struct pieces *all)
{
	for (struct piece *p; (p = all->first);) {
		all->first = p->next;
		piece_free(p);
	}
}
