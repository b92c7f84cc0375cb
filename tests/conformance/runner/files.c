/* Cases about messages, their files, prompts, handlers, locks and polling. */
#include <stdio.h>
#include <stdlib.h>

#include "base/lang.h"
#include "base/vec.h"
#include "hosts/telegram/rules/attach.h"
#include "hosts/telegram/rules/inbound.h"
#include "hosts/telegram/rules/lock.h"
#include "hosts/telegram/rules/media.h"
#include "hosts/telegram/rules/polling.h"
#include "hosts/telegram/rules/update.h"
#include "hosts/telegram/text/prompt-template.h"
#include "hosts/telegram/text/prompt.h"
#include "hosts/telegram/text/redact.h"

#include "runner.h"

/* -- files ---------------------------------------------------------------------------------------
 */

static json_t *name_media(struct arena *a, const json_t *input)
{
	struct media_files files;
	json_t *list = json_array();

	media_named(a, json_object_get(input, "message"), &files);
	for (size_t i = 0; i < files.count; i++) {
		const struct media_file *f = &files.at[i];
		json_t *one = json_pack("{so so so sb}", "file_id", json_from_str(f->id),
			"fileName", json_from_str(f->name), "kind", json_from_str(f->kind),
			"isImage", f->image);

		if (f->mime.len)
			json_object_set_new(one, "mimeType", json_from_str(f->mime));
		json_array_append_new(list, one);
	}
	return json_pack("{so}", "files", list);
}

static const char *refusal_code(enum attach_refusal refusal)
{
	switch (refusal) {
	case ATTACH_OK:
		break;
	case ATTACH_NO_TURN:
		return "no_active_turn";
	case ATTACH_TOO_MANY:
		return "count_limit";
	case ATTACH_NOT_A_FILE:
		return "not_a_file";
	case ATTACH_TOO_LARGE:
		return "size_limit";
	case ATTACH_EMPTY:
		return "empty";
	}
	return "";
}

static json_t *attach(struct arena *a, const json_t *input)
{
	const json_t *paths = json_object_get(input, "paths");
	struct str file = json_text_of(input, "file");
	size_t count = json_array_size(paths), queued = (size_t)case_number(input, "queued");
	int64_t *sizes = arena_array(a, int64_t, count);
	size_t index;

	if (file.len)
		return json_pack(
			"{ss ss}", "method", attach_method(file), "field", attach_field(file));
	for (size_t i = 0; i < count; i++) {
		const json_t *size = json_object_get(json_object_get(input, "sizes"),
			json_string_value(json_array_get(paths, i)));

		sizes[i] = size ? json_integer_value(size) : -1;
	}
	enum attach_refusal refusal = attach_decide(json_truth_of(input, "active"), queued, sizes,
		count, (size_t)case_number(input, "limit"),
		(uint64_t)case_number(input, "max_bytes"), &index);
	if (refusal != ATTACH_OK)
		return json_pack(
			"{ss sI}", "error", refusal_code(refusal), "total", (json_int_t)queued);
	return json_pack("{sO sI}", "added", paths, "total", (json_int_t)(queued + count));
}

static const json_t *environment;

static char *get_variable(const char *name)
{
	return (char *)json_string_value(json_object_get(environment, name));
}

static json_t *byte_limit(struct arena *a, const json_t *input)
{
	const json_t *names = json_object_get(input, "names");
	size_t count = json_array_size(names);
	const char **list = arena_array(a, const char *, count);

	for (size_t i = 0; i < count; i++)
		list[i] = json_string_value(json_array_get(names, i));
	environment = json_object_get(input, "env");
	return json_pack("{sI}", "limit", (json_int_t)file_limit_of(list, count, get_variable));
}

