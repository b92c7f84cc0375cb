#include <string.h>
#include <unistd.h>

#include "app/launch.h"
#include "base/file.h"
#include "hosts/cli/commands.h"
#include "hosts/cli/follow.h"
#include "runs/dir/leaves.h"

/* What a detached start executes: thaws the launch and runs it as a foreground start would, with
 * nobody looking. Whoever started it waits for "ok", or for the reason why not. */

static void complain(struct cli *cli, int ready)
{
	AUTO_BUF text = BUF_INIT;

	vec_each (i, &cli->report.issues) {
		if (i->kind == ISSUE_WARNING)
			continue;
		if (text.len)
			buf_adds(&text, "; ");
		buf_add(&text, i->message);
	}
	(void)fd_write_all(ready, buf_str(&text));
}

static int supervise(void *host, const struct command *c, const void *opts, size_t count,
	const char *const *words)
{
	struct cli *cli = host;
	struct launch l = LAUNCH_INIT;
	struct leaves *before = NULL;
	int ready, status = 1;

	(void)c;
	(void)opts;
	if (count > 1 && strcmp(words[1], DETACHED_APART) == 0) {
		detached_leave();
		count = 1;
	}
	detached_begin(&l.lock, &ready);
	bool ok = launch_thaw(&l, str_of(words[0]), &cli->report);
	l.detached = true;
	if (ok && count > 1)
		ok = (before = leaves_read(run_file(&l.arena, l.dir, LEAVES_FILE), &cli->report)) !=
		     NULL;
	if (ok) {
		struct run_opts o = RUN_OPTS_DEFAULTS;

		o.jobs = l.jobs;
		o.grace_ms = l.grace_ms;
		o.quiet = true;
		status = follow_plan(cli, plan_ref(l.plan), &o, false, true,
			&(struct follow_run){ .launch = &l, .before = before, .ready = ready });
	}
	/* Once the run has begun nothing is wrong with the request any more. */
	if (cli->report.errors)
		complain(cli, ready);
	launch_done(&l);
	return status;
}

const struct command cmd_supervise = {
	.name = "supervise",
	.summary = "run what a detached start has prepared",
	.hidden = true,
	.operands = "DIR [resume|apart]",
	.min_operands = 1,
	.max_operands = 2,
	.run = supervise,
};
