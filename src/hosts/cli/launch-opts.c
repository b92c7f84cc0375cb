#include "hosts/cli/launch-opts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/resume.h"
#include "app/secrets.h"
#include "app/settings.h"
#include "base/run-status.h"
#include "runs/dir/leaves.h"

const struct opt name_opts[1] = {
	OPT_TEXT(0, "as", "ID", struct launch_opts, as, "name the run"),
};

const struct opt launch_opts[2] = {
	OPT_FLAG('d', "detach", struct launch_opts, detach,
		"return at once; the run goes on by itself"),
	OPT_FLAG(0, "durable", struct launch_opts, durable,
		"flush every record to the disk: nothing is lost in a power cut either"),
};

const struct opt agent_opts[2] = {
	OPT_LIST(0, "agent", "NAME=COMMAND", struct launch_opts, agents,
		"an agent for the agent steps of a step recipe; NAME may be *"),
	OPT_LIST(0, "collection", "NAME=DIR", struct launch_opts, collections,
		"where the recipes of @NAME:PATH are"),
};

const struct opt step_opts[2] = {
	OPT_NUMBER(0, "max-parallel", "N", struct launch_opts, max_parallel, 1, 100000,
		"how wide `parallel: true` of a step recipe is (16)"),
	OPT_FLAG(0, "stream", struct launch_opts, stream, "show what steps print as it comes"),
};

bool launch_pairs(
	struct cli *cli, const char *option, const struct opt_list *words, json_t **object)
{
	for (size_t i = 0; i < words->len; i++) {
		const char *equals = strchr(words->at[i], '=');

		if (!equals || equals == words->at[i] || !equals[1]) {
			report_error(&cli->report, (struct where){ 0 },
				"--%s takes NAME=VALUE, found '%s'", option, words->at[i]);
			return report_hint(&cli->report, "for example --%s",
				strcmp(option, "agent") == 0 ? "agent '*=cat'"
							     : "collection shared=~/recipes");
		}
		*object = *object ? *object : json_object();
		json_object_setn_new_nocheck(*object, words->at[i], (size_t)(equals - words->at[i]),
			json_from_str(str_of(equals + 1)));
	}
	return true;
}

bool launch_collections(struct cli *cli, const struct launch_opts *o, json_t **ret)
{
	const struct settings *s = cli_settings(cli);

	if (!s)
		return false;
	if (!*ret && s->collection_count)
		*ret = settings_collections(s);
	return launch_pairs(cli, "collection", &o->collections, ret);
}

bool launch_settings(struct cli *cli, struct launch *l)
{
	const struct settings *s = cli_settings(cli);

	if (!s)
		return false;
	l->jobs = s->jobs;
	l->grace_ms = s->grace_ms;
	l->durable = s->durable;
	l->max_parallel = s->max_parallel;
	if (s->collection_count)
		l->collections = settings_collections(s);
	return true;
}

bool launch_secrets(struct cli *cli, const struct launch_opts *o, struct launch *l)
{
	bool ok = true;

	l->secrets = l->secrets ? l->secrets : json_array();
	l->secret_env = l->secret_env ? l->secret_env : json_array();
	ok &= secrets_take(cli, &o->secrets, l->values, l->secrets, l->secret_env);
	return ok;
}

bool launch_options(
	struct cli *cli, const struct launch_opts *o, const struct run_opts *run, struct launch *l)
{
	bool ok = true;

	if (o->as && !run_id_check(o->as, &cli->report))
		return false;
	if (o->as)
		l->id = str_of(o->as);
	l->durable |= o->durable;
	if (run->jobs != RUN_OPT_UNSET)
		l->jobs = run->jobs;
	if (run->grace_ms != RUN_OPT_UNSET)
		l->grace_ms = run->grace_ms;
	l->env = l->env ? l->env : json_array();
	for (size_t i = 0; i < run->env.len; i++)
		json_array_append_new(l->env, json_from_str(str_of(run->env.at[i])));
	ok &= launch_pairs(cli, "agent", &o->agents, &l->agents);
	ok &= launch_pairs(cli, "collection", &o->collections, &l->collections);
	l->stream |= o->stream;
	if (o->max_parallel)
		l->max_parallel = o->max_parallel;
	json_decref(l->argv);
	l->argv = json_array();
	json_array_append_new(l->argv, json_string("roux"));
	json_array_append_new(l->argv, json_string(cli->command->name));
	for (size_t i = 0; i < cli->operand_count; i++) {
		struct str word = str_of(cli->operands[i]);
		size_t equals = str_find(word, '=', 0);

		/* A value may be a secret: only its name is shown. */
		if (i && equals < word.len &&
			secret_name(l, str_sub(word, 0, equals - (word.p[equals - 1] == ':'))))
			json_array_append_new(l->argv, json_from_str(arena_printf(&l->arena,
							       "%.*s=***", (int)equals, word.p)));
		else
			json_array_append_new(l->argv, json_from_str(word));
	}
	return ok;
}

