#include "hosts/telegram/bridge/setup-agent.h"

#include <unistd.h>

#include "app/agents.h"
#include "base/file.h"
#include "base/path.h"
#include "base/program.h"
#include "base/user.h"
#include "hosts/telegram/bridge/agent.h"
#include "hosts/telegram/bridge/bridge.h"
#include "hosts/telegram/bridge/cli.h"

/* Programs that answer a prompt from standard input, as they are called for that. */
static const struct {
	const char *program, *template;
} known[] = {
	{ "claude", "claude -p" },
	{ "codex", "codex exec --skip-git-repo-check -" },
	{ "gemini", "gemini --skip-trust" },
	{ "opencode", "opencode run" },
	{ "pi", "pi -p" },
};

struct looking {
	struct str wanted; /* empty: the first */
	struct arena *arena;
	struct str found;
};

static bool see_agent(void *data, const struct agents_entry *entry)
{
	struct looking *l = data;

	if (l->wanted.len && !str_eq(entry->name, l->wanted))
		return true;
	l->found = arena_str(l->arena, entry->name);
	return false;
}

/* An agent of the prompts configuration with that name; the default one for an empty one. */
static struct str configured(struct bridge *b, struct arena *a, struct str wanted)
{
	struct looking l = { .wanted = wanted, .arena = a };
	AUTO_REPORT ignored = REPORT_INIT;

	(void)agents_each(AGENTS_AGENT, agent_cwd(b, a), see_agent, &l, &ignored);
	return l.found;
}

static struct str proposal(struct bridge *b, struct arena *a)
{
	struct str name = configured(b, a, S(""));

	for (size_t i = 0; i < ARRAY_SIZE(known) && !name.len; i++)
		if (program_find(
			    a, str_of(known[i].program), app_cwd(b->app), program_search(), NULL))
			name = str_of(known[i].template);
	return name;
}

static bool take(struct bridge *b, struct str words, json_t *changes, struct report *r)
{
	struct arena a = ARENA_INIT;
	struct str program = str_sub(words, 0, str_find(words, ' ', 0));
	bool named = configured(b, &a, words).len > 0;
	bool ok = named || program_find(&a, path_tilde(&a, program, user_home(&a)),
				   agent_cwd(b, &a), program_search(), NULL);

	arena_done(&a);
	if (!ok) {
		report_error(r, (struct where){ 0 },
			"'%.*s' is neither an agent nor a program that can be executed",
			STR(program));
		return report_hint(r, "`roux agents` shows agents; a command is one argument: "
				      "--agent 'claude -p'");
	}
	json_object_set_new(changes, named ? "agent.name" : "agent.template", json_from_str(words));
	json_object_set_new(changes, named ? "agent.template" : "agent.name", json_null());
	json_object_set_new(changes, "agent.recipe", json_null());
	return true;
}

static bool ask(struct bridge *b, json_t *changes, struct report *r)
{
	struct arena a = ARENA_INIT;
	AUTO_BUF question = BUF_INIT;
	AUTO_BUF typed = BUF_INIT;
	struct str offer = proposal(b, &a);

	buf_printf(&question,
		"Who answers? The name of an agent, or a command that reads a prompt (Enter: "
		"%.*s): ",
		STR(offer.len ? offer : S("later")));
	(void)fd_write_all(STDERR_FILENO, buf_str(&question));
	(void)tg_read_line(&typed, false);
	struct str words = typed.len ? buf_str(&typed) : offer;
	bool ok = !words.len || take(b, words, changes, r);
	arena_done(&a);
	return ok;
}

bool setup_agent(struct bridge *b, const char *given, json_t *changes, struct report *r)
{
	struct arena a = ARENA_INIT;
	bool has = agent_name(b, &a, NULL).len > 0;

	arena_done(&a);
	if (given)
		return take(b, str_trim(str_of(given)), changes, r);
	if (has)
		return true;
	if (isatty(STDIN_FILENO))
		return ask(b, changes, r);
	companion_say(
		"no agent is configured: roux telegram setup --agent 'claude -p', for example");
	return true;
}
