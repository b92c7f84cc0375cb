#include "app/record/record-own.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/record/beginning.h"
#include "app/record/expected.h"
#include "app/record/files.h"
#include "app/record/freeze.h"
#include "app/record/mailbox.h"
#include "app/record/result.h"
#include "app/record/secrets.h"
#include "app/record/step-host.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/run-status.h"
#include "base/shell-words.h"
#include "loop/child.h"
#include "runs/dir/story.h"
#include "runs/mail/outbox.h"

enum { PROGRESS_MS = 200, SETTLE_MS = 1000, AGAIN_MS = 1000 };
/* What waits for room on a full disk is kept in memory up to here. */
enum { WAITING_MAX = 16 << 20 };

/* A command under way. */
struct leaf_note {
	struct list link;
	struct record *rec;
	struct buf path, before, after, command, label, item;
	uint64_t number;
	bool last;    /* what it prints is what the run prints */
	bool printed; /* something: there is a line of the story */
};

static struct record *record_of(struct recorder *r)
{
	return container_of(r, struct record, recorder);
}

/* -- progress ------------------------------------------------------------------------------------
 */

/* state.json of a step recipe. */
static int write_state(struct record *rec, const char *phase)
{
	AUTO_BUF text = BUF_INIT;

	if (!rec->steps || !rec->run)
		return 0;
	rec->checkpoints = true;
	steps_state(
		rec->steps, phase, run_result(rec->run), rec->before || rec->files.out >= 0, &text);
	return record_files_replace(&rec->files, "state.json", buf_str(&text));
}

int record_write_progress(struct record *rec, const char *phase)
{
	struct tally tally = rec->run ? run_tally(rec->run) : (struct tally){ 0 };

	int r = record_files_progress(
		&rec->files, &(struct record_progress){ .phase = phase,
				     .active = rec->active,
				     .completed = MAX(rec->completed, rec->recorded),
				     .failed = tally.failed + tally.tolerated,
				     .tolerated = tally.tolerated,
				     .expected = rec->expects ? &rec->expected : NULL });
	return r < 0 ? r : write_state(rec, phase);
}

/* Once is enough: after the first write that failed others will. */
static void failed(struct record *rec, const char *what, int error)
{
	if (rec->run && !rec->broken)
		run_abort(rec->run, what, -error);
	rec->broken |= rec->run != NULL;
}

static void try_again(struct record *rec)
{
	if (!timer_running(&rec->again))
		timer_start(rec->loop, &rec->again, AGAIN_MS);
}

/* Neither progress.json nor state.json is needed by the run: one that cannot be written now is
 * written later. */
static void on_progress(struct timer *t)
{
	struct record *rec = container_of(t, struct record, progress);
	const char *phase = status_name(ROUX_RUNNING);
	bool first = rec->steps && !rec->checkpoints;
	/* Most runs are over before the first look at their progress is due. */
	int r = first ? write_state(rec, phase) : record_write_progress(rec, phase);

	if (r < 0)
		try_again(rec);
	else if (first)
		timer_start(rec->loop, t, PROGRESS_MS);
}

/* On a full disk lines wait in memory. Past a limit, or when it is not that, the run ends. */
static void wait_or_fail(struct record *rec, const struct buf *lines, const char *what, int error)
{
	if (record_files_full(error) && lines->len < WAITING_MAX)
		try_again(rec);
	else
		failed(rec, what, error);
}

/* What has happened before the first command began waits until it has. */
static void flush_later(struct record *rec)
{
	if (rec->settled)
		deferred_start(rec->loop, &rec->flush);
}

static void on_flush(struct deferred *d)
{
	struct record *rec = container_of(d, struct record, flush);
	int r = record_files_flush(&rec->files);

	if (r < 0)
		wait_or_fail(rec, &rec->files.events_text, "cannot write events.jsonl", r);
}

int record_flush_outbox(struct record *rec)
{
	int r = 0;

	while (r == 0 && rec->outbox_lines.len) {
		struct str all = buf_str(&rec->outbox_lines);
		size_t end = str_find(all, '\n', 0);

		r = line_log_append(&rec->outbox, str_sub(all, 0, end));
		if (r == 0)
			buf_drop(&rec->outbox_lines, MIN(end + 1, all.len));
		if (r == 0 && rec->files.durable)
			r = lines_sync(rec->launch->claim.dir.p, OUTBOX_FILE);
	}
	return r;
}

