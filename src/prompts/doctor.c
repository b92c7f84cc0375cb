#include "prompts/doctor.h"

#include "base/file.h"
#include "base/near.h"
#include "base/path.h"
#include "base/program.h"
#include "prompts/compile.h"
#include "prompts/placeholders.h"
#include "prompts/section.h"

static bool odd_name(struct str name)
{
	for (size_t i = 0; i < name.len; i++) {
		char c = name.p[i];
		bool inner = i > 0 && i + 1 < name.len && name.p[i - 1] != '-';

		if (!((c >= 'a' && c <= 'z') || ascii_digit(c) || (c == '-' && inner)))
			return true;
	}
	return !name.len;
}

static void check_name(const struct config_entry *e, struct report *r)
{
	if (!odd_name(e->name) || config_any_agent(e))
		return;
	report_warning(r, place_key_where(e->place), "the name of %s '%.*s' is unusual",
		config_kind_name(e->kind), STR(report_quote(r, e->name)));
	report_hint(r, "use lower case letters, digits and dashes");
}

static void unknown_field(
	enum config_kind kind, struct str name, const struct place *place, struct report *r)
{
	struct near near = near_to(name);

	if (kind == KIND_AGENT && str_eq(name, S("env"))) {
		report_warning(r, place_key_where(place), "[agents.NAME.env] is not read any more");
		report_hint(r, "write the variables into the command: NAME='value' {bin} …");
		return;
	}
	for (const struct config_field *f = config_fields; f->name; f++)
		if (f->kinds & 1u << kind)
			near_offer(&near, str_of(f->name));
	report_warning(
		r, place_key_where(place), "unknown field '%.*s'", STR(report_quote(r, name)));
	struct str best = near_best(&near);
	if (best.len)
		report_hint(r, "did you mean '%.*s'?", STR(best));
	else
		report_hint(r, "it is ignored; take it out");
}

static void check_fields(struct config *c, const struct config_entry *e, struct report *r)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)e->value, key, value)
	{
		if (!config_field(e->kind, str_of(key)))
			unknown_field(e->kind, str_of(key), config_place(c, e, key), r);
	}
}

/* -- placeholders --------------------------------------------------------------------------------
 */

static const char *text_kind_name(enum text_kind kind)
{
	return kind == IN_AGENT  ? "an agent's command"
	       : kind == IN_ROLE ? "a role"
	       : kind == IN_TASK ? "a task"
				 : "a context";
}

static void strange_name(struct str name, enum text_kind kind, struct where where, struct report *r)
{
	struct near near = near_to(name);
	enum prompt_placeholder p;

	if (str_eq(name, S("system_prompt"))) {
		report_warning(r, where, "{system_prompt} is the old name of {role}");
		report_hint(r, "write {role}");
		return;
	}
	for (unsigned i = 0; i < PH_COUNT; i++)
		if (placeholder_places((enum prompt_placeholder)i) & kind)
			near_offer(&near, placeholder_name((enum prompt_placeholder)i));
	struct str best = near_best(&near);
	bool known = placeholder_find(name, &p);
	if (known)
		report_warning(r, where, "{%.*s} is not known in %s: it stays as it is", STR(name),
			text_kind_name(kind));
	else
		report_warning(r, where, "unknown placeholder {%.*s}: it stays as it is",
			STR(report_quote(r, name)));
	if (best.len)
		report_hint(r, "did you mean {%.*s}?", STR(best));
	else
		report_action(r, ACTION_PLACEHOLDERS, S(""));
}

/* Past what a report keeps it only counts: no time for places. */
static struct where where_in(
	const struct place *place, size_t offset, size_t length, const struct report *r)
{
	return report_full(r) ? (struct where){ 0 } : place_where_in(place, offset, length);
}

static bool name_char(char c)
{
	return ascii_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_';
}

/* {{.name}}, as the tool that came later writes it. */
static void later_syntax(const struct place *place, struct str text, struct report *r)
{
	for (size_t at = str_find(text, '{', 0); at + 3 < text.len;
		at = str_find(text, '{', at + 1)) {
		if (text.p[at + 1] != '{' || text.p[at + 2] != '.')
			continue;
		size_t end = at + 3;
		while (end < text.len && name_char(text.p[end]))
			end++;
		struct str name = str_sub(text, at + 3, end - at - 3);
		bool closed = str_starts(str_from(text, end), S("}}"));

		if (!name.len || !closed)
			continue;
		report_warning(r, where_in(place, at, end + 2 - at, r), "{{.%.*s}} is not read",
			STR(report_quote(r, name)));
		report_hint(r, "write {%.*s}", STR(report_quote(r, name)));
	}
}

