#include "graph/graph.h"
#include "render/picture/model.h"
#include "render/picture/picture.h"
#include "render/picture/text.h"
#include "text.h"

static struct graph *read_graph(struct str text)
{
	AUTO_REPORT r = REPORT_INIT;
	struct graph *g = graph_read(S("<template>"), text, DIALECT_NOW, &r);

	if (!g) {
		AUTO_BUF b = BUF_INIT;

		report_text(&r, (unsigned)REPORT_ALL, &b);
		fail_msg("%s", buf_cstr(&b));
	}
	return g;
}

static struct buf draw(enum picture_format format, struct str text)
{
	struct picture_options options = { S("a <title> & \"more\"") };
	struct graph *g = read_graph(text);
	struct buf b = BUF_INIT;

	picture_write(g, format, &options, &b);
	graph_unref(g);
	return b;
}

#define REVIEW                                                                   \
	"[\"prepare\",{\"parallel\":true,\"label\":\"reviewers\",\"template\":[" \
	"{\"label\":\"gpt\",\"template\":\"review gpt\"},"                       \
	"{\"label\":\"claude\",\"template\":\"review claude\"},"                 \
	"{\"label\":\"gemini\",\"template\":\"review gemini\"}]},\"merge\"]"

static void one_command_is_a_picture(void **state)
{
	(void)state;
	AUTO_BUF svg = draw(PICTURE_SVG, S("echo hello"));
	AUTO_BUF dot = draw(PICTURE_DOT, S("echo hello"));
	AUTO_BUF mermaid = draw(PICTURE_MERMAID, S("echo hello"));

	assert_has(&svg, ">echo hello</text>");
	assert_int_equal(text_count(&svg, "class=\"head\""), 2);
	assert_int_equal(text_count(&dot, " -> "), 2);
	assert_int_equal(text_count(&mermaid, " --> "), 2);
}

static void svg_stands_alone_and_describes_itself(void **state)
{
	(void)state;
	AUTO_BUF b = draw(PICTURE_SVG, S(REVIEW));

	assert_true(
		str_starts(buf_str(&b), S("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=")));
	assert_has(&b, "role=\"img\"");
	assert_has(&b, "<title id=\"graph-title\">a &lt;title&gt; &amp; &quot;more&quot;</title>");
	assert_has(&b, "<desc id=\"graph-desc\">5 commands in 2 groups");
	assert_has(&b, "prefers-color-scheme:dark");
	assert_lacks(&b, "<script");
	assert_lacks(&b, "href");
	assert_lacks(&b, "url(");
	assert_int_equal(text_count(&b, "http"), 1); /* the name space */
}

static void all_formats_show_every_node(void **state)
{
	static const char *const texts[] = { "prepare", "parallel", "reviewers", "gpt",
		"review gpt", "claude", "review claude", "gemini", "review gemini", "merge" };
	(void)state;

	for (int f = PICTURE_SVG; f <= PICTURE_MERMAID; f++) {
		AUTO_BUF b = draw((enum picture_format)f, S(REVIEW));

		for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
			assert_has(&b, texts[i]);
	}
}

static void parallel_differs_from_sequence_by_shape(void **state)
{
	(void)state;
	AUTO_BUF together = draw(PICTURE_SVG, S("{\"parallel\":true,\"template\":[\"a\",\"b\"]}"));
	AUTO_BUF apart = draw(PICTURE_SVG, S("[\"a\",\"b\"]"));

	assert_int_equal(text_count(&together, "class=\"bar\""), 2);
	assert_int_equal(text_count(&together, "class=\"inner\""), 1);
	assert_has(&together, ">parallel</text>");
	assert_int_equal(text_count(&apart, "class=\"bar\""), 0);
	assert_int_equal(text_count(&apart, "class=\"inner\""), 0);
	assert_has(&apart, ">sequence</text>");
}

