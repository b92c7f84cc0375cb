#include "hosts/serve/site/drafts.h"

#include <stdlib.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/hex.h"
#include "base/mem.h"

enum { KEPT_MS = 600000, KEPT = 32 };

struct drafts {
	VEC(struct draft *) at;
};

struct drafts *drafts_new(void)
{
	return mem_new(struct drafts);
}

static void draft_free(struct draft *d)
{
	json_decref(d->values);
	json_decref(d->secrets);
	buf_done(&d->session);
	buf_done(&d->recipe);
	buf_done(&d->as);
	free(d);
}

void drafts_free(struct drafts *d)
{
	if (!d)
		return;
	vec_each (one, &d->at)
		draft_free(*one);
	vec_done(&d->at);
	free(d);
}

static void drop(struct drafts *d, size_t i)
{
	draft_free(d->at.at[i]);
	for (; i + 1 < d->at.len; i++)
		d->at.at[i] = d->at.at[i + 1];
	d->at.len--;
}

/* What is too old, and the oldest of a session that has too many. */
static void clean(struct drafts *d, struct str session)
{
	uint64_t now = clock_mono_ms();
	size_t mine = 0;

	for (size_t i = d->at.len; i-- > 0;) {
		bool own = str_eq(buf_str(&d->at.at[i]->session), session);

		mine += own;
		if (d->at.at[i]->until_ms < now || (own && mine >= KEPT))
			drop(d, i);
	}
}

struct draft *drafts_add(struct drafts *d, struct str session, struct str recipe, json_t *values,
	json_t *secrets, struct str as)
{
	struct draft *one = mem_new(struct draft);
	unsigned char random[16];

	clean(d, session);
	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		abort();
	hex_write(random, sizeof(random), one->id);
	buf_add(&one->session, session);
	buf_add(&one->recipe, recipe);
	buf_add(&one->as, as);
	one->values = values;
	one->secrets = secrets;
	one->until_ms = clock_mono_ms() + KEPT_MS;
	vec_push(&d->at, one);
	return one;
}

struct draft *drafts_find(struct drafts *d, struct str session, struct str id)
{
	vec_each (one, &d->at)
		if (str_eq(str_of((*one)->id), id) && str_eq(buf_str(&(*one)->session), session) &&
			(*one)->until_ms >= clock_mono_ms())
			return *one;
	return NULL;
}
