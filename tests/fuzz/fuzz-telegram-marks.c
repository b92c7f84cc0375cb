/* Comments, templates and streams of an agent: whatever it writes, nothing is made up. */
#include "hosts/telegram/text/jsonl.h"
#include "hosts/telegram/text/marks.h"
#include "hosts/telegram/text/prompt-template.h"
#include "hosts/telegram/text/redact.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str all = fuzz_str(data, size), text = fuzz_first(&all), args = fuzz_first(&all);
	struct jsonl_stream stream = { 0 };
	struct arena a = ARENA_INIT;
	AUTO_BUF expanded = BUF_INIT;
	AUTO_BUF hidden = BUF_INIT;
	struct marks m, again;

	marks_read(&a, text, &m);
	HOLDS(m.text.len <= text.len);
	for (size_t i = 0; i < m.button_count; i++)
		HOLDS(m.buttons[i].label.len && m.buttons[i].prompt.len);
	for (size_t i = 0; i < m.voice_count; i++)
		HOLDS(m.voices[i].text.len);
	marks_read(&a, m.text, &again);
	HOLDS(marks_hide(&a, text).len <= text.len);
	template_expand(&expanded, template_body(text), args);
	HOLDS(template_command_name(&a, text).len <= TEMPLATE_NAME_BYTES);
	redact(&hidden, text, args);
	for (size_t i = 0; i < text.len; i++)
		jsonl_feed(&stream, str_sub(text, i, 1));
	(void)jsonl_final(&stream);
	jsonl_done(&stream);
	arena_done(&a);
	return 0;
}
