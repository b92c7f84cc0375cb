#include "app/pictures.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/catalog/ref.h"
#include "app/catalog/secrets.h"
#include "app/logs.h"
#include "app/past/elsewhere.h"
#include "app/past/history.h"
#include "app/past/told.h"
#include "app/record/freeze.h"
#include "base/file.h"
#include "base/run-status.h"
#include "base/shell-words.h"
#include "base/utf8.h"
#include "data/big.h"
#include "graph/step.h"
#include "render/picture/picture.h"
#include "runs/dir/leaves.h"
#include "runs/dir/lines.h"
#include "runs/dir/open.h"
#include "runs/dir/outputs.h"
#include "runs/dir/run-dir.h"
#include "runs/mail/message.h"

enum {
	EXCERPT_RUN = 8 << 10,  /* bytes of each end of what the run printed */
	EXCERPT_LEAF = 2 << 10, /* … of one command */
	OUTPUTS_SHOWN = 60,
	MESSAGES_SHOWN = 200,
	VALUE_MAX = 4 << 10,
};

/* Everything that the page borrows from. */
struct facts {
	struct arena arena;
	const struct run_look *look;
	struct str dir;
	const json_t *run, *result; /* run.json and result.json; NULL: not there */
	json_t *failed;             /* of a run without a result; owned */
	struct graph *graph;
	struct history *history;
	VEC(struct report_failure) failures;
	VEC(struct report_output) outputs;
	VEC(struct report_pair) values, artifacts;
	VEC(struct str) warnings;
	VEC(struct report_message) messages;
	struct mask *mask;  /* what the page may not show; NULL: nothing */
	bool secrets_known; /* all of them are in `mask` */
	struct report why;  /* they are not */
	struct run_report page;
};

static void facts_done(struct facts *f)
{
	report_done(&f->why);
	history_free(f->history);
	json_decref(f->failed);
	graph_unref(f->graph);
	mask_free(f->mask);
	vec_done(&f->failures);
	vec_done(&f->outputs);
	vec_done(&f->values);
	vec_done(&f->artifacts);
	vec_done(&f->warnings);
	vec_done(&f->messages);
	arena_done(&f->arena);
}

/* What may be told of a text of the record. Most of them are masked there already, but not what was
 * written before a secret turned up, nor what stands in the text of a recipe. */
static struct str told(struct facts *f, struct str text)
{
	return mask_text(f->mask, text, &f->arena);
}

static int64_t number_of(const json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

/* -- what is always read -------------------------------------------------------------------------
 */

static void see_number(void *data, struct str path, const struct leaf_record *record)
{
	struct history *h = data;
	struct past_node *p = map_get(&h->nodes, path);

	if (p)
		p->number = MAX(p->number, record->number);
}

/* Which files have the output of the last execution of each command. */
static void read_numbers(struct facts *f)
{
	AUTO_REPORT ignored = REPORT_INIT;
	struct leaves *leaves = leaves_read(run_file(&f->arena, f->dir, LEAVES_FILE), &ignored);

	if (leaves)
		leaves_each(leaves, see_number, f->history);
	leaves_free(leaves);
}

static bool facts_read(struct facts *f, const struct run_look *look, struct report *r)
{
	const char *dir = arena_cstr(&f->arena, look->dir);

	f->look = look;
	f->dir = look->dir;
	f->run = look->start;
	f->result = look->result;
	f->graph = freeze_graph(dir, r);
	f->history = history_read(dir, f->graph, r);
	if (!f->history)
		return false;
	history_conclude(f->history, look->status);
	return true;
}

/* -- excerpts ------------------------------------------------------------------------------------
 */

static struct str read_at(struct facts *f, int fd, uint64_t at, size_t len)
{
	char *p = arena_alloc(&f->arena, len + 1);
	ssize_t n = fd_read_at(fd, p, len, (off_t)at);

	return (struct str){ p, n > 0 ? (size_t)n : 0 };
}

/* Whole lines, where lines are not too long. */
static struct str end_at_line(struct str s)
{
	for (size_t i = s.len; i > s.len / 2; i--)
		if (s.p[i - 1] == '\n')
			return str_sub(s, 0, i);
	return utf8_cut(s, s.len);
}

static struct str begin_at_line(struct str s)
{
	size_t at = str_find(s, '\n', 0);

	return at < s.len / 2 ? str_from(s, at + 1) : s;
}

/* False: nothing was written there. */
static bool read_excerpt(struct facts *f, const char *name, size_t each, struct report_output *ret)
{
	struct stat st;
	AUTO_CLOSE int fd = run_open(arena_cstr(&f->arena, f->dir), name, O_RDONLY);

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size <= 0)
		return false;
	ret->bytes = (uint64_t)st.st_size;
	if (ret->bytes <= 2 * each + each / 2) {
		ret->head = read_at(f, fd, 0, (size_t)ret->bytes);
		ret->bytes = ret->head.len;
		return ret->bytes > 0;
	}
	ret->head = end_at_line(read_at(f, fd, 0, each));
	ret->tail = begin_at_line(read_at(f, fd, ret->bytes - each, each));
	return true;
}

