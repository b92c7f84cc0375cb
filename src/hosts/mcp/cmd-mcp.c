/* The command: roux mcp. */
#include "hosts/mcp/cmd-mcp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "hosts/mcp/stdio.h"
#include "hosts/mcp/tool.h"
#include "loop/sandbox.h"

struct mcp_opts {
	struct opt_list dirs, only, except;
	struct opt_list listen, names;
	const char *dir, *log_file, *http, *socket, *token_file;
	const char *sync_budget, *progress_budget;
	uint64_t output, line, depth, arguments, in_flight, queue, runs, disk;
	unsigned calls;
	unsigned jobs;
	bool no_builtins, no_prompts, read_only, audit_arguments, raw_results, sandbox;
};

static const struct opt opts[] = {
	OPT_LIST(0, "recipes", "DIR", struct mcp_opts, dirs,
		"the recipes of DIR too, before the others; may be given again"),
	OPT_LIST(0, "only", "GLOB", struct mcp_opts, only, "only tools whose names match"),
	OPT_LIST(0, "except", "GLOB", struct mcp_opts, except, "no tools whose names match"),
	OPT_FLAG(0, "read-only", struct mcp_opts, read_only,
		"only recipes with `effects: read`, and built-in tools that change nothing"),
	OPT_FLAG(0, "sandbox", struct mcp_opts, sandbox,
		"commands write only below the project, their run and /tmp; those of recipes with "
		"`network: false` have no TCP"),
	OPT_FLAG(0, "no-builtins", struct mcp_opts, no_builtins, "without the roux_* tools"),
	OPT_FLAG(0, "no-prompts", struct mcp_opts, no_prompts, "without prompts"),
	OPT_TEXT(0, "sync-budget", "TIME", struct mcp_opts, sync_budget,
		"after which a call is answered while its run continues (45s); 0: never"),
	OPT_TEXT(0, "progress-budget", "TIME", struct mcp_opts, progress_budget,
		"the same for a client that hears of progress (240s)"),
	OPT_NUMBER(0, "jobs", "N", struct mcp_opts, calls, 1, 4096, "calls at once"),
	OPT_NUMBER('j', NULL, "N", struct mcp_opts, jobs, 1, 65536, "commands of a run at once"),
	OPT_TEXT('C', "directory", "DIR", struct mcp_opts, dir,
		"go to DIR first: the project, where recipes run"),
	OPT_TEXT(0, "log-file", "FILE", struct mcp_opts, log_file,
		"diagnostics go to FILE, not to standard error"),
	OPT_FLAG(0, "raw-results", struct mcp_opts, raw_results,
		"what recipes print is the result as JSON: for fixtures of tests"),
	OPT_FLAG(0, "audit-args", struct mcp_opts, audit_arguments,
		"the audit has the arguments of calls, not only their digest"),
};

static const struct opt over_http[] = {
	OPT_TEXT(0, "http", "ADDRESS:PORT", struct mcp_opts, http,
		"serve at http://ADDRESS:PORT/mcp, a loopback address; port 0: any"),
	OPT_TEXT(0, "socket", "PATH", struct mcp_opts, socket,
		"serve at a Unix socket of this user"),
	OPT_LIST(0, "listen", "ADDRESS:PORT", struct mcp_opts, listen,
		"beyond this machine; needs --name and a token"),
	OPT_LIST(0, "name", "HOST", struct mcp_opts, names,
		"a name by which clients reach it; may be given again"),
	OPT_TEXT(0, "token-file", "FILE", struct mcp_opts, token_file,
		"clients have to send the token that FILE has"),
};

