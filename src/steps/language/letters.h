#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Letters and digits of any script: what names and words of step recipes are made of, beside the
 * underscore. Marks that combine with a letter are none. UTF8_INVALID is none. */
bool letter_or_digit(uint32_t c);
