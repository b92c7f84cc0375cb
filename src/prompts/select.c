#include "prompts/select.h"

#include "base/path.h"

struct chooser {
	struct config *config;
	const struct prompt_request *request;
	struct selection *ret;
	struct report *r, *warnings;
	bool *taken; /* contexts, by their number */
};

static const enum text_kind kinds[] = {
	[KIND_ROLE] = IN_ROLE,
	[KIND_CONTEXT] = IN_CONTEXT,
	[KIND_TASK] = IN_TASK,
};

struct section section_of(const struct config_entry *e)
{
	return (struct section){
		.kind = kinds[e->kind],
		.entry = e,
		.name = e->name,
		.file = config_text(e, "file"),
		.command = config_text(e, "command"),
		.prompt = config_text(e, "prompt"),
		.shell = config_text(e, "shell"),
		.timeout = config_seconds(e, "command_timeout"),
	};
}

static struct section section_of_path(
	const struct chooser *x, enum text_kind kind, struct str typed)
{
	struct arena *a = &x->config->arena;
	struct str path = path_tilde(a, typed, x->config->dirs.home);

	return (struct section){ .kind = kind,
		.name = arena_str(a, typed),
		.file = path_from(a, x->request->stands, path) };
}

/* -- agent ---------------------------------------------------------------------------------------
 */

bool select_check_agent(struct config *c, const struct config_entry *agent, struct report *r)
{
	static const char *const needed[] = { "bin", "command" };

	if (!config_check(c, agent, r))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		if (config_text(agent, needed[i]).len)
			continue;
		report_error(r, place_key_where(agent->place), "agent '%.*s' has no '%s'",
			STR(agent->name), needed[i]);
		return report_hint(r, i == 0 ? "add the program: bin = \"…\""
					     : "add how it is started: command = \"{bin} "
					       "'{prompt}'\"");
	}
	struct str input = config_text(agent, "stdin");
	if (input.len && !str_eq(input, S("prompt"))) {
		report_error(r, place_where(config_place(c, agent, "stdin")),
			"'stdin' is '%.*s'; expected \"prompt\"", STR(report_quote(r, input)));
		return report_hint(r, "write stdin = \"prompt\", or leave it out");
	}
	return true;
}

/* A name written in a file must be exact. */
static const struct config_entry *written(
	const struct chooser *x, enum config_kind kind, struct str name, const struct place *place)
{
	const struct config_entry *e = config_find(x->config, kind, name);

	if (e && !config_any_agent(e))
		return e;
	AUTO_BUF names = BUF_INIT;
	names_list(x->config, kind, &names);
	report_error(x->r, place_where(place), "there is no %s '%.*s'", config_kind_name(kind),
		STR(report_quote(x->r, name)));
	report_hint(x->r, names.len ? "there are: %s" : "none is configured", buf_cstr(&names));
	return NULL;
}

static const struct config_entry *first(const struct config *c, enum config_kind kind)
{
	vec_each (e, &c->entries[kind])
		if (!config_any_agent(*e))
			return *e;
	return NULL;
}

/* Typed, then of the task, then the default, then the first. *failed: an issue was added. */
static const struct config_entry *by_precedence(const struct chooser *x, enum config_kind kind,
	struct str typed, const char *in_task, const char *in_settings, bool *failed)
{
	const struct config_entry *task = x->ret->has_task ? x->ret->task.entry : NULL;
	const struct config_entry *setting = config_setting(x->config, in_settings);
	const struct config_entry *found = NULL;
	struct str preset = config_setting_text(x->config, in_settings);

	if (typed.len && x->request->bare && kind == KIND_AGENT)
		found = names_step_agent(x->config, typed, x->r);
	else if (typed.len)
		found = names_find(x->config, kind, typed, &x->ret->notes, x->r);
	else if (task && config_text(task, in_task).len)
		found = written(x, kind, config_text(task, in_task),
			config_place(x->config, task, in_task));
	else if (x->request->bare && kind != KIND_AGENT)
		return NULL;
	else if (preset.len)
		found = written(x, kind, preset, setting->place);
	else
		return first(x->config, kind);
	*failed = !found;
	return found;
}

/* Where the author wrote [agent.NAME], that is what to tell. */
static bool no_agent(const struct chooser *x)
{
	struct where where = { 0 };

	vec_each (f, &x->config->files)
		if (!where.source && json_object_get((*f)->doc.root, "agent"))
			where = place_key_where(
				place_member(&x->config->arena, &(*f)->root, S("agent")));
	report_error(x->r, where, "no agent is configured");
	if (where.source)
		return report_hint(x->r, "write [agents.NAME], not [agent.NAME]");
	report_hint(x->r, "add [agents.NAME] to agents.toml");
	return report_action(x->r, ACTION_INIT, S(""));
}

static bool choose_agent(struct chooser *x)
{
	const struct prompt_request *q = x->request;
	bool failed = false;

	x->ret->agent = by_precedence(x, KIND_AGENT, q->agent, "agent", "default_agent", &failed);
	if (failed)
		return false;
	if (!x->ret->agent)
		return no_agent(x);
	const struct config_entry *task = x->ret->has_task ? x->ret->task.entry : NULL;
	struct selection *s = x->ret;
	s->line = agent_line(s->agent, q->batch, IN_AGENT | (q->bare ? IN_STEP : 0));
	s->asked_model = q->model.len ? q->model : task ? config_text(task, "model") : S("");
	return select_check_agent(x->config, s->agent, x->r) &&
	       agent_line_check(x->config, s->agent, &s->line, x->r) &&
	       names_model(
		       x->config, s->agent, &s->line, s->asked_model, &s->model, &s->notes, x->r);
}

