#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/catalog/plan.h"
#include "app/catalog/secrets.h"
#include "app/context/executor.h"
#include "app/context/run-values.h"
#include "app/launch/away.h"
#include "app/record/launch.h"
#include "app/record/secrets.h"
#include "runs/dir/run-dir.h"
#include "template/braces.h"

/* A start does not wait for a look at each of a hundred thousand calls. */
enum { LOOKED_AT_MAX = 4000 };

/* -- what was asked for --------------------------------------------------------------------------
 */

static bool take_settings(struct launch *l, struct report *r)
{
	const struct settings *s = app_settings(l->app, r);

	if (!s)
		return false;
	l->asked.jobs = l->app->jobs ? l->app->jobs : s->jobs;
	l->asked.grace_ms = s->grace_ms;
	l->asked.durable = s->durable;
	l->asked.max_parallel = s->max_parallel;
	l->asked.max_parallel_given = s->max_parallel_given;
	l->asked.collections = app_collections(l->app);
	l->asked.on = arena_str(&l->arena, s->on);
	l->asked.jobs_given = l->app->jobs || s->jobs_given;
	return true;
}

static void append(json_t **to, const json_t *from)
{
	*to = *to ? *to : json_array();
	json_array_extend(*to, (json_t *)from);
}

static void merge(json_t **to, json_t *from)
{
	if (!from)
		return;
	*to = *to ? *to : json_object();
	json_object_update(*to, from);
}

bool launch_ask(struct launch *l, const struct request *q, struct report *r)
{
	struct asked *a = &l->asked;

	if (q->as && !run_id_check(str_of(q->as), r))
		return false;
	if (q->as)
		a->id = arena_str(&l->arena, str_of(q->as));
	if (q->owner)
		a->owner = arena_str(&l->arena, str_of(q->owner));
	l->caller = q->model ? CALLER_MODEL : CALLER_PERSON;
	a->durable |= q->durable;
	a->stream |= q->stream;
	a->notify |= q->notify;
	a->bare |= q->bare;
	a->sandbox |= q->sandbox;
	a->offline |= q->offline;
	a->fresh = q->fresh;
	if (q->task)
		a->task = arena_str(&l->arena, str_of(q->task));
	a->jobs_given |= q->jobs != REQUEST_UNSET;
	a->jobs = q->jobs == REQUEST_UNSET ? a->jobs : q->jobs;
	a->careful |= q->careful;
	if (q->on) {
		if (!executor_split(str_of(q->on), &l->arena, &a->on, &a->class, r))
			return false;
		json_decref(a->executor);
		a->executor = NULL;
	}
	a->grace_ms = q->grace_ms == REQUEST_UNSET ? a->grace_ms : q->grace_ms;
	a->max_parallel_given |= q->max_parallel != 0;
	a->max_parallel = q->max_parallel ? q->max_parallel : a->max_parallel;
	append(&a->env, q->env);
	append(&a->secrets, q->secrets);
	append(&a->secret_env, q->secret_env);
	append(&a->secret_files, q->secret_files);
	if (json_object_size(q->secret_vars)) {
		a->secret_vars = a->secret_vars ? a->secret_vars : json_object();
		json_object_update(a->secret_vars, q->secret_vars);
	}
	merge(&a->agents, q->agents);
	merge(&a->collections, q->collections);
	if (q->argv) {
		json_decref(a->argv);
		a->argv = json_incref(q->argv);
	}
	return true;
}

/* What the recipe, or the template, says is secret. */
static void add_secrets(struct launch *l)
{
	AUTO_JSON *names = secrets_declared(l->subject.recipe, l->subject.graph);

	append(&l->asked.secrets, names);
}

/* -- its name ------------------------------------------------------------------------------------
 */

void launch_name(struct launch *l, struct str name)
{
	bool made =
		!l->asked.id.len && (l->asked.fresh || !(l->asked.detached && l->subject.recipe));

	if (!l->asked.id.len && !made)
		l->asked.id = run_id_plain(&l->arena, name);
	l->asked.made = made;
	/* Of a few hundred starts in one second two may throw the same digits. */
	for (int i = 0; i < 16; i++) {
		l->asked.id = made ? run_id_make(&l->arena, name) : l->asked.id;
		l->claim.dir = run_directory(&l->arena, l->claim.root, l->asked.id);
		if (!made || access(l->claim.dir.p, F_OK) < 0)
			break;
	}
}

