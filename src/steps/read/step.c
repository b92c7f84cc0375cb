#include "base/near.h"
#include "steps/language/condition.h"
#include "steps/language/value.h"
#include "steps/read/names.h"
#include "steps/read/read.h"

/* One step while it is read. */
struct subject {
	struct step_reader *rd;
	struct step *step;
	struct key_object object;
	bool typed;   /* its type is known */
	bool guessed; /* it was left out and is not the default */
};

static struct report *warnings(const struct subject *s)
{
	return &s->rd->keys.recipe->warnings;
}

static const json_t *member(const struct subject *s, const char *name)
{
	return json_object_get(s->object.value, name);
}

static const struct place *place_of(const struct subject *s, struct str name)
{
	return key_place(&s->rd->keys, &s->object, name);
}

/* A condition may be a number or a boolean, and false is one. */
static bool given(const json_t *value)
{
	return value && !json_is_null(value) &&
	       !(json_is_string(value) && !json_string_length(value));
}

/* -- its type ------------------------------------------------------------------------------------
 */

static bool find_type(struct str word, enum step_type *ret)
{
	for (unsigned i = 0; step_type_names[i]; i++) {
		if (!str_eq(word, str_of(step_type_names[i])))
			continue;
		*ret = (enum step_type)i;
		return true;
	}
	return false;
}

/* What people reach for that is not there. */
static bool hint_type(struct report *r, struct str word)
{
	struct near near = near_to(word);

	if (str_eq(word, S("http")))
		return report_hint(r, "use `type: bash` with curl");
	if (str_eq(word, S("transform")))
		return report_hint(
			r, "use `type: bash` with jq; `parse_json` and {{a.b}} do the rest");
	if (str_eq(word, S("shell")) || str_eq(word, S("command")))
		return report_hint(r, "use `type: bash`");
	for (unsigned i = 0; step_type_names[i]; i++) {
		if (str_eq_nocase(word, str_of(step_type_names[i])))
			return report_hint(r, "types are lower case: '%s'", step_type_names[i]);
		near_offer(&near, str_of(step_type_names[i]));
	}
	struct str best = near_best(&near);
	return best.len ? report_hint(r, "did you mean '%.*s'?", STR(best))
			: report_hint(r, "types are agent (the default), bash, recipe and wait");
}

/* A step without a type is an agent step; one that has what only another type has was hardly meant
 * so, and is looked at as that one. */
static void guess_type(struct subject *s)
{
	if (key_present(member(s, "agent")) || key_present(member(s, "prompt")))
		return;
	for (size_t i = 0; i < step_key_count; i++) {
		const struct key *k = &step_keys[i];

		if (k->in != KEY_IN_STEP || !k->needed_by || k->needed_by & 1 << STEP_AGENT ||
			!key_present(member(s, k->name.p)))
			continue;
		s->step->type = k->needed_by & 1 << STEP_BASH     ? STEP_BASH
				: k->needed_by & 1 << STEP_RECIPE ? STEP_RECIPE
								  : STEP_WAIT;
		s->guessed = true;
		report_error(s->rd->keys.r, place_key_where(place_of(s, k->name)),
			"%.*sit has `%.*s` but no `type`, which makes it an agent step",
			STR(s->object.what), STR(k->name));
		report_hint(s->rd->keys.r, "add `type: %s`", step_type_name(s->step->type));
		return;
	}
}

static void read_type(struct subject *s)
{
	const json_t *type = member(s, "type");
	const struct key *k = key_find(KEY_IN_STEP, S("type"));

	s->typed = true;
	if (!type || json_is_null(type)) {
		guess_type(s);
		return;
	}
	if (!key_accepts(k, type)) {
		s->typed = key_read(&s->rd->keys, &s->object, k, type, place_of(s, k->name));
		return;
	}
	s->typed = find_type(json_str(type), &s->step->type);
	if (s->typed)
		return;
	report_error(s->rd->keys.r, place_where(place_of(s, k->name)),
		"%.*s`type` is '%.*s', expected %s", STR(s->object.what),
		STR(report_quote(s->rd->keys.r, json_str(type))), k->wanted);
	hint_type(s->rd->keys.r, json_str(type));
}

static const char *article(enum step_type t)
{
	return t == STEP_AGENT ? "an" : "a";
}

/* -- which keys count ----------------------------------------------------------------------------
 */

