#include "data/big.h"

/* Raw output of a command is kept as a string too, whatever its bytes: a mark of several bytes and
 * nothing but digits behind it is not met by chance. */
#define MARK             \
	S("\xFF\xFE\xFF" \
	  "int:")

json_t *json_big(struct str digits)
{
	AUTO_BUF text = BUF_INIT;

	buf_add(&text, MARK);
	buf_add(&text, digits);
	return json_from_str(buf_str(&text));
}

bool json_is_big(const json_t *value)
{
	if (!json_is_string(value) || !str_starts(json_str(value), MARK))
		return false;
	struct str digits = json_big_digits(value);
	size_t first = digits.len && digits.p[0] == '-';

	for (size_t i = first; i < digits.len; i++)
		if (!ascii_digit(digits.p[i]))
			return false;
	return digits.len > first;
}

struct str json_big_digits(const json_t *value)
{
	return str_from(json_str(value), MARK.len);
}
