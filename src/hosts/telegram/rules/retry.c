#include "hosts/telegram/rules/retry.h"

#include "base/lang.h"
#include "base/number.h"

bool api_repeatable(struct str method)
{
	static const char *const methods[] = { "getMe", "getUpdates", "deleteWebhook",
		"setMyCommands", "answerCallbackQuery", "sendChatAction", "editMessageText",
		"deleteMessage", "getFile" };

	for (size_t i = 0; i < ARRAY_SIZE(methods); i++)
		if (str_eq(str_of(methods[i]), method))
			return true;
	return false;
}

static bool has_nocase(struct str text, const char *part)
{
	size_t n = strlen(part);

	for (size_t i = 0; i + n <= text.len; i++)
		if (str_eq_nocase(str_sub(text, i, n), (struct str){ part, n }))
			return true;
	return false;
}

/* What a 400 complains of. Telegram has no codes for it, only sentences. */
static enum api_class bad_request(struct str method, struct str why)
{
	static const struct {
		const char *part;
		enum api_class class;
	} known[] = {
		{ "message is not modified", API_UNCHANGED },
		{ "can't parse entities", API_PARSE_ENTITIES },
		{ "message to edit not found", API_MESSAGE_GONE },
		{ "message can't be edited", API_MESSAGE_GONE },
		{ "MESSAGE_ID_INVALID", API_MESSAGE_GONE },
		{ "message is too long", API_TOO_LONG },
		{ "MESSAGE_TOO_LONG", API_TOO_LONG },
		{ "BUTTON_DATA_INVALID", API_KEYBOARD },
		{ "BUTTON_", API_KEYBOARD },
		{ "reply markup", API_KEYBOARD },
		{ "inline keyboard", API_KEYBOARD },
		{ "keyboard", API_KEYBOARD },
		{ "query is too old", API_QUERY_OLD },
		{ "query ID is invalid", API_QUERY_OLD },
		{ "file is too big", API_FILE_REFUSED },
		{ "wrong file id", API_FILE_REFUSED },
		{ "wrong file_id", API_FILE_REFUSED },
		{ "invalid file id", API_FILE_REFUSED },
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (has_nocase(why, known[i].part))
			return known[i].class;
	return str_eq(method, S("sendPhoto")) ? API_PHOTO_REFUSED : API_REFUSED;
}

static enum api_class status_class(struct str method, int status, struct str why)
{
	bool asks = str_eq(method, S("getMe")) || str_eq(method, S("getUpdates"));

	switch (status) {
	case 400:
		return bad_request(method, why);
	case 401:
		return API_TOKEN_REFUSED;
	case 403:
		return API_BLOCKED;
	case 404:
		return asks ? API_TOKEN_REFUSED : API_REFUSED;
	case 409:
		return has_nocase(why, "webhook") ? API_WEBHOOK : API_CONFLICT;
	case 413:
		return str_eq(method, S("sendPhoto")) ? API_PHOTO_REFUSED : API_REFUSED;
	case 429:
		return API_FLOOD;
	default:
		return status >= 500 ? API_SERVER : API_REFUSED;
	}
}

/* parameters.retry_after, else the header; seconds that may have a fraction. */
static bool read_wait(const struct api_attempt *attempt, uint64_t *ret)
{
	const json_t *after =
		json_object_get(json_object_get(attempt->body, "parameters"), "retry_after");
	double seconds = 0;

	if (json_is_number(after))
		seconds = json_number_value(after);
	if (!(seconds > 0) && !number_plain(str_trim(attempt->retry_header), &seconds))
		return false;
	if (!(seconds > 0))
		return false;
	*ret = seconds > 1e9 ? (uint64_t)1e12 : (uint64_t)(seconds * 1000);
	return true;
}

void api_classify(struct str method, const struct api_attempt *attempt, struct api_answer *ret)
{
	const json_t *body = json_is_object(attempt->body) ? attempt->body : NULL;

	*ret = (struct api_answer){ .status = attempt->status,
		.description = json_text_of(body, "description") };
	if (attempt->unsent || attempt->lost) {
		ret->class = attempt->unsent ? API_UNSENT : API_LOST;
		return;
	}
	if (attempt->status < 200 || attempt->status > 299) {
		ret->class = status_class(method, attempt->status, ret->description);
		ret->has_wait = ret->class == API_FLOOD && read_wait(attempt, &ret->wait_ms);
		return;
	}
	if (!body) {
		ret->class = API_UNREADABLE;
	} else if (!json_is_true(json_object_get(body, "ok"))) {
		ret->class = API_NOT_OK;
	} else {
		ret->result = json_object_get(body, "result");
		ret->class = ret->result ? API_OK : API_NO_RESULT;
	}
}

bool api_retry(struct str method, const struct api_answer *answer, unsigned attempt, unsigned max,
	uint64_t base_delay_ms, uint64_t *ret_wait_ms)
{
	bool flood = answer->class == API_FLOOD;
	bool again = flood || answer->class == API_SERVER || answer->class == API_UNSENT ||
		     (answer->class == API_LOST && api_repeatable(method));
	unsigned doublings = attempt ? MIN(attempt - 1, 20u) : 0;
	uint64_t wait = base_delay_ms << doublings;

	if (!again || attempt >= max)
		return false;
	if (flood && answer->has_wait)
		wait = answer->wait_ms;
	if (wait > API_WAIT_MAX_MS)
		return false;
	*ret_wait_ms = wait;
	return true;
}

const char *api_class_word(enum api_class class)
{
	switch (class) {
	case API_OK:
	case API_UNCHANGED:
		return "ok";
	case API_UNREADABLE:
		return "unreadable";
	case API_NOT_OK:
		return "not_ok";
	case API_NO_RESULT:
		return "no_result";
	case API_UNSENT:
	case API_LOST:
		return "network";
	case API_PARSE_ENTITIES:
	case API_MESSAGE_GONE:
	case API_TOO_LONG:
	case API_KEYBOARD:
	case API_QUERY_OLD:
	case API_FILE_REFUSED:
	case API_PHOTO_REFUSED:
	case API_BLOCKED:
	case API_TOKEN_REFUSED:
	case API_CONFLICT:
	case API_WEBHOOK:
	case API_FLOOD:
	case API_SERVER:
	case API_REFUSED:
		return "http";
	}
	UNREACHABLE("api class");
}
