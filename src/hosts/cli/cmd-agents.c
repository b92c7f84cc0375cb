/* agents, roles, contexts, tasks: what is configured; init: a first configuration. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/agents-init.h"
#include "app/recipes.h"
#include "base/path.h"
#include "base/plain-text.h"
#include "base/program.h"
#include "base/user.h"
#include "data/json-out.h"
#include "hosts/cli/agents-check.h"
#include "hosts/cli/commands.h"
#include "hosts/cli/prompt-opts.h"
#include "hosts/cli/prompt-text.h"
#include "hosts/cli/run-operand.h"

/* -- looking -------------------------------------------------------------------------------------
 */

struct look_opts {
	struct common_opts common;
};

static bool take_text(void *data, const struct agents_entry *entry)
{
	prompt_text_entry(entry, data);
	return true;
}

static bool take_json(void *data, const struct agents_entry *entry)
{
	agents_entry_write(entry, &(struct json_out){ .b = data });
	buf_addc(data, '\n');
	return true;
}

static int look(struct cli *cli, enum agents_kind kind, const struct common_opts *o, size_t count,
	const char *const *words)
{
	struct str cwd = { 0 }, stands;
	AUTO_BUF text = BUF_INIT;
	AUTO_BUF notes = BUF_INIT;

	bool ok = prompt_directory(cli, o->dir, &cwd, &stands);
	if (ok && !count)
		ok = prompt_list(kind, cwd, o->json, &text, &cli->report);
	else if (ok)
		ok = agents_find(kind, cwd, str_of(words[0]), &notes,
			o->json ? take_json : take_text, &text, &cli->report);
	cli_say(buf_str(&notes));
	return ok ? cli_print(buf_str(&text)) : cli_refuse(cli, o->json);
}

#define LOOK_COMMAND(name_, kind_)                                                          \
	static int run_##name_(const struct call *c)                                        \
	{                                                                                   \
		const struct look_opts *o = c->opts;                                        \
                                                                                            \
		return look(c->host, kind_, &o->common, c->count, c->words);                \
	}                                                                                   \
	const struct command cmd_##name_ = {                                                \
		.name = #name_,                                                             \
		.operands = "[NAME]",                                                       \
		.summary = "list the " #name_ " of the prompts configuration, or show one", \
		ONLY_COMMON(struct look_opts),                                              \
		.max_operands = 1,                                                          \
		.run = run_##name_,                                                         \
	}

/* Looks at agents, or tries one. */
struct agents_opts {
	bool check;
	uint64_t timeout_s;
	struct common_opts common;
};

static const struct agents_opts agents_defaults = { .timeout_s = 60 };

static const struct opt agents_opts[] = {
	OPT_FLAG(0, "check", struct agents_opts, check,
		"launch NAME with a harmless prompt, on a terminal and without, and tell what "
		"came"),
	OPT_NUMBER(0, "timeout", "SECONDS", struct agents_opts, timeout_s, 1, 3600,
		"with --check: how long each launch may take (60)"),
};

static const struct opt_set agents_sets[] = {
	OPT_SET("Options", agents_opts),
	COMMON_SET(struct agents_opts),
};

static int run_agents(const struct call *c)
{
	const struct agents_opts *o = c->opts;
	struct cli *cli = c->host;
	struct str cwd = { 0 }, stands;

	if (!o->check)
		return look(cli, AGENTS_AGENT, &o->common, c->count, c->words);
	if (!c->count) {
		report_error(
			&cli->report, (struct where){ 0 }, "--check needs the name of an agent");
		report_hint(&cli->report, "`roux agents` lists them");
		return cli_refuse(cli, o->common.json);
	}
	if (!prompt_directory(cli, o->common.dir, &cwd, &stands))
		return cli_refuse(cli, o->common.json);
	return agents_check(cli, cwd, c->words[0], o->timeout_s, o->common.json);
}