/* Until these files are there, start.json has what they say. */
static void write_beginning(struct record *rec)
{
	AUTO_REPORT ignored = REPORT_INIT;

	if (rec->launch->claim.waits && !beginning_write(rec->launch, &ignored))
		try_again(rec);
}

static void on_again(struct timer *t)
{
	struct record *rec = container_of(t, struct record, again);

	write_beginning(rec);
	on_flush(&rec->flush);
	int r = record_flush_outbox(rec);
	if (r < 0)
		wait_or_fail(rec, &rec->outbox_lines, "cannot write outbox.jsonl", r);
	record_files_stderr_flush(&rec->files);
	if (!timer_running(&rec->progress))
		on_progress(&rec->progress);
}

/* -- the engine's recorder -----------------------------------------------------------------------
 */

static void count_end(void *data, struct str path UNUSED, const struct leaf_record *record)
{
	*(uint64_t *)data += record->ended && !record->cancelled;
}

static enum recalled recall(struct recorder *r, const struct leaf_key *key, struct leaf_recall *ret,
	struct report *issues)
{
	struct record *rec = record_of(r);
	const struct leaf_record *was = leaves_find(rec->before, key->path, key->number);

	if (!was || !was->ended || was->cancelled)
		return RECALL_NOTHING;
	if (!ret)
		return RECALL_DONE;
	ret->end = (struct leaf_end){
		.code = was->code,
		.signal = was->signal,
		.timed_out = was->timed_out,
		.limit = was->limit,
		.passed = was->passed,
		.lost = was->gone,
		.ok = was->code == 0 && !was->signal && !was->timed_out,
		.ms = was->ms,
		.out_bytes = was->out_bytes,
		.err_bytes = was->err_bytes,
	};
	if (record_files_recall(&rec->files, key->path, was, ret, issues))
		return RECALL_DONE;
	/* The run ends by that. What it has not come to is recorded all the same. */
	rec->recorded = 0;
	leaves_each(rec->before, count_end, &rec->recorded);
	return RECALL_FAILED;
}

static int open_output(void *data, enum job_stream stream)
{
	struct leaf_note *note = data;
	struct record_files *files = &note->rec->files;

	if (stream == JOB_STDOUT && note->last)
		return record_files_open_last(files, buf_str(&note->path), note->number);
	return record_files_open(files, buf_str(&note->path), note->number, stream == JOB_STDERR);
}

/* The file of a worker becomes the run's own. */
static int accept_output(void *data, enum job_stream stream, int dirfd, const char *name)
{
	struct leaf_note *note = data;

	return record_files_accept(&note->rec->files, buf_str(&note->path), note->number,
		&(struct record_file){
			dirfd, name, stream == JOB_STDERR, stream == JOB_STDOUT && note->last });
}

static int begin(struct recorder *r, const struct leaf_key *key, bool last, struct job_record *ret)
{
	struct record *rec = record_of(r);
	struct leaf_note *note = mem_new(struct leaf_note);
	uint64_t number = key->number + leaves_base(rec->before, key->path);

	note->rec = rec;
	note->number = number;
	note->last = last && !rec->launch->subject.graph->output;
	buf_add(&note->path, key->path);
	uint64_t now = clock_real_ms();
	leaf_start_parts(&note->before, &note->after, key->path, number, now);
	list_append(&rec->leaves, &note->link);
	*ret = (struct job_record){ .fd = rec->files.leaves,
		.before = buf_str(&note->before),
		.after = buf_str(&note->after),
		.open = open_output,
		.accept = accept_output,
		.last = note->last,
		.durable = rec->files.durable,
		.data = note };
	if (note->before.len + note->after.len <= CHILD_NOTE_TEXT)
		return 0;
	AUTO_BUF line = BUF_INIT;
	ret->fd = -1;
	leaf_start_line(&line, key->path, number, now);
	return record_files_line(&rec->files, buf_str(&line));
}

static void note_free(struct leaf_note *note)
{
	if (!note)
		return;
	list_remove(&note->link);
	buf_done(&note->path);
	buf_done(&note->before);
	buf_done(&note->after);
	buf_done(&note->command);
	buf_done(&note->label);
	buf_done(&note->item);
	free(note);
}

