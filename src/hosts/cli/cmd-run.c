#include <string.h>
#include <unistd.h>

#include "app/run.h"
#include "app/source.h"
#include "base/file.h"
#include "hosts/cli/commands.h"
#include "hosts/cli/follow.h"
#include "hosts/cli/template.h"
#include "hosts/cli/values.h"
#include "recipe/bundle.h"
#include "recipe/usage.h"

struct cmd_run_opts {
	struct template_opts template;
	struct run_opts run;
	struct common_opts common;
	const char *as;
	struct opt_list artifacts;
	bool foreground;
};

static const struct opt own_opts[] = {
	OPT_TEXT(0, "as", "ID", struct cmd_run_opts, as, "name the run"),
	OPT_LIST(0, "artifact", "NAME=PATH", struct cmd_run_opts, artifacts,
		"an artifact of this run; given once or more, they replace the recipe's"),
	OPT_FLAG(0, "foreground", struct cmd_run_opts, foreground,
		"stay attached to an async recipe"),
};

static const struct opt_set sets[] = {
	OPT_SET_IN("Options", values_opts, struct cmd_run_opts, template),
	OPT_SET(NULL, own_opts),
	OPT_SET_IN(NULL, run_opts, struct cmd_run_opts, run),
	OPT_SET_IN(NULL, template_opts, struct cmd_run_opts, template),
	OPT_SET_IN(NULL, dialect_opts, struct cmd_run_opts, template),
	COMMON_SET(struct cmd_run_opts),
};

static const struct command_example examples[] = {
	{ "roux run repo-health", "a packaged recipe" },
	{ "roux run ./release.md version=1.2", "a file, with a value" },
};

/* One start: what was asked for, and what it becomes. */
struct launch {
	struct cli *cli;
	const struct cmd_run_opts *o;
	struct recipe_dirs dirs;
	struct recipe *recipe; /* NULL: a template */
	struct graph *graph;
	json_t *values, *artifacts;
	struct bundle *bundle;
	struct buf id, dir;
	bool stdin_used;
};

static void launch_done(struct launch *l)
{
	bundle_free(l->bundle);
	recipe_free(l->recipe);
	graph_unref(l->graph);
	json_decref(l->values);
	json_decref(l->artifacts);
	buf_done(&l->id);
	buf_done(&l->dir);
}

static bool load(struct launch *l, const char *word)
{
	enum dialect d = template_dialect(&l->o->template);
	struct report *r = &l->cli->report;

	if (!values_claim_stdin(l->cli, word, &l->stdin_used))
		return false;
	if (l->o->template.template || source_is_template(word)) {
		l->graph = source_template(word, d, r);
		return l->graph != NULL;
	}
	l->recipe = recipe_open(&l->dirs, str_of(word), true, r);
	l->graph = l->recipe ? graph_ref(l->recipe->graph) : NULL;
	return l->recipe != NULL;
}

static bool name_run(struct launch *l)
{
	if (l->o->as) {
		if (!run_id_check(l->o->as, &l->cli->report))
			return false;
		buf_adds(&l->id, l->o->as);
	} else {
		buf_add(&l->id, run_id_make(&l->cli->arena,
				       l->recipe ? l->recipe->file->id : S("run")));
	}
	buf_add(&l->dir, run_directory(&l->cli->arena, runs_root(&l->cli->arena, l->dirs.agent),
				buf_str(&l->id)));
	return true;
}

static bool given_artifacts(struct launch *l)
{
	l->artifacts = json_object();
	for (size_t i = 0; i < l->o->artifacts.len; i++) {
		const char *word = l->o->artifacts.at[i], *equals = strchr(word, '=');

		if (!equals || equals == word)
			return report_error(&l->cli->report, (struct where){ 0 },
				"--artifact takes NAME=PATH, found '%s'", word);
		json_object_setn_new_nocheck(l->artifacts, word, (size_t)(equals - word),
			json_from_str(str_of(equals + 1)));
	}
	return true;
}

