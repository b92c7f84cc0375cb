#include "runs/dir/leaves.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/node-path.h"
#include "data/json.h"

/* One path: how often it was executed, and what came of it. */
struct leaf_path {
	struct str path;
	VEC(struct leaf_record) records;
	uint64_t base;    /* executions that were forgotten */
	uint64_t highest; /* of all numbers seen */
	bool closed;
};

struct leaves {
	struct arena arena;
	struct map index; /* path → struct leaf_path */
	VEC(struct leaf_path *) paths;
};

void leaves_free(struct leaves *l)
{
	if (!l)
		return;
	vec_each (p, &l->paths)
		vec_done(&(*p)->records);
	vec_done(&l->paths);
	arena_done(&l->arena);
	free(l);
}

static struct leaf_path *path_of(struct leaves *l, struct str path)
{
	void **slot = map_put(&l->index, &l->arena, path);

	if (!*slot) {
		struct leaf_path *p = arena_new(&l->arena, struct leaf_path);

		p->path = arena_str(&l->arena, path);
		vec_push(&l->paths, p);
		*slot = p;
	}
	return *slot;
}

static struct leaf_record *record_of(struct leaf_path *p, uint64_t number)
{
	vec_each (r, &p->records)
		if (r->number == number)
			return r;
	vec_push(&p->records, (struct leaf_record){ .number = number });
	return &p->records.at[p->records.len - 1];
}

bool leaves_forget(struct leaves *l, struct str top)
{
	bool any = false;

	vec_each (slot, &l->paths) {
		struct leaf_path *p = *slot;

		if (!node_path_within(p->path, top))
			continue;
		any |= p->records.len || p->closed;
		p->records.len = 0;
		p->base = p->highest;
		p->closed = false;
	}
	return any;
}

static int64_t number(const json_t *line, const char *name)
{
	return (int64_t)json_integer_value(json_object_get(line, name));
}

static void take_line(struct leaves *l, const json_t *line)
{
	struct str path = json_str(json_object_get(line, "p"));
	struct str what = json_str(json_object_get(line, "s"));

	if (!path.len || !what.len)
		return;
	if (str_eq(what, S("forget"))) {
		(void)leaves_forget(l, path);
		return;
	}
	struct leaf_path *p = path_of(l, path);
	if (str_eq(what, S("closed"))) {
		p->closed = true;
		return;
	}
	uint64_t a = (uint64_t)number(line, "a");
	struct leaf_record *r = record_of(p, a);
	p->highest = MAX(p->highest, a);
	if (str_eq(what, S("start"))) {
		r->started = true;
		r->pid = number(line, "pid");
		r->pid_start = (uint64_t)number(line, "st");
		r->on = arena_str(&l->arena, json_str(json_object_get(line, "on")));
		r->worker = (uint64_t)number(line, "w");
		r->grant = (uint64_t)number(line, "n");
	} else if (str_eq(what, S("exit"))) {
		r->ended = true;
		r->code = (int)number(line, "code");
		r->signal = (int)number(line, "sig");
		r->timed_out = json_is_true(json_object_get(line, "timeout"));
		r->cancelled = json_is_true(json_object_get(line, "cancelled"));
		r->limit = arena_str(&l->arena, json_str(json_object_get(line, "limit")));
		r->ms = (uint64_t)number(line, "ms");
		r->out_bytes = (uint64_t)number(line, "out");
		r->err_bytes = (uint64_t)number(line, "err");
	}
}

struct leaves *leaves_read(const char *file, struct report *r)
{
	struct leaves *l = mem_new(struct leaves);
	FILE *in = fopen(file, "re");
	char *line = NULL;
	size_t room = 0;
	ssize_t n;

	if (!in && errno != ENOENT) {
		report_errno(r, errno, "cannot read %s", file);
		leaves_free(l);
		return NULL;
	}
	while (in && (n = getline(&line, &room, in)) > 0) {
		AUTO_REPORT ignored = REPORT_INIT;
		struct source source = { S("leaves"), { line, (size_t)n } };

		if (line[n - 1] != '\n')
			break; /* cut off by a crash */
		AUTO_JSON *object = json_read(&source, &ignored);
		if (json_is_object(object))
			take_line(l, object);
	}
	free(line);
	if (in)
		(void)fclose(in);
	return l;
}

static const struct leaf_path *find(const struct leaves *l, struct str path)
{
	return l ? map_get(&l->index, path) : NULL;
}

uint64_t leaves_base(const struct leaves *l, struct str path)
{
	const struct leaf_path *p = find(l, path);

	return p ? p->base : 0;
}

bool leaves_closed(const struct leaves *l, struct str path)
{
	const struct leaf_path *p = find(l, path);

	return p && p->closed;
}

const struct leaf_record *leaves_find(const struct leaves *l, struct str path, uint64_t n)
{
	const struct leaf_path *p = find(l, path);

	if (p)
		vec_each (r, &p->records)
			if (r->number == p->base + n)
				return r;
	return NULL;
}

void leaves_each(const struct leaves *l,
	void (*see)(void *data, struct str path, const struct leaf_record *record), void *data)
{
	vec_each (p, &l->paths)
		vec_each (r, &(*p)->records)
			see(data, (*p)->path, r);
}

void leaves_each_closed(
	const struct leaves *l, void (*see)(void *data, struct str path), void *data)
{
	vec_each (p, &l->paths)
		if ((*p)->closed)
			see(data, (*p)->path);
}