/* Whether a key belongs to the type of the step; if not, says so. */
static bool fits_type(const struct subject *s, const struct key *k, const json_t *value)
{
	unsigned type = 1u << s->step->type;
	const char *name = step_type_name(s->step->type), *an = article(s->step->type);

	if (!(k->refused_by & type) && (!k->used_by || k->used_by & type))
		return true;
	if (!key_present(value))
		return false;
	struct where w = place_key_where(place_of(s, k->name));
	if (!(k->refused_by & type)) {
		report_warning(warnings(s), w,
			"%.*s`%.*s` is ignored: %s %s step has no use for it", STR(s->object.what),
			STR(k->name), an, name);
		report_hint(warnings(s), "remove it");
		return false;
	}
	report_error(s->rd->keys.r, w, "%.*s%s %s step cannot have `%.*s`", STR(s->object.what), an,
		name, STR(k->name));
	if (k->used_by & 1 << STEP_BASH)
		report_hint(
			s->rd->keys.r, "remove it, or make a step of its own with `type: bash`");
	else if (k->used_by & 1 << STEP_AGENT)
		report_hint(s->rd->keys.r, "remove it, or make an agent step of its own");
	else
		report_hint(s->rd->keys.r, "remove it");
	return false;
}

/* Whether the loop is there that a key is about. */
static bool fits_loop(const struct subject *s, const struct key *k, const json_t *value)
{
	enum step_loop loop = s->step->loop;

	if (k->needs == STEP_ONCE || (k->needs == STEP_WHILE && loop != STEP_ONCE) ||
		(k->needs == STEP_FOREACH && loop == STEP_FOREACH))
		return true;
	if (!key_present(value))
		return k->needs_always && !json_is_boolean(value) && !json_is_array(value);
	struct where w = place_key_where(place_of(s, k->name));
	const char *what =
		k->needs == STEP_FOREACH ? "`foreach`" : "`foreach` or `while_condition`";
	if (k->needs_always) {
		report_error(s->rd->keys.r, w, "%.*s`%.*s` needs a loop: %s", STR(s->object.what),
			STR(k->name), what);
		report_hint(s->rd->keys.r, "%s", k->summary);
	} else {
		report_warning(warnings(s), w, "%.*s`%.*s` is ignored without %s",
			STR(s->object.what), STR(k->name), what);
		report_hint(warnings(s), "%s", k->summary);
	}
	return false;
}

/* -- keys that the table cannot store ------------------------------------------------------------
 */

static void read_parallel(struct subject *s, const struct key *k, const json_t *value)
{
	if (key_read(&s->rd->keys, &s->object, k, value, place_of(s, k->name)))
		s->step->rounds.parallel = json_is_integer(value) ? json_integer_value(value)
					   : json_is_true(value)  ? STEP_PARALLEL_DEFAULT
								  : 0;
}

static void read_mapping(struct subject *s, const struct key *k, const json_t *value)
{
	struct step *step = s->step;
	bool retry = k->inside == KEY_IN_RETRY;

	if (!key_read(&s->rd->keys, &s->object, k, value, place_of(s, k->name)))
		return;
	struct key_object inside = key_inside(&s->rd->keys, &s->object, k,
		retry ? (void *)&step->retry : (void *)&step->called.recursion);
	*(retry ? &step->retry.given : &step->called.recursion.given) = true;
	keys_read(&s->rd->keys, &inside);
}

static void read_body(struct subject *s, const struct key *k, const json_t *value)
{
	if (s->step->rounds.steps) {
		report_error(s->rd->keys.r, place_key_where(place_of(s, k->name)),
			"%.*s`steps` and `while_steps` are two spellings of one key",
			STR(s->object.what));
		report_hint(s->rd->keys.r, "keep `steps`");
		return;
	}
	if (key_read(&s->rd->keys, &s->object, k, value, place_of(s, k->name)))
		s->step->rounds.steps = steps_read(
			s->rd, value, place_of(s, k->name), s->step, &s->step->rounds.step_count);
}

static void read_needs(
	struct subject *s, const struct key *k, const json_t *value, const struct place *place)
{
	struct key_reader *kr = &s->rd->keys;

	if (!key_read(kr, &s->object, k, value, place))
		return;
	struct needs *needs = arena_new(kr->a, struct needs);
	(void)needs_read(kr->a, place, value, needs, kr->r);
	s->step->needs = needs;
}

