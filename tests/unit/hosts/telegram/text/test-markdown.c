#include "base/buf.h"
#include "base/utf8.h"
#include "hosts/telegram/text/chunk.h"
#include "hosts/telegram/text/html.h"
#include "hosts/telegram/text/unicode.h"
#include "unit.h"

#define NBSP "\xc2\xa0"

/* All messages, a form feed between them. */
static struct str rendered(struct arena *a, struct str markdown)
{
	AUTO_BUF all = BUF_INIT;
	struct chunks chunks;

	chunk_markdown(a, markdown, NULL, &chunks);
	for (size_t i = 0; i < chunks.count; i++) {
		buf_adds(&all, i ? "\f" : "");
		buf_add(&all, chunks.at[i]);
	}
	return arena_str(a, buf_str(&all));
}

struct pair {
	const char *markdown, *html;
};

static void check(const struct pair *cases, size_t count)
{
	struct arena a = ARENA_INIT;

	for (size_t i = 0; i < count; i++)
		assert_str(rendered(&a, str_of(cases[i].markdown)), cases[i].html);
	arena_done(&a);
}

#define CHECK(...)                                                   \
	do {                                                         \
		static const struct pair pairs_[] = { __VA_ARGS__ }; \
		check(pairs_, ARRAY_SIZE(pairs_));                   \
	} while (0)

static void what_overlaps_stays_literal(void **state)
{
	(void)state;
	CHECK({ "**a *b** c*", "<b>a *b</b> c*" }, { "~~a **b~~ c**", "<s>a **b</s> c**" },
		{ "*a **b*", "<i>a **b</i>" }, { "***a** b*", "<i><b>a</b> b</i>" },
		{ "***a* b**", "<b><i>a</i> b</b>" }, { "**bold *it***", "<b>bold <i>it</i></b>" },
		{ "****a****", "****a****" }, { "**__a__**", "<b>a</b>" },
		{ "_a *b_ c*", "<i>a *b</i> c*" }, { "*a*b*", "<i>a*b</i>" });
}

static void a_style_may_cross_a_line_end_but_no_block(void **state)
{
	(void)state;
	CHECK({ "**a\nb**", "<b>a\nb</b>" }, { "**a\n\nb**", "**a\n\nb**" },
		{ "- x *a\n  b* c", "<code>-</code> x <i>a\n  b</i> c" },
		{ "- *a\n- b*", "<code>-</code> *a\n<code>-</code> b*" },
		{ "> **a\n> b**", "<blockquote><b>a\nb</b></blockquote>" });
}

static void links_may_have_parentheses_and_titles(void **state)
{
	(void)state;
	CHECK({ "[w](https://e.org/a_(b)_c \"T (x)\")", "<a href=\"https://e.org/a_(b)_c\">w</a>" },
		{ "[a](javascript:alert(1)) b", "a b" },
		{ "[![i](https://a/b.png)](https://c)", "<a href=\"https://c\">i</a>" },
		{ "[a]( https://c )", "<a href=\"https://c\">a</a>" },
		{ "[a](https://c d)", "[a](https://c d)" },
		{ "[a] (https://c)", "[a] (https://c)" }, { "\\[a](https://c)", "[a](https://c)" },
		{ "`[a](https://c)`", "<code>[a](https://c)</code>" },
		{ "[a[b]c](https://d)", "<a href=\"https://d\">a[b]c</a>" },
		{ "[`]`](https://d)", "<a href=\"https://d\">]</a>" });
}

static void addresses_in_the_text_are_left_alone(void **state)
{
	(void)state;
	CHECK({ "https://e.org/_a_/b_", "https://e.org/_a_/b_" },
		{ "**https://e.org/a**", "<b>https://e.org/a</b>" },
		{ "_see https://e.org/a_b_", "<i>see https://e.org/a_b</i>" });
}

static void code_has_as_many_ticks_as_it_needs(void **state)
{
	(void)state;
	CHECK({ "``a ` b``", "<code>a ` b</code>" }, { "`` `a` ``", "<code>`a`</code>" },
		{ "\\`tick\\`", "`tick`" }, { "``a`", "``a`" }, { "`a\\`", "<code>a\\</code>" });
}

static void quotes_are_never_nested(void **state)
{
	(void)state;
	CHECK({ "> a\n>> b\n> > c\n>>> d", "<blockquote>a\n" NBSP NBSP "b\n" NBSP NBSP
					   "c\n" NBSP NBSP NBSP NBSP "d</blockquote>" },
		{ ">a\n>\n>b", "<blockquote>a\n\nb</blockquote>" },
		{ "> # H\n> ```\n> *x*\n> ```",
			"<blockquote><b>H</b>\n```\n*x*\n```</blockquote>" },
		{ "> a\nb", "<blockquote>a</blockquote>\nb" });
}

static void blocks_keep_their_distance(void **state)
{
	(void)state;
	CHECK({ "body\n# Next", "body\n\n<b>Next</b>" }, { "# A ##\n\n\nb", "<b>A</b>\n\n\nb" },
		{ "a\n---\nb", "a\n────────────\nb" }, { "```\na", "<pre><code>a</code></pre>" },
		{ "- a\n\n- b", "<code>-</code> a\n\n<code>-</code> b" },
		{ "  ```js\n  a\n    b\n  ```",
			"<pre><code class=\"language-js\">a\n  b</code></pre>" },
		{ "1) a\n2) [X] b", "<code>1)</code> a\n<code>2)</code> <code>[x]</code> b" });
}

