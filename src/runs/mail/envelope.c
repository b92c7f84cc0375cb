#include <string.h>

#include "base/clock.h"
#include "base/near.h"
#include "runs/mail/message.h"
#include "runs/mail/policy.h"

/* -- the members ---------------------------------------------------------------------------------
 */

/* A message that is being filled in, in the order of the table: later members may ask for earlier
 * ones. */
struct filling {
	const json_t *line;
	const struct message_frame *frame;
	size_t index;
	json_t *done;
};

static bool has_text(const json_t *value)
{
	return json_is_string(value) && json_string_length(value) > 0;
}

static struct str done_text(const struct filling *f, const char *name)
{
	return json_str(json_object_get(f->done, name));
}

static json_t *copy(const json_t *value)
{
	return json_incref((json_t *)value);
}

static json_t *text_or(const json_t *given, struct str otherwise)
{
	return has_text(given) ? copy(given) : json_from_str(otherwise);
}

static json_t *fill_type(const struct filling *f, const json_t *given)
{
	const json_t *event = json_object_get(f->line, "event");

	return has_text(given) ? copy(given) : text_or(event, S("run.event"));
}

static json_t *fill_event(const struct filling *f, const json_t *given)
{
	(void)given;
	return json_from_str(done_text(f, "type"));
}

static json_t *fill_run(const struct filling *f, const json_t *given)
{
	(void)given; /* it lies in this run's box, whatever it says */
	return json_from_str(f->frame->run);
}

static json_t *run_address(const struct filling *f)
{
	AUTO_BUF address = BUF_INIT;

	buf_printf(&address, "run:%.*s", STR(f->frame->run));
	return json_from_str(buf_str(&address));
}

static json_t *fill_to(const struct filling *f, const json_t *given)
{
	if (has_text(given))
		return copy(given);
	return f->frame->box == INBOX ? run_address(f) : json_from_str(S("coordinator"));
}

static json_t *fill_from(const struct filling *f, const json_t *given)
{
	if (has_text(given))
		return copy(given);
	return f->frame->box == OUTBOX ? run_address(f) : json_from_str(S("coordinator"));
}

static json_t *fill_summary(const struct filling *f, const json_t *given)
{
	return text_or(given, done_text(f, "type"));
}

/* What the policy wants to know of a message. Its type and addresses are there by now. */
static struct policy_facts facts(const struct filling *f)
{
	const json_t *body = json_object_get(f->line, "body");
	const json_t *code = json_object_get(body, "code");
	const json_t *others = json_object_get(body, "activeSubagents");
	struct policy_facts p = { .type = done_text(f, "type"), .owner = f->frame->owner };

	p.to = done_text(f, "to");
	p.wants_response = json_is_true(
		json_object_get(json_object_get(f->line, "metadata"), "requires_response"));
	p.has_code = json_is_integer(code);
	p.code = json_integer_value(code);
	p.others = json_is_integer(others) && json_integer_value(others) > 0;
	return p;
}

static json_t *fill_level(const struct filling *f, const json_t *given)
{
	enum level level = LEVEL_INFO;

	if (!given && f->frame->box == INBOX)
		return NULL;
	if (!given) {
		struct policy_facts p = facts(f);

		level = policy_level(&p);
	} else if (json_is_string(given)) {
		(void)level_read(json_str(given), &level);
	}
	return json_string(level_name(level));
}

static json_t *fill_delivery(const struct filling *f, const json_t *given)
{
	enum delivery d = DELIVERY_LOG;
	struct policy_facts p = facts(f);

	if (!given && f->frame->box == INBOX)
		return NULL;
	bool says = given && !json_is_null(given) && (!json_is_string(given) || has_text(given));
	if (!says)
		d = policy_delivery(&p);
	else if (json_is_string(given))
		(void)delivery_read(json_str(given), &d);
	return json_string(delivery_name(d));
}

static json_t *fill_ts(const struct filling *f, const json_t *given)
{
	(void)f;
	return text_or(given, S("1970-01-01T00:00:00.000Z"));
}

static json_t *fill_id(const struct filling *f, const json_t *given)
{
	AUTO_BUF id = BUF_INIT;

	if (has_text(given))
		return copy(given);
	buf_printf(&id, "%.*s:%zu", STR(f->frame->run), f->index);
	return json_from_str(buf_str(&id));
}

static json_t *fill_given(const struct filling *f, const json_t *given)
{
	(void)f;
	return given ? copy(given) : NULL;
}

