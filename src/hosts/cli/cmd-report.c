#include "app/pictures.h"
#include "hosts/cli/commands.h"
#include "hosts/cli/run-operand.h"

struct report_opts {
	struct common_opts common;
};

static const struct command_example examples[] = {
	{ "roux report review-docs > report.html",
		"open it in a browser, or send it to a colleague" },
};

static int run(const struct call *call)
{
	struct cli *cli = call->host;
	const struct report_opts *o = call->opts;
	AUTO_BUF page = BUF_INIT;
	int status;
	AUTO_RUN *found = run_operand(cli, &o->common, call->words[0], &status);

	if (!found)
		return status;
	if (!run_report(found, &page, &cli->report))
		return cli_refuse(cli, o->common.json);
	if (!o->common.json)
		return cli_print(buf_str(&page));
	return cli_print_json(json_pack("{s:b, s:o, s:o}", "ok", 1, "run",
		json_from_str(run_id(found)), "html", json_from_str(buf_str(&page))));
}

const struct command cmd_report = {
	.name = "report",
	.operands = "RUN",
	.summary = "write a page about a run",
	.details =
		"Writes one HTML page that needs nothing else: the graph with the state of every "
		"node, when each command ran, what failed and why, the beginning and the end of "
		"what was printed, artifacts, warnings and messages. A run that has not ended is "
		"shown as far as it is.",
	EXAMPLES(examples),
	ONLY_COMMON(struct report_opts),
	.min_operands = 1,
	.max_operands = 1,
	.complete = COMPLETE_RUN,
	.run = run,
};
