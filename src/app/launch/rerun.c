/* Doing a run, or a part of it, again as a new one. */
#include "app/launch/go-there.h"
#include "app/launch/start.h"
#include "app/launch/take-over.h"
#include "app/record/freeze.h"
#include "runs/dir/run-dir.h"

/* Where it begins: what was asked for, or the first failure, or the beginning. */
static bool choose_node(const struct launch *l, const struct rerun_request *q,
	const struct run_look *look, struct buf *node, struct report *r)
{
	const json_t *first = json_array_get(json_object_get(look->result, "failures"), 0);

	if (q->from)
		return rerun_node(l, look->dir, str_of(q->from), node, r);
	if (q->only) {
		report_error(r, (struct where){ 0 },
			"one node is to be done again, and no node is named");
		report_action(r, ACTION_NAME_NODE, look->id);
		return report_action(r, ACTION_NODES, look->id);
	}
	rerun_nearest(l, look->dir, json_text_of(first, "path"), node);
	return true;
}

static bool prepare(struct launch *l, const struct rerun_request *q, const struct run_look *look,
	struct buf *node, struct report *r)
{
	const struct recipe *recipe = l->subject.recipe;

	l->asked.id = S("");
	if (!choose_node(l, q, look, node, r) || !launch_ask(l, &q->request, r) ||
		!launch_values(l, q->values, r))
		return false;
	l->asked.detached = false; /* so that its name is a made one */
	launch_name(l, recipe ? recipe->file->id : S("run"));
	l->asked.rerun_of = arena_str(&l->arena, look->id);
	l->asked.how = S("rerun");
	l->asked.detached = q->request.detach == DETACH_ALWAYS;
	l->claim.embedded &= !l->asked.detached;
	l->asked.only = q->only ? arena_str(&l->arena, buf_str(node)) : S("");
	return launch_plan_again(l, r);
}

struct run_handle *runs_rerun(
	struct app *a, const char *name, const struct rerun_request *q, struct report *r)
{
	AUTO_LOOK look = { 0 };
	AUTO_BUF node = BUF_INIT;
	struct leaves *taken = NULL;

	if (!find_settled(a, name, &look, r))
		return NULL;
	if (look.live) {
		refuse_running(look.id, r);
		return NULL;
	}
	struct launch *l = launch_new(a);
	bool ok = go_there(l, &look, q->stay, r) && launch_thaw(l, look.dir, r) &&
		  prepare(l, q, &look, &node, r) && launch_can_detach(l, r) && launch_claim(l, r);
	if (ok &&
		!(freeze_write(l, r) && rerun_take_over(l, look.dir, buf_str(&node), r) &&
			(taken = leaves_read(run_file(&l->arena, l->claim.dir, LEAVES_FILE), r)))) {
		launch_abandon(l);
		ok = false;
	}
	if (ok)
		return start_frozen(l, &q->request, taken, r);
	launch_free(l);
	return NULL;
}
