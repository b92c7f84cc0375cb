#include "runs/look/counts.h"

#include "base/map.h"
#include "base/run-status.h"
#include "runs/dir/events.h"
#include "runs/dir/leaves.h"

static uint64_t number(const json_t *object, const char *name)
{
	json_int_t n = json_integer_value(json_object_get(object, name));

	return n > 0 ? (uint64_t)n : 0;
}

static void set_exit(struct run_row *row, const json_t *exit)
{
	enum roux_status status = ROUX_EXITED;

	(void)status_read(row->status, &status);
	row->exit = json_is_integer(exit) ? (int)json_integer_value(exit)
					  : status_exit_after(status, row->failed, 0);
	row->counted = true;
}

/* -- a result ------------------------------------------------------------------------------------
 */

/* Attempts of one command have one path. Which of the tolerated ones succeeded later is not known.
 */
static uint64_t count_listed(const json_t *failures)
{
	struct arena a = ARENA_INIT;
	struct map paths = { 0 };
	uint64_t failed = 0;
	json_t *f;
	size_t i;

	json_array_foreach(failures, i, f)
	{
		if (json_is_true(json_object_get(f, "tolerated")))
			continue;
		void **seen = map_put(&paths, &a, json_text_of(f, "path"));

		failed += !*seen;
		*seen = f;
	}
	arena_done(&a);
	return failed;
}

void counts_of_result(const json_t *result, struct run_row *row)
{
	if (json_is_integer(json_object_get(result, "failed"))) {
		row->failed = number(result, "failed");
		row->tolerated = number(result, "tolerated");
	} else {
		row->tolerated = 0;
		row->failed = json_is_integer(json_object_get(result, "untolerated"))
				      ? number(result, "untolerated")
				      : count_listed(json_object_get(result, "failures"));
	}
	set_exit(row, json_object_get(result, "exit"));
}

/* -- events --------------------------------------------------------------------------------------
 */

enum end { END_OK, END_FAILED, END_TOLERATED };

struct ends {
	struct arena arena;
	struct map paths; /* → the way that its last attempt ended, as enum end */
	uint64_t count[3];
	uint64_t ended; /* since the run was last taken up */
	bool any;       /* there are events */
	bool stopped;   /* what ends now was ended */
};

static bool has(struct str line, const char *part)
{
	return str_contains(line, str_of(part));
}

static void note(struct ends *e, struct str path, enum end end)
{
	/* Most commands succeed at once: only what has failed before is looked for. */
	void **slot = end == END_OK ? NULL : map_put(&e->paths, &e->arena, path);
	void *was = slot ? *slot : map_get(&e->paths, path);

	if (!slot && !was)
		return;
	if (was)
		e->count[(enum end)(uintptr_t)was - 1]--;
	e->count[end]++;
	*(slot ? slot : map_put(&e->paths, &e->arena, path)) = (void *)((uintptr_t)end + 1);
}

static bool see(void *data, struct str line, uint64_t seq)
{
	struct ends *e = data;

	(void)seq;
	e->any = true;
	if (has(line, "\"type\":\"run.start\"")) {
		e->stopped = false;
		e->ended = 0;
	} else if (has(line, "\"type\":\"run.cancel\"") || has(line, "\"type\":\"run.kill\"")) {
		e->stopped = true;
	}
	if (!has(line, "\"type\":\"command.done\"") && !has(line, "\"type\":\"node.reused\""))
		return true;
	AUTO_JSON *event = json_loadb(line.p, line.len, 0, NULL);
	bool failed = json_integer_value(json_object_get(event, "code")) != 0 ||
		      json_is_true(json_object_get(event, "timeout"));
	e->ended += !(e->stopped && failed);
	if (e->stopped)
		return true;
	note(e, json_text_of(event, "path"),
		!failed                                             ? END_OK
		: json_is_true(json_object_get(event, "tolerated")) ? END_TOLERATED
								    : END_FAILED);
	return true;
}

/* -- records -------------------------------------------------------------------------------------
 */

/* What leaves.jsonl has, which is written before the events. */
struct recorded {
	struct arena arena;
	struct map ended; /* path → anything */
	uint64_t count;
};

static void see_record(void *data, struct str path, const struct leaf_record *record)
{
	struct recorded *r = data;

	if (!record->ended || record->cancelled)
		return;
	r->count++;
	*map_put(&r->ended, &r->arena, path) = r;
}

/* NULL when it cannot be read. */
static struct leaves *records_of(const char *dir, struct recorded *ret)
{
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_BUF file = BUF_INIT;

	buf_printf(&file, "%s/" LEAVES_FILE, dir);
	struct leaves *l = leaves_read(buf_cstr(&file), &ignored);
	if (l)
		leaves_each(l, see_record, ret);
	return l;
}

/* A failure that a resume has taken back does not count while nothing of it has ended since. */
static void take_back(struct ends *e, const char *dir)
{
	struct recorded r = { 0 };

	if (!e->count[END_FAILED] && !e->count[END_TOLERATED])
		return;
	struct leaves *l = records_of(dir, &r);
	if (l)
		map_each (entry, &e->paths)
			if (leaves_base(l, entry->key) && !map_get(&r.ended, entry->key))
				e->count[(enum end)(uintptr_t)entry->value - 1]--;
	leaves_free(l);
	arena_done(&r.arena);
}

int counts_of_events(const char *dir, struct run_row *row)
{
	struct ends e = { 0 };
	int n = events_each(dir, 0, see, &e);

	take_back(&e, dir);
	row->failed = e.count[END_FAILED];
	row->tolerated = e.count[END_TOLERATED];
	set_exit(row, NULL);
	arena_done(&e.arena);
	return n;
}

int counts_ended(const char *dir, uint64_t *ret)
{
	struct ends e = { 0 };
	struct recorded r = { 0 };
	int n = events_each(dir, 0, see, &e);

	leaves_free(records_of(dir, &r));
	*ret = MAX(e.ended, r.count);
	arena_done(&e.arena);
	arena_done(&r.arena);
	return n < 0 ? n : e.any;
}

/* -- progress ------------------------------------------------------------------------------------
 */

void counts_of_progress(const json_t *progress, struct run_row *row)
{
	uint64_t all = number(progress, "failed");

	row->tolerated = MIN(number(progress, "tolerated"), all);
	row->failed = all - row->tolerated;
	row->counted = false;
}
