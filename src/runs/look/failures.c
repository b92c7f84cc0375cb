#include "runs/look/failures.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/node-path.h"
#include "base/shell-words.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "runs/dir/events.h"
#include "runs/dir/leaves.h"
#include "runs/dir/open.h"
#include "runs/dir/outputs.h"

enum { LISTED = 1000, TAIL = 4096 };

/* An attempt that failed, as its event tells it. */
struct failure {
	json_t *told;
	struct str path;
	struct failure *next;   /* of the same path */
	struct failure *before; /* of the same path and attempt: of a group that was tried again */
	uint64_t seq;
	int64_t code, signal, ms, stdout_bytes;
	bool recorded, taken_back;
};

struct failures {
	const char *dir;
	struct arena arena;
	struct map attempts; /* "PATH ATTEMPT" → the last struct failure of it */
	struct map paths;    /* PATH → the first struct failure whose files are not known yet */
	VEC(struct failure *) all;
	uint64_t total;
	bool stopped;
};

static struct str text(const json_t *event, const char *name)
{
	const json_t *value = json_object_get(event, name);

	return json_is_string(value) ? json_str(value) : S("");
}

static int64_t number(const json_t *event, const char *name)
{
	return json_integer_value(json_object_get(event, name));
}

static bool has(struct str line, const char *part)
{
	return str_contains(line, str_of(part));
}

static void key_of(const json_t *event, struct buf *ret)
{
	buf_reset(ret);
	buf_printf(ret, "%.*s %" PRId64, STR(text(event, "path")), number(event, "attempt"));
}

/* -- from events ---------------------------------------------------------------------------------
 */

static json_t *told_of(const json_t *event)
{
	json_t *told = json_object();
	const json_t *signal = json_object_get(event, "signal");

	json_object_set_new(told, "path", json_from_str(text(event, "path")));
	json_object_set_new(told, "label", json_null());
	json_object_set_new(told, "command", json_from_str(S("")));
	json_object_set(told, "code", json_object_get(event, "code"));
	json_object_set_new(told, "signal", signal ? json_incref((json_t *)signal) : json_null());
	json_object_set_new(
		told, "timeout", json_boolean(json_is_true(json_object_get(event, "timeout"))));
	json_object_set(told, "attempt", json_object_get(event, "attempt"));
	json_object_set_new(
		told, "tolerated", json_boolean(json_is_true(json_object_get(event, "tolerated"))));
	json_object_set_new(told, "stderr", json_from_str(S("")));
	json_object_set_new(told, "stdout", json_from_str(S("")));
	return told;
}

static void add(struct failures *f, const json_t *event, uint64_t seq)
{
	AUTO_BUF key = BUF_INIT;

	f->total++;
	if (f->all.len >= LISTED)
		return;
	struct failure *failure = arena_new(&f->arena, struct failure);
	*failure = (struct failure){
		.told = told_of(event),
		.path = arena_str(&f->arena, text(event, "path")),
		.seq = seq,
		.code = number(event, "code"),
		.signal = number(event, "signal"),
		.ms = number(event, "ms"),
		.stdout_bytes = number(event, "stdout_bytes"),
	};
	vec_push(&f->all, failure);
	key_of(event, &key);
	void **slot = map_put(&f->attempts, &f->arena, buf_str(&key));
	failure->before = *slot;
	*slot = failure;
	slot = map_put(&f->paths, &f->arena, text(event, "path"));
	if (!*slot) {
		*slot = failure;
		return;
	}
	struct failure *last = *slot;
	while (last->next)
		last = last->next;
	last->next = failure;
}

static bool see_end(void *data, struct str line, uint64_t seq)
{
	struct failures *f = data;

	if (f->stopped || !has(line, "\"type\":\"command.done\"")) {
		f->stopped |=
			has(line, "\"type\":\"run.cancel\"") || has(line, "\"type\":\"run.kill\"");
		if (has(line, "\"type\":\"run.start\""))
			f->stopped = false;
		return true;
	}
	if (has(line, "\"code\":0,"))
		return true;
	AUTO_JSON *event = json_loadb(line.p, line.len, 0, NULL);
	if (number(event, "code") != 0)
		add(f, event, seq);
	return true;
}

