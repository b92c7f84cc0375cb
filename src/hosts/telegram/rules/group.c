#include "hosts/telegram/rules/group.h"

#include "base/utf8.h"
#include "hosts/telegram/rules/update.h"
#include "hosts/telegram/text/unicode.h"

static const json_t *album_of(const json_t *message)
{
	const json_t *id = json_object_get(message, "media_group_id");

	return json_is_string(id) && json_string_length(id) ? id : NULL;
}

static int64_t id_of(const json_t *message, const char *member)
{
	const json_t *value = json_object_get(message, member);
	int64_t id = 0;

	(void)json_whole(json_is_object(value) ? json_object_get(value, "id") : value, &id);
	return id;
}

/* Text that a person has written, and not a command. */
static bool plain_text(const json_t *message, struct str *text)
{
	*text = json_text_of(message, "text");
	struct str trimmed = utf8_trim(*text);
	return trimmed.len && trimmed.p[0] != '/' && !album_of(message) &&
	       !json_is_true(json_object_get(json_object_get(message, "from"), "is_bot"));
}

bool group_opens(const json_t *message, uint64_t *ms)
{
	struct str text;

	if (album_of(message)) {
		*ms = ALBUM_MS;
		return true;
	}
	*ms = TEXT_GROUP_MS;
	return plain_text(message, &text) && unicode_units(text) >= TEXT_GROUP_UNITS;
}

bool group_joins(const json_t *last, const json_t *message, uint64_t *ms)
{
	const json_t *album = album_of(last);
	struct str text;

	if (id_of(last, "chat") != id_of(message, "chat"))
		return false;
	if (album) {
		*ms = ALBUM_MS;
		return album_of(message) && json_equal(album, album_of(message));
	}
	*ms = TEXT_GROUP_MS;
	int64_t step = id_of(message, "message_id") - id_of(last, "message_id");
	return plain_text(message, &text) && id_of(last, "from") == id_of(message, "from") &&
	       step > 0 && step <= TEXT_GROUP_STEP;
}
