#include "app/record/secret-pieces.h"

#include <stdlib.h>

#include "app/record/secrets.h"
#include "data/big.h"

/* -- texts ---------------------------------------------------------------------------------------
 */

/* The name of the longest such secret that `text` begins with; NULL: none. */
static const char *secret_at(const struct launch *l, struct str text, size_t *len)
{
	const char *found = NULL;
	json_t *name;
	size_t i;

	*len = 0;
	json_array_foreach(l->asked.secret_env, i, name)
	{
		struct str secret = json_text_of(l->subject.values, json_string_value(name));

		if (secret.len >= MASK_SHORTEST && secret.len > *len && str_starts(text, secret)) {
			found = json_string_value(name);
			*len = secret.len;
		}
	}
	return found;
}

json_t *secret_in_pieces(const struct launch *l, struct str text)
{
	json_t *pieces = json_array();
	size_t from = 0, at = 0, len;

	while (at < text.len) {
		const char *name = secret_at(l, str_from(text, at), &len);

		if (!name) {
			at++;
			continue;
		}
		json_array_append_new(pieces, json_from_str(str_sub(text, from, at - from)));
		json_array_append_new(pieces, json_pack("{s:s}", "secret", name));
		from = at += len;
	}
	if (!from) {
		json_decref(pieces);
		return json_from_str(text);
	}
	json_array_append_new(pieces, json_from_str(str_from(text, from)));
	return pieces;
}

bool secret_add_whole(const struct launch *l, const json_t *kept, struct buf *text)
{
	bool known = true;
	json_t *piece;
	size_t i;

	if (!json_is_array(kept))
		buf_add(text, json_str(kept));
	json_array_foreach(kept, i, piece)
	{
		const char *name = json_string_value(json_object_get(piece, "secret"));
		const char *value = name ? getenv(secret_variable(l, name)) : NULL;

		buf_add(text, !name ? json_str(piece) : value ? str_of(value) : S(MASKED));
		known &= !name || value;
	}
	return known;
}

/* -- values --------------------------------------------------------------------------------------
 */

/* What stands for a value is an object with one member of these: the pieces of a string, of the
 * digits of a number, and the members of an object as pairs. */
#define TEXT_MEMBER "(text) "
#define DIGITS_MEMBER "(digits) "
#define PAIRS_MEMBER "(members) "

static json_t *standing_for(const char *member, json_t *pieces)
{
	json_t *object = json_object();

	json_object_set_new(object, member, pieces);
	return object;
}

static json_t *text_in_pieces(const struct launch *l, const json_t *string)
{
	json_t *pieces = secret_in_pieces(l, json_str(string));

	return json_is_array(pieces) ? standing_for(TEXT_MEMBER, pieces) : pieces;
}

/* A number that only has the digits of a secret in it is shown as well. */
static json_t *digits_in_pieces(const struct launch *l, const json_t *number)
{
	AUTO_BUF digits = BUF_INIT;
	size_t len;

	json_write_typed(&digits, number, 0);
	if (!secret_at(l, buf_str(&digits), &len) || len < digits.len)
		return json_incref((json_t *)number);
	return standing_for(DIGITS_MEMBER, secret_in_pieces(l, buf_str(&digits)));
}

/* Whether its members cannot keep their names: a secret is in one, or one looks like ours. */
static bool needs_pairs(const struct launch *l, const json_t *object)
{
	const char *name;
	json_t *item;

	json_object_foreach((json_t *)object, name, item)
	{
		AUTO_JSON *pieces = secret_in_pieces(l, str_of(name));

		if (json_is_array(pieces) || *name == '(')
			return true;
	}
	return false;
}

static json_t *object_in_pieces(const struct launch *l, const json_t *object)
{
	bool in_pairs = needs_pairs(l, object);
	json_t *kept = in_pairs ? json_array() : json_object(), *item;
	const char *name;

	json_object_foreach((json_t *)object, name, item)
	{
		json_t *value = secret_value_in_pieces(l, item);

		if (in_pairs)
			json_array_append_new(kept,
				json_pack("[o, o]", secret_in_pieces(l, str_of(name)), value));
		else
			json_object_set_new_nocheck(kept, name, value);
	}
	return in_pairs ? standing_for(PAIRS_MEMBER, kept) : kept;
}

json_t *secret_value_in_pieces(const struct launch *l, const json_t *value)
{
	json_t *kept, *item;
	size_t i;

	if (!json_array_size(l->asked.secret_env))
		return json_incref((json_t *)value);
	if (json_is_number(value) || json_is_big(value))
		return digits_in_pieces(l, value);
	if (json_is_string(value))
		return text_in_pieces(l, value);
	if (json_is_object(value))
		return object_in_pieces(l, value);
	if (!json_is_array(value))
		return json_incref((json_t *)value);
	kept = json_array();
	json_array_foreach(value, i, item)
		json_array_append_new(kept, secret_value_in_pieces(l, item));
	return kept;
}

/* Another secret makes another number, or none at all: a string then. */
static json_t *whole_number(struct str digits)
{
	AUTO_REPORT ignored = REPORT_INIT;
	json_t *number = json_read_big(&(struct source){ S("values.json"), digits }, &ignored);

	return number ? number : json_from_str(digits);
}

static json_t *whole_object(const struct launch *l, const json_t *pairs)
{
	json_t *object = json_object(), *pair;
	size_t i;

	json_array_foreach(pairs, i, pair)
	{
		AUTO_BUF name = BUF_INIT;

		(void)secret_add_whole(l, json_array_get(pair, 0), &name);
		json_object_set_new_nocheck(
			object, buf_cstr(&name), secret_whole_value(l, json_array_get(pair, 1)));
	}
	return object;
}

json_t *secret_whole_value(const struct launch *l, const json_t *kept)
{
	const json_t *text = json_object_get(kept, TEXT_MEMBER);
	const json_t *digits = json_object_get(kept, DIGITS_MEMBER);
	const json_t *pairs = json_object_get(kept, PAIRS_MEMBER);
	AUTO_BUF whole = BUF_INIT;
	const char *name;
	json_t *item, *value;
	size_t i;

	if (text || digits) {
		(void)secret_add_whole(l, text ? text : digits, &whole);
		return text ? json_from_str(buf_str(&whole)) : whole_number(buf_str(&whole));
	}
	if (pairs)
		return whole_object(l, pairs);
	if (!json_is_object(kept) && !json_is_array(kept))
		return json_incref((json_t *)kept);
	value = json_is_array(kept) ? json_array() : json_object();
	json_object_foreach((json_t *)kept, name, item)
		json_object_set_new_nocheck(value, name, secret_whole_value(l, item));
	json_array_foreach(kept, i, item) json_array_append_new(value, secret_whole_value(l, item));
	return value;
}
