/* What belongs to a run besides its nodes: messages, artifacts, values, pictures. */
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/artifacts.h"
#include "app/messages.h"
#include "app/pictures.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/human.h"
#include "base/utf8.h"
#include "data/big.h"
#include "hosts/serve/site/aside.h"

enum { PREVIEW_TEXT = 256 << 10, PREVIEW_IMAGE = 8 << 20, MESSAGES_SHOWN = 500 };

static void begin(struct page *p, struct http_request *q, const char *title, bool live)
{
	AUTO_BUF text = BUF_INIT;
	const struct str topics[] = { str_of(ask_run_word(q)) };

	buf_printf(&text, "%s of %.*s", title, STR(http_param(q, "id")));
	page_begin(p, q,
		&(struct page_head){ .title = buf_str(&text),
			.nav = NAV_RUNS,
			.topics = topics,
			.topic_count = live ? 1 : 0 });
	buf_adds(&p->b, "<p class=\"crumbs\">");
	page_run_link(p, http_param(q, "id"));
	buf_printf(&p->b, "</p><h1>%s</h1>", title);
}

/* -- messages ------------------------------------------------------------------------------------
 */

static size_t put_box(struct page *p, const json_t *all, const char *word, bool done)
{
	size_t shown = 0;

	for (size_t i = json_array_size(all); i-- > 0 && shown < MESSAGES_SHOWN;) {
		const json_t *m = json_array_get(all, i);
		struct str type = json_text_of(m, "type"), summary = json_text_of(m, "summary");
		AUTO_BUF text = BUF_INIT;

		if (str_eq(type, S("command.done")) != done)
			continue;
		if (!shown++)
			buf_adds(&p->b, "<div class=\"scroll\" role=\"region\" "
					"aria-label=\"Messages\" tabindex=\"0\">"
					"<table><thead><tr><th>When<th>Type<th>State<th>Text</tr></"
					"thead><tbody>");
		buf_adds(&p->b, "<tr><td>");
		html_time(&p->b, clock_read_rfc3339(json_text_of(m, "ts")));
		buf_adds(&p->b, "<td>");
		html_text(&p->b, type);
		buf_adds(&p->b, "<td>");
		html_text(&p->b, json_text_of(m, word));
		buf_adds(&p->b, "<td dir=\"auto\">");
		if (summary.len && !str_eq(summary, type)) {
			html_cut(&p->b, summary, 500);
			buf_addc(&p->b, ' ');
		}
		message_body_preview(&text, m);
		html_cut(&p->b, buf_str(&text), 500);
		buf_adds(&p->b, "</tr>");
	}
	if (shown)
		buf_adds(&p->b, "</tbody></table></div>");
	return shown;
}

/* Both boxes. False: it is answered. */
static bool read_messages(struct http_request *q, struct messages_view *v)
{
	AUTO_REPORT r = REPORT_INIT;

	if (!messages_read(site_of(q)->app, ask_run_word(q), v, &r)) {
		ask_refuse(q, &r);
		return false;
	}
	if (!v->hidden)
		return true;
	messages_view_done(v);
	ask_refuse_unmasked(q);
	return false;
}

void page_messages(struct http_request *q)
{
	struct messages_view v = { 0 };
	struct page p;
	struct run_model *m = ask_run(q);

	if (!m || ask_run_unchanged(q, m, S("messages")))
		return;
	if (!read_messages(q, &v))
		return;
	begin(&p, q, "Messages", run_model_live(m));
	buf_adds(&p.b, "<h2>From the run</h2>");
	if (!put_box(&p, v.outbox, "level", false))
		buf_adds(&p.b, "<p class=\"quiet\">The run has sent none: its programs do with "
			       "<code>roux message --from-run TYPE TEXT</code>.</p>");
	buf_adds(&p.b, "<details><summary>Ends of commands</summary>");
	if (!put_box(&p, v.outbox, "level", true))
		buf_adds(&p.b, "<p class=\"quiet\">None.</p>");
	buf_adds(&p.b, "</details><h2>To the run</h2>");
	if (!put_box(&p, v.inbox, "status", false))
		buf_adds(&p.b, "<p class=\"quiet\">It was sent none.</p>");
	if (v.skipped_in + v.skipped_out)
		buf_printf(&p.b,
			"<p class=\"box bad\">%zu line%s of inbox.jsonl and %zu of outbox.jsonl "
			"are "
			"not messages.</p>",
			v.skipped_in, v.skipped_in == 1 ? "" : "s", v.skipped_out);
	if (page_may(q, HTTP_RUN) && run_model_live(m)) {
		buf_adds(&p.b, "<p class=\"buttons\"><a class=\"button\" href=\"");
		run_url(&p.b, http_param(q, "id"), "/message");
		buf_adds(&p.b, "\">Send one…</a></p>");
	}
	messages_view_done(&v);
	page_end(&p, 200);
}

