#include "app/agents-init.h"

#include <errno.h>
#include <string.h>

#include "app/agents/compose.h"
#include "base/atomic-file.h"
#include "base/file.h"
#include "base/path.h"
#include "base/program.h"
#include "base/user.h"
#include "base/utf8.h"
#include "prompts/config.h"
#include "prompts/placeholders.h"

/* Models change faster than this program: where an agent has a default of its own it is left to it.
 */
static const char *const claude_models[] = { "best", "opus", "mid", "sonnet", "fast", "haiku",
	NULL };
static const char *const ollama_models[] = { "small", "llama3.2", "code", "qwen2.5-coder", NULL };

/* A prompt never stands where a program looks for options: behind --, joined to its option, or on
 * standard input. tests/agents launches the first five in both forms. */
const struct known_agent known_agents[] = {
	{ .name = "claude",
		.bin = "claude",
		.description = "Claude Code",
		.command = "{bin} --model {model} --append-system-prompt-file '{role_file}' -- "
			   "'{prompt}'",
		.batch = "{bin} -p --model {model} --append-system-prompt-file '{role_file}'",
		.default_model = "default",
		.models = claude_models },
	{ .name = "codex",
		.bin = "codex",
		.description = "Codex",
		.command = "{bin} -c \"developer_instructions='''{role}'''\" -- '{prompt}'",
		.batch = "{bin} exec --skip-git-repo-check -c "
			 "\"developer_instructions='''{role}'''\" -" },
	{ .name = "gemini",
		.bin = "gemini",
		.description = "Gemini",
		.command = "GEMINI_SYSTEM_MD='{role_file}' {bin} -m {model} "
			   "--prompt-interactive='{prompt}'",
		.batch = "GEMINI_SYSTEM_MD='{role_file}' {bin} --skip-trust -m {model}",
		.default_model = "auto" },
	{ .name = "opencode",
		.bin = "opencode",
		.description = "OpenCode",
		.command = "OPENCODE_CONFIG_CONTENT='{\"instructions\":[\"{role_file}\"]}' {bin} "
			   "--prompt='{prompt}'",
		.batch = "OPENCODE_CONFIG_CONTENT='{\"instructions\":[\"{role_file}\"]}' {bin} "
			 "run" },
	{ .name = "pi",
		.bin = "pi",
		.description = "pi",
		.command = "{bin} --append-system-prompt '{role_file}' -- '{prompt}'",
		.batch = "{bin} -p --append-system-prompt '{role_file}'" },
	{ .name = "aider",
		.bin = "aider",
		.description = "Aider",
		.command = "{bin} --message='{prompt}'",
		.batch = "{bin} --yes-always --no-pretty --message-file '{prompt_file}'",
		.untried = true },
	{ .name = "llm",
		.bin = "llm",
		.description = "llm",
		.command = "{bin} --system='{role}' -- '{prompt}'",
		.batch = "{bin} --system='{role}'",
		.untried = true },
	{ .name = "aichat",
		.bin = "aichat",
		.description = "aichat",
		.command = "{bin} --prompt='{role}' -- '{prompt}'",
		.batch = "{bin} --no-stream --prompt='{role}'",
		.untried = true },
	{ .name = "mods",
		.bin = "mods",
		.description = "mods",
		.command = "{bin} -- '{prompt}'",
		.batch = "{bin} --quiet --raw",
		.untried = true },
	{ .name = "ollama",
		.bin = "ollama",
		.description = "Ollama",
		.command = "{bin} run {model} -- '{prompt}'",
		.batch = "{bin} run {model}",
		.default_model = "small",
		.models = ollama_models,
		.untried = true },
	{ 0 },
};

void init_find_agents(struct found_agents *ret)
{
	struct arena a = ARENA_INIT;

	for (const struct known_agent *k = known_agents; k->name; k++)
		if (program_find(&a, str_of(k->bin), S("/"), program_search(), NULL))
			vec_push(&ret->list, k);
	arena_done(&a);
}

/* -- TOML ----------------------------------------------------------------------------------------
 */

/* A basic string: any text, escaped. */
static void toml_text(struct buf *b, struct str s)
{
	buf_addc(b, '"');
	for (size_t i = 0; i < s.len; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (c == '"' || c == '\\')
			buf_printf(b, "\\%c", c);
		else if (c == '\n')
			buf_adds(b, "\\n");
		else if (c < ' ' || c == 0x7f)
			buf_printf(b, "\\u%04X", c);
		else
			buf_addc(b, s.p[i]);
	}
	buf_addc(b, '"');
}

