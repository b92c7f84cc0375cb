#include "hosts/telegram/api/request.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

enum { BODY_MAX = 32 << 20, SLOW_S = 60 };

static size_t on_body(char *bytes, size_t one, size_t count, void *data)
{
	struct api_call *c = data;
	size_t n = one * count;

	c->got += n;
	if (c->got > c->max) {
		c->too_much = true;
		return 0;
	}
	if (c->fd < 0)
		buf_add(&c->body, (struct str){ bytes, n });
	else if (fd_write_all(c->fd, (struct str){ bytes, n }) < 0)
		return 0;
	return n;
}

static size_t on_header(char *bytes, size_t one, size_t count, void *data)
{
	struct api_call *c = data;
	struct str line = str_trim((struct str){ bytes, one * count });
	struct str name = S("retry-after:");

	if (line.len > name.len && strncasecmp(line.p, name.p, name.len) == 0) {
		buf_reset(&c->retry_header);
		buf_add(&c->retry_header, str_trim(str_from(line, name.len)));
	}
	return one * count;
}

static bool add_field(struct api_call *c, const char *name, const json_t *value)
{
	curl_mimepart *part = curl_mime_addpart(c->form);
	AUTO_BUF text = BUF_INIT;

	if (json_is_string(value))
		buf_add(&text, json_str(value));
	else
		json_write(&text, value, 0);
	return part && !curl_mime_name(part, name) &&
	       !curl_mime_data(part, buf_cstr(&text), text.len);
}

/* The file is read from disk while it is sent, never whole into memory. */
static bool make_form(struct api_call *c)
{
	const char *name;
	json_t *value;
	char path[40];

	c->form = curl_mime_init(c->easy);
	if (!c->form)
		return false;
	json_object_foreach(c->params, name, value) if (!add_field(c, name, value)) return false;
	curl_mimepart *part = curl_mime_addpart(c->form);
	/* The file that was looked at, whatever has its name by now. */
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", c->upload_fd);
	return part && !curl_mime_name(part, c->upload_field) && !curl_mime_filedata(part, path) &&
	       !curl_mime_filename(part, c->upload_name) &&
	       !curl_easy_setopt(c->easy, CURLOPT_MIMEPOST, c->form);
}

static bool make_json(struct api_call *c)
{
	buf_reset(&c->text);
	if (c->params)
		json_write(&c->text, c->params, 0);
	else
		buf_adds(&c->text, "{}");
	c->headers = curl_slist_append(c->headers, "Content-Type: application/json");
	return !curl_easy_setopt(c->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)c->text.len) &&
	       !curl_easy_setopt(c->easy, CURLOPT_POSTFIELDS, buf_cstr(&c->text));
}

bool request_make(struct api_call *c, bool local)
{
	buf_reset(&c->body);
	c->got = 0;
	c->too_much = false;
	buf_reset(&c->retry_header);
	if (c->fd >= 0 && (ftruncate(c->fd, 0) < 0 || lseek(c->fd, 0, SEEK_SET) < 0))
		return false;
	c->headers = curl_slist_append(NULL, "Expect:");
	curl_easy_setopt(c->easy, CURLOPT_URL, c->url);
	curl_easy_setopt(c->easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(c->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(c->easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c->easy, CURLOPT_USERAGENT, "roux-telegram/" ROUX_VERSION);
	curl_easy_setopt(c->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)API_CONNECT_MS);
	curl_easy_setopt(c->easy, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(c->easy, CURLOPT_WRITEDATA, c);
	curl_easy_setopt(c->easy, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(c->easy, CURLOPT_HEADERDATA, c);
	curl_easy_setopt(c->easy, CURLOPT_PRIVATE, c);
	if (local)
		curl_easy_setopt(c->easy, CURLOPT_NOPROXY, "*");
	/* What moves files may take its time as long as bytes come. */
	if (c->fd >= 0 || c->upload_field) {
		curl_easy_setopt(c->easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
		curl_easy_setopt(c->easy, CURLOPT_LOW_SPEED_TIME, (long)SLOW_S);
	} else {
		curl_easy_setopt(c->easy, CURLOPT_TIMEOUT_MS, (long)c->deadline_ms);
	}
	if (c->fd >= 0) {
		curl_easy_setopt(c->easy, CURLOPT_FAILONERROR, 1L);
		curl_easy_setopt(c->easy, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)c->max);
	} else if (!(c->upload_field ? make_form(c) : make_json(c))) {
		return false;
	}
	/* On a connection that was used before, libcurl by itself sends a request again when the
	 * connection breaks, also when it has arrived. */
	if (c->method && !api_repeatable(str_of(c->method)))
		curl_easy_setopt(c->easy, CURLOPT_FRESH_CONNECT, 1L);
	return !curl_easy_setopt(c->easy, CURLOPT_HTTPHEADER, c->headers);
}

CURL *request_end(struct api_call *c)
{
	/* It points to what follows. */
	if (c->easy)
		curl_easy_reset(c->easy);
	curl_mime_free(c->form);
	curl_slist_free_all(c->headers);
	c->form = NULL;
	c->headers = NULL;
	return TAKE(c->easy);
}

static struct api_attempt attempt_of(struct api_call *c, CURLcode code, json_t **ret_document)
{
	struct api_attempt a = { .retry_header = buf_str(&c->retry_header) };
	AUTO_REPORT ignored = REPORT_INIT;
	struct source source = { S("answer"), buf_str(&c->body) };
	long sent = 0, http = 0;

	(void)curl_easy_getinfo(c->easy, CURLINFO_REQUEST_SIZE, &sent);
	(void)curl_easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &http);
	/* An answer that broke off behind its status line did arrive, but cannot be read. */
	if (code == CURLE_OK || http == 200) {
		a.status = (int)http;
		a.body = *ret_document = code == CURLE_OK ? json_read(&source, &ignored) : NULL;
	} else {
		a.unsent = sent == 0;
		a.lost = sent > 0;
	}
	return a;
}

static struct api_answer download_answer(struct api_call *c, CURLcode code)
{
	struct api_answer a = { .class = API_OK, .status = 200 };
	long http = 0;

	(void)curl_easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &http);
	if (c->too_much || code == CURLE_FILESIZE_EXCEEDED)
		return (struct api_answer){ .class = API_FILE_REFUSED,
			.status = 413,
			.description = S("it is larger than allowed") };
	if (code == CURLE_HTTP_RETURNED_ERROR && http < 500)
		return (struct api_answer){ .class = API_FILE_REFUSED,
			.status = (int)http,
			.description = S("the service does not have it") };
	if (code != CURLE_OK)
		a = (struct api_answer){ .class = API_SERVER,
			.status = (int)http,
			.description = str_of(curl_easy_strerror(code)) };
	return a;
}

struct api_answer request_answer(struct api_call *c, CURLcode code, json_t **ret_document)
{
	struct api_answer answer;

	*ret_document = NULL;
	if (!c->method)
		return download_answer(c, code);
	struct api_attempt attempt = attempt_of(c, code, ret_document);
	api_classify(str_of(c->method), &attempt, &answer);
	if (!answer.description.len && code != CURLE_OK)
		answer.description = str_of(curl_easy_strerror(code));
	return answer;
}
