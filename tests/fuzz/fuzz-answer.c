/* JSON in the answers of agents. Input: the answer. */
#include "base/utf8.h"
#include "data/json-scan.h"
#include "steps/language/answer.h"
#include "steps/language/value.h"

#include "fuzz.h"

/* What is found is what trying every bracket for itself finds. */
static void scan(struct str text)
{
	struct json_finder quick;
	size_t begin = 0, end = 0, from = 0;

	json_finder_init(&quick, text);
	for (bool more = true; more; from = begin + 1) {
		more = json_finder_next(&quick, from, &begin, &end);
		if (!more)
			begin = text.len;
		else
			HOLDS(begin >= from && end > begin + 1 && end <= text.len);
		for (size_t i = from; i < begin; i++)
			HOLDS((text.p[i] != '[' && text.p[i] != '{') || !json_scan_value(text, i));
		if (more)
			HOLDS(json_scan_value(text, begin) == end);
	}
	json_finder_done(&quick);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = fuzz_str(data, size);
	AUTO_REPORT r = REPORT_INIT;
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_BUF shown = BUF_INIT;

	if (text.len < 1024)
		scan(text);
	AUTO_JSON *whole = step_value_from_json(text, S("answer"), &ignored);
	AUTO_JSON *value = answer_json(text, S("answer"), &r);
	HOLDS(!value == (r.errors == 1) && r.issues.len == r.errors);
	if (whole)
		HOLDS(value && json_equal(value, whole));
	struct str answer = answer_text(text);
	HOLDS(answer.p == text.p && answer.len + str_ends(text, S("\n")) == text.len);
	report_text(&r, REPORT_ALL, &shown);
	HOLDS(utf8_valid(buf_str(&shown)));
	return 0;
}
