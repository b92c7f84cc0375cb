#include "graph/plan.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/program.h"
#include "base/shell-words.h"
#include "graph/argv.h"
#include "graph/settings.h"
#include "graph/walk.h"

#include "unit.h"

static struct plan *plan_of(const char *text, const char *values, struct report *r)
{
	struct source source = { S("values"), str_of(values) };
	AUTO_JSON *given = values ? json_read(&source, r) : NULL;
	struct graph *g = graph_read(S("t.json"), str_of(text), DIALECT_NOW, r);

	assert_non_null(g);
	struct plan *p = plan_new(g, given, r);
	graph_unref(g);
	return p;
}

static bool add_leaf(void *data, const struct walk_leaf *leaf)
{
	struct buf *b = data;

	buf_printf(b, "%.*s ", STR(leaf->path));
	command_display(b, leaf->argv, leaf->argc);
	assert_null(leaf->argv[leaf->argc]);
	if (leaf->timeout_ms)
		buf_printf(b, " <%d", (int)leaf->timeout_ms);
	buf_addc(b, '\n');
	return true;
}

static void assert_walk(const char *text, const char *values, const char *want)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF b = BUF_INIT;
	struct plan *p = plan_of(text, values, &r);

	if (!p) {
		report_text(&r, REPORT_ALL, &b);
		fail_msg("%s: %s", text, buf_cstr(&b));
	}
	assert_true(plan_walk(p, add_leaf, &b, &r));
	assert_str(buf_str(&b), want);
	plan_unref(p);
}

static void assert_refused(const char *text, const char *values, const char *message)
{
	AUTO_REPORT r = REPORT_INIT;
	struct plan *p = plan_of(text, values, &r);

	if (p)
		fail_msg("%s was taken", text);
	assert_true(r.errors > 0);
	if (!str_contains(r.issues.at[0].message, str_of(message)))
		fail_msg("%s: '%.*s' lacks '%s'", text, STR(r.issues.at[0].message), message);
}

static void commands_come_in_tree_order_with_their_paths(void **state UNUSED)
{
	assert_walk("echo {a}", "{\"a\":\"x\"}", "0 echo x\n");
	assert_walk("[\"a\",[\"b\",\"c\"]]", NULL, "0 a\n1.0 b\n1.1 c\n");
	assert_walk("{\"repeat\":2,\"template\":\"e {index}\"}", NULL, "r0 e 0\nr1 e 1\n");
	assert_walk("[{\"repeat\":2,\"template\":[\"e {index}\",\"f\"]}]", NULL,
		"0.r0.0 e 0\n0.r0.1 f\n0.r1.0 e 1\n0.r1.1 f\n");
	assert_walk("{\"timeout\":\"{t}\",\"template\":\"a\"}", "{\"t\":1500}", "0 a <1500\n");
}

static void skipped_nodes_and_recoveries_are_left_out(void **state UNUSED)
{
	assert_walk("[{\"when\":\"no\",\"template\":\"a {missing}\"},\"b\"]", NULL, "1 b\n");
	assert_walk("[{\"when\":false,\"repeat\":\"x.length\",\"template\":\"a\"},\"b\"]", NULL,
		"1 b\n");
	assert_walk(
		"{\"retry\":2,\"recover\":\"fix {missing}\",\"template\":\"a\"}", NULL, "0 a\n");
	assert_walk("{\"repeat\":3,\"when\":\"{index%2}\",\"template\":\"e {index}\"}", NULL,
		"r1 e 1\n");
}

static void empty_words_are_dropped_unless_quoted(void **state UNUSED)
{
	assert_walk("e {a} '{a}' '' --x={a} z", "{\"a\":\"\"}", "0 e '' '' --x= z\n");
	assert_walk("{\"args\":[\"a\"],\"template\":\"e {a?--all:} {a??b}\"}", NULL, "0 e b\n");
}

static void home_is_expanded_in_the_command_word_only(void **state UNUSED)
{
	assert_int_equal(setenv("HOME", "/h", 1), 0);
	assert_walk("~/bin/x ~/y ~", NULL, "0 /h/bin/x '~/y' '~'\n");
	assert_walk("~user/x", NULL, "0 '~user/x'\n");
}

static void values_are_normalised_by_their_types(void **state UNUSED)
{
	assert_walk(
		"{\"args\":[\"n:int\",\"b:bool\",\"xs:array\"],\"template\":\"e {n} {b} {xs[0]}\"}",
		"{\"n\":\" 05 \",\"b\":\"YES\",\"xs\":\"[7]\"}", "0 e 05 true 7\n");
	assert_walk("e {n:int}", "{\"n\":null,\"other\":{}}", "0 e\n");
	assert_refused("e {n:int}", "{\"n\":\"x\"}", "'n' is 'x', expected a whole number");
	assert_refused("[\"a\",{\"args\":[\"m:enum(a,b)\"],\"template\":\"e\"}]", "{\"m\":\"c\"}",
		"one of a, b");
	/* An entry of args beats an inline type. */
	assert_walk(
		"{\"args\":[\"n:string\"],\"template\":\"e {n:int}\"}", "{\"n\":\"x\"}", "0 e x\n");
}