static void arrows_follow_the_order_of_execution(void **state)
{
	(void)state;
	AUTO_BUF b = draw(PICTURE_MERMAID, S(REVIEW));

	assert_has(&b, "n1 --> g2\n");  /* start, sequence */
	assert_has(&b, "n3 --> g4\n");  /* prepare, reviewers */
	assert_has(&b, "n8 --> n5\n");  /* fork, gpt */
	assert_has(&b, "n5 --> n9\n");  /* gpt, join */
	assert_has(&b, "g4 --> n10\n"); /* reviewers, merge */
	assert_has(&b, "g2 --> n11\n");
	assert_int_equal(text_count(&b, " --> "), 10);
}

static void dot_cuts_arrows_off_at_the_group(void **state)
{
	(void)state;
	AUTO_BUF b = draw(PICTURE_DOT, S(REVIEW));

	assert_int_equal(text_count(&b, "digraph"), 1);
	assert_int_equal(text_count(&b, "subgraph cluster_"), 2);
	assert_has(&b, "n3 -> n8 [lhead=cluster_4 ]");
	assert_has(&b, "n9 -> n10 [ltail=cluster_4 ]");
}

static void flags_are_marks(void **state)
{
	static const char *const marks[] = { "when deep", "when false", "delay 1s", "timeout 5s",
		"timeout {limit} ms", "timeout 1.5s", "timeout 250ms", "timeout 2m", "retry 3",
		"retry {n}", "failure root", "failure branch", "repeat ×8", "repeat ×items" };
	struct str text =
		S("[{\"template\":\"a\",\"when\":\"deep\",\"delay\":1000,\"timeout\":5000,"
		  "\"retry\":3,\"failure\":\"root\"},"
		  "{\"template\":\"b\",\"when\":false,\"timeout\":\"{limit}\",\"retry\":\"{n}\"},"
		  "{\"template\":\"c\",\"timeout\":1500,\"failure\":\"branch\"},"
		  "{\"template\":\"d\",\"timeout\":250},{\"template\":\"e\",\"timeout\":120000},"
		  "{\"template\":\"f\",\"repeat\":8},"
		  "{\"template\":\"g\",\"repeat\":\"{items.length}\",\"parallel\":true}]");
	(void)state;

	for (int f = PICTURE_SVG; f <= PICTURE_MERMAID; f++) {
		AUTO_BUF b = draw((enum picture_format)f, text);

		for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
			assert_has(&b, marks[i]);
		assert_lacks(&b, "retry 1");
	}
}

static void a_node_without_flags_has_no_marks(void **state)
{
	(void)state;
	AUTO_BUF b = draw(PICTURE_SVG, S("[\"a\",\"b\"]"));

	assert_lacks(&b, "class=\"mark\"");
}

static void recover_is_dashed_and_between_attempts(void **state)
{
	struct str text =
		S("{\"template\":\"build\",\"retry\":2,\"recover\":[\"clean\",\"wait\"]}");
	(void)state;
	AUTO_BUF svg = draw(PICTURE_SVG, text);
	AUTO_BUF dot = draw(PICTURE_DOT, text);
	AUTO_BUF mermaid = draw(PICTURE_MERMAID, text);

	assert_has(&svg, "line between");
	assert_has(&svg, ">between attempts</text>");
	assert_has(&svg, "frame odd recovery");
	assert_has(&svg, "path 0.recover.1");
	assert_has(&dot, "style=dashed dir=both");
	assert_has(&mermaid, "n2 <-. \"between attempts\" .-> g3");
	assert_has(&mermaid, "class g3 recovery");
}

static void a_repeat_is_drawn_once(void **state)
{
	struct str one = S("{\"repeat\":8,\"template\":\"work {index}\"}");
	struct str at_once = S("{\"repeat\":8,\"parallel\":true,\"template\":\"work {index}\"}");
	(void)state;
	AUTO_BUF again = draw(PICTURE_MERMAID, one);
	AUTO_BUF copies = draw(PICTURE_SVG, at_once);

	assert_int_equal(text_count(&again, "work"), 1);
	assert_has(&again, "n3 -- \"next copy\" --> n3");
	assert_int_equal(text_count(&copies, ">work {index}</text>"), 1);
	assert_int_equal(text_count(&copies, "class=\"box\""), 3); /* it and two behind it */
	assert_has(&copies, "path r*");
}

