#include "app/past/left.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "app/past/order.h"
#include "remote/exchange.h"
#include "remote/left.h"
#include "runs/dir/remove-tree.h"

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

bool left_driver_beats(const struct run_look *look)
{
	bool beats = false;

	if (look->result || !look->start || !order_is_of_other_host(look))
		return false;
	for (size_t i = 0; i < LEFT_EXECUTORS && !beats; i++) {
		AUTO_REPORT ignored = REPORT_INIT;
		struct arena a = ARENA_INIT;
		struct table *t = left_table(look, i, &ignored);

		beats = t && remote_beats(remote_exchange_path(
				     t, look->dir, look->run, look->generation, &a));
		table_free(t);
		arena_done(&a);
	}
	return beats;
}

size_t left_jobs(const struct run_look *look)
{
	size_t count = 0;

	for (size_t i = 0; i < LEFT_EXECUTORS; i++)
		count += left_jobs_of(look, i);
	return count;
}

/* Only a directory that is the user's alone is an exchange. */
static int delete_exchange(const char *path)
{
	struct exchange x;
	int n = exchange_open(&x, path, false);

	if (n < 0)
		return n == -ENOENT ? 0 : n;
	exchange_close(&x);
	return remove_tree(AT_FDCWD, path, NULL);
}

void left_delete_outside(const struct run_look *look, struct report *r)
{
	for (size_t i = 0; i < LEFT_EXECUTORS && look->generation.len; i++) {
		AUTO_REPORT ignored = REPORT_INIT;
		struct arena a = ARENA_INIT;
		struct table *t = left_table(look, i, &ignored);

		if (t && t->dir.len) {
			struct str path =
				remote_exchange_path(t, look->dir, look->run, look->generation, &a);
			int n = delete_exchange(path.p);

			if (n < 0)
				report_warning(r, (struct where){ 0 },
					"what the run '%.*s' left in %.*s stays: %s", STR(look->id),
					STR(path), strerror(-n));
		}
		table_free(t);
		arena_done(&a);
	}
}
