#include "template/placeholder.h"

#include "unit.h"

static bool parse(const char *content, enum dialect d, struct placeholder *p)
{
	struct placeholder_mistake wrong = { 0 };
	bool ok = placeholder_parse(str_of(content), d, p, &wrong);

	if (!ok)
		assert_non_null(wrong.what);
	return ok;
}

static struct placeholder good(const char *content)
{
	struct placeholder p = { 0 };

	if (!parse(content, DIALECT_NOW, &p))
		fail_msg("{%s} was refused", content);
	assert_str(p.content, content);
	return p;
}

static void a_name_alone_is_a_value(void **state UNUSED)
{
	struct placeholder p = good("out-dir_2");

	assert_int_equal(p.kind, PLACEHOLDER_VALUE);
	assert_str(p.name, "out-dir_2");
	p = good("n:int");
	assert_int_equal(p.kind, PLACEHOLDER_VALUE);
	assert_int_equal(p.type.kind, TYPE_INT);
	p = good("mode:enum(a=b,c)");
	assert_int_equal(p.type.kind, TYPE_ENUM);
	assert_str(p.type.members, "a=b,c");
}

static void an_equals_sign_begins_a_default(void **state UNUSED)
{
	struct placeholder p = good("q=what?yes:no");

	assert_int_equal(p.kind, PLACEHOLDER_DEFAULT);
	assert_str(p.text, "what?yes:no");
	p = good("a=");
	assert_int_equal(p.kind, PLACEHOLDER_DEFAULT);
	assert_str(p.text, "");
	p = good("n:int=5");
	assert_int_equal(p.kind, PLACEHOLDER_DEFAULT);
	assert_int_equal(p.type.kind, TYPE_INT);
	assert_str(p.text, "5");
	p = good("m:enum(x=1,y)=x=1");
	assert_str(p.type.members, "x=1,y");
	assert_str(p.text, "x=1");
}

static void two_question_marks_begin_a_fallback(void **state UNUSED)
{
	struct placeholder p = good("a??x?y:z");

	assert_int_equal(p.kind, PLACEHOLDER_FALLBACK);
	assert_str(p.text, "x?y:z");
	p = good("a??");
	assert_str(p.text, "");
}

static void one_question_mark_begins_a_condition(void **state UNUSED)
{
	struct placeholder p = good("f?a:b:c");

	assert_int_equal(p.kind, PLACEHOLDER_CONDITION);
	assert_str(p.text, "a");
	assert_str(p.other, "b:c");
	assert_false(p.negated);
	p = good("!f?:x");
	assert_true(p.negated);
	assert_str(p.name, "f");
	assert_str(p.text, "");
	assert_str(p.other, "x");
}

static void brackets_take_an_item(void **state UNUSED)
{
	struct placeholder p = good("items[_index]");

	assert_int_equal(p.kind, PLACEHOLDER_ITEM);
	assert_str(p.name, "items");
	assert_str(p.index, "_index");
	assert_str(good("items[007]").index, "007");
}

static void arithmetic_needs_an_operator_or_parentheses(void **state UNUSED)
{
	assert_int_equal(good("index*2").kind, PLACEHOLDER_EXPR);
	assert_int_equal(good("(5)").kind, PLACEHOLDER_EXPR);
	assert_int_equal(good("index + 1").kind, PLACEHOLDER_EXPR);
	struct placeholder p = good("__(index+1)");
	assert_int_equal(p.kind, PLACEHOLDER_EXPR);
	assert_int_equal(p.underscores, 2);
	assert_str(p.expr, "index+1");
	/* A name may hold a minus sign; which of the two it is turns out when it is resolved. */
	assert_int_equal(good("index-1").kind, PLACEHOLDER_VALUE);
}

static void everything_else_is_refused(void **state UNUSED)
{
	static const char *const bad[] = { "print $1", "\"k\":1", "5", "a b", " a", "a ", "a.b",
		"items.length", "f?yes", "!f", "!f=x", "!f??x", "a[", "a[]", "a[b", "a[0]x",
		"a[-1]", "a[i+1]", "n:integer", "n:", "n:enum(a", "1?a:b", "{", "_(index)*(2)",
		"_()", "x*2", "index**2", "index 1", "-index", "index+", "a!b", "$HOME",
		"\xc3\xa9" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct placeholder p = { .kind = PLACEHOLDER_ITEM };

		if (parse(bad[i], DIALECT_NOW, &p))
			fail_msg("{%s} was taken", bad[i]);
		assert_int_equal(p.kind, PLACEHOLDER_ITEM);
	}
}