static const struct opt limits[] = {
	OPT_NUMBER(0, "max-output", "BYTES", struct mcp_opts, output, 1024, 1 << 30,
		"of the output in a result; the whole is a resource"),
	OPT_NUMBER(0, "max-line", "BYTES", struct mcp_opts, line, 1024, 1 << 30, "of a message"),
	OPT_NUMBER(0, "max-depth", "N", struct mcp_opts, depth, 8, 1024, "of its JSON"),
	OPT_NUMBER(0, "max-arguments", "BYTES", struct mcp_opts, arguments, 64, 1 << 30,
		"of the arguments of a call"),
	OPT_NUMBER(0, "max-requests", "N", struct mcp_opts, in_flight, 1, 65536,
		"that are not answered yet"),
	OPT_NUMBER(0, "max-queue", "BYTES", struct mcp_opts, queue, 65536, 1 << 30,
		"that wait for a client that does not read"),
};

static const struct opt quotas[] = {
	OPT_NUMBER(0, "max-runs", "N", struct mcp_opts, runs, 1, 65536,
		"runs at once, those included that are not waited for (256)"),
	OPT_NUMBER(0, "max-disk", "MIB", struct mcp_opts, disk, 1, 1 << 30,
		"of disk that runs may take before no more are started (any)"),
};

static const struct opt_set sets[] = { OPT_SET("Options", opts), OPT_SET("Over HTTP", over_http),
	OPT_SET("Limits", limits), OPT_SET("Quotas", quotas) };

static const struct command_example examples[] = {
	{ "echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}' | roux mcp",
		"answers, and ends with its input" },
};

static const struct mcp_opts defaults = {
	.output = 32 * 1024,
	.line = 16 << 20,
	.depth = 64,
	.arguments = 1 << 20,
	.in_flight = 256,
	.queue = 8 << 20,
	.calls = 64,
	.runs = 256,
};

static int refuse(struct report *r)
{
	AUTO_BUF text = BUF_INIT;

	report_text(r, REPORT_ERRORS, &text);
	(void)fd_write_all(STDERR_FILENO, buf_str(&text));
	return report_has_system(r) ? 1 : 2;
}

static bool read_budget(const char *name, const char *text, uint64_t *ret, struct report *r)
{
	AUTO_JSON *said = text ? json_from_str(str_of(text)) : NULL;
	uint64_t ms = said ? tool_budget(said) : *ret;

	if (ms == BUDGET_UNSET)
		return report_error(r, (struct where){ 0 },
			"--%s takes a time such as 45s, found '%s'", name, text);
	*ret = ms;
	return true;
}

static bool enter(const struct mcp_opts *o, struct report *r)
{
	const char *missing = o->sandbox ? sandbox_missing(&(struct sandbox_rules){ 0 }) : NULL;

	if (missing)
		return report_system(r, (struct where){ 0 }, "--sandbox: %s", missing);
	if (o->dir && chdir(o->dir) < 0)
		return report_errno(r, errno, "cannot go to '%s'", o->dir);
	if (!o->log_file)
		return true;
	AUTO_CLOSE int fd = open(o->log_file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0 || dup2(fd, STDERR_FILENO) < 0)
		return report_errno(r, errno, "cannot write '%s'", o->log_file);
	return true;
}

static struct mcp_options options_of(const struct mcp_opts *o, const struct call *call)
{
	return (struct mcp_options){
		.limits = { .depth = o->depth, .arguments = o->arguments },
		.in_flight = o->in_flight,
		.output = o->output,
		.sync_ms = 45000,
		.progress_ms = 240000,
		.jobs = o->calls,
		.runs = o->runs,
		.disk = o->disk << 20,
		.no_builtins = o->no_builtins,
		.no_prompts = o->no_prompts,
		.read_only = o->read_only,
		.raw_results = o->raw_results,
		.sandbox = o->sandbox,
		.audit_arguments = o->audit_arguments,
		.only = o->only.at,
		.only_count = o->only.len,
		.except = o->except.at,
		.except_count = o->except.len,
		.dirs = o->dirs.at,
		.dir_count = o->dirs.len,
		.recipes = call->words,
		.recipe_count = call->count,
	};
}

