#include "app/record/result.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/answers.h"
#include "app/record/execution.h"
#include "app/record/launch.h"
#include "app/record/secrets.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/node-path.h"
#include "base/plain-text.h"
#include "base/run-status.h"
#include "base/utf8.h"
#include "data/base64.h"
#include "data/json.h"

enum { STDOUT_MAX = 1 << 20, FLUSH_AT = 64 * 1024 };

/* The document as it grows; written out piece by piece when there is somewhere to write it to. */
struct writer {
	struct buf *b;
	int fd, error;
};

static void flush(struct writer *w, size_t above)
{
	if (w->fd < 0 || w->b->len <= above)
		return;
	int r = fd_write_all(w->fd, buf_str(w->b));
	w->error = w->error ? w->error : r;
	buf_reset(w->b);
}

static enum roux_status status_of(const struct execution *x)
{
	return (enum roux_status)run_result(x->run)->status;
}

/* What has to be known before the first word of the document is written. */
struct prepared {
	enum roux_status status;
	bool selected;          /* the output is a value */
	struct content *output; /* else the run's own */
	struct str recorded;    /* the file of the run's directory that has it; empty: none */
	uint64_t ended_ms;      /* … and when it ended */
	struct buf path;        /* a file with all of it, the caller's or the run's; empty: none */
	struct buf error;
	bool cut_short; /* the machine has failed it: nothing in it did */
};

/* A recorded run has the file already, unless its disk was full. */
static bool find_recorded(const struct execution *x, struct prepared *p)
{
	const struct launch *l = x->launch;
	struct stat st;

	if (!l)
		return false;
	buf_printf(&p->path, "%.*s/stdout.log", STR(l->claim.dir));
	if (stat(buf_cstr(&p->path), &st) == 0 && (uint64_t)st.st_size == content_size(p->output))
		return true;
	buf_reset(&p->path);
	return false;
}

/* Past a limit the output goes to a file. When that cannot be written the run has failed after all:
 * a document must not promise what is not there. */
static void prepare(const struct execution *x, struct prepared *p)
{
	const char *error = run_result(x->run)->error;

	p->status = status_of(x);
	p->selected = x->plan->graph->output && status_ok(p->status);
	p->output = p->selected ? NULL : run_output(x->run);
	buf_adds(&p->error, error ? error : "");
	if (p->recorded.len)
		return;
	if (content_size(p->output) <= STDOUT_MAX || find_recorded(x, p))
		return;
	AUTO_CLOSE int fd = file_temp_named("roux-stdout-", &p->path);
	int r = fd < 0 ? fd : content_write(p->output, fd);
	if (r == 0)
		return;
	if (fd >= 0)
		(void)unlink(buf_cstr(&p->path));
	buf_reset(&p->path);
	buf_printf(&p->error, "cannot keep the output in %s: %s", file_temp_dir(), strerror(-r));
	p->status = ROUX_FAILED;
	p->output = NULL;
}

static void prepared_done(struct prepared *p)
{
	buf_done(&p->path);
	buf_done(&p->error);
}

static void write_stdout(struct writer *w, struct str text)
{
	if (utf8_valid(text)) {
		buf_adds(w->b, ",\"stdout\":");
		json_write_str(w->b, text);
		return;
	}
	buf_adds(w->b, ",\"stdout\":null,\"stdout_base64\":\"");
	base64_write(w->b, text);
	buf_addc(w->b, '"');
}

static void write_selected(struct writer *w, const struct execution *x)
{
	struct arena a = ARENA_INIT;

	buf_adds(w->b, "{\"name\":");
	json_write_str(w->b, mask_text(x->mask, x->plan->graph->output_raw, &a));
	buf_adds(w->b, ",\"path\":");
	json_write_str(w->b, mask_text(x->mask, buf_str(&x->plan->output), &a));
	buf_addc(w->b, '}');
	arena_done(&a);
}

static void write_output(struct writer *w, const struct execution *x, const struct prepared *p)
{
	const struct buf *value = &x->plan->output;
	AUTO_BUF text = BUF_INIT;

	if (p->recorded.len) {
		buf_adds(w->b, ",\"stdout_path\":");
		json_write_str(w->b, p->recorded);
		buf_adds(w->b, ",\"output\":");
		if (p->selected)
			write_selected(w, x);
		else
			buf_adds(w->b, "null");
		return;
	}
	if (p->selected) {
		write_stdout(w, buf_str(value));
		buf_adds(w->b, ",\"output\":");
		write_selected(w, x);
		return;
	}
	if (p->path.len) {
		buf_adds(w->b, ",\"stdout\":null,\"stdout_path\":");
		json_write_str(w->b, buf_str(&p->path));
	} else {
		int r = content_head(p->output, STDOUT_MAX, &text);

		w->error = w->error ? w->error : r;
		write_stdout(w, buf_str(&text));
	}
	buf_adds(w->b, ",\"output\":null");
}

