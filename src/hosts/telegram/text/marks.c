#include "hosts/telegram/text/marks.h"

#include "base/buf.h"
#include "base/lang.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "hosts/telegram/text/lines.h"

struct reader {
	struct arena *arena;
	struct str source;
	size_t at;    /* where the line begins that is read */
	bool growing; /* more may follow */
	bool removed; /* a comment */
	struct line fence;
	bool fenced;
	struct buf out;
	size_t blanks; /* blank lines that are not yet written */
	VEC(struct mark_button) buttons;
	VEC(struct mark_voice) voices;
	struct str lang, rate;
	bool unclosed;
};

static size_t find(struct str s, struct str part, size_t from)
{
	const char *p = from < s.len ? memmem(s.p + from, s.len - from, part.p, part.len) : NULL;

	return p ? (size_t)(p - s.p) : s.len;
}

/* -- what a comment says -------------------------------------------------------------------------
 */

static bool name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || ascii_digit(c) || c == '_' ||
	       c == '-';
}

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The next `name=value` of *head, which is moved behind it. Words without `=` are passed over. */
static bool next_attribute(struct str *head, struct str *name, struct str *value)
{
	for (size_t i = 0; i < head->len;) {
		size_t begin = i;

		while (i < head->len && name_char(head->p[i]))
			i++;
		if (i == begin || i == head->len || head->p[i] != '=') {
			while (i < head->len && !blank(head->p[i]))
				i++;
			while (i < head->len && blank(head->p[i]))
				i++;
			continue;
		}
		*name = str_sub(*head, begin, i - begin);
		begin = ++i;
		char quote = i < head->len ? head->p[i] : 0;
		size_t end =
			quote == '"' || quote == '\'' ? str_find(*head, quote, i + 1) : head->len;
		if (end < head->len) {
			*value = str_sub(*head, begin + 1, end - begin - 1);
			i = end + 1;
		} else {
			while (i < head->len && !blank(head->p[i]))
				i++;
			*value = str_sub(*head, begin, i - begin);
		}
		*head = str_from(*head, i);
		return true;
	}
	return false;
}

struct attributes {
	struct str label, prompt, text, lang, rate;
};

static struct attributes read_attributes(struct str head)
{
	struct attributes a = { 0 };
	struct str name, value;

	while (next_attribute(&head, &name, &value)) {
		struct str *to = str_eq(name, S("label"))    ? &a.label
				 : str_eq(name, S("prompt")) ? &a.prompt
				 : str_eq(name, S("text"))   ? &a.text
				 : str_eq(name, S("lang"))   ? &a.lang
				 : str_eq(name, S("rate"))   ? &a.rate
							     : NULL;

		if (to)
			*to = utf8_trim(value);
	}
	return a;
}

static void take_button(struct reader *r, bool colon, struct str head, struct str body)
{
	struct mark_button b;

	if (colon) {
		b = (struct mark_button){ head, body.len ? body : head };
	} else {
		struct attributes a = read_attributes(head);

		b = (struct mark_button){ a.label, body.len ? body : a.prompt };
	}
	if (b.label.len && b.prompt.len)
		vec_push(&r->buttons, b);
}

static void take_voice(struct reader *r, bool colon, struct str head, struct str body)
{
	struct mark_voice v = { 0 };

	if (colon) {
		/* All that follows the colon, whatever lines it has. */
		v.text = !body.len   ? head
			 : !head.len ? body
				     : str_sub(head, 0, (size_t)(body.p + body.len - head.p));
	} else {
		struct attributes a = read_attributes(head);

		v = (struct mark_voice){ body.len ? body : a.text, a.lang, a.rate };
	}
	if (!r->lang.len)
		r->lang = v.lang;
	if (!r->rate.len)
		r->rate = v.rate;
	if (v.text.len)
		vec_push(&r->voices, v);
}

enum mark { MARK_NONE, MARK_BUTTON, MARK_VOICE };

/* Which comment it is; *rest is what follows its name. */
static enum mark mark_of(struct str inside, struct str *rest)
{
	struct str s = str_trim(inside);
	bool button = str_starts(s, S("telegram_button")),
	     voice = str_starts(s, S("telegram_voice"));

	if (!button && !voice)
		return MARK_NONE;
	*rest = str_from(s, button ? strlen("telegram_button") : strlen("telegram_voice"));
	if (rest->len && rest->p[0] != ':' && !blank(rest->p[0]))
		return MARK_NONE;
	return button ? MARK_BUTTON : MARK_VOICE;
}

/* `more` is a body that stands behind the comment. */
static void take_comment(struct reader *r, struct str inside, struct str more)
{
	struct str rest;
	enum mark mark = mark_of(inside, &rest);

	if (mark == MARK_NONE)
		return;
	bool colon = rest.len && rest.p[0] == ':';
	if (colon)
		rest = str_from(rest, 1);
	size_t end = str_find(rest, '\n', 0);
	struct str head = utf8_trim(str_sub(rest, 0, end));
	struct str body = end < rest.len ? utf8_trim(str_from(rest, end)) : more;
	if (mark == MARK_BUTTON)
		take_button(r, colon, head, body);
	else
		take_voice(r, colon, head, body);
}

