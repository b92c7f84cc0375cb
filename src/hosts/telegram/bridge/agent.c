#include "hosts/telegram/bridge/agent.h"

#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "app/agents.h"
#include "app/recipes.h"
#include "app/trust.h"
#include "base/atomic-file.h"
#include "base/path.h"
#include "base/user.h"
#include "hosts/telegram/bridge/bridge.h"

/* What the kernel takes as one argument (MAX_ARG_STRLEN), with the NUL. */
enum { ARGUMENT_MAX = 128 * 1024 };

/* The guide for the agent: which marks it may use. */
static struct str agent_guide(void)
{
	return S(
		"You answer in a Telegram chat on a phone. Write Markdown. Keep tables, dense "
		"lists "
		"and code within about 37 cells. A line of its own <!-- telegram_button: Label --> "
		"adds a button that sends its label back; <!-- telegram_button label=\"Label\" "
		"prompt=\"text\" --> sends that text. <!-- telegram_voice: text --> is spoken. "
		"Files "
		"are sent with the command: roux telegram attach PATH...");
}

static json_t *agent_key(struct bridge *b, const char *key)
{
	json_t *value = conf_get(&b->config, key);

	return json_is_null(value) ? NULL : value;
}

static struct str first_word(struct arena *a, const json_t *template)
{
	while (json_is_array(template) || json_is_object(template))
		template = json_is_array(template) ? json_array_get(template, 0)
						   : json_object_get(template, "template");
	struct str text = str_trim(json_is_string(template) ? json_str(template) : S("agent"));
	return arena_str(a, path_base(str_sub(text, 0, str_find(text, ' ', 0))));
}

struct str agent_name(struct bridge *b, struct arena *a, struct buf *why)
{
	json_t *name = agent_key(b, "agent.name"), *recipe = agent_key(b, "agent.recipe");
	json_t *template = agent_key(b, "agent.template");
	int given = (recipe != NULL) + (template != NULL);

	/* The name of a template or a recipe is only what it is called. */
	if (given == 1 && json_is_string(name))
		return json_str(name);
	if (given == 1)
		return json_is_string(recipe) ? json_str(recipe) : first_word(a, template);
	if (given == 0 && json_is_string(name))
		return json_str(name);
	if (why && given)
		buf_adds(why, "agent.template and agent.recipe are both set in telegram.json: keep "
			      "one of them");
	else if (why)
		buf_adds(why, "no agent is configured: set agent.template, agent.recipe or "
			      "agent.name in telegram.json");
	return S("");
}

/* -- what is chosen ------------------------------------------------------------------------------
 */

struct str agent_cwd(struct bridge *b, struct arena *a)
{
	json_t *cwd = agent_key(b, "agent.cwd");

	return path_from(a, app_cwd(b->app),
		path_tilde(a, json_is_string(cwd) ? json_str(cwd) : S("."), user_home(a)));
}

/* The name of an agent of the prompts configuration; empty: a template or a recipe answers. */
static struct str named(struct bridge *b)
{
	json_t *name = agent_key(b, "agent.name");

	return json_is_string(name) && !agent_key(b, "agent.template") &&
			       !agent_key(b, "agent.recipe")
		       ? json_str(name)
		       : S("");
}

static bool see_models(void *data, const struct agents_entry *entry)
{
	json_t *models = json_object_get(entry->fields, "models"), *value;
	struct str preset = json_text_of(entry->fields, "default_model");
	const char *alias;

	if (preset.len)
		json_array_append_new(data, json_pack("{s:o}", "id", json_from_str(preset)));
	json_object_foreach(models, alias, value)
	{
		if (!str_eq(str_of(alias), preset))
			json_array_append_new(data, json_pack("{s:s}", "id", alias));
	}
	return false;
}

