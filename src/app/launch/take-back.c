#include "app/launch/take-back.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#include "app/launch/gone.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/node-path.h"
#include "base/plain-text.h"
#include "base/run-status.h"
#include "graph/step.h"
#include "graph/way.h"
#include "recipe/usage.h"
#include "runs/dir/lines.h"
#include "runs/dir/open.h"

static bool retried(const struct node *n)
{
	return n->retry.text || n->retry.value > 1;
}

/* -- taking a failure back -----------------------------------------------------------------------
 */

struct failed_below {
	const struct graph *graph;
	struct str top;  /* what is tried again */
	struct str node; /* what failed, or whose time limit ran out */
	forget_fn *forget;
	void *data;
	bool any;
};

static void forget(struct failed_below *f, struct str path, const struct leaf_record *record)
{
	f->any = true;
	f->forget(f->data, path, record);
}

/* Whether a node around the command, inside of what failed, was told to pass its failure over. */
static bool tolerated(const struct failed_below *f, struct str path)
{
	struct way_step way[WAY_MAX];
	size_t steps = way_to(f->graph->root, path, way);

	for (size_t i = 0; i < steps; i++) {
		const struct node *n = way[i].node;

		if (node_path_within(way[i].path, f->top) && n->failure_stated &&
			n->failure == FAILURE_CONTINUE)
			return true;
	}
	return false;
}

struct last_failure {
	struct failed_below below;
	const struct leaves *leaves;
	struct str path;
	uint64_t ended;
};

static void look_for_failure(void *data, struct str path, const struct leaf_record *record)
{
	struct last_failure *f = data;
	uint64_t ended = record->started_ms + record->ms;

	if (!record->ended || record->cancelled || !(record->code || record->timed_out) ||
		record != leaves_last(f->leaves, path) || ended < f->ended ||
		tolerated(&f->below, path))
		return;
	f->path = path;
	f->ended = ended;
}

/* Without a result: the command that failed last, unless the run continued all the same. */
static struct str last_failed(const struct launch *l, const struct leaves *leaves)
{
	struct last_failure f = { .below = { .graph = l->subject.graph,
					  .top = node_root_path(l->subject.graph->root) },
		.leaves = leaves };

	leaves_each(leaves, look_for_failure, &f);
	return f.path;
}

struct str resume_failed_node(
	const struct launch *l, const struct run_look *look, const struct leaves *leaves)
{
	const json_t *failures = json_object_get(look->result, "failures");
	const json_t *total = json_object_get(look->result, "failures_total");
	struct str node = json_text_of(look->result, "failed_node");

	if (!status_rests(look->status, STATUS_BROKEN) ||
		(!node.len && json_is_true(json_object_get(look->result, "cut_short"))))
		return S("");
	if (node.len)
		return node;
	if (status_is(look->status, ROUX_TIMEOUT))
		return node_root_path(l->subject.graph->root);
	if (!look->result)
		return last_failed(l, leaves);
	/* Past the number that is listed it is not known any more which it was. */
	return (size_t)json_integer_value(total) > json_array_size(failures) ? S(".") : S("");
}

static void forget_failed(void *data, struct str path, const struct leaf_record *record)
{
	struct failed_below *f = data;
	bool failed = record->code || record->timed_out;

	if (!record->ended || record->cancelled || !node_path_within(path, f->top))
		return;
	/* A step may have failed though its command did not: what it printed was no answer. */
	if (str_eq(path, f->node) || (failed && !tolerated(f, path)))
		forget(f, path, record);
}

/* What failed before the time was over stands. */
static void forget_limited(void *data, struct str path, const struct leaf_record *record)
{
	struct failed_below *f = data;

	if (record->ended && !record->cancelled && str_eq(record->limit, f->node))
		forget(f, path, record);
}

bool resume_write(struct launch *l, const struct buf *lines, struct report *r)
{
	if (!lines->len)
		return true; /* a file that is lost is not an empty one */
	const char *file = run_file(&l->arena, l->claim.dir, LEAVES_FILE);
	AUTO_CLOSE int fd = run_open_path(file, O_RDWR | O_CREAT | O_APPEND);
	int n = fd < 0 ? fd : lines_drop_cut(fd);

	l->claim.recorded = n < 0 ? 0 : lseek(fd, 0, SEEK_END);
	n = n < 0 ? n : fd_write_all(fd, buf_str(lines));

	if (n == 0 && l->asked.durable && fdatasync(fd) < 0)
		n = -errno;
	return n == 0 || report_errno(r, -n, "cannot write %s", file);
}

