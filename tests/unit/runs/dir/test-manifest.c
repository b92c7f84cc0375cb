#include "runs/dir/manifest.h"

#include "runs/root.h"

/* Of "text". */
#define SUM "982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1"

static json_t *parsed(const char *text)
{
	return json_loads(text, JSON_DECODE_ANY, NULL);
}

static void made_is(const char *artifacts, const char *declared, const char *want)
{
	AUTO_JSON *a = parsed(artifacts), *d = declared ? parsed(declared) : NULL;
	AUTO_JSON *manifest = manifest_make(a, d, str_of(root));
	AUTO_BUF text = BUF_INIT;

	json_write(&text, manifest, 0);
	assert_str(buf_str(&text), want);
}

static void a_file_has_a_size_and_a_sum(void **state UNUSED)
{
	put("report.txt", "text");
	made_is("{\"report\":\"report.txt\"}", NULL,
		"{\"report\":{\"path\":\"report.txt\",\"exists\":true,\"size\":4,\"sha256\":\"" SUM
		"\",\"kind\":null,\"media_type\":null,\"required\":false}}");
}

static void an_empty_file_is_one(void **state UNUSED)
{
	put("empty", "");
	made_is("{\"e\":\"empty\"}", NULL,
		"{\"e\":{\"path\":\"empty\",\"exists\":true,\"size\":0,\"sha256\":"
		"\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\","
		"\"kind\":null,\"media_type\":null,\"required\":false}}");
}

static void what_is_not_there_is_said_so(void **state UNUSED)
{
	made_is("{\"a\":{\"path\":\"none\",\"required\":true}}", NULL,
		"{\"a\":{\"path\":\"none\",\"exists\":false,\"size\":null,\"sha256\":null,"
		"\"kind\":null,\"media_type\":null,\"required\":true}}");
	assert_int_equal(symlink("none", at("link")), 0);
	made_is("{\"a\":\"link\"}", NULL,
		"{\"a\":{\"path\":\"link\",\"exists\":false,\"size\":null,\"sha256\":null,"
		"\"kind\":null,\"media_type\":null,\"required\":false}}");
}

/* Neither is waited for, nor read. */
static void what_is_not_a_file_has_no_size(void **state UNUSED)
{
	assert_int_equal(mkdir(at("out"), 0700), 0);
	assert_int_equal(mkfifo(at("fifo"), 0600), 0);
	made_is("{\"d\":\"out\",\"f\":\"fifo\"}", NULL,
		"{\"d\":{\"path\":\"out\",\"exists\":true,\"size\":null,\"sha256\":null,"
		"\"kind\":null,\"media_type\":null,\"required\":false},"
		"\"f\":{\"path\":\"fifo\",\"exists\":true,\"size\":null,\"sha256\":null,"
		"\"kind\":null,\"media_type\":null,\"required\":false}}");
}

static void what_is_declared_is_taken_over(void **state UNUSED)
{
	made_is("{\"a\":\"x\",\"b\":{\"path\":\"y\",\"kind\":\"log\"}}",
		"{\"a\":{\"path\":\"other\",\"kind\":\"page\",\"media_type\":\"text/html\","
		"\"required\":true},\"b\":{\"kind\":\"page\",\"required\":true},\"c\":\"z\"}",
		"{\"a\":{\"path\":\"x\",\"exists\":false,\"size\":null,\"sha256\":null,"
		"\"kind\":\"page\",\"media_type\":\"text/html\",\"required\":true},"
		"\"b\":{\"path\":\"y\",\"exists\":false,\"size\":null,\"sha256\":null,"
		"\"kind\":\"log\",\"media_type\":null,\"required\":true}}");
}

static void what_has_no_path_is_not_an_artifact(void **state UNUSED)
{
	made_is("{\"a\":1,\"b\":{\"kind\":\"x\"},\"c\":{\"path\":2},\"d\":null,\"e\":[\"x\"]}",
		NULL, "{}");
	made_is("[\"x\"]", NULL, "{}");
	made_is("null", "{\"a\":\"x\"}", "{}");
}

static void a_relative_path_is_one_of_the_working_directory(void **state UNUSED)
{
	static const struct {
		const char *path, *cwd, *want;
	} cases[] = {
		{ "a/b", "/w", "/w/a/b" },
		{ "/a/b", "/w", "/a/b" },
		{ "a", "", "a" },
		{ "", "/w", "" },
		{ "../a", "/w", "/w/../a" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO_BUF b = BUF_INIT;

		manifest_resolve(str_of(cases[i].path), str_of(cases[i].cwd), &b);
		assert_str(buf_str(&b), cases[i].want);
	}
	put("sub/report", "text");
	AUTO_JSON *a = json_pack("{s:s,s:s}", "near", "sub/report", "far", at("sub/report"));
	AUTO_JSON *manifest = manifest_make(a, NULL, str_of(root));
	assert_str(json_text_of(json_object_get(manifest, "near"), "sha256"), SUM);
	assert_str(json_text_of(json_object_get(manifest, "far"), "sha256"), SUM);
	assert_str(json_text_of(json_object_get(manifest, "far"), "path"), at("sub/report"));
}

static void the_paths_are_those_of_the_artifacts(void **state UNUSED)
{
	AUTO_JSON *a =
		parsed("{\"a\":\"x\",\"b\":{\"path\":\"y\",\"kind\":\"k\"},\"c\":{},\"d\":1}");
	AUTO_JSON *paths = manifest_paths(a), *none = manifest_paths(NULL);
	AUTO_BUF text = BUF_INIT;

	json_write(&text, paths, 0);
	json_write(&text, none, 0);
	assert_str(buf_str(&text), "{\"a\":\"x\",\"b\":\"y\"}{}");
}

static void a_large_file_is_summed_in_pieces(void **state UNUSED)
{
	AUTO_BUF text = BUF_INIT;

	for (int i = 0; i < 200000; i++)
		buf_addc(&text, 'a');
	put("large", buf_cstr(&text));
	AUTO_JSON *a = parsed("{\"n\\u00e4me \\\"x\\\"\":\"large\"}");
	AUTO_JSON *manifest = manifest_make(a, NULL, str_of(root));
	const json_t *entry = json_object_get(manifest, "n\xc3\xa4me \"x\"");
	assert_int_equal(json_number_of(entry, "size"), 200000);
	assert_str(json_text_of(entry, "sha256"),
		"2287d207f24a941ff3b56c04c8a25ad56b63e3023207b3bb5b4ac0c9869d74be");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_file_has_a_size_and_a_sum),
		T(an_empty_file_is_one),
		T(what_is_not_there_is_said_so),
		T(what_is_not_a_file_has_no_size),
		T(what_is_declared_is_taken_over),
		T(what_has_no_path_is_not_an_artifact),
		T(a_relative_path_is_one_of_the_working_directory),
		T(the_paths_are_those_of_the_artifacts),
		T(a_large_file_is_summed_in_pieces),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("manifest", tests, NULL, NULL);
}
