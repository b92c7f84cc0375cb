#include "data/markdown.h"

#include <string.h>

#include "base/map.h"
#include "base/utf8.h"
#include "data/frontmatter.h"

/*
 * A Markdown recipe: frontmatter, prose, one executable fence. Fences are found as Markdown viewers
 * find them, so that what looks like an example is one: backquotes or tildes, three or more, closed
 * by at least as many.
 */

struct fence {
	struct str line; /* that opens it, without spaces at its ends */
	struct str info; /* what stands behind the marks */
	struct str text; /* between the two lines */
	bool closed;     /* or it ends with the file */
};

/* What the recipe is put together from. */
struct parts {
	const struct source *source;
	struct str text;
	struct arena *arena;
	json_t *object;
	struct map regions;
	struct report *errors, *warnings;
};

static struct where where(const struct parts *p, struct str part)
{
	return (struct where){ p->source, (size_t)(part.p - p->text.p), part.len };
}

static struct str line_text(struct str text, struct text_line line)
{
	return utf8_trim(str_sub(text, line.begin, line.end - line.begin));
}

/* How often the first character is repeated. */
static size_t run_length(struct str s)
{
	size_t n = 0;

	while (n < s.len && s.p[n] == s.p[0])
		n++;
	return n;
}

static bool opens(struct str line, struct fence *ret)
{
	size_t marks = run_length(line);

	if (marks < 3 || (line.p[0] != '`' && line.p[0] != '~'))
		return false;
	*ret = (struct fence){ .line = line, .info = utf8_trim(str_from(line, marks)) };
	/* ```like this``` is code within a line. */
	return line.p[0] == '~' || str_find(ret->info, '`', 0) == ret->info.len;
}

static bool closes(const struct fence *f, struct str line)
{
	return line.len && line.p[0] == f->line.p[0] && run_length(line) == line.len &&
	       line.len >= run_length(f->line);
}

/* The first fence at or behind *at, which moves behind it. */
static bool next_fence(struct str text, size_t *at, struct fence *ret)
{
	bool open = false;
	size_t begin = 0;

	while (*at < text.len) {
		struct text_line line = text_line_at(text, *at);
		struct str shown = line_text(text, line);

		*at = line.next;
		if (!open) {
			open = opens(shown, ret);
			begin = line.next;
		} else if (closes(ret, shown)) {
			ret->text = str_sub(text, begin, line.begin - begin);
			ret->closed = true;
			return true;
		}
	}
	if (open)
		ret->text = str_from(text, begin);
	return open;
}

static bool contains_nocase(struct str s, struct str part)
{
	for (size_t i = 0; i + part.len <= s.len; i++)
		if (str_eq_nocase(str_sub(s, i, part.len), part))
			return true;
	return false;
}

static bool must_be_json(const struct fence *f)
{
	return contains_nocase(f->info, S("json")) || contains_nocase(f->info, S("recipe"));
}

/* Fences of tildes are prose. */
static bool executable(const struct fence *f)
{
	if (f->line.p[0] != '`')
		return false;
	return must_be_json(f) || contains_nocase(f->info, S("template")) ||
	       contains_nocase(f->info, S("command"));
}

/* Says where the value of a member stands; what the frontmatter said of it is forgotten. */
static void record(struct parts *p, struct markdown_region region, struct str from)
{
	struct markdown_region **place =
		(struct markdown_region **)map_put(&p->regions, p->arena, region.key);

	if (!*place)
		*place = arena_new(p->arena, struct markdown_region);
	region.key = arena_str(p->arena, region.key);
	region.offset = where(p, from).offset;
	region.length = from.len;
	**place = region;
}

/* Continuation lines are a habit from the shell; here the splitter makes the line break a part of
 * the argument. */
static void warn_about_backslashes(struct parts *p, struct str command)
{
	char quote = '\0';

	for (size_t i = 0; i < command.len; i++) {
		char c = command.p[i];

		if (c == '\\' && quote != '\'') {
			struct str rest = str_from(command, ++i);

			if (!str_starts(rest, S("\n")) && !str_starts(rest, S("\r\n")))
				continue;
			report_warning(p->warnings, where(p, str_sub(command, i - 1, 1)),
				"the backslash makes the line break a part of the argument");
			report_hint(p->warnings,
				"leave it out: a command may continue in the next line");
			report_slip(p->warnings);
		} else if (quote && c == quote) {
			quote = '\0';
		} else if (!quote && (c == '\'' || c == '"')) {
			quote = c;
		}
	}
}

/* A recipe object is laid over the frontmatter member by member; all else is the template. */
static void lay_over(struct parts *p, json_t *value, struct str from)
{
	bool recipe = json_is_object(value) && json_object_get(value, "template");
	const char *key;
	json_t *member;

	if (!recipe) {
		json_object_set(p->object, "template", value);
		record(p, (struct markdown_region){ .key = S("template"), .json = true }, from);
		return;
	}
	json_object_foreach(value, key, member)
	{
		struct markdown_region region = {
			.key = str_of(key),
			.json = true,
			.member = true,
		};

		json_object_set_nocheck(p->object, key, member);
		record(p, region, from);
	}
}

/* Reads the text as JSON. What is wrong is reported at its line of the Markdown file. */
static json_t *read_json(struct parts *p, struct str text, bool required)
{
	AUTO_REPORT inner = REPORT_INIT;
	struct source source = { p->source->name, text };
	json_t *value = json_read(&source, &inner);

	if (value || !required)
		return value;
	struct issue *i = &inner.issues.at[0];
	struct where w = where(p, text);
	report_error(p->errors,
		(struct where){ p->source, w.offset + i->offset, MAX(i->mark_len, (size_t)1) },
		"%.*s", STR(i->message));
	if (i->hint.len && strchr("{[\"", text.p[0]))
		report_hint(p->errors, "%.*s", STR(i->hint));
	else
		report_hint(p->errors, "the text of a fence marked 'json' or 'recipe' is JSON; "
				       "mark a command with 'template'");
	return NULL;
}

