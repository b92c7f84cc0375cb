#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/launch/flush.h"
#include "app/launch/gone.h"
#include "app/launch/input.h"
#include "app/launch/take-over.h"
#include "app/past/names.h"
#include "app/record/files.h"
#include "app/record/freeze.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/node-path.h"
#include "runs/dir/open.h"
#include "runs/dir/outputs.h"

struct round {
	struct str path;
	bool found;
};

static void look_for_round(void *data, struct str path, const struct leaf_record *record)
{
	struct round *round = data;

	round->found |= record->ended && node_path_within(path, round->path);
}

/* How many rounds a loop of steps has had, only its records tell. */
static bool had_round(struct str old_dir, struct str path)
{
	struct round round = { .path = path };
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_BUF file = BUF_INIT;

	buf_printf(&file, "%.*s/" LEAVES_FILE, STR(old_dir));
	struct leaves *leaves = leaves_read(buf_cstr(&file), &ignored);
	if (leaves)
		leaves_each(leaves, look_for_round, &round);
	leaves_free(leaves);
	return round.found;
}

static bool is_loop(const struct node *n)
{
	return n->step && (n->kind == NODE_EACH || n->kind == NODE_WHILE);
}

/* Whether the path leads anywhere: a node that is repeated three times has no copy r3. */
static bool exists(const struct launch *l, struct str old_dir, struct str path)
{
	struct way_step way[WAY_MAX];
	struct called called;

	called_init(&called, l, old_dir);
	size_t steps = called_way(&called, path, way);

	for (size_t i = 0; i + 1 < steps; i++) {
		const struct node *n = way[i].node;

		if (n->kind == NODE_EACH && n->count.number && way[i + 1].index >= n->count.number)
			steps = 0;
		else if (is_loop(n) && !had_round(old_dir, way[i + 1].path))
			steps = 0;
	}
	called_done(&called);
	return steps > 0;
}

bool rerun_node(const struct launch *l, const struct run_look *look, struct str word,
	struct buf *ret, struct report *r)
{
	struct past_names names = { 0 };
	past_paths found = { 0 };
	struct str path = word;
	/* The empty word leads to the root, and is the label of nothing: an unset variable. */
	bool ok = word.len && exists(l, look->dir, word);

	if (!ok) {
		past_names_read(&names, look->dir.p);
		if (word.len)
			past_names_find(&names, word, &found);
		ok = past_names_choose(&found, look->id, word, &path, r);
		if (!found.len)
			report_action(r, ACTION_NODES, look->id);
	}
	if (ok)
		buf_add(ret, path);
	vec_done(&found);
	past_names_done(&names);
	return ok;
}

/* -- what still holds ----------------------------------------------------------------------------
 */

struct take_over {
	struct launch *launch;
	struct str old_dir;
	const struct redo *redo;
	const struct leaves *leaves;
	struct str failed; /* the node that had failed the run; empty: none */
	struct map loops;  /* around what was taken → anything */
	struct str last;   /* the path that was taken last: attempts of one stand together */
	struct buf lines;
	int from, to; /* the directories of outputs; -1: none yet */
	struct report *r;
	bool ok;
};

static bool open_from(struct take_over *t)
{
	if (t->from < 0)
		t->from =
			run_open_dir(arena_cstr(&t->launch->arena, t->old_dir), OUTPUTS_DIR, false);
	return t->from >= 0;
}

static bool open_to(struct take_over *t)
{
	if (t->to < 0)
		t->to = run_open_dir(t->launch->claim.dir.p, OUTPUTS_DIR, true);
	return t->to >= 0;
}

static bool was_taken(const struct take_over *t, struct str path, const struct leaf_record *record)
{
	return record->ended && !record->cancelled && redo_holds(t->redo, path);
}

static bool will_hold(void *data, struct str path, const struct leaf_record *record)
{
	return was_taken(data, path, record);
}

