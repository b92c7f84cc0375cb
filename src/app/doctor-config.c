#include <unistd.h>

#include "app/agents/compose.h"
#include "app/findings.h"
#include "app/settings.h"
#include "base/path.h"

/* What needs attention in what the user has configured. */

static void add(struct examination *x, const struct issue *i)
{
	struct arena *a = &x->arena;
	struct str file = arena_str(a, i->file);

	vec_push(&x->findings,
		(struct finding){
			.kind = i->kind == ISSUE_WARNING ? FINDING_DOUBTFUL_CONFIG : FINDING_CONFIG,
			.id = path_base(file),
			.path = i->file.len ? arena_printf(a, "%.*s:%zu:%zu", STR(file), i->line,
						      i->column)
					    : file,
			.message = arena_str(a, i->message),
			.action = i->hint.len   ? arena_str(a, i->hint)
				  : i->file.len ? S("`roux check` shows the place")
						: S("see the message"),
		});
}

static void note_files(struct examination *x, const struct prompts_files *files, const char *cwd)
{
	struct arena *a = &x->arena;

	vec_push(&x->checked, arena_printf(a, "prompts: %zu file%s in %.*s", files->global,
				      files->global == 1 ? "" : "s", STR(files->directory)));
	vec_push(&x->checked, arena_printf(a, "prompts: %zu file%s in %s/.start", files->local,
				      files->local == 1 ? "" : "s", cwd));
	if (!files->global && !files->local)
		vec_push(&x->checked, S("prompts: `roux init` writes a first configuration"));
}

void doctor_config(struct examination *x)
{
	AUTO_REPORT found = REPORT_INIT;
	struct prompts_files files = { .arena = &x->arena };
	struct settings settings;
	char cwd[4096];

	(void)settings_read(&settings, &found, &found);
	vec_push(&x->checked, arena_printf(&x->arena, "settings: %.*s%s", STR(settings.path),
				      settings.found ? "" : " (not there)"));
	settings_done(&settings);
	if (getcwd(cwd, sizeof(cwd))) {
		prompts_check(str_of(cwd), &found, &files);
		note_files(x, &files, cwd);
	}
	report_sort(&found);
	vec_each (i, &found.issues)
		add(x, i);
	if (files.local)
		vec_push(&x->findings,
			(struct finding){ FINDING_LOCAL, S(".start"),
				arena_printf(&x->arena, "%s/.start", cwd),
				S("the configuration of this directory counts here, and it can run "
				  "commands"),
				S("nothing, if you trust whoever wrote it") });
}
