#include "hosts/mcp/artifact.h"

#include <string.h>

#include "app/artifacts.h"
#include "base/file.h"
#include "base/utf8.h"
#include "data/base64.h"
#include "data/mask.h"
#include "hosts/mcp/uri.h"

enum { INLINE_MAX = 1 << 20 };

static const struct {
	const char *end, *type;
} types[] = {
	{ ".png", "image/png" },
	{ ".jpg", "image/jpeg" },
	{ ".jpeg", "image/jpeg" },
	{ ".gif", "image/gif" },
	{ ".webp", "image/webp" },
	{ ".svg", "image/svg+xml" },
	{ ".wav", "audio/wav" },
	{ ".mp3", "audio/mpeg" },
	{ ".ogg", "audio/ogg" },
	{ ".flac", "audio/flac" },
	{ ".txt", "text/plain" },
	{ ".log", "text/plain" },
	{ ".md", "text/markdown" },
	{ ".html", "text/html" },
	{ ".csv", "text/csv" },
	{ ".json", "application/json" },
	{ ".jsonl", "application/jsonl" },
	{ ".yaml", "application/yaml" },
	{ ".yml", "application/yaml" },
	{ ".xml", "application/xml" },
	{ ".pdf", "application/pdf" },
	{ ".zip", "application/zip" },
	{ ".gz", "application/gzip" },
};

void artifact_type(struct str path, struct buf *b)
{
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct str end = str_of(types[i].end);

		if (path.len > end.len && str_eq_nocase(str_from(path, path.len - end.len), end)) {
			buf_adds(b, types[i].type);
			return;
		}
	}
	buf_adds(b, "application/octet-stream");
}

struct typing {
	struct str name;
	struct buf *type;
};

static bool take_type(void *data, const struct artifact *a)
{
	struct typing *t = data;

	if (!str_eq(a->name, t->name))
		return true;
	artifact_type(a->path, t->type);
	return false;
}

void artifact_type_of(
	struct run_handle *h, struct str name, struct str content, struct buf *type, bool *ret_blob)
{
	struct typing t = { name, type };

	artifacts_each(h, take_type, &t);
	bool text = utf8_valid(content) && str_find(content, '\0', 0) == content.len;
	bool known = !str_eq(buf_str(type), S("application/octet-stream"));
	if (!known && text) {
		buf_reset(type);
		buf_adds(type, "text/plain");
	}
	*ret_blob = !text;
}

void artifact_uri(struct buf *b, struct str run, struct str name)
{
	buf_printf(b, "roux://runs/%.*s/artifacts/", STR(run));
	uri_escape(b, name);
}

/* NULL: it cannot be shown that way. */
static json_t *block_of_media(
	struct run_handle *h, struct mask *mask, const json_t *fact, const char *kind)
{
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_BUF bytes = BUF_INIT;
	AUTO_BUF coded = BUF_INIT;
	AUTO_CLOSE int fd = artifact_open(h, json_text_of(fact, "name"), &ignored);

	if (fd < 0 || fd_read_all(fd, INLINE_MAX, &bytes) < 0)
		return NULL;
	mask_bytes(mask, &bytes);
	base64_write(&coded, buf_str(&bytes));
	return json_pack("{s:s, s:o, s:O}", "type", kind, "data", json_from_str(buf_str(&coded)),
		"mimeType", json_object_get(fact, "mimeType"));
}

void artifacts_content(
	struct run_handle *h, struct mask *mask, const json_t *facts, json_t *content)
{
	json_t *fact;
	size_t i;

	json_array_foreach(facts, i, fact)
	{
		struct str type = json_text_of(fact, "mimeType");
		const char *kind = str_starts(type, S("image/"))   ? "image"
				   : str_starts(type, S("audio/")) ? "audio"
								   : NULL;
		json_t *block = kind ? block_of_media(h, mask, fact, kind) : NULL;

		if (!block)
			block = json_pack("{s:s, s:O, s:O, s:O}", "type", "resource_link", "uri",
				json_object_get(fact, "uri"), "name", json_object_get(fact, "name"),
				"mimeType", json_object_get(fact, "mimeType"));
		json_array_append_new(content, block);
	}
}
