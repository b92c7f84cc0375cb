/* roux_run_wait: answers when a run ends or pauses, or after a while. */
#include <stdlib.h>

#include "app/runs.h"
#include "hosts/mcp/audit.h"
#include "hosts/mcp/builtin-calls.h"
#include "hosts/mcp/progress.h"
#include "hosts/mcp/result.h"

struct waiting {
	struct exchange *x;
	struct run_handle *run;
	struct timer enough;
	struct deferred ending;
	struct progress progress;
};

static void waiting_free(struct waiting *w)
{
	timer_stop(&w->enough);
	deferred_stop(&w->ending);
	progress_stop(&w->progress);
	run_close(w->run);
	free(w);
}

static void answer(struct waiting *w)
{
	AUTO_BUF text = BUF_INIT;
	struct mcp *m = w->x->session->server;
	bool running = run_status(w->run) == ROUX_RUNNING, cut = false;

	progress_stop(&w->progress);
	if (running)
		buf_printf(&text, "still running; call roux_run_wait with run %.*s",
			STR(run_id(w->run)));
	else
		run_text(m, w->run, &text, &cut);
	builtin_answer(w->x, w->run, buf_str(&text),
		json_pack("{s:b, s:s}", "truncated", cut, "next",
			running ? "roux_run_wait" : "roux_run_status"));
	waiting_free(w);
}

static void on_enough(struct timer *t)
{
	answer(container_of(t, struct waiting, enough));
}

static void on_ending(struct deferred *d)
{
	answer(container_of(d, struct waiting, ending));
}

static void on_ended(void *data)
{
	struct waiting *w = data;

	deferred_start(app_loop(w->x->session->server->app), &w->ending);
}

static void on_line(void *data, uint64_t seq, const char *type, struct str json)
{
	struct waiting *w = data;

	(void)seq;
	progress_event(&w->progress, type, json);
}

/* Only the waiting ends, not the run. */
static void on_cancel(struct exchange *x)
{
	struct waiting *w = x->data;

	audit_call(x, &(struct audited_call){ .tool = json_text_of(x->params, "name"),
			      .run = run_id(w->run),
			      .outcome = S("cancelled"),
			      .exit = -1 });
	waiting_free(w);
	exchange_drop(x);
}

void builtin_wait(struct exchange *x, const json_t *arguments)
{
	const json_t *seconds = json_object_get(arguments, "seconds");
	struct run_handle *h = builtin_open(x, arguments);

	if (!h)
		return;
	struct waiting *w = mem_new(struct waiting);
	w->x = x;
	w->run = h;
	w->enough.fire = on_enough;
	w->ending.call = on_ending;
	x->data = w;
	x->cancel = on_cancel;
	struct loop *loop = app_loop(x->session->server->app);
	progress_start(&w->progress, x, 0);
	if (run_status(h) != ROUX_RUNNING) {
		deferred_start(loop, &w->ending);
		return;
	}
	timer_start(loop, &w->enough,
		json_is_integer(seconds) ? (uint64_t)json_integer_value(seconds) * 1000 : 30000);
	(void)run_observe(
		h, &(struct observer){ .line = x->message.progress_token.len ? on_line : NULL,
			   .ended = on_ended,
			   .data = w });
}
