/* The smallest complete host on libroux: runs a template and prints each event's type.
 * Build: cc tiny.c $(pkg-config --cflags --libs roux) */
#include <roux/roux.h>
#include <stdio.h>

static void on_event(struct roux_run *run, const struct roux_event *event, void *data)
{
	(void)run;
	(void)data;
	printf("%s\n", event->type);
}

int main(int argc, char **argv)
{
	struct roux *roux = roux_new(NULL);
	struct roux_recipe *recipe = NULL;
	struct roux_plan *plan = NULL;
	struct roux_run *run = NULL;
	int status = 2;

	if (argc < 2 || !roux) {
		fprintf(stderr, "usage: tiny TEMPLATE [VALUES]\n");
		roux_free(roux);
		return 2;
	}
	recipe = roux_load(roux, argv[1]);
	if (recipe)
		plan = roux_plan_new(roux, recipe, argc > 2 ? argv[2] : NULL);
	if (plan)
		run = roux_run_start(plan, NULL, on_event, NULL);
	if (run) {
		status = roux_run_wait(run) == ROUX_DONE ? 0 : 1;
		printf("%s", roux_run_result(run));
	} else {
		fprintf(stderr, "%s", roux_errors_text(roux));
	}
	roux_run_free(run);
	roux_plan_free(plan);
	roux_recipe_free(recipe);
	roux_free(roux);
	return status;
}
