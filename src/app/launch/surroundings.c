#include "app/launch/surroundings.h"

#include "base/lang.h"
#include "engine/local.h"

/* Descriptors of roux itself, and of each command: pipes, pidfd, files with its output. */
enum { OWN_DESCRIPTORS = 28, DESCRIPTORS_EACH = 5 };

void surroundings_room(struct manners *m, struct rlimit *before, uint64_t *jobs)
{
	rlim_t need = (rlim_t)*jobs * DESCRIPTORS_EACH + 64;

	if (!m->own_process || getrlimit(RLIMIT_NOFILE, before) < 0 || before->rlim_cur >= need)
		return;
	struct rlimit more = *before;
	more.rlim_cur = MIN(need, before->rlim_max);
	if (setrlimit(RLIMIT_NOFILE, &more) == 0)
		m->nofile = before;
	else
		more = *before;
	if (more.rlim_cur < need) {
		uint64_t room = more.rlim_cur - MIN(more.rlim_cur, (rlim_t)OWN_DESCRIPTORS);

		*jobs = MIN(*jobs, MAX(room / DESCRIPTORS_EACH, 1UL));
	}
}

const char *const *surroundings_env(struct launch *l)
{
	size_t count = json_array_size(l->asked.env), n = 0;
	const char **env = arena_array(&l->arena, const char *, count + 4);
	const struct recipe *recipe = l->subject.recipe;

	for (; n < count; n++)
		env[n] = arena_cstr(&l->arena, json_str(json_array_get(l->asked.env, n)));
	if (l->claim.dir.len) {
		env[n++] = arena_printf(&l->arena, "ROUX_RUN=%.*s", STR(l->asked.id)).p;
		env[n++] =
			arena_printf(&l->arena, "ROUX_GENERATION=%.*s", STR(l->claim.generation)).p;
	}
	if (recipe && recipe->layer == LAYER_PROJECT)
		env[n++] = arena_printf(
			&l->arena, "ROUX_PROJECT=%.*s", STR(project_of_file(recipe->file->path)))
				   .p;
	env[n] = NULL;
	return env;
}

struct executor *executor_here(const struct launch *l, const char *const *env, const int *sandbox)
{
	const struct manners *m = &l->app->manners;

	return local_executor(
		l->app->loop, &(struct surroundings){
				      .cwd = l->claim.cwd.len ? l->claim.cwd.p : NULL,
				      .env = env,
				      .mask = m->mask,
				      .nofile = m->nofile,
				      .sandbox = sandbox,
				      .handlers = !m->own_process,
				      .whole = m->own_process && m->subreaper && m->alone,
				      .grace_ms = l->asked.grace_ms,
			      });
}
