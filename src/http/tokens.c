#include "http/tokens.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic-file.h"
#include "base/clock.h"
#include "base/file.h"
#include "data/json-out.h"
#include "http/http.h"

enum { FILE_MAX = 1 << 20, TOKENS_MAX = 256, NAME_MAX_BYTES = 64, LOCK_MS = 5000 };
#define HOUR_MS 3600000ull

static const struct {
	struct str name;
	unsigned scope;
} scopes[] = {
	{ { "read", 4 }, HTTP_READ },
	{ { "run", 3 }, HTTP_RUN },
	{ { "answer", 6 }, HTTP_ANSWER },
};

bool scopes_read(struct str text, unsigned *ret, struct report *r)
{
	unsigned mask = 0;

	for (size_t at = 0; at <= text.len;) {
		size_t end = str_find(text, ',', at), i = 0;
		struct str one = str_trim(str_sub(text, at, end - at));

		while (i < ARRAY_SIZE(scopes) && !str_eq(scopes[i].name, one))
			i++;
		if (i == ARRAY_SIZE(scopes)) {
			report_error(r, (struct where){ 0 }, "there is no scope '%.*s'", STR(one));
			return report_hint(
				r, "scopes are read, run and answer, with commas between them");
		}
		mask |= scopes[i].scope;
		at = end + 1;
	}
	*ret = mask;
	return true;
}

void scopes_write(struct buf *b, unsigned mask)
{
	bool more = false;

	for (size_t i = 0; i < ARRAY_SIZE(scopes); i++)
		if (mask & scopes[i].scope) {
			if (more)
				buf_addc(b, ',');
			buf_add(b, scopes[i].name);
			more = true;
		}
}

static void token_free(struct token *t)
{
	if (!t)
		return;
	arena_done(&t->arena);
	free(t);
}

static void file_name(struct str dir, struct buf *b)
{
	buf_printf(b, "%.*s/tokens.json", STR(dir));
}

static void look(struct str dir, struct stat *ret)
{
	AUTO_BUF path = BUF_INIT;

	file_name(dir, &path);
	if (stat(buf_cstr(&path), ret) < 0)
		*ret = (struct stat){ 0 };
}

static void read_one(struct tokens *t, const json_t *v)
{
	struct str sum = json_text_of(v, "sha256");
	unsigned mask = 0;
	size_t i;
	json_t *scope;

	if (sum.len != SHA256_HEX - 1 || t->at.len == TOKENS_MAX)
		return;
	json_array_foreach(json_object_get(v, "scopes"), i, scope)
	{
		for (size_t k = 0; k < ARRAY_SIZE(scopes); k++)
			if (str_eq(json_str(scope), scopes[k].name))
				mask |= scopes[k].scope;
	}
	struct token *one = mem_new(struct token);
	memcpy(one->sum, sum.p, sum.len);
	one->name = arena_str(&one->arena, json_text_of(v, "name"));
	one->scopes = mask;
	one->created = clock_read_rfc3339(json_text_of(v, "created"));
	one->seen = clock_read_rfc3339(json_text_of(v, "seen"));
	vec_push(&t->at, one);
}

bool tokens_open(struct tokens *t, struct str dir, struct report *r)
{
	AUTO_BUF path = BUF_INIT;
	AUTO_BUF text = BUF_INIT;
	size_t i;
	json_t *v;

	*t = (struct tokens){ .dir = dir };
	if (!dir.len)
		return true;
	file_name(dir, &path);
	look(dir, &t->seen); /* before it is read, so that a change meanwhile is found later */
	int n = file_read_regular(buf_cstr(&path), FILE_MAX, &text);
	if (n == -ENOENT || n == -ENOTDIR)
		return true;
	if (n < 0)
		return report_errno(r, -n, "cannot read '%s'", buf_cstr(&path));
	AUTO_JSON *root = json_read(&(struct source){ buf_str(&path), buf_str(&text) }, r);
	if (!root)
		return false;
	json_array_foreach(json_object_get(root, "tokens"), i, v) read_one(t, v);
	return true;
}

void tokens_close(struct tokens *t)
{
	vec_each (one, &t->at)
		token_free(*one);
	vec_each (one, &t->old)
		token_free(*one);
	vec_done(&t->at);
	vec_done(&t->old);
}

/* A token that stays keeps its rates. */
static void keep_rates(struct token *to, const struct tokens *from)
{
	vec_each (one, &from->at)
		if (strcmp((*one)->sum, to->sum) == 0) {
			to->requests = (*one)->requests;
			to->mutations = (*one)->mutations;
			to->seen = MAX(to->seen, (*one)->seen);
		}
}

bool tokens_are_stale(const struct tokens *t)
{
	struct stat now = { 0 };

	if (t->dir.len)
		look(t->dir, &now);
	return now.st_ino != t->seen.st_ino || now.st_size != t->seen.st_size ||
	       now.st_mtim.tv_sec != t->seen.st_mtim.tv_sec ||
	       now.st_mtim.tv_nsec != t->seen.st_mtim.tv_nsec;
}

bool tokens_reload(struct tokens *t, struct report *r)
{
	struct tokens fresh;
	bool ok = tokens_open(&fresh, t->dir, r);

	t->seen = fresh.seen; /* also of one that cannot be read: once is enough */
	if (!ok) {
		tokens_close(&fresh);
		return false;
	}
	vec_each (one, &fresh.at)
		keep_rates(*one, t);
	vec_each (one, &t->at) {
		if ((*one)->given)
			vec_push(&fresh.at, *one);
		else
			vec_push(&t->old, *one);
	}
	free(t->at.at);
	memcpy(&t->at, &fresh.at, sizeof(t->at));
	return true;
}