static void add_story(struct record *rec, struct leaf_note *note, enum story_kind kind, uint64_t n)
{
	rec->said_at = rec->files.story_text.len;
	story_write(&rec->files.story_text,
		&(struct story_line){ .kind = kind,
			.path = buf_str(&note->path),
			.number = note->number,
			.bytes = n,
			.label = note->printed ? S("") : buf_str(&note->label),
			.item = note->printed ? S("") : buf_str(&note->item) });
	note->printed = true;
	flush_later(rec);
}

/* What comes from one command in one turn of the loop is one line. */
static void printed(
	struct recorder *r, struct job_record *record, enum job_stream stream, uint64_t total)
{
	struct record *rec = record_of(r);
	struct leaf_note *note = record->data;

	if (!note)
		return;
	if (rec->said == note && rec->said_stream == stream && rec->files.story_text.len) {
		buf_truncate(&rec->files.story_text, rec->said_at);
		note->printed = rec->said_again;
	}
	rec->said = note;
	rec->said_stream = stream;
	rec->said_again = note->printed;
	add_story(rec, note, stream == JOB_STDOUT ? STORY_OUT : STORY_ERR, total);
}

/* Returns how many bytes it took. */
static uint64_t keep_why(struct record *rec, struct str path, uint64_t number,
	const struct leaf_note *note, struct str why)
{
	struct arena a = ARENA_INIT;
	struct str shown = mask_text(rec->mask, why, &a);
	uint64_t bytes = record_files_why(&rec->files,
		&(struct story_line){ .kind = STORY_ERR,
			.path = path,
			.number = number,
			.bytes = shown.len,
			.label = note ? buf_str(&note->label) : S(""),
			.item = note ? buf_str(&note->item) : S("") },
		shown);

	arena_done(&a);
	return bytes;
}

static int end(struct recorder *r, const struct leaf_key *key, struct job_record *record,
	const struct leaf_end *ended)
{
	struct record *rec = record_of(r);
	uint64_t number = key->number + leaves_base(rec->before, key->path);
	struct leaf_note *note = record->data;
	struct leaf_end with_why = *ended;
	const struct leaf_end *e = &with_why;

	if (e->why.len && !e->cancelled)
		with_why.err_bytes = keep_why(rec, key->path, number, note, e->why);

	if (note && note->last)
		rec->files.last_ok = e->ok;
	rec->said = NULL;
	if (note && note->printed)
		add_story(rec, note, STORY_END, 0);
	buf_reset(&rec->command);
	if (note)
		buf_add(&rec->command, buf_str(&note->command));
	rec->cancelled = e->cancelled || e->unkept;
	if (rec->mailbox)
		mailbox_look(rec->mailbox); /* what came before the end is reported before it */
	note_free(note);
	rec->files.torn |= record->failed;
	*record = (struct job_record){ .fd = -1 };
	int n = e->in_doubt ? 0 : record_files_leaf(&rec->files, key->path, number, e);
	if (rec->broken)
		return 0; /* it has been told, and what is not recorded is run again */
	rec->broken = n < 0;
	return n;
}

/* -- loops ---------------------------------------------------------------------------------------
 */

static int open_loop(struct recorder *r, struct str path)
{
	struct record *rec = record_of(r);
	AUTO_BUF line = BUF_INIT;

	if (!rec->before || leaves_closed(rec->before, path) || !leaves_forget(rec->before, path))
		return 0;
	leaf_forget_line(&line, path, clock_real_ms());
	return record_files_line(&rec->files, buf_str(&line));
}

static int close_loop(struct recorder *r, struct str path)
{
	struct record *rec = record_of(r);
	AUTO_BUF line = BUF_INIT;

	if (leaves_closed(rec->before, path))
		return 0;
	leaf_closed_line(&line, path, clock_real_ms());
	return record_files_line(&rec->files, buf_str(&line));
}

static int keep_input(struct recorder *r)
{
	return record_files_stdin(&record_of(r)->files);
}

static void input_complete(struct recorder *r)
{
	record_files_stdin_complete(&record_of(r)->files);
}