json_t *agent_models(struct bridge *b)
{
	json_t *all = agent_key(b, "agent.models"), *m, *found = json_array();
	struct str name = named(b);
	size_t i;

	json_array_foreach(all, i, m)
	{
		AUTO_JSON *o = json_is_string(m) ? json_pack("{s:O}", "id", m) : json_incref(m);

		if (json_text_of(o, "id").len)
			json_array_append(found, o);
	}
	if (!json_array_size(found) && name.len) {
		struct arena a = ARENA_INIT;
		AUTO_REPORT ignored = REPORT_INIT;
		AUTO_BUF notes = BUF_INIT;

		(void)agents_find(
			AGENTS_AGENT, agent_cwd(b, &a), name, &notes, see_models, found, &ignored);
		arena_done(&a);
	}
	return found;
}

struct str agent_model(struct bridge *b, struct arena *a)
{
	AUTO_JSON *kept = store_get(&b->store, "model");
	AUTO_JSON *models = agent_models(b);
	json_t *m;
	size_t i;

	json_array_foreach(models, i, m)
	{
		if (json_is_string(kept) && str_eq(json_text_of(m, "id"), json_str(kept)))
			return arena_str(a, json_text_of(m, "id"));
	}
	return arena_str(a, json_text_of(json_array_get(models, 0), "id"));
}

struct str agent_thinking(struct bridge *b, struct arena *a)
{
	AUTO_JSON *kept = store_get(&b->store, "thinking");
	json_t *levels = agent_key(b, "agent.thinking"), *l;
	size_t i;

	json_array_foreach(levels, i,
		l) if (json_is_string(kept) && json_is_string(l) &&
		       str_eq(json_str(l), json_str(kept))) return arena_str(a, json_str(l));
	l = json_array_get(levels, 0);
	return json_is_string(l) ? arena_str(a, json_str(l)) : S("");
}

bool agent_thinks(struct bridge *b)
{
	AUTO_JSON *models = agent_models(b);
	struct arena a = ARENA_INIT;
	struct str chosen = agent_model(b, &a);
	bool thinks = !json_array_size(models);
	json_t *m;
	size_t i;

	json_array_foreach(models, i, m) thinks |=
		str_eq(json_text_of(m, "id"), chosen) && json_truth_of(m, "thinking");
	arena_done(&a);
	return thinks && json_array_size(conf_get(&b->config, "agent.thinking")) > 0;
}

/* One for the chat, for agents that keep what was said by an id of their own. */
static json_t *session_of(struct bridge *b)
{
	json_t *kept = store_get(&b->store, "session");
	unsigned char r[16] = { 0 };
	char id[40];

	if (json_is_string(kept))
		return kept;
	json_decref(kept);
	(void)!getrandom(r, sizeof(r), 0);
	(void)snprintf(id, sizeof(id),
		"%02x%02x%02x%02x-%02x%02x-4%01x%02x-a%01x%02x-%02x%02x%02x%02x%02x%02x", r[0],
		r[1], r[2], r[3], r[4], r[5], r[6] & 15, r[7], r[8] & 15, r[9], r[10], r[11], r[12],
		r[13], r[14], r[15]);
	kept = json_string(id);
	(void)store_set(&b->store, "session", kept);
	return kept;
}

/* -- values --------------------------------------------------------------------------------------
 */

static void set_text(json_t *values, const char *name, struct str text)
{
	json_object_set_new(values, name, json_from_str(text));
}

static bool write_prompt_file(struct bridge *b, const struct agent_job *job, struct arena *a,
	json_t *values, struct report *r)
{
	struct str path = places_new_file(&b->places, a, S("prompt.md"));
	int n = atomic_write(path.p, job->prompt, &(struct atomic_options){ .quick = true });

	if (n < 0)
		return report_errno(r, -n, "cannot write '%s'", path.p);
	set_text(values, "prompt_file", path);
	return true;
}

static json_t *values_of(
	struct bridge *b, const struct agent_job *job, struct arena *a, struct report *r)
{
	json_t *values = json_object();
	struct str model = agent_model(b, a), thinking = agent_thinking(b, a);
	AUTO_BUF files = BUF_INIT;
	char number[32];

