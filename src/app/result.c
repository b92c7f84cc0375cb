#include "app/result.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/issues.h"
#include "app/secrets.h"
#include "app/start.h"
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

/* What has to be known before the first word of the document is written. */
struct prepared {
	enum roux_status status;
	bool selected;          /* the output is a value */
	struct content *output; /* else the run's own */
	struct str recorded;    /* the file of the run's directory that has it; empty: none */
	uint64_t ended_ms;      /* … and when it ended */
	struct buf path;        /* a file with all of it, the caller's or the run's; empty: none */
	struct buf error;
};

/* A recorded run has the file already, unless its disk was full. */
static bool find_recorded(struct roux_run *run, struct prepared *p)
{
	const struct launch *l = run->options.launch;
	struct stat st;

	if (!l)
		return false;
	buf_printf(&p->path, "%.*s/stdout.log", STR(l->dir));
	if (stat(buf_cstr(&p->path), &st) == 0 && (uint64_t)st.st_size == content_size(p->output))
		return true;
	buf_reset(&p->path);
	return false;
}

/* Past a limit the output goes to a file. When that cannot be written the run has failed after all:
 * a document must not promise what is not there. */
static void prepare(struct roux_run *run, struct prepared *p)
{
	const char *error = run_result(run->run)->error;

	p->status = start_status(run);
	p->selected = run->plan->graph->output && status_ok(p->status);
	p->output = p->selected ? NULL : run_output(run->run);
	buf_adds(&p->error, error ? error : "");
	if (p->recorded.len)
		return;
	if (content_size(p->output) <= STDOUT_MAX || find_recorded(run, p))
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

static void write_selected(struct writer *w, const struct roux_run *run)
{
	buf_adds(w->b, "{\"name\":");
	json_write_str(w->b, run->plan->graph->output_raw);
	buf_adds(w->b, ",\"path\":");
	json_write_str(w->b, buf_str(&run->plan->output));
	buf_addc(w->b, '}');
}

static void write_output(struct writer *w, const struct roux_run *run, const struct prepared *p)
{
	const struct buf *value = &run->plan->output;
	AUTO_BUF text = BUF_INIT;

	if (p->recorded.len) {
		buf_adds(w->b, ",\"stdout_path\":");
		json_write_str(w->b, p->recorded);
		buf_adds(w->b, ",\"output\":");
		if (p->selected)
			write_selected(w, run);
		else
			buf_adds(w->b, "null");
		return;
	}
	if (p->selected) {
		write_stdout(w, buf_str(value));
		buf_adds(w->b, ",\"output\":");
		write_selected(w, run);
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

static void write_failures(
	struct writer *w, const struct failures *f, const struct mask *mask, struct arena *a)
{
	struct buf *b = w->b;
	bool first = true;

	buf_adds(b, ",\"failures\":[");
	vec_each (failure, &f->kept) {
		buf_adds(b, first ? "{\"path\":" : ",{\"path\":");
		first = false;
		json_write_str(b, failure->path);
		buf_adds(b, ",\"label\":");
		json_write_str_or_null(b, failure->label);
		buf_adds(b, ",\"command\":");
		json_write_str(b, mask_text(mask, failure->command, a));
		buf_printf(b, ",\"code\":%d,\"signal\":", failure->code);
		if (failure->signal)
			buf_printf(b, "%d", failure->signal);
		else
			buf_adds(b, "null");
		buf_printf(b,
			",\"timeout\":%s,\"attempt\":%" PRIu64 ",\"tolerated\":%s,\"stderr\":",
			failure->timeout ? "true" : "false", failure->attempt,
			failure->tolerated ? "true" : "false");
		json_write_str(b, failure->err);
		buf_addc(b, '}');
		flush(w, FLUSH_AT);
	}
	buf_printf(b, "],\"failures_total\":%" PRIu64, f->total);
}

static void write_branch(struct writer *w, const struct join *j, size_t i, struct buf *text)
{
	const struct branch *branch = &j->branches.at[i];
	struct buf *b = w->b;

	buf_reset(text);
	if (j->node->kind == NODE_EACH)
		node_path_copy(text, j->path, i);
	else
		node_path_child(text, j->path, i);
	buf_adds(b, "{\"path\":");
	json_write_str(b, buf_str(text));
	buf_reset(text);
	join_label(j, i, text);
	buf_adds(b, ",\"label\":");
	json_write_str(b, buf_str(text));
	buf_printf(b,
		",\"status\":\"%s\",\"code\":%d,\"stdout_bytes\":%" PRIu64 ",\"ms\":%" PRIu32 "}",
		branch_status_name(branch->status), branch->code, branch->stdout_bytes, branch->ms);
	flush(w, FLUSH_AT);
}

static void write_branches(struct writer *w, const struct join_list *joins)
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
			write_branch(w, j, i, &text);
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
static void write_warnings(struct buf *b, const struct report *r, bool *first)
{
	vec_each (i, &r->issues) {
		AUTO_BUF line = BUF_INIT;

		if (i->kind != ISSUE_WARNING)
			continue;
		if (i->file.len)
			buf_printf(&line, "%.*s:%zu:%zu: ", STR(i->file), i->line, i->column);
		buf_add(&line, i->message);
		if (!*first)
			buf_addc(b, ',');
		*first = false;
		json_write_str(b, buf_str(&line));
	}
}

/* The run's artifacts as they were resolved when it started. */
static void write_artifacts(struct buf *b, const json_t *artifacts)
{
	buf_adds(b, ",\"artifacts\":");
	if (artifacts)
		json_write(b, artifacts, 0);
	else
		buf_adds(b, "{}");
}

/* Secrets that somebody named are no part of what a run came to. */
static void write_context(struct buf *b, const struct roux_run *run, const json_t *vars)
{
	AUTO_JSON *shown = json_object();
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)vars, name, value)
	{
		if (run->options.launch && secret_declared(run->options.launch, str_of(name)))
			json_object_set_new_nocheck(shown, name, json_string("***"));
		else
			json_object_set_nocheck(shown, name, value);
	}
	json_write_typed(b, shown, 0);
}

/* Where a step stands in the graph is nobody's business here. */
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
	struct buf *b, const struct roux_run *run, const struct run_result *res, struct arena *a)
{
	buf_adds(b, ",\"context\":");
	write_context(b, run, res->vars);
	buf_adds(b, ",\"steps\":");
	write_step_list(b, res->steps);
	buf_adds(b, ",\"skipped\":");
	json_write(b, res->skipped, 0);
	if (res->status != RUN_PAUSED)
		return;
	buf_adds(b, ",\"pending_approval\":{\"stage\":");
	json_write_str(b, res->gate);
	buf_adds(b, ",\"prompt\":");
	json_write_str(b, mask_text(run->options.mask, res->prompt, a));
	buf_adds(b, ",\"since\":\"");
	clock_rfc3339(b, res->gate_since_ms);
	buf_printf(b, "\",\"timeout\":%" PRIu64 ",\"default\":\"%s\"}", res->gate_timeout_ms / 1000,
		res->gate_approves ? "approve" : "deny");
}

