#include "remote/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "remote/remote-own.h"
#include "remote/trial-own.h"
#include "runs/dir/remove-tree.h"

enum { QUEUE_MS = 120000, WORKER_S = 60, OUT_MAX = 65536 };

/* What a command finds on the node, a line a fact. */
static const char probe[] = "pwd; umask; echo \"$PATH\"";

struct trial {
	const struct trial_options *o;
	trial_fn *tell;
	void *data;
	struct remote *r;
	struct job_owner owner;
	struct job *job;
	struct timer limit;
	struct buf out, reason, job_id;
	uint64_t asked_ms;
	bool submitted, hello, ended, broken, answered, swept;
	struct job_end end;
};

static void say(struct trial *t, const char *hop, bool ok, const char *fmt, ...) PRINTF(4, 5);

static void say(struct trial *t, const char *hop, bool ok, const char *fmt, ...)
{
	AUTO_BUF text = BUF_INIT;
	va_list args;

	if (t->broken)
		return; /* the first hop that does not work is the one to look at */
	va_start(args, fmt);
	buf_vprintf(&text, fmt, args);
	va_end(args);
	t->broken |= !ok;
	t->tell(t->data, hop, ok, buf_str(&text));
}

/* -- what the executor tells ---------------------------------------------------------------------
 */

static void on_tell(void *data, struct event *e)
{
	struct trial *t = data;

	if (e->kind == EVENT_WORKERS) {
		buf_reset(&t->reason);
		buf_add(&t->reason, e->away.why);
	} else if (e->kind == EVENT_WORKER_SUBMIT && !t->submitted) {
		t->submitted = true;
		buf_add(&t->job_id, e->away.job);
		say(t, "submit", true, "job %.*s", STR(e->away.job));
	} else if (e->kind == EVENT_WORKER_START && !t->hello) {
		t->hello = true;
		timer_stop(&t->limit);
		if (!t->job_id.len)
			buf_add(&t->job_id, e->away.job);
		say(t, "queue", true, "%" PRIu64 " ms", e->away.queued_ms);
		say(t, "hello", true, "from %.*s", STR(e->away.host));
	}
}

static void on_fail(void *data, struct str message, struct str hint)
{
	struct trial *t = data;

	say(t,
		!t->submitted ? "submit"
		: !t->hello   ? "hello"
			      : "round trip",
		false, "%.*s%s%.*s", STR(message), hint.len ? ": " : "", STR(hint));
}

static void on_warn(void *data, struct str message)
{
	(void)data;
	(void)message;
}

static void on_limit(struct timer *timer)
{
	struct trial *t = container_of(timer, struct trial, limit);

	say(t, t->submitted ? "queue" : "submit", false,
		t->reason.len ? "nothing for two minutes: %.*s" : "nothing for two minutes%.*s",
		STR(buf_str(&t->reason)));
}

/* -- one command ---------------------------------------------------------------------------------
 */

static void on_began(struct job_owner *o, const struct job_away *away)
{
	(void)o;
	(void)away;
}

static void on_output(struct job_owner *o, enum job_stream stream, struct str data, uint64_t total)
{
	(void)o;
	(void)stream;
	(void)data;
	(void)total;
}

static void on_ended(struct job_owner *o, const struct job_end *end)
{
	struct trial *t = container_of(o, struct trial, owner);
	struct content *out = job_take_out(t->job);

	t->ended = true;
	t->end = *end;
	buf_reset(&t->out);
	(void)content_head(out, OUT_MAX, &t->out);
	content_unref(out);
}

static const struct job_owner_ops owner_ops = { on_began, on_output, on_ended };

/* False: it did not come to its end. */
static bool run_command(struct trial *t, const char *const *argv, size_t argc)
{
	struct executor *e = &t->r->executor;
	int error = 0;

	t->ended = false;
	t->asked_ms = clock_mono_ms();
	t->job = e->ops->start(e,
		&(struct job_spec){ .key = { S("0"), 1 },
			.argv = argv,
			.argc = argc,
			.in_fd = -1,
			.max_output = OUT_MAX },
		&t->owner, &error);
	if (!t->job) {
		say(t, "submit", false, "cannot hand over a command: error %d", error);
		return false;
	}
	while (!t->ended && !t->broken)
		(void)loop_turn(t->o->loop, -1);
	job_free(t->job);
	t->job = NULL;
	if (t->ended && (t->end.code || t->end.signal))
		say(t, "round trip", false, "a command ended with %d there", t->end.code);
	return t->ended && !t->broken;
}

static struct str line_of(struct str text, size_t number)
{
	size_t at = 0;

	for (; number && at < text.len; number--)
		at = str_find(text, '\n', at) + 1;
	return at < text.len ? str_sub(text, at, str_find(text, '\n', at) - at) : S("");
}