/* What commands have printed, without secrets: the page is made to be shown to others. */
static bool mask_excerpt(struct facts *f, struct report_output *o)
{
	if (!f->secrets_known) {
		o->head = arena_printf(
			&f->arena, "(not shown: %.*s)\n", STR(f->why.issues.at[0].message));
		o->tail = S("");
		o->bytes = o->head.len;
		return true;
	}
	o->head = mask_part(f->mask, o->head, o->tail.len ? MASK_CUT_BACK : 0, &f->arena);
	o->tail = mask_part(f->mask, o->tail, MASK_CUT_FRONT, &f->arena);
	if (!o->tail.len)
		o->bytes = o->head.len;
	return true;
}

static void add_output(struct facts *f, const char *file, struct str label)
{
	struct report_output o = { .label = label };

	if (read_excerpt(f, file, EXCERPT_RUN, &o) && mask_excerpt(f, &o))
		vec_push(&f->outputs, o);
}

/* The file of a command's last execution, below the run's directory. NULL: it cannot have one. */
static const char *last_output(struct facts *f, struct str path)
{
	const struct past_node *p = map_get(&f->history->nodes, path);
	AUTO_BUF name = BUF_INIT;

	if (!output_file(&name, path, p ? p->number : 1, false))
		return NULL;
	return arena_str(&f->arena, buf_str(&name)).p;
}

static void read_outputs(struct facts *f)
{
	size_t with_output = 0;

	add_output(f, "stdout.log", S("Standard output of the run"));
	add_output(f, "stderr.log", S("Standard error of its commands"));
	size_t own = f->outputs.len;
	for (size_t i = 0; i < f->page.leaves.len; i++) {
		const struct report_leaf *l = &f->page.leaves.at[i];
		struct report_output o = { .path = l->path };

		const char *name = last_output(f, l->path);
		if (!name)
			continue;
		if (with_output >= OUTPUTS_SHOWN) {
			with_output += faccessat(AT_FDCWD, run_file(&f->arena, f->dir, name), F_OK,
					       AT_SYMLINK_NOFOLLOW) == 0;
			continue;
		}
		o.label = l->label.len ? l->label : l->command;
		if (!read_excerpt(f, name, EXCERPT_LEAF, &o) || !mask_excerpt(f, &o))
			continue;
		with_output++;
		vec_push(&f->outputs, o);
	}
	f->page.outputs.at = f->outputs.at;
	f->page.outputs.len = f->outputs.len;
	f->page.outputs.all = own + with_output;
}

/* -- failures ------------------------------------------------------------------------------------
 */

static void add_failure(struct facts *f, const json_t *failure)
{
	struct str path = json_text_of(failure, "path");
	const struct past_node *p = map_get(&f->history->nodes, path);

	vec_push(&f->failures,
		(struct report_failure){
			.path = path,
			.label = told(f, json_text_of(failure, "label")),
			.command = told(f, json_text_of(failure, "command")),
			.err = told(f, json_text_of(failure, "stderr")),
			.code = (int)number_of(failure, "code"),
			.signal = (int)number_of(failure, "signal"),
			.attempt = (uint64_t)number_of(failure, "attempt"),
			.timeout = json_is_true(json_object_get(failure, "timeout")),
			.tolerated = json_is_true(json_object_get(failure, "tolerated")) ||
				     (!f->result && p && p->tolerated),
		});
}

/* As the result lists them; of a run without one, as its events do, which do not say what the graph
 * tolerates. */
static void read_failures(struct facts *f)
{
	const json_t *list = json_object_get(f->result, "failures");
	const json_t *total = json_object_get(f->result, "failures_total");
	const json_t *failure;
	size_t i;

	if (!f->result)
		list = f->failed = told_failures(f->look, &f->page.failures.all);
	json_array_foreach(list, i, failure) add_failure(f, failure);
	if (f->result)
		f->page.failures.all =
			total ? (uint64_t)json_integer_value(total) : f->failures.len;
	f->page.failures.at = f->failures.at;
	f->page.failures.len = f->failures.len;
}

