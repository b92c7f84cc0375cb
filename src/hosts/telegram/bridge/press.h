#pragma once

#include "hosts/telegram/bridge/route.h"

struct bridge;
struct update;

/* Buttons that the person presses. Every query is answered exactly once, whatever happens. */
void press_start(struct bridge *b);
void press_stop(struct bridge *b);
enum routed press(struct bridge *b, int64_t id, const struct update *u);
