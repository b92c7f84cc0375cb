/* How a conversation begins: initialize, ping, server/discover. */
#include <string.h>

#include "hosts/mcp/catalog.h"
#include "hosts/mcp/log.h"
#include "hosts/mcp/methods.h"
#include "hosts/mcp/subscriptions.h"
#include "hosts/mcp/versions.h"

static const char *const versions[] = { PROTOCOL_MODERN, "2025-11-25", "2025-06-18", "2025-03-26",
	"2024-11-05" };
enum { NEWEST_LEGACY = 1 };

json_t *versions_supported(void)
{
	json_t *all = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(versions); i++)
		json_array_append_new(all, json_string(versions[i]));
	return all;
}

/* Its static name; NULL: it is not a legacy revision. */
static const char *version_legacy(struct str version)
{
	for (size_t i = NEWEST_LEGACY; i < ARRAY_SIZE(versions); i++)
		if (str_eq(version, str_of(versions[i])))
			return versions[i];
	return NULL;
}

bool version_is_legacy(struct str version)
{
	return version_legacy(version) != NULL;
}

json_t *server_info(void)
{
	return json_pack("{s:s, s:s}", "name", "roux", "version", ROUX_VERSION);
}

/* At most 600 characters: the one text that surely reaches the model. */
static const char instructions[] =
	"Each tool is a recipe: a checked, recorded automation of the user's machine. A call "
	"returns "
	"what the recipe printed. A recipe that takes a long time returns a run id and the status "
	"\"running\": call roux_run_wait with it until the status changes. roux_run_log reads what "
	"a "
	"run printed (also the resource roux://runs/{id}/log), roux_run_status its steps and open "
	"approvals, roux_runs lists runs. Approvals are given by a person, never by you: report "
	"the "
	"question and wait.";

static json_t *capabilities(const struct exchange *x)
{
	const struct mcp_options *o = &x->session->server->options;
	int told = x->era == ERA_MODERN || !x->session->alone;
	json_t *c = json_pack("{s:{s:b}, s:{s:b, s:b}, s:{}}", "tools", "listChanged", told,
		"resources", "subscribe", told, "listChanged", told, "completions");

	if (!o->no_prompts)
		json_object_set_new(c, "prompts", json_pack("{s:b}", "listChanged", told));
	if (x->era == ERA_MODERN)
		json_object_set_new(c, "extensions", json_pack("{s:{}}", TASKS_EXTENSION));
	else
		json_object_set_new(c, "logging", json_object());
	return c;
}

void method_initialize(struct exchange *x)
{
	struct session *s = x->session;
	const json_t *wanted = json_object_get(x->params, "protocolVersion");
	json_t *offered = json_object_get(x->params, "capabilities");

	if (!json_is_string(wanted)) {
		exchange_fail(x, RPC_PARAMS, NULL, "\"protocolVersion\" has to be a string");
		return;
	}
	const char *version = version_legacy(json_str(wanted));
	s->version = version ? version : versions[NEWEST_LEGACY];
	s->initialized = true;
	json_decref(s->capabilities);
	s->capabilities = json_is_object(offered) ? json_incref(offered) : json_object();
	if (!s->listener)
		s->listener = listener_of_session(s);
	s->client = arena_str(
		&s->arena, json_text_of(json_object_get(x->params, "clientInfo"), "name"));
	catalog_read(s->server->catalog); /* from now on the client hears of changes */
	exchange_answer(x, json_pack("{s:s, s:o, s:o, s:s}", "protocolVersion", s->version,
				   "capabilities", capabilities(x), "serverInfo", server_info(),
				   "instructions", instructions));
}

void method_ping(struct exchange *x)
{
	exchange_answer(x, json_object());
}

void method_discover(struct exchange *x)
{
	exchange_answer(x, json_pack("{s:o, s:o, s:s}", "supportedVersions", versions_supported(),
				   "capabilities", capabilities(x), "instructions", instructions));
}

void method_set_level(struct exchange *x)
{
	struct str name = json_text_of(x->params, "level");
	int level = log_level(name);

	if (level < 0) {
		exchange_fail(x, RPC_PARAMS, NULL, "'%.*s' is not a level of messages", STR(name));
		return;
	}
	x->session->log_level = level;
	exchange_answer(x, json_object());
}