static void toml_key(struct buf *b, struct str s)
{
	for (size_t i = 0; i < s.len; i++) {
		char c = s.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || ascii_digit(c) ||
			    c == '-' || c == '_')) {
			toml_text(b, s);
			return;
		}
	}
	if (s.len)
		buf_add(b, s);
	else
		buf_adds(b, "\"\"");
}

static void toml_field(struct buf *b, const char *name, const char *value)
{
	if (!value)
		return;
	buf_printf(b, "%s = ", name);
	toml_text(b, str_of(value));
	buf_addc(b, '\n');
}

/* The table of an agent. */
static void init_agent_text(const struct known_agent *k, struct buf *b)
{
	if (k->untried)
		buf_adds(b, "# These two lines have not been tested.\n");
	buf_adds(b, "[agents.");
	toml_key(b, str_of(k->name));
	buf_adds(b, "]\n");
	toml_field(b, "description", k->description);
	toml_field(b, "bin", k->bin);
	toml_field(b, "command", k->command);
	toml_field(b, "batch", k->batch);
	toml_field(b, "default_model", k->default_model);
	if (!k->models)
		return;
	buf_adds(b, "\n[agents.");
	toml_key(b, str_of(k->name));
	buf_adds(b, ".models]\n");
	for (const char *const *m = k->models; *m; m += 2) {
		toml_key(b, str_of(m[0]));
		buf_adds(b, " = ");
		toml_text(b, str_of(m[1]));
		buf_addc(b, '\n');
	}
}

/* -- what it would write in place of what is there -----------------------------------------------
 */

static const struct known_agent *known_program(struct str bin)
{
	for (const struct known_agent *k = known_agents; k->name; k++)
		if (str_eq(path_base(bin), str_of(k->bin)))
			return k;
	return NULL;
}

/* The line to paste is the hint. */
static void note_field(struct config *c, const struct config_entry *e, const char *field,
	const char *now, struct report *r)
{
	AUTO_BUF line = BUF_INIT;
	bool there = config_text(e, field).len;

	toml_field(&line, field, now);
	if (there)
		report_note(r, place_where(config_place(c, e, field)),
			"agent '%.*s': a first configuration has another '%s' now", STR(e->name),
			field);
	else
		report_note(r, place_key_where(e->place), "agent '%.*s' has no '%s'%s",
			STR(e->name), field,
			strcmp(field, "batch") == 0 ? ": without a terminal its command is used"
						    : ", which those lines need");
	if (now)
		report_hint(r, "%.*s", (int)line.len - 1, line.p);
	else
		report_hint(r, "add one if its command needs a terminal");
}

static void note_agent(struct config *c, const struct config_entry *e, struct report *r)
{
	const struct known_agent *k = known_program(config_text(e, "bin"));
	struct str command = config_text(e, "command"), batch = config_text(e, "batch");

	if (!k) {
		if (!batch.len)
			note_field(c, e, "batch", NULL, r);
		return;
	}
	bool same_command = str_eq(command, str_of(k->command));
	bool same_batch = str_eq(batch, str_of(k->batch));
	if (!same_command)
		note_field(c, e, "command", k->command, r);
	if (!same_batch)
		note_field(c, e, "batch", k->batch, r);
	if (k->default_model && !(same_command && same_batch) &&
		!config_text(e, "default_model").len && !config_value(e, "models"))
		note_field(c, e, "default_model", k->default_model, r);
}

void init_note_lines(struct config *c, struct report *r)
{
	vec_each (e, &c->entries[KIND_AGENT])
		if (!config_any_agent(*e) && json_is_object((*e)->value))
			note_agent(c, *e, r);
}

/* -- the files -----------------------------------------------------------------------------------
 */

static void settings_text(const struct init_plan *p, struct buf *b)
{
	buf_adds(b, "[settings]\n");
	toml_field(b, "default_agent", p->default_agent);
	if (p->examples)
		toml_field(b, "default_role", "assistant");
}

static void agents_text(const struct init_plan *p, struct buf *b)
{
	buf_adds(b,
		"# Placeholders: {bin} {model} {prompt} {role} {role_file} {prompt_file} {date}.\n"
		"# A value stays one word, whatever it holds and however it is quoted.\n"
		"# `command` is for a terminal, `batch` for pipes, agent steps and chats; without\n"
		"# {prompt} and {prompt_file} in it the prompt is its standard input.\n");
	if (p->own_name) {
		struct known_agent own = p->own_known ? *p->own_known : (struct known_agent){ 0 };

		own.name = p->own_name;
		own.bin = p->own_bin;
		own.command = p->own_command;
		own.batch = p->own_batch;
		buf_addc(b, '\n');
		init_agent_text(&own, b);
	}
	/* A name can be defined once. */
	for (size_t i = 0; i < p->agent_count; i++) {
		if (p->own_name && strcmp(p->own_name, p->agents[i]->name) == 0)
			continue;
		buf_addc(b, '\n');
		init_agent_text(p->agents[i], b);
	}
}

