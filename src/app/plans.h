#pragma once

#include "app/recipes.h"
#include "app/runs.h"

/* What would run, with a digest, so that a person who has seen it approves exactly that:
 *
 *	{"run","generation","do":"start"|"resume"|"again","until","will_run":[{"path","label",
 *	"argv"|"text","cwd","agent"}],"reused":[{"path","label","why"}],"undecided":[{"path","text"}],
 *	"changed":{"values":[…],"recipe":bool,"sources":[{"path","lines":[[MARK,TEXT]…],"cut"}]},
 *	"digest"}
 *
 * `sources` are the files of the recipe that are others now than when the run was started; MARK is
 * an enum line_mark.
 *
 * `until` is the stage of the gate that comes next, or null: what is behind it is not listed.
 * `digest` is the SHA-256 of the canonical JSON of {"do","generation","stage","graph","leaves"}:
 * stage is that of the gate that waits for its answer, graph the sum of graph.json, leaves are
 *those of will_run with path, cwd and argv or text. Secrets are shown, and enter it, as ***. */

/* Of a resume, which an approval is too (`resume`), or of a rerun. A new reference; NULL with
 * issues. */
json_t *run_plan_document(struct app *a, const char *run, const struct rerun_request *q,
	bool resume, struct report *r);
/* Of a start with the values of `ref`. */
json_t *recipe_plan_document(
	struct recipe_ref *ref, const struct recipe_surroundings *with, struct report *r);
