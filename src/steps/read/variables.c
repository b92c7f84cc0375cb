#include <ctype.h>

#include "base/near.h"
#include "steps/language/reference.h"
#include "steps/language/value.h"
#include "steps/read/names.h"
#include "steps/read/read.h"

/* What a name stands for at one place of the recipe. */
enum origin {
	ORIGIN_NONE, /* not known */
	ORIGIN_OWN,  /* set by roux, or a number: nothing to be careful about */
	ORIGIN_CONTEXT,
	ORIGIN_GIVEN,
	ORIGIN_OUTPUT, /* printed by a command or an agent */
	ORIGIN_LOOP,
};

struct known {
	enum origin origin;
	const json_t *value;     /* of ORIGIN_CONTEXT */
	const struct step *from; /* of ORIGIN_OUTPUT */
};

struct check {
	struct step_recipe *recipe;
	struct arena *a;
	struct report *r;
	struct map names; /* → struct known */
	const struct step *step;
	struct str what; /* "step 'a': `command`" */
	bool shell;      /* the text is run by a shell */
	bool lenient;    /* an unknown name is only a warning */
	bool called;     /* by a step, which gives the values */
};

static void learn(struct check *c, struct str name, struct known as)
{
	struct known **slot = (struct known **)map_put(&c->names, c->a, name);

	if (!*slot)
		*slot = arena_new(c->a, struct known);
	**slot = as;
}

static struct known know(const struct check *c, struct str name)
{
	const struct known *k = map_get(&c->names, name);

	return k ? *k : (struct known){ ORIGIN_NONE, NULL, NULL };
}

static void learn_own(struct check *c, const char *name)
{
	learn(c, str_of(name), (struct known){ .origin = ORIGIN_OWN });
}

/* -- one reference -------------------------------------------------------------------------------
 */

static bool unknown_name(struct check *c, const struct reference *ref, const struct place *place)
{
	struct str name = reference_variable(ref);
	struct near near = near_to(name);
	struct report *r = c->lenient ? &c->recipe->warnings : c->r;
	bool full = report_full(r); /* it only counts: no time for places and advice */
	struct where w = { 0 };

	if (!full)
		w = reference_where(place, ref->offset, ref->length);
	map_each (e, &c->names)
		if (!full && ((const struct known *)e->value)->origin != ORIGIN_NONE)
			near_offer(&near, e->key);
	if (c->lenient)
		report_warning(r, w, "%.*s uses {{%.*s}}, which nothing has set before",
			STR(c->what), STR(report_quote(r, ref->path)));
	else
		report_error(r, w, "%.*s uses {{%.*s}}, which nothing has set before", STR(c->what),
			STR(report_quote(r, ref->path)));
	struct str best = near_best(&near);
	return best.len ? report_hint(r, "did you mean {{%.*s}}?", STR(best))
			: report_hint(r,
				  "add '%.*s' to `context`, give it when the recipe is run, or "
				  "set it in an earlier step",
				  STR(report_quote(r, name)));
}

/* The parts behind the name, against the value that the recipe declares. */
static bool check_path(struct check *c, const struct reference *ref, const json_t *value,
	const struct place *place)
{
	struct str path = ref->path;
	size_t at = str_find(path, '.', 0);
	AUTO_JSON *made = NULL; /* text that is JSON is looked into, as it will be */

	while (at < path.len) {
		size_t end = str_find(path, '.', at + 1);
		struct str part = str_sub(path, at + 1, end - at - 1),
			   so_far = str_sub(path, 0, at);
		json_t *inner = NULL;
		const char *key;
		json_t *item;

		if (json_is_string(value) && !made) {
			made = step_value_in_text(json_str(value));
			value = made ? made : value;
		}
		struct near near = near_to(part);
		json_object_foreach((json_t *)value, key, item)
		{
			if (str_eq(str_of(key), part))
				inner = item;
			near_offer(&near, str_of(key));
		}
		if (!inner) {
			struct str best = near_best(&near);

			if (json_is_object(value))
				report_error(c->r, reference_where(place, ref->offset, ref->length),
					"%.*s uses {{%.*s}}, but '%.*s' has no '%.*s'",
					STR(c->what), STR(path), STR(so_far), STR(part));
			else
				report_error(c->r, reference_where(place, ref->offset, ref->length),
					"%.*s uses {{%.*s}}, but '%.*s' is %s", STR(c->what),
					STR(path), STR(so_far), step_value_kind(value));
			return best.len ? report_hint(c->r, "did you mean '%.*s'?", STR(best))
					: report_hint(c->r, "`context` says what it is");
		}
		value = inner;
		at = end;
	}
	return true;
}