static void mistakes_are_found_before_anything_runs(void **state UNUSED)
{
	assert_refused("[\"a\",\"b {c}\"]", NULL, "no value for 'c'");
	assert_refused("{\"repeat\":\"xs.length\",\"template\":\"a\"}", NULL, "xs");
	assert_refused("{\"repeat\":\"xs.length\",\"template\":\"a\"}", "{\"xs\":5}", "xs");
	assert_refused("{\"repeat\":\"xs.length\",\"template\":\"a\"}", "{\"xs\":[]}", "empty");
	assert_refused("{\"repeat\":3,\"template\":\"e {1/(index-2)}\"}", NULL, "divides by zero");
	assert_refused("{\"repeat\":3,\"template\":\"e {xs[index]}\"}", "{\"xs\":[1,2]}",
		"outside the array");
	assert_refused("{\"retry\":\"{n}\",\"template\":\"a\"}", "{\"n\":0}", "retry");
	assert_refused("{\"timeout\":\"{n}\",\"template\":\"a\"}", "{\"n\":\"-1\"}", "timeout");
	assert_refused("{\"delay\":\"{n}\",\"template\":\"a\"}", "{\"n\":\"x\"}", "delay");
	assert_refused("{c} x", "{\"c\":\"\"}", "empty");
	assert_refused("e {a}", "{\"a\":\"x\\u0000y\"}", "NUL");
	assert_refused("{\"output\":\"nope\",\"template\":\"a\"}", NULL, "no value for 'nope'");
	assert_refused("{\"output\":\"{nope}/x\",\"template\":\"a\"}", NULL, "no value");
}

static void an_argument_must_fit_the_kernel(void **state UNUSED)
{
	AUTO_BUF values = BUF_INIT;
	AUTO_REPORT r = REPORT_INIT;

	buf_adds(&values, "{\"a\":\"");
	buf_fill(&values, 'x', PROGRAM_STRING_MAX - 1);
	buf_adds(&values, "\"}");
	struct plan *p = plan_of("e {a}", buf_cstr(&values), &r);
	assert_non_null(p);
	plan_unref(p);
	buf_truncate(&values, values.len - 2);
	buf_adds(&values, "x\"}");
	assert_refused("e {a}", buf_cstr(&values), "bytes long");
}

static void the_output_is_chosen_by_name_or_text(void **state UNUSED)
{
	static const struct {
		const char *output, *want;
	} cases[] = { { "file", "f.txt" }, { "{dir}/{file}", "d/f.txt" }, { "{x=y}", "y" } };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO_REPORT r = REPORT_INIT;
		AUTO_BUF text = BUF_INIT;

		buf_printf(&text,
			"{\"defaults\":{\"dir\":\"d\"},\"output\":\"%s\",\"template\":\"a\"}",
			cases[i].output);
		struct plan *p = plan_of(buf_cstr(&text), "{\"file\":\"f.txt\",\"stdout\":1}", &r);
		assert_non_null(p);
		assert_str(buf_str(&p->output), cases[i].want);
		plan_unref(p);
	}
}

static bool stop_at_once(void *data, const struct walk_leaf *leaf UNUSED)
{
	++*(int *)data;
	return false;
}

static void a_visitor_can_end_the_walk(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	int visits = 0;
	struct plan *p = plan_of("{\"repeat\":1000000000000,\"template\":[\"a\",\"b\"]}", NULL, &r);

	assert_non_null(p);
	assert_false(plan_walk(p, stop_at_once, &visits, &r));
	assert_int_equal(visits, 1);
	assert_int_equal(r.errors, 0);
	plan_unref(p);
}

static void copies_that_cannot_differ_are_looked_at_once(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	struct plan *p = plan_of(
		"{\"repeat\":1000000,\"template\":{\"repeat\":1000000,\"template\":\"e {a}\"}}",
		"{\"a\":1}", &r);

	assert_non_null(p);
	plan_unref(p);
}

static void nested_repeats_are_checked_in_bounded_time(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF text = BUF_INIT;

	for (int i = 0; i < 26; i++)
		buf_adds(&text, "{\"repeat\":2,\"template\":");
	buf_adds(&text, "\"e {index}\"");
	buf_fill(&text, '}', 26);
	struct plan *p = plan_of(buf_cstr(&text), NULL, &r);
	assert_non_null(p);
	plan_unref(p);
}