const struct command cmd_agents = {
	.name = "agents",
	.operands = "[NAME]",
	.summary = "list the agents of the prompts configuration, show one, or try one",
	.details = "Each agent is shown with its two lines: `command` is how it is started on a "
		   "terminal, `batch` without one.\n\n"
		   "With --check the agent NAME is launched twice with the prompt `Reply with the "
		   "word ready`: with pipes, and on a pseudo-terminal. Neither role nor contexts "
		   "are used. It is ended when it has answered or when its time is over, with all "
		   "that it started. The exit status is 0 when both answered, else 1.",
	SETS(agents_sets, struct agents_opts),
	.defaults = &agents_defaults,
	.max_operands = 1,
	.run = run_agents,
};

LOOK_COMMAND(roles, AGENTS_ROLE);
LOOK_COMMAND(contexts, AGENTS_CONTEXT);
LOOK_COMMAND(tasks, AGENTS_TASK);

/* -- init ----------------------------------------------------------------------------------------
 */

struct init_opts {
	const char *agent, *name, *command, *batch;
	bool local, bare, yes;
	struct common_opts common;
};

static const struct opt init_opts[] = {
	OPT_TEXT('a', "agent", "PROGRAM", struct init_opts, agent,
		"the default agent: one that is known, or any program"),
	OPT_TEXT(0, "name", "NAME", struct init_opts, name,
		"what that agent is called; else as its program"),
	OPT_TEXT(0, "command", "COMMAND", struct init_opts, command,
		"how it is started; else {bin} '{prompt}'"),
	OPT_TEXT(0, "batch", "COMMAND", struct init_opts, batch,
		"how it is started without a terminal; else in the same way"),
	OPT_FLAG(0, "local", struct init_opts, local, "write ./.start, for this directory only"),
	OPT_FLAG(0, "bare", struct init_opts, bare,
		"only agents: no example role, context and task"),
	OPT_FLAG('y', "yes", struct init_opts, yes, "ask nothing"),
};

static const struct opt_set init_sets[] = {
	OPT_SET("Options", init_opts),
	COMMON_SET(struct init_opts),
};

static const struct command_example init_examples[] = {
	{ "roux init --yes --agent cat --command \"{bin} '{prompt_file}'\"",
		"an agent that is any program" },
	{ "roux init project", "recipes for everyone who works in this directory" },
};

/* One line of an answer; the default when it is empty. False at the end of the input. */
static bool answer(struct cli *cli, const char *question, struct str preset, struct str *ret)
{
	AUTO_BUF text = BUF_INIT;
	char line[1024];

	buf_adds(&text, question);
	if (preset.len)
		buf_printf(&text, " [%.*s]", STR(preset));
	buf_addc(&text, ' ');
	cli_say(buf_str(&text));
	if (!fgets(line, sizeof(line), stdin)) {
		cli_say(S("\n"));
		return false;
	}
	struct str said = str_trim(str_of(line));
	*ret = said.len ? arena_str(&cli->arena, said) : preset;
	return true;
}

static void found_names(const struct found_agents *found, struct buf *b)
{
	vec_each (k, &found->list)
		buf_printf(b, "%s%s", b->len ? ", " : "", (*k)->name);
}

static const struct known_agent *known(const char *name)
{
	for (const struct known_agent *k = known_agents; name && k->name; k++)
		if (strcmp(k->name, name) == 0)
			return k;
	return NULL;
}

/* Whether its program can be found: one that roux knows, or any other. */
static bool installed(struct cli *cli, struct str agent, struct str cwd)
{
	const struct known_agent *k = known(arena_cstr(&cli->arena, agent));
	struct str bin =
		k ? str_of(k->bin) : path_tilde(&cli->arena, agent, user_home(&cli->arena));

	return program_find(&cli->arena, bin, cwd, program_search(), NULL) != NULL;
}

static bool ask_agent(
	struct cli *cli, const struct found_agents *found, struct str cwd, struct str *ret)
{
	struct str preset = found->list.len ? str_of(found->list.at[0]->name) : S("");
	AUTO_BUF names = BUF_INIT;