static void read_member(struct subject *s, const struct key *k, const json_t *value)
{
	const struct place *place = place_of(s, k->name);
	struct key_reader *kr = &s->rd->keys;
	struct step *step = s->step;

	switch (k->items) {
	case KEY_ITEMS_SCALARS:
		(void)key_pairs(
			kr, &s->object, k, value, place, &step->bash.env, &step->bash.env_count);
		return;
	case KEY_ITEMS_BY_NAME:
		(void)key_pairs(kr, &s->object, k, value, place, &step->rounds.update_context,
			&step->rounds.update_context_count);
		return;
	case KEY_ITEMS_KEYS:
		read_mapping(s, k, value);
		return;
	case KEY_ITEMS_STEPS:
		read_body(s, k, value);
		return;
	case KEY_ITEMS_TEXTS:
		if (k->store != KEY_STORE_NOT)
			break;
		(void)key_texts(kr, &s->object, k, value, place, &step->depends_on,
			&step->depends_on_count);
		return;
	case KEY_ITEMS_ANY:
	case KEY_ITEMS_NAMES:
	case KEY_ITEMS_MAPPINGS:
	case KEY_ITEMS_STAGES:
		break;
	}
	if (str_eq(k->name, S("parallel")))
		read_parallel(s, k, value);
	else if (str_eq(k->name, S("needs")))
		read_needs(s, k, value, place);
	else if (str_eq(k->name, S("runs_on")) && key_read(kr, &s->object, k, value, place))
		(void)runs_on_read(place, value, &step->runs_on, kr->r);
	else
		(void)key_read(kr, &s->object, k, value, place);
}

static void read_members(struct subject *s)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)s->object.value, name, value)
	{
		const struct key *k = key_find(KEY_IN_STEP, str_of(name));

		if (!k) {
			key_unknown(&s->rd->keys, &s->object, str_of(name));
			continue;
		}
		/* An empty text is none, except where only certain words may stand. */
		bool blank = json_is_string(value) && !json_string_length(value) && !k->words;
		if (json_is_null(value) || blank || str_eq(k->name, S("id")) ||
			str_eq(k->name, S("type")))
			continue;
		if (s->typed && !fits_type(s, k, value))
			continue;
		if (fits_loop(s, k, value))
			read_member(s, k, value);
	}
}

/* -- what belongs together -----------------------------------------------------------------------
 */

static void check_needed(struct subject *s)
{
	struct report *r = s->rd->keys.r;
	unsigned type = 1u << s->step->type;

	/* A loop around steps of its own does nothing itself. */
	bool body = key_present(member(s, "steps")) || key_present(member(s, "while_steps"));
	if (!s->typed || (s->step->type == STEP_AGENT && body))
		return;
	for (size_t i = 0; i < step_key_count; i++) {
		const struct key *k = &step_keys[i];

		if (k->in != KEY_IN_STEP || !(k->needed_by & type))
			continue;
		const json_t *value = member(s, k->name.p);
		bool blank = k->filled && json_is_string(value) && name_blank(json_str(value));
		bool number = json_is_number(value);

		if ((key_present(value) || number) && !blank)
			continue;
		/* A value of another type was complained about. */
		if (value && !json_is_null(value) && !key_accepts(k, value))
			continue;
		if (value && !json_is_null(value))
			report_error(r, place_where(place_of(s, k->name)), "%.*s`%.*s` is empty",
				STR(s->object.what), STR(k->name));
		else
			report_error(r, place_where(s->step->place), "%.*s%s %s step needs `%.*s`",
				STR(s->object.what), article(s->step->type),
				step_type_name(s->step->type), STR(k->name));
		report_hint(r, "%s", k->summary);
	}
}

/* A body of steps is all that a loop runs. */
static void check_container(struct subject *s)
{
	static const char *const idle[] = { "command", "prompt", "recipe", "seconds", "agent",
		"mode", "timeout", "retry", "parse_json" };
	static const size_t work = 4; /* of them are what a step does */

	for (size_t i = 0; s->step->rounds.step_count && i < ARRAY_SIZE(idle); i++) {
		if (!key_present(member(s, idle[i])))
			continue;
		report_warning(warnings(s), place_key_where(place_of(s, str_of(idle[i]))),
			"%.*s`%s` is ignored: the loop runs its `steps`", STR(s->object.what),
			idle[i]);
		report_hint(warnings(s),
			i < work ? "make it one of the steps" : "give it to one of the steps");
		report_slip(warnings(s));
	}
}

static void refuse_pair(struct subject *s, struct str name, const char *with)
{
	report_error(s->rd->keys.r, place_key_where(place_of(s, name)),
		"%.*s`%.*s` cannot be combined with `%s`", STR(s->object.what), STR(name), with);
	report_hint(s->rd->keys.r, "keep one of them");
}

