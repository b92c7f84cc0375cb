#include "app/agents/compose.h"

#include "app/agents.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "app/agents/terminal.h"
#include "base/environ.h"
#include "base/file.h"
#include "base/path.h"
#include "base/program.h"
#include "base/user.h"
#include "prompts/doctor.h"

/* -- loading -------------------------------------------------------------------------------------
 */

static bool load(struct config *c, struct str cwd, bool use_local, struct report *r)
{
	struct arena a = ARENA_INIT;
	struct str home = user_home(&a);
	struct config_dirs dirs = {
		.home = home, .global = config_global_dir(&a, home), .cwd = cwd, .local = use_local
	};
	bool ok = config_load(c, &dirs, r);

	arena_done(&a);
	return ok;
}

bool prompts_load(struct config *c, struct str cwd, bool use_local, struct report *r)
{
	if (!load(c, cwd, use_local, r))
		return false;
	if (c->files.len)
		return true;
	report_error(r, (struct where){ 0 },
		"nothing is configured: neither %.*s nor %.*s/.start has a file",
		STR(c->dirs.global), STR(c->dirs.cwd));
	return report_action(r, ACTION_INIT, S(""));
}

void prompts_check(struct str cwd, struct report *r, struct prompts_files *ret)
{
	struct config c;

	if (load(&c, cwd, true, r) && c.files.len) {
		prompts_doctor(&c, r);
		if (ret->notes)
			init_note_lines(&c, ret->notes);
	}
	vec_each (f, &c.files)
		*((*f)->scope == SCOPE_LOCAL ? &ret->local : &ret->global) += 1;
	if (ret->arena)
		ret->directory = arena_str(ret->arena, c.dirs.global);
	config_done(&c);
}

/* The directory is taken for the global one, a `.start` for that of the directory it is in. */
bool prompts_check_file(const char *path, struct str cwd, struct report *r)
{
	struct arena a = ARENA_INIT;
	struct str file = path_from(&a, cwd, str_of(path));
	struct str name = path_base(file);
	struct str dir = str_sub(file, 0, file.len - name.len - (file.len > name.len));
	struct str up = str_sub(dir, 0, dir.len - path_base(dir).len);
	bool known = config_reads(name);
	bool local = str_eq(path_base(dir), S(".start"));
	struct config_dirs dirs = { .home = user_home(&a),
		.global = local ? config_global_dir(&a, user_home(&a)) : dir,
		.cwd = local ? path_from(&a, cwd, up) : cwd,
		.local = local };
	AUTO_REPORT all = REPORT_INIT;
	struct config c;

	if (known) {
		if (config_load(&c, &dirs, &all))
			prompts_doctor(&c, &all);
		config_done(&c);
	}
	/* What is wrong with the files beside it was not asked for. */
	size_t kept = 0;
	all.errors = all.warnings = 0;
	vec_each (i, &all.issues) {
		if (i->file.len && !str_eq(i->file, file))
			continue;
		*(i->kind == ISSUE_WARNING ? &all.warnings : &all.errors) += 1;
		i->file = i->file.len ? str_of(path) : i->file;
		all.issues.at[kept++] = *i;
	}
	all.issues.len = kept;
	report_move(r, &all);
	arena_done(&a);
	return known;
}

/* -- preparing -----------------------------------------------------------------------------------
 */

struct preparation {
	const struct prompts_ask *ask;
	struct agents_launch *l;
	struct prompt_request request;
	struct placeholder_values values;
	struct report *r;
};

static bool names(const struct preparation *p, enum prompt_placeholder name)
{
	return agent_line_names(&p->l->selection.line, name);
}

static struct where line_where(const struct preparation *p)
{
	struct agents_launch *l = p->l;

	return place_where(config_place(&l->config, l->selection.agent, l->selection.line.field));
}