static json_t *match_handler(struct arena *a, const json_t *input)
{
	const json_t *file = json_object_get(input, "file"),
		     *handler = json_object_get(input, "handler");

	(void)a;
	bool matches = file ? handler_takes_file(handler, json_text_of(file, "kind"),
				      json_text_of(file, "mimeType"))
			    : handler_takes_text(handler);
	return json_pack("{sb}", "matches", matches);
}

/* -- prompts -------------------------------------------------------------------------------------
 */

static json_t *prompt_text(struct arena *a, const json_t *input)
{
	const json_t *messages = json_object_get(input, "messages");

	return json_pack("{so so}", "prompt_text", json_from_str(message_prompt_text(a, messages)),
		"command_text", json_from_str(message_command_text(a, messages)));
}

/* A turn of the bridge out of the members of a case. */
static json_t *turn_of(struct arena *a, const json_t *input)
{
	const json_t *files = json_object_get(input, "files"), *outputs, *history;
	json_t *paths = json_array(), *earlier = json_array();
	struct str text = case_member(a, input, "rawText");

	if (!text.len)
		text = case_member(a, input, "text");
	if (!text.len)
		text = case_member(a, input, "historyText");
	for (size_t i = 0; i < json_array_size(files); i++) {
		json_t *file = json_array_get(files, i);

		json_array_append(
			paths, json_is_string(file) ? file : json_object_get(file, "path"));
	}
	outputs = json_object_get(input, "handlerOutputs");
	if (!outputs)
		outputs = json_object_get(input, "outputs");
	history = json_object_get(input, "historyTurns");
	if (!history)
		history = json_object_get(input, "history");
	for (size_t i = 0; i < json_array_size(history); i++) {
		json_t *one = json_array_get(history, i);

		json_array_append_new(earlier,
			json_is_string(one) ? json_pack("{sO}", "text", one) : turn_of(a, one));
	}
	json_t *turn = json_pack(
		"{so so so}", "text", json_from_str(text), "files", paths, "history", earlier);
	if (outputs)
		json_object_set(turn, "outputs", (json_t *)outputs);
	return turn;
}

static struct str replaced(struct arena *a, struct str s, const char *phrase, const char *code)
{
	const char *p = memmem(s.p, s.len, phrase, strlen(phrase));

	if (!p)
		return s;
	size_t at = (size_t)(p - s.p);
	return arena_printf(a, "%.*s%s%.*s", STR(str_sub(s, 0, at)), code,
		STR(str_from(s, at + strlen(phrase))));
}

static json_t *turn_prompt(struct arena *a, const json_t *input)
{
	AUTO_JSON *turn = turn_of(a, input);
	AUTO_BUF prompt = BUF_INIT;

	turn_prompt_of(&prompt, turn);
	struct str s = replaced(a, buf_str(&prompt), prompt_history_intro, "<HISTORY_INTRO>");
	s = replaced(a, s, prompt_current_marker, "<CURRENT_MARKER>");
	return json_pack("{so}", "prompt", json_from_str(s));
}

/* With the codes for what is our own wording. */
static struct str summary_code(struct arena *a, const json_t *turn)
{
	switch (turn_summary_kind(turn)) {
	case SUMMARY_FILES:
		return arena_printf(
			a, "#files %zu", json_array_size(json_object_get(turn, "files")));
	case SUMMARY_EMPTY:
		return S("#empty");
	case SUMMARY_TEXT:
	case SUMMARY_FILE:
		break;
	}
	return turn_summary(a, turn);
}

static json_t *summarize(struct arena *a, const json_t *input)
{
	AUTO_JSON *turn = turn_of(a, input);
	/* Without files it is only about cutting a text. */
	bool bare = !json_object_get(input, "files") && turn_summary_kind(turn) == SUMMARY_EMPTY;

	return json_pack("{so}", "summary", json_from_str(bare ? S("") : summary_code(a, turn)));
}

