#include "hosts/mcp/progress.h"

#include <string.h>

#include "base/clock.h"
#include "base/plain-text.h"
#include "base/utf8.h"
#include "data/json-out.h"

enum { LEAST_MS = 200, BEAT_MS = 10000, MESSAGE_MAX = 120 };

static void send(struct progress *p, const char *text)
{
	AUTO_BUF params = BUF_INIT;
	AUTO_BUF number = BUF_INIT;
	struct json_out o = { .b = &params };
	struct str token = p->x->message.progress_token;
	double value = (double)p->done;

	/* A heartbeat is a fraction of a step. */
	if (value <= p->last)
		value = p->last + (p->last < (double)p->done + 0.99 ? 0.01 : 0.0001);
	p->last = value;
	p->told_ms = clock_mono_ms();
	p->dirty = false;
	buf_printf(&number, "%.10g", value);
	json_out_object(&o, NULL);
	json_out_raw(&o, "progressToken", token);
	json_out_raw(&o, "progress", buf_str(&number));
	if (p->total)
		json_out_uint(&o, "total", MAX(p->total, p->done));
	json_out_str(&o, "message", utf8_head(str_of(text), MESSAGE_MAX));
	json_out_object_end(&o);
	channel_notify_text(
		p->x->channel, "notifications/progress", buf_str(&params), SEND_PROGRESS, token);
}

static void tell(struct progress *p)
{
	AUTO_BUF text = BUF_INIT;
	AUTO_BUF took = BUF_INIT;

	clock_duration(&took, clock_mono_ms() - p->began_ms);
	if (p->total)
		buf_printf(&text, "%zu/%zu ", p->done, p->total);
	else
		buf_printf(&text, "%zu ", p->done);
	struct str name = utf8_head(buf_str(&p->now), 80);
	buf_printf(&text, "%.*s%s%s", STR(name), name.len ? " · " : "", buf_cstr(&took));
	send(p, buf_cstr(&text));
}

static void plan(struct progress *p)
{
	uint64_t since = clock_mono_ms() - p->told_ms;
	uint64_t wait = p->dirty ? LEAST_MS : BEAT_MS;

	timer_start(
		app_loop(p->x->session->server->app), &p->timer, since < wait ? wait - since : 0);
}

static void on_timer(struct timer *t)
{
	struct progress *p = container_of(t, struct progress, timer);

	tell(p);
	plan(p);
}

void progress_start(struct progress *p, struct exchange *x, size_t total)
{
	p->timer.fire = on_timer;
	if (!x->message.progress_token.len)
		return;
	p->x = x;
	p->total = total;
	p->began_ms = p->began_ms ? p->began_ms : clock_mono_ms();
	p->told_ms = p->told_ms ? p->told_ms : p->began_ms;
	plan(p);
}

void progress_event(struct progress *p, const char *type, struct str json)
{
	if (!p->x)
		return;
	if (strcmp(type, "command.start") == 0) {
		AUTO_REPORT ignored = REPORT_INIT;
		AUTO_JSON *event = json_read(&(struct source){ S("event"), json }, &ignored);
		struct str label = json_text_of(event, "label");

		buf_reset(&p->now);
		if (label.len)
			text_plain(&p->now, label);
		else
			buf_printf(&p->now, "command %.*s", STR(json_text_of(event, "path")));
	} else if (strcmp(type, "command.done") == 0) {
		p->done++;
	} else {
		return;
	}
	p->dirty = true;
	plan(p);
}

void progress_say(struct progress *p, const char *text)
{
	if (p->x)
		send(p, text);
}

void progress_stop(struct progress *p)
{
	timer_stop(&p->timer);
	buf_done(&p->now);
	p->x = NULL;
}
