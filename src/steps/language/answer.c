#include "steps/language/answer.h"

#include "data/json-scan.h"
#include "steps/language/letters.h"
#include "steps/language/value.h"

struct str answer_text(struct str printed)
{
	return str_ends(printed, S("\n")) ? str_sub(printed, 0, printed.len - 1) : printed;
}

static bool is_empty(const json_t *value)
{
	return (json_is_object(value) && !json_object_size(value)) ||
	       (json_is_array(value) && !json_array_size(value));
}

/* json, JSON, json5, jsonc … */
static bool is_json_language(struct str word)
{
	if (word.len < 4 || !str_eq_nocase(str_sub(word, 0, 4), S("json")))
		return false;
	for (size_t i = 4; i < word.len; i++)
		if ((unsigned char)word.p[i] >= 0x80 || !letter_or_digit((unsigned char)word.p[i]))
			return false;
	return true;
}

/* What stands in the first fenced block, if it is one of JSON or of nothing said. */
static bool fenced(struct str text, struct str *ret)
{
	const struct str fence = S("```");
	const char *begin = text.len ? memmem(text.p, text.len, fence.p, fence.len) : NULL;

	if (!begin)
		return false;
	struct str rest = str_from(text, (size_t)(begin - text.p) + fence.len);
	const char *end = memmem(rest.p, rest.len, fence.p, fence.len);
	if (!end)
		return false;
	struct str block = str_sub(rest, 0, (size_t)(end - rest.p));
	size_t line = str_find(block, '\n', 0);
	if (line < block.len && is_json_language(step_value_trim(str_sub(block, 0, line))))
		block = str_from(block, line);
	else if (str_starts(block, S("json")))
		block = str_from(block, 4);
	*ret = step_value_trim(block);
	return ret->len > 0;
}

/* The value of a fenced block: an object or array at its beginning, or one value that it is. */
static json_t *from_block(struct str block, struct str name)
{
	AUTO_REPORT ignored = REPORT_INIT;

	if (block.p[0] != '{' && block.p[0] != '[')
		return step_value_from_json(block, name, &ignored);
	size_t end = json_scan_value(block, 0);
	return end ? step_value_from_json(str_sub(block, 0, end), name, &ignored) : NULL;
}

/* `refused` gets what is wrong with the first that looks like JSON but cannot be read: too deep, or
 * with a number too large. */
static json_t *from_anywhere(struct str text, struct str name, struct report *refused)
{
	AUTO_REPORT ignored = REPORT_INIT;
	json_t *empty = NULL, *value = NULL;
	size_t begin, end, from = 0;
	struct json_finder f;

	json_finder_init(&f, text);
	while (json_finder_next(&f, from, &begin, &end)) {
		report_reset(&ignored);
		value = step_value_from_json(str_sub(text, begin, end - begin), name,
			refused->errors ? &ignored : refused);
		if (value && !is_empty(value))
			break;
		if (value && !empty)
			empty = json_incref(value);
		json_decref(value);
		value = NULL;
		from = end;
	}
	json_finder_done(&f);
	if (!value)
		return empty;
	json_decref(empty);
	return value;
}

json_t *answer_json(struct str text, struct str name, struct report *r)
{
	struct str whole = step_value_trim(text), block;
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_REPORT refused = REPORT_INIT;
	json_t *value = whole.len ? step_value_from_json(whole, name, &ignored) : NULL;

	if (!value && fenced(whole, &block)) {
		value = from_block(block, name);
		if (value && is_empty(value)) {
			json_decref(value);
			value = NULL;
		}
	}
	if (!value)
		value = from_anywhere(whole, name, &refused);
	if (value)
		return value;
	if (refused.errors) {
		report_move(r, &refused);
		return NULL;
	}
	if (!whole.len) {
		report_error(r, (struct where){ 0 }, "%.*s is empty, not JSON", STR(name));
		return NULL;
	}
	report_error(r, (struct where){ 0 }, "%.*s has no JSON in it: \"%.*s\"", STR(name),
		STR(report_quote(r, whole)));
	report_hint(r, "ask for a JSON object or array, alone or in a ```json block");
	return NULL;
}
