#include "base/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain-text.h"
#include "base/shell-words.h"
#include "base/utf8.h"
#include "base/width.h"

enum {
	WINDOW = 160,   /* how many bytes of a long line are shown */
	QUOTE_MAX = 60, /* how many characters of a text a message quotes */
};

void report_done(struct report *r)
{
	arena_done(&r->arena);
	vec_done(&r->issues);
	*r = REPORT_INIT;
}

void report_reset(struct report *r)
{
	report_done(r);
}

/* Finds line, column and the part of the line that is shown. */
static void locate(struct report *r, struct issue *i, struct where w)
{
	if (!w.source)
		return;
	struct str text = w.source->text;
	size_t begin = str_starts(text, S("\xEF\xBB\xBF")) ? 3 : 0; /* it is not shown */
	size_t at = MAX(MIN(w.offset, text.len), begin);

	i->file = arena_str(&r->arena, w.source->name);
	i->offset = at;
	i->line = 1;
	for (size_t nl; (nl = str_find(text, '\n', begin)) < at; begin = nl + 1)
		i->line++;
	i->column = utf8_count(str_sub(text, begin, at - begin)) + 1;

	size_t end = str_find(text, '\n', begin);
	if (end > begin && text.p[end - 1] == '\r')
		end--;
	end = MAX(end, at);
	size_t from = at - begin > WINDOW / 2 ? at - WINDOW / 2 : begin;
	if (end - begin <= WINDOW)
		from = begin;
	while (from > begin && ((unsigned char)text.p[from] & 0xC0) == 0x80)
		from--;
	struct str line = utf8_cut(str_sub(text, from, end - from), WINDOW);
	AUTO_BUF shown = BUF_INIT;
	if (from > begin)
		buf_adds(&shown, "…");
	size_t before = MIN(at - from, line.len);
	size_t marked = MIN(w.length, line.len - before);
	text_marked(&shown, str_sub(line, 0, before));
	i->mark = shown.len;
	text_marked(&shown, str_sub(line, before, marked));
	i->mark_len = shown.len - i->mark;
	text_marked(&shown, str_from(line, before + marked));
	if (from + line.len < end)
		buf_adds(&shown, "…");
	i->excerpt = arena_str(&r->arena, buf_str(&shown));
}

static size_t all_of(const struct report *r)
{
	return r->errors + r->warnings + r->notes;
}

static size_t *counter(struct report *r, enum issue_kind kind)
{
	return kind == ISSUE_WARNING ? &r->warnings : kind == ISSUE_NOTE ? &r->notes : &r->errors;
}

/* An error takes the place of the last warning: what is reported must not hide why nothing runs. */
static bool make_room(struct report *r, enum issue_kind kind)
{
	size_t at = r->issues.len;

	if (at < REPORT_MAX)
		return true;
	while (at > 0 && issue_is_error(&r->issues.at[at - 1]))
		at--;
	if (!issue_is_error(&(struct issue){ .kind = kind }) || at == 0)
		return false;
	memmove(&r->issues.at[at - 1], &r->issues.at[at],
		(r->issues.len - at) * sizeof(r->issues.at[0]));
	r->issues.len--;
	return true;
}

static void add(struct report *r, enum issue_kind kind, struct where w, struct str message)
{
	++*counter(r, kind);
	if (!make_room(r, kind))
		return;
	struct issue i = { .kind = kind, .message = message };
	locate(r, &i, w);
	vec_push(&r->issues, i);
}

#define ADD(kind, w)                                                  \
	do {                                                          \
		va_list args;                                         \
		va_start(args, fmt);                                  \
		add(r, kind, w, arena_vprintf(&r->arena, fmt, args)); \
		va_end(args);                                         \
	} while (0)

bool report_error(struct report *r, struct where w, const char *fmt, ...)
{
	ADD(ISSUE_INVALID, w);
	return false;
}

