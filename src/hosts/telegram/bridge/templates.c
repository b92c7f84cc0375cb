#include "hosts/telegram/bridge/templates.h"

#include <glob.h>

#include "app/agents.h"
#include "base/file.h"
#include "base/path.h"
#include "base/user.h"
#include "base/vec.h"
#include "hosts/telegram/bridge/agent.h"
#include "hosts/telegram/bridge/bridge.h"
#include "hosts/telegram/bridge/chat.h"
#include "hosts/telegram/rules/command.h"
#include "hosts/telegram/text/html.h"
#include "hosts/telegram/text/prompt-template.h"

enum { TEMPLATE_MAX = 1 << 20, LISTED_MAX = 40 };

/* What a command stands for: a file, or a task of the prompts configuration. */
struct template
{
	const char *path;
	struct str task;
};

/* All that there are: files before tasks, each in order of discovery. */
struct templates {
	struct arena *arena;
	VEC(struct template) at;
	VEC(struct str) stems; /* of each */
};

static void add(struct templates *t, struct str stem, const struct template *template)
{
	vec_push(&t->at, *template);
	vec_push(&t->stems, arena_str(t->arena, stem));
}

static void add_file(struct templates *t, const char *path)
{
	struct str base = path_base(str_of(path));
	size_t dot = base.len;

	while (dot > 0 && base.p[dot - 1] != '.')
		dot--;
	add(t, str_sub(base, 0, dot ? dot - 1 : base.len),
		&(struct template){ .path = arena_cstr(t->arena, str_of(path)) });
}

static bool add_task(void *data, const struct agents_entry *entry)
{
	struct templates *t = data;

	add(t, entry->name, &(struct template){ .task = arena_str(t->arena, entry->name) });
	return true;
}

static void find_all(struct bridge *b, struct templates *t)
{
	json_t *patterns = conf_get(&b->config, "promptTemplates"), *p;
	size_t i;

	json_array_foreach(patterns, i, p)
	{
		glob_t found;

		if (!json_is_string(p))
			continue;
		struct str path = path_from(t->arena, str_of(b->places.dir),
			path_tilde(t->arena, json_str(p), user_home(t->arena)));
		if (glob(path.p, 0, NULL, &found) == 0) {
			for (size_t n = 0; n < found.gl_pathc; n++)
				add_file(t, found.gl_pathv[n]);
			globfree(&found);
		}
	}
	AUTO_REPORT ignored = REPORT_INIT; /* nothing may be configured */
	(void)agents_each(AGENTS_TASK, agent_cwd(b, t->arena), add_task, t, &ignored);
}

static bool is_reserved(void *data, struct str name)
{
	(void)data;
	return chat_command_find(name);
}

/* How many commands they make, sorted. */
static size_t commands_of(const struct templates *t, struct template_command **ret)
{
	return template_commands(t->arena, t->stems.at, t->stems.len, is_reserved, NULL, ret);
}

static void templates_done(struct templates *t)
{
	vec_done(&t->at);
	vec_done(&t->stems);
	arena_done(t->arena);
}

void templates_list(struct bridge *b, struct buf *html)
{
	struct arena a = ARENA_INIT;
	struct templates t = { .arena = &a };
	struct template_command *commands;

	find_all(b, &t);
	size_t count = commands_of(&t, &commands);
	for (size_t i = 0; i < MIN(count, (size_t)LISTED_MAX); i++)
		buf_printf(html, "🧩 /%.*s\n", STR(commands[i].name));
	templates_done(&t);
}

static const struct template *find(const struct templates *t, struct str name)
{
	struct template_command *commands;
	size_t count = commands_of(t, &commands);

	for (size_t i = 0; i < count; i++)
		if (str_eq(commands[i].name, name))
			return &t->at.at[commands[i].index];
	return NULL;
}

bool templates_try(struct bridge *b, int64_t update, const json_t *messages,
	const struct chat_command *c, bool *ret_ok)
{
	struct arena a = ARENA_INIT;
	struct templates t = { .arena = &a };
	AUTO_BUF text = BUF_INIT;
	AUTO_BUF prompt = BUF_INIT;

	find_all(b, &t);
	const struct template *found = find(&t, c->name);
	bool ours = found &&
		    (found->task.len || file_read_regular(found->path, TEMPLATE_MAX, &text) == 0);
	if (ours && found->task.len) {
		*ret_ok = chat_task(b, update, messages, found->task, c->rest);
	} else if (ours) {
		template_expand(&prompt, template_body(buf_str(&text)), c->rest);
		struct str whole = str_trim(buf_str(&prompt));

		*ret_ok = chat_admit(b, update, messages, &whole);
	}
	templates_done(&t);
	return ours;
}
