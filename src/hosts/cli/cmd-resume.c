#include <string.h>
#include <unistd.h>

#include "hosts/cli/commands.h"
#include "hosts/cli/launch-opts.h"
#include "hosts/cli/resume.h"
#include "hosts/cli/run-operand.h"
#include "hosts/cli/template.h"
#include "hosts/cli/values.h"

struct cmd_resume_opts {
	struct template_opts template; /* only --values */
	struct run_opts run;
	struct common_opts common;
	struct launch_opts launch;
	unsigned in_doubt;
	const char *from;
	bool only, failed, all, foreground;
};

enum { SHOWN_AGAIN = 20 }; /* nodes that run again, by name */

const char *const doubt_words[] = { "rerun", "stop", NULL };

static const struct opt resume_opts[] = {
	OPT_CHOICE(0, "in-doubt", doubt_words, struct cmd_resume_opts, in_doubt, DOUBT_HELP),
};

static const struct opt rerun_opts[] = {
	OPT_TEXT(0, "from", "NODE", struct cmd_resume_opts, from,
		"run this node again and what follows it; its path, or its label"),
	OPT_FLAG(0, "failed", struct cmd_resume_opts, failed,
		"run again what failed and what was not reached, which is the default"),
	OPT_FLAG(0, "all", struct cmd_resume_opts, all, "run everything again"),
	OPT_FLAG(0, "only", struct cmd_resume_opts, only,
		"run only that node; its output is the result"),
	OPT_FLAG(0, "foreground", struct cmd_resume_opts, foreground,
		"stay attached, which is the default; wins over --detach"),
};

static const struct opt_set resume_sets[] = {
	OPT_SET_IN("Options", values_opts, struct cmd_resume_opts, template),
	OPT_SET(NULL, resume_opts),
	OPT_SET_IN(NULL, launch_opts, struct cmd_resume_opts, launch),
	OPT_SET_IN(NULL, on_opts, struct cmd_resume_opts, launch),
	OPT_SET_IN(NULL, secret_opts, struct cmd_resume_opts, launch.secrets),
	OPT_SET_IN(NULL, agent_opts, struct cmd_resume_opts, launch),
	OPT_SET_IN(NULL, step_opts, struct cmd_resume_opts, launch),
	OPT_SET_IN(NULL, run_opts, struct cmd_resume_opts, run),
	COMMON_SET(struct cmd_resume_opts),
};

static const struct opt_set rerun_sets[] = {
	OPT_SET("Options", rerun_opts),
	OPT_SET_IN(NULL, values_opts, struct cmd_resume_opts, template),
	OPT_SET_IN(NULL, lines_opts, struct cmd_resume_opts, template),
	OPT_SET_IN(NULL, name_opts, struct cmd_resume_opts, launch),
	OPT_SET_IN(NULL, launch_opts, struct cmd_resume_opts, launch),
	OPT_SET_IN(NULL, on_opts, struct cmd_resume_opts, launch),
	OPT_SET_IN(NULL, secret_opts, struct cmd_resume_opts, launch.secrets),
	OPT_SET_IN(NULL, agent_opts, struct cmd_resume_opts, launch),
	OPT_SET_IN(NULL, step_opts, struct cmd_resume_opts, launch),
	OPT_SET_IN(NULL, run_opts, struct cmd_resume_opts, run),
	COMMON_SET(struct cmd_resume_opts),
};

/* -- both ----------------------------------------------------------------------------------------
 */

/* One of the two, as it was asked for. */
struct again {
	struct cli *cli;
	const struct cmd_resume_opts *o;
	const char *run;
	json_t *values;
	struct follow_start *how;
	resume_refused_fn *refused; /* NULL: it is an error */
	void *refused_data;
	bool repeats; /* as a new run */
	size_t told;  /* nodes that run again because they failed */
};

/* Values given now, and what the options say. */
static bool ask(struct cli *cli, const struct cmd_resume_opts *o, size_t count,
	const char *const *words, struct again *a, struct request *q)
{
	bool stdin_used = false;

	if (!cli_enter(cli, &o->common))
		return false;
	a->values = values_read(cli, &o->template, count - 1, words + 1, NULL, &stdin_used);
	return a->values && launch_request(cli, &o->launch, &o->run, a->values, q);
}

