#include "http/audit.h"

#include <stdlib.h>

#include "base/clock.h"
#include "data/json-out.h"

/* Is left behind a line for what is known only afterwards: the run's name, the outcome. */
enum { SPARE = 320 };

void audit_init(struct audit *a, struct str path)
{
	*a = (struct audit){ .file = AUDIT_FILE(path) };
	list_init(&a->refused);
}

void audit_done(struct audit *a)
{
	audit_flush(a);
	audit_file_close(&a->file);
}

struct audit_line *audit_line_new(
	struct str who, const char *via, struct str session, struct str action)
{
	struct audit_line *l = mem_new(struct audit_line);

	l->since_ms = clock_mono_ms();
	l->ts = clock_real_ms();
	l->via = via;
	l->count = 1;
	buf_add(&l->who, who);
	buf_add(&l->session, session);
	buf_add(&l->action, action);
	return l;
}

void audit_line_free(struct audit_line *l)
{
	if (!l)
		return;
	list_remove(&l->link);
	buf_done(&l->who);
	buf_done(&l->session);
	buf_done(&l->action);
	json_decref(l->notes);
	free(l);
}

void audit_line_note(struct audit_line *l, const char *name, struct str value)
{
	if (!l->notes)
		l->notes = json_object();
	json_object_set_new_nocheck(l->notes, name, json_from_str(value));
}

/* Without its end. `outcome` empty: it is about to happen. */
static void compose(const struct audit_line *l, struct str outcome, bool with_notes, struct buf *b)
{
	struct json_out o = { .b = b };
	const char *name;
	json_t *value;

	json_out_object(&o, NULL);
	json_out_time(&o, "ts", l->ts);
	json_out_str(&o, "who", buf_str(&l->who));
	json_out_str(&o, "via", str_of(l->via));
	json_out_str_or_null(&o, "session", buf_str(&l->session));
	json_out_str(&o, "action", buf_str(&l->action));
	if (with_notes)
		json_object_foreach(l->notes, name, value) json_out_value(&o, name, value);
	json_out_str(&o, "outcome", outcome.len ? outcome : S("begun"));
	if (outcome.len)
		json_out_uint(&o, "ms", clock_mono_ms() - l->since_ms);
	if (l->count > 1)
		json_out_uint(&o, "count", l->count);
	json_out_object_end(&o);
}

static int append(struct audit *a, struct audit_line *l, const struct buf *text)
{
	int n = audit_file_append(&a->file, buf_str(text), &l->place);

	l->written = n == 0;
	return n;
}

int audit_begin(struct audit *a, struct audit_line *l)
{
	AUTO_BUF text = BUF_INIT;

	compose(l, S(""), true, &text);
	buf_fill(&text, ' ', SPARE);
	buf_addc(&text, '\n');
	return append(a, l, &text);
}

void audit_end(struct audit *a, struct audit_line *l, struct str outcome, struct buf *ret_lost)
{
	AUTO_BUF text = BUF_INIT;

	compose(l, outcome, true, &text);
	if (l->written && text.len + 1 > l->place.size) {
		buf_reset(&text);
		compose(l, outcome, false, &text);
	}
	if (l->written && text.len + 1 <= l->place.size) {
		buf_fill(&text, ' ', l->place.size - 1 - text.len);
		buf_addc(&text, '\n');
		/* When a new file has been begun since, the line stays as it was. */
		if (audit_file_amend(&a->file, &l->place, buf_str(&text)) == 0)
			return;
	} else if (!l->written) {
		buf_addc(&text, '\n');
		if (append(a, l, &text) == 0)
			return;
	}
	buf_add(ret_lost, str_trim(buf_str(&text)));
}

bool audit_refused(struct audit *a, struct audit_line *l, struct str outcome)
{
	audit_line_note(l, "refused", outcome);
	list_each (link, &a->refused) {
		struct audit_line *other = list_entry(link, struct audit_line, link);

		if (other->via == l->via && str_eq(buf_str(&other->who), buf_str(&l->who)) &&
			str_eq(buf_str(&other->action), buf_str(&l->action)) &&
			json_equal(other->notes, l->notes)) {
			other->count++;
			audit_line_free(l);
			return false;
		}
	}
	list_append(&a->refused, &l->link);
	return true;
}

void audit_flush(struct audit *a)
{
	list_each_safe (link, &a->refused) {
		struct audit_line *l = list_entry(link, struct audit_line, link);
		AUTO_BUF lost = BUF_INIT;

		audit_end(a, l, S("refused"), &lost);
		audit_line_free(l);
	}
}
