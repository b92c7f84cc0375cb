#include "app/record/step-host.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/agents/step-agents.h"
#include "app/catalog/secrets.h"
#include "app/context/run-values.h"
#include "app/record/files.h"
#include "app/record/freeze.h"
#include "app/record/gates-file.h"
#include "app/record/secrets.h"
#include "base/atomic-file.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/path.h"
#include "base/run-status.h"
#include "runs/dir/open.h"
#include "runs/dir/outputs.h"
#include "steps/read/recipe.h"

struct steps_run {
	struct launch *launch;
	struct step_host host;
	struct step_agents *agents;
	json_t *vars;
	json_t *copies; /* path → file of the run's directory */
	json_t *gates;  /* path → what gates.json says */
	struct mask *mask;
	json_t *hidden; /* names of secrets, those of recipes that were called too, as members */
	bool copied;    /* recipe.yaml is there */
	int pausing;    /* gates_pausing(): an answer that comes now is not heard; or -1 */
};

#define RECIPES_FILE "recipes.json"

static bool write_json(
	const struct launch *l, const char *name, const json_t *value, struct report *r)
{
	AUTO_BUF text = BUF_INIT;

	json_write(&text, value, 2);
	buf_addc(&text, '\n');
	return freeze_file(l->claim.dir, name, buf_str(&text), l->asked.durable, r);
}

/* -- sub-recipes ---------------------------------------------------------------------------------
 */

static bool read_now(struct str path, struct buf *text, struct report *r)
{
	AUTO_BUF name = BUF_INIT;

	buf_add(&name, path);
	int n = file_read(buf_cstr(&name), RECIPE_MAX_BYTES, text);
	if (n == 0)
		return true;
	AUTO_BUF shown = BUF_INIT;
	path_plain(&shown, path);
	report_errno(r, -n, "cannot read the recipe %s", buf_cstr(&shown));
	return report_hint(r, "paths are taken from the directory of the recipe that calls");
}

static bool load(void *data, struct str path, struct buf *text, struct report *r)
{
	struct steps_run *s = data;
	const char *copy = json_string_value(json_object_getn(s->copies, path.p, path.len));

	if (!copy)
		return read_now(path, text, r);
	struct str dir = s->launch->claim.dir;
	int n = run_read(dir.p, copy, RECIPE_MAX_BYTES, text);
	return n == 0 || report_fault(r, -n, "cannot read %.*s/%s", STR(dir), copy);
}

/* Kept when it is first called, so that a resume runs what the run has begun. */
static bool keep(void *data, struct str path, struct str text, struct report *r)
{
	struct steps_run *s = data;
	AUTO_BUF name = BUF_INIT;

	if (json_object_getn(s->copies, path.p, path.len))
		return true;
	struct str base = path_base(path);
	struct str id = recipe_id_of(path);
	buf_printf(&name, "recipe-%zu%.*s", json_object_size(s->copies) + 1,
		STR(str_from(base, id.len)));
	if (!freeze_file(s->launch->claim.dir, buf_cstr(&name), text, s->launch->asked.durable, r))
		return false;
	json_object_setn_new_nocheck(s->copies, path.p, path.len, json_from_str(buf_str(&name)));
	return write_json(s->launch, RECIPES_FILE, s->copies, r);
}

/* -- template recipes ----------------------------------------------------------------------------
 */

/* One that was called before is the one, whatever there is now. */
static bool find(void *data, struct str name, struct buf *path, struct report *r)
{
	struct steps_run *s = data;
	struct arena a = ARENA_INIT;
	struct recipe_location at;
	const char *copied;
	json_t *file;

	json_object_foreach(s->copies, copied, file)
	{
		if (str_eq(recipe_id_of(str_of(copied)), name)) {
			buf_adds(path, copied);
			return true;
		}
	}
	bool found = recipe_locate(&a, &s->launch->subject.dirs, name, &at, r);
	if (found)
		buf_add(path, at.path);
	arena_done(&a);
	return found;
}

/* As it was when the run first called it; NULL: it did not. */
static struct recipe *open_copies(struct steps_run *s, struct str path, struct report *r)
{
	AUTO_JSON *sources = json_array();
	const char *copied;
	json_t *file;