/* Everything that can be wrong is found here; nothing has been made yet. */
static struct plan *prepare(struct launch *l, size_t count, const char *const *words)
{
	struct report *r = &l->cli->report;

	if (!load(l, words[0]))
		return NULL;
	l->values =
		values_read(l->cli, &l->o->template.values, count - 1, words + 1, &l->stdin_used);
	if (!l->values || !name_run(l))
		return NULL;
	if (l->recipe && !public_arguments_check(l->recipe->arguments, l->values, r))
		return NULL;
	run_add_values(l->values, buf_str(&l->id), buf_str(&l->dir));
	struct plan *p = plan_new(l->graph, l->values, r);
	if (!p)
		return NULL;
	bool ok = true;
	if (l->o->artifacts.len)
		ok = given_artifacts(l);
	else if (l->recipe)
		ok = (l->artifacts = recipe_artifact_paths(l->recipe, p, r)) != NULL;
	if (ok)
		return p;
	plan_unref(p);
	return NULL;
}

/* Counted for every launch of a user's JSON recipe, after its answer: it must not cost anybody
 * time. */
static void count_usage(const struct launch *l)
{
	if (l->recipe && l->recipe->layer == LAYER_USER && l->recipe->file->format == RECIPE_JSON)
		(void)usage_count(l->recipe->file->path.p, "direct");
}

static int run(void *host, const struct command *c, const void *opts, size_t count,
	const char *const *words)
{
	struct cli *cli = host;
	const struct cmd_run_opts *o = opts;
	struct launch l = { .cli = cli, .o = o };
	int status;

	(void)c;
	struct plan *p = NULL;
	if (cli_enter(cli, &o->common)) {
		l.dirs = recipe_dirs_find(&cli->arena, NULL, NULL);
		p = prepare(&l, count, words);
	}
	int made = p ? dir_make(buf_cstr(&l.dir)) : 0;
	if (made < 0) {
		report_errno(&cli->report, -made, "cannot make the run's directory %s",
			buf_cstr(&l.dir));
		plan_unref(p);
		p = NULL;
	}
	if (p) {
		l.bundle = l.recipe ? bundle_new(l.recipe) : NULL;
		status = follow_plan(cli, p, &o->run, o->common.json, l.stdin_used,
			&(struct follow_run){ .id = buf_cstr(&l.id),
				.artifacts = l.artifacts,
				.bundle = l.bundle });
		count_usage(&l);
		(void)rmdir(buf_cstr(&l.dir)); /* nobody put anything there */
	} else {
		status = cli_refuse(cli, o->common.json);
	}
	launch_done(&l);
	return status;
}

static const struct cmd_run_opts defaults = { .run = RUN_OPTS_DEFAULTS };

const struct command cmd_run = {
	.name = "run",
	.heading = "Run",
	.operands = "RECIPE|TEMPLATE [name=value]...",
	.summary = "run a recipe",
	.details = "RECIPE is the id of a recipe (`roux list` shows them) or a path to one. "
		   "Recipes are found "
		   "in your own directory first, then among the packaged ones. `roux help RECIPE` "
		   "says which "
		   "arguments it takes.\n\n"
		   "Every run has an id; a recipe can use it and a directory of its own as "
		   "{run_id} and "
		   "{state_dir}.\n\n"
		   "Exit status: 0 done, 1 failed, 2 wrong request, 3 done with failures passed "
		   "over, 124 the "
		   "recipe's own time limit, 128+n ended by signal n.",
	.examples = examples,
	.example_count = ARRAY_SIZE(examples),
	.sets = sets,
	.set_count = ARRAY_SIZE(sets),
	.options_size = sizeof(struct cmd_run_opts),
	.defaults = &defaults,
	.min_operands = 1,
	.max_operands = OPERANDS_ANY,
	.complete = COMPLETE_RECIPE,
	.unknown_option = template_unknown_option,
	.run = run,
};
