#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/program.h"
#include "base/utf8.h"
#include "data/json.h"
#include "steps/compile/compile.h"
#include "steps/compile/ops.h"
#include "steps/language/reference.h"
#include "steps/language/text.h"
#include "steps/language/value.h"

/* The command of a bash step. */

enum { COMMAND_MAX = 100000, SHOWN_MAX = 1000 };

static enum step_made cannot(struct step_command *ret, int code, const char *fmt, ...) PRINTF(3, 4);

static enum step_made cannot(struct step_command *ret, int code, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	buf_vprintf(&ret->why, fmt, args);
	va_end(args);
	ret->code = code;
	return STEP_CANNOT;
}

static bool substitute(
	const struct recipe_text *t, const struct scope *s, struct buf *ret, struct report *r)
{
	return step_text_substitute(t->text, t->place, scope_vars(s), ret, r);
}

static bool has_nul(struct str s)
{
	return str_find(s, '\0', 0) < s.len;
}

/* -- where ---------------------------------------------------------------------------------------
 */

const char *step_directory(const struct node *n, const struct scope *s,
	const struct step_host *host, struct step_command *ret, struct arena *a,
	enum step_made *made, struct report *r)
{
	const struct step *step = step_of(n);
	const char *project = host->project ? host->project : ".";
	AUTO_BUF dir = BUF_INIT;
	struct stat st;

	if (!step->bash.cwd.text.p)
		return project;
	if (!substitute(&step->bash.cwd, s, &dir, r)) {
		*made = STEP_MISTAKE;
		return NULL;
	}
	struct str path = dir.len && dir.p[0] == '/'
				  ? arena_str(a, buf_str(&dir))
				  : arena_printf(a, "%s/%s", project, buf_cstr(&dir));
	if (has_nul(buf_str(&dir)) || stat(path.p, &st) < 0 || !S_ISDIR(st.st_mode)) {
		*made = cannot(ret, 126, "step '%.*s': the working directory '%s' %s",
			STR(step->id), buf_cstr(&dir),
			stat(path.p, &st) < 0 ? "does not exist" : "is not a directory");
		return NULL;
	}
	return path.p;
}

/* -- which shell ---------------------------------------------------------------------------------
 */

static const char *find_shell(const struct step *step, const char *cwd, struct arena *a)
{
	struct str here = str_of(cwd);

	if (step->bash.shell.text.p)
		return program_find(a, step->bash.shell.text, here, program_search(), NULL);
	const char *usual = program_find(a, S("/bin/bash"), here, S(""), NULL);
	return usual ? usual : program_find(a, S("bash"), here, program_search(), NULL);
}

/* -- environment ---------------------------------------------------------------------------------
 */

/* What a command would get under that name; NULL: nothing. */
static const char *inherited(struct str name, const struct step_host *host)
{
	AUTO_BUF variable = BUF_INIT;

	buf_add(&variable, name);
	const char *found = getenv(buf_cstr(&variable));
	for (size_t i = 0; i < json_array_size(host->env); i++) {
		const char *entry = json_string_value(json_array_get(host->env, i));

		if (str_starts(str_of(entry), name) && entry[name.len] == '=')
			found = entry + name.len + 1;
	}
	return found;
}

/* Literal text of an entry: `$NAME` of its own name is what the variable is now. Whatever else
 * looks like a shell's variable stays as it is. */
static void add_literal(
	struct buf *b, struct str text, struct str name, const struct step_host *host)
{
	const char *now = inherited(name, host);

	for (size_t i = 0; i < text.len;) {
		struct str rest = str_from(text, i);
		size_t n = 0;

		if (rest.p[0] == '$' && str_starts(str_from(rest, 1), S("{")) &&
			str_starts(str_from(rest, 2), name) && rest.len > name.len + 2 &&
			rest.p[name.len + 2] == '}')
			n = name.len + 3;
		else if (rest.p[0] == '$' && str_starts(str_from(rest, 1), name)) {
			char next = rest.len > name.len + 1 ? rest.p[name.len + 1] : ' ';

			if (next != '_' && !ascii_digit(next) && !(next >= 'a' && next <= 'z') &&
				!(next >= 'A' && next <= 'Z'))
				n = name.len + 1;
		}
		if (n)
			buf_adds(b, now ? now : "");
		else
			buf_addc(b, rest.p[0]);
		i += n ? n : 1;
	}
}

static bool add_value(struct buf *b, const struct recipe_pair *p, const struct scope *s,
	const struct step_host *host, struct report *r)
{
	struct str text = p->text.text;
	struct reference ref;
	size_t at = 0, from = 0;

	if (!p->text.text.p) {
		step_value_render(b, p->value);
		return true;
	}
	while (reference_next(text, &at, &ref)) {
		json_t *made = NULL;

		add_literal(b, str_sub(text, from, ref.offset - from), p->name, host);
		const json_t *value = reference_find(&ref, scope_vars(s), &made, p->text.place, r);
		if (value)
			step_value_render(b, value);
		json_decref(made);
		if (!value)
			return false;
		from = ref.offset + ref.length;
	}
	add_literal(b, str_from(text, from), p->name, host);
	return true;
}