static void settings_are_numbers_or_texts_that_give_them(void **state UNUSED)
{
	static const struct {
		const char *json;
		enum setting_kind kind;
		int64_t want; /* -1: refused */
	} cases[] = { { "0", SETTING_MS, 0 }, { "1.2", SETTING_MS, 2 },
		{ "3000000000", SETTING_MS, 3000000000 }, { "-1", SETTING_MS, -1 },
		{ "\"\"", SETTING_MS, 0 }, { "\" 10 \"", SETTING_MS, 10 },
		{ "\".5\"", SETTING_MS, 1 }, { "\"0x10\"", SETTING_MS, -1 },
		{ "\"1e3\"", SETTING_MS, -1 }, { "\"+1\"", SETTING_MS, -1 },
		{ "1e300", SETTING_MS, 9000000000000000 }, { "\"{n}\"", SETTING_MS, 7 },
		{ "\"{n}0\"", SETTING_MS, 70 }, { "\"{x=}\"", SETTING_MS, 0 },
		{ "\"{x=abc}\"", SETTING_MS, -1 }, { "1", SETTING_ATTEMPTS, 1 },
		{ "1.0", SETTING_ATTEMPTS, 1 }, { "0", SETTING_ATTEMPTS, -1 },
		{ "1.5", SETTING_ATTEMPTS, -1 }, { "\"\"", SETTING_ATTEMPTS, 1 },
		{ "\"3\"", SETTING_ATTEMPTS, 3 }, { "\"-1\"", SETTING_ATTEMPTS, -1 },
		{ "\"{n}\"", SETTING_ATTEMPTS, 7 }, { "\"{x=0}\"", SETTING_ATTEMPTS, -1 },
		{ "1000000000000000000", SETTING_ATTEMPTS, 9000000000000000 } };

	AUTO_JSON *values = json_pack("{s:i}", "n", 7);
	struct scope scope = { .values = values };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct doc doc = { .source = { S("t"), str_of(cases[i].json) } };
		struct place place = { .doc = &doc };
		struct arena a = ARENA_INIT;
		AUTO_REPORT r = REPORT_INIT;
		struct setting setting = { 0 };
		uint64_t got = 0;

		doc.root = json_read(&doc.source, &r);
		bool ok = setting_read(&a, &place, "field", doc.root, cases[i].kind, DIALECT_NOW,
				  &setting, &r) &&
			  setting_resolve(&setting, "field", cases[i].kind, &scope, &got, &r);
		if (ok != (cases[i].want >= 0) || (ok && got != (uint64_t)cases[i].want))
			fail_msg("%s: %s %llu", cases[i].json, ok ? "gave" : "refused",
				(unsigned long long)got);
		assert_int_equal(r.errors, ok ? 0 : 1);
		doc_done(&doc);
		arena_done(&a);
	}
}

/* Looking for the place of each of them, in a text that begins with all those before it, would take
 * minutes. */
static void places_are_not_looked_for_without_need(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF text = BUF_INIT;
	AUTO_BUF walked = BUF_INIT;

	buf_adds(&text, "{\"args\":[\"a:array\"],\"template\":[");
	for (int i = 0; i < 20000; i++)
		buf_adds(&text, "{\"cwd\":\"/\",\"k\":1,\"repeat\":\"a.length\",\"template\":\"a "
				"{a[*]}\"},");
	buf_adds(&text, "\"b\"]}");
	struct plan *p = plan_of(buf_cstr(&text), "{\"a\":[\"x\"]}", &r);
	assert_non_null(p);
	assert_true(plan_walk(p, add_leaf, &walked, &r));
	assert_true(str_ends(buf_str(&walked), S("19999.r0 a x\n20000 b\n")));
	plan_unref(p);
}

static void no_more_mistakes_are_looked_for_than_are_told(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF text = BUF_INIT;

	buf_adds(&text, "[\"true\"");
	for (int i = 0; i < 2 * REPORT_MAX; i++)
		buf_printf(&text, ",\"a {v%d}\"", i);
	buf_adds(&text, "]");
	assert_null(plan_of(buf_cstr(&text), NULL, &r));
	assert_int_equal(r.errors, REPORT_MAX);
	assert_str(r.issues.at[REPORT_MAX - 1].message, "no value for 'v199'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_come_in_tree_order_with_their_paths),
		cmocka_unit_test(skipped_nodes_and_recoveries_are_left_out),
		cmocka_unit_test(empty_words_are_dropped_unless_quoted),
		cmocka_unit_test(home_is_expanded_in_the_command_word_only),
		cmocka_unit_test(values_are_normalised_by_their_types),
		cmocka_unit_test(mistakes_are_found_before_anything_runs),
		cmocka_unit_test(an_argument_must_fit_the_kernel),
		cmocka_unit_test(the_output_is_chosen_by_name_or_text),
		cmocka_unit_test(a_visitor_can_end_the_walk),
		cmocka_unit_test(places_are_not_looked_for_without_need),
		cmocka_unit_test(no_more_mistakes_are_looked_for_than_are_told),
		cmocka_unit_test(copies_that_cannot_differ_are_looked_at_once),
		cmocka_unit_test(nested_repeats_are_checked_in_bounded_time),
		cmocka_unit_test(settings_are_numbers_or_texts_that_give_them),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
