#include "app/retire.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "app/settings.h"
#include "base/clock.h"
#include "runs/dir/manifest.h"
#include "runs/look/retention.h"

static bool refuse_running(const struct run_look *look, const char **reason, struct report *r)
{
	*reason = "running";
	report_error(r, (struct where){ 0 }, "run '%.*s' is running", STR(look->id));
	return report_hint(r, "end it first with `roux cancel %.*s`, or wait with `roux wait %.*s`",
		STR(look->id), STR(look->id));
}

/* Why it could not be done: somebody goes on with it, somebody was quicker, or the machine. */
static bool refuse_held(
	const struct run_look *look, bool busy, const char **reason, struct report *r)
{
	if (busy)
		return refuse_running(look, reason, r);
	if (access(look->dir.p, F_OK) < 0 && errno == ENOENT && !report_has_system(r))
		*reason = "no such run";
	return false;
}

bool retire_archive(struct runs *s, struct run_look *look, struct str *ret_path,
	const char **reason, struct report *r)
{
	bool busy = false;

	*reason = NULL;
	if (look->live && !look->result)
		return refuse_running(look, reason, r);
	return retention_archive(s->root, s->ledger, look, ret_path, &busy, r) ||
	       refuse_held(look, busy, reason, r);
}

/* Name → path as it can be opened. */
static json_t *artifact_files(const struct run_look *look)
{
	AUTO_JSON *paths = manifest_paths(json_object_get(look->start, "artifacts"));
	json_t *files = json_object();
	const char *name;
	json_t *path;

	json_object_foreach(paths, name, path)
	{
		AUTO_BUF file = BUF_INIT;

		manifest_resolve(json_str(path), look_text(look->start, "cwd"), &file);
		json_object_set_new_nocheck(files, name, json_from_str(buf_str(&file)));
	}
	return files;
}

bool retire_prune(struct runs *s, struct run_look *look, bool preserve, json_t **ret_preserved,
	const char **reason, struct report *r)
{
	AUTO_JSON *files = preserve ? artifact_files(look) : NULL;
	bool busy = false;

	*reason = NULL;
	*ret_preserved = NULL;
	if (look->live && !look->result)
		return refuse_running(look, reason, r);
	return retention_prune(s->root, s->ledger, look, files, ret_preserved, &busy, r) ||
	       refuse_held(look, busy, reason, r);
}

/* -- by the limits of the settings ---------------------------------------------------------------
 */

struct due_list {
	struct buf *b;
	bool json;
	uint64_t count, now_ms;
};

static bool tell(void *data, const struct run_row *row)
{
	struct due_list *d = data;

	if (d->json) {
		buf_adds(d->b, d->count ? ",{\"run\":" : "{\"run\":");
		json_write_str(d->b, row->id);
		buf_adds(d->b, ",\"status\":");
		json_write_str(d->b, row->status);
		buf_adds(d->b, ",\"ended\":\"");
		clock_rfc3339(d->b, row->ended);
		buf_adds(d->b, "\"}");
	} else {
		buf_printf(d->b, "%.*s  %.*s  ", STR(row->id), STR(row->status));
		clock_rfc3339(d->b, row->ended);
		buf_addc(d->b, '\n');
	}
	d->count++;
	return true;
}

static struct retention_limits limits_of(const struct settings *s)
{
	return (struct retention_limits){
		.max_age_days = s->max_age_given ? s->max_age_days : 0,
		.max_runs = s->max_runs_given ? s->max_runs : 0,
	};
}

void retire_after_run(struct str root, struct ledger *ledger)
{
	AUTO_REPORT ignored = REPORT_INIT; /* the next `prune` tells */
	struct settings settings;

	if (!ledger || !settings_read(&settings, &ignored, &ignored))
		return;
	struct retention_limits limits = limits_of(&settings);
	if (limits.max_age_days || limits.max_runs)
		(void)retention_sweep(root, ledger, &limits, clock_real_ms(), &ignored);
	settings_done(&settings);
}

bool retire_due(struct runs *s, bool yes, bool json, struct buf *b, struct report *r)
{
	AUTO_REPORT ignored = REPORT_INIT;
	struct settings settings;
	struct due_list d = { .b = b, .json = json, .now_ms = clock_real_ms() };
	size_t gone = 0;

	bool ok = settings_read(&settings, r, &ignored);
	struct retention_limits limits = limits_of(&settings);
	bool limited = limits.max_age_days || limits.max_runs;
	AUTO_BUF path = BUF_INIT;
	buf_add(&path, settings.path);
	settings_done(&settings);
	if (!ok)
		return false;
	if (json)
		buf_adds(b, "{\"ok\":true,\"runs\":[");
	if (s->ledger)
		ok = retention_due(s->ledger, &limits, d.now_ms, tell, &d, r);
	if (ok && yes && s->ledger)
		gone = retention_sweep(s->root, s->ledger, &limits, d.now_ms, r);
	if (json)
		buf_printf(b, "],\"deleted\":%zu}\n", gone);
	else if (!limited)
		buf_printf(b,
			"Nothing is deleted without a limit: set max_age_days or max_runs under "
			"[retention] in %s.\n",
			buf_cstr(&path));
	else if (!d.count)
		buf_adds(b, "Nothing is past the limits.\n");
	else if (yes)
		buf_printf(b, "%zu run%s deleted.\n", gone, gone == 1 ? "" : "s");
	else
		buf_printf(b, "%" PRIu64 " run%s past the limits; `roux prune --yes` deletes %s.\n",
			d.count, d.count == 1 ? " is" : "s are", d.count == 1 ? "it" : "them");
	return ok && !r->errors;
}
