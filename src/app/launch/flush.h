#pragma once

#include "app/record/launch.h"

/* What a durable run takes up is on the disk before the run relies on it: every name in its
 * directory and in that of its outputs. With `written` also every file, and the names of the
 * directories above: the run that made them was not durable. Nothing is done for one that is not.
 */
bool flush_taken(struct launch *l, bool written, struct report *r);