void rest_messages(struct http_request *q)
{
	struct messages_view v = { 0 };
	struct run_model *m = ask_run(q);

	if (!m || ask_run_unchanged(q, m, S("messages")))
		return;
	if (!read_messages(q, &v))
		return;
	http_reply_value(q, 200,
		json_pack("{s:O, s:O, s:{s:I, s:I}}", "inbox", v.inbox, "outbox", v.outbox,
			"skipped", "inbox", (json_int_t)v.skipped_in, "outbox",
			(json_int_t)v.skipped_out));
	messages_view_done(&v);
}

/* -- artifacts -----------------------------------------------------------------------------------
 */

struct listed {
	struct page *p;
	size_t count;
};

static const char *image_type(struct str head)
{
	if (str_starts(head, S("\x89PNG\r\n\x1a\n")))
		return "image/png";
	if (str_starts(head, S("\xff\xd8\xff")))
		return "image/jpeg";
	if (str_starts(head, S("GIF87a")) || str_starts(head, S("GIF89a")))
		return "image/gif";
	if (head.len >= 12 && str_starts(head, S("RIFF")) && memcmp(head.p + 8, "WEBP", 4) == 0)
		return "image/webp";
	return NULL;
}

static void put_preview(struct page *p, struct run_model *m, size_t number, struct str name)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_CLOSE int fd = artifact_open(run_model_run(m), name, &r);
	AUTO_BUF text = BUF_INIT;
	struct stat st;
	char head[16] = "";

	if (fd < 0 || fstat(fd, &st) < 0)
		return;
	ssize_t n = pread(fd, head, 12, 0);
	if (n > 0 && image_type((struct str){ head, (size_t)n }) && st.st_size <= PREVIEW_IMAGE) {
		buf_adds(&p->b, "<p><img class=\"preview\" alt=\"");
		html_attr(&p->b, name);
		buf_adds(&p->b, "\" src=\"");
		run_url(&p->b, http_param(p->q, "id"), "/artifacts/");
		buf_printf(&p->b, "%zu?show=1\"></p>", number);
		return;
	}
	if (st.st_size > PREVIEW_TEXT || fd_read_all(fd, PREVIEW_TEXT, &text) < 0 ||
		!utf8_valid(buf_str(&text)) || memchr(buf_cstr(&text), 0, text.len))
		return;
	struct mask *mask;
	if (!site_mask(m, &mask))
		return;
	mask_bytes(mask, &text);
	mask_free(mask);
	buf_adds(&p->b, "<pre class=\"log\" tabindex=\"0\" dir=\"ltr\">");
	page_output(&p->b, buf_str(&text));
	buf_adds(&p->b, "</pre>");
}

struct shown {
	struct page *p;
	struct run_model *m;
	size_t count;
};

static bool add_artifact(void *data, const struct artifact *a)
{
	struct shown *s = data;
	struct buf *b = &s->p->b;
	size_t number = s->count++;

	buf_adds(b, "<section><h2>");
	html_text(b, a->name);
	buf_adds(b, "</h2><p><code>");
	html_text(b, a->path);
	buf_adds(b, "</code> ");
	if (!a->exists) {
		buf_adds(b, "<span class=\"quiet\">is not there</span></p></section>");
		return true;
	}
	if (json_object_get(a->facts, "size")) {
		human_bytes(b, (uint64_t)json_number_of(a->facts, "size"));
		buf_addc(b, ' ');
	}
	buf_adds(b, "<a href=\"");
	run_url(b, http_param(s->p->q, "id"), "/artifacts/");
	buf_printf(b, "%zu\" download>Download</a></p>", number);
	put_preview(s->p, s->m, number, a->name);
	buf_adds(b, "</section>");
	return true;
}

void page_artifacts(struct http_request *q)
{
	struct run_model *m = ask_run(q);
	struct page p;
	struct shown s = { .p = &p, .m = m };

	if (!m)
		return;
	begin(&p, q, "Artifacts", false);
	artifacts_each(run_model_run(m), add_artifact, &s);
	if (s.count)
		buf_adds(&p.b, "<p class=\"quiet\">Downloads are the files as they are: secrets "
			       "in them are not masked.</p>");
	else
		buf_adds(&p.b, "<p class=\"quiet\">The recipe declares no files: "
			       "<code>artifacts</code> in it would.</p>");
	page_end(&p, 200);
}

struct nth {
	size_t wanted, at;
	struct buf name;
	bool exists;
};

static bool see_nth(void *data, const struct artifact *a)
{
	struct nth *n = data;

	if (n->at++ != n->wanted)
		return true;
	buf_add(&n->name, a->name);
	n->exists = true;
	return false;
}

