#include "steps/language/reference.h"

#include "steps/language/text.h"
#include "steps/language/value.h"

#include "unit.h"

/* -- finding them --------------------------------------------------------------------------------
 */

/* All references of the text as "offset+length:path ". */
static void assert_found(struct str text, const char *want)
{
	AUTO_BUF got = BUF_INIT;
	struct reference ref;
	size_t at = 0;

	while (reference_next(text, &at, &ref))
		buf_printf(&got, "%zu+%zu:%.*s ", ref.offset, ref.length, STR(ref.path));
	assert_int_equal(at, text.len);
	assert_str(buf_str(&got), want);
}

static void names_with_dots_between_double_braces_match(void **state UNUSED)
{
	assert_found(S("{{a}}"), "0+5:a ");
	assert_found(S("x {{a.b_c.0}} y{{d}}"), "2+11:a.b_c.0 15+5:d ");
	assert_found(S("{{9}}{{_}}"), "0+5:9 5+5:_ ");
	assert_found(S("{{é.日本}}"), "0+13:é.日本 ");
}

static void the_innermost_braces_count(void **state UNUSED)
{
	assert_found(S("{{{v}}}"), "1+5:v ");
	assert_found(S("{{{{v}}}}"), "2+5:v ");
	assert_found(S("{{a {{v}} }}"), "4+5:v ");
	assert_found(S("{{a{{v}}"), "3+5:v ");
}

static void what_does_not_match_is_text(void **state UNUSED)
{
	static const char *const texts[] = { "", "{", "{{", "{{}}", "{{ v }}", "{{v }}", "{{v|x}}",
		"{{v-w}}", "{{v.}}", "{{.v}}", "{{a..b}}", "{{v}", "{v}}", "{v}", "${v}",
		"{{v[0]}}", "{{v\n}}", "{ {v} }", "{{e\xcc\x81}}" };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_found(str_of(texts[i]), "");
	assert_found(S("{{a\0}}"), "");
	assert_found(S("{{\xff}}"), "");
}

static void one_alone_may_have_white_space_around(void **state UNUSED)
{
	struct reference ref;

	assert_true(reference_only(S(" \n{{a.b}}\t"), &ref));
	assert_int_equal(ref.offset, 2);
	assert_int_equal(ref.length, 7);
	assert_str(ref.path, "a.b");
	assert_str(reference_variable(&ref), "a");
	assert_false(reference_only(S("{{a}}{{b}}"), &ref));
	assert_false(reference_only(S("{{a}} x"), &ref));
	assert_false(reference_only(S("{{{a}}}"), &ref));
	assert_false(reference_only(S(""), &ref));
}

static void spaced_ones_are_found_for_a_warning(void **state UNUSED)
{
	struct reference ref;
	size_t at = 0;
	struct str text = S("{{a}} {{ b.c }} {{d }} {{ }}");

	assert_true(reference_spaced(text, &at, &ref));
	assert_str(ref.path, "b.c");
	assert_int_equal(ref.offset, 6);
	assert_int_equal(ref.length, 9);
	assert_true(reference_spaced(text, &at, &ref));
	assert_str(ref.path, "d");
	assert_false(reference_spaced(text, &at, &ref));
}

/* -- resolving -----------------------------------------------------------------------------------
 */

struct fixture {
	struct arena arena;
	struct report report;
	struct doc doc;
	struct place place;
	struct scope scope;
};

static const struct text *setup(struct fixture *f, const char *vars, struct str raw)
{
	*f = (struct fixture){ .doc = { .source = { S("t"), raw }, .plain = true } };
	f->place.doc = &f->doc;
	f->scope.vars = json_loads(vars, JSON_ALLOW_NUL, NULL);
	assert_non_null(f->scope.vars);
	return step_text(&f->arena, raw, &f->place);
}

static void teardown(struct fixture *f)
{
	json_decref(f->scope.vars);
	report_done(&f->report);
	arena_done(&f->arena);
}

static void assert_resolves(const char *vars, const char *raw, const char *want)
{
	struct fixture f;
	AUTO_BUF got = BUF_INIT;
	const struct text *t = setup(&f, vars, str_of(raw));

	if (!text_resolve(t, &f.scope, &got, &f.report))
		fail_msg("%.*s", STR(f.report.issues.at[0].message));
	assert_int_equal(f.report.issues.len, 0);
	assert_str(buf_str(&got), want);
	teardown(&f);
}

/* The one issue as "column+length: message / hint". */
static void assert_fails(const char *vars, const char *raw, const char *want)
{
	struct fixture f;
	AUTO_BUF got = BUF_INIT, text = BUF_INIT;
	const struct text *t = setup(&f, vars, str_of(raw));

	assert_false(text_resolve(t, &f.scope, &text, &f.report));
	assert_int_equal(f.report.issues.len, 1);
	const struct issue *i = &f.report.issues.at[0];
	buf_printf(&got, "%zu+%zu: %.*s / %.*s", i->column, i->mark_len, STR(i->message),
		STR(i->hint));
	assert_str(buf_str(&got), want);
	buf_done(&text);
	teardown(&f);
}

