/* Starting a run: prepared, claimed, frozen, and then here or under a supervisor. */
#include "app/launch/start.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "app/launch/here.h"
#include "app/launch/take-back.h"
#include "app/past/elsewhere.h"
#include "app/record/freeze.h"
#include "base/atomic-file.h"
#include "runs/dir/run-dir.h"

/* -- what can be wrong before anything is looked at ----------------------------------------------
 */

static bool check_descriptor(const char *name, int fd, struct report *r)
{
	return fd < 0 || fcntl(fd, F_GETFD) >= 0 ||
	       report_error(r, (struct where){ 0 }, "%s is %d, which is not an open descriptor",
		       name, fd);
}

/* Where a run is, and whether the kernel would tell how its commands end. */
static bool check_process(const struct app *a, bool detach, struct report *r)
{
	struct sigaction now;

	if (a->manners.own_process)
		return true;
	if (a->cwd.len && access(a->cwd.p, X_OK) < 0)
		return report_errno(r, errno, "cannot run in the directory %.*s", STR(a->cwd));
	if (detach || sigaction(SIGCHLD, NULL, &now) < 0 ||
		(now.sa_handler != SIG_IGN && !(now.sa_flags & SA_NOCLDWAIT)))
		return true;
	report_error(r, (struct where){ 0 },
		"this process ignores SIGCHLD, so the kernel does not tell how commands end");
	return report_hint(r, "leave it at SIG_DFL, or handle it, without SA_NOCLDWAIT");
}

static bool check_request(const struct app *a, const struct request *q, struct report *r)
{
	bool detach = q->detach == DETACH_ALWAYS;

	if (!q->record && (detach || q->as)) {
		report_error(r, (struct where){ 0 },
			detach ? "a run that is not recorded cannot be detached"
			       : "a run that is not recorded has no name");
		return report_hint(r, "set record, or leave out %s", detach ? "detach" : "as");
	}
	return check_descriptor("stdin_fd", q->stdin_fd, r) &&
	       check_descriptor("stdout_fd", q->stdout_fd, r) && check_process(a, detach, r);
}

/* -- under a supervisor --------------------------------------------------------------------------
 */

/* After the answer, which need not wait for it. */
static void count(void *data)
{
	struct launch *l = data;

	launch_count(l);
	launch_free(l);
}

static struct run_handle *start_apart(
	struct launch *l, const struct request *q, bool resume, struct report *r)
{
	AUTO_REPORT ignored = REPORT_INIT;
	struct run_look look = { 0 };

	if (launch_detach(l, resume, r) < 0) {
		if (resume && !l->claim.anew) /* else it is a rerun */
			resume_unwrite(l);
		else
			launch_abandon(l);
		launch_free(l);
		return NULL;
	}
	/* It may be over, and even deleted, by now. */
	if (!find_id(l->app, l->asked.id, &look, &ignored)) {
		look_done(&look);
		look = (struct run_look){ .status = S("exited") };
		look.id = arena_str(&look.arena, l->asked.id);
		look.dir = arena_str(&look.arena, l->claim.dir);
	}
	struct run_handle *h = elsewhere_open(l->app, &look);
	/* A host whose loop turns hears of its end; a command that only starts it has no loop. */
	if (q->observer.line || q->observer.ended || (!h->ended && l->app->loop))
		(void)run_observe(h, &q->observer);
	h->closing = count;
	h->closing_data = l;
	return h;
}

json_t *run_started_document(const struct run_handle *h)
{
	const struct run_look *look = elsewhere_look(h);
	json_t *doc = json_object();
	json_t *artifacts = json_object_get(look->start, "artifacts");
	json_t *mailbox = json_object_get(look->start, "mailbox");

	json_object_set_new(doc, "ok", json_true());
	json_object_set_new(doc, "status", json_string("running"));
	json_object_set_new(doc, "run", json_from_str(look->id));
	json_object_set_new(doc, "pid", json_integer(look->row.pid));
	json_object_set_new(doc, "dir", json_from_str(look->dir));
	json_object_set_new(doc, "recipe",
		look->row.recipe.len ? json_from_str(look->row.recipe) : json_null());
	json_object_set_new(doc, "artifacts", artifacts ? json_incref(artifacts) : json_object());
	json_object_set_new(doc, "mailbox", mailbox ? json_incref(mailbox) : json_null());
	return doc;
}

bool run_detached(const struct run_handle *h)
{
	return h->closing != NULL;
}

/* -- both ----------------------------------------------------------------------------------------
 */

struct run_handle *start_frozen(
	struct launch *l, const struct request *q, struct leaves *before, struct report *r)
{
	if (l->asked.detached) {
		bool resume = before != NULL;

		leaves_free(before); /* the supervisor reads them itself */
		return start_apart(l, q, resume, r);
	}
	return here_start(l,
		&(struct here_options){ .before = before,
			.terminal = q->terminal,
			.stdin_fd = q->stdin_fd,
			.stdout_fd = q->stdout_fd,
			.pipe_fd = q->pipe_fd,
			.pipe_prints = q->pipe_prints,
			.observer = &q->observer },
		r);
}

/* A supervisor finds the input of its run where a foreground run would have kept it. */
static bool keep_input(struct launch *l, const struct request *q, struct report *r)
{
	if (!l->asked.detached || !l->asked.has_input)
		return true;
	const char *path = run_file(&l->arena, l->claim.dir, "stdin");
	int n = atomic_write(path, q->input, &(struct atomic_options){ .quick = true });
	return n == 0 || report_errno(r, -n, "cannot write '%s'", path);
}

struct run_handle *runs_start(
	struct app *a, struct recipe_ref *ref, const struct request *q, struct report *r)
{
	if (!check_request(a, q, r))
		return NULL;
	struct launch *l = launch_new(a);
	bool ok = launch_prepare(l, ref, q, r) && launch_can_detach(l, r) &&
		  (!q->record || launch_claim(l, r));
	if (ok && q->record && !(freeze_write(l, r) && keep_input(l, q, r))) {
		launch_abandon(l);
		ok = false;
	}
	if (ok)
		return start_frozen(l, q, NULL, r);
	launch_free(l);
	return NULL;
}
