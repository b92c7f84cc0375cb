/* Archiving and deleting ended runs. */
#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "app/catalog/secrets.h"
#include "app/past/all-runs.h"
#include "app/past/elsewhere.h"
#include "app/past/left.h"
#include "app/past/retire.h"
#include "app/record/freeze.h"
#include "base/clock.h"
#include "base/run-status.h"
#include "runs/dir/manifest.h"
#include "runs/look/remains.h"
#include "runs/look/retention.h"

/* Why it could not be done: another process has resumed or deleted it, or the machine. */
static bool refuse_held(const struct run_look *look, bool busy, struct report *r)
{
	if (busy)
		return refuse_running(look->id, r);
	if (access(look->dir.p, F_OK) < 0 && errno == ENOENT && !report_has_system(r))
		return refuse_gone(look->id, r);
	return false;
}

static bool may_go(const struct run_look *look, struct report *r)
{
	if (look->live && !look->result)
		return refuse_running(look->id, r);
	/* An earlier generation cannot be answered any more. */
	if (status_rests(look->status, STATUS_AT_GATE) && !look->back)
		return refuse_waiting(look->id, r);
	return true;
}

bool run_archive(struct run_handle *h, struct str *ret_path, struct report *r)
{
	struct run_look *look = handle_look(h, r);
	bool busy = false;

	if (look && !find_is_current(look, "archived by itself", r))
		return report_action(r, ACTION_ARCHIVE, look->run);
	size_t errors = r->errors;
	if (look && !app_ledger_to_change(h->app, r)) {
		if (r->errors > errors)
			return false;
		report_refuse(r, look->id, "no ledger",
			"there is no ledger, which has to forget run '%.*s'", STR(look->id));
		return report_action(r, ACTION_REBUILD, S(""));
	}
	return look && may_go(look, r) &&
	       (retention_archive(
			app_state_root(h->app), app_ledger(h->app, r), look, ret_path, &busy, r) ||
		       refuse_held(look, busy, r));
}

static json_t *refuse_unknown(const struct run_look *look, const char *why, struct report *r)
{
	if (look->unread)
		report_errno(r, look->unread, "which artifacts the run '%.*s' has is not known: %s",
			STR(look->id), why);
	else
		report_refuse(r, look->id, "artifacts unknown",
			"which artifacts the run '%.*s' has is not known: %s", STR(look->id), why);
	report_hint(r, "nothing was deleted");
	return NULL;
}

/* Name → path as it can be opened: a new reference. NULL with an issue: the record does not say,
 * and what is not known cannot be preserved. */
static json_t *artifact_files(const struct run_look *look, struct report *r)
{
	json_t *declared = json_object_get(look->start, "artifacts");
	struct str cwd = json_text_of(look->start, "cwd");
	AUTO_BUF why = BUF_INIT;
	const char *name;
	json_t *path;

	if (!look->start)
		return refuse_unknown(look, "its run.json cannot be read", r);
	if (look->unusable) {
		buf_printf(&why, "its %s cannot be read", look->unusable);
		return refuse_unknown(look, buf_cstr(&why), r);
	}
	if (!cwd.len || (declared && !json_is_object(declared)))
		return refuse_unknown(look, "its run.json is damaged", r);
	const char *lacking = "";
	AUTO_JSON *paths = freeze_artifacts(look->dir, declared, &lacking);
	if (!paths)
		return refuse_unknown(look, lacking, r);
	if (json_object_size(paths) != json_object_size(declared))
		return refuse_unknown(look, "its run.json is damaged", r);
	json_t *files = json_object();
	json_object_foreach(paths, name, path)
	{
		AUTO_BUF file = BUF_INIT;

		manifest_resolve(json_str(path), cwd, &file);
		json_object_set_new_nocheck(files, name, json_from_str(buf_str(&file)));
	}
	return files;
}

/* The files are gone, and the ledger could not be told before. */
static bool forget_again(struct app *a, struct run_look *look, struct report *r)
{
	AUTO_REPORT unusable = REPORT_INIT;
	struct ledger *l = app_ledger_to_change(a, &unusable);
	bool whole = !look->back && access(look->dir.p, F_OK) < 0;

	if (!l)
		retention_unforgotten(look, &unusable, r);
	return l && retention_forget(l, look, whole, r);
}