struct token *tokens_find(struct tokens *t, struct str secret, uint64_t real_ms)
{
	struct token *found = NULL;

	/* All of them are compared, so that the time does not tell which one it was. */
	vec_each (one, &t->at)
		if (secret_matches(secret, (*one)->sum))
			found = *one;
	if (found && real_ms > found->seen + HOUR_MS) {
		found->seen = real_ms;
		t->changed = true;
	}
	return found;
}

void tokens_add_given(struct tokens *t, struct str name, struct str secret, unsigned mask)
{
	struct token *one = mem_new(struct token);

	sha256_hex(secret, one->sum);
	one->name = arena_str(&one->arena, name);
	one->scopes = mask;
	one->given = true;
	vec_push(&t->at, one);
}

/* -- the file ------------------------------------------------------------------------------------
 */

static void write_scopes(struct json_out *o, unsigned mask)
{
	json_out_array(o, "scopes");
	for (size_t i = 0; i < ARRAY_SIZE(scopes); i++)
		if (mask & scopes[i].scope)
			json_out_str(o, NULL, scopes[i].name);
	json_out_array_end(o);
}

static int save(const struct tokens *t)
{
	AUTO_BUF path = BUF_INIT;
	AUTO_BUF text = BUF_INIT;
	struct json_out o = { .b = &text };

	json_out_object(&o, NULL);
	json_out_array(&o, "tokens");
	vec_each (one, &t->at) {
		json_out_object(&o, NULL);
		json_out_str(&o, "name", (*one)->name);
		json_out_str(&o, "sha256", str_of((*one)->sum));
		write_scopes(&o, (*one)->scopes);
		json_out_time(&o, "created", (*one)->created);
		json_out_time(&o, "seen", (*one)->seen);
		json_out_object_end(&o);
	}
	json_out_array_end(&o);
	json_out_object_end(&o);
	buf_addc(&text, '\n');
	file_name(t->dir, &path);
	return atomic_write(buf_cstr(&path), buf_str(&text), NULL);
}

/* Opens the file for a change. The caller closes *ret_lock and `t`. */
static bool begin_change(struct str dir, struct tokens *t, int *ret_lock, struct report *r)
{
	AUTO_BUF path = BUF_INIT;
	AUTO_BUF made = BUF_INIT;

	*t = (struct tokens){ 0 };
	buf_add(&made, dir);
	int n = dir_make(buf_cstr(&made));
	file_name(dir, &path);
	if (n == 0)
		n = file_lock(buf_cstr(&path), LOCK_MS, ret_lock);
	if (n < 0)
		return report_errno(r, -n, "cannot change '%s'", buf_cstr(&path));
	return tokens_open(t, dir, r);
}

static size_t find_name(const struct tokens *t, struct str name)
{
	for (size_t i = 0; i < t->at.len; i++)
		if (str_eq(t->at.at[i]->name, name))
			return i;
	return SIZE_MAX;
}

static bool check_name(struct str name, struct report *r)
{
	bool good = name.len > 0 && name.len <= NAME_MAX_BYTES;

	for (size_t i = 0; i < name.len; i++) {
		char c = name.p[i];

		good = good && (ascii_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
				       strchr("._-", c) != NULL);
	}
	return good || report_error(r, (struct where){ 0 },
			       "a token's name has up to %d letters, digits, dots, dashes and "
			       "underscores, found '%.*s'",
			       NAME_MAX_BYTES, STR(name));
}

bool tokens_add(
	struct str dir, struct str name, unsigned mask, char secret[SECRET_HEX], struct report *r)
{
	AUTO_CLOSE int lock = -1;
	struct tokens t = { 0 };
	bool ok = check_name(name, r) && begin_change(dir, &t, &lock, r);

	if (ok && find_name(&t, name) != SIZE_MAX)
		ok = report_refuse(
			r, S(""), TOKEN_EXISTS, "there is a token with the name '%.*s'", STR(name));
	else if (ok && t.at.len >= TOKENS_MAX)
		ok = report_refuse(r, S(""), "full", "there are %d tokens already", TOKENS_MAX);
	if (ok && !secret_make(secret))
		ok = report_errno(r, errno, "cannot make a token");
	if (ok) {
		tokens_add_given(&t, name, str_of(secret), mask);
		t.at.at[t.at.len - 1]->created = clock_real_ms();
		int n = save(&t);
		ok = n == 0 || report_errno(r, -n, "cannot write the tokens");
	}
	tokens_close(&t);
	return ok;
}

bool tokens_remove(struct str dir, struct str name, struct report *r)
{
	AUTO_CLOSE int lock = -1;
	struct tokens t = { 0 };
	bool ok = begin_change(dir, &t, &lock, r);
	size_t i = ok ? find_name(&t, name) : SIZE_MAX;

	if (ok && i == SIZE_MAX)
		ok = report_error(r, (struct where){ 0 }, "there is no token with the name '%.*s'",
			STR(name));
	if (ok) {
		token_free(t.at.at[i]);
		memmove(&t.at.at[i], &t.at.at[i + 1], (t.at.len - i - 1) * sizeof(*t.at.at));
		t.at.len--;
		int n = save(&t);
		ok = n == 0 || report_errno(r, -n, "cannot write the tokens");
	}
	tokens_close(&t);
	return ok;
}

void tokens_save_seen(struct tokens *t)
{
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_CLOSE int lock = -1;
	struct tokens file = { 0 };

	if (!t->changed || !t->dir.len)
		return;
	t->changed = false;
	if (begin_change(t->dir, &file, &lock, &ignored)) {
		vec_each (one, &file.at)
			keep_rates(*one, t);
		if (file.at.len)
			(void)save(&file);
	}
	tokens_close(&file);
}