/* A head that was closed on its own line, one line, and a line that is only the end: what was meant
 * is the body form. Returns the offset behind it, or 0. */
static size_t late_body(struct str s, struct str inside, size_t end, struct str *body)
{
	struct str rest, line, only;
	size_t at = end;

	if (str_find(inside, '\n', 0) < inside.len || mark_of(inside, &rest) == MARK_NONE ||
		(rest.len && rest.p[0] == ':'))
		return 0;
	if (str_trim(line_next(s, &at)).len || at >= s.len)
		return 0;
	line = line_next(s, &at);
	only = str_trim(line);
	if (!only.len || at >= s.len || str_contains(line, S("-->")) || str_starts(line, S("<!--")))
		return 0;
	line = line_next(s, &at);
	if (line.len && line.p[line.len - 1] == '\r')
		line.len--;
	if (!str_eq(line, S("-->")))
		return 0;
	*body = only;
	return MIN(at - 1, s.len);
}

/* -- lines ---------------------------------------------------------------------------------------
 */

static void put_blanks(struct reader *r)
{
	size_t count = r->out.len ? r->blanks : 0;

	if (!r->fenced)
		count = MIN(count, 1u);
	buf_fill(&r->out, '\n', count + (r->out.len ? 1 : 0));
	r->blanks = 0;
}

/* Blank lines are kept back: those at the end are dropped. */
static void put_line(struct reader *r, struct str line)
{
	if (line.len && line.p[line.len - 1] == '\r')
		line.len--;
	if (!str_trim(line).len) {
		r->blanks++;
		return;
	}
	put_blanks(r);
	buf_add(&r->out, line);
}

static void follow_fence(struct reader *r, struct str line)
{
	struct line l = line_read(line);

	if (r->fenced) {
		r->fenced = !line_closes(line, &r->fence);
	} else if (l.kind == LINE_FENCE && l.columns < 4) {
		r->fence = l;
		r->fence.columns = 0;
		r->fenced = true;
	}
}

/* A comment begins at r->at. True when it was taken out; r->at is then in the middle of a line or
 * at the beginning of one. */
static bool read_comment(struct reader *r)
{
	struct str s = r->source, body = S(""), rest;
	size_t begin = r->at + strlen("<!--"), end = find(s, S("-->"), begin);

	if (end == s.len) {
		/* No second one can be closed either: this is looked for only once. */
		r->unclosed = true;
		if (!r->growing && mark_of(str_from(s, begin), &rest) == MARK_NONE)
			return false;
		r->removed = true;
		r->at = s.len;
		return true;
	}
	struct str inside = str_sub(s, begin, end - begin);
	end += strlen("-->");
	size_t late = late_body(s, inside, end, &body);
	take_comment(r, inside, body);
	r->removed = true;
	r->at = late ? late : end;
	while (r->at < s.len && (s.p[r->at] == ' ' || s.p[r->at] == '\t'))
		r->at++;
	return true;
}

/* The last line is the beginning of a comment. */
static bool half_open(struct str line, bool last)
{
	line = str_trim(line);
	return last && (str_eq(line, S("<")) || str_eq(line, S("<!")) || str_eq(line, S("<!-")));
}

static void read_marks(struct reader *r)
{
	struct str s = r->source;

	while (r->at < s.len) {
		bool comment =
			!r->fenced && !r->unclosed && str_starts(str_from(s, r->at), S("<!--"));

		if (comment && read_comment(r)) {
			/* Another one may follow on the same line: that is not the first column. */
			put_line(r, line_next(s, &r->at));
			continue;
		}
		struct str line = line_next(s, &r->at);
		if (!r->fenced && line.len && line.p[0] == '<' && half_open(line, r->at > s.len)) {
			r->removed = true;
			continue;
		}
		bool was = r->fenced;
		follow_fence(r, line);
		/* Blank lines of code are kept as they are. */
		bool now = r->fenced;
		r->fenced = was;
		put_line(r, line);
		r->fenced = now;
	}
}

void marks_read(struct arena *a, struct str markdown, struct marks *ret)
{
	struct reader r = { .arena = a, .source = markdown };

	read_marks(&r);
	*ret = (struct marks){ .text = r.removed ? arena_str(a, buf_str(&r.out)) : markdown,
		.buttons = arena_array(a, struct mark_button, r.buttons.len),
		.button_count = r.buttons.len,
		.voices = arena_array(a, struct mark_voice, r.voices.len),
		.voice_count = r.voices.len,
		.lang = r.lang,
		.rate = r.rate,
		.unclosed = r.unclosed };
	for (size_t i = 0; i < r.buttons.len; i++)
		ret->buttons[i] = r.buttons.at[i];
	for (size_t i = 0; i < r.voices.len; i++)
		ret->voices[i] = r.voices.at[i];
	buf_done(&r.out);
	vec_done(&r.buttons);
	vec_done(&r.voices);
}

struct str marks_hide(struct arena *a, struct str markdown)
{
	struct reader r = { .arena = a, .source = markdown, .growing = true };

	read_marks(&r);
	struct str text = arena_str(a, buf_str(&r.out));
	buf_done(&r.out);
	vec_done(&r.buttons);
	vec_done(&r.voices);
	return text;
}
