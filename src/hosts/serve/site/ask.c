/* Reading requests, and refusing them. */
#include <inttypes.h>
#include <string.h>

#include "app/answers.h"
#include "app/logs.h"
#include "base/clock.h"
#include "base/run-status.h"
#include "hosts/serve/site/aside.h"

const action_words site_words = {
	[ACTION_RESUME] = "the page of the run offers to continue it",
	[ACTION_RERUN] = "the page of the run offers to do it again",
	[ACTION_RERUN_ALL] = "the page of the run offers to do all of it again",
	[ACTION_APPROVE] = "its question can be answered on the page of the run",
	[ACTION_DENY] = "its question can be answered on the page of the run",
	[ACTION_WAIT] = "wait until it has ended",
	[ACTION_CANCEL] = "or cancel it first",
	[ACTION_KILL] = "it can be killed",
	[ACTION_STATUS] = "its page says more",
	[ACTION_LOGS] = "its page shows what it printed",
	[ACTION_FOLLOW] = "its page shows what it prints",
	[ACTION_NODES] = "its page lists the nodes",
	[ACTION_NAME_NODE] = "choose a node",
	[ACTION_NAME_IT] = "or give the run another name",
	[ACTION_LIST_RUNS] = "the list has those that there are",
	[ACTION_LIST_RECIPES] = "the list of recipes has those that there are",
	[ACTION_REBUILD] = "`roux doctor --rebuild` makes it anew from the run directories",
	[ACTION_DOCTOR] = "the doctor says what to do",
	[ACTION_TRUST] = "`roux trust %s` lets them",
	[ACTION_SHOW_ARGUMENTS] = "the form lists its arguments",
};

/* -- refusing ------------------------------------------------------------------------------------
 */

static unsigned status_of(const struct issue *i)
{
	if (i->kind == ISSUE_SYSTEM)
		return 503;
	if (i->kind != ISSUE_REFUSED)
		return 400;
	return strncmp(i->reason, "no such", 7) == 0 || strcmp(i->reason, "directory gone") == 0
		       ? 404
		       : 409;
}

static void refuse(struct http_request *q, struct report *r, unsigned status)
{
	AUTO_BUF document = BUF_INIT;

	report_word(r, site_words);
	vec_each (i, &r->issues)
		if (!status && issue_is_error(i))
			status = status_of(i);
	/* A damaged run is a state of things; that the machine cannot do something is not. */
	if (status == 503 && http_route(q)->effect == HTTP_READS &&
		str_contains(str_of(http_route(q)->path), S("/runs/{id}")))
		status = 409;
	answer_document(r, &document);
	if (status == 503)
		http_add_header(q, "Retry-After", S("1"));
	http_refuse_document(q, status ? status : 503, &document);
}

void ask_refuse(struct http_request *q, struct report *r)
{
	refuse(q, r, 0);
}

void ask_refuse_values(struct http_request *q, struct report *r)
{
	bool invalid = false;

	vec_each (i, &r->issues)
		invalid |= i->kind == ISSUE_INVALID;
	refuse(q, r, invalid ? 422 : 0);
}

/* -- reading -------------------------------------------------------------------------------------
 */

struct run_model *ask_run(struct http_request *q)
{
	AUTO_REPORT r = REPORT_INIT;
	struct str id = http_param(q, "id");

	if (!aside_run(q, id))
		return NULL;
	struct run_model *m = run_models_get(site_of(q)->models, id, &r);
	if (!m)
		ask_refuse(q, &r);
	return m;
}

bool ask_list(struct http_request *q)
{
	AUTO_REPORT r = REPORT_INIT;

	if (runs_can_be_listed(site_of(q)->app, &r))
		return true;
	ask_refuse(q, &r);
	return false;
}

struct run_handle *ask_handle(struct run_model *m)
{
	return run_model_run(m);
}

static bool bad_request(
	struct http_request *q, const char *name, struct str value, const char *want)
{
	http_refuse(q, 400, NULL, NULL, "%s is '%.*s', expected %s", name, STR(value), want);
	return false;
}

