/* Commands that follow a run: logs, wait. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/run-status.h"
#include "hosts/cli/commands.h"
#include "hosts/cli/run-operand.h"
#include "runs/dir/follower.h"
#include "runs/dir/run-dir.h"
#include "runs/look/watch.h"

/* -- copying what grows --------------------------------------------------------------------------
 */

/* A log and where it is shown. */
struct tail {
	struct follower log;
	int to;
};

static int show_piece(void *data, struct str piece)
{
	return fd_write_all(*(int *)data, piece);
}

/* What has come since. -errno. */
static int tail_copy(struct tail *t)
{
	return follower_read_bytes(&t->log, show_piece, &t->to);
}

/* Standard output and standard error of a run. */
static void tails_open(struct tail tails[2], const struct run_look *look)
{
	follower_init(&tails[0].log, look->dir.p, "stdout.log", 0);
	follower_init(&tails[1].log, look->dir.p, "stderr.log", 0);
	tails[0].to = STDOUT_FILENO;
	tails[1].to = STDERR_FILENO;
}

static void tails_close(struct tail tails[2])
{
	follower_done(&tails[0].log);
	follower_done(&tails[1].log);
}

/* Says what could not be copied. Returns an exit status. */
static int copy_failed(struct cli *cli, int error, const char *path)
{
	if (error == -EPIPE)
		return 128 + SIGPIPE;
	report_errno(&cli->report, -error, "cannot copy %s", path);
	return cli_refuse(cli, false);
}

/* -- logs ----------------------------------------------------------------------------------------
 */

struct logs_opts {
	bool follow;
	struct common_opts common;
};

static const struct opt logs_opts[] = {
	OPT_FLAG('f', "follow", struct logs_opts, follow, "go on until the run has ended"),
};

static const struct opt_set logs_sets[] = {
	OPT_SET("Options", logs_opts),
	COMMON_SET(struct logs_opts),
};

static int show_both(struct cli *cli, struct tail tails[2])
{
	for (size_t i = 0; i < 2; i++) {
		int e = tail_copy(&tails[i]);

		if (e < 0)
			return copy_failed(cli, e, buf_cstr(&tails[i].log.path));
	}
	return 0;
}

/* Watching begins before the first look: nothing can fall in between. */
static int follow_logs(struct cli *cli, const struct run_look *look, struct tail tails[2])
{
	struct run_watch watch;
	int e = run_watch_open(&watch, look, true);
	int status = 0;
	bool ended = !look->live;

	if (e < 0) {
		report_errno(&cli->report, -e, "cannot watch %.*s", STR(look->dir));
		status = cli_refuse(cli, false);
	}
	while (status == 0) {
		/* Once more after the end: that is when the rest is there. */
		status = show_both(cli, tails);
		if (ended)
			break;
		if (status == 0)
			ended = run_watch_next(&watch, -1) == WATCH_ENDED;
	}
	run_watch_close(&watch);
	return status;
}

static void log_member(struct buf *b, const char *name, const char *path)
{
	enum { MOST = 1 << 20 };
	AUTO_BUF text = BUF_INIT;
	int e = file_read(path, MOST, &text);

	buf_printf(b, ",\"%s\":", name);
	if (e == 0)
		json_write_str(b, buf_str(&text));
	else
		buf_adds(b, e == -ENOENT ? "\"\"" : "null");
	buf_printf(b, ",\"%s_path\":", name);
	json_write_str(b, str_of(path));
}

static int logs_document(struct cli *cli, const struct run_look *look)
{
	AUTO_BUF text = BUF_INIT;

	buf_adds(&text, "{\"ok\":true,\"run\":");
	json_write_str(&text, look->id);
	log_member(&text, "stdout", run_file(&cli->arena, look->dir, "stdout.log"));
	log_member(&text, "stderr", run_file(&cli->arena, look->dir, "stderr.log"));
	buf_adds(&text, "}\n");
	return cli_print(buf_str(&text));
}

/* One that is being started has no lock yet, and somebody may have deleted its file: then the
 * process is what is left to watch. */
static void watch_once(const struct run_look *look)
{
	struct run_watch watch;

	if (run_watch_open(&watch, look, true) == 0)
		(void)run_watch_next(&watch, -1);
	run_watch_close(&watch);
}

/* Blocks until the run has ended and looks again. The lock is waited for even when the result is
 * there already: whoever waited may delete the run or start it again. False: answered. */
static bool await_end(
	struct cli *cli, struct run_operand *run, const char *word, bool json, int *status)
{
	for (;;) {
		const char *reason = NULL;
		struct run_look now;

		run_unlocked_wait(run->look.dir.p);
		if (!runs_find(&run->runs, word, &now, &reason, &cli->report)) {
			*status = cli_forbid(cli, json, run->look.id, reason);
			look_done(&now);
			return false;
		}
		look_done(&run->look);
		run->look = now;
		if (!now.live || now.result)
			return true;
		watch_once(&run->look);
	}
}

