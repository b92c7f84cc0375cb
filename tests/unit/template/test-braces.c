#include "template/braces.h"

#include "base/clock.h"

#include "unit.h"

/* A root layer with values, a node with defaults, and any number of copies below. */
struct fixture {
	struct arena arena;
	struct report report;
	struct doc doc;
	struct place place;
	json_t *values, *defaults;
	struct presets presets;
	struct scope root, node;
};

static json_t *json_of(const char *text)
{
	struct source source = { S("fixture"), str_of(text) };
	AUTO_REPORT r = REPORT_INIT;
	json_t *value = json_read(&source, &r);

	assert_non_null(value);
	return value;
}

static void setup(struct fixture *f, const char *values, const char *defaults)
{
	const char *key;
	json_t *value;

	*f = (struct fixture){ 0 };
	f->values = json_of(values);
	f->defaults = json_of(defaults);
	f->presets.at = arena_array(&f->arena, struct preset, json_object_size(f->defaults));
	json_object_foreach(f->defaults, key, value) preset_compile(
		&f->arena, str_of(key), value, DIALECT_NOW, &f->presets.at[f->presets.count++]);
	f->root.values = f->values;
	f->node = (struct scope){ .up = &f->root, .defaults = &f->presets };
	f->place.doc = &f->doc;
}

static void teardown(struct fixture *f)
{
	json_decref(f->values);
	json_decref(f->defaults);
	report_done(&f->report);
	arena_done(&f->arena);
}

/* The text resolved, or "error: …". */
static void resolve(struct fixture *f, const struct scope *s, const char *raw, struct buf *ret)
{
	f->doc = (struct doc){ .source = { S("t"), str_of(raw) }, .plain = true };
	report_reset(&f->report);
	buf_reset(ret);
	const struct text *t =
		braces_text(&f->arena, &f->place, str_of(raw), DIALECT_NOW, &f->report);
	if (t && text_resolve(t, s, ret, &f->report)) {
		assert_int_equal(f->report.errors, 0);
		return;
	}
	assert_true(f->report.errors > 0);
	buf_reset(ret);
	buf_printf(ret, "error: %.*s", STR(f->report.issues.at[0].message));
}

static void assert_resolves(
	const char *values, const char *defaults, const char *raw, const char *want)
{
	struct fixture f;
	AUTO_BUF got = BUF_INIT;

	setup(&f, values, defaults);
	resolve(&f, &f.node, raw, &got);
	if (!strcmp(want, "error"))
		assert_true(str_starts(buf_str(&got), S("error: ")));
	else
		assert_str(buf_str(&got), want);
	teardown(&f);
}

static void values_come_before_defaults_before_inline_ones(void **state UNUSED)
{
	assert_resolves("{\"a\":\"v\"}", "{\"a\":\"d\"}", "{a=i}", "v");
	assert_resolves("{}", "{\"a\":\"d\"}", "{a=i}", "d");
	assert_resolves("{}", "{}", "{a=i}", "i");
	assert_resolves("{\"a\":null}", "{\"a\":\"d\"}", "[{a=i}]", "[]");
	assert_resolves("{\"a\":\"\"}", "{\"a\":\"d\"}", "[{a=i}]", "[]");
	assert_resolves("{}", "{}", "{a}", "error: no value for 'a'");
}

static void runtime_text_is_never_read_for_placeholders(void **state UNUSED)
{
	assert_resolves("{\"a\":\"{b}\",\"b\":\"x\"}", "{}", "{a}", "{b}");
	assert_resolves("{\"a\":\"{b}\",\"b\":\"x\"}", "{\"d\":\"{a}\"}", "{d}", "{b}");
	assert_resolves("{\"a\":[\"{b}\"],\"b\":\"x\"}", "{}", "{a[0]}", "{b}");
	assert_resolves("{\"a\":\"{b}\",\"b\":\"x\"}", "{}", "{a??}", "{b}");
}

static void inline_texts_are_never_read_for_placeholders(void **state UNUSED)
{
	assert_resolves("{\"f\":true}", "{}", "{f?b:c}{x=f}{y??f}", "bff");
}

static void defaults_are_resolved_where_they_are_used(void **state UNUSED)
{
	assert_resolves("{}", "{\"a\":\"{b}\",\"b\":\"x\"}", "{a}", "x");
	assert_resolves("{}", "{\"a\":\"<{b}-{c=1}>\",\"b\":\"x\"}", "{a}", "<x-1>");
	assert_resolves("{}", "{\"a\":\"{b}\"}", "{a}", "error");
	assert_resolves("{}", "{\"a\":\"{b}\"}", "{a??x}", "error");
	assert_resolves("{}", "{\"a\":\"{b}\"}", "{a?x:y}", "error");
	/* Text with a part that cannot be resolved is literal: JSON, awk. */
	assert_resolves("{}", "{\"a\":\"x{b}\"}", "{a}", "x{b}");
	assert_resolves("{}", "{\"a\":\"{print $1}\"}", "{a}", "{print $1}");
	assert_resolves("{\"b\":1}", "{\"a\":\"{b}{print $1}\"}", "{a}", "{b}{print $1}");
}

