#include "hosts/telegram/bridge/bridge.h"

#include <errno.h>
#include <malloc.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "hosts/telegram/bridge/buttons.h"
#include "hosts/telegram/bridge/chat.h"
#include "hosts/telegram/bridge/gates.h"
#include "hosts/telegram/bridge/job.h"
#include "hosts/telegram/bridge/push.h"
#include "hosts/telegram/bridge/send.h"
#include "hosts/telegram/bridge/status.h"
#include "hosts/telegram/text/redact.h"

#define PUBLIC_API "https://api.telegram.org"
enum { TICK_MS = 1000, TIDY_TICKS = 3600, HOUR_MS = 60 * 60 * 1000 };

bool bridge_open(struct bridge *b, struct app *app, struct buf *note, struct report *r)
{
	b->app = app;
	places_find(&b->places, app_agent_dir(app));
	b->config.path = b->places.config;
	b->store.app = app;
	if (!conf_read(&b->config, note, r))
		return false;
	b->token = arena_str(&b->arena, str_trim(conf_text(&b->config, "botToken")));
	b->store.token = b->token;
	b->bot_id = conf_number(&b->config, "botId", 0);
	b->user = conf_number(&b->config, "allowedUserId", 0);
	lock_init(&b->lock, b->places.locks, app_cwd(app));
	return true;
}

void bridge_close(struct bridge *b)
{
	conf_done(&b->config);
	report_done(&b->store.report);
	places_done(&b->places);
	arena_done(&b->arena);
}

bool bridge_api_url(struct bridge *b, const char *given, struct str *ret, struct report *r)
{
	struct str configured = conf_text(&b->config, "apiUrl");

	*ret = given ? str_of(given) : configured.len ? configured : S(PUBLIC_API);
	return api_base_allowed(*ret) ||
	       report_error(r, (struct where){ 0 },
		       "the address of the Bot API begins with https://, or with http:// for this "
		       "machine");
}

struct request bridge_request(struct bridge *b)
{
	struct request q = REQUEST_INIT;

	q.how = "telegram";
	q.env = json_array();
	q.secret_files = json_pack("[{s:s,s:s}]", "file", b->places.config, "member", "botToken");
	return q;
}

void bridge_request_done(struct request *q)
{
	json_decref(TAKE(q->env));
	json_decref(TAKE(q->secret_files));
}

void bridge_note(struct bridge *b, const char *category, const char *fmt, ...)
{
	AUTO_BUF text = BUF_INIT;
	AUTO_BUF line = BUF_INIT;
	va_list args;

	va_start(args, fmt);
	buf_vprintf(&text, fmt, args);
	va_end(args);
	buf_adds(&line, "roux telegram: ");
	redact(&line, buf_str(&text), b->token);
	buf_addc(&line, '\n');
	(void)fd_write_all(STDERR_FILENO, buf_str(&line));
	if (category)
		ring_add(&b->store, category, buf_str(&text), NULL);
}

static const action_words words = {
	[ACTION_TRUST] = "`roux trust %s` lets chats use it",
};

void bridge_why(struct report *r, struct buf *b)
{
	report_word(r, words);
	report_text(r, REPORT_ERRORS, b);
}

bool bridge_note_store(struct bridge *b)
{
	AUTO_BUF text = BUF_INIT;

	if (!b->store.report.issues.len)
		return false;
	report_text(&b->store.report, REPORT_ALL, &text);
	report_reset(&b->store.report);
	bridge_note(b, NULL, "%.*s", STR(str_trim(buf_str(&text))));
	return true;
}

/* -- its life ------------------------------------------------------------------------------------
 */

void bridge_end(struct bridge *b, enum bridge_state state, int exit_status)
{
	if (b->state == BRIDGE_STOPPING || !bridge_speaks(b))
		return;
	b->state = state;
	b->exit_status = exit_status;
	loop_wake(b->loop);
}

static void reload(struct bridge *b)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF note = BUF_INIT;

	(void)conf_read(&b->config, &note, &r);
	if (note.len)
		bridge_note(b, "setup", "%s", buf_cstr(&note));
	b->user = conf_number(&b->config, "allowedUserId", 0);
}

/* What nothing asks for any more. */
static void tidy(struct bridge *b)
{
	static const uint64_t week = 7ull * 24 * 60 * 60 * 1000;
	AUTO_JSON *strangers = store_list(&b->store, "stranger/");
	uint64_t now = clock_real_ms();
	json_t *row;
	size_t i;

	json_array_foreach(strangers, i, row)
	{
		json_t *last = json_array_get(row, 1);

		if ((uint64_t)json_integer_value(last) + HOUR_MS < now)
			(void)store_delete(&b->store, json_string_value(json_array_get(row, 0)));
	}
	buttons_expire(b);
	(void)queue_forget(b->app, STORE_HOST, now - week, &b->store.report);
	(void)places_prepare_temp(&b->places);
	(void)bridge_note_store(b);
}

