#include "app/past/handle.h"

#include <errno.h>
#include <stdlib.h>

#include "base/run-status.h"
#include "runs/dir/refusal.h"

static void rest_runs(struct app *a)
{
	while (!list_empty(&a->ended)) {
		struct run_handle *h = list_entry(a->ended.next, struct run_handle, link);

		list_remove(&h->link);
		h->ops->rest(h);
	}
}

static void leave_runs(struct app *a)
{
	while (!list_empty(&a->runs)) {
		struct run_handle *h = list_entry(a->runs.next, struct run_handle, link);

		h->ops->leave(h);
	}
}

void handle_init(struct run_handle *h, const struct handle_ops *ops, struct app *a)
{
	h->ops = ops;
	h->app = app_ref(a);
	a->rest_runs = rest_runs;
	a->leave_runs = leave_runs;
	list_init(&h->watchers);
	list_append(&a->runs, &h->link);
}

void handle_done(struct run_handle *h)
{
	list_remove(&h->link);
	list_each_safe (link, &h->watchers) {
		struct watcher *w = list_entry(link, struct watcher, link);

		list_remove(&w->link);
		free(w);
	}
	look_done(&h->seen);
	buf_done(&h->line);
	buf_done(&h->log_paths[0]);
	buf_done(&h->log_paths[1]);
	past_names_done(&h->names);
	app_unref(h->app);
}

/* -- telling -------------------------------------------------------------------------------------
 */

int run_observe(struct run_handle *h, const struct observer *o)
{
	struct watcher *w = mem_new(struct watcher);

	w->o = *o;
	w->next = o->from_seq;
	list_append(&h->watchers, &w->link);
	return h->ops->observed ? h->ops->observed(h) : 0;
}

bool run_unobserved(const struct run_handle *h, int error, struct report *r)
{
	return report_errno(
		r, -error, "cannot make an event loop to watch run '%.*s'", STR(run_id(h)));
}

bool handle_wants_lines(const struct run_handle *h)
{
	list_each (link, &h->watchers)
		if (list_entry(link, struct watcher, link)->o.line)
			return true;
	return false;
}

bool handle_wants_changes(const struct run_handle *h)
{
	list_each (link, &h->watchers)
		if (list_entry(link, struct watcher, link)->o.changed)
			return true;
	return false;
}

void handle_tell_change(struct run_handle *h)
{
	list_each_safe (link, &h->watchers) {
		struct watcher *w = list_entry(link, struct watcher, link);

		if (w->o.changed)
			w->o.changed(w->o.data);
	}
}

void handle_tell_line(struct run_handle *h, struct str line)
{
	AUTO_JSON *event = json_loadb(line.p, line.len, 0, NULL);
	const char *type = json_string_value(json_object_get(event, "type"));
	uint64_t seq = (uint64_t)json_integer_value(json_object_get(event, "seq"));

	if (!type)
		return;
	buf_reset(&h->line);
	buf_add(&h->line, line);
	(void)buf_cstr(&h->line);
	list_each_safe (link, &h->watchers) {
		struct watcher *w = list_entry(link, struct watcher, link);

		if (!w->o.line || w->behind || seq < w->next)
			continue;
		w->next = seq + 1;
		w->o.line(w->o.data, seq, type, buf_str(&h->line));
	}
}

void handle_tell_end(struct run_handle *h)
{
	list_each_safe (link, &h->watchers) {
		struct watcher *w = list_entry(link, struct watcher, link);
		bool told = w->told_end;

		w->told_end = true;
		if (!told && w->o.ended)
			w->o.ended(w->o.data);
	}
}

void handle_tell_unseen(struct run_handle *h)
{
	list_each_safe (link, &h->watchers) {
		struct watcher *w = list_entry(link, struct watcher, link);

		if (w->o.unseen)
			w->o.unseen(w->o.data);
	}
}

void handle_ended(struct run_handle *h)
{
	h->ended = true;
	list_remove(&h->link);
	handle_tell_end(h);
}

void handle_turn(struct run_handle *h)
{
	while (!h->ended && app_turn(h->app, -1) >= 0)
		;
}

/* -- the face ------------------------------------------------------------------------------------
 */

void run_close(struct run_handle *h)
{
	if (!h)
		return;
	void (*closing)(void *data) = h->closing;
	void *data = h->closing_data;

	h->ops->free(h);
	if (closing)
		closing(data);
}

struct str run_id(const struct run_handle *h)
{
	return h->ops->id(h);
}

struct str run_dir(const struct run_handle *h)
{
	return h->ops->dir(h);
}

enum roux_status run_status(const struct run_handle *h)
{
	return h->ended ? h->ops->status(h) : ROUX_RUNNING;
}

bool run_order(struct run_handle *h, enum run_order order, int grace_ms, struct report *r)
{
	if (!h->ended)
		return h->ops->order(h, order, grace_ms, r);
	if (run_id(h).len)
		return refuse_ended(run_id(h), status_str(run_status(h)), r);
	return report_refuse(r, S(""), "not running", "the run is not running: it is %s",
		status_name(run_status(h)));
}

int run_result_write(struct run_handle *h, int fd, enum roux_status *ret)
{
	AUTO_BUF text = BUF_INIT;

	return h->ops->write_result(h, &text, fd, ret);
}

int run_result_text(struct run_handle *h, struct buf *b)
{
	enum roux_status ignored;

	return h->ops->write_result(h, b, -1, &ignored);
}

json_t *run_result_document(struct run_handle *h, struct report *r)
{
	AUTO_BUF text = BUF_INIT;
	int e = run_result_text(h, &text);

	if (e < 0) {
		report_errno(r, -e, "cannot read the output of run '%.*s'", STR(run_id(h)));
		return NULL;
	}
	return json_read(&(struct source){ S("result"), buf_str(&text) }, r);
}

json_t *run_summary(struct run_handle *h)
{
	return h->ops->summary(h);
}

int run_output_write(struct run_handle *h, int fd)
{
	return status_ok(run_status(h)) ? h->ops->write_output(h, fd) : 0;
}
