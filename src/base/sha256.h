#pragma once

#include <stdint.h>

#include "base/str.h"

/* SHA-256 (FIPS 180-4). Ours, because it is all the cryptography that roux needs: loading and
 * relocating libcrypto costs every start milliseconds, and the hash is a hundred lines. It tells
 * whether a text has changed; it keeps no secrets, so nothing here is wiped. */

enum { SHA256_BYTES = 32, SHA256_HEX = 2 * SHA256_BYTES + 1 };

struct sha256 {
	uint32_t state[8];
	uint64_t len; /* bytes so far */
	unsigned char block[64];
};

void sha256_init(struct sha256 *h);
void sha256_update(struct sha256 *h, struct str data);
/* Ends it; another sum needs another sha256_init(). */
void sha256_final(struct sha256 *h, unsigned char digest[SHA256_BYTES]);

/* The sum of `data` in lower case, with a NUL behind it. */
void sha256_hex(struct str data, char hex[SHA256_HEX]);