/* How the prompt reaches the agent when no argument has it. */
static void decide_stdin(struct preparation *p)
{
	const struct config_entry *agent = p->l->selection.agent;
	const struct agent_line *line = &p->l->selection.line;
	bool wanted = str_eq(config_text(agent, "stdin"), S("prompt"));
	bool captured = p->ask->io == PROMPTS_CAPTURED;
	bool named = agent_line_has_prompt(line);

	if (p->ask->kinds & IN_STEP && !named)
		wanted = true;
	p->l->gives_stdin =
		(line->batch && !named) || (wanted && (captured || !isatty(STDIN_FILENO)));
	if (named || p->l->gives_stdin)
		return;
	report_warning(&p->l->warnings, line_where(p),
		"agent '%.*s' does not get the prompt: its %s does not name {prompt}%s",
		STR(agent->name), line->field,
		wanted ? ", and standard input is the terminal" : "");
	report_hint(&p->l->warnings, "add '{prompt}' to it%s",
		wanted ? "" : ", or give the agent stdin = \"prompt\"");
}

static bool compile_launch(struct preparation *p, struct compiled *ret, struct report *warnings)
{
	struct config *c = &p->l->config;
	const struct selection *s = &p->l->selection;

	return prompt_compile(&p->l->arena,
		&(struct compile_input){ .command = s->line.text,
			.place = config_place(c, s->agent, s->line.field),
			.kinds = p->ask->kinds,
			.values = &p->values,
			.home = c->dirs.home,
			.shell = agent_shell(c) },
		ret, p->r, warnings);
}

/* The PATH in which a shell would look: the command may set it. */
static struct str search_of(const struct compiled *c)
{
	struct str search = program_search();

	for (size_t i = 0; i < c->envc; i++)
		if (str_starts(str_of(c->env[i]), S("PATH=")))
			search = str_of(c->env[i] + 5);
	return search;
}

static bool not_found(struct preparation *p, struct str program)
{
	const struct config_entry *agent = p->l->selection.agent;

	report_error(p->r, place_where(config_place(&p->l->config, agent, "bin")),
		"the program '%.*s' of agent '%.*s' is not found", STR(program), STR(agent->name));
	report_hint(p->r, "install it, or correct the agent");
	return report_action(p->r, ACTION_CHOOSE_AGENT, agent->name);
}

/* Before anything is started. The form of the command does not depend on the texts. */
static bool find_programs(struct preparation *p)
{
	struct agents_launch *l = p->l;
	AUTO_REPORT ignored = REPORT_INIT;
	struct str bin = p->values.at[PH_BIN], cwd = p->ask->cwd;
	struct compiled c;

	if (!compile_launch(p, &c, &ignored))
		return false;
	bool shell = c.form == FORM_SHELL;
	if (!program_find(&l->arena, bin, cwd, search_of(&c), NULL) &&
		!(shell && compile_shell_has(bin)))
		return not_found(p, bin);
	l->program = program_find(&l->arena, str_of(c.argv[0]), cwd, search_of(&c), NULL);
	return l->program || not_found(p, str_of(c.argv[0]));
}

/* {role_file} and {prompt_file}: the path of a file that is there, or of one that is made. */
static bool give_file(struct preparation *p, enum prompt_placeholder name, const char *what,
	struct str text, struct temporary *file)
{
	AUTO_BUF example = BUF_INIT;

	if (!names(p, name))
		return true;
	if (p->ask->dry) {
		temporary_example(what, &example);
		p->values.at[name] = arena_str(&p->l->arena, buf_str(&example));
		return true;
	}
	int error = temporary_create(what, text, file);
	if (error < 0) {
		report_error(p->r, (struct where){ 0 },
			"cannot write a file for {%.*s} in '%s': %s", STR(placeholder_name(name)),
			file_temp_dir(), strerror(-error));
		return report_hint(p->r, "set TMPDIR to a directory with room");
	}
	p->values.at[name] = str_of(file->path);
	return true;
}

static bool give_files(struct preparation *p)
{
	struct agents_launch *l = p->l;
	bool ok = true;

	/* A role without text is like none: a program that puts a file in place of its own
	 * instructions would be left without any. */
	if (!l->resolved.role.len)
		p->values.at[PH_ROLE_FILE] = S("");
	else if (l->resolved.role_path.len)
		p->values.at[PH_ROLE_FILE] = l->resolved.role_path;
	else if (l->selection.has_role)
		ok = give_file(p, PH_ROLE_FILE, "role", buf_str(&l->resolved.role), &l->role_file);
	return ok && give_file(p, PH_PROMPT_FILE, "prompt", buf_str(&l->resolved.prompt),
			     &l->prompt_file);
}

