#include "base/hmac.h"

#include <string.h>

enum { BLOCK = 64 };

static void pad(const unsigned char key[HMAC_KEY], unsigned char with, unsigned char ret[BLOCK])
{
	memset(ret, with, BLOCK);
	for (size_t i = 0; i < HMAC_KEY; i++)
		ret[i] ^= key[i];
}

void hmac_sha256(
	const unsigned char key[HMAC_KEY], struct str data, unsigned char mac[SHA256_BYTES])
{
	unsigned char block[BLOCK];
	struct sha256 h;

	pad(key, 0x36, block);
	sha256_init(&h);
	sha256_update(&h, (struct str){ (const char *)block, BLOCK });
	sha256_update(&h, data);
	sha256_final(&h, mac);
	pad(key, 0x5c, block);
	sha256_init(&h);
	sha256_update(&h, (struct str){ (const char *)block, BLOCK });
	sha256_update(&h, (struct str){ (const char *)mac, SHA256_BYTES });
	sha256_final(&h, mac);
}

bool hmac_equal(const unsigned char *a, const unsigned char *b, size_t count)
{
	unsigned char differ = 0;

	for (size_t i = 0; i < count; i++)
		differ |= a[i] ^ b[i];
	return differ == 0;
}
