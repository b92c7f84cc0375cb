#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/run-order.h"

/* Who a process is: a number alone may belong to a stranger by now. */
struct identity {
	int64_t pid;
	uint64_t start; /* as in base/process.h */
	char boot[40];  /* of this boot of the machine */
};

/* This process. */
bool identity_self(struct identity *ret);
/* The process that has the number now. */
bool identity_of(int64_t pid, struct identity *ret);
/* A pidfd of the process when it is still that one: -ESRCH when it is gone, -EPERM when the number
 * belongs to a stranger, another -errno when that cannot be found out. The caller closes it. */
int identity_open(const struct identity *who);
/* What one roux tells another, as signals: an order (`value` is the grace time in milliseconds, or
 * -1 for its own), or that there is a message in the inbox. */
#define ORDER_SIGNAL(order) (SIGRTMIN + 1 + (int)(order))
#define RING_SIGNAL (SIGRTMIN + 1 + (int)RUN_ORDERS)

/* Sends a signal with a number through a pidfd. -errno. */
int identity_signal(int pidfd, int signal, int value);
