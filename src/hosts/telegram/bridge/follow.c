#include "hosts/telegram/bridge/follow.h"

#include <stdlib.h>
#include <string.h>

#include "app/runs.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/run-status.h"
#include "hosts/telegram/bridge/bridge.h"
#include "hosts/telegram/bridge/ending.h"
#include "hosts/telegram/bridge/gates.h"
#include "hosts/telegram/bridge/recipes.h"
#include "hosts/telegram/bridge/send.h"

enum { PROGRESS_MS = 1500 };

struct follow {
	struct list link;
	struct bridge *bridge;
	char *run;
	json_t *about;
	struct run_handle *handle;
	struct deferred ended;
	struct timer progress;
	struct buf shown;
	bool paused;
};

static const char *key_of(struct arena *a, const char *run)
{
	return arena_printf(a, "follow/%s", run).p;
}

static void free_follow(struct follow *f)
{
	deferred_stop(&f->ended);
	timer_stop(&f->progress);
	list_remove(&f->link);
	run_close(f->handle);
	json_decref(f->about);
	buf_done(&f->shown);
	free(f->run);
	free(f);
}

static struct follow *find(struct bridge *b, struct str run)
{
	list_each (link, &b->follows) {
		struct follow *f = list_entry(link, struct follow, link);

		if (str_eq(str_of(f->run), run))
			return f;
	}
	return NULL;
}

/* -- how far it is -------------------------------------------------------------------------------
 */

static void tell_progress(struct follow *f, const char *word)
{
	AUTO_JSON *document = run_status_document(f->handle);
	json_t *p = json_object_get(document, "progress");
	json_int_t message = json_number_of(f->about, "progress");
	/* Those that failed are over too. */
	json_int_t failed = json_number_of(p, "failed");
	json_int_t done = json_number_of(p, "completed") - failed;
	AUTO_BUF text = BUF_INIT;

	if (!message)
		return;
	buf_printf(&text, "%.*s: %s", STR(json_text_of(f->about, "name")), word);
	if (done > 0)
		buf_printf(&text, ", %lld done", (long long)done);
	if (failed)
		buf_printf(&text, ", %lld failed", (long long)failed);
	if (json_text_of(p, "phase").len)
		buf_printf(&text, " (%.*s)", STR(json_text_of(p, "phase")));
	if (str_eq(buf_str(&text), buf_str(&f->shown)))
		return;
	buf_swap(&f->shown, &text);
	send_message(f->bridge,
		&(struct message){ .chat = json_number_of(f->about, "chat"),
			.edit = message,
			.text = buf_str(&f->shown),
			.category = "preview",
			.patience = API_SKIPS },
		NULL, NULL);
}

static void on_progress(struct timer *t)
{
	struct follow *f = container_of(t, struct follow, progress);

	if (f->handle)
		tell_progress(f, "running");
}

static void on_changed(void *data)
{
	struct follow *f = data;

	if (!timer_running(&f->progress))
		timer_start(f->bridge->loop, &f->progress, PROGRESS_MS);
}

/* -- its end -------------------------------------------------------------------------------------
 */

static void deliver(struct follow *f)
{
	struct bridge *b = f->bridge;
	struct arena a = ARENA_INIT;
	AUTO_JSON *d = ending_delivery(b, f->handle, f->about, 0, ENDED_BY_ITSELF);
	bool ok = host_batch_begin(b->app, &b->store.report);

	ok = ok && (!d || deliver_add(b, d)) && store_delete(&b->store, key_of(&a, f->run));
	if (!ok || !host_batch_commit(b->app, &b->store.report))
		host_batch_undo(b->app);
	(void)bridge_note_store(b);
	arena_done(&a);
	free_follow(f);
	deliver_run(b);
}

static void on_settled(struct deferred *d)
{
	struct follow *f = container_of(d, struct follow, ended);

	timer_stop(&f->progress);
	if (run_status(f->handle) == ROUX_PAUSED) {
		f->paused = true;
		tell_progress(f, "waits for an approval");
		gates_offer(f->bridge, f->run);
		return;
	}
	tell_progress(f, status_name(run_status(f->handle)));
	deliver(f);
}

static void on_ended(void *data)
{
	struct follow *f = data;

	deferred_start(f->bridge->loop, &f->ended);
}

/* -- following -----------------------------------------------------------------------------------
 */

static bool open_run(struct follow *f)
{
	AUTO_REPORT r = REPORT_INIT;

	run_close(TAKE(f->handle));
	f->paused = false;
	f->handle = runs_open(f->bridge->app, f->run, &r);
	return f->handle && run_observe(f->handle, &(struct observer){ .changed = on_changed,
							   .ended = on_ended,
							   .data = f }) >= 0;
}

static void add(struct bridge *b, const char *run, const json_t *about)
{
	struct follow *f = mem_new(struct follow);
	struct arena a = ARENA_INIT;

	f->bridge = b;
	f->run = mem_strdup(run);
	f->about = json_deep_copy(about);
	f->ended.call = on_settled;
	f->progress.fire = on_progress;
	list_append(&b->follows, &f->link);
	if (!open_run(f) || (json_object_get(about, "values") && ending_unbegun(f->handle))) {
		free_follow(f);
		/* The process that was to start it has died before. */
		if (json_object_get(about, "values"))
			recipes_begin(b, run, about);
		else
			(void)store_delete(&b->store, key_of(&a, run));
	}
	arena_done(&a);
}

void follow_keep(struct bridge *b, const char *run, const json_t *about)
{
	struct arena a = ARENA_INIT;

	(void)store_set(&b->store, key_of(&a, run), about);
	arena_done(&a);
}

void follow_forget(struct bridge *b, const char *run)
{
	struct arena a = ARENA_INIT;

	(void)store_delete(&b->store, key_of(&a, run));
	arena_done(&a);
}

void follow_run(struct bridge *b, const char *run, const json_t *about)
{
	follow_keep(b, run, about);
	add(b, run, about);
}

void follow_again(struct bridge *b, struct str run)
{
	struct follow *f = find(b, run);

	if (f)
		(void)open_run(f);
}

void follows_look(struct bridge *b)
{
	list_each_safe (link, &b->follows) {
		struct follow *f = list_entry(link, struct follow, link);
		AUTO_REPORT r = REPORT_INIT;
		struct run_handle *now = f->paused ? runs_open(b->app, f->run, &r) : NULL;
		bool moved = now && run_status(now) != ROUX_PAUSED;

		run_close(now);
		if (moved)
			(void)open_run(f);
	}
}

void follows_offer(struct bridge *b)
{
	list_each (link, &b->follows) {
		struct follow *f = list_entry(link, struct follow, link);

		if (f->paused)
			gates_offer(b, f->run);
	}
}

void follows_start(struct bridge *b)
{
	AUTO_JSON *left = store_list(&b->store, "follow/");
	json_t *row;
	size_t i;

	list_init(&b->follows);
	json_array_foreach(left, i, row)
		add(b, json_string_value(json_array_get(row, 0)) + strlen("follow/"),
			json_array_get(row, 1));
}

void follows_stop(struct bridge *b)
{
	if (b->follows.next)
		list_each_safe (link, &b->follows)
			free_follow(list_entry(link, struct follow, link));
}