bool ask_number(struct http_request *q, const char *name, uint64_t *ret)
{
	struct str text;

	if (!http_query(q, name, &text))
		return true;
	return str_to_uint(text, ret) || bad_request(q, name, text, "a number");
}

/* The first one with that name that is not empty. */
static bool field_of(struct http_fields all, const char *name, struct str *ret)
{
	for (size_t i = 0; i < all.count; i++)
		if (str_eq(all.at[i].name, str_of(name)) && all.at[i].value.len) {
			*ret = all.at[i].value;
			return true;
		}
	return false;
}

/* What a filter says that does not fit; the caller refuses. */
static bool mistake(struct buf *b, const char *name, struct str value, const char *want)
{
	buf_printf(b, "%s is '%.*s', expected %s", name, STR(value), want);
	return false;
}

/* A date or a time of RFC 3339; of a day that ends the list, its end. */
static bool read_time(
	struct http_fields all, const char *name, bool to_its_end, uint64_t *ret, struct buf *wrong)
{
	struct str text;
	AUTO_BUF whole = BUF_INIT;

	if (!field_of(all, name, &text))
		return true;
	*ret = clock_read_rfc3339(text);
	if (*ret)
		return true;
	buf_printf(&whole, "%.*sT%s", STR(text), to_its_end ? "23:59:59.999Z" : "00:00:00Z");
	*ret = text.len == 10 ? clock_read_rfc3339(buf_str(&whole)) : 0;
	return *ret || mistake(wrong, name, text, "a date, or a time as RFC 3339 writes it");
}

static bool read_number(struct http_fields all, const char *name, uint64_t *ret, struct buf *wrong)
{
	struct str text;

	return !field_of(all, name, &text) || str_to_uint(text, ret) ||
	       mistake(wrong, name, text, "a number");
}

/* All values of `status`, with commas between them. */
static bool read_statuses(struct http_fields all, struct buf *names, struct buf *wrong)
{
	for (size_t i = 0; i < all.count; i++) {
		struct str list = all.at[i].value;

		if (!str_eq(all.at[i].name, S("status")) || !list.len)
			continue;
		for (size_t at = 0; at <= list.len;) {
			size_t end = str_find(list, ',', at);
			struct str word = str_sub(list, at, end - at);
			enum roux_status s;

			if (!status_read(word, &s) || status_rests(word, STATUS_NEVER))
				return mistake(wrong, "status", word,
					"running, done, partial, paused, failed, denied, timeout, "
					"cancelled, killed or exited");
			buf_printf(names, "%s%.*s", names->len ? "," : "", STR(word));
			at = end + 1;
		}
	}
	return true;
}

static bool read_filter(
	struct http_request *q, struct http_fields all, struct run_filter *ret, struct buf *wrong)
{
	uint64_t limit = 0;
	AUTO_BUF names = BUF_INIT;
	struct str text;

	*ret = (struct run_filter){ 0 };
	if (!read_statuses(all, &names, wrong) ||
		!read_time(all, "since", false, &ret->since_ms, wrong) ||
		!read_time(all, "until", true, &ret->until_ms, wrong) ||
		!read_number(all, "before", &ret->before, wrong) ||
		!read_number(all, "limit", &limit, wrong))
		return false;
	ret->status = arena_str(http_arena(q), buf_str(&names));
	(void)field_of(all, "recipe", &ret->recipe);
	(void)field_of(all, "q", &ret->any);
	if (field_of(all, "detached", &text)) {
		if (!str_eq(text, S("0")) && !str_eq(text, S("1")))
			return mistake(wrong, "detached", text, "0 or 1");
		ret->detached = str_eq(text, S("1")) ? 1 : -1;
	}
	if (field_of(all, "limit", &text) && (!limit || limit > 200))
		return mistake(wrong, "limit", text, "1 to 200");
	ret->limit = limit ? (size_t)limit : 50;
	return true;
}

bool ask_filter_of(struct http_request *q, struct http_fields all, struct run_filter *ret)
{
	AUTO_BUF wrong = BUF_INIT;

	return read_filter(q, all, ret, &wrong);
}

