#pragma once

/* Stands in for rules that are not there yet. Each goes when its module comes. */

#include <stdbool.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/report.h"
#include "base/str.h"
#include "data/json.h"

enum { ATTACH_MAX = 10 };
static inline bool attach_is_photo(struct str p)
{
	return str_ends(p, S(".png")) || str_ends(p, S(".jpg"));
}
static inline bool attach_check(struct str p, uint64_t max, struct report *r)
{
	struct stat st;
	if (stat(p.p, &st) < 0 || !S_ISREG(st.st_mode) || (uint64_t)st.st_size > max)
		return report_error(r, (struct where){ 0 }, "cannot attach '%s'", p.p);
	return true;
}

enum stop_reason { STOP_DONE, STOP_ABORTED, STOP_ERROR };
enum ending_kind {
	ENDING_NO_TURN,
	ENDING_ABORTED,
	ENDING_ERROR,
	ENDING_TEXT,
	ENDING_FILES,
	ENDING_EMPTY
};
struct ending_facts {
	bool has_turn;
	enum stop_reason stop;
	bool has_text, has_files, held;
};
struct ending_plan {
	enum ending_kind kind;
	bool send_error, send_notice;
};
static inline struct ending_plan ending_plan(const struct ending_facts *f)
{
	struct ending_plan p = { ENDING_TEXT, false, false };
	if (f->stop == STOP_ABORTED)
		p.kind = ENDING_ABORTED;
	else if (f->stop == STOP_ERROR) {
		p.kind = ENDING_ERROR;
		p.send_error = true;
	} else if (!f->has_text) {
		p.kind = f->has_files ? ENDING_FILES : ENDING_EMPTY;
		p.send_notice = f->has_files;
	}
	return p;
}

static inline bool group_joins(const json_t *l, const json_t *m, uint64_t *ms)
{
	json_t *g = json_object_get(m, "media_group_id");
	*ms = 1200;
	return g && json_equal(g, json_object_get(l, "media_group_id"));
}
static inline bool group_opens(const json_t *m, uint64_t *ms)
{
	*ms = 1200;
	return json_object_get(m, "media_group_id") != NULL;
}

static inline bool handler_takes_file(const json_t *h, struct str kind, struct str mime)
{
	(void)mime;
	struct str t = json_text_of(h, "type");
	return !t.len || str_eq(t, kind);
}
static inline bool handler_takes_text(const json_t *h)
{
	return str_eq(json_text_of(h, "type"), S("text")) ||
	       str_eq(json_text_of(h, "match"), S("text"));
}

enum file_limit_kind { FILE_LIMIT_INBOUND, FILE_LIMIT_OUTBOUND };
static inline uint64_t file_limit(enum file_limit_kind k, char *(*get)(const char *))
{
	(void)k;
	(void)get;
	return 52428800;
}

enum lock_state_ { LOCK_STATE_INACTIVE, LOCK_STATE_HERE, LOCK_STATE_ELSEWHERE, LOCK_STATE_STALE };
static inline enum lock_state_ lock_state(int64_t pid, int64_t me, bool alive)
{
	return pid <= 0    ? LOCK_STATE_INACTIVE
	       : pid == me ? LOCK_STATE_HERE
	       : alive     ? LOCK_STATE_ELSEWHERE
			   : LOCK_STATE_STALE;
}
static inline bool lock_same_start(uint64_t a, uint64_t b)
{
	return !a || !b || (a > b ? a - b : b - a) <= 2000;
}

struct media_file {
	struct str id, kind, name, mime;
	uint64_t size;
};
struct media_files {
	struct media_file *at;
	size_t count;
};
static inline struct str media_safe_name(struct arena *a, struct str n)
{
	return arena_str(a, n);
}
static inline void media_files(struct arena *a, const json_t *m, struct media_files *r)
{
	(void)m;
	r->count = 0;
	r->at = NULL;
	size_t i;
	json_t *x;
	json_array_foreach((json_t *)m, i, x)
	{
		json_t *d = json_object_get(x, "document");
		if (!d)
			continue;
		if (!r->at)
			r->at = arena_array(a, struct media_file, 10);
		r->at[r->count++] = (struct media_file){ json_text_of(d, "file_id"), S("document"),
			json_text_of(d, "file_name"), json_text_of(d, "mime_type"),
			(uint64_t)json_number_of(d, "file_size") };
	}
}

static inline struct str message_prompt_text(struct arena *a, const json_t *ms)
{
	json_t *m = json_array_get(ms, 0);
	struct str t = json_text_of(m, "text");
	if (!t.len)
		t = json_text_of(m, "caption");
	return arena_str(a, str_trim(t));
}
static inline struct str message_command_text(struct arena *a, const json_t *ms)
{
	return message_prompt_text(a, ms);
}

enum reaction_effect { REACTION_NONE, REACTION_REMOVE, REACTION_PROMOTE, REACTION_DEMOTE };
struct reaction {
	enum reaction_effect effect;
};
static inline struct reaction reaction_read(const json_t *b)
{
	(void)b;
	return (struct reaction){ REACTION_NONE };
}

static inline struct str template_command_name(struct arena *a, struct str s)
{
	return arena_str(a, s);
}
static inline struct str template_body(struct str s)
{
	return s;
}
static inline void template_expand(struct buf *b, struct str body, struct str args)
{
	(void)args;
	buf_add(b, body);
}

struct mark_button {
	struct str label, prompt;
};
struct mark_voice {
	struct str text, lang, rate;
};
struct marks {
	struct str text;
	struct mark_button *buttons;
	size_t button_count;
	struct mark_voice *voices;
	size_t voice_count;
	bool unclosed;
};
static inline void marks_read(struct arena *a, struct str t, struct marks *m)
{
	(void)a;
	*m = (struct marks){ .text = t };
}

static inline void turn_prompt_of(struct buf *b, const json_t *t)
{
	if (!json_truth_of(t, "raw"))
		buf_adds(b, "[telegram] ");
	buf_add(b, json_text_of(t, "text"));
	size_t i;
	json_t *f;
	json_array_foreach(json_object_get(t, "files"), i, f)
		buf_printf(b, "\n- %.*s", STR(json_str(f)));
}
static inline struct str turn_summary(struct arena *a, const json_t *t)
{
	return arena_str(a, json_text_of(t, "text"));
}

static inline void redact(struct buf *b, struct str t, struct str token)
{
	for (size_t i = 0; i < t.len;) {
		if (token.len && t.len - i >= token.len &&
			memcmp(t.p + i, token.p, token.len) == 0) {
			buf_adds(b, "<redacted-token>");
			i += token.len;
		} else
			buf_addc(b, t.p[i++]);
	}
}

struct jsonl_stream {
	struct buf b;
};
static inline void jsonl_feed(struct jsonl_stream *s, struct str t)
{
	buf_add(&s->b, t);
}
static inline struct str jsonl_final(struct jsonl_stream *s)
{
	return buf_str(&s->b);
}
static inline void jsonl_done(struct jsonl_stream *s)
{
	buf_done(&s->b);
}