static void five_hops_are_allowed(void **state UNUSED)
{
	static const char chain[] = "{\"a\":\"{b}\",\"b\":\"{c}\",\"c\":\"{d}\",\"d\":\"{e}\","
				    "\"e\":\"{f}\",\"f\":\"{g}\"}";

	assert_resolves("{\"f\":\"end\"}", chain, "{a}", "end");
	assert_resolves("{\"g\":\"end\"}", chain, "{a}",
		"error: defaults lead to defaults more than five times");
	assert_resolves("{\"g\":\"end\"}", chain, "{b}", "end");
	assert_resolves("{}", "{\"a\":\"{a}\"}", "{a}", "error");
	assert_resolves("{}", "{\"a\":\"x{b}\",\"b\":\"y{a}\"}", "{a}", "error");
}

static void hops_are_counted_for_each_placeholder_anew(void **state UNUSED)
{
	static const char failing[] = "{\"m\":\"x{a}y\",\"a\":\"{b}\",\"b\":\"{missing}\"}";

	assert_resolves("{}", failing, "{m}", "x{a}y");
	assert_resolves(
		"{}", failing, "{m}{m}{m}{m}{m}{m}{m}", "x{a}yx{a}yx{a}yx{a}yx{a}yx{a}yx{a}y");
	assert_resolves(
		"{\"c\":1}", "{\"a\":\"{b}\",\"b\":\"{c}\"}", "{a}{a}{a}{a}{a}{a}{a}", "1111111");
}

static void defaults_that_multiply_end_in_an_error_and_soon(void **state UNUSED)
{
	AUTO_BUF defaults = BUF_INIT;

	buf_adds(&defaults, "{\"z\":\"y\"");
	for (char name = 'a'; name < 'f'; name++) {
		buf_printf(&defaults, ",\"%c\":\"-", name);
		for (int i = 0; i < 200; i++)
			buf_printf(&defaults, "{%c}", name == 'e' ? 'z' : name + 1);
		buf_adds(&defaults, "\"");
	}
	buf_adds(&defaults, "}");
	assert_resolves("{}", buf_cstr(&defaults), "{a}", "error");
	assert_resolves("{}", buf_cstr(&defaults), "{a?x:y}", "error");
}

static void items_are_taken_from_arrays_wherever_they_come_from(void **state UNUSED)
{
	assert_resolves("{\"a\":[\"x\",null,[1]]}", "{}", "{a[0]}.{a[1]}.{a[2]}", "x..[1]");
	assert_resolves("{\"i\":\"01\"}", "{\"a\":[\"x\",\"y\"]}", "{a[i]}", "y");
	assert_resolves("{\"i\":1}", "{\"a\":[\"x\",\"y\"],\"b\":\"{a}\"}", "{b[i]}", "y");
	assert_resolves("{\"a\":[\"x\"]}", "{}", "{a[1]}", "error");
	assert_resolves("{\"a\":[\"x\"]}", "{}", "{a[99999999999999999999]}", "error");
	assert_resolves("{\"a\":\"x\"}", "{}", "{a[0]}", "error");
	assert_resolves("{\"a\":[\"x\"]}", "{}", "{a[i]}", "error: no value for 'i'");
	assert_resolves("{\"a\":[\"x\"],\"i\":\"\"}", "{}", "{a[i]}", "error");
	assert_resolves("{\"a\":[\"x\"],\"i\":\"-1\"}", "{}", "{a[i]}", "error");
	assert_resolves("{}", "{}", "{a[0]}", "error: no value for 'a'");
}

static void fallbacks_and_conditions_go_by_truth(void **state UNUSED)
{
	assert_resolves("{\"a\":\"0\"}", "{}", "{a??x}", "x");
	assert_resolves("{\"a\":\"off\"}", "{}", "{a??x}", "off");
	assert_resolves("{}", "{}", "{a??}", "");
	assert_resolves("{\"a\":[]}", "{}", "{a?t:e}{!a?t:e}", "et");
	assert_resolves("{}", "{}", "{a?t:e}{!a?t:e}", "et");
	assert_resolves("{}", "{\"a\":\"{b=no}\"}", "{a?t:e}", "e");
}