static void references_are_replaced_by_the_text_of_values(void **state UNUSED)
{
	assert_resolves("{\"v\":\"x y\"}", "[{{v}}]", "[x y]");
	assert_resolves("{\"v\":null,\"w\":2.0}", "{{v}} {{w}}", "None 2.0");
	assert_resolves("{\"m\":{\"a\":{\"b\":\"deep\"}}}", "{{m.a.b}}{{m}}",
		"deep{\"a\": {\"b\": \"deep\"}}");
	assert_resolves("{\"m\":{\"0\":\"zero\"}}", "{{m.0}}", "zero");
	assert_resolves("{\"v\":\"x\"}", "{{{v}}} {{ v }} ${v} {{}}", "{x} {{ v }} ${v} {{}}");
	assert_resolves("{}", "", "");
}

static void replaced_text_is_not_looked_at_again(void **state UNUSED)
{
	assert_resolves("{\"a\":\"{{b}}\",\"b\":\"x\"}", "{{a}}", "{{b}}");
	assert_resolves("{\"a\":\"{{\",\"b\":\"x\"}", "{{a}}b}}", "{{b}}");
}

static void text_that_is_json_can_be_entered(void **state UNUSED)
{
	assert_resolves("{\"m\":\" {\\\"k\\\": {\\\"j\\\": 5}}\\n\"}", "{{m.k.j}}{{m}}",
		"5 {\"k\": {\"j\": 5}}\n");
	/* And what is inside again. */
	assert_resolves("{\"m\":{\"s\":\"{\\\"t\\\":\\\"{\\\\\\\"u\\\\\\\":[1]}\\\"}\"}}",
		"{{m.s.t.u}}", "[1]");
}

static void a_mistake_names_the_reference_and_what_there_is(void **state UNUSED)
{
	assert_fails("{\"state\":1,\"count\":2}", "x {{coutn}}",
		"3+9: {{coutn}} is undefined / did you mean 'count'? available: count, state");
	assert_fails("{\"state\":1}", "{{zz.k}}",
		"1+8: {{zz.k}} is undefined: no variable 'zz' / available: state");
	assert_fails("{}", "{{zz}}", "1+6: {{zz}} is undefined / nothing is available here");
	assert_fails("{\"m\":{\"k\":1}}", "{{m.zz}}",
		"1+8: {{m.zz}} is undefined: 'm' has no key 'zz' / available: k");
	assert_fails("{\"m\":{\"k\":{}}}", "{{m.k.zz}}",
		"1+10: {{m.k.zz}} is undefined: 'm.k' has no key 'zz' / nothing is available here");
	assert_fails("{\"m\":7}", "{{m.k}}",
		"1+7: {{m.k}} is undefined: 'm' is a number, not a mapping / write {{m}}");
	assert_fails("{\"m\":\"text\"}", "{{m.k}}",
		"1+7: {{m.k}} is undefined: 'm' is a string, not a mapping / the text is not a "
		"JSON "
		"object, so it has no keys");
	assert_fails("{\"m\":[1]}", "{{m.0}}",
		"1+7: {{m.0}} is undefined: 'm' is a list, not a mapping / elements of a list "
		"cannot be addressed: use `foreach`, or jq in a bash step");
	assert_fails("{\"m\":\"[1]\"}", "{{m.0}}",
		"1+7: {{m.0}} is undefined: 'm' is a list, not a mapping / elements of a list "
		"cannot be addressed: use `foreach`, or jq in a bash step");
}

static void of_many_names_the_nearest_are_told(void **state UNUSED)
{
	assert_fails("{\"a1\":1,\"a2\":1,\"a3\":1,\"a4\":1,\"a5\":1,\"a6\":1,\"a7\":1,\"a8\":1,"
		     "\"a9\":1,\"total\":1,\"tota\":1}",
		"{{totals}}",
		"1+10: {{totals}} is undefined / did you mean 'total'? available: total, tota, a1, "
		"a2, a3, a4, a5, a6 and 3 more");
}

static void without_variables_nothing_is_defined(void **state UNUSED)
{
	struct scope none = { 0 };
	struct fixture f;
	AUTO_BUF got = BUF_INIT;
	const struct text *t = setup(&f, "{}", S("{{a}}"));

	assert_false(text_resolve(t, &none, &got, &f.report));
	assert_int_equal(f.report.errors, 1);
	teardown(&f);
}