static int run_logs(void *host, const struct command *c, const void *opts, size_t count,
	const char *const *words)
{
	struct cli *cli = host;
	const struct logs_opts *o = opts;
	AUTO_RUN run = { 0 };
	int status;

	(void)c;
	(void)count;
	if (!run_operand_find(cli, &o->common, words[0], &run, &status))
		return status;
	if (o->common.json) {
		if (o->follow && !await_end(cli, &run, words[0], true, &status))
			return status;
		return logs_document(cli, &run.look);
	}
	struct tail tails[2];
	tails_open(tails, &run.look);
	status = o->follow ? follow_logs(cli, &run.look, tails) : show_both(cli, tails);
	tails_close(tails);
	return status;
}

static const struct command_example logs_examples[] = {
	{ "roux logs -f review", "watch a detached run" },
	{ "roux logs review 2>/dev/null", "only what it printed" },
};

const struct command cmd_logs = {
	.name = "logs",
	.operands = "RUN",
	.summary = "print what a run has written so far",
	.details = "Its output goes to standard output, byte for byte; the standard error of its "
		   "commands, with their names, to standard error.",
	.examples = logs_examples,
	.example_count = ARRAY_SIZE(logs_examples),
	.sets = logs_sets,
	.set_count = ARRAY_SIZE(logs_sets),
	.options_size = sizeof(struct logs_opts),
	.min_operands = 1,
	.max_operands = 1,
	.complete = COMPLETE_RUN,
	.run = run_logs,
};

/* -- wait ----------------------------------------------------------------------------------------
 */

struct wait_opts {
	bool strict, tolerate;
	struct common_opts common;
};

static const struct opt wait_opts[] = {
	OPT_FLAG(0, "strict", struct wait_opts, strict, "end with 3 after tolerated failures too"),
	OPT_FLAG(0, "tolerate", struct wait_opts, tolerate,
		"end with 0 after failures that were passed over"),
};

static const struct opt_set wait_sets[] = {
	OPT_SET("Options", wait_opts),
	COMMON_SET(struct wait_opts),
};

static int answer_json(struct cli *cli, const struct run_look *look)
{
	AUTO_BUF text = BUF_INIT;
	int e = runs_result(look, &text);

	if (e < 0) {
		report_errno(
			&cli->report, -e, "cannot read the output of run '%.*s'", STR(look->id));
		return cli_refuse(cli, true);
	}
	return cli_print(buf_str(&text));
}

static int answer_text(struct cli *cli, const struct run_look *look, bool quiet)
{
	AUTO_BUF text = BUF_INIT;

	if (status_ok(runs_status_of(look->status))) {
		struct tail output = { .to = STDOUT_FILENO };

		follower_init(&output.log, look->dir.p, "stdout.log", 0);
		int e = tail_copy(&output);
		follower_done(&output.log);
		if (e < 0)
			return copy_failed(cli, e, run_file(&cli->arena, look->dir, "stdout.log"));
	}
	if (quiet)
		return 0;
	runs_result_text(look, &text);
	cli_say(buf_str(&text));
	return 0;
}

int run_answer(struct cli *cli, const struct run_look *look, bool json, bool quiet)
{
	return json ? answer_json(cli, look) : answer_text(cli, look, quiet);
}

static int run_wait(void *host, const struct command *c, const void *opts, size_t count,
	const char *const *words)
{
	struct cli *cli = host;
	const struct wait_opts *o = opts;
	AUTO_RUN run = { 0 };
	int status;

	(void)c;
	(void)count;
	if (!run_operand_find(cli, &o->common, words[0], &run, &status) ||
		!await_end(cli, &run, words[0], o->common.json, &status))
		return status;
	status = o->common.json ? answer_json(cli, &run.look) : answer_text(cli, &run.look, false);
	return status ? status : runs_exit(&run.look, o->strict, o->tolerate);
}

static const struct command_example wait_examples[] = {
	{ "roux wait review && echo good", "the exit status is the run's" },
	{ "roux wait review --json", "its result as a document" },
};

const struct command cmd_wait = {
	.name = "wait",
	.operands = "RUN",
	.summary = "wait until a run has ended; print its output and end as it did",
	.details = "Exit status: as `roux run` would have ended: 0 done, 1 failed, 3 done with "
		   "failures "
		   "passed over, 4 waiting for an approval, 124 time limit, 130 cancelled, 137 "
		   "killed; "
		   "2 when there is no such run.",
	.examples = wait_examples,
	.example_count = ARRAY_SIZE(wait_examples),
	.sets = wait_sets,
	.set_count = ARRAY_SIZE(wait_sets),
	.options_size = sizeof(struct wait_opts),
	.min_operands = 1,
	.max_operands = 1,
	.complete = COMPLETE_RUN,
	.run = run_wait,
};