static void long_text_is_cut_and_whole_in_the_tooltip(void **state)
{
	AUTO_BUF text = BUF_INIT;
	(void)state;

	buf_adds(&text, "say ");
	buf_fill(&text, 'x', 500);
	for (int f = PICTURE_SVG; f <= PICTURE_MERMAID; f++) {
		AUTO_BUF b = draw((enum picture_format)f, buf_str(&text));

		assert_int_equal(text_count(&b, "x…"), 1);
		assert_int_equal(text_count(&b, buf_cstr(&text)), 1);
	}
}

static void no_label_breaks_out_of_its_place(void **state)
{
	struct str text = S("[{\"label\":\"\\\"]</text><b>&amp; %%{init: {}}%% `x` [a](b)\","
			    "\"template\":\"say \\\\ #35; 1\\nend\"}]");
	(void)state;
	AUTO_BUF svg = draw(PICTURE_SVG, text);
	AUTO_BUF dot = draw(PICTURE_DOT, text);
	AUTO_BUF mermaid = draw(PICTURE_MERMAID, text);

	assert_has(&svg, "&quot;]&lt;/text&gt;&lt;b&gt;&amp;amp; %%{init");
	assert_has(&svg, ">say \\ #35; 1 end</text>");
	assert_has(&dot, "\"\\\"]</text><b>&amp;amp; %%{init");
	assert_has(&dot, "say \\\\ #35; 1 end");
	assert_lacks(&mermaid, "%%");
	assert_lacks(&mermaid, "`");
	assert_lacks(&mermaid, "](");
	assert_has(&mermaid, "(\"#34;]#60;/text#62;#60;b#62;#38;amp#59; #37;#37;{init");
	assert_has(&mermaid, "say #92; #35;35#59; 1 end");
}

static void shown_text_has_nothing_invisible(void **state)
{
	struct arena a = ARENA_INIT;
	(void)state;

	assert_true(str_eq(picture_line(&a, S(" a\tb\nc\x1b[0m ")), S("a b c␛[0m")));
	assert_true(str_eq(picture_lines(&a, S("a\nb")), S("a\nb")));
	assert_true(str_eq(picture_line(&a, S("a\xff"
					      "b")),
		S("a\xef\xbf\xbd"
		  "b")));
	assert_true(str_eq(picture_line(&a, S("a\xe2\x80\xae"
					      "b")),
		S("a\xef\xbf\xbd"
		  "b"))); /* right-to-left override */
	arena_done(&a);
}

static void wide_characters_take_more_room(void **state)
{
	struct arena a = ARENA_INIT;
	(void)state;

	assert_true(picture_width(S("漢字")) >= 2 * picture_width(S("ab")));
	assert_true(str_eq(picture_cut(&a, S("abcdefgh"), 8), S("abcdefgh")));
	assert_true(str_eq(picture_cut(&a, S("abcdefghi"), 8), S("abcdef…")));
	assert_true(picture_width(picture_cut(&a, S("漢字漢字漢字"), 8)) <= 8 * PICTURE_COLUMN);
	arena_done(&a);
}

static void add_commands(struct buf *b, const char *before, size_t n, const char *after)
{
	buf_adds(b, before);
	for (size_t i = 0; i < n; i++)
		buf_printf(b, "%s\"job %zu\"", i ? "," : "", i);
	buf_adds(b, after);
}

static void many_branches_are_folded(void **state)
{
	AUTO_BUF text = BUF_INIT;
	(void)state;

	add_commands(&text, "{\"parallel\":true,\"template\":[", 101, "]}");
	for (int f = PICTURE_SVG; f <= PICTURE_MERMAID; f++) {
		AUTO_BUF b = draw((enum picture_format)f, buf_str(&text));

		assert_has(&b, "job 49");
		assert_lacks(&b, "job 50");
		assert_has(&b, "… 51 more");
	}
}

