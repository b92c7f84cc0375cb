/* Ended runs, answered for as if they had just been run. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/runs.h"
#include "base/file.h"
#include "base/plain-text.h"
#include "base/run-status.h"
#include "base/utf8.h"
#include "data/base64.h"
#include "runs/dir/manifest.h"
#include "runs/dir/run-dir.h"
#include "runs/look/failures.h"

enum { STDOUT_MAX = 1 << 20, SHOWN_FAILURES = 20, SHOWN_COMMAND = 100, SHOWN_BYTES = 2000 };

enum roux_status runs_status_of(struct str name)
{
	enum roux_status s = ROUX_EXITED;

	(void)status_read(name, &s);
	return s;
}

/* -- the document --------------------------------------------------------------------------------
 */

/* `stdout`, or what stands for it. */
static int add_output(const struct run_look *look, json_t *d)
{
	struct arena a = ARENA_INIT;
	AUTO_BUF text = BUF_INIT;
	const char *path = run_file(&a, look->dir, "stdout.log");
	int r = file_read(path, STDOUT_MAX, &text);

	json_object_set_new(d, "stdout", json_null());
	if (r == -EFBIG)
		json_object_set_new(d, "stdout_path", json_from_str(str_of(path)));
	else if (r == 0 && utf8_valid(buf_str(&text)))
		json_object_set_new(d, "stdout", json_from_str(buf_str(&text)));
	else if (r == 0) {
		AUTO_BUF coded = BUF_INIT;

		base64_write(&coded, buf_str(&text));
		json_object_set_new(d, "stdout_base64", json_from_str(buf_str(&coded)));
	}
	arena_done(&a);
	return r == -EFBIG || r == -ENOENT ? 0 : r;
}

/* Of a run that left no result. */
static json_t *ruin(const struct run_look *look)
{
	json_t *d = json_object();
	uint64_t total = 0;
	AUTO_BUF error = BUF_INIT;

	buf_printf(&error,
		status_is(look->status, ROUX_EXITED) ? "its supervisor ended without a result"
						     : "it was %.*s",
		STR(look->status));
	json_object_set_new(d, "ok", json_boolean(status_ok(runs_status_of(look->status))));
	json_object_set_new(d, "status", json_from_str(look->status));
	json_object_set_new(d, "run", json_from_str(look->id));
	json_object_set_new(d, "code", json_integer(look->row.code));
	json_object_set_new(d, "stdout_path", json_null());
	json_object_set_new(d, "output", json_null());
	json_object_set_new(d, "error", json_from_str(buf_str(&error)));
	json_object_set_new(d, "failures", run_failures(look->dir.p, &total));
	json_object_set_new(d, "failures_total", json_integer((json_int_t)total));
	json_object_set_new(d, "branches", json_array());
	json_object_set_new(d, "coverage", json_null());
	json_object_set_new(
		d, "artifacts", manifest_paths(json_object_get(look->start, "artifacts")));
	json_object_set_new(d, "warnings", json_array());
	json_object_set_new(d, "ms",
		json_integer(look->row.ended > look->row.started
				     ? (json_int_t)(look->row.ended - look->row.started)
				     : 0));
	return d;
}

int runs_result(const struct run_look *look, struct buf *b)
{
	AUTO_JSON *from = look->result ? json_incref(look->result) : ruin(look);
	AUTO_JSON *d = json_object();
	bool said = false;
	const char *name;
	json_t *value;
	int r = 0;

	json_object_foreach(from, name, value)
	{
		if (strcmp(name, "stdout_path") == 0 || strcmp(name, "stdout") == 0) {
			r = said ? r : add_output(look, d);
			said = true;
		} else {
			json_object_set_nocheck(d, name, value);
		}
	}
	if (!said)
		r = add_output(look, d);
	json_write_typed(b, d, 0);
	buf_addc(b, '\n');
	return r;
}

/* -- for people ----------------------------------------------------------------------------------
 */

static void indented(struct buf *b, struct str text)
{
	text = text.len > SHOWN_BYTES ? str_from(text, text.len - SHOWN_BYTES) : text;
	for (size_t at = 0; at < text.len;) {
		size_t end = str_find(text, '\n', at);

		buf_adds(b, "    ");
		text_plain(b, str_sub(text, at, end - at));
		buf_addc(b, '\n');
		at = end + 1;
	}
}

