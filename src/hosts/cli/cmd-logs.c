/* Commands that follow a run: logs, wait. */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "app/logs.h"
#include "base/file.h"
#include "hosts/cli/commands.h"
#include "hosts/cli/run-operand.h"
#include "hosts/cli/shown.h"

/* -- logs ----------------------------------------------------------------------------------------
 */

struct logs_opts {
	bool follow;
	struct common_opts common;
};

static const struct opt logs_opts[] = {
	OPT_FLAG('f', "follow", struct logs_opts, follow, "continue until the run has ended"),
};

static const struct opt_set logs_sets[] = {
	OPT_SET("Options", logs_opts),
	COMMON_SET(struct logs_opts),
};

/* Both logs, and how far they have been shown. */
struct tails {
	struct run_handle *run;
	struct log_cursor at[2];
	int error; /* -errno */
	enum log_stream broken;
	bool ended;
};

enum { PIECE = 64 * 1024 };

static void show(void *data)
{
	struct tails *t = data;

	for (enum log_stream s = LOG_STDOUT; s <= LOG_STDERR && !t->error; s++) {
		AUTO_BUF piece = BUF_INIT;

		t->broken = s;
		t->at[s].stream = s;
		do {
			buf_reset(&piece);
			t->error = run_log_read(t->run, &t->at[s], PIECE, &piece);
			if (!t->error && piece.len)
				t->error = fd_write_all(
					s == LOG_STDOUT ? STDOUT_FILENO : STDERR_FILENO,
					buf_str(&piece));
		} while (!t->error && piece.len == PIECE);
	}
}

static void on_ended(void *data)
{
	((struct tails *)data)->ended = true;
}

/* Watching begins before the first look: nothing can fall in between. */
static void follow_logs(struct cli *cli, struct tails *t)
{
	(void)run_observe(
		t->run, &(struct observer){ .changed = show, .ended = on_ended, .data = t });
	show(t);
	while (!t->ended && !t->error && app_turn(cli_app(cli), -1) >= 0)
		;
	show(t); /* once more after the end: that is when the rest is there */
}

/* Says what could not be copied. Returns an exit status. */
static int copied(struct cli *cli, const struct tails *t)
{
	if (!t->error)
		return 0;
	if (t->error == -EPIPE)
		return 128 + SIGPIPE;
	report_errno(&cli->report, -t->error, "cannot copy %s", run_log_path(t->run, t->broken));
	return cli_refuse(cli, false);
}

static void log_member(json_t *doc, struct run_handle *run, enum log_stream stream)
{
	enum { MOST = 1 << 20 };
	static const char *const names[][2] = { { "stdout", "stdout_path" },
		{ "stderr", "stderr_path" } };
	struct log_cursor at = { .stream = stream };
	AUTO_BUF text = BUF_INIT;
	int e = run_log_read(run, &at, MOST + 1, &text);

	json_object_set_new(doc, names[stream][0],
		e == 0 && text.len <= MOST ? json_from_str(buf_str(&text)) : json_null());
	json_object_set_new(
		doc, names[stream][1], json_from_str(str_of(run_log_path(run, stream))));
}

static int logs_document(struct run_handle *run)
{
	json_t *doc = json_pack("{s:b, s:o}", "ok", 1, "run", json_from_str(run_id(run)));

	log_member(doc, run, LOG_STDOUT);
	log_member(doc, run, LOG_STDERR);
	return cli_print_json(doc);
}

static int run_logs(const struct call *call)
{
	struct cli *cli = call->host;
	const struct logs_opts *o = call->opts;
	int status;
	AUTO_RUN *run = run_operand(cli, &o->common, call->words[0], &status);

	if (!run)
		return status;
	struct tails t = { .run = run };
	if (o->common.json) {
		if (o->follow && !run_wait(run, &cli->report))
			return cli_refuse(cli, true);
		return logs_document(run);
	}
	if (o->follow)
		follow_logs(cli, &t);
	else
		show(&t);
	return copied(cli, &t);
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
	EXAMPLES(logs_examples),
	SETS(logs_sets, struct logs_opts),
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
	OPT_FLAG(0, "tolerate", struct wait_opts, tolerate, "end with 0 also when commands failed"),
};

static const struct opt_set wait_sets[] = {
	OPT_SET("Options", wait_opts),
	COMMON_SET(struct wait_opts),
};

static int wait_for(const struct call *call)
{
	struct cli *cli = call->host;
	const struct wait_opts *o = call->opts;
	int status;
	AUTO_RUN *run = run_operand(cli, &o->common, call->words[0], &status);

	if (!run)
		return status;
	if (!run_wait(run, &cli->report))
		return cli_refuse(cli, o->common.json);
	const struct ending_options judged = { o->strict, o->tolerate };
	status = run_answer(cli, run, &judged, o->common.json, false);
	return status ? status : shown_exit(run, &judged);
}

static const struct command_example wait_examples[] = {
	{ "roux wait review && echo good", "the exit status is the run's" },
	{ "roux wait review --json", "its result as a document" },
};

const struct command cmd_wait = {
	.name = "wait",
	.operands = "RUN",
	.summary = "wait until a run has ended; print its output and end as it did",
	.details = "Exit status: as `roux run` would have ended: 0 done, 1 failed, 3 finished "
		   "but commands failed, 4 waiting for an approval, 124 time limit, 130 cancelled, "
		   "137 "
		   "killed; "
		   "2 when there is no such run.",
	EXAMPLES(wait_examples),
	SETS(wait_sets, struct wait_opts),
	.min_operands = 1,
	.max_operands = 1,
	.complete = COMPLETE_RUN,
	.run = wait_for,
};
