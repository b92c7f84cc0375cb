#include "hosts/cli/prompt-record.h"

#include <errno.h>
#include <unistd.h>

#include "app/logs.h"
#include "app/recipes.h"
#include "base/file.h"
#include "hosts/cli/follow.h"

enum { SHOWN_MAX = 64 << 20 };

/* The prompt becomes our standard input, and with it the agent's. */
static bool give_prompt(struct cli *cli, struct str prompt)
{
	AUTO_CLOSE int fd = file_temp();
	int n = fd < 0 ? fd : fd_write_all(fd, prompt);

	if (n == 0 && (lseek(fd, 0, SEEK_SET) < 0 || dup2(fd, STDIN_FILENO) < 0))
		n = -errno;
	return n == 0 || report_errno(&cli->report, -n, "cannot hand over the prompt");
}

struct recording {
	struct cli *cli;
	struct recipe_ref *ref;
	struct buf dir; /* of the run, once it is known */
};

static struct run_handle *start(void *data, const struct request *q, struct report *r)
{
	struct recording *rec = data;
	struct run_handle *h = runs_start(cli_app(rec->cli), rec->ref, q, r);

	if (h)
		buf_add(&rec->dir, run_dir(h));
	return h;
}

static bool prepare(struct cli *cli, const struct agents_launch *launch, struct recording *rec,
	struct request *q)
{
	const struct agents_command command = agents_launch_command(launch), *p = &command;

	if (chdir(p->cwd) < 0)
		return report_errno(&cli->report, errno, "cannot go to '%s'", p->cwd);
	rec->ref = agents_launch_ref(cli_app(cli), launch, &cli->report);
	if (!rec->ref || (p->gives_stdin && !give_prompt(cli, p->prompt)))
		return false;
	q->env = json_array();
	for (size_t i = 0; i < p->envc; i++)
		json_array_append_new(q->env, json_from_str(str_of(p->env[i])));
	return true;
}

static int read_kept(struct recording *rec, const char *name, struct buf *ret)
{
	return run_kept_read(buf_cstr(&rec->dir), name, SHOWN_MAX, ret);
}

/* The run tells how it went; who launches an agent wants the agent's own status. */
static int agent_status(struct recording *rec, int status)
{
	AUTO_BUF text = BUF_INIT;
	bool read = read_kept(rec, "result.json", &text) == 0;
	AUTO_JSON *result = read ? json_loadb(text.p, text.len, 0, NULL) : NULL;
	int code = (int)json_integer_value(json_object_get(result, "code"));

	return status == 1 && code ? code : status == 3 ? 0 : status;
}

/* What a failed agent said is worth showing; the result of a failed run has none. */
static void show_failed(struct recording *rec)
{
	AUTO_BUF said = BUF_INIT;

	if (read_kept(rec, "out/0.out", &said) == 0)
		(void)cli_print(buf_str(&said));
}

/* Its standard error, without the path of the node before each line: there is only one. */
static void show_errors(struct recording *rec)
{
	AUTO_BUF log = BUF_INIT;
	AUTO_BUF text = BUF_INIT;

	if (read_kept(rec, "stderr.log", &log) < 0)
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

int prompt_record(struct cli *cli, struct agents_launch *launch, struct str name, bool json)
{
	const struct agents_command command = agents_launch_command(launch), *p = &command;
	struct run_opts o = RUN_OPTS_DEFAULTS;
	struct recording rec = { .cli = cli };
	struct request q = REQUEST_INIT;
	bool terminal = !json && !p->gives_stdin && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	int status;

	o.silent = true;
	if (prepare(cli, launch, &rec, &q)) {
		q.record = true;
		q.name = arena_cstr(&cli->arena, name);
		q.how = "prompt";
		q.detach = DETACH_NEVER;
		q.terminal = terminal;
		q.warnings = agents_launch_warnings(launch);
		q.stdin_fd = terminal || isatty(STDIN_FILENO) ? -1 : STDIN_FILENO;
		status = follow(
			cli, &q, &o, json, &(struct follow_start){ .start = start, .data = &rec });
		if (rec.dir.len && !json && !terminal) {
			if (status == 1)
				show_failed(&rec);
			show_errors(&rec);
		}
		status = rec.dir.len ? agent_status(&rec, status) : status;
	} else {
		status = cli_refuse(cli, json);
	}
	recipe_ref_free(rec.ref);
	json_decref(q.env);
	buf_done(&rec.dir);
	return status;
}