/* The turn whose prompt this is: a text, and files of one directory. */
static json_t *turn_read(struct arena *a, struct str prompt)
{
	static const char mark[] = "\n\n[attachments] ";
	const char *found = memmem(prompt.p, prompt.len, mark, strlen(mark));
	size_t end = found ? (size_t)(found - prompt.p) : prompt.len;
	struct str text = str_sub(prompt, 0, end),
		   rest = found ? str_from(prompt, end + strlen(mark)) : S("");
	size_t line = str_find(rest, '\n', 0);
	struct str dir = str_sub(rest, 0, line);
	json_t *files = json_array();

	while (line < rest.len) {
		size_t next = str_find(rest, '\n', line + 1);
		struct str name = str_sub(rest, line + 1, next - line - 1);

		json_array_append_new(files, json_from_str(arena_printf(a, "%.*s%.*s", STR(dir),
						     STR(str_from(name, strlen("- "))))));
		line = next;
	}
	return json_pack("{so so}", "text", json_from_str(str_from(text, strlen("[telegram]"))),
		"files", files);
}

static json_t *edit_turn(struct arena *a, const json_t *input)
{
	const json_t *ids = json_object_get(input, "queued_ids"),
		     *edited = json_object_get(input, "edited_id");
	bool known = !ids;

	for (size_t i = 0; i < json_array_size(ids); i++)
		known = known || json_equal(json_array_get(ids, i), edited);
	if (!known)
		return json_pack("{sb}", "changed", 0);
	struct str text = case_member(a, input, "new_text");
	AUTO_JSON *turn = turn_read(a, case_member(a, input, "queued_prompt"));
	AUTO_BUF prompt = BUF_INIT;

	/* As the bridge does it: the turn gets another text, and the prompt is made of the turn. */
	json_object_set_new(turn, "text", json_from_str(text));
	turn_prompt_of(&prompt, turn);
	return json_pack("{so so sb}", "prompt", json_from_str(buf_str(&prompt)), "summary",
		json_from_str(turn_summary(a, turn)), "changed", 1);
}

/* -- prompt templates ----------------------------------------------------------------------------
 */

static bool is_reserved(void *data, struct str name)
{
	const json_t *reserved = data;

	for (size_t i = 0; i < json_array_size(reserved); i++)
		if (str_eq(json_str(json_array_get(reserved, i)), name))
			return true;
	return false;
}

static struct str *strings_of(struct arena *a, const json_t *list)
{
	struct str *strings = arena_array(a, struct str, json_array_size(list));

	for (size_t i = 0; i < json_array_size(list); i++)
		strings[i] = json_str(json_array_get(list, i));
	return strings;
}

static json_t *template_names(struct arena *a, const json_t *input)
{
	const json_t *templates = json_object_get(input, "templates");
	struct template_command *commands;

	if (!templates)
		return json_pack("{so}", "command",
			case_str_or_null(template_command_name(a, case_member(a, input, "name"))));
	size_t count = template_commands(a, strings_of(a, templates), json_array_size(templates),
		is_reserved, json_object_get(input, "reserved"), &commands);
	json_t *list = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(
			list, json_pack("{so sI}", "command", json_from_str(commands[i].name),
				      "path_index", (json_int_t)commands[i].index));
	return json_pack("{so}", "commands", list);
}

static json_t *template_args(struct arena *a, const json_t *input)
{
	json_t *list = json_array();
	struct str *words;
	size_t count = template_words(a, case_member(a, input, "args"), &words);

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_from_str(words[i]));
	return json_pack("{so}", "list", list);
}

static json_t *template_text(struct arena *a, const json_t *input)
{
	const json_t *args = json_object_get(input, "args");
	AUTO_BUF text = BUF_INIT;

	if (json_object_get(input, "file"))
		template_expand(&text, template_body(case_member(a, input, "file")),
			case_member(a, input, "args_text"));
	else
		template_substitute(&text, case_member(a, input, "template"), strings_of(a, args),
			json_array_size(args));
	return json_pack("{so}", "text", json_from_str(buf_str(&text)));
}

