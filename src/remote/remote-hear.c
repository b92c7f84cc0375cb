/* What workers say, and what is accepted of it. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "remote/remote-own.h"
#include "runs/dir/open.h"

enum { WRONG_MAX = 100, READ_MAX = 8 << 20, CHUNK = 64 * 1024 };

static struct remote_job *job_find(struct remote_worker *w, uint64_t n)
{
	list_each (link, &w->given) {
		struct remote_job *j = list_entry(link, struct remote_job, link);

		if (j->n == n)
			return j;
	}
	return NULL;
}

/* -- outputs -------------------------------------------------------------------------------------
 */

static void tell_output(
	struct remote_job *j, enum job_stream stream, struct str data, uint64_t total)
{
	j->job.owner->ops->output(j->job.owner, stream, data, total);
}

static int open_named(struct remote_job *j, enum job_stream stream)
{
	return j->record && j->record->open ? j->record->open(j->record->data, stream) : -ENOENT;
}

/* A piece of what it prints, while it runs. */
static void hear_out(struct remote_job *j, const struct said *s)
{
	enum job_stream stream = s->stream == 2 ? JOB_STDERR : JOB_STDOUT;
	uint64_t *came = &j->came[stream];

	if (stream == JOB_STDOUT) {
		if (!j->live)
			return;
		if (j->out_fd < 0)
			j->out_fd = open_named(j, stream);
		if (j->out_fd < 0 || fd_write_all(j->out_fd, buf_str(&s->bytes)) < 0) {
			close_fd(&j->out_fd);
			j->live = false;
			return;
		}
	}
	if (stream == JOB_STDERR && j->muted)
		return;
	if (stream == JOB_STDERR)
		j->worker->handed_on = true;
	*came += s->bytes.len;
	tell_output(j, stream, buf_str(&s->bytes), *came);
}

/* The same of one that an earlier driver had. What that has heard it has handed on, as far as it is
 * whole lines. */
static void hear_left_out(struct remote_worker *w, struct remote_left *l, const struct said *s)
{
	size_t whole = s->bytes.len;

	if (s->stream != 2 || l->untold_err)
		return;
	l->untold_err = w->reader.offset > w->heard;
	if (l->untold_err)
		return;
	while (whole && s->bytes.p[whole - 1] != '\n')
		whole--;
	if (whole) {
		l->told += l->told_part + whole;
		l->told_part = 0;
	}
	l->told_part += s->bytes.len - whole;
}

void remote_hear_on(struct remote_job *j, const struct remote_left *l)
{
	j->came[JOB_STDERR] = l->told;
	j->muted = l->untold_err || l->told_part;
	j->worker->mutes |= j->muted;
}

/* What the next driver need not hand on again, should this one die. */
static void note_heard(struct remote_worker *w)
{
	char name[64], text[32];

	w->handed_on = false;
	if (w->mutes)
		return;
	(void)snprintf(name, sizeof(name), "w/%" PRIu64 "/heard", w->id);
	(void)snprintf(text, sizeof(text), "%020" PRIu64 "\n", w->reader.offset);
	AUTO_CLOSE int fd = run_open_at(w->remote->x.fd, name, O_WRONLY | O_CREAT);
	if (fd >= 0)
		(void)!pwrite(fd, text, strlen(text), 0);
}

/* What has not been told of it as it came. */
static void tell_rest(struct remote_job *j, enum job_stream stream, struct content *c)
{
	uint64_t size = content_size(c);

	if (stream == JOB_STDOUT) {
		if (size > j->came[stream])
			tell_output(j, stream, S(""), size);
		return;
	}
	/* The end of it, of which the beginning may have been told. */
	while (j->came[stream] < size) {
		AUTO_BUF piece = BUF_INIT;

		if (content_part(c, j->came[stream], CHUNK, &piece) < 0 || !piece.len)
			return;
		j->came[stream] += piece.len;
		tell_output(j, stream, buf_str(&piece), j->came[stream]);
	}
}

/* Bytes that stood in the line. */
static int accept_bytes(
	struct remote_job *j, enum job_stream stream, struct said_output *o, struct content **ret)
{
	uint64_t from = MIN(j->came[stream], o->size);
	int n = 0;

	if (stream == JOB_STDOUT && j->out_fd >= 0) {
		n = fd_write_all(j->out_fd, str_from(buf_str(&o->bytes), (size_t)from));
	} else if (j->record && j->record->open) {
		AUTO_CLOSE int fd = open_named(j, stream);

		n = fd < 0 ? fd : fd_write_all(fd, buf_str(&o->bytes));
	}
	*ret = content_from_buf(&o->bytes);
	return n;
}

