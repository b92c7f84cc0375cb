#include "hosts/telegram/bridge/config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic-file.h"
#include "base/clock.h"
#include "base/file.h"
#include "hosts/telegram/api/client.h"

enum { CONFIG_MAX = 4 << 20, LOCK_WAIT_MS = 10000 };

static const char *const preview_modes[] = { "edit", "off", NULL };

const struct setting settings_table[] = {
	{ "proactivePush", SETTING_TRUTH, .otherwise = "false",
		.what = "send results of other runs to the chat" },
	{ "preview.mode", SETTING_CHOICE, preview_modes, .otherwise = "\"edit\"",
		.what = "show an answer while it is written" },
	{ "preview.interval", SETTING_NUMBER, .min = 200, .max = 60000, .otherwise = "1200",
		.what = "milliseconds between two edits of it" },
	{ "pairing.code", SETTING_TEXT, .otherwise = "null", .what = "only `/start CODE` pairs" },
	{ "apiUrl", SETTING_URL, .otherwise = "null", .what = "another Bot API server" },
	{ "queueLimit", SETTING_NUMBER, .min = 0, .max = 1000000, .otherwise = "500",
		.what = "how many prompts may wait; 0: no limit" },
};
const size_t settings_count = ARRAY_SIZE(settings_table);

/* -- the file ------------------------------------------------------------------------------------
 */

static json_t *parse(struct str text)
{
	AUTO_REPORT ignored = REPORT_INIT;
	struct source source = { S("telegram.json"), text };
	json_t *d = json_read(&source, &ignored);

	if (json_is_object(d))
		return d;
	json_decref(d);
	return NULL;
}

static bool put_aside(const char *path, struct buf *note, struct report *r)
{
	AUTO_BUF aside = BUF_INIT;
	AUTO_BUF time = BUF_INIT;

	clock_rfc3339(&time, clock_real_ms());
	buf_printf(&aside, "%s.broken-%s", path, buf_cstr(&time));
	if (rename(path, buf_cstr(&aside)) < 0)
		return report_errno(r, errno, "cannot put '%s' aside", path);
	buf_printf(note,
		"%s is not a JSON object; it is now %s, and nothing is configured: fix it and "
		"put it back, or begin with roux telegram setup\n",
		path, buf_cstr(&aside));
	return true;
}

bool conf_read(struct config *c, struct buf *note, struct report *r)
{
	AUTO_BUF text = BUF_INIT;
	int n = file_read_regular(c->path, CONFIG_MAX, &text);

	json_decref(c->document);
	c->document = NULL;
	if (stat(c->path, &c->seen) < 0)
		memset(&c->seen, 0, sizeof(c->seen));
	if (n == 0 && !(c->document = parse(buf_str(&text))) && !put_aside(c->path, note, r))
		return false;
	if (!c->document)
		c->document = json_object();
	return n == 0 || n == -ENOENT || report_errno(r, -n, "cannot read '%s'", c->path);
}

void conf_done(struct config *c)
{
	json_decref(c->document);
	c->document = NULL;
}

bool conf_changed(const struct config *c)
{
	struct stat now;

	if (stat(c->path, &now) < 0)
		memset(&now, 0, sizeof(now));
	return now.st_ino != c->seen.st_ino || now.st_size != c->seen.st_size ||
	       now.st_mtim.tv_sec != c->seen.st_mtim.tv_sec ||
	       now.st_mtim.tv_nsec != c->seen.st_mtim.tv_nsec;
}

/* The object that holds the last part of a dotted key; made when `make` says so. */
static json_t *holder(json_t *top, const char **key, bool make)
{
	for (const char *dot; (dot = strchr(*key, '.')); *key = dot + 1) {
		json_t *next = json_object_getn(top, *key, (size_t)(dot - *key));

		if (!json_is_object(next)) {
			if (!make)
				return NULL;
			json_object_setn_new(top, *key, (size_t)(dot - *key), next = json_object());
		}
		top = next;
	}
	return top;
}

static void apply(json_t *document, const json_t *changes)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)changes, key, value)
	{
		const char *name = key;
		json_t *in = holder(document, &name, !json_is_null(value));

		if (in && json_is_null(value))
			json_object_del(in, name);
		else if (in)
			json_object_set(in, name, value);
	}
}

