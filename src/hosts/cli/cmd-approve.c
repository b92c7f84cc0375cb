#include "app/gates.h"
#include "base/plain-text.h"
#include "hosts/cli/ask.h"
#include "hosts/cli/commands.h"
#include "hosts/cli/resume.h"
#include "hosts/cli/run-operand.h"

/* Answers at the gates of step recipes. Nothing is run here: `resume` does. */

struct answer_opts {
	struct common_opts common;
	const char *message, *reason;
	bool resume;
	unsigned in_doubt;
};

static const struct opt approve_opts[] = {
	OPT_TEXT(0, "message", "TEXT", struct answer_opts, message,
		"what later steps read as {{_approval_message}}"),
	OPT_FLAG(0, "resume", struct answer_opts, resume, "continue the run at once"),
	OPT_CHOICE(0, "in-doubt", doubt_words, struct answer_opts, in_doubt,
		"with --resume: " DOUBT_HELP),
};

static const struct opt deny_opts[] = {
	OPT_TEXT(0, "reason", "TEXT", struct answer_opts, reason, "kept with the run"),
};

static const struct opt_set approve_sets[] = {
	OPT_SET("Options", approve_opts),
	COMMON_SET(struct answer_opts),
};

static const struct opt_set deny_sets[] = {
	OPT_SET("Options", deny_opts),
	COMMON_SET(struct answer_opts),
};

static const char *run_word(const char *word)
{
	return str_starts(str_of(word), S("run:")) ? word + 4 : word;
}

/* The name of a stage is the recipe's, or what a process has written to gates.json since. */
static void name_gate(struct buf *b, const char *run, struct str stage)
{
	buf_adds(b, "stage '");
	text_plain(b, stage);
	buf_printf(b, "' of run '%s' is ", run);
}

/* One that was killed on its way to the gate has still to hear of it. */
static bool run_has_ended(struct cli *cli, const char *run)
{
	AUTO_REPORT ignored = REPORT_INIT;
	struct run_handle *h = runs_open(cli_app(cli), run, &ignored);
	bool ended = !h || run_status(h) == ROUX_DENIED;

	if (h)
		run_close(h);
	return ended;
}

/* What becomes of it now: the process that asks the question continues it, or the caller does. */
static int tell(struct cli *cli, const char *run, struct str stage, bool approve, bool asked)
{
	AUTO_BUF text = BUF_INIT;

	name_gate(&text, run, stage);
	buf_adds(&text, approve ? "approved; " : "denied; ");
	if (asked)
		buf_adds(&text, "the terminal that asks for it continues the run\n");
	else if (approve)
		buf_printf(&text, "nothing runs until `roux resume %s`\n", run);
	else if (run_has_ended(cli, run))
		buf_adds(&text, "the run has ended\n");
	else
		buf_printf(&text, "`roux resume %s` ends the run\n", run);
	return cli_print(buf_str(&text));
}

static int tell_json(const char *run, struct str stage, bool approve)
{
	return cli_print_json(json_pack("{s:b, s:s, s:s, s:o}", "ok", 1, "status",
		approve ? "approved" : "denied", "run", run, "stage", json_from_str(stage)));
}

/* How long another process that has the run is waited for, and how often. */
enum { TELLS_MS = 2000, RESUMES_MS = 10000, RESUMES = 3 };

struct told {
	struct cli *cli;
	const char *word;
	const struct gate_decided *decided;
	bool left; /* one that had the run has let go of it */
};

/* Another process has taken the run up before the answer, or between the answer and us, and
 * continues it. */
static int tell_taken(const struct told *t, bool approve, bool json)
{
	AUTO_BUF text = BUF_INIT;

	if (json)
		return tell_json(run_word(t->word), t->decided->stage, approve);
	name_gate(&text, run_word(t->word), t->decided->stage);
	buf_adds(&text, approve ? "approved; another roux continues it\n"
				: "denied; another roux has the run and ends it\n");
	return cli_print(buf_str(&text));
}

/* What that process makes of it is not known yet. */
static int tell_waiting(const struct told *t, bool approve, bool json)
{
	AUTO_BUF text = BUF_INIT;

	if (json)
		return tell_json(run_word(t->word), t->decided->stage, approve);
	name_gate(&text, run_word(t->word), t->decided->stage);
	buf_printf(&text, "%s; another roux has the run and has not come to it yet\n",
		approve ? "approved" : "denied");
	return cli_print(buf_str(&text));
}

/* What keeps the run from being continued does not take the answer back. */
static int tell_kept(const struct told *t, bool json)
{
	AUTO_BUF text = BUF_INIT;
	struct str stage = t->decided->stage;

	if (json)
		report_hint(&t->cli->report,
			"stage '%.*s' is approved; `roux resume %s` continues the run", STR(stage),
			run_word(t->word));
	buf_adds(&text, "roux: ");
	name_gate(&text, run_word(t->word), stage);
	buf_adds(&text, "approved, but the run could not be continued\n");
	if (!json)
		cli_say(buf_str(&text));
	return -1;
}

