#include "runs/mail/message.h"

#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/hex.h"
#include "base/utf8.h"

/* -- grammar -------------------------------------------------------------------------------------
 */

static bool letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool token_char(char c)
{
	return letter(c) || ascii_digit(c) || c == '_' || c == '.' || c == '-';
}

static bool token(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!token_char(s.p[i]))
			return false;
	return s.len > 0;
}

bool message_type_valid(struct str type)
{
	for (size_t i = 0; i < type.len; i++)
		if (!token_char(type.p[i]) && type.p[i] != ':')
			return false;
	return type.len && letter(type.p[0]);
}

bool message_type_check(struct str type, struct report *r)
{
	if (message_type_valid(type))
		return true;
	struct str shown = report_quote(r, type);
	report_error(r, (struct where){ 0 }, "'%.*s' is not a message type", STR(shown));
	return report_hint(r, "a letter, then letters, digits, _ . : and -, such as task.assign");
}

/* What stands before the colon, by enum address_kind. */
static const struct str prefixes[] = {
	[ADDRESS_RUN] = { "run:", 4 },
	[ADDRESS_BRANCH] = { "branch:", 7 },
	[ADDRESS_ROOM] = { "room:", 5 },
	[ADDRESS_COORDINATOR] = { "coordinator", 11 },
	[ADDRESS_SESSION] = { "session:", 8 },
	[ADDRESS_TOOL] = { "tool:", 5 },
};

bool address_read(struct str text, struct address *ret)
{
	struct address a = { 0 };

	for (size_t kind = 0; kind < ARRAY_SIZE(prefixes); kind++) {
		if (!str_starts(text, prefixes[kind]))
			continue;
		a.kind = (enum address_kind)kind;
		a.name = str_from(text, prefixes[kind].len);
		if (a.kind == ADDRESS_BRANCH) {
			size_t slash = str_find(a.name, '/', 0);

			if (slash == a.name.len)
				return false;
			a.branch = str_from(a.name, slash + 1);
			a.name.len = slash;
			if (!token(a.branch))
				return false;
		}
		if (a.kind == ADDRESS_COORDINATOR ? a.name.len > 0 : !token(a.name))
			return false;
		*ret = a;
		return true;
	}
	return false;
}

bool address_check(struct str text, const char *what, struct address *ret, struct report *r)
{
	if (address_read(text, ret))
		return true;
	struct str shown = report_quote(r, text);
	report_error(r, (struct where){ 0 }, "%s: '%.*s' is not an address", what, STR(shown));
	return report_hint(r,
		"run:ID, branch:RUN/BRANCH, room:RUN, coordinator, session:ID or tool:NAME, of "
		"letters, digits, _ . and -");
}

/* -- parts of a message --------------------------------------------------------------------------
 */

void message_id(struct buf *b)
{
	static _Thread_local unsigned long long random;

	/* The time makes them sort, the random bits make them unique, counting on keeps them so. */
	if (!random)
		(void)!getrandom(&random, sizeof(random), 0);
	/* There is one for each command that ends, so without printf(). */
	char text[] = "m...........-................";
	hex_number(clock_real_ms(), 11, text + 1);
	text[12] = '-';
	hex_number(++random, 16, text + 13);
	buf_adds(b, text);
}

static void body_text(struct buf *b, const json_t *body)
{
	if (json_is_string(body))
		buf_add(b, json_str(body));
	else if (body)
		json_write(b, body, 0);
}

size_t message_body_bytes(const json_t *body)
{
	AUTO_BUF text = BUF_INIT;

	if (json_is_string(body))
		return json_string_length(body);
	body_text(&text, body);
	return text.len;
}

void message_preview(struct buf *b, const json_t *message)
{
	AUTO_BUF text = BUF_INIT;

	body_text(&text, json_object_get(message, "body"));
	struct str shown = utf8_cut(buf_str(&text), MESSAGE_PREVIEW - strlen("…"));
	buf_add(b, text.len <= MESSAGE_PREVIEW ? buf_str(&text) : shown);
	if (text.len > MESSAGE_PREVIEW)
		buf_adds(b, "…");
}

static bool is_run_message(const json_t *message)
{
	const json_t *type = json_object_get(message, "type");

	return json_is_string(type) && str_eq(json_str(type), S("run.message"));
}

/* A text with a line's end in it would be two messages, one with a NUL is none for a shell. */
static bool one_line(struct str text)
{
	return str_find(text, '\n', 0) == text.len && str_find(text, '\r', 0) == text.len &&
	       str_find(text, '\0', 0) == text.len;
}

/* What the inbox adds to the envelope, and the program has no use for. */
static bool is_bookkeeping(const char *name)
{
	struct str n = str_of(name);

	return str_eq(n, S("status")) || str_ends(n, S("_at"));
}

void message_program_line(struct buf *b, const json_t *message)
{
	const json_t *body = json_object_get(message, "body");
	bool first = true;
	const char *name;
	json_t *value;

	if (is_run_message(message)) {
		if (!json_is_string(body) || one_line(json_str(body)))
			body_text(b, body);
		else
			json_write(b, body, 0);
		return;
	}
	json_object_foreach((json_t *)message, name, value)
	{
		if (is_bookkeeping(name))
			continue;
		json_member(b, name, &first);
		json_write(b, value, 0);
	}
	buf_adds(b, first ? "{}" : "}");
}

bool message_is_stop(const json_t *message)
{
	static const struct str words[] = { { "stop", 4 }, { "cancel", 6 }, { "quit", 4 },
		{ "exit", 4 } };
	const json_t *body = json_object_get(message, "body");

	if (!is_run_message(message) || !json_is_string(body))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (str_eq(str_trim(json_str(body)), words[i]))
			return true;
	return false;
}
