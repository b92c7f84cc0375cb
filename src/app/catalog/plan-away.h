#pragma once

#include "app/catalog/placement.h"
#include "app/context/executor.h"

struct json_out;
struct planned_submit;

/* The part of a plan that is about the nodes of a batch system: which command goes there, what
 * allocations would be asked for, and by what words. */
struct plan_away {
	struct arena arena;
	struct executor_choice choice;
	struct placement placement;
	struct str roux; /* the copy of this program */
	VEC(struct shape) shapes;
	VEC(const struct node *) limited; /* groups with a time limit that queueing counts in */
	VEC(struct str) notes;
};

/* `on` is NAME[:CLASS]; NULL: here. False with issues: there is none such, or a command of `root`
 * cannot run there; warnings are added to `warnings`. plan_away_done() in any case. */
bool plan_away_open(struct plan_away *p, struct app *a, const char *on, const struct node *root,
	struct report *warnings, struct report *r);
void plan_away_done(struct plan_away *p);
/* Whether commands were asked to go elsewhere at all. */
static inline bool plan_away_is_open(const struct plan_away *p)
{
	return p->choice.table != NULL;
}

/* The allocation of a command, remembered; NULL: it runs here. */
const struct shape *plan_away_see(struct plan_away *p, const struct walk_leaf *leaf);
/* The members `on` and `needs` of a command. */
void plan_away_leaf_json(struct plan_away *p, const struct walk_leaf *leaf, struct json_out *o);
/* The members `submits` and `notes` of a plan whose commands have been seen. False with issues. */
bool plan_away_json(struct plan_away *p, struct json_out *o, struct report *r);
/* The words for one of `shapes`; NULL with issues. */
const char *const *plan_away_words(struct plan_away *p, const struct shape *s, struct report *r);