static void check_loop(struct subject *s)
{
	struct step *step = s->step;
	struct report *r = s->rd->keys.r;

	if (step->rounds.foreach.text.p && !str_contains(step->rounds.foreach.text, S("{{"))) {
		report_error(r, place_where(step->rounds.foreach.place),
			"%.*s`foreach` is '%.*s', expected a reference to a list",
			STR(s->object.what), STR(report_quote(r, step->rounds.foreach.text)));
		report_hint(
			r, "write \"{{%.*s}}\"", STR(report_quote(r, step->rounds.foreach.text)));
	}
	struct str again = step->rounds.while_condition.text;
	if (again.p && !str_contains(again, S("{{")) &&
		!str_eq_nocase(step_value_trim(again), S("true"))) {
		report_error(r, place_where(step->rounds.while_condition.place),
			"%.*s`while_condition` never changes: it has no {{reference}}",
			STR(s->object.what));
		report_hint(r, "compare a variable, or write \"true\" and `break_when`");
	}
	if (given(member(s, "foreach")) && given(member(s, "while_condition")))
		refuse_pair(s, S("while_condition"), "foreach");
	if (!step->rounds.parallel)
		return;
	if (step->rounds.checkpoint_iterations)
		refuse_pair(s, S("checkpoint_iterations"), "parallel");
	if (step->rounds.break_when.text.p)
		refuse_pair(s, S("break_when"), "parallel");
	if (step->rounds.update_context_count)
		refuse_pair(s, S("update_context"), "parallel");
}

/* Conditions are decided when they are met; what can never be decided is worth saying before. */
static void check_condition(struct subject *s, const struct recipe_text *t)
{
	AUTO_REPORT found = REPORT_INIT;

	if (!t->text.p || condition_check(t->text, t->place, &found) || !found.issues.len)
		return;
	const struct issue *i = &found.issues.at[0];
	report_warning(warnings(s), place_where(t->place), "%.*sthis condition will fail: %.*s",
		STR(s->object.what), STR(i->message));
	report_advise(warnings(s), i);
	report_slip(warnings(s));
}

/* -- one step, and many --------------------------------------------------------------------------
 */

static void set_defaults(struct step *step)
{
	keys_default(KEY_IN_STEP, step);
	keys_default(KEY_IN_RETRY, &step->retry);
	keys_default(KEY_IN_RECURSION, &step->called.recursion);
}

/* What depends on other keys. */
static void settle_defaults(struct step *step)
{
	if (!step->timeout_ms)
		step->timeout_ms = step_timeout_ms(step->type);
	if (!step->retry.given)
		step->retry.max_attempts = 1;
	if (step->loop == STEP_FOREACH && !step->rounds.as.text.p)
		step->rounds.as = (struct recipe_text){ S(STEP_AS), step->place };
}

static struct str describe(struct step_reader *rd, const json_t *value, size_t index)
{
	const json_t *id = json_object_get(value, "id");
	struct arena *a = rd->keys.a;

	if (json_is_string(id) && json_string_length(id))
		return arena_printf(
			a, "step '%.*s': ", STR(report_quote(rd->keys.r, json_str(id))));
	return arena_printf(a, "step number %zu: ", index + 1);
}

static void read_id(struct subject *s)
{
	const struct key *k = key_find(KEY_IN_STEP, S("id"));
	const json_t *id = member(s, "id");
	struct step_reader *rd = s->rd;

	/* What is not a text at all is complained about as that: `id: no` is a boolean. */
	if (!key_present(id) && (!id || json_is_null(id) || key_accepts(k, id))) {
		report_error(rd->keys.r, place_where(id ? place_of(s, k->name) : s->step->place),
			"%.*s`id` is %s", STR(s->object.what), id ? "empty" : "missing");
		report_hint(rd->keys.r, "%s", k->summary);
		return;
	}
	if (!key_read(&rd->keys, &s->object, k, id, place_of(s, k->name)))
		return;
	s->step->id = json_str(id);
	void **seen = map_put(&rd->ids, rd->keys.a, s->step->id);
	struct step *first = *seen;
	if (!first) {
		*seen = s->step;
		return;
	}
	struct where w = place_where(place_of(s, k->name));
	/* Steps of different loops never meet; only their names are confusing. */
	if (first->parent != s->step->parent && (first->parent || s->step->parent)) {
		report_warning(
			warnings(s), w, "%.*sanother step has this `id` too", STR(s->object.what));
		report_hint(warnings(s), "%s", k->summary);
		return;
	}
	report_error(rd->keys.r, w, "%.*sanother step has this `id` already", STR(s->object.what));
	report_hint(rd->keys.r, "%s", k->summary);
}