static void input_taken(struct recorder *r, uint64_t bytes, bool enough)
{
	record_files_stdin_taken(&record_of(r)->files, bytes, enough);
}

static const struct recorder_ops ops = { .recall = recall,
	.begin = begin,
	.printed = printed,
	.end = end,
	.keep_input = keep_input,
	.input_complete = input_complete,
	.input_taken = input_taken,
	.open = open_loop,
	.close = close_loop };

/* -- messages ------------------------------------------------------------------------------------
 */

static void on_message(void *data, struct str id, size_t bytes)
{
	struct record *rec = data;

	if (rec->run)
		run_told(rec->run, id, bytes);
}

/* What the coordinator hears of every command that has ended by itself. */
static void tell_done(struct record *rec, const struct event *e)
{
	AUTO_BUF line = BUF_INIT;

	if (rec->cancelled)
		return;
	command_done_line(&line, &rec->ends,
		&(struct command_done){
			.path = e->path,
			.label = e->label,
			.command = buf_str(&rec->command),
			.attempt = (unsigned)e->attempt,
			.code = e->end.code,
			.killed = e->end.timeout,
			.others = rec->active,
			.ms = e->end.ms,
			.artifacts = rec->artifacts,
		});
	buf_add(&rec->outbox_lines, buf_str(&line));
	buf_addc(&rec->outbox_lines, '\n');
	int r = record_flush_outbox(rec);
	if (r < 0)
		wait_or_fail(rec, &rec->outbox_lines, "cannot write outbox.jsonl", r);
}

/* The note of the command that is just starting. */
static void keep_command(struct record *rec, const struct event *e)
{
	struct leaf_note *note = NULL;
	size_t n = 0;

	/* It is the last one, unless it was handed over before others and begins now. */
	for (struct list *link = rec->leaves.prev; link != &rec->leaves; link = link->prev) {
		note = list_entry(link, struct leaf_note, link);
		if (!note->command.len && str_eq(buf_str(&note->path), e->path))
			break;
		note = NULL;
	}
	if (!note)
		return;
	while (e->argv[n])
		n++;
	command_display(&note->command, e->argv, n);
	buf_add(&note->label, e->label);
	buf_add(&note->item, e->item);
}

/* -- events --------------------------------------------------------------------------------------
 */

static void count(struct record *rec, const struct event *e)
{
	if (e->kind == EVENT_COMMAND_START) {
		rec->active++;
	} else if (e->kind == EVENT_COMMAND_DONE) {
		rec->active -= rec->active > 0; /* one that was adopted was told before */
		rec->completed += !rec->cancelled;
	} else if (e->kind == EVENT_NODE_REUSED) {
		rec->completed++;
	} else if (!event_is_step(e->kind)) {
		return;
	}
	/* The first checkpoint of a step recipe is there before its first step has ended. */
	bool first = rec->steps && !rec->checkpoints;
	if (!timer_running(&rec->progress))
		timer_start(rec->loop, &rec->progress, first ? 0 : PROGRESS_MS);
}

void record_event(struct record *rec, struct run *run, const struct event *e)
{
	rec->run = run;
	if (e->kind == EVENT_COMMAND_OUTPUT) {
		if (e->output.is_stderr)
			record_files_stderr(&rec->files, e);
		if (rec->files.errors_text.len)
			try_again(rec);
		return;
	}
	if (!event_name(e->kind))
		return;
	if (e->kind == EVENT_RUN_CANCEL || e->kind == EVENT_RUN_KILL)
		rec->handled = event_name(e->kind);
	/* Who reads of the end can read the output. */
	if (e->kind == EVENT_RUN_DONE || e->kind == EVENT_RUN_FAILED) {
		rec->lost = record_files_output(&rec->files, rec->launch, run);
	}
	count(rec, e);
	if (e->kind == EVENT_COMMAND_START)
		keep_command(rec, e);
	if (e->kind == EVENT_COMMAND_DONE) {
		record_files_stderr_end(&rec->files, e);
		tell_done(rec, e);
	}
	event_json(e, &rec->files.events_text);
	buf_addc(&rec->files.events_text, '\n');
	rec->seq = e->seq;
	/* What led to a command is on the disk before it begins. */
	if (rec->files.durable && e->kind == EVENT_COMMAND_START)
		record_flush(rec);
	else
		flush_later(rec);
}

