#pragma once

#include "hosts/mcp/server.h"

/* One function for each method of the table in methods.c. Each answers, now or later. */
void method_initialize(struct exchange *x);
void method_ping(struct exchange *x);
void method_discover(struct exchange *x);
void method_set_level(struct exchange *x);
void method_tools_list(struct exchange *x);
void method_tools_call(struct exchange *x);
void method_resources_list(struct exchange *x);
void method_resource_templates(struct exchange *x);
void method_resources_read(struct exchange *x);
void method_subscribe(struct exchange *x);
void method_unsubscribe(struct exchange *x);
void method_prompts_list(struct exchange *x);
void method_prompts_get(struct exchange *x);
void method_complete(struct exchange *x);
void method_listen(struct exchange *x);
void method_tasks_get(struct exchange *x);
void method_tasks_update(struct exchange *x);
void method_tasks_cancel(struct exchange *x);