struct mcp_options mcp_default_options(void)
{
	return options_of(&defaults, &(struct call){ 0 });
}

/* -- over HTTP -----------------------------------------------------------------------------------
 */

int (*mcp_over_http)(struct mcp *m, const struct mcp_http_options *o);

static bool wants_http(const struct mcp_opts *o)
{
	return o->http || o->socket || o->listen.len;
}

/* The program beside this one that can serve over HTTP, with the same words. Returns when there is
 * none. */
static void execute_server(const struct call *call)
{
	const char **argv = mem_resize(NULL, call->line_count + 3, sizeof(*argv));
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - sizeof("roux-serve"));
	char *slash = n > 0 ? memrchr(path, '/', (size_t)n) : NULL;

	argv[0] = "roux-serve";
	argv[1] = "mcp";
	for (size_t i = 0; i < call->line_count; i++)
		argv[2 + i] = call->line[i];
	argv[2 + call->line_count] = NULL;
	if (slash) {
		memcpy(slash + 1, argv[0], strlen(argv[0]) + 1);
		(void)execv(path, (char *const *)argv);
	}
	(void)execvp(argv[0], (char *const *)argv);
	free(argv);
}

static int run_over_http(const struct call *call, const struct mcp_options *m, struct report *r)
{
	const struct mcp_opts *o = call->opts;
	struct mcp_http_options h = {
		.address = o->http,
		.socket = o->socket,
		.token_file = o->token_file,
		.listen = o->listen.at,
		.listen_count = o->listen.len,
		.names = o->names.at,
		.name_count = o->names.len,
	};

	struct app *a = app_open(&(struct app_options){ .jobs = o->jobs });
	struct mcp *server = mcp_new(a, m, r);
	int status = server ? mcp_over_http(server, &h) : refuse(r);
	mcp_free(server);
	app_close(a);
	return status;
}

static int run(const struct call *call)
{
	const struct mcp_opts *o = call->opts;
	struct mcp_options m = options_of(o, call);
	AUTO_REPORT r = REPORT_INIT;
	AUTO_CLOSE int out = -1;

	if (wants_http(o) && !mcp_over_http) {
		execute_server(call);
		report_errno(&r, errno, "cannot execute roux-serve");
		return refuse(&r);
	}
	if (!enter(o, &r) || !read_budget("sync-budget", o->sync_budget, &m.sync_ms, &r) ||
		!read_budget("progress-budget", o->progress_budget, &m.progress_ms, &r))
		return refuse(&r);
	if (wants_http(o))
		return run_over_http(call, &m, &r);
	out = stdio_protect();
	if (out < 0)
		report_errno(&r, -out, "cannot use standard output");
	if (out < 0)
		return refuse(&r);
	struct app *a = app_open(&(struct app_options){ .is_roux = true, .jobs = o->jobs });
	struct mcp *server = mcp_new(a, &m, &r);
	int status = server ? stdio_serve(server, out,
				      &(struct stdio_options){ .line = o->line, .queue = o->queue })
			    : refuse(&r);
	mcp_free(server);
	app_close(a);
	return status;
}

const struct command cmd_mcp = {
	.name = "mcp",
	.operands = "[RECIPE]...",
	.summary = "serve recipes as tools to a client of the Model Context Protocol",
	.details =
		"A client such as an editor or a coding agent starts it and talks to it on "
		"standard "
		"input and output. Each recipe of your directory is a tool; RECIPE names more. A "
		"call is a run like any other: `roux runs` lists it, `roux logs` shows what it "
		"printed. To add it to Claude Code: claude mcp add roux -- roux mcp\n\n"
		"codex refuses tools that do not say `effects: read` unless its configuration has "
		"default_tools_approval_mode = \"approve\".",
	EXAMPLES(examples),
	SETS(sets, struct mcp_opts),
	.defaults = &defaults,
	.max_operands = OPERANDS_ANY,
	.complete = COMPLETE_RECIPE,
	.run = run,
};