static int refused(void *data, bool json)
{
	const struct again *a = data;
	const struct report *r = &a->cli->report;
	const struct issue *last = r->issues.len ? &r->issues.at[r->issues.len - 1] : NULL;
	bool taken = last && last->kind == ISSUE_REFUSED && strcmp(last->reason, "running") == 0;

	return a->refused(a->refused_data, taken, json);
}

static int take_up(struct again *a, size_t count, const char *const *words,
	struct run_handle *(*start)(void *data, const struct request *q, struct report *r))
{
	const struct cmd_resume_opts *o = a->o;
	struct follow_start how = {
		.start = start, .data = a, .steps = true, .refused = a->refused ? refused : NULL
	};
	struct request q = { 0 };
	int status;

	if (o->run.silent)
		cli_hush();
	a->how = &how;
	bool asked = ask(a->cli, o, count, words, a, &q);
	how.values = a->values;
	if (asked)
		status = follow(a->cli, &q, &o->run, o->common.json, &how);
	else
		status = cli_refuse(a->cli, o->common.json);
	json_decref(a->values);
	launch_request_done(&q);
	return status;
}

/* -- resume --------------------------------------------------------------------------------------
 */

static void say_note(void *data, enum resume_note note, struct str text, size_t count)
{
	struct again *a = data;
	bool says_again = false; /* said beside a document too */
	AUTO_BUF line = BUF_INIT;

	switch (note) {
	case RESUME_ENDED_PROCESSES:
		buf_printf(&line, "roux: ended %zu process%s that the run had left behind\n", count,
			count == 1 ? "" : "es");
		cli_say(buf_str(&line));
		return;
	case RESUME_SOURCE_CHANGED:
		buf_printf(&line, "roux: note: %.*s has changed since; %s\n", STR(text),
			a->repeats ? "this repeats the run as it was, and `roux run` takes the "
				     "file as it is now"
				   : "the run continues as it was started");
		break;
	case RESUME_WAS_RUNNING:
	case RESUME_WAS_ENDED:
		buf_printf(&line, "roux: [%.*s] runs again: %s\n", STR(text), resume_reason(note));
		says_again = true;
		break;
	case RESUME_LOST:
	case RESUME_UNKEPT:
	case RESUME_UNRECORDED:
		buf_printf(&line, "roux: [%.*s] runs again: %s\n", STR(text), resume_reason(note));
		cli_insist(buf_str(&line));
		return;
	case RESUME_ROUNDS:
		buf_printf(&line, "roux: [%.*s] runs again from its first round: %s\n", STR(text),
			resume_reason(note));
		cli_insist(buf_str(&line));
		return;
	case RESUME_INPUT_PART:
		buf_printf(&line,
			"roux: standard input was kept as far as it was read (%zu byte%s): a "
			"command that reads more finds its end there\n",
			count, count == 1 ? "" : "s");
		cli_insist(buf_str(&line));
		return;
	case RESUME_FAILED_EARLIER:
		if (++a->told > SHOWN_AGAIN)
			return;
		if (count == RESUME_TIME_LIMIT)
			buf_printf(&line, "roux: [%.*s] run again (failed earlier: time limit)\n",
				STR(text));
		else
			buf_printf(&line, "roux: [%.*s] run again (failed earlier: exit %zu)\n",
				STR(text), count);
		says_again = true;
		break;
	case RESUME_REUSED:
		buf_printf(&line, "roux: %.*s: %zu command%s reused", STR(text), count,
			count == 1 ? "" : "s");
		if (a->told)
			buf_printf(&line, ", %zu that failed run%s again, and what follows",
				a->told, a->told == 1 ? "s" : "");
		buf_addc(&line, '\n');
		break;
	case RESUME_WATCHES_HOST:
		buf_printf(&line,
			"roux: looks for a minute whether the run has a driver on host '%.*s'\n",
			STR(text));
		break;
	}
	if (!a->o->run.quiet && (says_again || !a->o->common.json))
		cli_say(buf_str(&line));
}

/* A rerun says it in a line of its own. */
static void say_rest(const struct again *a)
{
	AUTO_BUF line = BUF_INIT;

	buf_printf(&line, "roux: and %zu more that failed earlier\n", a->told - SHOWN_AGAIN);
	if (!a->o->run.quiet)
		cli_say(buf_str(&line));
}

static struct run_handle *start_resume(void *data, const struct request *q, struct report *r)
{
	struct again *a = data;

