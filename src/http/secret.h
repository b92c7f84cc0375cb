#pragma once

#include "base/hmac.h"
#include "base/report.h"

/* Random texts that let a client in. Only their sums are kept. */
enum { SECRET_HEX = 65 };

/* 256 bits as hexadecimal digits. False: the kernel has none. */
bool secret_make(char ret[SECRET_HEX]);
/* Whether `text` is the secret with this sum, in a time that says nothing about it. */
bool secret_matches(struct str text, const char sum[SHA256_HEX]);

/* The key in dir/key and the label beside it, made when they are not there. Without a directory
 * they are made for this process. False with an issue: they cannot be read or written. */
bool secret_key(struct str dir, unsigned char key[HMAC_KEY], char label[17], struct report *r);
