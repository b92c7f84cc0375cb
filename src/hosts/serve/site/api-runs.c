/* Runs for scripts: the documents of the commands. */
#include <inttypes.h>

#include "app/logs.h"
#include "data/big.h"
#include "data/json-out.h"
#include "hosts/serve/site/aside.h"

enum { NODES_MAX = 500, EVENTS_MAX = 10000 };

/* -- the list ------------------------------------------------------------------------------------
 */

struct cursor {
	size_t count, limit;
	uint64_t last;
	bool more;
};

static bool see_run(void *data, const struct run_entry *e)
{
	struct cursor *c = data;

	if (c->count == c->limit) {
		c->more = true;
		return false;
	}
	c->count++;
	c->last = e->cursor;
	return true;
}

static void see_again(void *data)
{
	((struct cursor *)data)->count = 0;
}

static void add_link(struct http_request *q, uint64_t before)
{
	struct http_fields all = http_query_all(q);
	AUTO_BUF link = BUF_INIT;

	buf_adds(&link, "</api/v1/runs?");
	for (size_t i = 0; i < all.count; i++) {
		if (str_eq(all.at[i].name, S("before")))
			continue;
		html_url(&link, all.at[i].name);
		buf_addc(&link, '=');
		html_url(&link, all.at[i].value);
		buf_addc(&link, '&');
	}
	buf_printf(&link, "before=%" PRIu64 ">; rel=\"next\"", before);
	http_add_header(q, "Link", buf_str(&link));
}

void rest_runs(struct http_request *q)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF b = BUF_INIT;
	struct run_filter f, more;
	struct dashboard *d = site_of(q);

	if (!ask_filter(q, &f) || !ask_list(q))
		return;
	struct cursor c = { .limit = f.limit };
	more = f;
	more.limit++;
	runs_each(d->app, &more, see_run, see_again, &c, &r);
	runs_list_document(d->app, &f, &b, &r);
	if (r.errors) {
		ask_refuse(q, &r);
		return;
	}
	buf_truncate(&b, b.len - 2); /* the brace and the newline */
	if (c.more)
		buf_printf(&b, ",\"next\":\"%" PRIu64 "\"}\n", c.last);
	else
		buf_adds(&b, ",\"next\":null}\n");
	if (c.more)
		add_link(q, c.last);
	http_reply_json(q, 200, &b);
}

/* -- one -----------------------------------------------------------------------------------------
 */

void rest_run(struct http_request *q)
{
	struct run_model *m = ask_run(q);

	if (!m || ask_run_unchanged(q, m, S("status")))
		return;
	json_t *doc = run_status_document(run_model_run(m));
	json_object_set_new(doc, "seq", json_integer((json_int_t)run_model_seq(m)));
	http_reply_value(q, 200, doc);
}

/* What a run printed is in it, and may have its secrets. */
static bool mask_result(struct run_model *m, struct buf *b)
{
	AUTO_REPORT ignored = REPORT_INIT;
	struct mask *mask;
	bool known = site_mask(m, &mask);

	if (mask) {
		AUTO_JSON *whole =
			json_read_big(&(struct source){ S("result"), buf_str(b) }, &ignored);
		AUTO_JSON *shown = mask_json(mask, whole);

		buf_reset(b);
		json_write_typed(b, shown, 0);
		buf_addc(b, '\n');
	}
	mask_free(mask);
	return known;
}

void rest_result(struct http_request *q)
{
	struct run_model *m = ask_run(q);
	AUTO_BUF b = BUF_INIT;

	if (!m)
		return;
	if (run_model_live(m)) {
		http_refuse(q, 409, "running", NULL, "the run '%.*s' has not ended",
			STR(http_param(q, "id")));
		return;
	}
	if (ask_run_unchanged(q, m, S("result")))
		return;
	if (run_result_text(run_model_run(m), &b) < 0)
		http_refuse(q, 409, "damaged", NULL,
			"the result of the run (result.json, stdout.log) cannot be read");
	else if (!mask_result(m, &b))
		ask_refuse_unmasked(q);
	else
		http_reply_json(q, 200, &b);
}

/* -- nodes ---------------------------------------------------------------------------------------
 */

static void write_counts(struct json_out *o, const uint64_t *counts)
{
	json_out_object(o, "counts");
	for (enum shown_state s = 0; s < SHOWN_STATES; s++)
		if (counts[s])
			json_out_uint(o, shown_state_word(s), counts[s]);
	json_out_object_end(o);
}

static void write_node(
	struct json_out *o, struct run_model *m, const struct past_node *n, bool whole)
{
	struct node_view v;

