#include "hosts/cli/run-operand.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "app/logs.h"
#include "base/file.h"
#include "hosts/cli/shown.h"

void cli_warn(struct cli *cli)
{
	AUTO_BUF text = BUF_INIT;

	cli_word(cli);
	for (; cli->told < cli->report.issues.len; cli->told++) {
		const struct issue *i = &cli->report.issues.at[cli->told];

		if (i->kind == ISSUE_WARNING)
			issue_text(i, &text);
	}
	cli_say(buf_str(&text));
}

int cli_print_json(json_t *document)
{
	AUTO_JSON *owned = document;
	AUTO_BUF text = BUF_INIT;

	json_write(&text, owned, 0);
	buf_addc(&text, '\n');
	return cli_print(buf_str(&text));
}

struct run_handle *run_operand(
	struct cli *cli, const struct common_opts *o, const char *word, int *status)
{
	struct run_handle *h =
		cli_enter(cli, o) ? runs_open(cli_app(cli), word, &cli->report) : NULL;

	cli_warn(cli);
	if (!h)
		*status = cli_refuse(cli, o->json);
	return h;
}

int run_output_show(struct run_handle *h)
{
	int e = run_output_write(h, STDOUT_FILENO);

	if (e == 0 && isatty(STDOUT_FILENO) && !run_output_ends_line(h))
		e = fd_write_all(STDOUT_FILENO, S("\n"));
	return e;
}

/* The output of an ended run, or its document. Returns 0 or an exit status. */
static int print_outcome(struct cli *cli, struct run_handle *h, bool json)
{
	enum roux_status ignored;
	int e = json ? run_result_write(h, STDOUT_FILENO, &ignored) : run_output_show(h);

	if (e == -EPIPE)
		return 128 + SIGPIPE;
	if (e == -ENOENT && run_is_replaced(h)) {
		report_refuse(&cli->report, run_id(h), "no such run",
			"run '%.*s' was deleted meanwhile, or started again", STR(run_id(h)));
		return cli_refuse(cli, json);
	}
	if (e < 0 && json) {
		report_system(&cli->report, (struct where){ 0 },
			"cannot read the output of run '%.*s': %s", STR(run_id(h)), strerror(-e));
		return cli_refuse(cli, true);
	}
	if (e < 0) {
		report_system(&cli->report, (struct where){ 0 }, "cannot copy %s: %s",
			run_log_path(h, LOG_STDOUT), strerror(-e));
		return cli_refuse(cli, false);
	}
	return 0;
}

int run_answer(struct cli *cli, struct run_handle *h, const struct ending_options *o, bool json,
	bool silent)
{
	AUTO_BUF text = BUF_INIT;
	int status = print_outcome(cli, h, json);

	if (status || json || silent)
		return status;
	shown_result(h, o, NULL, &text);
	cli_say(buf_str(&text));
	return 0;
}

int run_answer_again(struct cli *cli, struct run_handle *h, bool json, bool silent)
{
	AUTO_BUF text = BUF_INIT;
	int status = print_outcome(cli, h, json);

	if (status || json || silent)
		return status;
	shown_complete(h, &text);
	cli_say(buf_str(&text));
	return 0;
}