static bool read_fence(struct parts *p, const struct fence *f)
{
	struct str text = utf8_trim(f->text);
	bool required = must_be_json(f);
	AUTO_JSON *value = NULL;

	if (!f->closed) {
		report_error(p->errors, where(p, f->line), "the executable fence is not closed");
		return report_hint(p->errors, "add a line with %zu times '%c' below it",
			run_length(f->line), f->line.p[0]);
	}
	if (!text.len) {
		report_error(p->errors, where(p, f->line), "the executable fence is empty");
		return report_hint(p->errors, "it holds the command or the JSON of the recipe");
	}
	if (required || text.p[0] == '{' || text.p[0] == '[' || text.p[0] == '"')
		value = read_json(p, text, required);
	if (value) {
		lay_over(p, value, text);
		return true;
	}
	if (required)
		return false;
	json_object_set_new(p->object, "template", json_from_str(text));
	record(p, (struct markdown_region){ .key = S("template"), .exact = true }, text);
	warn_about_backslashes(p, text);
	return true;
}

/* Finds the fence that counts. True when there was one, or none but also nothing wrong. */
static bool read_fences(struct parts *p, size_t at, bool *found)
{
	bool ok = true;
	struct fence f = { 0 };

	*found = false;
	while (next_fence(p->text, &at, &f)) {
		if (!executable(&f)) {
			if (!f.closed)
				report_warning(p->warnings, where(p, f.line),
					"the fence is not closed, so the rest of the file is in "
					"it");
			continue;
		}
		if (!*found) {
			ok = read_fence(p, &f);
		} else {
			report_warning(p->warnings, where(p, f.line),
				"the fence is ignored: only the first executable one counts");
			report_hint(
				p->warnings, "mark an example with another word, as in '```text'");
			report_slip(p->warnings);
		}
		*found = true;
	}
	return ok;
}

/* A command in a `|` block of the frontmatter can have the same slip as one in a fence. */
static void warn_about_block(struct parts *p)
{
	const struct markdown_region *at = map_get(&p->regions, S("template"));
	const json_t *command = json_object_get(p->object, "template");

	if (at && json_is_string(command) && str_contains(json_str(command), S("\\\n")))
		warn_about_backslashes(p, str_sub(p->text, at->offset, at->length));
}

/* Finds the lines between the two `---`. *body is where Markdown begins, also when they are not
 * found, so that mistakes in the fence can be told in the same go. */
static bool find_frontmatter(struct parts *p, size_t *begin, size_t *end, size_t *body)
{
	size_t start = str_starts(p->text, S("\xEF\xBB\xBF")) ? 3 : 0;
	struct text_line first = text_line_at(p->text, start), line;
	struct str shown = line_text(p->text, first);

	*body = start;
	if (!str_eq(shown, S("---"))) {
		report_error(p->errors, where(p, shown),
			"a Markdown recipe must start with frontmatter: the first line is %s%.*s%s",
			shown.len ? "'" : "empty", STR(utf8_cut(shown, 60)), shown.len ? "'" : "");
		return report_hint(p->errors,
			"begin with a line '---', then 'key: value' lines, then a line '---'");
	}
	*begin = *body = first.next;
	for (size_t at = first.next; at < p->text.len; at = line.next) {
		line = text_line_at(p->text, at);
		if (!str_eq(line_text(p->text, line), S("---")))
			continue;
		*end = line.begin;
		*body = line.next;
		return true;
	}
	report_error(p->errors, where(p, shown), "the frontmatter is not closed");
	return report_hint(p->errors, "end it with a line '---'");
}

static bool read_parts(struct parts *p)
{
	size_t begin = 0, end = 0, body = 0;
	bool framed = find_frontmatter(p, &begin, &end, &body);
	bool ok = framed;
	bool found = false;

	if (framed)
		ok = frontmatter_read(p->source, begin, end, p->arena, p->object, &p->regions,
			p->errors, p->warnings);
	if (!read_fences(p, body, &found))
		ok = false;
	if (found || !framed)
		return ok;
	if (json_object_get(p->object, "template")) {
		warn_about_block(p);
		return ok;
	}
	report_error(p->errors, where(p, str_sub(p->text, end, body - end)),
		"the recipe has no executable fence and no 'template' in its frontmatter");
	return report_hint(
		p->errors, "put the command between a line '```template' and a line '```'");
}

bool markdown_read(const struct source *source, struct arena *a, struct markdown *ret,
	struct report *r, struct report *warnings)
{
	AUTO_JSON *object = json_object();
	struct parts p = {
		.source = source,
		.text = source->text.len ? source->text : S(""),
		.arena = a,
		.object = object,
		.regions = MAP_INIT,
		.errors = r,
		.warnings = warnings,
	};
	size_t bad = utf8_find_invalid(p.text);
	size_t n = 0;

	/* One is reported: in a file of another encoding there is one in every second line. */
	if (bad < p.text.len) {
		report_error(r, (struct where){ source, bad, 1 }, "byte 0x%02x is not valid UTF-8",
			(unsigned char)p.text.p[bad]);
		return report_hint(r, "save the text as UTF-8");
	}
	if (!read_parts(&p))
		return false;
	struct markdown_region *regions = arena_array(a, struct markdown_region, p.regions.count);
	map_each (e, &p.regions)
		regions[n++] = *(struct markdown_region *)e->value;
	*ret = (struct markdown){ TAKE(object), regions, n };
	return true;
}