static void sixty_branches_are_all_drawn(void **state)
{
	AUTO_BUF text = BUF_INIT;
	(void)state;

	add_commands(&text, "{\"parallel\":true,\"template\":[", 60, "]}");
	AUTO_BUF b = draw(PICTURE_SVG, buf_str(&text));

	assert_has(&b, "job 59");
	assert_lacks(&b, " more");
}

static void depth_has_an_end(void **state)
{
	enum { LEVELS = 300 };
	AUTO_BUF text = BUF_INIT;
	(void)state;

	buf_fill(&text, '[', LEVELS);
	buf_adds(&text, "\"deep\"");
	buf_fill(&text, ']', LEVELS);
	for (int f = PICTURE_SVG; f <= PICTURE_MERMAID; f++) {
		AUTO_BUF b = draw((enum picture_format)f, buf_str(&text));

		assert_int_equal(text_count(&b, "deeper levels left out"), 1);
		assert_true(b.len < 50000);
	}
}

/* Mermaid refuses more than 50000 characters or 500 arrows. */
static void a_bush_stays_small_enough(void **state)
{
	AUTO_BUF text = BUF_INIT;
	(void)state;

	buf_addc(&text, '[');
	for (int i = 0; i < 50; i++)
		add_commands(&text,
			i ? ",{\"parallel\":true,\"template\":["
			  : "{\"parallel\":true,\"template\":[",
			50, "]}");
	buf_addc(&text, ']');
	AUTO_BUF svg = draw(PICTURE_SVG, buf_str(&text));
	AUTO_BUF mermaid = draw(PICTURE_MERMAID, buf_str(&text));

	assert_true(svg.len < 2000000);
	assert_has(&svg, " more</text>");
	assert_true(mermaid.len < 50000);
	assert_true(text_count(&mermaid, " --> ") < 500);
	assert_has(&mermaid, " more");
}

/* -- of a run ------------------------------------------------------------------------------------
 */

struct known_state {
	const char *path;
	struct picture_state state;
};

static bool find_state(const void *data, struct str path, struct picture_state *ret)
{
	for (const struct known_state *k = data; k->path; k++) {
		if (!str_eq(path, str_of(k->path)))
			continue;
		*ret = k->state;
		return true;
	}
	return false;
}

static struct buf draw_run(
	enum picture_format format, struct str text, const struct known_state *known)
{
	struct picture_options options = { .state = find_state, .state_data = known };
	struct graph *g = read_graph(text);
	struct buf b = BUF_INIT;

	picture_write(g, format, &options, &b);
	graph_unref(g);
	return b;
}

#define ONE(kind) .counts[kind] = 1
#define TOOK(n) .timed = true, .ms = (n)
#define EXIT(n) .coded = true, .code = (n)

static const struct known_state review_states[] = {
	{ ".", { ONE(STATE_FAILED), TOOK(61000), .attempts = 1 } },
	{ "0", { ONE(STATE_DONE), TOOK(1234), .attempts = 1, EXIT(0) } },
	{ "1", { ONE(STATE_DONE), TOOK(2000), .attempts = 1 } },
	{ "1.0", { ONE(STATE_TIMEOUT), TOOK(5), .attempts = 1, EXIT(1) } },
	{ "1.1", { ONE(STATE_TOLERATED), TOOK(6), .attempts = 3, EXIT(75) } },
	{ "1.2", { ONE(STATE_CANCELLED), TOOK(7), .attempts = 1, EXIT(143) } },
	{ "2", { ONE(STATE_UNREACHED) } },
	{ NULL, { { 0 } } },
};

static void a_run_shows_state_time_attempts_and_code(void **state)
{
	static const char *const texts[] = { "failed · 1 min 01 s", "done · 1.2 s · exit 0",
		"timeout · 5 ms · exit 1", "tolerated · 6 ms · 3 attempts · exit 75",
		"cancelled · 7 ms · exit 143", "unreached" };
	(void)state;

	for (int f = PICTURE_SVG; f <= PICTURE_MERMAID; f++) {
		AUTO_BUF b = draw_run((enum picture_format)f, S(REVIEW), review_states);

		for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
			assert_has(&b, texts[i]);
	}
}

