#include "recipe/usage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "data/json.h"
#include "recipe/file.h"
#include "tree.h"
#include "unit.h"

/* Of {"description":"d","template":"echo {x=1}"}, as the conformance vectors have it. */
#define KNOWN "531d246221713e7dae89b27eeec4818ea9f91e4e135be139d34fb017a641d5f3"
#define OTHER "0000000000000000000000000000000000000000000000000000000000000000"

static char path[128];

static int begin(void **state)
{
	if (tree_begin(state) < 0)
		return -1;
	(void)snprintf(path, sizeof(path), "%s/r.json", dir);
	return 0;
}

static void put(struct str text)
{
	AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, text), 0);
}

static void assert_file(struct str want)
{
	AUTO_BUF text = BUF_INIT;

	assert_int_equal(file_read(path, 2 << 20, &text), 0);
	assert_bytes(buf_str(&text), want);
}

static json_t *parse(struct str text)
{
	const struct source source = { S("r.json"), text };
	AUTO_REPORT r = REPORT_INIT;

	return json_read(&source, &r);
}

static json_t *load(void)
{
	AUTO_BUF text = BUF_INIT;

	assert_int_equal(file_read(path, 2 << 20, &text), 0);
	json_t *recipe = parse(buf_str(&text));
	if (!recipe)
		fail_msg("broken: %s", buf_cstr(&text));
	return recipe;
}

static long long calls(const json_t *recipe, const char *name)
{
	return (long long)json_number_value(
		json_object_get(json_object_get(recipe, "usage"), name));
}

static void assert_fingerprint(const char *text, const char *want)
{
	AUTO_JSON *recipe = parse(str_of(text));
	char hex[SHA256_HEX];

	assert_non_null(recipe);
	usage_fingerprint(recipe, hex);
	assert_string_equal(hex, want);
}

static void the_known_fingerprints_come_out(void **state UNUSED)
{
	assert_fingerprint("{\"description\":\"d\",\"template\":\"echo {x=1}\"}", KNOWN);
	assert_fingerprint("{\"usage\":{\"calls\":4},\"template\" : \"echo {x=1}\",\n"
			   "\"description\":\"\\u0064\"}",
		KNOWN);
	assert_fingerprint("{\"template\":\"false\"}",
		"18d3161f6261818c47a7e79775b3d18f30823cd060f77f14e363c55a18616d02");
	assert_fingerprint("{\"defaults\":{\"b\":[1,{\"z\":1,\"a\":\"\xC3\xA9\\\"\\\\\"}],"
			   "\"a\":null},\"template\":[\"echo x\",{\"when\":true,"
			   "\"template\":\"echo y\"}]}",
		"7e7ae737adb0e45a0dacca9c63fdfa6eb1d4eac8dc7d1e67e81b0b33d7e91dc7");
}

/* Only the time is not known beforehand: it is taken from the result. */
static void assert_counted(const char *before, const char *kind, const char *want)
{
	AUTO_BUF text = BUF_INIT;

	put(str_of(before));
	assert_int_equal(usage_count(path, kind), 0);
	AUTO_JSON *recipe = load();
	const char *now =
		json_string_value(json_object_get(json_object_get(recipe, "usage"), "last_called"));
	assert_non_null(now);
	assert_int_equal(strlen(now), strlen("2026-11-15T18:42:10.123Z"));
	assert_int_equal(now[10], 'T');
	assert_int_equal(now[19], '.');
	assert_int_equal(now[23], 'Z');
	for (const char *p = want; *p; p++) {
		if (*p == '@')
			buf_adds(&text, now);
		else
			buf_addc(&text, *p);
	}
	assert_file(buf_str(&text));
	assert_int_equal(tree_names(false), 1);
}

static void a_first_launch_adds_the_record(void **state UNUSED)
{
	assert_counted("{\n  \"description\": \"d\",\n  \"template\": \"echo {x=1}\"\n}\n",
		"direct",
		"{\n  \"description\": \"d\",\n"
		"  \"usage\": {\n    \"calls\": 1,\n    \"last_called\": \"@\",\n"
		"    \"fingerprint\": \"" KNOWN "\",\n    \"launch_kind\": \"direct\",\n"
		"    \"direct_calls\": 1\n  },\n"
		"  \"template\": \"echo {x=1}\"\n}\n");
}

static void a_known_recipe_goes_on_counting(void **state UNUSED)
{
	assert_counted("{\"description\":\"d\",\"template\":\"echo {x=1}\",\"usage\":{\"calls\":4,"
		       "\"mine\":[1.50],\"fingerprint\":\"" KNOWN "\",\"tool_calls\":3}}",
		"spawn",
		"{\"description\":\"d\",\"template\":\"echo {x=1}\",\"usage\":{\"calls\":5,"
		"\"mine\":[1.5],\"fingerprint\":\"" KNOWN "\",\"tool_calls\":3,"
		"\"last_called\":\"@\",\"launch_kind\":\"spawn\",\"spawn_calls\":1}}");
}

