#include "hosts/cli/prompt-record.h"

#include <errno.h>
#include <unistd.h>

#include "app/agents/compose.h"
#include "app/freeze.h"
#include "base/file.h"
#include "hosts/cli/launch-opts.h"

enum { SHOWN_MAX = 64 << 20 };

/* The command as a template of nothing but values: "{w0}" "{w1}" …. What they hold is never looked
 * at again, so every byte arrives as it is. */
static struct str template_of(struct launch *l, const struct compiled *c)
{
	AUTO_BUF text = BUF_INIT;

	l->values = json_object();
	for (size_t i = 0; i < c->argc; i++) {
		AUTO_BUF name = BUF_INIT;

		buf_printf(&name, "w%zu", i);
		buf_printf(&text, "%s\"{%s}\"", i ? " " : "", buf_cstr(&name));
		json_object_set_new_nocheck(
			l->values, buf_cstr(&name), json_from_str(str_of(c->argv[i])));
	}
	return arena_str(&l->arena, buf_str(&text));
}

/* The prompt becomes our standard input, and with it the agent's. */
static bool give_prompt(struct cli *cli, const struct agents_launch *p)
{
	AUTO_CLOSE int fd = file_temp();
	int n = fd < 0 ? fd : fd_write_all(fd, buf_str(&p->resolved.prompt));

	if (n == 0 && (lseek(fd, 0, SEEK_SET) < 0 || dup2(fd, STDIN_FILENO) < 0))
		n = -errno;
	return n == 0 || report_errno(&cli->report, -n, "cannot hand over the prompt");
}

/* Our template deserves no warning; what led to it may. */
static void give_warnings(const struct agents_launch *p, struct graph *g)
{
	report_reset(&g->warnings);
	vec_each (i, &p->warnings.issues)
		report_warning(&g->warnings, (struct where){ 0 }, "%.*s", STR(i->message));
}

static bool prepare(
	struct cli *cli, const struct agents_launch *p, struct str name, struct launch *l)
{
	struct str text = template_of(l, &p->compiled);

	if (chdir(p->cwd) < 0)
		return report_errno(&cli->report, errno, "cannot go to '%s'", p->cwd);
	if (!launch_load(l, text.p, true, DIALECT_NOW, &cli->report))
		return false;
	give_warnings(p, l->graph);
	l->id = run_id_make(&l->arena, name);
	l->how = S("prompt");
	l->env = json_array();
	for (size_t i = 0; i < p->compiled.envc; i++)
		json_array_append_new(l->env, json_from_str(str_of(p->compiled.env[i])));
	launch_name(l);
	return launch_plan(l, NULL, &cli->report) && (!p->gives_stdin || give_prompt(cli, p));
}

/* The run tells how it went; whoever launches an agent wants the agent's own status. */
static int agent_status(const struct launch *l, int status)
{
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_JSON *result = freeze_json(l->dir, "result.json", true, &ignored);
	int code = (int)json_integer_value(json_object_get(result, "code"));

	return status == 1 && code ? code : status == 3 ? 0 : status;
}

/* What a failed agent said is worth showing; the result of a failed run has none. */
static void show_failed(struct launch *l)
{
	AUTO_BUF said = BUF_INIT;

	if (file_read(run_file(&l->arena, l->dir, "out/0.out"), SHOWN_MAX, &said) == 0)
		(void)cli_print(buf_str(&said));
}

/* Its standard error, without the path of the node before each line: there is only one. */
static void show_errors(struct launch *l)
{
	AUTO_BUF log = BUF_INIT;
	AUTO_BUF text = BUF_INIT;

	if (file_read(run_file(&l->arena, l->dir, "stderr.log"), SHOWN_MAX, &log) < 0)
		return;
	struct str s = buf_str(&log);
	for (size_t at = 0; at < s.len;) {
		size_t end = MIN(str_find(s, '\n', at) + 1, s.len);
		struct str line = str_sub(s, at, end - at);

		buf_add(&text, str_starts(line, S("[0] ")) ? str_from(line, 4) : line);
		at = end;
	}
	cli_say(buf_str(&text));
}

int prompt_record(struct cli *cli, const struct agents_launch *p, struct str name, bool json)
{
	struct run_opts o = RUN_OPTS_DEFAULTS;
	struct launch l = LAUNCH_INIT;
	bool terminal = !json && !p->gives_stdin && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	int status;

	o.quiet = true;
	if (!prepare(cli, p, name, &l)) {
		launch_done(&l);
		return cli_refuse(cli, json);
	}
	if (terminal)
		status = launch_on_terminal(cli, &l, &o);
	else
		status = launch_start(cli, &l, &o, json, false, NULL);
	if (!json && !terminal) {
		if (status == 1)
			show_failed(&l);
		show_errors(&l);
	}
	status = agent_status(&l, status);
	launch_done(&l);
	return status;
}
