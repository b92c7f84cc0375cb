#include <stdlib.h>
#include <unistd.h>

#include "app/gates.h"
#include "hosts/cli/commands.h"
#include "hosts/cli/resume.h"
#include "hosts/cli/run-operand.h"

/* Answers at the gates of step recipes. Nothing is run here: `resume` does. */

struct answer_opts {
	struct common_opts common;
	const char *message, *reason;
	bool resume;
};

static const struct opt approve_opts[] = {
	OPT_TEXT(0, "message", "TEXT", struct answer_opts, message,
		"what later steps read as {{_approval_message}}"),
	OPT_FLAG(0, "resume", struct answer_opts, resume, "continue the run at once"),
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

/* Who answers, as far as the record can know: the user of this terminal. */
static struct str answerer(struct cli *cli)
{
	const char *user = getenv("USER");

	return user && *user ? arena_printf(&cli->arena, "user:%s", user)
			     : arena_printf(&cli->arena, "uid:%u", (unsigned)getuid());
}

static int tell(struct cli *cli, const char *word, struct str stage, bool approve, bool json)
{
	struct str run = str_of(word);
	AUTO_BUF text = BUF_INIT;

	(void)cli;
	run = str_starts(run, S("run:")) ? str_from(run, 4) : run;
	if (json)
		return cli_print_json(json_pack("{s:b, s:s, s:o, s:o}", "ok", 1, "status",
			approve ? "approved" : "denied", "run", json_from_str(run), "stage",
			json_from_str(stage)));
	buf_printf(&text, "stage '%.*s' of run '%.*s' is %s; `roux resume %.*s` %s\n", STR(stage),
		STR(run), approve ? "approved" : "denied", STR(run),
		approve ? "continues it" : "ends it");
	return cli_print(buf_str(&text));
}

struct told {
	struct cli *cli;
	const char *word;
	struct str stage;
};

/* Another process has taken the run up between the answer and us: it is that one's to continue. */
static int tell_taken(void *data, bool json)
{
	const struct told *t = data;
	struct str run = str_of(t->word);
	AUTO_BUF text = BUF_INIT;

	if (json)
		return tell(t->cli, t->word, t->stage, true, true);
	run = str_starts(run, S("run:")) ? str_from(run, 4) : run;
	buf_printf(&text, "stage '%.*s' of run '%.*s' is approved; another roux continues it\n",
		STR(t->stage), STR(run));
	return cli_print(buf_str(&text));
}

static int answer(struct cli *cli, const struct answer_opts *o, bool approve, size_t count,
	const char *const *words)
{
	const char *text = approve ? o->message : o->reason;
	struct str stage;

	if (!cli_enter(cli, &o->common))
		return cli_refuse(cli, o->common.json);
	bool ok = gate_decide(cli_app(cli),
		&(struct gate_decision){ .run = words[0],
			.stage = count > 1 ? words[1] : NULL,
			.approve = approve,
			.text = str_of(text),
			.by = answerer(cli) },
		&stage, &cli->report);
	cli_warn(cli);
	if (!ok)
		return cli_refuse(cli, o->common.json);
	struct told told = { .cli = cli, .word = words[0], .stage = stage };
	if (o->resume)
		return cli_resume(cli, words[0], &(struct common_opts){ .json = o->common.json },
			tell_taken, &told);
	return tell(cli, words[0], stage, approve, o->common.json);
}

static int approve(const struct call *call)
{

	return answer(call->host, call->opts, true, call->count, call->words);
}

static int deny(const struct call *call)
{

	return answer(call->host, call->opts, false, call->count, call->words);
}

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
	.details = "`roux status RUN` shows the question. Nothing runs yet: `roux resume RUN` "
		   "continues, or --resume does both. STAGE makes sure that the gate is the one "
		   "you mean.",
	SETS(approve_sets, struct answer_opts),
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
	.details = "The answer is final. `roux resume RUN` ends the run with status denied.",
	SETS(deny_sets, struct answer_opts),
	EXAMPLES(deny_examples),
	.min_operands = 1,
	.max_operands = 2,
	.complete = COMPLETE_RUN,
	.run = deny,
};
