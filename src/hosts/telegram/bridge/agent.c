#include "hosts/telegram/bridge/agent.h"

#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "app/agents.h"
#include "app/recipes.h"
#include "base/atomic-file.h"
#include "base/path.h"
#include "hosts/telegram/bridge/bridge.h"

/* What the kernel takes as one argument (MAX_ARG_STRLEN), with the NUL. */
enum { ARGUMENT_MAX = 128 * 1024 };

struct str agent_guide(void)
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

struct str agent_model(struct bridge *b, struct arena *a)
{
	AUTO_JSON *kept = store_get(&b->store, "model");
	json_t *models = agent_key(b, "agent.models"), *m;
	struct str first = S("");
	size_t i;

	json_array_foreach(models, i, m)
	{
		struct str id = json_is_string(m) ? json_str(m) : json_text_of(m, "id");

		if (json_is_string(kept) && str_eq(id, json_str(kept)))
			return arena_str(a, id);
		first = i ? first : id;
	}
	return arena_str(a, first);
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
	if (thinking.len)
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
	return recipes_open(b->app, id, &how, r);
}

static struct str cwd_of(struct bridge *b, struct arena *a)
{
	json_t *cwd = agent_key(b, "agent.cwd");

	return path_from(a, app_cwd(b->app),
		path_tilde(a, json_is_string(cwd) ? json_str(cwd) : S("."), path_home(a)));
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

static struct recipe_ref *prepare_agent(struct bridge *b, const struct agent_job *job,
	struct str name, struct arena *a, struct request *q, struct str *cwd,
	struct agents_launch **ret_launch, struct report *r)
{
	struct agents_request ask = { .mode = AGENTS_PROMPT,
		.text = job->prompt,
		.agent = name,
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
	if (!c.gives_stdin)
		q->input = S("");
	*cwd = str_of(c.cwd);
	return ref;
}

struct run_handle *agent_start(struct bridge *b, const struct agent_job *job,
	struct agents_launch **ret_launch, struct report *r)
{
	struct arena a = ARENA_INIT;
	struct request q = REQUEST_INIT;
	struct str cwd = cwd_of(b, &a);
	AUTO_JSON *values = values_of(b, job, &a, r);
	AUTO_JSON *env = json_array();
	json_t *template = agent_key(b, "agent.template"), *recipe = agent_key(b, "agent.recipe");
	json_t *name = agent_key(b, "agent.name");
	struct recipe_ref *ref = NULL;
	struct run_handle *h = NULL;

	*ret_launch = NULL;
	q.record = true;
	q.as = job->run;
	q.how = "telegram";
	q.detach = DETACH_ALWAYS;
	q.env = env;
	q.input = json_is_false(agent_key(b, "agent.stdin")) ? S("") : job->prompt;
	json_array_append_new(env, json_from_str(arena_printf(&a, "ROUX_TELEGRAM_TURN=%llu",
					   (unsigned long long)job->item)));
	if (values && template && fits(b, job, r))
		ref = agent_template(b, "agent.template", template,
			(uint64_t)MAX(conf_number(&b->config, "agent.timeout", 0), 0), values, r);
	else if (values && !template && json_is_string(recipe))
		ref = open_recipe(b, json_string_value(recipe), values, r);
	else if (values && !template && json_is_string(name))
		ref = prepare_agent(b, job, json_str(name), &a, &q, &cwd, ret_launch, r);
	if (ref)
		h = start_at(b, cwd, ref, &q, r);
	recipe_ref_free(ref);
	arena_done(&a);
	return h;
}
