/* What a launch looks like from outside. */
#include "app/agents/compose.h"
#include "base/environ.h"
#include "data/json-out.h"

static void or_null(struct json_out *o, const char *name, bool there, struct str value)
{
	if (there)
		json_out_str(o, name, value);
	else
		json_out_null(o, name);
}

static void write_env(struct json_out *o, const struct compiled *c)
{
	json_out_object(o, "env");
	for (size_t i = 0; i < c->envc; i++) {
		struct str entry = str_of(c->env[i]);
		size_t equals = str_find(entry, '=', 0);

		if (environ_sets(c->env + i + 1, c->env[i]))
			continue;
		json_out_name(o, str_sub(entry, 0, equals));
		json_out_str(o, NULL, str_from(entry, equals + 1));
	}
	json_out_object_end(o);
}

static void write_contexts(struct json_out *o, const struct resolved *r)
{
	json_out_array(o, "contexts");
	vec_each (c, &r->contexts)
		if (c->state == CONTEXT_USED)
			json_out_str(o, NULL, c->name);
	json_out_array_end(o);
}

void agents_launch_write(const struct agents_launch *l, struct json_out *o)
{
	const struct selection *s = &l->selection;
	const struct compiled *c = &l->compiled;

	json_out_object(o, NULL);
	json_out_str(o, "agent", s->agent->name);
	json_out_str_or_null(o, "model", s->model);
	or_null(o, "role", s->has_role, s->role.name);
	json_out_str(o, "role_text", buf_str(&l->resolved.role));
	write_contexts(o, &l->resolved);
	or_null(o, "task", s->has_task, s->task.name);
	json_out_str(o, "prompt", buf_str(&l->resolved.prompt));
	json_out_str(o, "cwd", str_of(l->cwd));
	json_out_str(o, "line", str_of(s->line.field));
	json_out_str(o, "form", c->form == FORM_DIRECT ? S("direct") : S("shell"));
	json_out_array(o, "argv");
	for (size_t i = 0; i < c->argc; i++)
		json_out_str(o, NULL, str_of(c->argv[i]));
	json_out_array_end(o);
	write_env(o, c);
	json_out_str_or_null(o, "stdin", l->gives_stdin ? S("prompt") : S(""));
	json_out_str(o, "command", c->display);
	json_out_array(o, "warnings");
	vec_each (i, &l->warnings.issues)
		json_out_str(o, NULL, i->message);
	json_out_array_end(o);
	json_out_object_end(o);
}

struct agents_choice agents_launch_choice(struct agents_launch *l)
{
	const struct selection *s = &l->selection;
	size_t count = 0;
	struct agents_context *contexts =
		arena_array(&l->arena, struct agents_context, l->resolved.contexts.len + 1);

	vec_each (c, &l->resolved.contexts)
		contexts[count++] = (struct agents_context){ c->name,
			c->state == CONTEXT_USED    ? AGENTS_CONTEXT_USED
			: c->state == CONTEXT_EMPTY ? AGENTS_CONTEXT_EMPTY
						    : AGENTS_CONTEXT_LEFT_OUT };
	return (struct agents_choice){ .agent = s->agent->name,
		.model = s->model,
		.has_role = s->has_role,
		.has_task = s->has_task,
		.role = s->role.name,
		.task = s->task.name,
		.contexts = contexts,
		.context_count = count,
		.role_text = buf_str(&l->resolved.role),
		.prompt = buf_str(&l->resolved.prompt),
		.cwd = str_of(l->cwd),
		.program = str_of(l->program),
		.command = l->compiled.display,
		.shell = l->compiled.form == FORM_SHELL,
		.notes = buf_str(&s->notes),
		.log_level = config_setting_text(&l->config, "log_level") };
}

struct report *agents_launch_warnings(struct agents_launch *l)
{
	return &l->warnings;
}

int agents_launch_signal(const struct agents_launch *l)
{
	return l->signal;
}