	if (job->files)
		json_write(&files, job->files, 0);
	else
		buf_adds(&files, "[]");
	if (job->prompt.len < ARGUMENT_MAX)
		set_text(values, "prompt", job->prompt);
	if (!write_prompt_file(b, job, a, values, r)) {
		json_decref(values);
		return NULL;
	}
	if (model.len)
		set_text(values, "model", model);
	if (thinking.len && agent_thinks(b))
		set_text(values, "thinking", thinking);
	json_object_set_new(values, "session", session_of(b));
	(void)snprintf(number, sizeof(number), "%lld", (long long)job->chat);
	set_text(values, "chat", str_of(number));
	(void)snprintf(number, sizeof(number), "%lld", (long long)job->message);
	set_text(values, "message", str_of(number));
	set_text(values, "files", buf_str(&files));
	set_text(values, "guide", agent_guide());
	return values;
}

/* -- what is started -----------------------------------------------------------------------------
 */

struct recipe_ref *agent_template(struct bridge *b, const char *name, const json_t *template,
	uint64_t timeout_ms, json_t *values, struct report *r)
{
	AUTO_JSON *wrapped = NULL;
	AUTO_BUF text = BUF_INIT;

	if (timeout_ms)
		template = wrapped = json_pack("{s:I,s:O}", "timeout", (json_int_t)timeout_ms,
			"template", (json_t *)template);
	if (json_is_string(template))
		buf_add(&text, json_str(template));
	else
		json_write(&text, template, 0);
	return recipes_open_text(b->app, str_of(name), buf_str(&text),
		&(struct recipe_open){ .as = OPERAND_TEMPLATE, .values = values }, r);
}

/* A template that names {prompt} and a prompt that no argument can hold. */
static bool fits(struct bridge *b, const struct agent_job *job, struct report *r)
{
	AUTO_BUF text = BUF_INIT;
	json_t *template = agent_key(b, "agent.template");

	if (job->prompt.len < ARGUMENT_MAX || !template)
		return true;
	json_write(&text, template, 0);
	if (!str_contains(buf_str(&text), S("{prompt}")))
		return true;
	report_error(r, (struct where){ 0 },
		"the prompt has %zu bytes, and one argument may have %d", job->prompt.len,
		ARGUMENT_MAX - 1);
	return report_hint(r, "let agent.template read standard input, or {prompt_file}");
}

static bool names_prompt(const struct recipe_ref *ref)
{
	AUTO_JSON *schema = recipes_input_schema(ref);

	return json_object_get(json_object_get(schema, "properties"), "prompt") != NULL;
}

/* A recipe gets what it declares, and nothing else. */
static struct recipe_ref *open_recipe(
	struct bridge *b, const char *id, const json_t *values, struct report *r)
{
	AUTO_JSON *given = json_object();
	AUTO_REPORT ignored = REPORT_INIT;
	struct recipe_open how = { .as = OPERAND_RECIPE, .launch = true, .values = json_null() };
	struct recipe_ref *looked = recipes_open(b->app, id, &how, &ignored);

	if (looked && names_prompt(looked))
		json_object_set(given, "prompt", json_object_get(values, "prompt"));
	recipe_ref_free(looked);
	how.values = given;
	struct recipe_ref *ref = recipes_open(b->app, id, &how, r);
	if (ref && !recipe_ref_check_trust(ref, r))
		recipe_ref_free(TAKE(ref));
	return ref;
}

/* An app of its own where the agent is to work: only for the start, its supervisor then has it. */
static struct run_handle *start_at(struct bridge *b, struct str cwd, struct recipe_ref *ref,
	const struct request *q, struct report *r)
{
	struct app_options where = { .cwd = cwd.p };
	struct app *a = app_open(&where);
	struct run_handle *h = runs_start(a, ref, q, r);
	bool started = h != NULL;

	run_close(h);
	app_close(a);
	return started ? runs_open(b->app, q->as, r) : NULL;
}

/* What an agent of the prompts configuration should know about the chat, as the last context. */
static struct str with_guide(struct arena *a, struct str prompt)
{
	return arena_printf(a, "%.*s\n\n%.*s", STR(agent_guide()), STR(prompt));
}

