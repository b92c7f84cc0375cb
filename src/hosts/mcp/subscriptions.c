#include "hosts/mcp/subscriptions.h"

#include <stdlib.h>

#include "app/runs.h"
#include "base/clock.h"
#include "data/json-out.h"
#include "hosts/mcp/catalog.h"
#include "hosts/mcp/methods.h"
#include "hosts/mcp/raw.h"
#include "hosts/mcp/resource-uri.h"
#include "hosts/mcp/tasks.h"

enum { APART_MS = 250 };

static const struct {
	unsigned bit;
	const char *method, *wish;
} kinds[] = {
	{ CHANGED_TOOLS, "notifications/tools/list_changed", "toolsListChanged" },
	{ CHANGED_PROMPTS, "notifications/prompts/list_changed", "promptsListChanged" },
	{ CHANGED_RESOURCES, "notifications/resources/list_changed", "resourcesListChanged" },
};

/* One run that a listener follows, as a resource or as a task. */
struct follow {
	struct list link;
	struct listener *listener;
	struct buf uri;
	struct buf task;        /* its id; empty: a resource */
	struct run_handle *run; /* NULL: a resource that is not of a run */
	bool changed;
};

struct listener {
	struct list link; /* of mcp.listeners */
	struct session *session;
	struct exchange *x; /* of the modern era; NULL: the session itself */
	unsigned wants, changed;
	struct list follows;
	struct timer timer; /* running: something was told a moment ago */
};

/* -- telling -------------------------------------------------------------------------------------
 */

static struct channel *channel_of(const struct listener *l)
{
	return l->x ? l->x->channel : l->session->channel;
}

/* With the number of the stream in the modern era. Takes the params, which may be NULL. */
static void notify(const struct listener *l, const char *method, json_t *params)
{
	AUTO_BUF text = BUF_INIT;
	struct json_out o = { .b = &text };

	if (l->x || params) {
		json_out_object(&o, NULL);
		if (l->x) {
			json_out_object(&o, "_meta");
			json_out_raw(&o, META_PREFIX "subscriptionId", l->x->message.id);
			json_out_object_end(&o);
		}
		if (params)
			json_out_members(&o, params);
		json_out_object_end(&o);
	}
	channel_notify_text(channel_of(l), method, buf_str(&text), SEND_NOTICE, S(""));
	json_decref(params);
}

static void tell(struct listener *l)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (l->changed & kinds[i].bit)
			notify(l, kinds[i].method, NULL);
	l->changed = 0;
	list_each (link, &l->follows) {
		struct follow *f = list_entry(link, struct follow, link);

		if (!f->changed)
			continue;
		f->changed = false;
		if (f->task.len)
			notify(l, "notifications/tasks",
				task_document(l->session, buf_str(&f->task)));
		else
			notify(l, "notifications/resources/updated",
				json_pack("{s:o}", "uri", json_from_str(buf_str(&f->uri))));
	}
}

static bool has_news(const struct listener *l)
{
	list_each (link, &l->follows)
		if (list_entry(link, struct follow, link)->changed)
			return true;
	return l->changed != 0;
}

static void on_timer(struct timer *t)
{
	struct listener *l = container_of(t, struct listener, timer);

	if (!has_news(l))
		return;
	tell(l);
	timer_start(app_loop(l->session->server->app), &l->timer, APART_MS);
}

/* The first change is reported at once, those that follow within a quarter of a second together. */
static void news(struct listener *l)
{
	if (!timer_running(&l->timer))
		timer_start(app_loop(l->session->server->app), &l->timer, 0);
}

void subscriptions_lists_changed(struct mcp *m, unsigned lists)
{
	list_each (link, &m->listeners) {
		struct listener *l = list_entry(link, struct listener, link);

		l->changed |= l->wants & lists;
		list_each (item, &l->follows) {
			struct follow *f = list_entry(item, struct follow, link);

			f->changed |= lists & CHANGED_RESOURCES && !f->run && !f->task.len;
		}
		news(l);
	}
}

/* -- runs ----------------------------------------------------------------------------------------
 */

static void on_changed(void *data)
{
	struct follow *f = data;

	f->changed = true;
	news(f->listener);
}

static void follow_free(struct follow *f)
{
	list_remove(&f->link);
	run_close(f->run);
	buf_done(&f->uri);
	buf_done(&f->task);
	free(f);
}

static struct follow *follow_new(struct listener *l, struct str uri, struct str run)
{
	struct follow *f = mem_new(struct follow);
	AUTO_REPORT ignored = REPORT_INIT;

	f->listener = l;
	buf_add(&f->uri, uri);
	if (run.len)
		f->run = mcp_open_run(l->session->server, run, &ignored);
	if (run.len && !f->run) {
		follow_free(f);
		return NULL;
	}
	list_append(&l->follows, &f->link);
	if (f->run)
		(void)run_observe(
			f->run, &(struct observer){
					.changed = on_changed, .ended = on_changed, .data = f });
	f->changed = false;
	return f;
}

static bool is_fixed(const struct listener *l, struct str uri)
{
	AUTO_JSON *found = raw_resource_read(l->session->server, uri);

	return found != NULL;
}

static bool follows(const struct listener *l, struct str uri, struct str task)
{
	list_each (link, &l->follows) {
		const struct follow *f = list_entry(link, struct follow, link);

		if (str_eq(buf_str(&f->uri), uri) && str_eq(buf_str(&f->task), task))
			return true;
	}
	return false;
}

/* Whether there is such a resource; of a run, that is found out when it is opened. */
static bool is_there(const struct listener *l, struct str uri, const struct resource_uri *u)
{
	if (u->kind == RESOURCE_RECIPE)
		return catalog_recipe(l->session->server->catalog, buf_str(&u->id)) != NULL;
	return u->kind != RESOURCE_NONE || is_fixed(l, uri);
}