/* What it finds there, beside what is here. */
static void compare(struct trial *t)
{
	struct str said = buf_str(&t->out);
	mode_t mask = umask(077);
	char here[16];
	const char *path = getenv("PATH");

	(void)umask(mask);
	(void)snprintf(here, sizeof(here), "%04o", (unsigned)mask);
	struct str dir = line_of(said, 0), there = line_of(said, 1), search = line_of(said, 2);
	say(t, "cwd", str_eq(dir, t->o->cwd), str_eq(dir, t->o->cwd) ? "%.*s" : "it is %.*s there",
		STR(dir));
	say(t, "umask", str_eq(there, str_of(here)),
		str_eq(there, str_of(here)) ? "%.*s" : "it is %.*s there", STR(there));
	say(t, "PATH", true, str_eq(search, str_of(path)) ? "%.*s" : "it is %.*s there",
		STR(str_eq(search, str_of(path)) ? S("as here") : search));
}

/* -- its end -------------------------------------------------------------------------------------
 */

static void on_cancelled(void *data, const struct batch_answer *a)
{
	struct trial *t = data;
	struct str err = str_trim(a->err);

	t->answered = true;
	if (!a->ok)
		say(t, "cancel", false, err.len ? "%.*s" : "it did not work%.*s", STR(err));
}

static void on_swept(void *data)
{
	((struct trial *)data)->swept = true;
}

static void cancel(struct trial *t)
{
	remote_cancel_told(t->r, buf_cstr(&t->job_id), on_cancelled, t);
	while (!t->answered)
		(void)loop_turn(t->o->loop, -1);
}

static void leave(struct trial *t)
{
	struct executor *e = &t->r->executor;

	timer_stop(&t->limit);
	e->ops->sweep(e, SWEEP_KILL, on_swept, t);
	while (!t->swept)
		(void)loop_turn(t->o->loop, -1);
	say(t, "cancel", true, "nothing is left");
}

static void try_worker(struct trial *t)
{
	static const char *const first[] = { "sh", "-c", probe, NULL };
	static const char *const second[] = { "true", NULL };

	timer_start(t->o->loop, &t->limit, remote_ms(QUEUE_MS));
	if (!run_command(t, first, 3))
		return;
	struct buf facts = t->out;
	t->out = BUF_INIT;
	if (run_command(t, second, 1))
		say(t, "round trip", true, "%" PRIu64 " ms", clock_mono_ms() - t->asked_ms);
	buf_done(&t->out);
	t->out = facts;
	compare(t);
	if (!t->broken && t->job_id.len)
		cancel(t);
}

/* One worker, tried in the order of its life. */
static void trial_submit(const struct trial_options *o, trial_fn *tell, void *data)
{
	AUTO_REPORT report = REPORT_INIT;
	struct arena a = ARENA_INIT;
	uint64_t random = 0;
	struct trial t = { .o = o, .tell = tell, .data = data, .owner.ops = &owner_ops };

	(void)!getrandom(&random, sizeof(random), GRND_NONBLOCK);
	struct str generation = arena_printf(&a, "%016" PRIx64, random);
	const char *dir =
		arena_printf(&a, "%.*s/doctor-%.*s", STR(o->state_dir), STR(generation)).p;
	t.limit.fire = on_limit;
	o->table->shape.time_s = WORKER_S;
	o->table->shape.cpus = 1;
	o->table->workers = 1;
	struct executor *e = NULL;
	if (mkdir(dir, 0700) < 0)
		report_errno(&report, errno, "cannot make %s", dir);
	else
		e = remote_executor(&(struct remote_options){ .loop = o->loop,
					    .table = o->table,
					    .class = S(""),
					    .run = S("doctor"),
					    .generation = generation,
					    .run_dir = str_of(dir),
					    .state_dir = o->state_dir,
					    .cwd = o->cwd },
			&report);
	if (!e) {
		say(&t, "directory", false, "%.*s",
			STR(report.issues.len ? report.issues.at[0].message : S("")));
	} else {
		t.r = container_of(e, struct remote, executor);
		t.r->trial = true;
		e->tell = on_tell;
		e->fail = on_fail;
		e->warn = on_warn;
		e->run_data = &t;
		try_worker(&t);
		leave(&t);
		e->ops->close(e);
	}
	(void)remove_tree(AT_FDCWD, dir, NULL);
	buf_done(&t.out);
	buf_done(&t.reason);
	buf_done(&t.job_id);
	arena_done(&a);
}

void trial_run(const struct trial_options *o, trial_fn *tell, void *data)
{
	if (trial_look(o, tell, data) && o->submits)
		trial_submit(o, tell, data);
	else
		table_free(o->table);
}
