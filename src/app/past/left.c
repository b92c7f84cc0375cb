#include "app/past/left.h"

#include "remote/left.h"

struct table *left_table(const struct run_look *look, size_t which, struct report *r)
{
	static const char *const tables[] = { "executor", "left_executor" };
	static const char *const names[] = { "on", "left_on" };
	json_t *executor = json_object_get(look->start, tables[which]);

	return json_is_object(executor)
		       ? table_load(executor, json_text_of(look->start, names[which]), r)
		       : NULL;
}

size_t left_jobs_of(const struct run_look *look, size_t which)
{
	AUTO_REPORT ignored = REPORT_INIT;
	struct arena a = ARENA_INIT;
	size_t count = 0;

	if (look->live || look->back || look->result || !look->start)
		return 0;
	struct table *t = left_table(look, which, &ignored);
	if (t)
		count = remote_alive(
			remote_exchange_path(t, look->dir, look->run, look->generation, &a));
	table_free(t);
	arena_done(&a);
	return count;
}

size_t left_jobs(const struct run_look *look)
{
	size_t count = 0;

	for (size_t i = 0; i < LEFT_EXECUTORS; i++)
		count += left_jobs_of(look, i);
	return count;
}
