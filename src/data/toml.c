#include "data/toml.h"
