#include "hosts/serve/site/find.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "render/web/ansi.h"

enum { SLICE_MS = 8, STEP = 4 << 20, TOTAL = 512 << 20, TOTAL_MS = 2000 };

static void finding_free(struct finding *f)
{
	deferred_stop(&f->more);
	log_find_close(f->find);
	vec_done(&f->hits);
	arena_done(&f->arena);
	free(f);
}

static void on_gone(void *data)
{
	finding_free(data);
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

static void finish(struct finding *f, bool more)
{
	f->scanned = log_find_at(f->find) - MIN(f->from, log_find_at(f->find));
	f->next = more ? log_find_at(f->find) : 0;
	http_on_gone(f->q, NULL, NULL);
	f->done(f);
	finding_free(f);
}

static void step(struct finding *f)
{
	uint64_t slice = clock_mono_ms() + SLICE_MS;
	bool more = true;

	while (more && !f->enough && clock_mono_ms() < slice)
		more = log_find_step(f->find, STEP, see, f);
	if (more && !f->enough && clock_mono_ms() < f->until_ms &&
		log_find_at(f->find) - f->from < TOTAL)
		deferred_start(app_loop(site_of(f->q)->app), &f->more);
	else
		finish(f, more);
}

static void on_more(struct deferred *d)
{
	step(container_of(d, struct finding, more));
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
		.more.call = on_more,
		.until_ms = clock_mono_ms() + TOTAL_MS };
	mask_free(mask);
	http_on_gone(q, on_gone, f);
	step(f);
	return 0;
}
