#include "steps/value.h"