/* -- messages ------------------------------------------------------------------------------------
 */

struct message_reader {
	struct facts *facts;
	const char *direction;
	size_t count, from; /* messages; which of them are the last ones */
	bool keep;
};

/* Whether the line is a message and not about one, nor what the timeline tells as well: that a
 * command has ended. There may be many: they are not parsed to be counted. */
static bool is_message(struct message_reader *m, struct str line)
{
	static const char member[] = "\"type\"", done[] = "\"type\":\"command.done\"";

	if (!memmem(line.p, line.len, member, strlen(member)))
		return false;
	if (!memmem(line.p, line.len, done, strlen(done)))
		return true;
	m->facts->page.command_messages += !m->keep;
	return false;
}

static void keep_message(struct message_reader *m, struct str line)
{
	struct arena *a = &m->facts->arena;
	AUTO_REPORT r = REPORT_INIT;
	AUTO_JSON *whole = json_read(&(struct source){ S("messages"), line }, &r);
	AUTO_JSON *message = mask_members(m->facts->mask, whole);
	AUTO_BUF text = BUF_INIT;
	struct str type = json_text_of(message, "type");
	struct str summary = json_text_of(message, "summary");

	if (!type.len)
		return;
	/* A summary that the sender wrote says more than the beginning of the body. */
	if (summary.len && !str_eq(summary, type))
		buf_add(&text, summary);
	else
		message_preview(&text, message);
	vec_push(&m->facts->messages, (struct report_message){
					      .time = arena_str(a, json_text_of(message, "ts")),
					      .direction = str_of(m->direction),
					      .type = arena_str(a, type),
					      .text = arena_str(a, buf_str(&text)),
				      });
}

static bool see_message(void *data, struct str line, size_t index)
{
	struct message_reader *m = data;

	(void)index;
	if (!is_message(m, line))
		return true;
	if (m->keep && m->count >= m->from)
		keep_message(m, line);
	m->count++;
	return true;
}

static void read_box(struct facts *f, const char *file, const char *direction)
{
	struct message_reader m = { .facts = f, .direction = direction };
	const char *dir = arena_cstr(&f->arena, f->dir);

	(void)lines_each(dir, file, see_message, &m, NULL);
	f->page.messages.all += m.count;
	m.from = m.count > MESSAGES_SHOWN / 2 ? m.count - MESSAGES_SHOWN / 2 : 0;
	m.count = 0;
	m.keep = true;
	(void)lines_each(dir, file, see_message, &m, NULL);
}

static int by_time(const void *a, const void *b)
{
	const struct report_message *x = a, *y = b;

	return str_cmp(x->time, y->time);
}

static void read_messages(struct facts *f)
{
	read_box(f, "outbox.jsonl", "from the run");
	read_box(f, "inbox.jsonl", "to the run");
	if (f->messages.len)
		qsort(f->messages.at, f->messages.len, sizeof(*f->messages.at), by_time);
	f->page.messages.at = f->messages.at;
	f->page.messages.len = f->messages.len;
}

/* -- the rest ------------------------------------------------------------------------------------
 */

static struct str shown_value(struct facts *f, const json_t *value)
{
	AUTO_BUF text = BUF_INIT;

	if (json_is_string(value) && !json_is_big(value))
		return utf8_cut(told(f, json_str(value)), VALUE_MAX);
	json_write_typed(&text, value, 0);
	return arena_str(&f->arena, utf8_cut(told(f, buf_str(&text)), VALUE_MAX));
}

static void read_pairs(struct facts *f)
{
	json_t *artifacts = json_object_get(f->result, "artifacts");
	json_t *values = json_object_get(f->run, "values");
	json_t *value;
	const char *name;

	if (!artifacts)
		artifacts = json_object_get(f->run, "artifacts");
	json_object_foreach(artifacts, name, value) vec_push(
		&f->artifacts, (struct report_pair){ str_of(name), shown_value(f, value) });
	json_object_foreach(values, name, value)
		vec_push(&f->values, (struct report_pair){ str_of(name), shown_value(f, value) });
	f->page.artifacts.at = f->artifacts.at;
	f->page.artifacts.len = f->page.artifacts.all = f->artifacts.len;
	f->page.values.at = f->values.at;
	f->page.values.len = f->page.values.all = f->values.len;
}

static void read_warnings(struct facts *f)
{
	const json_t *list = json_object_get(f->result, "warnings");
	const json_t *warning;
	size_t i;

	json_array_foreach(list, i, warning) vec_push(&f->warnings, shown_value(f, warning));
	f->page.warnings.at = f->warnings.at;
	f->page.warnings.len = f->page.warnings.all = f->warnings.len;
}

