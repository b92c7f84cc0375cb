/* Splitting: every byte of every word comes from the line, in order, and can be located in it. */
#include "base/utf8.h"
#include "template/words.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str line = fuzz_str(data, size);
	struct arena a = ARENA_INIT;
	struct word *words;
	size_t count = words_split(&a, line, &words), all = 0;
	bool valid = utf8_valid(line);

	for (size_t w = 0; w < count; w++) {
		struct str text = words[w].text;
		size_t last = 0;

		HOLDS(text.p);
		HOLDS(text.len || words[w].quoted);
		HOLDS(!valid || utf8_valid(text));
		all += text.len;
		/* Locating splits again each time: long words are sampled. */
		for (size_t at = 0; at < text.len; at += 1 + text.len / 16) {
			size_t found = words_locate(line, w, at);

			HOLDS(found < line.len && line.p[found] == text.p[at]);
			HOLDS(at == 0 || found > last);
			last = found;
		}
		HOLDS(words_locate(line, w, text.len + 1) <= line.len);
		if (w > 64)
			break;
	}
	HOLDS(count > 64 || all <= line.len);
	HOLDS(words_locate(line, count, 0) <= line.len);
	arena_done(&a);
	return 0;
}
