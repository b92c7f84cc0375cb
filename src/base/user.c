#include "base/user.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/lang.h"
#include "base/str.h"

/* Fields of a line of the password file. */
enum field { NAME, UID = 2, HOME = 5, FIELDS = 7 };

static bool is_of(struct str line, uid_t uid, struct str field[static FIELDS])
{
	uint64_t number;
	size_t n = 0;

	for (size_t from = 0; n < FIELDS && from <= line.len; n++) {
		size_t to = str_find(line, ':', from);

		field[n] = str_sub(line, from, to - from);
		from = to + 1;
	}
	return n == FIELDS && str_to_uint(field[UID], &number) && number == (uint64_t)uid;
}

static struct str look_up(struct arena *a, uid_t uid, enum field which)
{
	AUTO_BUF text = BUF_INIT;

	if (file_read("/etc/passwd", 4 << 20, &text) < 0)
		return S("");
	struct str s = buf_str(&text), field[FIELDS] = { 0 };
	for (size_t at = 0; at < s.len;) {
		size_t end = str_find(s, '\n', at);

		if (is_of(str_sub(s, at, end - at), uid, field))
			return arena_str(a, field[which]);
		at = end + 1;
	}
	return S("");
}

static struct str said(struct arena *a, const char *variable)
{
	const char *value = getenv(variable);

	return arena_str(a, str_of(value ? value : ""));
}

struct str user_home(struct arena *a)
{
	struct str home = said(a, "HOME");

	return home.len ? home : look_up(a, getuid(), HOME);
}

struct str user_name(struct arena *a)
{
	struct str name = look_up(a, getuid(), NAME);

	if (!name.len)
		name = said(a, "LOGNAME");
	return name.len ? name : said(a, "USER");
}
