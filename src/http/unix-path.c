#include "http/unix-path.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/buf.h"
#include "base/path.h"

int unix_path_address(const char *path, struct sockaddr_un *ret, int *ret_dir)
{
	AUTO_BUF text = BUF_INIT;

	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	*ret_dir = -1;
	buf_adds(&text, path);
	if (text.len >= sizeof(ret->sun_path)) {
		AUTO_BUF dir = BUF_INIT;

		buf_add(&dir, path_dir(str_of(path)));
		*ret_dir = open(buf_cstr(&dir), O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (*ret_dir < 0)
			return -errno;
		buf_reset(&text);
		buf_printf(&text, "/proc/self/fd/%d/%.*s", *ret_dir, STR(path_base(str_of(path))));
	}
	if (text.len >= sizeof(ret->sun_path))
		return -ENAMETOOLONG;
	memcpy(ret->sun_path, text.p, text.len + 1);
	return 0;
}
