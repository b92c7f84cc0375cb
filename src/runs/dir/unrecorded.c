#include "runs/dir/unrecorded.h"

#include <string.h>

#include "base/clock.h"
#include "data/json.h"
#include "runs/dir/events.h"
#include "runs/dir/open.h"

struct search {
	struct leaves *leaves;
	bool damaged; /* the file: it cannot be said that its lines are all there are */
	bool lacks;   /* it has not the end of a command, which is written before the event */
};

/* Most lines are about commands whose end is recorded: to read only the path of those takes a tenth
 * of the time. */
static bool may_lack(const struct search *s, struct str line)
{
	struct str name = S("\"path\":\"");
	const char *at = memmem(line.p, line.len, name.p, name.len);

	if (!at || !memmem(line.p, line.len, "\"command.", 9))
		return false;
	struct str rest = str_from(line, (size_t)(at - line.p) + name.len);
	struct str path = str_sub(rest, 0, str_find(rest, '"', 0));
	const struct leaf_record *r = leaves_last(s->leaves, path);
	return !r || (!r->ended && !r->lost);
}

static bool see_event(void *data, struct str line, uint64_t seq)
{
	struct search *s = data;

	(void)seq;
	if (!may_lack(s, line))
		return true;
	AUTO_JSON *event = json_loadb(line.p, line.len, 0, NULL);
	struct str type = json_text_of(event, "type");
	const struct leaf_record told = {
		.ended = str_eq(type, S("command.done")),
		.code = (int)json_number_of(event, "code"),
		.ms = (uint64_t)json_number_of(event, "ms"),
		.out_bytes = (uint64_t)json_number_of(event, "stdout_bytes"),
	};
	/* A command whose start is an event may have been killed before its program began. */
	if (told.ended || (s->damaged && str_eq(type, S("command.start"))))
		s->lacks |= leaves_doubt(s->leaves, json_text_of(event, "path"), &told,
			clock_read_rfc3339(json_text_of(event, "ts")));
	return true;
}

struct leaves *leaves_of_run(const char *dir, struct report *r)
{
	AUTO_BUF file = BUF_INIT;

	buf_printf(&file, "%s/" LEAVES_FILE, dir);
	struct leaves *l = leaves_read(buf_cstr(&file), r);
	if (!l)
		return NULL;
	struct search s = { .leaves = l, .damaged = leaves_are_damaged(l) };
	int e = events_each(dir, 0, see_event, &s);
	/* Then its lines end too early, and starts may be missing as well. */
	if (e >= 0 && s.lacks && !s.damaged) {
		s.damaged = true;
		e = events_each(dir, 0, see_event, &s);
	}
	if (e < 0 && !run_is_foreign(e)) {
		report_fault(r, -e, "cannot read %s/" EVENTS_FILE, dir);
		leaves_free(l);
		return NULL;
	}
	return l;
}