/* The place of a mistake in the recipe, or of a value in it, that ended the run; empty: none did.
 */
static void mistake_place(const struct run_result *res, struct buf *b)
{
	vec_each (i, &res->issues->issues) {
		if (!issue_is_error(i))
			continue;
		if (i->kind == ISSUE_INVALID && i->file.len)
			buf_printf(b, "%.*s:%zu:%zu", STR(i->file), i->line, i->column);
		return;
	}
}

/* For a rerun: what failed it, and the group around that which was tried again. A mistake is kept
 * with the recipe, so neither a resume nor a rerun helps. */
static void write_failed_nodes(struct buf *b, const struct run_result *res)
{
	AUTO_BUF mistake = BUF_INIT;

	mistake_place(res, &mistake);
	if (mistake.len) {
		buf_adds(b, ",\"mistake\":");
		json_write_str(b, buf_str(&mistake));
	}
	if (res->failed.len) {
		buf_adds(b, ",\"failed_node\":");
		json_write_str(b, res->failed);
	}
	if (res->retried.len) {
		buf_adds(b, ",\"retried_node\":");
		json_write_str(b, res->retried);
	}
}

/* What the engine keeps of a long text is cut somewhere, but not within a character. */
enum { CUT_MAX = 8 };

static struct str shown_part(struct mask *m, struct str text, enum mask_cut cut, struct arena *a)
{
	bool whole = text.len + CUT_MAX < FAILURE_TEXT_MAX;

	return mask_part(m, text, whole ? 0 : cut, a);
}

static void write_failures(
	struct writer *w, const struct failures *f, struct mask *mask, struct arena *a)
{
	struct buf *b = w->b;
	bool first = true;

	buf_adds(b, ",\"failures\":[");
	vec_each (failure, &f->kept) {
		buf_adds(b, first ? "{\"path\":" : ",{\"path\":");
		first = false;
		json_write_str(b, failure->path);
		buf_adds(b, ",\"label\":");
		json_write_str_or_null(b, mask_text(mask, failure->label, a));
		if (failure->item.len) {
			buf_adds(b, ",\"item\":");
			json_write_str(b, mask_text(mask, failure->item, a));
		}
		buf_adds(b, ",\"command\":");
		json_write_str(b, shown_part(mask, failure->command, MASK_CUT_BACK, a));
		buf_printf(b, ",\"code\":%d,\"signal\":", failure->code);
		if (failure->signal)
			buf_printf(b, "%d", failure->signal);
		else
			buf_adds(b, "null");
		buf_printf(b,
			",\"timeout\":%s,\"attempt\":%" PRIu64 ",\"tolerated\":%s,\"stderr\":",
			failure->timeout ? "true" : "false", failure->attempt,
			failure->tolerated ? "true" : "false");
		json_write_str(b, shown_part(mask, failure->err, MASK_CUT_FRONT, a));
		buf_adds(b, ",\"stdout\":");
		json_write_str(b, shown_part(mask, failure->out, MASK_CUT_FRONT, a));
		if (failure->host.len) {
			buf_adds(b, ",\"host\":");
			json_write_str(b, failure->host);
		}
		if (failure->lost)
			buf_adds(b, ",\"lost\":true");
		buf_adds(b, failure->overcome ? ",\"succeeded_later\":true}" : "}");
		flush(w, FLUSH_AT);
	}
	buf_printf(b, "],\"failures_total\":%" PRIu64, f->total);
}

static void write_branch(
	struct writer *w, const struct join *j, size_t i, struct mask *mask, struct buf *text)
{
	const struct branch *branch = &j->branches.at[i];
	struct buf *b = w->b;
	struct arena a = ARENA_INIT;

	buf_reset(text);
	if (j->copies)
		node_path_copy(text, j->path, i);
	else
		node_path_child(text, j->path, i);
	buf_adds(b, "{\"path\":");
	json_write_str(b, buf_str(text));
	buf_reset(text);
	join_label(j, i, text);
	buf_adds(b, ",\"label\":");
	json_write_str(b, mask_text(mask, buf_str(text), &a));
	arena_done(&a);
	buf_printf(b,
		",\"status\":\"%s\",\"code\":%d,\"stdout_bytes\":%" PRIu64 ",\"ms\":%" PRIu32 "}",
		branch_status_name(branch->status), branch->code, branch->stdout_bytes, branch->ms);
	flush(w, FLUSH_AT);
}