static void a_long_text_ends_in_an_error(void **state UNUSED)
{
	struct fixture f;
	AUTO_BUF raw = BUF_INIT, value = BUF_INIT, got = BUF_INIT;

	for (size_t i = 0; i < 300; i++)
		buf_adds(&raw, "{{a}}");
	buf_fill(&value, 'x', 1 << 20);
	const struct text *t = setup(&f, "{}", buf_str(&raw));
	(void)json_object_set_new(f.scope.vars, "a", json_from_str(buf_str(&value)));
	assert_false(text_resolve(t, &f.scope, &got, &f.report));
	assert_int_equal(f.report.errors, 1);
	teardown(&f);
	buf_done(&raw);
	buf_done(&value);
}

/* -- values and lists ----------------------------------------------------------------------------
 */

static void assert_value(const char *vars, const char *raw, const char *want)
{
	struct fixture f;
	AUTO_BUF got = BUF_INIT;
	const struct text *t = setup(&f, vars, str_of(raw));
	json_t *value = t->ops->value(t, &f.scope, &f.report);

	assert_non_null(value);
	json_write(&got, value, 0);
	assert_str(buf_str(&got), want);
	json_decref(value);
	teardown(&f);
}

static void one_reference_alone_keeps_its_type(void **state UNUSED)
{
	assert_value("{\"v\":[1,{\"a\":null}]}", "{{v}}", "[1,{\"a\":null}]");
	assert_value("{\"v\":true}", " {{v}}\n", "true");
	assert_value("{\"v\":null}", "{{v}}", "null");
	assert_value("{\"v\":5}", "{{v}}0", "\"50\"");
	assert_value("{\"v\":5}", "{{v}}{{v}}", "\"55\"");
	assert_value("{\"v\":\"[1]\"}", "{{v}}", "\"[1]\"");
	assert_value("{\"v\":\"{\\\"a\\\":[2]}\"}", "{{v.a}}", "[2]");
	assert_value("{}", " plain ", "\" plain \"");
}

static void a_missing_value_is_an_issue(void **state UNUSED)
{
	struct fixture f;
	const struct text *t = setup(&f, "{}", S("{{v}}"));

	assert_null(t->ops->value(t, &f.scope, &f.report));
	assert_int_equal(f.report.errors, 1);
	teardown(&f);
}

/* NULL: refused. */
static void assert_list(const char *vars, const char *raw, const char *want)
{
	struct fixture f;
	AUTO_BUF got = BUF_INIT;
	const struct text *t = setup(&f, vars, str_of(raw));
	json_t *list = step_text_list(t, &f.scope, &f.report);

	if (want) {
		assert_non_null(list);
		json_write(&got, list, 0);
		assert_str(buf_str(&got), want);
	} else {
		assert_null(list);
	}
	assert_int_equal(f.report.errors, want ? 0 : 1);
	json_decref(list);
	teardown(&f);
}

static void a_loop_takes_a_list_or_text_of_one(void **state UNUSED)
{
	assert_list("{\"l\":[1,2]}", "{{l}}", "[1,2]");
	assert_list("{\"l\":[]}", " {{l}} ", "[]");
	assert_list("{\"l\":\"[\\\"a\\\"]\\n\"}", "{{l}}", "[\"a\"]");
	assert_list("{\"m\":\"{\\\"l\\\":[3]}\"}", "{{m.l}}", "[3]");
	assert_list("{\"l\":{}}", "{{l}}", NULL);
	assert_list("{\"l\":\"{}\"}", "{{l}}", NULL);
	assert_list("{\"l\":\"a b\"}", "{{l}}", NULL);
	assert_list("{\"l\":null}", "{{l}}", NULL);
	assert_list("{\"l\":[1]}", "{{l}} x", NULL);
	assert_list("{\"l\":[1]}", "{{l}}{{l}}", NULL);
	assert_list("{}", "{{l}}", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_with_dots_between_double_braces_match),
		cmocka_unit_test(the_innermost_braces_count),
		cmocka_unit_test(what_does_not_match_is_text),
		cmocka_unit_test(one_alone_may_have_white_space_around),
		cmocka_unit_test(spaced_ones_are_found_for_a_warning),
		cmocka_unit_test(references_are_replaced_by_the_text_of_values),
		cmocka_unit_test(replaced_text_is_not_looked_at_again),
		cmocka_unit_test(text_that_is_json_can_be_entered),
		cmocka_unit_test(a_mistake_names_the_reference_and_what_there_is),
		cmocka_unit_test(of_many_names_the_nearest_are_told),
		cmocka_unit_test(without_variables_nothing_is_defined),
		cmocka_unit_test(a_long_text_ends_in_an_error),
		cmocka_unit_test(one_reference_alone_keeps_its_type),
		cmocka_unit_test(a_missing_value_is_an_issue),
		cmocka_unit_test(a_loop_takes_a_list_or_text_of_one),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("reference", tests, NULL, NULL);
}