bool ask_filter(struct http_request *q, struct run_filter *ret)
{
	AUTO_BUF wrong = BUF_INIT;

	if (read_filter(q, http_query_all(q), ret, &wrong))
		return true;
	http_refuse(q, 400, NULL, NULL, "%s", buf_cstr(&wrong));
	return false;
}

static unsigned hex_of(char c)
{
	return c >= '0' && c <= '9'   ? (unsigned)(c - '0')
	       : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
	       : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10)
				      : 16;
}

static struct str decode(struct arena *a, struct str s)
{
	AUTO_BUF b = BUF_INIT;

	for (size_t i = 0; i < s.len; i++) {
		unsigned high = i + 2 <= s.len - 1 ? hex_of(s.p[i + 1]) : 16;
		unsigned low = i + 2 <= s.len - 1 ? hex_of(s.p[i + 2]) : 16;

		if (s.p[i] == '%' && high < 16 && low < 16) {
			buf_addc(&b, (char)(high << 4 | low));
			i += 2;
		} else {
			buf_addc(&b, s.p[i] == '+' ? ' ' : s.p[i]);
		}
	}
	return arena_str(a, buf_str(&b));
}

struct http_fields ask_fields(struct http_request *q, struct str query)
{
	enum { FIELDS = 64 };
	struct http_field *fields = arena_array(http_arena(q), struct http_field, FIELDS);
	size_t count = 0;

	for (size_t at = 0; at < query.len && count < FIELDS;) {
		size_t end = str_find(query, '&', at);
		struct str one = str_sub(query, at, end - at);
		size_t equals = str_find(one, '=', 0);

		fields[count].name = decode(http_arena(q), str_sub(one, 0, equals));
		fields[count++].value =
			equals < one.len ? decode(http_arena(q), str_from(one, equals + 1)) : S("");
		at = end + 1;
	}
	return (struct http_fields){ fields, count };
}

const char *ask_run_word(struct http_request *q)
{
	return arena_cstr(
		http_arena(q), arena_printf(http_arena(q), "run:%.*s", STR(http_param(q, "id"))));
}

bool ask_run_unchanged(struct http_request *q, struct run_model *m, struct str more)
{
	AUTO_BUF state = BUF_INIT;

	/* What a live run shows of the time changes without an event. */
	buf_printf(&state, "%.*s-%" PRIu64 "-%.*s-%.*s-", STR(run_model_generation(m)),
		run_model_seq(m), STR(run_status_word(run_model_run(m))), STR(more));
	run_model_stamp(m, &state);
	if (run_model_live(m))
		buf_printf(&state, "-%" PRIu64, clock_real_ms() / 1000);
	return http_unchanged(q, buf_str(&state));
}

/* -- bodies --------------------------------------------------------------------------------------
 */

static bool is_listed(const char *names, struct str name)
{
	struct str all = str_of(names);

	for (size_t at = 0; at < all.len;) {
		size_t end = str_find(all, ' ', at);

		if (str_eq(str_sub(all, at, end - at), name))
			return true;
		at = end + 1;
	}
	return false;
}

enum kind {
	KIND_TEXT,
	KIND_GUARD, /* a text that has to match: what is given is never passed over */
	KIND_FLAG,
	KIND_FLAG_OR_TEXT,
	KIND_OBJECT,
};

/* Members that are not here are judged by who reads them. */
static const struct {
	const char *name;
	enum kind kind;
} kinds[] = {
	{ "all", KIND_FLAG_OR_TEXT },
	{ "answer", KIND_TEXT },
	{ "as", KIND_TEXT },
	{ "comment", KIND_TEXT },
	{ "cwd", KIND_TEXT },
	{ "digest", KIND_GUARD },
	{ "do", KIND_TEXT },
	{ "envelope", KIND_OBJECT },
	{ "from", KIND_TEXT },
	{ "generation", KIND_GUARD },
	{ "graceful", KIND_FLAG },
	{ "how", KIND_TEXT },
	{ "in_doubt", KIND_TEXT },
	{ "only", KIND_FLAG_OR_TEXT },
	{ "reason", KIND_TEXT },
	{ "recipe", KIND_TEXT },
	{ "resume", KIND_FLAG },
	{ "secrets", KIND_OBJECT },
	{ "stage", KIND_GUARD },
	{ "type", KIND_TEXT },
	{ "values", KIND_OBJECT },
};

