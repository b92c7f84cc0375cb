#include "app/model.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app/past/elsewhere.h"
#include "app/past/history.h"
#include "app/record/freeze.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/run-status.h"
#include "graph/event.h"
#include "runs/dir/events.h"
#include "runs/dir/leaves.h"
#include "runs/dir/open.h"
#include "runs/dir/run-dir.h"
#include "runs/look/kept.h"

enum { MODELS_KEPT = 16, NODES_KEPT = 300000 };

struct run_model {
	struct buf id, dir, generation, status;
	struct run_handle *run;
	struct history *history;
	struct report issues;
	struct arena scratch; /* of views */
	uint64_t used;        /* when it was asked for last */
	bool has_result;      /* result.json could be read */
	bool told;            /* what became of every node has been found out once */
};

struct run_models {
	struct app *app;
	VEC(struct run_model *) at;
	uint64_t clock;
};

static void model_free(struct run_model *m)
{
	if (!m)
		return;
	history_free(m->history);
	run_close(m->run);
	report_done(&m->issues);
	arena_done(&m->scratch);
	buf_done(&m->id);
	buf_done(&m->dir);
	buf_done(&m->generation);
	buf_done(&m->status);
	free(m);
}

/* -- the state of a node -------------------------------------------------------------------------
 */

static bool is_group(const struct past_node *p)
{
	return p->node ? node_is_group(p->node) : p->below.len > 0;
}

static enum shown_state state_of(const struct history *h, const struct past_node *p)
{
	if (p == h->top && p->below.len)
		return shown_state_of(h->status);
	if (h->live && p->retrying)
		return STATE_RETRYING;
	return p->state;
}

/* Copies that have not begun, as far as the author wrote how many there are. */
static uint64_t copies_to_come(const struct history *h, const struct past_node *p)
{
	const struct node *n = p->node;

	if (!n || n->kind != NODE_EACH || !h->live || p->ended || p->skipped || !n->children[0] ||
		n->children[0]->kind != NODE_COMMAND)
		return 0;
	return n->count.number > p->below.len ? n->count.number - p->below.len : 0;
}

static void count_below(struct history *h, struct past_node *p)
{
	if (!p->counts)
		p->counts = arena_array(&h->arena, uint64_t, SHOWN_STATES);
	memset(p->counts, 0, SHOWN_STATES * sizeof(*p->counts));
	vec_each (child, &p->below) {
		if (!is_group(*child)) {
			p->counts[state_of(h, *child)]++;
			continue;
		}
		for (size_t i = 0; (*child)->counts && i < SHOWN_STATES; i++)
			p->counts[i] += (*child)->counts[i];
	}
	p->counts[STATE_WAITING] += copies_to_come(h, p);
}

/* An end that no event tells is as new as the last event. */
static void note_changes(struct run_model *m, struct past_node *p)
{
	struct history *h = m->history;

	vec_each (child, &p->below)
		note_changes(m, *child);
	if (is_group(p))
		count_below(h, p);
	uint64_t shown = (uint64_t)state_of(h, p) | (uint64_t)(p->code & 0xffff) << 8 |
			 p->executions << 24 | (uint64_t)1 << 63;
	bool silent = !m->told && !h->live && (p->open || (is_group(p) && p->reached && !p->ended));

	if (silent || (m->told && p->shown != shown))
		for (struct past_node *up = p; up; up = up->up)
			up->changed = MAX(up->changed, h->seq);
	p->shown = shown;
}

/* -- keeping it up to date -----------------------------------------------------------------------
 */

/* A start under the same name has made another generation. */
static bool is_same(const struct run_model *m, const struct run_look *look)
{
	return m->history && str_eq(buf_str(&m->generation), look->generation) &&
	       str_eq(buf_str(&m->dir), look->dir);
}

static void set(struct buf *b, struct str s)
{
	buf_reset(b);
	buf_add(b, s);
}

static struct history *open_history(const char *dir, struct report *issues)
{
	AUTO_REPORT found = REPORT_INIT;
	struct graph *g = freeze_graph(dir, &found);
	struct history *h = history_open(dir, g, true);

	if (!g && found.issues.len)
		report_warning(issues, (struct where){ 0 }, "graph.json cannot be used: %.*s",
			STR(found.issues.at[0].message));
	else
		app_warn(&found, issues);
	graph_unref(g);
	return h;
}