/* -- beginning and end ---------------------------------------------------------------------------
 */

void record_steps(struct record *rec, const struct steps_run *steps)
{
	rec->steps = steps;
}

void record_hide(struct record *rec, struct mask *m)
{
	rec->mask = m;
}

void record_settle(struct record *rec)
{
	if (rec->settled)
		return;
	rec->settled = true;
	write_beginning(rec);
	on_flush(&rec->flush);
	/* Only readers need these: they are made when something is written to them, if not now. */
	(void)record_files_open_rest(&rec->files);
	(void)line_log_open(&rec->outbox);
	record_files_prepare(&rec->files);
	/* A file that is not there is found missing sooner the second time. */
	if (rec->mailbox)
		mailbox_look(rec->mailbox);
}

void record_rest(struct record *rec)
{
	mailbox_stop(rec->mailbox);
	rec->mailbox = NULL;
}

void record_ring(struct record *rec)
{
	mailbox_look(rec->mailbox);
}

struct recorder *record_recorder(struct record *rec)
{
	return &rec->recorder;
}

void record_flush(struct record *rec)
{
	deferred_stop(&rec->flush);
	on_flush(&rec->flush);
}

uint64_t record_seq(const struct record *rec)
{
	return rec->seq;
}

static bool report_lost(const struct record *rec, int error, struct report *r)
{
	return report_errno(
		r, -error, "cannot write in the run's directory %.*s", STR(rec->launch->claim.dir));
}

struct record *record_open(
	struct launch *l, struct loop *loop, struct leaves *before, struct report *r)
{
	struct record *rec = mem_new(struct record);

	rec->recorder.ops = &ops;
	rec->launch = l;
	rec->loop = loop;
	rec->before = before;
	rec->progress.fire = on_progress;
	rec->again.fire = on_again;
	rec->flush.call = on_flush;
	list_init(&rec->leaves);
	rec->expects = expected_commands(l->subject.graph->root, &rec->expected);
	int n = record_files_open_first(&rec->files, l->claim.dir, l->claim.own, before != NULL,
		l->asked.durable, &rec->seq);
	/* One that begins before the ledger knows of it leaves the rest to record_settle(). */
	if (n == 0 && !l->claim.unlisted)
		n = record_files_open_rest(&rec->files);
	rec->settled = !l->claim.unlisted;
	outbox_init(&rec->outbox, l->claim.dir.p);
	command_done_frame(&rec->ends, l->asked.id, l->claim.dir);
	rec->artifacts = shown_artifacts(l);
	if (n == 0) {
		rec->mailbox = mailbox_start(loop,
			&(struct mailbox_options){ .dir = l->claim.dir.p,
				.run = l->asked.id,
				.owner = l->asked.owner,
				.control = launch_control(l),
				.durable = l->asked.durable,
				.resumed = before != NULL,
				.inbox = launch_expects_messages(l),
				.fresh = l->claim.unlisted,
				.settle_ms = SETTLE_MS,
				.on_message = on_message,
				.data = rec },
			r);
		if (rec->mailbox)
			return rec;
		record_free(rec);
		return NULL;
	}
	report_lost(rec, n, r);
	record_free(rec);
	return NULL;
}

bool record_put_away(struct record *rec, struct report *r)
{
	if (!rec->before)
		return true;
	/* Most runs are over before anyone could look at their progress; what a resumed one had
	 * must not be taken for it. */
	int n = record_write_progress(rec, STATUS_STARTING);
	n = n < 0 ? n : record_files_put_away(&rec->files);
	return n == 0 || report_lost(rec, n, r);
}

void record_free(struct record *rec)
{
	if (!rec)
		return;
	timer_stop(&rec->progress);
	timer_stop(&rec->again);
	deferred_stop(&rec->flush);
	list_each_safe (link, &rec->leaves)
		note_free(list_entry(link, struct leaf_note, link));
	leaves_free(rec->before);
	mailbox_stop(rec->mailbox);
	line_log_done(&rec->outbox);
	json_decref(rec->artifacts);
	buf_done(&rec->command);
	command_done_frame_done(&rec->ends);
	buf_done(&rec->outbox_lines);
	record_files_done(&rec->files);
	free(rec);
}
