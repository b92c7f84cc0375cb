#include "prompts/resolve.h"

#include <stdlib.h>
#include <time.h>

#include "prompts/section.h"

void prompt_date(struct buf *b, int64_t seconds)
{
	time_t t = (time_t)seconds;
	struct tm tm;

	tzset();
	if (!localtime_r(&t, &tm))
		return;
	long offset = tm.tm_gmtoff;
	buf_printf(b, "%04d-%02d-%02dT%02d:%02d:%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
		tm.tm_hour, tm.tm_min, tm.tm_sec);
	if (offset == 0)
		buf_addc(b, 'Z');
	else
		buf_printf(b, "%c%02ld:%02ld", offset < 0 ? '-' : '+', labs(offset) / 3600,
			labs(offset) / 60 % 60);
}

static void add_part(struct buf *prompt, struct str part)
{
	while (part.len && part.p[part.len - 1] == '\n')
		part.len--;
	if (!part.len)
		return;
	if (prompt->len)
		buf_adds(prompt, "\n\n");
	buf_add(prompt, part);
}

/* Why a context was left out becomes a warning. */
static void tell_skipped(const struct report *why, const struct section *s, struct config *c,
	struct report *warnings)
{
	const struct issue *i = &why->issues.at[0];

	report_warning(warnings, section_where(c, s, NULL), "context '%.*s' is left out: %.*s",
		STR(s->name), STR(i->message));
	report_advise(warnings, i);
}

static void add_context(const struct resolve_input *in, const struct section *s, struct buf *prompt,
	struct resolved *ret, struct report *warnings)
{
	AUTO_REPORT why = REPORT_INIT;
	AUTO_BUF text = BUF_INIT;
	size_t before = prompt->len;
	enum context_state state = CONTEXT_SKIPPED;

	if (section_resolve(in, s, &text, &why, warnings)) {
		add_part(prompt, buf_str(&text));
		state = prompt->len > before ? CONTEXT_USED : CONTEXT_EMPTY;
	} else {
		tell_skipped(&why, s, in->config, warnings);
	}
	vec_push(&ret->contexts, (struct resolved_context){ s->name, state });
}

static bool add_task(const struct resolve_input *in, struct buf *prompt, struct report *r,
	struct report *warnings)
{
	AUTO_BUF text = BUF_INIT;

	if (!section_resolve(in, &in->selection->task, &text, r, warnings))
		return false;
	add_part(prompt, buf_str(&text));
	return true;
}

static bool resolve_role(const struct resolve_input *in, struct resolved *ret, struct report *r,
	struct report *warnings)
{
	const struct section *role = &in->selection->role;

	if (!in->selection->has_role)
		return true;
	if (role->file.len && !role->command.len && !role->prompt.len)
		ret->role_path = section_path(in->config, role);
	return section_resolve(in, role, &ret->role, r, warnings);
}

bool prompt_resolve(const struct resolve_input *in, struct resolved *ret, struct report *r,
	struct report *warnings)
{
	const struct selection *s = in->selection;
	struct placeholder_values date = { 0 };
	AUTO_BUF prompt = BUF_INIT;

	*ret = (struct resolved){ 0 };
	if (!resolve_role(in, ret, r, warnings))
		return false;
	vec_each (c, &s->contexts)
		add_context(in, c, &prompt, ret, warnings);
	bool ok = !s->has_task || add_task(in, &prompt, r, warnings);
	if (!s->has_task)
		add_part(&prompt, in->request->text);
	/* The one placeholder that is replaced wherever it came from. */
	date.at[PH_DATE] = in->date;
	placeholders_replace(&ret->prompt, buf_str(&prompt), 1u << PH_DATE, &date);
	return ok;
}

void resolved_done(struct resolved *d)
{
	buf_done(&d->role);
	buf_done(&d->prompt);
	vec_done(&d->contexts);
}