/* What is left out of a page because a file is damaged is named there. */
static void check_files(struct run_model *m)
{
	static const struct {
		const char *name;
		bool needed;
	} files[] = { { "run.json", true }, { "start.json", true }, { "values.json", false },
		{ "result.json", false } };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		AUTO_BUF text = BUF_INIT;

		/* The largest of them is not parsed twice. */
		if (m->has_result && strcmp(files[i].name, "result.json") == 0)
			continue;
		int e = run_read(buf_cstr(&m->dir), files[i].name, RUN_FILE_MAX, &text);
		if (e == -ENOENT && (!files[i].needed || m->history->live))
			continue;
		AUTO_JSON *document = e < 0 ? NULL : json_loadb(buf_cstr(&text), text.len, 0, NULL);
		if (e < 0)
			report_warning(&m->issues, (struct where){ 0 }, "%s cannot be read: %s",
				files[i].name, strerror(-e));
		else if (!document)
			report_warning(&m->issues, (struct where){ 0 },
				"%s is damaged: it is not JSON", files[i].name);
	}
}

static void begin(struct run_model *m, const struct run_look *look)
{
	history_free(m->history);
	report_done(&m->issues);
	m->issues = REPORT_INIT;
	m->told = false;
	m->has_result = look->result != NULL;
	set(&m->dir, look->dir);
	set(&m->generation, look->generation);
	m->history = open_history(buf_cstr(&m->dir), &m->issues);
}

static struct str status_of_look(struct str status)
{
	return str_eq(status, S(STATUS_STARTING)) ? status_str(ROUX_RUNNING) : status;
}

static void feed(struct run_model *m, const struct run_look *look)
{
	uint64_t seq = m->history->seq;
	int e = history_feed(m->history);

	if (e < 0 && !m->told)
		report_warning(&m->issues, (struct where){ 0 },
			"the events of the run (events.jsonl) cannot be read: %s", strerror(-e));
	if (m->told && seq == m->history->seq && !m->history->live &&
		str_eq(buf_str(&m->status), look->status))
		return;
	set(&m->status, look->status);
	history_conclude(m->history, status_of_look(look->status));
	if (m->history->top)
		note_changes(m, m->history->top);
	if (!m->told)
		check_files(m);
	m->told = true;
}

static struct run_model *find_kept(struct run_models *ms, struct str id)
{
	vec_each (m, &ms->at)
		if (str_eq(buf_str(&(*m)->id), id))
			return *m;
	return NULL;
}

static void drop_oldest(struct run_models *ms)
{
	for (;;) {
		size_t nodes = 0, oldest = 0;

		for (size_t i = 0; i < ms->at.len; i++) {
			nodes += ms->at.at[i]->history->nodes.count;
			if (ms->at.at[i]->used < ms->at.at[oldest]->used)
				oldest = i;
		}
		if (ms->at.len < 2 || (ms->at.len <= MODELS_KEPT && nodes <= NODES_KEPT))
			return;
		model_free(ms->at.at[oldest]);
		ms->at.at[oldest] = ms->at.at[--ms->at.len];
	}
}

static void forget(struct run_models *ms, struct run_model *m)
{
	for (size_t i = 0; i < ms->at.len; i++)
		if (ms->at.at[i] == m) {
			ms->at.at[i] = ms->at.at[--ms->at.len];
			break;
		}
	model_free(m);
}

struct run_model *run_models_get(struct run_models *ms, struct str id, struct report *r)
{
	AUTO_BUF name = BUF_INIT;
	struct run_model *m = find_kept(ms, id);

	buf_printf(&name, "run:%.*s", STR(id));
	struct run_handle *run = runs_open(ms->app, buf_cstr(&name), r);
	if (run && !str_eq(run_id(run), id)) {
		/* A short name is for people who type. */
		run_close(run);
		run = NULL;
		report_refuse(r, id, "no such run", "there is no run '%.*s'", STR(id));
	}
	if (!run) {
		if (m)
			forget(ms, m);
		return NULL;
	}
	const struct run_look *look = elsewhere_look(run);
	if (!m) {
		m = mem_new(struct run_model);
		set(&m->id, id);
		vec_push(&ms->at, m);
	}
	if (!is_same(m, look))
		begin(m, look);
	arena_reset(&m->scratch);
	feed(m, look);
	run_close(m->run);
	m->run = run;
	m->used = ++ms->clock;
	drop_oldest(ms);
	return m;
}

/* -- elsewhere -----------------------------------------------------------------------------------
 */

/* Of files that are larger the loop of a host is not kept waiting. */
enum { LARGE = 64 << 10 };

struct model_load {
	struct run_model *m;
	const atomic_bool *stop;
};

static bool is_large(const char *dir)
{
	static const char *const names[] = { EVENTS_FILE, "graph.json" };
	uint64_t bytes = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		AUTO_BUF path = BUF_INIT;
		struct stat st;

		buf_printf(&path, "%s/%s", dir, names[i]);
		if (stat(buf_cstr(&path), &st) == 0)
			bytes += (uint64_t)st.st_size;
	}
	return bytes > LARGE;
}

