/* What a browser or an attacker sends: path, query, form, cookie, range and lists, with 0x1e
 * between them. Whatever is taken is text, and coding it again gives the same. */
#include "base/utf8.h"
#include "http/decode.h"

#include "fuzz.h"

static void check_text(struct arena *a, struct str text, enum decode_place place)
{
	AUTO_BUF coded = BUF_INIT;
	struct str plain, again;

	if (!decode_text(a, text, place, &plain))
		return;
	HOLDS(utf8_valid(plain) && plain.len <= text.len);
	for (size_t i = 0; i < plain.len; i++) {
		HOLDS(plain.p[i] && (place != DECODE_SEGMENT || plain.p[i] != '/'));
		buf_printf(&coded, "%%%02x", (unsigned char)plain.p[i]);
	}
	HOLDS(decode_text(a, buf_str(&coded), place, &again) && str_eq(again, plain));
}

static void check_fields(struct arena *a, struct str text, enum decode_place place)
{
	http_field_vec f = { 0 };

	(void)decode_fields(a, text, place, &f);
	HOLDS(f.len <= HTTP_FIELDS_MAX);
	vec_each (one, &f)
		HOLDS(utf8_valid(one->name) && utf8_valid(one->value));
	vec_done(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str rest = fuzz_str(data, size);
	struct str segments[HTTP_SEGMENTS_MAX], value;
	struct arena a = ARENA_INIT;
	uint64_t from = 0, to = 0;
	size_t count = 0;

	struct str path = fuzz_first(&rest), query = fuzz_first(&rest), cookie = fuzz_first(&rest),
		   range = fuzz_first(&rest);
	check_text(&a, path, DECODE_SEGMENT);
	check_text(&a, query, DECODE_QUERY);
	check_text(&a, query, DECODE_FORM);
	if (decode_path(&a, path, segments, &count))
		HOLDS(count > 0 && count <= HTTP_SEGMENTS_MAX);
	check_fields(&a, query, DECODE_QUERY);
	check_fields(&a, query, DECODE_FORM);
	if (decode_cookie(cookie, S("roux_7689"), &value))
		HOLDS(value.p >= cookie.p && value.p + value.len <= cookie.p + cookie.len);
	if (decode_range(range, 1000, &from, &to) == RANGE_PART)
		HOLDS(from < to && to <= 1000);
	(void)decode_etags(rest, S("\"a\""));
	(void)decode_lists(rest, S("text/html"));
	(void)decode_is_token(rest);
	(void)decode_is_visible(rest);
	arena_done(&a);
	return 0;
}