static void write_branches(struct writer *w, const struct join_list *joins, struct mask *mask)
{
	uint64_t expected = 0, done = 0;
	AUTO_BUF text = BUF_INIT;

	buf_adds(w->b, ",\"branches\":[");
	for (size_t k = 0; k < joins->len; k++) {
		const struct join *j = joins->at[k];

		for (size_t i = 0; i < j->branches.len; i++) {
			if (j->branches.at[i].status == BRANCH_PENDING)
				continue;
			if (expected++)
				buf_addc(w->b, ',');
			done += j->branches.at[i].status == BRANCH_DONE;
			write_branch(w, j, i, mask, &text);
		}
	}
	buf_adds(w->b, "],\"coverage\":");
	if (!expected) {
		buf_adds(w->b, "null");
		return;
	}
	buf_printf(w->b,
		"{\"expected\":%" PRIu64 ",\"done\":%" PRIu64 ",\"failed\":%" PRIu64
		",\"coverage\":%.3f,\"degraded\":%s,\"usable\":%s}",
		expected, done, expected - done, (double)done / (double)expected,
		done < expected ? "true" : "false", done ? "true" : "false");
}

/* Warnings are sentences here: the place is part of them. */
static void write_warnings(struct buf *b, const struct report *r, struct mask *mask, bool *first)
{
	struct arena a = ARENA_INIT;

	vec_each (i, &r->issues) {
		AUTO_BUF line = BUF_INIT;

		if (issue_is_error(i))
			continue;
		if (i->file.len)
			buf_printf(&line, "%.*s:%zu:%zu: ", STR(i->file), i->line, i->column);
		buf_add(&line, i->message);
		if (!*first)
			buf_addc(b, ',');
		*first = false;
		json_write_str(b, mask_text(mask, buf_str(&line), &a));
	}
	arena_done(&a);
}

/* The run's artifacts as they were resolved when it started. */
static void write_artifacts(struct buf *b, const json_t *artifacts, struct mask *mask)
{
	AUTO_JSON *shown = artifacts ? mask_json(mask, artifacts) : NULL;

	buf_adds(b, ",\"artifacts\":");
	if (shown)
		json_write(b, shown, 0);
	else
		buf_adds(b, "{}");
}

/* Variables that the request or the recipe declares secret are shown as ***, and so is the text of
 * a secret in others. Nothing takes a variable from here: a resume sets them again. */
static void write_context(struct buf *b, const struct execution *x, const json_t *vars)
{
	AUTO_JSON *secrets = x->launch ? secret_names(x->launch) : NULL;
	AUTO_JSON *shown = json_object();
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)vars, name, value)
	{
		if (json_object_get(secrets, name))
			json_object_set_new_nocheck(shown, name, json_string(MASKED));
		else
			json_object_set_new_nocheck(shown, name, mask_value(x->mask, value));
	}
	json_write_typed(b, shown, 0);
}

/* The result leaves out where a step stands in the graph. */
static void write_step_list(struct buf *b, const json_t *steps)
{
	static const char *const members[] = { "id", "status", "code", "attempts", "ms" };

	buf_addc(b, '[');
	for (size_t i = 0; i < json_array_size(steps); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(members); k++) {
			buf_printf(b, "%s\"%s\":", k ? "," : i ? ",{" : "{", members[k]);
			json_write(b, json_object_get(json_array_get(steps, i), members[k]), 0);
		}
		buf_addc(b, '}');
	}
	buf_addc(b, ']');
}

static void write_steps(
	struct buf *b, const struct execution *x, const struct run_result *res, struct arena *a)
{
	buf_adds(b, ",\"context\":");
	write_context(b, x, res->vars);
	buf_adds(b, ",\"steps\":");
	write_step_list(b, res->steps);
	buf_adds(b, ",\"skipped\":");
	json_write(b, res->skipped, 0);
	if (res->status != RUN_PAUSED)
		return;
	buf_adds(b, ",\"pending_approval\":{\"stage\":");
	json_write_str(b, res->gate);
	buf_adds(b, ",\"prompt\":");
	json_write_str(b, mask_text(x->mask, res->prompt, a));
	buf_adds(b, ",\"since\":\"");
	clock_rfc3339(b, res->gate_since_ms);
	buf_printf(b, "\",\"timeout\":%" PRIu64 ",\"default\":\"%s\"}", res->gate_timeout_ms / 1000,
		res->gate_approves ? "approve" : "deny");
}

