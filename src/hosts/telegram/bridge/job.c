#include "hosts/telegram/bridge/job.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "app/recipes.h"
#include "app/runs.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/run-status.h"
#include "hosts/telegram/bridge/agent.h"
#include "hosts/telegram/bridge/bridge.h"

enum { OUTPUT_MAX = 8 << 20 };

struct job {
	struct list link; /* of bridge->jobs */
	struct bridge *bridge;
	struct run_handle *run; /* NULL: it was refused */
	int input;
	struct deferred ended;
	bool left; /* the bridge stops: nothing hears of its end */
	struct buf refused;
	job_done_fn *done;
	void *data;
};

static void free_job(struct job *j)
{
	list_remove(&j->link);
	deferred_stop(&j->ended);
	run_close(j->run);
	close_fd(&j->input);
	buf_done(&j->refused);
	free(j);
}

void jobs_start(struct bridge *b)
{
	list_init(&b->jobs);
}

static void leave(struct job *j)
{
	if (j->left)
		return;
	j->left = true;
	deferred_stop(&j->ended);
	j->done(j->data, NULL);
}

/* Closing a run that still works turns the loop until it has ended: then no job may act any more,
 * the closed one as little as the others. What the loop starts meanwhile is left in its turn. */
void jobs_stop(struct bridge *b)
{
	while (!list_empty(&b->jobs)) {
		list_each_safe (link, &b->jobs)
			leave(list_entry(link, struct job, link));
		free_job(list_entry(b->jobs.next, struct job, link));
	}
}

static int input_of(struct str text)
{
	int fd = memfd_create("input", MFD_CLOEXEC);

	if (fd >= 0 && (fd_write_all(fd, text) < 0 || lseek(fd, 0, SEEK_SET) < 0))
		close_fd(&fd);
	return fd;
}

static void read_output(struct run_handle *h, struct buf *ret)
{
	AUTO_CLOSE int fd = memfd_create("output", MFD_CLOEXEC);

	if (fd >= 0 && run_output_write(h, fd) >= 0 && lseek(fd, 0, SEEK_SET) == 0)
		(void)fd_read_all(fd, OUTPUT_MAX, ret);
}

static void read_failure(struct run_handle *h, struct buf *ret)
{
	AUTO_JSON *summary = run_summary(h);
	json_t *first = json_array_get(json_object_get(summary, "failures"), 0);
	struct str said = str_trim(json_text_of(first, "stderr"));

	buf_add(ret, said.len ? said : str_of(status_name(run_status(h))));
}

static void on_settled(struct deferred *d)
{
	struct job *j = container_of(d, struct job, ended);
	AUTO_BUF output = BUF_INIT;
	AUTO_BUF why = BUF_INIT;
	struct job_result result = { 0 };
	job_done_fn *done = j->done;
	void *data = j->data;

	buf_swap(&why, &j->refused);
	if (j->run) {
		AUTO_JSON *summary = run_summary(j->run);

		result.ok = run_status(j->run) == ROUX_DONE &&
			    !json_array_size(json_object_get(summary, "failures"));
		read_output(j->run, &output);
		if (!result.ok)
			read_failure(j->run, &why);
	}
	result.output = buf_str(&output);
	result.why = buf_str(&why);
	free_job(j);
	done(data, &result);
}

static void on_ended(void *data)
{
	struct job *j = data;

	if (!j->left)
		deferred_start(j->bridge->loop, &j->ended);
}

struct job *job_start(struct bridge *b, const struct job_request *q)
{
	struct job *j = mem_new(struct job);
	AUTO_REPORT r = REPORT_INIT;
	struct request ask = bridge_request(b);

	j->bridge = b;
	list_append(&b->jobs, &j->link);
	j->ended.call = on_settled;
	j->done = q->done;
	j->data = q->data;
	j->input = input_of(q->input);
	ask.detach = DETACH_NEVER;
	ask.stdin_fd = j->input;
	ask.observer = (struct observer){ .ended = on_ended, .data = j };
	struct recipe_ref *ref =
		agent_template(b, q->name, q->template, q->timeout_ms, q->values, &r);
	j->run = ref ? runs_start(b->app, ref, &ask, &r) : NULL;
	recipe_ref_free(ref);
	bridge_request_done(&ask);
	if (!j->run) {
		report_text(&r, REPORT_ERRORS, &j->refused);
		deferred_start(b->loop, &j->ended);
	}
	return j;
}