	found_names(found, &names);
	cli_say(names.len ? S("Agents that are installed: ")
			  : S("No agent that roux knows is in PATH; any program can be one."));
	cli_say(buf_str(&names));
	cli_say(S("\n"));
	for (;;) {
		AUTO_BUF text = BUF_INIT;

		if (!answer(cli, "Which agent is started when none is named?", preset, ret))
			return false;
		if (ret->len && installed(cli, *ret, cwd))
			return true;
		if (ret->len)
			buf_printf(&text, "There is no program '%.*s' in PATH.\n",
				STR(report_quote(&cli->report, *ret)));
		buf_adds(&text, "Name an agent or a program; Ctrl-C ends this.\n");
		cli_say(buf_str(&text));
	}
}

static bool ask_examples(struct cli *cli, bool *ret)
{
	struct str said;

	for (;;) {
		if (!answer(cli, "Write an example role, context and task?", S("yes"), &said))
			return false;
		*ret = str_eq_nocase(said, S("y")) || str_eq_nocase(said, S("yes"));
		if (*ret || str_eq_nocase(said, S("n")) || str_eq_nocase(said, S("no")))
			return true;
		cli_say(S("Answer yes or no.\n"));
	}
}

/* Who is asked for, or the first that is there. */
static const char *default_agent(struct cli *cli, const struct init_opts *o,
	const struct found_agents *found, struct str cwd, bool *examples)
{
	struct str chosen = str_of(o->agent);
	bool ask = !o->yes && !o->agent && !o->common.json && isatty(STDIN_FILENO) &&
		   isatty(STDERR_FILENO);

	if (!chosen.len && found->list.len)
		chosen = str_of(found->list.at[0]->name);
	if (ask && !(ask_agent(cli, found, cwd, &chosen) &&
			   (o->bare || ask_examples(cli, examples)))) {
		report_error(&cli->report, (struct where){ 0 }, "no answer: nothing was written");
		report_hint(&cli->report, "`roux init --yes` asks nothing");
		return NULL;
	}
	if (chosen.len)
		return arena_cstr(&cli->arena, chosen);
	report_error(&cli->report, (struct where){ 0 }, "no agent that roux knows is in PATH");
	report_hint(&cli->report,
		"install one (claude, codex, gemini, llm, aichat, ollama …), or name "
		"a program: roux init --agent PROGRAM");
	return NULL;
}

/* Programs that show a text are good for trying things out; they take it as a file. */
static const char *usual_command(struct str program)
{
	static const char *const readers[] = { "cat", "less", "more", "head", "wc" };

	for (size_t i = 0; i < ARRAY_SIZE(readers); i++)
		if (str_eq(program, str_of(readers[i])))
			return "{bin} '{prompt_file}'";
	return "{bin} '{prompt}'";
}

static void own_agent(
	struct cli *cli, const struct init_opts *o, const char *program, struct init_plan *plan)
{
	const struct known_agent *k = known(program);
	bool found = false;

	for (size_t i = 0; i < plan->agent_count; i++)
		found |= plan->agents[i] == k;
	/* One that is known and not installed yet is written down all the same. */
	if (found && !o->command && !o->batch && !o->name)
		return;
	plan->own_bin = k ? k->bin : program;
	plan->own_name = o->name ? o->name : arena_cstr(&cli->arena, path_base(str_of(program)));
	plan->own_command = o->command ? o->command
			    : k        ? k->command
				       : usual_command(path_base(str_of(program)));
	plan->own_batch = o->batch ? o->batch : o->command || !k ? NULL : k->batch;
	plan->own_known = o->command ? NULL : k;
	plan->default_agent = plan->own_name;
}

/* What the files will not do as it was asked for. */
static void add_advice(struct cli *cli, const struct init_plan *plan, const char *program,
	struct str cwd, const struct init_told *told, struct buf *b)
{
	if (told->kept_settings)
		buf_printf(b,
			"note: config.toml is as it was; there, default_agent = \"%s\" makes it "
			"the default\n",
			plan->default_agent);
	for (size_t i = 0; i < plan->agent_count; i++)
		if (plan->agents[i]->untried)
			buf_printf(b,
				"note: the lines of %s were never tried: roux agents --check %s\n",
				plan->agents[i]->name, plan->agents[i]->name);
	if (!installed(cli, str_of(program), cwd))
		buf_printf(b, "note: the program '%s' is not in PATH yet\n", program);
	else
		buf_adds(b, "try: roux prompt 'hello'\n");
}

