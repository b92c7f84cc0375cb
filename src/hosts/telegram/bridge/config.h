#pragma once

#include <sys/stat.h>

#include "data/json.h"

/* telegram.json: what the user has configured. Keys that the bridge does not know are kept. Every
 * writer changes only its own keys: the file is read, changed and replaced under a lock. */
struct config {
	const char *path;
	json_t *document; /* an empty object when there is no file */
	struct stat seen; /* zeroed: there was none */
};

/* A file that is not a JSON object is renamed and never written over; `note` then says so. False
 * with an issue: it cannot be read. Called again it reads the file again. */
bool conf_read(struct config *c, struct buf *note, struct report *r);
void conf_done(struct config *c);
/* Whether the file is another one than was read. */
bool conf_changed(const struct config *c);
/* Sets what `changes` has by dotted key ("preview.mode"); null removes. `c` is then as the file.
 * Borrowed. */
bool conf_write(struct config *c, const json_t *changes, struct buf *note, struct report *r);

/* Values by dotted key. Borrowed. */
json_t *conf_get(const struct config *c, const char *key);
struct str conf_text(const struct config *c, const char *key);
int64_t conf_number(const struct config *c, const char *key, int64_t otherwise);
bool conf_truth(const struct config *c, const char *key);

/* -- what `settings` may change -------------------------------------------------------------------
 */

enum setting_kind { SETTING_TRUTH, SETTING_NUMBER, SETTING_CHOICE, SETTING_TEXT, SETTING_URL };

struct setting {
	const char *key;
	enum setting_kind kind;
	const char *const *choices; /* ends with NULL */
	int64_t min, max;
	const char *otherwise; /* as JSON: what holds when it is not given */
	const char *what;      /* one clause */
};

extern const struct setting settings_table[];
extern const size_t settings_count;

const struct setting *setting_find(struct str key);
/* The value that a person has typed: a new reference. NULL with an issue. Empty: json_null(). */
json_t *setting_parse(const struct setting *s, struct str text, struct report *r);
/* Its value now: a new reference. */
json_t *setting_value(const struct config *c, const struct setting *s);
