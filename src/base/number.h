#pragma once

#include "base/buf.h"

/* Numbers as text, independent of the locale. */

/* The shortest decimal that reads back equal, spelled as ECMAScript spells it: 0.1, 1e-7, 1e+21.
 * A whole number below 1e21 has neither point nor exponent. */
void number_text(struct buf *b, double value);
/* The same as Python's repr() spells it, which step recipes do too: 2.0, 1e-07, 1e+16. Always with
 * a point or an exponent, the latter from 1e16 on and below 1e-4, with two digits at least. */
void number_text_python(struct buf *b, double value);

/* Plain decimals only: digits, with an optional fraction (`5`, `1.5`, `.5`); no sign, no exponent.
 */
bool number_plain(struct str s, double *ret);
/* A duration with its unit, ms, s, m, h or d behind one plain decimal: "500ms", "1.5h". Whole
 * milliseconds, rounded up. False: it is not one; a number without a unit is not. */
bool number_duration(struct str text, double *ret_ms);
