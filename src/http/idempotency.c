#include "http/idempotency.h"

#include <stdlib.h>

void idempotency_init(struct idempotency *t)
{
	*t = (struct idempotency){ 0 };
	list_init(&t->entries);
}

void idempotent_free(struct idempotency *t, struct idempotent *one)
{
	list_remove(&one->link);
	t->count--;
	buf_done(&one->key);
	buf_done(&one->reply.body);
	vec_done(&one->reply.headers);
	vec_done(&one->waiting);
	arena_done(&one->reply.arena);
	free(one);
}

void idempotency_done(struct idempotency *t)
{
	while (!list_empty(&t->entries))
		idempotent_free(t, list_entry(t->entries.next, struct idempotent, link));
}

/* Those that are being carried out stay, whatever their number: there are not more of them than
 * connections. */
static void make_room(struct idempotency *t, uint64_t now_ms)
{
	list_each_safe (link, &t->entries) {
		struct idempotent *one = list_entry(link, struct idempotent, link);

		if (!one->first &&
			(now_ms - one->since_ms > IDEMPOTENT_MS || t->count >= IDEMPOTENT_MAX))
			idempotent_free(t, one);
	}
}

struct idempotent *idempotency_find(struct idempotency *t, struct str key, uint64_t now_ms)
{
	list_each (link, &t->entries) {
		struct idempotent *one = list_entry(link, struct idempotent, link);

		if (str_eq(buf_str(&one->key), key) &&
			(one->first || now_ms - one->since_ms <= IDEMPOTENT_MS))
			return one;
	}
	make_room(t, now_ms);
	struct idempotent *one = mem_new(struct idempotent);
	buf_add(&one->key, key);
	list_append(&t->entries, &one->link);
	t->count++;
	return one;
}

void idempotent_forget(struct idempotent *one, const struct http_request *q)
{
	for (size_t i = 0; i < one->waiting.len; i++)
		if (one->waiting.at[i] == q)
			one->waiting.at[i--] = vec_pop(&one->waiting);
}