static void roles_text(const struct init_plan *p, struct buf *b)
{
	if (p->examples)
		buf_adds(b,
			"[roles.assistant]\n"
			"description = \"gives short answers\"\n"
			"prompt = \"You are a careful assistant. Answer briefly and say what "
			"you do not know.\"\n\n"
			"[roles.reviewer]\n"
			"description = \"reads code\"\n"
			"prompt = \"You review code: find mistakes, say where and why, in order "
			"of weight.\"\n");
}

static void contexts_text(const struct init_plan *p, struct buf *b)
{
	if (p->examples)
		buf_adds(b, "# Left out with a warning where there is no such file.\n"
			    "[contexts.readme]\n"
			    "description = \"what this project is\"\n"
			    "file = \"README.md\"\n"
			    "prompt = \"Read {file} to know the project.\"\n");
}

static void tasks_text(const struct init_plan *p, struct buf *b)
{
	if (p->examples)
		buf_adds(b, "[tasks.review]\n"
			    "alias = \"rv\"\n"
			    "description = \"review what has changed since the last commit\"\n"
			    "role = \"reviewer\"\n"
			    "command = \"git diff HEAD\"\n"
			    "prompt = \"\"\"\n"
			    "Review these changes:\n\n"
			    "{command_output}\n\n"
			    "Instructions: {instructions}\n"
			    "\"\"\"\n");
}

static const struct {
	const char *name;
	void (*text)(const struct init_plan *p, struct buf *b);
} files[] = {
	{ "config.toml", settings_text },
	{ "agents.toml", agents_text },
	{ "roles.toml", roles_text },
	{ "contexts.toml", contexts_text },
	{ "tasks.toml", tasks_text },
};

static bool check_own(const struct init_plan *p, struct report *r)
{
	const char *const texts[] = { p->own_name, p->own_bin, p->own_command, p->own_batch };

	for (size_t i = 0; p->own_name && i < ARRAY_SIZE(texts); i++) {
		struct str text = str_of(texts[i]);

		if (utf8_find_invalid(text) == text.len)
			continue;
		report_error(r, (struct where){ 0 }, "'%.*s' is not valid UTF-8",
			STR(report_quote(r, text)));
		return report_hint(r, "TOML holds nothing else; give the program another name");
	}
	const char *const lines[] = { p->own_command, p->own_batch };
	for (size_t i = 0; p->own_name && i < ARRAY_SIZE(lines); i++) {
		if (!lines[i] || placeholders_in(str_of(lines[i]), IN_AGENT) & 1u << PH_BIN)
			continue;
		report_error(r, (struct where){ 0 }, "the %s '%.*s' does not name {bin}",
			i ? "batch" : "command", STR(report_quote(r, str_of(lines[i]))));
		return report_hint(
			r, i ? "write {bin} where the program stands: \"{bin}\""
			     : "write {bin} where the program stands: \"{bin} -- '{prompt}'\"");
	}
	return true;
}

bool init_write(const struct init_plan *p, struct init_told *told, struct report *r)
{
	if (!check_own(p, r))
		return false;
	int error = dir_make(p->dir);
	if (error < 0)
		return report_errno(r, -error, "cannot make '%s'", p->dir);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		AUTO_BUF path = BUF_INIT;
		AUTO_BUF text = BUF_INIT;

		files[i].text(p, &text);
		if (!text.len)
			continue;
		buf_printf(&path, "%s/%s", p->dir, files[i].name);
		error = atomic_write(buf_cstr(&path), buf_str(&text),
			&(struct atomic_options){ .exclusive = true });
		if (error < 0 && error != -EEXIST)
			return report_errno(r, -error, "cannot write '%s'", buf_cstr(&path));
		buf_printf(told->text, "%s %s\n", error ? "kept " : "wrote", buf_cstr(&path));
		told->kept_settings |= error && files[i].text == settings_text;
	}
	return true;
}

struct str init_directory(struct arena *a, struct str cwd, bool local)
{
	return local ? path_from(a, cwd, S(".start")) : config_global_dir(a, user_home(a));
}
