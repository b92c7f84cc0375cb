#include "graph/argv.h"

#include <unistd.h>

#include "base/path.h"
#include "base/program.h"
#include "base/user.h"
#include "template/braces.h"

/* ~ and ~/… of the command word only; ~user is not ours to know. */
static void expand_home(struct buf *word, struct arena *a)
{
	struct str s = buf_str(word);

	if (!str_eq(s, S("~")) && !str_starts(s, S("~/")))
		return;
	struct str home = user_home(a);
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

/* The words as they are made. */
struct building {
	struct arena *a;
	const char **words; /* with room for all of them */
	size_t count;
	struct report *r;
};

static bool add_word(struct building *b, const struct text *t, struct buf *word)
{
	if (!b->count)
		expand_home(word, b->a);
	if (!b->count && !word->len)
		return report_error(
			b->r, braces_where(t, 0, t->raw.len), "the command comes out empty");
	bool ok = check_word(t, buf_str(word), b->r);
	b->words[b->count++] = arena_cstr(b->a, buf_str(word));
	return ok;
}

/* {name[*]}: a word for each item, empty ones too. */
static bool add_items(struct building *b, const struct text *t, const struct placeholder *p,
	const struct scope *s, bool first)
{
	const json_t *array = braces_array(s, p->name);
	AUTO_BUF word = BUF_INIT;
	bool ok = true;
	json_t *item;
	size_t i;

	if (!array)
		return braces_no_array(s, p->name, braces_where(t, 0, t->raw.len), b->r);
	if (first && !json_array_size(array))
		return report_error(b->r, braces_where(t, 0, t->raw.len),
			"the command comes out empty: '%.*s' has no items", STR(p->name));
	json_array_foreach(array, i, item)
	{
		buf_reset(&word);
		template_text(&word, item);
		ok &= add_word(b, t, &word);
	}
	return ok;
}

/* How many words there can be at most. */
static size_t room_for(const struct node *command, const struct scope *s)
{
	size_t room = command->word_count;

	for (size_t i = 0; i < command->word_count; i++) {
		const struct placeholder *spread = braces_spread(command->words[i].text);

		if (spread)
			room += json_array_size(braces_array(s, spread->name));
	}
	return room;
}

bool argv_build(const struct node *command, const struct scope *s, struct arena *a,
	const char *const **argv, size_t *count, struct report *r)
{
	struct building b = {
		.a = a, .words = arena_array(a, const char *, room_for(command, s) + 1), .r = r
	};
	AUTO_BUF word = BUF_INIT;
	bool ok = true;

	for (size_t i = 0; i < command->word_count; i++) {
		const struct command_word *w = &command->words[i];
		const struct placeholder *spread = braces_spread(w->text);

		if (spread) {
			ok &= add_items(&b, w->text, spread, s, i == 0);
			continue;
		}
		buf_reset(&word);
		if (!text_resolve(w->text, s, &word, r)) {
			ok = false;
			continue;
		}
		/* An unused value or condition arm takes its word along; a quoted word stays. */
		if (i > 0 && !word.len && !w->quoted && !command->keep_empty)
			continue;
		ok &= i > 0 && !b.count ? true : add_word(&b, w->text, &word);
	}
	*argv = b.words;
	*count = b.count;
	return ok;
}
