#include "runner.h"

const struct kinds kinds_of_turns = { NULL, 0 };
