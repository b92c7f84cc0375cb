#include "runner.h"

const struct kinds kinds_of_texts = { NULL, 0 };
