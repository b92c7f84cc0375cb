#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "app/worker.h"
#include "base/mem.h"
#include "hosts/cli/cli.h"
#include "hosts/cli/commands.h"
#include "hosts/mcp/cmd-mcp.h"

/* The table of commands, in the order in which help shows them. */
static const struct command *const commands[] = {
	&cmd_run,
	&cmd_exec,
	&cmd_check,
	&cmd_plan,
	&cmd_graph,
	&cmd_runs,
	&cmd_status,
	&cmd_logs,
	&cmd_wait,
	&cmd_cancel,
	&cmd_kill,
	&cmd_resume,
	&cmd_rerun,
	&cmd_approve,
	&cmd_deny,
	&cmd_message,
	&cmd_messages,
	&cmd_report,
	&cmd_archive,
	&cmd_prune,
	&cmd_list,
	&cmd_show,
	&cmd_tool,
	&cmd_trust,
	&cmd_doctor,
	&cmd_start,
	&cmd_prompt,
	&cmd_task,
	&cmd_agents,
	&cmd_roles,
	&cmd_contexts,
	&cmd_tasks,
	&cmd_init,
	&cmd_mcp,
	&cmd_completion,
	&cmd_schema,
	&cmd_version,
	&cmd_help,
	&cmd_complete,
	&cmd_supervise,
	&cmd_worker,
	&cmd_debug,
};

/* Called as `start`, roux is that command: `start task NAME`, `start --agent NAME`. Only the words
 * that stand for something else in both tools are commands of their own. */
static bool is_start(int argc, char **argv)
{
	static const char *const others[] = { "agents", "roles", "contexts", "tasks", "init",
		"doctor", "help", "version", "completion" };
	const char *name = argc > 0 ? strrchr(argv[0], '/') : NULL;

	if (argc < 1 || strcmp(name ? name + 1 : argv[0], "start") != 0)
		return false;
	for (size_t i = 0; argc > 1 && i < ARRAY_SIZE(others); i++)
		if (strcmp(argv[1], others[i]) == 0)
			return false;
	return true;
}

/* By default the signal kills. What cannot be written past a limit of file size is an error like
 * any other; commands that are executed get the default back. */
static void hear_of_limit(int signal UNUSED)
{
}

int main(int argc, char **argv)
{
	if (signal(SIGXFSZ, hear_of_limit) == SIG_IGN)
		(void)signal(SIGXFSZ, SIG_IGN); /* for commands too */
	/* The parent process may ignore it, and then the kernel would forget how commands ended. */
	(void)signal(SIGCHLD, SIG_DFL);
	/* Otherwise the heap's end moves up and down with every command, a system call each time.
	 */
	(void)mallopt(M_TOP_PAD, 256 * 1024);
	(void)mallopt(M_TRIM_THRESHOLD, 1024 * 1024);
#ifdef ROUX_TIME_SCALE
	(void)app_time_scale(true);
#endif
	if (is_start(argc, argv)) {
		char **words = mem_zero(sizeof(*words) * ((size_t)argc + 2));
		char name[] = "start";

		words[0] = argv[0];
		words[1] = name;
		memcpy(words + 2, argv + 1, sizeof(*words) * (size_t)(argc - 1));
		int status = cli_main(commands, ARRAY_SIZE(commands), argc + 1, words);
		free(words);
		return status;
	}
	return cli_main(commands, ARRAY_SIZE(commands), argc, argv);
}
