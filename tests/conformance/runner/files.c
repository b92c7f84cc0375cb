#include "runner.h"

const struct kinds kinds_of_files = { NULL, 0 };
