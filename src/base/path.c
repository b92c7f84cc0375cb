#include "base/path.h"

#include "base/buf.h"

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
