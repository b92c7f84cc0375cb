#pragma once

#include "base/str.h"

/* Who asked for the end of a run that left no result: the last word of its events about that. */
enum stop_kind { STOP_NONE, STOP_CANCEL, STOP_KILL };

/* Of DIR/events.jsonl; a start or a resume after a stop takes it back. */
enum stop_kind stop_last(const char *dir);