static void failure_text(const json_t *f, struct buf *b)
{
	struct str label = look_text(f, "label"), command = look_text(f, "command");
	json_int_t code = json_integer_value(json_object_get(f, "code"));
	json_int_t signal = json_integer_value(json_object_get(f, "signal"));
	json_int_t attempt = json_integer_value(json_object_get(f, "attempt"));
	AUTO_BUF head = BUF_INIT;

	buf_printf(&head, "roux: [%.*s%s%.*s] ", STR(look_text(f, "path")), label.len ? " " : "",
		STR(label));
	if (json_is_true(json_object_get(f, "timeout")))
		buf_printf(&head, "ran out of time (code %" JSON_INTEGER_FORMAT ")", code);
	else if (signal > 0 && signal < 65)
		buf_printf(&head, "ended by signal %" JSON_INTEGER_FORMAT " (%s)", signal,
			strsignal((int)signal));
	else
		buf_printf(&head, "failed with code %" JSON_INTEGER_FORMAT, code);
	if (attempt > 1)
		buf_printf(&head, ", attempt %" JSON_INTEGER_FORMAT, attempt);
	if (json_is_true(json_object_get(f, "tolerated")))
		buf_adds(&head, ", tolerated");
	buf_printf(&head, ": %.*s%s", STR(utf8_head(command, SHOWN_COMMAND)),
		utf8_count(command) > SHOWN_COMMAND ? "…" : "");
	text_plain(b, buf_str(&head));
	buf_addc(b, '\n');
	indented(b, look_text(f, "stderr"));
}

static json_int_t failures_total(const struct run_look *look)
{
	const json_t *total = json_object_get(look->result, "failures_total");

	return json_is_integer(total)
		       ? json_integer_value(total)
		       : (json_int_t)json_array_size(json_object_get(look->result, "failures"));
}

/* How many failures were passed over that nobody had asked to tolerate. */
static size_t untolerated(const struct run_look *look)
{
	const json_t *counted = json_object_get(look->result, "untolerated");
	size_t count = 0, i;
	json_t *f;

	/* Not all of them are listed. */
	if (json_is_integer(counted))
		return (size_t)json_integer_value(counted);
	json_array_foreach(json_object_get(look->result, "failures"), i, f) count +=
		!json_is_true(json_object_get(f, "tolerated"));
	return count;
}

void runs_result_text(const struct run_look *look, struct buf *b)
{
	const json_t *failures = json_object_get(look->result, "failures");
	enum roux_status status = runs_status_of(look->status);
	json_t *f;
	size_t i;

	json_array_foreach(failures, i, f)
	{
		if (i == SHOWN_FAILURES)
			break;
		failure_text(f, b);
	}
	if (json_array_size(failures) > SHOWN_FAILURES)
		buf_printf(b,
			"roux: and %" JSON_INTEGER_FORMAT " more failures (--json lists them)\n",
			failures_total(look) - SHOWN_FAILURES);
	if (status == ROUX_EXITED)
		buf_printf(b,
			"roux: run '%.*s' ended without a result: its supervisor is gone\n"
			"     hint: `roux resume %.*s` goes on where it was\n",
			STR(look->id), STR(look->id));
	else if (status == ROUX_PAUSED)
		buf_printf(b, "roux: run '%.*s' waits for an approval: roux approve %.*s\n",
			STR(look->id), STR(look->id));
	else if (!status_ok(status) && status != ROUX_FAILED)
		buf_printf(b, "roux: run '%.*s': %.*s\n", STR(look->id), STR(look->status));
	else if (status == ROUX_DONE && untolerated(look))
		buf_printf(b,
			"roux: done, but %zu failure%s passed over (exit status 3; --tolerate "
			"accepts that)\n",
			untolerated(look), untolerated(look) == 1 ? " was" : "s were");
}

int runs_exit(const struct run_look *look, bool strict, bool tolerate)
{
	enum roux_status status = runs_status_of(look->status);

	if (status == ROUX_PARTIAL && tolerate)
		return 0;
	if (status != ROUX_DONE)
		return status_exit(status);
	if (strict)
		return json_array_size(json_object_get(look->result, "failures")) ? 3 : 0;
	return untolerated(look) && !tolerate ? 3 : 0;
}
