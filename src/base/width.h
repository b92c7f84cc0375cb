#pragma once

#include "base/str.h"

/* How many columns of a terminal a text takes. The facts are those of Unicode and do not depend on
 * the locale, because the text comes from commands that may not share ours. */

/* 0 for combining marks and invisible characters, 2 for East Asian wide ones and emoji, else 1. */
unsigned width_of(uint32_t c);

/* Of a whole text; a byte that is not UTF-8 counts 1. */
size_t width_text(struct str s);

/* The longest beginning that fits `columns`, marks that combine with its last character included.
 * *used is how many columns it takes; may be NULL. */
struct str width_cut(struct str s, unsigned columns, unsigned *used);
