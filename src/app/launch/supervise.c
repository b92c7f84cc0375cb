/* The supervisor of a detached run: a process that runs one launch, with no terminal and no one who
 * looks. The process that started it waits for "ok", or for the reason why not. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/launch/here.h"
#include "base/environ.h"
#include "base/file.h"
#include "base/run-status.h"
#include "loop/tree.h"
#include "runs/dir/run-dir.h"

static void complain(const struct report *r, int ready)
{
	AUTO_BUF text = BUF_INIT;

	vec_each (i, &r->issues) {
		if (!issue_is_error(i))
			continue;
		if (text.len)
			buf_adds(&text, "; ");
		buf_add(&text, i->message);
	}
	(void)fd_write_all(ready, buf_str(&text));
}

/* Standard error is stderr.log of the run. */
static void tell_lost(const struct report *lost)
{
	AUTO_BUF text = BUF_INIT;

	if (!lost)
		return;
	report_text(lost, REPORT_ALL, &text);
	(void)fd_write_all(STDERR_FILENO, buf_str(&text));
}

/* What such a run would leave behind is in no tree any more, and could answer for the run that it
 * belongs to. */
static bool was_started_by_a_command(void)
{
	const char *marks = getenv(TREE_VARIABLE);

	return marks && *marks;
}

static struct run_handle *begin(
	struct app *a, const char *dir, bool resume, int lock, struct report *r)
{
	struct launch *l = launch_new(a);
	struct leaves *before = NULL;

	l->claim.lock = lock;
	bool ok = launch_thaw(l, str_of(dir), r) && launch_plan_again(l, r);
	l->asked.detached = true;
	if (l->asked.bare)
		environ_bare(); /* after the secrets were read */
	if (ok && resume)
		ok = (before = leaves_read(run_file(&l->arena, l->claim.dir, LEAVES_FILE), r)) !=
		     NULL;
	if (!ok) {
		launch_free(l);
		return NULL;
	}
	return here_start(l,
		&(struct here_options){ .before = before,
			.stdin_fd = -1,
			.stdout_fd = -1,
			.pipe_fd = -1,
			.leaves_nothing = was_started_by_a_command() },
		r);
}

int app_supervise(struct app *a, const char *dir, const char *how)
{
	bool resume = how && str_starts(str_of(how), S("resume"));
	AUTO_REPORT r = REPORT_INIT;
	int lock, ready;

	if (how && str_ends(str_of(how), S(DETACHED_APART)))
		detached_leave();
	detached_begin(&lock, &ready);
	int n = app_take_signals(a, NULL, NULL);
	if (n < 0)
		report_errno(&r, -n, "cannot take signals");
	struct run_handle *h = n < 0 ? NULL : begin(a, dir, resume, lock, &r);
	if (!h) {
		complain(&r, ready);
		app_drop_signals(a);
		return 1;
	}
	(void)fd_write_all(ready, S("ok"));
	(void)close(ready);
	handle_turn(h);
	app_drop_signals(a);
	int status = status_exit(run_status(h));
	tell_lost(run_record_issues(h));
	run_close(h);
	return status;
}