/* What a member may be when the sender of a message gives it. */
enum given_kind {
	GIVEN_ANY,
	GIVEN_TEXT,
	GIVEN_OBJECT,
	GIVEN_ADDRESS,
	GIVEN_LEVEL,
	GIVEN_DELIVERY,
	GIVEN_TYPE,
	GIVEN_NOT, /* roux sets it */
};

/* Every member of a message, in the order in which it is written. */
static const struct member {
	const char *name;
	enum given_kind given;
	json_t *(*fill)(const struct filling *f, const json_t *given);
} members[] = {
	{ "type", GIVEN_TYPE, fill_type },
	{ "event", GIVEN_TYPE, fill_event },
	{ "run", GIVEN_NOT, fill_run },
	{ "to", GIVEN_ADDRESS, fill_to },
	{ "from", GIVEN_ADDRESS, fill_from },
	{ "summary", GIVEN_TEXT, fill_summary },
	{ "level", GIVEN_LEVEL, fill_level },
	{ "delivery", GIVEN_DELIVERY, fill_delivery },
	{ "ts", GIVEN_NOT, fill_ts },
	{ "id", GIVEN_NOT, fill_id },
	{ "body", GIVEN_ANY, fill_given },
	{ "data", GIVEN_ANY, fill_given },
	{ "metadata", GIVEN_OBJECT, fill_given },
	{ "correlation_id", GIVEN_TEXT, fill_given },
	{ "reply_to", GIVEN_TEXT, fill_given },
};

static const struct member *find_member(struct str name)
{
	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		if (str_eq(str_of(members[i].name), name))
			return &members[i];
	return NULL;
}

json_t *message_complete(const json_t *line, const struct message_frame *f, size_t index)
{
	struct filling filling = { line, f, index, json_object() };
	const char *name;
	json_t *value;

	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		const struct member *m = &members[i];

		value = m->fill(&filling, json_object_get(line, m->name));
		if (value)
			(void)json_object_set_new_nocheck(filling.done, m->name, value);
	}
	json_object_foreach((json_t *)line, name,
		value) if (!json_object_get(filling.done, name) && !find_member(str_of(name)))(void)
		json_object_set_nocheck(filling.done, name, value);
	return filling.done;
}

/* -- writing one ---------------------------------------------------------------------------------
 */

static bool refuse_kind(const char *name, const json_t *value, const char *want, struct report *r)
{
	return report_error(r, (struct where){ 0 }, "'%s' of a message has to be %s, found %s",
		name, want, json_kind(value));
}

static void warn_word(const char *name, const json_t *value, const char *becomes, struct report *r)
{
	AUTO_BUF text = BUF_INIT;

	json_write(&text, value, 0);
	struct str shown = report_quote(r, buf_str(&text));
	(void)report_warning(r, (struct where){ 0 }, "%s %.*s is not known and becomes '%s'", name,
		STR(shown), becomes);
	report_hint(r, "%s",
		strcmp(name, "level") == 0 ? "info, warning or error" : "log, notify or followup");
}

static void warn_unknown(const char *name, struct report *r)
{
	struct near near = near_to(str_of(name));

	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		near_offer(&near, str_of(members[i].name));
	struct str best = near_best(&near), shown = report_quote(r, str_of(name));
	(void)report_warning(
		r, (struct where){ 0 }, "a message has no member '%.*s'; it is kept", STR(shown));
	if (best.len)
		report_hint(r, "did you mean '%.*s'?", STR(best));
}

static bool check_member(const struct member *m, const json_t *value, struct report *r)
{
	struct address address;
	enum level level;
	enum delivery delivery;

	switch (m->given) {
	case GIVEN_ANY:
		return true;
	case GIVEN_TEXT:
		return json_is_string(value) || refuse_kind(m->name, value, "a string", r);
	case GIVEN_OBJECT:
		return json_is_object(value) || refuse_kind(m->name, value, "an object", r);
	case GIVEN_ADDRESS:
		if (!json_is_string(value))
			return refuse_kind(m->name, value, "an address", r);
		return address_check(json_str(value), m->name, &address, r);
	case GIVEN_TYPE:
		if (!json_is_string(value))
			return refuse_kind(m->name, value, "a string", r);
		return message_type_check(json_str(value), r);
	case GIVEN_LEVEL:
		if (!json_is_string(value) || !level_read(json_str(value), &level))
			warn_word(m->name, value, "info", r);
		return true;
	case GIVEN_DELIVERY:
		if (!json_is_string(value) || !delivery_read(json_str(value), &delivery))
			warn_word(m->name, value, "log", r);
		return true;
	case GIVEN_NOT:
		return report_warning(r, (struct where){ 0 },
			"'%s' of a message is set by roux; what was given is ignored", m->name);
	}
	return true;
}