static void check_text(struct config *c, const struct config_entry *e, const char *field,
	enum text_kind kind, struct report *r)
{
	const struct place *place = config_place(c, e, field);
	struct str text = config_text(e, field);
	struct braces b;
	enum prompt_placeholder p;

	for (size_t at = 0; braces_next(text, at, &b); at = b.offset + b.length) {
		bool shells = kind == IN_AGENT && b.offset && text.p[b.offset - 1] == '$';
		/* Those of a recipe's step may stand in any agent. */
		unsigned known = kind == IN_AGENT ? IN_AGENT | IN_STEP : kind;

		if (shells || (placeholder_find(b.name, &p) && placeholder_places(p) & known))
			continue;
		strange_name(b.name, kind, where_in(place, b.offset, b.length, r), r);
	}
	later_syntax(place, text, r);
}

/* -- agents --------------------------------------------------------------------------------------
 */

static void check_program(struct config *c, const struct config_entry *e, struct report *r)
{
	struct str bin = path_tilde(&c->arena, config_text(e, "bin"), c->dirs.home);

	if (program_find(&c->arena, bin, c->dirs.cwd, program_search(), NULL) ||
		compile_shell_has(bin))
		return;
	report_error(r, place_where(config_place(c, e, "bin")),
		"the program '%.*s' of agent '%.*s' is not found", STR(bin), STR(e->name));
	report_hint(r, "install it, or take the agent out");
}

/* A prompt may begin with a dash. */
static void check_bare_prompt(struct config *c, const struct config_entry *e,
	const struct agent_line *line, struct report *r)
{
	size_t offset, length;

	if (!agent_line_bare_prompt(line->text, &offset, &length))
		return;
	report_warning(r, where_in(config_place(c, e, line->field), offset, length, r),
		"a prompt that begins with - is an option to '%.*s' here",
		STR(config_text(e, "bin")));
	report_hint(r, "end the options before it: -- '{prompt}', or write --OPTION='{prompt}'");
}

static void check_line(struct config *c, const struct config_entry *e,
	const struct agent_line *line, struct report *r)
{
	bool reads =
		line->batch || str_eq(config_text(e, "stdin"), S("prompt")) || config_any_agent(e);

	if (!agent_line_check(c, e, line, r))
		return;
	check_text(c, e, line->field, IN_AGENT, r);
	check_bare_prompt(c, e, line, r);
	if (agent_line_has_prompt(line) || reads)
		return;
	report_warning(r, place_where(config_place(c, e, line->field)),
		"the %s of agent '%.*s' does not name {prompt}", line->field, STR(e->name));
	report_hint(r, "add -- '{prompt}', or stdin = \"prompt\"");
}

static void check_agent(struct config *c, const struct config_entry *e, struct report *r)
{
	struct str model = config_text(e, "default_model");
	const json_t *models = config_value(e, "models");

	if (!select_check_agent(c, e, r))
		return;
	check_program(c, e, r);
	for (unsigned batch = 0; batch < 2; batch++) {
		struct agent_line line = agent_line(e, batch, IN_AGENT);

		if (line.batch == batch)
			check_line(c, e, &line, r);
	}
	/* `default` leaves it to the program. */
	if (model.len && !str_eq(model, S("default")) && json_object_size(models) &&
		!json_object_getn(models, model.p, model.len)) {
		report_warning(r, place_where(config_place(c, e, "default_model")),
			"default_model '%.*s' is not among the models", STR(model));
		report_hint(r, "it is handed on as it is; add it to [agents.%.*s.models]",
			STR(e->name));
	}
}

/* -- sections ------------------------------------------------------------------------------------
 */

/* A source that the template, a prompt or a file, does not name. */
static void unused_source(
	struct config *c, const struct section *s, const char *field, struct report *r)
{
	const char *template = s->prompt.len ? "prompt" : "file";

	report_warning(r, section_where(c, s, field),
		"'%s' of %s '%.*s' is not used: its %s does not name {%s}", field,
		section_kind_name(s), STR(s->name), template, field);
	report_hint(r, "name it in the %s, or take it out", template);
}

