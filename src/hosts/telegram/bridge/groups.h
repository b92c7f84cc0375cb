#pragma once

#include "hosts/telegram/bridge/route.h"

struct bridge;
struct update;

/* Messages that belong together: the parts of an album, the pieces of a long text. One group is
 * open at a time, and closes when its time is over or another message comes. Its updates stay in
 * the journal until then, so that a restart forms it again. */

void groups_start(struct bridge *b);
void groups_stop(struct bridge *b);

/* Takes a message that is not a command: into a group, or as a turn of its own. */
enum routed groups_take(struct bridge *b, int64_t id, const struct update *u);
/* Makes a turn of the open group. False: the ledger could not be written. */
bool groups_flush(struct bridge *b);
/* The message is part of the open group, and has another text now. */
bool groups_edit(struct bridge *b, const struct update *u);
/* A reaction or a deletion drops the group that has this message; /stop every group. */
void groups_drop(struct bridge *b, int64_t message);
void groups_clear(struct bridge *b);
