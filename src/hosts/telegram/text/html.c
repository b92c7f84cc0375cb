#include "hosts/telegram/text/html.h"

#include "base/lang.h"
#include "base/utf8.h"

static const char *const plain_tags[] = { "b", "i", "s", "code", "pre", "blockquote" };

static void escape(struct buf *b, struct str text, bool attribute)
{
	size_t from = 0;

	buf_reserve(b, text.len);
	for (size_t i = 0; i < text.len; i++) {
		const char *entity;

		switch (text.p[i]) {
		case '&':
			entity = "&amp;";
			break;
		case '<':
			entity = "&lt;";
			break;
		case '>':
			entity = "&gt;";
			break;
		case '"':
			entity = attribute ? "&quot;" : NULL;
			break;
		case '\'':
			entity = attribute ? "&#39;" : NULL;
			break;
		default:
			entity = NULL;
		}
		if (!entity)
			continue;
		buf_add(b, str_sub(text, from, i - from));
		buf_adds(b, entity);
		from = i + 1;
	}
	buf_add(b, str_from(text, from));
}

void html_escape(struct buf *b, struct str text)
{
	escape(b, text, false);
}

void html_escape_attribute(struct buf *b, struct str text)
{
	escape(b, text, true);
}

struct str html_escaped(struct arena *a, struct str text)
{
	AUTO_BUF b = BUF_INIT;

	html_escape(&b, text);
	return arena_str(a, buf_str(&b));
}

/* -- reading -------------------------------------------------------------------------------------
 */

/* The length of the entity at `at`, 0 when there is none; the character that it means. */
static size_t entity_at(struct str html, size_t at, uint32_t *ret)
{
	static const struct {
		const char *name;
		uint32_t c;
	} known[] = { { "&amp;", '&' }, { "&lt;", '<' }, { "&gt;", '>' }, { "&quot;", '"' },
		{ "&#39;", '\'' } };
	struct str rest = str_from(html, at);

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (str_starts(rest, str_of(known[i].name))) {
			*ret = known[i].c;
			return strlen(known[i].name);
		}
	}
	return 0;
}

/* A tag as it is written. */
struct tag {
	struct str name, attributes; /* borrowed */
	bool closes;
	size_t len; /* with < and > */
};

static bool lower_ascii(char c)
{
	return c >= 'a' && c <= 'z';
}

/* Something with the form of a tag; which one it is, the caller judges. A tag has no line end and
 * no second `<`, so what is not a tag is found out within it. */
static bool tag_at(struct str html, size_t at, struct tag *ret)
{
	size_t i = at + 1, end;

	*ret = (struct tag){ 0 };
	if (i < html.len && html.p[i] == '/') {
		ret->closes = true;
		i++;
	}
	size_t name = i;
	while (i < html.len && (lower_ascii(html.p[i]) || (i > name && html.p[i] == '-')))
		i++;
	ret->name = str_sub(html, name, i - name);
	for (end = i; end < html.len && html.p[end] != '>'; end++)
		if (html.p[end] == '<' || html.p[end] == '\n')
			return false;
	if (!ret->name.len || end == html.len)
		return false;
	ret->attributes = str_trim(str_sub(html, i, end - i));
	ret->len = end + 1 - at;
	return end == i || html.p[i] == ' ';
}

void html_visible(struct buf *b, struct str html)
{
	struct tag tag;
	uint32_t c;

	for (size_t i = 0; i < html.len;) {
		size_t n = html.p[i] == '&' ? entity_at(html, i, &c) : 0;

		if (n) {
			buf_addc(b, (char)c);
			i += n;
		} else if (html.p[i] == '<' && tag_at(html, i, &tag)) {
			i += tag.len;
		} else {
			buf_addc(b, html.p[i++]);
		}
	}
}

/* `name="value"` and nothing else, the value escaped. */
static bool attribute_is(struct str attributes, struct str name, struct str *value)
{
	uint32_t c;

	if (!str_starts(attributes, name) || !str_ends(attributes, S("\"")))
		return false;
	attributes = str_from(attributes, name.len);
	if (!str_starts(attributes, S("=\"")) || attributes.len < 4)
		return false;
	*value = str_sub(attributes, 2, attributes.len - 3);
	for (size_t i = 0; i < value->len; i++) {
		char v = value->p[i];

		if (v == '"' || v == '<' || v == '>' || v == '\'')
			return false;
		if (v == '&' && !entity_at(*value, i, &c))
			return false;
	}
	return true;
}

static bool known_tag(const struct tag *tag, struct str parent)
{
	struct str value;

	if (str_eq(tag->name, S("a")))
		return tag->closes ? !tag->attributes.len
				   : attribute_is(tag->attributes, S("href"), &value);
	if (tag->attributes.len)
		return !tag->closes && str_eq(tag->name, S("code")) && str_eq(parent, S("pre")) &&
		       attribute_is(tag->attributes, S("class"), &value) &&
		       str_starts(value, S("language-"));
	for (size_t i = 0; i < ARRAY_SIZE(plain_tags); i++)
		if (str_eq(tag->name, str_of(plain_tags[i])))
			return true;
	return false;
}

enum { DEPTH_MAX = 16 };

struct nesting {
	struct str open[DEPTH_MAX];
	size_t depth;
	bool text_in_pre; /* behind which no <code> may begin */
};

static bool nest(struct nesting *n, const struct tag *tag)
{
	struct str parent = n->depth ? n->open[n->depth - 1] : S("");

	if (!known_tag(tag, parent))
		return false;
	if (tag->closes) {
		if (!str_eq(tag->name, parent))
			return false;
		n->depth--;
		return true;
	}
	bool code_in_pre = str_eq(parent, S("pre")) && str_eq(tag->name, S("code"));
	if (n->depth == DEPTH_MAX || str_eq(parent, S("code")) ||
		(str_eq(parent, S("pre")) && !code_in_pre))
		return false;
	for (size_t i = 0; i < n->depth; i++)
		if (str_eq(tag->name, n->open[i]) &&
			(str_eq(tag->name, S("blockquote")) || str_eq(tag->name, S("a"))))
			return false;
	n->open[n->depth++] = tag->name;
	return true;
}

bool html_valid(struct str html)
{
	struct nesting n = { 0 };
	struct tag tag;
	uint32_t c;

	if (!utf8_valid(html))
		return false;
	for (size_t i = 0; i < html.len;) {
		size_t step = 1;

		if (html.p[i] == '<') {
			if (!tag_at(html, i, &tag) || !nest(&n, &tag))
				return false;
			step = tag.len;
		} else if (html.p[i] == '>') {
			return false;
		} else if (html.p[i] == '&') {
			step = entity_at(html, i, &c);
			if (!step)
				return false;
		}
		i += step;
	}
	return n.depth == 0;
}
