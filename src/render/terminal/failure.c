#include "render/terminal/failure.h"

#include <inttypes.h>
#include <string.h>

#include "base/plain-text.h"
#include "base/utf8.h"

enum { SHOWN_LINES = 12, SHOWN_COMMAND = 100 };

/* The last lines say what went wrong. */
static void indented(struct buf *b, struct str text)
{
	size_t from, lines = 0;

	while (text.len && text.p[text.len - 1] == '\n')
		text.len--;
	for (from = text.len; from; from--)
		if (text.p[from - 1] == '\n' && ++lines == SHOWN_LINES)
			break;
	while (from < text.len) {
		size_t end = str_find(text, '\n', from);

		buf_adds(b, "    ");
		text_plain(b, str_sub(text, from, end - from));
		buf_addc(b, '\n');
		from = end + 1;
	}
}

/* What has been shown already is not shown again; the end of what was left out is. */
static bool add_shown(struct buf *b, const struct stream_shown *shown, struct str err)
{
	if (shown->lines == shown->total && shown->lines)
		buf_printf(b, "    (%" PRIu64 " line%s of standard error above)\n", shown->lines,
			shown->lines == 1 ? "" : "s");
	else if (shown->lines)
		buf_printf(b,
			"    (%" PRIu64 " of %" PRIu64
			" lines of standard error above; the last:)\n",
			shown->lines, shown->total);
	else if (!err.len && shown->out_lines)
		buf_printf(b, "    (%" PRIu64 " line%s of standard output above)\n",
			shown->out_lines, shown->out_lines == 1 ? "" : "s");
	return shown->lines ? shown->lines == shown->total : !err.len && shown->out_lines;
}

void failure_how(struct buf *b, const json_t *f)
{
	json_int_t code = json_number_of(f, "code"), signal = json_number_of(f, "signal");

	if (json_truth_of(f, "timeout"))
		buf_printf(b, "ran out of time (code %" JSON_INTEGER_FORMAT ")", code);
	else if (signal > 0 && signal < 65)
		buf_printf(b, "ended by signal %" JSON_INTEGER_FORMAT " (%s)", signal,
			strsignal((int)signal));
	else
		buf_printf(b, "failed with code %" JSON_INTEGER_FORMAT, code);
}

void failure_text(struct buf *b, const json_t *f, uint64_t times, const struct stream_shown *shown)
{
	struct str label = json_text_of(f, "label"), command = json_text_of(f, "command");
	struct str err = json_text_of(f, "stderr");
	json_int_t attempt = json_number_of(f, "attempt");
	AUTO_BUF head = BUF_INIT;

	buf_adds(b, "roux: [");
	text_name(b, json_text_of(f, "path"), label, json_text_of(f, "item"));
	buf_adds(b, "] ");
	failure_how(&head, f);
	if (times > 1)
		buf_printf(&head, " in %" PRIu64 " attempts", times);
	else if (attempt > 1)
		buf_printf(&head, ", attempt %" JSON_INTEGER_FORMAT, attempt);
	if (json_truth_of(f, "succeeded_later"))
		buf_adds(&head, ", then succeeded");
	else if (json_truth_of(f, "tolerated"))
		buf_adds(&head, ", tolerated");
	buf_printf(&head, ": %.*s%s", STR(utf8_head(command, SHOWN_COMMAND)),
		utf8_count(command) > SHOWN_COMMAND ? "…" : "");
	text_plain(b, buf_str(&head));
	buf_addc(b, '\n');
	if (!add_shown(b, shown, err))
		indented(b, err.len ? err : json_text_of(f, "stdout"));
}