static bool check_given(const json_t *given, struct report *r)
{
	bool ok = true;
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)given, name, value)
	{
		const struct member *m = find_member(str_of(name));

		if (m)
			ok &= check_member(m, value, r);
		else
			warn_unknown(name, r);
	}
	return ok;
}

/* The same thing said twice has to be the same. */
static bool say_once(json_t *m, const char *name, const json_t *value, struct report *r)
{
	const json_t *before = json_object_get(m, name);

	if (before && !json_equal((json_t *)before, (json_t *)value)) {
		report_error(r, (struct where){ 0 }, "the message has two of '%s'", name);
		return report_hint(r, "give it once: by itself or in the envelope");
	}
	return json_object_set_nocheck(m, name, (json_t *)value) == 0;
}

/* Who may write to whom. */
static bool check_addresses(const json_t *m, const struct message_frame *f, struct report *r)
{
	struct str to = json_str(json_object_get(m, "to")),
		   from = json_str(json_object_get(m, "from"));
	struct address a = { 0 }, sender = { 0 };
	bool own = address_read(from, &sender) && sender.kind == ADDRESS_RUN &&
		   str_eq(sender.name, f->run);

	(void)address_read(to, &a);
	if (f->box == INBOX) {
		bool run =
			a.kind == ADDRESS_RUN || a.kind == ADDRESS_BRANCH || a.kind == ADDRESS_ROOM;

		if (run && str_eq(a.name, f->run))
			return true;
		report_error(r, (struct where){ 0 }, "a message to run '%.*s' cannot go to '%.*s'",
			STR(f->run), STR(to));
		report_hint(r, "run:%.*s, branch:%.*s/BRANCH or room:%.*s", STR(f->run),
			STR(f->run), STR(f->run));
		return report_action(r, ACTION_WRITE_AS_RUN, f->run);
	}
	if (a.kind != ADDRESS_COORDINATOR && a.kind != ADDRESS_SESSION)
		return true;
	if (!own) {
		report_error(r, (struct where){ 0 },
			"a message to '%.*s' has to come from 'run:%.*s', not from '%.*s'", STR(to),
			STR(f->run), STR(from));
		return report_hint(r, "leave 'from' out");
	}
	if (a.kind == ADDRESS_SESSION && !str_eq(a.name, f->owner)) {
		report_error(r, (struct where){ 0 },
			"a run writes to the session that started it, not to '%.*s'", STR(a.name));
		return f->owner.len ? report_hint(r, "write to session:%.*s or to coordinator",
					      STR(f->owner))
				    : report_hint(r, "no session started it: write to coordinator");
	}
	return true;
}

static void stamp(json_t *m)
{
	AUTO_BUF id = BUF_INIT;
	AUTO_BUF ts = BUF_INIT;

	message_id(&id);
	clock_rfc3339(&ts, clock_real_ms());
	(void)json_object_set_new_nocheck(m, "id", json_from_str(buf_str(&id)));
	(void)json_object_set_new_nocheck(m, "ts", json_from_str(buf_str(&ts)));
}

json_t *message_compose(const json_t *given, struct str type, const json_t *body,
	const struct message_frame *f, struct report *r)
{
	AUTO_JSON *m = json_object();
	bool ok = true;

	if (given) {
		ok = check_given(given, r);
		(void)json_object_update(m, (json_t *)given);
	}
	if (type.len) {
		AUTO_JSON *t = json_from_str(type);

		ok = message_type_check(type, r) && ok;
		ok = say_once(m, "type", t, r) && ok;
	} else if (!json_object_get(m, "type") && !json_object_get(m, "event")) {
		(void)json_object_set_new(m, "type", json_string("run.message"));
	}
	if (body)
		ok = say_once(m, "body", body, r) && ok;
	size_t bytes = message_body_bytes(json_object_get(m, "body"));
	if (bytes > MESSAGE_BODY_MAX) {
		ok = report_error(r, (struct where){ 0 },
			"the body has %zu bytes, a message takes at most %d", bytes,
			MESSAGE_BODY_MAX);
		report_hint(r, "put the data into a file and send its path");
	}
	if (!ok)
		return NULL;
	stamp(m);
	json_t *whole = message_complete(m, f, 0);
	if (check_addresses(whole, f, r))
		return whole;
	json_decref(whole);
	return NULL;
}
