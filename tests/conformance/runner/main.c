/* usage: conformance telegram DIRECTORY
 *
 * Runs every case of every file of DIRECTORY, except the files that are only informative, against
 * the modules below src/hosts/telegram. A file is an array of {name, input, expect}; its name says
 * what its cases are about. Prints what fails, and `N passed, N failed` last; exits with 1 when
 * something failed, with 2 when the cases cannot be read. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/lang.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "base/vec.h"

#include "queue.h"

static unsigned passed, failed;

struct str case_text(struct arena *a, const json_t *value)
{
	const json_t *parts = json_object_get(value, "parts");
	AUTO_BUF text = BUF_INIT;

	if (json_is_string(value))
		return json_str(value);
	for (size_t i = 0; i < json_array_size(parts); i++) {
		const json_t *part = json_array_get(parts, i);
		json_int_t times = json_integer_value(json_array_get(part, 1));

		for (json_int_t n = 0; n < times; n++)
			buf_add(&text, json_str(json_array_get(part, 0)));
	}
	return arena_str(a, buf_str(&text));
}

struct str case_member(struct arena *a, const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	return value ? case_text(a, value) : S("");
}

int64_t case_number(const json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

json_t *case_str_or_null(struct str s)
{
	return s.len ? json_from_str(s) : json_null();
}

/* -- comparing -----------------------------------------------------------------------------------
 */

static size_t units_of(struct str s)
{
	size_t units = 0;
	uint32_t c;

	for (size_t i = 0; i < s.len;) {
		i += utf8_decode(s, i, &c);
		units += c != UTF8_INVALID && c > 0xFFFF ? 2 : 1;
	}
	return units;
}

/* A long text as length and sum. */
static bool same_sum(struct str got, const json_t *want)
{
	char hex[SHA256_HEX];

	sha256_hex(got, hex);
	return (json_int_t)units_of(got) == json_number_of(want, "utf16_len") &&
	       str_eq(str_of(hex), json_text_of(want, "sha256"));
}

static bool same(const json_t *got, const json_t *want)
{
	if (json_is_string(got) && json_object_get(want, "sha256"))
		return same_sum(json_str(got), want);
	if (json_is_array(got) && json_is_array(want)) {
		if (json_array_size(got) != json_array_size(want))
			return false;
		for (size_t i = 0; i < json_array_size(got); i++)
			if (!same(json_array_get(got, i), json_array_get(want, i)))
				return false;
		return true;
	}
	if (json_is_object(got) && json_is_object(want)) {
		const char *name;
		json_t *value;

		if (json_object_size(got) != json_object_size(want))
			return false;
		json_object_foreach((json_t *)want, name,
			value) if (!same(json_object_get(got, name), value)) return false;
		return true;
	}
	if (json_is_number(got) && json_is_number(want))
		return json_number_value(got) == json_number_value(want);
	return json_equal(got, want);
}

/* -- running -------------------------------------------------------------------------------------
 */

static const struct kind *find_kind(struct str name)
{
	static const struct kinds *const all[] = { &kinds_of_updates, &kinds_of_queue,
		&kinds_of_turns, &kinds_of_texts, &kinds_of_files };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		for (size_t k = 0; k < all[i]->count; k++)
			if (str_eq(str_of(all[i]->list[k].name), name))
				return &all[i]->list[k];
	return NULL;
}

static void print_json(const char *what, const json_t *value)
{
	AUTO_BUF text = BUF_INIT;

	json_write(&text, value, 0);
	printf("    %s %.*s\n", what, STR(utf8_cut(buf_str(&text), 2000)));
}

static void run_case(const struct kind *kind, struct str file, const json_t *one)
{
	const json_t *input = json_object_get(one, "input"), *want = json_object_get(one, "expect");
	struct str name = json_text_of(one, "name");
	struct arena a = ARENA_INIT;

	if (kind->judge) {
		struct str wrong = kind->judge(&a, input, want);

		if (wrong.len)
			printf("FAILED %.*s: %.*s\n    %.*s\n", STR(file), STR(name), STR(wrong));
		*(wrong.len ? &failed : &passed) += 1;
	} else {
		AUTO_JSON *got = kind->answer(&a, input);

		if (same(got, want)) {
			passed++;
		} else {
			failed++;
			printf("FAILED %.*s: %.*s\n", STR(file), STR(name));
			print_json("input", input);
			print_json("want ", want);
			print_json("got  ", got);
		}
	}
	arena_done(&a);
}

static bool run_file(const char *path, struct str name)
{
	const struct kind *kind = find_kind(name);
	AUTO_BUF text = BUF_INIT;
	json_error_t error;

	if (file_read(path, 64 << 20, &text) < 0) {
		(void)fprintf(stderr, "conformance: cannot read %s\n", path);
		return false;
	}
	AUTO_JSON *cases = json_loadb(buf_cstr(&text), text.len, JSON_ALLOW_NUL, &error);
	if (!json_is_array(cases)) {
		(void)fprintf(
			stderr, "conformance: %s is not an array of cases: %s\n", path, error.text);
		return false;
	}
	for (size_t i = 0; i < json_array_size(cases); i++) {
		if (kind) {
			run_case(kind, name, json_array_get(cases, i));
			continue;
		}
		failed++;
		printf("FAILED %.*s: there is no kind of that name\n", STR(name));
	}
	return true;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int run_directory(const char *path)
{
	VEC(char *) names = { 0 };
	DIR *dir = opendir(path);
	bool ok = dir;

	if (!dir)
		(void)fprintf(stderr, "conformance: cannot open %s\n", path);
	for (struct dirent *e; dir && (e = readdir(dir));) {
		struct str name = str_of(e->d_name);

		if (str_ends(name, S(".json")) && !str_ends(name, S("-informative.json")))
			vec_push(&names, mem_strdup(e->d_name));
	}
	if (dir)
		(void)closedir(dir);
	if (names.len)
		qsort(names.at, names.len, sizeof(*names.at), by_name);
	for (size_t i = 0; i < names.len; i++) {
		AUTO_BUF file = BUF_INIT;
		struct str name = str_of(names.at[i]);

		name.len -= strlen(".json");
		buf_printf(&file, "%s/%s", path, names.at[i]);
		ok = run_file(buf_cstr(&file), name) && ok;
		free(names.at[i]);
	}
	if (ok && !names.len) {
		(void)fprintf(stderr, "conformance: there are no cases in %s\n", path);
		ok = false;
	}
	vec_done(&names);
	queue_cases_end();
	printf("%u passed, %u failed\n", passed, failed);
	return !ok ? 2 : failed ? 1 : 0;
}

int main(int argc, char **argv)
{
	if (argc != 3 || strcmp(argv[1], "telegram") != 0) {
		(void)fprintf(stderr, "usage: %s telegram DIRECTORY\n", argv[0]);
		return 2;
	}
	return run_directory(argv[2]);
}
