#include "app/agents/step-agents.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "app/agents/compose.h"
#include "base/path.h"
#include "base/program.h"
#include "base/user.h"
#include "steps/compile/compile.h"
#include "steps/compile/ops.h"
#include "steps/language/text.h"

struct step_agents {
	const json_t *given;
	struct str cwd;
	/* The registry, read when it is first needed. */
	struct config config;
	bool loaded, usable;
	bool dry; /* nothing is written or run */
	/* Of agents that may be running: their files are locked. */
	VEC(struct temporary) files;
	VEC(struct agents_launch *) launches;
};

struct step_agents *step_agents_new(const json_t *given, struct str cwd)
{
	struct step_agents *agents = mem_new(struct step_agents);

	agents->given = given;
	agents->cwd = cwd;
	return agents;
}

static void launch_free(struct agents_launch *l)
{
	prompts_done(l);
	free(l);
}

/* The engine deletes the files of an agent that has ended: what belongs to it can go. */
static bool is_gone(const struct temporary *t)
{
	return !t->path || access(t->path, F_OK) < 0;
}

static void let_go_of_ended(struct step_agents *agents)
{
	size_t files = 0, launches = 0;

	vec_each (t, &agents->files) {
		if (is_gone(t))
			temporary_delete(t);
		else
			agents->files.at[files++] = *t;
	}
	agents->files.len = files;
	vec_each (l, &agents->launches) {
		if (is_gone(&(*l)->role_file) && is_gone(&(*l)->prompt_file))
			launch_free(*l);
		else
			agents->launches.at[launches++] = *l;
	}
	agents->launches.len = launches;
}

void step_agents_free(struct step_agents *agents)
{
	if (!agents)
		return;
	vec_each (t, &agents->files)
		temporary_delete(t);
	vec_done(&agents->files);
	vec_each (l, &agents->launches)
		launch_free(*l);
	vec_done(&agents->launches);
	if (agents->loaded)
		config_done(&agents->config);
	free(agents);
}

/* -- finding -------------------------------------------------------------------------------------
 */

static const char *given_command(const struct step_agents *agents, struct str name)
{
	struct str tries[3];
	size_t count = names_of_step_agent(name, tries);

	for (size_t i = 0; i < count; i++) {
		const json_t *command = json_object_getn(agents->given, tries[i].p, tries[i].len);

		if (command)
			return json_string_value(command);
	}
	return NULL;
}

static bool load(struct step_agents *agents, struct report *r)
{
	AUTO_REPORT nothing = REPORT_INIT;

	if (agents->loaded)
		return agents->usable;
	agents->loaded = true;
	agents->usable = prompts_load(&agents->config, agents->cwd, true, &nothing);
	/* No configuration at all only means that it has no agents. */
	if (!agents->usable && agents->config.files.len)
		report_move(r, &nothing);
	return agents->usable;
}

static const struct config_entry *registered(
	struct step_agents *agents, struct str name, struct report *r)
{
	return load(agents, r) ? names_find_step_agent(&agents->config, name) : NULL;
}

bool step_agent_known(struct step_agents *agents, struct str name)
{
	AUTO_REPORT ignored = REPORT_INIT;

	return given_command(agents, name) || registered(agents, name, &ignored);
}

/* A key of TOML is bare or quoted. */
void step_agent_table(struct str name, struct buf *b)
{
	size_t colon = str_find(name, ':', 0);
	struct str key = colon + 1 < name.len ? str_from(name, colon + 1) : name;
	bool bare = key.len > 0;

	for (size_t i = 0; i < key.len; i++)
		bare &= ascii_digit(key.p[i]) ||
			((key.p[i] | 32) >= 'a' && (key.p[i] | 32) <= 'z') || key.p[i] == '_' ||
			key.p[i] == '-';
	buf_printf(b, bare ? "agents.%.*s" : "agents.\"%.*s\"", STR(key));
}

static enum step_made no_agent(
	struct step_agents *agents, const struct step *step, struct step_command *ret)
{
	const char *name;
	json_t *command;
	bool first = true;

