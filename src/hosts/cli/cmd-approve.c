#include "app/steps.h"
#include "base/run-status.h"
#include "hosts/cli/commands.h"
#include "hosts/cli/launch-opts.h"
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
	OPT_FLAG(0, "resume", struct answer_opts, resume, "go on with the run at once"),
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

static int answer_json(bool approve, struct str run, struct str stage)
{
	AUTO_BUF text = BUF_INIT;

	buf_printf(
		&text, "{\"ok\":true,\"status\":\"%s\",\"run\":", approve ? "approved" : "denied");
	json_write_str(&text, run);
	buf_adds(&text, ",\"stage\":");
	json_write_str(&text, stage);
	buf_adds(&text, "}\n");
	return cli_print(buf_str(&text));
}

static int answer_text(bool approve, struct str run, struct str stage)
{
	AUTO_BUF text = BUF_INIT;

	buf_printf(&text, "stage '%.*s' of run '%.*s' is %s; `roux resume %.*s` %s\n", STR(stage),
		STR(run), approve ? "approved" : "denied", STR(run),
		approve ? "goes on" : "ends it");
	return cli_print(buf_str(&text));
}

/* The gate that is meant, when the run waits there. NULL with an issue added. */
static json_t *meant(struct cli *cli, const struct run_look *look, const char *stage)
{
	struct report *r = &cli->report;
	json_t *gate = status_is(look->status, ROUX_PAUSED) ? gate_pending(look->dir, r) : NULL;

	if (!gate && status_is(look->status, ROUX_PAUSED)) {
		report_error(r, (struct where){ 0 }, "the run '%.*s' has its answer already",
			STR(look->id));
		report_hint(r, "`roux resume %.*s` goes on", STR(look->id));
		return NULL;
	}
	if (!gate) {
		report_error(r, (struct where){ 0 },
			"the run '%.*s' waits for no approval: it is %.*s", STR(look->id),
			STR(look->status));
		report_hint(r, "`roux status %.*s` says more", STR(look->id));
		return NULL;
	}
	struct str name = json_str(json_object_get(gate, "stage"));
	if (!stage || str_eq(str_of(stage), name))
		return gate;
	report_error(r, (struct where){ 0 }, "the run waits at stage '%.*s', not at '%s'",
		STR(name), stage);
	report_hint(r, "leave the stage out to mean the one it waits at");
	json_decref(gate);
	return NULL;
}

static int answer(struct cli *cli, const struct answer_opts *o, bool approve, size_t count,
	const char *const *words)
{
	AUTO_RUN run = { 0 };
	int status;

	if (!run_operand_find(cli, &o->common, words[0], &run, &status))
		return status;
	AUTO_JSON *gate = meant(cli, &run.look, count > 1 ? words[1] : NULL);
	if (!gate)
		return cli_forbid(cli, o->common.json, run.look.id, "nothing to approve");
	const char *text = approve ? o->message : o->reason;
	bool late = false;
	if (!gate_answer(run.look.dir, gate, approve, str_of(text), false, &late, &cli->report))
		return late ? cli_forbid(cli, o->common.json, run.look.id, "nothing to approve")
			    : cli_refuse(cli, o->common.json);
	struct str stage = json_str(json_object_get(gate, "stage"));
	if (o->resume)
		return -1;
	return o->common.json ? answer_json(approve, run.look.id, stage)
			      : answer_text(approve, run.look.id, stage);
}

static int approve(void *host, const struct command *c, const void *opts, size_t count,
	const char *const *words)
{
	const struct answer_opts *o = opts;
	struct cli *cli = host;
	int status = answer(cli, o, true, count, words);

	(void)c;
	return status == -1 ? cli_resume(cli, words[0], &o->common) : status;
}

static int deny(void *host, const struct command *c, const void *opts, size_t count,
	const char *const *words)
{
	(void)c;
	return answer(host, opts, false, count, words);
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
	.details = "`roux status RUN` shows the question. Nothing runs yet: `roux resume RUN` goes "
		   "on, or --resume does both. STAGE makes sure that the gate is the one you mean.",
	.sets = approve_sets,
	.set_count = ARRAY_SIZE(approve_sets),
	.examples = approve_examples,
	.example_count = ARRAY_SIZE(approve_examples),
	.options_size = sizeof(struct answer_opts),
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
	.sets = deny_sets,
	.set_count = ARRAY_SIZE(deny_sets),
	.examples = deny_examples,
	.example_count = ARRAY_SIZE(deny_examples),
	.options_size = sizeof(struct answer_opts),
	.min_operands = 1,
	.max_operands = 2,
	.complete = COMPLETE_RUN,
	.run = deny,
};