/* What is not there is not needed, see rerun_has_outputs(). Only a regular file is one of roux. */
static bool link_output(struct take_over *t, struct str path, const struct leaf_record *record,
	uint64_t number, bool err)
{
	AUTO_BUF name = BUF_INIT;
	AUTO_BUF now = BUF_INIT;
	struct stat st;

	if (!(err ? record->err_bytes : record->out_bytes))
		return true;
	output_name(&name, path, record->number, err);
	output_name(&now, path, number, err);
	int e = open_from(t) ? 0 : -t->from;
	if (!e && fstatat(t->from, buf_cstr(&name), &st, AT_SYMLINK_NOFOLLOW) < 0)
		e = errno;
	if (e == ENOENT || (!e && !S_ISREG(st.st_mode)))
		return true;
	e = e ? e : open_to(t) ? 0 : -t->to;
	if (!e && linkat(t->from, buf_cstr(&name), t->to, buf_cstr(&now), 0) == 0)
		return true;
	return report_errno(
		t->r, e ? e : errno, "cannot take over the output of node %.*s", STR(path));
}

/* A loop of steps is run through again. Unless it counts as closed, it would forget the rounds that
 * were taken over. */
static void note_loops(struct take_over *t, struct str path)
{
	struct way_step way[WAY_MAX];
	const struct graph *g = t->launch->subject.graph;
	size_t steps = g->steps || g->calls ? called_way(t->redo->called, path, way) : 0;

	for (size_t i = 0; i + 1 < steps; i++)
		if (is_loop(way[i].node))
			*map_put(&t->loops, &t->launch->arena, way[i].path) = t;
}

/* Whether the run had ended with this failure, and what is to be done comes behind it. */
static bool is_passed(const struct take_over *t, struct str path, const struct leaf_record *record)
{
	if (!record->code && !record->signal && !record->timed_out)
		return false;
	if (!str_eq(path, t->failed))
		return false;
	map_each (node, &t->redo->again)
		if (redo_reach(t->redo, node->key, path) == REDO_PASSES)
			return true;
	return false;
}

static void take(void *data, struct str path, const struct leaf_record *record)
{
	struct take_over *t = data;

	if (!was_taken(t, path, record))
		return;
	/* What was forgotten does not count in the new run. */
	uint64_t number = record->number - leaves_base(t->leaves, path);
	t->ok = t->ok && link_output(t, path, record, number, false) &&
		link_output(t, path, record, number, true);
	struct leaf_record now = *record;
	now.number = number;
	now.passed = now.passed || is_passed(t, path, record);
	leaf_exit_line(&t->lines, path, &now, NULL, clock_real_ms());
	/* Its first one may be the second of a group around it. */
	if (!str_eq(path, t->last))
		note_loops(t, path);
	t->last = path;
}

static void close_loops(struct take_over *t)
{
	map_each (loop, &t->loops)
		leaf_closed_line(&t->lines, loop->key, clock_real_ms());
}

static bool take_stdin(struct take_over *t)
{
	struct arena *a = &t->launch->arena;
	AUTO_CLOSE int fd = run_open(arena_cstr(a, t->old_dir), "stdin", O_RDONLY);

	/* It is opened again in the new run, of which nothing is left when that fails. */
	if (fd < 0)
		return fd == -ENOENT || input_unreadable(t->launch, t->old_dir, -fd, t->r);
	uint64_t bytes;
	bool part = leaves_input_is_part(t->leaves, &bytes);
	if (part || bytes)
		leaf_input_line(&t->lines, bytes, !part, clock_real_ms());
	if (link(run_file(a, t->old_dir, "stdin"), run_file(a, t->launch->claim.dir, "stdin")) == 0)
		return true;
	return errno == EEXIST || report_errno(t->r, errno, "cannot take over the standard input");
}

static bool write_leaves(struct take_over *t, const struct run_look *look)
{
	const char *file = run_file(&t->launch->arena, t->launch->claim.dir, LEAVES_FILE);
	AUTO_CLOSE int fd = run_open_path(file, O_WRONLY | O_CREAT | O_APPEND);
	int n = fd < 0 ? fd : fd_write_all(fd, buf_str(&t->lines));

	if (n == 0 && t->launch->asked.durable && fdatasync(fd) < 0)
		n = -errno;
	if (n < 0)
		return report_errno(t->r, -n, "cannot write %s", file);
	struct leaves *taken = leaves_read(file, t->r);
	if (!taken)
		return false;
	bool lacks = input_is_lacking(t->launch, taken);
	leaves_free(taken);
	return !lacks || input_refuse_lacking(t->launch, look, t->r);
}