	buf_printf(&ret->why, "step '%.*s': there is no agent '%.*s'; configured: ", STR(step->id),
		STR(step->agent.name.text));
	json_object_foreach((json_t *)agents->given, name, command)
	{
		buf_printf(&ret->why, "%s%s", first ? "" : ", ", name);
		first = false;
	}
	if (agents->usable)
		vec_each (e, &agents->config.entries[KIND_AGENT]) {
			buf_printf(&ret->why, "%s%.*s", first ? "" : ", ", STR((*e)->name));
			first = false;
		}
	if (first)
		buf_adds(&ret->why, "none");
	AUTO_BUF table = BUF_INIT;
	step_agent_table(step->agent.name.text, &table);
	buf_printf(&ret->why,
		"\nhint: put [%s] with bin and command into agents.toml, or give the run a "
		"command for '%.*s'",
		buf_cstr(&table), STR(step->agent.name.text));
	ret->code = 127;
	return STEP_CANNOT;
}

/* -- making --------------------------------------------------------------------------------------
 */

static bool prompt_text(
	const struct step *step, const struct scope *s, struct buf *b, struct report *r)
{
	if (step->agent.mode.text.len)
		buf_printf(b, "MODE: %.*s\n\n", STR(step->agent.mode.text));
	if (!step_text_substitute(
		    step->agent.prompt.text, step->agent.prompt.place, scope_vars(s), b, r))
		return false;
	if (step->parse_json)
		buf_adds(b, "\n\nEnd your answer with the result as JSON, with nothing after it.");
	return true;
}

static void add_member(json_t *object, const char *name, const struct recipe_value *v)
{
	if (v->value)
		json_object_set(object, name, (json_t *)v->value);
}

/* What is not a placeholder reaches the agent as one JSON object. */
static struct str config_entry(
	const struct step_recipe *recipe, const struct step *step, struct arena *a)
{
	AUTO_JSON *config = json_object();
	AUTO_BUF text = BUF_INIT;

	add_member(config, "agent_config", &step->agent.config);
	add_member(config, "provider_preferences", &step->agent.provider_preferences);
	add_member(config, "model_role", &step->agent.model_role);
	add_member(config, "orchestrator", &recipe->orchestrator);
	json_write(&text, config, 0);
	return arena_printf(a, "ROUX_AGENT_CONFIG=%s", buf_cstr(&text));
}

static enum step_made make_env(const struct step *step, const struct step_call *call,
	const struct compiled *c, struct step_command *ret, struct arena *a)
{
	const char **env = arena_array(a, const char *, c->envc + 5);
	size_t n = 0;

	for (size_t i = 0; i < c->envc; i++)
		env[n++] = arena_str(a, str_of(c->env[i])).p;
	env[n++] = arena_printf(a, "ROUX_STEP_ID=%.*s", STR(step->id)).p;
	env[n++] = arena_printf(a, "ROUX_RECIPE_DIR=%.*s", STR(call->dir)).p;
	env[n++] = arena_printf(a, "ROUX_AGENT=%.*s", STR(step->agent.name.text)).p;
	struct str config = config_entry(step_graph_recipe(call->graph), step, a);
	env[n++] = config.p;
	env[n] = NULL;
	ret->env = env;
	if (config.len < PROGRAM_STRING_MAX)
		return STEP_MADE;
	buf_printf(&ret->why,
		"step '%.*s': ROUX_AGENT_CONFIG is %zu bytes long; the kernel takes %d: put less "
		"into agent_config",
		STR(step->id), config.len, PROGRAM_STRING_MAX - 1);
	ret->code = 126;
	return STEP_CANNOT;
}

static enum step_made fail_with(
	struct step_command *ret, const struct step *step, const struct report *why)
{
	const struct issue *i = why->issues.len ? &why->issues.at[0] : NULL;

	buf_printf(&ret->why, "step '%.*s': %.*s", STR(step->id),
		STR(i ? i->message : S("the agent cannot be started")));
	if (i && i->hint.len)
		buf_printf(&ret->why, "\nhint: %.*s", STR(i->hint));
	ret->code = 126;
	return STEP_CANNOT;
}

/* What the run tells of a step that is started all the same; once, however often it is made. */
static void tell_warnings(struct report *r, const struct step *step, const struct report *warnings)
{
	vec_each (i, &warnings->issues) {
		AUTO_BUF text = BUF_INIT;
		bool known = false;

		buf_printf(&text, "step '%.*s': %.*s", STR(step->id), STR(i->message));
		vec_each (told, &r->issues)
			known |= str_eq(told->message, buf_str(&text));
		if (known)
			continue;
		report_warning(r, (struct where){ 0 }, "%s", buf_cstr(&text));
		report_advise(r, i);
	}
}

