#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Marks that change in which direction the characters around them are written: with them a text can
 * look like another one. */
static inline bool bidi_mark(uint32_t c)
{
	return (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0x200e ||
	       c == 0x200f || c == 0x061c;
}
