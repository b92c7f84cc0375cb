#include "app/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/catalog/source.h"
#include "app/freeze.h"
#include "app/run.h"
#include "app/secrets.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/path.h"
#include "base/run-status.h"
#include "base/sha256.h"
#include "runs/dir/events.h"
#include "runs/dir/identity.h"
#include "runs/dir/leaves.h"
#include "runs/dir/manifest.h"
#include "runs/dir/partial-files.h"
#include "runs/dir/remove-tree.h"
#include "runs/look/gap.h"
#include "steps/read/recipe.h"
#include "template/braces.h"

void launch_done(struct launch *l)
{
	bundle_free(l->bundle);
	plan_unref(l->plan);
	recipe_free(l->recipe);
	graph_unref(l->graph);
	json_decref(l->values);
	json_decref(l->artifacts);
	json_decref(l->env);
	json_decref(l->secrets);
	json_decref(l->secret_env);
	json_decref(l->argv);
	json_decref(l->agents);
	json_decref(l->collections);
	ledger_close(l->ledger);
	close_fd(&l->lock);
	arena_done(&l->arena);
}

/* -- what runs -----------------------------------------------------------------------------------
 */

static void find_places(struct launch *l)
{
	if (l->root.len)
		return; /* whoever starts it knows them */
	l->dirs = recipe_dirs_find(&l->arena, NULL, NULL);
	l->root = path_absolute(&l->arena, runs_root(&l->arena, l->dirs.agent));
	l->owner = str_of(getenv("ROUX_OWNER"));
}

bool launch_load(
	struct launch *l, const char *word, bool template, enum dialect d, struct report *r)
{
	find_places(l);
	if (template || source_is_template(word)) {
		l->graph = source_template(word, d, r);
		return l->graph != NULL;
	}
	l->recipe = recipe_open(&l->dirs, str_of(word), true, l->values, r);
	l->graph = l->recipe ? graph_ref(l->recipe->graph) : NULL;
	return l->recipe != NULL;
}

void launch_name(struct launch *l)
{
	struct str name = l->recipe ? l->recipe->file->id : S("run");
	bool made = !l->id.len && !(l->detached && l->recipe);

	if (!l->id.len && !made)
		l->id = run_id_plain(&l->arena, name);
	/* Of a few hundred starts in one second two may throw the same digits. */
	for (int i = 0; i < 16; i++) {
		l->id = made ? run_id_make(&l->arena, name) : l->id;
		l->dir = run_directory(&l->arena, l->root, l->id);
		if (!made || access(l->dir.p, F_OK) < 0)
			break;
	}
}

/* What the recipe says is secret. */
static void add_secrets(struct launch *l)
{
	const struct step_recipe *steps = l->recipe->steps;
	const json_t *names = json_object_get(l->recipe->file->object, "secrets");
	json_t *name;
	size_t i;

	l->secrets = l->secrets ? l->secrets : json_array();
	for (i = 0; steps && i < steps->secret_count; i++)
		json_array_append_new(l->secrets, json_from_str(steps->secrets[i]));
	json_array_foreach(steps ? NULL : names, i, name)
	{
		if (json_is_string(name))
			json_array_append(l->secrets, name);
	}
}