static bool prune(struct run_handle *h, struct run_look *look, const json_t *copied,
	json_t **ret_preserved, struct report *r)
{
	bool busy = false;
	AUTO_REPORT unusable = REPORT_INIT;
	struct ledger *ledger = app_ledger_to_change(h->app, &unusable);
	/* It would list a run that is gone. Only when there is no room, it can be told afterwards.
	 */
	if (!ledger && unusable.errors && !report_lacks_room(&unusable)) {
		retention_refuse(look, &unusable, r);
		return false;
	}
	if (!retention_prune(app_state_root(h->app), ledger, look, copied, ret_preserved, &busy,
		    left_delete_outside, r))
		return refuse_held(look, busy, r);
	/* On a full disk there is room for the ledger now. */
	return ledger || !unusable.errors || forget_again(h->app, look, r);
}

bool run_prune(struct run_handle *h, bool preserve, json_t **ret_preserved, struct report *r)
{
	struct run_look *look = handle_look(h, r);
	AUTO_REPORT found = REPORT_INIT;
	bool known;

	if (ret_preserved)
		*ret_preserved = NULL;
	if (!look || !may_go(look, r))
		return false;
	AUTO_JSON *copied = preserve ? artifact_files(look, r) : NULL, *kept = NULL;
	if (preserve && !copied)
		return false;
	/* A path may have a secret in it, and who knows that is about to go. */
	struct mask *mask = json_object_size(copied) ? freeze_mask(look->dir, &known) : NULL;
	bool ok = prune(h, look, copied, &kept, &found);
	if (ok)
		remains_clean(app_state_root(h->app));
	mask_report(mask, &found);
	report_move(r, &found);
	if (ret_preserved && kept)
		*ret_preserved = mask_json(mask, kept);
	mask_free(mask);
	return ok;
}

/* -- by the limits of the settings ---------------------------------------------------------------
 */

static struct retention_limits limits_of(const struct settings *s)
{
	return (struct retention_limits){
		.max_age_days = s->max_age_given ? s->max_age_days : 0,
		.max_runs = s->max_runs_given ? s->max_runs : 0,
	};
}

void retire_after_run(struct app *a, struct ledger *ledger)
{
	AUTO_REPORT ignored = REPORT_INIT; /* the next `prune` tells */
	const struct settings *s = ledger ? app_settings(a, &ignored) : NULL;

	if (!s)
		return;
	struct retention_limits limits = limits_of(s);
	if (retention_is_limited(&limits))
		(void)retention_sweep(app_state_root(a), ledger, NULL, &limits, clock_real_ms(),
			left_delete_outside, &ignored);
}

struct due {
	run_fn *see;
	void *data;
};

static bool tell(void *data, const struct run_row *row)
{
	const struct due *d = data;
	AUTO_BUF name = BUF_INIT;

	buf_add(&name, row->id);
	if (row->back)
		buf_printf(&name, "~%" PRIu64, row->back);
	return d->see(d->data, &(struct run_entry){ .id = buf_str(&name),
				       .status = row->status,
				       .failed = row->failed,
				       .tolerated = row->tolerated,
				       .ended = row->ended });
}

/* Those that the ledger lacks are past the limits as others are. */
static bool prune_among(struct app *a, const struct retention_limits *limits, bool yes,
	struct due *d, size_t *ret_deleted, struct report *r)
{
	bool limited = retention_is_limited(limits);
	struct all_runs all = { 0 };
	bool needed = limited && all_runs_needed(a);
	AUTO_REPORT found = REPORT_INIT;
	uint64_t now_ms = clock_real_ms();

	bool ok = !needed || all_runs_find(a, &all, &found);
	/* A record that cannot be read keeps no other run from being deleted. */
	if (ok)
		app_warn(&found, r);
	else
		report_move(r, &found);
	const struct retention_runs runs = { all.rows.at, all.rows.len };
	const struct retention_runs *among = needed ? &runs : NULL;
	if (ok && yes)
		remains_clean(app_state_root(a));
	ok = ok && (!limited || retention_due(a->ledger, among, limits, now_ms, tell, d, r));
	if (ok && yes && limited)
		*ret_deleted = retention_sweep(app_state_root(a), a->ledger, among, limits, now_ms,
			left_delete_outside, r);
	all_runs_done(&all);
	return ok && !r->errors;
}

bool runs_prune_due(struct app *a, const struct prune_selection *which, bool yes, run_fn *see,
	void *data, struct runs_due *ret, struct report *r)
{
	const struct settings *s = app_settings(a, r);

	if (!s || !app_root_is_ours(a, r))
		return false;
	if (!app_ledger_to_change(a, r) && r->errors)
		return false;
	struct retention_limits limits = limits_of(s);
	limits.older_ms = which->older_ms;
	limits.status = which->status;
	*ret = (struct runs_due){ .limited = retention_is_limited(&limits),
		.settings_path = s->path };
	return prune_among(a, &limits, yes, &(struct due){ see, data }, &ret->deleted, r);
}