static struct str name_of(const struct launch *l, const struct request *q)
{
	if (q->name)
		return str_of(q->name);
	return l->subject.recipe ? l->subject.recipe->file->id : S("run");
}

/* -- its plan ------------------------------------------------------------------------------------
 */

/* Paths that were given for this run: texts with placeholders, as the recipe's own are. */
static json_t *resolve_artifacts(struct launch *l, const json_t *given, struct report *r)
{
	json_t *paths = json_object(), *value;
	struct scope room;
	const struct scope *s = plan_enter(l->subject.graph->root, &l->subject.plan->scope, &room);
	const char *name;
	bool ok = true;

	json_object_foreach((json_t *)given, name, value)
	{
		struct doc *doc = arena_new(&l->arena, struct doc);
		struct place *place = arena_new(&l->arena, struct place);
		AUTO_BUF path = BUF_INIT;

		doc->source = (struct source){ arena_printf(&l->arena, "artifact %s", name),
			json_str(value) };
		doc->plain = true;
		place->doc = doc;
		const struct text *text =
			braces_text(&l->arena, place, json_str(value), DIALECT_NOW, r);
		ok &= text && text_resolve(text, s, &path, r);
		json_object_set_new_nocheck(paths, name, json_from_str(buf_str(&path)));
	}
	if (ok)
		return paths;
	json_decref(paths);
	return NULL;
}

static struct bundle *bundle_of(const struct launch *l)
{
	const struct recipe *recipe = l->subject.recipe;

	if (!recipe || recipe->steps)
		return NULL;
	struct mask *m = mask_of(l);
	struct bundle *b = bundle_new(recipe, m);
	mask_free(m);
	return b;
}

/* What recipes that steps call declare is secret from the beginning, as far as it can be told
 * before anything is executed; the rest turns up when they are called. */
static void add_called_secrets(struct launch *l)
{
	struct str cwd = app_cwd(l->app);
	const struct planned_host host = { .cwd = cwd.len ? cwd.p : ".",
		.agents = l->asked.agents,
		.collections = l->asked.collections,
		.dirs = &l->subject.dirs };

	if (!planned_calls(l->subject.plan))
		return;
	struct mask *m = mask_of_run(l);
	size_t known = mask_count(m);
	planned_secrets(l->subject.plan, &host, LOOKED_AT_MAX, m);
	secret_keep_found(l, m, known);
	mask_free(m);
}

static bool make_plan(struct launch *l, const json_t *artifacts, struct report *r)
{
	struct subject *s = &l->subject;
	bool named = !s->recipe || public_arguments_check(s->recipe->arguments,
					   recipe_called(s->recipe), s->values, l->caller, r);

	/* Steps have `session` in place of them. */
	if (!s->graph->steps && l->claim.dir.len)
		run_add_values(s->values, l->asked.id, l->claim.dir);
	s->plan = secrets_plan_new(s->graph, s->recipe, s->values, r);
	if (!named || !s->plan)
		return false;
	add_called_secrets(l);
	if (artifacts)
		s->artifacts = resolve_artifacts(l, artifacts, r);
	else if (s->recipe)
		s->artifacts = recipe_artifact_paths(s->recipe, s->plan, r);
	if ((artifacts || s->recipe) && !s->artifacts)
		return false;
	s->bundle = bundle_of(l);
	return true;
}

bool launch_values(struct launch *l, json_t *given, struct report *r)
{
	const struct recipe *recipe = l->subject.recipe;

	if (!given)
		return true;
	if (recipe && !public_arguments_check(
			      recipe->arguments, recipe_called(recipe), given, l->caller, r))
		return false;
	json_object_update(l->subject.values, given);
	return true;
}

