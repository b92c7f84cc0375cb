#include "base/environ.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

bool environ_sets(const char *const *list, const char *entry)
{
	for (; list && *list; list++) {
		/* Asked for every variable of every command: most names differ at once. */
		if (**list != *entry)
			continue;
		size_t name = strcspn(*list, "=");

		if (strncmp(*list, entry, name) == 0 && entry[name] == '=')
			return true;
	}
	return false;
}

static size_t length(const char *const *list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

void environ_add(struct environ_list *l, const char *const *base, const char *const *own)
{
	/* Made for every command, and few of `base` begin as one of `own` does. */
	bool begins[UCHAR_MAX + 1] = { false };

	for (size_t i = 0; own && own[i]; i++)
		begins[(unsigned char)*own[i]] = true;
	vec_reserve(&l->vars, length(base) + length(own) + 1);
	for (; base && *base; base++)
		if (!begins[(unsigned char)**base] || !environ_sets(own, *base))
			vec_push(&l->vars, *base);
	for (; own && *own; own++)
		if (!environ_sets(own + 1, *own))
			vec_push(&l->vars, *own);
}

const char *const *environ_with(struct arena *a, const char *const *own)
{
	struct environ_list l = { 0 };

	environ_add(&l, (const char *const *)environ, own);
	vec_push(&l.vars, NULL);
	const char **kept = arena_array(a, const char *, l.vars.len);
	memcpy(kept, l.vars.at, l.vars.len * sizeof(*kept));
	vec_done(&l.vars);
	return kept;
}

void environ_bare(void)
{
	static const char *const kept[] = { "PATH=", "HOME=", "LANG=", "TERM=", "TMPDIR=",
		"TRACEPARENT=", "TRACESTATE=", "XDG_CONFIG_HOME=", "PI_CODING_AGENT_DIR=",
		"ROUX_STATE_DIR=", "ROUX_PACKAGED_DIR=", "ROUX_OWNER=", "ROUX_USAGE=", "ROUX_TREE=",
		NULL };
	size_t n = 0;

	for (size_t i = 0; environ && environ[i]; i++)
		if (environ_sets(kept, environ[i]))
			environ[n++] = environ[i];
	if (environ)
		environ[n] = NULL;
}
