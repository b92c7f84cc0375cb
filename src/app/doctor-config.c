#include <unistd.h>

#include "app/doctor.h"
#include "app/prompts.h"
#include "app/settings.h"

/* What needs attention in what the user has configured. */

static struct str last_part(struct str path)
{
	size_t at = path.len;

	while (at && path.p[at - 1] != '/')
		at--;
	return str_from(path, at);
}

static void add(struct examination *x, const struct issue *i)
{
	struct arena *a = &x->arena;
	struct str file = arena_str(a, i->file);

	vec_push(&x->findings,
		(struct finding){
			.kind = i->kind == ISSUE_WARNING ? FINDING_DOUBTFUL_CONFIG : FINDING_CONFIG,
			.id = last_part(file),
			.path = i->file.len ? arena_printf(a, "%.*s:%zu:%zu", STR(file), i->line,
						      i->column)
					    : file,
			.message = arena_str(a, i->message),
			.action = i->hint.len ? arena_str(a, i->hint)
					      : S("`roux check` shows the place"),
		});
}

void doctor_config(struct examination *x)
{
	AUTO_REPORT found = REPORT_INIT;
	struct settings settings;
	char cwd[4096];
	bool local = false;

	(void)settings_read(&settings, &found, &found);
	settings_done(&settings);
	if (getcwd(cwd, sizeof(cwd)))
		prompts_check(str_of(cwd), &found, &local);
	report_sort(&found);
	vec_each (i, &found.issues)
		add(x, i);
	if (local)
		vec_push(&x->findings,
			(struct finding){ FINDING_LOCAL, S(".start"),
				arena_printf(&x->arena, "%s/.start", cwd),
				S("the configuration of this directory counts here, and it can run "
				  "commands"),
				S("nothing, if you trust whoever wrote it") });
}