static struct recipe_ref *prepare_agent(struct bridge *b, const struct agent_job *job,
	struct arena *a, struct request *q, struct str *cwd, struct agents_launch **ret_launch,
	struct report *r)
{
	bool task = job->task.len > 0;
	struct agents_request ask = { .mode = task ? AGENTS_LAUNCH_TASK : AGENTS_PROMPT,
		.text = task ? S("") : with_guide(a, job->prompt),
		.task = job->task,
		.instructions = task ? job->prompt : S(""),
		.agent = named(b),
		.model = agent_model(b, a),
		.cwd = *cwd,
		.stands = *cwd,
		.captured = true };
	struct recipe_ref *ref = agents_prepare(&ask, ret_launch, r)
					 ? agents_launch_ref(b->app, *ret_launch, r)
					 : NULL;

	if (!ref)
		return NULL;
	struct agents_command c = agents_launch_command(*ret_launch);
	for (size_t i = 0; i < c.envc; i++)
		json_array_append_new(q->env, json_from_str(str_of(c.env[i])));
	q->input = c.gives_stdin ? c.prompt : S("");
	*cwd = str_of(c.cwd);
	return ref;
}

/* A task for a template or a recipe: its text is the prompt. */
static bool render_task(struct bridge *b, const struct agent_job *job, struct arena *a,
	struct buf *ret, struct report *r)
{
	struct agents_request ask = { .mode = AGENTS_LAUNCH_TASK,
		.task = job->task,
		.instructions = job->prompt,
		.cwd = agent_cwd(b, a),
		.stands = agent_cwd(b, a) };
	AUTO_JSON *said = agents_render(&ask, true, r);
	json_t *part;
	size_t i;

	buf_adds(ret, "[telegram]");
	json_array_foreach(said, i, part)
		buf_printf(ret, "%s%.*s", i ? "\n\n" : " ", STR(json_text_of(part, "text")));
	return said != NULL;
}

static struct run_handle *start_run(struct bridge *b, const struct agent_job *job,
	struct agents_launch **ret_launch, struct report *r)
{
	struct arena a = ARENA_INIT;
	struct request q = bridge_request(b);
	struct str cwd = agent_cwd(b, &a);
	AUTO_JSON *values = values_of(b, job, &a, r);
	json_t *template = agent_key(b, "agent.template"), *recipe = agent_key(b, "agent.recipe");
	struct recipe_ref *ref = NULL;
	struct run_handle *h = NULL;

	q.record = true;
	q.as = job->run;
	q.detach = DETACH_ALWAYS;
	q.input = json_is_false(agent_key(b, "agent.stdin")) ? S("") : job->prompt;
	json_array_append_new(q.env, json_from_str(arena_printf(&a, "ROUX_TELEGRAM_TURN=%llu",
					     (unsigned long long)job->item)));
	if (values && template && fits(b, job, r))
		ref = agent_template(b, "agent.template", template,
			(uint64_t)MAX(conf_number(&b->config, "agent.timeout", 0), 0), values, r);
	else if (values && !template && json_is_string(recipe))
		ref = open_recipe(b, json_string_value(recipe), values, r);
	else if (values && named(b).len)
		ref = prepare_agent(b, job, &a, &q, &cwd, ret_launch, r);
	if (ref)
		h = start_at(b, cwd, ref, &q, r);
	recipe_ref_free(ref);
	bridge_request_done(&q);
	arena_done(&a);
	return h;
}

struct run_handle *agent_start(struct bridge *b, const struct agent_job *job,
	struct agents_launch **ret_launch, struct report *r)
{
	struct arena a = ARENA_INIT;
	struct agent_job own = *job;
	AUTO_BUF text = BUF_INIT;
	struct run_handle *h = NULL;

	*ret_launch = NULL;
	if (own.task.len && !named(b).len) {
		if (!render_task(b, job, &a, &text, r)) {
			arena_done(&a);
			return NULL;
		}
		own.task = S("");
		own.prompt = buf_str(&text);
	}
	h = start_run(b, &own, ret_launch, r);
	arena_done(&a);
	return h;
}
