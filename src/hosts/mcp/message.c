#include "hosts/mcp/message.h"

#include "base/lang.h"
#include "base/utf8.h"
#include "data/json-scan.h"

void message_done(struct message *m)
{
	json_decref(m->root);
	buf_done(&m->reason);
	*m = (struct message){ 0 };
}

static struct str without_mark(struct str text)
{
	return str_starts(text, S("\xEF\xBB\xBF")) ? str_from(text, 3) : text;
}

struct str message_raw(struct str text, struct str name)
{
	struct str found = S("");
	size_t at;

	text = without_mark(text);
	at = json_scan_blank(text, 0);
	if (at >= text.len || text.p[at] != '{')
		return found;
	for (;;) {
		AUTO_BUF key = BUF_INIT;
		size_t begin = json_scan_blank(text, at + 1);
		size_t end = begin < text.len ? json_scan_string(text, begin) : 0;

		if (!end)
			return found;
		json_scan_decode(text, begin, &key);
		at = json_scan_blank(text, end);
		if (at >= text.len || text.p[at] != ':')
			return found;
		begin = json_scan_blank(text, at + 1);
		end = begin < text.len ? json_scan_value(text, begin) : 0;
		if (!end)
			return found;
		if (str_eq(buf_str(&key), name))
			found = str_sub(text, begin, end - begin);
		at = json_scan_blank(text, end);
		if (at >= text.len || text.p[at] != ',')
			return found;
	}
}

bool message_is_id(struct str raw)
{
	size_t at = raw.len && raw.p[0] == '-';

	if (raw.len && raw.p[0] == '"')
		return true;
	if (at == raw.len)
		return false;
	for (; at < raw.len; at++)
		if (!ascii_digit(raw.p[at]))
			return false;
	return true;
}

static void PRINTF(3, 4) refuse(struct message *m, enum rpc_error code, const char *fmt, ...)
{
	va_list args;

	m->kind = MESSAGE_BAD;
	m->code = code;
	va_start(args, fmt);
	buf_vprintf(&m->reason, fmt, args);
	va_end(args);
}

static void read_kind(struct message *m, struct str text, const struct message_limits *limits)
{
	const json_t *method = json_object_get(m->root, "method");
	const json_t *id = json_object_get(m->root, "id");
	struct str params = message_raw(text, S("params"));

	m->params = json_object_get(m->root, "params");
	if (!str_eq(json_text_of(m->root, "jsonrpc"), S("2.0"))) {
		refuse(m, RPC_REQUEST, "\"jsonrpc\" has to be \"2.0\"");
	} else if (id && !m->id.len) {
		refuse(m, RPC_REQUEST, "\"id\" has to be a string or an integer, found %s",
			json_kind(id));
	} else if (!method && id &&
		   (json_object_get(m->root, "result") || json_object_get(m->root, "error"))) {
		m->kind = MESSAGE_RESPONSE;
	} else if (!json_is_string(method)) {
		refuse(m, RPC_REQUEST, "\"method\" has to be a string");
	} else if (m->params && !json_is_object(m->params)) {
		refuse(m, RPC_REQUEST, "\"params\" has to be an object, found %s",
			json_kind(m->params));
	} else if (message_raw(params, S("arguments")).len > limits->arguments) {
		refuse(m, RPC_REQUEST, "\"arguments\" is longer than %zu bytes", limits->arguments);
	} else {
		struct str token = message_raw(message_raw(params, S("_meta")), S("progressToken"));

		m->kind = id ? MESSAGE_REQUEST : MESSAGE_NOTIFICATION;
		m->method = json_str(method);
		if (message_is_id(token))
			m->progress_token = token;
	}
}

static bool is_json(struct str text)
{
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_JSON *value = json_read(&(struct source){ S("the id"), text }, &ignored);

	return value != NULL;
}

void message_read(struct str text, const struct message_limits *limits, struct message *ret)
{
	AUTO_REPORT issues = REPORT_INIT;
	struct source source = { S("the message"), text };
	size_t depth = json_scan_depth(text);

	*ret = (struct message){ 0 };
	if (depth <= limits->depth)
		ret->root = json_read(&source, &issues);
	struct str id = utf8_valid(text) ? message_raw(text, S("id")) : S("");
	/* Of a message that cannot be read, it may be the id that is at fault. */
	if (message_is_id(id) && (ret->root || is_json(id)))
		ret->id = id;
	if (depth <= limits->depth && !ret->root)
		refuse(ret, RPC_PARSE, "%.*s", STR(issues.issues.at[0].message));
	else if (depth > limits->depth)
		refuse(ret, RPC_REQUEST, "the message is nested more than %zu levels deep",
			limits->depth);
	else if (json_is_array(ret->root))
		refuse(ret, RPC_REQUEST, "batches are not accepted: send one message a line");
	else if (!json_is_object(ret->root))
		refuse(ret, RPC_REQUEST, "a message has to be an object, found %s",
			json_kind(ret->root));
	else
		read_kind(ret, text, limits);
}
