#pragma once

#include "data/mask.h"
#include "graph/event.h"

/* What commands print, as it comes and without secrets. A secret may begin in one piece of it and
 * end in the next, so what may be the beginning of one is kept back. Zeroed it is empty. */
struct pieces {
	struct piece *first;
};

/* The event with what can be shown of its bytes now, in the arena. */
void pieces_take(struct pieces *all, struct mask *m, const struct event *e, struct event *ret,
	struct arena *a);
/* An event with what was kept back of one stream of the command at `path`, which has ended, or of
 * any command when it is empty; in the arena. False: nothing is left. */
bool pieces_rest(
	struct pieces *p, struct mask *m, struct str path, struct event *ret, struct arena *a);
void pieces_done(struct pieces *all);