/* The first placeholder of the prompt that needs a source which is not there. */
static void missing_source(struct config *c, const struct section *s, const char *field,
	uint32_t names, struct report *r)
{
	const struct place *place = config_place(c, s->entry, "prompt");
	enum prompt_placeholder p;
	struct braces b;

	for (size_t at = 0; braces_next(s->prompt, at, &b); at = b.offset + b.length) {
		if (!placeholder_find(b.name, &p) || !(names & 1u << p))
			continue;
		report_error(r, place_where_in(place, b.offset, b.length),
			"%s '%.*s' names {%.*s} but has no '%s'", section_kind_name(s),
			STR(s->name), STR(b.name), field);
		report_hint(r, "add %s = \"…\", or take the placeholder out", field);
		return;
	}
}

static void check_sources(struct config *c, const struct section *s, struct report *r)
{
	static const struct {
		const char *field;
		unsigned names;
	} sources[] = { { "file", 1u << PH_FILE | 1u << PH_FILE_CONTENTS },
		{ "command", 1u << PH_COMMAND | 1u << PH_COMMAND_OUTPUT } };
	uint32_t names = placeholders_in(s->prompt, s->kind);

	for (size_t i = 0; s->prompt.len && i < ARRAY_SIZE(sources); i++) {
		bool there = config_text(s->entry, sources[i].field).len > 0;
		bool named = names & sources[i].names;

		if (there && !named)
			unused_source(c, s, sources[i].field, r);
		else if (named && !there)
			missing_source(c, s, sources[i].field, sources[i].names, r);
	}
	if (s->prompt.len || !s->file.len || !s->command.len)
		return;
	/* The file is the template; one that cannot be read is reported elsewhere. */
	AUTO_BUF text = BUF_INIT;
	const char *path = arena_cstr(&c->arena, section_path(c, s));
	if (file_read_regular(path, SECTION_FILE_MAX, &text) == 0 &&
		!(placeholders_in(buf_str(&text), s->kind) & sources[1].names))
		unused_source(c, s, "command", r);
}

static void check_file(struct config *c, const struct section *s, struct report *r)
{
	if (!s->file.len || !(s->kind == IN_ROLE || config_bool(s->entry, "required")))
		return;
	struct str path = section_path(c, s);
	if (!section_file_error(arena_cstr(&c->arena, path)))
		return;
	report_warning(r, section_where(c, s, "file"),
		"the file '%.*s' of %s '%.*s' cannot be read", STR(path), section_kind_name(s),
		STR(s->name));
	report_hint(r, "write it, or correct the path");
}

static void check_section(struct config *c, const struct config_entry *e, struct report *r)
{
	struct section s = section_of(e);

	if (!config_check(c, e, r))
		return;
	if (!s.file.len && !s.command.len && !s.prompt.len) {
		report_error(r, place_key_where(e->place),
			"%s '%.*s' has neither file nor command nor prompt",
			config_kind_name(e->kind), STR(e->name));
		report_hint(r, "add one of them: prompt = \"…\"");
	}
	check_text(c, e, "prompt", s.kind, r);
	check_sources(c, &s, r);
	check_file(c, &s, r);
}

/* -- names of others -----------------------------------------------------------------------------
 */

static void check_reference(struct config *c, enum config_kind kind, struct str name,
	const struct place *place, struct report *r)
{
	struct near near = near_to(name);

	const struct config_entry *found = config_find(c, kind, name);

	if (!name.len || (found && !config_any_agent(found)))
		return;
	for (size_t i = 0; i < c->entries[kind].len && !report_full(r); i++)
		if (!config_any_agent(c->entries[kind].at[i]))
			near_offer(&near, c->entries[kind].at[i]->name);
	report_error(r, place_where(place), "there is no %s '%.*s'", config_kind_name(kind),
		STR(report_quote(r, name)));
	struct str best = near_best(&near);
	if (best.len)
		report_hint(r, "did you mean '%.*s'?", STR(best));
	else
		report_hint(r, "define it, or name another");
}

/* Who has an alias: the first and the last of a scope. */
struct alias {
	const struct config_entry *first, *last;
};

struct aliases {
	struct map scopes[SCOPE_LOCAL + 1];
};

static void note_alias(struct config *c, const struct config_entry *task, struct aliases *all)
{
	struct str name = config_text(task, "alias");

	if (!name.len)
		return;
	void **slot = map_put(&all->scopes[task->scope], &c->arena, name);
	struct alias *alias = *slot;
	if (!alias) {
		alias = *slot = arena_new(&c->arena, struct alias);
		alias->first = task;
	}
	alias->last = task;
}

static void note_aliases(struct config *c, struct aliases *all)
{
	vec_each (e, &c->entries[KIND_TASK]) {
		note_alias(c, *e, all);
		if ((*e)->hides)
			note_alias(c, (*e)->hides, all);
	}
}