static int document(struct roux_run *run, struct prepared *prepared, struct buf *b, int fd)
{
	const struct run_result *res = run_result(run->run);
	struct prepared p = *prepared;
	struct writer w = { .b = b, .fd = fd };
	struct arena a = ARENA_INIT;
	bool first = true;

	buf_printf(b,
		"{\"ok\":%s,\"status\":\"%s\",\"run\":", status_ok(p.status) ? "true" : "false",
		status_name(p.status));
	json_write_str_or_null(b, str_of(run->options.base.as));
	buf_printf(b, ",\"code\":%d", res->code);
	write_output(&w, run, &p);
	buf_adds(b, ",\"error\":");
	json_write_str_or_null(b, mask_text(run->options.mask, buf_str(&p.error), &a));
	if (p.status == ROUX_INVALID) {
		buf_adds(b, ",\"errors\":");
		issues_json(res->issues, REPORT_ERRORS, b);
	}
	write_failures(&w, res->failures, run->options.mask, &a);
	write_branches(&w, res->joins);
	write_artifacts(b, run->options.artifacts);
	if (res->vars)
		write_steps(b, run, res, &a);
	buf_adds(b, ",\"warnings\":[");
	write_warnings(b, &run->plan->graph->warnings, &first);
	write_warnings(b, res->issues, &first);
	buf_printf(b, "],\"ms\":%" PRIu64, res->ms);
	if (p.ended_ms) {
		if (res->failed.len) {
			buf_adds(b, ",\"failed_node\":");
			json_write_str(b, res->failed);
		}
		if (res->retried.len) {
			buf_adds(b, ",\"retried_node\":");
			json_write_str(b, res->retried);
		}
		/* Otherwise it can be counted. */
		if (res->failures->total > res->failures->kept.len)
			buf_printf(b, ",\"untolerated\":%" PRIu64, res->untolerated);
		if (run->options.launch && run->options.launch->artifacts) {
			AUTO_JSON *manifest = launch_manifest(run->options.launch);

			buf_adds(b, ",\"manifest\":");
			json_write(b, manifest, 0);
		}
		buf_adds(b, ",\"ended\":\"");
		clock_rfc3339(b, p.ended_ms);
		buf_addc(b, '"');
	}
	buf_adds(b, "}\n");
	flush(&w, 0);
	arena_done(&a);
	return w.error;
}

int result_document(struct roux_run *run, struct buf *b, int fd, enum roux_status *status)
{
	struct prepared p = { 0 };

	prepare(run, &p);
	*status = p.status;
	int r = document(run, &p, b, fd);
	prepared_done(&p);
	return r;
}

void result_record(struct roux_run *run, struct str stdout_path, uint64_t ended_ms, struct buf *b)
{
	struct prepared p = { .recorded = stdout_path, .ended_ms = ended_ms };

	prepare(run, &p);
	(void)document(run, &p, b, -1);
	prepared_done(&p);
}