bool conf_write(struct config *c, const json_t *changes, struct buf *note, struct report *r)
{
	AUTO_BUF dir = BUF_INIT;
	AUTO_BUF text = BUF_INIT;
	AUTO_CLOSE int lock = -1;

	buf_add(&dir, (struct str){ c->path, (size_t)(strrchr(c->path, '/') - c->path) });
	int n = dir_make(buf_cstr(&dir));
	n = n < 0 ? n : file_lock(c->path, LOCK_WAIT_MS, &lock);
	if (n < 0)
		return report_errno(r, -n, "cannot change '%s'", c->path);
	if (!conf_read(c, note, r))
		return false;
	apply(c->document, changes);
	json_write_typed(&text, c->document, 2);
	buf_addc(&text, '\n');
	n = atomic_write(c->path, buf_str(&text), &(struct atomic_options){ .follow = true });
	/* A file that others may read has a token in it from now on. */
	if (n == 0 && chmod(c->path, 0600) < 0)
		n = -errno;
	if (stat(c->path, &c->seen) < 0)
		memset(&c->seen, 0, sizeof(c->seen));
	return n == 0 || report_errno(r, -n, "cannot write '%s'", c->path);
}

json_t *conf_get(const struct config *c, const char *key)
{
	json_t *in = holder(c->document, &key, false);

	return json_object_get(in, key);
}

struct str conf_text(const struct config *c, const char *key)
{
	json_t *value = conf_get(c, key);

	return json_is_string(value) ? json_str(value) : S("");
}

int64_t conf_number(const struct config *c, const char *key, int64_t otherwise)
{
	json_t *value = conf_get(c, key);

	return json_is_number(value) ? (int64_t)json_number_value(value) : otherwise;
}

bool conf_truth(const struct config *c, const char *key)
{
	return json_is_true(conf_get(c, key));
}

/* -- settings ------------------------------------------------------------------------------------
 */

const struct setting *setting_find(struct str key)
{
	for (size_t i = 0; i < settings_count; i++)
		if (str_eq(key, str_of(settings_table[i].key)))
			return &settings_table[i];
	return NULL;
}

static json_t *parse_choice(const struct setting *s, struct str text, struct report *r)
{
	for (size_t i = 0; s->choices[i]; i++)
		if (str_eq(text, str_of(s->choices[i])))
			return json_string(s->choices[i]);
	report_error(r, (struct where){ 0 }, "%s is one of: %s, %s", s->key, s->choices[0],
		s->choices[1]);
	return NULL;
}

json_t *setting_parse(const struct setting *s, struct str text, struct report *r)
{
	int64_t number;

	if (!text.len || str_eq(text, S("null")))
		return json_null();
	switch (s->kind) {
	case SETTING_TRUTH:
		if (str_eq(text, S("true")) || str_eq(text, S("on")))
			return json_true();
		if (str_eq(text, S("false")) || str_eq(text, S("off")))
			return json_false();
		report_error(r, (struct where){ 0 }, "%s is true or false", s->key);
		return NULL;
	case SETTING_NUMBER:
		if (str_to_int(text, &number) && number >= s->min && number <= s->max)
			return json_integer(number);
		report_error(r, (struct where){ 0 }, "%s is a whole number from %lld to %lld",
			s->key, (long long)s->min, (long long)s->max);
		return NULL;
	case SETTING_CHOICE:
		return parse_choice(s, text, r);
	case SETTING_URL:
		if (api_base_allowed(text))
			return json_from_str(text);
		report_error(r, (struct where){ 0 },
			"%s begins with https://, or with http:// for this machine", s->key);
		return NULL;
	case SETTING_TEXT:
		break;
	}
	if (text.len <= 64 && str_find(text, ' ', 0) == text.len)
		return json_from_str(text);
	report_error(r, (struct where){ 0 }, "%s is one word of at most 64 bytes", s->key);
	return NULL;
}

json_t *setting_value(const struct config *c, const struct setting *s)
{
	json_t *given = conf_get(c, s->key);

	return given && !json_is_null(given) ? json_incref(given)
					     : json_loads(s->otherwise, JSON_DECODE_ANY, NULL);
}
