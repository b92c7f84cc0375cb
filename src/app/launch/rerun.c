/* Doing a run, or a part of it, again as a new one. */
#include <sys/stat.h>

#include "app/launch/again.h"
#include "app/launch/go-there.h"
#include "app/launch/input.h"
#include "app/launch/kept.h"
#include "app/launch/start.h"
#include "app/launch/take-back.h"
#include "app/launch/take-over.h"
#include "app/record/freeze.h"
#include "app/record/secrets.h"
#include "base/run-status.h"
#include "runs/dir/run-dir.h"
#include "runs/dir/unrecorded.h"

/* What comes before the node is taken over and not run. Where a group, a loop or a recipe that was
 * called ended with its failure, there are no results of all that is in it. */
static bool is_reached(
	const struct redo *redo, const struct run_look *look, struct str node, struct report *r)
{
	struct str failed = json_text_of(look->result, "failed_node");
	AUTO_BUF name = BUF_INIT;

	if (redo_reach(redo, node, failed) != REDO_CUT_OFF)
		return true;
	failed_name(look->result, failed, &name);
	report_error(r, (struct where){ 0 },
		"node %.*s comes behind a group that failed at %.*s and was not run to its end",
		STR(node), STR(buf_str(&name)));
	return report_action(r, ACTION_RERUN, look->id);
}

bool again_choose(struct launch *l, const struct rerun_request *q, const struct run_look *look,
	const struct leaves *leaves, struct redo *redo, struct buf *node, struct report *r)
{
	if (q->from) {
		if (!rerun_node(l, look, str_of(q->from), node, r))
			return false;
		redo_add(redo, buf_str(node), NULL);
		return is_reached(redo, look, buf_str(node), r);
	}
	if (q->only) {
		report_error(r, (struct where){ 0 },
			"one node is to be done again, and no node is named");
		report_action(r, ACTION_NAME_NODE, look->id);
		return report_action(r, ACTION_NODES, look->id);
	}
	if (!q->all)
		redo_add_failed(redo, look, leaves);
	redo->whole |= q->all || (!redo->again.count && status_is(look->status, ROUX_DONE));
	return true;
}

static bool prepare(struct launch *l, const struct rerun_request *q, const struct run_look *look,
	const struct redo *redo, const struct leaves *leaves, struct str node, struct report *r)
{
	const struct recipe *recipe = l->subject.recipe;
	AUTO_JSON *before = json_copy(l->subject.values);
	const struct kept_values values = { before, q->values };

	l->asked.id = S("");
	if (!launch_ask(l, &q->request, r) || !launch_values(l, q->values, r))
		return false;
	secret_keep_former(l, before);
	l->asked.detached = false; /* so that its name is a made one */
	launch_name(l, recipe ? recipe->file->id : S("run"));
	l->asked.rerun_of = arena_str(&l->arena, look->id);
	l->asked.how = S("rerun");
	l->asked.detached = q->request.detach == DETACH_ALWAYS;
	l->claim.embedded &= !l->asked.detached;
	l->asked.only = q->only ? arena_str(&l->arena, node) : S("");
	return launch_plan_again(l, r) &&
	       kept_check(l, look->id, &values, redo->called, leaves, redo, r);
}

/* -- what is said of it --------------------------------------------------------------------------
 */

struct counting {
	const struct rerun_request *request;
	const struct redo *redo;
	const struct leaves *leaves;
	struct str last; /* the path that was counted last: attempts of one stand together */
	size_t reused;
};

static void count_reused(void *data, struct str path, const struct leaf_record *record)
{
	struct counting *c = data;

	if (record->unrecorded && redo_holds(c->redo, path))
		c->request->note(c->request->data, RESUME_UNRECORDED, path, 0);
	if (!record->ended || record->cancelled || str_eq(path, c->last) ||
		!redo_holds(c->redo, path))
		return;
	c->last = path;
	/* One that was tried again when the run was cut short runs once more. */
	c->reused += leaves_last(c->leaves, path)->ended;
}

static void say(const struct rerun_request *q, const struct run_look *look, const struct redo *redo,
	const struct leaves *leaves)
{
	struct counting c = { .request = q, .redo = redo, .leaves = leaves };

	if (!q->note || redo->whole)
		return;
	map_each (entry, &redo->again) {
		const struct redo_node *why = entry->value;

		AUTO_BUF name = BUF_INIT;

		if (!why->failed)
			continue;
		failed_name(look->result, entry->key, &name);
		q->note(q->data, RESUME_FAILED_EARLIER, buf_str(&name),
			why->timeout ? RESUME_TIME_LIMIT : (size_t)why->code);
	}
	leaves_each(leaves, count_reused, &c);
	q->note(q->data, RESUME_REUSED, look->id, c.reused);
}

/* -- all of it -----------------------------------------------------------------------------------
 */

/* Claims a name for it and fills its directory. */
static bool make(struct launch *l, const struct rerun_request *q, const struct run_look *look,
	const struct redo *redo, const struct leaves *leaves, struct leaves **taken,
	struct report *r)
{
	uint64_t bytes;
	struct stat st;

	if (!launch_can_detach(l, r) || !launch_claim(l, r))
		return false;
	bool ok = freeze_write(l, r) && rerun_take_over(l, look, redo, leaves, r);
	const char *file = run_file(&l->arena, l->claim.dir, LEAVES_FILE);
	l->claim.taken = stat(file, &st) == 0 ? st.st_size : 0;
	if (ok && (*taken = leaves_read(file, r))) {
		resume_note_sources(l, q->note, q->data);
		say(q, look, redo, leaves);
		if (q->note && input_is_part(l, *taken, &bytes))
			q->note(q->data, RESUME_INPUT_PART, S(""), (size_t)bytes);
		return true;
	}
	launch_abandon(l);
	return false;
}

struct run_handle *runs_rerun(
	struct app *a, const char *name, const struct rerun_request *q, struct report *r)
{
	AUTO_LOOK look = { 0 };
	AUTO_BUF node = BUF_INIT;
	struct leaves *leaves = NULL, *taken = NULL;
	struct called called = { 0 };
	struct redo redo;

	if (!find_settled(a, name, &look, r))
		return NULL;
	if (look.live) {
		refuse_running(look.id, r);
		return NULL;
	}
	struct launch *l = launch_new(a);
	redo_init(&redo, &called);
	bool ok = go_there(l, &look, q->stay, r) && launch_thaw(l, look.dir, r) &&
		  (leaves = leaves_of_run(look.dir.p, r));
	if (ok) {
		called_init(&called, l, look.dir);
		ok = again_choose(l, q, &look, leaves, &redo, &node, r) &&
		     prepare(l, q, &look, &redo, leaves, buf_str(&node), r) &&
		     make(l, q, &look, &redo, leaves, &taken, r);
	}
	redo_done(&redo);
	called_done(&called);
	leaves_free(leaves);
	if (ok)
		return start_frozen(l, &q->request, taken, r);
	launch_free(l);
	return NULL;
}
