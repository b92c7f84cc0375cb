#include "hosts/telegram/rules/reaction.h"

#include "base/lang.h"

static const char *const promoting[] = { "👍", "⚡", "❤", "🕊", "🔥" };
static const char *const removing[] = { "👎", "👻", "💔", "💩", "🗑" };

/* Whether the list has it, with a selector or without. */
static bool has(const json_t *list, const char *emoji)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *one = json_array_get(list, i);
		struct str text = json_text_of(one, "emoji");

		if (!str_eq(json_text_of(one, "type"), S("emoji")))
			continue;
		while (str_ends(text, S("\xef\xb8\x8f")))
			text.len -= strlen("\xef\xb8\x8f");
		if (str_eq(text, str_of(emoji)))
			return true;
	}
	return false;
}

/* The first of `set` that is in one list and not in the other. */
static const char *only_in(const json_t *list, const json_t *other, const char *const *set)
{
	for (size_t i = 0; i < ARRAY_SIZE(promoting); i++)
		if (has(list, set[i]) && !has(other, set[i]))
			return set[i];
	return NULL;
}

struct reaction reaction_read(const json_t *body)
{
	const json_t *before = json_object_get(body, "old_reaction"),
		     *now = json_object_get(body, "new_reaction");
	struct reaction r = { .effect = REACTION_NONE };

	_Static_assert(ARRAY_SIZE(promoting) == ARRAY_SIZE(removing), "one loop for both");
	if (only_in(now, before, removing)) {
		r.effect = REACTION_REMOVE;
	} else if ((r.emoji = only_in(now, before, promoting))) {
		r.effect = REACTION_PROMOTE;
	} else if (only_in(before, now, promoting) && !only_in(now, NULL, promoting)) {
		r.effect = REACTION_DEMOTE;
	}
	return r;
}

bool reaction_allowed(const json_t *body, const struct pairing *pairing)
{
	const json_t *user = json_object_get(body, "user");
	struct str type = json_text_of(json_object_get(body, "chat"), "type");
	int64_t id;

	return pairing->paired && str_eq(type, S("private")) &&
	       json_whole(json_object_get(user, "id"), &id) && id == pairing->user &&
	       !json_is_true(json_object_get(user, "is_bot"));
}
