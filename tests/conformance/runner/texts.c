/* Cases about rendering. */
#include "base/lang.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "hosts/telegram/text/chunk.h"
#include "hosts/telegram/text/preview.h"
#include "hosts/telegram/text/unicode.h"

#include "runner.h"

static json_t *chunks_json(const struct chunks *chunks)
{
	json_t *list = json_array();

	for (size_t i = 0; i < chunks->count; i++)
		json_array_append_new(list, json_from_str(chunks->at[i]));
	return list;
}

static json_t *render_markdown(struct arena *a, const json_t *input)
{
	struct chunks chunks;

	chunk_markdown(a, case_member(a, input, "markdown"), NULL, &chunks);
	return json_pack("{ss so}", "parse_mode", "HTML", "chunks", chunks_json(&chunks));
}

struct pieces {
	struct arena *arena;
	VEC(struct str) list;
};

static void keep_piece(void *data, struct str piece)
{
	struct pieces *p = data;

	vec_push(&p->list, arena_str(p->arena, piece));
}

/* What chunk_markdown() does with a block that fits into no message. */
static void split_html(struct arena *a, struct str html, struct chunks *ret)
{
	struct pieces p = { .arena = a };

	html_split(unicode_clean(a, html), MESSAGE_UNITS, keep_piece, &p);
	*ret = (struct chunks){ .at = arena_array(a, struct str, p.list.len), .count = p.list.len };
	for (size_t i = 0; i < p.list.len; i++)
		ret->at[i] = p.list.at[i];
	vec_done(&p.list);
}

/* The text of the input in the mode that it names. */
static struct str chunk_input(struct arena *a, const json_t *input, struct chunks *ret)
{
	struct str mode = json_text_of(input, "mode"), text = case_text(a, input);

	if (str_eq(mode, S("plain")))
		chunk_plain(a, text, ret);
	else if (str_eq(mode, S("html")))
		split_html(a, text, ret);
	else
		chunk_markdown(a, text, NULL, ret);
	return text;
}

static json_t *render_chunks(struct arena *a, const json_t *input)
{
	struct chunks chunks;

	(void)chunk_input(a, input, &chunks);
	return json_pack(
		"{sI so}", "chunk_count", (json_int_t)chunks.count, "chunks", chunks_json(&chunks));
}

/* -- properties ----------------------------------------------------------------------------------
 */

/* Without white space: a cut may stand where some was. */
static struct str dense(struct arena *a, struct str s)
{
	AUTO_BUF b = BUF_INIT;
	uint32_t c;

	for (size_t i = 0; i < s.len;) {
		size_t n = utf8_decode(s, i, &c);

		if (!utf8_blank(c))
			buf_add(&b, str_sub(s, i, n));
		i += n;
	}
	return arena_str(a, buf_str(&b));
}

static struct str visible(struct arena *a, struct str html, bool plain)
{
	AUTO_BUF b = BUF_INIT;

	if (plain)
		return html;
	html_visible(&b, html);
	return arena_str(a, buf_str(&b));
}

/* The text as it would be shown in one message without a limit. */
static struct str shown_whole(struct arena *a, struct str mode, struct str text)
{
	AUTO_BUF b = BUF_INIT;
	struct blocks blocks;

	if (!str_eq(mode, S("markdown")))
		return visible(a, text, str_eq(mode, S("plain")));
	markdown_blocks(a, text, NULL, &blocks);
	for (size_t i = 0; i < blocks.count; i++)
		html_visible(&b, blocks.at[i].html);
	return arena_str(a, buf_str(&b));
}

/* A place between two chunks where a reader sees one character. */
static bool cut_cluster(struct str before, struct str after)
{
	AUTO_BUF both = BUF_INIT;

	buf_add(&both, before);
	buf_add(&both, after);
	for (size_t i = 0; i < both.len; i = grapheme_next(buf_str(&both), i))
		if (i >= before.len)
			return i > before.len;
	return false;
}

static const char *chunk_wrong(struct arena *a, const struct chunks *chunks, size_t i, bool plain)
{
	struct str one = chunks->at[i];

	if (unicode_units(one) > MESSAGE_UNITS)
		return "is longer than a message";
	if (!utf8_valid(one))
		return "cuts a character";
	if (!plain && !html_valid(one))
		return "is not properly nested, or cuts an entity";
	if (i + 1 < chunks->count &&
		cut_cluster(visible(a, one, plain), visible(a, chunks->at[i + 1], plain)))
		return "ends within a cluster";
	return NULL;
}

static struct str judge_properties(struct arena *a, const json_t *input, const json_t *expect)
{
	struct str mode = json_text_of(input, "mode");
	bool plain = str_eq(mode, S("plain"));
	AUTO_BUF joined = BUF_INIT;
	struct chunks chunks;
	struct str text = chunk_input(a, input, &chunks);

	(void)expect; /* all that it lists, and the rest of what a chunk has to be */
	for (size_t i = 0; i < chunks.count; i++) {
		const char *wrong = chunk_wrong(a, &chunks, i, plain);

		if (wrong)
			return arena_printf(a, "chunk %zu %s", i + 1, wrong);
		buf_add(&joined, visible(a, chunks.at[i], plain));
	}
	if (!str_eq(dense(a, buf_str(&joined)), dense(a, shown_whole(a, mode, text))))
		return S("the chunks together are not the text");
	return S("");
}

/* -- previews ------------------------------------------------------------------------------------
 */

static json_t *make_preview(struct arena *a, const json_t *input)
{
	const json_t *before = json_object_get(input, "last");
	struct str strategy = json_text_of(before, "lastSentStrategy");
	struct preview last = { .text = case_member(a, before, "lastSentText"),
		.html = str_eq(strategy, S("rich-stable-blocks")) };
	struct preview p;
	AUTO_BUF plain = BUF_INIT;

	if (json_object_get(input, "markdown")) {
		markdown_plain(&plain, case_member(a, input, "markdown"));
		return json_pack("{so}", "plain", json_from_str(buf_str(&plain)));
	}
	if (!preview_make(a, case_member(a, input, "pending"), strategy.len ? &last : NULL, &p))
		return json_null();
	return json_pack("{so so ss}", "text", json_from_str(p.text), "parse_mode",
		p.html ? json_string("HTML") : json_null(), "strategy",
		p.html ? "rich-stable-blocks" : "plain");
}

static const struct kind list[] = {
	{ "render-markdown", render_markdown, NULL },
	{ "render-chunking", render_chunks, NULL },
	{ "render-chunking-properties", NULL, judge_properties },
	{ "render-preview", make_preview, NULL },
};
const struct kinds kinds_of_texts = { list, ARRAY_SIZE(list) };
