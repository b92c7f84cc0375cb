#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/path.h"
#include "hosts/telegram/bridge/attachments.h"
#include "hosts/telegram/bridge/bridge.h"
#include "hosts/telegram/bridge/cli.h"

struct only_common {
	struct companion_common common;
};

static const struct opt_set common_set[] = { COMPANION_COMMON(struct only_common) };

enum { SWAPS = 100, PUSH_MAX = 512 << 10 };

/* -- attach --------------------------------------------------------------------------------------
 */

/* The turn that this process belongs to; NULL: none, or the ledger cannot be read, which is an
 * issue. */
static const char *turn_of(struct companion *c)
{
	const char *turn = getenv("ROUX_TELEGRAM_TURN");
	struct arena a = ARENA_INIT;
	struct queue_item item;
	uint64_t number;
	bool runs = turn && str_to_uint(str_of(turn), &number) &&
		    queue_find(tg_app(c), STORE_HOST, number, &a, &item, &c->report) &&
		    item.state == QUEUE_RUNNING;

	arena_done(&a);
	return runs ? turn : NULL;
}

struct adding {
	const struct call *call;
	const int64_t *sizes;
	uint64_t max; /* bytes of a file */
	const char *turn;
};

/* Whether all files may be added to those that are there. False with an issue. */
static bool accepted(const struct adding *a, size_t attached, struct report *r)
{
	size_t index = 0;
	enum attach_refusal refusal = attach_decide(
		a->turn, attached, a->sizes, a->call->count, ATTACH_MAX, a->max, &index);

	if (refusal == ATTACH_NO_TURN) {
		report_error(r, (struct where){ 0 },
			"files are attached inside a turn of the chat, and none runs here");
		return report_hint(r, "roux telegram push sends a text at any time");
	}
	if (refusal == ATTACH_TOO_MANY) {
		report_error(r, (struct where){ 0 }, "a turn may have %d files, and has %zu",
			ATTACH_MAX, attached);
		return report_hint(r, "put them into one archive");
	}
	return attachment_refused(refusal, a->call->words[index], a->sizes[index], a->max, r);
}

/* All of them or none, in one change. */
static bool add_all(struct companion *c, struct bridge *b, const struct adding *a, size_t *total)
{
	const char *key = arena_printf(&c->arena, "attach/%s", a->turn ? a->turn : "").p;

	for (int tries = 0; tries < SWAPS; tries++) {
		AUTO_JSON *now = a->turn ? store_get(&b->store, key) : NULL;
		AUTO_JSON *list = now ? json_copy(now) : json_array();
		AUTO_BUF before = BUF_INIT;
		AUTO_BUF after = BUF_INIT;

		if (!accepted(a, json_array_size(list), &c->report))
			return false;
		for (size_t i = 0; i < a->call->count; i++)
			json_array_append_new(list,
				json_from_str(path_absolute(&c->arena, str_of(a->call->words[i]))));
		*total = json_array_size(list);
		json_write(&before, now ? now : json_null(), 0);
		json_write(&after, list, 0);
		struct str expected = buf_str(&before);
		if (host_state_swap(tg_app(c), STORE_HOST, str_of(key), now ? &expected : NULL,
			    buf_str(&after), &c->report))
			return true;
		if (c->report.errors)
			return false;
	}
	return report_system(&c->report, (struct where){ 0 }, "the files could not be added");
}

static bool attach_all(
	struct companion *c, struct bridge *b, const struct call *call, size_t *total)
{
	int64_t *sizes = arena_array(&c->arena, int64_t, call->count);
	const char *turn = turn_of(c);

	for (size_t i = 0; turn && i < call->count; i++) {
		AUTO_CLOSE int fd = attachment_look(call->words[i], &sizes[i], &c->report);

		if (fd < 0)
			return false;
	}
	return !c->report.errors &&
	       add_all(c, b, &(struct adding){ call, sizes, b->places.outbound_max, turn }, total);
}