static void the_old_dialect_has_three_forms(void **state UNUSED)
{
	static const char *const taken[] = { "a", "a=b", "index*2", "_(index)" };
	static const char *const refused[] = { "a??b", "a?b:c", "a[0]", "a:int", "a:int=5" };
	struct placeholder p;

	for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
		assert_true(parse(taken[i], DIALECT_0_9, &p));
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		assert_false(parse(refused[i], DIALECT_0_9, &p));
}

struct seen {
	size_t count;
	struct str last;
	bool go_on;
};

static bool see_bad(void *data, struct str group, const struct placeholder_mistake *wrong)
{
	struct seen *s = data;

	assert_int_equal(group.p[0], '{');
	assert_non_null(wrong->what);
	s->count++;
	s->last = group;
	return s->go_on;
}

static void a_text_is_cut_at_its_groups(void **state UNUSED)
{
	struct arena a = ARENA_INIT;
	struct part *parts;
	struct str text = S("x{a}{b=c}}y{");
	size_t at = 0;

	assert_int_equal(placeholder_cut(&a, text, DIALECT_NOW, &parts, NULL, NULL), 4);
	assert_str(parts[0].text, "x");
	assert_str(parts[1].text, "{a}");
	assert_str(parts[1].placeholder->name, "a");
	assert_str(parts[2].text, "{b=c}");
	assert_null(parts[3].placeholder);
	for (size_t i = 0; i < 4; i++) {
		assert_ptr_equal(parts[i].text.p, text.p + at);
		at += parts[i].text.len;
	}
	assert_int_equal(at, text.len);
	assert_int_equal(placeholder_cut(&a, S(""), DIALECT_NOW, &parts, NULL, NULL), 0);
	assert_int_equal(placeholder_cut(&a, S("{}"), DIALECT_NOW, &parts, NULL, NULL), 1);
	assert_null(parts[0].placeholder);
	arena_done(&a);
}

static void braces_do_not_nest(void **state UNUSED)
{
	struct arena a = ARENA_INIT;
	struct part *parts;

	assert_int_equal(placeholder_cut(&a, S("{{a}}"), DIALECT_NOW, &parts, NULL, NULL), 3);
	assert_str(parts[1].text, "{a}");
	assert_int_equal(placeholder_cut(&a, S("{f?{a}:{b}}"), DIALECT_NOW, &parts, NULL, NULL), 5);
	assert_str(parts[0].text, "{f?");
	assert_str(parts[4].text, "}");
	arena_done(&a);
}

static void groups_that_are_no_placeholder_are_told(void **state UNUSED)
{
	struct arena a = ARENA_INIT;
	struct seen s = { 0 };
	struct part *parts;

	/* Without anybody to tell, the whole text is literal. */
	assert_int_equal(
		placeholder_cut(&a, S("{a} {print $1}"), DIALECT_NOW, &parts, NULL, NULL), 1);
	assert_null(parts[0].placeholder);
	assert_str(parts[0].text, "{a} {print $1}");
	assert_true(placeholder_cut(&a, S("{1} {a} {2}"), DIALECT_NOW, &parts, see_bad, &s) ==
		    SIZE_MAX);
	assert_int_equal(s.count, 2);
	assert_str(s.last, "{2}");
	s = (struct seen){ .go_on = true };
	assert_int_equal(placeholder_cut(&a, S("{1} {a}"), DIALECT_NOW, &parts, see_bad, &s), 3);
	arena_done(&a);
}

static void repeat_names_may_have_underscores_in_front(void **state UNUSED)
{
	struct str bare;
	size_t k;

	assert_true(repeat_name(S("index"), &bare, &k));
	assert_int_equal(k, 0);
	assert_true(repeat_name(S("___prev"), &bare, &k));
	assert_int_equal(k, 3);
	assert_str(bare, "prev");
	assert_true(repeat_name(S("________________________________repeat"), &bare, &k));
	assert_int_equal(k, 32);
	assert_false(repeat_name(S("_indexes"), &bare, &k));
	assert_false(repeat_name(S("__"), &bare, &k));
	assert_false(repeat_name(S("Index"), &bare, &k));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_alone_is_a_value),
		cmocka_unit_test(an_equals_sign_begins_a_default),
		cmocka_unit_test(two_question_marks_begin_a_fallback),
		cmocka_unit_test(one_question_mark_begins_a_condition),
		cmocka_unit_test(brackets_take_an_item),
		cmocka_unit_test(arithmetic_needs_an_operator_or_parentheses),
		cmocka_unit_test(everything_else_is_refused),
		cmocka_unit_test(the_old_dialect_has_three_forms),
		cmocka_unit_test(a_text_is_cut_at_its_groups),
		cmocka_unit_test(braces_do_not_nest),
		cmocka_unit_test(groups_that_are_no_placeholder_are_told),
		cmocka_unit_test(repeat_names_may_have_underscores_in_front),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("placeholder", tests, NULL, NULL);
}
