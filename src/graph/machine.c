#include "graph/machine.h"

#include "graph/step.h"

const struct node *machine_outward(const struct node *n, const struct walk_call **within)
{
	const struct node *up = n->parent ? n->parent : n->owner;
	const struct walk_call *call = *within;

	if (up || !call)
		return up;
	*within = call->up;
	return call->node;
}

bool machine_needs(const struct node *n, const struct walk_call *within, struct needs *ret)
{
	bool any = false;

	*ret = NEEDS_NONE;
	for (; n; n = machine_outward(n, &within)) {
		if (!n->needs)
			continue;
		needs_under(ret, n->needs);
		any = true;
	}
	return any;
}

bool machine_is_here(const struct node *n, const struct walk_call *within)
{
	bool agent = n->step && n->step->agent;

	if (n->tty)
		return true;
	for (; n; n = machine_outward(n, &within))
		if (n->runs_on != RUNS_UNSAID)
			return n->runs_on == RUNS_LOCAL;
	return agent;
}
