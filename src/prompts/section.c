/* One section: what of file, command and prompt is there decides what becomes of it. */
#include "prompts/section.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "base/program.h"

enum {
	FILE_NAMES = 1u << PH_FILE | 1u << PH_FILE_CONTENTS,
	COMMAND_NAMES = 1u << PH_COMMAND | 1u << PH_COMMAND_OUTPUT,
};

struct work {
	const struct resolve_input *in;
	const struct section *s;
	struct buf file, output; /* contents */
	struct str path;
	struct placeholder_values values;
	struct buf *ret;
	struct report *r; /* why it is invalid */
	struct report *warnings;
};

/* -- paths ---------------------------------------------------------------------------------------
 */

struct str section_path(struct config *c, const struct section *s)
{
	struct str path = path_tilde(&c->arena, s->file, c->dirs.home);
	bool global = s->entry && s->entry->scope == SCOPE_GLOBAL;
	struct str places[] = { c->dirs.global, c->dirs.home, c->dirs.cwd };

	if (!global || str_starts(path, S("/")))
		return path_from(&c->arena, c->dirs.cwd, path);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		struct str there = path_from(&c->arena, places[i], path);

		if (access(arena_cstr(&c->arena, there), F_OK) == 0)
			return there;
	}
	return path_from(&c->arena, c->dirs.global, path);
}

int section_file_error(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errno;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	if (!S_ISREG(st.st_mode))
		return EINVAL;
	return access(path, R_OK) < 0 ? errno : 0;
}

static const char *file_problem(int error)
{
	return error == EINVAL  ? "not a regular file"
	       : error == EFBIG ? "too large"
				: strerror(error);
}

/* -- diagnostics ---------------------------------------------------------------------------------
 */

struct where section_where(struct config *c, const struct section *s, const char *field)
{
	if (!s->entry)
		return (struct where){ 0 };
	if (!field)
		return place_key_where(s->entry->place);
	return place_where(config_place(c, s->entry, field));
}

static struct where where(const struct work *w, const char *field)
{
	return section_where(w->in->config, w->s, field);
}

const char *section_kind_name(const struct section *s)
{
	return s->kind == IN_ROLE ? "role" : s->kind == IN_CONTEXT ? "context" : "task";
}

/* -- shells --------------------------------------------------------------------------------------
 */

static bool on_path(struct config *c, struct str name)
{
	return program_find(&c->arena, name, c->dirs.cwd, program_search(), NULL) != NULL;
}

static const char *flag_of(struct str shell)
{
	static const struct {
		const char *name, *flag;
	} flags[] = { { "node", "-e" }, { "nodejs", "-e" }, { "bun", "-e" }, { "ruby", "-e" },
		{ "perl", "-E" }, { "deno", "eval" } };
	struct str name = path_base(shell);

	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		if (str_eq(name, str_of(flags[i].name)))
			return flags[i].flag;
	return "-c";
}

const char *const *section_argv(struct config *c, const struct section *s)
{
	struct str shell = s->shell.len ? s->shell : config_setting_text(c, "shell");
	const char **argv = arena_array(&c->arena, const char *, shell.len + 4);
	size_t n = 0;

	shell = str_trim(shell);
	if (!shell.len)
		shell = on_path(c, S("bash")) ? S("bash") : S("sh");
	for (size_t at = 0; at < shell.len;) {
		size_t end = at;

		while (end < shell.len && shell.p[end] != ' ' && shell.p[end] != '\t')
			end++;
		if (end > at)
			argv[n++] = arena_cstr(&c->arena,
				path_tilde(&c->arena, str_sub(shell, at, end - at), c->dirs.home));
		at = end + 1;
	}
	if (n == 1)
		argv[n++] = flag_of(shell);
	argv[n] = arena_cstr(&c->arena, s->command);
	return argv;
}

const char *agent_shell(struct config *c)
{
	static const char *const known[] = { "sh", "bash", "dash", "zsh", "ksh" };
	struct str shell = config_setting_text(c, "shell");

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (str_eq(path_base(shell), str_of(known[i])))
			return arena_cstr(&c->arena, path_tilde(&c->arena, shell, c->dirs.home));
	return on_path(c, S("bash")) ? "bash" : "sh";
}

/* -- sources -------------------------------------------------------------------------------------
 */

static bool read_file(struct work *w)
{
	const char *path = arena_cstr(&w->in->config->arena, w->path);
	int error = section_file_error(path);

	if (!error)
		error = -file_read_regular(path, SECTION_FILE_MAX, &w->file);
	if (!error)
		return true;
	report_error(w->r, where(w, "file"), "cannot read '%s' for %s '%.*s': %s", path,
		section_kind_name(w->s), STR(w->s->name), file_problem(error));
	return report_hint(w->r, error == ENOENT ? "write the file, or correct the path"
						 : "it has to be a file that can be read");
}

