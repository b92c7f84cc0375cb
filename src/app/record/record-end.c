/* What is written when a run has ended. */
#include <string.h>

#include "app/record/beginning.h"
#include "app/record/record-own.h"
#include "app/record/result.h"
#include "base/run-status.h"

/* What readers need as well is written as far as there is room. -errno: the events or the output
 * are not complete; *what says which. */
static int write_rest(struct record *rec, const char *status, const char **what)
{
	int r = record_files_flush(&rec->files);

	*what = rec->lost ? "cannot write stdout.log" : "cannot write events.jsonl";
	(void)record_flush_outbox(rec);
	record_files_stderr_flush(&rec->files);
	(void)record_write_progress(rec, status);
	return rec->lost ? rec->lost : r;
}

static enum roux_status incomplete(enum roux_status s, struct str why)
{
	return why.len && status_rests(status_str(s), STATUS_COMPLETE) ? ROUX_FAILED : s;
}

/* The result, or on a full disk a short one with the reason. A run whose output, events or result
 * could not be written has not come to its end: it has failed, and a resume makes them from what is
 * recorded. */
static bool write_result(
	struct record *rec, const struct execution *x, enum roux_status *status, struct report *r)
{
	struct launch *l = rec->launch;
	struct result_end end = { .stdout_path =
					  str_of(run_file(&l->arena, l->claim.dir, "stdout.log")),
		.ended_ms = l->claim.row.ended };
	const char *what = NULL;
	AUTO_BUF text = BUF_INIT;
	AUTO_BUF why = BUF_INIT;

	int lost = write_rest(rec, status_name(*status), &what);
	if (lost < 0) {
		buf_printf(&why, "%s: %s", what, strerror(-lost));
		report_errno(r, -lost, "%s of %.*s", what, STR(l->claim.dir));
	}
	end.why = buf_str(&why);
	end.status = *status = incomplete(*status, end.why);
	result_record(x, &end, &text);
	int e = record_files_replace(&rec->files, "result.json", buf_str(&text));
	if (e == 0)
		return lost == 0;
	if (!why.len) {
		buf_printf(&why, "cannot write result.json: %s", strerror(-e));
		report_errno(r, -e, "cannot write result.json of %.*s", STR(l->claim.dir));
	}
	end.why = buf_str(&why);
	end.status = *status = incomplete(*status, end.why);
	buf_reset(&text);
	result_short(x, &end, &text);
	(void)record_files_last_word(&rec->files, buf_str(&text));
	return false;
}

bool record_finish(struct record *rec, const struct execution *x, struct report *r)
{
	struct launch *l = rec->launch;
	const struct run_result *res = run_result(x->run);
	enum roux_status status = (enum roux_status)res->status;
	AUTO_REPORT files = REPORT_INIT;
	AUTO_REPORT ignored = REPORT_INIT;

	timer_stop(&rec->progress);
	timer_stop(&rec->again);
	deferred_stop(&rec->flush);
	rec->active = 0;
	if (l->claim.waits) /* it had no command, or there was no room */
		(void)beginning_write(l, &ignored);
	if (!rec->settled)
		(void)record_files_open_rest(&rec->files);
	rec->settled = true;
	if (!rec->handled && mailbox_stop_delivered(rec->mailbox))
		rec->handled = event_name(EVENT_RUN_MESSAGE);
	launch_ended(l, res->ms);
	bool written = write_result(rec, x, &status, &files);
	l->claim.row.status = status_str(status);
	l->claim.row.code = res->code;
	l->claim.row.counted = true;
	l->claim.row.failed = res->tally.failed;
	l->claim.row.tolerated = res->tally.tolerated;
	l->claim.row.exit = result_exit(res);
	l->claim.row.handled = rec->handled ? str_of(rec->handled) : l->claim.row.handled;
	/* What broke the record has been told as the reason why the run ended. */
	if (!rec->broken)
		report_move(r, &files);
	return written;
}
