#include "engine/environment.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/program.h"
#include "loop/tree.h"

void environment_init(struct environment *e, const char *const *own, bool bare)
{
	static const char *const marks[] = { TREE_VARIABLE "=", NULL };
	const char *outer = getenv(TREE_VARIABLE);

	*e = (struct environment){ 0 };
	/* A run inside a command of another run keeps the other's marks. */
	buf_printf(&e->mark, "%s=%s", TREE_VARIABLE, outer && outer[0] == '/' ? outer : "/");
	buf_printf(&e->run_mark, "/%d-%" PRIu64 ".", (int)getpid(), clock_mono_us());
	vec_push(&e->list.vars, NULL);
	environ_add(&e->list, bare ? NULL : (const char *const *)environ, own);
	size_t kept = 1; /* slot 0 is for ours */
	for (size_t i = 1; i < e->list.vars.len; i++)
		if (!environ_sets(marks, e->list.vars.at[i]))
			e->list.vars.at[kept++] = e->list.vars.at[i];
	e->list.vars.len = kept;
	vec_push(&e->list.vars, NULL);
}

void environment_done(struct environment *e)
{
	vec_done(&e->list.vars);
	buf_done(&e->mark);
	buf_done(&e->run_mark);
}

struct str environment_path(const struct environment *e)
{
	for (size_t i = 1; e->list.vars.at[i]; i++)
		if (strncmp(e->list.vars.at[i], "PATH=", 5) == 0)
			return str_of(e->list.vars.at[i] + 5);
	return program_search();
}

const char *const *environment_take(struct environment *e, const char *const *own,
	struct buf *ret_mark, struct command_environment *ret)
{
	*ret = (struct command_environment){ .outer = e->mark.len };
	buf_add(ret_mark, buf_str(&e->run_mark));
	buf_add_number(ret_mark, ++e->started, 1);
	buf_addc(ret_mark, '/');
	/* Our marks begin with the slash that the outer ones end with. */
	buf_add(&e->mark, str_from(buf_str(ret_mark), 1));
	e->list.vars.at[0] = buf_cstr(&e->mark);
	if (!own)
		return e->list.vars.at;
	environ_add(&ret->list, e->list.vars.at, own);
	vec_push(&ret->list.vars, NULL);
	return ret->list.vars.at;
}

void environment_taken(struct environment *e, struct command_environment *c)
{
	buf_truncate(&e->mark, c->outer);
	vec_done(&c->list.vars);
}
