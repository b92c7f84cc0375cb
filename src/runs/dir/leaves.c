#include "runs/dir/leaves.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/map.h"
#include "base/node-path.h"
#include "data/json.h"
#include "runs/dir/leaf-line.h"
#include "runs/dir/open.h"

/* -- writing -------------------------------------------------------------------------------------
 */

static void begin_line(struct buf *b, struct str path)
{
	buf_adds(b, "{\"p\":");
	json_write_str(b, path);
}

static void end_line(struct buf *b, uint64_t now_ms)
{
	json_number_member(b, "ts", now_ms);
	buf_adds(b, "}\n");
}

static void begin_start(struct buf *b, struct str path, uint64_t number)
{
	begin_line(b, path);
	json_number_member(b, "a", number);
	buf_adds(b, ",\"s\":\"start\"");
}

void leaf_start_parts(
	struct buf *before, struct buf *after, struct str path, uint64_t number, uint64_t now_ms)
{
	begin_start(before, path, number);
	buf_addc(before, ',');
	end_line(after, now_ms);
}

void leaf_start_line(struct buf *b, struct str path, uint64_t number, uint64_t now_ms)
{
	begin_start(b, path, number);
	end_line(b, now_ms);
}

void leaf_exit_line(struct buf *b, struct str path, const struct leaf_record *record,
	const struct leaf_usage *usage, uint64_t now_ms)
{
	begin_line(b, path);
	json_number_member(b, "a", record->number);
	buf_adds(b, ",\"s\":\"exit\",\"code\":");
	buf_add_int(b, record->code);
	buf_adds(b, ",\"sig\":");
	buf_add_int(b, record->signal);
	if (record->timed_out)
		buf_adds(b, ",\"timeout\":true");
	if (record->limit.len) {
		buf_adds(b, ",\"limit\":");
		json_write_str(b, record->limit);
	}
	if (record->cancelled)
		buf_adds(b, ",\"cancelled\":true");
	if (record->passed)
		buf_adds(b, ",\"passed\":true");
	if (record->gone)
		buf_adds(b, ",\"lost\":true");
	json_number_member(b, "ms", record->ms);
	json_number_member(b, "out", record->out_bytes);
	json_number_member(b, "err", record->err_bytes);
	if (!usage) {
		end_line(b, now_ms);
		return;
	}
	json_number_member(b, "ts", now_ms);
	buf_adds(b, ",\"ru\":{\"user_us\":");
	buf_add_number(b, usage->user_us, 1);
	json_number_member(b, "system_us", usage->system_us);
	json_number_member(b, "memory_kib", usage->memory_kib);
	buf_adds(b, "}}\n");
}

void leaf_forget_line(struct buf *b, struct str path, uint64_t now_ms)
{
	begin_line(b, path);
	buf_adds(b, ",\"s\":\"forget\"");
	end_line(b, now_ms);
}

void leaf_closed_line(struct buf *b, struct str path, uint64_t now_ms)
{
	begin_line(b, path);
	buf_adds(b, ",\"s\":\"closed\"");
	end_line(b, now_ms);
}

void leaf_lost_line(struct buf *b, struct str path, uint64_t number, bool unkept, uint64_t now_ms)
{
	begin_line(b, path);
	json_number_member(b, "a", number);
	buf_adds(b, ",\"s\":\"lost\"");
	if (unkept)
		buf_adds(b, ",\"unkept\":true");
	end_line(b, now_ms);
}

/* It is about no node. */
void leaf_input_line(struct buf *b, uint64_t bytes, bool end, uint64_t now_ms)
{
	begin_line(b, S("."));
	buf_adds(b, ",\"s\":\"input\"");
	json_number_member(b, "in", bytes);
	if (end)
		buf_adds(b, ",\"end\":true");
	end_line(b, now_ms);
}

/* -- reading -------------------------------------------------------------------------------------
 */

/* A stream takes an interrupted call for the end of what it can read. */
static ssize_t read_on(void *data, char *to, size_t size)
{
	ssize_t n;

	do
		n = read(*(const int *)data, to, size);
	while (n < 0 && errno == EINTR);
	return n;
}

/* *damaged: the file is missing, or a line is not JSON. One of an unknown kind is. */
static int each_line(const char *file, leaf_line_fn *see, void *data, bool *damaged)
{
	AUTO_CLOSE int fd = run_open_path(file, O_RDONLY);
	FILE *in =
		fd < 0 ? NULL : fopencookie(&fd, "r", (cookie_io_functions_t){ .read = read_on });
	char *text = NULL;
	size_t room = 0;
	bool more = true;
	ssize_t n;

	*damaged = fd == -ENOENT;
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	if (!in)
		return -ENOMEM;
	while (more && (n = getline(&text, &room, in)) > 0) {
		struct leaf_line line;

		if (text[n - 1] != '\n')
			break; /* cut off by a crash */
		AUTO_JSON *kept = NULL;
		if (leaf_line_read((struct str){ text, (size_t)n }, &line, &kept))
			more = see(data, &line);
		else
			*damaged |= !json_is_object(kept);
	}
	int r = ferror(in) ? -(errno ? errno : EIO) : 0;
	free(text);
	(void)fclose(in);
	return r;
}