/* -- redaction -----------------------------------------------------------------------------------
 */

/* A copy of a value with <i> as a number. */
static json_t *numbered(struct arena *a, const json_t *value, long i)
{
	if (json_is_string(value)) {
		struct str s = json_str(value), number = arena_printf(a, "%ld", i);
		const char *p = memmem(s.p, s.len, "<i>", 3);

		if (str_eq(s, S("<i>")))
			return json_integer(i);
		if (!p)
			return json_from_str(s);
		size_t at = (size_t)(p - s.p);
		return json_from_str(arena_printf(a, "%.*s%.*s%.*s", STR(str_sub(s, 0, at)),
			STR(number), STR(str_from(s, at + 3))));
	}
	if (!json_is_object(value))
		return json_incref((json_t *)value);
	json_t *copy = json_object(), *member;
	const char *name;
	json_object_foreach((json_t *)value, name, member)
		json_object_set_new(copy, name, numbered(a, member, i));
	return copy;
}

static json_t *redact_text(struct arena *a, const json_t *input)
{
	struct str token = json_text_of(input, "token");
	size_t size = (size_t)case_number(input, "ring_size");
	AUTO_BUF text = BUF_INIT;
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)input, name, value)
	{
		json_t *ring = json_array();
		long times;

		if (sscanf(name, "record_%ld_times", &times) != 1) {
			json_decref(ring);
			continue;
		}
		for (long i = 0; i < times; i++) {
			AUTO_JSON *event = numbered(a, value, i);

			json_array_append_new(ring, redact_json(event, token));
			if (json_array_size(ring) > size)
				json_array_remove(ring, 0);
		}
		return json_pack("{so}", "events_oldest_first", ring);
	}
	redact(&text, case_member(a, input, "message"), token);
	return json_pack("{so}", "message", json_from_str(buf_str(&text)));
}

/* -- the lock ------------------------------------------------------------------------------------
 */

static bool pid_alive(const json_t *pids, int64_t pid)
{
	for (size_t i = 0; i < json_array_size(pids); i++)
		if (json_integer_value(json_array_get(pids, i)) == pid)
			return true;
	return false;
}

static const char *lock_state_name(enum lock_state state)
{
	switch (state) {
	case LOCK_STATE_INACTIVE:
		return "inactive";
	case LOCK_STATE_HERE:
		return "active-here";
	case LOCK_STATE_ELSEWHERE:
		return "active-elsewhere";
	case LOCK_STATE_STALE:
		return "stale";
	}
	return "?";
}

static json_t *take_lock(struct arena *a, const json_t *input)
{
	static const char key[] = "roux-telegram";
	json_t *entry = json_object_get(input, "entry");
	AUTO_JSON *registry = json_pack("{s{si}}", "other", "pid", 4);
	struct str cwd = case_member(a, input, "my_cwd");
	int64_t me = case_number(input, "my_pid");

	if (!json_is_null(entry))
		json_object_set(registry, key, entry);
	struct lock_entry e = lock_entry_read(entry), mine = { .pid = me, .cwd = cwd };
	enum lock_state state =
		lock_state(e.pid, me, pid_alive(json_object_get(input, "live_pids"), e.pid));
	bool ok = lock_may_take(state, json_truth_of(input, "force"));
	AUTO_JSON *after = ok ? lock_registry(registry, key, &mine) : json_incref(registry);
	bool kept = json_equal(json_object_get(after, "other"), json_object_get(registry, "other"));
	json_t *ret = json_pack("{ss sb sb sb sb}", "state", lock_state_name(state), "owns",
		lock_owns(&e, &mine), "acquire_ok", ok, "replaced_stale",
		ok && state == LOCK_STATE_STALE, "other_keys_kept", kept);
	json_object_set(ret, "entry_after", json_object_get(after, key));
	return ret;
}