static int document(const struct execution *x, struct prepared *prepared, struct buf *b, int fd)
{
	const struct run_result *res = run_result(x->run);
	struct prepared p = *prepared;
	struct writer w = { .b = b, .fd = fd };
	struct arena a = ARENA_INIT;
	bool first = true;

	buf_printf(b,
		"{\"ok\":%s,\"status\":\"%s\",\"run\":", status_ok(p.status) ? "true" : "false",
		status_name(p.status));
	json_write_str_or_null(b, str_of(x->id));
	buf_printf(b, ",\"code\":%d,\"failed\":%" PRIu64 ",\"tolerated\":%" PRIu64 ",\"exit\":%d",
		res->code, res->tally.failed, res->tally.tolerated,
		status_exit_after(p.status, res->tally.failed, res->signal));
	write_output(&w, x, &p);
	buf_adds(b, ",\"error\":");
	json_write_str_or_null(b, mask_text(x->mask, buf_str(&p.error), &a));
	if (p.status == ROUX_INVALID) {
		buf_adds(b, ",\"errors\":");
		issues_json(res->issues, REPORT_ERRORS, b);
	}
	write_failures(&w, res->failures, x->mask, &a);
	write_branches(&w, res->joins, x->mask);
	write_artifacts(b, x->artifacts, x->mask);
	if (res->vars)
		write_steps(b, x, res, &a);
	buf_adds(b, ",\"warnings\":[");
	write_warnings(b, &x->plan->graph->warnings, x->mask, &first);
	write_warnings(b, res->issues, x->mask, &first);
	buf_printf(b, "],\"ms\":%" PRIu64, res->ms);
	if (p.ended_ms) {
		write_failed_nodes(b, res);
		if (x->launch && x->launch->subject.artifacts) {
			AUTO_JSON *manifest = launch_manifest(x->launch);
			AUTO_JSON *shown = mask_json(x->mask, manifest);

			buf_adds(b, ",\"manifest\":");
			json_write(b, shown, 0);
		}
		if (p.cut_short)
			buf_adds(b, ",\"cut_short\":true");
		if (x->input_cut)
			buf_adds(b, ",\"input_cut\":true");
		buf_adds(b, ",\"ended\":\"");
		clock_rfc3339(b, p.ended_ms);
		buf_addc(b, '"');
	}
	buf_adds(b, "}\n");
	flush(&w, 0);
	arena_done(&a);
	return w.error;
}

int result_exit(const struct run_result *res)
{
	return status_exit_after((enum roux_status)res->status, res->tally.failed, res->signal);
}

int result_document(const struct execution *x, struct buf *b, int fd, enum roux_status *status)
{
	struct prepared p = { 0 };

	prepare(x, &p);
	*status = p.status;
	int r = document(x, &p, b, fd);
	prepared_done(&p);
	return r;
}

/* What could not be written is the reason only of a run that would have ended well: the first
 * reason is the true one. */
static void prepare_end(const struct execution *x, const struct result_end *end, struct prepared *p)
{
	prepare(x, p);
	if (end->why.len && (!p->error.len || p->status != end->status)) {
		buf_reset(&p->error);
		buf_add(&p->error, end->why);
		p->cut_short = true;
	}
	p->status = end->status;
}

void result_record(const struct execution *x, const struct result_end *end, struct buf *b)
{
	struct prepared p = { .recorded = end->stdout_path, .ended_ms = end->ended_ms };

	prepare_end(x, end, &p);
	(void)document(x, &p, b, -1);
	prepared_done(&p);
}

/* A reason that is longer is cut: a result that is too long is not written at all. */
enum { SHORT_ERROR = 400 };

