#include "app/agents-init.h"

#include <errno.h>
#include <string.h>

#include "base/atomic-file.h"
#include "base/file.h"
#include "base/path.h"
#include "base/program.h"
#include "base/utf8.h"
#include "prompts/config.h"
#include "prompts/placeholders.h"

/* Models change faster than this program: where an agent has a default of its own it is left to it.
 */
static const char *const ollama_models[] = { "small", "llama3.2", "code", "qwen2.5-coder", NULL };

const struct known_agent known_agents[] = {
	{ "claude", "claude", "Claude Code", "{bin} --append-system-prompt '{role}' '{prompt}'",
		NULL, NULL, NULL },
	{ "codex", "codex", "Codex", "{bin} '{prompt}'", NULL, NULL, NULL },
	{ "gemini", "gemini", "Gemini", "GEMINI_SYSTEM_MD='{role_file}' {bin} -i '{prompt}'", NULL,
		NULL, NULL },
	{ "opencode", "opencode", "OpenCode", "{bin} --prompt '{prompt}'", NULL, NULL, NULL },
	{ "aider", "aider", "Aider", "{bin} --message '{prompt}'", NULL, NULL, NULL },
	{ "llm", "llm", "llm", "{bin} --system '{role}' '{prompt}'", NULL, NULL, NULL },
	{ "aichat", "aichat", "aichat", "AICHAT_SYSTEM_PROMPT='{role}' {bin} '{prompt}'", NULL,
		NULL, NULL },
	{ "mods", "mods", "mods", "{bin} '{prompt}'", NULL, NULL, NULL },
	{ "ollama", "ollama", "Ollama", "{bin} run {model} '{prompt}'", "small", ollama_models,
		NULL },
	{ NULL, NULL, NULL, NULL, NULL, NULL, NULL },
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

static void add_agent(struct buf *b, const struct known_agent *k)
{
	buf_adds(b, "\n[agents.");
	toml_key(b, str_of(k->name));
	buf_adds(b, "]\n");
	toml_field(b, "description", k->description);
	toml_field(b, "bin", k->bin);
	toml_field(b, "command", k->command);
	toml_field(b, "stdin", k->stdin_prompt);
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
		"# A value stays one word, whatever it holds and however it is quoted.\n");
	if (p->own_name) {
		struct known_agent own = p->own_known ? *p->own_known : (struct known_agent){ 0 };

		own.name = p->own_name;
		own.bin = p->own_bin;
		own.command = p->own_command;
		add_agent(b, &own);
	}
	/* A name can be defined once. */
	for (size_t i = 0; i < p->agent_count; i++)
		if (!p->own_name || strcmp(p->own_name, p->agents[i]->name) != 0)
			add_agent(b, p->agents[i]);
}

static void roles_text(const struct init_plan *p, struct buf *b)
{
	if (p->examples)
		buf_adds(b,
			"[roles.assistant]\n"
			"description = \"answers shortly\"\n"
			"prompt = \"You are a careful assistant. Answer shortly and say what "
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
	const char *const texts[] = { p->own_name, p->own_bin, p->own_command };

	for (size_t i = 0; p->own_name && i < ARRAY_SIZE(texts); i++) {
		struct str text = str_of(texts[i]);

		if (utf8_find_invalid(text) == text.len)
			continue;
		report_error(r, (struct where){ 0 }, "'%.*s' is not valid UTF-8",
			STR(report_quote(r, text)));
		return report_hint(r, "TOML holds nothing else; give the program another name");
	}
	if (!p->own_name || placeholders_in(str_of(p->own_command), IN_AGENT) & 1u << PH_BIN)
		return true;
	report_error(r, (struct where){ 0 }, "the command '%.*s' does not name {bin}",
		STR(report_quote(r, str_of(p->own_command))));
	return report_hint(r, "write {bin} where the program stands: \"{bin} '{prompt}'\"");
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
	return local ? path_from(a, cwd, S(".start")) : config_global_dir(a, path_home(a));
}