/* A step of another tool, such as `run: ls`: one word about what it would be here is enough. */
static bool refuse_foreign(struct subject *s)
{
	static const char *const ours[] = { "type", "agent", "prompt", "command", "recipe",
		"seconds", "steps", "while_steps" };
	const char *name;
	json_t *value;

	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		if (member(s, ours[i]))
			return false;
	json_object_foreach((json_t *)s->object.value, name, value)
	{
		if (key_is_shell(str_of(name))) {
			key_unknown(&s->rd->keys, &s->object, str_of(name));
			return true;
		}
	}
	return false;
}

static struct step *read_step(struct step_reader *rd, const json_t *value,
	const struct place *place, const struct step *parent, size_t index)
{
	struct step *step = arena_new(rd->keys.a, struct step);
	struct subject s = { .rd = rd, .step = step };

	s.object =
		(struct key_object){ KEY_IN_STEP, value, place, describe(rd, value, index), step };
	step->id = S("");
	step->place = place;
	step->parent = parent;
	step->stage = rd->stage;
	step->index = index;
	set_defaults(step);
	vec_push(&rd->all, step);
	step->loop = given(member(&s, "foreach"))           ? STEP_FOREACH
		     : given(member(&s, "while_condition")) ? STEP_WHILE
							    : STEP_ONCE;
	if (refuse_foreign(&s)) {
		settle_defaults(step);
		return step;
	}
	read_id(&s);
	read_type(&s);
	read_members(&s);
	check_needed(&s);
	check_container(&s);
	check_loop(&s);
	check_condition(&s, &step->condition);
	check_condition(&s, &step->rounds.while_condition);
	check_condition(&s, &step->rounds.break_when);
	settle_defaults(step);
	return step;
}

struct step *const *steps_read(struct step_reader *rd, const json_t *list,
	const struct place *place, const struct step *parent, size_t *count)
{
	struct step **steps = arena_array(rd->keys.a, struct step *, json_array_size(list));
	json_t *item;
	size_t i, n = 0;

	json_array_foreach(list, i, item)
	{
		const struct place *p = place_element(rd->keys.a, place, i);

		if (report_full(rd->keys.r))
			break;
		if (json_is_object(item)) {
			steps[n++] = read_step(rd, item, p, parent, i);
			continue;
		}
		report_error(rd->keys.r, place_where(p),
			"step number %zu is %s, expected a mapping", i + 1, step_value_kind(item));
		report_hint(rd->keys.r, "a step has at least an `id` and what its `type` needs");
	}
	*count = n;
	return steps;
}

/* -- depends_on ----------------------------------------------------------------------------------
 */

static struct str nearest_id(const struct step_reader *rd, struct str id)
{
	struct near near = near_to(id);

	if (report_full(rd->keys.r))
		return S("");
	map_each (e, &rd->ids)
		near_offer(&near, e->key);
	return near_best(&near);
}

/* False: it stands earlier, as it must. */
static bool complain_dependency(struct step_reader *rd, const struct step *step, size_t index)
{
	struct str id = step->depends_on[index];
	const struct step *other = map_get(&rd->ids, id);
	struct arena *a = rd->keys.a;
	struct report *r = rd->keys.r;
	const struct place *p =
		place_element(a, place_member(a, step->place, S("depends_on")), index);

	if (other && other->order < step->order)
		return false;
	if (report_full(r)) {
		r->errors++; /* it only counts: no time for places and advice */
		return true;
	}
	struct str shown = report_quote(r, id);
	const char *what = !other          ? "is not a step"
			   : other == step ? "is the step itself"
					   : "stands later";
	report_error(r, place_where(p), "step '%.*s': `depends_on` has '%.*s', which %s",
		STR(report_quote(r, step->id)), STR(shown), what);
	struct str near = other ? S("") : nearest_id(rd, id);
	if (near.len)
		report_hint(r, "did you mean '%.*s'?", STR(near));
	else
		report_hint(r, "steps run in the order of the file");
	return true;
}

void steps_check_order(struct step_reader *rd)
{
	for (size_t i = 0; i < rd->all.len; i++)
		rd->all.at[i]->order = i;
	for (size_t i = 0; i < rd->all.len; i++)
		for (size_t j = 0; j < rd->all.at[i]->depends_on_count; j++)
			(void)complain_dependency(rd, rd->all.at[i], j);
}