	if (!json_object_getn(s->copies, path.p, path.len))
		return NULL;
	json_object_foreach(s->copies, copied, file)
	{
		AUTO_BUF text = BUF_INIT;
		bool entry = str_eq(str_of(copied), path);

		if (!load(s, str_of(copied), &text, r))
			return NULL;
		json_array_insert_new(sources, entry ? 0 : json_array_size(sources),
			json_pack("{s:s, s:o}", "path", copied, "text",
				json_from_str(buf_str(&text))));
	}
	return recipe_open_frozen(&s->launch->subject.dirs, sources, LAYER_ADHOC, NULL, r);
}

static bool keep_files(struct steps_run *s, const struct recipe *recipe, struct report *r)
{
	vec_each (f, &recipe->set->files)
		if (!keep(s, (*f)->path, (*f)->doc.source.text, r))
			return false;
	return true;
}

static void set(void *data, struct str name, const json_t *value, bool hide);

static void hide_secrets(struct steps_run *s, const struct recipe *recipe, const json_t *values)
{
	const json_t *names = json_object_get(recipe->file->object, "secrets");
	json_t *name;
	size_t i;

	json_array_foreach(names, i, name)
		set(s, json_str(name), json_object_get(values, json_string_value(name)), true);
}

static struct plan *open_template(
	void *data, struct str path, const json_t *values, struct report *r)
{
	struct steps_run *s = data;
	size_t errors = r->errors;
	struct arena a = ARENA_INIT;
	struct plan *plan = NULL;

	path = path_absolute(&a, path); /* as its copy is called */
	struct recipe *recipe = open_copies(s, path, r);

	if (!recipe && r->errors == errors)
		recipe = recipe_open_file(&s->launch->subject.dirs, path, LAYER_ADHOC, r);
	AUTO_JSON *given = json_copy((json_t *)values);
	run_add_values(given, s->launch->asked.id, s->launch->claim.dir);
	if (recipe && recipe_disabled(recipe))
		report_error(r, (struct where){ 0 }, "the recipe %.*s is disabled", STR(path));
	else if (recipe &&
		 public_arguments_check(
			 recipe->arguments, recipe_called(recipe), values, CALLER_PERSON, r) &&
		 keep_files(s, recipe, r)) {
		hide_secrets(s, recipe, given);
		plan = secrets_plan_new(recipe->graph, recipe, given, r);
	}
	recipe_free(recipe);
	arena_done(&a);
	return plan;
}

static bool secret(void *data, struct str name)
{
	const struct steps_run *s = data;

	return json_object_getn(s->hidden, name.p, name.len) || secret_like(name);
}

static bool has_secret(void *data, struct str text)
{
	const struct steps_run *s = data;
	struct arena a = ARENA_INIT;
	bool has = mask_text(s->mask, text, &a).p != text.p;

	arena_done(&a);
	return has;
}

/* Only this process knows what it is: who shows the records has to hide it as well. */
static void keep_secret(struct steps_run *s, const json_t *value)
{
	AUTO_REPORT ignored = REPORT_INIT; /* on a full disk it is kept with the next one */
	struct launch *l = s->launch;

	secret_keep_texts(l, value);
	if (l->claim.dir.len)
		(void)freeze_values(l, &ignored);
}

static void set(void *data, struct str name, const json_t *value, bool hide)
{
	struct steps_run *s = data;

	if (hide)
		json_object_setn_new_nocheck(s->hidden, name.p, name.len, json_true());
	if (!value || !json_object_getn(s->hidden, name.p, name.len))
		return;
	size_t known = mask_count(s->mask);
	mask_add(s->mask, value);
	if (mask_count(s->mask) > known)
		keep_secret(s, value);
}

static enum step_made agent(void *data, const struct node *n, const struct scope *scope,
	const struct step_call *call, struct step_command *ret, struct arena *a, struct report *r)
{
	struct steps_run *s = data;

	return step_agent_make(s->agents, n, scope, call, &s->host, ret, a, r);
}

/* -- gates ---------------------------------------------------------------------------------------
 */

/* What has been answered since they were read. Only of gates that have been asked: whatever else
 * stands there a command of this run has written, which must not answer for a person. False: there
 * may be an answer that cannot be read. */
static bool read_gates(struct steps_run *s, struct report *r)
{
	AUTO_REPORT why = REPORT_INIT;
	AUTO_JSON *now = gates_read(s->launch->claim.dir, &why);
	bool unread = report_has_system(&why);
	const char *path;
	json_t *g;
	void *next;

	report_move(r, &why);
	json_object_foreach_safe(s->gates, next, path, g)
	{
		json_t *answered = json_object_get(now, path);

		if (json_is_object(answered))
			json_object_set(s->gates, path, answered);
	}
	return !unread;
}