struct model_load *run_models_load(struct run_models *ms, struct str id)
{
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_BUF name = BUF_INIT;

	if (find_kept(ms, id))
		return NULL;
	buf_printf(&name, "run:%.*s", STR(id));
	struct run_handle *run = runs_open(ms->app, buf_cstr(&name), &ignored);
	if (!run)
		return NULL;
	const struct run_look *look = elsewhere_look(run);
	AUTO_BUF dir = BUF_INIT;
	buf_add(&dir, look->dir);
	if (!str_eq(run_id(run), id) || !is_large(buf_cstr(&dir))) {
		run_close(run);
		return NULL;
	}
	struct model_load *l = mem_new(struct model_load);
	l->m = mem_new(struct run_model);
	set(&l->m->id, id);
	set(&l->m->dir, look->dir);
	set(&l->m->generation, look->generation);
	set(&l->m->status, look->status);
	l->m->has_result = look->result != NULL;
	run_close(run);
	return l;
}

void model_load_read(struct model_load *l, const atomic_bool *stop)
{
	struct run_model *m = l->m;

	l->stop = stop;
	m->history = open_history(buf_cstr(&m->dir), &m->issues);
	m->history->stop = stop;
	int e = history_feed(m->history);
	if (e < 0)
		report_warning(&m->issues, (struct where){ 0 },
			"the events of the run (events.jsonl) cannot be read: %s", strerror(-e));
	m->history->stop = NULL;
	history_conclude(m->history, status_of_look(buf_str(&m->status)));
	if (m->history->top)
		note_changes(m, m->history->top);
	check_files(m);
	m->told = true;
}

void model_load_end(struct model_load *l, struct run_models *ms)
{
	struct run_model *m = l->m;

	if (!ms || !m->history || atomic_load(l->stop) || find_kept(ms, buf_str(&m->id))) {
		model_free(m);
	} else {
		vec_push(&ms->at, m);
		m->used = ++ms->clock;
		drop_oldest(ms);
	}
	free(l);
}

struct run_models *run_models_new(struct app *a)
{
	struct run_models *ms = mem_new(struct run_models);

	ms->app = a;
	a->kept = look_kept_new();
	return ms;
}

void run_models_free(struct run_models *ms)
{
	if (!ms)
		return;
	vec_each (m, &ms->at)
		model_free(*m);
	vec_done(&ms->at);
	look_kept_free(ms->app->kept);
	ms->app->kept = NULL;
	free(ms);
}

/* -- looking at it -------------------------------------------------------------------------------
 */

struct run_handle *run_model_run(const struct run_model *m)
{
	return m->run;
}

struct str run_model_generation(const struct run_model *m)
{
	return buf_str(&m->generation);
}

uint64_t run_model_seq(const struct run_model *m)
{
	return m->history->seq;
}

bool run_model_live(const struct run_model *m)
{
	return m->history->live;
}

uint64_t run_model_began_ms(const struct run_model *m)
{
	return m->history->began_ms;
}

uint64_t run_model_now_ms(const struct run_model *m)
{
	return m->history->now_ms;
}

const struct report *run_model_issues(const struct run_model *m)
{
	return &m->issues;
}

const struct past_node *run_model_root(const struct run_model *m)
{
	return m->history->top;
}

const struct past_node *run_model_find(const struct run_model *m, struct str path)
{
	if (str_eq(path, S("root")))
		return m->history->top;
	return map_get(&m->history->nodes, path);
}

size_t past_node_children(const struct past_node *n)
{
	return n->below.len;
}

const struct past_node *past_node_child(const struct past_node *n, size_t index)
{
	return n->below.at[index];
}

const struct past_node *past_node_up(const struct past_node *n)
{
	return n->up;
}

uint64_t past_node_changed(const struct past_node *n)
{
	return n->changed;
}

static const struct node_span *spans_of(struct run_model *m, const struct past_node *p)
{
	struct node_span *spans = arena_array(&m->scratch, struct node_span, p->spans.len + 1);

	for (size_t i = 0; i < p->spans.len; i++) {
		const struct report_span *s = &p->spans.at[i];

		spans[i] = (struct node_span){ .start_ms = s->start_ms,
			.ms = s->ms,
			.state = s->state,
			.code = s->code,
			.signal = s->signal };
	}
	return spans;
}

static struct str text_of(const struct past_node *p)
{
	if (p->command.len)
		return p->command;
	if (!p->node || node_is_group(p->node))
		return S("");
	return p->node->line.len ? p->node->line : node_caption(p->node);
}

