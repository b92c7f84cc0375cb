#pragma once

#include "hosts/mcp/server.h"

/* One function for each method of the table in methods.c. Each answers, now or later. */
void method_initialize(struct exchange *x);
void method_ping(struct exchange *x);
void method_discover(struct exchange *x);
void method_set_level(struct exchange *x);
void method_tools_list(struct exchange *x);
void method_tools_call(struct exchange *x);