static bool write_gates(const struct steps_run *s, struct report *r)
{
	return gates_write(s->launch->claim.dir, s->gates, s->launch->asked.durable, r);
}

static json_t *ask(struct steps_run *s, struct str path, struct str name, struct str prompt,
	uint64_t timeout_ms, bool approves, uint64_t now)
{
	struct arena a = ARENA_INIT;
	json_t *g = json_object();

	json_object_set_new(g, "stage", json_from_str(name));
	json_object_set_new(g, "prompt", json_from_str(mask_text(s->mask, prompt, &a)));
	arena_done(&a);
	json_object_set_new(g, "since_ms", json_integer((json_int_t)now));
	json_object_set_new(g, "timeout", json_integer((json_int_t)(timeout_ms / 1000)));
	json_object_set_new(g, "default", json_string(approves ? "approve" : "deny"));
	json_object_setn_new_nocheck(s->gates, path.p, path.len, g);
	return g;
}

static enum gate_answer gate(void *data, struct str path, struct str name, struct str prompt,
	uint64_t timeout_ms, bool approves, struct gate_heard *ret, struct report *r)
{
	struct steps_run *s = data;
	AUTO_CLOSE int lock = gates_lock(s->launch->claim.dir, r);
	uint64_t now = clock_real_ms();

	if (lock < 0 || !read_gates(s, r))
		return GATE_FAILED;
	json_t *g = json_object_getn(s->gates, path.p, path.len);
	bool changed = !g;
	if (!g)
		g = ask(s, path, name, prompt, timeout_ms, approves, now);
	ret->since_ms = (uint64_t)json_integer_value(json_object_get(g, "since_ms"));
	if (gate_answer_of(g) == GATE_PENDING && timeout_ms && now >= ret->since_ms + timeout_ms) {
		json_object_set_new(g, "answer", json_string(approves ? "approved" : "denied"));
		json_object_set_new(g, "by", json_string("timeout"));
		changed = true;
	}
	if (changed && !write_gates(s, r))
		return GATE_FAILED;
	buf_add(&ret->message, json_text_of(g, "message"));
	if (gate_answer_of(g) != GATE_PENDING && json_is_true(json_object_get(g, "untold"))) {
		AUTO_REPORT ignored = REPORT_INIT; /* without room it is reported once more */

		ret->untold = true;
		buf_add(&ret->who, json_text_of(g, "by"));
		buf_add(&ret->digest, json_text_of(g, "digest"));
		json_object_del(g, "untold");
		(void)write_gates(s, &ignored);
	}
	if (gate_answer_of(g) == GATE_PENDING) {
		gates_paused(&s->pausing);
		s->pausing = gates_pausing(s->launch->claim.dir);
	}
	return gate_answer_of(g);
}

/* -- opening -------------------------------------------------------------------------------------
 */

static void add_variables(struct steps_run *s)
{
	const struct launch *l = s->launch;
	AUTO_BUF started = BUF_INIT;
	json_t *session = json_object();

	clock_rfc3339(&started, l->asked.created);
	json_object_set_new(session, "id", json_from_str(l->asked.id));
	json_object_set_new(session, "started", json_from_str(buf_str(&started)));
	json_object_set_new(session, "project", json_from_str(l->claim.row.cwd));
	json_object_set_new(s->vars, "session", session);
	if (l->subject.graph->steps)
		json_object_set(s->vars, "recipe", l->subject.graph->steps->metadata);
}

/* For people: a resume reads graph.json. */
static bool copy_recipe(struct steps_run *s, struct report *r)
{
	const struct launch *l = s->launch;

	if (!s->copied && l->subject.graph->steps) {
		const struct freeze_text copy = { "recipe.yaml",
			l->subject.recipe->file->doc.source.text, true };

		s->copied = freeze_files(l, &copy, 1, r);
	}
	return s->copied || !l->subject.graph->steps;
}

void steps_settle(struct steps_run *s)
{
	AUTO_REPORT ignored = REPORT_INIT; /* on a full disk it is tried again at the end */

	(void)copy_recipe(s, &ignored);
}

struct steps_run *steps_open(struct launch *l, struct report *r)
{
	struct steps_run *s = mem_new(struct steps_run);
	bool fresh = l->claim.unlisted; /* there is nothing to read in its directory */

