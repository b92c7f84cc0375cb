#pragma once

#include "data/doc.h"

/* Reads the text of a template into its document: JSON, or one command line. False with an issue
 * when it can only be broken JSON. When it could be either, *json_mistake says what is wrong with
 * it as JSON. */
bool document_read(struct doc *d, struct report *r, struct buf *json_mistake);
