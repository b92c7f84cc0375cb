#include "prompts/compile.h"

#include <string.h>

#include "base/program.h"
#include "base/utf8.h"
#include "prompts/direct.h"
#include "prompts/shell-text.h"

/* -- values as arguments -------------------------------------------------------------------------
 */

/* An argument ends at its first NUL: the values without theirs. */
static void without_nul(struct arena *a, const struct compile_input *in, const struct shell_walk *w,
	struct placeholder_values *ret, struct report *warnings)
{
	uint32_t seen = 0;

	*ret = *in->values;
	vec_each (h, &w->holes) {
		struct str v = in->values->at[h->placeholder];
		size_t removed = 0;

		if (seen & 1u << h->placeholder || !v.len || !memchr(v.p, '\0', v.len))
			continue;
		seen |= 1u << h->placeholder;
		char *clean = arena_alloc(a, v.len + 1);
		for (size_t i = 0; i < v.len; i++) {
			if (v.p[i])
				clean[i - removed] = v.p[i];
			else
				removed++;
		}
		ret->at[h->placeholder] = (struct str){ clean, v.len - removed };
		report_warning(warnings, (struct where){ 0 },
			"{%.*s} has %zu NUL byte%s, which no argument can hold: left out",
			STR(placeholder_name(h->placeholder)), removed, removed == 1 ? "" : "s");
	}
}

static struct where hole_where(const struct compile_input *in, const struct shell_hole *h)
{
	if (!in->place)
		return (struct where){ 0 };
	return place_where_in(in->place, h->offset, h->length);
}

static bool too_long(const struct compile_input *in, const struct shell_hole *h, size_t value,
	size_t whole, struct report *r)
{
	struct str name = placeholder_name(h->placeholder);

	report_error(r, hole_where(in, h),
		"{%.*s} is %zu bytes long%s; the kernel takes arguments of up to %d bytes",
		STR(name), value, whole > value ? ", with the text around it more" : "",
		PROGRAM_STRING_MAX - 1);
	if (h->placeholder == PH_ROLE)
		return report_hint(r, "use {role_file} in the agent's command");
	if (h->placeholder == PH_PROMPT)
		return report_hint(r, "use {prompt_file} in the agent's command, or give the agent "
				      "stdin = \"prompt\"");
	return report_hint(r, "shorten it");
}

/* -- the shell form ------------------------------------------------------------------------------
 */

struct references {
	unsigned number[PH_COUNT]; /* of the positional parameter; 0: none yet */
	enum prompt_placeholder order[PH_COUNT];
	unsigned count;
};

static unsigned reference(struct references *refs, enum prompt_placeholder p)
{
	if (!refs->number[p]) {
		refs->order[refs->count++] = p;
		refs->number[p] = refs->count;
	}
	return refs->number[p];
}

static void script(const struct compile_input *in, const struct shell_walk *w,
	struct references *refs, struct buf *b)
{
	static const char *const around[][2] = {
		[QUOTE_NONE] = { "\"", "\"" },
		[QUOTE_SINGLE] = { "'\"", "\"'" },
		[QUOTE_DOUBLE] = { "", "" },
		[QUOTE_ANSI] = { "'\"", "\"$'" },
		[QUOTE_DOCUMENT] = { "", "" },
	};
	size_t done = 0;

	vec_each (h, &w->holes) {
		buf_add(b, str_sub(in->command, done, h->offset - done));
		buf_printf(b, "%s${%u}%s", around[h->quoting][0], reference(refs, h->placeholder),
			around[h->quoting][1]);
		done = h->offset + h->length;
	}
	buf_add(b, str_from(in->command, done));
}

/* The script with the values in it, for people. False where no escaping would be right. */
static bool script_display(const struct compile_input *in, const struct shell_walk *w,
	const struct placeholder_values *v, struct buf *b)
{
	static const char *const around[][2] = {
		[QUOTE_NONE] = { "", "" },
		[QUOTE_SINGLE] = { "'", "'" },
		[QUOTE_DOUBLE] = { "\"", "\"" },
		[QUOTE_ANSI] = { "'", "$'" },
		[QUOTE_DOCUMENT] = { "", "" },
	};
	size_t done = 0;

	vec_each (h, &w->holes) {
		if (h->backquoted || h->quoting == QUOTE_DOCUMENT)
			return false;
		buf_add(b, str_sub(in->command, done, h->offset - done));
		buf_adds(b, around[h->quoting][0]);
		if (h->quoting == QUOTE_NONE)
			shell_quote(b, v->at[h->placeholder]);
		else
			shell_quote_always(b, v->at[h->placeholder]);
		buf_adds(b, around[h->quoting][1]);
		done = h->offset + h->length;
	}
	buf_add(b, str_from(in->command, done));
	return true;
}

/* The first place of a placeholder. */
static const struct shell_hole *hole_of(const struct shell_walk *w, enum prompt_placeholder p)
{
	vec_each (h, &w->holes)
		if (h->placeholder == p)
			return h;
	UNREACHABLE("a reference to a placeholder that is nowhere");
}

