/* Markdown of an agent: every message is HTML that the service takes, and short enough. */
#include "base/buf.h"
#include "hosts/telegram/text/chunk.h"
#include "hosts/telegram/text/preview.h"
#include "hosts/telegram/text/unicode.h"

#include "fuzz.h"

static void check_chunks(struct str text, const struct markdown_options *options)
{
	struct arena a = ARENA_INIT;
	struct chunks chunks;

	chunk_markdown(&a, text, options, &chunks);
	for (size_t i = 0; i < chunks.count; i++) {
		HOLDS(chunks.at[i].len);
		HOLDS(unicode_units(chunks.at[i]) <= MESSAGE_UNITS);
		HOLDS(html_valid(chunks.at[i]));
	}
	arena_done(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = fuzz_str(data, size);
	struct markdown_options narrow = { .narrow_tables = true };
	struct arena a = ARENA_INIT;
	struct chunks plain;
	struct preview p, again;

	check_chunks(text, NULL);
	check_chunks(text, &narrow);
	chunk_plain(&a, text, &plain);
	for (size_t i = 0; i < plain.count; i++)
		HOLDS(unicode_units(plain.at[i]) <= MESSAGE_UNITS);
	if (preview_make(&a, text, NULL, &p)) {
		HOLDS(p.text.len && unicode_units(p.text) <= MESSAGE_UNITS);
		HOLDS(!p.html || html_valid(p.text));
		HOLDS(!preview_make(&a, text, &p, &again));
	}
	arena_done(&a);
	return 0;
}