/* A copy under the name that the run has for it. */
static int copy_file(
	struct remote_job *j, enum job_stream stream, int file, uint64_t size, struct content **ret)
{
	struct content *all = content_from_fd(dup(file), 0, size);
	bool live = stream == JOB_STDOUT && j->out_fd >= 0;
	int fd = live ? take_fd(&j->out_fd) : open_named(j, stream);
	int n = fd < 0 ? fd : content_write_from(all, live ? j->came[stream] : 0, fd);

	content_unref(all);
	if (n < 0) {
		close_fd(&fd);
		return n;
	}
	*ret = content_from_fd(fd, 0, size);
	return 0;
}

/* What an earlier driver took over before it died, and could not say so any more. */
static int accept_taken(struct remote_job *j, enum job_stream stream, int dir, const char *name,
	uint64_t size, struct content **ret)
{
	struct stat st;
	AUTO_CLOSE int fd = j->record && j->record->accept
				    ? j->record->accept(j->record->data, stream, dir, name)
				    : -ENOENT;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0 || (uint64_t)st.st_size < size)
		return -ESTALE;
	*ret = content_from_fd(take_fd(&fd), 0, size);
	return 0;
}

/* The worker's file becomes the run's: by its name where that is possible. */
static int accept_file(struct remote_worker *w, struct remote_job *j, enum job_stream stream,
	const struct said_output *o, struct content **ret)
{
	char dir[64], name[64];
	struct stat st;
	int n = -EXDEV;

	(void)snprintf(dir, sizeof(dir), "w/%" PRIu64, w->id);
	(void)snprintf(
		name, sizeof(name), "%" PRIu64 ".%s", j->n, stream == JOB_STDERR ? "err" : "out");
	AUTO_CLOSE int at = run_open_dir_at(w->remote->x.fd, dir, false);
	AUTO_CLOSE int file = at < 0 ? at : run_open_at(at, name, O_RDONLY);
	if (file == -ENOENT && at >= 0)
		return accept_taken(j, stream, at, name, o->size, ret);
	if (file < 0)
		return file;
	if (fstat(file, &st) < 0 || (uint64_t)st.st_size < o->size)
		return -ESTALE;
	if (!j->record || !j->record->open) {
		*ret = content_from_fd(take_fd(&file), 0, o->size);
		return 0;
	}
	if (j->record->accept && !(stream == JOB_STDOUT && j->out_fd >= 0))
		n = j->record->accept(j->record->data, stream, at, name);
	if (n >= 0) {
		*ret = content_from_fd(n, 0, o->size);
		return 0;
	}
	n = n == -EXDEV ? copy_file(j, stream, file, o->size, ret) : n;
	if (n == 0)
		(void)unlinkat(at, name, 0);
	return n;
}

static int accept_output(struct remote_worker *w, struct remote_job *j, enum job_stream stream,
	struct said_output *o, struct content **ret)
{
	if (!o->size)
		return 0;
	int n = o->file ? accept_file(w, j, stream, o, ret) : accept_bytes(j, stream, o, ret);
	if (n == 0)
		tell_rest(j, stream, *ret);
	return n;
}

/* -- beginnings and ends -------------------------------------------------------------------------
 */

static void set_away(struct remote_job *j, const struct remote_worker *w, uint64_t ms)
{
	uint64_t began = j->began_ms ? j->began_ms : clock_mono_ms();

	buf_reset(&j->host);
	buf_adds(&j->host, w->host);
	j->away = (struct job_away){ .on = w->remote->executor.name,
		.host = buf_str(&j->host),
		.worker = w->id,
		.queued_ms = began - j->started_ms,
		.ms = ms };
}

static void measure(struct remote_worker *w, const struct said_end *e)
{
	struct remote *r = w->remote;

	r->ended++;
	w->done++;
	sizing_add(&r->took_us, MAX(e->ms * 1000, (uint64_t)500));
	w->shape->longest_ms = MAX(w->shape->longest_ms, e->ms);
}

/* What it took, as the worker says: not longer than it can have been. */
static uint64_t ms_of(const struct remote_worker *w, const struct remote_job *j, uint64_t said)
{
	uint64_t most = j->given_ms ? clock_mono_ms() - j->given_ms : w->shape->shape.time_s * 1000;

	return MIN(said, most);
}

