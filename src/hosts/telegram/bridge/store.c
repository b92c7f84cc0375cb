#include "hosts/telegram/bridge/store.h"

#include <stdlib.h>

#include "base/clock.h"
#include "hosts/telegram/text/redact.h"

static json_t *parse(struct str text)
{
	AUTO_REPORT ignored = REPORT_INIT;
	struct source source = { S("ledger"), text };

	return json_read(&source, &ignored);
}

json_t *store_get(struct store *s, const char *key)
{
	struct arena a = ARENA_INIT;
	struct str text;
	json_t *value = NULL;

	if (host_state_get(s->app, STORE_HOST, str_of(key), &a, &text, &s->report))
		value = parse(text);
	arena_done(&a);
	return value;
}

bool store_set(struct store *s, const char *key, const json_t *value)
{
	AUTO_BUF text = BUF_INIT;

	json_write(&text, value, 0);
	return host_state_set(s->app, STORE_HOST, str_of(key), buf_str(&text), &s->report);
}

bool store_set_new(struct store *s, const char *key, json_t *value)
{
	AUTO_JSON *owned = value;

	return store_set(s, key, owned);
}

bool store_delete(struct store *s, const char *key)
{
	return host_state_delete(s->app, STORE_HOST, str_of(key), &s->report);
}

static bool collect(void *data, struct str key, struct str value)
{
	json_t *v = parse(value);

	if (v)
		json_array_append_new(data, json_pack("[o,o]", json_from_str(key), v));
	return true;
}

json_t *store_list(struct store *s, const char *prefix)
{
	json_t *list = json_array();

	(void)host_state_each(s->app, STORE_HOST, str_of(prefix), collect, list, &s->report);
	return list;
}

uint64_t store_count_up(struct store *s, const char *key)
{
	AUTO_JSON *now = store_get(s, key);
	json_int_t n = json_integer_value(now);

	(void)store_set_new(s, key, json_integer(n + 1));
	return (uint64_t)n;
}

/* -- the ring ------------------------------------------------------------------------------------
 */

static int newest_first(const void *one, const void *other)
{
	json_int_t a = json_number_of(*(json_t *const *)one, "seq");
	json_int_t b = json_number_of(*(json_t *const *)other, "seq");

	return (a < b) - (a > b);
}

json_t *ring_recent(struct store *s, size_t max)
{
	AUTO_JSON *all = store_list(s, "ring/");
	VEC(json_t *) entries = { 0 };
	json_t *ret = json_array(), *pair;
	size_t i;

	json_array_foreach(all, i, pair) vec_push(&entries, json_array_get(pair, 1));
	if (entries.len)
		qsort(entries.at, entries.len, sizeof(*entries.at), newest_first);
	for (i = 0; i < MIN(max, entries.len); i++) {
		json_t *e = json_copy(entries.at[i]);

		json_object_del(e, "seq");
		json_array_append_new(ret, e);
	}
	vec_done(&entries);
	return ret;
}

static void find_next(struct store *s)
{
	AUTO_JSON *all = store_list(s, "ring/");
	json_t *pair;
	size_t i;

	s->ring_next = 1;
	json_array_foreach(all, i, pair)
	{
		json_int_t seq = json_number_of(json_array_get(pair, 1), "seq");

		if (seq >= (json_int_t)s->ring_next)
			s->ring_next = (uint64_t)seq + 1;
	}
}

static json_t *redacted(struct store *s, struct str text)
{
	AUTO_BUF clean = BUF_INIT;

	redact(&clean, text, s->token);
	return json_from_str(buf_str(&clean));
}

void ring_add(struct store *s, const char *category, struct str message, json_t *details)
{
	AUTO_JSON *own = details ? details : json_object();
	AUTO_BUF time = BUF_INIT;
	const char *name;
	json_t *value;
	void *next;
	char key[16];

	if (!s->ring_next)
		find_next(s);
	json_object_foreach_safe(own, next, name, value) if (json_is_string(value))
		json_object_set_new(own, name, redacted(s, json_str(value)));
	clock_rfc3339(&time, clock_real_ms());
	(void)snprintf(key, sizeof(key), "ring/%03u", (unsigned)(s->ring_next % RING_KEPT));
	(void)store_set_new(s, key,
		json_pack("{s:I,s:s,s:s,s:o,s:O}", "seq", (json_int_t)s->ring_next, "time",
			buf_cstr(&time), "category", category, "message", redacted(s, message),
			"details", own));
	s->ring_next++;
}