/* A name for the environment, as people write them. */
static void environment_name(struct buf *b, struct str name)
{
	for (size_t i = 0; i < name.len; i++) {
		int c = toupper((unsigned char)name.p[i]);

		if (c > 0x7f || (i == 0 && isdigit(c))) {
			/* A shell has no such names. */
			buf_reset(b);
			buf_adds(b, "VALUE");
			return;
		}
		buf_printf(b, "%c", c);
	}
}

/* Values in shell text break on quotes and run what they contain. */
static void warn_shell(
	struct check *c, const struct reference *ref, const struct place *place, struct map *told)
{
	struct report *w = &c->recipe->warnings;
	struct str name = reference_variable(ref);
	struct known k = know(c, name);

	if (!c->shell || k.origin != ORIGIN_OUTPUT || map_get(told, name))
		return;
	*map_put(told, c->a, name) = c;
	if (report_full(w)) {
		w->warnings++;
		return;
	}
	AUTO_BUF upper = BUF_INIT;
	environment_name(&upper, name);
	report_warning(w, reference_where(place, ref->offset, ref->length),
		"%.*s pastes what step '%.*s' printed into shell text", STR(c->what),
		STR(report_quote(w, k.from->id)));
	report_hint(w, "pass it as data: env: {%s: \"{{%.*s}}\"}, and \"$%s\" in the command",
		buf_cstr(&upper), STR(report_quote(w, ref->path)), buf_cstr(&upper));
}

static void warn_spaced(struct check *c, struct str text, const struct place *place)
{
	struct report *w = &c->recipe->warnings;
	struct reference ref;
	size_t at = 0;

	while (reference_spaced(text, &at, &ref)) {
		if (know(c, reference_variable(&ref)).origin == ORIGIN_NONE)
			continue;
		report_warning(w, reference_where(place, ref.offset, ref.length),
			"%.*s has spaces inside the braces: the text stays as it is", STR(c->what));
		report_hint(w, "write {{%.*s}}", STR(report_quote(w, ref.path)));
		report_slip(w);
	}
}

static void check_text(struct check *c, struct str text, const struct place *place)
{
	struct map told = MAP_INIT;
	struct reference ref;
	size_t at = 0;

	while (reference_next(text, &at, &ref)) {
		struct known k = know(c, reference_variable(&ref));

		if (k.origin == ORIGIN_NONE)
			(void)unknown_name(c, &ref, place);
		else if (k.origin == ORIGIN_CONTEXT && !c->lenient)
			(void)check_path(c, &ref, k.value, place);
		warn_shell(c, &ref, place, &told);
	}
	warn_spaced(c, text, place);
}

/* -- the texts of one step -----------------------------------------------------------------------
 */

static void check_key(struct check *c, const char *key, const struct recipe_text *t)
{
	struct report *r = c->r;

	/* Most texts have nothing in them, and a message is made for few of those that do. */
	if (!t->text.p || !str_contains(t->text, S("{{")))
		return;
	c->what = arena_printf(c->a, "step '%.*s': `%s`", STR(report_quote(r, c->step->id)), key);
	check_text(c, t->text, t->place);
}

/* Every text in a value. */
static void check_value(
	struct check *c, const char *key, const json_t *value, const struct place *place)
{
	const char *name;
	json_t *item;
	size_t i;

	if (json_is_string(value))
		check_key(c, key, &(struct recipe_text){ json_str(value), place });
	else if (json_is_object(value))
		json_object_foreach((json_t *)value, name, item)
			check_value(c, key, item, place_member(c->a, place, str_of(name)));
	else if (json_is_array(value))
		json_array_foreach(value, i, item)
			check_value(c, key, item, place_element(c->a, place, i));
}

