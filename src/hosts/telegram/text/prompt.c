#include "hosts/telegram/text/prompt.h"

#include "base/lang.h"
#include "base/path.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "hosts/telegram/text/unicode.h"

#define ELLIPSIS "…"

const char prompt_history_intro[] =
	"Earlier messages that were not answered, because the turn before them was aborted:";
const char prompt_current_marker[] = "Current message:";

static struct str text_of(const json_t *message)
{
	struct str text = utf8_trim(json_text_of(message, "text"));

	return text.len ? text : utf8_trim(json_text_of(message, "caption"));
}

struct str message_command_text(struct arena *a, const json_t *messages)
{
	for (size_t i = 0; i < json_array_size(messages); i++) {
		struct str text = text_of(json_array_get(messages, i));

		if (text.len)
			return arena_str(a, text);
	}
	return S("");
}

struct str message_prompt_text(struct arena *a, const json_t *messages)
{
	struct str reply =
		text_of(json_object_get(json_array_get(messages, 0), "reply_to_message"));
	AUTO_BUF b = BUF_INIT;

	for (size_t i = 0; i < json_array_size(messages); i++) {
		struct str text = text_of(json_array_get(messages, i));

		if (text.len && b.len)
			buf_adds(&b, "\n\n");
		buf_add(&b, text);
	}
	if (reply.len) {
		struct str head = unicode_cut(reply, REPLY_UNITS);

		if (!b.len)
			buf_addc(&b, '_');
		buf_adds(&b, "\n\n[reply] ");
		buf_add(&b, head);
		if (head.len < reply.len)
			buf_adds(&b, ELLIPSIS);
	}
	return arena_str(a, buf_str(&b));
}

/* -- the prompt of a turn ------------------------------------------------------------------------
 */

struct parts {
	VEC(struct str) files;
	VEC(struct str) outputs;
};

static void collect(struct parts *p, const json_t *turn)
{
	const json_t *files = json_object_get(turn, "files"),
		     *outputs = json_object_get(turn, "outputs");

	for (size_t i = 0; i < json_array_size(files); i++)
		if (json_is_string(json_array_get(files, i)))
			vec_push(&p->files, json_str(json_array_get(files, i)));
	for (size_t i = 0; i < json_array_size(outputs); i++)
		if (json_is_string(json_array_get(outputs, i)))
			vec_push(&p->outputs, json_str(json_array_get(outputs, i)));
}

static bool one_directory(const struct parts *p)
{
	for (size_t i = 0; i < p->files.len; i++)
		if (!str_eq(path_dir(p->files.at[i]), path_dir(p->files.at[0])))
			return false;
	return true;
}

static void put_files(struct buf *b, const struct parts *p)
{
	bool one = one_directory(p);

	if (!p->files.len)
		return;
	buf_adds(b, "\n\n[attachments]");
	if (one)
		buf_printf(b, " %.*s", STR(path_dir(p->files.at[0])));
	vec_each (file, &p->files) {
		if (one)
			buf_printf(b, "\n- /%.*s", STR(path_base(*file)));
		else
			buf_printf(b, "\n- %.*s", STR(*file));
	}
}

static void put_outputs(struct buf *b, const struct parts *p)
{
	if (p->outputs.len)
		buf_adds(b, "\n\n[outputs]");
	vec_each (output, &p->outputs) {
		buf_adds(b, "\n- ");
		buf_add(b, *output);
	}
}

void turn_prompt_of(struct buf *b, const json_t *turn)
{
	const json_t *history = json_object_get(turn, "history");
	size_t earlier = json_array_size(history);
	struct str text = utf8_trim(json_text_of(turn, "text"));
	bool raw = json_truth_of(turn, "raw") && !earlier;
	struct parts parts = { 0 };

	if (!raw)
		buf_adds(b, "[telegram]");
	if (earlier) {
		buf_printf(b, "\n\n%s", prompt_history_intro);
		for (size_t i = 0; i < earlier; i++) {
			const json_t *one = json_array_get(history, i);

			buf_printf(b, "\n\n%zu. ", i + 1);
			buf_add(b, utf8_trim(json_text_of(one, "text")));
			collect(&parts, one);
		}
		buf_printf(b, "\n\n%s", prompt_current_marker);
	}
	if (text.len && !raw)
		buf_addc(b, earlier ? '\n' : ' ');
	buf_add(b, text);
	collect(&parts, turn);
	put_files(b, &parts);
	put_outputs(b, &parts);
	vec_done(&parts.files);
	vec_done(&parts.outputs);
}

/* -- a few words ---------------------------------------------------------------------------------
 */

/* The next word of *text, which is moved behind it; empty at the end. */
static struct str next_word(struct str *text)
{
	size_t begin = 0, end;
	uint32_t c;

	for (size_t n; begin < text->len; begin += n) {
		n = utf8_decode(*text, begin, &c);
		if (!utf8_blank(c))
			break;
	}
	for (end = begin; end < text->len;) {
		size_t n = utf8_decode(*text, end, &c);

		if (utf8_blank(c))
			break;
		end += n;
	}
	struct str word = str_sub(*text, begin, end - begin);
	*text = str_from(*text, end);
	return word;
}

static struct str few_words(struct arena *a, struct str text)
{
	AUTO_BUF b = BUF_INIT;

	for (unsigned i = 0; i < SUMMARY_WORDS; i++) {
		struct str word = next_word(&text);

		if (word.len && b.len)
			buf_addc(&b, ' ');
		buf_add(&b, word);
	}
	struct str head = unicode_cut(buf_str(&b), SUMMARY_UNITS);
	bool more = head.len < b.len || utf8_trim(text).len;
	buf_truncate(&b, (size_t)(utf8_trim(head).len));
	buf_adds(&b, more ? ELLIPSIS : "");
	return arena_str(a, buf_str(&b));
}

static struct str json_text_at(const json_t *list, size_t at)
{
	const json_t *value = json_array_get(list, at);

	return json_is_string(value) ? json_str(value) : S("");
}

static struct str told(const json_t *turn)
{
	struct str text = utf8_trim(json_text_of(turn, "text"));

	return text.len ? text : utf8_trim(json_text_at(json_object_get(turn, "outputs"), 0));
}

enum summary_kind turn_summary_kind(const json_t *turn)
{
	size_t files = json_array_size(json_object_get(turn, "files"));

	return told(turn).len ? SUMMARY_TEXT
	       : files == 1   ? SUMMARY_FILE
	       : files        ? SUMMARY_FILES
			      : SUMMARY_EMPTY;
}

struct str turn_summary(struct arena *a, const json_t *turn)
{
	const json_t *files = json_object_get(turn, "files");

	switch (turn_summary_kind(turn)) {
	case SUMMARY_TEXT:
		return few_words(a, told(turn));
	case SUMMARY_FILE:
		return arena_printf(a, "📎 %.*s", STR(path_base(json_text_at(files, 0))));
	case SUMMARY_FILES:
		return arena_printf(a, "📎 %zu files", json_array_size(files));
	case SUMMARY_EMPTY:
		return S("(empty message)");
	}
	UNREACHABLE("summary kind");
}
