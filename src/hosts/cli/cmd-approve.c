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

/* What becomes of it now: the process that asks the question continues it, or the caller does. */
static int tell(struct cli *cli, const char *run, struct str stage, bool approve, bool asked)
{
	AUTO_BUF text = BUF_INIT;

	(void)cli;
	name_gate(&text, run, stage);
	buf_adds(&text, approve ? "approved; " : "denied; ");
	if (asked)
		buf_adds(&text, "the terminal that asks for it continues the run\n");
	else if (approve)
		buf_printf(&text, "nothing runs until `roux resume %s`\n", run);
	else
		buf_adds(&text, "the run has ended\n");
	return cli_print(buf_str(&text));
}

static int tell_json(const char *run, struct str stage, bool approve)
{
	return cli_print_json(json_pack("{s:b, s:s, s:s, s:o}", "ok", 1, "status",
		approve ? "approved" : "denied", "run", run, "stage", json_from_str(stage)));
}

struct told {
	struct cli *cli;
	const char *word;
	struct str stage;
};

/* Another process has taken the run up before the answer, or between the answer and us, and has yet
 * to come to the gate: it is that one's to continue. */
static int tell_taken(const struct told *t, bool approve, bool json)
{
	AUTO_BUF text = BUF_INIT;

	if (json)
		return tell_json(run_word(t->word), t->stage, approve);
	name_gate(&text, run_word(t->word), t->stage);
	buf_adds(&text, approve ? "approved; another roux continues it\n"
				: "denied; another roux has the run and ends it\n");
	return cli_print(buf_str(&text));
}

/* What keeps the run from being continued does not take the answer back. */
static int tell_refused(void *data, bool taken, bool json)
{
	const struct told *t = data;
	AUTO_BUF text = BUF_INIT;

	if (taken)
		return tell_taken(t, true, json);
	if (json)
		report_hint(&t->cli->report,
			"stage '%.*s' is approved; `roux resume %s` continues the run",
			STR(t->stage), run_word(t->word));
	buf_adds(&text, "roux: ");
	name_gate(&text, run_word(t->word), t->stage);
	buf_adds(&text, "approved, but the run could not be continued\n");
	if (!json)
		cli_say(buf_str(&text));
	return -1;
}

/* Continues it when that was asked for, or is wanted now. */
static int go_on(struct cli *cli, const struct answer_opts *o, const char *word,
	const struct gate_decided *decided, bool approve, bool asked)
{
	const struct common_opts common = { .json = o->common.json };
	struct str stage = decided->stage;
	struct told told = { .cli = cli, .word = word, .stage = stage };

	if (decided->under_way)
		return tell_taken(&told, approve, o->common.json);
	if (o->resume && !asked)
		return cli_resume(cli, word, &common, o->in_doubt, tell_refused, &told);
	if (o->common.json)
		return tell_json(run_word(word), stage, approve);
	int status = tell(cli, run_word(word), stage, approve, asked);
	if (status || asked || !approve || !ask_possible() || !ask_yes("roux: continue it now?"))
		return status;
	return cli_resume(cli, word, &common, o->in_doubt, tell_refused, &told);
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
