#include "hosts/telegram/bridge/transcript.h"

#include "hosts/telegram/bridge/bridge.h"
#include "hosts/telegram/text/marks.h"
#include "hosts/telegram/text/prompt.h"

enum { TURNS = 20, BYTES = 60000, BYTES_MAX = 500000 };

/* Value "transcript": {"left_out": how many turns /compact has dropped, "about": the last of them
 * in a few words, "turns": [{"prompt","answer"}]}. */
#define KEY "transcript"

bool transcript_on(const struct bridge *b)
{
	return str_eq(conf_text(&b->config, "agent.history.mode"), S("transcript"));
}

static json_t *load(struct bridge *b)
{
	json_t *d = store_get(&b->store, KEY);

	if (!json_is_object(d)) {
		json_decref(d);
		d = json_object();
	}
	if (!json_is_array(json_object_get(d, "turns")))
		json_object_set_new(d, "turns", json_array());
	return d;
}

void transcript_lead(struct bridge *b, struct buf *prompt)
{
	AUTO_JSON *d = transcript_on(b) ? load(b) : NULL;
	json_t *turns = json_object_get(d, "turns"), *t;
	long long left_out = json_number_of(d, "left_out");
	AUTO_BUF text = BUF_INIT;
	size_t i;

	if (!json_array_size(turns) && !left_out)
		return;
	buf_adds(&text, "[history] What was said in this chat before, oldest first.");
	if (left_out)
		buf_printf(&text, "\n\n(%lld earlier turn%s left out; the last one: %.*s)",
			left_out, left_out == 1 ? " is" : "s are", STR(json_text_of(d, "about")));
	json_array_foreach(turns, i, t)
	{
		buf_printf(&text, "\n\n%.*s", STR(json_text_of(t, "prompt")));
		buf_printf(&text, "\n\n[answer] %.*s", STR(json_text_of(t, "answer")));
	}
	buf_adds(&text, "\n\n[now]\n");
	buf_add(&text, buf_str(prompt));
	buf_swap(prompt, &text);
}

static size_t size_of(const json_t *turn)
{
	return json_text_of(turn, "prompt").len + json_text_of(turn, "answer").len;
}

/* The oldest go first; the newest one is cut when it alone is too large. */
static void trim(struct bridge *b, json_t *turns)
{
	size_t max_turns = (size_t)MAX(conf_number(&b->config, "agent.history.turns", TURNS), 1);
	size_t max = (size_t)MAX(conf_number(&b->config, "agent.history.bytes", BYTES), 1000);
	size_t bytes = 0, keep = 0, n = json_array_size(turns);

	max = MIN(max, (size_t)BYTES_MAX);
	while (keep < n && keep < max_turns) {
		bytes += size_of(json_array_get(turns, n - 1 - keep));
		if (bytes > max)
			break;
		keep++;
	}
	while (json_array_size(turns) > MAX(keep, 1u))
		json_array_remove(turns, 0);
	json_t *last = json_array_get(turns, 0);
	if (keep || !last)
		return;
	static const char *const parts[] = { "prompt", "answer" };
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		struct str text = json_text_of(last, parts[i]);

		text.len = MIN(text.len, max / 2);
		while (text.len && ((unsigned char)text.p[text.len] & 0xc0) == 0x80)
			text.len--;
		json_object_set_new(last, parts[i], json_from_str(text));
	}
}

bool transcript_add(struct bridge *b, struct str prompt, struct str answer)
{
	if (!transcript_on(b))
		return true;
	struct arena a = ARENA_INIT;
	struct marks marks;
	AUTO_JSON *d = load(b);
	json_t *turns = json_object_get(d, "turns");

	marks_read(&a, answer, &marks);
	json_array_append_new(turns, json_pack("{s:o,s:o}", "prompt", json_from_str(prompt),
					     "answer", json_from_str(str_trim(marks.text))));
	trim(b, turns);
	arena_done(&a);
	return store_set(&b->store, KEY, d);
}

size_t transcript_shorten(struct bridge *b)
{
	struct arena a = ARENA_INIT;
	AUTO_JSON *d = load(b);
	json_t *turns = json_object_get(d, "turns");
	size_t count = json_array_size(turns);

	if (count) {
		AUTO_JSON *last = json_pack("{s:O}", "text",
			json_object_get(json_array_get(turns, count - 1), "prompt"));

		count += (size_t)json_number_of(d, "left_out");
		json_object_set_new(d, "left_out", json_integer((json_int_t)count));
		json_object_set_new(d, "about", json_from_str(turn_summary(&a, last)));
		json_array_clear(turns);
		(void)store_set(&b->store, KEY, d);
	}
	arena_done(&a);
	return count;
}

void transcript_forget(struct bridge *b)
{
	(void)store_delete(&b->store, KEY);
	(void)store_delete(&b->store, "session");
}
