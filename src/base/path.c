#include "base/path.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"

struct str path_base(struct str path)
{
	size_t from = path.len;

	while (from && path.p[from - 1] != '/')
		from--;
	return str_from(path, from);
}

struct str path_dir(struct str path)
{
	size_t end = path.len - path_base(path).len;

	if (!end)
		return S(".");
	while (end > 1 && path.p[end - 1] == '/')
		end--;
	return str_sub(path, 0, end);
}

struct str path_below(struct arena *a, struct str dir, struct str name)
{
	size_t from = dir.len + (!dir.len || dir.p[dir.len - 1] != '/');
	char *p = arena_alloc(a, from + name.len + 1);

	if (dir.len)
		memcpy(p, dir.p, dir.len);
	p[from - 1] = '/';
	if (name.len)
		memcpy(p + from, name.p, name.len);
	return (struct str){ p, from + name.len };
}

void path_plain(struct buf *b, struct str path)
{
	for (size_t at = 0; at < path.len;) {
		size_t end = str_find(path, '/', at);
		struct str part = str_sub(path, at, end - at);

		/* The root and a `.` that a path begins with stay, so does a slash at its end. */
		if (!at || (part.len && !str_eq(part, S(".")))) {
			buf_add(b, part);
			buf_adds(b, end < path.len ? "/" : "");
		}
		at = end + 1;
	}
}

struct str path_from(struct arena *a, struct str dir, struct str path)
{
	AUTO_BUF whole = BUF_INIT;
	AUTO_BUF clean = BUF_INIT;

	if (!path.len || path.p[0] != '/') {
		buf_add(&whole, dir);
		buf_addc(&whole, '/');
	}
	buf_add(&whole, path);
	struct str w = buf_str(&whole);
	for (size_t at = 0; at < w.len;) {
		size_t end = str_find(w, '/', at);
		struct str part = str_sub(w, at, end - at);

		if (str_eq(part, S(".."))) {
			size_t up = clean.len;

			while (up && clean.p[up - 1] != '/')
				up--;
			buf_truncate(&clean, up ? up - 1 : 0);
		} else if (part.len && !str_eq(part, S("."))) {
			buf_addc(&clean, '/');
			buf_add(&clean, part);
		}
		at = end + 1;
	}
	return clean.len ? arena_str(a, buf_str(&clean)) : S("/");
}

struct str path_absolute(struct arena *a, struct str path)
{
	char cwd[4096] = "";

	if (path.len && path.p[0] == '/')
		return path_from(a, S(""), path);
	/* From a directory that is gone nothing is found or made; from the root it could be. */
	return getcwd(cwd, sizeof(cwd)) ? path_from(a, str_of(cwd), path) : arena_str(a, path);
}

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
