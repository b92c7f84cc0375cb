#include "prompts/placeholders.h"

#include "base/lang.h"

enum { IN_COMMAND = IN_AGENT | IN_STEP, IN_SECTION = IN_ROLE | IN_CONTEXT | IN_TASK };

static const struct {
	struct str name;
	unsigned kinds;
} table[PH_COUNT] = {
	[PH_DATE] = { S("date"), IN_COMMAND | IN_SECTION },
	[PH_BIN] = { S("bin"), IN_COMMAND },
	[PH_MODEL] = { S("model"), IN_COMMAND },
	[PH_PROMPT] = { S("prompt"), IN_COMMAND },
	[PH_ROLE] = { S("role"), IN_COMMAND },
	[PH_ROLE_FILE] = { S("role_file"), IN_COMMAND },
	[PH_PROMPT_FILE] = { S("prompt_file"), IN_COMMAND },
	[PH_AGENT] = { S("agent"), IN_STEP },
	[PH_MODE] = { S("mode"), IN_STEP },
	[PH_PROVIDER] = { S("provider"), IN_STEP },
	[PH_STEP] = { S("step"), IN_STEP },
	[PH_FILE] = { S("file"), IN_SECTION },
	[PH_FILE_CONTENTS] = { S("file_contents"), IN_SECTION },
	[PH_COMMAND] = { S("command"), IN_SECTION },
	[PH_COMMAND_OUTPUT] = { S("command_output"), IN_SECTION },
	[PH_INSTRUCTIONS] = { S("instructions"), IN_TASK },
};

struct str placeholder_name(enum prompt_placeholder p)
{
	return table[p].name;
}

unsigned placeholder_places(enum prompt_placeholder p)
{
	return table[p].kinds;
}

bool placeholder_find(struct str name, enum prompt_placeholder *ret)
{
	for (unsigned p = 0; p < PH_COUNT; p++) {
		if (str_eq(table[p].name, name)) {
			*ret = (enum prompt_placeholder)p;
			return true;
		}
	}
	return false;
}

static bool name_char(char c)
{
	return (c >= 'a' && c <= 'z') || c == '_' || ascii_digit(c);
}

bool braces_next(struct str text, size_t from, struct braces *ret)
{
	for (size_t at = str_find(text, '{', from); at < text.len;
		at = str_find(text, '{', at + 1)) {
		size_t end = at + 1;

		while (end < text.len && name_char(text.p[end]))
			end++;
		if (end == at + 1 || end == text.len || text.p[end] != '}')
			continue;
		*ret = (struct braces){ at, end + 1 - at, str_sub(text, at + 1, end - at - 1) };
		return true;
	}
	return false;
}

/* ${name} in an agent's command is the shell's. */
static bool shells_own(struct str text, size_t at, unsigned kinds)
{
	return kinds & IN_COMMAND && at && text.p[at - 1] == '$';
}

bool placeholder_at(
	struct str text, size_t at, unsigned kinds, enum prompt_placeholder *ret, size_t *length)
{
	size_t end = at + 1;

	/* Not braces_next(), which would look at all that follows. */
	if (text.p[at] != '{' || shells_own(text, at, kinds))
		return false;
	while (end < text.len && name_char(text.p[end]))
		end++;
	if (end == text.len || text.p[end] != '}' ||
		!placeholder_find(str_sub(text, at + 1, end - at - 1), ret) ||
		!(table[*ret].kinds & kinds))
		return false;
	*length = end + 1 - at;
	return true;
}

uint32_t placeholders_in(struct str text, unsigned kinds)
{
	struct braces b;
	enum prompt_placeholder p;
	uint32_t mask = 0;

	for (size_t at = 0; braces_next(text, at, &b); at = b.offset + b.length)
		if (placeholder_find(b.name, &p) && table[p].kinds & kinds &&
			!shells_own(text, b.offset, kinds))
			mask |= 1u << p;
	return mask;
}

void placeholders_replace(
	struct buf *b, struct str text, uint32_t mask, const struct placeholder_values *v)
{
	struct braces hit;
	enum prompt_placeholder p;
	size_t done = 0;

	for (size_t at = 0; braces_next(text, at, &hit); at = hit.offset + hit.length) {
		if (!placeholder_find(hit.name, &p) || !(mask & 1u << p))
			continue;
		buf_add(b, str_sub(text, done, hit.offset - done));
		buf_add(b, v->at[p]);
		done = hit.offset + hit.length;
	}
	buf_add(b, str_from(text, done));
}
