#include "app/past/left.h"

#include "remote/left.h"

struct table *left_table(const struct run_look *look, struct report *r)
{
	json_t *executor = json_object_get(look->start, "executor");

	return json_is_object(executor) ? table_load(executor, json_text_of(look->start, "on"), r)
					: NULL;
}

size_t left_jobs(const struct run_look *look)
{
	AUTO_REPORT ignored = REPORT_INIT;
	struct arena a = ARENA_INIT;
	size_t count = 0;

	if (look->live || look->back || look->result || !look->start)
		return 0;
	struct table *t = left_table(look, &ignored);
	if (t)
		count = remote_alive(
			remote_exchange_path(t, look->dir, look->run, look->generation, &a));
	table_free(t);
	arena_done(&a);
	return count;
}
