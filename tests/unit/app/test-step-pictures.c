#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"
#include "render/picture/picture.h"
#include "steps/compile/compile.h"
#include "steps/compile/ops.h"

#include "text.h"
#include "unit.h"

#define HEAD "name: t\ndescription: d\nversion: 1.0.0\ncontext: {xs: [1], go: y}\n"

static struct buf draw(enum picture_format format, const char *steps)
{
	struct buf b = BUF_INIT;
	AUTO_BUF text = BUF_INIT;
	AUTO_BUF shown = BUF_INIT;
	AUTO_REPORT r = REPORT_INIT;

	buf_printf(&text, HEAD "%s", steps);
	struct step_recipe *recipe =
		step_recipe_read(S("/t.yaml"), S("t.yaml"), buf_str(&text), NULL, &r);
	if (!recipe) {
		report_text(&r, REPORT_ALL, &shown);
		fail_msg("%s", buf_cstr(&shown));
	}
	struct graph *g = step_graph(recipe, &step_ops, NULL, NULL);
	picture_write(g, format, &(struct picture_options){ .title = S("t") }, &b);
	graph_unref(g);
	return b;
}

/* The id that DOT and Mermaid give the node whose line has `part`. */
static unsigned id_of(const struct buf *b, const char *part)
{
	const char *at = strstr(buf_cstr(b), part);

	if (!at)
		fail_msg("no '%s' in:\n%.6000s", part, buf_cstr(b));
	while (at > b->p && at[-1] != '\n')
		at--;
	while (*at == '\t' || *at == ' ')
		at++;
	return (unsigned)strtoul(at + 1, NULL, 10);
}

static void assert_arrow(const struct buf *b, const char *format, const char *from, const char *to)
{
	AUTO_BUF line = BUF_INIT;
	unsigned ids[] = { id_of(b, from), id_of(b, to) };

	buf_printf(&line, "n%u %s n%u", ids[0], format, ids[1]);
	assert_has(b, buf_cstr(&line));
}

#define TYPES                                                      \
	"steps:\n"                                                 \
	"  - {id: one, type: bash, command: 'echo \"a\" <b>'}\n"   \
	"  - {id: two, agent: 'team:ada', prompt: 'look & say'}\n" \
	"  - {id: three, type: recipe, recipe: other.yaml}\n"      \
	"  - {id: four, type: wait, seconds: 90}\n"

static void steps_are_told_by_more_than_colour(void **state)
{
	AUTO_BUF svg = draw(PICTURE_SVG, TYPES);
	AUTO_BUF dot = draw(PICTURE_DOT, TYPES);
	AUTO_BUF mermaid = draw(PICTURE_MERMAID, TYPES);

	(void)state;
	assert_has(&svg, ">bash</text>");
	assert_has(&svg, ">agent</text>");
	assert_has(&svg, ">team:ada: look &amp; say</text>");
	assert_has(&svg, ".box.recipe{fill:#eceef1;stroke:#6b7585;stroke-dasharray");
	assert_has(&svg, ">90s</text>");
	assert_has(&dot, "label=\"bash · one\\necho \\\"a\\\" <b>\"");
	assert_has(&dot, "label=\"recipe · three\\nother.yaml\"");
	assert_has(&dot, "style=\"rounded,filled,dashed\"");
	assert_has(&mermaid, "[\"bash · one<br/>echo #34;a#34; #60;b#62;\"]");
	assert_has(&mermaid, "(\"agent · two");
	assert_has(&mermaid, "[[\"recipe · three");
}

static void the_ends_are_ovals(void **state)
{
	AUTO_BUF svg = draw(PICTURE_SVG, TYPES);
	AUTO_BUF dot = draw(PICTURE_DOT, TYPES);

	(void)state;
	assert_int_equal(text_count(&svg, "class=\"oval\""), 2);
	assert_has(&svg, ">start</text>");
	assert_has(&svg, ">end</text>");
	assert_int_equal(text_count(&dot, "shape=oval"), 2);
	assert_arrow(&dot, "->", "label=\"start\"", "bash · one");
	assert_arrow(&dot, "->", "wait · four", "label=\"end\"");
}

static void a_condition_is_a_diamond_with_a_way_around_its_step(void **state)
{
	static const char steps[] =
		"steps:\n"
		"  - {id: a, type: bash, command: x, condition: \"{{go}} == y\"}\n"
		"  - {id: b, type: bash, command: z}\n"
		"  - {id: c, type: bash, command: z, condition: \"{{go}} == n\"}\n";
	AUTO_BUF svg = draw(PICTURE_SVG, steps);
	AUTO_BUF dot = draw(PICTURE_DOT, steps);
	AUTO_BUF mermaid = draw(PICTURE_MERMAID, steps);

	(void)state;
	assert_int_equal(text_count(&svg, "<path class=\"condition\""), 3); /* one in the legend */
	assert_int_equal(text_count(&svg, "class=\"skip-text\""), 2);
	assert_arrow(&dot, "->", "{{go}} == y", "bash · a");
	assert_arrow(&dot, "->", "{{go}} == y", "bash · b");
	/* The last step leads to the end. */
	assert_arrow(&dot, "->", "{{go}} == n", "label=\"end\"");
	assert_int_equal(text_count(&dot, "label=\" skip\" style=dashed"), 2);
	assert_has(&mermaid, "-. \"skip\" .->");
}