bool report_system(struct report *r, struct where w, const char *fmt, ...)
{
	ADD(ISSUE_SYSTEM, w);
	return false;
}

bool report_refuse(struct report *r, struct str run, const char *reason, const char *fmt, ...)
{
	size_t before = r->issues.len;

	ADD(ISSUE_REFUSED, (struct where){ 0 });
	if (r->issues.len == before)
		return false;
	struct issue *i = &r->issues.at[r->issues.len - 1];
	i->reason = reason;
	i->run = arena_str(&r->arena, run);
	return false;
}

static void add_action(struct report *r, struct issue *i, enum action what, struct str about)
{
	size_t n = 0;

	while (n < ISSUE_ACTIONS && i->actions[n].what)
		n++;
	if (n < ISSUE_ACTIONS)
		i->actions[n] = (struct issue_action){ what, arena_str(&r->arena, about) };
}

bool report_action(struct report *r, enum action what, struct str about)
{
	if (r->issues.len && all_of(r) <= r->issues.len)
		add_action(r, &r->issues.at[r->issues.len - 1], what, about);
	return false;
}

bool report_advise(struct report *r, const struct issue *i)
{
	if (i->hint.len)
		report_hint(r, "%.*s", STR(i->hint));
	for (size_t n = 0; n < ISSUE_ACTIONS && i->actions[n].what; n++)
		report_action(r, i->actions[n].what, i->actions[n].about);
	return false;
}

bool report_says(const struct report *r, struct str message)
{
	vec_each (i, &r->issues)
		if (str_eq(i->message, message))
			return true;
	return false;
}

bool report_warning(struct report *r, struct where w, const char *fmt, ...)
{
	ADD(ISSUE_WARNING, w);
	return true;
}

bool report_note(struct report *r, struct where w, const char *fmt, ...)
{
	ADD(ISSUE_NOTE, w);
	return true;
}

bool report_hint(struct report *r, const char *fmt, ...)
{
	va_list args;

	if (!r->issues.len || all_of(r) > r->issues.len)
		return false;
	va_start(args, fmt);
	r->issues.at[r->issues.len - 1].hint = arena_vprintf(&r->arena, fmt, args);
	va_end(args);
	return false;
}

bool report_field(struct report *r, struct str name)
{
	if (r->issues.len && all_of(r) <= r->issues.len)
		r->issues.at[r->issues.len - 1].field = arena_str(&r->arena, name);
	return false;
}

void report_slip(struct report *r)
{
	if (r->issues.len && all_of(r) <= r->issues.len)
		r->issues.at[r->issues.len - 1].slip = true;
}

void report_no_room(struct report *r)
{
	if (r->issues.len && all_of(r) <= r->issues.len)
		r->issues.at[r->issues.len - 1].no_room = true;
}

void report_held(struct report *r)
{
	if (r->issues.len && all_of(r) <= r->issues.len)
		r->issues.at[r->issues.len - 1].held = true;
}

bool report_is_held(const struct report *r)
{
	vec_each (i, &r->issues)
		if (i->held)
			return true;
	return false;
}

void report_remark(struct report *r, size_t from, const char *remark, enum action what)
{
	/* The first word tells remarks of one kind apart from others. */
	struct str kind = { remark, strcspn(remark, " ") };

	for (size_t i = from; i < r->issues.len; i++) {
		struct issue *issue = &r->issues.at[i];

		if (str_contains(issue->hint, kind))
			continue;
		issue->hint = arena_printf(&r->arena, "%.*s%s%s", STR(issue->hint),
			issue->hint.len ? "; " : "", remark);
		if (what)
			add_action(r, issue, what, S(""));
	}
}

static void add_errno(
	struct report *r, enum issue_kind kind, int err, const char *fmt, va_list args)
{
	struct str what = arena_vprintf(&r->arena, fmt, args);

