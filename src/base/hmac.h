#pragma once

#include <stdbool.h>

#include "base/sha256.h"

/* HMAC with SHA-256 (RFC 2104), for what is handed to others and comes back: it shows whether they
 * have changed it. */
enum { HMAC_KEY = 32 };

void hmac_sha256(
	const unsigned char key[HMAC_KEY], struct str data, unsigned char mac[SHA256_BYTES]);
/* Whether two sums are equal, in a time that does not depend on where they differ. */
bool hmac_equal(const unsigned char *a, const unsigned char *b, size_t count);