	s->launch = l;
	s->pausing = -1;
	s->mask = mask_of_run(l);
	s->hidden = secret_names(l);
	/* A template has none; the step recipes that it imports have their own. */
	s->vars = l->subject.plan->vars ? json_deep_copy(l->subject.plan->vars) : json_object();
	add_variables(s);
	s->copies = fresh ? NULL : freeze_json(l->claim.dir, RECIPES_FILE, true, r);
	s->gates = fresh ? NULL : gates_read(l->claim.dir, r);
	s->copies = s->copies ? s->copies : json_object();
	s->gates = s->gates ? s->gates : json_object();
	s->agents = step_agents_new(l->asked.agents, l->claim.row.cwd);
	s->host = (struct step_host){ .data = s,
		.max_parallel = (unsigned)l->asked.max_parallel,
		.max_parallel_given = l->asked.max_parallel_given,
		.stream = l->asked.stream,
		.project = l->claim.row.cwd.p,
		.env = l->asked.env,
		.collections = l->asked.collections,
		.load = load,
		.keep = keep,
		.find = find,
		.open = open_template,
		.secret = secret,
		.has_secret = has_secret,
		.set = set,
		.agent = agent,
		.gate = gate };
	if (!r->errors && (fresh || copy_recipe(s, r)))
		return s;
	steps_close(s);
	return NULL;
}

void steps_rest(struct steps_run *s)
{
	if (s)
		gates_paused(&s->pausing);
}

void steps_close(struct steps_run *s)
{
	if (!s)
		return;
	steps_rest(s);
	step_agents_free(s->agents);
	mask_free(s->mask);
	json_decref(s->vars);
	json_decref(s->copies);
	json_decref(s->gates);
	json_decref(s->hidden);
	free(s);
}

const struct step_host *steps_host(const struct steps_run *s)
{
	return &s->host;
}

struct mask *steps_mask(const struct steps_run *s)
{
	return s->mask;
}

json_t *steps_vars(const struct steps_run *s)
{
	return s->vars;
}

/* -- state.json ----------------------------------------------------------------------------------
 */

enum { LARGE = 100 * 1024 };

/* A large value has a file of its own, written when the run has stopped: the state is written again
 * and again. */
static json_t *put_aside(
	const struct steps_run *s, const char *name, const json_t *value, bool last)
{
	AUTO_BUF file = BUF_INIT;
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_JSON *shown = last ? mask_value(s->mask, value) : NULL;

	buf_printf(&file, "large/%.200s.json", name);
	if (last)
		(void)write_json(s->launch, buf_cstr(&file), shown, &ignored);
	return json_pack("{s:o}", "file", json_from_str(buf_str(&file)));
}

static json_t *shown_vars(const struct steps_run *s, bool last)
{
	json_t *shown = json_object(), *value;
	const char *name;

	json_object_foreach(s->vars, name, value)
	{
		if (secret((void *)s, str_of(name)))
			json_object_set_new_nocheck(shown, name, json_string(MASKED));
		else if (json_weigh(value, LARGE) > LARGE)
			json_object_set_new_nocheck(shown, name, put_aside(s, name, value, last));
		else
			json_object_set_new_nocheck(shown, name, mask_value(s->mask, value));
	}
	return shown;
}

static json_t *completed(const json_t *steps)
{
	json_t *ids = json_array(), *step;
	size_t i;

	json_array_foreach(steps, i, step)
	{
		struct str status = json_str(json_object_get(step, "status"));

		if (str_eq(status, S("done")) || str_eq(status, S("tolerated")))
			json_array_append(ids, json_object_get(step, "id"));
	}
	return ids;
}

/* How many steps need not be looked at again. */
static size_t behind(const json_t *steps)
{
	size_t count = json_array_size(steps);
	const json_t *last = count ? json_array_get(steps, count - 1) : NULL;

	return count - str_eq(json_str(json_object_get(last, "status")), S("failed"));
}

/* How far it has come: `count` of its own steps are behind it. */
static void add_position(json_t *state, const struct steps_run *s, size_t count)
{
	const struct step_recipe *recipe = s->launch->subject.recipe->steps;
	json_t *stages = json_array();
	size_t i = 0;

	if (!recipe->stage_count) {
		json_object_set_new(state, "current_step_index", json_integer((json_int_t)count));
		json_decref(stages);
		return;
	}
	for (; i < recipe->stage_count && count >= recipe->stages[i]->step_count; i++) {
		count -= recipe->stages[i]->step_count;
		json_array_append_new(stages, json_from_str(recipe->stages[i]->name));
	}
	json_object_set_new(state, "current_stage_index", json_integer((json_int_t)i));
	json_object_set_new(state, "current_step_in_stage", json_integer((json_int_t)count));
	json_object_set_new(state, "completed_stages", stages);
}