	struct run_handle *h = runs_resume(cli_app(a->cli), a->run,
		&(struct resume_request){ .request = *q,
			.values = a->values,
			.stop_in_doubt = a->o->in_doubt == DOUBT_STOP,
			.stay = a->o->common.dir != NULL,
			.note = say_note,
			.data = a },
		&a->how->answered, r);
	if (h)
		cli_warn(a->cli); /* of what cannot be read of its record */
	if (h && a->told > SHOWN_AGAIN)
		say_rest(a);
	return h;
}

static int resume(const struct call *call)
{

	struct again a = { .cli = call->host, .o = call->opts, .run = call->words[0] };

	return take_up(&a, call->count, call->words, start_resume);
}

int cli_resume(struct cli *cli, const char *run, const struct common_opts *o, enum doubt in_doubt,
	resume_refused_fn *refused_fn, void *data)
{
	const struct cmd_resume_opts opts = {
		.run = RUN_OPTS_DEFAULTS, .common = *o, .in_doubt = in_doubt
	};
	struct again a = {
		.cli = cli, .o = &opts, .run = run, .refused = refused_fn, .refused_data = data
	};

	return take_up(&a, 1, &run, start_resume);
}

/* -- rerun ---------------------------------------------------------------------------------------
 */

static struct run_handle *start_rerun(void *data, const struct request *q, struct report *r)
{
	struct again *a = data;

	struct run_handle *h = runs_rerun(cli_app(a->cli), a->run,
		&(struct rerun_request){ .request = *q,
			.values = a->values,
			.from = a->o->from,
			.only = a->o->only,
			.all = a->o->all,
			.stay = a->o->common.dir != NULL,
			.note = say_note,
			.data = a },
		r);
	if (h)
		cli_warn(a->cli);
	return h;
}

bool rerun_choice(struct cli *cli, const char *from, bool failed, bool all)
{
	if (!!from + failed + all <= 1)
		return true;
	report_error(&cli->report, (struct where){ 0 },
		"only one of --from, --failed and --all can be given");
	return report_hint(&cli->report,
		"a node and what follows it, everything that failed, or the whole run");
}

static int rerun(const struct call *call)
{
	struct cmd_resume_opts o = *(const struct cmd_resume_opts *)call->opts;

	o.launch.detach &= !o.foreground;
	if (!rerun_choice(call->host, o.from, o.failed, o.all))
		return cli_refuse(call->host, o.common.json);
	struct again a = { .cli = call->host, .o = &o, .run = call->words[0], .repeats = true };

	return take_up(&a, call->count, call->words, start_rerun);
}

/* -- tables --------------------------------------------------------------------------------------
 */

static const struct cmd_resume_opts defaults = { .run = RUN_OPTS_DEFAULTS };

static const struct command_example resume_examples[] = {
	{ "roux resume nightly", "continue where it was cut short or failed" },
};

static const struct command_example rerun_examples[] = {
	{ "roux rerun nightly", "what failed, and what follows it" },
	{ "roux rerun nightly --from report", "the node labelled report and what follows" },
};

const struct command cmd_resume = {
	.name = "resume",
	.operands = "RUN [name=value]...",
	.summary = "continue a run that was cut short or failed",
	.details =
		"Commands whose end was recorded are not executed again: their output is what the "
		"next ones read. The run continues as it was started, whatever became of the "
		"recipe "
		"since. A failed run tries again what failed it.",
	EXAMPLES(resume_examples),
	SETS(resume_sets, struct cmd_resume_opts),
	.defaults = &defaults,
	.min_operands = 1,
	.max_operands = OPERANDS_ANY,
	.complete = COMPLETE_RUN,
	.run = resume,
};

const struct command cmd_rerun = {
	.name = "rerun",
	.operands = "RUN [name=value]...",
	.summary = "run again what failed in an ended run, as a new run",
	.details =
		"Runs every command again that failed, runs what was not reached, and whatever "
		"comes after one of these in a sequence; all else is taken over with its recorded "
		"results. Tolerated failures stand. A run without failures is run again as a "
		"whole, as with --all. --from NODE runs that node and what follows it. The old "
		"run is not touched; `roux plan run:RUN` shows what would run.",
	EXAMPLES(rerun_examples),
	SETS(rerun_sets, struct cmd_resume_opts),
	.defaults = &defaults,
	.min_operands = 1,
	.max_operands = OPERANDS_ANY,
	.complete = COMPLETE_RUN,
	.run = rerun,
};
