#pragma once

#include "graph/graph.h"

enum { SOURCE_MAX_BYTES = 64 << 20 }; /* of a template: a generated one may be large */

/* A TEMPLATE as typed: a command line, JSON text, @file.json, or - for standard input. NULL with
 * issues added. */
struct graph *source_template(const char *operand, enum dialect d, struct report *r);

/* Where a recipe may stand too: whether the text is a template all the same. `path` is the file
 * that it would name. */
bool source_reads_template(const char *operand, const char *path);