static int attach(const struct call *call)
{
	struct companion *c = call->host;
	const struct only_common *o = call->opts;
	struct bridge b = { 0 };
	AUTO_BUF note = BUF_INIT;
	size_t total = 0;
	bool ok = companion_enter(c, &o->common) && bridge_open(&b, tg_app(c), &note, &c->report) &&
		  attach_all(c, &b, call, &total);

	if (ok && o->common.json)
		companion_print("{\"ok\":true,\"total\":%zu}", total);
	else if (ok)
		companion_print(
			"%zu file%s will be sent with the answer", total, total == 1 ? "" : "s");
	bridge_close(&b);
	return ok ? 0 : companion_refuse(c, o->common.json);
}

const struct command tg_attach = {
	.name = "telegram attach",
	.operands = "PATH...",
	.summary = "send files with the answer of this turn",
	.details = "For the agent: works inside a turn of the chat. All files are accepted or "
		   "none; at most "
		   "10 in one turn.",
	.min_operands = 1,
	.max_operands = OPERANDS_ANY,
	.complete = COMPLETE_FILE,
	SETS(common_set, struct only_common),
	.run = attach,
};

/* -- push ----------------------------------------------------------------------------------------
 */

static bool text_of(struct companion *c, const struct call *call, struct buf *ret)
{
	if (call->count == 1 && strcmp(call->words[0], "-") == 0) {
		int n = fd_read_all(STDIN_FILENO, PUSH_MAX, ret);

		if (n < 0)
			return report_errno(&c->report, -n, "cannot read the text");
	} else {
		for (size_t i = 0; i < call->count; i++)
			buf_printf(ret, "%s%s", i ? " " : "", call->words[i]);
	}
	return str_trim(buf_str(ret)).len > 0 ||
	       report_error(&c->report, (struct where){ 0 }, "there is no text to send");
}

static bool push_text(struct companion *c, struct bridge *b, struct str text)
{
	char key[40];
	unsigned random = 0;

	if (!b->user) {
		report_error(&c->report, (struct where){ 0 }, "no person is paired");
		return report_hint(&c->report, "connect, then write to the bot");
	}
	AUTO_JSON *d = json_pack("{s:s,s:I,s:I,s:o}", "kind", "push", "chat", (json_int_t)b->user,
		"reply", (json_int_t)0, "text", json_from_str(text));
	(void)!getrandom(&random, sizeof(random), 0);
	(void)snprintf(
		key, sizeof(key), "push/%013llu-%08x", (unsigned long long)clock_real_ms(), random);
	bool ok = store_set(&b->store, key, d);
	report_move(&c->report, &b->store.report);
	return ok;
}

static int push(const struct call *call)
{
	struct companion *c = call->host;
	const struct only_common *o = call->opts;
	struct bridge b = { 0 };
	AUTO_BUF note = BUF_INIT;
	AUTO_BUF text = BUF_INIT;
	bool ok = companion_enter(c, &o->common) && bridge_open(&b, tg_app(c), &note, &c->report) &&
		  text_of(c, call, &text) && push_text(c, &b, buf_str(&text));

	if (ok && o->common.json)
		companion_print("{\"ok\":true}");
	else if (ok && lock_look(&b.lock, &c->arena, NULL) == LOCK_STATE_ELSEWHERE)
		companion_print("handed to the bridge");
	else if (ok)
		companion_print("it is sent when the bridge is connected");
	bridge_close(&b);
	return ok ? 0 : companion_refuse(c, o->common.json);
}

const struct command tg_push = {
	.name = "telegram push",
	.operands = "TEXT...",
	.summary = "send a text to the paired person",
	.details = "Markdown. `-` alone reads it from standard input. The bridge delivers it, now "
		   "or when "
		   "it is connected again.",
	.min_operands = 1,
	.max_operands = OPERANDS_ANY,
	SETS(common_set, struct only_common),
	.run = push,
};
