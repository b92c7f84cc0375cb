#include <errno.h>
#include <unistd.h>

#include "app/agents/compose.h"
#include "app/doctor/findings.h"
#include "app/settings.h"
#include "base/path.h"

/* What needs attention in what the user has configured. */

static void add(struct examination *x, const struct issue *i)
{
	struct arena *a = &x->arena;
	struct str file = arena_str(a, i->file);
	struct finding f = {
		.kind = i->kind == ISSUE_NOTE      ? FINDING_AGENT
			: i->kind == ISSUE_WARNING ? FINDING_DOUBTFUL_CONFIG
						   : FINDING_CONFIG,
		.id = path_base(file),
		.path = i->file.len ? arena_printf(a, "%.*s:%zu:%zu", STR(file), i->line, i->column)
				    : file,
		.message = arena_str(a, i->message),
	};

	finding_advise(x, &f, i, i->file.len ? S("") : S("see the message"));
	if (!f.advice.len && !f.actions[0].what)
		f.actions[0] = (struct issue_action){ ACTION_CHECK_ALL, S("") };
	vec_push(&x->findings, f);
}

static void note_files(struct examination *x, const struct prompts_files *files, const char *cwd)
{
	struct arena *a = &x->arena;

	checked(x,
		arena_printf(a, "prompts: %zu file%s in %.*s", files->global,
			files->global == 1 ? "" : "s", STR(files->directory)),
		ACTION_NONE);
	checked(x,
		arena_printf(a, "prompts: %zu file%s in %s/.start", files->local,
			files->local == 1 ? "" : "s", cwd),
		files->global || files->local ? ACTION_NONE : ACTION_INIT);
}

void doctor_config(struct examination *x)
{
	AUTO_REPORT found = REPORT_INIT;
	AUTO_REPORT notes = REPORT_INIT;
	struct prompts_files files = { .arena = &x->arena, .notes = &notes };
	struct settings settings;
	char cwd[4096];

	(void)settings_read(&settings, &found, &found);
	checked(x,
		arena_printf(&x->arena, "settings: %.*s%s", STR(settings.path),
			settings.found ? "" : " (not there)"),
		ACTION_NONE);
	settings_done(&settings);
	if (getcwd(cwd, sizeof(cwd))) {
		prompts_check(str_of(cwd), &found, &files);
		note_files(x, &files, cwd);
	} else {
		report_errno(&found, errno, "cannot tell the working directory");
	}
	report_sort(&found);
	vec_each (i, &found.issues)
		add(x, i);
	vec_each (i, &notes.issues)
		add(x, i);
	if (files.local)
		vec_push(&x->findings,
			(struct finding){ .kind = FINDING_LOCAL,
				.id = S(".start"),
				.path = arena_printf(&x->arena, "%s/.start", cwd),
				.message = S("the configuration of this directory counts here, and "
					     "it can run commands"),
				.advice = S("nothing, if you trust its author") });
}
