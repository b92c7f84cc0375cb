/* Runs a recipe or template as `roux run` does: recorded, under a name, cancelled by Ctrl-C.
 * With -d it is detached: it continues when this program ends.
 * Build: cc record.c $(pkg-config --cflags --libs roux) */
#include <roux/roux.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static struct roux *roux;
static volatile sig_atomic_t interrupted;

static void on_signal(int signal)
{
	(void)signal;
	interrupted = 1;
	roux_wake(roux); /* the wait below returns */
}

static int follow(struct roux_run *run)
{
	enum roux_status status;

	while ((status = roux_run_wait(run)) == ROUX_RUNNING)
		if (interrupted)
			roux_run_cancel(run);
	printf("%s", roux_run_result(run));
	return status == ROUX_DONE ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct roux_start how = { sizeof(how), NULL, NULL, true, false, -1, -1, 0 };
	struct roux_recipe *recipe;
	struct roux_plan *plan;
	struct roux_run *run;
	int status = 2;

	if (argc > 1 && strcmp(argv[1], "-d") == 0) {
		how.detach = true;
		argc--;
		argv++;
	}
	if (argc < 3 || !(roux = roux_new(NULL))) {
		fprintf(stderr, "usage: record [-d] NAME RECIPE|TEMPLATE [VALUES]\n");
		return 2;
	}
	signal(SIGINT, on_signal);
	how.as = argv[1];
	/* What fails here gives NULL, which the next call hands on. */
	recipe = roux_load(roux, argv[2]);
	plan = roux_plan_new(roux, recipe, argc > 3 ? argv[3] : NULL);
	run = roux_run_start(plan, &how, NULL, NULL);
	if (!run)
		fprintf(stderr, "%s", roux_errors_text(roux));
	else if (how.detach)
		status = printf("%s\n", roux_run_id(run)) < 0;
	else
		status = follow(run);
	roux_run_free(run); /* a detached run continues */
	roux_plan_free(plan);
	roux_recipe_free(recipe);
	roux_free(roux);
	return status;
}