/* -- role and task -------------------------------------------------------------------------------
 */

static bool choose_role(struct chooser *x)
{
	const struct prompt_request *q = x->request;
	bool none = str_eq(q->role, S("none")) && !config_find(x->config, KIND_ROLE, q->role);
	bool failed = false;

	if (q->no_role || none)
		return true;
	if (path_typed(q->role)) {
		x->ret->has_role = true;
		x->ret->role = section_of_path(x, IN_ROLE, q->role);
		return true;
	}
	const struct config_entry *e =
		by_precedence(x, KIND_ROLE, q->role, "role", "default_role", &failed);
	if (failed)
		return false;
	if (!e)
		return true;
	x->ret->has_role = true;
	x->ret->role = section_of(e);
	return config_check(x->config, e, x->r);
}

static bool choose_task(struct chooser *x)
{
	const struct prompt_request *q = x->request;

	if (q->mode != MODE_TASK)
		return true;
	x->ret->has_task = true;
	if (path_typed(q->task)) {
		x->ret->task = section_of_path(x, IN_TASK, q->task);
		return true;
	}
	const struct config_entry *e =
		names_find(x->config, KIND_TASK, q->task, &x->ret->notes, x->r);
	x->ret->has_task = e != NULL;
	if (!e)
		return false;
	x->ret->task = section_of(e);
	return config_check(x->config, e, x->r);
}

/* -- contexts ------------------------------------------------------------------------------------
 */

static bool path_taken(const struct chooser *x, struct str path)
{
	vec_each (s, &x->ret->contexts)
		if (!s->entry && str_eq(s->file, path))
			return true;
	return false;
}

static bool add_context(struct chooser *x, const struct config_entry *e)
{
	if (x->taken[e->at])
		return true;
	x->taken[e->at] = true;
	vec_push(&x->ret->contexts, section_of(e));
	return config_check(x->config, e, x->r);
}

static bool has_tag(const struct config_entry *e, struct str term)
{
	const json_t *tags = config_value(e, "tags");

	for (size_t i = 0; i < json_array_size(tags); i++)
		if (str_eq(json_str(json_array_get(tags, i)), term))
			return true;
	return false;
}

static bool is_optional(const struct config_entry *e, struct str term)
{
	return str_eq(term, S("default")) && !config_bool(e, "required");
}

static bool is_named(const struct config_entry *e, struct str term)
{
	return str_eq(e->name, term);
}

static bool starts_with(const struct config_entry *e, struct str term)
{
	return str_starts(e->name, term);
}

static bool has_part(const struct config_entry *e, struct str term)
{
	return str_contains(e->name, term);
}

/* All that a term means, in the first way in which it means any. */
static bool add_term(struct chooser *x, struct str term)
{
	static const struct {
		bool (*match)(const struct config_entry *e, struct str term);
		bool tell; /* the term is a shortened name */
	} ways[] = { { is_optional, false }, { is_named, false }, { has_tag, false },
		{ starts_with, true }, { has_part, true } };
	bool ok = true, found = false;

	if (path_typed(term)) {
		struct section s = section_of_path(x, IN_CONTEXT, term);

		if (!path_taken(x, s.file))
			vec_push(&x->ret->contexts, s);
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(ways) && !found; i++) {
		vec_each (e, &x->config->entries[KIND_CONTEXT]) {
			if (!ways[i].match(*e, term))
				continue;
			found = true;
			if (ways[i].tell)
				buf_printf(&x->ret->notes, "context '%.*s' is taken for '%.*s'\n",
					STR(term), STR((*e)->name));
			ok &= add_context(x, *e);
		}
		if (i == 0 && str_eq(term, S("default")))
			return ok; /* even when there are no optional ones */
	}
	if (!found)
		report_warning(x->warnings, (struct where){ 0 }, "there is no context '%.*s'",
			STR(report_quote(x->warnings, term)));
	return ok;
}

static bool add_list(struct chooser *x, struct str list)
{
	bool ok = true;

	for (size_t at = 0; at <= list.len;) {
		size_t end = str_find(list, ',', at);
		struct str term = str_trim(str_sub(list, at, end - at));

		if (term.len)
			ok &= add_term(x, term);
		at = end + 1;
	}
	return ok;
}

static bool choose_contexts(struct chooser *x)
{
	const struct prompt_request *q = x->request;
	bool all = q->mode == MODE_START && !q->context_count;
	bool ok = true;

	x->taken = arena_array(&x->config->arena, bool, x->config->entries[KIND_CONTEXT].len + 1);
	/* Whether one is required decides about it, chosen or not. */
	vec_each (e, &x->config->entries[KIND_CONTEXT]) {
		ok &= config_check_field(x->config, *e, "required", x->r);
		if (q->context_count)
			ok &= config_check_field(x->config, *e, "tags", x->r);
	}
	vec_each (e, &x->config->entries[KIND_CONTEXT])
		if (!q->bare && (all || config_bool(*e, "required")))
			ok &= add_context(x, *e);
	for (size_t i = 0; i < q->context_count; i++)
		ok &= add_list(x, q->contexts[i]);
	return ok;
}

bool select_all(struct config *c, const struct prompt_request *q, struct selection *ret,
	struct report *r, struct report *warnings)
{
	struct chooser x = { c, q, ret, r, warnings, NULL };

	*ret = (struct selection){ 0 };
	/* Everything is looked at, so that all mistakes are told in one go. */
	bool ok = config_check_settings(c, r);
	ok &= choose_task(&x);
	ok &= choose_agent(&x);
	ok &= choose_role(&x);
	ok &= choose_contexts(&x);
	return ok;
}

void selection_done(struct selection *s)
{
	vec_done(&s->contexts);
	buf_done(&s->notes);
}
