#include "hosts/cli/run-filter.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/near.h"
#include "base/run-status.h"
#include "hosts/cli/run-operand.h"

enum { ON_TERMINAL = 30 };

const struct opt filter_opts[10] = {
	OPT_TEXT(0, "status", "STATUS", struct filter_opts, status,
		"only runs with one of these, with commas between them: failed,exited"),
	OPT_FLAG(0, "failed", struct filter_opts, failed,
		"only runs in which something failed, of every generation"),
	OPT_TEXT(0, "recipe", "RECIPE", struct filter_opts, recipe, "only runs of this recipe"),
	OPT_TEXT(0, "owner", "ID", struct filter_opts, owner,
		"only runs of this session: what $ROUX_OWNER was when they were started"),
	OPT_TEXT(0, "match", "TEXT", struct filter_opts, match, "only runs with TEXT in their id"),
	OPT_TEXT(0, "since", "TIME", struct filter_opts, since,
		"only runs started then or later: 2d ago, or a date"),
	OPT_TEXT(0, "until", "TIME", struct filter_opts, until,
		"only runs started then or earlier; a day to its end"),
	OPT_NUMBER(0, "limit", "N", struct filter_opts, limit, 1, 1000000000,
		"at most N runs (30 on a terminal)"),
	OPT_TEXT(
		0, "before", "RUN", struct filter_opts, before, "only runs behind RUN in the list"),
	OPT_FLAG(0, "generations", struct filter_opts, generations,
		"earlier generations of each run too, as ID~1"),
};

/* -- times ---------------------------------------------------------------------------------------
 */

/* A date, with a time of the day or without, as clocks on the wall show it. `*ret_day` says that it
 * is a whole day. */
static bool read_date(const char *text, uint64_t *ret_ms, bool *ret_day)
{
	static const char *const forms[] = { "%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S",
		"%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S" };

	*ret_day = false;
	*ret_ms = clock_read_rfc3339(str_of(text));
	if (*ret_ms)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		struct tm tm = { .tm_isdst = -1 };
		const char *end = strptime(text, forms[i], &tm);
		time_t seconds = end && !*end ? mktime(&tm) : -1;

		if (seconds < 0)
			continue;
		*ret_ms = (uint64_t)seconds * 1000;
		*ret_day = i == 0;
		return true;
	}
	return false;
}

static bool read_time(
	struct cli *cli, const char *name, const char *text, bool to_its_end, uint64_t *ret_ms)
{
	uint64_t now = clock_real_ms(), ago;
	bool day;

	if (!text)
		return true;
	if (clock_read_duration(str_of(text), &ago)) {
		*ret_ms = ago < now ? now - ago : 1;
		return true;
	}
	if (read_date(text, ret_ms, &day)) {
		*ret_ms += day && to_its_end ? 86400000 - 1 : 0;
		return true;
	}
	report_error(&cli->report, (struct where){ 0 }, "--%s '%s' is not a time", name, text);
	return report_hint(&cli->report,
		"90m, 12h or 2d for so long ago, a date like 2026-11-16, or '2026-11-16 08:30'");
}

bool filter_age(struct cli *cli, const char *name, const char *option, uint64_t *ret_ms)
{
	if (!option)
		return true;
	bool read = clock_read_duration(str_of(option), ret_ms);
	if (read && *ret_ms)
		return true;
	report_error(&cli->report, (struct where){ 0 },
		read ? "--%s '%s' has to be longer than zero" : "--%s '%s' is not a duration", name,
		option);
	return report_hint(&cli->report, "for example 12h or 30d");
}

/* -- the others ----------------------------------------------------------------------------------
 */

static bool refuse_status(struct cli *cli, struct str word)
{
	struct near near = near_to(word);

	report_error(&cli->report, (struct where){ 0 }, "there is no status '%.*s'", STR(word));
	for (enum roux_status s = ROUX_RUNNING; s <= ROUX_EXITED; s++)
		near_offer(&near, status_str(s));
	struct str best = near_best(&near);
	if (best.len)
		return report_hint(&cli->report, "did you mean '%.*s'?", STR(best));
	return report_hint(&cli->report, "running, done, partial, paused, failed, denied, timeout, "
					 "cancelled, killed, exited");
}

bool filter_status(struct cli *cli, const char *option, struct str *ret)
{
	struct str names = str_of(option);

	if (!option)
		return true;
	for (size_t at = 0; at <= names.len;) {
		size_t end = str_find(names, ',', at);
		struct str word = str_sub(names, at, end - at);
		enum roux_status s;

		if (!status_read(word, &s) || status_rests(word, STATUS_NEVER))
			return refuse_status(cli, word);
		at = end + 1;
	}
	*ret = names;
	return true;
}

static bool read_before(struct cli *cli, const char *run, uint64_t *ret)
{
	if (!run)
		return true;
	AUTO_RUN *h = runs_open(cli_app(cli), run, &cli->report);
	if (!h)
		return false;
	*ret = run_cursor(h);
	return *ret || report_error(&cli->report, (struct where){ 0 },
			       "the ledger does not know where '%s' is in the list", run);
}

bool filter_read(struct cli *cli, const struct filter_opts *o, struct run_filter *ret)
{
	*ret = (struct run_filter){
		.recipe = str_of(o->recipe),
		.match = str_of(o->match),
		.owner = str_of(o->owner),
		.limit = o->limit                ? o->limit
			 : isatty(STDOUT_FILENO) ? ON_TERMINAL
						 : 0,
		.failures = o->failed,
		.generations = o->generations || o->failed,
	};
	return filter_status(cli, o->status, &ret->status) &&
	       read_time(cli, "since", o->since, false, &ret->since_ms) &&
	       read_time(cli, "until", o->until, true, &ret->until_ms) &&
	       read_before(cli, o->before, &ret->before);
}
