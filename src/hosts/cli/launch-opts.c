#include "hosts/cli/launch-opts.h"

#include <string.h>

#include "app/settings.h"

const struct opt name_opts[3] = {
	OPT_TEXT(0, "as", "ID", struct launch_opts, as, "name the run"),
	OPT_FLAG(0, "unique", struct launch_opts, unique,
		"a detached run too gets a name that no other has"),
	OPT_FLAG(0, "notify", struct launch_opts, notify,
		"send the result to the paired chat when it ends well"),
};

const struct opt launch_opts[2] = {
	OPT_FLAG('d', "detach", struct launch_opts, detach,
		"return at once; the run continues by itself"),
	OPT_FLAG(0, "durable", struct launch_opts, durable,
		"flush every record to the disk: nothing is lost in a power cut either"),
};

const struct opt on_opts[1] = {
	OPT_TEXT(0, "on", "NAME[:CLASS]", struct launch_opts, on,
		"run its commands on the nodes of a batch system: an executor of config.toml, "
		"slurm, "
		"sge or ssh; local: here"),
};

const struct opt agent_opts[2] = {
	OPT_LIST(0, "agent", "NAME=COMMAND", struct launch_opts, agents,
		"an agent for the agent steps of a step recipe; NAME may be *"),
	OPT_LIST(0, "collection", "NAME=DIR", struct launch_opts, collections,
		"where the recipes of @NAME:PATH are"),
};

const struct opt step_opts[1] = {
	OPT_NUMBER(0, "max-parallel", "N", struct launch_opts, max_parallel, 1, 100000,
		"how wide `parallel: true` of a step recipe is (16)"),
};

/* What stands behind the = of an option, and how it is used. */
static const struct pair_option {
	const char *name, *value, *example;
} pair_options[] = {
	{ "agent", "COMMAND", "agent '*=cat'" },
	{ "collection", "DIR", "collection shared=~/recipes" },
	{ "artifact", "PATH", "artifact report=out/report.md" },
};

static const struct pair_option *pair_option(const char *name)
{
	size_t i = 0;

	while (strcmp(pair_options[i].name, name) != 0)
		i++;
	return &pair_options[i];
}

bool launch_pairs(
	struct cli *cli, const char *option, const struct opt_list *words, json_t **object)
{
	const struct pair_option *p = pair_option(option);

	for (size_t i = 0; i < words->len; i++) {
		const char *equals = strchr(words->at[i], '=');

		if (!equals || equals == words->at[i] || !equals[1]) {
			report_error(&cli->report, (struct where){ 0 },
				"--%s takes NAME=%s, found '%s'", p->name, p->value, words->at[i]);
			return report_hint(&cli->report, "for example --%s", p->example);
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

static json_t *words_of(const struct cli *cli)
{
	json_t *argv = json_array();

	json_array_append_new(argv, json_string("roux"));
	json_array_append_new(argv, json_string(cli->command->name));
	for (size_t i = 0; i < cli->operand_count; i++)
		json_array_append_new(argv, json_from_str(str_of(cli->operands[i])));
	return argv;
}

bool launch_request(struct cli *cli, const struct launch_opts *o, const struct run_opts *run,
	json_t *values, struct request *q)
{
	*q = REQUEST_INIT;
	q->record = true;
	q->as = o->as;
	q->fresh = o->unique;
	q->durable = o->durable;
	q->notify = o->notify;
	q->on = o->on;
	q->stream = run->stream;
	q->max_parallel = o->max_parallel;
	q->detach = o->detach ? DETACH_ALWAYS : DETACH_NEVER;
	q->secrets = json_array();
	q->secret_env = json_array();
	q->secret_vars = json_object();
	q->argv = words_of(cli);
	return secrets_take(cli, &o->secrets, values, q->secrets, q->secret_env, q->secret_vars) &&
	       follow_request(cli, run, q) && launch_pairs(cli, "agent", &o->agents, &q->agents) &&
	       launch_pairs(cli, "collection", &o->collections, &q->collections);
}

void launch_request_done(struct request *q)
{
	json_t *const owned[] = { q->env, q->secrets, q->secret_env, q->secret_vars, q->agents,
		q->collections, q->artifacts, q->argv };

	for (size_t i = 0; i < ARRAY_SIZE(owned); i++)
		json_decref(owned[i]);
}
