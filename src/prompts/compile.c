#include "prompts/compile.h"