static void check_texts(struct check *c)
{
	const struct step *s = c->step;

	check_key(c, "prompt", &s->agent.prompt);
	c->shell = true;
	check_key(c, "command", &s->bash.command);
	c->shell = false;
	check_key(c, "cwd", &s->bash.cwd);
	for (size_t i = 0; i < s->bash.env_count; i++)
		check_key(c, "env", &s->bash.env[i].text);
	check_key(c, "recipe", &s->called.recipe);
	if (s->called.context.value)
		check_value(c, "context", s->called.context.value, s->called.context.place);
	/* The rest fails when it is met; a word before is a kindness. */
	c->lenient = true;
	check_key(c, "stdin", &s->bash.stdin);
	c->lenient = false;
}

/* A text with a reference in it is valid; that it is nothing else is decided when it is met. */
static void check_list(struct check *c, const struct recipe_text *t)
{
	struct report *w = &c->recipe->warnings;
	uint64_t before = w->warnings;
	struct reference ref;

	check_key(c, "foreach", t);
	if (!t->text.p || !str_contains(t->text, S("{{")) || reference_only(t->text, &ref) ||
		w->warnings > before)
		return;
	report_warning(w, place_where(t->place),
		"step '%.*s': this `foreach` will fail: it is not exactly one reference to a list",
		STR(report_quote(w, c->step->id)));
	report_hint(w, "write {{name}} and nothing else");
	report_slip(w);
}

/* Before the loop variable is there. */
static void check_guards(struct check *c)
{
	c->lenient = true;
	check_key(c, "condition", &c->step->condition);
	check_list(c, &c->step->rounds.foreach);
	c->lenient = false;
}

/* -- the steps in order --------------------------------------------------------------------------
 */

static void learn_output(struct check *c, const struct recipe_text *name, const struct step *from)
{
	if (name->text.len)
		learn(c, name->text, (struct known){ .origin = ORIGIN_OUTPUT, .from = from });
}

/* What is set once the step has run, by the steps of its body too. */
static void learn_results(struct check *c, const struct step *s)
{
	for (size_t i = 0; i < s->rounds.step_count; i++)
		learn_results(c, s->rounds.steps[i]);
	learn_output(c, &s->output, s);
	learn_output(c, &s->rounds.collect, s);
	learn_output(c, &s->bash.output_stderr, s);
	if (s->bash.output_exit_code.text.len)
		learn(c, s->bash.output_exit_code.text, (struct known){ .origin = ORIGIN_OWN });
	for (size_t i = 0; i < s->rounds.update_context_count; i++)
		learn(c, s->rounds.update_context[i].name,
			(struct known){ .origin = ORIGIN_GIVEN });
}

/* The items of what a step printed are as little to be trusted as the whole. */
static struct known item_of(const struct check *c, const struct step *s)
{
	struct reference ref;

	if (reference_only(s->rounds.foreach.text, &ref)) {
		struct known list = know(c, reference_variable(&ref));

		if (list.origin == ORIGIN_OUTPUT)
			return list;
	}
	return (struct known){ .origin = ORIGIN_LOOP };
}

static void check_step(struct check *c, const struct step *s)
{
	static const char *const rounds[] = { "_loop_index", "_loop_iteration" };
	struct known before[2] = { 0 };
	struct str as = s->rounds.as.text;

	c->step = s;
	check_guards(c);
	if (s->loop == STEP_FOREACH) {
		before[0] = know(c, as);
		learn(c, as, item_of(c, s));
	} else if (s->loop == STEP_WHILE) {
		for (size_t i = 0; i < ARRAY_SIZE(rounds); i++) {
			before[i] = know(c, str_of(rounds[i]));
			learn_own(c, rounds[i]);
		}
	}
	check_texts(c);
	if (s->loop == STEP_FOREACH)
		learn(c, as, before[0]);
	for (size_t i = 0; s->loop == STEP_WHILE && i < ARRAY_SIZE(rounds); i++)
		learn(c, str_of(rounds[i]), before[i]);
	learn_results(c, s);
}

static void learn_context(struct check *c, const json_t *given)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)c->recipe->context, name, value)
		learn(c, str_of(name), (struct known){ .origin = ORIGIN_CONTEXT, .value = value });
	for (size_t i = 0; i < c->recipe->required_count; i++)
		learn(c, c->recipe->required[i], (struct known){ .origin = ORIGIN_GIVEN });
	/* A value that is given replaces the declared one as a whole. */
	json_object_foreach((json_t *)given, name, value)
		learn(c, str_of(name), (struct known){ .origin = ORIGIN_GIVEN });
	learn_own(c, "recipe");
	learn_own(c, "session");
	learn_own(c, "step");
	if (!c->recipe->stage_count)
		return;
	learn_own(c, "stage");
	learn_own(c, "_approval_message");
}

