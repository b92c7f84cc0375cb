#include "hosts/cli/shown.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "base/plain-text.h"
#include "base/run-status.h"
#include "base/vec.h"
#include "hosts/cli/words.h"
#include "render/terminal/failure.h"
#include "render/terminal/status.h"

/* In full, and by name. */
enum { SHOWN_FAILURES = 20, NAMED_FAILURES = 200 };

/* -- colours -------------------------------------------------------------------------------------
 */

#define RED "31"
#define YELLOW "33"

const char *shown_colour(struct str status, uint64_t failed)
{
	enum roux_status s;

	if (!status_is_end(status) || !status_read(status, &s))
		return failed ? YELLOW : NULL;
	if (!status_ok(s))
		return RED;
	return failed || s != ROUX_DONE ? YELLOW : NULL;
}

bool shown_colours(int fd)
{
	const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fd) && !(no_colour && *no_colour) && term && *term &&
	       strcmp(term, "dumb") != 0;
}

/* -- a result ------------------------------------------------------------------------------------
 */

/* Text of a command or an author, line by line: nothing in it may move the cursor. */
static void plain_lines(struct buf *b, struct str text)
{
	for (size_t at = 0; at < text.len;) {
		size_t end = str_find(text, '\n', at);

		if (at)
			buf_addc(b, '\n');
		text_plain(b, str_sub(text, at, end - at));
		at = end + 1;
	}
}

static void paused_text(const json_t *s, const char *run, struct buf *b)
{
	const json_t *gate = json_object_get(s, "pending_approval");

	if (!json_is_object(gate) && !json_is_object(json_object_get(s, "answered"))) {
		buf_printf(b, "roux: what run '%s' asks is lost: `roux resume %s` asks it again\n",
			run, run);
		return;
	}
	if (!json_is_object(gate)) {
		buf_printf(b, "roux: run '%s' has its answer: `roux resume %s` continues it\n", run,
			run);
		return;
	}
	buf_adds(b, "roux: paused at stage '");
	text_plain(b, json_text_of(gate, "stage"));
	buf_adds(b, "': ");
	plain_lines(b, str_trim(json_text_of(gate, "prompt")));
	buf_printf(b, "\nroux: `roux approve %s` or `roux deny %s`, then `roux resume %s`\n", run,
		run, run);
}

static void hint(struct buf *b, const char *name, void (*add)(const json_t *d, struct buf *b),
	const json_t *d)
{
	AUTO_BUF command = BUF_INIT;

	add(d, &command);
	if (command.len)
		buf_printf(b, "  %-6s %s\n", name, buf_cstr(&command));
}

/* What became of it, and what to type. Of a run without a record only what its failures do not say
 * by themselves. */
static void last_word(
	const json_t *s, enum roux_status status, const struct ending_options *o, struct buf *b)
{
	struct str error = json_text_of(s, "error");
	AUTO_BUF run = BUF_INIT;
	bool failed = json_number_of(s, "failed"), tolerated = json_number_of(s, "tolerated");

	text_plain(&run, json_text_of(s, "run"));
	if (status == ROUX_PAUSED) {
		paused_text(s, buf_cstr(&run), b);
		return;
	}
	if (status == ROUX_DONE && !failed && !(tolerated && (run.len || o->strict)))
		return;
	if (!status_is_end(status_str(status)) || (status == ROUX_FAILED && !run.len))
		return;
	const char *colour =
		shown_colours(STDERR_FILENO) ? shown_colour(status_str(status), failed) : NULL;
	buf_adds(b, "roux: ");
	if (run.len)
		buf_printf(b, "%s: ", buf_cstr(&run));
	if (colour)
		buf_printf(b, "\033[%sm", colour);
	if (!run.len && !status_ok(status))
		text_plain(b, error);
	else
		ending_words(s, o, b);
	buf_adds(b, colour ? "\033[m\n" : "\n");
	hint(b, "see", ending_see, s);
	hint(b, "again", ending_again, s);
}

/* A command that failed, and how often. */
struct failed {
	const json_t *last; /* its last failure */
	uint64_t times;
};

/* Commands are counted, and not their attempts. */
struct all_failed {
	struct arena arena;
	struct map by_path;
	VEC(struct failed *) each; /* in the order in which they failed last */
};

static void collect(const json_t *failures, struct all_failed *ret)
{
	json_t *f;
	size_t i;

	json_array_foreach(failures, i, f)
	{
		void **slot = map_put(&ret->by_path, &ret->arena, json_text_of(f, "path"));
		struct failed *one = *slot ? *slot : arena_new(&ret->arena, struct failed);

		*slot = one;
		one->last = f;
		one->times++;
	}
	json_array_foreach(failures, i, f)
	{
		struct failed *one = map_get(&ret->by_path, json_text_of(f, "path"));

		if (one->last == f)
			vec_push(&ret->each, one);
	}
}

