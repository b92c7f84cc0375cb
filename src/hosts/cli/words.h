#pragma once

#include "base/report.h"

/* The command line's words for what could be done next: commands to type. */
extern const action_words cli_words;