static bool resolve_texts(struct preparation *p)
{
	struct agents_launch *l = p->l;

	bool ok = prompt_resolve(&(struct resolve_input){ .config = &l->config,
					 .request = &p->request,
					 .selection = &l->selection,
					 .date = buf_str(&l->date),
					 .run = prompts_run_section,
					 .run_data = l },
		&l->resolved, p->r, &l->warnings);
	if (l->signal)
		return report_error(
			p->r, (struct where){ 0 }, "interrupted by signal %d", l->signal);
	p->values.at[PH_ROLE] = buf_str(&l->resolved.role);
	p->values.at[PH_PROMPT] = buf_str(&l->resolved.prompt);
	return ok;
}

/* What was asked for and does not reach the agent, because its line has no place for it. */
static bool not_passed(
	struct preparation *p, const char *what, struct str value, const char *to_add)
{
	const struct selection *s = &p->l->selection;
	struct report *r = p->ask->strict ? p->r : &p->l->warnings;
	bool (*add)(struct report *, struct where, const char *, ...) =
		p->ask->strict ? report_error : report_warning;

	add(r, line_where(p), "%s '%.*s' does not reach agent '%.*s': its %s does not name %s",
		what, STR(report_quote(r, value)), STR(s->agent->name), s->line.field, to_add);
	report_hint(
		r, "add %s to '%s' of [agents.%.*s]", to_add, s->line.field, STR(s->agent->name));
	return !p->ask->strict;
}

static bool check_passed(struct preparation *p)
{
	const struct selection *s = &p->l->selection;
	bool ok = true;

	if (s->asked_model.len && !names(p, PH_MODEL))
		ok = not_passed(p, "model", s->model, "{model}");
	if (p->l->resolved.role.len && !agent_line_has_role(&s->line))
		ok &= not_passed(p, "role", s->role.name, "{role} or {role_file}");
	return ok;
}

/* Mistakes of the texts, found before files are made: too long for an argument. */
static bool try_compile(struct preparation *p)
{
	AUTO_REPORT ignored = REPORT_INIT;
	struct compiled c;

	return compile_launch(p, &c, &ignored);
}

void prompt_date_now(struct buf *b)
{
	prompt_date(b, (int64_t)time(NULL));
}

bool prompts_prepare(const struct prompts_ask *ask, struct agents_launch *l, struct report *r)
{
	struct preparation p = { .ask = ask, .l = l, .r = r, .request = ask->request };

	p.request.batch = ask->io == PROMPTS_CAPTURED || !isatty(STDOUT_FILENO);
	*l = (struct agents_launch){ .role_file = TEMPORARY_NONE, .prompt_file = TEMPORARY_NONE };
	if (!ask->dry)
		(void)temporary_sweep();
	prompt_date_now(&l->date);
	l->cwd = arena_cstr(&l->arena, ask->cwd);
	if (!prompts_load(&l->config, ask->cwd, ask->use_local, r) ||
		!select_all(&l->config, &p.request, &l->selection, r, &l->warnings))
		return false;
	const struct config_entry *agent = l->selection.agent;
	p.values.at[PH_DATE] = buf_str(&l->date);
	p.values.at[PH_MODEL] = l->selection.model;
	p.values.at[PH_BIN] = path_tilde(&l->arena, config_text(agent, "bin"), l->config.dirs.home);
	p.values.at[PH_AGENT] = ask->called.len          ? ask->called
				: ask->request.agent.len ? ask->request.agent
							 : agent->name;
	p.values.at[PH_STEP] = ask->step;
	p.values.at[PH_MODE] = ask->mode;
	p.values.at[PH_PROVIDER] = ask->provider;
	decide_stdin(&p);
	if (!find_programs(&p) || !resolve_texts(&p) || !check_passed(&p) || !try_compile(&p))
		return false;
	/* From here on there is something to clean up. */
	if (!ask->dry && ask->io == PROMPTS_TERMINAL &&
		(names(&p, PH_ROLE_FILE) || names(&p, PH_PROMPT_FILE)))
		terminal_hold_signals();
	return give_files(&p) && compile_launch(&p, &l->compiled, &l->warnings);
}

