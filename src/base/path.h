#pragma once

#include "base/arena.h"

/* Made absolute from `dir`, without `.`, `..` and double slashes; links are not followed. */
struct str path_from(struct arena *a, struct str dir, struct str path);
