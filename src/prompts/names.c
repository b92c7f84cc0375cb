#include "prompts/names.h"

#include <string.h>

#include "base/near.h"
#include "prompts/placeholders.h"

static bool contains_nocase(struct str s, struct str part)
{
	for (size_t at = 0; at + part.len <= s.len; at++)
		if (str_eq_nocase(str_sub(s, at, part.len), part))
			return true;
	return false;
}

static void note(struct buf *notes, const char *what, struct str typed, struct str meant)
{
	if (notes)
		buf_printf(notes, "%s '%.*s' is taken for '%.*s'\n", what, STR(typed), STR(meant));
}

/* -- entries -------------------------------------------------------------------------------------
 */

typedef bool match_fn(const struct config_entry *e, struct str typed);

static bool local_prefix(const struct config_entry *e, struct str typed)
{
	return e->scope == SCOPE_LOCAL && str_starts(e->name, typed);
}

static bool global_prefix(const struct config_entry *e, struct str typed)
{
	return e->scope == SCOPE_GLOBAL && str_starts(e->name, typed);
}

static bool part_of_name(const struct config_entry *e, struct str typed)
{
	return contains_nocase(e->name, typed);
}

enum { NAMES_MAX = 60 }; /* that a hint lists */

static void add_name(struct buf *names, struct str name, size_t before)
{
	if (before < NAMES_MAX)
		buf_printf(names, "%s%.*s", before ? ", " : "", STR(name));
	else if (before == NAMES_MAX)
		buf_adds(names, ", …");
}

/* How many match; *ret is the first. */
static size_t matching(const struct config *c, enum config_kind kind, match_fn *fn,
	struct str typed, const struct config_entry **ret, struct buf *names)
{
	size_t count = 0;

	vec_each (e, &c->entries[kind]) {
		if (config_any_agent(*e) || !fn(*e, typed))
			continue;
		if (!count)
			*ret = *e;
		add_name(names, (*e)->name, count++);
	}
	return count;
}

static bool any(const struct config_entry *e, struct str typed)
{
	(void)e;
	(void)typed;
	return true;
}

void names_list(const struct config *c, enum config_kind kind, struct buf *ret)
{
	const struct config_entry *first;

	(void)matching(c, kind, any, S(""), &first, ret);
}

static const struct config_entry *unknown(
	const struct config *c, enum config_kind kind, struct str typed, struct report *r)
{
	const struct config_entry *first;
	AUTO_BUF names = BUF_INIT;
	struct near near = near_to(typed);

	size_t count = matching(c, kind, any, typed, &first, &names);
	vec_each (e, &c->entries[kind])
		if (!config_any_agent(*e))
			near_offer(&near, (*e)->name);
	report_error(r, (struct where){ 0 }, "there is no %s '%.*s'", config_kind_name(kind),
		STR(report_quote(r, typed)));
	struct str best = near_best(&near);
	if (best.len)
		report_hint(r, "did you mean '%.*s'? there are: %s", STR(best), buf_cstr(&names));
	else if (count)
		report_hint(r, "there are: %s", buf_cstr(&names));
	else
		report_hint(r, "none is configured; add [%s.NAME] to %s.toml",
			config_table_name(kind), config_table_name(kind));
	return NULL;
}

size_t names_of_step_agent(struct str name, struct str ret[3])
{
	size_t colon = str_find(name, ':', 0), n = 0;

	ret[n++] = name;
	if (colon < name.len)
		ret[n++] = str_from(name, colon + 1);
	ret[n++] = S("*");
	return n;
}

const struct config_entry *names_find_step_agent(const struct config *c, struct str name)
{
	const struct config_entry *found = NULL;
	struct str tries[3];
	size_t count = names_of_step_agent(name, tries);

	for (size_t i = 0; i < count && !found; i++)
		found = config_find(c, KIND_AGENT, tries[i]);
	return found;
}

const struct config_entry *names_step_agent(
	const struct config *c, struct str name, struct report *r)
{
	const struct config_entry *found = names_find_step_agent(c, name);

	return found ? found : unknown(c, KIND_AGENT, name, r);
}

static const struct config_entry *task_alias(
	const struct config *c, struct str typed, enum config_scope scope)
{
	vec_each (e, &c->entries[KIND_TASK]) {
		struct str alias = config_text(*e, "alias");

		if ((*e)->scope == scope && alias.len && str_eq(alias, typed))
			return *e;
	}
	return NULL;
}