/* -- steps ---------------------------------------------------------------------------------------
 */

/* Recipes that were called are what they were, as the one that was started is. */
static bool take_recipes(struct take_over *t, const json_t *copies)
{
	struct arena *a = &t->launch->arena;
	AUTO_BUF text = BUF_INIT;
	const char *path;
	json_t *file;

	if (!json_object_size(copies))
		return true;
	json_object_foreach((json_t *)copies, path, file)
	{
		const char *name = json_string_value(file);

		if (!name || strchr(name, '/'))
			return report_error(t->r, (struct where){ 0 }, "%s is damaged",
				run_file(a, t->old_dir, "recipes.json"));
		if (link(run_file(a, t->old_dir, name), run_file(a, t->launch->claim.dir, name)) <
			0)
			return report_errno(t->r, errno, "cannot take over the recipe %s", path);
	}
	json_write(&text, copies, 2);
	buf_addc(&text, '\n');
	return freeze_file(t->launch->claim.dir, "recipes.json", buf_str(&text),
		t->launch->asked.durable, t->r);
}

/* What was approved is not asked again. */
static bool take_gates(struct take_over *t)
{
	AUTO_JSON *gates = freeze_json(t->old_dir, "gates.json", true, t->r);
	AUTO_JSON *taken = json_object();
	AUTO_BUF text = BUF_INIT;
	const char *path;
	json_t *g;

	json_object_foreach(gates, path, g)
	{
		/* From its second attempt on a gate has #NUMBER. */
		struct str gate = str_sub(str_of(path), 0, str_find(str_of(path), '#', 0));

		if (str_eq(json_str(json_object_get(g, "answer")), S("approved")) &&
			redo_holds(t->redo, gate))
			json_object_set_nocheck(taken, path, g);
	}
	if (!json_object_size(taken))
		return true;
	json_write(&text, taken, 2);
	buf_addc(&text, '\n');
	return freeze_file(
		t->launch->claim.dir, "gates.json", buf_str(&text), t->launch->asked.durable, t->r);
}

bool rerun_has_outputs(const struct launch *l, const struct run_look *look, const struct redo *redo,
	const struct leaves *leaves, struct report *r)
{
	struct take_over t = { .redo = redo };
	uint64_t effort = GONE_EFFORT;
	gone_list gone = { 0 };

	if (redo->whole)
		return true;
	struct leaves *held = leaves_that(leaves, will_hold, &t);
	bool ok = gone_find(l, look->dir, held, &effort, &gone, r);
	if (ok && gone.len) {
		ok = report_error(r, (struct where){ 0 }, "the output of node %.*s is gone",
			STR(gone.at[0].path));
		report_action(r, ACTION_RERUN_ALL, look->id);
	}
	vec_done(&gone);
	leaves_free(held);
	return ok;
}

bool rerun_take_over(struct launch *l, const struct run_look *look, const struct redo *redo,
	const struct leaves *leaves, struct report *r)
{
	struct take_over t = { .launch = l,
		.old_dir = look->dir,
		.failed = json_text_of(look->result, "failed_node"),
		.redo = redo,
		.leaves = leaves,
		.from = -1,
		.to = -1,
		.r = r,
		.ok = true };

	t.ok = rerun_has_outputs(l, look, redo, leaves, r) && take_stdin(&t) &&
	       take_recipes(&t, redo->called->copies) && (redo->whole || take_gates(&t));
	if (t.ok && !redo->whole) {
		leaves_each(leaves, take, &t);
		close_loops(&t);
	}
	/* What was linked has the data of a run that may not have been durable. */
	bool flushed = json_is_true(json_object_get(look->start, "durable"));
	t.ok = t.ok && flush_taken(l, !flushed, r) && write_leaves(&t, look);
	buf_done(&t.lines);
	close_fd(&t.from);
	close_fd(&t.to);
	return t.ok;
}
