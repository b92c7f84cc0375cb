#include "app/past/told.h"

#include <errno.h>
#include <string.h>

#include "app/record/freeze.h"
#include "app/record/gates-file.h"
#include "base/run-status.h"
#include "base/utf8.h"
#include "data/base64.h"
#include "runs/dir/manifest.h"
#include "runs/dir/open.h"
#include "runs/dir/run-dir.h"
#include "runs/look/failures.h"

enum { STDOUT_MAX = 1 << 20 };

enum roux_status told_status(const struct run_look *look)
{
	enum roux_status s = ROUX_EXITED;

	(void)status_read(look->status, &s);
	return s;
}

void told_counts(const struct run_look *look, json_t *d)
{
	json_object_set_new(d, "failed", json_integer((json_int_t)look->row.failed));
	json_object_set_new(d, "tolerated", json_integer((json_int_t)look->row.tolerated));
	json_object_set_new(
		d, "exit", look->row.counted ? json_integer(look->row.exit) : json_null());
}

/* Of what a command printed, the end is reported. */
static void mask_end(struct mask *m, json_t *told, const json_t *failure, const char *name)
{
	struct arena a = ARENA_INIT;
	struct str text = json_str(json_object_get(failure, name));

	json_object_set_new(told, name, json_from_str(mask_part(m, text, MASK_CUT_FRONT, &a)));
	arena_done(&a);
}

json_t *told_failures(const struct run_look *look, uint64_t *ret_total)
{
	AUTO_JSON *failures = run_failures(look->dir.p, ret_total);
	bool known = true;
	struct mask *mask = json_array_size(failures) ? freeze_mask(look->dir, &known) : NULL;
	json_t *told = mask_json(mask, failures), *failure;
	size_t i;

	json_array_foreach(told, i, failure)
	{
		const json_t *plain = json_array_get(failures, i);

		if (mask && json_object_get(plain, "stderr")) {
			mask_end(mask, failure, plain, "stderr");
			mask_end(mask, failure, plain, "stdout");
		}
		if (known)
			continue;
		json_object_set_new(failure, "stderr", json_string(MASKED));
		json_object_set_new(failure, "stdout", json_string(MASKED));
	}
	mask_free(mask);
	return told;
}

/* -- the document --------------------------------------------------------------------------------
 */

/* `stdout`, or what stands for it. */
static int add_output(const struct run_look *look, json_t *d)
{
	struct arena a = ARENA_INIT;
	AUTO_BUF text = BUF_INIT;
	const char *path = run_file(&a, look->dir, "stdout.log");
	int r = run_read(look->dir.p, "stdout.log", STDOUT_MAX, &text);

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
	/* What a failed run printed is not its result: without it the rest can be told. */
	return r == -EFBIG || !status_ok(told_status(look)) ? 0 : r;
}

/* Of a run that left no result. */
static json_t *missing_result(const struct run_look *look)
{
	json_t *d = json_object();
	uint64_t total = 0;
	AUTO_BUF error = BUF_INIT;

	buf_printf(&error,
		status_is(look->status, ROUX_EXITED) ? "its supervisor ended without a result"
						     : "it was %.*s",
		STR(look->status));
	json_object_set_new(d, "ok", json_boolean(status_ok(told_status(look))));
	json_object_set_new(d, "status", json_from_str(look->status));
	json_object_set_new(d, "run", json_from_str(look->id));
	json_object_set_new(d, "code", json_integer(look->row.code));
	told_counts(look, d);
	json_object_set_new(d, "stdout_path", json_null());
	json_object_set_new(d, "output", json_null());
	json_object_set_new(d, "error", json_from_str(buf_str(&error)));
	json_object_set_new(d, "failures", told_failures(look, &total));
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

static json_t *pending(const struct run_look *look)
{
	json_t *gate = gates_pending_in(look->gates);

	if (!gate)
		return json_null();
	json_object_del(gate, "path");
	return gate;
}

json_t *told_denial(const struct run_look *look)
{
	AUTO_JSON *said = json_from_str(look->denial);
	bool ignored;
	struct mask *mask = freeze_mask(look->dir, &ignored);
	json_t *told = mask_json(mask, said);

	mask_free(mask);
	return told;
}

/* The result as it holds now: a new reference. */
static json_t *result_of(const struct run_look *look)
{
	json_t *d = look->result ? json_copy(look->result) : missing_result(look);

	/* On a full disk it had no room for them, and events do not say which commands were ended
	 * because of that. */
	if (!json_object_get(d, "failures")) {
		json_object_set_new(d, "failures", json_array());
		json_object_set_new(d, "failures_total", json_integer(0));
	}
	if (look->denied) {
		json_object_set_new(d, "ok", json_false());
		json_object_set_new(d, "status", json_from_str(look->status));
		json_object_set_new(d, "error", told_denial(look));
	}
	return d;
}

int told_result(const struct run_look *look, struct buf *b)
{
	AUTO_JSON *from = result_of(look);
	AUTO_JSON *d = json_object();
	bool said = false;
	const char *name;
	json_t *value;
	int r = 0;

	json_object_foreach(from, name, value)
	{
		if (strcmp(name, "pending_approval") == 0) {
			/* It may have been answered since. */
			json_object_set_new(d, name, pending(look));
		} else if (strcmp(name, "stdout_path") == 0 || strcmp(name, "stdout") == 0) {
			r = said ? r : add_output(look, d);
			said = true;
		} else {
			json_object_set_nocheck(d, name, value);
		}
	}
	if (!said)
		r = add_output(look, d);
	told_counts(look, d); /* a result of an earlier version lacks them */
	json_write_typed(b, d, 0);
	buf_addc(b, '\n');
	return r;
}

json_t *told_summary(const struct run_look *look)
{
	AUTO_JSON *from = result_of(look);
	json_t *failures = json_object_get(from, "failures"),
	       *total = json_object_get(from, "failures_total");
	json_t *s = json_object();

	json_object_set_new(s, "status", json_from_str(look->status));
	json_object_set_new(s, "run", json_from_str(look->id));
	json_object_set(s, "error", json_object_get(from, "error"));
	json_object_set_new(s, "failures", failures ? json_incref(failures) : json_array());
	json_object_set_new(s, "failures_total",
		json_is_integer(total) ? json_incref(total)
				       : json_integer((json_int_t)json_array_size(failures)));
	told_counts(look, s);
	json_object_set_new(s, "failed_node",
		json_text_of(from, "failed_node").len
			? json_incref(json_object_get(from, "failed_node"))
			: json_null());
	if (json_text_of(from, "mistake").len)
		json_object_set(s, "mistake", json_object_get(from, "mistake"));
	if (json_is_true(json_object_get(from, "input_cut")))
		json_object_set_new(s, "input_cut", json_true());
	if (look->row.recipe_path.len)
		json_object_set_new(s, "recipe_path", json_from_str(look->row.recipe_path));
	if (status_is(look->status, ROUX_PAUSED)) {
		json_t *answered = gates_answered_in(look->gates, look->dir);

		json_object_set_new(s, "pending_approval", pending(look));
		json_object_set_new(s, "answered", answered ? answered : json_null());
	}
	return s;
}
