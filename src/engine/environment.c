#include "engine/environment.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "loop/tree.h"

static bool same_name(const char *a, const char *b)
{
	size_t n = strcspn(a, "=");

	return strncmp(a, b, n) == 0 && b[n] == '=';
}

static bool names(const char *const *list, const char *entry)
{
	for (; list && *list; list++)
		if (same_name(*list, entry))
			return true;
	return false;
}

void environment_init(struct environment *e, const char *const *own)
{
	const char *outer = getenv(TREE_VARIABLE);

	*e = (struct environment){ 0 };
	/* A run inside a command of another run keeps the other's marks. */
	buf_printf(&e->mark, "%s=%s", TREE_VARIABLE, outer && outer[0] == '/' ? outer : "/");
	buf_printf(&e->run_mark, "/%d-%" PRIu64 ".", (int)getpid(), clock_mono_us());
	vec_push(&e->vars, NULL);
	for (char **v = environ; v && *v; v++)
		if (!same_name(TREE_VARIABLE "=", *v) && !names(own, *v))
			vec_push(&e->vars, *v);
	/* The last one of a name counts. */
	for (; own && *own; own++)
		if (!names(own + 1, *own))
			vec_push(&e->vars, *own);
	vec_push(&e->vars, NULL);
}

void environment_done(struct environment *e)
{
	vec_done(&e->vars);
	buf_done(&e->mark);
	buf_done(&e->run_mark);
}

struct str environment_path(const struct environment *e)
{
	for (size_t i = 1; e->vars.at[i]; i++)
		if (same_name("PATH=", e->vars.at[i]))
			return str_of(e->vars.at[i] + 5);
	return S("/usr/local/bin:/usr/bin:/bin");
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
	e->vars.at[0] = buf_cstr(&e->mark);
	if (!own)
		return e->vars.at;
	for (size_t i = 0; e->vars.at[i]; i++)
		if (!names(own, e->vars.at[i]))
			vec_push(&ret->vars, e->vars.at[i]);
	for (; *own; own++)
		vec_push(&ret->vars, *own);
	vec_push(&ret->vars, NULL);
	return ret->vars.at;
}

void environment_taken(struct environment *e, struct command_environment *c)
{
	buf_truncate(&e->mark, c->outer);
	vec_done(&c->vars);
}
