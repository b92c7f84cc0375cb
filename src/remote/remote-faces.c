/* What people see of the workers: the numbers of a view, and a file for those who look at the run
 * from another process. */
#include <inttypes.h>

#include "base/atomic-file.h"
#include "data/json-out.h"
#include "remote/remote-own.h"

enum {
	SHOW_MS = 1000,
	SHOW_EACH = 10, /* and so many more for each worker: the file grows with them */
};

static const char *state_of(const struct remote_worker *w)
{
	static const char *const names[] = { [WORKER_ASKED] = "submitting",
		[WORKER_QUEUED] = "queued",
		[WORKER_ALIVE] = "running",
		[WORKER_DEAD] = "ended" };

	return w->fenced ? "given up" : w->draining || w->quitting ? "leaving" : names[w->state];
}

/* Why it does not run yet; "None" is how Slurm says nothing. */
static struct str reason_of(const struct remote_worker *w)
{
	struct str reason = str_of(w->reason);

	return w->state == WORKER_QUEUED && !str_eq(reason, S("None")) ? reason : S("");
}

static uint64_t busy_of(const struct remote_worker *w)
{
	return MIN(w->given_load.cpus, w->cpus);
}

static void write_worker(struct json_out *o, const struct remote_worker *w)
{
	json_out_object(o, NULL);
	json_out_uint(o, "id", w->id);
	json_out_str_or_null(o, "job", str_of(w->job));
	json_out_str(o, "state", str_of(state_of(w)));
	json_out_str_or_null(o, "host", str_of(w->host));
	json_out_uint(o, "slots", w->cpus);
	json_out_uint(o, "busy", busy_of(w));
	json_out_uint(o, "done", w->done);
	json_out_str_or_null(o, "reason", reason_of(w));
	json_out_object_end(o);
}

static void tell_view(struct remote *r)
{
	struct event e = { .kind = EVENT_WORKERS, .away = { .on = r->executor.name } };

	list_each (link, &r->workers) {
		const struct remote_worker *w = list_entry(link, struct remote_worker, link);

		if (w->state == WORKER_ALIVE) {
			e.workers.running++;
			e.workers.slots += w->cpus;
			e.workers.busy += busy_of(w);
		} else if (w->state != WORKER_DEAD) {
			e.workers.queued++;
			e.away.why = e.away.why.len ? e.away.why : reason_of(w);
		}
	}
	list_each (link, &r->shapes)
		e.workers.waiting += list_entry(link, struct remote_shape, link)->ready_count;
	if (r->executor.tell)
		r->executor.tell(r->executor.run_data, &e);
}

void remote_show(struct remote *r, uint64_t now)
{
	AUTO_BUF text = BUF_INIT;
	AUTO_BUF path = BUF_INIT;
	struct json_out o = { .b = &text };

	if (now < r->show_at_ms || r->leaving)
		return;
	r->show_at_ms = now + remote_ms(SHOW_MS + SHOW_EACH * r->worker_count);
	tell_view(r);
	json_out_array(&o, NULL);
	list_each (link, &r->workers) {
		const struct remote_worker *w = list_entry(link, struct remote_worker, link);

		if (w->state != WORKER_DEAD)
			write_worker(&o, w);
	}
	json_out_array_end(&o);
	buf_addc(&text, '\n');
	if (str_eq(buf_str(&text), buf_str(&r->shown)))
		return;
	buf_printf(&path, "%s/" WORKERS_FILE, r->x.path);
	/* Only for people: a disk that is full says so elsewhere. */
	(void)atomic_write(
		buf_cstr(&path), buf_str(&text), &(struct atomic_options){ .quick = true });
	buf_swap(&r->shown, &text);
}

void remote_tell_class(struct remote *r, const struct needs *n)
{
	AUTO_BUF text = BUF_INIT;

	if (!table_lacks_class(r->table, n, &text))
		return;
	vec_each (known, &r->told)
		if (str_eq(*known, n->class))
			return;
	vec_push(&r->told, arena_str(&r->arena, n->class));
	remote_warn(r, buf_str(&text));
}