/* Paths that were given for this run: texts with placeholders, as the recipe's own are. */
static json_t *resolve_artifacts(struct launch *l, const json_t *given, struct report *r)
{
	json_t *paths = json_object(), *value;
	struct scope room;
	const struct scope *s = plan_enter(l->graph->root, &l->plan->scope, &room);
	const char *name;
	bool ok = true;

	json_object_foreach((json_t *)given, name, value)
	{
		struct doc *doc = arena_new(&l->arena, struct doc);
		struct place *place = arena_new(&l->arena, struct place);
		AUTO_BUF path = BUF_INIT;

		doc->source = (struct source){ S("--artifact"), json_str(value) };
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

bool launch_plan(struct launch *l, json_t *artifacts, struct report *r)
{
	/* Before anything can be wrong: a diagnostic shows no secret either. */
	if (l->recipe)
		add_secrets(l);
	if (l->recipe && !public_arguments_check(l->recipe->arguments, l->values, CALLER_PERSON, r))
		return false;
	/* Steps have `session` in place of them. */
	if (!l->graph->steps)
		run_add_values(l->values, l->id, l->dir);
	l->plan = plan_new(l->graph, l->values, r);
	if (!l->plan)
		return false;
	if (artifacts)
		l->artifacts = resolve_artifacts(l, artifacts, r);
	else if (l->recipe)
		l->artifacts = recipe_artifact_paths(l->recipe, l->plan, r);
	if ((artifacts || l->recipe) && !l->artifacts)
		return false;
	l->bundle = l->recipe && !l->recipe->steps ? bundle_new(l->recipe) : NULL;
	return true;
}

/* -- taking the id -------------------------------------------------------------------------------
 */

/* What belongs to one generation; anything else in the directory is the recipe's own. */
static const char *const generation_files[] = { "run.json", "graph.json", "values.json",
	"start.json", "stdin", "stdin.part", LEAVES_FILE, "progress.json", EVENTS_FILE,
	"outbox.jsonl", "inbox.jsonl", "outbox.1.jsonl", "inbox.1.jsonl", "events.1.jsonl",
	"gates.json", "recipes.json", "stdout.log", "stderr.log", "out", "result.json",
	"context.jsonl", "communication.json", "state.json", "recipe.yaml", "large",
	"orders.jsonl" };

static const char *away_file(struct launch *l, size_t i)
{
	return arena_printf(
		&l->arena, "%.*s/generations/%d/%s", STR(l->dir), l->away, generation_files[i])
		.p;
}

static bool put_away(struct launch *l, struct report *r)
{
	AUTO_BUF to = BUF_INIT;

	if (access(run_file(&l->arena, l->dir, "run.json"), F_OK) < 0 &&
		access(run_file(&l->arena, l->dir, "start.json"), F_OK) < 0)
		return true;
	do {
		buf_reset(&to);
		buf_printf(&to, "%.*s/generations/%d", STR(l->dir), ++l->away);
	} while (access(buf_cstr(&to), F_OK) == 0);
	int made = dir_make(buf_cstr(&to));
	if (made < 0)
		return report_errno(r, -made, "cannot make %s", buf_cstr(&to));
	for (size_t i = 0; i < ARRAY_SIZE(generation_files); i++) {
		const char *target = away_file(l, i);

		if (rename(run_file(&l->arena, l->dir, generation_files[i]), target) < 0 &&
			errno != ENOENT)
			return report_errno(r, errno, "cannot put away %s", target);
	}
	partial_files_remove(l->dir.p, 0);
	(void)unlink(run_file(&l->arena, l->dir, "control.fifo"));
	(void)unlink(run_file(&l->arena, l->dir, "control.sock"));
	return true;
}

/* The run before is there again, as the ledger will say. */
static void bring_back(struct launch *l)
{
	for (size_t i = 0; i < ARRAY_SIZE(generation_files); i++)
		(void)rename(away_file(l, i), run_file(&l->arena, l->dir, generation_files[i]));
	(void)rmdir(arena_printf(&l->arena, "%.*s/generations/%d", STR(l->dir), l->away).p);
	(void)rmdir(run_file(&l->arena, l->dir, "generations")); /* unless there are others */
}

static bool has_ended(void *data, const struct run_row *current)
{
	AUTO_BUF dir = BUF_INIT;

	(void)data;
	buf_add(&dir, current->dir);
	return !run_locked(buf_cstr(&dir));
}

static void make_generation(struct launch *l)
{
	unsigned char bytes[8] = { 0 };
	AUTO_BUF text = BUF_INIT;

	(void)!getrandom(bytes, sizeof(bytes), GRND_NONBLOCK);
	for (size_t i = 0; i < sizeof(bytes); i++)
		buf_printf(&text, "%02x", bytes[i]);
	l->generation = arena_str(&l->arena, buf_str(&text));
}

static void fill_row(struct launch *l)
{
	char *cwd = l->cwd.len ? NULL : getcwd(NULL, 0);

	l->row.id = l->id;
	l->row.generation = l->generation;
	l->row.owner = l->owner;
	l->row.tool = l->tool;
	l->row.launch = l->how;
	l->row.dir = l->dir;
	l->row.cwd = arena_str(&l->arena, cwd ? str_of(cwd) : l->cwd);
	l->row.detached = l->detached;
	free(cwd);
	if (!l->recipe)
		return;
	char sum[SHA256_HEX];
	sha256_hex(l->recipe->file->doc.source.text, sum);
	l->row.recipe = l->recipe->file->id;
	l->row.recipe_path = l->recipe->file->path;
	l->row.recipe_sha256 = arena_str(&l->arena, str_of(sum));
}

/* The row says who has the run, from the claim on: whoever finds it can see whether they live. */
static void fill_identity(struct launch *l, struct identity *ret)
{
	(void)identity_self(ret);
	l->row.pid = ret->pid;
	l->row.pid_start = ret->start;
	l->row.boot_id = arena_str(&l->arena, str_of(ret->boot));
}

static bool refuse_taken(struct launch *l, struct report *r)
{
	report_error(r, (struct where){ 0 }, "the run '%.*s' is still going on", STR(l->id));
	return report_hint(r,
		"give this one another name with --as, or look at it with `roux status %.*s`",
		STR(l->id));
}

/* The lock is the truth; the ledger only lets one after the other try. */
static bool take_directory(struct launch *l, bool *refused, struct report *r)
{
	struct stat st;

	if (lstat(l->dir.p, &st) == 0 && !S_ISDIR(st.st_mode))
		return report_error(
			r, (struct where){ 0 }, "%.*s is there and is no directory", STR(l->dir));
	int made = dir_make(l->dir.p);
	if (made < 0)
		return report_errno(r, -made, "cannot make the run's directory %.*s", STR(l->dir));
	int locked = run_lock(l->dir.p, &l->lock);
	if (locked == -EWOULDBLOCK) {
		*refused = true;
		return refuse_taken(l, r);
	}
	if (locked < 0)
		return report_errno(r, -locked, "cannot lock %.*s", STR(l->dir));
	return put_away(l, r);
}

bool launch_claim(struct launch *l, bool *refused, struct report *r)
{
	struct identity self;
	bool taken = false;

	*refused = false;
	l->ledger = ledger_open(l->root, l->durable, r);
	if (!l->ledger)
		return false;
	(void)look_gap(l->root, l->ledger); /* before `latest` names this run */
	make_generation(l);
	fill_row(l);
	fill_identity(l, &self);
	l->row.status = S(STATUS_STARTING);
	l->row.created = l->created = clock_real_ms();
	if (!ledger_claim(l->ledger, &l->row, has_ended, NULL, &taken, r)) {
		*refused = taken;
		return taken && !r->errors ? refuse_taken(l, r) : false;
	}
	if (take_directory(l, refused, r))
		return true;
	if (l->away)
		bring_back(l);
	ledger_unclaim(l->ledger, &l->row);
	return false;
}

bool launch_freeze(struct launch *l, struct report *r)
{
	return freeze_write(l, r);
}

/* Or a directory with what is in it. */
static void remove_file(const char *path)
{
	if (unlink(path) < 0 && errno == EISDIR)
		(void)remove_tree(AT_FDCWD, path, NULL);
}

void launch_abandon(struct launch *l)
{
	struct stat st;

	if (l->lock < 0)
		return;
	/* A supervisor that was killed after its first command has begun leaves a run that died. */
	if (access(run_file(&l->arena, l->dir, "run.json"), F_OK) == 0 &&
		stat(run_file(&l->arena, l->dir, LEAVES_FILE), &st) == 0 && st.st_size > 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(generation_files); i++)
		remove_file(run_file(&l->arena, l->dir, generation_files[i]));
	partial_files_remove(l->dir.p, 0);
	if (l->away)
		bring_back(l);
	else
		(void)unlink(run_file(&l->arena, l->dir, ".alive"));
	(void)rmdir(l->dir.p); /* others keep it when it has anything else */
	ledger_unclaim(l->ledger, &l->row);
}

/* -- the supervisor ------------------------------------------------------------------------------
 */

bool launch_thaw(struct launch *l, struct str dir, struct report *r)
{
	find_places(l);
	l->dir = path_absolute(&l->arena, dir);
	if (!freeze_read(l, r))
		return false;
	l->plan = plan_new(l->graph, l->values, r);
	l->bundle = l->plan && l->recipe && !l->recipe->steps ? bundle_new(l->recipe) : NULL;
	fill_row(l);
	return l->plan != NULL;
}

static void link_latest(struct launch *l)
{
	struct str runs = path_dir(l->dir);
	struct str temp = arena_printf(&l->arena, "%.*s/.latest-%d", STR(runs), (int)getpid());

	(void)unlink(temp.p);
	if (symlink(l->id.p, temp.p) == 0 &&
		rename(temp.p, arena_printf(&l->arena, "%.*s/latest", STR(runs)).p) < 0)
		(void)unlink(temp.p);
}

static void add_text(json_t *object, const char *name, struct str value)
{
	if (value.len)
		json_object_set_new(object, name, json_from_str(value));
}

static json_t *shown_values(const struct launch *l)
{
	json_t *shown = json_object(), *value;
	const char *name;

	json_object_foreach(l->values, name, value)
	{
		if (secret_name(l, str_of(name)))
			json_object_set_new_nocheck(shown, name, json_string("***"));
		else
			json_object_set_nocheck(shown, name, value);
	}
	return shown;
}

/* What the recipe says about the artifacts that the run has. */
static json_t *declared(const struct launch *l)
{
	return l->recipe && !l->recipe->steps ? recipe_artifacts(l->recipe) : NULL;
}

json_t *launch_manifest(const struct launch *l)
{
	AUTO_JSON *said = declared(l);

	return manifest_make(l->artifacts, said, l->row.cwd);
}

bool launch_verify(const struct launch *l, struct report *r)
{
	AUTO_JSON *manifest = l->artifacts ? launch_manifest(l) : NULL;
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
		l->recipe ? json_object_get(l->recipe->file->object, "control") : NULL;

	return json_is_object(control) || json_is_string(control) ? control : NULL;
}

static json_t *run_json(struct launch *l, const struct identity *self)
{
	json_t *run = json_object();
	AUTO_BUF when = BUF_INIT;

	clock_rfc3339(&when, l->row.started);
	add_text(run, "run", l->id);
	add_text(run, "generation", l->generation);
	add_text(run, "started", buf_str(&when));
	add_text(run, "cwd", l->row.cwd);
	json_object_set_new(run, "pid", json_integer(self->pid));
	json_object_set_new(run, "pid_start", json_integer((json_int_t)self->start));
	add_text(run, "boot_id", str_of(self->boot));
	if (l->argv)
		json_object_set(run, "argv", l->argv);
	json_object_set_new(run, "detached", json_boolean(l->detached));
	if (l->embedded)
		json_object_set_new(run, "embedded", json_true());
	add_text(run, "dir", l->dir);
	add_text(run, "recipe", l->row.recipe);
	add_text(run, "recipe_path", l->row.recipe_path);
	add_text(run, "tool", l->tool);
	add_text(run, "launch", l->how);
	add_text(run, "owner", l->owner);
	add_text(run, "rerun_of", l->rerun_of);
	if (l->artifacts && json_object_size(l->artifacts)) {
		json_t *said = declared(l);

		json_object_set(run, "artifacts", l->artifacts);
		if (said)
			json_object_set_new(run, "manifest", said);
	}
	if (l->recipe) {
		json_t *mailbox = recipe_mailbox(l->recipe);
		const json_t *retire = json_object_get(l->recipe->file->object, "retire_when");
		const json_t *control = launch_control(l);

		if (mailbox)
			json_object_set_new(run, "mailbox", mailbox);
		if (json_is_string(retire) && str_eq(json_str(retire), S("children_terminal")))
			json_object_set(run, "retire_when", (json_t *)retire);
		if (control)
			json_object_set(run, "control", (json_t *)control);
	}
	if (l->bundle)
		json_object_set_new(
			run, "context_records", json_integer((json_int_t)bundle_count(l->bundle)));
	json_object_set_new(run, "values", shown_values(l));
	return run;
}

static bool write_communication(struct launch *l, struct report *r)
{
	AUTO_BUF text = BUF_INIT;
	AUTO_JSON *file = json_object();

	json_object_set_new(
		file, "self", json_from_str(arena_printf(&l->arena, "run:%.*s", STR(l->id))));
	add_text(file, "owner", l->owner);
	json_object_set_new(file, "default_room",
		json_from_str(arena_printf(&l->arena, "room:%.*s", STR(l->id))));
	json_write(&text, file, 2);
	buf_addc(&text, '\n');
	return freeze_file(l->dir, "communication.json", buf_str(&text), l->durable, r);
}

static bool write_bundle(struct launch *l, struct report *r)
{
	AUTO_BUF text = BUF_INIT;

	if (!l->bundle)
		return true;
	bundle_write(l->bundle, &text);
	return freeze_file(l->dir, "context.jsonl", buf_str(&text), l->durable, r);
}

bool launch_begin(struct launch *l, struct report *r)
{
	struct identity self;
	AUTO_BUF text = BUF_INIT;

	if (!l->ledger)
		l->ledger = ledger_open(l->root, l->durable, r);
	if (!l->ledger)
		return false;
	fill_identity(l, &self);
	l->row.started = clock_real_ms();
	l->row.ended = 0;
	l->row.status = status_str(ROUX_RUNNING);
	AUTO_JSON *run = run_json(l, &self);
	json_write(&text, run, 2);
	buf_addc(&text, '\n');
	link_latest(l);
	return freeze_file(l->dir, "run.json", buf_str(&text), l->durable, r) &&
	       write_communication(l, r) && write_bundle(l, r) &&
	       ledger_update(l->ledger, &l->row, false, r);
}
