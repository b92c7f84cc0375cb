#include "hosts/serve/login.h"

#include "hosts/serve/serve.h"
#include "render/web/html.h"

/* Where to continue: a path of ours, nothing else. Browsers take a backslash for a slash. */
static struct str next_of(struct http_request *q)
{
	struct str next;

	if ((!http_query(q, "next", &next) && !http_form_field(q, "next", &next)) || !next.len ||
		next.p[0] != '/')
		return S("/");
	for (size_t i = 0; i < next.len; i++)
		if (next.p[i] == '\\' || (unsigned char)next.p[i] <= ' ' ||
			(i == 1 && next.p[i] == '/'))
			return S("/");
	return next;
}

static void begin_page(struct buf *b, const char *title)
{
	buf_printf(b,
		"<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<meta name=\"color-scheme\" content=\"light dark\">\n<title>%s</title>\n",
		title);
}

static void reply(struct http_request *q, unsigned status, struct buf *b)
{
	buf_adds(b, "</main>\n</body>\n</html>\n");
	http_add_header(q, "Cache-Control", S("no-store"));
	http_reply_page(q, status, b);
}

/* A page that continues by itself, not a redirect: in a chain that another page began the cookie
 * would not be sent. */
static void reply_welcome(struct http_request *q)
{
	AUTO_BUF b = BUF_INIT;
	struct str next = next_of(q);

	begin_page(&b, "Welcome · roux");
	buf_adds(&b, "<meta http-equiv=\"refresh\" content=\"0; url=");
	html_attr(&b, next);
	buf_adds(&b, "\">\n</head>\n<body>\n<main>\n<h1>You are logged in</h1>\n<p><a href=\"");
	html_attr(&b, next);
	buf_adds(&b, "\">Continue</a></p>\n");
	reply(q, 200, &b);
}

static void reply_form(struct http_request *q, unsigned status, const char *why)
{
	AUTO_BUF b = BUF_INIT;

	begin_page(&b, "Log in · roux");
	buf_adds(&b, "</head>\n<body>\n<main>\n<h1>Log in to roux</h1>\n");
	if (why)
		buf_printf(&b, "<p role=\"alert\">%s</p>\n", why);
	buf_adds(&b, "<p>On the machine where roux runs, this command prints a link that logs a "
		     "browser in, once:</p>\n<pre><code>roux serve link</code></pre>\n");
	if (http_may_log_in(q)) {
		buf_adds(&b, "<form method=\"post\" action=\"/login\">\n<input type=\"hidden\" "
			     "name=\"next\" value=\"");
		html_attr(&b, next_of(q));
		buf_adds(&b, "\">\n<p><label for=\"once\">Or paste the link, or what stands behind "
			     "<code>once=</code> in it</label></p>\n"
			     "<p><input id=\"once\" name=\"once\" type=\"password\" "
			     "autocomplete=\"off\" required size=\"40\">\n"
			     "<button>Log in</button></p>\n</form>\n");
	} else {
		AUTO_BUF url = BUF_INIT;

		http_base_url(http_door(q), &url);
		buf_adds(&b, "<p>Browsers log in at another name of this server: <a href=\"");
		html_attr(&b, buf_str(&url));
		buf_adds(&b, "/login\">");
		html_text(&b, buf_str(&url));
		buf_adds(&b, "</a></p>\n");
	}
	reply(q, status, &b);
}

static const char old_link[] =
	"That link is not valid any more: it works once, and for ten minutes.";

void login_page(struct http_request *q)
{
	struct str once;

	if (!http_query(q, "once", &once) || !http_may_log_in(q)) {
		reply_form(q, 200, NULL);
		return;
	}
	/* A browser that looks ahead must not use it up. */
	if (http_is_head(q) || http_request_header(q, "Sec-Purpose").len ||
		http_request_header(q, "Purpose").len) {
		reply_form(q, 200, NULL);
		return;
	}
	if (http_log_in(q, once))
		reply_welcome(q);
	else
		reply_form(q, 403, old_link);
}

void login_post(struct http_request *q)
{
	struct str once = S("");

	(void)http_form_field(q, "once", &once);
	once = str_trim(once);
	/* The whole link was pasted. */
	for (size_t i = 0; i + 5 < once.len; i++)
		if (str_eq(str_sub(once, i, 5), S("once="))) {
			once = str_from(once, i + 5);
			break;
		}
	if (once.len && http_log_in(q, once))
		reply_welcome(q);
	else
		reply_form(q, 403, old_link);
}

void logout_post(struct http_request *q)
{
	http_log_out(q);
	http_redirect(q, 303, S("/login"));
}