/* What the value should be; NULL: it is. Null is as absent, except where that would be passing
 * over something. */
static const char *misfit(enum kind kind, const json_t *value)
{
	if (kind == KIND_GUARD)
		return json_is_string(value) && json_string_length(value)
			       ? NULL
			       : "a string that is not empty";
	if (json_is_null(value))
		return NULL;
	if (kind == KIND_TEXT)
		return json_is_string(value) ? NULL : "a string";
	if (kind == KIND_OBJECT)
		return json_is_object(value) ? NULL : "an object";
	if (json_is_boolean(value) || (kind == KIND_FLAG_OR_TEXT && json_is_string(value)))
		return NULL;
	return kind == KIND_FLAG ? "true or false" : "true, false or a string";
}

bool ask_kinds(struct http_request *q)
{
	const json_t *body = http_json(q);

	for (size_t i = 0; body && i < ARRAY_SIZE(kinds); i++) {
		const json_t *value = json_object_get(body, kinds[i].name);
		const char *want = value ? misfit(kinds[i].kind, value) : NULL;

		if (want) {
			http_refuse(q, 400, NULL, NULL, "%s is not %s", kinds[i].name, want);
			return false;
		}
	}
	return true;
}

bool ask_only(struct http_request *q, const char *names)
{
	json_t *body = http_json(q), *value;
	const char *name;

	if (!body)
		return true; /* fields of forms that a page does not know are harmless */
	if (!ask_kinds(q))
		return false;
	json_object_foreach(body, name, value)
	{
		if (is_listed(names, str_of(name)))
			continue;
		http_refuse(q, 400, NULL, names, "the body has a member '%s', which is not known",
			name);
		return false;
	}
	return true;
}

const char *ask_text(struct http_request *q, const char *name)
{
	const json_t *value = http_member(q, name);

	if (!json_is_string(value) || !json_string_length(value))
		return NULL;
	return arena_cstr(http_arena(q), json_str(value));
}

bool ask_bool(struct http_request *q, const char *name, bool fallback)
{
	const json_t *value = http_member(q, name);
	struct str text = json_str(value);

	if (json_is_boolean(value))
		return json_is_true(value);
	if (!json_is_string(value))
		return fallback;
	return str_eq(text, S("1")) || str_eq(text, S("true")) || str_eq(text, S("on"));
}

/* -- logs ----------------------------------------------------------------------------------------
 */

bool site_mask(struct run_model *m, struct mask **ret)
{
	AUTO_REPORT ignored = REPORT_INIT;

	*ret = NULL;
	return run_mask(run_model_run(m), ret, &ignored);
}

void ask_refuse_unmasked(struct http_request *q)
{
	http_refuse(q, 409, "secret not known", NULL,
		"a secret of the run is not known here, so that it cannot be masked");
}

bool ask_log(struct http_request *q, struct log_at *ret)
{
	static const char *const names[] = { "out", "err", "run-out", "run-err" };
	struct str stream = S("");

	*ret = (struct log_at){ 0 };
	(void)http_query(q, "path", &ret->node);
	if (!http_query(q, "stream", &stream))
		stream = ret->node.len ? S("out") : S("run-out");
	for (size_t i = 0; i < ARRAY_SIZE(names) && !ret->name; i++)
		if (str_eq(stream, str_of(names[i]))) {
			ret->name = names[i];
			ret->stream = i & 1 ? LOG_STDERR : LOG_STDOUT;
			if (i >= 2)
				ret->node = S("");
		}
	if (!ret->name)
		return bad_request(q, "stream", stream, "out, err, run-out or run-err");
	if (!ret->node.len && ret->name[0] != 'r') {
		http_refuse(q, 400, NULL,
			"path names a command; run-out and run-err are the run's own",
			"the stream '%s' needs a path", ret->name);
		return false;
	}
	return ask_number(q, "attempt", &ret->attempt);
}
