#include "prompts/paths.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"

/* The program is linked statically, where getpwuid() would load half of the C library again. */
static struct str home_from_passwd(struct arena *a)
{
	AUTO_BUF text = BUF_INIT;

	if (file_read("/etc/passwd", 4 << 20, &text) < 0)
		return S("");
	struct str s = buf_str(&text);
	for (size_t at = 0; at < s.len;) {
		size_t end = str_find(s, '\n', at);
		struct str line = str_sub(s, at, end - at), field[7] = { 0 };
		size_t n = 0;

		for (size_t from = 0; n < 7 && from <= line.len; n++) {
			size_t to = str_find(line, ':', from);

			field[n] = str_sub(line, from, to - from);
			from = to + 1;
		}
		uint64_t uid;
		if (n == 7 && str_to_uint(field[2], &uid) && uid == (uint64_t)getuid())
			return arena_str(a, field[5]);
		at = end + 1;
	}
	return S("");
}

struct str path_home(struct arena *a)
{
	const char *home = getenv("HOME");

	return home && *home ? arena_str(a, str_of(home)) : home_from_passwd(a);
}

struct str path_global_config(struct arena *a, struct str home)
{
	const char *xdg = getenv("XDG_CONFIG_HOME");

	if (xdg && xdg[0] == '/')
		return path_from(a, str_of(xdg), S("start"));
	return path_from(a, home, S(".config/start"));
}

bool path_typed(struct str s)
{
	return str_starts(s, S("./")) || str_starts(s, S("../")) || str_starts(s, S("/")) ||
	       str_starts(s, S("~/"));
}

struct str path_tilde(struct arena *a, struct str path, struct str home)
{
	bool ours = str_eq(path, S("~")) || str_starts(path, S("~/"));

	if (!ours || !home.len)
		return path;
	return arena_printf(a, "%.*s%.*s", STR(home), STR(str_from(path, 1)));
}

struct str path_last(struct str path)
{
	size_t from = path.len;

	while (from && path.p[from - 1] != '/')
		from--;
	return str_from(path, from);
}