/* A step asks for something that the command of its agent has no place for. */
static void not_passed(struct report *r, const struct step *step, const char *what,
	struct str value, const char *field, const char *to_add)
{
	report_warning(r, (struct where){ 0 },
		"%s '%.*s' does not reach agent '%.*s': its %s does not name %s", what,
		STR(report_quote(r, value)), STR(step->agent.name.text), field, to_add);
	report_hint(r, "add %s to it", to_add);
}

static void check_given(struct step_agents *agents, const struct step *step, struct report *r)
{
	const char *command = given_command(agents, step->agent.name.text);
	uint32_t names = placeholders_in(str_of(command), IN_AGENT | IN_STEP);

	if (step->agent.model.text.len && !(names & 1u << PH_MODEL))
		not_passed(r, step, "model", step->agent.model.text, "command", "{model}");
}

void step_agent_check(struct step_agents *agents, const struct step *step, struct report *r)
{
	struct str role = json_str(json_object_get(step->agent.config.value, "role"));
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_REPORT found = REPORT_INIT;
	const struct config_entry *entry;

	if (given_command(agents, step->agent.name.text)) {
		check_given(agents, step, &found);
	} else if ((entry = registered(agents, step->agent.name.text, &ignored))) {
		struct agent_line line = agent_line(entry, true, IN_AGENT | IN_STEP);

		if (step->agent.model.text.len && !agent_line_names(&line, PH_MODEL))
			not_passed(&found, step, "model", step->agent.model.text, line.field,
				"{model}");
		if (role.len && !str_eq(role, S("none")) && !agent_line_has_role(&line))
			not_passed(&found, step, "role", role, line.field, "{role} or {role_file}");
	}
	tell_warnings(r, step, &found);
}

/* An agent that the run was given: a command and nothing else. */
static enum step_made make_given(struct step_agents *agents, const struct step *step,
	const char *command, struct str prompt, struct compiled *c, struct step_command *ret,
	struct arena *a, struct report *r)
{
	uint32_t used = placeholders_in(str_of(command), IN_AGENT | IN_STEP);
	struct placeholder_values v = { 0 };
	AUTO_REPORT why = REPORT_INIT;
	AUTO_REPORT warnings = REPORT_INIT;
	AUTO_BUF date = BUF_INIT;

	if (used & 1u << PH_BIN) {
		report_error(&why, (struct where){ 0 },
			"{bin} means nothing in a command that was given for this run");
		report_hint(&why, "write the program itself");
		return fail_with(ret, step, &why);
	}
	prompt_date(&date, (int64_t)time(NULL));
	v.at[PH_DATE] = buf_str(&date);
	v.at[PH_MODEL] = step->agent.model.text.p ? step->agent.model.text : S("");
	v.at[PH_PROMPT] = prompt;
	v.at[PH_AGENT] = step->agent.name.text;
	v.at[PH_MODE] = step->agent.mode.text.p ? step->agent.mode.text : S("");
	v.at[PH_PROVIDER] = step->agent.provider.text.p ? step->agent.provider.text : S("");
	v.at[PH_STEP] = step->id;
	if (agents->dry) {
		v.at[PH_PROMPT_FILE] = S("{prompt_file}");
	} else if (used & 1u << PH_PROMPT_FILE) {
		struct temporary t = TEMPORARY_NONE;
		int n = temporary_create("prompt", prompt, &t);

		if (n < 0) {
			report_errno(&why, -n, "cannot write the prompt to a file");
			return fail_with(ret, step, &why);
		}
		v.at[PH_PROMPT_FILE] = arena_str(a, str_of(t.path));
		buf_adds(&ret->remove, t.path);
		buf_addc(&ret->remove, '\0');
		vec_push(&agents->files, t);
	}
	if (!(used & (1u << PH_PROMPT | 1u << PH_PROMPT_FILE)))
		buf_add(&ret->in, prompt);
	struct arena home = ARENA_INIT;
	bool ok = prompt_compile(a,
		&(struct compile_input){ .command = str_of(command),
			.kinds = IN_AGENT | IN_STEP,
			.values = &v,
			.home = user_home(&home),
			.shell = "bash" },
		c, &why, &warnings);
	arena_done(&home);
	if (!ok)
		return fail_with(ret, step, &why);
	check_given(agents, step, &warnings);
	tell_warnings(r, step, &warnings);
	return STEP_MADE;
}

/* An agent of the registry, composed as `roux prompt` would, without what the user likes by
 * default. */
