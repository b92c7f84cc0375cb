#include "recipe/tool.h"

#include "runs/root.h"

static struct recipe_dirs dirs(void)
{
	struct str dir = str_of(root);

	return (struct recipe_dirs){
		.agent = dir, .user = str_of(at("user")), .packaged = str_of(at("packaged"))
	};
}

/* The file that was written, below the root; NULL: it was refused, with an issue. */
static const char *written(struct tool_request q)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF path = BUF_INIT;
	const struct recipe_dirs d = dirs();
	bool ok = tool_write(&d, &q, &path, &r);

	assert_int_equal(ok, !r.errors);
	return ok ? arena_str(&arena, str_from(buf_str(&path), strlen(root) + 1)).p : NULL;
}

static const char *added(const char *name, const char *template)
{
	return written((struct tool_request){ .name = name, .template = template, .async = -1 });
}

static const char *updated(const char *name, const char *template, const char *args)
{
	return written((struct tool_request){
		.name = name, .template = template, .args = args, .async = -1, .update = true });
}

static void a_tool_is_a_file_with_what_was_given(void **state UNUSED)
{
	const char *file = written((struct tool_request){ .name = "Say It!",
		.template = "echo {text}",
		.description = " says it ",
		.args = "text, n:int=3",
		.async = 1 });

	assert_non_null(file);
	assert_string_equal(file, "user/say_it_.json");
	assert_str(text_of(file),
		"{\n  \"description\": \"says it\",\n  \"async\": true,\n  \"args\": [\n"
		"    \"text\",\n    \"n:int\"\n  ],\n  \"defaults\": {\n    \"n\": \"3\"\n  },\n"
		"  \"template\": \"echo {text}\"\n}\n");
}

static void a_name_becomes_a_file_name(void **state UNUSED)
{
	assert_string_equal(added("a  b--c", "true"), "user/a_b_c.json");
	assert_string_equal(added("9lives", "true"), "user/tool_9lives.json");
	assert_string_equal(added("../../x", "true"), "user/_x.json");
	assert_null(added("", "true"));
	assert_null(added("roux", "true"));
	assert_null(added("Roux Run", "true"));
	AUTO_BUF name = BUF_INIT;
	for (int i = 0; i < 100; i++)
		buf_addc(&name, 'a');
	assert_int_equal(strlen(added(buf_cstr(&name), "true")), strlen("user/.json") + 64);
}

static void one_that_is_there_is_not_written_over(void **state UNUSED)
{
	assert_non_null(added("say", "echo 1"));
	assert_null(added("say", "echo 2"));
	assert_null(added("SAY", "echo 2"));
	assert_true(str_contains(text_of("user/say.json"), S("echo 1")));
}

static void what_has_a_mistake_is_not_written(void **state UNUSED)
{
	assert_null(added("bad", "{\"template\":"));
	assert_null(added("bad", "[\"echo\",7]"));
	assert_null(written((struct tool_request){
		.name = "bad", .template = "echo", .args = "1x", .async = -1 }));
	assert_null(written((struct tool_request){
		.name = "bad", .template = "echo", .args = "a,a:int", .async = -1 }));
	assert_null(written((struct tool_request){
		.name = "bad", .template = "echo", .args = "n:int=many", .async = -1 }));
	assert_false(is_there("user/bad.json"));
}

static void an_update_leaves_the_rest_as_it_was_written(void **state UNUSED)
{
	put("user/say.json", "{ \"description\" : \"mine\",\n\n\t\"args\": [\"a\"],\n"
			     "\t\"defaults\": {\"z\": 1.50},\n\t\"template\": \"echo {a}\" }\n");
	assert_string_equal(updated("say", "echo {a} {b}", "a,b=x"), "user/say.json");
	assert_str(text_of("user/say.json"),
		"{ \"description\" : \"mine\",\n\n\t\"args\": [\"a\", \"b\"],\n"
		"\t\"defaults\": {\"z\": 1.50, \"b\": \"x\"},\n\t\"template\": \"echo {a} {b}\" "
		"}\n");
	struct str before = text_of("user/say.json");
	assert_null(updated("say", "[\"echo\",7]", NULL));
	assert_str(text_of("user/say.json"), before.p);
	assert_null(updated("other", "echo", NULL));
	put("user/page.md", "# Page\n\n```sh\necho\n```\n");
	assert_null(updated("page", "echo", NULL)); /* not JSON */
}