static struct str command_line(struct facts *f)
{
	const json_t *argv = json_object_get(f->run, "argv");
	size_t count = json_array_size(argv);
	const char **words = arena_array(&f->arena, const char *, count + 1);
	AUTO_BUF text = BUF_INIT;

	for (size_t i = 0; i < count; i++) {
		const char *word = json_string_value(json_array_get(argv, i));

		words[i] = word ? word : "";
	}
	command_display(&text, words, count);
	return arena_str(&f->arena, utf8_cut(told(f, buf_str(&text)), VALUE_MAX));
}

static void read_leaves(struct facts *f)
{
	struct run_report *p = &f->page;
	const struct report_leaf *all = history_leaves(f->history, &p->leaves.len);
	struct report_leaf *shown = arena_array(&f->arena, struct report_leaf, p->leaves.len);

	for (size_t i = 0; i < p->leaves.len; i++) {
		shown[i] = all[i];
		shown[i].label = told(f, all[i].label);
		shown[i].command = told(f, all[i].command);
	}
	p->leaves.at = shown;
	p->leaves.all = MAX(f->history->commands, p->leaves.len);
}

static void read_header(struct facts *f, const struct run_look *look)
{
	struct run_report *p = &f->page;
	const struct history *h = f->history;

	p->run = look->id;
	p->recipe = json_text_of(f->run, "recipe");
	p->status = h->status;
	p->error = told(f, json_text_of(f->result, "error"));
	p->started = json_text_of(f->run, "started");
	p->ended = json_text_of(f->result, "ended");
	p->owner = json_text_of(f->run, "owner");
	p->cwd = json_text_of(f->run, "cwd");
	p->command = command_line(f);
	p->live = h->live;
	p->timed = json_object_get(f->result, "ms") || h->began_ms;
	p->ms = json_object_get(f->result, "ms") ? (uint64_t)number_of(f->result, "ms") : h->now_ms;
	p->exited = look->row.counted;
	p->exit = look->row.exit;
	p->failed = look->row.failed;
	p->tolerated = look->row.tolerated;
	p->graph = f->graph;
	p->state = history_state;
	p->state_data = h;
	p->mask = f->mask;
	read_leaves(f);
}

bool run_report(struct run_handle *h, struct buf *b, struct report *r)
{
	AUTO_REPORT found = REPORT_INIT;
	const struct run_look *look = handle_look(h, &found);
	struct facts f = { 0 };
	bool ok = look && facts_read(&f, look, &found);

	/* Without its graph the rest is worth showing all the same. */
	if (ok) {
		struct mask *now;

		f.mask = freeze_mask(f.dir, &f.secrets_known);
		if (!f.secrets_known && run_mask(h, &now, &f.why)) {
			mask_free(f.mask);
			f.mask = now;
			f.secrets_known = true;
		}
		read_header(&f, look);
		read_numbers(&f);
		read_failures(&f);
		read_outputs(&f);
		read_messages(&f);
		read_pairs(&f);
		read_warnings(&f);
		report_html(&f.page, b);
	} else {
		report_move(r, &found);
	}
	facts_done(&f);
	return ok;
}

bool run_picture(struct run_handle *h, unsigned format, struct buf *b, struct report *r)
{
	const struct run_look *look = handle_look(h, r);
	struct facts f = { 0 };
	AUTO_BUF title = BUF_INIT;
	bool ok = look && facts_read(&f, look, r) && f.graph;

	if (ok) {
		f.mask = freeze_mask(f.dir, &f.secrets_known);
		buf_printf(&title, "%.*s: ", STR(look->id));
		status_phrase(&title, look->status, look->row.failed, look->row.tolerated);
		picture_write(f.graph, format,
			&(struct picture_options){ .title = buf_str(&title),
				.state = history_state,
				.state_data = f.history,
				.mask = f.mask },
			b);
	}
	facts_done(&f);
	return ok;
}

void recipe_picture(const struct recipe_ref *ref, unsigned format, struct str title, struct buf *b)
{
	const struct graph *g = ref->graph;

	if (g->steps)
		title = json_str(json_object_get(g->steps->metadata, "name"));
	struct mask *mask = recipe_mask(ref->recipe, g, ref->values);
	struct arena a = ARENA_INIT;
	title = mask_text(mask, title, &a); /* of a template it is its text */
	picture_write(g, (enum picture_format)format,
		&(struct picture_options){ .title = title, .mask = mask }, b);
	arena_done(&a);
	mask_free(mask);
}