static void copies_have_their_numbers(void **state UNUSED)
{
	struct fixture f;
	AUTO_BUF got = BUF_INIT;

	setup(&f, "{\"index\":\"caller\",\"xs\":[\"a\",\"b\",\"c\"]}",
		"{\"late\":\"{xs[index]}\",\"index\":9}");
	struct scope copy = { .up = &f.node, .repeats = true, .index = 2, .count = 3 };
	resolve(&f, &copy, "{index}{prev}{next}{repeat}", &got);
	assert_str(buf_str(&got), "2103");
	resolve(&f, &copy, "{_index}.{____repeat}.{late}", &got);
	assert_str(buf_str(&got), "02.00003.c");
	resolve(&f, &copy, "{index-1}.{index*10}.{__(index-5)}.{_(7)}", &got);
	assert_str(buf_str(&got), "1.20.-03.07");
	resolve(&f, &copy, "{________________________________index}", &got);
	assert_int_equal(got.len, 33);
	resolve(&f, &copy, "{1/(index-2)}", &got);
	assert_str(buf_str(&got), "error: '1/(index-2)' divides by zero");
	/* Outside a copy a given value counts. */
	resolve(&f, &f.node, "{index}", &got);
	assert_str(buf_str(&got), "caller");
	resolve(&f, &f.node, "{index+1}", &got);
	assert_true(str_starts(buf_str(&got), S("error: ")));
	teardown(&f);
}

static void a_default_that_is_a_bare_name_is_bound_where_it_is_declared(void **state UNUSED)
{
	struct fixture outer, inner;
	AUTO_BUF got = BUF_INIT;

	setup(&outer, "{}", "{\"model\":\"big\",\"other\":\"o\"}");
	setup(&inner, "{}", "{\"model\":\"{model}\",\"kept\":\"{index}\"}");
	struct scope copy = { .up = &outer.node, .repeats = true, .index = 4, .count = 9 };
	inner.node.up = &copy;
	struct scope innermost = { .up = &inner.node, .repeats = true, .index = 0, .count = 2 };
	resolve(&inner, &inner.node, "{model}", &got);
	assert_str(buf_str(&got), "big");
	resolve(&inner, &innermost, "{kept}{index}", &got);
	assert_str(buf_str(&got), "40");
	teardown(&inner);
	teardown(&outer);
}

static void shorthand_defaults_are_the_last_layer_and_are_replaced_whole(void **state UNUSED)
{
	struct fixture f;
	AUTO_BUF got = BUF_INIT;
	AUTO_JSON *text = json_from_str(S("short"));
	struct preset one[2];

	setup(&f, "{}", "{\"a\":\"d\"}");
	preset_compile(&f.arena, S("a"), text, DIALECT_NOW, &one[0]);
	preset_compile(&f.arena, S("b"), text, DIALECT_NOW, &one[1]);
	struct presets args = { one, 2 }, none = { NULL, 0 };
	f.node.args = &args;
	resolve(&f, &f.node, "{a} {b=inline}", &got);
	assert_str(buf_str(&got), "d short");
	struct scope below = { .up = &f.node, .args = &none };
	resolve(&f, &below, "{a} {b=inline}", &got);
	assert_str(buf_str(&got), "d inline");
	teardown(&f);
}

static void mistakes_are_told_with_their_place_and_a_hint(void **state UNUSED)
{
	struct fixture f;
	AUTO_BUF got = BUF_INIT;

	setup(&f, "{\"scope\":1}", "{}");
	resolve(&f, &f.node, "a {scoep} b", &got);
	const struct issue *i = &f.report.issues.at[0];
	assert_str(i->message, "no value for 'scoep'");
	assert_str(i->hint, "there is one for 'scope': is one of the two misspelt?");
	assert_int_equal(i->column, 3);
	assert_int_equal(i->mark_len, 7);
	resolve(&f, &f.node, "x {out-dir}", &got);
	assert_str(buf_str(&got), "error: no value for 'out-dir'");
	teardown(&f);
}

static void assert_guard(const char *values, const char *raw, const char *want)
{
	struct fixture f;
	bool runs = false;

	setup(&f, values, "{\"d\":\"{missing}\"}");
	f.doc = (struct doc){ .source = { S("t"), str_of(raw) }, .plain = true };
	const struct text *t =
		braces_guard(&f.arena, &f.place, str_of(raw), DIALECT_NOW, &f.report);
	const char *got =
		t && text_decide(t, &f.node, &runs, &f.report) ? runs ? "yes" : "no" : "error";
	if (strcmp(got, want) != 0)
		fail_msg("`%s` with %s: %s, want %s", raw, values, got, want);
	teardown(&f);
}