/* A failure leaves the output empty and a warning. */
static void run_command(struct work *w)
{
	struct config *c = w->in->config;
	double timeout = w->s->timeout;
	AUTO_BUF why = BUF_INIT;

	if (timeout <= 0) {
		const struct config_entry *e = config_setting(c, "command_timeout");

		timeout = e ? json_number_value(e->value) : 0;
	}
	if (timeout <= 0)
		timeout = SECTION_TIMEOUT_S;
	bool ok = str_find(w->s->command, '\0', 0) == w->s->command.len;
	if (!ok)
		buf_adds(&why, "it has a NUL byte in it");
	ok = ok &&
	     w->in->run(w->in->run_data, section_argv(c, w->s), arena_cstr(&c->arena, c->dirs.cwd),
		     timeout, SECTION_OUTPUT_MAX, &w->output, &why);
	if (!ok) {
		buf_reset(&w->output);
		report_warning(w->warnings, where(w, "command"),
			"the command of %s '%.*s' failed: %s", section_kind_name(w->s),
			STR(w->s->name), buf_cstr(&why));
		report_hint(w->warnings, "its output counts as empty");
	}
	while (w->output.len && w->output.p[w->output.len - 1] == '\n')
		buf_truncate(&w->output, w->output.len - 1);
}

/* -- the cases -----------------------------------------------------------------------------------
 */

static void fill(struct work *w, struct str template, uint32_t names)
{
	if (names & 1u << PH_COMMAND_OUTPUT)
		run_command(w);
	w->values.at[PH_DATE] = w->in->date;
	w->values.at[PH_FILE] = w->path;
	w->values.at[PH_FILE_CONTENTS] = buf_str(&w->file);
	w->values.at[PH_COMMAND] = w->s->command;
	w->values.at[PH_COMMAND_OUTPUT] = buf_str(&w->output);
	struct str given = w->in->request->instructions;
	w->values.at[PH_INSTRUCTIONS] = given.len ? given : S("None");
	placeholders_replace(w->ret, template, names, &w->values);
}

static bool missing_source(struct work *w, uint32_t names, const char *source)
{
	enum prompt_placeholder p = PH_COMMAND_OUTPUT;

	for (unsigned i = 0; i < PH_COUNT; i++)
		if (names & 1u << i)
			p = (enum prompt_placeholder)i;
	report_error(w->r, where(w, "prompt"), "%s '%.*s' names {%.*s} but has no '%s'",
		section_kind_name(w->s), STR(w->s->name), STR(placeholder_name(p)), source);
	return report_hint(w->r, "add %s = \"…\", or take the placeholder out", source);
}

static void unused(struct work *w, const char *source)
{
	report_warning(w->warnings, where(w, source),
		"'%s' of %s '%.*s' is not used: %s does not name {%s}", source,
		section_kind_name(w->s), STR(w->s->name),
		w->s->prompt.len ? "its prompt" : "its file", source);
}

static bool from_prompt(struct work *w)
{
	struct str prompt = w->s->prompt;
	uint32_t names = placeholders_in(prompt, w->s->kind);

	if (names & FILE_NAMES && !w->s->file.len)
		return missing_source(w, names & FILE_NAMES, "file");
	if (names & COMMAND_NAMES && !w->s->command.len)
		return missing_source(w, names & COMMAND_NAMES, "command");
	if (w->s->file.len && !(names & FILE_NAMES))
		unused(w, "file");
	if (w->s->command.len && !(names & COMMAND_NAMES))
		unused(w, "command");
	if (names & FILE_NAMES && !read_file(w))
		return false;
	fill(w, prompt, names);
	return true;
}

static bool from_file(struct work *w)
{
	bool template = w->s->kind == IN_TASK;
	uint32_t known = 1u << PH_DATE | 1u << PH_FILE | 1u << PH_INSTRUCTIONS;

	if (!read_file(w))
		return false;
	uint32_t names = placeholders_in(buf_str(&w->file), w->s->kind);
	if (w->s->command.len) {
		known |= COMMAND_NAMES;
		if (names & COMMAND_NAMES)
			template = true;
		else
			unused(w, "command");
	}
	if (template)
		fill(w, buf_str(&w->file), names & known);
	else
		buf_add(w->ret, buf_str(&w->file));
	return true;
}

static bool from_nothing(struct work *w)
{
	report_error(w->r, where(w, NULL), "%s '%.*s' has neither file nor command nor prompt",
		section_kind_name(w->s), STR(w->s->name));
	return report_hint(w->r, "add one of them: prompt = \"…\"");
}

bool section_resolve(const struct resolve_input *in, const struct section *s, struct buf *ret,
	struct report *r, struct report *warnings)
{
	struct work w = { .in = in, .s = s, .ret = ret, .r = r, .warnings = warnings };
	bool ok = true;

	if (s->file.len)
		w.path = section_path(in->config, s);
	if (s->prompt.len) {
		ok = from_prompt(&w);
	} else if (s->file.len) {
		ok = from_file(&w);
	} else if (s->command.len) {
		run_command(&w);
		buf_add(ret, buf_str(&w.output));
	} else {
		ok = from_nothing(&w);
	}
	buf_done(&w.file);
	buf_done(&w.output);
	return ok;
}
