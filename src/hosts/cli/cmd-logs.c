/* Commands that follow a run: logs, wait. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "app/logs.h"
#include "app/worker.h"
#include "base/file.h"
#include "base/plain-text.h"
#include "hosts/cli/commands.h"
#include "hosts/cli/run-operand.h"
#include "hosts/cli/shown.h"

/* -- logs ----------------------------------------------------------------------------------------
 */

struct logs_opts {
	bool follow, result, out, err;
	uint64_t attempt, offset, limit, worker;
	const char *find;
	struct common_opts common;
};

static const struct opt logs_opts[] = {
	OPT_FLAG('f', "follow", struct logs_opts, follow, "follow until the run ends"),
	OPT_FLAG(0, "result", struct logs_opts, result, "only the primary output of the run"),
	OPT_FLAG(0, "out", struct logs_opts, out, "only standard output of NODE"),
	OPT_FLAG(0, "err", struct logs_opts, err, "only standard error of NODE"),
	OPT_NUMBER(0, "attempt", "N", struct logs_opts, attempt, 1, UINT32_MAX,
		"of the Nth attempt of NODE (the last one)"),
	OPT_NUMBER(0, "worker", "N", struct logs_opts, worker, 1, UINT32_MAX,
		"what the job of worker N of a batch system printed itself"),
	OPT_NUMBER(0, "offset", "N", struct logs_opts, offset, 0, INT64_MAX,
		"leave out the first N bytes"),
	OPT_NUMBER(0, "limit", "N", struct logs_opts, limit, 1, INT64_MAX, "at most N bytes"),
	OPT_TEXT(0, "find", "TEXT", struct logs_opts, find, "only lines with TEXT in them"),
};

static const struct opt_set logs_sets[] = {
	OPT_SET("Options", logs_opts),
	COMMON_SET(struct logs_opts),
};

enum { PIECE = 64 * 1024, LINE_MOST = 1 << 20 };

/* A part of what is printed: bytes, and of these lines. */
struct slice {
	int fd;
	uint64_t skip, left; /* bytes to leave out; to print, UINT64_MAX: all */
	struct str find;
	struct buf line; /* that has no end yet; only when something is looked for */
};

static struct slice slice_of(const struct logs_opts *o, int fd)
{
	return (struct slice){ .fd = fd,
		.skip = o->offset,
		.left = o->limit ? o->limit : UINT64_MAX,
		.find = str_of(o->find) };
}

/* The line, when it has what is looked for. -errno. */
static int print_line(struct slice *s, bool ended)
{
	struct str line = buf_str(&s->line);
	int e = 0;

	if (line.len && str_contains(line, s->find)) {
		if (!ended)
			buf_addc(&s->line, '\n');
		e = fd_write_all(s->fd, buf_str(&s->line));
	}
	buf_reset(&s->line);
	return e;
}

static int print_found(struct slice *s, struct str text)
{
	int e = 0;

	while (!e && text.len) {
		size_t end = str_find(text, '\n', 0);
		bool ended = end < text.len;

		buf_add(&s->line, str_sub(text, 0, end + ended));
		if (ended || s->line.len > LINE_MOST)
			e = print_line(s, ended);
		text = str_from(text, end + ended);
	}
	return e;
}

static int print_slice(struct slice *s, struct str text)
{
	size_t skipped = (size_t)MIN(s->skip, (uint64_t)text.len);

	s->skip -= skipped;
	text = str_from(text, skipped);
	text.len = (size_t)MIN(s->left, (uint64_t)text.len);
	s->left -= s->left == UINT64_MAX ? 0 : text.len;
	return s->find.len ? print_found(s, text) : fd_write_all(s->fd, text);
}

/* What is shown of a run, and how far it has been. */
struct tails {
	const struct logs_opts *o;
	struct run_handle *run;
	struct story *story;  /* the whole story, or */
	struct run_node node; /* one command, its texts in the arena, or */
	struct arena arena;
	const char *word; /* how it was named; NULL: a run, a group, or one attempt of it */
	bool result;      /* the primary output */
	struct log_cursor at[2];
	struct slice to[2];
	int error; /* -errno */
	enum log_stream broken;
	bool ended;
	bool unseen; /* it cannot be looked at: what is followed may have ended */
};

static int put_story(void *data, struct str lines)
{
	struct tails *t = data;

	return print_slice(&t->to[LOG_STDOUT], lines);
}

static int read_piece(struct tails *t, struct log_cursor *at, struct buf *piece)
{
	return t->result ? run_log_read(t->run, at, PIECE, piece)
			 : run_node_read(t->run, &t->node, at, PIECE, piece);
}