/* -- answers -------------------------------------------------------------------------------------
 */

int launch_refuse(struct cli *cli, bool json, const char *reason)
{
	const struct issue *i = NULL;
	AUTO_BUF text = BUF_INIT;

	if (!json)
		return cli_refuse(cli, false);
	vec_each (issue, &cli->report.issues)
		if (!i && issue->kind != ISSUE_WARNING)
			i = issue;
	buf_adds(&text, "{\"ok\":false,\"status\":\"refused\",\"error\":");
	json_write_str(&text, i ? i->message : S(""));
	buf_adds(&text, ",\"reason\":");
	json_write_str(&text, str_of(reason));
	buf_adds(&text, ",\"hint\":");
	json_write_str_or_null(&text, i ? i->hint : S(""));
	buf_adds(&text, "}\n");
	(void)cli_print(buf_str(&text));
	return 2;
}

static int answer_detached(struct launch *l, int64_t pid, bool json)
{
	AUTO_BUF text = BUF_INIT;
	AUTO_JSON *doc = json_object();

	if (!json) {
		buf_printf(&text, "%.*s\n", STR(l->id));
		return cli_print(buf_str(&text));
	}
	json_object_set_new(doc, "ok", json_true());
	json_object_set_new(doc, "status", json_string(status_name(ROUX_RUNNING)));
	json_object_set_new(doc, "run", json_from_str(l->id));
	json_object_set_new(doc, "pid", json_integer(pid));
	json_object_set_new(doc, "dir", json_from_str(l->dir));
	json_object_set_new(
		doc, "recipe", l->recipe ? json_from_str(l->recipe->file->id) : json_null());
	json_object_set_new(
		doc, "artifacts", l->artifacts ? json_incref(l->artifacts) : json_object());
	json_t *mailbox = l->recipe ? recipe_mailbox(l->recipe) : NULL;
	json_object_set_new(doc, "mailbox", mailbox ? mailbox : json_null());
	json_write(&text, doc, 0);
	buf_addc(&text, '\n');
	return cli_print(buf_str(&text));
}

/* Hands it to a supervisor of its own. */
static int detach(struct cli *cli, struct launch *l, bool json, bool resume)
{
	int64_t pid = launch_detach(l, resume, &cli->report);

	l->begun = pid >= 0;
	if (l->begun)
		return answer_detached(l, pid, json);
	if (!resume)
		launch_abandon(l);
	return cli_refuse(cli, json);
}

int launch_resume(struct cli *cli, struct launch *l, const struct run_opts *o, bool json)
{
	if (l->detached)
		return detach(cli, l, json, true);
	struct leaves *before = leaves_read(run_file(&l->arena, l->dir, LEAVES_FILE), &cli->report);
	if (!before)
		return cli_refuse(cli, json);
	return follow_plan(cli, plan_ref(l->plan), o, json, true,
		&(struct follow_run){ .launch = l, .before = before, .ready = -1 });
}

/* Whether there is anything to read on standard input. */
static bool input_given(void)
{
	struct stat st, null;

	if (isatty(STDIN_FILENO) || fstat(STDIN_FILENO, &st) < 0)
		return false;
	return stat("/dev/null", &null) < 0 || st.st_rdev != null.st_rdev;
}

int launch_on_terminal(struct cli *cli, struct launch *l, const struct run_opts *o)
{
	bool refused;

	if (!launch_claim(l, &refused, &cli->report))
		return cli_refuse(cli, false);
	if (!launch_freeze(l, &cli->report)) {
		launch_abandon(l);
		return cli_refuse(cli, false);
	}
	return follow_plan(cli, plan_ref(l->plan), o, false, true,
		&(struct follow_run){ .launch = l, .terminal = true, .ready = -1 });
}

int launch_start(struct cli *cli, struct launch *l, const struct run_opts *o, bool json,
	bool stdin_used, const struct launch_from *from)
{
	bool refused;

	if (!launch_claim(l, &refused, &cli->report))
		return refused ? launch_refuse(cli, json, "id in use") : cli_refuse(cli, json);
	if (!from)
		l->has_input = !stdin_used && !l->detached && !l->graph->steps && input_given();
	if (!launch_freeze(l, &cli->report) ||
		(from && !rerun_take_over(l, from->dir, from->node, &cli->report))) {
		launch_abandon(l);
		return cli_refuse(cli, json);
	}
	if (from)
		return launch_resume(cli, l, o, json);
	if (l->detached)
		return detach(cli, l, json, false);
	l->begun = true;
	return follow_plan(cli, plan_ref(l->plan), o, json, stdin_used,
		&(struct follow_run){ .launch = l, .ready = -1 });
}