static enum step_made make_registered(struct step_agents *agents, const struct step *step,
	const struct config_entry *entry, struct str prompt, struct compiled *c,
	struct step_command *ret, struct report *r)
{
	const json_t *config = step->agent.config.value;
	const json_t *contexts = json_object_get(config, "contexts");
	struct str *terms;
	size_t count = 0, i;
	json_t *item;
	AUTO_REPORT why = REPORT_INIT;
	struct agents_launch *l = mem_new(struct agents_launch);

	vec_push(&agents->launches, l);
	terms = mem_alloc(sizeof(*terms) * (json_array_size(contexts) + 1));
	json_array_foreach(contexts, i, item)
	{
		if (json_is_string(item))
			terms[count++] = json_str(item);
	}
	struct prompts_ask ask = {
		.request = { .mode = MODE_PROMPT,
			.text = prompt,
			.agent = entry->name,
			.model = step->agent.model.text.p ? step->agent.model.text : S(""),
			.role = json_str(json_object_get(config, "role")),
			.contexts = terms,
			.context_count = count,
			.bare = true,
			.stands = agents->cwd },
		.cwd = agents->cwd,
		.use_local = true,
		.dry = agents->dry,
		.io = PROMPTS_CAPTURED,
		.kinds = IN_AGENT | IN_STEP,
		.step = step->id,
		.mode = step->agent.mode.text,
		.provider = step->agent.provider.text,
		.called = step->agent.name.text
	};
	bool ready = prompts_prepare(&ask, l, &why);
	free(terms);
	if (!ready)
		return fail_with(ret, step, &why);
	tell_warnings(r, step, &l->warnings);
	*c = l->compiled;
	if (l->gives_stdin)
		buf_add(&ret->in, buf_str(&l->resolved.prompt));
	const struct temporary *files[] = { &l->role_file, &l->prompt_file };
	for (size_t k = 0; k < ARRAY_SIZE(files); k++)
		if (files[k]->path) {
			buf_adds(&ret->remove, files[k]->path);
			buf_addc(&ret->remove, '\0');
		}
	return STEP_MADE;
}

/* A role and contexts may be what commands print. */
static bool wants_sections(const struct step *step)
{
	const json_t *config = step->agent.config.value;

	return json_object_get(config, "role") || json_object_get(config, "contexts");
}

bool step_agent_plan(struct step_agents *agents, const struct step *step, struct str prompt,
	struct step_command *ret, struct arena *a)
{
	const char *command = given_command(agents, step->agent.name.text);
	AUTO_REPORT why = REPORT_INIT;
	const struct config_entry *entry =
		command ? NULL : registered(agents, step->agent.name.text, &why);
	struct compiled c = { 0 };
	enum step_made made = STEP_CANNOT;

	agents->dry = true;
	if (command)
		made = make_given(agents, step, command, prompt, &c, ret, a, &why);
	else if (entry && !wants_sections(step))
		made = make_registered(agents, step, entry, prompt, &c, ret, &why);
	ret->argv = c.argv;
	ret->argc = c.argc;
	return made == STEP_MADE;
}

enum step_made step_agent_make(struct step_agents *agents, const struct node *n,
	const struct scope *s, const struct step_call *call, const struct step_host *host,
	struct step_command *ret, struct arena *a, struct report *r)
{
	const struct step *step = step_of(n);
	const char *command = given_command(agents, step->agent.name.text);
	const struct config_entry *entry = NULL;
	enum step_made made = STEP_MADE;
	AUTO_BUF prompt = BUF_INIT;
	AUTO_REPORT why = REPORT_INIT;
	struct compiled c = { 0 };

	let_go_of_ended(agents);
	if (!prompt_text(step, s, &prompt, r))
		return STEP_MISTAKE;
	if (!command)
		entry = registered(agents, step->agent.name.text, &why);
	if (why.errors)
		return fail_with(ret, step, &why);
	if (!command && !entry)
		return no_agent(agents, step, ret);
	made = command ? make_given(agents, step, command, buf_str(&prompt), &c, ret, a, r)
		       : make_registered(agents, step, entry, buf_str(&prompt), &c, ret, r);
	if (made != STEP_MADE)
		return made;
	ret->cwd = step_directory(n, s, host, ret, a, &made, r);
	if (!ret->cwd)
		return made;
	ret->argv = c.argv;
	ret->argc = c.argc;
	return make_env(step, call, &c, ret, a);
}
