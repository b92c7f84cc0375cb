#pragma once

#include "base/arena.h"

/* This process's user, as the password file has it. The program is linked statically: getpwuid()
 * would load half of the C library again, and only one of the version that the program was linked
 * with will do. A user whom a directory of the network has is taken at its environment's word. */

/* $HOME, else what the password file says; empty when neither does. */
struct str user_home(struct arena *a);
/* What the password file says, else $LOGNAME, else $USER; empty when none of them does. */
struct str user_name(struct arena *a);