	run_model_view(m, n, &v);
	json_out_object(o, NULL);
	json_out_str(o, "path", v.path);
	json_out_str(o, "kind", str_of(v.kind));
	json_out_str_or_null(o, "label", v.label);
	json_out_str_or_null(o, "text", v.text);
	json_out_str(o, "state", str_of(shown_state_word(v.state)));
	if (v.coded)
		json_out_int(o, "code", v.code);
	else
		json_out_null(o, "code");
	if (v.signal)
		json_out_int(o, "signal", v.signal);
	else
		json_out_null(o, "signal");
	if (!whole)
		json_out_uint(o, "attempts", v.attempts);
	json_out_time(o, "started", v.real_ms);
	if (v.timed)
		json_out_uint(o, "ms", v.ms);
	else
		json_out_null(o, "ms");
	if (v.counts)
		write_counts(o, v.counts);
	else
		json_out_null(o, "counts");
	if (whole) {
		AUTO_JSON *argv = v.group ? NULL : run_model_argv(m, v.path);

		json_out_value(o, "argv", argv);
		json_out_array(o, "attempts");
		for (size_t i = 0; i < v.span_count; i++) {
			json_out_object(o, NULL);
			json_out_uint(o, "attempt", v.attempts - v.span_count + i + 1);
			json_out_str(o, "state", str_of(shown_state_word(v.spans[i].state)));
			json_out_int(o, "code", v.spans[i].code);
			if (v.spans[i].signal)
				json_out_int(o, "signal", v.spans[i].signal);
			else
				json_out_null(o, "signal");
			json_out_time(o, "started", run_model_began_ms(m) + v.spans[i].start_ms);
			json_out_uint(o, "ms", v.spans[i].ms);
			json_out_object_end(o);
		}
		json_out_array_end(o);
	}
	json_out_object_end(o);
}

struct walk {
	struct json_out *o;
	struct run_model *m;
	struct str after, state;
	bool behind; /* the cursor */
	size_t count, limit;
	struct str last;
	bool more;
};

static void walk(struct walk *w, const struct past_node *n)
{
	struct node_view v;

	for (size_t i = 0; i < past_node_children(n) && !w->more; i++) {
		const struct past_node *child = past_node_child(n, i);

		run_model_view(w->m, child, &v);
		if (w->behind &&
			(!w->state.len || str_eq(w->state, str_of(shown_state_word(v.state))))) {
			if (w->count == w->limit) {
				w->more = true;
				return;
			}
			write_node(w->o, w->m, child, false);
			w->count++;
			w->last = v.path;
		}
		w->behind |= str_eq(v.path, w->after);
		walk(w, child);
	}
}

void rest_nodes(struct http_request *q)
{
	struct run_model *m;
	struct str under = S("root");
	uint64_t limit = 200;
	AUTO_BUF b = BUF_INIT;
	struct json_out o = { .b = &b };
	enum shown_state state;
	struct walk w = { .o = &o };

	if (!ask_number(q, "limit", &limit))
		return;
	(void)http_query(q, "under", &under);
	(void)http_query(q, "after", &w.after);
	(void)http_query(q, "state", &w.state);
	if (limit > NODES_MAX || !limit || (w.state.len && !shown_state_read(w.state, &state))) {
		http_refuse(q, 400, NULL, NULL, "limit is at most %d, and state the name of one",
			NODES_MAX);
		return;
	}
	m = ask_run(q);
	if (!m || ask_run_unchanged(q, m, S("nodes")))
		return;
	const struct past_node *n = run_model_find(m, under);
	if (!n && !str_eq(under, S("root"))) {
		http_refuse(q, 404, "no such node", NULL, "the run has no node '%.*s'", STR(under));
		return;
	}
	w.m = m;
	w.limit = (size_t)limit;
	w.behind = !w.after.len;
	json_out_object(&o, NULL);
	json_out_array(&o, "nodes");
	if (n)
		walk(&w, n);
	json_out_array_end(&o);
	json_out_str_or_null(&o, "next", w.more ? w.last : S(""));
	json_out_object_end(&o);
	buf_addc(&b, '\n');
	http_reply_json(q, 200, &b);
}

void rest_node(struct http_request *q)
{
	struct run_model *m = ask_run(q);
	AUTO_BUF b = BUF_INIT;
	struct json_out o = { .b = &b };
	const struct past_node *n = m ? run_model_find(m, http_param(q, "path")) : NULL;

	if (!m)
		return;
	if (!n) {
		http_refuse(q, 404, "no such node", NULL, "the run has no node '%.*s'",
			STR(http_param(q, "path")));
		return;
	}
	if (ask_run_unchanged(q, m, S("node")))
		return;
	write_node(&o, m, n, true);
	buf_addc(&b, '\n');
	http_reply_json(q, 200, &b);
}

/* -- events --------------------------------------------------------------------------------------
 */

static bool add_event(void *data, struct str line, uint64_t seq)
{
	struct aside_document *d = data;

	(void)seq;
	buf_add(&d->text, line);
	buf_addc(&d->text, '\n');
	return --d->limit > 0;
}

/* They are found by their numbers, so that all before them are read too. */
static void make_events(struct app *a, struct aside_document *d)
{
	struct run_handle *h = aside_document_run(a, d);

	d->ok = h != NULL;
	if (h)
		(void)run_events_each(h, d->from, add_event, d);
	run_close(h);
}

static void reply_events(struct http_request *q, struct aside_document *d)
{
	if (d->ok)
		http_reply_bytes(
			q, &(struct http_content){ .type = "application/jsonl" }, &d->text);
	else
		ask_refuse(q, &d->r);
}

void rest_events_of(struct http_request *q)
{
	uint64_t after = 0, limit = EVENTS_MAX;
	struct run_model *m;

	if (!ask_number(q, "after", &after) || !ask_number(q, "limit", &limit) || !(m = ask_run(q)))
		return;
	if (ask_run_unchanged(q, m, S("events")))
		return;
	aside_document(q,
		&(struct aside_document){ .run = str_of(ask_run_word(q)),
			.from = after + 1,
			.limit = MIN(MAX((size_t)limit, (size_t)1), (size_t)EVENTS_MAX) },
		make_events, reply_events);
}