/* Whether a secret is part of it. */
static bool hides(const struct recipe_pair *p, const struct step_host *host)
{
	struct reference ref;
	size_t at = 0;

	if (!host->secret)
		return false;
	if (host->secret(host->data, p->name))
		return true;
	while (reference_next(p->text.text, &at, &ref))
		if (host->secret(host->data, reference_variable(&ref)))
			return true;
	return false;
}

static void show_entry(
	struct buf *b, const struct recipe_pair *p, struct str value, const struct step_host *host)
{
	AUTO_BUF shown = BUF_INIT;

	utf8_add_short(&shown, value, SHOWN_MAX);
	buf_addc(b, b->len ? ',' : '{');
	json_write_str(b, p->name);
	buf_addc(b, ':');
	json_write_str(b, hides(p, host) ? S("***") : buf_str(&shown));
}

static enum step_made make_env(const struct node *n, const struct scope *s,
	const struct step_call *call, const struct step_host *host, struct step_command *ret,
	struct arena *a, struct report *r)
{
	const struct step *step = step_of(n);
	const char **env = arena_array(a, const char *, step->bash.env_count + 3);
	size_t count = 0;

	for (size_t i = 0; i < step->bash.env_count; i++) {
		AUTO_BUF entry = BUF_INIT;

		buf_printf(&entry, "%.*s=", STR(step->bash.env[i].name));
		if (!add_value(&entry, &step->bash.env[i], s, host, r))
			return STEP_MISTAKE;
		if (has_nul(buf_str(&entry)))
			return cannot(ret, 126,
				"step '%.*s': the value of env %.*s has a NUL byte in it",
				STR(step->id), STR(step->bash.env[i].name));
		if (entry.len + 1 > PROGRAM_STRING_MAX)
			return cannot(ret, 126,
				"step '%.*s': env %.*s is %zu bytes long; the kernel takes %d: "
				"use `stdin` or a file",
				STR(step->id), STR(step->bash.env[i].name), entry.len,
				PROGRAM_STRING_MAX - 1);
		env[count++] = arena_str(a, buf_str(&entry)).p;
		show_entry(&ret->shown, &step->bash.env[i],
			str_from(buf_str(&entry), step->bash.env[i].name.len + 1), host);
	}
	if (step->bash.env_count)
		buf_addc(&ret->shown, '}');
	env[count++] = arena_printf(a, "ROUX_STEP_ID=%.*s", STR(step->id)).p;
	env[count++] = arena_printf(a, "ROUX_RECIPE_DIR=%.*s", STR(call->dir)).p;
	env[count] = NULL;
	ret->env = env;
	return STEP_MADE;
}

/* -- the command ---------------------------------------------------------------------------------
 */

/* A command that is too long for an argument is read from a file. */
static enum step_made from_file(const struct step *step, struct str text, struct step_command *ret,
	struct arena *a, const char **argv)
{
	AUTO_BUF path = BUF_INIT;
	AUTO_CLOSE int fd = file_temp_named("roux-step-", &path);
	int n = fd < 0 ? fd : fd_write_all(fd, text);

	if (fd >= 0) {
		buf_add(&ret->remove, buf_str(&path));
		buf_addc(&ret->remove, '\0');
	}
	if (n < 0)
		return cannot(ret, 126, "step '%.*s': cannot write the command to a file: %s",
			STR(step->id), strerror(-n));
	argv[1] = arena_str(a, buf_str(&path)).p;
	ret->argc = 2;
	return STEP_MADE;
}

static enum step_made make_argv(const struct step *step, const char *shell, struct str text,
	struct step_command *ret, struct arena *a)
{
	const char **argv = arena_array(a, const char *, 4);

	argv[0] = shell;
	argv[1] = argv[2] = argv[3] = NULL;
	ret->argv = argv;
	if (has_nul(text))
		return cannot(
			ret, 126, "step '%.*s': the command has a NUL byte in it", STR(step->id));
	if (text.len > COMMAND_MAX)
		return from_file(step, text, ret, a, argv);
	argv[1] = "-c";
	argv[2] = arena_str(a, text).p;
	ret->argc = 3;
	return STEP_MADE;
}

enum step_made bash_make(const struct node *n, const struct scope *s, const struct step_call *call,
	const struct step_host *host, struct step_command *ret, struct arena *a, struct report *r)
{
	const struct step *step = step_of(n);
	enum step_made made = STEP_MADE;
	AUTO_BUF text = BUF_INIT;

	if (!substitute(&step->bash.command, s, &text, r) ||
		(step->bash.stdin.text.p && !substitute(&step->bash.stdin, s, &ret->in, r)))
		return STEP_MISTAKE;
	made = make_env(n, s, call, host, ret, a, r);
	if (made != STEP_MADE)
		return made;
	ret->cwd = step_directory(n, s, host, ret, a, &made, r);
	if (!ret->cwd)
		return made;
	const char *shell = find_shell(step, ret->cwd, a);
	if (!shell)
		return cannot(ret, 127,
			"step '%.*s': the shell '%.*s' is not there or cannot be executed",
			STR(step->id),
			STR(step->bash.shell.text.p ? step->bash.shell.text : S("/bin/bash")));
	return make_argv(step, shell, buf_str(&text), ret, a);
}