/* -- polling -------------------------------------------------------------------------------------
 */

struct poll_case {
	const json_t *failures; /* how often the handler of an update fails */
	json_t *handled, *skipped, *attempts;
	json_t *requests, *sleeps;
};

static void handle(struct arena *a, struct poll_case *p, int64_t id)
{
	char *key = arena_cstr(a, arena_printf(a, "%lld", (long long)id));
	json_int_t fails = json_integer_value(json_object_get(p->failures, key));
	unsigned attempts = 0;
	bool again = true, ok = false;

	/* From the journal, and nothing after it before that is settled. */
	while (again && !ok) {
		ok = (json_int_t)attempts++ >= fails;
		again = ok || polling_again(attempts);
	}
	json_object_set_new(p->attempts, key, json_integer(attempts));
	json_array_append_new(ok ? p->handled : p->skipped, json_integer(id));
}

static void poll_once(
	struct arena *a, struct poll_case *p, struct polling *state, const json_t *answer)
{
	struct poll_request r = polling_request(state, 0);
	const json_t *updates = json_object_get(answer, "updates");
	size_t count = json_array_size(updates);
	bool sync = !state->synced;

	json_array_append_new(
		p->requests, json_pack("{so si si}", "offset",
				     r.has_offset ? json_integer(r.offset) : json_null(), "limit",
				     r.limit, "timeout", r.timeout_s));
	if (!updates) {
		json_array_append_new(p->sleeps, json_integer(POLL_PAUSE_MS));
		return;
	}
	if (sync) {
		int64_t newest = count ? json_integer_value(json_array_get(updates, count - 1)) : 0;

		polling_synced(state, count ? &newest : NULL, 0);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		int64_t id = json_integer_value(json_array_get(updates, i));

		if (polling_take(state, id, 0))
			handle(a, p, id);
	}
}

static json_t *poll_updates(struct arena *a, const json_t *input)
{
	const json_t *script = json_object_get(input, "script");
	struct poll_case p = { .failures = json_object_get(input, "handler_failures"),
		.handled = json_array(),
		.skipped = json_array(),
		.attempts = json_object(),
		.requests = json_array(),
		.sleeps = json_array() };
	struct polling state;
	int64_t stored;
	bool has = json_whole(json_object_get(input, "stored_last_update_id"), &stored);

	polling_init(&state, has ? &stored : NULL, 0);
	for (size_t i = 0; i < json_array_size(script); i++)
		poll_once(a, &p, &state, json_array_get(script, i));
	json_t *ret = json_pack(
		"{so so so}", "handled", p.handled, "skipped", p.skipped, "attempts", p.attempts);
	json_object_set_new(
		ret, "last_update_id", state.has_last ? json_integer(state.last) : json_null());
	if (!json_object_size(p.failures)) {
		json_object_set_new(ret, "first_call", json_string("deleteWebhook"));
		json_object_set(ret, "requests", p.requests);
		json_object_set(ret, "sleeps_ms", p.sleeps);
	}
	json_decref(p.requests);
	json_decref(p.sleeps);
	return ret;
}

static const struct kind list[] = {
	{ "media-files", name_media, NULL },
	{ "attachments", attach, NULL },
	{ "byte-limit-env", byte_limit, NULL },
	{ "inbound-match", match_handler, NULL },
	{ "prompt-text", prompt_text, NULL },
	{ "turn-prompt", turn_prompt, NULL },
	{ "turn-edit", edit_turn, NULL },
	{ "queue-summary", summarize, NULL },
	{ "prompt-template-names", template_names, NULL },
	{ "prompt-template-args", template_args, NULL },
	{ "prompt-template-substitute", template_text, NULL },
	{ "redaction", redact_text, NULL },
	{ "locks", take_lock, NULL },
	{ "polling", poll_updates, NULL },
};
const struct kinds kinds_of_files = { list, ARRAY_SIZE(list) };
