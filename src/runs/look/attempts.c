#include "runs/look/attempts.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"
#include "base/utf8.h"

enum { LISTED = 1000, TAIL = 4096 };

static struct str text(const json_t *event, const char *name)
{
	const json_t *value = json_object_get(event, name);

	return json_is_string(value) ? json_str(value) : S("");
}

static bool has(struct str line, const char *part)
{
	return str_contains(line, str_of(part));
}

static void key_of(const json_t *event, struct buf *ret)
{
	buf_reset(ret);
	buf_printf(ret, "%.*s %" JSON_INTEGER_FORMAT, STR(text(event, "path")),
		json_integer_value(json_object_get(event, "attempt")));
}

/* The last bytes of what the command said on standard error. A later attempt has another file or
 * the same one; then it is that one's. */
static json_t *errors_of(const char *dir, struct str path)
{
	AUTO_BUF name = BUF_INIT;
	char bytes[TAIL];
	struct stat st;

	buf_printf(&name, "%s/out/%.*s.err", dir, STR(path));
	AUTO_CLOSE int fd = open(buf_cstr(&name), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t n = 0;
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		n = pread(fd, bytes, TAIL, st.st_size > TAIL ? st.st_size - TAIL : 0);
	return json_from_str((struct str){ bytes, n > 0 ? (size_t)n : 0 });
}

/* What is known of all attempts that failed: by path and attempt. */
struct failed {
	const char *dir;
	struct arena arena;
	struct map map; /* key → the object in the list */
	json_t *list;
	uint64_t total;
	bool stopped;
};

static void add(struct failed *f, const json_t *event)
{
	const json_t *signal = json_object_get(event, "signal");
	AUTO_BUF key = BUF_INIT;

	f->total++;
	if (json_array_size(f->list) >= LISTED)
		return;
	json_t *failure = json_object();
	json_object_set_new(failure, "path", json_from_str(text(event, "path")));
	json_object_set_new(failure, "label", json_null());
	json_object_set_new(failure, "command", json_from_str(S("")));
	json_object_set(failure, "code", json_object_get(event, "code"));
	json_object_set_new(
		failure, "signal", signal ? json_incref((json_t *)signal) : json_null());
	json_object_set_new(
		failure, "timeout", json_boolean(json_is_true(json_object_get(event, "timeout"))));
	json_object_set(failure, "attempt", json_object_get(event, "attempt"));
	json_object_set_new(failure, "tolerated", json_false());
	json_object_set_new(failure, "stderr", errors_of(f->dir, text(event, "path")));
	json_array_append_new(f->list, failure);
	key_of(event, &key);
	*map_put(&f->map, &f->arena, buf_str(&key)) = failure;
}

static void see_end(struct failed *f, struct str line)
{
	if (f->stopped || !has(line, "\"type\":\"command.done\"")) {
		f->stopped |=
			has(line, "\"type\":\"run.cancel\"") || has(line, "\"type\":\"run.kill\"");
		if (has(line, "\"type\":\"run.start\"") || has(line, "\"type\":\"run.resume\""))
			f->stopped = false;
		return;
	}
	if (has(line, "\"code\":0,"))
		return;
	AUTO_JSON *event = json_loadb(line.p, line.len, 0, NULL);
	if (json_integer_value(json_object_get(event, "code")) != 0 &&
		!json_is_true(json_object_get(event, "cancelled")))
		add(f, event);
}

/* The command and its label stand in the event of its start. */
static void see_start(struct failed *f, struct str line)
{
	AUTO_BUF key = BUF_INIT;
	AUTO_BUF command = BUF_INIT;
	json_t *word;
	size_t i;

	if (!has(line, "\"type\":\"command.start\""))
		return;
	AUTO_JSON *event = json_loadb(line.p, line.len, 0, NULL);
	key_of(event, &key);
	json_t *failure = map_get(&f->map, buf_str(&key));
	if (!failure)
		return;
	json_array_foreach(json_object_get(event, "argv"), i, word)
	{
		buf_adds(&command, i ? " " : "");
		buf_add(&command, json_is_string(word) ? json_str(word) : S(""));
	}
	if (text(event, "label").len)
		json_object_set_new(failure, "label", json_from_str(text(event, "label")));
	json_object_set_new(failure, "command", json_from_str(utf8_head(buf_str(&command), TAIL)));
}

static void each_line(
	const char *file, void (*see)(struct failed *f, struct str line), struct failed *f)
{
	FILE *in = fopen(file, "re");
	size_t cap = 0;
	char *line = NULL;
	ssize_t len;

	while (in && (len = getline(&line, &cap, in)) > 0)
		see(f, (struct str){ line, (size_t)len });
	free(line);
	if (in)
		(void)fclose(in);
}

json_t *attempts_failed(const char *dir, uint64_t *total)
{
	struct failed f = { .dir = dir, .list = json_array() };
	AUTO_BUF file = BUF_INIT;

	buf_printf(&file, "%s/events.jsonl", dir);
	each_line(buf_cstr(&file), see_end, &f);
	if (f.total)
		each_line(buf_cstr(&file), see_start, &f);
	arena_done(&f.arena);
	*total = f.total;
	return f.list;
}