static bool shell_form(struct arena *a, const struct compile_input *in, const struct shell_walk *w,
	const struct placeholder_values *v, struct compiled *ret, struct report *r)
{
	struct references refs = { 0 };
	AUTO_BUF text = BUF_INIT;
	AUTO_BUF shown = BUF_INIT;
	bool ok = true;

	script(in, w, &refs, &text);
	const char **argv = arena_array(a, const char *, refs.count + 5);
	size_t n = 0;
	argv[n++] = in->shell;
	argv[n++] = "-c";
	argv[n++] = arena_cstr(a, buf_str(&text));
	argv[n++] = "start";
	for (unsigned i = 0; i < refs.count; i++) {
		struct str value = v->at[refs.order[i]];

		if (value.len >= PROGRAM_STRING_MAX)
			ok = too_long(in, hole_of(w, refs.order[i]), value.len, value.len, r);
		argv[n++] = arena_cstr(a, value);
	}
	if (text.len >= PROGRAM_STRING_MAX)
		ok = report_error(r, in->place ? place_where(in->place) : (struct where){ 0 },
			"the command is %zu bytes long; a shell takes up to %d", text.len,
			PROGRAM_STRING_MAX - 1);
	if (!ok)
		return false;
	if (!script_display(in, w, v, &shown)) {
		buf_reset(&shown);
		for (size_t i = 0; i < n; i++) {
			buf_adds(&shown, i ? " " : "");
			shell_quote(&shown, str_of(argv[i]));
		}
	}
	const char **env = arena_array(a, const char *, 1);
	*ret = (struct compiled){ .form = FORM_SHELL,
		.argv = argv,
		.argc = n,
		.env = env,
		.display = arena_str(a, buf_str(&shown)) };
	return true;
}

/* -- the direct form -----------------------------------------------------------------------------
 */

/* `word` has become too long: blames the largest value in it. */
static bool check_word(const struct compile_input *in, const struct shell_walk *w,
	const struct placeholder_values *v, const struct direct_word *word, struct report *r)
{
	const struct shell_hole *worst = NULL;

	if (word->text.len < PROGRAM_STRING_MAX)
		return true;
	vec_each (h, &w->holes) {
		if (h->offset < word->begin || h->offset >= word->end)
			continue;
		if (!worst || v->at[h->placeholder].len > v->at[worst->placeholder].len)
			worst = h;
	}
	if (!worst)
		return report_error(r, (struct where){ 0 },
			"a word of the command is %zu bytes long; the kernel takes %d",
			word->text.len, PROGRAM_STRING_MAX - 1);
	return too_long(in, worst, v->at[worst->placeholder].len, word->text.len, r);
}

static void show_word(struct buf *b, const struct direct_word *word)
{
	if (b->len)
		buf_addc(b, ' ');
	if (word->assignment) {
		buf_add(b, str_sub(word->text, 0, word->name_len + 1));
		shell_quote(b, str_from(word->text, word->name_len + 1));
	} else {
		shell_quote(b, word->text);
	}
}

static bool direct_form(struct arena *a, const struct compile_input *in, const struct shell_walk *w,
	const struct placeholder_values *v, const struct direct *d, struct compiled *ret,
	struct report *r)
{
	const char **argv = arena_array(a, const char *, d->words.len + 1);
	const char **env = arena_array(a, const char *, d->words.len + 1);
	AUTO_BUF shown = BUF_INIT;
	size_t argc = 0, envc = 0;
	bool ok = true;

	vec_each (word, &d->words) {
		ok &= check_word(in, w, v, word, r);
		show_word(&shown, word);
		if (word->assignment)
			env[envc++] = arena_cstr(a, word->text);
		else
			argv[argc++] = arena_cstr(a, word->text);
	}
	if (!ok)
		return false;
	*ret = (struct compiled){ .form = FORM_DIRECT,
		.argv = argv,
		.argc = argc,
		.env = env,
		.envc = envc,
		.display = arena_str(a, buf_str(&shown)) };
	return true;
}

/* -- both ----------------------------------------------------------------------------------------
 */

static bool check_walk(
	const struct shell_walk *w, struct str command, const struct place *place, struct report *r)
{
	if (w->open == SIZE_MAX)
		return true;
	size_t column = utf8_count(str_sub(command, 0, w->open)) + 1;
	report_error(r,
		place ? place_where_in(place, w->open, strlen(w->open_what)) : (struct where){ 0 },
		"%s in column %zu of the command is never closed", w->open_what, column);
	return report_hint(r, "add its other end, or put a backslash before it");
}

bool compile_check(struct str command, const struct place *place, struct report *r)
{
	struct shell_walk w;

	shell_walk(command, IN_AGENT | IN_STEP, &w);
	bool ok = check_walk(&w, command, place, r);
	shell_walk_done(&w);
	return ok;
}

bool prompt_compile(struct arena *a, const struct compile_input *in, struct compiled *ret,
	struct report *r, struct report *warnings)
{
	struct placeholder_values v;
	struct direct d = { 0 };
	struct shell_walk w;

	if (str_find(in->command, '\0', 0) < in->command.len) {
		report_error(r, in->place ? place_where(in->place) : (struct where){ 0 },
			"the command has a NUL byte in it");
		return report_hint(r, "take it out: no command can hold one");
	}
	shell_walk(in->command, in->kinds, &w);
	bool ok = check_walk(&w, in->command, in->place, r);
	if (ok) {
		without_nul(a, in, &w, &v, warnings);
		ok = direct_read(a, in->command, in->kinds, &v, in->home, &d)
			     ? direct_form(a, in, &w, &v, &d, ret, r)
			     : shell_form(a, in, &w, &v, ret, r);
	}
	direct_done(&d);
	shell_walk_done(&w);
	return ok;
}
