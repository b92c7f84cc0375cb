/* A member of a JSON object is changed as text: of JSON it makes JSON with that member and all
 * others as they were. Input: the text, the name and the value with 0x1e between them. */
#include "data/edit.h"

#include "base/utf8.h"
#include "data/json.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str rest = fuzz_str(data, size), text = fuzz_first(&rest), name = fuzz_first(&rest);
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF once = BUF_INIT;
	AUTO_BUF twice = BUF_INIT;
	AUTO_JSON *value = json_read(&(struct source){ S("value"), rest }, &r);
	AUTO_JSON *before = json_read(&(struct source){ S("before"), text }, &r);

	/* Those two are of roux's own making. */
	if (!value || str_starts(rest, S("\xEF\xBB\xBF")) || !utf8_valid(name) ||
		str_find(name, '\0', 0) < name.len)
		return 0;
	bool set = edit_set_member(text, name, rest, &once);
	HOLDS(set || !once.len);
	if (!json_is_object(before))
		return 0; /* it need not notice every mistake */
	HOLDS(set);
	AUTO_JSON *after = json_read(&(struct source){ S("after"), buf_str(&once) }, &r);
	HOLDS(json_is_object(after));
	json_object_setn_nocheck(before, name.p, name.len, value);
	HOLDS(json_equal(before, after));
	HOLDS(edit_set_member(buf_str(&once), name, rest, &twice));
	HOLDS(str_eq(buf_str(&once), buf_str(&twice)));
	return 0;
}
