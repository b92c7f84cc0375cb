#pragma once

#include "hosts/mcp/call.h"

/* Fixtures for the conformance suite of the protocol: with --raw-results a recipe prints what is
 * sent. A line that is an object with `method` is a notification of the call, sent when it is
 * printed; the last other line is the result, or {"error":{"code",…}}.
 *
 * The answers of the client to an `input_required` are MCP_INPUT_RESPONSES of the next execution,
 * the state that came with it MCP_REQUEST_STATE: the client gets it with a sum that only we can
 * make. Requests that the client has not offered to answer are left out. A legacy client is asked
 * with requests of ours, and the recipe runs again. MCP_CLIENT_CAPABILITIES is what it offers. */

/* What such a call keeps. */
struct raw;

/* Of a call that is about to start. False: what the client hands back is not valid, and that has
 * been answered. */
bool raw_begin(struct tool_call *c);
void raw_free(struct raw *raw);
/* Adds its variables to the environment of an execution, which begins with it. */
void raw_environment(const struct tool_call *c, json_t *env);
/* The log of the run may have grown. */
void raw_grown(struct tool_call *c);
/* The run has ended: answers, or asks a legacy client first. */
void raw_ended(struct tool_call *c);

/* The fixed resources of `resources.json` beside the recipes: {"resources":[{"uri","name",
 * "mimeType","text" or "blob"}], "templates":[{"uriTemplate","name","mimeType","text"}]}. A
 * `{name}` of a template stands for one segment, also in its text. */

/* Adds what lists have of them: `member` is "resources" or "templates". */
void raw_resources_list(const struct mcp *m, const char *member, json_t *all);
/* {"uri","mimeType","text" or "blob"}, a new reference; NULL: there is none. */
json_t *raw_resource_read(const struct mcp *m, struct str uri);