void result_short(const struct execution *x, const struct result_end *end, struct buf *b)
{
	const struct run_result *res = run_result(x->run);
	struct prepared p = { .recorded = end->stdout_path };
	struct arena a = ARENA_INIT;

	prepare_end(x, end, &p);
	buf_printf(b,
		"{\"ok\":%s,\"status\":\"%s\",\"run\":", status_ok(end->status) ? "true" : "false",
		status_name(end->status));
	json_write_str_or_null(b, str_of(x->id));
	buf_printf(b, ",\"code\":%d,\"stdout_path\":", res->code);
	json_write_str(b, end->stdout_path);
	buf_adds(b, ",\"output\":null,\"error\":");
	json_write_str(b, utf8_cut(mask_text(x->mask, buf_str(&p.error), &a), SHORT_ERROR));
	if (x->input_cut)
		buf_adds(b, ",\"input_cut\":true");
	buf_printf(b,
		",\"branches\":[],\"coverage\":null,\"artifacts\":{},\"warnings\":[],"
		"\"cut_short\":true,\"ms\":%" PRIu64,
		res->ms);
	write_failed_nodes(b, res);
	buf_adds(b, ",\"ended\":\"");
	clock_rfc3339(b, end->ended_ms);
	buf_adds(b, "\"}\n");
	prepared_done(&p);
	arena_done(&a);
}

int result_write_output(const struct execution *x, int fd)
{
	if (x->plan->graph->output)
		return fd_write_all(fd, buf_str(&x->plan->output));
	return content_write_from(run_output(x->run), run_output_early(x->run), fd);
}

bool result_ends_line(const struct execution *x)
{
	AUTO_BUF last = BUF_INIT;

	if (x->plan->graph->output)
		buf_add(&last, buf_str(&x->plan->output));
	else
		(void)content_tail(run_output(x->run), 1, &last);
	return !last.len || last.p[last.len - 1] == '\n';
}

/* -- what a person is shown ----------------------------------------------------------------------
 */

static json_t *failure_summary(const struct failure *f, struct mask *mask, struct arena *a)
{
	json_t *s = json_object();

	json_object_set_new(s, "path", json_from_str(f->path));
	json_object_set_new(s, "label",
		f->label.len ? json_from_str(mask_text(mask, f->label, a)) : json_null());
	if (f->item.len)
		json_object_set_new(s, "item", json_from_str(mask_text(mask, f->item, a)));
	json_object_set_new(
		s, "command", json_from_str(shown_part(mask, f->command, MASK_CUT_BACK, a)));
	json_object_set_new(s, "code", json_integer(f->code));
	json_object_set_new(s, "signal", f->signal ? json_integer(f->signal) : json_null());
	json_object_set_new(s, "timeout", json_boolean(f->timeout));
	json_object_set_new(s, "attempt", json_integer((json_int_t)f->attempt));
	json_object_set_new(s, "tolerated", json_boolean(f->tolerated));
	if (f->overcome)
		json_object_set_new(s, "succeeded_later", json_true());
	json_object_set_new(
		s, "stderr", json_from_str(shown_part(mask, f->err, MASK_CUT_FRONT, a)));
	json_object_set_new(
		s, "stdout", json_from_str(shown_part(mask, f->out, MASK_CUT_FRONT, a)));
	return s;
}

json_t *result_summary(const struct execution *x)
{
	const struct run_result *res = run_result(x->run);
	struct arena a = ARENA_INIT;
	json_t *s = json_object(), *failures = json_array();
	AUTO_BUF mistake = BUF_INIT;

	json_object_set_new(s, "status", json_string(status_name(status_of(x))));
	json_object_set_new(s, "run", x->id ? json_string(x->id) : json_null());
	json_object_set_new(s, "error",
		res->error ? json_from_str(mask_text(x->mask, str_of(res->error), &a))
			   : json_null());
	vec_each (f, &res->failures->kept)
		json_array_append_new(failures, failure_summary(f, x->mask, &a));
	json_object_set_new(s, "failures", failures);
	json_object_set_new(s, "failures_total", json_integer((json_int_t)res->failures->total));
	json_object_set_new(s, "failed", json_integer((json_int_t)res->tally.failed));
	json_object_set_new(s, "tolerated", json_integer((json_int_t)res->tally.tolerated));
	json_object_set_new(s, "exit", json_integer(result_exit(res)));
	json_object_set_new(
		s, "failed_node", res->failed.len ? json_from_str(res->failed) : json_null());
	mistake_place(res, &mistake);
	if (mistake.len)
		json_object_set_new(s, "mistake", json_from_str(buf_str(&mistake)));
	if (x->input_cut)
		json_object_set_new(s, "input_cut", json_true());
	if (x->launch && x->launch->subject.recipe)
		json_object_set_new(
			s, "recipe_path", json_from_str(x->launch->subject.recipe->file->path));
	if (res->status == RUN_PAUSED)
		json_object_set_new(s, "pending_approval",
			json_pack("{s:o, s:o}", "stage", json_from_str(res->gate), "prompt",
				json_from_str(mask_text(x->mask, res->prompt, &a))));
	arena_done(&a);
	return s;
}
