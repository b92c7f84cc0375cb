#include "app/context/executor.h"
#include "app/doctor.h"
#include "remote/trial.h"

static void add_hop(void *data, const char *hop, bool ok, struct str text)
{
	json_t *document = data;

	json_array_append_new(json_object_get(document, "checks"),
		json_pack("{s:s, s:b, s:o}", "hop", hop, "ok", ok, "message", json_from_str(text)));
	if (!ok)
		json_object_set_new(document, "ok", json_false());
}

json_t *doctor_executor(struct app *a, const char *on, bool try_it, struct report *r)
{
	struct executor_choice choice;
	struct arena arena = ARENA_INIT;
	json_t *document = NULL;

	if (!executor_choose(a, str_of(on), &arena, &choice, r)) {
		executor_choice_done(&choice);
	} else if (!choice.table) {
		report_error(r, (struct where){ 0 }, "'%s' is here: there is nothing to try", on);
		report_hint(r, "name an executor of a batch system");
	} else if (app_may_record(a, r)) {
		const struct table_class *class = table_class(choice.table, choice.class);

		if (class)
			choice.table->shape = class->shape;
		document = json_pack(
			"{s:b, s:o, s:[]}", "ok", 1, "on", json_from_str(choice.name), "checks");
		trial_run(&(struct trial_options){ .loop = app_loop(a),
				  .table = choice.table,
				  .state_dir = app_state_root(a),
				  .cwd = app_cwd(a),
				  .submits = try_it },
			add_hop, document);
	} else {
		executor_choice_done(&choice);
	}
	arena_done(&arena);
	return document;
}
