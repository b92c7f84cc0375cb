/* Step recipes: whatever is written, it is a recipe or there are mistakes, each with its place. */
#include "base/utf8.h"
#include "steps/read/recipe.h"

#include "fuzz.h"

static void check_recipe(const struct step_recipe *recipe)
{
	AUTO_JSON *facts = step_recipe_facts(recipe);
	AUTO_BUF text = BUF_INIT;

	HOLDS(recipe->all_count > 0);
	HOLDS(json_array_size(json_object_get(facts, "steps")) == recipe->all_count);
	HOLDS(recipe->warnings.errors == 0);
	json_write(&text, facts, 0);
	report_text(&recipe->warnings, REPORT_ALL, &text);
	HOLDS(utf8_valid(buf_str(&text)));
	for (size_t i = 0; i < recipe->all_count; i++) {
		const struct step *s = recipe->all[i];
		struct where w = place_where(s->place);

		HOLDS(s->order == i && s->id.len && s->type < STEP_TYPE_COUNT);
		HOLDS(w.offset + w.length <= recipe->doc.source.text.len);
		HOLDS(s->loop == STEP_FOREACH ? s->rounds.as.text.len > 0 : true);
		HOLDS(s->type != STEP_BASH || s->bash.command.text.len);
		HOLDS(s->parent == NULL || s->parent->order < i);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF text = BUF_INIT;
	struct step_recipe *recipe =
		step_recipe_read(S("/t.yaml"), S("t.yaml"), fuzz_str(data, size), NULL, &r);

	HOLDS(!recipe == (r.errors > 0));
	if (recipe)
		check_recipe(recipe);
	report_text(&r, REPORT_ALL, &text);
	HOLDS(utf8_valid(buf_str(&text)));
	vec_each (i, &r.issues)
		HOLDS(i->line >= 1 && i->column >= 1);
	step_recipe_free(recipe);
	return 0;
}