/* The command and its label stand in the event of its start. */
static bool see_start(void *data, struct str line, uint64_t seq)
{
	struct failures *f = data;
	AUTO_BUF key = BUF_INIT;
	AUTO_BUF command = BUF_INIT;
	json_t *word;
	size_t i;

	if (!has(line, "\"type\":\"command.start\""))
		return true;
	AUTO_JSON *event = json_loadb(line.p, line.len, 0, NULL);
	key_of(event, &key);
	const struct failure *failure = map_get(&f->attempts, buf_str(&key));
	if (!failure)
		return true;
	const json_t *all = json_object_get(event, "argv");
	const char **argv = mem_zero((json_array_size(all) + 1) * sizeof(*argv));
	json_array_foreach(all, i, word) argv[i] =
		json_is_string(word) ? json_string_value(word) : "";
	command_display(&command, argv, i);
	free(argv);
	/* A later start of the same says it again. */
	for (; failure && failure->seq > seq; failure = failure->before) {
		if (text(event, "label").len)
			json_object_set_new(
				failure->told, "label", json_from_str(text(event, "label")));
		if (text(event, "item").len)
			json_object_set_new(
				failure->told, "item", json_from_str(text(event, "item")));
		json_object_set_new(failure->told, "command",
			json_from_str(utf8_head(buf_str(&command), TAIL)));
	}
	return true;
}

/* -- from files ----------------------------------------------------------------------------------
 */

/* The last bytes of what that execution printed, on standard error or on standard output. */
static json_t *tail_of(const char *dir, struct str path, uint64_t execution, bool err)
{
	AUTO_BUF name = BUF_INIT;
	char bytes[TAIL];
	struct stat st;
	ssize_t n = 0;

	if (!output_file(&name, path, execution, err))
		return json_from_str(S(""));
	AUTO_CLOSE int fd = run_open(dir, buf_cstr(&name), O_RDONLY);
	if (fd >= 0 && fstat(fd, &st) == 0)
		n = fd_read_at(fd, bytes, TAIL, st.st_size > TAIL ? st.st_size - TAIL : 0);
	return json_from_str((struct str){ bytes, n > 0 ? (size_t)n : 0 });
}

/* A resume has: what failed before does not count any more. */
static void take_back(struct failures *f, struct str path)
{
	vec_each (slot, &f->all)
		(*slot)->taken_back |= (*slot)->recorded && node_path_within((*slot)->path, path);
}

/* Events do not say which execution of its path they are about; leaves.jsonl does, and its lines of
 * one path come in the same order. Some of them may have no event: the supervisor was killed
 * between the two, or the event was dropped. */
static bool see_leaf(void *data, const struct leaf_line *line)
{
	struct failures *f = data;
	const struct leaf_record *r = &line->record;
	struct failure *first = line->kind == LEAF_EXIT ? map_get(&f->paths, line->path) : NULL;

	if (line->kind == LEAF_FORGET)
		take_back(f, line->path);
	if (!first || first->code != r->code || first->signal != r->signal ||
		first->ms != (int64_t)r->ms || first->stdout_bytes != (int64_t)r->out_bytes)
		return true;
	json_object_set_new(first->told, "stderr", tail_of(f->dir, line->path, r->number, true));
	json_object_set_new(first->told, "stdout", tail_of(f->dir, line->path, r->number, false));
	first->recorded = true;
	*map_put(&f->paths, &f->arena, line->path) = first->next;
	return true;
}

static json_t *list_of(struct failures *f)
{
	json_t *list = json_array();

	vec_each (slot, &f->all) {
		struct failure *failure = *slot;

		if (failure->taken_back) {
			json_decref(failure->told);
			f->total--;
		} else {
			json_array_append_new(list, failure->told);
		}
	}
	return list;
}

json_t *run_failures(const char *dir, uint64_t *ret_total)
{
	struct failures f = { .dir = dir };
	AUTO_BUF leaves = BUF_INIT;

	(void)events_each(dir, 0, see_end, &f);
	if (f.total) {
		(void)events_each(dir, 0, see_start, &f);
		buf_printf(&leaves, "%s/" LEAVES_FILE, dir);
		(void)leaf_lines_each(buf_cstr(&leaves), see_leaf, &f);
	}
	json_t *list = list_of(&f);
	vec_done(&f.all);
	arena_done(&f.arena);
	*ret_total = f.total;
	return list;
}