/* Local name, local alias, global name, global alias. */
static const struct config_entry *exact(
	const struct config *c, enum config_kind kind, struct str typed)
{
	const struct config_entry *named = config_find(c, kind, typed);

	if (kind != KIND_TASK || (named && named->scope == SCOPE_LOCAL))
		return named;
	const struct config_entry *alias = task_alias(c, typed, SCOPE_LOCAL);
	if (alias)
		return alias;
	return named ? named : task_alias(c, typed, SCOPE_GLOBAL);
}

const struct config_entry *names_find(struct config *c, enum config_kind kind, struct str typed,
	struct buf *notes, struct report *r)
{
	static match_fn *const ways[] = { local_prefix, global_prefix, part_of_name };
	const struct config_entry *found = exact(c, kind, typed);

	if (found && !config_any_agent(found))
		return found;
	for (size_t i = 0; typed.len && i < ARRAY_SIZE(ways); i++) {
		AUTO_BUF names = BUF_INIT;
		size_t count = matching(c, kind, ways[i], typed, &found, &names);

		if (count == 1) {
			note(notes, config_kind_name(kind), typed, found->name);
			return found;
		}
		if (count > 1) {
			report_error(r, (struct where){ 0 }, "%s '%.*s' may mean several: %s",
				config_kind_name(kind), STR(report_quote(r, typed)),
				buf_cstr(&names));
			report_hint(r, "type more of the name");
			return NULL;
		}
	}
	return unknown(c, kind, typed, r);
}

/* -- models --------------------------------------------------------------------------------------
 */

enum model_way { MODEL_ALIAS, MODEL_IDENTIFIER, MODEL_PREFIX, MODEL_PART };

static size_t models_matching(const json_t *models, enum model_way way, struct str typed,
	struct str *alias, struct str *ret, struct buf *names)
{
	const char *key;
	json_t *value;
	size_t count = 0;

	json_object_foreach((json_t *)models, key, value)
	{
		struct str name = str_of(key);
		bool hit = way == MODEL_ALIAS        ? str_eq(name, typed)
			   : way == MODEL_IDENTIFIER ? str_eq(json_str(value), typed)
			   : way == MODEL_PREFIX     ? str_starts(name, typed)
						     : contains_nocase(name, typed);

		if (!hit)
			continue;
		if (!count) {
			*alias = name;
			*ret = json_str(value);
		}
		add_name(names, name, count++);
	}
	return count;
}

static bool typed_model(const json_t *models, struct str typed, struct str *ret, struct buf *notes,
	struct report *r)
{
	for (enum model_way way = MODEL_ALIAS; way <= MODEL_PART; way++) {
		AUTO_BUF names = BUF_INIT;
		struct str alias;
		size_t count = models_matching(models, way, typed, &alias, ret, &names);

		if (count && way <= MODEL_IDENTIFIER)
			return true;
		if (count > 1 && way == MODEL_PREFIX) {
			report_error(r, (struct where){ 0 }, "model '%.*s' may mean several: %s",
				STR(report_quote(r, typed)), buf_cstr(&names));
			return report_hint(r, "type more of the name");
		}
		if (count == 1) {
			note(notes, "model", typed, alias);
			return true;
		}
	}
	*ret = typed;
	return true;
}

bool names_model(struct config *c, const struct config_entry *agent, const struct agent_line *line,
	struct str typed, struct str *ret, struct buf *notes, struct report *r)
{
	const json_t *models = config_value(agent, "models");
	struct str preset = config_text(agent, "default_model");
	AUTO_BUF ignored = BUF_INIT;
	struct str alias;

	*ret = S("");
	if (typed.len)
		return typed_model(models, typed, ret, notes, r);
	if (preset.len) {
		if (!models_matching(models, MODEL_ALIAS, preset, &alias, ret, &ignored))
			*ret = preset;
		return true;
	}
	if (json_object_size(models)) {
		*ret = json_str(json_object_iter_value(json_object_iter((json_t *)models)));
		return true;
	}
	if (!agent_line_names(line, PH_MODEL))
		return true;
	report_error(r, place_where(config_place(c, agent, line->field)),
		"agent '%.*s' needs a model: its %s names {model}", STR(agent->name), line->field);
	report_hint(r, "set default_model or [agents.%.*s.models]", STR(agent->name));
	return report_action(r, ACTION_GIVE_MODEL, agent->name);
}