/* True: the resource is one that changes can be told of. */
static bool listener_follow(struct listener *l, struct str uri)
{
	struct resource_uri u;
	bool ok = resource_uri_read(uri, &u) && is_there(l, uri, &u);
	bool of_run = ok && u.kind >= RESOURCE_RUN && u.kind <= RESOURCE_ARTIFACT;

	if (ok && !follows(l, uri, S("")))
		ok = follow_new(l, uri, of_run ? buf_str(&u.id) : S("")) != NULL;
	resource_uri_done(&u);
	return ok;
}

static void listener_unfollow(struct listener *l, struct str uri)
{
	list_each_safe (link, &l->follows) {
		struct follow *f = list_entry(link, struct follow, link);

		if (str_eq(buf_str(&f->uri), uri))
			follow_free(f);
	}
}

/* -- listeners -----------------------------------------------------------------------------------
 */

static struct listener *listener_new(struct session *s, struct exchange *x)
{
	struct listener *l = mem_new(struct listener);

	l->session = s;
	l->x = x;
	l->timer.fire = on_timer;
	list_init(&l->follows);
	list_append(&s->server->listeners, &l->link);
	return l;
}

struct listener *listener_of_session(struct session *s)
{
	struct listener *l = listener_new(s, NULL);

	l->wants = CHANGED_TOOLS | CHANGED_PROMPTS | CHANGED_RESOURCES;
	return l;
}

void listener_free(struct listener *l)
{
	if (!l)
		return;
	timer_stop(&l->timer);
	list_each_safe (link, &l->follows)
		follow_free(list_entry(link, struct follow, link));
	list_remove(&l->link);
	free(l);
}

/* -- subscriptions/listen ------------------------------------------------------------------------
 */

static void on_cancel(struct exchange *x)
{
	listener_free(x->data);
	exchange_drop(x);
}

/* Two pages of the protocol want one of these each, and a client must take either. */
static void on_closing(struct exchange *x)
{
	struct listener *l = x->data;
	AUTO_BUF params = BUF_INIT;
	struct json_out o = { .b = &params };

	json_out_object(&o, NULL);
	json_out_object(&o, "_meta");
	json_out_raw(&o, META_PREFIX "subscriptionId", x->message.id);
	json_out_object_end(&o);
	json_out_raw(&o, "requestId", x->message.id);
	json_out_str(&o, "reason", S("the server ends"));
	json_out_object_end(&o);
	channel_notify_text(
		x->channel, "notifications/cancelled", buf_str(&params), SEND_NOTICE, S(""));
	listener_free(l);
	exchange_answer_meta(x, json_object(), META_PREFIX "subscriptionId", x->message.id);
}

/* The ids and addresses of a list that can be followed: a new reference; NULL: it is not a list. */
static json_t *follow_all(struct listener *l, const json_t *wanted, bool tasks)
{
	json_t *taken = json_array(), *one;
	size_t i;

	if (!json_is_array(wanted)) {
		json_decref(taken);
		return NULL;
	}
	json_array_foreach(wanted, i, one)
	{
		AUTO_BUF run = BUF_INIT;
		bool ok = json_is_string(one);

		if (ok && tasks) {
			bool known = follows(l, S(""), json_str(one));
			struct follow *f = !known && task_run(l->session, json_str(one), &run)
						   ? follow_new(l, S(""), buf_str(&run))
						   : NULL;
			if (f)
				buf_add(&f->task, json_str(one));
			ok = known || f;
		} else if (ok) {
			ok = listener_follow(l, json_str(one));
		}
		if (ok)
			json_array_append(taken, one);
	}
	return taken;
}

void method_listen(struct exchange *x)
{
	const json_t *wanted = json_object_get(x->params, "notifications");
	const json_t *tasks = json_object_get(wanted, "taskIds");
	struct mcp *m = x->session->server;

	if (!json_is_object(wanted)) {
		exchange_fail(x, RPC_PARAMS, NULL, "\"notifications\" has to be an object");
		return;
	}
	if (tasks && !tasks_offered(x))
		return;
	struct listener *l = listener_new(x->session, x);
	json_t *taken = json_object();
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!json_is_true(json_object_get(wanted, kinds[i].wish)) ||
			(kinds[i].bit == CHANGED_PROMPTS && m->options.no_prompts))
			continue;
		l->wants |= kinds[i].bit;
		json_object_set_new(taken, kinds[i].wish, json_true());
	}
	json_t *uris = follow_all(l, json_object_get(wanted, "resourceSubscriptions"), false);
	json_t *ids = follow_all(l, tasks, true);
	if (uris)
		json_object_set_new(taken, "resourceSubscriptions", uris);
	if (ids)
		json_object_set_new(taken, "taskIds", ids);
	x->data = l;
	x->cancel = on_cancel;
	x->closing = on_closing;
	catalog_read(m->catalog);
	notify(l, "notifications/subscriptions/acknowledged",
		json_pack("{s:o}", "notifications", taken));
}

/* -- resources/subscribe -------------------------------------------------------------------------
 */

void method_subscribe(struct exchange *x)
{
	const json_t *uri = json_object_get(x->params, "uri");

	if (!json_is_string(uri) || !listener_follow(x->session->listener, json_str(uri)))
		exchange_fail(x, json_is_string(uri) ? RPC_NOT_FOUND : RPC_PARAMS,
			json_pack("{s:O?}", "uri", uri), "there is no such resource");
	else
		exchange_answer(x, json_object());
}

void method_unsubscribe(struct exchange *x)
{
	listener_unfollow(x->session->listener, json_text_of(x->params, "uri"));
	exchange_answer(x, json_object());
}
