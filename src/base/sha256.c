#include "base/sha256.h"

#include <string.h>

#include "base/hex.h"
#include "base/lang.h"

enum { BLOCK = 64, LENGTH_AT = BLOCK - 8 };

static const uint32_t round_constant[64] = { 0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5,
	0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
	0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
	0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152,
	0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e,
	0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624,
	0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3,
	0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2 };

static uint32_t rotate(uint32_t x, unsigned by)
{
	return x >> by | x << (32 - by);
}

static uint32_t get32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void put32(unsigned char *p, uint32_t x)
{
	for (int i = 3; i >= 0; i--, x >>= 8)
		p[i] = (unsigned char)x;
}

/* The letters are those of the standard. */
static void digest_block(uint32_t state[8], const unsigned char *block)
{
	uint32_t w[64];
	uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
	uint32_t e = state[4], f = state[5], g = state[6], h = state[7];

	for (size_t i = 0; i < 16; i++)
		w[i] = get32(block + 4 * i);
	for (size_t i = 16; i < 64; i++) {
		uint32_t x = w[i - 15], y = w[i - 2];

		w[i] = w[i - 16] + (rotate(x, 7) ^ rotate(x, 18) ^ x >> 3) + w[i - 7] +
		       (rotate(y, 17) ^ rotate(y, 19) ^ y >> 10);
	}
	for (size_t i = 0; i < 64; i++) {
		uint32_t t1 = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
			      ((e & f) ^ (~e & g)) + round_constant[i] + w[i];
		uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
			      ((a & b) ^ (a & c) ^ (b & c));

		h = g;
		g = f;
		f = e;
		e = d + t1;
		d = c;
		c = b;
		b = a;
		a = t1 + t2;
	}
	const uint32_t add[8] = { a, b, c, d, e, f, g, h };
	for (size_t i = 0; i < 8; i++)
		state[i] += add[i];
}

void sha256_init(struct sha256 *h)
{
	*h = (struct sha256){ .state = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
				      0x9b05688c, 0x1f83d9ab, 0x5be0cd19 } };
}

void sha256_update(struct sha256 *h, struct str data)
{
	while (data.len) {
		size_t used = h->len % BLOCK;
		size_t n = MIN(data.len, BLOCK - used);

		memcpy(h->block + used, data.p, n);
		h->len += n;
		data = str_from(data, n);
		if (used + n == BLOCK)
			digest_block(h->state, h->block);
	}
}

void sha256_final(struct sha256 *h, unsigned char digest[SHA256_BYTES])
{
	uint64_t bits = h->len * 8;
	size_t used = h->len % BLOCK;

	h->block[used++] = 0x80;
	if (used > LENGTH_AT) { /* no room for the length: it gets a block of its own */
		memset(h->block + used, 0, BLOCK - used);
		digest_block(h->state, h->block);
		used = 0;
	}
	memset(h->block + used, 0, LENGTH_AT - used);
	put32(h->block + LENGTH_AT, (uint32_t)(bits >> 32));
	put32(h->block + LENGTH_AT + 4, (uint32_t)bits);
	digest_block(h->state, h->block);
	for (size_t i = 0; i < 8; i++)
		put32(digest + 4 * i, h->state[i]);
}

void sha256_hex(struct str data, char hex[SHA256_HEX])
{
	unsigned char digest[SHA256_BYTES];
	struct sha256 h;

	sha256_init(&h);
	sha256_update(&h, data);
	sha256_final(&h, digest);
	hex_write(digest, sizeof(digest), hex);
}