static void add_output(json_t *step, const struct steps_run *s, const char *what, bool err)
{
	AUTO_BUF name = BUF_INIT;
	struct stat st;

	buf_adds(&name, OUTPUTS_DIR "/");
	output_name(&name, json_str(json_object_get(step, "path")),
		(uint64_t)json_integer_value(json_object_get(step, "attempts")), err);
	AUTO_BUF file = BUF_INIT;
	buf_printf(&file, "%.*s/%s", STR(s->launch->claim.dir), buf_cstr(&name));
	if (stat(buf_cstr(&file), &st) == 0)
		json_object_set_new(step, what,
			json_pack("{s:o, s:I}", "path", json_from_str(buf_str(&name)), "bytes",
				(json_int_t)st.st_size));
}

/* The steps, with the files that have what they printed. */
static json_t *with_outputs(const struct steps_run *s, const json_t *steps, bool printed)
{
	json_t *all = json_deep_copy(steps), *step;
	size_t i;

	json_array_foreach(all, i, step)
	{
		if (!printed || !json_object_get(step, "path"))
			continue;
		add_output(step, s, "stdout", false);
		add_output(step, s, "stderr", true);
	}
	return all;
}

/* gates.json has what was answered as it was written, because a resume hands it to later steps;
 * the state is for readers. */
static json_t *shown_gates(const struct steps_run *s)
{
	json_t *shown = json_deep_copy(s->gates), *g;
	const char *path;

	json_object_foreach(shown, path, g)
	{
		const json_t *said = json_object_get(g, "message");

		if (said)
			json_object_set_new(g, "message", mask_json(s->mask, said));
	}
	return shown;
}

static json_t *answered(const json_t *gates)
{
	json_t *history = json_array(), *g;
	const char *path;

	json_object_foreach((json_t *)gates, path, g)
	{
		if (gate_answer_of(g) != GATE_PENDING)
			json_array_append(history, g);
	}
	return history;
}

static void add_pending(json_t *state, const struct steps_run *s)
{
	static const char *const members[] = { "stage", "prompt", "since", "timeout", "default" };
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_JSON *pending =
		json_object_size(s->gates) ? gates_pending(s->launch->claim.dir, &ignored) : NULL;

	for (size_t i = 0; pending && i < ARRAY_SIZE(members); i++) {
		AUTO_BUF name = BUF_INIT;

		buf_printf(&name, "pending_approval_%s", members[i]);
		json_object_set(state, buf_cstr(&name), json_object_get(pending, members[i]));
	}
}

void steps_state(const struct steps_run *s, const char *status, const struct run_result *res,
	bool printed, struct buf *b)
{
	const struct launch *l = s->launch;
	const struct step_recipe *recipe = l->subject.recipe->steps;
	AUTO_JSON *state = json_object();
	AUTO_BUF started = BUF_INIT;

	clock_rfc3339(&started, l->asked.created);
	json_object_set_new(state, "session_id", json_from_str(l->asked.id));
	json_object_set_new(state, "recipe_name", json_from_str(recipe->name.text));
	json_object_set_new(state, "recipe_version", json_from_str(recipe->version.text));
	json_object_set_new(state, "recipe_path", json_from_str(l->subject.recipe->file->path));
	json_object_set_new(state, "started", json_from_str(buf_str(&started)));
	json_object_set_new(state, "project_path", json_from_str(l->claim.row.cwd));
	json_object_set_new(state, "parent_session_id", json_null());
	json_object_set_new(state, "status", json_string(status));
	add_position(state, s, behind(res->steps));
	json_object_set_new(state, "completed_steps", completed(res->steps));
	json_object_set_new(state, "skipped_steps",
		res->skipped ? json_incref((json_t *)res->skipped) : json_array());
	json_object_set_new(state, "foreach_progress", json_deep_copy(res->rounds));
	json_object_set_new(state, "steps", with_outputs(s, res->steps, printed));
	json_t *gates = shown_gates(s);
	json_object_set_new(state, "stage_approvals", gates);
	json_object_set_new(state, "approval_history", answered(gates));
	add_pending(state, s);
	json_object_set_new(
		state, "context", shown_vars(s, !status_is(str_of(status), ROUX_RUNNING)));
	json_write_typed(b, state, 2);
	buf_addc(b, '\n');
}
