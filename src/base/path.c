#include "base/path.h"

#include <unistd.h>

#include "base/buf.h"

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
