/* A whole host on the face of roux (the headers of src/app): it lists the recipes, starts one,
 * follows it, answers the questions that it waits at, continues it and prints its result. A host
 * includes the face and what that shows: base, data and loop/loop.h.
 *
 * usage: host [RECIPE approve|deny BY] */
#include <stdio.h>
#include <string.h>

#include "app/gates.h"
#include "app/recipes.h"
#include "app/runs.h"

static bool print_recipe(void *data, const struct recipe_info *info)
{
	(void)data;
	printf("recipe %.*s (%s, %s)\n", STR(info->id), info->layer,
		recipe_state_name(info->state));
	return true;
}

/* Called from the loop, while run_wait() turns it. */
static void print_event(void *data, uint64_t seq, const char *type, struct str json)
{
	(void)data;
	(void)json; /* the whole event */
	printf("event %llu %s\n", (unsigned long long)seq, type);
}

static struct run_handle *start(struct app *a, const char *operand, struct report *r)
{
	struct request q = REQUEST_INIT;
	struct recipe_ref *ref =
		recipes_open(a, operand, &(struct recipe_open){ .launch = true }, r);

	if (!ref)
		return NULL;
	q.record = true; /* only a recorded run can be continued */
	q.detach = DETACH_NEVER;
	q.observer.line = print_event;
	struct run_handle *run = runs_start(a, ref, &q, r);
	recipe_ref_free(ref);
	return run;
}

struct answer {
	bool approve;
	const char *by;
};

static bool print_question(void *data, const struct gate *g)
{
	(void)data;
	printf("question at %.*s: %.*s\n", STR(g->stage), STR(g->prompt));
	return true;
}

/* An answer is written down; nothing is run before the run is continued. */
static struct run_handle *answer(
	struct app *a, struct run_handle *run, const struct answer *with, struct report *r)
{
	struct resume_request again = { .request = REQUEST_INIT };
	struct arena arena = ARENA_INIT;
	const char *id = arena_cstr(&arena, run_id(run)); /* run_close() takes the other one */
	struct gate_decision d = { .run = id, .approve = with->approve, .by = str_of(with->by) };
	struct gate_decided decided;
	bool over;

	run_close(run);
	run = NULL;
	again.request.observer.line = print_event;
	if (gates_each(a, id, print_question, NULL, r) && gate_decide(a, &d, &decided, r)) {
		printf("%s by %s\n", with->approve ? "approved" : "denied", with->by);
		run = runs_resume(a, id, &again, &over, r);
	}
	arena_done(&arena);
	return run;
}

static bool print_result(struct run_handle *run, struct report *r)
{
	AUTO_JSON *summary = run_summary(run), *result = run_result_document(run, r);
	AUTO_BUF text = BUF_INIT;

	json_write(&text, json_object_get(result, "stdout"), 0);
	printf("run %.*s %.*s printed %s\n", STR(run_id(run)),
		STR(json_str(json_object_get(summary, "status"))), buf_cstr(&text));
	return run_status(run) == ROUX_DONE;
}

static bool serve(struct app *a, const char *operand, const struct answer *with, struct report *r)
{
	struct run_handle *run = start(a, operand, r);

	while (run && run_wait(run, r) && run_status(run) == ROUX_PAUSED)
		run = answer(a, run, with, r);
	bool ok = run && !r->errors && print_result(run, r);
	run_close(run);
	return ok;
}

int main(int argc, char **argv)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF text = BUF_INIT;
	struct app *a = app_open(NULL);
	bool ok = recipes_each(a, NULL, print_recipe, NULL, &r);

	if (ok && argc == 4)
		ok = serve(
			a, argv[1], &(struct answer){ !strcmp(argv[2], "approve"), argv[3] }, &r);
	report_text(&r, REPORT_ALL, &text);
	fputs(buf_cstr(&text), stderr);
	app_close(a);
	return ok ? 0 : 1;
}