void resume_unwrite(struct launch *l)
{
	if (l->claim.recorded <= 0)
		return;
	AUTO_CLOSE int fd = run_open_path(run_file(&l->arena, l->claim.dir, LEAVES_FILE), O_RDWR);
	/* At worst commands run again without another word: it was said that they do. */
	if (fd >= 0)
		(void)!ftruncate(fd, l->claim.recorded);
	l->claim.recorded = 0;
}

void resume_forgets(const struct launch *l, const struct leaves *leaves, struct str node,
	struct str retried_node, forget_fn *fn, void *data)
{
	struct way_step way[WAY_MAX];
	size_t steps = way_to(l->subject.graph->root, node, way);
	struct failed_below failed = {
		.graph = l->subject.graph, .node = node, .forget = fn, .data = data
	};

	/* What is inside of a recipe that a step has called is not known here. */
	struct str top = steps ? way[steps - 1].path : node;
	bool whole = false;
	for (size_t i = steps; i > 0; i--) {
		if (retried(way[i - 1].node)) {
			top = way[i - 1].path; /* the outermost */
			whole = true;
		} else if (!whole && node_joins(way[i - 1].node)) {
			top = way[i - 1].path; /* all branches that failed */
		}
	}
	if (whole || retried_node.len)
		forget(&failed, whole ? top : retried_node, NULL);
	else
		leaves_each(leaves, forget_limited, &failed);
	failed.top = top;
	if (!failed.any)
		leaves_each(leaves, forget_failed, &failed);
}

void failed_name(const json_t *result, struct str path, struct buf *ret)
{
	const json_t *failures = json_object_get(result, "failures");
	struct str label = S(""), item = S("");
	json_t *failure;
	size_t i;

	json_array_foreach(failures, i, failure)
	{
		if (!str_eq(json_text_of(failure, "path"), path))
			continue;
		label = json_text_of(failure, "label");
		item = json_text_of(failure, "item");
		break;
	}
	text_name(ret, path, label, item);
}

struct taking_back {
	const json_t *result;
	struct leaves *leaves;
	struct buf *lines;
	struct taken_back *ret;
	size_t code; /* of the run */
};

static void take_back(void *data, struct str path, const struct leaf_record *record)
{
	struct taking_back *t = data;

	leaf_forget_line(t->lines, path, clock_real_ms());
	AUTO_BUF name = BUF_INIT;
	failed_name(t->result, path, &name);
	struct failed_earlier f = { arena_str(&t->ret->arena, buf_str(&name)),
		!record             ? t->code
		: record->timed_out ? RESUME_TIME_LIMIT
		: record->code      ? (size_t)record->code
				    : t->code };
	vec_push(&t->ret->all, f);
	(void)leaves_forget(t->leaves, path);
}

void taken_back_done(struct taken_back *t)
{
	vec_done(&t->all);
	arena_done(&t->arena);
}

void resume_take_back(const struct launch *l, const struct run_look *look, struct leaves *leaves,
	struct buf *lines, struct taken_back *ret)
{
	struct taking_back t = {
		.result = look->result, .leaves = leaves, .lines = lines, .ret = ret
	};

	struct str node = resume_failed_node(l, look, leaves);
	t.code = (size_t)json_integer_value(json_object_get(look->result, "code"));
	if (node.len)
		resume_forgets(
			l, leaves, node, json_text_of(look->result, "retried_node"), take_back, &t);
}

/* -- what is gone, and what has changed -----------------------------------------------------------
 */

bool resume_lose(struct launch *l, struct leaves *leaves, struct buf *lines, struct report *r)
{
	uint64_t effort = GONE_EFFORT;
	size_t before;
	bool ok;

	/* What runs again reads again: until nothing more is found. */
	do {
		gone_list gone = { 0 };

		before = lines->len;
		ok = gone_find(l, l->claim.dir, leaves, &effort, &gone, r);
		vec_each (g, &gone) {
			leaf_lost_line(lines, g->path, g->number, false, clock_real_ms());
			leaves_lose(leaves, g->path, g->number);
		}
		vec_done(&gone);
	} while (ok && lines->len > before);
	return ok;
}

void resume_note_sources(const struct launch *l, resume_note_fn *say, void *data)
{
	if (!l->subject.recipe || !say)
		return;
	vec_each (f, &l->subject.recipe->set->files) {
		AUTO_BUF text = BUF_INIT;
		AUTO_BUF now = BUF_INIT;
		AUTO_BUF was = BUF_INIT;
		int e = file_read((*f)->path.p, RECIPE_MAX_BYTES, &text);

		usage_forget(buf_str(&text), &now);
		usage_forget((*f)->doc.source.text, &was);
		if (e < 0 || !str_eq(buf_str(&now), buf_str(&was)))
			say(data, RESUME_SOURCE_CHANGED, (*f)->path, 0);
	}
}
