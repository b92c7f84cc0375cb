/* Lines of a run's directory, which a command of the run can write: of events.jsonl, story.jsonl
 * and orders.jsonl. What is taken of one can be written and says the same again. */
#include "base/arena.h"
#include "base/utf8.h"
#include "data/json.h"
#include "graph/event.h"
#include "runs/dir/orders.h"
#include "runs/dir/story.h"

#include "fuzz.h"

static void check_event(struct str text)
{
	AUTO_REPORT r = REPORT_INIT;
	struct arena a = ARENA_INIT;
	AUTO_BUF once = BUF_INIT;
	AUTO_BUF twice = BUF_INIT;
	struct event e, back;
	AUTO_JSON *object = json_read(&(struct source){ S("line"), text }, &r);

	if (object && event_read(object, &a, &e)) {
		HOLDS(event_name(e.kind));
		event_json(&e, &once);
		HOLDS(utf8_valid(buf_str(&once)) && str_find(buf_str(&once), '\n', 0) == once.len);
		AUTO_JSON *again = json_read(&(struct source){ S("again"), buf_str(&once) }, &r);
		HOLDS(again && event_read(again, &a, &back) && back.kind == e.kind);
		event_json(&back, &twice);
		HOLDS(str_eq(buf_str(&once), buf_str(&twice)));
	}
	arena_done(&a);
}

static void check_story(struct str text)
{
	struct arena a = ARENA_INIT;
	struct story_line line, back;
	AUTO_BUF again = BUF_INIT;

	if (story_read(text, &a, &line)) {
		HOLDS(line.path.len && line.number);
		story_write(&again, &line);
		HOLDS(story_read(buf_str(&again), &a, &back));
		HOLDS(back.kind == line.kind && back.number == line.number);
		HOLDS(str_eq(back.path, line.path) && str_eq(back.label, line.label) &&
			str_eq(back.item, line.item));
		HOLDS(line.kind == STORY_END || back.bytes == line.bytes);
	}
	arena_done(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = fuzz_str(data, size);
	struct order o;

	check_event(text);
	check_story(text);
	if (order_read(text, &o))
		HOLDS((unsigned)o.kind < RUN_ORDERS && o.grace_ms >= -1);
	return 0;
}