int leaf_lines_each(const char *file, leaf_line_fn *see, void *data)
{
	bool ignored;

	return each_line(file, see, data, &ignored);
}

/* -- what counts ---------------------------------------------------------------------------------
 */

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
	uint64_t last_worker;
	uint64_t input; /* bytes that are kept; 0: not known … */
	bool part;      /* … of an input that has more */
	bool damaged;
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

void leaves_lose(struct leaves *l, struct str path, uint64_t a)
{
	struct leaf_path *p = path_of(l, path);
	struct leaf_record *r = record_of(p, a);

	*r = (struct leaf_record){ .number = a, .lost = true };
	p->highest = MAX(p->highest, a);
}

static bool take_line(void *data, const struct leaf_line *line)
{
	struct leaves *l = data;

	if (line->kind == LEAF_FORGET) {
		(void)leaves_forget(l, line->path);
		return true;
	}
	if (line->kind == LEAF_INPUT) {
		l->part = !line->in_end;
		l->input = line->in_bytes;
		return true;
	}
	struct leaf_path *p = path_of(l, line->path);
	if (line->kind == LEAF_CLOSED) {
		p->closed = true;
		return true;
	}
	if (line->kind == LEAF_LOST) {
		leaves_lose(l, line->path, line->record.number);
		record_of(p, line->record.number)->unkept = line->record.unkept;
		return true;
	}
	l->last_worker = MAX(l->last_worker, line->record.worker);
	struct leaf_record *r = record_of(p, line->record.number);
	p->highest = MAX(p->highest, line->record.number);
	/* The other half of what is recorded stays: one execution has a start and an exit. */
	const struct leaf_record was = *r, *now = &line->record;
	const struct leaf_record *start = line->kind == LEAF_START ? now : &was;
	*r = line->kind == LEAF_START ? was : *now;
	r->started = start->started;
	r->pid = start->pid;
	r->pid_start = start->pid_start;
	r->started_ms = start->started_ms;
	r->worker = start->worker;
	r->grant = start->grant;
	r->on = arena_str(&l->arena, start->on);
	r->limit = arena_str(&l->arena, r->limit);
	return true;
}

struct leaves *leaves_read(const char *file, struct report *r)
{
	struct leaves *l = mem_new(struct leaves);
	int e = each_line(file, take_line, l, &l->damaged);

	if (e == 0)
		return l;
	report_errno(r, -e, "cannot read %s", file);
	leaves_free(l);
	return NULL;
}

struct leaves *leaves_that(const struct leaves *l,
	bool (*holds)(void *data, struct str path, const struct leaf_record *record), void *data)
{
	struct leaves *ret = mem_new(struct leaves);

	vec_each (slot, &l->paths) {
		const struct leaf_path *p = *slot;

		vec_each (r, &p->records) {
			if (!holds(data, p->path, r))
				continue;
			struct leaf_path *kept = path_of(ret, p->path);
			vec_push(&kept->records, *r);
			kept->base = p->base;
			kept->highest = p->highest;
		}
	}
	return ret;
}

uint64_t leaves_input(const struct leaves *l)
{
	return l->input;
}

bool leaves_input_is_part(const struct leaves *l, uint64_t *bytes)
{
	*bytes = l->input;
	return l->part;
}

uint64_t leaves_last_worker(const struct leaves *l)
{
	return l->last_worker;
}

static const struct leaf_path *find(const struct leaves *l, struct str path)
{
	return l ? map_get(&l->index, path) : NULL;
}

bool leaves_are_damaged(const struct leaves *l)
{
	return l->damaged;
}

const struct leaf_record *leaves_last(const struct leaves *l, struct str path)
{
	static const struct leaf_record forgotten = { .ended = true };
	const struct leaf_path *p = find(l, path);
	const struct leaf_record *last = NULL;

	if (p)
		vec_each (r, &p->records)
			last = !last || r->number > last->number ? r : last;
	return last || !p || !p->highest ? last : &forgotten;
}

/* Whether it is the end that an event tells of. */
static bool is_told(const struct leaf_record *r, const struct leaf_record *event)
{
	return r->ended && event->ended && r->code == event->code && r->ms == event->ms &&
	       r->out_bytes == event->out_bytes;
}

bool leaves_doubt(struct leaves *l, struct str path, const struct leaf_record *event, uint64_t ms)
{
	const struct leaf_record *last = leaves_last(l, path);
	const struct leaf_path *p = find(l, path);

	if (!path.len || (last && (last->ended || last->lost || last->on.len)))
		return false;
	/* An event of an earlier execution says nothing about this one. */
	if (last && last->started && (!event->ended || ms < last->started_ms))
		return false;
	/* Nor does that of the attempt before, in the same millisecond or when the clock was set
	 * back. */
	if (p)
		vec_each (r, &p->records)
			if (is_told(r, event))
				return false;
	record_of(path_of(l, path), last ? last->number : 1)->unrecorded = true;
	return true;
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