static void tables_are_as_wide_as_they_look(void **state)
{
	(void)state;
	CHECK({ "a | b\n-|-\n1 | `x\\|y`", "<pre><code class=\"language-markdown\">a   | b  \n--- "
					   "| ---\n1   | x|y</code></pre>" },
		{ "| a |\n|---|\n| 1 |", "| a |\n|---|\n| 1 |" },
		{ "|a|b|\n|-|-|\n|日|1️⃣|x|",
			"<pre><code class=\"language-markdown\">a   | b   |    \n--- | --- | ---\n"
			"日  | 1️⃣  | x  </code></pre>" });
}

static void wide_tables_may_become_lists(void **state)
{
	struct markdown_options narrow = { .narrow_tables = true };
	struct arena a = ARENA_INIT;
	struct chunks chunks;

	(void)state;
	chunk_markdown(&a,
		S("|name|what it is|\n|-|-|\n|x<y|something that takes a lot of room|\n|z||"),
		&narrow, &chunks);
	assert_int_equal(chunks.count, 1);
	assert_str(chunks.at[0],
		"<b>name</b>: x&lt;y\n<b>what it is</b>: something that takes a lot "
		"of room\n\n<b>name</b>: z");
	arena_done(&a);
}

/* -- random texts --------------------------------------------------------------------------------
 */

static uint64_t seed = 0x9E3779B97F4A7C15u;

static unsigned dice(unsigned sides)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed >> 33) % sides;
}

static const char *const bits[] = { "*", "**", "***", "_", "__", "~~", "`", "``", "\n", "\n\n",
	"\n- ", "\n1. ", "\n> ", "\n>> ", "\n# ", "\n    ", "|", "\n|-|-|\n", "[", ")",
	"<https://x>", "<", ">", "&", "\\", "\"", "'", " ", "  ", "a", "word", "é", "日本",
	"👩‍💻", "🇫🇷", "e\xcc\x81", "\xff", "1️⃣", "[x] ", "![", "(", "\t", "\r\n",
	"---\n", "https://e.org/a_b",
	/* these may hide something */ "](https://e.org/", "](", "```", "\n```js\n", "\n~~~\n",
	"\n```\n" };

static void random_text(struct buf *b, unsigned pieces)
{
	bool rare = dice(2); /* those that may hide something, too */

	buf_reset(b);
	for (unsigned i = 0; i < pieces; i++) {
		const char *bit = bits[dice(rare ? ARRAY_SIZE(bits) : ARRAY_SIZE(bits) - 6)];

		for (unsigned n = dice(40) ? 1 : dice(900); n > 0; n--)
			buf_adds(b, bit);
	}
}

/* Letters only: what no markup and no cut may lose. */
static void letters(struct buf *b, struct str s)
{
	uint32_t c;

	for (size_t i = 0; i < s.len;) {
		i += utf8_decode(s, i, &c);
		if (c == 0x65E5 || c == 0xE9 || c == 0x1F469 || c == 0x1F1EB)
			utf8_add(b, c);
	}
}

/* Of a link the address is not shown, and of a fence what follows it. */
static bool shows_all(struct str markdown)
{
	return !str_contains(markdown, S("](")) && !str_contains(markdown, S("```")) &&
	       !str_contains(markdown, S("~~~"));
}

static void every_text_becomes_messages_that_are_taken(void **state)
{
	AUTO_BUF text = BUF_INIT;

	(void)state;
	for (unsigned round = 0; round < 3000; round++) {
		struct arena a = ARENA_INIT;
		AUTO_BUF in = BUF_INIT;
		AUTO_BUF out = BUF_INIT;
		struct chunks chunks;

		random_text(&text, 1 + dice(200));
		chunk_markdown(&a, buf_str(&text), NULL, &chunks);
		letters(&in, buf_str(&text));
		for (size_t i = 0; i < chunks.count; i++) {
			AUTO_BUF shown = BUF_INIT;

			if (!html_valid(chunks.at[i]))
				fail_msg("not HTML: %.*s\nof %.*s", STR(chunks.at[i]),
					STR(buf_str(&text)));
			if (unicode_units(chunks.at[i]) > MESSAGE_UNITS)
				fail_msg("too long: %.*s", STR(chunks.at[i]));
			html_visible(&shown, chunks.at[i]);
			letters(&out, buf_str(&shown));
		}
		if (shows_all(buf_str(&text)) && !str_eq(buf_str(&in), buf_str(&out)))
			fail_msg("lost: '%.*s' is '%.*s' of %.*s", STR(buf_str(&in)),
				STR(buf_str(&out)), STR(buf_str(&text)));
		arena_done(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_overlaps_stays_literal),
		cmocka_unit_test(a_style_may_cross_a_line_end_but_no_block),
		cmocka_unit_test(links_may_have_parentheses_and_titles),
		cmocka_unit_test(addresses_in_the_text_are_left_alone),
		cmocka_unit_test(code_has_as_many_ticks_as_it_needs),
		cmocka_unit_test(quotes_are_never_nested),
		cmocka_unit_test(blocks_keep_their_distance),
		cmocka_unit_test(tables_are_as_wide_as_they_look),
		cmocka_unit_test(wide_tables_may_become_lists),
		cmocka_unit_test(every_text_becomes_messages_that_are_taken),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("markdown", tests, NULL, NULL);
}
