#include "http/sessions.h"

#include <stdlib.h>
#include <string.h>

#include "base/atomic-file.h"
#include "base/clock.h"
#include "base/file.h"
#include "data/json-out.h"

enum { FILE_MAX = 1 << 20 };
#define DAY_MS 86400000ull
#define HOUR_MS 3600000ull

static void file_name(const struct sessions *s, struct buf *b)
{
	buf_printf(b, "%.*s/sessions.json", STR(s->dir));
}

static void name_it(struct session *one)
{
	char sum[SHA256_HEX];

	sha256_hex(str_of(one->sum), sum);
	memcpy(one->name, sum, sizeof(one->name) - 1);
}

static void read_one(struct sessions *s, const json_t *v)
{
	struct str sum = json_text_of(v, "sha256");

	if (sum.len != SHA256_HEX - 1 || s->at.len == SESSIONS_MAX)
		return;
	struct session *one = mem_new(struct session);
	memcpy(one->sum, sum.p, sum.len);
	one->created = clock_read_rfc3339(json_text_of(v, "created"));
	one->seen = clock_read_rfc3339(json_text_of(v, "seen"));
	name_it(one);
	vec_push(&s->at, one);
}

void sessions_init(struct sessions *s, struct str dir)
{
	AUTO_BUF path = BUF_INIT;
	AUTO_BUF text = BUF_INIT;
	AUTO_REPORT ignored = REPORT_INIT;
	size_t i;
	json_t *v;

	*s = (struct sessions){ .dir = dir };
	file_name(s, &path);
	if (!dir.len || file_read_regular(buf_cstr(&path), FILE_MAX, &text) < 0)
		return;
	AUTO_JSON *root = json_read(&(struct source){ S("sessions"), buf_str(&text) }, &ignored);
	json_array_foreach(json_object_get(root, "sessions"), i, v) read_one(s, v);
}

void sessions_done(struct sessions *s)
{
	vec_each (one, &s->at)
		free(*one);
	vec_done(&s->at);
	vec_done(&s->once);
}

struct session *sessions_find(struct sessions *s, struct str secret, uint64_t real_ms)
{
	vec_each (one, &s->at) {
		if (!secret_matches(secret, (*one)->sum))
			continue;
		if (real_ms > (*one)->created + SESSION_DAYS * DAY_MS)
			return NULL;
		/* Not at every request: the file would be written all the time. */
		if (real_ms > (*one)->seen + HOUR_MS) {
			(*one)->seen = real_ms;
			s->changed = true;
			(void)sessions_save(s);
		}
		return *one;
	}
	return NULL;
}

static void remove_at(struct sessions *s, size_t i)
{
	free(s->at.at[i]);
	memmove(&s->at.at[i], &s->at.at[i + 1], (s->at.len - i - 1) * sizeof(*s->at.at));
	s->at.len--;
	s->changed = true;
}

struct session *sessions_add(struct sessions *s, uint64_t real_ms, char secret[SECRET_HEX])
{
	if (!secret_make(secret))
		return NULL;
	for (size_t i = s->at.len; i-- > 0;)
		if (real_ms > s->at.at[i]->created + SESSION_DAYS * DAY_MS)
			remove_at(s, i);
	while (s->at.len >= SESSIONS_MAX) {
		size_t oldest = 0;

		for (size_t i = 1; i < s->at.len; i++)
			if (s->at.at[i]->seen < s->at.at[oldest]->seen)
				oldest = i;
		remove_at(s, oldest);
	}
	struct session *one = mem_new(struct session);
	sha256_hex(str_of(secret), one->sum);
	one->created = one->seen = real_ms;
	name_it(one);
	vec_push(&s->at, one);
	s->changed = true;
	return one;
}

void sessions_remove(struct sessions *s, struct session *one)
{
	for (size_t i = 0; i < s->at.len; i++)
		if (s->at.at[i] == one) {
			remove_at(s, i);
			return;
		}
}

int sessions_save(struct sessions *s)
{
	AUTO_BUF path = BUF_INIT;
	AUTO_BUF text = BUF_INIT;
	struct json_out o = { .b = &text };

	if (!s->dir.len || !s->changed)
		return 0;
	json_out_object(&o, NULL);
	json_out_array(&o, "sessions");
	vec_each (one, &s->at) {
		json_out_object(&o, NULL);
		json_out_str(&o, "sha256", str_of((*one)->sum));
		json_out_str(&o, "name", str_of((*one)->name));
		json_out_time(&o, "created", (*one)->created);
		json_out_time(&o, "seen", (*one)->seen);
		json_out_object_end(&o);
	}
	json_out_array_end(&o);
	json_out_object_end(&o);
	buf_addc(&text, '\n');
	file_name(s, &path);
	s->changed = false;
	return atomic_write(buf_cstr(&path), buf_str(&text), NULL);
}

/* -- for one login -------------------------------------------------------------------------------
 */

static void drop_once(struct sessions *s, size_t i)
{
	memmove(&s->once.at[i], &s->once.at[i + 1], (s->once.len - i - 1) * sizeof(*s->once.at));
	s->once.len--;
}

bool once_make(struct sessions *s, uint64_t now_ms, char secret[SECRET_HEX])
{
	struct once one = { .until_ms = now_ms + ONCE_MS };

	if (!secret_make(secret))
		return false;
	if (s->once.len == ONCE_MAX)
		drop_once(s, 0);
	sha256_hex(str_of(secret), one.sum);
	vec_push(&s->once, one);
	return true;
}

static size_t find_once(struct sessions *s, struct str secret, uint64_t now_ms)
{
	for (size_t i = 0; i < s->once.len; i++)
		if (secret_matches(secret, s->once.at[i].sum))
			return now_ms < s->once.at[i].until_ms ? i : SIZE_MAX;
	return SIZE_MAX;
}

bool once_use(struct sessions *s, struct str secret, uint64_t now_ms)
{
	size_t i = find_once(s, secret, now_ms);

	if (i == SIZE_MAX)
		return false;
	drop_once(s, i);
	return true;
}
