#include "hosts/serve/site/find.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "render/web/ansi.h"

enum { STEP = 4 << 20, TOTAL = 512 << 20, TOTAL_MS = 2000 };

static void finding_free(struct finding *f)
{
	log_find_close(f->find);
	vec_done(&f->hits);
	arena_done(&f->arena);
	free(f);
}

/* The thread has it: it is freed when that lets go. */
static void on_gone(void *data)
{
	struct finding *f = data;

	f->q = NULL;
	atomic_store(&f->job.stop, true);
}

static struct str shown(struct finding *f, struct str text)
{
	AUTO_BUF b = BUF_INIT;

	shown_text(&b, text);
	return arena_str(&f->arena, buf_str(&b));
}

static bool see(void *data, const struct log_hit *hit)
{
	struct finding *f = data;

	vec_push(&f->hits, (struct found_hit){ hit->offset, shown(f, hit->before),
				   shown(f, hit->match), shown(f, hit->after) });
	f->enough = f->hits.len >= f->limit;
	return !f->enough;
}

static void work(struct job *j)
{
	struct finding *f = container_of(j, struct finding, job);
	uint64_t until = clock_mono_ms() + TOTAL_MS;
	bool more = true;

	while (more && !f->enough && !atomic_load(&j->stop) && clock_mono_ms() < until &&
		log_find_at(f->find) - f->from < TOTAL)
		more = log_find_step(f->find, STEP, see, f);
	f->scanned = log_find_at(f->find) - MIN(f->from, log_find_at(f->find));
	f->next = more ? log_find_at(f->find) : 0;
}

static void tell(void *data)
{
	struct finding *f = data;

	f->done(f);
}

static void on_done(struct job *j)
{
	struct finding *f = container_of(j, struct finding, job);

	if (f->q) {
		http_on_gone(f->q, NULL, NULL);
		/* The server ends: the connection does too, without an answer. */
		if (!atomic_load(&j->stop))
			aside_resume(f->q, tell, f);
	}
	finding_free(f);
}

int finding_start(struct http_request *q, struct run_model *m, const struct log_at *at,
	struct str text, uint64_t from, size_t limit, void (*done)(struct finding *f), void *data)
{
	struct mask *mask;
	int fd = run_log_open(run_model_run(m), at->node, at->attempt, at->stream);

	if (fd < 0)
		return fd;
	struct finding *f = mem_new(struct finding);
	bool known = site_mask(m, &mask);
	*f = (struct finding){ .q = q,
		.limit = limit,
		.from = from,
		.done = done,
		.data = data,
		.find = log_find_open(fd, known ? text : S(""), from, mask),
		.job.work = work,
		.job.done = on_done };
	mask_free(mask); /* from here on it is the search's alone */
	http_on_gone(q, on_gone, f);
	aside_add(site_of(q)->aside, &f->job);
	return 0;
}
