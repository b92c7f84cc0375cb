#include "app/record/launch.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sha256.h"
#include "runs/dir/identity.h"
#include "runs/dir/leaves.h"
#include "runs/dir/manifest.h"

/* Of a run that has ended, between the time that it measured and the clock. */
enum { CLOCKS_DIFFER_MS = 1000 };

static void subject_done(struct subject *s)
{
	bundle_free(s->bundle);
	plan_unref(s->plan);
	if (s->ref)
		recipe_ref_free(s->ref);
	else
		recipe_free(s->recipe);
	graph_unref(s->graph);
	json_decref(s->values);
	json_decref(s->artifacts);
	*s = (struct subject){ 0 };
}

struct launch *launch_new(struct app *a)
{
	struct launch *l = mem_new(struct launch);

	l->app = app_ref(a);
	l->claim.own = l->claim.lock = -1;
	l->claim.root = app_state_root(a);
	l->claim.embedded = !a->manners.own_process;
	l->claim.cwd = a->manners.own_process ? S("") : a->cwd;
	l->subject.dirs = *app_dirs(a);
	l->asked.owner = app_owner(a);
	return l;
}

void launch_done(struct launch *l)
{
	json_t *const owned[] = { l->asked.env, l->asked.secrets, l->asked.secret_env,
		l->asked.secret_vars, l->asked.secret_files, l->asked.secret_texts, l->asked.argv,
		l->asked.agents, l->asked.collections, l->asked.executor, l->asked.left_executor,
		l->claim.kept };

	subject_done(&l->subject);
	for (size_t i = 0; i < ARRAY_SIZE(owned); i++)
		json_decref(owned[i]);
	arena_done(&l->arena);
}

void launch_free(struct launch *l)
{
	if (!l)
		return;
	ledger_close(l->claim.ledger);
	close_fd(&l->claim.own);
	close_fd(&l->claim.lock);
	app_unref(l->app);
	launch_done(l);
	free(l);
}

/* -- what others write of it ---------------------------------------------------------------------
 */

bool launch_fill_row(struct launch *l, struct report *r)
{
	char *cwd = l->claim.cwd.len ? NULL : getcwd(NULL, 0);

	/* Commands of a template run where this process is, also when that was deleted; steps are
	 * given its name. */
	if (!cwd && !l->claim.cwd.len && (errno != ENOENT || l->subject.graph->steps))
		return report_errno(r, errno, "cannot find out the directory to run in");
	l->claim.row.id = l->asked.id;
	l->claim.row.generation = l->claim.generation;
	l->claim.row.owner = l->asked.owner;
	l->claim.row.tool = l->asked.tool;
	l->claim.row.launch = l->asked.how;
	l->claim.row.dir = l->claim.dir;
	l->claim.row.cwd = arena_str(&l->arena, cwd ? str_of(cwd) : l->claim.cwd);
	l->claim.row.detached = l->asked.detached;
	free(cwd);
	if (!l->subject.recipe)
		return true;
	char sum[SHA256_HEX];
	sha256_hex(l->subject.recipe->file->doc.source.text, sum);
	l->claim.row.recipe = l->subject.recipe->file->id;
	l->claim.row.recipe_path = l->subject.recipe->file->path;
	l->claim.row.recipe_sha256 = arena_str(&l->arena, str_of(sum));
	return true;
}

/* The row says who has the run, from the claim on: a reader can see whether that process lives. */
void launch_identify(struct launch *l, struct identity *ret)
{
	(void)identity_self(ret);
	l->claim.row.pid = ret->pid;
	l->claim.row.pid_start = ret->start;
	l->claim.row.boot_id = arena_str(&l->arena, str_of(ret->boot));
}

/* What the recipe says about the artifacts that the run has. */
json_t *launch_declared(const struct launch *l)
{
	return l->subject.recipe && !l->subject.recipe->steps ? recipe_artifacts(l->subject.recipe)
							      : NULL;
}

json_t *launch_manifest(const struct launch *l)
{
	AUTO_JSON *said = launch_declared(l);

	return manifest_make(l->subject.artifacts, said, l->claim.row.cwd);
}

bool launch_verify(const struct launch *l, struct report *r)
{
	AUTO_JSON *manifest = l->subject.artifacts ? launch_manifest(l) : NULL;
	const char *name;
	json_t *artifact;
	bool ok = true;

	json_object_foreach(manifest, name, artifact)
	{
		const json_t *required = json_object_get(artifact, "required");
		bool fails = json_is_string(required) && str_eq(json_str(required), S("fail"));

		if (json_is_true(json_object_get(artifact, "exists")) ||
			(!fails && !json_is_true(required)))
			continue;
		(fails ? report_error : report_warning)(r, (struct where){ 0 },
			"the artifact '%s' is missing: there is no %s", name,
			json_string_value(json_object_get(artifact, "path")));
		ok &= !fails;
	}
	return ok;
}

const json_t *launch_control(const struct launch *l)
{
	const json_t *control =
		l->subject.recipe ? json_object_get(l->subject.recipe->file->object, "control")
				  : NULL;

	return json_is_object(control) || json_is_string(control) ? control : NULL;
}

void launch_ended(struct launch *l, uint64_t took_ms)
{
	uint64_t measured = l->claim.row.started + took_ms, now = clock_real_ms();

	l->claim.row.ended = now > measured + CLOCKS_DIFFER_MS ? now : measured;
}

bool launch_tell_end(struct launch *l, struct report *r)
{
	struct ledger *ledger = l->claim.ledger;
	AUTO_REPORT again = REPORT_INIT;
	bool full = l->asked.detached;

	if (!ledger_batch_begin(ledger, full, r))
		return false;
	if (ledger_update(ledger, &l->claim.row, full, r) &&
		ledger_add_leaves(ledger, l->asked.id, l->claim.generation,
			run_file(&l->arena, l->claim.dir, LEAVES_FILE), r))
		return ledger_batch_commit(ledger, r);
	ledger_batch_undo(ledger);
	(void)ledger_update(ledger, &l->claim.row, full, &again);
	return false;
}

bool launch_expects_messages(const struct launch *l)
{
	const json_t *o = l->subject.recipe ? l->subject.recipe->file->object : NULL;

	return l->asked.detached || json_object_get(o, "mailbox") || json_object_get(o, "control");
}