/* The rest of them by name: a person wants to know which. `unlisted` are in no list. */
static void name_others(const struct all_failed *all, json_int_t unlisted, struct buf *b)
{
	size_t count = all->each.len;
	json_int_t more = (json_int_t)count - SHOWN_FAILURES + unlisted;

	buf_printf(b, "roux: and %" JSON_INTEGER_FORMAT " more failure%s:", more,
		more == 1 ? "" : "s");
	for (size_t i = SHOWN_FAILURES; i < count; i++) {
		const json_t *f = all->each.at[i]->last;

		if (i == SHOWN_FAILURES + NAMED_FAILURES) {
			buf_adds(b, " … (--json lists them)");
			break;
		}
		buf_adds(b, " [");
		text_name(b, json_text_of(f, "path"), json_text_of(f, "label"),
			json_text_of(f, "item"));
		buf_addc(b, ']');
	}
	buf_addc(b, '\n');
}

static void show_failures(
	const json_t *failures, json_int_t total, const struct stream_lines *stream, struct buf *b)
{
	struct all_failed all = { 0 };

	collect(failures, &all);
	for (size_t i = 0; i < MIN(all.each.len, (size_t)SHOWN_FAILURES); i++) {
		const struct failed *one = all.each.at[i];
		struct stream_shown shown =
			stream_lines_shown(stream, json_text_of(one->last, "path"),
				(uint64_t)json_number_of(one->last, "attempt"));

		failure_text(b, one->last, one->times, &shown);
	}
	json_int_t unlisted = total - (json_int_t)json_array_size(failures);
	if (all.each.len > SHOWN_FAILURES || unlisted > 0)
		name_others(&all, MAX(unlisted, 0), b);
	vec_done(&all.each);
	arena_done(&all.arena);
}

void shown_result(struct run_handle *h, const struct ending_options *o,
	const struct stream_lines *stream, struct buf *b)
{
	AUTO_JSON *s = run_summary(h);

	if (run_issues(h)) {
		report_word(run_issues(h), cli_words);
		report_text(run_issues(h), REPORT_ALL, b);
	}
	show_failures(
		json_object_get(s, "failures"), json_number_of(s, "failures_total"), stream, b);
	last_word(s, run_status(h), o, b);
}

void shown_complete(struct run_handle *h, struct buf *b)
{
	AUTO_JSON *s = run_summary(h);
	AUTO_BUF run = BUF_INIT;
	AUTO_BUF words = BUF_INIT;

	text_plain(&run, json_text_of(s, "run"));
	status_phrase(&words, json_text_of(s, "status"), (uint64_t)json_number_of(s, "failed"),
		(uint64_t)json_number_of(s, "tolerated"));
	buf_printf(b, "roux: %s: %s: nothing was started; `roux rerun %s` runs %s again\n",
		buf_cstr(&run), buf_cstr(&words), buf_cstr(&run),
		json_number_of(s, "failed") ? "what failed" : "it");
}

int shown_exit(struct run_handle *h, const struct ending_options *o)
{
	enum roux_status status = run_status(h);
	AUTO_JSON *s = run_summary(h);

	if (o->tolerate && (status == ROUX_PARTIAL || status == ROUX_DONE))
		return 0;
	if (o->strict && status == ROUX_DONE)
		return json_number_of(s, "failures_total") ? 3 : 0;
	return (int)json_number_of(s, "exit");
}

/* -- a status ------------------------------------------------------------------------------------
 */

/* The command to type next; empty: there is none to recommend. */
static void what_next(const json_t *d, struct buf *b)
{
	struct str word = json_text_of(d, "status");
	AUTO_BUF plain = BUF_INIT;

	text_plain(&plain, json_text_of(d, "run"));
	const char *run = buf_cstr(&plain);
	if (json_number_of(d, "left_jobs"))
		buf_printf(b, "roux resume %s continues, roux cancel %s ends them", run, run);
	else if (!status_is_end(word))
		buf_printf(b, "roux logs -f %s", run);
	else if (status_rests(word, STATUS_AT_GATE))
		buf_printf(b, "roux %s %s",
			json_is_object(json_object_get(d, "pending_approval")) ? "approve"
									       : "resume",
			run);
}

void shown_status(const json_t *d, bool colours, struct buf *b)
{
	AUTO_BUF headline = BUF_INIT;
	AUTO_BUF see = BUF_INIT;
	AUTO_BUF again = BUF_INIT;
	AUTO_BUF next = BUF_INIT;

	const char *colour =
		colours ? shown_colour(json_text_of(d, "status"), json_number_of(d, "failed") > 0)
			: NULL;

	if (colour)
		buf_printf(&headline, "\033[%sm", colour);
	ending_words(d, NULL, &headline);
	if (colour)
		buf_adds(&headline, "\033[m");
	ending_see(d, &see);
	ending_again(d, &again);
	what_next(d, &next);
	status_text(d,
		&(struct status_words){ .headline = buf_str(&headline),
			.see = buf_str(&see),
			.again = buf_str(&again),
			.next = buf_str(&next) },
		b);
}