static int refuse_waiting(const struct told *t, bool json)
{
	report_refuse(&t->cli->report, t->decided->run, "running",
		"another roux has the run '%.*s' and has not come to the gate yet",
		STR(t->decided->run));
	report_action(&t->cli->report, ACTION_STATUS, t->decided->run);
	(void)tell_kept(t, json);
	return cli_refuse(t->cli, json);
}

static int tell_refused(void *data, bool taken, bool json)
{
	struct told *t = data;
	enum gate_fate fate =
		taken ? gate_await(cli_app(t->cli), t->decided, RESUMES_MS) : GATE_NOT_REACHED;

	if (fate == GATE_HEARD)
		return tell_taken(t, true, json);
	t->left = fate == GATE_LET_GO;
	return t->left ? 0 : tell_kept(t, json);
}

/* Another one may have the run for a moment, and be refused. */
static int resume(struct told *t, const struct answer_opts *o)
{
	const struct common_opts common = { .json = o->common.json };
	int status = 0;

	for (int i = 0; i < RESUMES && (i == 0 || t->left); i++) {
		if (t->left)
			report_reset(&t->cli->report);
		t->left = false;
		status = cli_resume(t->cli, t->word, &common, o->in_doubt, tell_refused, t);
	}
	if (!t->left)
		return status;
	(void)tell_kept(t, o->common.json);
	return cli_refuse(t->cli, o->common.json);
}

/* Continues it when that was asked for, or is wanted now. */
static int go_on(struct cli *cli, const struct answer_opts *o, const char *word,
	const struct gate_decided *decided, bool approve, bool asked)
{
	struct told told = { .cli = cli, .word = word, .decided = decided };
	bool json = o->common.json, resumes = o->resume && !asked;
	enum gate_fate fate = decided->under_way ? gate_await(cli_app(cli), decided,
							   resumes ? RESUMES_MS : TELLS_MS)
						 : GATE_LET_GO;

	if (fate == GATE_HEARD)
		return tell_taken(&told, approve, json);
	if (fate == GATE_NOT_REACHED)
		return resumes ? refuse_waiting(&told, json) : tell_waiting(&told, approve, json);
	if (resumes)
		return resume(&told, o);
	if (json)
		return tell_json(run_word(word), decided->stage, approve);
	int status = tell(cli, run_word(word), decided->stage, approve, asked);
	if (status || asked || !approve || !ask_possible() || !ask_yes("roux: continue it now?"))
		return status;
	return resume(&told, o);
}

static int answer(struct cli *cli, const struct answer_opts *o, bool approve, size_t count,
	const char *const *words)
{
	const char *text = approve ? o->message : o->reason;
	struct gate_decided decided;

	if (!cli_enter(cli, &o->common))
		return cli_refuse(cli, o->common.json);
	bool asked = gate_is_asked(cli_app(cli), words[0]);
	bool ok = gate_decide(cli_app(cli),
		&(struct gate_decision){ .run = words[0],
			.stage = count > 1 ? words[1] : NULL,
			.approve = approve,
			.text = str_of(text),
			.by = ask_answerer(cli) },
		&decided, &cli->report);
	cli_warn(cli);
	if (!ok)
		return cli_refuse(cli, o->common.json);
	return go_on(cli, o, words[0], &decided, approve, asked);
}

static int approve(const struct call *call)
{
	const struct answer_opts *o = call->opts;
	struct cli *cli = call->host;

	/* Before the gate is answered: that cannot be taken back. */
	if (o->in_doubt != DOUBT_UNSAID && !o->resume) {
		report_error(&cli->report, (struct where){ 0 },
			"--in-doubt is about continuing the run: give --resume too");
		return cli_refuse(cli, o->common.json);
	}
	return answer(call->host, call->opts, true, call->count, call->words);
}

static int deny(const struct call *call)
{

	return answer(call->host, call->opts, false, call->count, call->words);
}

static const struct answer_opts approve_defaults = { .in_doubt = DOUBT_UNSAID };

static const struct command_example approve_examples[] = {
	{ "roux approve release --message 'looks good'", "then: roux resume release" },
	{ "roux approve release --resume", "both at once" },
};

static const struct command_example deny_examples[] = {
	{ "roux deny release --reason 'not on a Friday'", "for good" },
};

const struct command cmd_approve = {
	.name = "approve",
	.operands = "RUN [STAGE]",
	.summary = "let a run pass the gate that it waits at",
	.details = "`roux status RUN` shows the question. Nothing runs until `roux resume RUN`; "
		   "--resume does both, and on a terminal that is offered. STAGE makes sure that "
		   "the gate is the one "
		   "you mean.",
	SETS(approve_sets, struct answer_opts),
	.defaults = &approve_defaults,
	EXAMPLES(approve_examples),
	.min_operands = 1,
	.max_operands = 2,
	.complete = COMPLETE_RUN,
	.run = approve,
};

const struct command cmd_deny = {
	.name = "deny",
	.operands = "RUN [STAGE]",
	.summary = "end a run at the gate that it waits at",
	.details = "The answer is final: the run has ended with status denied.",
	SETS(deny_sets, struct answer_opts),
	EXAMPLES(deny_examples),
	.min_operands = 1,
	.max_operands = 2,
	.complete = COMPLETE_RUN,
	.run = deny,
};