static void a_name_of_a_recipe_delegates_to_it(void **state UNUSED)
{
	assert_non_null(added("say", "echo 1"));
	assert_non_null(added("again", "say"));
	assert_str(text_of("user/again.json"),
		"{\n  \"imports\": {\n    \"say\": \"say\"\n  },\n  \"template\": {\n"
		"    \"name\": \"say\"\n  }\n}\n");
	assert_non_null(added("other", "no-such-recipe"));
	assert_false(str_contains(text_of("user/other.json"), S("imports")));
}

static void an_import_goes_with_the_template_that_stood_for_it(void **state UNUSED)
{
	assert_non_null(added("say", "echo 1"));
	assert_non_null(added("tell", "echo 2"));
	assert_non_null(added("again", "say"));
	assert_non_null(updated("again", "tell", NULL));
	assert_str(text_of("user/again.json"),
		"{\n  \"imports\": {\n    \"tell\": \"tell\"\n  },\n  \"template\": {\n"
		"    \"name\": \"tell\"\n  }\n}\n");
	assert_non_null(updated("again", "echo {z}", NULL));
	assert_str(text_of("user/again.json"), "{\n  \"template\": \"echo {z}\"\n}\n");
}

static void an_import_that_is_used_or_that_a_person_wrote_stays(void **state UNUSED)
{
	assert_non_null(added("say", "echo 1"));
	assert_non_null(added("tell", "echo 2"));
	assert_non_null(added("again", "say"));
	assert_non_null(updated("again", "[{\"name\":\"say\"},\"cat\"]", NULL));
	assert_true(str_contains(text_of("user/again.json"), S("\"say\": \"say\"")));
	assert_non_null(updated("again", "echo {say.name}", NULL));
	assert_true(str_contains(text_of("user/again.json"), S("\"say\": \"say\"")));
	put("user/mine.json", "{\"imports\": {\"say\": \"say\", \"t\": \"tell\"},\n"
			      " \"template\": {\"name\": \"say\"}}\n");
	assert_non_null(updated("mine", "echo", NULL));
	assert_str(text_of("user/mine.json"),
		"{\"imports\": {\"t\": \"tell\"},\n \"template\": \"echo\"}\n");
	put("user/near.json",
		"{\"imports\": {\"say\": \"./say\"}, \"template\": {\"name\": \"say\"}}");
	assert_non_null(updated("near", "echo", NULL));
	assert_true(str_contains(text_of("user/near.json"), S("./say")));
}

static void without_a_project_there_is_none_of_it(void **state UNUSED)
{
	assert_null(written((struct tool_request){
		.name = "say", .template = "echo", .async = -1, .project = true }));
}

static void one_that_is_removed_is_gone(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF path = BUF_INIT;
	const struct recipe_dirs d = dirs();

	assert_non_null(added("Say It", "echo 1"));
	put("packaged/theirs.json", "{\"template\":\"echo\"}");
	assert_true(tool_remove(&d, "Say It", false, &path, &r));
	assert_false(is_there("user/say_it.json"));
	assert_str(buf_str(&path), at("user/say_it.json"));
	assert_int_equal(r.errors, 0);
	buf_reset(&path);
	assert_false(tool_remove(&d, "Say It", false, &path, &r));
	assert_false(tool_remove(&d, "theirs", false, &path, &r)); /* of another layer */
	assert_true(is_there("packaged/theirs.json"));
	assert_int_equal(r.errors, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_tool_is_a_file_with_what_was_given),
		T(a_name_becomes_a_file_name),
		T(one_that_is_there_is_not_written_over),
		T(what_has_a_mistake_is_not_written),
		T(an_update_leaves_the_rest_as_it_was_written),
		T(a_name_of_a_recipe_delegates_to_it),
		T(an_import_goes_with_the_template_that_stood_for_it),
		T(an_import_that_is_used_or_that_a_person_wrote_stays),
		T(without_a_project_there_is_none_of_it),
		T(one_that_is_removed_is_gone),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("tool", tests, NULL, NULL);
}