void run_model_view(struct run_model *m, const struct past_node *n, struct node_view *ret)
{
	const struct history *h = m->history;

	*ret = (struct node_view){ .path = n->path,
		.label = n->label.len ? n->label
			 : n->node    ? n->node->label
				      : S(""),
		.text = text_of(n),
		.kind = n->node        ? node_kind_name(n->node->kind)
			: n->below.len ? "sequence"
				       : "command",
		.group = is_group(n),
		.at_once = n->node && node_joins(n->node),
		.state = state_of(h, n),
		.tolerated = n->tolerated,
		.coded = n->coded,
		.timed = n->timed,
		.reached = n->reached,
		.code = n->code,
		.signal = n->spans.len ? n->spans.at[n->spans.len - 1].signal : 0,
		.attempts = n->spans.len ? n->executions : n->retries,
		.first_ms = n->timed ? n->first_ms : 0,
		.ms = n->timed && n->last_ms > n->first_ms ? n->last_ms - n->first_ms : 0,
		.real_ms = n->timed && h->began_ms ? h->began_ms + n->first_ms : 0,
		.changed = n->changed,
		.spans = n->spans.len ? spans_of(m, n) : NULL,
		.span_count = n->spans.len,
		.counts = n->counts,
		.children = n->below.len };
	/* What a command took is its last attempt's time, as the events have it. */
	if (n->spans.len == 1)
		ret->ms = n->spans.at[0].ms;
}

/* -- its files -----------------------------------------------------------------------------------
 */

static bool see_process(void *data, const struct leaf_line *line)
{
	json_t *all = data;

	if (line->kind == LEAF_START && line->record.pid)
		json_object_setn_new_nocheck(
			all, line->path.p, line->path.len, json_integer(line->record.pid));
	else if (line->kind == LEAF_EXIT)
		(void)json_object_deln(all, line->path.p, line->path.len);
	return true;
}

static int model_leaves(const struct run_model *m, leaf_line_fn *see, void *data)
{
	AUTO_BUF file = BUF_INIT;

	buf_printf(&file, "%.*s/" LEAVES_FILE, STR(buf_str(&m->dir)));
	return leaf_lines_each(buf_cstr(&file), see, data);
}

json_t *run_model_processes(struct run_model *m)
{
	json_t *all = json_object();

	if (m->history->live)
		(void)model_leaves(m, see_process, all);
	return all;
}

struct usage_search {
	struct str path;
	void (*see)(void *data, uint64_t attempt, const struct node_usage *used);
	void *data;
};

static bool see_usage(void *data, const struct leaf_line *line)
{
	const struct usage_search *s = data;
	const struct leaf_usage *u = &line->usage;

	if (line->used && str_eq(line->path, s->path))
		s->see(s->data, line->record.number,
			&(struct node_usage){ u->user_us, u->system_us, u->memory_kib });
	return true;
}

void run_model_usage(struct run_model *m, struct str path,
	void (*see)(void *data, uint64_t attempt, const struct node_usage *used), void *data)
{
	(void)model_leaves(m, see_usage, &(struct usage_search){ path, see, data });
}

/* Every file of the directory itself; what commands print is below it and counted by its readers.
 */
void run_model_stamp(const struct run_model *m, struct buf *b)
{
	AUTO_BUF dir = BUF_INIT;
	uint64_t sum = 0;

	buf_add(&dir, buf_str(&m->dir));
	DIR *d = opendir(buf_cstr(&dir));
	for (const struct dirent *e; d && (e = readdir(d));) {
		struct stat st;
		uint64_t one = 1469598103934665603ull;

		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		const uint64_t facts[] = { st.st_ino, (uint64_t)st.st_size,
			(uint64_t)st.st_mtim.tv_sec, (uint64_t)st.st_mtim.tv_nsec };
		for (size_t i = 0; i < ARRAY_SIZE(facts); i++)
			one = (one ^ facts[i]) * 1099511628211ull;
		sum += one; /* in whichever order they are read */
	}
	if (d)
		(void)closedir(d);
	buf_printf(b, "%016" PRIx64, sum);
}

/* -- one command ---------------------------------------------------------------------------------
 */

json_t *run_model_argv(struct run_model *m, struct str path)
{
	const struct past_node *p = map_get(&m->history->nodes, path);
	AUTO_BUF line = BUF_INIT;

	if (!p || events_line(buf_cstr(&m->dir), &p->start, &line) < 0)
		return NULL;
	AUTO_JSON *event = json_loadb(buf_cstr(&line), line.len, 0, NULL);
	/* A file that was cut and written again has something else there. */
	if (!str_eq(json_text_of(event, "path"), path))
		return NULL;
	return json_incref(json_object_get(event, "argv"));
}