void prompts_done(struct agents_launch *l)
{
	temporary_delete(&l->role_file);
	temporary_delete(&l->prompt_file);
	resolved_done(&l->resolved);
	selection_done(&l->selection);
	config_done(&l->config);
	report_done(&l->warnings);
	buf_done(&l->date);
	arena_done(&l->arena);
}

struct prompt_request prompt_request_of(const struct agents_request *q)
{
	static const enum prompt_mode modes[] = {
		[AGENTS_START] = MODE_START,
		[AGENTS_PROMPT] = MODE_PROMPT,
		[AGENTS_LAUNCH_TASK] = MODE_TASK,
	};

	return (struct prompt_request){ .mode = modes[q->mode],
		.task = q->task,
		.instructions = q->instructions,
		.text = q->text,
		.agent = q->agent,
		.role = q->role,
		.model = q->model,
		.no_role = q->no_role,
		.bare = q->bare,
		.contexts = q->contexts,
		.context_count = q->context_count,
		.stands = q->stands };
}

bool agents_prepare(const struct agents_request *q, struct agents_launch **ret, struct report *r)
{
	struct prompts_ask ask = { .request = prompt_request_of(q),
		.cwd = q->cwd,
		.use_local = true,
		.dry = q->dry,
		.strict = q->strict,
		.io = q->captured ? PROMPTS_CAPTURED : PROMPTS_TERMINAL,
		.kinds = IN_AGENT };

	*ret = mem_new(struct agents_launch);
	return prompts_prepare(&ask, *ret, r);
}

void agents_launch_free(struct agents_launch *l)
{
	if (!l)
		return;
	prompts_done(l);
	free(l);
}

/* -- launching -----------------------------------------------------------------------------------
 */

/* A file that has the prompt and no name. -1: standard input is inherited. -errno otherwise. */
static int open_stdin(const struct agents_launch *l)
{
	if (!l->gives_stdin)
		return -1;
	int fd = file_temp();
	int error = fd < 0 ? fd : fd_write_all(fd, buf_str(&l->resolved.prompt));
	if (error == 0 && lseek(fd, 0, SEEK_SET) < 0)
		error = -errno;
	if (error < 0) {
		close_fd(&fd);
		return MIN(error, -2);
	}
	return fd;
}

bool agents_launch_may_replace(const struct agents_launch *l)
{
	/* A shell that is killed leaves its programs behind: we have to end them. */
	return l->compiled.form == FORM_DIRECT && !l->role_file.path && !l->prompt_file.path;
}

int agents_launch_replace(const struct agents_launch *l)
{
	struct arena a = ARENA_INIT;
	int in = open_stdin(l);
	int error = in < -1 ? in : 0;

	if (!error && (chdir(l->cwd) < 0 || (in >= 0 && dup2(in, STDIN_FILENO) < 0)))
		error = -errno;
	if (!error) {
		/* For section commands we were; the agent never asked for it. */
		(void)prctl(PR_SET_CHILD_SUBREAPER, 0);
		(void)execve(l->program, (char *const *)l->compiled.argv,
			(char *const *)environ_with(&a, l->compiled.env));
		error = -errno;
	}
	close_fd(&in);
	arena_done(&a);
	return error;
}

int agents_launch_wait(const struct agents_launch *l)
{
	struct arena a = ARENA_INIT;
	int in = open_stdin(l);

	int status = in < -1 ? in
			     : terminal_run(&(struct terminal_spec){ .program = l->program,
				       .argv = l->compiled.argv,
				       .envp = environ_with(&a, l->compiled.env),
				       .cwd = l->cwd,
				       .in = in });
	close_fd(&in);
	arena_done(&a);
	return status;
}

struct agents_command agents_launch_command(const struct agents_launch *l)
{
	return (struct agents_command){ .argv = (const char *const *)l->compiled.argv,
		.argc = l->compiled.argc,
		.env = (const char *const *)l->compiled.env,
		.envc = l->compiled.envc,
		.cwd = l->cwd,
		.gives_stdin = l->gives_stdin,
		.prompt = buf_str(&l->resolved.prompt) };
}