void rest_artifact(struct http_request *q)
{
	AUTO_REPORT r = REPORT_INIT;
	struct run_model *m = ask_run(q);
	struct nth n = { 0 };
	uint64_t number;
	struct stat st;
	struct str text;
	char head[16];

	if (!m)
		return;
	if (!str_to_uint(http_param(q, "number"), &number)) {
		http_refuse(q, 404, "no such artifact", NULL, "artifacts are numbered from 0");
		return;
	}
	n.wanted = (size_t)number;
	artifacts_each(run_model_run(m), see_nth, &n);
	AUTO_CLOSE int fd = n.exists ? artifact_open(run_model_run(m), buf_str(&n.name), &r) : -1;
	if (fd < 0 || fstat(fd, &st) < 0) {
		buf_done(&n.name);
		http_refuse(q, 404, "no such artifact", NULL, "there is no such file");
		return;
	}
	AUTO_BUF state = BUF_INIT;
	buf_printf(&state, "%.*s-%" PRIu64 "-%" PRIu64 "-%" PRIu64 ".%09ld",
		STR(run_model_generation(m)), (uint64_t)st.st_ino, (uint64_t)st.st_size,
		(uint64_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	if (http_unchanged(q, buf_str(&state))) {
		buf_done(&n.name);
		return;
	}
	ssize_t got = pread(fd, head, 12, 0);
	const char *image = got > 0 ? image_type((struct str){ head, (size_t)got }) : NULL;
	bool show = image && http_query(q, "show", &text);
	http_reply_file(q,
		&(struct http_content){ .type = show ? image : "application/octet-stream",
			.name = buf_str(&n.name),
			.untrusted = true,
			.show = show },
		take_fd(&fd), (uint64_t)st.st_size);
	buf_done(&n.name);
}

void page_artifact(struct http_request *q)
{
	rest_artifact(q);
}

void rest_artifacts(struct http_request *q)
{
	struct run_model *m = ask_run(q);

	if (!m)
		return;
	AUTO_JSON *status = run_status_document(run_model_run(m));
	json_t *manifest = json_object_get(status, "manifest");
	http_reply_value(q, 200, json_pack("{s:O}", "manifest", manifest ? manifest : json_null()));
}

/* -- values --------------------------------------------------------------------------------------
 */

void page_values(struct http_request *q)
{
	AUTO_REPORT r = REPORT_INIT;
	struct run_model *m = ask_run(q);
	struct page p;
	const char *name;
	json_t *value;

	if (!m || ask_run_unchanged(q, m, S("values")))
		return;
	AUTO_JSON *values = run_values_document(run_model_run(m), &r);
	begin(&p, q, "Values", false);
	if (!json_object_size(values)) {
		buf_adds(&p.b, "<p class=\"quiet\">It was given no values.</p>");
	} else {
		buf_adds(&p.b,
			"<div class=\"scroll\" role=\"region\" aria-label=\"Values\" "
			"tabindex=\"0\"><table><thead><tr><th>Name<th>Value</tr></thead><tbody>");
		json_object_foreach(values, name, value)
		{
			AUTO_BUF text = BUF_INIT;

			buf_adds(&p.b, "<tr><td>");
			html_text(&p.b, str_of(name));
			buf_adds(&p.b, "<td dir=\"auto\"><code>");
			if (json_is_string(value) && !json_is_big(value))
				buf_add(&text, json_str(value));
			else
				json_write_typed(&text, value, 0);
			html_cut(&p.b, buf_str(&text), 4000);
			buf_adds(&p.b, "</code></tr>");
		}
		buf_adds(&p.b, "</tbody></table></div>");
	}
	page_end(&p, 200);
}

/* -- pictures ------------------------------------------------------------------------------------
 */

enum { FORMAT_SVG = 0 }; /* of render/picture/picture.h */

static void reply_file(struct http_request *q, struct buf *b, const char *type, const char *end)
{
	AUTO_BUF name = BUF_INIT;

	buf_printf(&name, "%.*s%s", STR(http_param(q, "id")), end);
	http_reply_bytes(q,
		&(struct http_content){ .type = type, .name = buf_str(&name), .untrusted = true },
		b);
}

static void make_report(struct app *a, struct aside_document *d)
{
	struct run_handle *h = aside_document_run(a, d);

	d->ok = h && run_report(h, &d->text, &d->r);
	run_close(h);
}

static void make_graph(struct app *a, struct aside_document *d)
{
	struct run_handle *h = aside_document_run(a, d);

	d->ok = h && run_picture(h, FORMAT_SVG, &d->text, &d->r);
	run_close(h);
}

static void reply_report(struct http_request *q, struct aside_document *d)
{
	if (d->ok)
		reply_file(q, &d->text, "text/html; charset=utf-8", ".html");
	else
		ask_refuse(q, &d->r);
}

static void reply_graph(struct http_request *q, struct aside_document *d)
{
	if (d->ok)
		reply_file(q, &d->text, "image/svg+xml", ".svg");
	else
		ask_refuse(q, &d->r);
}

void page_report(struct http_request *q)
{
	struct run_model *m = ask_run(q);

	if (m && !ask_run_unchanged(q, m, S("report")))
		aside_document(q, &(struct aside_document){ .run = str_of(ask_run_word(q)) },
			make_report, reply_report);
}

void page_graph(struct http_request *q)
{
	struct run_model *m = ask_run(q);

	if (m && !ask_run_unchanged(q, m, S("graph")))
		aside_document(q, &(struct aside_document){ .run = str_of(ask_run_word(q)) },
			make_graph, reply_graph);
}
