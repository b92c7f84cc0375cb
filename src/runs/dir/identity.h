#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* Who a process is: a number alone may belong to a stranger by now. */
struct identity {
	int64_t pid;
	uint64_t start; /* field 22 of /proc/PID/stat */
	char boot[40];  /* of this boot of the machine */
};

/* This process. */
bool identity_self(struct identity *ret);
/* The process that has the number now. */
bool identity_of(int64_t pid, struct identity *ret);
/* A pidfd of the process when it is still that one: -ESRCH when it is gone, -EPERM when the number
 * belongs to a stranger. The caller closes it. */
int identity_open(const struct identity *who);
/* What one roux orders another to do, as signals (`value` is the grace time in milliseconds, or -1
 * for its own). */
#define ORDER_CANCEL (SIGRTMIN + 1)
#define ORDER_FINISH (SIGRTMIN + 2) /* let running commands finish, start no more */
#define ORDER_KILL (SIGRTMIN + 3)
#define ORDER_RING (SIGRTMIN + 4) /* there is a message in the inbox */

/* Sends a signal with a number through a pidfd. -errno. */
int identity_signal(int pidfd, int signal, int value);