static void on_tick(struct timer *t)
{
	struct bridge *b = container_of(t, struct bridge, tick);

	timer_start(b->loop, t, TICK_MS);
	b->ticks++;
	if (!lock_owned(&b->lock)) {
		bridge_note(b, "lock", "another process has taken the lock; this one ends");
		bridge_end(b, BRIDGE_LOST, 0);
		return;
	}
	if (conf_changed(&b->config))
		reload(b);
	if (b->ticks % TIDY_TICKS == 0)
		tidy(b);
	bridge_status_write(b);
	push_look(b);
	gates_look(b);
}

static void on_signal(struct signals *s, int signal, int value)
{
	(void)signal;
	(void)value;
	bridge_end(container_of(s, struct bridge, signals), BRIDGE_STOPPING, 0);
}

bool bridge_start(struct bridge *b, const struct bridge_options *o, struct report *r)
{
	static const int stops[] = { SIGINT, SIGTERM, SIGHUP, 0 };
	struct str url;
	int n;

	b->loop = app_loop(b->app);
	if (!bridge_api_url(b, o->api_url, &url, r))
		return false;
	if (!(b->api = api_new(b->loop, url, b->token)))
		return report_errno(r, errno, "cannot start the client");
	if ((n = places_prepare_temp(&b->places)) < 0)
		return report_errno(r, -n, "cannot use '%s'", b->places.temp);
	b->signals.came = on_signal;
	if ((n = signals_start(b->loop, &b->signals, stops)) < 0)
		return report_errno(r, -n, "cannot take signals");
	places_scrub_environment(b->token);
	b->tick.fire = on_tick;
	timer_start(b->loop, &b->tick, TICK_MS);
	b->poller.ready = o->ready;
	b->poller.data = o->data;
	list_init(&b->router.pending);
	list_init(&b->router.after);
	jobs_start(b);
	sends_start(b);
	deliver_start(b);
	chat_start(b);
	turns_start(b);
	push_start(b);
	poll_start(b);
	route_start(b);
	return true;
}

/* What was asked for and is on its way still goes out, for a moment. */
static void drain(struct bridge *b)
{
	poll_stop(b);
	for (int turns = 0; turns < 40 && bridge_speaks(b) && api_pending(b->api); turns++)
		(void)app_turn(b->app, 50);
}

void bridge_stop(struct bridge *b)
{
	AUTO_REPORT r = REPORT_INIT;

	timer_stop(&b->tick);
	bridge_status_write(b);
	if (b->state == BRIDGE_STOPPING && turns_running(&b->turns) && b->user) {
		bridge_note(b, NULL,
			"the turn continues as run %s; its answer is delivered when the "
			"bridge is back; roux cancel %s ends it",
			b->turns.run, b->turns.run);
		send_line(b, json_number_of(b->turns.turn, "chat"), 0,
			"The bridge stops. The turn continues as run %s; its answer is delivered "
			"when the bridge is back; `roux cancel %s` ends it.",
			b->turns.run, b->turns.run);
	}
	live_end(b);
	if (b->state == BRIDGE_STOPPING) {
		drain(b);
		poll_write_back(b);
	}
	poll_stop(b);
	jobs_stop(b);
	api_free(TAKE(b->api));
	sends_stop(b);
	route_stop(b);
	chat_stop(b);
	turns_stop(b);
	deliver_stop(b);
	if (b->state != BRIDGE_LOST)
		(void)lock_drop(&b->lock, &r);
	if (b->signals.watch.loop)
		signals_stop(&b->signals);
}

/* What a batch of updates needs is there for the next one: the heap would else grow and shrink with
 * each, which is twenty system calls a batch. */
static void keep_heap(void)
{
	(void)mallopt(M_TOP_PAD, 1 << 20);
	(void)mallopt(M_TRIM_THRESHOLD, 4 << 20);
}

int bridge_run(struct bridge *b, const struct bridge_options *o, struct report *r)
{
	keep_heap();
	if (!bridge_start(b, o, r)) {
		(void)lock_drop(&b->lock, r);
		return 1;
	}
	while (b->state == BRIDGE_STARTING || b->state == BRIDGE_POLLING ||
		b->state == BRIDGE_CONFLICT) {
		int n = app_turn(b->app, -1);

		if (n < 0 && n != -EINTR) {
			report_errno(r, -n, "the loop has ended");
			b->exit_status = 1;
			b->state = BRIDGE_STOPPING;
			break;
		}
	}
	bridge_stop(b);
	return b->exit_status;
}