static void loops_say_how_they_go_on(void **state)
{
	static const char steps[] =
		"steps:\n"
		"  - {id: a, type: bash, command: x, foreach: '{{xs}}'}\n"
		"  - {id: b, type: bash, command: x, foreach: '{{xs}}', parallel: 3}\n"
		"  - {id: c, type: bash, command: x, while_condition: '{{go}}', "
		"max_while_iterations: "
		"7}\n"
		"  - id: d\n    foreach: '{{xs}}'\n    steps:\n"
		"      - {id: e, type: bash, command: x, condition: '{{item}}'}\n";
	AUTO_BUF svg = draw(PICTURE_SVG, steps);
	AUTO_BUF dot = draw(PICTURE_DOT, steps);

	(void)state;
	assert_has(&svg, ">foreach ×xs</text>");
	assert_has(&svg, ">parallel 3</text>");
	assert_has(&svg, ">while {{go}}</text>");
	assert_has(&svg, ">at most 7</text>");
	assert_has(&svg, "class=\"line round\"");
	assert_arrow(&dot, "->", "bash · c", "bash · c");
	assert_has(&dot, "label=\"next round\" style=dashed");
	assert_has(&dot, "peripheries=2");
	assert_has(&dot, "label=\"foreach · d");
	/* Out of the body, past the end of the loop. */
	assert_arrow(&dot, "->", "step e runs if", "label=\"end\"");
}

#define STAGES                                                                   \
	"stages:\n"                                                              \
	"  - name: build\n    steps:\n      - {id: a, type: bash, command: x}\n" \
	"    approval: {required: true, prompt: 'ship it?', timeout: 60}\n"      \
	"  - name: ship\n    steps:\n      - {id: b, type: bash, command: x}\n"

static void a_gate_stands_behind_its_stage(void **state)
{
	AUTO_BUF dot = draw(PICTURE_DOT, STAGES);
	AUTO_BUF svg = draw(PICTURE_SVG, STAGES);
	const char *text = buf_cstr(&dot);

	(void)state;
	assert_int_equal(text_count(&dot, "subgraph cluster_"), 3); /* two stages and the legend */
	assert_has(&dot, "label=\"stage · build");
	assert_has(&dot, "label=\"approve · build\\nship it?");
	/* Outside of both clusters: the first one has ended before it. */
	const char *gate = strstr(text, "approve · build");
	const char *ends = strstr(text, "\t}\n");
	const char *second = strstr(text, "stage · ship");
	assert_true(ends && ends < gate && gate < second);
	assert_arrow(&dot, "->", "bash · a", "approve · build");
	assert_arrow(&dot, "->", "approve · build", "bash · b");
	assert_has(&svg, "<path class=\"gate\"");
	assert_has(&svg, ">after 1m deny</text>");
}

static void the_legend_has_what_occurs(void **state)
{
	AUTO_BUF svg = draw(PICTURE_SVG, STAGES);
	AUTO_BUF dot = draw(PICTURE_DOT, STAGES);
	AUTO_BUF mermaid = draw(PICTURE_MERMAID, STAGES);

	(void)state;
	assert_has(&svg, ">bash step</text>");
	assert_has(&svg, ">approval</text>");
	assert_lacks(&svg, ">agent step</text>");
	assert_lacks(&svg, ">condition</text>");
	assert_has(&dot, "cluster_legend");
	assert_lacks(&dot, "agent step");
	assert_has(&mermaid, "subgraph legend");
}

static void the_hash_is_that_of_the_body(void **state)
{
	AUTO_BUF one = draw(PICTURE_DOT, STAGES);
	AUTO_BUF same = draw(PICTURE_DOT, "author: me\n" STAGES);
	AUTO_BUF other = draw(PICTURE_DOT, TYPES);
	char hash[90] = "";

	(void)state;
	assert_has(&one, "\tsource_hash=\"");
	memcpy(hash, strstr(buf_cstr(&one), "source_hash=\""), 78);
	assert_has(&same, hash);
	assert_lacks(&other, hash);
}

static void a_long_recipe_is_bounded(void **state)
{
	AUTO_BUF steps = BUF_INIT;

	(void)state;
	buf_adds(&steps, "steps:\n");
	for (int i = 0; i < 900; i++)
		buf_printf(&steps,
			"  - {id: s%d, type: bash, command: x, condition: '{{go}} == %d'}\n", i, i);
	AUTO_BUF svg = draw(PICTURE_SVG, buf_cstr(&steps));
	AUTO_BUF mermaid = draw(PICTURE_MERMAID, buf_cstr(&steps));
	assert_has(&svg, "850 more");
	assert_true(svg.len < 200000);
	assert_true(mermaid.len < 50000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_are_told_by_more_than_colour),
		cmocka_unit_test(the_ends_are_ovals),
		cmocka_unit_test(a_condition_is_a_diamond_with_a_way_around_its_step),
		cmocka_unit_test(loops_say_how_they_go_on),
		cmocka_unit_test(a_gate_stands_behind_its_stage),
		cmocka_unit_test(the_legend_has_what_occurs),
		cmocka_unit_test(the_hash_is_that_of_the_body),
		cmocka_unit_test(a_long_recipe_is_bounded),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
