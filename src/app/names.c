/* What a word of a person means. */
#include <errno.h>
#include <unistd.h>

#include "app/catalog/ref.h"
#include "app/context/context.h"
#include "app/runs.h"
#include "graph/fields.h"
#include "runs/dir/run-dir.h"

bool runs_names(struct app *a, const char *word)
{
	struct arena arena = ARENA_INIT;
	AUTO_REPORT ignored = REPORT_INIT;
	struct str id = str_of(word);

	if (recipes_is_template(a, word))
		return false;
	if (str_starts(id, S("run:")))
		return true;
	if (recipes_has(a, word))
		return false;
	if (str_eq(id, S("latest")) || str_starts(id, S("latest:")))
		return true;
	id = str_sub(id, 0, str_find(id, '~', 0));
	if (!run_id_check(id, &ignored))
		return false;
	const char *dir = arena_cstr(&arena, run_directory(&arena, app_state_root(a), id));
	/* What cannot be looked at may be one: looking says why not. */
	bool there = access(dir, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
	arena_done(&arena);
	return there;
}

bool recipes_is_name(struct str word)
{
	return name_valid(word);
}

bool recipes_is_field(struct str word)
{
	enum field_id id = field_find(word, DIALECT_NOW);

	return id != FIELD_COUNT && id != FIELD_TEMPLATE && !node_fields[id].instead;
}