/* The colours of a state, in light and, in the SVG, in dark. */
static void a_state_has_a_colour(void **state)
{
	const struct state_look *look = &state_looks[STATE_TOLERATED];
	(void)state;
	AUTO_BUF svg = draw_run(PICTURE_SVG, S(REVIEW), review_states);
	AUTO_BUF dot = draw_run(PICTURE_DOT, S(REVIEW), review_states);
	AUTO_BUF mermaid = draw_run(PICTURE_MERMAID, S(REVIEW), review_states);

	assert_has(&svg, "class=\"box known tolerated\"");
	assert_has(&svg, "class=\"state-text tolerated\"");
	assert_has(&svg, look->light.fill);
	assert_has(&svg, look->dark.fill);
	assert_has(&dot, look->light.fill);
	assert_has(&mermaid, "class n6 state-tolerated");
	assert_has(&mermaid, look->light.fill);
	assert_has(&svg, "class=\"frame failed\"");
}

static void without_a_run_there_are_no_states(void **state)
{
	(void)state;

	for (int f = PICTURE_SVG; f <= PICTURE_MERMAID; f++) {
		AUTO_BUF b = draw((enum picture_format)f, S(REVIEW));

		assert_lacks(&b, "unreached");
		assert_lacks(&b, "state");
		assert_lacks(&b, state_looks[STATE_DONE].light.fill);
	}
}

static void copies_are_counted(void **state)
{
	static const struct known_state known[] = {
		{ "r*", { .counts = { [STATE_DONE] = 7, [STATE_FAILED] = 1 },
				TOOK(900),
				.attempts = 10,
				EXIT(3) } },
		{ NULL, { { 0 } } },
	};
	struct str text = S("{\"repeat\":8,\"parallel\":true,\"template\":\"work {index}\"}");
	(void)state;

	for (int f = PICTURE_SVG; f <= PICTURE_MERMAID; f++) {
		AUTO_BUF b = draw_run((enum picture_format)f, text, known);

		assert_has(&b, "7 done, 1 failed · 900 ms · 10 attempts · exit 3");
	}
	AUTO_BUF svg = draw_run(PICTURE_SVG, text, known);
	assert_int_equal(text_count(&svg, "class=\"box known failed\""), 3);
}

static bool all_but_one_done(const void *data, struct str path, struct picture_state *ret)
{
	(void)data;
	ret->counts[str_eq(path, S("77")) ? STATE_FAILED : STATE_DONE] = 1;
	return true;
}

static void a_failure_does_not_hide_in_what_is_left_out(void **state)
{
	struct picture_options options = { .state = all_but_one_done };
	AUTO_BUF text = BUF_INIT;
	AUTO_BUF b = BUF_INIT;
	(void)state;

	add_commands(&text, "{\"parallel\":true,\"template\":[", 101, "]}");
	struct graph *g = read_graph(buf_str(&text));
	picture_write(g, PICTURE_SVG, &options, &b);
	graph_unref(g);
	assert_has(&b, "… 51 more");
	assert_has(&b, ">50 done, 1 failed</text>");
}

static void states_are_joined(void **state)
{
	struct picture_state s = { ONE(STATE_DONE), TOOK(5), .attempts = 1, EXIT(0) };
	struct picture_state more = { ONE(STATE_TIMEOUT), TOOK(3), .attempts = 2, EXIT(1) };
	AUTO_BUF text = BUF_INIT;
	(void)state;

	picture_state_merge(&s, &more);
	assert_int_equal(picture_state_worst(&s), STATE_TIMEOUT);
	assert_int_equal(picture_state_total(&s), 2);
	picture_state_text(&s, &text);
	assert_string_equal(buf_cstr(&text), "1 done, 1 timeout · 5 ms · 3 attempts · exit 1");
}

static void assert_apart(const struct item *a, const struct item *b)
{
	assert_true(a->box.x >= b->box.x + b->box.w || b->box.x >= a->box.x + a->box.w ||
		    a->box.y >= b->box.y + b->box.h || b->box.y >= a->box.y + a->box.h);
}