static void accept_end(struct remote_worker *w, struct remote_job *j, struct said *s)
{
	struct said_end *e = &s->end;

	e->ms = ms_of(w, j, e->ms);
	if (e->why == WHY_ALLOCATION) {
		remote_job_again(j);
		return;
	}
	int out = accept_output(w, j, JOB_STDOUT, &e->out, &j->out);
	int err = accept_output(w, j, JOB_STDERR, &e->err, &j->err);
	set_away(j, w, e->ms);
	measure(w, e);
	j->end = (struct job_end){ .code = e->code,
		.signal = e->signal,
		.timed_out = e->why == WHY_TIMEOUT,
		.held = e->held,
		.cut = e->cut,
		.keep_error = out < 0   ? -out
			      : err < 0 ? -err
					: e->keep_error,
		.start_error = e->why == WHY_START ? e->error : 0,
		.err_bytes = e->err.size,
		.usage = { e->user_us, e->system_us, e->memory_kib },
		.away = &j->away };
	remote_job_tell(j);
}

static void hear_began(struct remote_worker *w, struct remote_job *j)
{
	uint64_t now = clock_mono_ms();

	if (j->state != JOB_GIVEN)
		return;
	j->state = JOB_BEGAN;
	j->began_ms = now;
	j->dropped = false;
	j->behind.count = 0;
	if (j->idle_slot && j->given_ms)
		sizing_add(&w->remote->turn_ms, now - j->given_ms);
	if (j->told_began)
		return;
	j->told_began = true;
	set_away(j, w, 0);
	j->job.owner->ops->began(j->job.owner, &j->away);
}

void remote_settle_taken(struct remote *r)
{
	for (size_t i = 0; i < r->left_count; i++) {
		struct remote_left *l = &r->left[i];
		bool known = l->ended || (l->began && l->settled);
		struct remote_job *j =
			known && l->taken && l->worker ? job_find(l->worker, l->n) : NULL;

		if (!j)
			continue;
		if (!l->ended) {
			l->began = false;
			hear_began(l->worker, j);
			continue;
		}
		/* It was ended because its run was, which it is not any more. */
		if (l->end.end.why == WHY_STOPPED) {
			remote_job_again(j);
			continue;
		}
		remote_left_news(r, l, LEFT_ENDED);
		accept_end(l->worker, j, &l->end);
	}
}

/* -- lines ---------------------------------------------------------------------------------------
 */

static void wrong(struct remote_worker *w)
{
	AUTO_BUF text = BUF_INIT;

	if (w->wrong++ == 0) {
		buf_printf(&text,
			"worker %" PRIu64 " of %.*s said something that it may not say; "
			"that was left out",
			w->id, STR(w->remote->executor.name));
		remote_warn(w->remote, buf_str(&text));
	}
	if (w->wrong == WRONG_MAX)
		remote_worker_fence(w, "it says what it may not say");
}

/* Whether it is one of ours, of this version, in the directory of the run. Of one that was started
 * by another build the number of the protocol, without which its hello is not one, is enough. */
static bool check_hello(struct remote_worker *w, const struct said_hello *h)
{
	struct remote *r = w->remote;
	struct str host = str_of(w->host);
	AUTO_BUF text = BUF_INIT;

	if (h->problem.len)
		buf_add(&text, h->problem);
	else if (!w->inherited && !str_eq(h->roux, S(ROUX_VERSION)))
		buf_printf(&text,
			"worker %" PRIu64 " on %.*s is of version %.*s, this is " ROUX_VERSION,
			w->id, STR(host), STR(h->roux));
	else if (h->uid != geteuid())
		buf_printf(&text,
			"worker %" PRIu64 " on %.*s is of user %" PRIu64 ", this is user %u", w->id,
			STR(host), h->uid, (unsigned)geteuid());
	else if (!str_eq(h->probe, r->probe))
		buf_printf(&text, "node %.*s sees another directory as %s", STR(host), r->x.path);
	else
		return true;
	remote_fail(r, buf_str(&text), S(""));
	remote_worker_fence(w, "it cannot work");
	return false;
}

/* The numbers of directories need not agree between machines. One through which the shared
 * directory was found, whose probe it has, is the same all the same. */
static void check_cwd(struct remote_worker *w, const struct said_hello *h)
{
	struct remote *r = w->remote;
	AUTO_BUF text = BUF_INIT;

	if (!h->cwd_ino || h->cwd_ino == r->cwd_ino || r->told_cwd ||
		remote_below(str_of(r->x.path), r->cwd))
		return;
	r->told_cwd = true;
	buf_printf(&text,
		"node %s may see another directory as %.*s: its number there is not the one here",
		w->host ? w->host : "", STR(r->cwd));
	remote_warn(r, buf_str(&text));
}

