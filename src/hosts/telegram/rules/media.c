#include "hosts/telegram/rules/media.h"

#include "base/buf.h"
#include "base/lang.h"
#include "hosts/telegram/rules/update.h"

/* In the order in which they are named. */
static const struct media_kind {
	const char *name;
	const char *ending; /* where the type says nothing */
	const char *mime;   /* where the message says nothing */
} kinds[] = {
	{ "photo", ".jpg", "image/jpeg" },
	{ "document", "", "" },
	{ "video", ".mp4", "" },
	{ "audio", ".mp3", "" },
	{ "voice", ".ogg", "" },
	{ "animation", ".mp4", "" },
	{ "sticker", ".webp", "image/webp" },
};

static const struct {
	const char *mime, *ending;
} endings[] = {
	{ "image/jpeg", ".jpg" },
	{ "image/png", ".png" },
	{ "image/webp", ".webp" },
	{ "image/gif", ".gif" },
	{ "audio/ogg", ".ogg" },
	{ "audio/mpeg", ".mp3" },
	{ "audio/mp4", ".m4a" },
	{ "audio/x-m4a", ".m4a" },
	{ "audio/wav", ".wav" },
	{ "audio/x-wav", ".wav" },
	{ "audio/flac", ".flac" },
	{ "video/mp4", ".mp4" },
	{ "video/webm", ".webm" },
	{ "video/quicktime", ".mov" },
	{ "application/pdf", ".pdf" },
	{ "application/json", ".json" },
	{ "application/zip", ".zip" },
	{ "application/x-tgsticker", ".tgs" },
	{ "text/plain", ".txt" },
	{ "text/markdown", ".md" },
	{ "text/csv", ".csv" },
	{ "text/html", ".html" },
};

static const char *ending_of(struct str mime, const char *other)
{
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++)
		if (str_eq_nocase(mime, str_of(endings[i].mime)))
			return endings[i].ending;
	return other;
}

/* The largest; of equals, and where no size is given, the last. */
static const json_t *largest(const json_t *photos)
{
	const json_t *best = NULL;
	int64_t size = -1, one;

	for (size_t i = 0; i < json_array_size(photos); i++) {
		const json_t *photo = json_array_get(photos, i);

		one = 0;
		(void)json_whole(json_object_get(photo, "file_size"), &one);
		if (json_is_object(photo) && one >= size) {
			best = photo;
			size = one;
		}
	}
	return best;
}

static struct str mime_of(const struct media_kind *kind, const json_t *file)
{
	struct str mime = json_text_of(file, "mime_type");

	if (json_truth_of(file, "is_animated"))
		return S("application/x-tgsticker");
	if (json_truth_of(file, "is_video"))
		return S("video/webm");
	return mime.len && strcmp(kind->name, "photo") != 0 ? mime : str_of(kind->mime);
}

static bool read_file(struct arena *a, const struct media_kind *kind, const json_t *message,
	struct media_file *ret)
{
	const json_t *value = json_object_get(message, kind->name);
	const json_t *file = json_is_array(value) ? largest(value) : value;
	int64_t number = 0, size = 0;

	if (!json_text_of(file, "file_id").len)
		return false;
	(void)json_whole(json_object_get(message, "message_id"), &number);
	(void)json_whole(json_object_get(file, "file_size"), &size);
	*ret = (struct media_file){ .id = json_text_of(file, "file_id"),
		.kind = str_of(kind->name),
		.name = json_text_of(file, "file_name"),
		.mime = mime_of(kind, file),
		.size = size > 0 ? (uint64_t)size : 0 };
	if (!ret->name.len)
		ret->name = arena_printf(a, "%s-%lld%s", kind->name, (long long)number,
			ending_of(ret->mime, kind->ending));
	ret->image = str_starts(ret->mime, S("image/"));
	return true;
}

void media_named(struct arena *a, const json_t *message, struct media_files *ret)
{
	*ret = (struct media_files){ .at = arena_array(a, struct media_file, ARRAY_SIZE(kinds)) };
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		ret->count += read_file(a, &kinds[i], message, &ret->at[ret->count]);
}

static bool has_file(const struct media_files *files, struct str id)
{
	for (size_t i = 0; i < files->count; i++)
		if (str_eq(files->at[i].id, id))
			return true;
	return false;
}

void media_files(struct arena *a, const json_t *messages, struct media_files *ret)
{
	size_t count = json_array_size(messages);

	*ret = (struct media_files){ .at = arena_array(
					     a, struct media_file, count * ARRAY_SIZE(kinds)) };
	for (size_t i = 0; i < count; i++) {
		struct media_files named;

		media_named(a, json_array_get(messages, i), &named);
		for (size_t k = 0; k < named.count; k++)
			if (!has_file(ret, named.at[k].id))
				ret->at[ret->count++] = named.at[k];
	}
}

static bool safe(char c)
{
	return ascii_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
	       c == '_' || c == '-';
}

struct str media_safe_name(struct arena *a, struct str name)
{
	AUTO_BUF b = BUF_INIT;
	bool replaced = false;

	for (size_t i = 0; i < name.len; i++) {
		if (safe(name.p[i]))
			buf_addc(&b, name.p[i]);
		else if (!replaced)
			buf_addc(&b, '_');
		replaced = !safe(name.p[i]);
	}
	if (!b.len || str_eq(buf_str(&b), S(".")) || str_eq(buf_str(&b), S("..")))
		return S("file");
	if (b.len > MEDIA_NAME_BYTES) {
		size_t dot = b.len;

		while (dot > 0 && b.p[dot - 1] != '.' && b.len - dot < 16)
			dot--;
		bool has_dot = dot > 0 && b.p[dot - 1] == '.';
		struct str ending = has_dot ? str_from(buf_str(&b), dot - 1) : S("");
		return arena_printf(
			a, "%.*s%.*s", (int)(MEDIA_NAME_BYTES - ending.len), b.p, STR(ending));
	}
	return arena_str(a, buf_str(&b));
}