	add(r, kind, (struct where){ 0 },
		arena_printf(&r->arena, "%.*s: %s", STR(what), strerror(err)));
	if (err == ENOSPC || err == EDQUOT)
		report_no_room(r);
}

bool report_errno(struct report *r, int err, const char *fmt, ...)
{
	/* What the user named and is not there is the user's mistake; the rest is the machine's. */
	bool invalid = err == ENOENT || err == EISDIR || err == ENOTDIR || err == EFBIG ||
		       err == EINVAL || err == ELOOP || err == ENAMETOOLONG;
	va_list args;

	va_start(args, fmt);
	add_errno(r, invalid ? ISSUE_INVALID : ISSUE_SYSTEM, err, fmt, args);
	va_end(args);
	return false;
}

bool report_fault(struct report *r, int err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	add_errno(r, ISSUE_SYSTEM, err, fmt, args);
	va_end(args);
	return false;
}

struct str report_quote(struct report *r, struct str text)
{
	if (text.len <= QUOTE_MAX)
		return text; /* none at all, too */
	struct str head = utf8_head(text, QUOTE_MAX);
	return head.len == text.len ? text : arena_printf(&r->arena, "%.*s…", STR(head));
}

void report_move(struct report *to, struct report *from)
{
	vec_each (i, &from->issues) {
		struct issue copy = *i;

		if (!make_room(to, i->kind))
			continue;
		copy.file = arena_str(&to->arena, i->file);
		copy.message = arena_str(&to->arena, i->message);
		copy.hint = arena_str(&to->arena, i->hint);
		copy.field = arena_str(&to->arena, i->field);
		copy.excerpt = arena_str(&to->arena, i->excerpt);
		copy.run = arena_str(&to->arena, i->run);
		for (size_t n = 0; n < ISSUE_ACTIONS; n++)
			copy.actions[n].about = arena_str(&to->arena, i->actions[n].about);
		vec_push(&to->issues, copy);
	}
	to->errors += from->errors;
	to->warnings += from->warnings;
	to->notes += from->notes;
	report_reset(from);
}