static void a_changed_recipe_starts_again(void **state UNUSED)
{
	assert_counted("{\"description\":\"d\",\"template\":\"echo {x=1}\",\"usage\":{\"calls\":9,"
		       "\"fingerprint\":\"" OTHER "\",\"tool_calls\":7,\"direct_calls\":2}}",
		"tool",
		"{\"description\":\"d\",\"template\":\"echo {x=1}\",\"usage\":{\"calls\":1,"
		"\"fingerprint\":\"" KNOWN "\",\"tool_calls\":1,\"direct_calls\":0,"
		"\"last_called\":\"@\",\"reset_at\":\"@\",\"launch_kind\":\"tool\"}}");
}

static void what_is_no_count_counts_as_none(void **state UNUSED)
{
	static const struct {
		const char *usage;
		long long calls;
	} cases[] = { { "{\"calls\":\"many\"}", 1 }, { "{\"calls\":-3}", 1 },
		{ "{\"calls\":2.7}", 3 }, { "{\"calls\":0.5}", 1 }, { "{\"calls\":null}", 1 },
		{ "[1]", 1 }, { "7", 1 }, { "{\"calls\":4,\"fingerprint\":5}", 5 },
		{ "{\"calls\":4}", 5 }, { "{\"calls\":1e300}", 0 } };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO_BUF text = BUF_INIT;

		buf_printf(&text, "{\"usage\":%s,\"template\":\"x\"}", cases[i].usage);
		put(buf_str(&text));
		assert_int_equal(usage_count(path, "direct"), 0);
		AUTO_JSON *recipe = load();
		const json_t *usage = json_object_get(recipe, "usage");
		if (cases[i].calls)
			assert_int_equal(calls(recipe, "calls"), cases[i].calls);
		assert_null(json_object_get(usage, "reset_at"));
	}
}

static void counting_twice_is_no_change_of_content(void **state UNUSED)
{
	put(S("\xEF\xBB\xBF{\r\n\t\"template\": \"x\", \"n\": 1.0e2\r\n}"));
	for (int i = 0; i < 3; i++)
		assert_int_equal(usage_count(path, i ? "tool" : "direct"), 0);
	AUTO_JSON *recipe = load();
	assert_int_equal(calls(recipe, "calls"), 3);
	assert_int_equal(calls(recipe, "tool_calls"), 2);
	assert_int_equal(calls(recipe, "direct_calls"), 1);
	assert_null(json_object_get(json_object_get(recipe, "usage"), "reset_at"));
}

static void what_is_no_recipe_is_left_alone(void **state UNUSED)
{
	static const char *const bad[] = { "", "{", "[]", "{\"a\":1}", "{\"template\":1,}",
		"---\na: 1\n---\n", "\"template\"", "{\"template\":\"\xff\"}" };

	assert_int_equal(usage_count(path, "direct"), -ENOENT);
	assert_int_equal(tree_names(false), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		put(str_of(bad[i]));
		assert_int_equal(usage_count(path, "direct"), -EBADMSG);
		assert_file(str_of(bad[i]));
	}
	put(S("{\"template\":1}"));
	assert_int_equal(usage_count(path, "else"), -EINVAL);
	assert_file(S("{\"template\":1}"));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(usage_count(path, "direct"), -EINVAL);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(usage_count(path, "direct"), -EINVAL);
	assert_int_equal(tree_names(false), 1);
}

static void a_recipe_does_not_grow_past_what_can_be_loaded(void **state UNUSED)
{
	AUTO_BUF text = BUF_INIT;

	buf_adds(&text, "{\"template\":\"");
	buf_fill(&text, 'x', RECIPE_MAX_BYTES - text.len - 2);
	buf_adds(&text, "\"}");
	put(buf_str(&text));
	assert_int_equal(usage_count(path, "direct"), -EFBIG);
	assert_file(buf_str(&text));
	assert_int_equal(tree_names(false), 1);
}