static void show_stream(struct tails *t, enum log_stream s)
{
	struct slice *to = &t->to[s];
	AUTO_BUF piece = BUF_INIT;

	t->broken = s;
	t->at[s].stream = s;
	if (!t->at[s].at && to->skip) { /* is not even read */
		t->at[s].at = to->skip;
		to->skip = 0;
	}
	do {
		buf_reset(&piece);
		t->error = read_piece(t, &t->at[s], &piece);
		if (!t->error && piece.len)
			t->error = print_slice(to, buf_str(&piece));
	} while (!t->error && piece.len == PIECE && to->left);
}

static void show(void *data)
{
	struct tails *t = data;

	if (t->story) {
		t->error = run_story_read(t->story, t->ended, put_story, t);
		return;
	}
	if (t->result || !t->o->err)
		show_stream(t, LOG_STDOUT);
	if (!t->error && !t->result && !t->o->out)
		show_stream(t, LOG_STDERR);
}

/* The next search ends the texts that this one has found. */
static void take_node(struct tails *t, const struct run_node *node)
{
	t->node = *node;
	t->node.path = arena_str(&t->arena, node->path);
	t->node.label = arena_str(&t->arena, node->label);
}

/* A command that is tried again continues with its next attempt. */
static void follow_attempts(void *data)
{
	struct tails *t = data;
	AUTO_REPORT ignored = REPORT_INIT;
	struct run_node now;

	show(t);
	while (!t->error && t->word && run_node_find(t->run, t->word, 0, &now, &ignored) &&
		!now.group && now.number != t->node.number) {
		AUTO_BUF line = BUF_INIT;

		buf_adds(&line, "roux: [");
		text_name(&line, now.path, now.label, S(""));
		buf_printf(&line, "] attempt %" PRIu64 "\n", now.attempt);
		show(t); /* what came between the two looks */
		cli_say(buf_str(&line));
		take_node(t, &now);
		t->at[LOG_STDOUT] = t->at[LOG_STDERR] = (struct log_cursor){ 0 };
		show(t);
	}
}

static void on_ended(void *data)
{
	((struct tails *)data)->ended = true;
}

static void on_unseen(void *data)
{
	((struct tails *)data)->unseen = true;
}

/* Watching begins before the first look: nothing can fall in between. False with an issue. */
static bool follow_logs(struct cli *cli, struct tails *t)
{
	int e = run_observe(t->run, &(struct observer){ .changed = follow_attempts,
					    .ended = on_ended,
					    .unseen = on_unseen,
					    .data = t });
	if (e < 0)
		return run_unobserved(t->run, e, &cli->report);
	follow_attempts(t);
	while (!t->ended && !t->unseen && !t->error && app_turn(cli_app(cli), -1) >= 0)
		;
	return t->ended || !t->unseen || run_wait(t->run, &cli->report);
}

/* Says what could not be copied. Returns an exit status. */
static int copied(struct cli *cli, const struct tails *t)
{
	if (!t->error)
		return 0;
	if (t->error == -EPIPE)
		return 128 + SIGPIPE;
	report_errno(&cli->report, -t->error, "cannot copy %s",
		t->story    ? "what the commands printed"
		: t->result ? run_log_path(t->run, t->broken)
			    : run_node_path(t->run, &t->node, t->broken));
	return cli_refuse(cli, false);
}

static int show_logs(struct cli *cli, struct tails *t)
{
	t->to[LOG_STDOUT] = slice_of(t->o, STDOUT_FILENO);
	t->to[LOG_STDERR] = slice_of(t->o, STDERR_FILENO);
	bool seen = !t->o->follow || follow_logs(cli, t);
	t->ended = true; /* lines without an end are shown too */
	if (!t->error)
		(t->o->follow ? follow_attempts : show)(t);
	for (int s = LOG_STDOUT; s <= LOG_STDERR; s++) {
		if (!t->error && t->to[s].find.len)
			t->error = print_line(&t->to[s], false);
		buf_done(&t->to[s].line);
	}
	run_story_close(t->story);
	int status = seen || t->error ? copied(cli, t) : cli_refuse(cli, false);
	arena_done(&t->arena);
	return status;
}

/* -- as a document -------------------------------------------------------------------------------
 */

static void log_member(json_t *doc, struct tails *t, enum log_stream stream)
{
	enum { MOST = 1 << 20 };
	static const char *const names[][2] = { { "stdout", "stdout_path" },
		{ "stderr", "stderr_path" } };
	struct log_cursor at = { .stream = stream, .at = t->o->offset };
	size_t most = (size_t)MIN(t->o->limit ? t->o->limit : MOST + 1, (uint64_t)MOST + 1);
	AUTO_BUF text = BUF_INIT;
	int e = t->result ? run_log_read(t->run, &at, most, &text)
			  : run_node_read(t->run, &t->node, &at, most, &text);
	const char *path =
		t->result ? run_log_path(t->run, stream) : run_node_path(t->run, &t->node, stream);

	json_object_set_new(doc, names[stream][0],
		e == 0 && text.len <= MOST ? json_from_str(buf_str(&text)) : json_null());
	json_object_set_new(doc, names[stream][1], json_from_str(str_of(path)));
}

