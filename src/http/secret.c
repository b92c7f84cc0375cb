#include "http/secret.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "base/atomic-file.h"
#include "base/file.h"
#include "base/hex.h"

static bool random_bytes(void *p, size_t size)
{
	return getrandom(p, size, 0) == (ssize_t)size;
}

bool secret_make(char ret[SECRET_HEX])
{
	unsigned char bytes[32];

	if (!random_bytes(bytes, sizeof(bytes)))
		return false;
	hex_write(bytes, sizeof(bytes), ret);
	return true;
}

bool secret_matches(struct str text, const char sum[SHA256_HEX])
{
	char own[SHA256_HEX];

	sha256_hex(text, own);
	return hmac_equal((const unsigned char *)own, (const unsigned char *)sum, SHA256_HEX - 1);
}

/* A file of fixed size with random content: read, or made. The first of two that make it wins. */
static bool kept_random(struct str dir, const char *name, void *ret, size_t size, struct report *r)
{
	AUTO_BUF path = BUF_INIT;
	AUTO_BUF text = BUF_INIT;

	if (!random_bytes(ret, size))
		return report_errno(r, errno, "cannot make a key");
	if (!dir.len)
		return true;
	buf_printf(&path, "%.*s/%s", STR(dir), name);
	int n = file_read_regular(buf_cstr(&path), size, &text);
	if (n == -ENOENT) {
		n = atomic_write(buf_cstr(&path), (struct str){ ret, size },
			&(struct atomic_options){ .exclusive = true });
		if (n == 0 || n == -EEXIST)
			n = file_read_regular(buf_cstr(&path), size, &text);
	}
	if (n == 0 && text.len != size)
		n = -EINVAL;
	if (n < 0)
		return report_errno(r, -n, "cannot use '%s'", buf_cstr(&path));
	memcpy(ret, text.p, size);
	return true;
}

bool secret_key(struct str dir, unsigned char key[HMAC_KEY], char label[17], struct report *r)
{
	unsigned char bytes[8];

	if (!kept_random(dir, "key", key, HMAC_KEY, r) ||
		!kept_random(dir, "label", bytes, sizeof(bytes), r))
		return false;
	hex_write(bytes, sizeof(bytes), label);
	return true;
}
