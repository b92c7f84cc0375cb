#include "hosts/telegram/text/redact.h"

void redact(struct buf *b, struct str text, struct str token)
{
	size_t from = 0;

	while (token.len && from < text.len) {
		const char *p = memmem(text.p + from, text.len - from, token.p, token.len);

		if (!p)
			break;
		buf_add(b, str_sub(text, from, (size_t)(p - text.p) - from));
		buf_adds(b, "<redacted-token>");
		from = (size_t)(p - text.p) + token.len;
	}
	buf_add(b, str_from(text, from));
}

bool redact_needs(const json_t *value, struct str token)
{
	const char *name;
	json_t *one;
	size_t i;

	if (!token.len)
		return false;
	if (json_is_string(value))
		return str_contains(json_str(value), token);
	json_array_foreach((json_t *)value, i, one) if (redact_needs(one, token)) return true;
	json_object_foreach((json_t *)value, name,
		one) if (redact_needs(one, token) || str_contains(str_of(name), token)) return true;
	return false;
}

static json_t *redact_object(const json_t *object, struct str token)
{
	json_t *copy = json_object();

	for (void *i = json_object_iter((json_t *)object); i;
		i = json_object_iter_next((json_t *)object, i)) {
		AUTO_BUF name = BUF_INIT;

		redact(&name, str_of(json_object_iter_key(i)), token);
		json_object_set_new_nocheck(
			copy, buf_cstr(&name), redact_json(json_object_iter_value(i), token));
	}
	return copy;
}

json_t *redact_json(const json_t *value, struct str token)
{
	if (json_is_string(value)) {
		AUTO_BUF text = BUF_INIT;

		redact(&text, json_str(value), token);
		return json_from_str(buf_str(&text));
	}
	if (json_is_object(value))
		return redact_object(value, token);
	if (json_is_array(value)) {
		json_t *copy = json_array();

		for (size_t i = 0; i < json_array_size(value); i++)
			json_array_append_new(copy, redact_json(json_array_get(value, i), token));
		return copy;
	}
	return json_incref((json_t *)value);
}
