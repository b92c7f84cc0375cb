#include "hosts/telegram/bridge/templates.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "app/agents.h"
#include "base/file.h"
#include "base/map.h"
#include "base/path.h"
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

static void add_named(
	struct map *names, struct arena *a, struct str stem, const struct template *template)
{
	struct str name = template_command_name(a, stem);

	/* Of equal names the first wins. */
	if (!name.len || chat_command_find(name) || map_get(names, name))
		return;
	struct template *kept = arena_alloc(a, sizeof(*kept));
	*kept = *template;
	*map_put(names, a, name) = kept;
}

static void add(struct map *names, struct arena *a, const char *path)
{
	struct str base = path_base(str_of(path));
	size_t dot = base.len;

	while (dot > 0 && base.p[dot - 1] != '.')
		dot--;
	add_named(names, a, str_sub(base, 0, dot ? dot - 1 : base.len),
		&(struct template){ .path = arena_cstr(a, str_of(path)) });
}

struct finding {
	struct map *names;
	struct arena *arena;
};

static bool add_task(void *data, const struct agents_entry *entry)
{
	struct finding *f = data;

	add_named(f->names, f->arena, entry->name,
		&(struct template){ .task = arena_str(f->arena, entry->name) });
	return true;
}

/* Name → struct template. Files come before tasks, each in order of discovery. */
static void find_all(struct bridge *b, struct arena *a, struct map *names)
{
	json_t *patterns = conf_get(&b->config, "promptTemplates"), *p;
	size_t i;

	json_array_foreach(patterns, i, p)
	{
		glob_t found;

		if (!json_is_string(p))
			continue;
		struct str path = path_from(
			a, str_of(b->places.dir), path_tilde(a, json_str(p), path_home(a)));
		if (glob(path.p, 0, NULL, &found) == 0) {
			for (size_t n = 0; n < found.gl_pathc; n++)
				add(names, a, found.gl_pathv[n]);
			globfree(&found);
		}
	}
	AUTO_REPORT ignored = REPORT_INIT; /* nothing may be configured */
	(void)agents_each(
		AGENTS_TASK, agent_cwd(b, a), add_task, &(struct finding){ names, a }, &ignored);
}

static int by_text(const void *one, const void *other)
{
	return strcmp(*(const char *const *)one, *(const char *const *)other);
}

void templates_list(struct bridge *b, struct buf *html)
{
	struct arena a = ARENA_INIT;
	struct map names = MAP_INIT;
	VEC(const char *) sorted = { 0 };

	find_all(b, &a, &names);
	map_each (e, &names)
		vec_push(&sorted, arena_cstr(&a, e->key));
	if (sorted.len)
		qsort(sorted.at, sorted.len, sizeof(*sorted.at), by_text);
	for (size_t i = 0; i < MIN(sorted.len, (size_t)LISTED_MAX); i++)
		buf_printf(html, "🧩 /%s\n", sorted.at[i]);
	vec_done(&sorted);
	arena_done(&a);
}

bool templates_try(struct bridge *b, int64_t update, const json_t *messages,
	const struct chat_command *c, bool *ret_ok)
{
	struct arena a = ARENA_INIT;
	struct map names = MAP_INIT;
	AUTO_BUF text = BUF_INIT;
	AUTO_BUF prompt = BUF_INIT;

	find_all(b, &a, &names);
	const struct template *found = map_get(&names, c->name);
	bool ours = found &&
		    (found->task.len || file_read_regular(found->path, TEMPLATE_MAX, &text) == 0);
	if (ours && found->task.len) {
		*ret_ok = chat_task(b, update, messages, found->task, c->rest);
	} else if (ours) {
		template_expand(&prompt, template_body(buf_str(&text)), c->rest);
		struct str whole = str_trim(buf_str(&prompt));

		*ret_ok = chat_admit(b, update, messages, &whole);
	}
	arena_done(&a);
	return ours;
}