static void mode_owner_and_link_stay(void **state UNUSED)
{
	char link_path[128];
	struct stat st;

	(void)snprintf(link_path, sizeof(link_path), "%s/link.json", dir);
	put(S("{\"template\":1}"));
	assert_int_equal(symlink("r.json", link_path), 0);
	if (geteuid() == 0)
		assert_int_equal(chown(path, 1234, 2345), 0);
	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(usage_count(link_path, "direct"), 0);
	assert_int_equal(lstat(link_path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(st.st_mode & 07777, 0640);
	if (geteuid() == 0)
		assert_int_equal(st.st_uid, 1234);
	AUTO_JSON *recipe = load();
	assert_int_equal(calls(recipe, "calls"), 1);
}

/* The exit status of a child without root's rights is the error. */
static int count_unprivileged(void)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		if (geteuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0))
			_exit(255);
		_exit(-usage_count(path, "direct"));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void what_may_not_be_written_is_left_alone(void **state UNUSED)
{
	put(S("{\"template\":1}"));
	if (geteuid() == 0)
		assert_int_equal(chown(path, 65534, 65534), 0);
	assert_int_equal(chmod(dir, 0555), 0);
	assert_int_equal(count_unprivileged(), EACCES);
	assert_int_equal(chmod(dir, 0777), 0);
	assert_int_equal(chmod(path, 0444), 0);
	assert_int_equal(count_unprivileged(), EACCES);
	assert_file(S("{\"template\":1}"));
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(count_unprivileged(), 0);
	assert_int_equal(tree_names(false), 1);
}

static void every_one_of_many_launches_is_counted(void **state UNUSED)
{
	enum { LAUNCHES = 200 };
	pid_t pids[LAUNCHES];
	int gate[2], status;
	char byte;

	put(S("{\n  \"template\": \"echo {x=1}\",\n  \"number\": 1.50\n}\n"));
	assert_int_equal(pipe2(gate, O_CLOEXEC), 0);
	for (int i = 0; i < LAUNCHES; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i] > 0)
			continue;
		(void)alarm(100);
		(void)close(gate[1]);
		(void)!read(gate[0], &byte, 1); /* all at once, when the gate closes */
		/* A machine so slow that the lock is not to be had in time may ask again. */
		int r;
		do
			r = usage_count(path, i % 2 ? "tool" : "spawn");
		while (r == -ETIMEDOUT);
		_exit(-r);
	}
	(void)close(gate[0]);
	(void)close(gate[1]);
	for (int i = 0; i < LAUNCHES; i++) {
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	AUTO_JSON *recipe = load();
	assert_int_equal(calls(recipe, "calls"), LAUNCHES);
	assert_int_equal(calls(recipe, "tool_calls"), LAUNCHES / 2);
	assert_int_equal(calls(recipe, "spawn_calls"), LAUNCHES / 2);
	assert_int_equal(tree_names(false), 1);
}

/* Somebody without the lock saves and deletes all the time, as editors do. */
static void a_file_that_changes_meanwhile_is_never_broken(void **state UNUSED)
{
	enum { ROUNDS = 200 };
	char saved[128];
	int status;

	(void)snprintf(saved, sizeof(saved), "%s/saved", dir);
	put(S("{\"template\":0}"));
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		for (int i = 0; i < ROUNDS; i++) {
			AUTO_BUF text = BUF_INIT;
			AUTO_CLOSE int fd = open(saved, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

			buf_printf(&text, "{\"template\":%d}", i % 10);
			if (fd < 0 || fd_write_all(fd, buf_str(&text)) < 0 ||
				rename(saved, path) < 0)
				_exit(1);
			if (i % 7 == 0)
				(void)unlink(path);
			(void)usleep(500);
		}
		_exit(0);
	}
	for (pid_t done = 0; done != pid;) {
		int r = usage_count(path, "direct");

		assert_true(r == 0 || r == -ENOENT || r == -ESTALE);
		done = waitpid(pid, &status, WNOHANG);
		assert_true(done == 0 || done == pid);
	}
	assert_int_equal(status, 0);
	AUTO_JSON *recipe = load();
	assert_int_equal(
		json_integer_value(json_object_get(recipe, "template")), (ROUNDS - 1) % 10);
	assert_int_equal(tree_names(false), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_known_fingerprints_come_out),
		cmocka_unit_test_setup_teardown(a_first_launch_adds_the_record, begin, tree_end),
		cmocka_unit_test_setup_teardown(a_known_recipe_goes_on_counting, begin, tree_end),
		cmocka_unit_test_setup_teardown(a_changed_recipe_starts_again, begin, tree_end),
		cmocka_unit_test_setup_teardown(what_is_no_count_counts_as_none, begin, tree_end),
		cmocka_unit_test_setup_teardown(
			counting_twice_is_no_change_of_content, begin, tree_end),
		cmocka_unit_test_setup_teardown(what_is_no_recipe_is_left_alone, begin, tree_end),
		cmocka_unit_test_setup_teardown(
			a_recipe_does_not_grow_past_what_can_be_loaded, begin, tree_end),
		cmocka_unit_test_setup_teardown(mode_owner_and_link_stay, begin, tree_end),
		cmocka_unit_test_setup_teardown(
			what_may_not_be_written_is_left_alone, begin, tree_end),
		cmocka_unit_test_setup_teardown(
			every_one_of_many_launches_is_counted, begin, tree_end),
		cmocka_unit_test_setup_teardown(
			a_file_that_changes_meanwhile_is_never_broken, begin, tree_end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("usage", tests, NULL, NULL);
}