static int by_place(const void *a, const void *b)
{
	const struct issue *x = a, *y = b;
	int r = str_cmp(x->file, y->file);

	if (r)
		return r;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

void report_sort(struct report *r)
{
	/* Insertion keeps the order of equals, which qsort() does not promise; lists are short. */
	for (size_t i = 1; i < r->issues.len; i++) {
		struct issue moved = r->issues.at[i];
		size_t j = i;

		for (; j > 0 && by_place(&r->issues.at[j - 1], &moved) > 0; j--)
			r->issues.at[j] = r->issues.at[j - 1];
		r->issues.at[j] = moved;
	}
	/* What was found along two ways is reported once. */
	size_t kept = 0;
	for (size_t i = 0; i < r->issues.len; i++) {
		struct issue *now = &r->issues.at[i], *last = kept ? &r->issues.at[kept - 1] : NULL;

		if (last && now->file.len && by_place(last, now) == 0 && last->kind == now->kind &&
			str_eq(last->message, now->message)) {
			--*counter(r, now->kind);
			continue;
		}
		r->issues.at[kept++] = *now;
	}
	r->issues.len = kept;
}

static void underline(const struct issue *i, struct buf *b)
{
	struct str before = str_sub(i->excerpt, 0, i->mark);
	size_t marks = width_text(str_sub(i->excerpt, i->mark, i->mark_len));
	uint32_t c;

	buf_adds(b, "     | ");
	/* Tabs stay tabs, so that the mark stands under its place. */
	for (size_t at = 0; at < before.len;) {
		at += utf8_decode(before, at, &c);
		buf_fill(b, c == '\t' ? '\t' : ' ', c == '\t' ? 1 : width_of(c));
	}
	buf_fill(b, '^', MAX(marks, (size_t)1));
	buf_addc(b, '\n');
}

void issue_text(const struct issue *i, struct buf *b)
{
	const char *kind = i->kind == ISSUE_WARNING ? "warning"
			   : i->kind == ISSUE_NOTE  ? "note"
						    : "error";

	if (i->file.len) {
		text_marked(b, i->file);
		buf_printf(b, ":%zu:%zu: %s: ", i->line, i->column, kind);
	} else {
		buf_printf(b, "roux: %s: ", kind);
	}
	text_marked(b, i->message);
	buf_addc(b, '\n');
	if (i->file.len) {
		buf_printf(b, "%4zu | %.*s\n", i->line, STR(i->excerpt));
		underline(i, b);
	}
	if (i->hint.len) {
		buf_adds(b, "     hint: ");
		text_marked(b, i->hint);
		buf_addc(b, '\n');
	}
}

void report_text(const struct report *r, unsigned kinds, struct buf *b)
{
	vec_each (i, &r->issues)
		if (kinds & 1u << i->kind || (kinds & REPORT_SLIPS && i->slip))
			issue_text(i, b);
	if (all_of(r) > r->issues.len)
		buf_printf(b, "roux: and %zu more\n", all_of(r) - r->issues.len);
	else if (report_full(r))
		buf_adds(b, "roux: there may be more\n");
}

bool report_has_system(const struct report *r)
{
	vec_each (i, &r->issues)
		if (i->kind == ISSUE_SYSTEM)
			return true;
	return false;
}

bool report_lacks_room(const struct report *r)
{
	vec_each (i, &r->issues)
		if (issue_is_error(i) && !i->no_room)
			return false;
	return r->errors > 0;
}

const struct issue *report_refusal(const struct report *r)
{
	const struct issue *found = NULL;

	if (report_has_system(r))
		return NULL;
	vec_each (i, &r->issues)
		if (!found && i->kind == ISSUE_REFUSED)
			found = i;
	return found;
}

/* Whether a shell would not take it as the one word that it is. */
static bool needs_quotes(struct str word)
{
	static const char special[] = " \t\n\"'`$&|;<>()*?[]{}#!\\";

	for (size_t i = 0; i < word.len; i++)
		if (word.p[i] && strchr(special, word.p[i]))
			return true;
	return false;
}

/* Between backquotes stands what a person types: a path with a space is one word there. */
static bool in_command(const char *words, const char *at)
{
	bool inside = false;

	for (; words < at; words++)
		inside ^= *words == '`';
	return inside;
}

static void add_words(struct buf *b, const char *words, struct str about)
{
	const char *at = strstr(words, "%s");

	if (!at) {
		buf_adds(b, words);
		return;
	}
	buf_add(b, (struct str){ words, (size_t)(at - words) });
	if (in_command(words, at) && needs_quotes(about)) {
		AUTO_BUF word = BUF_INIT;

		buf_add(&word, about);
		command_display(b, (const char *const[]){ buf_cstr(&word) }, 1);
	} else {
		buf_add(b, about);
	}
	buf_adds(b, at + 2);
}

void actions_word(struct buf *hint, const struct issue_action *actions, const action_words words)
{
	size_t added = 0;

	for (size_t n = 0; n < ISSUE_ACTIONS && actions[n].what; n++) {
		const char *text = words[actions[n].what];

		if (!text)
			continue;
		if (hint->len)
			buf_adds(hint, added ? ", " : "; ");
		add_words(hint, text, actions[n].about);
		added++;
	}
}

void report_word(struct report *r, const action_words words)
{
	vec_each (i, &r->issues) {
		AUTO_BUF hint = BUF_INIT;

		if (!i->actions[0].what)
			continue;
		buf_add(&hint, i->hint);
		actions_word(&hint, i->actions, words);
		for (size_t n = 0; n < ISSUE_ACTIONS; n++)
			i->actions[n].what = ACTION_NONE;
		i->hint = arena_str(&r->arena, buf_str(&hint));
	}
}
