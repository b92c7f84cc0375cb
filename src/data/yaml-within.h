#pragma once

#include <yaml.h>

#include "base/report.h"

/* A scalar: where it is written, anchor and tag included, and what it reads as. */
struct yaml_written {
	size_t begin, end;
	yaml_scalar_style_t style;
	struct str value;
};

/* Where `len` bytes at `index` of the value stand: through quotes, escapes, indentation and folded
 * lines. Always inside of what is written. */
struct where yaml_within(
	const struct source *source, const struct yaml_written *s, size_t index, size_t len);