bool launch_plan_again(struct launch *l, struct report *r)
{
	if (!l->subject.graph->steps)
		run_add_values(l->subject.values, l->asked.id, l->claim.dir);
	plan_unref(l->subject.plan);
	l->subject.plan =
		secrets_plan_new(l->subject.graph, l->subject.recipe, l->subject.values, r);
	if (l->subject.plan)
		add_called_secrets(l);
	if (l->subject.plan && !l->subject.bundle)
		l->subject.bundle = bundle_of(l);
	return l->subject.plan != NULL;
}

/* -- all of it -----------------------------------------------------------------------------------
 */

static bool check_subject(const struct launch *l, bool record, struct report *r)
{
	const struct recipe *recipe = l->subject.recipe;

	if (recipe && recipe_disabled(recipe)) {
		report_error(r, (struct where){ 0 }, "the recipe %.*s is disabled",
			STR(recipe->file->path));
		return report_hint(r, "remove \"disabled\": true from it");
	}
	if (record || (!l->subject.graph->steps && !l->subject.graph->calls))
		return true;
	report_error(r, (struct where){ 0 }, "a step recipe cannot run without a record");
	return report_hint(r, "set record: its gates and answers are kept there");
}

/* Whether there is anything to read on the caller's standard input. */
static bool has_input(int fd)
{
	struct stat st, null;

	if (fd < 0 || isatty(fd) || fstat(fd, &st) < 0)
		return false;
	return stat("/dev/null", &null) < 0 || st.st_rdev != null.st_rdev;
}

/* A run that keeps its input reads it for its commands; without one they get it as it is. */
static bool check_input(const struct request *q, struct report *r)
{
	struct stat st;

	if (!q->record || q->stdin_fd < 0 || fstat(q->stdin_fd, &st) < 0 || !S_ISDIR(st.st_mode))
		return true;
	report_error(r, (struct where){ 0 }, "the standard input is a directory");
	return report_hint(r, "give a file, or /dev/null for no input");
}

static bool prepare(
	struct launch *l, struct recipe_ref *ref, const struct request *q, struct report *r)
{
	struct subject *s = &l->subject;

	l->counts = true;
	s->ref = recipe_ref_share(ref);
	s->recipe = ref->recipe;
	s->graph = graph_ref(ref->graph);
	s->values = ref->values ? json_copy(ref->values) : json_object();
	if (!check_subject(l, q->record, r) || !take_settings(l, r))
		return false;
	/* Programs of a run look for the places of a host that was given them. */
	for (size_t i = 0; l->claim.embedded && l->app->variables[i]; i++) {
		l->asked.env = l->asked.env ? l->asked.env : json_array();
		json_array_append_new(l->asked.env, json_from_str(str_of(l->app->variables[i])));
	}
	if (!launch_ask(l, q, r) || !check_input(q, r))
		return false;
	l->asked.how = str_of(q->how);
	l->asked.detached =
		q->record &&
		(q->detach == DETACH_ALWAYS ||
			(q->detach == DETACH_AS_RECIPE && s->recipe && recipe_async(s->recipe)));
	l->asked.has_input =
		!s->graph->steps && (l->asked.detached ? q->input.len > 0 : has_input(q->stdin_fd));
	l->claim.embedded &= !l->asked.detached;
	/* Before anything can be wrong: a diagnostic shows no secret either. */
	add_secrets(l);
	if (q->warnings) {
		report_reset(&s->graph->warnings);
		vec_each (i, &q->warnings->issues)
			report_warning(
				&s->graph->warnings, (struct where){ 0 }, "%.*s", STR(i->message));
	}
	if (q->record)
		launch_name(l, name_of(l, q));
	else
		l->asked.on = S("");
	return make_plan(l, q->artifacts, r) && away_prepare(l, r);
}

bool launch_prepare(
	struct launch *l, struct recipe_ref *ref, const struct request *q, struct report *r)
{
	AUTO_REPORT issues = REPORT_INIT;
	bool ok = prepare(l, ref, q, &issues);
	struct mask *mask = ok ? NULL : mask_of(l);

	mask_report(mask, &issues);
	mask_free(mask);
	report_move(r, &issues);
	return ok;
}