static int logs_document(struct tails *t)
{
	json_t *doc = json_pack("{s:b, s:o}", "ok", 1, "run", json_from_str(run_id(t->run)));

	t->result = !t->node.path.len;
	if (!t->result) {
		json_object_set_new(doc, "path", json_from_str(t->node.path));
		json_object_set_new(doc, "label",
			t->node.label.len ? json_from_str(t->node.label) : json_null());
		json_object_set_new(doc, "attempt", json_integer((json_int_t)t->node.attempt));
		json_object_set_new(doc, "attempts", json_integer((json_int_t)t->node.attempts));
	}
	log_member(doc, t, LOG_STDOUT);
	log_member(doc, t, LOG_STDERR);
	return cli_print_json(doc);
}

/* -- the command ---------------------------------------------------------------------------------
 */

static bool check_options(struct cli *cli, const struct logs_opts *o, bool node)
{
	if (o->out && o->err)
		return report_error(
			&cli->report, (struct where){ 0 }, "--out and --err contradict each other");
	if (node && o->result)
		return report_error(&cli->report, (struct where){ 0 },
			"--result is the output of the run: no NODE is named beside it");
	if (!node && (o->out || o->err || o->attempt)) {
		report_error(&cli->report, (struct where){ 0 },
			"--out, --err and --attempt are about one command: name its NODE");
		return report_hint(&cli->report, "roux logs RUN NODE --err");
	}
	return true;
}

static void wake(void *data)
{
	(void)data; /* the loop has turned, and that is all */
}

/* With -f a command that has not been started is waited for. */
static bool find_node(struct cli *cli, struct tails *t, const char *word)
{
	const struct observer o = {
		.changed = wake, .ended = on_ended, .unseen = on_unseen, .data = t
	};
	AUTO_REPORT missing = REPORT_INIT;
	bool watched = false;

	for (;;) {
		bool over = t->ended || !t->o->follow || run_status(t->run) != ROUX_RUNNING;

		report_reset(&missing);
		struct run_node node;
		if (run_node_find(t->run, word, t->o->attempt, &node, &missing)) {
			take_node(t, &node);
			t->ended = false;
			return true;
		}
		int e = watched ? 0 : run_observe(t->run, &o);
		if (e < 0)
			return run_unobserved(t->run, e, &cli->report);
		watched = true;
		if (t->unseen && !run_wait(t->run, &cli->report))
			return false;
		t->unseen = false;
		if (over || app_turn(cli_app(cli), -1) < 0) {
			report_move(&cli->report, &missing);
			return false;
		}
	}
}

static int worker_log(struct cli *cli, const struct run_handle *run, const struct logs_opts *o)
{
	AUTO_BUF text = BUF_INIT;

	if (!run_worker_log(run, o->worker, &text, &cli->report))
		return cli_refuse(cli, o->common.json);
	return fd_write_all(STDOUT_FILENO, buf_str(&text)) < 0 ? 1 : 0;
}

static int run_logs(const struct call *call)
{
	struct cli *cli = call->host;
	const struct logs_opts *o = call->opts;
	bool node = call->count > 1;
	int status;

	if (!check_options(cli, o, node))
		return cli_refuse(cli, o->common.json);
	AUTO_RUN *run = run_operand(cli, &o->common, call->words[0], &status);
	if (!run)
		return status;
	if (o->worker)
		return worker_log(cli, run, o);
	struct tails t = { .run = run, .o = o, .result = o->result };
	if (node && !find_node(cli, &t, call->words[1]))
		return cli_refuse(cli, o->common.json); /* nothing was taken */
	if (o->common.json) {
		if (o->follow && !run_wait(run, &cli->report))
			return cli_refuse(cli, true);
		status = logs_document(&t);
		arena_done(&t.arena);
		return status;
	}
	if (node && !t.node.group && !o->attempt)
		t.word = call->words[1];
	if (!o->result && (!node || t.node.group))
		t.story = run_story_open(run, t.node.path);
	return show_logs(cli, &t);
}

static const struct command_example logs_examples[] = {
	{ "roux logs -f review", "watch a detached run" },
	{ "roux logs -f review 0 --err", "what one command complains about" },
	{ "roux logs review --result", "the output of the run, byte for byte" },
};

const struct command cmd_logs = {
	.name = "logs",
	.operands = "RUN [NODE]",
	.summary = "print what the commands of a run have printed",
	.details =
		"Without NODE: every line that the commands of the run have printed, with the name "
		"of "
		"its command before it, in the order in which they came. With the path or the "
		"label "
		"of a command: what it printed, byte for byte, its standard output to standard "
		"output "
		"and its standard error to standard error. Of a group: the lines of its commands.",
	EXAMPLES(logs_examples),
	SETS(logs_sets, struct logs_opts),
	.min_operands = 1,
	.max_operands = 2,
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