static int write_configuration(
	struct cli *cli, const struct init_opts *o, const struct found_agents *found)
{
	bool examples = !o->bare;
	struct str cwd = { 0 }, stands;
	struct init_told told = { 0 };
	AUTO_BUF text = BUF_INIT;

	if (!prompt_directory(cli, o->common.dir, &cwd, &stands))
		return cli_refuse(cli, o->common.json);
	const char *program = default_agent(cli, o, found, cwd, &examples);
	if (!program)
		return cli_refuse(cli, o->common.json);
	struct str dir = init_directory(&cli->arena, cwd, o->local);
	struct init_plan plan = { .dir = arena_cstr(&cli->arena, dir),
		.agents = (const struct known_agent *const *)found->list.at,
		.agent_count = found->list.len,
		.default_agent = program,
		.examples = examples };
	own_agent(cli, o, program, &plan);
	told.text = &text;
	if (!init_write(&plan, &told, &cli->report))
		return cli_refuse(cli, o->common.json);
	if (o->common.json) {
		AUTO_BUF json = BUF_INIT;
		struct json_out out = { .b = &json };

		json_out_object(&out, NULL);
		json_out_bool(&out, "ok", true);
		json_out_str(&out, "directory", dir);
		json_out_str(&out, "default_agent", str_of(plan.default_agent));
		json_out_object_end(&out);
		buf_addc(&json, '\n');
		return cli_print(buf_str(&json));
	}
	add_advice(cli, &plan, program, cwd, &told, &text);
	return cli_print(buf_str(&text));
}

static const char first_recipe[] = "---\n"
				   "description: Say hello\n"
				   "args: name\n"
				   "defaults:\n"
				   "  name: world\n"
				   "---\n"
				   "Everyone who works in this project can type `roux run hello`.\n"
				   "\n"
				   "```template\n"
				   "echo \"hello {name}\"\n"
				   "```\n";

/* A first recipe of a project. */
static int init_project(struct cli *cli, const struct init_opts *o)
{
	AUTO_BUF path = BUF_INIT;
	AUTO_BUF text = BUF_INIT;

	if (!cli_enter(cli, &o->common) ||
		!recipes_init_project(cli_app(cli), str_of(first_recipe), &path, &cli->report))
		return cli_refuse(cli, o->common.json);
	if (o->common.json)
		return cli_print_json(
			json_pack("{s:b, s:o}", "ok", 1, "path", json_from_str(buf_str(&path))));
	buf_adds(&text, "wrote ");
	text_plain(&text, buf_str(&path));
	buf_adds(&text, "\ntry: roux run hello\n");
	return cli_print(buf_str(&text));
}

static int run_init(const struct call *call)
{
	struct cli *cli = call->host;
	const struct init_opts *o = call->opts;
	struct found_agents found = { 0 };

	if (call->count && str_eq(str_of(call->words[0]), S("project")))
		return init_project(cli, o);
	if (call->count) {
		report_error(
			&cli->report, (struct where){ 0 }, "roux init cannot '%s'", call->words[0]);
		report_hint(&cli->report, "`roux init` configures agents, `roux init project` "
					  "begins .roux/recipes here");
		return cli_refuse(cli, o->common.json);
	}

	init_find_agents(&found);
	int status = write_configuration(call->host, call->opts, &found);
	vec_done(&found.list);
	return status;
}

const struct command cmd_init = {
	.name = "init",
	.operands = "[project]",
	.complete = COMPLETE_WORDS,
	.max_operands = 1,
	.summary = "write a first prompts configuration for the agents that are there",
	.details = "Looks for agents in PATH (claude, codex, gemini, llm, aichat, ollama and "
		   "others), asks a few questions when standard input is a terminal, and writes "
		   "~/.config/start. A file that is there already is never changed.\n\n"
		   "`roux init project` writes .roux/recipes/hello.md instead: a first recipe of "
		   "the project in the working directory.",
	EXAMPLES(init_examples),
	SETS(init_sets, struct init_opts),
	.run = run_init,
};