static void hear_hello(struct remote_worker *w, const struct said *s)
{
	struct remote *r = w->remote;
	const struct said_hello *h = &s->hello;
	uint64_t now = clock_mono_ms();

	if (!str_eq(h->generation, r->generation)) {
		wrong(w);
		return;
	}
	remote_set(&w->host, h->host);
	/* Of two submissions for its directory only it knows which one it came of. Where there is
	 * no batch system, its job is what was started on its machine. */
	struct str job = table_job_id(h->job);
	if (job.len && !r->table->hosts[0])
		remote_worker_job(w, job);
	w->cpus = h->cpus;
	w->deadline_ms = h->left_s < UINT32_MAX ? now + h->left_s * 1000 : 0;
	if (h->epoch != r->epoch)
		return; /* what it said to an earlier driver */
	if (!check_hello(w, h))
		return;
	check_cwd(w, h);
	bool first = w->state != WORKER_ALIVE;
	if (w->state == WORKER_ASKED) /* quicker than the answer to its submission */
		remote_tell_worker(w, EVENT_WORKER_SUBMIT, NULL);
	w->state = WORKER_ALIVE;
	w->hello_ms = now;
	/* It lives, whatever was said of its job before. */
	w->means = BATCH_UNSURE;
	w->unlisted = w->doubted = 0;
	w->ended_ms = w->cancelled ? w->ended_ms : 0;
	remote_set(&w->state_word, S(""));
	r->no_hello = 0;
	r->submit_failures = 0;
	if (r->submitting == w)
		r->submitting = NULL;
	if (first)
		remote_tell_worker(w, EVENT_WORKER_START, NULL);
	if (w->adopting)
		remote_settle_left(w, h);
	w->adopting = false;
	if (r->leaving)
		remote_leave(r, r->leaving);
	remote_wake(r);
	executor_grew(&r->executor);
}

static void hear_bye(struct remote_worker *w, struct str why)
{
	AUTO_BUF text = BUF_INIT;

	w->said_bye = true;
	buf_add(&text, why);
	remote_worker_died(w, buf_cstr(&text));
}

/* Of a command that this driver, or the one before it, has given to it. */
static void hear_of_job(struct remote_worker *w, struct said *s)
{
	struct remote_job *j = job_find(w, s->n);
	struct remote_left *left = j ? NULL : remote_left_of(w, s->n);

	/* Also of one that is not known any more: its allocation was good for something. */
	if (s->kind == SAID_BEGAN || s->kind == SAID_END) {
		w->begun = true;
		w->shape->barren = 0;
	}
	if (left && s->kind == SAID_BEGAN)
		left->began = true;
	if (left && s->kind == SAID_OUT)
		hear_left_out(w, left, s);
	if (left && s->kind == SAID_END && !left->ended) {
		left->ended = true;
		said_done(&left->end);
		left->end = *s;
		*s = (struct said){ 0 };
		return;
	}
	if (!j) {
		if (!w->remote->resumed && !w->fenced)
			wrong(w);
		return;
	}
	switch (s->kind) {
	case SAID_BEGAN:
		hear_began(w, j);
		break;
	case SAID_OUT:
		hear_out(j, s);
		break;
	case SAID_END:
		accept_end(w, j, s);
		break;
	case SAID_DROPPED:
		j->dropped = false;
		remote_job_again(j);
		break;
	case SAID_HELLO:
	case SAID_DRAIN:
	case SAID_BEAT:
	case SAID_BYE:
	case SAID_KINDS:
		break;
	}
}

static void see_line(void *data, struct str line)
{
	struct remote_worker *w = data;
	struct said s;
	bool unknown;

	if (w->state == WORKER_DEAD)
		return;
	if (!said_read(line, &s, &unknown)) {
		if (!unknown)
			wrong(w);
		return;
	}
	if (s.kind == SAID_HELLO)
		hear_hello(w, &s);
	else if (s.kind == SAID_BYE)
		hear_bye(w, s.why);
	else if (s.kind == SAID_DRAIN)
		w->draining = true;
	else if (s.kind != SAID_BEAT)
		hear_of_job(w, &s);
	said_done(&s);
}

void remote_hear(struct remote_worker *w)
{
	struct remote *r = w->remote;
	AUTO_BUF bytes = BUF_INIT;

	if (w->state == WORKER_DEAD)
		return;
	uint64_t at = w->reader.offset, looked = clock_mono_ms();
	size_t most = w->heard > at ? (size_t)MIN((uint64_t)READ_MAX, w->heard - at) : READ_MAX;
	int n = exchange_file_follow(&r->x, &w->records_file, at, most, &bytes);
	if (n < 0 && n != -ENOENT)
		return; /* a file system that fails for a moment: it is looked at again */
	w->looked_ms = looked;
	if (!bytes.len)
		return;
	w->seen_ms = clock_mono_ms();
	w->doubted = 0;
	w->look_ms = 0;
	if (!line_reader_take(&w->reader, buf_str(&bytes), see_line, w))
		wrong(w);
	if (w->handed_on)
		note_heard(w);
}
