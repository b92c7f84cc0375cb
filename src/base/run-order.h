#pragma once

/* How a run can be asked to end: politely, after the commands that run now, or at once. The one
 * list of it, for the face, the signals between processes (runs/dir/identity.h) and the file of
 * orders. */
enum run_order { RUN_CANCEL, RUN_FINISH, RUN_KILL, RUN_ORDERS };
