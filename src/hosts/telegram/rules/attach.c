#include "hosts/telegram/rules/attach.h"

#include <math.h>
#include <stdlib.h>

#include "base/lang.h"
#include "base/utf8.h"

enum attach_refusal attach_file(int64_t size, uint64_t max_bytes)
{
	return size < 0                     ? ATTACH_NOT_A_FILE
	       : (uint64_t)size > max_bytes ? ATTACH_TOO_LARGE
	       : size == 0                  ? ATTACH_EMPTY
					    : ATTACH_OK;
}

enum attach_refusal attach_decide(bool turn, size_t attached, const int64_t *sizes, size_t count,
	size_t max_count, uint64_t max_bytes, size_t *ret_index)
{
	enum attach_refusal refusal = ATTACH_OK;

	if (!turn)
		return ATTACH_NO_TURN;
	if (attached + count > max_count)
		return ATTACH_TOO_MANY;
	for (size_t i = 0; i < count && refusal == ATTACH_OK; i++) {
		refusal = attach_file(sizes[i], max_bytes);
		*ret_index = i;
	}
	return refusal;
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
