#include "graph/argv.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/program.h"
#include "template/braces.h"

enum { PASSWD_MAX = 16 << 20 };

/* The password database as a file: asking the name service would tie the program to the shared
 * libraries of the machine, for a case that hardly occurs. */
static bool home_in_passwd(struct buf *ret)
{
	AUTO_BUF text = BUF_INIT;
	uint64_t uid;

	if (file_read("/etc/passwd", PASSWD_MAX, &text) < 0)
		return false;
	struct str all = buf_str(&text);
	for (size_t at = 0; at < all.len; at = str_find(all, '\n', at) + 1) {
		struct str fields[7] = { { 0 } };
		size_t from = at, line_end = str_find(all, '\n', at);

		for (size_t i = 0; i < ARRAY_SIZE(fields) && from <= line_end; i++) {
			size_t end = MIN(str_find(all, ':', from), line_end);

			fields[i] = str_sub(all, from, end - from);
			from = end + 1;
		}
		if (fields[5].len && str_to_uint(fields[2], &uid) && uid == getuid()) {
			buf_add(ret, fields[5]);
			return true;
		}
	}
	return false;
}

static void add_home(struct buf *b)
{
	const char *dir = getenv("HOME");

	if (dir && *dir)
		buf_adds(b, dir);
	else if (!home_in_passwd(b))
		buf_addc(b, '/');
}

/* ~ and ~/… of the command word only; ~user is not ours to know. */
static void expand_home(struct buf *word)
{
	struct str s = buf_str(word);

	if (!str_eq(s, S("~")) && !str_starts(s, S("~/")))
		return;
	AUTO_BUF whole = BUF_INIT;
	add_home(&whole);
	buf_add(&whole, str_from(s, 1));
	buf_swap(word, &whole);
}

static bool check_word(const struct text *t, struct str word, struct report *r)
{
	struct where w = { 0 };

	if (str_find(word, '\0', 0) < word.len) {
		AUTO_BUF shown = BUF_INIT;

		w = braces_where(t, 0, t->raw.len);
		for (size_t i = 0; i < t->raw.len; i++)
			buf_add(&shown, t->raw.p[i] ? str_sub(t->raw, i, 1) : S("\\0"));
		return report_error(r, w, "'%.*s' comes out with a NUL character in it",
			STR(report_quote(r, buf_str(&shown))));
	}
	if (word.len + 1 > PROGRAM_STRING_MAX) {
		w = braces_where(t, 0, t->raw.len);
		report_error(r, w, "'%.*s' comes out %zu bytes long; one argument can have %d",
			STR(report_quote(r, t->raw)), word.len, PROGRAM_STRING_MAX - 1);
		return report_hint(r, "hand such data over as standard input or in a file");
	}
	return true;
}

bool argv_build(const struct node *command, const struct scope *s, struct arena *a,
	const char *const **argv, size_t *count, struct report *r)
{
	const char **words = arena_array(a, const char *, command->word_count + 1);
	AUTO_BUF word = BUF_INIT;
	size_t n = 0;
	bool ok = true;

	for (size_t i = 0; i < command->word_count; i++) {
		const struct command_word *w = &command->words[i];

		buf_reset(&word);
		if (!text_resolve(w->text, s, &word, r)) {
			ok = false;
			continue;
		}
		if (i == 0)
			expand_home(&word);
		if (i == 0 && !word.len) {
			ok = report_error(r, braces_where(w->text, 0, w->text->raw.len),
				"the command comes out empty");
			continue;
		}
		/* An unused value or condition arm takes its word along; a quoted word stays. */
		if (!word.len && !w->quoted && !command->keep_empty)
			continue;
		ok &= check_word(w->text, buf_str(&word), r);
		words[n++] = arena_cstr(a, buf_str(&word));
	}
	*argv = words;
	*count = n;
	return ok;
}