/* Every box lies in its group, a recovery beside its node, and no two share a point. */
static void check_places(const struct item *group)
{
	const struct item *seen[100];
	size_t n = 0;

	for (size_t c = 0; c < group->child_count; c++) {
		for (const struct item *i = group->children[c]; i; i = i->recover) {
			assert_true(i->box.x >= group->box.x &&
				    i->box.x + i->box.w <= group->box.x + group->box.w);
			assert_true(i->box.y >= group->box.y &&
				    i->box.y + i->box.h <= group->box.y + group->box.h);
			for (size_t k = 0; k < n; k++)
				assert_apart(i, seen[k]);
			seen[n++] = i;
			check_places(i);
		}
	}
}

static void boxes_do_not_overlap(void **state)
{
	static const char *const texts[] = {
		REVIEW,
		"{\"parallel\":true,\"template\":[{\"template\":\"a\",\"retry\":2,\"recover\":"
		"\"r\"},"
		"[\"b\",\"c\"],\"d\",\"e\",{\"repeat\":3,\"parallel\":true,\"template\":\"f\"},"
		"\"g\","
		"{\"template\":[\"h\",\"i\"],\"retry\":2,\"failure\":\"branch\",\"recover\":[\"r\","
		"{\"template\":\"s\",\"retry\":2,\"recover\":\"t\"}]},\"j\"]}",
		"[{\"template\":\"a\",\"retry\":2,\"recover\":[\"r\",\"s\",\"t\"]},\"b\"]",
		"[{\"label\":\"a label that is much wider than what is in the group\","
		"\"template\":[\"x\"],\"timeout\":1,\"delay\":1,\"retry\":2,\"when\":\"w\"}]",
	};
	(void)state;

	for (size_t i = 0; i < 2 * ARRAY_SIZE(texts); i++) {
		struct graph *g = read_graph(str_of(texts[i / 2]));
		AUTO_BUF b = BUF_INIT;
		struct picture p;

		/* With states as well: every box is then higher. */
		picture_build(&p, g,
			&(struct picture_options){ .state = i % 2 ? all_but_one_done : NULL },
			PICTURE_ITEMS_MAX);
		svg_write(&p, &b);
		check_places(p.root);
		picture_done(&p);
		graph_unref(g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_command_is_a_picture),
		cmocka_unit_test(svg_stands_alone_and_describes_itself),
		cmocka_unit_test(all_formats_show_every_node),
		cmocka_unit_test(parallel_differs_from_sequence_by_shape),
		cmocka_unit_test(arrows_follow_the_order_of_execution),
		cmocka_unit_test(dot_cuts_arrows_off_at_the_group),
		cmocka_unit_test(flags_are_marks),
		cmocka_unit_test(a_node_without_flags_has_no_marks),
		cmocka_unit_test(recover_is_dashed_and_between_attempts),
		cmocka_unit_test(a_repeat_is_drawn_once),
		cmocka_unit_test(long_text_is_cut_and_whole_in_the_tooltip),
		cmocka_unit_test(no_label_breaks_out_of_its_place),
		cmocka_unit_test(shown_text_has_nothing_invisible),
		cmocka_unit_test(wide_characters_take_more_room),
		cmocka_unit_test(many_branches_are_folded),
		cmocka_unit_test(sixty_branches_are_all_drawn),
		cmocka_unit_test(depth_has_an_end),
		cmocka_unit_test(a_bush_stays_small_enough),
		cmocka_unit_test(boxes_do_not_overlap),
		cmocka_unit_test(a_run_shows_state_time_attempts_and_code),
		cmocka_unit_test(a_state_has_a_colour),
		cmocka_unit_test(without_a_run_there_are_no_states),
		cmocka_unit_test(copies_are_counted),
		cmocka_unit_test(a_failure_does_not_hide_in_what_is_left_out),
		cmocka_unit_test(states_are_joined),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("picture", tests, NULL, NULL);
}
