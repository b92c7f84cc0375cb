#include "runs/dir/outputs.h"

#include <inttypes.h>

#include "base/sha256.h"

enum { NAME_PATH_MAX = 200 };

void output_name(struct buf *b, struct str path, uint64_t number, bool err)
{
	char sum[SHA256_HEX];

	/* A deep graph has longer paths than a file may have a name. */
	if (path.len > NAME_PATH_MAX) {
		sha256_hex(path, sum);
		path = str_of(sum);
	}
	buf_add(b, path);
	if (number > 1)
		buf_printf(b, ".a%" PRIu64, number);
	buf_adds(b, err ? ".err" : ".out");
}

bool output_file(struct buf *b, struct str path, uint64_t number, bool err)
{
	for (size_t i = 0; i < path.len; i++) {
		char c = path.p[i];

		if (!ascii_digit(c) && !(c >= 'a' && c <= 'z') && c != '.')
			return false;
	}
	if (!path.len || path.p[0] == '.')
		return false;
	buf_adds(b, OUTPUTS_DIR "/");
	output_name(b, path, number, err);
	return true;
}
