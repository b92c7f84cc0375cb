#include "graph/argv.h"

#include <unistd.h>

#include "base/path.h"
#include "base/program.h"
#include "template/braces.h"

/* ~ and ~/… of the command word only; ~user is not ours to know. */
static void expand_home(struct buf *word, struct arena *a)
{
	struct str s = buf_str(word);

	if (!str_eq(s, S("~")) && !str_starts(s, S("~/")))
		return;
	struct str home = path_home(a);
	struct str whole = path_tilde(a, s, home.len ? home : S("/"));
	buf_reset(word);
	buf_add(word, whole);
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
			expand_home(&word, a);
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
