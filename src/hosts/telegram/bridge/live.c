#include "hosts/telegram/bridge/live.h"

#include "base/clock.h"
#include "hosts/telegram/bridge/bridge.h"
#include "hosts/telegram/bridge/ending.h"
#include "hosts/telegram/bridge/send.h"
#include "hosts/telegram/text/marks.h"
#include "hosts/telegram/text/preview.h"

enum {
	TYPING_MS = 4000,
	TYPING_NOTE_MS = 60000,
	INTERVAL_MS = 1200,
	/* More than one message can show is not looked at. */
	TEXT_MAX = 16 << 10,
};

static int64_t chat_of(const struct bridge *b)
{
	return b->turns.turn ? json_number_of(b->turns.turn, "chat") : b->user;
}

/* -- typing --------------------------------------------------------------------------------------
 */

static void on_typed(void *data, const struct api_answer *answer)
{
	struct bridge *b = data;
	struct live *l = &b->live;
	uint64_t now = clock_mono_ms();

	if (!answer || answer->class == API_OK ||
		(l->typing_noted_ms && now < l->typing_noted_ms + TYPING_NOTE_MS))
		return;
	l->typing_noted_ms = now;
	ring_add(&b->store, "typing", answer->description, NULL);
}

static void type(struct timer *t)
{
	struct bridge *b = container_of(t, struct bridge, live.typing);

	if (!b->blocked && bridge_speaks(b))
		(void)api_start(b->api, &(struct api_request){ .method = "sendChatAction",
						.params = json_pack("{s:I,s:s}", "chat_id",
							(json_int_t)chat_of(b), "action", "typing"),
						.patience = API_SKIPS,
						.done = on_typed,
						.data = b });
	timer_start(b->loop, t, TYPING_MS);
}

void live_type(struct bridge *b, bool on)
{
	b->live.typing.fire = type;
	if (on)
		timer_start(b->loop, &b->live.typing, 0);
	else
		timer_stop(&b->live.typing);
}

/* -- the preview ---------------------------------------------------------------------------------
 */

static void read_output(struct bridge *b)
{
	struct live *l = &b->live;

	if (!b->turns.handle || l->text.len >= TEXT_MAX)
		return;
	if (!l->jsonl) {
		(void)run_log_read(b->turns.handle, &l->cursor, TEXT_MAX - l->text.len, &l->text);
		return;
	}
	for (size_t n = 1; n && jsonl_text(&l->stream).len < TEXT_MAX;) {
		AUTO_BUF more = BUF_INIT;

		(void)run_log_read(b->turns.handle, &l->cursor, TEXT_MAX, &more);
		n = more.len;
		jsonl_feed(&l->stream, buf_str(&more));
	}
}

static void schedule(struct bridge *b)
{
	if (b->live.on && !b->live.busy && !timer_running(&b->live.preview))
		timer_start(b->loop, &b->live.preview,
			(uint64_t)MAX(conf_number(&b->config, "preview.interval", INTERVAL_MS), 1));
}

static void on_shown(void *data, enum sent result, int64_t message)
{
	struct bridge *b = data;
	struct live *l = &b->live;

	l->busy = false;
	if (result == SENT_OK && message && message != l->message) {
		l->message = message;
		(void)store_set_new(&b->store, "preview",
			json_pack("{s:I,s:I}", "item", (json_int_t)b->turns.item, "message",
				(json_int_t)message));
	}
	if (l->waited) {
		l->waited = false;
		deferred_start(b->loop, &b->turns.ended);
	} else if (l->stale) {
		schedule(b);
	}
}

/* What the agent has said so far, masked; false: a secret of the run is not known here. */
static bool shown_of(struct bridge *b, struct buf *ret)
{
	struct live *l = &b->live;
	AUTO_REPORT ignored = REPORT_INIT;
	struct mask *mask;

	if (!b->turns.handle || !run_mask(b->turns.handle, &mask, &ignored))
		return false;
	buf_add(ret, l->jsonl ? jsonl_text(&l->stream) : buf_str(&l->text));
	ending_hide(mask, MASK_CUT_BACK, ret);
	mask_free(mask);
	return true;
}

/* Whether the message is to say something else than it does; that is then in `shown`. */
static bool refresh(struct bridge *b)
{
	struct live *l = &b->live;
	struct arena a = ARENA_INIT;
	struct preview last = { buf_str(&l->shown), l->shown_html }, now;
	AUTO_BUF written = BUF_INIT;

	read_output(b);
	bool fresh = shown_of(b, &written) && preview_make(&a, marks_hide(&a, buf_str(&written)),
						      l->shown.len ? &last : NULL, &now);
	if (fresh) {
		AUTO_BUF text = BUF_INIT;

		buf_add(&text, now.text);
		buf_swap(&l->shown, &text);
		l->shown_html = now.html;
	}
	arena_done(&a);
	return fresh;
}

static void show(struct timer *t)
{
	struct bridge *b = container_of(t, struct bridge, live.preview);
	struct live *l = &b->live;

	l->stale = false;
	if (!refresh(b))
		return;
	l->busy = true;
	send_message(b,
		&(struct message){ .chat = chat_of(b),
			.reply_to = json_number_of(b->turns.turn, "reply"),
			.edit = l->message,
			.text = buf_str(&l->shown),
			.html = l->shown_html,
			.category = "preview",
			.patience = API_SKIPS },
		on_shown, b);
}

void live_changed(struct bridge *b)
{
	struct str mode = conf_text(&b->config, "preview.mode");

	if (!b->live.on || str_eq(mode, S("off")) ||
		str_eq(conf_text(&b->config, "agent.stream"), S("none")))
		return;
	b->live.stale = true;
	schedule(b);
}

/* -- its life ------------------------------------------------------------------------------------
 */

void live_begin(struct bridge *b)
{
	struct live *l = &b->live;
	AUTO_JSON *before = store_get(&b->store, "preview");

	live_end(b);
	l->on = true;
	l->jsonl = str_eq(conf_text(&b->config, "agent.stream"), S("jsonl"));
	l->typing.fire = type;
	l->preview.fire = show;
	l->message = json_number_of(before, "item") == (json_int_t)b->turns.item
			     ? json_number_of(before, "message")
			     : 0;
	timer_start(b->loop, &l->typing, 0);
	live_changed(b);
}

void live_pause(struct bridge *b)
{
	timer_stop(&b->live.typing);
	timer_stop(&b->live.preview);
}

bool live_quiet(struct bridge *b)
{
	timer_stop(&b->live.preview);
	b->live.on = false;
	if (b->live.busy)
		b->live.waited = true;
	/* What an earlier process has shown: the mark of an end stands below it. */
	else if (b->live.message && !b->live.shown.len)
		(void)refresh(b);
	return !b->live.busy;
}

void live_end(struct bridge *b)
{
	struct live *l = &b->live;

	timer_stop(&l->typing);
	timer_stop(&l->preview);
	jsonl_done(&l->stream);
	l->stream = (struct jsonl_stream){ 0 };
	buf_done(&l->text);
	buf_done(&l->shown);
	l->cursor = (struct log_cursor){ .stream = LOG_STDOUT };
	l->text = l->shown = BUF_INIT;
	l->on = l->stale = l->waited = false;
	l->message = 0;
}
