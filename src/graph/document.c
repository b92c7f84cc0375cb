#include "graph/document.h"

#include <string.h>

#include "base/utf8.h"

/* Text that is not meant as a command: `{"`, `{'`, `{` as a word, `[{`, `["`, `['`, `[[`, `[`
 * and a new line. A command may well begin with `{program}` or be called `[`. */
static bool meant_as_json(struct str text)
{
	const char *next = text.p[0] == '{' ? "\"' \t\r\n" : text.p[0] == '[' ? "{[\"'\r\n" : "";

	if (text.len < 2)
		return text.p[0] == '{';
	return text.p[1] && strchr(next, text.p[1]);
}

bool document_read(struct doc *d, struct report *r, struct buf *json_mistake)
{
	struct str text = str_trim(d->source.text);

	if (str_starts(text, S("\xEF\xBB\xBF")))
		text = str_trim(str_from(text, 3));
	if (text.len && strchr("{[\"", text.p[0])) {
		AUTO_REPORT mistakes = REPORT_INIT;

		d->root = json_read(&d->source, &mistakes);
		if (d->root)
			return true;
		const struct issue *i = &mistakes.issues.at[0];
		if (meant_as_json(text)) {
			report_move(r, &mistakes);
			return false;
		}
		buf_printf(json_mistake, "as JSON it has a mistake at line %zu, column %zu: %.*s",
			i->line, i->column, STR(i->hint.len ? i->hint : i->message));
	}
	struct str whole = d->source.text;
	size_t bad = utf8_find_invalid(whole);
	if (bad < whole.len)
		return report_error(r, (struct where){ &d->source, bad, 1 },
			"byte 0x%02x is not valid UTF-8", (unsigned char)whole.p[bad]);
	d->root = json_from_str(whole);
	d->plain = true;
	return true;
}