static void check_alias(struct config *c, const struct config_entry *task,
	const struct aliases *all, struct report *r)
{
	struct str name = config_text(task, "alias");
	const struct config_entry *named = config_find(c, KIND_TASK, name);
	const struct alias *alias = map_get(&all->scopes[task->scope], name);

	if (named && named->scope != task->scope)
		named = named->hides;
	if (!name.len || !alias)
		return;
	const struct config_entry *other = alias->first == task ? alias->last : alias->first;
	bool is_name = named && named != task && named->scope == task->scope;
	if (!is_name && other == task)
		return;
	report_error(r, place_where(config_place(c, task, "alias")),
		"the alias '%.*s' is also %s of task '%.*s'", STR(report_quote(r, name)),
		is_name ? "the name" : "that",
		STR(report_quote(r, is_name ? named->name : other->name)));
	report_hint(r, "choose another");
}

static void check_settings(struct config *c, struct report *r)
{
	static const char *const levels[] = { "quiet", "normal", "verbose", "debug" };
	const struct config_entry *level = config_setting(c, "log_level");
	bool known = !level;

	(void)config_check_settings(c, r);
	vec_each (e, &c->entries[KIND_SETTINGS])
		if (!config_field(KIND_SETTINGS, (*e)->name))
			unknown_field(KIND_SETTINGS, (*e)->name, (*e)->place, r);
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
		known |= str_eq(config_setting_text(c, "log_level"), str_of(levels[i]));
	if (!known && json_is_string(level->value)) {
		report_error(r, place_where(level->place), "log_level '%.*s' is not known",
			STR(report_quote(r, json_str(level->value))));
		report_hint(r, "one of: quiet, normal, verbose, debug");
	}
	static const struct {
		const char *name;
		enum config_kind kind;
	} references[] = { { "default_agent", KIND_AGENT }, { "default_role", KIND_ROLE } };
	for (size_t i = 0; i < ARRAY_SIZE(references); i++) {
		const struct config_entry *e = config_setting(c, references[i].name);

		if (e)
			check_reference(c, references[i].kind,
				config_setting_text(c, references[i].name), e->place, r);
	}
}

static void unknown_table(const struct place *place, const json_t *value, struct report *r)
{
	struct near near = near_to(place->key);

	for (unsigned k = 0; k <= KIND_SETTINGS; k++)
		near_offer(&near, str_of(config_table_name((enum config_kind)k)));
	report_warning(r, place_key_where(place), "unknown %s '%.*s'",
		json_is_object(value) ? "table" : "key", STR(report_quote(r, place->key)));
	struct str best = near_best(&near);
	if (best.len)
		report_hint(r, "did you mean '%.*s'?", STR(best));
	else
		report_hint(r, "there are: agents, roles, contexts, tasks, settings");
}

static void check_tables(struct config *c, struct report *r)
{
	vec_each (f, &c->files) {
		const char *key;
		json_t *value;

		json_object_foreach((*f)->doc.root, key, value)
		{
			bool known = false;

			for (unsigned k = 0; k <= KIND_SETTINGS; k++)
				known |= str_eq(str_of(key),
					str_of(config_table_name((enum config_kind)k)));
			if (known)
				continue;
			unknown_table(place_member(&c->arena, &(*f)->root, str_of(key)), value, r);
		}
	}
}

static void check_entry(struct config *c, const struct config_entry *e,
	const struct aliases *aliases, struct report *r)
{
	check_name(e, r);
	check_fields(c, e, r);
	if (e->kind == KIND_AGENT)
		check_agent(c, e, r);
	else
		check_section(c, e, r);
	if (e->kind != KIND_TASK)
		return;
	check_alias(c, e, aliases, r);
	check_reference(c, KIND_AGENT, config_text(e, "agent"), config_place(c, e, "agent"), r);
	check_reference(c, KIND_ROLE, config_text(e, "role"), config_place(c, e, "role"), r);
}

void prompts_doctor(struct config *c, struct report *r)
{
	struct aliases aliases = { 0 };

	check_tables(c, r);
	check_settings(c, r);
	note_aliases(c, &aliases);
	for (unsigned kind = 0; kind < KIND_COUNT; kind++) {
		vec_each (e, &c->entries[kind]) {
			check_entry(c, *e, &aliases, r);
			/* What a local one replaces is checked as well: other directories use it.
			 */
			if ((*e)->hides)
				check_entry(c, (*e)->hides, &aliases, r);
		}
	}
}