static void guards_are_flags_or_one_placeholder(void **state UNUSED)
{
	assert_guard("{\"f\":1}", "f", "yes");
	assert_guard("{\"f\":0}", " f ", "no");
	assert_guard("{}", "f", "no");
	assert_guard("{}", "!f", "yes");
	assert_guard("{\"f\":\"x\"}", "! f", "no");
	assert_guard("{\"f\":[]}", "{f}", "no");
	assert_guard("{}", "{f}", "no");
	assert_guard("{\"f\":\"x\"}", "{f?yes:}", "yes");
	assert_guard("{\"f\":\"x\"}", "{!f?yes:}", "no");
	assert_guard("{\"a\":[1]}", "{a[0]}", "yes");
	assert_guard("{\"a\":[1]}", "{a[1]}", "error");
	assert_guard("{}", "{index+1}", "error");
	assert_guard("{\"index\":1}", "{index-1}", "no");
	assert_guard("{}", "d", "error");
	assert_guard("{}", "two words", "error");
	assert_guard("{}", "!{f}", "error");
	assert_guard("{}", "{f}{f}", "error");
	assert_guard("{}", "x{f}", "error");
	assert_guard("{\"true\":1}", "true", "yes");
	assert_guard("{}", "{print $1}", "error");
}

static void it_is_known_what_can_differ_between_copies(void **state UNUSED)
{
	static const struct {
		const char *raw;
		bool differs;
	} texts[] = { { "plain", false }, { "{a}", false }, { "{index}", true },
		{ "{__next}", true }, { "{xs[index]}", true }, { "{xs[0]}", false },
		{ "{index-1}", true }, { "{late}", true }, { "{deep}", true },
		{ "{late??x}", true }, { "{prev=1}", true }, { "{(5)}", true } };
	struct fixture f;

	setup(&f, "{\"a\":1,\"xs\":[1]}", "{\"late\":\"{xs[index]}\",\"deep\":\"-{late}\"}");
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		const struct text *t = braces_text(
			&f.arena, &f.place, str_of(texts[i].raw), DIALECT_NOW, &f.report);

		if (braces_mentions_copy(t, &f.node) != texts[i].differs)
			fail_msg("%s", texts[i].raw);
	}
	teardown(&f);
}

static void arrays_and_named_values_can_be_asked_for(void **state UNUSED)
{
	struct fixture f;
	AUTO_BUF got = BUF_INIT;

	setup(&f, "{\"xs\":[1,2],\"t\":\"[1]\"}", "{\"ys\":\"{xs}\",\"bad\":\"{nope}\"}");
	assert_int_equal(json_array_size(braces_array(&f.node, S("xs"))), 2);
	assert_int_equal(json_array_size(braces_array(&f.node, S("ys"))), 2);
	assert_null(braces_array(&f.node, S("t")));
	assert_false(braces_no_array(&f.node, S("t"), (struct where){ 0 }, &f.report));
	assert_null(braces_array(&f.node, S("none")));
	assert_false(braces_no_array(&f.node, S("none"), (struct where){ 0 }, &f.report));
	assert_int_equal(f.report.errors, 2);
	report_reset(&f.report);
	assert_true(braces_named(&f.node, S("ys"), (struct where){ 0 }, &got, &f.report));
	assert_str(buf_str(&got), "[1,2]");
	assert_false(braces_named(&f.node, S("none"), (struct where){ 0 }, &got, &f.report));
	assert_false(braces_named(&f.node, S("bad"), (struct where){ 0 }, &got, &f.report));
	assert_int_equal(f.report.errors, 2);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_come_before_defaults_before_inline_ones),
		cmocka_unit_test(runtime_text_is_never_read_for_placeholders),
		cmocka_unit_test(inline_texts_are_never_read_for_placeholders),
		cmocka_unit_test(defaults_are_resolved_where_they_are_used),
		cmocka_unit_test(five_hops_are_allowed),
		cmocka_unit_test(hops_are_counted_for_each_placeholder_anew),
		cmocka_unit_test(defaults_that_multiply_end_in_an_error_and_soon),
		cmocka_unit_test(items_are_taken_from_arrays_wherever_they_come_from),
		cmocka_unit_test(fallbacks_and_conditions_go_by_truth),
		cmocka_unit_test(copies_have_their_numbers),
		cmocka_unit_test(a_default_that_is_a_bare_name_is_bound_where_it_is_declared),
		cmocka_unit_test(shorthand_defaults_are_the_last_layer_and_are_replaced_whole),
		cmocka_unit_test(mistakes_are_told_with_their_place_and_a_hint),
		cmocka_unit_test(guards_are_flags_or_one_placeholder),
		cmocka_unit_test(it_is_known_what_can_differ_between_copies),
		cmocka_unit_test(arrays_and_named_values_can_be_asked_for),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("braces", tests, NULL, NULL);
}
