#include "steps/read/names.h"

#include <string.h>

#include "base/lang.h"
#include "base/utf8.h"
#include "steps/language/letters.h"
#include "steps/language/value.h"

/* Letters and digits of any script, and `others`; at least one letter or digit. */
static bool made_of(struct str s, const char *others)
{
	bool any = false;
	uint32_t c;

	for (size_t i = 0; i < s.len;) {
		i += utf8_decode(s, i, &c);
		if (letter_or_digit(c))
			any = true;
		else if (c == 0 || c > 0x7f || !strchr(others, (int)c))
			return false;
	}
	return any;
}

bool name_of_variable(struct str s)
{
	return made_of(s, "_");
}

bool name_of_recipe(struct str s)
{
	return made_of(s, "-_");
}

bool name_of_stage(struct str s)
{
	return made_of(s, "-_ ");
}

bool name_reserved(struct str s, bool result)
{
	return str_eq(s, S("recipe")) || str_eq(s, S("session")) || str_eq(s, S("step")) ||
	       (result && str_eq(s, S("stage")));
}

bool name_of_version(struct str s)
{
	size_t dots = 0, digits = 0;

	for (size_t i = 0; i < s.len; i++) {
		if (ascii_digit(s.p[i])) {
			digits++;
		} else if (s.p[i] == '.' && digits) {
			dots++;
			digits = 0;
		} else {
			return false;
		}
	}
	return dots == 2 && digits;
}

bool name_of_environment(struct str s)
{
	return s.len && str_find(s, '=', 0) == s.len && str_find(s, '\0', 0) == s.len;
}

bool name_blank(struct str s)
{
	return step_value_trim(s).len == 0;
}
