#pragma once

#include "base/str.h"

/* A part of a longer text without the pieces of characters that were cut at its ends; *ret_skipped
 * (may be NULL) is how many bytes the first one lost. */
struct str text_whole(struct str part, size_t *ret_skipped);