/* -- values that were given ----------------------------------------------------------------------
 */

/* Every name that stands between braces, wherever that is: in a condition too, or inside a loop. */
static void find_used(struct check *c, struct map *ret)
{
	struct reference ref;
	size_t at = 0;

	while (reference_next(c->recipe->doc.source.text, &at, &ref))
		*map_put(ret, c->a, reference_variable(&ref)) = c;
}

/* Set anew, whatever was given. */
static bool roux_sets(const struct check *c, struct str name)
{
	return name_reserved(name, false) || (c->recipe->stage_count && str_eq(name, S("stage")));
}

static void warn_idle(struct check *c, struct str name, const struct map *used)
{
	struct report *w = &c->recipe->warnings;
	struct near near = near_to(name);
	struct str shown = report_quote(w, name);
	const char *key;
	json_t *value;

	if (roux_sets(c, name)) {
		report_warning(w, (struct where){ 0 },
			"the value '%.*s' is ignored: roux itself sets it", STR(shown));
		report_hint(w, "give it another name, in the recipe too");
		return;
	}
	json_object_foreach((json_t *)c->recipe->context, key, value)
		near_offer(&near, str_of(key));
	map_each (e, used)
		near_offer(&near, e->key);
	for (size_t i = 0; i < c->recipe->required_count; i++)
		near_offer(&near, c->recipe->required[i]);
	struct str best = near_best(&near);
	/* What a person types near a name that the recipe has was meant as that. A step passes what
	 * it likes, as the format has it. */
	if (best.len && !c->called) {
		report_error(c->r, (struct where){ 0 },
			"nothing in the recipe '%.*s' uses the value '%.*s'",
			STR(report_quote(c->r, c->recipe->name.text)), STR(shown));
		report_hint(c->r, "did you mean '%.*s'?", STR(best));
		return;
	}
	report_warning(w, (struct where){ 0 }, "nothing in the recipe '%.*s' uses the value '%.*s'",
		STR(report_quote(w, c->recipe->name.text)), STR(shown));
	if (best.len)
		report_hint(w, "did you mean '%.*s'?", STR(best));
	else
		report_hint(w, "a recipe uses it as {{%.*s}}", STR(shown));
}

static bool is_required(const struct step_recipe *recipe, struct str name)
{
	for (size_t i = 0; i < recipe->required_count; i++)
		if (str_eq(recipe->required[i], name))
			return true;
	return false;
}

/* Told before anything runs. Without values, as when a recipe is only looked at, none is missing.
 */
static void check_required(struct check *c, const json_t *given)
{
	for (size_t i = 0; given && i < c->recipe->required_count; i++) {
		struct str name = c->recipe->required[i];

		if (json_object_getn(given, name.p, name.len))
			continue;
		report_error(c->r, (struct where){ 0 }, "the value '%.*s' is required",
			STR(report_quote(c->r, name)));
		report_field(c->r, name);
		report_hint(c->r, "give it with %.*s=…", STR(report_quote(c->r, name)));
	}
}

/* Any name may be given; one that has no effect was hardly meant so. */
static void check_given(struct check *c, const json_t *given)
{
	struct map used = MAP_INIT;
	bool looked = false;
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)given, name, value)
	{
		bool own = roux_sets(c, str_of(name));

		/* That one is the output of the run. */
		if (!own && (json_object_get(c->recipe->context, name) ||
				    is_required(c->recipe, str_of(name)) ||
				    str_eq(str_of(name), S("final_output"))))
			continue;
		if (!looked)
			find_used(c, &used);
		looked = true;
		if (own || !map_get(&used, str_of(name)))
			warn_idle(c, str_of(name), &used);
	}
}

void variables_check(struct step_recipe *recipe, const json_t *given, bool called, struct report *r)
{
	struct arena arena = ARENA_INIT;
	struct check c = { .recipe = recipe, .a = &arena, .called = called, .r = r };

	learn_context(&c, given);
	for (size_t i = 0; i < recipe->all_count; i++)
		if (!recipe->all[i]->parent)
			check_step(&c, recipe->all[i]);
	check_given(&c, given);
	check_required(&c, given);
	arena_done(&arena);
}
