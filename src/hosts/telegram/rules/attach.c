#include "hosts/telegram/rules/attach.h"

#include <math.h>
#include <stdlib.h>

#include "base/lang.h"
#include "base/utf8.h"

enum attach_refusal attach_decide(bool turn, size_t attached, const int64_t *sizes, size_t count,
	size_t max_count, uint64_t max_bytes, size_t *ret_index)
{
	if (!turn)
		return ATTACH_NO_TURN;
	if (attached + count > max_count)
		return ATTACH_TOO_MANY;
	for (size_t i = 0; i < count; i++) {
		bool small = sizes[i] >= 0 && (uint64_t)sizes[i] <= max_bytes;

		if (small)
			continue;
		if (ret_index)
			*ret_index = i;
		return sizes[i] < 0 ? ATTACH_NOT_A_FILE : ATTACH_TOO_LARGE;
	}
	return ATTACH_OK;
}

const char *attach_refusal_code(enum attach_refusal refusal)
{
	static const char *const codes[] = {
		[ATTACH_OK] = "",
		[ATTACH_NO_TURN] = "no_active_turn",
		[ATTACH_TOO_MANY] = "count_limit",
		[ATTACH_NOT_A_FILE] = "not_a_file",
		[ATTACH_TOO_LARGE] = "size_limit",
	};

	return codes[refusal];
}

bool attach_is_photo(struct str path)
{
	static const char *const endings[] = { ".jpg", ".jpeg", ".png", ".webp", ".gif" };

	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		size_t n = strlen(endings[i]);

		if (path.len >= n &&
			str_eq_nocase(str_from(path, path.len - n), str_of(endings[i])))
			return true;
	}
	return false;
}

const char *attach_method(struct str path)
{
	return attach_is_photo(path) ? "sendPhoto" : "sendDocument";
}

const char *attach_field(struct str path)
{
	return attach_is_photo(path) ? "photo" : "document";
}

static bool whole_number(const char *text, uint64_t *ret)
{
	struct str s = utf8_trim(str_of(text));
	char *end;

	if (!s.len)
		return false;
	double value = strtod(s.p, &end);
	if (end != s.p + s.len || !(value >= 1) || value > 9007199254740991.0 ||
		value != floor(value))
		return false;
	*ret = (uint64_t)value;
	return true;
}

uint64_t file_limit_of(const char *const *names, size_t count, char *(*get)(const char *name))
{
	uint64_t bytes;

	for (size_t i = 0; i < count; i++)
		if (whole_number(get(names[i]), &bytes))
			return bytes;
	return FILE_LIMIT_BYTES;
}

uint64_t file_limit(enum file_limit_kind kind, char *(*get)(const char *name))
{
	static const char *const in[] = { "ROUX_TELEGRAM_INBOUND_FILE_MAX_BYTES",
		"PI_TELEGRAM_INBOUND_FILE_MAX_BYTES", "ROUX_TELEGRAM_MAX_FILE_SIZE_BYTES",
		"TELEGRAM_MAX_FILE_SIZE_BYTES" };
	static const char *const out[] = { "ROUX_TELEGRAM_OUTBOUND_ATTACHMENT_MAX_BYTES",
		"PI_TELEGRAM_OUTBOUND_ATTACHMENT_MAX_BYTES",
		"ROUX_TELEGRAM_MAX_ATTACHMENT_SIZE_BYTES", "TELEGRAM_MAX_ATTACHMENT_SIZE_BYTES" };

	return kind == FILE_LIMIT_INBOUND ? file_limit_of(in, ARRAY_SIZE(in), get)
					  : file_limit_of(out, ARRAY_SIZE(out), get);
}
