#include "cmdline/suggest.h"

#include "base/near.h"
#include "base/utf8.h"

void suggest_list(const char *const *words, struct buf *b)
{
	for (size_t i = 0; words[i]; i++) {
		const char *between = words[i + 1] ? ", " : " or ";

		buf_printf(b, "%s%s", i ? between : "", words[i]);
	}
}

bool suggest_word(const char *const *words, struct str wanted, struct report *r)
{
	struct near near = near_to(wanted);

	for (size_t i = 0; words[i]; i++)
		near_offer(&near, str_of(words[i]));
	struct str best = near_best(&near);
	if (best.len)
		report_hint(r, "did you mean '%.*s'?", STR(best));
	return best.len > 0;
}

bool suggest_command(
	const struct command *const *commands, size_t count, struct str name, struct report *r)
{
	struct near near = near_to(name);

	for (size_t i = 0; i < count; i++)
		if (!commands[i]->hidden)
			near_offer(&near, str_of(commands[i]->name));
	struct str best = near_best(&near);
	report_error(r, (struct where){ 0 }, "unknown command '%.*s'", STR(utf8_cut(name, 60)));
	if (best.len)
		return report_hint(r, "did you mean 'roux %.*s'?", STR(best));
	return report_hint(r, "'roux help' lists the commands");
}