int result_write_output(struct roux_run *run, int fd)
{
	if (!status_ok(start_status(run)))
		return 0;
	if (run->plan->graph->output)
		return fd_write_all(fd, buf_str(&run->plan->output));
	return content_write(run_output(run->run), fd);
}

/* -- for people ----------------------------------------------------------------------------------
 */

enum { SHOWN_FAILURES = 20, SHOWN_LINES = 12, SHOWN_COMMAND = 100 };

static void indented(struct buf *b, struct str text)
{
	size_t from = text.len, lines = 0;

	while (from && text.p[text.len - 1] == '\n' && text.len)
		from = --text.len;
	/* The last lines say what went wrong. */
	while (from && lines < SHOWN_LINES) {
		from--;
		if (text.p[from] == '\n' && ++lines == SHOWN_LINES)
			from++;
		if (lines == SHOWN_LINES)
			break;
	}
	while (from < text.len) {
		size_t end = str_find(text, '\n', from);

		buf_adds(b, "    ");
		text_plain(b, str_sub(text, from, end - from));
		buf_addc(b, '\n');
		from = end + 1;
	}
}

static void failure_line(struct buf *b, const struct failure *f)
{
	buf_printf(b, "roux: [%.*s%s%.*s] ", STR(f->path), f->label.len ? " " : "", STR(f->label));
	if (f->timeout)
		buf_printf(b, "ran out of time (code %d)", f->code);
	else if (f->signal)
		buf_printf(b, "ended by signal %d (%s)", f->signal, strsignal(f->signal));
	else
		buf_printf(b, "failed with code %d", f->code);
	if (f->attempt > 1)
		buf_printf(b, ", attempt %" PRIu64, f->attempt);
	if (f->tolerated)
		buf_adds(b, ", tolerated");
	buf_adds(b, ": ");
	text_plain(b, utf8_head(f->command, SHOWN_COMMAND));
	buf_adds(b, utf8_count(f->command) > SHOWN_COMMAND ? "…\n" : "\n");
	indented(b, f->err.len ? f->err : f->out);
}

static void tell_result(struct roux_run *run, struct buf *b)
{
	const struct run_result *res = run_result(run->run);
	const struct failures *f = res->failures;
	size_t shown = 0;

	report_text(res->issues, REPORT_ALL, b);
	vec_each (failure, &f->kept) {
		if (shown++ == SHOWN_FAILURES)
			break;
		failure_line(b, failure);
	}
	if (f->total > SHOWN_FAILURES)
		buf_printf(b, "roux: and %" PRIu64 " more failures (--json lists them)\n",
			f->total - SHOWN_FAILURES);
	enum roux_status status = start_status(run);
	if (status == ROUX_PAUSED)
		buf_printf(b,
			"roux: paused at stage '%.*s': %.*s\nroux: `roux approve %s` or `roux deny "
			"%s`, then `roux resume %s`\n",
			STR(res->gate), STR(str_trim(res->prompt)), run->options.base.as,
			run->options.base.as, run->options.base.as);
	else if (status == ROUX_PARTIAL)
		buf_adds(b, "roux: warning: the run ended early: later steps were skipped after a "
			    "failure (exit status 3)\n");
	else if (status == ROUX_DENIED)
		buf_printf(b, "roux: %s\n", res->error);
	else if (status == ROUX_CANCELLED || status == ROUX_KILLED || status == ROUX_TIMEOUT)
		buf_printf(b, "roux: %s\n", res->error);
	else if (status == ROUX_DONE && res->untolerated)
		buf_printf(b,
			"roux: done, but %" PRIu64
			" failure%s passed over (exit status 3; --tolerate "
			"accepts that)\n",
			res->untolerated, res->untolerated == 1 ? " was" : "s were");
}

void result_text(struct roux_run *run, struct buf *b)
{
	AUTO_BUF text = BUF_INIT;
	struct arena a = ARENA_INIT;

	tell_result(run, &text);
	buf_add(b, mask_text(run->options.mask, buf_str(&text), &a));
	arena_done(&a);
}

bool result_ends_line(struct roux_run *run)
{
	AUTO_BUF last = BUF_INIT;
	struct str selected = buf_str(&run->plan->output);

	if (!status_ok(start_status(run)))
		return true;
	if (run->plan->graph->output)
		buf_add(&last, selected);
	else
		(void)content_tail(run_output(run->run), 1, &last);
	return !last.len || last.p[last.len - 1] == '\n';
}

int result_exit(const struct roux_run *run, bool strict, bool tolerate)
{
	const struct run_result *res = run_result(run->run);
	enum roux_status status = start_status(run);

	if (status == ROUX_CANCELLED && res->signal)
		return 128 + res->signal;
	if (status == ROUX_PARTIAL)
		return tolerate ? 0 : status_exit(status);
	if (status != ROUX_DONE)
		return status_exit(status);
	if (strict)
		return res->failures->total ? 3 : 0;
	return res->untolerated && !tolerate ? 3 : 0;
}
